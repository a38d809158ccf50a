"""What an audit of one run can show, said before the training: with the best possible scores.

The best possible scores of a Gaussian mechanism are independent, N(mu, 1) for members and N(0, 1) for others:
canaries in orthogonal directions, each of them scored by its inner product with what was released. Those of a pure
claim are the answers of randomized response. Real scores show less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtr, ndtri

from dpverify import checks
from dpverify.auditing.claims import Claim, checked_claim, delta_of, stated_corner
from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.one_run.canaries import FEWEST_CANARIES
from dpverify.auditing.one_run.tails import (
    ClaimedPoints,
    Guesses,
    corner_points,
    gaussian_points,
    is_too_many,
    largest_refuted,
    too_many_from,
)
from dpverify.privacy import gaussian_hockey_stick

MAIN, OTHER_COUNTS, OTHER_DIRECTION = 0.8, 0.15, 0.05
"""How an audit divides its failure probability: most of it is for one number of guesses, which is chosen beforehand."""
BOTH_SIDES = 0.9
"""What part of it is for guesses of members and of nonmembers; the rest is for guesses of members alone."""
_FEWEST_GUESSES = 8
_COUNTS = 28
"""How many numbers of guesses are compared."""
MOST_CANARIES = 2**20
"""Beyond it, canaries needed are not counted."""
_LARGEST_SIZE = 60.0
FACTORS = (3.0, 2.0, 1.5)
"""By which the noise is divided, where it is said how many canaries notice that."""


@dataclass(frozen=True)
class BestScores:
    """The best possible scores of a Gaussian mechanism, with `size` mu, or of a pure one, with `size` epsilon."""

    size: float
    pure: bool

    @classmethod
    def of(cls, claim: Claim) -> BestScores:
        """Those of the noisiest mechanism of its kind that uses up the claim."""
        corner = stated_corner(claim)
        if corner is not None and corner[1] == 0:
            return cls(corner[0], pure=True)
        return cls(_tight_mu(ClaimedPoints.of(claim)), pure=False)

    def accuracy(self, part: float) -> float:
        """Of the surest guesses, members and others alike, about this part of all canaries."""
        if self.pure:
            return float(expit(self.size))
        low, high = 0.0, part / 2
        for _ in range(60):  # the part of all that is guessed incorrectly
            middle = (low + high) / 2
            more = middle + float(ndtr(ndtri(middle) + self.size)) > part
            low, high = (low, middle) if more else (middle, high)
        return 1 - high / part

    def size_with(self, accuracy: float, part: float) -> float:
        """The size at which the surest guesses have this accuracy."""
        if self.pure:
            return float(logit(accuracy))
        return float(ndtri(accuracy * part) - ndtri((1 - accuracy) * part))


@dataclass(frozen=True)
class GuessPlan:
    """The number of guesses that promises most, and what it finds."""

    guesses: Guesses
    level: float
    needed: int
    """So many correct guesses refute the claim."""
    found: BestScores
    """The smallest size that is found with probability one half."""


@dataclass(frozen=True)
class Foresight:
    """What an audit with so many canaries can show of a claim, and how many canaries notice weakened noise.

    Attributes:
        canaries: how many, each with a coin of its own.
        failure_probability: of the audit.
        plan: how many guesses are made and what they find; None if these canaries cannot refute the claim.
        tight: the best possible scores of the claim itself.
        mu_lower: the bound that these would show, at the median.
        epsilon_lower: the same at `delta`, nats.
        delta: where epsilon is bounded.
        needed: for each factor by which the noise may be divided, the canaries that notice it with probability one
            half; None beyond `MOST_CANARIES`. Within 3 percent.
    """

    canaries: int
    failure_probability: float
    plan: GuessPlan | None
    tight: BestScores
    mu_lower: float
    epsilon_lower: float
    delta: float
    needed: tuple[tuple[float, int | None], ...] = ()

    @property
    def detectable(self) -> str:
        """The smallest violation that is found with probability one half; empty if none is."""
        return "" if self.plan is None else violation_text(self.plan.found, self.tight)


def violation_text(found: BestScores, tight: BestScores) -> str:
    """A mechanism that breaks a claim, with the best possible scores."""
    kind = (
        f"{found.size:.4g}-DP randomized response"
        if found.pure
        else f"Gaussian mechanism with mu = {found.size:.4g}"
    )
    less = f" (noise divided by {found.size / tight.size:.3g})" if tight.size > 0 else ""
    return f"{kind}{less} and the best possible scores"


def foresee(
    canaries: int,
    claim: Claim,
    *,
    failure_probability: float | ErrorShare = 1e-6,
    delta: float | None = None,
    factors: tuple[float, ...] = FACTORS,
) -> Foresight:
    """Say before the training what so many canaries can show of a claim.

    Args:
        canaries: how many, at least 100.
        claim: a guarantee.
        failure_probability: of the audit.
        delta: where epsilon is bounded; by default the claim's own, 1e-5 for a curve.
        factors: by which the noise is divided where the canaries needed are counted.

    Raises `InvalidArgumentError` for anything outside of these ranges.

    Examples:
        >>> from dpverify.auditing.one_run import foresee
        >>> from dpverify.privacy import GDP
        >>> few = foresee(1000, GDP(1.0), failure_probability=0.05, factors=())
        >>> few.detectable
        'Gaussian mechanism with mu = 1.65 (noise divided by 1.65) and the best possible scores'
    """
    count = checks.whole_number("canaries", canaries, at_least=FEWEST_CANARIES, at_most=MOST_CANARIES)
    checked_claim(claim)
    level = ErrorShare.of(failure_probability).failure_probability
    delta = delta_of(claim, delta)
    tried = checks.numbers("factors", factors, allowed="numbers above 1").ravel().tolist()
    tight, points = BestScores.of(claim), ClaimedPoints.of(claim)
    made = plan(count, points, tight, level)
    mu, epsilon = shown(main_guesses(count, made, tight, level), tight, level, delta)
    # where there is no noise to divide, nothing is counted
    needed = (
        ()
        if not tight.size > 0
        else tuple(
            (factor, _needed(points, tight, level, checks.number("factors", factor, above=1)))
            for factor in tried
        )
    )
    return Foresight(count, level, made, tight, mu, epsilon, delta, needed)


@lru_cache(maxsize=256)
def plan(canaries: int, points: ClaimedPoints, tight: BestScores, level: float) -> GuessPlan | None:
    """Choose the number of guesses by what it finds with the best possible scores; no coin is looked at.

    `level` is the whole audit's. None if no violation can be found.
    """
    own = level * MAIN * BOTH_SIDES
    best: GuessPlan | None = None
    for count in guess_counts(canaries):
        guesses = Guesses(canaries, count)
        needed = too_many_from(points, guesses, own)
        if needed is None:
            continue
        # the accuracy at which half of all runs reach it
        accuracy = float(betaincinv(needed, count - needed + 1, 0.5))
        size = tight.size_with(accuracy, count / canaries)
        if size < _LARGEST_SIZE and (best is None or size < best.found.size):
            best = GuessPlan(guesses, own, needed, replace(tight, size=size))
    return best


def guess_counts(canaries: int) -> list[int]:
    """Even numbers of guesses, from few to all canaries."""
    halves = np.geomspace(_FEWEST_GUESSES / 2, canaries // 2, _COUNTS)
    return [2 * int(half) for half in np.unique(np.rint(halves))]


def main_guesses(canaries: int, planned: GuessPlan | None, tight: BestScores, level: float) -> Guesses:
    """The guesses that get most of the level: the plan's, or where nothing can be refuted, those that show most."""
    if planned is not None:
        return planned.guesses
    return max(
        (Guesses(canaries, count) for count in guess_counts(canaries)),
        key=lambda guesses: shown(guesses, tight, level, 0.0)[0],
    )


