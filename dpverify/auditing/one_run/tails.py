"""How often so many guesses about coins can be correct, if a privacy claim is true: bounds for one run.

Of m canaries, each is in the training set by its own fair coin. Guesses about k of the coins are made from the
release, and C of them are correct. For a canary i and a set A of counts, let u be the probability that its coin is
guessed correctly while the other correct guesses number in A, and v the same with an incorrect guess. If all other
coins are fixed, and coin i is turned, the one becomes the other; so a claim that is true for a single canary says u
<= e^epsilon v + delta, and so for the averages over all canaries,

    sum over j in A of (j + 1) p(j + 1) / m  <=  e^epsilon  sum over j in A of (k - j) p(j) / m  +  delta,

where p(j) = P(C = j): with delta / 2 if only one side is guessed, members alone or nonmembers alone, since half of
the coins show the other one. Nothing else is used of the claim, and nothing at all of the mechanism.

**First bound**, for one point (epsilon, delta) of the claim. Let b and B be the masses and the upper tail of the
binomial law of k trials with odds e^epsilon. With d(j) = (j + 1) p(j + 1) - e^epsilon (k - j) p(j), summation by
parts gives exactly

    P(C >= c) = B(c) + sum over i of d(i - 1) g(i),    g(i) = (B(max(i, c)) - B(c) B(i)) / (i b(i)).

All g(i) are at least 0, they rise up to i = c and fall after it (the law is log-concave), and the positive d sum up
to at most m delta. So P(C >= c) <= B(c) + m delta g(c). For delta = 0 it is the binomial tail of Steinke, Nasr and
Jagielski (2023), which randomized response attains; else it is sharper than their bound in all cases that were tried.
The least over all points of a claim is taken.

**Second bound**, for all points at once: that of Mahloujifar, Melis and Chaudhuri (2024). With A = {j >= t - 1} and
F(x) the largest u that the claim's points allow for v = x, also by the complements of events, R(t) <= F(H(t - 1)),
where R(t) sums j p(j) / m and H(t) sums (k - j) p(j) / m over j >= t. If P(C >= c) is at least a level, then R and H
are at least what comes of the level put on c alone, and of the smallest H that each step allows. This is shown by
carrying two facts from t to t - 1: R >= r, and R - r >= t / (k - t) (H - h). If r + h exceeds k / m anywhere, then
P(C >= c) is below the level. It is the sharper one where nearly all guesses are correct.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import bdtr, bdtrc, expit, gammaln

from dpverify.auditing.claims import Claim, claimed_deltas, stated_corner
from dpverify.checks import FloatArray
from dpverify.privacy import GDP, ApproxDP

_ALLOWANCE = 1e-9
"""For rounding, relative: hundreds of times the errors of SciPy's binomial laws."""
_ALLOWANCE_A_GUESS = 1e-13
"""The same for each guess: logarithms of factorials grow with their number, and so do their errors."""
_DIGITS = 4
"""Of bounds, which are rounded down to so many, since they are printed with as many."""
_LEAST_TAIL = 1e-280
"""Smaller tails are bounded by a geometric series, since floats end near them."""
_MOST_STEPS = 20_000
"""Guesses up to which the second bound is tried; without it the first one holds all the same."""
_EPSILONS = np.unique(np.concatenate([np.linspace(0.0, 3.0, 61), np.geomspace(3.0, 60.0, 90)]))


@dataclass(frozen=True)
class Guesses:
    """How many coins there are, how many of them are guessed, and on how many sides.

    `sides` is 2 where both members and nonmembers may be guessed, 1 where all guesses are of one kind.
    """

    canaries: int
    count: int
    sides: int = 2


@dataclass(frozen=True)
class ClaimedPoints:
    """Points of the privacy profile that a claim allows, in both directions."""

    at: tuple[float, ...]
    """Their epsilons, nats."""
    allowed: tuple[float, ...]
    """Their deltas."""

    @classmethod
    def of(cls, claim: Claim) -> ClaimedPoints:
        """Those of a claim; fewer points than it has make it no weaker than it is."""
        corner = stated_corner(claim)
        if corner is not None:
            return cls((corner[0],), (corner[1],))
        deltas = np.minimum(claimed_deltas(claim, _EPSILONS) * (1 + _ALLOWANCE), 1.0)
        return cls(tuple(_EPSILONS.tolist()), tuple(deltas.tolist()))

    @cached_property
    def epsilons(self) -> FloatArray:
        """(points,)."""
        return np.array(self.at)

    @cached_property
    def deltas(self) -> FloatArray:
        """(points,)."""
        return np.array(self.allowed)

    @cached_property
    def _slopes(self) -> tuple[FloatArray, FloatArray]:
        return np.exp(np.minimum(self.epsilons, 700.0)), np.exp(-self.epsilons)

    def least(self, probability: float) -> float:
        """The smallest probability on one side that allows this one on the other."""
        if len(self.at) == 1:  # the same in plain floats, which is faster
            rise, delta = math.exp(min(self.at[0], 700.0)), self.allowed[0]
            return max((probability - delta) / rise, 1 - delta - rise * (1 - probability), 0.0)
        rises, falls = self._slopes
        low = ((probability - self.deltas) * falls).max()
        high = (1 - self.deltas - rises * (1 - probability)).max()
        return max(float(low), float(high), 0.0)


