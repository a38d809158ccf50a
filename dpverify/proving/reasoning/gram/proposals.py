"""What numbers propose of inner products: multipliers with which an inequality follows, and vectors at which it fails.

target = sum of multiplier * fact + <S, G>, multipliers >= 0 (any for equalities), S positive semidefinite. Clarabel
solves it at points of the coefficients' letters; what it finds is rounded to fractions, or fitted by products of
powers of the letters. For vectors, it looks for a positive semidefinite Gram matrix with as much room as there is; its
factors are rounded to fractions. Nothing here is trusted: whoever asks works it out exactly.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import clarabel
import numpy as np
from scipy.sparse import csc_matrix

from dpverify.proving.reasoning.gram.inner_products import (
    Coefficient,
    Form,
    InnerProducts,
    Monomial,
    is_entry,
    matrix,
)

_Numbers = np.ndarray[Any, Any]
_Terms = list[tuple[float, tuple[int, ...]]]
"""Numbers and the exponents of the letters that they multiply."""
DENOMINATORS = (1, 2, 4, 12, 60, 360, 10_000)
"""To which numbers are rounded, the simplest first."""
_POWERS = 5_000
"""Products of powers of the letters at most that a multiplier is compared with."""
_PAIRED = 150
"""Of these, the simplest that are taken two at a time."""
_CLOSE = 2e-3
"""How far a number may be from what it is rounded to, relative to its size."""
_PAIR_CLOSE = 1e-7
"""Largest sum of squares of what a sum of two is off, relative to the values."""
_NOTHING = 1e-4
_LENGTH = 16.0
"""Largest sum of the vectors' squared lengths."""
_FAR = 64.0
"""Largest value of a letter without bounds."""
_ROOM = 1e-6
"""By how much a claim must fail, and assumptions hold, so that rounding leaves some of it."""
_COORDINATES_UP_TO = (1, 2, 4, 10, 100, 1_000, 10_000)


def proposals(
    products: InnerProducts,
    names: list[str],
    target: Form,
    facts: Sequence[tuple[Form, bool]],
    points: Sequence[Mapping[str, Fraction]],
    *,
    equality: bool,
) -> Iterator[list[Coefficient]]:
    """Multipliers of the facts (each with whether it is an equality), the simplest first; for `equality`, S is 0."""
    forms = [target, *(form for form, _ in facts)]
    others = sorted({m for form in forms for m in form if not is_entry(m)}, key=str)
    problems = []
    for point in points:
        columns = [_column(products, names, others, form, point) for form in forms]
        if any(column is None for column in columns):
            return
        rows = np.array(columns, dtype=float)
        zeros = rows.shape[1] if equality else len(others)
        problems.append(_MultiplierProblem(rows, zeros, 0 if equality else len(names)))
    free = np.array([either for _, either in facts], dtype=bool)
    # few and simple facts rather than many
    cost = np.array([1.0 + len(form) for form, _ in facts])
    everything = tuple(range(len(facts)))
    first = [problem.solved(everything, free, cost) for problem in problems]
    if not facts or not points or any(values is None for values in first):
        return
    # where more than one set of facts would do, all points have to agree on one
    supports = {
        tuple(int(k) for k in np.flatnonzero(np.abs(values) > _NOTHING * (1 + np.abs(values).max())))
        for values in first
        if values is not None
    }
    fits = _Fits(products, points)
    seen: list[list[Coefficient]] = []
    for support in sorted(supports, key=lambda s: (len(s), s)):
        found = [problem.solved(support, free, cost) for problem in problems]
        if any(values is None for values in found):
            continue
        fitted_terms = [fits.terms(column) for column in np.array(found).T]
        for bound in DENOMINATORS:
            fitted = [fits.rounded(terms, bound) for terms in fitted_terms]
            whole = [products.number(0)] * len(facts)
            for k, c in zip(support, fitted, strict=True):
                whole[k] = c
            if all(c is not None for c in whole) and whole not in seen:
                seen.append(whole)
                yield whole


@dataclass(frozen=True)
class _MultiplierProblem:
    """A target and facts at a point, a row each: what must cancel, then the upper half of the matrix."""

    rows: _Numbers
    zeros: int
    size: int

    def solved(self, support: Sequence[int], free: _Numbers, cost: _Numbers) -> _Numbers | None:
        """The cheapest multipliers of some of the facts, by Clarabel; None where it finds none."""
        if not support:
            return None
        goal, parts = self.rows[0], self.rows[[k + 1 for k in support]].T
        # what may have either sign is a difference, so that the least is taken of it, too
        either = np.flatnonzero(free[list(support)])
        parts = np.hstack([parts, -parts[:, either]])
        n = parts.shape[1]
        a = np.vstack([parts[: self.zeros], -np.eye(n), parts[self.zeros :]])
        b = np.concatenate([goal[: self.zeros], np.zeros(n), goal[self.zeros :]])
        costs = np.append(cost[list(support)], cost[list(support)][either])
        found = _minimized(costs, a, b, zeros=self.zeros, nonnegative=n, matrix=self.size)
        if found is None:
            return None
        found[either] -= found[len(support) :]
        return found[: len(support)]


