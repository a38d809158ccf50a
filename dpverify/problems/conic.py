"""Convex programs in the form that Clarabel solves: a quadratic cost, and affine expressions in cones.

minimize (1/2) v' P v + q' v where each block of rows E v + c is 0, at least 0, in a second-order or in an exponential
cone. Losses and sets say here what they are, so that a minimizer can be proposed; nothing rests on the solver's word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Affine:
    """Affine expressions of a program's variables, one a row.

    Attributes:
        rows: of the entries, from 0.
        columns: which variable each entry multiplies.
        values: by what.
        constant: what is added, shape (rows,).
    """

    rows: Indices
    columns: Indices
    values: Vector
    constant: Vector

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.constant)

    def __add__(self, other: Affine | Vector | float) -> Affine:
        """The sum, row by row."""
        if not isinstance(other, Affine):
            return Affine(self.rows, self.columns, self.values, self.constant + other)
        return Affine(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.columns, other.columns]),
            np.concatenate([self.values, other.values]),
            self.constant + other.constant,
        )

    __radd__ = __add__

    def __mul__(self, factor: Vector | float) -> Affine:
        """The product with a number, or with one number a row."""
        each = np.broadcast_to(np.asarray(factor, dtype=np.float64), self.constant.shape)
        return Affine(self.rows, self.columns, self.values * each[self.rows], self.constant * each)

    __rmul__ = __mul__

    def __neg__(self) -> Affine:
        """With the opposite sign."""
        return self * -1.0

    def __sub__(self, other: Affine | Vector | float) -> Affine:
        """The difference, row by row."""
        return self + -other

    def __rsub__(self, other: float) -> Affine:
        """The difference, row by row."""
        return -self + other

    def image(self, matrix: Vector) -> Affine:
        """The matrix (m, rows) times the expressions, which are the variables themselves: m rows."""
        rows, places = np.nonzero(matrix)
        whose = self.columns[np.argsort(self.rows)]
        return Affine(rows, whose[places], matrix[rows, places], np.zeros(len(matrix)))

    def at(self, values: Vector) -> Vector:
        """The rows' values, from those of all variables."""
        terms = self.values * values[self.columns]
        return self.constant + np.bincount(self.rows, weights=terms, minlength=len(self))

    def repeated(self, times: int) -> Affine:
        """All rows again and again."""
        shifts = np.repeat(np.arange(times) * len(self), len(self.rows))
        return Affine(
            np.tile(self.rows, times) + shifts,
            np.tile(self.columns, times),
            np.tile(self.values, times),
            np.tile(self.constant, times),
        )


class ConicProgram:
    """A program that is written down piece by piece."""

    def __init__(self) -> None:
        """Begin without variables."""
        self._count = 0
        self._costs: list[Affine] = []
        self._squares: list[Affine] = []
        self._blocks: list[tuple[Any, Affine]] = []
        self._height = 0

    def variables(self, count: int) -> Affine:
        """New variables, free as long as nothing else is said of them."""
        first, self._count = self._count, self._count + count
        each = np.arange(count)
        return Affine(each, first + each, np.ones(count), np.zeros(count))

    def cost(self, terms: Affine) -> None:
        """Add the sum of the rows to the cost."""
        self._costs.append(terms)

    def half_squares(self, terms: Affine) -> None:
        """Add half the sum of the rows' squares to the cost."""
        self._squares.append(terms)

    def cost_of_largest(self, *terms: Affine) -> None:
        """Add the sum, over the rows, of the largest one of several expressions to the cost."""
        largest = self.variables(len(terms[0]))
        self.cost(largest)
        for one in terms:
            self.nonnegative(largest - one)

    def cost_at(self, values: Vector) -> float:
        """The cost, from the values of all variables."""
        linear = sum(float(np.sum(terms.at(values))) for terms in self._costs)
        return linear + sum(float(np.sum(terms.at(values) ** 2)) / 2 for terms in self._squares)

    def zero(self, terms: Affine) -> slice:
        """Require that each row is 0; returns where their multipliers are found."""
        import clarabel

        return self._require([clarabel.ZeroConeT(len(terms))], terms)

    def nonnegative(self, terms: Affine) -> None:
        """Require that no row is negative."""
        import clarabel

        self._require([clarabel.NonnegativeConeT(len(terms))], terms)

    def second_order(self, bounds: Affine, vectors: Affine) -> None:
        """Require that each bound is at least its vector's Euclidean norm; coordinates follow one another."""
        import clarabel

        count = len(bounds)
        width = len(vectors) // count
        first = np.arange(count) * (width + 1)
        coordinates = (first[:, None] + 1 + np.arange(width)).ravel()
        self._require(
            [clarabel.SecondOrderConeT(width + 1)] * count, _merged((bounds, first), (vectors, coordinates))
        )

    def exponential(self, x: Affine, y: Affine, z: Affine) -> None:
        """Require, row by row, that y exp(x / y) is at most z, with y above 0, or the limit of that."""
        import clarabel

        first = 3 * np.arange(len(x))
        self._require(
            [clarabel.ExponentialConeT()] * len(x), _merged((x, first), (y, first + 1), (z, first + 2))
        )

    def constants(self, value: float, count: int) -> Affine:
        """Rows without variables."""
        none = np.zeros(0, dtype=np.int64)
        return Affine(none, none, np.zeros(0), np.full(count, value))

    def _require(self, cones: Sequence[Any], terms: Affine) -> slice:
        self._blocks.append((cones, terms))
        first, self._height = self._height, self._height + len(terms)
        return slice(first, self._height)

    def solve(self, scale: float) -> tuple[Vector, Vector]:
        """Clarabel's last values of the variables and of all rows' multipliers, for `scale` times the cost."""
        import clarabel
        from scipy import sparse

        linear = np.zeros(self._count)
        for terms in self._costs:
            np.add.at(linear, terms.columns, terms.values)
        quadratic = sparse.csc_matrix((self._count, self._count))
        for terms in self._squares:
            matrix = self._matrix(terms)
            quadratic = quadratic + matrix.T @ matrix
            linear += matrix.T @ terms.constant
        left = sparse.vstack([self._matrix(terms) for _, terms in self._blocks], format="csc")
        right = np.concatenate([terms.constant for _, terms in self._blocks])
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        cones = [cone for some, _ in self._blocks for cone in some]
        upper = sparse.triu(scale * quadratic, format="csc")
        solver = clarabel.DefaultSolver(upper, scale * linear, -left, right, cones, settings)
        found = solver.solve()
        return np.asarray(found.x, dtype=np.float64), np.asarray(found.z, dtype=np.float64)

    def _matrix(self, terms: Affine) -> Any:
        from scipy import sparse

        return sparse.csc_matrix((terms.values, (terms.rows, terms.columns)), shape=(len(terms), self._count))


def _merged(*parts: tuple[Affine, Indices]) -> Affine:
    """Expressions whose rows get the numbers given with them."""
    height = sum(len(terms) for terms, _ in parts)
    constant = np.zeros(height)
    for terms, where in parts:
        constant[where] = terms.constant
    return Affine(
        np.concatenate([where[terms.rows] for terms, where in parts]),
        np.concatenate([terms.columns for terms, _ in parts]),
        np.concatenate([terms.values for terms, _ in parts]),
        constant,
    )
