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
from dpverify.proving.reasoning.symbolic import Phi, SymPy, bound_parts, fraction


@dataclass(frozen=True)
class Quotient:
    """numerator / denominator."""

    numerator: Polynomial
    denominator: Polynomial = field(default_factory=lambda: dict(ONE))

    def key(self) -> Any:
        """A hashable form, equal for equal canonical quotients."""
        return tuple(tuple(sorted(p.items())) for p in (self.numerator, self.denominator))


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

    # ------------------------------------------------------------------------------------------ atoms

    def _letter(self, atom: Atom) -> Polynomial:
        number = self._numbers.get(atom.key)
        if number is None:
            number = self._numbers[atom.key] = len(self.atoms)
            self.atoms.append(atom)
        return {((number, Fraction(1)),): Fraction(1)}

    def is_nonnegative(self, p: Polynomial) -> bool:
        """Whether all coefficients are nonnegative, on monomials that cannot be negative."""
        return all(c >= 0 and self._monomial_nonnegative(m) for m, c in p.items())

    def _monomial_nonnegative(self, m: Monomial) -> bool:
        return all(
            self.atoms[atom].sign != "any" or (e.denominator == 1 and e.numerator % 2 == 0) for atom, e in m
        )

    def is_positive(self, q: Quotient) -> bool:
        """Whether a quotient is positive wherever it is defined, by the signs of coefficients and atoms."""
        return all(self.is_nonnegative(p) and self.has_positive_term(p) for p in (q.numerator, q.denominator))

    def has_positive_term(self, p: Polynomial) -> bool:
        """Whether some term is positive everywhere on the domain."""
        return any(c > 0 and all(self.atoms[a].sign == "positive" for a, _ in m) for m, c in p.items())

    # ------------------------------------------------------------------------------------------ arithmetic

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

    # ------------------------------------------------------------------------------------------ conversion

    def of(self, e: SymPy) -> Quotient:
        """The normal form of an expression."""
        return self._of(sp.sympify(e))

    def _of(self, e: SymPy) -> Quotient:
        known = self._known.get(e)
        if known is None:
            known = self._known[e] = self._convert(e)
        return known

    def _convert(self, e: SymPy) -> Quotient:
        if e.is_Rational:
            return Quotient({(): fraction(e)} if e else {})
        if e.is_Symbol:
            sign = "positive" if e.is_positive else "nonnegative" if e.is_nonnegative else "any"
            return Quotient(self._letter(Atom(("symbol", e), sign, expression=e)))
        if e is sp.pi:
            return Quotient(self._letter(Atom(("pi",), "positive", expression=e)))
        if e is sp.E:
            return self._exponential(Quotient(dict(ONE)))
        if e.is_Add:
            return self.sum(self._of(part) for part in e.args)
        if e.is_Mul:
            return reduce(self.product, (self._of(part) for part in e.args))
        if e.is_Pow:
            return self._power(e)
        if isinstance(e, sp.exp):
            return self._exponential(self._of(e.args[0]))
        if isinstance(e, sp.log):
            return self._logarithm(self._of(e.args[0]))
        if isinstance(e, sp.erfc):
            return self._erfc(self._of(e.args[0]))
        if isinstance(e, Phi):
            half = self._erfc(self._of(-e.args[0] / sp.sqrt(2)))
            return self.product(half, Quotient({(): Fraction(1, 2)}))
        if isinstance(e, sp.Max | sp.Min | sp.Abs | sp.floor | sp.Sum | sp.Integral):
            return self._left_alone(e)
        raise OutOfScopeError(f"{type(e).__name__} has no normal form here")

    def _left_alone(self, e: SymPy) -> Quotient:
        if isinstance(e, sp.Sum | sp.Integral):
            body, variable, low, high = bound_parts(e)
            ends = tuple(str(x) if x.is_infinite else self._of(x).key() for x in (low, high))
            key: Any = (type(e).__name__, variable, self._of(body).key(), *ends)
        else:
            key = (type(e).__name__, *sorted((self._of(a).key() for a in e.args), key=repr))
        sign = "nonnegative" if isinstance(e, sp.Abs) else "any"
        return Quotient(self._letter(Atom(key, sign, expression=e)))

    def _power(self, e: SymPy) -> Quotient:
        base = self._of(e.base)
        if e.exp.is_Rational:
            exponent = fraction(e.exp)
            if exponent.denominator != 1:
                return self._root(base, exponent)
            whole = self.inverse(base) if exponent < 0 else base
            n = abs(exponent.numerator)
            return self.canonical(Quotient(power(whole.numerator, n), power(whole.denominator, n)))
        if e.exp.is_integer and not self.is_positive(base):
            return self._whole_power(base, self._of(e.exp))
        # elsewhere it is defined for positive bases only, as far as `definedness.defined_where` can say
        return self._exponential(self.product(self._of(e.exp), self._logarithm(base)))

    def _whole_power(self, base: Quotient, exponent: Quotient) -> Quotient:
        """A base other than 0, of any sign, to a symbolic exponent that is an integer."""
        if not base.numerator:
            raise OutOfScopeError("a power of zero")
        result = Quotient(dict(ONE))
        for p, direction in ((base.numerator, 1), (base.denominator, -1)):
            constant, monomial, others = factored(p)
            factors = [(Quotient({((a, Fraction(1)),): Fraction(1)}), n) for a, n in monomial]
            factors += [(Quotient(factor), Fraction(n)) for factor, n in others]
            factors += [(Quotient({(): abs(constant)}), Fraction(1))] * (abs(constant) != 1)
            factors += [(Quotient({(): Fraction(-1)}), Fraction(1))] * (constant < 0)
            for factor, multiplicity in factors:
                times = self.product(exponent, Quotient({(): multiplicity * direction}))
                positive = self.is_nonnegative(factor.numerator)  # 0 it is not
                one = (
                    self._exponential(self.product(times, self._logarithm(factor)))
                    if positive
                    else self._power_of_factor(factor, times)
                )
                result = self.product(result, one)
        return result

    def _power_of_factor(self, factor: Quotient, exponent: Quotient) -> Quotient:
        result = Quotient(dict(ONE))
        for monomial, c in exponent.numerator.items():
            if exponent.denominator != ONE or c.denominator != 1 or not self._is_whole(monomial):
                key = ("power", factor.key(), exponent.key())
                return Quotient(self._letter(Atom(key, "any", argument=factor)))
        for monomial, c in exponent.numerator.items():
            if monomial:
                key = ("power", factor.key(), monomial)
                letter = self._letter(Atom(key, "any", argument=factor))
                ((one, _),) = letter.items()
                part = Quotient({monomial_power(one, c): Fraction(1)})
            else:
                part = self._rational_power(factor, c)
            result = self.product(result, part)
        return result

    def _is_whole(self, m: Monomial) -> bool:
        return all(
            self.atoms[a].key[0] == "symbol"
            and bool(self.atoms[a].expression.is_integer)
            and e > 0
            and e.denominator == 1
            for a, e in m
        )

    def _exponential(self, q: Quotient) -> Quotient:
        quotients, remainder = divided(q.numerator, q.denominator)
        result = Quotient(dict(ONE))
        parts = [({m: Fraction(1)}, dict(ONE), c) for m, c in quotients.items()]
        parts += [({m: Fraction(1)}, q.denominator, c) for m, c in remainder.items()]
        for numerator, denominator, c in parts:
            result = self.product(result, self._exponential_of_term(Quotient(numerator, denominator), c))
        return result

    def _exponential_of_term(self, q: Quotient, c: Fraction) -> Quotient:
        """exp(c q) for a single term q: a power of the argument where q is a logarithm, else of an atom."""
        ((monomial, _),) = q.numerator.items()
        if q.denominator == ONE and len(monomial) == 1 and monomial[0][1] == 1:
            atom = self.atoms[monomial[0][0]]
            if atom.key[0] == "log" and atom.argument is not None:
                return self._rational_power(atom.argument, c)
        letter = self._letter(Atom(("exp", q.key()), "positive", argument=q))
        ((one, _),) = letter.items()
        return Quotient({monomial_power(one, c): Fraction(1)})

    def _rational_power(self, q: Quotient, c: Fraction) -> Quotient:
        if c.denominator != 1:
            return self._root(q, c)
        whole = self.inverse(q) if c < 0 else q
        n = abs(c.numerator)
        return self.canonical(Quotient(power(whole.numerator, n), power(whole.denominator, n)))

    def _split_positive(self, q: Quotient) -> tuple[list[tuple[Quotient, Fraction]], Quotient]:
        """Factors of a positive quotient that are positive each, with multiplicity, and what remains."""
        factors: list[tuple[Quotient, Fraction]] = []
        rest = Quotient(dict(ONE))
        for p, sign in ((q.numerator, 1), (q.denominator, -1)):
            constant, monomial, others = factored(p)
            for prime, multiplicity in prime_factors(constant):
                factors.append((Quotient({(): Fraction(prime)}), Fraction(multiplicity * sign)))
            if constant < 0:
                rest = self.product(rest, Quotient({(): Fraction(-1)}))
            for a, e in monomial:
                letter = Quotient({((a, Fraction(1)),): Fraction(1)})
                if self.atoms[a].sign != "any":
                    factors.append((letter, e * sign))
                else:
                    rest = self.product(rest, self._rational_power(letter, e * sign))
            for factor, multiplicity in others:
                if self.is_nonnegative(factor):
                    factors.append((Quotient(factor), Fraction(multiplicity * sign)))
                else:
                    rest = self.product(
                        rest, self._rational_power(Quotient(factor), Fraction(multiplicity * sign))
                    )
        return factors, rest

    def _root(self, q: Quotient, exponent: Fraction) -> Quotient:
        if not q.numerator:
            raise OutOfScopeError("a root of zero")
        factors, rest = self._split_positive(q)
        if rest.key() != Quotient(dict(ONE)).key():
            factors.append((rest, Fraction(1)))
        result = Quotient(dict(ONE))
        for factor, multiplicity in factors:
            result = self.product(result, self._root_of_factor(factor, multiplicity * exponent))
        return result

    def _root_of_factor(self, factor: Quotient, exponent: Fraction) -> Quotient:
        if factor.denominator == ONE and len(factor.numerator) == 1:
            ((monomial, c),) = factor.numerator.items()
            # sqrt(z^2) is not z where z may be negative
            if c == 1 and monomial and all(self.atoms[a].sign != "any" for a, _ in monomial):
                return self.canonical(Quotient({monomial_power(monomial, exponent): Fraction(1)}))
        if exponent.denominator == 1:
            return self._rational_power(factor, exponent)
        sign = "positive" if self.is_positive(factor) else "nonnegative"
        letter = self._letter(Atom(("root", factor.key()), sign, base=factor))
        ((one, _),) = letter.items()
        return self.canonical(Quotient({monomial_power(one, exponent): Fraction(1)}))

    def _logarithm(self, q: Quotient) -> Quotient:
        if not q.numerator:
            raise OutOfScopeError("the logarithm of zero")
        factors, rest = self._split_positive(q)
        if rest.key() != Quotient(dict(ONE)).key():
            factors.append((rest, Fraction(1)))
        return self.sum(
            self.product(self._logarithm_of_factor(f), Quotient({(): multiplicity}))
            for f, multiplicity in factors
        )

    def _logarithm_of_factor(self, f: Quotient) -> Quotient:
        if f.denominator == ONE and len(f.numerator) == 1:
            ((monomial, c),) = f.numerator.items()
            if c == 1 and len(monomial) == 1 and monomial[0][1] == 1:
                atom = self.atoms[monomial[0][0]]
                if atom.key[0] == "exp" and atom.argument is not None:
                    return atom.argument
                if atom.base is not None:
                    return self._logarithm(atom.base)
        return Quotient(self._letter(Atom(("log", f.key()), "any", argument=f)))

    def _erfc(self, q: Quotient) -> Quotient:
        if not q.numerator:
            return Quotient(dict(ONE))
        if q.numerator[max(q.numerator)] < 0:
            mirrored = self._erfc(Quotient({m: -c for m, c in q.numerator.items()}, q.denominator))
            return self.sum(
                (Quotient({(): Fraction(2)}), self.product(Quotient({(): Fraction(-1)}), mirrored))
            )
        return Quotient(self._letter(Atom(("erfc", q.key()), "positive", argument=q)))


def is_identity(left: SymPy, right: SymPy) -> bool:
    """Whether two expressions have the same normal form, so that they agree wherever both are defined."""
    return not NormalForms().of(left - right).numerator
