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
from dataclasses import dataclass
from typing import Any, Protocol

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
"""Share of the proposals that must be sure to be accepted, by default."""

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


@dataclass(frozen=True, eq=False)
class Envelope:
    """Cells with a tangent plane each: height + <slope, x - lower> <= V(x) in real arithmetic.

    Attributes:
        lower: corners, (m, k).
        widths: (m, k).
        heights: of the planes at the corners, (m,).
        slopes: (m, k).
        cumulative: distribution function of the cells, (m,).
        acceptance: lower bound on the probability that a proposal is accepted.
        margin: what is taken off the planes for rounding.
        value_count: values of V that were asked for.
        gradient_count: gradients of V that were asked for.
    """

    lower: Matrix
    widths: Matrix
    heights: Matrix
    slopes: Matrix
    cumulative: Matrix
    acceptance: float
    margin: float
    value_count: int
    gradient_count: int


@dataclass(frozen=True, eq=False)
class _Cells:
    lower: Matrix
    widths: Matrix
    heights: Matrix
    slopes: Matrix
    log_upper: Matrix
    """Logarithm of the envelope's mass."""
    log_lower: Matrix
    """Logarithm of a lower bound on the density's mass; minus infinity if none is known."""

    @classmethod
    def joined(cls, parts: list[_Cells]) -> _Cells:
        names = ("lower", "widths", "heights", "slopes", "log_upper", "log_lower")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def only(self, chosen: NDArray[Any]) -> _Cells:
        return _Cells(
            self.lower[chosen],
            self.widths[chosen],
            self.heights[chosen],
            self.slopes[chosen],
            self.log_upper[chosen],
            self.log_lower[chosen],
        )


class _Counter:
    """A potential that counts what it is asked."""

    def __init__(self, potential: Potential) -> None:
        self._potential = potential
        self.values = self.gradients = 0

    def value(self, points: Matrix) -> Matrix:
        self.values += points.shape[0]
        return np.asarray(self._potential.value(points))

    def gradient(self, points: Matrix) -> Matrix:
        self.gradients += points.shape[0]
        return np.asarray(self._potential.gradient(points))


def build_envelope(
    potential: Potential,
    region: BoundingRegion,
    *,
    target: float = 0.5,
    largest: int = MOST_CELLS,
    smallest: float = LEAST_ACCEPTANCE,
) -> Envelope:
    """Cut the region's box into cells until at least `target` of the proposals are accepted, provably."""
    counter = _Counter(potential)
    corner, opposite = np.asarray(region.lower), np.asarray(region.upper)
    cells = _fit(counter, region, corner[None, :], (opposite - corner)[None, :])
    children = 2 ** corner.shape[0]
    while True:
        top = float(np.max(cells.log_upper))
        upper, lower = np.exp(cells.log_upper - top), np.exp(cells.log_lower - top)
        acceptance = float(np.sum(lower) / np.sum(upper))
        # cells outside are dropped, so planes are counted too: at most two for each cell that is allowed
        room = min(
            (largest - upper.shape[0]) // (children - 1), (2 * largest - counter.gradients) // children
        )
        if acceptance >= target or room < 1:
            break
        waste = upper - lower
        order = np.argsort(-waste, kind="stable")
        wasted = np.cumsum(waste[order])
        count = min(room, int(np.searchsorted(wasted, _CUT_SHARE * wasted[-1])) + 1)
        cut, kept = order[:count], np.sort(order[count:])
        corners, widths = _halved(cells.lower[cut], cells.widths[cut])
        cells = _Cells.joined([cells.only(kept), _fit(counter, region, corners, widths)])
    # planes are lowered by the margin, and values may be off by as much; rounding of the masses is far below 1e-6
    margin = potential.rounding
    acceptance *= (1 - 1e-6) * math.exp(-2 * margin)
    if not acceptance >= smallest:
        raise NotGuaranteedError(
            f"Only {acceptance:.2g} of the proposals are sure to be accepted with {largest} cells, below "
            f"{smallest:g}; a smaller epsilon, fewer records or more cells would help."
        )
    probabilities = upper / np.sum(upper)
    return Envelope(
        cells.lower,
        cells.widths,
        cells.heights,
        cells.slopes,
        np.cumsum(probabilities),
        acceptance,
        margin,
        counter.values,
        counter.gradients,
    )


