"""Which half-space a white-box audit looks at, and how it bounds what it looks for; chosen on learning runs only.

The direction is that of Fisher's discriminant for the two laws of the released state, whose covariance is the last
noise's plus that of the centers. The rest is chosen by what it promises: the learning runs' averages of the conditional
probabilities (the distribution functions of the averaged conditional densities along the direction), less the width
that the bounds will have on the judging runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.events import Direction
from dpverify.auditing.white_box.bounds import tail_of_parts
from dpverify.auditing.white_box.half_spaces import ends, half_space, largest
from dpverify.auditing.white_box.simulation import blocks
from dpverify.checks import FloatArray
from dpverify.running import StatedStructure

PUSHES = (0.0, 1.5, 3.0, 4.5)
"""Standard deviations by which earlier noise is pushed towards a far half-space, each in a part of the runs."""
LEARN_DIRECTION, LEARN_PUSHED = 0, 1
"""Streams; the second has one more, for the second order of the sides."""
_THRESHOLDS = 96
_NEAREST, _FARTHEST = 3.0, 6.5
"""Standard deviations from the less likely side's mean down, and from the other's up, between which thresholds lie."""
_LARGEST_EPSILON = 60.0
_LEAST_LOSS = 1.2
"""What a bound of a mean loses even where values do not vary: this by log(1 / level) by their range over the runs."""


@dataclass(frozen=True)
class Choice:
    """A half-space, and how to bound P(E) - e^epsilon Q(E).

    Attributes:
        order: which side is P.
        direction: u; E is <u, released> >= threshold.
        threshold: t.
        nearer: the threshold s <= t from which the bound of Q goes on by isoperimetry; None: P and Q are compared
            run by run, on the same noise.
        pushes: of the runs for Q, or for the comparison: all or none.
        largest: what Q's conditional probability at `nearer`, or else at `threshold`, never exceeds.
        epsilon: the promise, nats.
        cap: what pushed values of P are cut at.
        variances: of pushed values over their cap; of Q's values, or of the differences, as they are tested; guesses.
    """

    order: Direction
    direction: FloatArray
    threshold: float
    nearer: float | None
    pushes: tuple[float, ...]
    largest: float
    epsilon: float
    cap: float
    variances: tuple[float, float]


@dataclass(frozen=True)
class Chosen:
    """What is bounded: for epsilon at the delta asked for, and against a claim that is a curve, where that may fail."""

    at_delta: Choice
    for_claim: Choice | None


def choose(
    sides: tuple[StatedStructure, StatedStructure],
    *,
    delta: float,
    learning: int,
    judging: int,
    level: float,
    seed: int,
    claimed: tuple[FloatArray, FloatArray] | None = None,
) -> Chosen:
    """The most promising choices, in either order of the sides.

    `learning` are runs on each side for each of the three things that are learned, `judging` those that the bounds will
    rest on; `claimed` are epsilons and deltas of a claim that is a curve, which may fail elsewhere than at `delta`.
    """
    direction, places = find_direction(sides, learning, seed)
    found: list[Choice] = []
    against: list[tuple[float, Choice]] = []
    for number, order in enumerate(Direction):
        sign = 1.0 if order is Direction.LEFT_OVER_RIGHT else -1.0
        ordered = sides if order is Direction.LEFT_OVER_RIGHT else (sides[1], sides[0])
        towards = [(sign * mean, stddev) for mean, stddev in places]
        stage = LEARN_PUSHED + number
        learned = _learn(order, ordered, sign * direction, towards, learning, judging, seed, stage)
        for way in learned.ways:
            found += [learned.apart(way, delta, level), learned.together(way, delta, level)]
            if claimed is not None:
                against.append(learned.against(way, *claimed, level / 2))
    promised, for_claim = max(against, key=lambda made: made[0], default=(0.0, None))
    best = max(found, key=lambda choice: choice.epsilon)
    return Chosen(best, for_claim if promised > 0 else None)


def find_direction(
    sides: Sequence[StatedStructure], runs: int, seed: int
) -> tuple[FloatArray, list[tuple[float, float]]]:
    """Fisher's discriminant, from right to left, (d,); mean and standard deviation of each side's component along
    it.
    """
    d = sides[0].dimension
    centers, noises = [], []
    for side in sides:
        simulated = list(blocks(side, runs, seed=seed, stage=LEARN_DIRECTION, direction=np.zeros(d)))
        centers.append(np.concatenate([before.centers for before in simulated]))
        noises.append(float(np.mean(np.concatenate([before.noise_stddevs for before in simulated]) ** 2)))
    difference = centers[0].mean(axis=0) - centers[1].mean(axis=0)
    spread = sum(np.atleast_2d(np.cov(side, rowvar=False, bias=True)) for side in centers) / 2
    direction = np.linalg.solve(spread + sum(noises) / 2 * np.eye(d), difference)
    length = float(np.linalg.norm(direction))
    direction = direction / length if length else np.eye(d)[0]
    along = [side @ direction for side in centers]
    places = [
        (float(side.mean()), math.sqrt(float(side.var()) + noise))
        for side, noise in zip(along, noises, strict=True)
    ]
    return np.asarray(direction), places


@dataclass(frozen=True)
class _Way:
    """How runs for Q, or for both sides on the same noise, are pushed, and what learning saw of them by threshold."""

    pushes: tuple[float, ...]
    mean: FloatArray
    """Of Q's values, and so are the next two."""
    variance: FloatArray
    largest: FloatArray
    square: FloatArray
    """Mean square of P's values."""
    product: FloatArray

    def difference_square(self, growth: FloatArray) -> FloatArray:
        """Mean square of P's value less growth times Q's, as they are tested."""
        squares = growth**2 * (self.variance + self.mean**2)
        return np.asarray(self.square - 2 * growth * self.product + squares)


