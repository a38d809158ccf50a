"""Convex programs in the form that Clarabel solves: a quadratic cost, and affine expressions in cones.

minimize (1/2) v' P v + q' v where each block of rows E v + c is 0, at least 0, in a second-order or in an exponential
cone. Losses and sets say here what they are, so that a minimizer can be proposed; nothing rests on the solver's word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpverify.extras import require_module

Vector = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Affine:
    """Affine expressions of a program's variables, one a row."""

    rows: Indices  # of the entries, from 0
    columns: Indices  # which variable each entry multiplies
    values: Vector  # by what
    constant: Vector  # what is added, shape (rows,)

    def __len__(self) -> int:
        return len(self.constant)

    def __add__(self, other: Affine | Vector | float) -> Affine:
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
        return self * -1.0

    def __sub__(self, other: Affine | Vector | float) -> Affine:
        return self + -other

    def __rsub__(self, other: float) -> Affine:
        return -self + other

    def image(self, matrix: Vector) -> Affine:
        """The matrix (m, rows) times the expressions, which are the variables themselves: m rows."""
        rows, places = np.nonzero(matrix)
        whose = self.columns[np.argsort(self.rows)]
        return Affine(rows, whose[places], matrix[rows, places], np.zeros(len(matrix)))

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
        self._count = 0
        self._costs: list[Affine] = []
        self._squares: list[Affine] = []
        self._cones: list[tuple[Any, ...]] = []
        self._blocks: list[Affine] = []
        self._height = 0

    def variables(self, count: int) -> Affine:
        """New variables, free as long as nothing else is said of them."""
        first, self._count = self._count, self._count + count
        each = np.arange(count)
        return Affine(each, first + each, np.ones(count), np.zeros(count))

    def cost(self, terms: Affine) -> None:
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

    def zero(self, terms: Affine) -> slice:
        """Require that each row is 0; returns where their multipliers are found."""
        return self._require(("ZeroConeT", len(terms)), terms)

    def nonnegative(self, terms: Affine) -> None:
        """Require that no row is negative."""
        self._require(("NonnegativeConeT", len(terms)), terms)

    def second_order(self, bounds: Affine, vectors: Affine) -> None:
        """Require that each bound is at least its vector's Euclidean norm; coordinates follow one another."""
        count = len(bounds)
        width = len(vectors) // count
        first = np.arange(count) * (width + 1)
        coordinates = (first[:, None] + 1 + np.arange(width)).ravel()
        terms = _merged((bounds, first), (vectors, coordinates))
        self._require(("SecondOrderConeT", width + 1), terms, count)

    def exponential(self, x: Affine, y: Affine, z: Affine) -> None:
        """Require, row by row, that y exp(x / y) is at most z, with y above 0, or the limit of that."""
        first = 3 * np.arange(len(x))
        self._require(("ExponentialConeT",), _merged((x, first), (y, first + 1), (z, first + 2)), len(x))

    def constants(self, value: float, count: int) -> Affine:
        """Rows without variables."""
        none = np.zeros(0, dtype=np.int64)
        return Affine(none, none, np.zeros(0), np.full(count, value))

    def _require(self, cone: tuple[Any, ...], terms: Affine, times: int = 1) -> slice:
        """Rows that lie in a cone of Clarabel's, given by its name and size, again and again."""
        self._cones += [cone] * times
        self._blocks.append(terms)
        first, self._height = self._height, self._height + len(terms)
        return slice(first, self._height)

    def solve(self, scale: float) -> tuple[Vector, Vector]:
        """Clarabel's last values of the variables and of all rows' multipliers, for `scale` times the cost."""
        require_module("Minimization over this set", "clarabel")
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
        left = sparse.vstack([self._matrix(terms) for terms in self._blocks], format="csc")
        right = np.concatenate([terms.constant for terms in self._blocks])
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        cones = [getattr(clarabel, name)(*size) for name, *size in self._cones]
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
