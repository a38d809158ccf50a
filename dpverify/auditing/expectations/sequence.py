"""Confidence intervals of a mean that hold at all times at once.

Values are in [0, 1] here. Whoever bets a part f of the capital, run after run, on values being larger than m has
1 + f (x / m - 1) times as much after a value x: at least 0, and on average no more than before if the mean is at most
m. So the capital is a nonnegative supermartingale, and so is the average of the capitals for several parts f. It ever
reaches 1/level with probability at most `level` (Ville). The m against which it did are ruled out, at all times.
Every factor falls as m grows, so they are an interval from 0: a lower bound. The upper one is that of 1 - x, mirrored.

The best part for a mean that is d above m, at variance v, is about m d / (v + d^2). No choice has to be made: with
parts that halve, one of them is within a factor sqrt(2) of it, which costs a sixth of its growth at most, and sharing
the start among `len(PARTS)` costs ln(len(PARTS)) (Waudby-Smith and Ramdas 2024 have evenly spaced ones).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from dpverify.auditing.confidence import check_values, last_ruled_out
from dpverify.ledger.records import Interval

Array = NDArray[np.float64]

PARTS = 0.95 / 2.0 ** np.arange(14)
"""Of the capital that one value may lose; the smallest are for a hundred million runs."""
_BISECTIONS = 40
_ALLOWANCE = 1e-9
"""For rounding, in the logarithm of the capital and in the ends."""


class MeanSequence:
    """Intervals of a mean of values in [lower, upper]; whoever looks whenever they please, and stops, is right.

    The mean is ever outside of one with at most `failure_probability`, half of it on each side.
    """

    def __init__(self, lower: float, upper: float, failure_probability: float) -> None:
        _, self._span, level = check_values([lower], lower, upper, failure_probability)
        self._lower, self._upper, self._level = float(lower), float(upper), level
        self._rounds: list[Array] = []
        self._kept: Interval | None = None

    @property
    def runs(self) -> int:
        """How many values it has seen."""
        return sum(one.size for one in self._rounds)

    @property
    def values(self) -> Array:
        """All of them, in their own unit."""
        return self._lower + self._span * np.concatenate(self._rounds)

    def see(self, values: ArrayLike) -> None:
        """Take the values of a round, (runs,), independent of all before and with the same mean."""
        x, _, _ = check_values(values, self._lower, self._upper, self._level)
        self._rounds.append(x)

    def above(self, mean: float) -> bool:
        """Whether the mean is above a number, as of any round so far: then every interval from now on is, too."""
        return rules_out_in_rounds(self._rounds, (mean - self._lower) / self._span, self._level / 2)

    def below(self, mean: float) -> bool:
        """Whether the mean is below a number."""
        mirrored = [1.0 - one for one in self._rounds]
        return rules_out_in_rounds(mirrored, (self._upper - mean) / self._span, self._level / 2)

    @property
    def interval(self) -> Interval:
        """The mean is inside; as tight as the tightest of all rounds so far."""
        low = _lower_end(self._rounds, self._level / 2)
        high = 1.0 - _lower_end([1.0 - one for one in self._rounds], self._level / 2)
        # the failure that has the stated probability may rule out every mean
        low, high = min(low, high), max(low, high)
        return Interval(lower=self._lower + self._span * low, upper=self._lower + self._span * high)


def rules_out_in_rounds(rounds: list[Array], mean: float, level: float) -> bool:
    """Whether the capital reached 1/level after a round, against a mean of values in [0, 1], and all smaller ones."""
    if mean < 0:
        return True
    if mean >= 1:
        return False
    goal = math.log(1 / level) + math.log(PARTS.size) + _ALLOWANCE
    capitals = np.zeros(PARTS.size)
    for x in rounds:
        gains = x / max(mean, 1e-300) - 1.0
        # for values of 1e-300 and the like, the smallest of floats: more is no better
        with np.errstate(over="ignore"):
            capitals = capitals + np.log1p(PARTS[:, None] * gains).sum(axis=1)
        if float(logsumexp(capitals)) >= goal:
            return True
    return False


def _lower_end(rounds: list[Array], level: float) -> float:
    end = last_ruled_out(lambda mean: rules_out_in_rounds(rounds, mean, level), 1.0, _BISECTIONS)
    return max(end - _ALLOWANCE, 0.0)