@dataclass(frozen=True)
class _Learned:
    """What pushed runs say of half-spaces by threshold: of P's values, and of Q's in either way to run them."""

    order: Direction
    direction: FloatArray
    thresholds: FloatArray
    parts: Sequence[tuple[float, float]]
    judging: int
    mean: FloatArray
    variance: FloatArray
    largest: FloatArray
    ways: tuple[_Way, ...]

    def apart(self, way: _Way, delta: float, level: float) -> Choice:
        """Bounds for P and Q separately, at the thresholds that promise most."""
        p, q, near = self._bounds(way, level)
        with np.errstate(divide="ignore", invalid="ignore"):
            epsilons = np.where(p > delta, np.log(np.maximum(p - delta, 0.0) / q), -np.inf)
        epsilons = np.minimum(epsilons, _LARGEST_EPSILON)
        at = int(np.argmax(epsilons))
        return self._one_by_one(way, at, int(near[at]), float(epsilons[at]))

    def against(
        self, way: _Way, epsilons: FloatArray, deltas: FloatArray, level: float
    ) -> tuple[float, Choice]:
        """By how much separate bounds promise to exceed a claimed curve, and the choice."""
        p, q, near = self._bounds(way, level)
        lines = p[:, None] - np.exp(epsilons) * q[:, None] - deltas
        at, where = np.unravel_index(int(np.argmax(lines)), lines.shape)
        choice = self._one_by_one(way, int(at), int(near[at]), float(epsilons[where]))
        return float(lines[at, where]), choice

    def together(self, way: _Way, delta: float, level: float) -> Choice:
        """P and Q compared on the same noise, at the threshold that promises most."""
        epsilons = self._on_the_same_noise(way, delta, level)
        at = int(np.argmax(epsilons))
        epsilon = float(epsilons[at])
        growth = math.exp(max(epsilon, 0.0))
        square = float(way.difference_square(np.asarray(growth))[at])
        variance = square - float(self.mean[at] - growth * way.mean[at]) ** 2
        scale = len(way.pushes) + growth * float(way.largest[at])
        return Choice(
            self.order,
            self.direction,
            float(self.thresholds[at]),
            None,
            way.pushes,
            float(way.largest[at]) / len(way.pushes),
            epsilon,
            1.0,
            (0.0, max(variance, 0.0) / scale**2),
        )

    def _one_by_one(self, way: _Way, at: int, nearer: int, epsilon: float) -> Choice:
        cap = max(float(self.largest[at]), 1e-100)
        return Choice(
            self.order,
            self.direction,
            float(self.thresholds[at]),
            float(self.thresholds[nearer]),
            way.pushes,
            float(way.largest[nearer]) / len(way.pushes),
            epsilon,
            cap,
            (float(self.variance[at]) / cap**2, float(way.variance[nearer] / way.largest[nearer] ** 2)),
        )

    def _bounds(self, way: _Way, level: float) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        """By threshold the promised bounds of P and Q, and the threshold from which Q's goes on."""
        t = self.thresholds
        width = math.sqrt(2 * math.log(2 / level) / self.judging)
        least = _LEAST_LOSS * math.log(2 / level) / self.judging
        p = self.mean - width * np.sqrt(self.variance) - least * self.largest
        q = np.minimum(way.mean + width * np.sqrt(way.variance) + least * way.largest, 1.0)
        distance = np.maximum(t[:, None] - t[None, :], 0.0)
        reached = tail_of_parts(np.broadcast_to(q, distance.shape), distance, self.parts)
        # of likely half-spaces learning sees only the small rest, and that badly
        open_to = (t[:, None] >= t[None, :]) & ((way.mean <= 0.5)[None, :] | (t[:, None] == t[None, :]))
        reached = np.where(open_to, reached, np.inf)
        near = np.argmin(reached, axis=1).astype(np.int64)
        return p, reached[np.arange(t.size), near], near

    def _on_the_same_noise(self, way: _Way, delta: float, level: float) -> FloatArray:
        """Promised epsilon by threshold."""
        low = np.zeros(self.thresholds.size)
        high = np.full_like(low, _LARGEST_EPSILON)
        log_level = math.log(1 / level)

        def promises(epsilon: FloatArray) -> FloatArray:
            growth = np.exp(epsilon)
            mean = self.mean - growth * way.mean
            variance = way.difference_square(growth) - mean**2
            width = np.sqrt(2 * np.maximum(variance, 0.0) * log_level / self.judging)
            least = _LEAST_LOSS * way.largest * log_level * growth / self.judging
            return np.asarray(mean - width - least > delta)

        possible = promises(low)
        for _ in range(40):
            middle = (low + high) / 2
            kept = promises(middle)
            low, high = np.where(kept, middle, low), np.where(kept, high, middle)
        return np.where(possible, low, -np.inf)


