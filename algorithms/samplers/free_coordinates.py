"""Balls, boxes and simplices of few dimensions as regions for certified rejection, and risks that are sampled on them.

A point of a simplex is fixed by all of its coordinates but the last; for balls and boxes all are free. The uniform
law on the set is uniform in the free coordinates. `sample_on_set` samples on all of C, `sample_near` on the part of C
near each run's own center.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.promises import StatedQueries
from dpverify.algorithms.samplers import truncated_exponential
from dpverify.algorithms.samplers.certified_rejection import (
    LEAST_ACCEPTANCE,
    MOST_CELLS,
    Counts,
    Matrix,
    build_envelope,
    corners_of_cube,
    decide,
    until_accepted,
)
from dpverify.checks import number, positive, require
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.origins import Unstated
from dpverify.problems import Ball, Box, ConstraintSet, Dataset, Problem, Simplex
from dpverify.problems.arrays import at_least, like, namespace, row_sums
from dpverify.problems.problem import without_ridge
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array

_CLEARLY = 1e-12
"""Relative distance from which a cell is certainly outside."""

_EPS = float(np.finfo(np.float64).eps)


def affine_dimension(constraint: ConstraintSet) -> int:
    """Dimension of the smallest plane that holds the set: d - 1 for a simplex, else d."""
    return constraint.dimension - (1 if isinstance(constraint, Simplex) else 0)


@dataclass(frozen=True)
class FreeRegion:
    """A ball, box or simplex in its free coordinates; other sets and single points are refused."""

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
    """exponent_scale times the total risk, plus (weight / 2) ||w - anchor||^2, the set's center if that is None.

    In free coordinates; dimensionless.
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
        require(math.isfinite(slope), "problem", self.problem, "a loss whose slope is bounded on the set")
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
    potential: RiskPotential, *, rng: Randomness, runs: int, target: float, largest: int = MOST_CELLS
) -> Output:
    """Exact samples of exp(-potential) on the problem's set, in all coordinates, by certified rejection.

    A run alone would need the envelope that runs share, so each counts it. Arguments as for `build_envelope`.
    """
    region, n = FreeRegion(potential.problem.constraint), potential.data.n
    envelope = build_envelope(potential, region, target=target, largest=largest)
    points, asked = envelope.sample(rng=rng, runs=runs, name="position")
    return Output(
        region.whole(points),
        gradient_queries=n * envelope.gradient_count,
        value_queries=n * (envelope.value_count + asked),
    )


UNCOUNTED = Unstated("the paper counts no queries of exact sampling; the number is the implementation's")


def sampling_queries(k: int, n: int, *, largest: int = MOST_CELLS) -> tuple[StatedQueries, StatedQueries]:
    """What a run of `sample_on_set` asks for at most, with k free coordinates and n records."""
    # cells that were cut had planes too; a cell's values are asked for at its plane's point and at its corners
    cells = 2 * largest
    return (
        StatedQueries(
            "gradient", n * cells, exact=False, formula="2 n for each cell that is allowed", origin=UNCOUNTED
        ),
        StatedQueries("value", n * (cells * (1 + 2**k) + 1 / LEAST_ACCEPTANCE), exact=False, expected=True),
    )


def near(region: FreeRegion, points: Array, centers: Array, radius: float) -> Array:
    """Whether points are within `radius` of their centers, in all coordinates; both in free ones, shape (m, k)."""
    offset = points - centers
    squared = row_sums(offset * offset)
    if isinstance(region.constraint, Simplex):
        # the last coordinate moves by minus the sum of the others
        squared = squared + row_sums(offset) ** 2
    return squared <= radius**2


MOST_FREE = 3
"""Free coordinates for which cells are cut."""

_CELLS_AT_ONCE = 1 << 18


