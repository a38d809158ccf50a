"""Multipliers with which an inequality between inner products follows from others, proposed by numbers.

target = sum of multiplier * fact + <S, G>, multipliers >= 0 (any for equalities), S positive semidefinite. Clarabel
solves it at points of the coefficients' letters; what it finds is rounded to fractions, or fitted by products of
powers of the letters. Nothing here is trusted: whoever asks works the identity out exactly.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
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
        cones = [clarabel.ZeroConeT(self.zeros)] if self.zeros else []
        cones.append(clarabel.NonnegativeConeT(n))
        if self.size:
            cones.append(clarabel.PSDTriangleConeT(self.size))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_iter = 100
        solver = clarabel.DefaultSolver(
            csc_matrix((n, n)),
            np.append(cost[list(support)], cost[list(support)][either]),
            csc_matrix(a),
            b,
            cones,
            settings,
        )
        solution = solver.solve()
        if str(solution.status) not in ("Solved", "AlmostSolved"):
            return None
        found = np.array(solution.x)
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
    coefficients = [form.get(m, zero) for m in others]
    coefficients += [entries.get((i, j), zero) for j in range(len(names)) for i in range(j + 1)]
    sizes = [1.0] * len(others)
    sizes += [1.0 if i == j else math.sqrt(2) for j in range(len(names)) for i in range(j + 1)]
    found = []
    for c, size in zip(coefficients, sizes, strict=True):
        value = products.at(c, point)
        if value is None:
            return None
        found.append(float(value) * size)
    return found


# ---------------------------------------------------------------------------------------------- rounding


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

    def terms(self, values: _Numbers) -> list[tuple[float, tuple[int, ...]]] | None:
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

    def rounded(
        self, terms: Sequence[tuple[float, tuple[int, ...]]] | None, bound: int
    ) -> Coefficient | None:
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
