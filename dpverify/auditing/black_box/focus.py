"""The one event on which the verdict rests: chosen for the claim, and judged with nearly the whole failure probability.

A claim at (epsilon, delta) is one inequality, P(E) <= exp(epsilon) Q(E) + delta for all events E, so that one event
refutes it. The learning samples choose the event, the direction and the test, before the judging samples are looked at;
the judging samples then test the inequality at one delta for epsilons that rise, up to the first one that is not
rejected. The smallest epsilon for which the inequality is true is rejected with at most the level, and nothing is
concluded beyond the first that is not, so that the bound on epsilon fails with at most the level as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpverify.auditing.black_box.candidates import Candidates, typical_lower, typical_upper
from dpverify.auditing.black_box.joint import PairCounts, p_values, typical_bound, typical_rate
from dpverify.auditing.confidence import clopper_pearson_lower, clopper_pearson_upper
from dpverify.auditing.events import Direction, Event

Array = NDArray[np.float64]

_COARSE, _FINE = 100, 500
"""Epsilons tested: from half of the expected bound to 0.85 of it, and on to 1.25 of it."""
_NEARLY = 0.95
"""A part of the largest bound that any score promises; the simplest score that promises so much is taken.

The promises are of the learning samples, in whose tails there may be a handful of runs, and the best of several
promises is the luckiest."""
_MOSTLY = 0.9
"""The same for a scorer of the band."""
_BOUND_WEIGHT = 1 / 50
"""The part of the level that bounds the less likely side, where the joint test is given such a bound."""


class Test(StrEnum):
    """How the two probabilities of an event are compared."""

    __test__ = False  # pytest takes names that begin so for tests

    JOINT = "a joint test"
    BOUNDED = "a joint test, given a bound for the less likely side"
    SEPARATE = "a bound for each side"


@dataclass(frozen=True)
class Focus:
    """What is judged: one event in one direction, at one delta, by one test."""

    event: Event
    direction: Direction
    test: Test
    delta: float
    claimed_epsilon: float
    """The claim is contradicted if the bound on epsilon at `delta` exceeds this; infinite if it says nothing there."""
    expected: float
    """About the bound that the learning samples promise; the epsilons that are tested are laid around it."""
    start: float
    """The first epsilon that is tested."""


@dataclass(frozen=True)
class JudgedFocus:
    """A focus with what the judging samples say."""

    focus: Focus
    counts: PairCounts
    """The first side is the one where the event, or its complement, is to be likely."""
    epsilon_lower: float
    """Lower confidence bound on the smallest epsilon at the focus' delta; 0 where nothing was rejected."""
    line: tuple[float, float] | None
    """For separate bounds: delta(epsilon) >= first - exp(epsilon) * second, for every epsilon."""

    @property
    def contradicts(self) -> bool:
        """Whether the claim is rejected."""
        return self.epsilon_lower > self.focus.claimed_epsilon


class PredictedBounds:
    """About the lower bounds on epsilon that candidates promise from `pairs` pairs of runs."""

    def __init__(self, candidates: Candidates, pairs: int) -> None:
        self.candidates, self.pairs = candidates, pairs
        self.at = cache(self._at)

    def _at(self, level: float, delta: float) -> dict[Test, Array]:
        """By test, in the shape of the candidates' frequencies; each level and delta is worked out once."""
        more, less = self.candidates.more, self.candidates.less
        return {
            Test.JOINT: typical_bound(more, less, self.pairs, delta, _rate(level)),
            Test.BOUNDED: typical_bound(
                more,
                less,
                self.pairs,
                delta,
                _rate((1 - _BOUND_WEIGHT) * level),
                typical_upper(less, self.pairs, _BOUND_WEIGHT * level),
            ),
            Test.SEPARATE: _separate_bound(more, less, self.pairs, delta, level),
        }


def choose_at_delta(
    promises: PredictedBounds, *, level: float, delta: float, claimed_epsilon: float
) -> Focus:
    """Choose what promises the largest lower bound on epsilon at `delta`.

    Where none is promised, what comes nearest to rejecting the claim.
    """
    candidates, pairs = promises.candidates, promises.pairs
    more, less, bounds = candidates.more, candidates.less, promises.at(level, delta)
    test = max(bounds, key=lambda kind: float(bounds[kind].max()))
    expected = float(bounds[test].max())
    if expected > 0:
        # the first of those that promise nearly as much: scorers come simplest first, and the best of many is lucky
        best, start = int((bounds[test].max(axis=0) >= _NEARLY * expected).argmax()), 0.5 * expected
        scorer = candidates.events[best].scorer
        of_scorer = np.array([event.scorer == scorer for event in candidates.events])
        best = int(np.where(of_scorer, bounds[test], 0.0).argmax())
    else:
        expected = start = claimed_epsilon if 0 < claimed_epsilon < math.inf else 0.1
        test, best = Test.JOINT, int(typical_rate(more, less, pairs, expected, delta).argmax())
    row, column = np.unravel_index(best, more.shape)
    direction = tuple(Direction)[row]
    return Focus(candidates.events[column], direction, test, delta, claimed_epsilon, expected, start)


