"""Candidate events, cut out by a score and a threshold, with their frequencies in the samples that choose.

And the few of them on which the lower bound of the whole privacy profile rests, all of them at once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from dpverify.auditing.events import Direction, Event, ScoredSamples, both_directions, thresholds

Array = NDArray[np.float64]

_RANKS = 100
"""Thresholds at each end of a score, at ranks that grow geometrically: dense where events are rare."""
_REGIONS = (4000, 400)
"""Counts up to which a tail is smoothed: the larger, or the smaller if no curve fits."""
_FEWEST = 8
"""Fewest counts that are smoothed."""
_STEPS = 12
_STILL = 1e-8
"""A Newton step so small that the next one would be rounding."""
_MISFIT = 3.0
"""Standard errors between a count and its smoothed value at which a curve does not fit."""
_CAUTION = 1.4
"""Standard errors of its logarithm that are added to the frequency of the less likely side."""
_ALONE = 1.5
"""The same, relative to that, where it is not smoothed: the best of many is a lucky one."""


@dataclass(frozen=True)
class Candidates:
    """Events of all scores; `more` and `less` are (2, events), `Direction`'s two members in order."""

    events: tuple[Event, ...]
    left: Array
    """Frequency on the left, as it was seen, (events,)."""
    right: Array
    more: Array
    """Frequency that is to be large: of the event on the left, or of its complement on the right."""
    less: Array
    """Frequency of the same set on the other side: smoothed, and a standard error above what is most likely."""

    def towards(self, directions: Collection[Direction]) -> Candidates:
        """Those that promise nothing in any other direction."""
        kept = np.array([[direction in directions] for direction in Direction])
        return replace(self, more=np.where(kept, self.more, 0.0), less=np.where(kept, self.less, 1.0))

    def of(self, scorers: Collection[str]) -> Candidates:
        """Those of some of the scorers."""
        chosen = np.array([event.scorer in scorers for event in self.events])
        events = tuple(event for event, is_chosen in zip(self.events, chosen, strict=True) if is_chosen)
        return Candidates(
            events, self.left[chosen], self.right[chosen], self.more[:, chosen], self.less[:, chosen]
        )


def find_candidates(scored: Sequence[ScoredSamples]) -> Candidates:
    """All candidate events, at thresholds that occur among the scores."""
    events: list[Event] = []
    left: list[Array] = []
    right: list[Array] = []
    more: list[Array] = []
    less: list[Array] = []
    for scores in scored:
        p, q = np.sort(scores.left), np.sort(scores.right)
        n, cuts = p.size, thresholds(p, q, an_end=_RANKS)
        # nested sets, from the smallest on: above the cuts from the last on, and below them
        k_below, j_below = (np.searchsorted(side, cuts, side="right") for side in (p, q))
        k_above, j_above = n - k_below[::-1], n - j_below[::-1]
        above = _cautious(k_above, j_above, n)[::-1], _cautious(j_above, k_above, n)[::-1]
        below = _cautious(k_below, j_below, n), _cautious(j_below, k_below, n)
        shares = k_below / n, j_below / n
        events += [Event(scores.scorer, float(t), True, scores.column) for t in cuts]
        events += [Event(scores.scorer, float(t), False, scores.column) for t in cuts]
        left += [1 - shares[0], shares[0]]
        right += [1 - shares[1], shares[1]]
        # the complement of a set above a threshold is the set below it
        more += [np.stack([1 - shares[0], shares[1]]), np.stack([shares[0], 1 - shares[1]])]
        less += [np.stack([above[0], below[1]]), np.stack([below[0], above[1]])]
    return Candidates(
        tuple(events),
        np.concatenate(left),
        np.concatenate(right),
        np.concatenate(more, axis=1),
        np.concatenate(less, axis=1),
    )


def _cautious(more: NDArray[np.int64], less: NDArray[np.int64], runs: int) -> Array:
    """Frequencies for `less`, counts of nested sets (sets,) from the smallest on: smoothed, and not too low.

    A few runs in the tail say little by themselves, and the best of many thresholds would be the luckiest. So the ratio
    of the two sides is fitted as a smooth function of how far out in the tail one is, to as much of the tail as it
    fits, and summed over the runs of the likelier side. Where it does not fit, as with atoms, counts are left alone.
    """
    k, j = more.astype(np.float64), less.astype(np.float64)
    estimate, error = j + 0.5, _ALONE * np.sqrt(1 / (j + 1) + 1 / (k + 1))
    for most in _REGIONS:
        inside = int(np.searchsorted(np.maximum(k, j), min(most, runs / 2), side="right"))
        fit = _fitted(k[:inside], j[:inside])
        if fit is not None:
            estimate[:inside], error[:inside] = fit[0], np.sqrt(fit[1] + 1 / (k[:inside] + 1))
            break
    return np.asarray(np.minimum(estimate * np.exp(_CAUTION * error), runs) / runs)


