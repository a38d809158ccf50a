"""Expressions over inner products as polynomials in the entries of the vectors' Gram matrix, norms and letters.

An inner product of linear combinations of k vectors is a linear combination of the entries G_ij = <x_i, x_j>. A claim
that is shown for every positive semidefinite G holds in every dimension; norms are unknowns n >= 0 with n^2 = <v, v>.
Coefficients are fractions of polynomials in the letters that vectors may be multiplied by.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement, pairwise
from typing import Any

import sympy as sp
from sympy.polys.fields import FracField

from dpverify.formulas.calculus import worked_out
from dpverify.formulas.expressions import (
    Apply,
    Expression,
    Number,
    OutOfScopeError,
    TooLargeError,
    Variable,
    constant,
)
from dpverify.formulas.vectors import is_vector
from dpverify.proving.reasoning.algebra import in_factors
from dpverify.proving.reasoning.effort import spend
from dpverify.proving.reasoning.symbolic import symbol, tree

Atom = tuple[Any, ...]
"""`("dot", x, y)` with x <= y, `("norm", number)`, or `("letter", name)`."""
Monomial = tuple[Atom, ...]
Coefficient = Any
"""A fraction of polynomials in the coefficients' letters."""
Form = dict[Monomial, Coefficient]
Vector = dict[str, Coefficient]

MAX_TERMS = 2_000
"""Terms of the longest polynomial."""
MAX_POWER = 8
ONE: Monomial = ()


class InnerProducts:
    """Makes forms of expressions; letters in `unknown` are unknowns of the forms, all others are in coefficients."""

    def __init__(self, variables: Iterable[Variable], unknown: Iterable[Variable] = ()) -> None:
        self.unknown = frozenset(unknown)
        self.letters = [v for v in variables if v.kind != "vector" and v not in self.unknown]
        # a field needs a generator
        generators = [symbol(v) for v in self.letters] or [sp.Dummy("none")]
        self.field = FracField(generators, sp.QQ)
        self.norms: list[tuple[Vector, Expression]] = []
        """The vectors of which norms occur."""

    def number(self, value: Fraction | int) -> Coefficient:
        """A number as a coefficient."""
        value = Fraction(value)
        return self.field.ground_new(sp.QQ(value.numerator, value.denominator))

    def letter(self, v: Variable) -> Coefficient:
        """A letter as a coefficient."""
        return self.field.gens[self.letters.index(v)]

    def expression(self, c: Coefficient) -> Expression:
        """A coefficient as an expression."""
        return tree(in_factors(c.as_expr()))

    def at(self, c: Coefficient, point: Mapping[str, Fraction]) -> Fraction | None:
        """A coefficient's value at a point; None where it has none."""
        if not c:
            return Fraction(0)
        values = [sp.QQ(q.numerator, q.denominator) for q in (point[v.name] for v in self.letters)]
        above, below = (_at(p.terms(), values) for p in (c.numer, c.denom))
        quotient = above / below if below else None
        return None if quotient is None else Fraction(int(quotient.numerator), int(quotient.denominator))

    def form(self, e: Expression) -> Form:
        """The form of a number's expression; `OutOfScopeError` if it is no polynomial in inner products and norms."""
        return self._form(worked_out(e))

    def _form(self, e: Expression) -> Form:
        spend(20)
        match e:
            case Number(value):
                return self._clean({ONE: self.number(value)})
            case Variable():
                return {(("letter", e.name),): self.number(1)} if e in self.unknown else {ONE: self.letter(e)}
            case Apply("inner", (left, right)):
                return self.inner(self.vector(left), self.vector(right))
            case Apply("norm", (of,)):
                return {(self._norm(of),): self.number(1)}
            case Apply("add" | "sub", (first, *rest)):
                found = self._form(first)
                for part in rest:
                    found = self.plus(found, self._form(part), 1 if e.operator == "add" else -1)
                return found
            case Apply("neg", (part,)):
                return self.plus({}, self._form(part), -1)
            case Apply("mul", factors):
                return reduce(self.times, map(self._form, factors), {ONE: self.number(1)})
            case Apply("div", (above, below)):
                return self.times({ONE: 1 / self._coefficient(below)}, self._form(above))
            case Apply("pow", (base, exponent)):
                return self._power(base, constant(exponent))
            case Apply(name, _):
                raise OutOfScopeError(f"function not supported among inner products: {name}")
            case _:
                raise OutOfScopeError(f"{type(e).__name__} not supported among inner products")

    def _power(self, base: Expression, exponent: Fraction | None) -> Form:
        if exponent is None or exponent.denominator != 1 or abs(exponent) > MAX_POWER:
            raise OutOfScopeError("a power among inner products whose exponent is no small integer")
        if exponent < 0:
            return {ONE: self._coefficient(base) ** int(exponent)}
        return reduce(self.times, [self._form(base)] * int(exponent), {ONE: self.number(1)})

    def _coefficient(self, e: Expression) -> Coefficient:
        found = self._form(e)
        if found.keys() - {ONE}:
            raise OutOfScopeError("an inner product or an unbounded letter as a divisor, or before a vector")
        if not found:
            raise OutOfScopeError("a divisor that is 0")
        return found[ONE]

    def vector(self, e: Expression) -> Vector:
        """The linear combination of vector letters that a vector expression is."""
        match e:
            case Variable():
                return {e.name: self.number(1)}
            case Apply("add" | "sub", (first, *rest)):
                found = self.vector(first)
                for part in rest:
                    ahead = self.number(1 if e.operator == "add" else -1)
                    for name, c in self.vector(part).items():
                        found[name] = found.get(name, self.number(0)) + ahead * c
                return _nonzero(found)
            case Apply("neg", (part,)):
                return {name: -c for name, c in self.vector(part).items()}
            case Apply("mul", factors):
                times = self.number(1)
                for factor in factors:
                    if not is_vector(factor):
                        inner = self._form(factor)
                        times = times * (self._coefficient(factor) if inner else self.number(0))
                (v,) = (f for f in factors if is_vector(f))
                return _nonzero({name: times * c for name, c in self.vector(v).items()})
            case Apply("div", (part, below)):
                by = self._coefficient(below)
                return {name: c / by for name, c in self.vector(part).items()}
            case _:
                raise OutOfScopeError("not a known vector")

    def inner(self, left: Vector, right: Vector) -> Form:
        """The inner product of two linear combinations."""
        found: Form = {}
        for a, c in left.items():
            for b, d in right.items():
                key: Monomial = (("dot", min(a, b), max(a, b)),)
                found[key] = found.get(key, self.number(0)) + c * d
        return self._clean(found)

    def _norm(self, of: Expression) -> Atom:
        coefficients = self.vector(of)
        opposite = {name: -c for name, c in coefficients.items()}
        for i, (known, _) in enumerate(self.norms):
            if known in (coefficients, opposite):
                return "norm", i
        self.norms.append((coefficients, of))
        return "norm", len(self.norms) - 1

    def plus(self, left: Form, right: Form, times: Coefficient | int = 1) -> Form:
        """Left + times * right."""
        by = self.number(times) if isinstance(times, int) else times
        found = dict(left)
        for monomial, c in right.items():
            found[monomial] = found.get(monomial, self.number(0)) + by * c
        return self._clean(found)

    def times(self, left: Form, right: Form) -> Form:
        """The product, squares of norms written as inner products."""
        spend(len(left) * len(right) * 20)
        found: Form = {}
        for a, c in left.items():
            for b, d in right.items():
                for monomial, factor in self._reduced((*a, *b)).items():
                    found[monomial] = found.get(monomial, self.number(0)) + c * d * factor
            if len(found) > MAX_TERMS:
                raise TooLargeError("a product of inner products has too many terms")
        return self._clean(found)

    def _reduced(self, atoms: Monomial) -> Form:
        ordered = tuple(sorted(atoms))
        for atom, following in pairwise(ordered):
            if atom == following and atom[0] == "norm":
                place = ordered.index(atom)
                rest = (*ordered[:place], *ordered[place + 2 :])
                of = self.norms[atom[1]][0]
                return self.times({rest: self.number(1)}, self.inner(of, of))
        return {ordered: self.number(1)}

    @staticmethod
    def _clean(form: Form) -> Form:
        return {monomial: c for monomial, c in form.items() if c}

    def combination(self, v: Vector, letters: Mapping[str, Variable]) -> Expression:
        """A linear combination as an expression."""
        parts = [self._multiple(c, letters[name]) for name, c in sorted(v.items())]
        return parts[0] if len(parts) == 1 else Apply("add", tuple(parts))

    def _multiple(self, c: Coefficient, v: Variable) -> Expression:
        return v if c == self.number(1) else self.expression(c) * v


