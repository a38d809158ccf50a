"""Audits of a claimed epsilon that need no runs: the claim beside a two-sided value of the smallest epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

from dpverify import checks
from dpverify.auditing.contract import Origin, Question
from dpverify.auditing.error_share import ErrorShare
from dpverify.ledger.evidence import AccountantEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Gap, Verdict

_COUNTED = 2**20
"""Units in the last place up to which a shortfall is given in them."""


class Reference(Protocol):
    """Releases of which the smallest epsilon is known from both sides; `str` describes them."""

    def smallest_epsilon(self, delta: float) -> Interval:
        """Where it lies, nats; rigorous only if the true value is above `lower` or both ends are equal."""


@dataclass(frozen=True)
class AccountantQuestion(Question):
    """Is this epsilon, which an accountant gives, enough?"""

    claimed: float
    """Nats."""
    delta: float
    accountant: str = ""
    """Whose number it is."""
    origin: Origin | None = None


@dataclass(frozen=True)
class AccountantAuditor:
    """Compares an accountant's epsilon with a two-sided value: it runs nothing and spends nothing."""

    spends: ClassVar[bool] = False

    def audit(
        self, question: AccountantQuestion, subject: Reference, error: ErrorShare
    ) -> AccountantEvidence:
        """Compute and compare; raises as `audit_epsilon`."""
        checks.of_kind("question", question, AccountantQuestion)
        found = audit_epsilon(question.claimed, subject, delta=question.delta)
        return question.entry(AccountantEvidence, found, releases=str(subject))


@dataclass(frozen=True)
class AccountantAudit:
    """What was found of one claimed epsilon.

    Attributes:
        verdict: violated if the claim is below what is possible, supported if it is at least what is enough, undecided
            in between.
        reason: in words, with the shortfall.
        claimed: nats.
        smallest: where the smallest epsilon at `delta` lies, nats.
        delta: the delta of the claim.
        ulps: by how many floats an exactly known epsilon is under-reported at least; None otherwise.
        gap: why it is undecided.
    """

    verdict: Verdict
    reason: str
    claimed: float
    smallest: Interval
    delta: float
    ulps: int | None = None
    gap: Gap | None = None


def audit_epsilon(claimed: float, releases: Reference, *, delta: float) -> AccountantAudit:
    """Audit an accountant's claim that these releases are (claimed, delta)-private.

    Where the smallest epsilon is known to the float, a claim one float below it is violated. Raises
    `InvalidArgumentError` for a claim that is no number of at least 0, or a delta outside [0, 1).
    """
    claimed = checks.not_negative("claimed", claimed)
    checks.with_attribute("releases", releases, "smallest_epsilon")
    smallest = releases.smallest_epsilon(delta)
    exact = smallest.rigorous and smallest.upper <= math.nextafter(smallest.lower, math.inf)
    kind = "the exact value" if exact else "every possible value"
    ulps = None
    gap = None
    if smallest.lower == math.inf:
        reason = f"{claimed!r} is not enough, and no epsilon is"
        return AccountantAudit(
            Verdict.VIOLATED, f"{reason}; {releases} at delta {delta:g}", claimed, smallest, delta
        )
    # the true value is above `lower`, unless that is 0 and all there is
    if claimed < smallest.lower or (exact and claimed == smallest.lower < smallest.upper):
        verdict = Verdict.VIOLATED
        ulps = _floats_between(claimed, smallest.upper) if exact else None
        by = smallest.upper - claimed if exact else smallest.lower - claimed
        amount = f"by {ulps} unit{'s' if ulps > 1 else ''} in the last place" if ulps else f"by {by:.6g}"
        reason = f"{claimed!r} is below {kind}, {_shown(smallest)}, {amount}"
    elif claimed >= smallest.upper:
        verdict = Verdict.SUPPORTED
        excess = "" if smallest.upper == 0 else f", {claimed / smallest.upper:.6g} times that"
        reason = f"{claimed!r} is enough: the smallest epsilon is at most {smallest.upper!r}{excess}"
    else:
        verdict, gap = Verdict.UNDECIDED, Gap.NOT_RIGOROUS
        reason = f"{claimed!r} lies between the bounds, {_shown(smallest)}"
    return AccountantAudit(
        verdict, f"{reason}; {releases} at delta {delta:g}", claimed, smallest, delta, ulps, gap
    )


def _shown(smallest: Interval) -> str:
    return f"in [{smallest.lower!r}, {smallest.upper!r}]"


def _floats_between(low: float, high: float) -> int | None:
    """How many floats `low` is below `high`, if few."""
    unit = math.ulp(high)
    if (high - low) / unit > _COUNTED:
        return None
    steps = 0
    while low < high:
        low, steps = math.nextafter(low, math.inf), steps + 1
    return steps