def _fitted(k: Array, j: Array) -> tuple[Array, Array] | None:
    """Smoothed `j`, with the variance of its logarithm; None where there is too little, or no curve fits.

    Of the runs between one set and the next, those of the less likely side are a share with a logit that is quadratic
    in the logarithm of k: logistic regression, by Newton's steps with a weak prior.
    """
    first, second = np.diff(k, prepend=0.0), np.diff(j, prepend=0.0)
    total = first + second
    if np.count_nonzero(total) < _FEWEST or j[-1] < _FEWEST:
        return None
    u = np.log((k + np.concatenate([[0.0], k[:-1]])) / 2 + 0.5)
    z = (u - u[-1]) / max(u[-1] - u[0], 1e-9)
    x = np.stack([np.ones(u.size), z, z * z], axis=1)
    weights = np.array([np.log((j[-1] + 0.5) / (k[-1] + 0.5)), 0.0, 0.0])
    prior = np.diag([1e-6, 1e-2, 1e-2])
    for _ in range(_STEPS):
        share = expit(x @ weights)
        precision = (x * (total * share * (1 - share))[:, None]).T @ x + prior
        step = np.linalg.solve(precision, x.T @ (second - total * share) - prior @ weights)
        weights = weights + np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < _STILL:
            break
    expected = first * np.exp(np.clip(x @ weights, -50.0, 50.0))
    curve = np.maximum(np.cumsum(expected), 1e-9)
    if not np.all(np.abs(curve - j) <= _MISFIT * np.sqrt(curve + 1)):
        return None
    along = np.cumsum(expected[:, None] * x, axis=0) / curve[:, None]
    return curve, np.einsum("bi,ij,bj->b", along, np.linalg.inv(precision), along)


def typical_lower(frequency: Array, runs: int, failure_probability: float) -> Array:
    """About the exact lower confidence bound of a probability that shows as `frequency` in `runs` runs; same shape.

    Wilson's score bounds with a correction for continuity: thousands in a few milliseconds. No verdict rests on them.
    """
    return 1.0 - typical_upper(1.0 - frequency, runs, failure_probability)


def typical_upper(frequency: Array, runs: int, failure_probability: float) -> Array:
    """About the upper confidence bound; see `typical_lower`."""
    z = -float(ndtri(failure_probability))
    p = np.minimum(frequency + 0.5 / runs, 1.0)
    center = p + z * z / (2 * runs)
    spread = z * np.sqrt(p * (1 - p) / runs + z * z / (4 * runs * runs))
    bound: Array = np.minimum((center + spread) / (1 + z * z / runs), 1.0)
    return np.where(frequency >= 1, 1.0, bound)


def choose_events(
    candidates: Candidates,
    *,
    judged_runs: int,
    bound_failure: float,
    most_events: int,
    epsilons: Array,
    claimed: Array,
) -> tuple[Event, ...]:
    """Choose at most `most_events` events that should judge well.

    For each candidate the counts of the choosing samples are scaled to `judged_runs`, and about the bounds that the
    judging samples would then give, at `bound_failure` each, are computed. The first event of each direction
    is the one with the best prospect of violating the claim (`claimed` at `epsilons`, both (g,)); the rest
    are added one by one, whichever raises the lower bound of the whole profile most.
    """
    p, q = candidates.left, candidates.right
    low, high = typical_lower(p, judged_runs, bound_failure), typical_upper(q, judged_runs, bound_failure)
    factor = np.exp(epsilons)

    at_least, at_most = (side[:, :, None] for side in both_directions(low, high))
    expected_more, expected_less = (side[:, :, None] for side in both_directions(p, q))
    excess = expected_more - factor * expected_less - claimed
    uncertainty = (expected_more - at_least) + factor * (at_most - expected_less)
    # Both widths are zero for an event that always happens on one side and never on the other.
    prospect = (excess / np.maximum(uncertainty, 1e-12)).max(axis=2)
    chosen = list(dict.fromkeys(int(best) for best in prospect.argmax(axis=1)))[:most_events]

    lower = np.maximum(at_least - factor * at_most, 0.0)
    best = lower.max(axis=1, keepdims=True)
    attained = np.divide(lower, best, out=np.zeros_like(lower), where=best > 0)
    attained = np.moveaxis(attained, 1, 0).reshape(p.size, -1)
    reachable = max(1, int(np.count_nonzero(best)))
    covered = attained[chosen].max(axis=0)
    while len(chosen) < most_events:
        gains = np.maximum(attained, covered).sum(axis=1) - covered.sum()
        index = int(gains.argmax())
        if gains[index] < 0.01 * reachable:
            break
        chosen.append(index)
        covered = np.maximum(covered, attained[index])
    return tuple(candidates.events[index] for index in chosen)