def _nonzero(v: Vector) -> Vector:
    return {name: c for name, c in v.items() if c}


def is_entry(monomial: Monomial) -> bool:
    """Whether a monomial is an entry of the Gram matrix."""
    return len(monomial) == 1 and monomial[0][0] == "dot"


def matrix(names: list[str], form: Form) -> dict[tuple[int, int], Coefficient]:
    """The symmetric matrix S, upper half, with <S, G> = the linear part of a form."""
    found = {}
    for i, j in combinations_with_replacement(range(len(names)), 2):
        c = form.get((("dot", *sorted((names[i], names[j]))),))
        if c:
            found[i, j] = c if i == j else c / 2
    return found


def squares(
    products: InnerProducts, names: list[str], s: Mapping[tuple[int, int], Coefficient]
) -> list[tuple[Coefficient, Vector]] | None:
    """A symmetric matrix as a sum of d * l l'; None where a zero pivot has something beside it."""
    entries = dict(s)
    zero = products.number(0)
    left = list(range(len(names)))
    found = []

    def entry(i: int, j: int) -> Coefficient:
        return entries.get((min(i, j), max(i, j)), zero)

    while left:
        # pivots that are numbers come first
        left.sort(key=lambda i: (not entry(i, i), not _is_number(entry(i, i)), i))
        k, *left = left
        d = entry(k, k)
        row = {j: entry(k, j) for j in left if entry(k, j)}
        if not d:
            if row:
                return None
            continue
        found.append((d, {names[k]: products.number(1), **{names[j]: c / d for j, c in row.items()}}))
        for i in row:
            for j in row:
                if i <= j:
                    entries[i, j] = entry(i, j) - row[i] * row[j] / d
    return found


def _is_number(c: Coefficient) -> bool:
    return bool(c.numer.is_ground and c.denom.is_ground)


def _at(terms: Iterable[tuple[tuple[int, ...], Any]], values: list[Any]) -> Any:
    """The value of a polynomial; far quicker than SymPy's, which makes a ring for each letter that it puts in."""
    total = sp.QQ(0)
    for exponents, number in terms:
        # without letters there is one of SymPy's own, which never occurs
        for value, exponent in zip(values, exponents, strict=False):
            number *= value**exponent
        total += number
    return total
