"""Many steps of one run alone, for NumPy; for speed alone.

With few runs there is no long axis to work along, and a step costs what its calls cost. So each run takes its steps
alone: the noise of many steps is drawn in one call, and a step is a handful of calls on one point. Where Numba is
installed and there are many steps, `loops` compiles them. Both do the same operations on the same numbers in the same
order, with the same BLAS routine for inner products, so that the bits do not depend on whether Numba is there.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.steps import in_place, loops
from dpverify.algorithms.steps.loops import BALL, BOX, DISTANCE, NO_KIND, NO_LIMIT, TWO_BALLS, within
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Loss,
    Ridge,
    Squared,
)
from dpverify.problems.further_losses import HuberizedPositivePart, LogisticOnBall, PositivePart
from dpverify.problems.losses import LinkLoss
from dpverify.problems.per_run.ball_intersections import BallIntersections
from dpverify.problems.per_run.local_problems import LocalBalls, LocalLoss, ResampledLoss
from dpverify.running import Randomness
from dpverify.running.foresight import USUAL_CALL

Array = NDArray[np.float64]

FEW = 32
"""Up to so many runs are stepped alone: that is when a step of all of them together takes no longer."""

_NUMBERS_TOGETHER = 2**17

_COMPARED = 256
_NOTHING = np.empty(0)
_SAME_BITS: dict[tuple[int, int, bool, bool], bool] = {}

_KINDS: Mapping[type, Callable[[Any], tuple[int, float]]] = {
    Logistic: lambda loss: (loops.LOGISTIC, 0.0),
    LogisticOnBall: lambda loss: (loops.LOGISTIC, 0.0),
    Hinge: lambda loss: (loops.HINGE, 0.0),
    Squared: lambda loss: (loops.SQUARED, 0.0),
    Linear: lambda loss: (loops.LINEAR, float(loss.labeled)),
    PositivePart: lambda loss: (loops.POSITIVE_PART, 0.0),
    HuberizedPositivePart: lambda loss: (loops.HUBERIZED, loss.width),
    HalfSquaredDistance: lambda loss: (DISTANCE, 0.0),
}
"""Losses that `loops` knows, and their parameter; a subclass may have changed what its slope is."""

LINK_LOSSES = _KINDS.keys() - {HalfSquaredDistance}
"""Those that depend on a point through its inner product with the record."""


def steps_together(dimension: int) -> int:
    """How many steps' records and noise are held at once: 1 MiB of each, and at least one."""
    return max(1, min(4096, _NUMBERS_TOGETHER // max(1, dimension)))


def each(loss: Loss, constraint: Any, runs: int, dimension: int) -> list[SingleRun] | None:
    """What each of a few runs steps on; None where they must be stepped together.

    A loss or a set that is not known may hold something for each run, and wants the points of all.
    """
    if runs > FEW:
        return None
    found = [SingleRun.of(loss, constraint, run, dimension) for run in range(runs)]
    return found if runs == 1 or all(one.known for one in found) else None


@dataclass(frozen=True, eq=False)
class SingleRun:
    """What one run steps on: a loss, ridge and regularizer, and a set.

    Attributes:
        kind: the loss, one of those of `loops`; `NO_KIND` if it has none there.
        parameter: of the loss.
        ridge: factor of half the squared norm, loss over length^2.
        offset: what is added to a point before the loss sees it, shape (d,); None: nothing.
        anchor: where the regularizer is smallest, shape (d,); None: there is none.
        weight: of the regularizer, loss over length^2.
        region: the set, one of those of `loops`; `NO_KIND` if it has none there.
        places: its two centers, or its two ends, shape (2, d).
        radii: of its balls.
        gradient: of a loss without a kind, for one point and record.
        project: onto a set without a kind, for one point, in place.
        resampled: where the records that are looked up are, and the run's number; None: they are the given ones.
    """

    kind: int
    parameter: float
    ridge: float
    offset: Array | None
    anchor: Array | None
    weight: float
    region: int
    places: Array
    radii: tuple[float, float]
    gradient: Callable[[Array, Array, float], Array] = field(repr=False)
    project: Callable[[Array], None] = field(repr=False)
    resampled: tuple[ResampledLoss, int] | None = None

    @property
    def known(self) -> bool:
        """Whether `loops` has all of it."""
        return NO_KIND not in (self.kind, self.region)

    @property
    def seconds_a_step(self) -> float:
        """How long a step takes with NumPy, about; measured on one core, for foresight."""
        if not self.known:
            return USUAL_CALL
        return (1.2e-5 if self.region == TWO_BALLS else 2.2e-6) + 1e-8 * len(self.places[0])

    @classmethod
    def of(cls, loss: Loss, constraint: Any, run: int, dimension: int) -> SingleRun:
        """What a run, from 0, steps on; what has no kind may only be asked about if it is the only one."""
        offset = anchor = None
        weight = ridge = 0.0
        base: Any = loss
        resampled = None
        if type(base) is ResampledLoss:
            resampled, base = (base, run), base.original
        if type(base) is LocalLoss:
            offset, anchor = (
                np.ascontiguousarray(rows, dtype=np.float64)[run] for rows in (base.offsets, base.anchors)
            )
            weight, base = base.weight, base.original
        if type(base) is Ridge:
            ridge, base = base.weight, base.base
        named = _KINDS.get(type(base))
        kind, parameter = (NO_KIND, 0.0) if named is None else named(base)
        region, places, radii = _region(constraint, run, dimension)

        def gradient(point: Array, x: Array, y: float) -> Array:
            found: Array = base.gradient(point[None, :], x, np.float64(y))[0]
            return found

        def project(point: Array) -> None:
            point[...] = constraint.project(point[None, :])[0]

        at = _link_gradient(base) if isinstance(base, LinkLoss) else gradient
        return cls(
            kind, parameter, ridge, offset, anchor, weight, region, places, radii, at, project, resampled
        )  # fmt: skip

    def records(self, features: Array, labels: Array, order: NDArray[np.int64]) -> tuple[Array, Array]:
        """A copy of the records of some steps, (steps, d) and (steps,), for their numbers from 0, shape (steps,)."""
        labels = labels[order]
        if self.resampled is not None:
            loss, run = self.resampled
            order = loss.drawn[run][labels.astype(np.int64)]
            features, labels = loss.features, loss.record_labels[order]
        return np.asarray(features[order], dtype=np.float64, order="C"), labels

    def walk(
        self,
        point: Array,
        features: Array,
        labels: Array,
        noise: Array,
        factors: Array,
        total: Array = _NOTHING,
    ) -> None:
        """Take the steps w <- Proj(w - factor grad(w) + noise) in place.

        Args:
            point: shape (d,).
            features: of the steps' records, shape (steps, d); what it holds afterwards is of no use.
            labels: shape (steps,).
            noise: shape (steps, d).
            factors: shape (steps,), length^2 over loss.
            total: shape (d,), to which the points before each step are added; of shape (0,): to nothing.
        """
        places, steps = (point, total), (features, labels, noise, factors)
        compiled = self.known and loops.WALK(len(factors) * self.seconds_a_step) is not None
        (self._walk_compiled if compiled and self._same_bits(places, steps) else self._walk)(*places, *steps)

    def _same_bits(self, places: tuple[Array, ...], steps: tuple[Array, ...]) -> bool:
        """Whether compiled steps of this kind give the bits of plain ones, on the first steps that a process compiles.

        Another processor or another version might round otherwise, and then no compiled steps are taken.
        """
        key = (self.kind, self.region, self.offset is None, not self.ridge)
        if key not in _SAME_BITS:
            plain, other = ([part.copy() for part in places] for _ in range(2))
            self._walk(*plain, *(part[:_COMPARED].copy() for part in steps))
            self._walk_compiled(*other, *(part[:_COMPARED].copy() for part in steps))
            _SAME_BITS[key] = all(
                np.array_equal(*both, equal_nan=True) for both in zip(plain, other, strict=True)
            )
            if not _SAME_BITS[key]:
                said = "Steps that Numba compiles differ in their last bits from those of NumPy here, and are not used."
                warnings.warn(said, RuntimeWarning, stacklevel=2)
        return _SAME_BITS[key]

    def _walk_compiled(
        self, point: Array, total: Array, features: Array, labels: Array, noise: Array, factors: Array
    ) -> None:
        kernel = loops.WALK(0.0)
        assert kernel is not None
        kernel(
            point, total, features, labels, noise, factors,
            self.kind, self.parameter, self.ridge,
            self.offset is not None, _NOTHING if self.offset is None else self.offset,
            _NOTHING if self.anchor is None else self.anchor, self.weight,
            self.region, self.places, *self.radii,
        )  # fmt: skip

    def _walk(
        self, point: Array, total: Array, features: Array, labels: Array, noise: Array, factors: Array
    ) -> None:
        """The same without Numba; what is done here and in what order is also in `loops.walk`."""
        dot = loops.inner_product()
        offset, anchor, region, kind = self.offset, self.anchor, self.region, self.kind
        here = point if offset is None else np.empty_like(point)
        room = np.empty_like(point)
        with np.errstate(over="ignore"):  # squares of points far away, which projections handle
            for x, y, z, factor in zip(features, labels.tolist(), noise, factors.tolist(), strict=True):
                if total.size:
                    np.add(total, point, total)
                if offset is not None:
                    np.add(point, offset, here)
                if kind == DISTANCE:
                    np.subtract(here, x, x)
                    np.multiply(x, -factor, x)
                elif kind != NO_KIND:
                    np.multiply(x, -factor * loops.slope(kind, self.parameter, dot(here, x), y), x)
                else:
                    np.multiply(self.gradient(here, x, y), -factor, x)
                if anchor is not None:
                    np.subtract(here, anchor, room)
                    np.multiply(room, -factor * self.weight, room)
                    np.add(x, room, x)
                if self.ridge:
                    np.multiply(here, -factor * self.ridge, room)
                    np.add(x, room, x)
                np.add(x, z, x)
                np.add(point, x, point)
                if region == BALL:
                    square = dot(point, point)
                    if square > self.radii[0] * self.radii[0]:
                        shorten(point, square, self.radii[0])
                elif region == TWO_BALLS:
                    into_both(point, self.places, self.radii)
                elif region == BOX:
                    np.maximum(point, self.places[0], out=point)
                    np.minimum(point, self.places[1], out=point)
                elif region == NO_KIND:
                    self.project(point)


def _link_gradient(loss: LinkLoss) -> Callable[[Array, Array, float], Array]:
    """The gradient at one point, by the slope of one number."""
    z, label = np.empty(1), np.empty(1)

    def gradient(point: Array, x: Array, y: float) -> Array:
        z[0], label[0] = float(np.dot(point, x)), y
        found: Array = x * loss.link_slope(z, label)[0]
        return found

    return gradient


def _region(constraint: Any, run: int, dimension: int) -> tuple[int, Array, tuple[float, float]]:
    """The kind of a run's set, its places and its radii."""
    places, radii = np.zeros((2, dimension)), (0.0, 0.0)
    if type(constraint) is AllSpace:
        return NO_LIMIT, places, radii
    if type(constraint) is Ball:
        places[:] = constraint.center()
        region = BALL if constraint.midpoint is None else TWO_BALLS  # the same one twice
        return _with_usual_radii(region, places, (constraint.radius, constraint.radius))
    if type(constraint) is Box:
        places[0], places[1] = constraint.lower, constraint.upper
        return BOX, places, radii
    if type(constraint) is LocalBalls:
        places[1] = -np.asarray(constraint.centers)[run]
        return _with_usual_radii(TWO_BALLS, places, (constraint.radius, constraint.outer_radius))
    if type(constraint) is BallIntersections and type(constraint.constraint) is Ball:
        ball = constraint.constraint
        places[0], places[1] = np.asarray(constraint.centers)[run], ball.center()
        return _with_usual_radii(TWO_BALLS, places, (constraint.radius, ball.radius))
    return NO_KIND, places, radii


def _with_usual_radii(
    region: int, places: Array, radii: tuple[float, float]
) -> tuple[int, Array, tuple[float, float]]:
    usual = all(in_place.RADII[0] <= radius <= in_place.RADII[1] for radius in radii)
    return (region if usual else NO_KIND), places, radii


def seconds_alone(algorithm: Any) -> float:
    """How long a step of a run alone takes with NumPy, about: an algorithm's `seconds_a_call`."""
    problem = algorithm.problem
    return SingleRun.of(problem.loss, problem.constraint, 0, problem.constraint.dimension).seconds_a_step


def total_on_drawn(
    alone: list[SingleRun], w: Array, features: Array, labels: Array, steps: int, rate: float, rng: Randomness
) -> Array:
    """The sum of the points before each of some steps without noise, from w, each on a record drawn anew; (runs, d)."""
    points, total = np.array(w, order="C"), np.zeros(w.shape)
    together = steps_together(points.size)
    for first in range(0, steps, together):
        count = min(together, steps - first)
        drawn = rng.integers(0, len(labels), (count, len(alone)), "records")
        noise, factors = np.zeros((count, points.shape[1])), np.full(count, rate)
        for run, one in enumerate(alone):
            own = one.records(features, labels, drawn[:, run])
            one.walk(points[run], *own, noise, factors, total[run])
    return total


def shorten(away: Array, square: float, radius: float) -> None:
    """Bring a vector (d,) of a known squared norm to a length, in place."""
    if not square < math.inf:
        np.divide(away, np.max(np.abs(away)), away)
        square = loops.inner_product()(away, away)
    np.multiply(away, radius / math.sqrt(square), away)


def into_both(point: Array, places: Array, radii: tuple[float, float]) -> None:
    """Project one point (d,) onto the part that two balls share, in place.

    The closest point of one ball is it, if the other one holds it; else the closest point where both spheres meet. A
    ball's center may be in the other one's border, so that rounding must not count as outside.
    """
    dot = loops.inner_product()
    away = point - places
    squares = dot(away[0], away[0]), dot(away[1], away[1])
    if squares[0] <= radii[0] * radii[0] and squares[1] <= radii[1] * radii[1]:
        return
    for own in (0, 1):
        other = 1 - own
        near = away[own].copy()
        if squares[own] > radii[own] * radii[own]:
            shorten(near, squares[own], radii[own])
        near += places[own]
        gap = near - places[other]
        if dot(gap, gap) <= within(radii[other]):
            point[...] = near
            return
    axis = places[0] - places[1]
    distance = math.sqrt(dot(axis, axis))
    # centers may be the same, or as good as that
    inverse = 1.0 / distance if distance > 0.0 else 0.0
    axis *= inverse
    height = 0.5 * (distance + (radii[1] - radii[0]) * (radii[1] + radii[0]) * inverse)
    height = min(max(height, -radii[1]), radii[1])
    flat = math.sqrt(max((radii[1] - height) * (radii[1] + height), 0.0))
    across = away[1] - dot(away[1], axis) * axis
    length = math.sqrt(dot(across, across))
    axis *= height
    across *= flat / length if length > 0.0 else 0.0
    np.add(axis, across, point)
    point += places[1]