def _column(
    products: InnerProducts,
    names: list[str],
    others: Sequence[Monomial],
    form: Form,
    point: Mapping[str, Fraction],
) -> list[float] | None:
    """A form at a point: its other monomials, then the upper half of its matrix, column by column."""
    zero = products.number(0)
    entries = matrix(names, form)
    scaled = [(form.get(m, zero), 1.0) for m in others]
    scaled += [
        (entries.get((i, j), zero), 1.0 if i == j else math.sqrt(2)) for i, j in _upper_half(len(names))
    ]
    return _values(products, scaled, point)


def _upper_half(size: int) -> list[tuple[int, int]]:
    """The places of a symmetric matrix's upper half, column by column."""
    return [(i, j) for j in range(size) for i in range(j + 1)]


def _values(
    products: InnerProducts, scaled: Iterable[tuple[Coefficient, float]], point: Mapping[str, Fraction]
) -> list[float] | None:
    """Coefficients at a point, each times a number; None where one has no value."""
    found = []
    for c, size in scaled:
        value = products.at(c, point)
        if value is None:
            return None
        found.append(float(value) * size)
    return found


def _minimized(
    cost: _Numbers, a: _Numbers, b: _Numbers, *, zeros: int, nonnegative: int, matrix: int
) -> _Numbers | None:
    """Where a cost is least while b - a x is 0, then not negative, then a positive semidefinite matrix, by Clarabel."""
    cones = [clarabel.ZeroConeT(zeros)] if zeros else []
    cones.append(clarabel.NonnegativeConeT(nonnegative))
    if matrix:
        cones.append(clarabel.PSDTriangleConeT(matrix))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 100
    nothing = csc_matrix((len(cost), len(cost)))
    solution = clarabel.DefaultSolver(nothing, cost, csc_matrix(a), b, cones, settings).solve()
    return np.array(solution.x) if str(solution.status) in ("Solved", "AlmostSolved") else None


class _Fits:
    """Sums of at most two numbers times powers of the letters, through values at points."""

    def __init__(self, products: InnerProducts, points: Sequence[Mapping[str, Fraction]]) -> None:
        self.products = products
        names = [v.name for v in products.letters]
        highest = next(h for h in (3, 2, 1, 0) if (2 * h + 1) ** len(names) <= _POWERS)
        self.powers = sorted(
            itertools.product(range(-highest, highest + 1), repeat=len(names)),
            key=lambda p: (sum(map(abs, p)), [-q for q in p]),
        )
        logarithms = np.array([[math.log(abs(point[name])) for name in names] for point in points])
        signs = np.array([[math.copysign(1, point[name]) for name in names] for point in points])
        exponents = np.array(self.powers).reshape(len(self.powers), len(names))
        signs = signs.reshape(len(points), len(names))
        odd = np.prod(np.where(exponents[:, None, :] % 2 == 1, signs, 1.0), axis=2)
        self.sizes = np.exp(exponents @ logarithms.reshape(len(points), len(names)).T) * odd
        """For each product of powers, its value at each point."""

    def terms(self, values: _Numbers) -> _Terms | None:
        """Numbers and exponents whose sum has the values at the points; None where none is found."""
        if np.abs(values).max() < _NOTHING:
            return []
        ratios = values / self.sizes
        middle = ratios.mean(axis=1)
        close = np.abs(ratios - middle[:, None]).max(axis=1) <= _CLOSE * np.abs(middle)
        if close.any():
            k = int(np.argmax(close))
            return [(float(middle[k]), self.powers[k])]
        if len(values) < 4 or not np.abs(values).min() > _NOTHING:
            return None
        # relative to the values, of which all are to be 1
        few = self.sizes[:_PAIRED] / values
        products, sums = few @ few.T, few.sum(axis=1)
        lengths = np.diag(products)
        spread = np.multiply.outer(lengths, lengths) - products**2
        with np.errstate(divide="ignore", invalid="ignore"):
            first = (sums[:, None] * lengths[None, :] - sums[None, :] * products) / spread
            left = len(values) - first * sums[:, None] - first.T * sums[None, :]
        good = (spread > 1e-9 * np.multiply.outer(lengths, lengths)) & (left < _PAIR_CLOSE)
        pairs = sorted((int(i + j), int(i), int(j)) for i, j in np.argwhere(np.triu(good, 1)))
        if not pairs:
            return None
        _, i, j = pairs[0]
        return [(float(first[i, j]), self.powers[i]), (float(first[j, i]), self.powers[j])]

    def rounded(self, terms: _Terms | None, bound: int) -> Coefficient | None:
        """The sum with its numbers rounded; None where one is not near to a fraction like that."""
        if terms is None:
            return None
        found = self.products.number(0)
        for value, exponents in terms:
            number = Fraction(value).limit_denominator(bound)
            if abs(float(number) - value) > _CLOSE * abs(value):
                return None
            part = self.products.number(number)
            for v, e in zip(self.products.letters, exponents, strict=True):
                part = part * self.products.letter(v) ** e
            found = found + part
        return found