@lru_cache(maxsize=256)
def shown(guesses: Guesses, tight: BestScores, level: float, delta: float) -> tuple[float, float]:
    """The bounds on mu and on epsilon at `delta` that the best possible scores of the claim show, at the median.

    `level` is the whole audit's.
    """
    correct = round(guesses.count * tight.accuracy(guesses.count / guesses.canaries))
    own = level * MAIN * BOTH_SIDES
    mu = largest_refuted(lambda size: is_too_many(gaussian_points(size), guesses, correct, own))
    epsilon = largest_refuted(lambda size: is_too_many(corner_points(size, delta), guesses, correct, own))
    return mu, epsilon


def _needed(points: ClaimedPoints, tight: BestScores, level: float, factor: float) -> int | None:
    """The smallest number of canaries that notice noise divided by a factor, within 3 percent."""

    def notices(canaries: int) -> bool:
        found = plan(canaries, points, tight, level)
        return found is not None and found.found.size <= factor * tight.size

    low, high = FEWEST_CANARIES // 2, FEWEST_CANARIES
    while not notices(high):
        low, high = high, 2 * high
        if high > MOST_CANARIES:
            return None
    while low >= FEWEST_CANARIES and high - low > 0.03 * high:
        middle = (low + high) // 2
        low, high = (low, middle) if notices(middle) else (middle, high)
    return high


@lru_cache(maxsize=64)
def _tight_mu(points: ClaimedPoints) -> float:
    """The largest mu of a Gaussian mechanism that keeps to the claim."""

    def keeps(mu: float) -> bool:
        profile = gaussian_hockey_stick(points.epsilons, mu)
        return bool(np.all(profile <= points.deltas * (1 + 1e-6) + 1e-15))

    low, high = 0.0, 1.0
    while high < _LARGEST_SIZE and keeps(high):
        low, high = high, 2 * high
    while high - low > 1e-6 * math.fsum((low, 1e-3)):
        middle = (low + high) / 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low
