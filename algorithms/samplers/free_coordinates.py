"""Balls, boxes and simplices of few dimensions as regions for certified rejection, and risks that are sampled on them.

A point of a simplex is fixed by all of its coordinates but the last; for balls and boxes all are free. The uniform
law on the set is uniform in the free coordinates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.promises import StatedQueries
from dpverify.algorithms.samplers.certified_rejection import (
    LEAST_ACCEPTANCE,
    MOST_CELLS,
    build_envelope,
)
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.origins import Unstated
from dpverify.problems import Ball, Box, ConstraintSet, Dataset, Problem, Simplex
from dpverify.problems.arrays import like, namespace, row_sums
from dpverify.problems.problem import without_ridge
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array

Matrix = NDArray[np.float64]

_CLEARLY = 1e-12
"""Relative distance from which a cell is certainly outside."""

_EPS = float(np.finfo(np.float64).eps)


def affine_dimension(constraint: ConstraintSet) -> int:
    """Dimension of the smallest plane that holds the set: d - 1 for a simplex, else d."""
    return constraint.dimension - (1 if isinstance(constraint, Simplex) else 0)


@dataclass(frozen=True)
class FreeRegion:
    """A ball, box or simplex in its free coordinates.

    Raises:
        InvalidArgumentError: if the set is none of these, or a single point.
    """

    constraint: ConstraintSet

    def __post_init__(self) -> None:
        if type(self.constraint) not in (Ball, Box, Simplex) or affine_dimension(self.constraint) < 1:
            raise InvalidArgumentError(
                "constraint", self.constraint, "a Ball, a Box, or a Simplex of at least two dimensions"
            )

    @cached_property
    def _corners(self) -> tuple[Matrix, Matrix]:
        constraint: Any = self.constraint
        if isinstance(constraint, Ball):
            return constraint.center() - constraint.radius, constraint.center() + constraint.radius
        if isinstance(constraint, Box):
            return np.array(constraint.lower, dtype=np.float64), np.array(constraint.upper, dtype=np.float64)
        k = affine_dimension(constraint)
        return np.zeros(k), np.full(k, float(constraint.scale))

    @property
    def lower(self) -> Matrix:
        """Lowest corner of the bounding box."""
        return self._corners[0]

    @property
    def upper(self) -> Matrix:
        """Highest corner of the bounding box."""
        return self._corners[1]

    def whole(self, points: Array) -> Array:
        """All d coordinates of points in free coordinates."""
        if not isinstance(self.constraint, Simplex):
            return points
        rest = (self.constraint.scale - row_sums(points))[:, None]
        return namespace(points).concat([points, rest], axis=1)

    def free(self, points: Array) -> Array:
        """The free coordinates of points of the set."""
        return points[:, :-1] if isinstance(self.constraint, Simplex) else points

    def pulled(self, gradients: Array) -> Array:
        """Gradients in the free coordinates, from gradients in all."""
        return gradients[:, :-1] - gradients[:, -1:] if isinstance(self.constraint, Simplex) else gradients

    def contains(self, points: Array) -> Array:
        """Whether points are in the set, without tolerance."""
        constraint: Any = self.constraint
        xp = namespace(points)
        if isinstance(constraint, Ball):
            offset = points - like(constraint.center(), points)
            return row_sums(offset * offset) <= constraint.radius**2
        if isinstance(constraint, Box):
            return xp.all((points >= like(self.lower, points)) & (points <= like(self.upper, points)), axis=1)
        return xp.all(points >= 0.0, axis=1) & (row_sums(points) <= constraint.scale)

    def inside(self, points: Array) -> Array:
        """The nearest points of the set; for a simplex, in all coordinates."""
        return self.free(self.constraint.project(self.whole(points)))

    def excludes(self, lower: Matrix, upper: Matrix) -> NDArray[np.bool_]:
        """Whether a cell is certainly outside, or touches the set at most."""
        constraint: Any = self.constraint
        if isinstance(constraint, Ball):
            middle = constraint.center()
            offset = np.clip(middle, lower, upper) - middle
            return np.asarray(np.sum(offset**2, axis=1) >= constraint.radius**2 * (1 + _CLEARLY))
        if isinstance(constraint, Box):
            return np.zeros(lower.shape[0], dtype=np.bool_)
        return np.asarray(np.sum(lower, axis=1) >= constraint.scale * (1 + _CLEARLY))


@dataclass(frozen=True, eq=False)
class RiskPotential:
    """exponent_scale times the total risk, plus (weight / 2) ||w - anchor||^2; in free coordinates.

    Attributes:
        problem: loss and constraint set.
        data: n records.
        exponent_scale: one over loss.
        weight: of the quadratic term, at least 0, one over length^2.
        anchor: a point of the set, d numbers; None: its center.
    """

    problem: Problem
    data: Dataset
    exponent_scale: float
    weight: float = 0.0
    anchor: tuple[float, ...] | None = None

    @property
    def _region(self) -> FreeRegion:
        return FreeRegion(self.problem.constraint)

    @property
    def rounding(self) -> float:
        """Allowance for sums of n losses, in units of the exponent.

        Each loss is at most its size at the set's center plus its largest slope times the diameter; a sum of n of
        them, in any order, is off by at most n roundings of the sum of the sizes, and planes by as much again.
        """
        data = self.data.as_namespace(np)
        constraint, loss = self.problem.constraint, self.problem.loss
        centers = np.repeat(constraint.center()[None, :], data.n, axis=0)
        sizes = float(np.sum(np.abs(loss.value(centers, data.features, data.labels))))
        # a ridge is declared for a radius that may be infinite
        base, ridge = without_ridge(loss)
        slope = self.problem.base_constants.lipschitz_constant
        if not math.isfinite(slope):
            gradients = np.asarray(base.gradient(centers, data.features, data.labels))
            slope = float(np.max(np.linalg.norm(gradients, axis=1))) + (
                self.problem.base_constants.smoothness * constraint.diameter
            )
        slope += ridge * constraint.largest_norm
        if not math.isfinite(slope):
            raise InvalidArgumentError("problem", self.problem, "a loss whose slope is bounded on the set")
        reach = sizes + data.n * slope * (constraint.diameter + constraint.largest_norm)
        allowed = (data.n + 64) * self.exponent_scale * reach
        if self.weight:
            allowed += 64 * self.weight * (constraint.diameter + 2 * constraint.largest_norm) ** 2
        return 8 * _EPS * allowed

    def value(self, points: Array) -> Array:
        """Shape (m,)."""
        whole = self._region.whole(points)
        data = self.data.as_namespace(namespace(points))
        value = self.exponent_scale * self.problem.total_risk(whole, data)
        if not self.weight:
            return value
        offset = self._offset(whole)
        return value + (0.5 * self.weight) * row_sums(offset * offset)

    def gradient(self, points: Array) -> Array:
        """Shape (m, k)."""
        whole = self._region.whole(points)
        data = self.data.as_namespace(namespace(points))
        gradients = self._region.pulled(self.problem.mean_gradient(whole, data))
        gradients = (self.exponent_scale * self.data.n) * gradients
        if not self.weight:
            return gradients
        return gradients + self.weight * self._region.pulled(self._offset(whole))

    def _offset(self, whole: Array) -> Array:
        anchor = self.problem.constraint.center() if self.anchor is None else self.anchor
        return whole - like(anchor, whole)


def sample_on_set(
    potential: RiskPotential,
    *,
    rng: Randomness,
    runs: int,
    target: float,
    largest: int = MOST_CELLS,
    smallest: float = LEAST_ACCEPTANCE,
) -> Output:
    """Exact samples of exp(-potential) on the problem's set, in all coordinates, by certified rejection.

    A run alone would need the envelope that runs share, so each counts it. Arguments as for `build_envelope`.
    """
    region, n = FreeRegion(potential.problem.constraint), potential.data.n
    envelope = build_envelope(potential, region, target=target, largest=largest, smallest=smallest)
    points, asked = envelope.sample(rng=rng, runs=runs, name="position")
    return Output(
        region.whole(points),
        gradient_queries=n * envelope.gradient_count,
        value_queries=n * (envelope.value_count + asked),
    )


UNCOUNTED = Unstated("the paper counts no queries of exact sampling; the number is the implementation's")


def sampling_queries(
    k: int, n: int, *, largest: int = MOST_CELLS, smallest: float = LEAST_ACCEPTANCE
) -> tuple[StatedQueries, StatedQueries]:
    """What a run of `sample_on_set` asks for at most, with k free coordinates and n records."""
    # cells that were cut had planes too; a cell's values are asked for at its plane's point and at its corners
    cells = 2 * largest
    return (
        StatedQueries(
            "gradient",
            n * cells,
            exact=False,
            formula="2 n for each cell that is allowed",
            origin=UNCOUNTED,
        ),
        StatedQueries("value", n * (cells * (1 + 2**k) + 1 / smallest), exact=False, expected=True),
    )


def near_box(region: FreeRegion, centers: Array, radius: float) -> tuple[Array, Array]:
    """Boxes around the parts of the set within `radius` of each center (free coordinates), shape (runs, k) each."""
    xp = namespace(centers)
    lower = xp.maximum(centers - radius, like(region.lower, centers)[None, :])
    upper = xp.minimum(centers + radius, like(region.upper, centers)[None, :])
    return lower, upper


def near(region: FreeRegion, points: Array, centers: Array, radius: float) -> Array:
    """Whether points are within `radius` of their centers, in all coordinates; both in free ones, shape (m, k)."""
    offset = points - centers
    squared = row_sums(offset * offset)
    if isinstance(region.constraint, Simplex):
        # the last coordinate moves by minus the sum of the others
        squared = squared + row_sums(offset) ** 2
    return squared <= radius**2


def cells_per_axis(curvature: float, radius: float, k: int) -> int:
    """How finely to cut a box of half-width `radius`, so that planes are off by about 1; few where that is many."""
    most = {1: 4, 2: 3, 3: 2}[k]
    if not math.isfinite(curvature):
        return most
    return int(min(most, max(1, math.ceil(radius * math.sqrt(curvature * k / 2)))))
