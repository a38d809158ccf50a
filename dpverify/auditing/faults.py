"""What a privacy audit sees: the same mechanism, deliberately weakened, is audited in the same way.

An audit that would not have flagged a mechanism with a quarter of the noise says nothing about the one that it was
shown, whatever the best possible pair of data sets would have revealed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from dpverify.auditing.claims import Claim
from dpverify.auditing.privacy import PrivacyAudit, audit_privacy
from dpverify.errors import InvalidArgumentError
from dpverify.evidence import Gap, Verdict

FACTORS = (4.0, 2.0)
"""By how much a mechanism is weakened, from the largest factor on."""

Weakened = Callable[[float], tuple[ArrayLike, ArrayLike]]
"""From a factor to the outputs of the weakened mechanism on the two data sets, shaped like those audited."""


def search_faults(
    audit: PrivacyAudit,
    claim: Claim,
    weakened: Weakened | None,
    *,
    fault: str,
    factors: Sequence[float] = FACTORS,
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

    Raises:
        InvalidArgumentError: for factors that are not above 1 and falling, or another number of runs.
    """
    steps = list(factors)
    if not steps or any(not k > 1 for k in steps) or sorted(set(steps), reverse=True) != steps:
        raise InvalidArgumentError("factors", factors, "at least one number above 1, in decreasing order")
    if audit.verdict is not Verdict.SUPPORTED:
        return audit
    if weakened is None:
        return replace(
            audit,
            verdict=Verdict.UNDECIDED,
            gap=Gap.BLIND_AUDIT,
            sees_nothing=True,
            reason="sees nothing here: no weakened version of the mechanism was given to test the audit on; "
            f"neighbors: {audit.adjacency}",
        )
    seen: float | None = None
    for factor in steps:
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
        if found.verdict is not Verdict.VIOLATED:
            break
        seen = factor
    if seen is None:
        return replace(
            audit,
            fault=fault,
            verdict=Verdict.UNDECIDED,
            gap=Gap.BLIND_AUDIT,
            sees_nothing=True,
            reason=f"sees nothing here: even with the {fault} {steps[0]:.4g}, the mechanism was not flagged; "
            f"neighbors: {audit.adjacency}",
        )
    return replace(
        audit,
        fault=fault,
        smallest_fault=seen,
        reason=f"{audit.reason}; with the {fault} {seen:.4g}, the mechanism was flagged",
    )
