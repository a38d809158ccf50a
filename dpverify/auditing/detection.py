"""The smallest violation that an audit would have found.

An audit with n judged runs a side flags an event if the exact lower bound of its probability on one side
exceeds what the claim allows, given the exact upper bound on the other side. The probability of that is
computed from the two binomial distributions, not simulated, and the violation is found by bisection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, bdtrik, expit, ndtr, ndtri

from dpverify.auditing.confidence import clopper_pearson_lower, clopper_pearson_upper
from dpverify.privacy import GDP

Array = NDArray[np.float64]
Counts = NDArray[np.int64] | NDArray[np.float64]

_NEGLIGIBLE = 1e-12
"""Binomial mass that the computed power leaves out, so that it errs to the low side."""
_BLOCKS = 128
_LARGEST = 40.0
"""Epsilon or mu beyond which an event has probability one on one side and none on the other."""


class Noise(Enum):
    """Laws of scale 1 that a number may be shifted against."""

    NORMAL = "Gaussian"
    LAPLACE = "Laplace"

    def above(self, thresholds: Array) -> Array:
        """The probability of more than each threshold, same shape."""
        if self is Noise.NORMAL:
            return np.asarray(ndtr(-thresholds))
        half = 0.5 * np.exp(-np.abs(thresholds))
        return np.where(thresholds < 0, 1 - half, half)

    def at(self, shares: Array) -> Array:
        """The quantiles at shares in (0, 1), same shape."""
        if self is Noise.NORMAL:
            return np.asarray(ndtri(shares))
        return np.asarray(np.where(shares < 0.5, np.log(2 * shares), -np.log(2 * (1 - shares))))

    def epsilon(self, shift: float, delta: float) -> float:
        """The smallest epsilon at delta of the pair that differs by a shift, nats; Laplace only at delta 0."""
        return GDP(shift).epsilon_at(delta) if self is Noise.NORMAL else shift


@dataclass(frozen=True)
class EventTest:
    """What an audit does with one event: sizes, the level of each bound, and the claim on a grid.

    `points` are the (epsilon, claimed delta) at which bound and claim are compared.
    """

    runs: int
    bound_failure: float
    points: tuple[tuple[float, float], ...]

    def allowed(self, other: Array) -> Array:
        """Give the largest probability allowed to an event of probability `other` (k,) on the other side."""
        epsilons, claimed = np.array(self.points).T
        factors = np.exp(np.minimum(epsilons, 700.0))  # beyond, exp is no float; everything is allowed there
        return np.asarray(np.min(claimed + factors * other[:, None], axis=1))

    def power(self, more: float, less: float) -> float:
        """Probability that an event of these probabilities is flagged; rounded down by at most 1e-11 or so.

        Counts on the side of `less` are taken in blocks, each at its worst count.
        """
        # sums of probabilities may be beyond 0 and 1 by their rounding
        more, less = (min(max(probability, 0.0), 1.0) for probability in (more, less))
        first, last = _middle(self.runs, less)
        edges = np.unique(
            np.linspace(first - 1, last, min(_BLOCKS, int(last - first) + 1) + 1).astype(np.int64)
        )
        worst = edges[1:]
        mass = np.diff(_at_most(edges, self.runs, less))
        allowed = self.allowed(clopper_pearson_upper(worst, self.runs, self.bound_failure))
        # The lower bound of a count k exceeds x just if P(Binomial(runs, x) >= k) is below the level.
        needed = _last_likely(self.bound_failure, self.runs, np.minimum(allowed, 1.0))
        found = np.where(allowed < 1, _more_than(needed, self.runs, more), 0.0)
        return float(np.sum(mass * found))


def _middle(runs: int, probability: float) -> tuple[int, int]:
    """Counts outside of which a binomial variable is with negligible probability."""
    if not 0 < probability < 1:
        return (0, 0) if probability <= 0 else (runs, runs)
    ends = np.ceil(bdtrik(np.array([_NEGLIGIBLE, 1 - _NEGLIGIBLE]), runs, probability))
    low, high = np.clip(np.nan_to_num(ends), 0, runs).astype(np.int64)
    return max(int(low) - 1, 0), int(high)


def _at_most(count: Counts, runs: int, probability: float) -> Array:
    """P(Binomial(runs, probability) <= count), counts from -1 up."""
    return np.where(count < 0, 0.0, bdtr(np.maximum(count, 0).astype(np.float64), runs, probability))


def _more_than(count: Counts, runs: int, probability: Array | float) -> Array:
    """P(Binomial(runs, probability) > count), counts from -1 up."""
    return np.where(count < 0, 1.0, bdtrc(np.maximum(count, 0).astype(np.float64), runs, probability))


def _last_likely(level: float, runs: int, probability: Array) -> Array:
    """Smallest k such that P(Binomial(runs, probability) > k) is at most `level`, by bisection, (k,).

    An inverse of the distribution function takes the quantile at 1 - level instead, which in floats is 1 for the
    smallest levels.
    """
    low, high = np.full(probability.shape, -1), np.full(probability.shape, runs)
    # the normal distribution says about where; what it misses is looked for everywhere
    z, deviation = -float(ndtri(level)), np.sqrt(runs * probability * (1 - probability))
    about, around = runs * probability + z * deviation, 2 + z * z + 0.1 * abs(z) * deviation
    below, above = (np.clip(np.rint(about + d), -1, runs).astype(np.int64) for d in (-around, around))
    low = np.where(_more_than(below, runs, probability) > level, below, low)
    high = np.where(_more_than(above, runs, probability) <= level, above, high)
    while np.any(high - low > 1):
        middle = (low + high) // 2
        likely = _more_than(middle, runs, probability) > level
        low, high = np.where(likely, middle, low), np.where(likely, high, middle)
    return high.astype(np.float64)


@lru_cache(maxsize=256)
def smallest_epsilon(test: EventTest, delta: float) -> float | None:
    """Smallest epsilon of an (epsilon, delta) randomized response that is found with probability 1/2 or more.

    The pair: with probability delta the output betrays the data set, otherwise it is the truthful one of two
    with odds exp(epsilon). Its best event has the full loss. None if no epsilon is found.
    """

    def power(epsilon: float) -> float:
        truthful, lie = float(expit(epsilon)), float(expit(-epsilon))
        both = test.power(delta + (1 - delta) * truthful, (1 - delta) * lie)
        return max(both, test.power(delta, 0.0)) if delta > 0 else both

    return _bisect(power)


@lru_cache(maxsize=256)
def smallest_shift(test: EventTest, noise: Noise) -> float | None:
    """Smallest shift of noise of scale 1 that is found with probability 1/2 or more: mu, for the normal distribution.

    The event is a half-line at the most promising of a grid of thresholds. None if no shift is found.
    """
    thresholds = np.linspace(-8.0, 8.0, 161) if noise is Noise.NORMAL else np.linspace(-16.0, 32.0, 241)
    less = noise.above(thresholds)
    upper = clopper_pearson_upper(np.rint(less * test.runs).astype(np.int64), test.runs, test.bound_failure)
    allowed = test.allowed(upper)

    def power(shift: float) -> float:
        more = noise.above(thresholds - shift)
        lower = clopper_pearson_lower(
            np.rint(more * test.runs).astype(np.int64), test.runs, test.bound_failure
        )
        best = int(np.argmax((more - allowed) / np.maximum(more - lower, _NEGLIGIBLE)))
        return test.power(float(more[best]), float(less[best]))

    return _bisect(power)


def runs_needed(test: EventTest) -> int | None:
    """Smallest number of judged runs at which any violation at all can be found; None beyond 1e15."""

    def possible(runs: int) -> bool:
        lower = float(clopper_pearson_lower(runs, runs, test.bound_failure))
        upper = clopper_pearson_upper(np.array([0]), runs, test.bound_failure)
        return lower > float(test.allowed(upper)[0])

    high = 1
    while not possible(high):
        high *= 2
        if high > 10**15:
            return None
    low = high // 2
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if possible(middle) else (middle, high)
    return high


def _bisect(power: Callable[[float], float]) -> float | None:
    """Upper end of the bisection for power 1/2, to a relative 5e-4."""
    if power(_LARGEST) < 0.5:
        return None
    low, high = 0.0, _LARGEST
    while high - low > 5e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= 0.5 else (middle, high)
    return high