def _halved(lower: Matrix, widths: Matrix) -> tuple[Matrix, Matrix]:
    """All 2^k halves of cells."""
    half = 0.5 * widths
    shifts = np.array(list(itertools.product((0.0, 1.0), repeat=lower.shape[1])))
    corners = lower[:, None, :] + shifts[None, :, :] * half[:, None, :]
    return corners.reshape(-1, lower.shape[1]), np.repeat(half, shifts.shape[0], axis=0)


def _fit(potential: _Counter, region: BoundingRegion, lower: Matrix, widths: Matrix) -> _Cells:
    """Tangent planes for cells, without the cells that miss the region."""
    keep = ~region.excludes(lower, lower + widths)
    lower, widths = lower[keep], widths[keep]
    at = np.asarray(region.inside(lower + 0.5 * widths))
    slopes = potential.gradient(at)
    heights = potential.value(at) - np.sum(slopes * (at - lower), axis=1)
    log_upper = -heights + np.sum(truncated_exponential.log_mass(slopes, widths, np), axis=1)
    log_lower = np.full(log_upper.shape, -math.inf)
    k = lower.shape[1]
    shifts = np.array(list(itertools.product((0.0, 1.0), repeat=k)))
    corners = lower[:, None, :] + shifts[None, :, :] * widths[:, None, :]
    whole = np.all(np.asarray(region.contains(corners.reshape(-1, k))).reshape(-1, len(shifts)), axis=1)
    if np.any(whole):
        # V is at most its multilinear interpolation on average, and the mean of exp at least exp of the mean
        mean = truncated_exponential.mean_fraction(slopes[whole], widths[whole])
        weights = np.prod(np.where(shifts[None] > 0, mean[:, None, :], 1 - mean[:, None, :]), axis=2)
        at_corners = potential.value(corners[whole].reshape(-1, k)).reshape(-1, len(shifts))
        interpolated = np.sum(weights * at_corners, axis=1)
        plane = heights[whole] + np.sum(slopes[whole] * widths[whole] * mean, axis=1)
        log_lower[whole] = log_upper[whole] - np.maximum(interpolated - plane, 0.0)
    return _Cells(lower, widths, heights, slopes, log_upper, log_lower)


Propose = Callable[[Counts], tuple[Array, NDArray[np.bool_], Counts | int]]
"""From the numbers of the runs that still wait, shape (a,), to a point for each of them (a, k), whether it is accepted
(a,), and how many values were asked for, each."""


def until_accepted(propose: Propose, runs: int, xp: Any) -> tuple[Array, Counts]:
    """Propose for all runs, then for those that were rejected, until each has a point."""
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


def sample(
    envelope: Envelope, potential: Potential, region: BoundingRegion, *, rng: Randomness, runs: int, name: str
) -> tuple[Array, Counts]:
    """Exact samples of exp(-V) on the region."""
    xp = rng.xp
    k = envelope.lower.shape[1]
    lower, widths, slopes = (
        xp.asarray(part, copy=True) for part in (envelope.lower, envelope.widths, envelope.slopes)
    )
    heights, cumulative = (
        xp.asarray(part, copy=True) for part in (envelope.heights, envelope.cumulative[:-1])
    )

    def propose(waiting: Counts) -> tuple[Array, NDArray[np.bool_], Counts]:
        drawn = rng.uniform((waiting.size, k + 2), name)
        cell = xp.searchsorted(cumulative, xp.asarray(drawn[:, 0], copy=True), side="right")
        slope = xp.take(slopes, cell, axis=0)
        steps = truncated_exponential.quantile(drawn[:, 1 : k + 1], slope, xp.take(widths, cell, axis=0), xp)
        points = xp.take(lower, cell, axis=0) + steps
        planes = xp.take(heights, cell, axis=0) + xp.sum(slope * steps, axis=1)
        accepted, asked = decide(potential, region, points, planes, drawn[:, k + 1], envelope.margin, xp)
        return points, accepted, asked

    return until_accepted(propose, runs, xp)


def decide(
    potential: Potential,
    region: BoundingRegion,
    points: Array,
    planes: Array,
    drawn: Array,
    margin: float,
    xp: Any,
    *,
    within: Array | None = None,
) -> tuple[NDArray[np.bool_], Counts]:
    """Accept with probability exp(plane - margin - V) in the region, never outside; V is asked for only inside."""
    inside = region.contains(points)
    if within is not None:
        inside = inside & within
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
