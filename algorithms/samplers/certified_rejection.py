"""Exact samples of log-concave densities in a few dimensions, by rejection from an envelope that is proved.

The density is exp(-V) on a convex set K, V being convex. A tangent plane at any point of K lies below V on all of K,
so on an axis-aligned cell exp(-tangent) lies above the density: times the cell's shape it is a product of truncated
exponentials, which is sampled by inverting distribution functions. Cells cover K; those that waste most mass are cut
until the acceptance probability, for which a lower bound is proved by Jensen's inequality, is large enough.

How good the envelope is changes the number of rounds, not the law. Tangents are lowered by a margin for rounding; a
value below a tangent all the same shows that V is not convex, and is refused.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.samplers import truncated_exponential
from dpverify.errors import InvalidDataError, NotGuaranteedError
from dpverify.running import Randomness
from dpverify.running.randomness import Array

Matrix = NDArray[np.float64]
Counts = NDArray[np.int64]

MOST_CELLS = 4096
"""How many cells an envelope may have by default."""

LEAST_ACCEPTANCE = 1e-3
"""Share of the proposals that must be sure to be accepted."""

_MOST_ROUNDS = 1_000_000
_CUT_SHARE = 0.6
"""Share of the wasted mass whose cells are cut in one pass."""


class Potential(Protocol):
    """A convex function V, dimensionless; points have shape (m, k) in any array library."""

    @property
    def rounding(self) -> float:
        """Bound on the absolute error of computed values, and of computed slopes times the region's size."""

    def value(self, points: Array) -> Array:
        """V, shape (m,); infinite where the density is 0."""

    def gradient(self, points: Array) -> Array:
        """A subgradient, shape (m, k)."""


class BoundingRegion(Protocol):
    """A convex set K inside a box."""

    @property
    def lower(self) -> Matrix:
        """Lowest corner of the box, shape (k,)."""

    @property
    def upper(self) -> Matrix:
        """Highest corner of the box, shape (k,)."""

    def contains(self, points: Array) -> Array:
        """Whether each point is in K, shape (m,)."""

    def inside(self, points: Array) -> Array:
        """A point of K for each point, itself where it is one; shape (m, k)."""

    def excludes(self, lower: Matrix, upper: Matrix) -> NDArray[np.bool_]:
        """Whether a cell certainly meets K in no more than its boundary, shape (m,)."""


FEW_ACCEPTED = "a density of which too few proposals are sure to be accepted is refused"
"""What guarantees say that rest on rejection sampling: whether it refuses depends on the records."""


class TangentCells(NamedTuple):
    """Cells with a tangent plane each: height + <slope, x - lower> <= V(x) in real arithmetic; shapes (m, k), (m,)."""

    lower: Matrix
    widths: Matrix
    slopes: Matrix
    heights: Matrix
    log_upper: Matrix
    """Logarithm of the envelope's mass."""
    log_lower: Matrix
    """Logarithm of a lower bound on the density's mass; minus infinity if none is known."""


@dataclass(eq=False)
class Envelope:
    """Cells from which proposals are drawn, with their distribution function (m,), and the calls of V that they cost.

    `acceptance` is a lower bound on the probability that a proposal is accepted, `margin` what is taken off the planes
    for rounding.
    """

    potential: Potential
    region: BoundingRegion
    cells: TangentCells = field(init=False)
    cumulative: Matrix = field(init=False)
    acceptance: float = 0.0
    margin: float = 0.0
    value_count: int = 0
    gradient_count: int = 0

    def sample(self, *, rng: Randomness, runs: int, name: str) -> tuple[Array, Counts]:
        """Exact samples of exp(-V) on K, shape (runs, k), and how many values of V each run asked for, (runs,)."""
        xp, k = rng.xp, self.cells.lower.shape[1]
        lower, widths, slopes, heights = (xp.asarray(part, copy=True) for part in self.cells[:4])
        cumulative = xp.asarray(self.cumulative[:-1], copy=True)

        def propose(waiting: Counts) -> tuple[Array, NDArray[np.bool_], Counts]:
            drawn = rng.uniform((waiting.size, k + 2), name)
            cell = xp.searchsorted(cumulative, xp.asarray(drawn[:, 0], copy=True), side="right")
            slope = xp.take(slopes, cell, axis=0)
            steps = truncated_exponential.quantile(
                drawn[:, 1 : k + 1], slope, xp.take(widths, cell, axis=0), xp
            )
            points = xp.take(lower, cell, axis=0) + steps
            planes = xp.take(heights, cell, axis=0) + xp.sum(slope * steps, axis=1)
            return points, *decide(
                self.potential, self.region.contains(points), points, planes, drawn[:, k + 1], self.margin, xp
            )

        return until_accepted(propose, runs, xp)

    def fit(self, lower: Matrix, widths: Matrix) -> TangentCells:
        """Tangent planes for cells, without the cells that miss the region."""
        keep = ~self.region.excludes(lower, lower + widths)
        lower, widths = lower[keep], widths[keep]
        at = np.asarray(self.region.inside(lower + 0.5 * widths))
        slopes = np.asarray(self.potential.gradient(at))
        self.gradient_count += len(at)
        heights = self._values(at) - np.sum(slopes * (at - lower), axis=1)
        log_upper = -heights + np.sum(truncated_exponential.log_mass(slopes, widths, np), axis=1)
        log_lower = np.full(log_upper.shape, -math.inf)
        k, shifts = lower.shape[1], corners_of_cube(lower.shape[1])
        corners = lower[:, None, :] + shifts[None, :, :] * widths[:, None, :]
        inside = np.asarray(self.region.contains(corners.reshape(-1, k)))
        whole = np.all(inside.reshape(-1, len(shifts)), axis=1)
        if np.any(whole):
            # V is at most its multilinear interpolation on average, and the mean of exp at least exp of the mean
            mean = truncated_exponential.mean_fraction(slopes[whole], widths[whole])
            weights = np.prod(np.where(shifts[None] > 0, mean[:, None, :], 1 - mean[:, None, :]), axis=2)
            at_corners = self._values(corners[whole].reshape(-1, k)).reshape(-1, len(shifts))
            interpolated = np.sum(weights * at_corners, axis=1)
            plane = heights[whole] + np.sum(slopes[whole] * widths[whole] * mean, axis=1)
            log_lower[whole] = log_upper[whole] - np.maximum(interpolated - plane, 0.0)
        return TangentCells(lower, widths, slopes, heights, log_upper, log_lower)

    def _values(self, points: Matrix) -> Matrix:
        self.value_count += len(points)
        return np.asarray(self.potential.value(points))