def is_linear(form: Form) -> bool:
    """Whether a form is linear in the Gram matrix and in letters."""
    return all(not m or is_entry(m) or (len(m) == 1 and m[0][0] == "letter") for m in form)


def proposed(
    products: InnerProducts,
    names: list[str],
    target: Form,
    facts: Sequence[tuple[Form, bool]],
    at: Mapping[str, Fraction],
) -> Iterator[dict[str, Any]]:
    """Points at which the target is negative and the facts (each with whether it is an equality) hold, or nearly so.

    All forms are linear; letters of coefficients have their values from `at`.
    """
    unknown = sorted(v.name for v in products.unknown)
    rows = [_row(products, names, unknown, form, at) for form in (target, *(form for form, _ in facts))]
    if any(row is None for row in rows):
        return
    k = len(names)
    entries = k * (k + 1) // 2
    width = entries + len(unknown) + 1
    goal, *rest = [np.array(row) for row in rows]

    def line(row: Any, room: float) -> Any:
        return np.concatenate([row[:-1], [room]])

    equal = [(line(row, 0.0), -row[-1]) for row, (_, equality) in zip(rest, facts, strict=True) if equality]
    above = [
        (line(-row, 1.0), row[-1]) for row, (_, equality) in zip(rest, facts, strict=True) if not equality
    ]
    # target + room <= 0, room <= 1, the vectors and letters not too long
    above += [(line(goal, 1.0), -goal[-1]), (_unit(width, width - 1), 1.0)]
    trace = np.zeros(width)
    trace[[j * (j + 3) // 2 for j in range(k)]] = 1.0
    above.append((trace, _LENGTH))
    for u in range(entries, width - 1):
        above += [(_unit(width, u), _FAR), (-_unit(width, u), _FAR)]
    whole = -np.eye(entries, width)
    a = np.vstack([row for row, _ in (*equal, *above)] + [whole])
    b = np.concatenate([[bound for _, bound in (*equal, *above)], np.zeros(entries)])
    cost = -_unit(width, width - 1)
    x = _minimized(cost, a, b, zeros=len(equal), nonnegative=len(above), matrix=k)
    if x is None or not x[-1] > _ROOM:
        return
    yield from _rounded(names, unknown, x)


def _row(
    products: InnerProducts, names: list[str], unknown: list[str], form: Form, at: Mapping[str, Fraction]
) -> list[float] | None:
    """A form's coefficients of the scaled upper half of the matrix, of the letters, and of 1."""
    monomials: list[tuple[Any, float]] = []
    for i, j in _upper_half(len(names)):
        pair = sorted((names[i], names[j]))
        monomials.append(((("dot", *pair),), 1.0 if i == j else 1 / math.sqrt(2)))
    monomials += [((("letter", name),), 1.0) for name in unknown]
    zero = products.number(0)
    return _values(products, ((form.get(m, zero), size) for m, size in (*monomials, ((), 1.0))), at)


def _unit(width: int, place: int) -> Any:
    found = np.zeros(width)
    found[place] = 1.0
    return found


def _rounded(names: list[str], unknown: list[str], x: Any) -> Iterator[dict[str, Any]]:
    """The vectors of a Gram matrix and the letters, with larger and larger denominators."""
    k = len(names)
    gram = np.zeros((k, k))
    entries = _upper_half(k)
    for value, (i, j) in zip(x, entries, strict=False):
        gram[i, j] = gram[j, i] = value if i == j else value / math.sqrt(2)
    values, directions = np.linalg.eigh(gram)
    kept = values > 1e-7 * max(values.max(), 1e-300)
    factors = directions[:, kept] * np.sqrt(values[kept])
    # on the line that is nearest to all of them, then in as many dimensions as it takes, with zeros above the diagonal
    for shown in (factors[:, -1:], np.linalg.qr(factors.T)[1].T):
        for bound in _COORDINATES_UP_TO:
            point: dict[str, Any] = {
                name: tuple(Fraction(float(c)).limit_denominator(bound) for c in row)
                for name, row in zip(names, shown, strict=True)
            }
            for name, value in zip(unknown, x[len(entries) : -1], strict=True):
                point[name] = Fraction(float(value)).limit_denominator(bound)
            yield point
