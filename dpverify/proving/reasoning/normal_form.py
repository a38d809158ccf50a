"""A normal form for expressions: quotients of sparse polynomials with rational exponents in atoms.

Atoms are symbols, pi, roots, exponentials, logarithms, powers with whole symbolic exponents, and functions left
alone. They are normalized by exp(a + b) = exp(a) exp(b), log(x y) = log x + log y for positive x, y,
sqrt(x)^2 = x, x^(i + j) = x^i x^j for x != 0, and afterwards treated as independent: two expressions with the
same normal form are equal wherever the conditions of `definedness.defined_where` hold for both; the converse is not
claimed. Positivity is used as the symbols' domains give it; whoever rests a proof on a normal form shows those
conditions separately.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any

import sympy as sp

from dpverify.formulas.expressions import OutOfScopeError
from dpverify.proving.reasoning.polynomials import (
    ONE,
    Monomial,
    Polynomial,
    add,
    cancelled,
    content,
    divided,
    factored,
    monomial_power,
    multiply,
    power,
    prime_factors,
    shift,
    times,
)
from dpverify.proving.reasoning.symbolic import Arctangent, Cosine, Phi, Sine, SymPy, bound_parts, fraction


@dataclass(frozen=True)
class Quotient:
    """numerator / denominator."""

    numerator: Polynomial
    denominator: Polynomial = field(default_factory=lambda: dict(ONE))

    def key(self) -> Any:
        """A hashable form, equal for equal canonical quotients."""
        return tuple(tuple(sorted(p.items())) for p in (self.numerator, self.denominator))


UNIT = Quotient(ONE)


def constant(value: Fraction | int) -> Quotient:
    """A number."""
    return Quotient({(): Fraction(value)} if value else {})


def _letter(atom: int) -> Quotient:
    return Quotient({((atom, Fraction(1)),): Fraction(1)})


@dataclass(frozen=True)
class Atom:
    """What a polynomial's letter stands for."""

    key: Any
    sign: str
    """`positive`, `nonnegative` or `any`."""
    base: Quotient | None = None
    """For a root: what it is a root of. Its exponents are kept in [0, 1)."""
    argument: Quotient | None = None
    """For exp (the exponent), log, erfc: the argument."""
    expression: SymPy = None
    """For functions left alone: the SymPy expression."""


