"""What a privacy audit sees: the same mechanism, deliberately weakened, is audited in the same way.

An audit that would not have flagged a mechanism with a quarter of the noise says nothing about the one that it was
shown, whatever the best possible pair of data sets would have revealed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from dpverify.auditing.claims import Claim
from dpverify.auditing.privacy import PrivacyAudit, audit_privacy
from dpverify.checks import of_kind
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.verdicts import Gap, Verdict

FACTORS = (4.0, 2.0)
"""By how much a mechanism is weakened, from the largest factor on."""

Weakened = Callable[[float], tuple[ArrayLike, ArrayLike]]
"""From a factor to the outputs of the weakened mechanism on the two data sets, shaped like those audited."""


def tried_out(
    flagged: Callable[[float], bool] | None,
    fault: str,
    factors: Sequence[float],
    audit: Any,
    room: Callable[[float], str] | None = None,
) -> dict[str, Any]:
    """What weakened versions say of a supported audit, as fields of it that change: it is undecided if none is flagged.

    The factors are tried in their order, up to the first that is not flagged; `flagged` is None where there is no
    weakened version. Raises `InvalidArgumentError` for factors that are not above 1 and falling.
    """
    steps = list(factors)
    if not steps or any(not k > 1 for k in steps) or sorted(set(steps), reverse=True) != steps:
        raise InvalidArgumentError("factors", factors, "at least one number above 1, in decreasing order")
    if audit.verdict is not Verdict.SUPPORTED:
        return {}
    seen = list(itertools.takewhile(flagged, steps)) if flagged else []
    if seen:
        reason = f"{audit.reason}; with the {fault} {seen[-1]:.4g}, the mechanism was flagged"
        return {"fault": fault, "smallest_fault": seen[-1], "reason": reason}
    fault = fault if flagged else ""
    why = room(steps[0]) if flagged and room else ""
    blind = "no weakened version of the mechanism was given to test the audit on"
    if fault:
        blind = f"even with the {fault} {steps[0]:.4g}, the mechanism was not flagged"
    reasons = (f"sees nothing here: {blind}", why, f"neighbors: {audit.adjacency}")
    return {
        "fault": fault,
        "verdict": Verdict.UNDECIDED,
        "gap": Gap.LOOSE_CLAIM if why else Gap.BLIND_AUDIT,
        "detects_nothing": True,
        "reason": "; ".join(filter(None, reasons)),
    }


def room_left(corner: tuple[float, float], subject: object, weakest: object) -> str:
    """Why no number of runs would have flagged the weakest version; empty where that is not known.

    `corner` is the claim's epsilon and delta; a mechanism that knows the smallest epsilon on the pair has an `exact`.
    """
    epsilon, delta = corner
    exact, beyond = getattr(subject, "exact", None), getattr(weakest, "exact", None)
    if exact is None or beyond is None or not beyond(delta).upper <= epsilon:
        return ""
    own, weak = exact(delta).upper, beyond(delta).upper
    times = f", {epsilon / own:.3g} times as much as this pair needs ({own:.4g})" if own > 0 else ""
    return (
        f"no number of runs would flag it: at delta {delta:.4g} the claim allows epsilon {epsilon:.4g}{times}, "
        f"and the weakened mechanism needs no more than {weak:.4g}"
    )


def search_faults(
    audit: PrivacyAudit,
    claim: Claim,
    weakened: Weakened | None,
    *,
    fault: str,
    factors: Sequence[float] = FACTORS,
    room: Callable[[float], str] | None = None,
) -> PrivacyAudit:
    """Find the smallest fault that this audit would have flagged, and take its support back where there is none.

    The weakened mechanism is audited like the mechanism itself: same claim, runs, seed and failure probability. The
    factors are tried in their order, as long as they are flagged. The result is `undecided` instead of `supported`
    where the first of them is not flagged, or where there is no weakened version. A violated or undecided audit is
    returned as it is, and nothing is run.

    Args:
        audit: what `audit_privacy` found.
        claim: the claim that it was about.
        weakened: draws the outputs; it must not reuse randomness of the audited outputs. None where there is none.
        fault: what the factor does, such as `noise divided by`.
        factors: above 1 and falling.
        room: from a factor to why no number of runs would flag it, see `room_left`; asked of the first one where that
            is not flagged.

    Raises `InvalidArgumentError` for factors that are not above 1 and falling, or another number of runs.
    """
    of_kind("audit", audit, PrivacyAudit)

    def flagged(factor: float) -> bool:
        assert weakened is not None
        left, right = weakened(factor)
        found = audit_privacy(
            left,
            right,
            claim,
            adjacency=audit.adjacency,
            failure_probability=audit.failure_probability,
            seed=audit.seed,
            delta=audit.delta,
        )
        if found.runs != audit.runs:
            raise InvalidArgumentError("weakened", found.runs, f"{audit.runs} runs, as many as were audited")
        return found.verdict is Verdict.VIOLATED

    changed = tried_out(None if weakened is None else flagged, fault, factors, audit, room)
    return replace(audit, **changed) if changed else audit