def sample_near(
    problem: Problem, data: Dataset, centers: Any, radius: float, *, exponent_scale: float, rng: Randomness
) -> Output:
    """Exact samples of exp(-exponent_scale * total risk) on C, within `radius` of each run's center."""
    xp, constraint = rng.xp, problem.constraint
    region = FreeRegion(constraint)
    k = affine_dimension(constraint)
    if k > MOST_FREE:
        raise InvalidArgumentError("problem", problem, "a constraint set with at most three free coordinates")
    given = check_near(problem, data, centers, radius, exponent_scale, rng)
    # cells along each axis to begin with: so fine that planes are off by about 1, but few where that is many
    most, curvature = {1: 4, 2: 3, 3: 2}[k], exponent_scale * data.n * problem.constants.smoothness
    wanted = min(radius, constraint.diameter) * math.sqrt(curvature * k / 2)
    per_axis = int(min(most, max(1, math.ceil(wanted)))) if math.isfinite(wanted) else most
    potential = RiskPotential(problem, data, exponent_scale)
    margin = potential.rounding
    chunk = max(1, _CELLS_AT_ONCE // per_axis**k)
    points, gradients, values = [given[:0, :]], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for start in range(0, given.shape[0], chunk):
        part = region.inside(region.free(given[start : min(start + chunk, given.shape[0]), :]))
        envelopes = _Envelopes(potential, region, part, radius, per_axis, margin, rng)
        drawn, asked = until_accepted(envelopes.propose, part.shape[0], xp)
        points.append(region.whole(drawn))
        gradients.append(envelopes.planes)
        values.append(envelopes.planes + asked)
    return Output(
        xp.concat(points, axis=0),
        gradient_queries=data.n * np.concatenate(gradients),
        value_queries=data.n * np.concatenate(values),
    )


def check_near(
    problem: Problem, data: Dataset, centers: Any, radius: float, exponent_scale: float, rng: Randomness
) -> Array:
    """The centers as an array of floats, shape (runs, d); the arguments are those of `sample_near`."""
    xp, constraint = rng.xp, problem.constraint
    positive("radius", radius)
    number("exponent_scale", exponent_scale, at_least=0, allowed="a finite number of at least 0")
    allowed = f"points of the constraint set, shape (runs, {constraint.dimension})"
    given = xp.asarray(centers, dtype=xp.float64)
    fits = given.ndim == 2 and given.shape[1] == constraint.dimension
    require(fits and bool(xp.all(constraint.contains(given, 1e-9))), "centers", tuple(given.shape), allowed)
    require(data.d == constraint.dimension, "data", f"{data.d} features", f"{constraint.dimension} features")
    return given


class _Cells(NamedTuple):
    """Cells of the runs that still wait, as many for each run: shapes (a, m, k) and (a, m)."""

    lower: Array
    widths: Array
    slopes: Array
    heights: Array
    log_masses: Array


class _Envelopes:
    """An envelope for each run: the box around its part of C, cut into cells with a tangent plane each.

    A cell in which a proposal is rejected is halved along every axis before the next one, so that envelopes grow where
    they waste. Whatever the envelope of a round is, a point that it lets through has the law wanted, so that law does
    not depend on what was rejected before. No run's law depends on another run's center.
    """

    def __init__(
        self,
        potential: RiskPotential,
        region: FreeRegion,
        centers: Array,
        radius: float,
        per_axis: int,
        margin: float,
        rng: Randomness,
    ) -> None:
        self._potential, self._region, self._radius = potential, region, radius
        self._margin, self._rng = margin, rng
        self._centers = centers
        runs, k = centers.shape
        low = rng.xp.maximum(centers - radius, like(region.lower, centers)[None, :])
        high = rng.xp.minimum(centers + radius, like(region.upper, centers)[None, :])
        grid = like(np.array(list(itertools.product(range(per_axis), repeat=k)), dtype=np.float64), low)
        size = (high - low)[:, None, :] / per_axis + 0.0 * grid[None, :, :]
        self.planes = np.zeros(runs, dtype=np.int64)
        """How many tangent planes each run has asked for, shape (runs,)."""
        self._cells = self._fit(low[:, None, :] + grid[None, :, :] * size, size, np.arange(runs))

    def _fit(self, lower: Array, widths: Array, owners: Counts) -> _Cells:
        """Tangent planes for m cells of each of the owners, shape (a, m, k)."""
        xp, (runs, cells, k) = self._rng.xp, lower.shape
        flat, sides = xp.reshape(lower, (-1, k)), xp.reshape(widths, (-1, k))
        at = self._region.inside(flat + 0.5 * sides)
        slopes = self._potential.gradient(at)
        heights = self._potential.value(at) - xp.sum(slopes * (at - flat), axis=1)
        log_masses = -heights + xp.sum(truncated_exponential.log_mass(slopes, sides, xp), axis=1)
        centers = xp.take(self._centers, xp.asarray(owners), axis=0)[:, None, :] + 0.0 * lower
        centers = xp.reshape(centers, (-1, k))
        # in free coordinates a simplex's points are no farther apart than they are
        gap = xp.maximum(at_least(flat - centers, 0.0), centers - flat - sides)
        met = row_sums(gap * gap) <= self._radius**2 * (1 + 1e-12)
        met = met & ~xp.asarray(self._region.excludes(np.asarray(flat), np.asarray(flat + sides)))
        log_masses = xp.where(met, log_masses, xp.full_like(log_masses, -np.inf))
        self.planes[owners] += cells
        slopes = xp.reshape(slopes, (runs, cells, k))
        return _Cells(
            lower, widths, slopes, *(xp.reshape(part, (runs, cells)) for part in (heights, log_masses))
        )

    def _cut(self, rejected: NDArray[np.bool_], cell: Array, waiting: Counts) -> _Cells:
        """The cells of the rejected runs, with one of each run's cells, (a,), cut into halves along every axis."""
        xp = self._rng.xp
        places = xp.asarray(np.flatnonzero(rejected))
        old = _Cells(*(xp.take(part, places, axis=0) for part in self._cells))
        cell = xp.take(cell, places, axis=0)
        lower, widths = (_of_cell(part, cell, xp)[:, None, :] for part in old[:2])
        halves = like(0.5 * corners_of_cube(lower.shape[2]), lower)
        corners = lower + halves[None, :, :] * widths
        new = self._fit(corners, 0.5 * widths + 0.0 * corners, waiting[rejected])
        here = xp.arange(old.heights.shape[1], dtype=cell.dtype)[None, :] == cell[:, None]

        def join(before: Array, after: Array) -> Array:
            """The first half takes the place of what was cut."""
            mask = here if before.ndim == 2 else here[:, :, None]
            return xp.concat([xp.where(mask, after[:, :1, ...], before), after[:, 1:, ...]], axis=1)

        return _Cells(*(join(*pair) for pair in zip(old, new, strict=True)))

    def propose(self, waiting: Counts) -> tuple[Array, NDArray[np.bool_], Counts]:
        """A point for each run that waits, whether it is accepted, and values asked for."""
        xp, cells = self._rng.xp, self._cells
        k = cells.lower.shape[2]
        masses = xp.exp(cells.log_masses - xp.max(cells.log_masses, axis=1, keepdims=True))
        sums = xp.cumulative_sum(masses, axis=1)
        drawn = self._rng.uniform((waiting.size, k + 2), "position near the center")
        before = sums[:, :-1] <= drawn[:, :1] * sums[:, -1:]
        cell = xp.sum(xp.astype(before, xp.int64), axis=1)
        lower, widths, slope, height = (_of_cell(part, cell, xp) for part in cells[:4])
        steps = truncated_exponential.quantile(drawn[:, 1 : k + 1], slope, widths, xp)
        points, planes = lower + steps, height + xp.sum(slope * steps, axis=1)
        centers = xp.take(self._centers, xp.asarray(waiting), axis=0)
        inside = self._region.contains(points) & near(self._region, points, centers, self._radius)
        accepted, asked = decide(self._potential, inside, points, planes, drawn[:, k + 1], self._margin, xp)
        if not np.all(accepted):
            self._cells = self._cut(~accepted, cell, waiting)
        return points, accepted, asked


def _of_cell(part: Array, cell: Array, xp: Any) -> Array:
    """What a part of the cells, (a, m, ...), has for one cell a run, (a,)."""
    flat = xp.arange(cell.shape[0], dtype=cell.dtype) * part.shape[1] + cell
    return xp.take(xp.reshape(part, (-1, *part.shape[2:])), flat, axis=0)