@lru_cache(maxsize=4096)
def gaussian_points(mu: float) -> ClaimedPoints:
    """Those of a Gaussian mechanism whose noise is 1 / mu times the sensitivity."""
    return ClaimedPoints.of(GDP(mu))


def corner_points(epsilon: float, delta: float) -> ClaimedPoints:
    """That of an (epsilon, delta) claim."""
    return ClaimedPoints.of(ApproxDP(epsilon, delta))


def is_too_many(points: ClaimedPoints, guesses: Guesses, correct: int, level: float) -> bool:
    """Whether so many correct guesses, or more, have at most the probability `level` if the claim is true."""
    if 2 * correct <= guesses.count:
        return False
    tails, gains = binomial_parts(guesses, correct, points.at)
    if np.min(tails + points.deltas * gains) <= level:
        return True
    # without delta, the first bound is attained
    second = max(points.allowed) > 0 and guesses.count <= _MOST_STEPS
    return second and exceeds_mass(points, guesses, correct, level)


@lru_cache(maxsize=512)
def binomial_parts(
    guesses: Guesses, correct: int, epsilons: tuple[float, ...]
) -> tuple[FloatArray, FloatArray]:
    """The first bound at each epsilon: the binomial tail, and by what delta is multiplied; both rounded up."""
    k, c = guesses.count, correct
    eps = np.array(epsilons)
    odds, q = np.exp(np.minimum(eps, 700.0)), expit(eps)
    tail, below = bdtrc(c - 1, k, q), bdtr(c - 1, k, q)
    choices = gammaln(k + 1) - gammaln(c + 1) - gammaln(k - c + 1)
    mass = np.exp(choices - c * np.log1p(np.exp(-eps)) - (k - c) * np.logaddexp(0.0, eps))
    with np.errstate(all="ignore"):
        series = 1 / (1 - odds * (k - c) / (c + 1))
        few = (tail < _LEAST_TAIL) | (mass < _LEAST_TAIL)
        ratio = np.where(few, np.where(series > 0, series, np.inf), tail / mass)
        gain = guesses.canaries * guesses.sides / 2 * ratio * below / c
    # where the series does not end, the tail is nearly 1 and the bound says nothing
    gain = np.nan_to_num(gain, nan=np.inf, posinf=np.inf)
    safe = 1 + _ALLOWANCE + k * _ALLOWANCE_A_GUESS
    return np.maximum(tail, 1e-300) * safe, np.where(np.isfinite(gain), gain, 1e300) * safe


def exceeds_mass(points: ClaimedPoints, guesses: Guesses, correct: int, level: float) -> bool:
    """The second bound: whether counts from `correct` up with this probability leave too little for all others."""
    m, k, c = guesses.canaries, guesses.count, correct
    half = guesses.sides / 2
    most = k / m * (1 + _ALLOWANCE)
    right, wrong = level * c / m, level * (k - c) / m
    for t in range(c, 0, -1):
        needed = half * points.least(right / half) * (1 - _ALLOWANCE)
        if needed <= wrong:
            return False  # nothing changes any more
        right += (t - 1) / (k - t + 1) * (needed - wrong)
        wrong = needed
        if right + wrong > most:
            return True
    return False


def too_many_from(points: ClaimedPoints, guesses: Guesses, level: float) -> int | None:
    """The smallest count of correct guesses that is too many at `level`; None if even all of them are not."""
    if not is_too_many(points, guesses, guesses.count, level):
        return None
    low, high = guesses.count // 2, guesses.count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_too_many(points, guesses, middle, level) else (middle, high)
    return high


def largest_refuted(refuted: Callable[[float], bool]) -> float:
    """The end of what is refuted, from 0 on, by bisection; rounded down; 0 where nothing is."""
    if not refuted(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while high < 60.0 and refuted(high):
        low, high = high, 2 * high
    while high - low > 5e-4 * math.fsum((low, 1e-3)):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return _rounded_down(low)


def _rounded_down(value: float) -> float:
    shown = float(f"{value:.{_DIGITS}g}")
    if shown <= value:
        return shown
    last = 10.0 ** (math.floor(math.log10(value)) - _DIGITS + 1)
    return max(float(f"{value - last:.{_DIGITS}g}"), 0.0)
