"""Events: sets of outputs, cut out by a score and a threshold, and the choice of a few good ones.

An event E whose probability is at least a on the left data set and at most b on the right one says two things
about the privacy profile, for every epsilon at once:

- left over right: delta(epsilon) >= a - exp(epsilon) b, by E itself;
- right over left: delta(epsilon) >= (1 - b) - exp(epsilon) (1 - a), by its complement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.confidence import clopper_pearson_lower, clopper_pearson_upper

Array = NDArray[np.float64]


class Direction(StrEnum):
    """Which data set's output is the more likely one on the event."""

    LEFT_OVER_RIGHT = "left over right"
    RIGHT_OVER_LEFT = "right over left"


@dataclass(frozen=True)
class Event:
    """The outputs whose score is above a threshold, or those whose score is not."""

    scorer: str
    threshold: float
    above: bool

    def count(self, scores: Array) -> int:
        """How many of these scores (runs,) are in the event."""
        above = int(np.count_nonzero(scores > self.threshold))
        return above if self.above else scores.size - above

    def __str__(self) -> str:
        return f"{self.scorer} {'>' if self.above else '<='} {self.threshold:.6g}"


@dataclass(frozen=True)
class ScoredSamples:
    """One scorer's scores of the choosing samples, (runs,) each."""

    scorer: str
    left: Array
    right: Array


def both_directions(left_lower: Array, right_upper: Array) -> tuple[Array, Array]:
    """Give (at least, at most), shape (2, events): `Direction`'s two members, in order."""
    return np.stack([left_lower, 1 - right_upper]), np.stack([right_upper, 1 - left_lower])


def choose_events(
    scored: Sequence[ScoredSamples],
    *,
    judged_runs: int,
    bound_failure: float,
    most_events: int,
    epsilons: Array,
    claimed: Array,
) -> tuple[Event, ...]:
    """Choose at most `most_events` events that should judge well.

    For each candidate the counts of the choosing samples are scaled to `judged_runs`, and the bounds that the
    judging samples would then give, at `bound_failure` each, are computed. The first event of each direction
    is the one with the best prospect of violating the claim (`claimed` at `epsilons`, both (g,)); the rest
    are added one by one, whichever raises the lower bound of the whole profile most.
    """
    events, p, q = _candidates(scored)
    low = clopper_pearson_lower(np.rint(p * judged_runs).astype(np.int64), judged_runs, bound_failure)
    high = clopper_pearson_upper(np.rint(q * judged_runs).astype(np.int64), judged_runs, bound_failure)
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
    attained = np.moveaxis(attained, 1, 0).reshape(len(events), -1)
    reachable = max(1, int(np.count_nonzero(best)))
    covered = attained[chosen].max(axis=0)
    while len(chosen) < most_events:
        gains = np.maximum(attained, covered).sum(axis=1) - covered.sum()
        index = int(gains.argmax())
        if gains[index] < 0.01 * reachable:
            break
        chosen.append(index)
        covered = np.maximum(covered, attained[index])
    return tuple(events[index] for index in chosen)


def _candidates(scored: Sequence[ScoredSamples]) -> tuple[list[Event], Array, Array]:
    """All candidates with their frequencies on the left and on the right, (events,) each."""
    events: list[Event] = []
    on_left: list[Array] = []
    on_right: list[Array] = []
    for scores in scored:
        left, right = np.sort(scores.left), np.sort(scores.right)
        thresholds = _thresholds(left, right)
        p = 1 - np.searchsorted(left, thresholds, side="right") / left.size
        q = 1 - np.searchsorted(right, thresholds, side="right") / right.size
        for above in (True, False):
            events += [Event(scores.scorer, float(threshold), above) for threshold in thresholds]
            on_left.append(p if above else 1 - p)
            on_right.append(q if above else 1 - q)
    return events, np.concatenate(on_left), np.concatenate(on_right)


def _thresholds(left: Array, right: Array) -> Array:
    """Some of the scores that occur, dense at both ends, where the rare events are."""
    pooled = np.sort(np.concatenate([left, right]))
    ranks = np.unique(np.geomspace(1, (pooled.size + 1) // 2, 80).astype(np.int64)) - 1
    cuts = np.unique(np.concatenate([pooled[ranks], pooled[pooled.size - 1 - ranks]]))
    # "Above the next lower score" is "at or above", which an atom at the top needs.
    before = np.searchsorted(pooled, cuts, side="left") - 1
    return np.unique(np.concatenate([cuts, pooled[before[before >= 0]]]))
