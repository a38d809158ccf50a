"""The smallest violation that an audit would have found.

An audit with n judged runs a side flags an event if the exact lower bound of its probability on one side
exceeds what the claim allows, given the exact upper bound on the other side. The probability of that is
computed from the two binomial distributions, not simulated, and the violation is found by bisection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, expit, ndtr

from dpverify.auditing.confidence import clopper_pearson_lower, clopper_pearson_upper

Array = NDArray[np.float64]

_NEGLIGIBLE = 1e-12
"""Binomial mass that the computed power leaves out, so that it errs to the low side."""
_BLOCKS = 1000
_LARGEST = 40.0
"""Epsilon or mu beyond which an event has probability one on one side and none on the other."""


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
        allowed: Array = np.min(claimed + np.exp(epsilons) * other[:, None], axis=1)
        return allowed

    def power(self, more: float, less: float) -> float:
        """Probability that an event of these probabilities is flagged; rounded down by at most 1e-11 or so.

        Counts on the side of `less` are taken in blocks, each at its worst count.
        """
        first, last = _likely_counts(self.runs, less)
        edges = np.unique(np.linspace(first - 1, last, min(_BLOCKS, last - first + 1) + 1).astype(np.int64))
        worst = edges[1:]
        mass = np.diff(_at_most(edges, self.runs, less))
        allowed = self.allowed(clopper_pearson_upper(worst, self.runs, self.bound_failure))
        # The lower bound of a count k exceeds x just if P(Binomial(runs, x) >= k) is below the level.
        needed = _last_likely(self.bound_failure, self.runs, np.minimum(allowed, 1.0))
        found = np.where(allowed < 1, _above(needed, self.runs, more), 0.0)
        return float(np.sum(mass * found))


def _last_likely(level: float, runs: int, probability: Array) -> Array:
    """Smallest k such that P(Binomial(runs, probability) > k) is at most `level`, by bisection, (k,).

    SciPy's `binom.isf` takes the quantile at 1 - level instead, which in floats is 1 for the smallest levels.
    """
    low, high = np.full(probability.shape, -1), np.full(probability.shape, runs)
    while np.any(high - low > 1):
        middle = (low + high) // 2
        likely = _above(middle, runs, probability) > level
        low, high = np.where(likely, middle, low), np.where(likely, high, middle)
    return high.astype(np.float64)


def _likely_counts(runs: int, probability: float) -> tuple[int, int]:
    """The counts between which all but two negligible ends of Binomial(runs, probability) lie."""
    low, first = -1, runs
    while first - low > 1:
        middle = (low + first) // 2
        low, first = (low, middle) if _at_most(middle, runs, probability) >= _NEGLIGIBLE else (middle, first)
    return first, int(_last_likely(_NEGLIGIBLE, runs, np.array([probability]))[0])


# `scipy.stats` has both, and takes a second to load, for which every audit of a user's function would wait


def _at_most(count: ArrayLike, runs: int, probability: ArrayLike) -> Array:
    """P(Binomial(runs, probability) <= count), for counts from -1 to `runs`."""
    k = np.asarray(count, dtype=np.float64)
    inside = betaincc(np.maximum(k, 0) + 1, np.maximum(runs - k, 1), probability)
    return np.where(k < 0, 0.0, np.where(k >= runs, 1.0, inside))


def _above(count: ArrayLike, runs: int, probability: ArrayLike) -> Array:
    """P(Binomial(runs, probability) > count), for counts from -1 to `runs`."""
    k = np.asarray(count, dtype=np.float64)
    inside = betainc(np.maximum(k, 0) + 1, np.maximum(runs - k, 1), probability)
    return np.where(k < 0, 1.0, np.where(k >= runs, 0.0, inside))


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
def smallest_mu(test: EventTest) -> float | None:
    """Smallest mu of a Gaussian pair, N(0, 1) and N(mu, 1), that is found with probability 1/2 or more.

    The event is a half-line at the most promising of a grid of thresholds. None if no mu is found.
    """
    thresholds = np.linspace(-8.0, 8.0, 161)
    less = ndtr(-thresholds)
    upper = clopper_pearson_upper(np.rint(less * test.runs).astype(np.int64), test.runs, test.bound_failure)
    allowed = test.allowed(upper)

    def power(mu: float) -> float:
        more = ndtr(mu - thresholds)
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
    """Upper end of the bisection for power 1/2, to a relative 1e-4."""
    if power(_LARGEST) < 0.5:
        return None
    low, high = 0.0, _LARGEST
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= 0.5 else (middle, high)
    return high