class NormalForms:
    """Normal forms over one growing table of atoms, so that results may be compared and combined."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self._numbers: dict[Any, int] = {}
        self._known: dict[SymPy, Quotient] = {}

    def _letter(self, atom: Atom, exponent: Fraction = Fraction(1)) -> Quotient:
        """A power of an atom, which gets a number if it is new."""
        number = self._numbers.get(atom.key)
        if number is None:
            number = self._numbers[atom.key] = len(self.atoms)
            self.atoms.append(atom)
        return Quotient({((number, exponent),): Fraction(1)})

    def is_nonnegative(self, p: Polynomial) -> bool:
        """Whether all coefficients are nonnegative, on monomials that cannot be negative."""
        return all(
            c >= 0 and all(self.atoms[a].sign != "any" or e % 2 == 0 for a, e in m) for m, c in p.items()
        )

    def is_positive(self, q: Quotient) -> bool:
        """Whether a quotient is positive wherever it is defined, by the signs of coefficients and atoms."""
        return all(self.is_nonnegative(p) and self.has_positive_term(p) for p in (q.numerator, q.denominator))

    def has_positive_term(self, p: Polynomial) -> bool:
        """Whether some term is positive everywhere on the domain."""
        return any(c > 0 and all(self.atoms[a].sign == "positive" for a, _ in m) for m, c in p.items())

    def sum(self, parts: Iterable[Quotient]) -> Quotient:
        """The sum, over a common denominator."""
        by_denominator: dict[Any, tuple[Polynomial, Polynomial]] = {}
        for q in parts:
            key = tuple(sorted(q.denominator.items()))
            numerator, _ = by_denominator.get(key, ({}, q.denominator))
            by_denominator[key] = (add(numerator, q.numerator), q.denominator)
        total = Quotient({})
        for numerator, denominator in by_denominator.values():
            if total.denominator == denominator:
                total = Quotient(add(total.numerator, numerator), denominator)
                continue
            total = Quotient(
                add(multiply(total.numerator, denominator), multiply(numerator, total.denominator)),
                multiply(total.denominator, denominator),
            )
            total = self.canonical(total)
        return self.canonical(total)

    def product(self, a: Quotient, b: Quotient) -> Quotient:
        """The product."""
        return self.canonical(
            Quotient(multiply(a.numerator, b.numerator), multiply(a.denominator, b.denominator))
        )

    def inverse(self, q: Quotient) -> Quotient:
        """1 / q; `OutOfScopeError` where q is zero."""
        if not q.numerator:
            raise OutOfScopeError("division by zero")
        return self.canonical(Quotient(q.denominator, q.numerator))

    def canonical(self, q: Quotient) -> Quotient:
        """Roots reduced, common factors cancelled, the denominator free of monomials and of leading 1."""
        top, bottom = self._reduce_roots(q.numerator), self._reduce_roots(q.denominator)
        if len(top.denominator) > 1 or len(bottom.denominator) > 1 or top.denominator != bottom.denominator:
            return self.canonical(
                Quotient(
                    multiply(top.numerator, bottom.denominator), multiply(top.denominator, bottom.numerator)
                )
            )
        numerator, denominator = top.numerator, bottom.numerator
        if not denominator:
            raise OutOfScopeError("division by zero")
        if not numerator:
            return Quotient({})
        if len(denominator) > 1:
            numerator, denominator = cancelled(numerator, denominator)
        common = content(denominator)
        lead = denominator[max(denominator)]
        factor = monomial_power(common, Fraction(-1))
        numerator = {times(m, factor): c / lead for m, c in numerator.items()}
        denominator = {times(m, factor): c / lead for m, c in denominator.items()}
        if any(self._unreduced(m) for p in (numerator, denominator) for m in p):
            return self.canonical(Quotient(numerator, denominator))
        return Quotient(numerator, denominator)

    def _unreduced(self, m: Monomial) -> bool:
        return any(self.atoms[a].base is not None and not 0 <= e < 1 for a, e in m)

    def _reduce_roots(self, p: Polynomial) -> Quotient:
        """Write every power of a root atom with an exponent in [0, 1) times a whole power of its base."""
        if not any(self._unreduced(m) for m in p):
            return Quotient(p)
        plain: Polynomial = {}
        total_top: Polynomial = {}
        total_bottom: Polynomial = dict(ONE)
        for m, c in p.items():
            if not self._unreduced(m):
                plain = add(plain, {m: c})
                continue
            top: Polynomial = {(): c}
            bottom: Polynomial = dict(ONE)
            rest: list[tuple[int, Fraction]] = []
            for a, e in m:
                base = self.atoms[a].base
                if base is None or 0 <= e < 1:
                    rest.append((a, e))
                    continue
                whole = math.floor(e)
                if e - whole:
                    rest.append((a, e - whole))
                over, under = (base.numerator, base.denominator)[:: 1 if whole >= 0 else -1]
                top = multiply(top, power(over, abs(whole)))
                bottom = multiply(bottom, power(under, abs(whole)))
            top = shift(top, tuple(rest))
            if bottom == total_bottom:
                total_top = add(total_top, top)
            else:
                total_top = add(multiply(total_top, bottom), multiply(top, total_bottom))
                total_bottom = multiply(total_bottom, bottom)
        total_top = add(total_top, multiply(plain, total_bottom))
        top_again, bottom_again = self._reduce_roots(total_top), self._reduce_roots(total_bottom)
        return Quotient(
            multiply(top_again.numerator, bottom_again.denominator),
            multiply(top_again.denominator, bottom_again.numerator),
        )

    def of(self, e: SymPy) -> Quotient:
        """The normal form of an expression."""
        e = sp.sympify(e)
        known = self._known.get(e)
        if known is None:
            known = self._known[e] = self._convert(e)
        return known

    def _convert(self, e: SymPy) -> Quotient:
        if e.is_Rational:
            return constant(fraction(e))
        if e.is_Symbol:
            sign = "positive" if e.is_positive else "nonnegative" if e.is_nonnegative else "any"
            return self._letter(Atom(("symbol", e), sign, expression=e))
        if e is sp.pi:
            return self._letter(Atom(("pi",), "positive", expression=e))
        if e is sp.E:
            return self._exponential(UNIT)
        if e.is_Add:
            return self.sum(map(self.of, e.args))
        if e.is_Mul:
            return reduce(self.product, map(self.of, e.args))
        if e.is_Pow:
            return self._power(e)
        if isinstance(e, Phi):
            return self.product(self._erfc(self.of(-e.args[0] / sp.sqrt(2))), constant(Fraction(1, 2)))
        for function, make in ((sp.exp, self._exponential), (sp.log, self._logarithm), (sp.erfc, self._erfc)):
            if isinstance(e, function):
                return make(self.of(e.args[0]))
        if isinstance(
            e, sp.Max | sp.Min | sp.Abs | sp.floor | sp.Sum | sp.Integral | Sine | Cosine | Arctangent
        ):
            return self._left_alone(e)
        raise OutOfScopeError(f"{type(e).__name__} has no normal form here")

    def _left_alone(self, e: SymPy) -> Quotient:
        if isinstance(e, sp.Sum | sp.Integral):
            body, variable, low, high = bound_parts(e)
            ends = tuple(str(x) if x.is_infinite else self.of(x).key() for x in (low, high))
            key: Any = (type(e).__name__, variable, self.of(body).key(), *ends)
        else:
            key = (type(e).__name__, *sorted((self.of(a).key() for a in e.args), key=repr))
        sign = "nonnegative" if isinstance(e, sp.Abs) else "any"
        return self._letter(Atom(key, sign, expression=e))

    def _power(self, e: SymPy) -> Quotient:
        base = self.of(e.base)
        if e.exp.is_Rational:
            return self._rational_power(base, fraction(e.exp))
        if e.exp.is_integer and not self.is_positive(base):
            return self._whole_power(base, self.of(e.exp))
        # elsewhere it is defined for positive bases only, as far as `definedness.defined_where` can say
        return self._exponential(self.product(self.of(e.exp), self._logarithm(base)))

    def _whole_power(self, base: Quotient, exponent: Quotient) -> Quotient:
        """A base other than 0, of any sign, to a symbolic exponent that is an integer."""
        if not base.numerator:
            raise OutOfScopeError("a power of zero")
        result = UNIT
        for p, direction in ((base.numerator, 1), (base.denominator, -1)):
            number, monomial, others = factored(p)
            factors = [(_letter(a), n) for a, n in monomial]
            factors += [(Quotient(factor), Fraction(n)) for factor, n in others]
            factors += [(constant(abs(number)), Fraction(1))] * (abs(number) != 1)
            factors += [(constant(-1), Fraction(1))] * (number < 0)
            for factor, multiplicity in factors:
                times = self.product(exponent, constant(multiplicity * direction))
                positive = self.is_nonnegative(factor.numerator)  # 0 it is not
                one = (
                    self._exponential(self.product(times, self._logarithm(factor)))
                    if positive
                    else self._power_of_factor(factor, times)
                )
                result = self.product(result, one)
        return result

    def _power_of_factor(self, factor: Quotient, exponent: Quotient) -> Quotient:
        whole = exponent.denominator == ONE and all(
            c.denominator == 1 and self._is_whole(m) for m, c in exponent.numerator.items()
        )
        if exponent.numerator and not whole:
            return self._letter(Atom(("power", factor.key(), exponent.key()), "any", argument=factor))
        result = UNIT
        for m, c in exponent.numerator.items():
            part = (
                self._letter(Atom(("power", factor.key(), m), "any", argument=factor), c)
                if m
                else self._rational_power(factor, c)
            )
            result = self.product(result, part)
        return result

    def _is_whole(self, m: Monomial) -> bool:
        letters = (self.atoms[a] for a, _ in m)
        whole = all(a.key[0] == "symbol" and a.expression.is_integer for a in letters)
        return whole and all(e > 0 and e.denominator == 1 for _, e in m)

    def _exponential(self, q: Quotient) -> Quotient:
        quotients, remainder = divided(q.numerator, q.denominator)
        result = UNIT
        for terms, denominator in ((quotients, ONE), (remainder, q.denominator)):
            for m, c in terms.items():
                term = Quotient({m: Fraction(1)}, denominator)
                result = self.product(result, self._exponential_of_term(term, c))
        return result

    def _exponential_of_term(self, q: Quotient, c: Fraction) -> Quotient:
        """exp(c q) for a single term q: a power of the argument where q is a logarithm, else of an atom."""
        atom = self._single(q)
        if atom is not None and atom.key[0] == "log" and atom.argument is not None:
            return self._rational_power(atom.argument, c)
        return self._letter(Atom(("exp", q.key()), "positive", argument=q), c)

    def _single(self, q: Quotient) -> Atom | None:
        """The atom that a quotient is, if it is one."""
        if q.denominator != ONE or len(q.numerator) != 1:
            return None
        ((monomial, c),) = q.numerator.items()
        return self.atoms[monomial[0][0]] if c == 1 == len(monomial) and monomial[0][1] == 1 else None

    def _rational_power(self, q: Quotient, c: Fraction) -> Quotient:
        if c.denominator != 1:
            return self._root(q, c)
        whole = self.inverse(q) if c < 0 else q
        n = abs(c.numerator)
        return self.canonical(Quotient(power(whole.numerator, n), power(whole.denominator, n)))

    def _positive_factors(self, q: Quotient) -> list[tuple[Quotient, Fraction]]:
        """Factors of a positive quotient that are positive each, with multiplicity; what remains comes last."""
        factors: list[tuple[Quotient, Fraction]] = []
        rest = UNIT
        for p, sign in ((q.numerator, 1), (q.denominator, -1)):
            number, monomial, others = factored(p)
            factors += [(constant(prime), Fraction(n * sign)) for prime, n in prime_factors(number)]
            if number < 0:
                rest = self.product(rest, constant(-1))
            parts = [(_letter(a), e * sign, self.atoms[a].sign != "any") for a, e in monomial]
            parts += [(Quotient(f), Fraction(n * sign), self.is_nonnegative(f)) for f, n in others]
            for factor, multiplicity, positive in parts:
                if positive:
                    factors.append((factor, multiplicity))
                else:
                    rest = self.product(rest, self._rational_power(factor, multiplicity))
        if rest.key() != UNIT.key():
            factors.append((rest, Fraction(1)))
        return factors

    def _root(self, q: Quotient, exponent: Fraction) -> Quotient:
        if not q.numerator:
            raise OutOfScopeError("a root of zero")
        roots = (self._root_of_factor(factor, n * exponent) for factor, n in self._positive_factors(q))
        return reduce(self.product, roots, UNIT)

    def _root_of_factor(self, factor: Quotient, exponent: Fraction) -> Quotient:
        if factor.denominator == ONE and len(factor.numerator) == 1:
            ((monomial, c),) = factor.numerator.items()
            # sqrt(z^2) is not z where z may be negative
            if c == 1 and monomial and all(self.atoms[a].sign != "any" for a, _ in monomial):
                return self.canonical(Quotient({monomial_power(monomial, exponent): Fraction(1)}))
        if exponent.denominator == 1:
            return self._rational_power(factor, exponent)
        sign = "positive" if self.is_positive(factor) else "nonnegative"
        return self.canonical(self._letter(Atom(("root", factor.key()), sign, base=factor), exponent))

    def _logarithm(self, q: Quotient) -> Quotient:
        if not q.numerator:
            raise OutOfScopeError("the logarithm of zero")
        factors = self._positive_factors(q)
        return self.sum(self.product(self._logarithm_of_factor(f), constant(n)) for f, n in factors)

    def _logarithm_of_factor(self, f: Quotient) -> Quotient:
        atom = self._single(f)
        if atom is not None and atom.key[0] == "exp" and atom.argument is not None:
            return atom.argument
        if atom is not None and atom.base is not None:
            return self._logarithm(atom.base)
        return self._letter(Atom(("log", f.key()), "any", argument=f))

    def _erfc(self, q: Quotient) -> Quotient:
        if not q.numerator:
            return UNIT
        if q.numerator[max(q.numerator)] < 0:
            mirrored = self._erfc(Quotient({m: -c for m, c in q.numerator.items()}, q.denominator))
            return self.sum((constant(2), self.product(constant(-1), mirrored)))
        return self._letter(Atom(("erfc", q.key()), "positive", argument=q))


def is_identity(left: SymPy, right: SymPy) -> bool:
    """Whether two expressions have the same normal form, so that they agree wherever both are defined."""
    return not NormalForms().of(left - right).numerator
