"""Confidence bounds of means and tails, at a fixed number of runs.

Means: for values x_i >= 0, independent and alike with mean at most m, and a bet b in [0, 1/m) that was fixed before
they were seen, the product of 1 + b (x_i - m) is nonnegative with mean at most 1. So it reaches 1/level with
probability at most `level` (Markov), and the m for which it does are ruled out; they are an interval from 0, since
the product falls as m grows. Values need no upper bound for this. An upper bound of a mean of values in [0, 1] is
the lower one of 1 - x.

Tails: if f is L-Lipschitz in standard normal numbers and P(f <= s) >= Phi(b), then P(f > t) <= Phi(-b - (t - s) / L)
for t >= s: Gaussian isoperimetry (Borell 1975; Sudakov and Tsirelson 1974), with equality where f is linear. So the
probability of a far tail, of which too few runs would be seen, is bounded by that of a tail of which many are.

Where runs are of several sorts, each with a constant of its own, P(f > s) = sum of w_k q_k for the sorts' probabilities
w_k and what each of them has there, and P(f > t) is at most the sum of w_k T_k(q_k), T_k being the bound above. It is
convex in q_k: its slope is the ratio of two normal densities, which grows. So under sum of w_k q_k <= p the largest sum
is at a corner of what is possible, where one sort at most has neither 0 nor 1; for p below every w_k one has all of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from dpverify.auditing.confidence import last_ruled_out
from dpverify.checks import FloatArray

_LARGEST_STAKE = 0.9
"""Largest part of the capital that one value may lose."""
_BISECTIONS = 50
_ALLOWANCE = 1e-9
"""Relative, for rounding."""


def bet_size(variance: float, runs: int, level: float) -> float:
    """The bet that wins soonest against means a little below the true one; `variance` is a guess."""
    return math.sqrt(2 * math.log(1 / level) / (runs * max(variance, 1e-18)))


def rules_out(values: FloatArray, mean: float, bet: float, level: float) -> bool:
    """Whether values >= 0 rule out a mean of `mean` > 0, and every smaller one."""
    stake = min(bet, _LARGEST_STAKE / mean)
    return float(np.sum(np.log1p(stake * (values - mean)))) >= math.log(1 / level) * (1 + _ALLOWANCE)


def mean_lower(values: FloatArray, bet: float, level: float) -> float:
    """Lower confidence bound of the mean of values of at least 0, (runs,)."""
    # by Jensen's inequality the mean that values have is never ruled out by them
    most = float(values.mean()) * (1 + _ALLOWANCE)
    if not most > 0:
        return 0.0
    end = last_ruled_out(lambda mean: rules_out(values, mean, bet, level), most, _BISECTIONS)
    return end * (1 - _ALLOWANCE)


def mean_upper(values: FloatArray, bet: float, level: float) -> float:
    """Upper confidence bound of the mean of values in [0, 1], (runs,)."""
    other = 1.0 - values
    return min(1.0, 1.0 - mean_lower(other, bet, level) + 1e-15)


def tail_beyond(probability: FloatArray, distance: FloatArray) -> FloatArray:
    """Upper bound of P(f >= t) from that of P(f >= s); `distance` is (t - s) / L >= 0.

    A function that does not vary at all, L = 0, never goes beyond s unless P(f >= s) may be 1.
    """
    p = np.minimum(probability, 1.0)
    far: FloatArray = np.asarray(ndtr(ndtri(p) - np.where(p < 1, distance, 0.0)))
    return np.where(np.asarray(distance) > 0, np.minimum(far * (1 + _ALLOWANCE), p), p)


def tail_of_parts(
    probability: FloatArray, distance: FloatArray, parts: Sequence[tuple[float, float]]
) -> FloatArray:
    """Upper bound of P(f >= t) from that of P(f >= s), for runs of several sorts; see the module.

    `distance` is t - s >= 0, in the unit of f, and broadcasts; `parts` are each sort's probability, and the Lipschitz
    constant of f in its standard normal numbers.
    """
    p = np.minimum(probability, 1.0)
    apart = np.asarray(distance)
    reached = []
    for weight, constant in parts:
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(apart > 0, np.divide(apart, constant), 0.0)
        reached.append(weight * tail_beyond(p / weight * (1 + _ALLOWANCE), far))
    one_has_all = p <= min(weight for weight, _ in parts)
    bound = np.where(one_has_all, np.max(reached, axis=0), np.sum(reached, axis=0))
    return np.where(apart > 0, np.minimum(bound, p), p)