def _learn(
    order: Direction,
    sides: tuple[StatedStructure, StatedStructure],
    direction: FloatArray,
    places: list[tuple[float, float]],
    runs: int,
    judging: int,
    seed: int,
    stage: int,
) -> _Learned:
    """All from pushed runs: without a push, far half-spaces would be judged by a few lucky runs."""
    thresholds = _thresholds(sides[0], places, direction)
    weights: list[FloatArray] = []
    values: tuple[list[FloatArray], list[FloatArray]] = ([], [])
    for side, kept in zip(sides, values, strict=True):
        weights = []
        for before in blocks(side, runs, seed=seed, stage=stage, direction=direction, pushes=PUSHES):
            weights.append(before.likelihood(PUSHES))
            kept.append(half_space(before, direction, thresholds, side.constraint))
    w = np.concatenate(weights)
    p, q = (np.concatenate(kept, axis=1) for kept in values)
    pushed = w * p
    mean = (w * q).mean(axis=1)
    most = largest(sides[1], direction, thresholds)
    ways = tuple(
        _Way(
            pushes,
            mean,
            np.maximum((weight * q**2).mean(axis=1) - mean**2, 0.0),
            len(pushes) * most,
            (weight * p**2).mean(axis=1),
            (weight * p * q).mean(axis=1),
        )
        for weight, pushes in ((w, (0.0,)), (w**2, PUSHES))
    )
    of_p = pushed.mean(axis=1), pushed.var(axis=1), pushed.max(axis=1)
    return _Learned(order, direction, thresholds, sides[1].parts, judging, *of_p, ways)


def _thresholds(
    side: StatedStructure, places: list[tuple[float, float]], direction: FloatArray
) -> FloatArray:
    """Candidates: where half-lines may tell the sides apart, up to the end of the set, where projections pile up."""
    top, bottom = ends(side.constraint, direction)
    low = max(min(mean - _NEAREST * stddev for mean, stddev in places), bottom)
    high = min(max(mean + _FARTHEST * stddev for mean, stddev in places), top)
    return np.linspace(low, max(low, high), _THRESHOLDS)
