"""Which half-space a white-box audit looks at, and how it bounds what it looks for; chosen on learning runs only.

The direction is that of Fisher's discriminant for the two laws of the released state, whose covariance is the last
noise's plus that of the centers. The rest is chosen by what it promises: the learning runs' averages of the conditional
probabilities (the distribution functions of the averaged conditional densities along the direction), less the width
that the bounds will have on the judging runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

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
    found, against = [], []
    for number, order in enumerate(Direction):
        sign = 1.0 if order is Direction.LEFT_OVER_RIGHT else -1.0
        ordered = sides if order is Direction.LEFT_OVER_RIGHT else (sides[1], sides[0])
        towards = [(sign * mean, stddev) for mean, stddev in places]
        learned = _learn(ordered, sign * direction, towards, learning, seed, LEARN_PUSHED + number)
        parts = ordered[1].parts
        found.append(_best(learned, order, parts, delta, judging, level))
        if claimed is not None:
            against += list(_against(learned, order, parts, claimed, judging, level / 2))
    for_claim = max(against, key=lambda made: made[0], default=(0.0, None))[1]
    return Chosen(max(found, key=lambda choice: choice.epsilon), for_claim)


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
class _Values:
    """Mean, variance and a bound of values that will be averaged, by threshold."""

    mean: FloatArray
    variance: FloatArray
    largest: FloatArray


@dataclass(frozen=True)
class _Learned:
    """Values by threshold: P's, pushed; then, with no push and with all, Q's and both sides' products."""

    direction: FloatArray
    thresholds: FloatArray
    more: _Values
    less: tuple[_Values, _Values]
    squares: tuple[FloatArray, FloatArray]
    """Mean squares of P's values."""
    products: tuple[FloatArray, FloatArray]