def build_envelope(
    potential: Potential, region: BoundingRegion, *, target: float = 0.5, largest: int = MOST_CELLS
) -> Envelope:
    """Cut the region's box into at most `largest` cells until a share `target` of the proposals is accepted, provably.

    Refused if not even the share `LEAST_ACCEPTANCE` is.
    """
    made = Envelope(potential, region)
    corner, opposite = np.asarray(region.lower), np.asarray(region.upper)
    cells = made.fit(corner[None, :], (opposite - corner)[None, :])
    shifts = corners_of_cube(corner.shape[0])
    more = len(shifts) - 1
    while True:
        top = float(np.max(cells.log_upper))
        upper, lower = np.exp(cells.log_upper - top), np.exp(cells.log_lower - top)
        acceptance = float(np.sum(lower) / np.sum(upper))
        # cells outside are dropped, so planes are counted too: at most two for each cell that is allowed
        room = min((largest - len(upper)) // more, (2 * largest - made.gradient_count) // (more + 1))
        if acceptance >= target or room < 1:
            break
        waste = upper - lower
        order = np.argsort(-waste, kind="stable")
        wasted = np.cumsum(waste[order])
        count = min(room, int(np.searchsorted(wasted, _CUT_SHARE * wasted[-1])) + 1)
        cut, kept = order[:count], np.sort(order[count:])
        half = 0.5 * cells.widths[cut]
        corners = cells.lower[cut][:, None, :] + shifts[None, :, :] * half[:, None, :]
        halves = made.fit(corners.reshape(-1, half.shape[1]), np.repeat(half, len(shifts), axis=0))
        cells = TangentCells(
            *(np.concatenate([old[kept], new]) for old, new in zip(cells, halves, strict=True))
        )
    # planes are lowered by the margin, and values may be off by as much; rounding of the masses is far below 1e-6
    made.cells, made.margin = cells, potential.rounding
    made.acceptance = acceptance * (1 - 1e-6) * math.exp(-2 * made.margin)
    if not made.acceptance >= LEAST_ACCEPTANCE:
        raise NotGuaranteedError(
            f"Only {made.acceptance:.2g} of the proposals are sure to be accepted with {largest} cells, below "
            f"{LEAST_ACCEPTANCE:g}; a smaller epsilon, fewer records or more cells would help."
        )
    made.cumulative = np.cumsum(upper / np.sum(upper))
    return made


def corners_of_cube(k: int) -> Matrix:
    """All 2^k corners of the unit cube, shape (2^k, k)."""
    return np.array(list(itertools.product((0.0, 1.0), repeat=k)))


Propose = Callable[[Counts], tuple[Array, NDArray[np.bool_], Counts | int]]
"""From the numbers of the runs that still wait, shape (a,), to a point for each of them (a, k), whether it is accepted
(a,), and how many values were asked for, each."""


def until_accepted(propose: Propose, runs: int, xp: Any) -> tuple[Array, Counts]:
    """Propose until each run has a point, shape (runs, k), and say how many values each run asked for, (runs,)."""
    waiting = np.arange(runs, dtype=np.int64)
    asked = np.zeros(runs, dtype=np.int64)
    found: list[Array] = []
    owners: list[Counts] = []
    for _ in range(_MOST_ROUNDS):
        points, accepted, values = propose(waiting)
        asked[waiting] += values
        found.append(xp.take(points, xp.asarray(np.flatnonzero(accepted)), axis=0))
        owners.append(waiting[accepted])
        waiting = waiting[~accepted]
        if waiting.size == 0:
            break
    else:
        raise NotGuaranteedError(f"{waiting.size} runs had no proposal accepted in {_MOST_ROUNDS} rounds.")
    order = np.argsort(np.concatenate(owners), kind="stable")
    return xp.take(xp.concat(found, axis=0), xp.asarray(order), axis=0), asked


def decide(
    potential: Potential, inside: Array, points: Array, planes: Array, drawn: Array, margin: float, xp: Any
) -> tuple[NDArray[np.bool_], Counts]:
    """Accept points (a, k) inside with probability exp(plane - margin - V); V is asked for only there.

    `drawn` are uniform numbers, (a,). Says whether each is accepted, and how many values were asked for (0 or 1).
    """
    asked = np.asarray(inside)
    places = xp.asarray(np.flatnonzero(asked))
    values = potential.value(xp.take(points, places, axis=0))
    excess = values - xp.take(planes, places, axis=0)
    if excess.shape[0] and not bool(xp.all(excess >= -2 * margin)):
        raise InvalidDataError(
            "The loss is below one of its tangent planes, so it is not convex; only convex losses are allowed."
        )
    accepted = np.zeros(asked.shape, dtype=np.bool_)
    # 1 - u is uniform on (0, 1]
    accepted[asked] = np.asarray(xp.log1p(-xp.take(drawn, places, axis=0)) <= -(excess + margin))
    return accepted, asked.astype(np.int64)
