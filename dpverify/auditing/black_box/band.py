"""The few events on which the lower bound of the whole privacy profile rests, all of them at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.black_box.candidates import Candidates
from dpverify.auditing.black_box.typical import typical_lower, typical_upper
from dpverify.auditing.events import Event, both_directions

Array = NDArray[np.float64]


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
