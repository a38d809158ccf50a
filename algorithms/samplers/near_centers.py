"""The density of exponential sampling, restricted to the part of C near each run's own center.

Each run has an envelope of its own: the box around its part of C, cut into cells with a tangent plane each (see
`certified_rejection`). A cell in which a proposal is rejected is halved along every axis before the next one, so that
envelopes grow where they waste. Whatever the envelope of a round is, a point that it lets through has the law wanted,
so that law does not depend on what was rejected before. No run's law depends on another run's center.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.samplers import truncated_exponential
from dpverify.algorithms.samplers.certified_rejection import (
    Counts,
    corners_of_cube,
    decide,
    until_accepted,
)
from dpverify.algorithms.samplers.free_coordinates import (
    FreeRegion,
    RiskPotential,
    affine_dimension,
    cells_per_axis,
    near,
    near_box,
)
from dpverify.checks import number, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Dataset, Problem
from dpverify.problems.arrays import at_least, like, row_sums
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array

MOST_FREE = 3
"""Free coordinates for which cells are cut."""

_CELLS_AT_ONCE = 1 << 18


def sample_near(
    problem: Problem,
    data: Dataset,
    centers: Any,
    radius: float,
    *,
    exponent_scale: float,
    rng: Randomness,
    per_axis: int | None = None,
) -> Output:
    """Exact samples of exp(-exponent_scale * total risk) on C, within `radius` of each run's center."""
    xp, constraint = rng.xp, problem.constraint
    region = FreeRegion(constraint)
    k = affine_dimension(constraint)
    if k > MOST_FREE:
        raise InvalidArgumentError("problem", problem, "a constraint set with at most three free coordinates")
    given = check_near(problem, data, centers, radius, exponent_scale, rng)
    if per_axis is None:
        curvature = exponent_scale * data.n * problem.constants.smoothness
        per_axis = cells_per_axis(curvature, min(radius, constraint.diameter), k)
    whole_number("per_axis", per_axis, at_least=1)
    potential = RiskPotential(problem, data, exponent_scale)
    margin = potential.rounding
    chunk = max(1, _CELLS_AT_ONCE // per_axis**k)
    points, planes, asked = [given[:0, :]], [], []
    for start in range(0, given.shape[0], chunk):
        part = region.inside(region.free(given[start : min(start + chunk, given.shape[0]), :]))
        envelopes = _Envelopes(potential, region, part, radius, per_axis, margin, rng)
        drawn, values = until_accepted(envelopes.propose, part.shape[0], xp)
        points.append(region.whole(drawn))
        planes.append(envelopes.planes)
        asked.append(values)
    gradients = np.concatenate([np.zeros(0, dtype=np.int64), *planes])
    return Output(
        xp.concat(points, axis=0),
        gradient_queries=data.n * gradients,
        value_queries=data.n
        * np.concatenate([gradients[:0], *(p + a for p, a in zip(planes, asked, strict=True))]),
    )


def check_near(
    problem: Problem, data: Dataset, centers: Any, radius: float, exponent_scale: float, rng: Randomness
) -> Array:
    """The centers as an array of floats, shape (runs, d); the arguments are those of `sample_near`."""
    xp, constraint = rng.xp, problem.constraint
    number("radius", radius, above=0, allowed="a finite number above 0")
    number("exponent_scale", exponent_scale, at_least=0, allowed="a finite number of at least 0")
    allowed = f"points of the constraint set, shape (runs, {constraint.dimension})"
    given = xp.asarray(centers, dtype=xp.float64)
    fits = given.ndim == 2 and given.shape[1] == constraint.dimension
    if not fits or not bool(xp.all(constraint.contains(given, 1e-9))):
        raise InvalidArgumentError("centers", tuple(given.shape), allowed)
    if data.d != constraint.dimension:
        raise InvalidArgumentError("data", f"{data.d} features", f"{constraint.dimension} features")
    return given


class _Cells(NamedTuple):
    """Cells of the runs that still wait, as many for each run: shapes (a, m, k) and (a, m)."""

    lower: Array
    widths: Array
    slopes: Array
    heights: Array
    log_masses: Array


class _Envelopes:
    """An envelope for each run, cut where proposals are rejected."""

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
        low, high = near_box(region, centers, radius)
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