def _learn(
    sides: tuple[StatedStructure, StatedStructure],
    direction: FloatArray,
    places: list[tuple[float, float]],
    runs: int,
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
    mean_p, mean_q = pushed.mean(axis=1), (w * q).mean(axis=1)
    less = []
    squares, products = [], []
    for weight, count in ((w, 1), (w**2, len(PUSHES))):
        variance = np.maximum((weight * q**2).mean(axis=1) - mean_q**2, 0.0)
        less.append(_Values(mean_q, variance, count * largest(sides[1], direction, thresholds)))
        squares.append((weight * p**2).mean(axis=1))
        products.append((weight * p * q).mean(axis=1))
    return _Learned(
        direction,
        thresholds,
        _Values(mean_p, pushed.var(axis=1), pushed.max(axis=1)),
        (less[0], less[1]),
        (squares[0], squares[1]),
        (products[0], products[1]),
    )


def _thresholds(
    side: StatedStructure, places: list[tuple[float, float]], direction: FloatArray
) -> FloatArray:
    """Candidates: where half-lines may tell the sides apart, up to the end of the set, where projections pile up."""
    top, bottom = ends(side.constraint, direction)
    low = max(min(mean - _NEAREST * stddev for mean, stddev in places), bottom)
    high = min(max(mean + _FARTHEST * stddev for mean, stddev in places), top)
    return np.linspace(low, max(low, high), _THRESHOLDS)


def _best(
    learned: _Learned,
    order: Direction,
    parts: Sequence[tuple[float, float]],
    delta: float,
    judging: int,
    level: float,
) -> Choice:
    """The best of all ways to bound, each at its best threshold."""
    t = learned.thresholds
    found = []
    for number, pushes in enumerate(((0.0,), PUSHES)):
        less = learned.less[number]
        p, q, near = _separately(learned.more, less, t, parts, judging, level)
        with np.errstate(divide="ignore", invalid="ignore"):
            epsilons = np.where(p > delta, np.log(np.maximum(p - delta, 0.0) / q), -np.inf)
        epsilons = np.minimum(epsilons, _LARGEST_EPSILON)
        at = int(np.argmax(epsilons))
        found.append(_one_by_one(learned, order, number, at, int(near[at]), float(epsilons[at])))
        epsilons = _jointly(learned, number, delta, judging, level)
        at = int(np.argmax(epsilons))
        epsilon = float(epsilons[at])
        growth = math.exp(max(epsilon, 0.0))
        variance = (
            float(_difference_square(learned, number, np.asarray(growth))[at])
            - float(learned.more.mean[at] - growth * less.mean[at]) ** 2
        )
        scale = len(pushes) + growth * float(less.largest[at])
        found.append(
            Choice(
                order,
                learned.direction,
                float(t[at]),
                None,
                pushes,
                float(less.largest[at]) / len(pushes),
                epsilon,
                1.0,
                (0.0, max(variance, 0.0) / scale**2),
            )
        )
    return max(found, key=lambda choice: choice.epsilon)


def _against(
    learned: _Learned,
    order: Direction,
    parts: Sequence[tuple[float, float]],
    claimed: tuple[FloatArray, FloatArray],
    judging: int,
    level: float,
) -> Iterator[tuple[float, Choice]]:
    """By how much a bound promises to exceed a claimed curve, and the choice, for each way to run Q that does."""
    epsilons, deltas = claimed
    for number, less in enumerate(learned.less):
        p, q, near = _separately(learned.more, less, learned.thresholds, parts, judging, level)
        lines = p[:, None] - np.exp(epsilons) * q[:, None] - deltas
        at, where = np.unravel_index(int(np.argmax(lines)), lines.shape)
        if lines[at, where] > 0:
            made = _one_by_one(learned, order, number, int(at), int(near[at]), float(epsilons[where]))
            yield float(lines[at, where]), made


def _one_by_one(
    learned: _Learned, order: Direction, number: int, at: int, nearer: int, epsilon: float
) -> Choice:
    """The choice of bounds for P and Q separately, at one threshold each."""
    pushes, less = ((0.0,), PUSHES)[number], learned.less[number]
    cap = max(float(learned.more.largest[at]), 1e-100)
    return Choice(
        order,
        learned.direction,
        float(learned.thresholds[at]),
        float(learned.thresholds[nearer]),
        pushes,
        float(less.largest[nearer]) / len(pushes),
        epsilon,
        cap,
        (
            float(learned.more.variance[at]) / cap**2,
            float(less.variance[nearer] / less.largest[nearer] ** 2),
        ),
    )


def _separately(
    more: _Values,
    less: _Values,
    t: FloatArray,
    parts: Sequence[tuple[float, float]],
    judging: int,
    level: float,
) -> tuple[FloatArray, FloatArray, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """By threshold the promised bounds of P and Q, and the threshold from which Q's goes on."""
    width = math.sqrt(2 * math.log(2 / level) / judging)
    least = _LEAST_LOSS * math.log(2 / level) / judging
    p = more.mean - width * np.sqrt(more.variance) - least * more.largest
    q = np.minimum(less.mean + width * np.sqrt(less.variance) + least * less.largest, 1.0)
    distance = np.maximum(t[:, None] - t[None, :], 0.0)
    reached = tail_of_parts(np.broadcast_to(q, distance.shape), distance, parts)
    # of likely half-spaces learning sees only the small rest, and that badly
    open_to = (t[:, None] >= t[None, :]) & ((less.mean <= 0.5)[None, :] | (t[:, None] == t[None, :]))
    reached = np.where(open_to, reached, np.inf)
    near = np.argmin(reached, axis=1).astype(np.int64)
    return p, reached[np.arange(t.size), near], near


def _difference_square(learned: _Learned, number: int, growth: FloatArray) -> FloatArray:
    """Mean square of P's value less growth times Q's, as they are tested."""
    less = learned.less[number]
    return np.asarray(
        learned.squares[number]
        - 2 * growth * learned.products[number]
        + growth**2 * (less.variance + less.mean**2)
    )


def _jointly(learned: _Learned, number: int, delta: float, judging: int, level: float) -> FloatArray:
    """Promised epsilon by threshold, where values of P and Q on the same noise are compared."""
    low = np.zeros(learned.thresholds.size)
    high = np.full_like(low, _LARGEST_EPSILON)
    log_level = math.log(1 / level)
    less = learned.less[number]

    def promises(epsilon: FloatArray) -> FloatArray:
        growth = np.exp(epsilon)
        mean = learned.more.mean - growth * less.mean
        variance = _difference_square(learned, number, growth) - mean**2
        width = np.sqrt(2 * np.maximum(variance, 0.0) * log_level / judging)
        least = _LEAST_LOSS * less.largest * log_level * growth / judging
        return np.asarray(mean - width - least > delta)

    possible = promises(low)
    for _ in range(40):
        middle = (low + high) / 2
        kept = promises(middle)
        low, high = np.where(kept, middle, low), np.where(kept, high, middle)
    return np.where(possible, low, -np.inf)
