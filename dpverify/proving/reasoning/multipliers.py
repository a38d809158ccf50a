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

from dpverify.proving.reasoning.inner_products import (
    Coefficient,
    Form,
    InnerProducts,
    Monomial,
    is_entry,
    matrix,
)

DENOMINATORS = (1, 2, 4, 12, 60, 360, 10_000)
"""To which numbers are rounded, the simplest first."""
_HIGHEST = 3
"""Highest power of a letter, or of its inverse, in a fitted multiplier."""
_CLOSE = 2e-3
"""How far a number may be from what it is rounded to, relative to its size."""
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
        problems.append(_Problem(rows, zeros, 0 if equality else len(names)))
    free = np.array([either for _, either in facts], dtype=bool)
    # few and simple facts rather than many
    cost = np.array([1.0 + len(form) for form, _ in facts])
    everything = tuple(range(len(facts)))
    first = [problem.solved(everything, free, cost) for problem in problems]
    if not facts or any(values is None for values in first):
        return
    # where more than one set of facts would do, all points have to agree on one
    supports = {
        tuple(int(k) for k in np.flatnonzero(np.abs(values) > _NOTHING * (1 + np.abs(values).max())))
        for values in first
        if values is not None
    }
    seen: list[list[Coefficient]] = []
    for support in sorted(supports, key=lambda s: (len(s), s)):
        found = [problem.solved(support, free, cost) for problem in problems]
        if any(values is None for values in found):
            continue
        table = np.array(found)
        for bound in DENOMINATORS:
            fitted = [_fitted(products, column, points, bound) for column in table.T]
            whole = [products.number(0)] * len(facts)
            for k, c in zip(support, fitted, strict=True):
                whole[k] = c
            if all(c is not None for c in whole) and whole not in seen:
                seen.append(whole)
                yield whole


@dataclass(frozen=True)
class _Problem:
    """A target and facts at a point, a row each: what must cancel, then the upper half of the matrix."""

    rows: np.ndarray[Any, Any]
    zeros: int
    size: int

    def solved(
        self, support: Sequence[int], free: np.ndarray[Any, Any], cost: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, Any] | None:
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


def _fitted(
    products: InnerProducts, values: Sequence[float], points: Sequence[Mapping[str, Fraction]], bound: int
) -> Coefficient | None:
    """A number, or a number times powers of the letters, that has the values at the points."""
    if max(map(abs, values)) < _NOTHING:
        return products.number(0)
    letters = products.letters
    powers = sorted(
        itertools.product(range(-_HIGHEST, _HIGHEST + 1), repeat=len(letters)),
        key=lambda p: (sum(map(abs, p)), [-q for q in p]),
    )
    for exponents in powers:
        sizes = [
            math.prod(float(point[v.name]) ** e for v, e in zip(letters, exponents, strict=True))
            for point in points
        ]
        ratios = [value / size for value, size in zip(values, sizes, strict=True)]
        middle = sum(ratios) / len(ratios)
        if max(abs(r - middle) for r in ratios) > _CLOSE * abs(middle):
            continue
        number = Fraction(middle).limit_denominator(bound)
        if number == 0 or abs(float(number) - middle) > _CLOSE * abs(middle):
            continue
        found = products.number(number)
        for v, e in zip(letters, exponents, strict=True):
            found = found * products.letter(v) ** e
        return found
    return None