def useful_scorers(promises: PredictedBounds, *, level: float, delta: float) -> set[str]:
    """The simplest scorer for each direction that promises most of what any of them does at `delta`."""
    bounds = np.max(list(promises.at(level, delta).values()), axis=0)
    first = (bounds >= _MOSTLY * bounds.max(axis=1, keepdims=True)).argmax(axis=1)
    return {promises.candidates.events[index].scorer for index in first}


def choose_on_curve(promises: PredictedBounds, *, level: float, epsilons: Array, claimed: Array) -> Focus:
    """Choose the epsilon of a curve, and what promises most to reject the claim there."""
    candidates, pairs = promises.candidates, promises.pairs
    more, less = candidates.more, candidates.less
    goal, separate = _rate(level), _separate(more, less, pairs, level)
    given, at_most = _rate((1 - _BOUND_WEIGHT) * level), typical_upper(less, pairs, _BOUND_WEIGHT * level)
    best: tuple[float, Focus] | None = None
    for epsilon, delta in zip(epsilons.tolist(), claimed.tolist(), strict=True):
        if not delta < 1:
            continue
        rates = typical_rate(more, less, pairs, epsilon, delta)
        bounded = typical_rate(more, less, pairs, epsilon, delta, at_most)
        apart = _separate_rate(more, less, separate, epsilon, delta)
        for test, values in (
            (Test.JOINT, rates / goal),
            (Test.BOUNDED, bounded / given),
            (Test.SEPARATE, apart),
        ):
            at = int(values.argmax())
            if best is None or values.flat[at] > best[0]:
                row, column = np.unravel_index(at, more.shape)
                direction = tuple(Direction)[row]
                focus = Focus(candidates.events[column], direction, test, delta, epsilon, epsilon, epsilon)
                best = float(values.flat[at]), focus
    if best is None:
        return choose_at_delta(promises, level=level, delta=0.0, claimed_epsilon=math.inf)
    return best[1]


def judge(
    focus: Focus,
    on_left: NDArray[np.bool_],
    on_right: NDArray[np.bool_],
    level: float,
    uniforms: tuple[float, float, float],
) -> JudgedFocus:
    """Judge a focus by where its event is among the judging samples, (runs,) each, at one level."""
    counts = PairCounts.of(on_left, on_right)
    if focus.direction is Direction.RIGHT_OVER_LEFT:
        counts = counts.complement().swapped()
    if focus.test is Test.SEPARATE:
        pairs = on_left.size
        at_least = float(clopper_pearson_lower(counts.both + counts.first, pairs, level / 2))
        at_most = float(clopper_pearson_upper(counts.both + counts.second, pairs, level / 2))
        bound = math.log((at_least - focus.delta) / at_most) if at_least > focus.delta else 0.0
        return JudgedFocus(focus, counts, max(bound, 0.0), (at_least, at_most))
    epsilons, at_most = _epsilons(focus), 1.0
    if focus.test is Test.BOUNDED:
        bounding, level = _BOUND_WEIGHT * level, (1 - _BOUND_WEIGHT) * level
        at_most = float(clopper_pearson_upper(counts.both + counts.second, on_left.size, bounding))
    kept = p_values(counts, epsilons, focus.delta, uniforms, at_most=at_most) > level
    rejected = int(kept.argmax()) if kept.any() else epsilons.size
    return JudgedFocus(focus, counts, float(epsilons[rejected - 1]) if rejected else 0.0, None)


def _epsilons(focus: Focus) -> Array:
    """Where a focus is tested, rising; the claimed epsilon is among them, and the next float after it."""
    low, middle, high = focus.start, max(0.85 * focus.expected, focus.start), 1.25 * focus.expected
    grid = np.concatenate(
        [np.linspace(low, middle, _COARSE), np.linspace(middle, max(high, middle), _FINE), [1.6 * high]]
    )
    claimed = focus.claimed_epsilon
    if focus.start <= claimed < math.inf:  # a smaller one is rejected together with the first
        grid = np.append(grid, [claimed, math.nextafter(claimed, math.inf)])
    return np.unique(grid)


def _rate(level: float) -> float:
    """How large a typical rate must be: the binomial tail is about that of the normal with the same rate."""
    return float(ndtri(level) ** 2 / 2) if level < 0.5 else 0.0


def _separate_bound(more: Array, less: Array, pairs: int, delta: float, level: float) -> Array:
    """About the bound that two separate confidence bounds give."""
    at_least, at_most = _separate(more, less, pairs, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.maximum(np.where(at_least > delta, np.log((at_least - delta) / at_most), 0.0), 0.0)


def _separate_rate(
    more: Array, less: Array, bounds: tuple[Array, Array], epsilon: float, delta: float
) -> Array:
    """The excess over the claim in units of what separate bounds lose; squared, as rates are: 1 where it is enough."""
    at_least, at_most = bounds
    factor = math.exp(min(epsilon, 700.0))
    lost = (more - at_least) + factor * (at_most - less)
    excess = np.maximum(more - factor * less - delta, 0.0) / np.maximum(lost, 1e-300)
    return np.asarray(excess**2)


def _separate(more: Array, less: Array, pairs: int, level: float) -> tuple[Array, Array]:
    return typical_lower(more, pairs, level / 2), typical_upper(less, pairs, level / 2)
