"""Privacy audits."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.verdicts import Qualified
from dpverify.views import number_text
from dpverify.views.audits.view import AuditView, ClaimSource, Part, Strong

NEIGHBORS = {
    "replace-one": "any one record replaced",
    "add-or-remove-one": "any one record added or removed",
    "index": "the record at one given place replaced",
}
"""Adjacencies in words."""


class PrivacyView(AuditView):
    """The bound on epsilon, and the sandwich of profiles."""

    kind = "privacy"
    noun = "privacy audit"
    nouns = "privacy audits"
    leads = True

    def finding(self, evidence: PrivacyEvidence) -> Sequence[Part]:
        """Claim and bound."""
        source = (ClaimSource(evidence.claim_source),) if evidence.claim_source else ()
        at = f"; at δ = {number_text.nearest(evidence.delta)} ε is at least "
        bound = Strong(number_text.at_least(evidence.epsilon_lower))
        return "claimed ", Strong(evidence.full_claim), *source, at, bound

    def circumstances(self, evidence: PrivacyEvidence) -> str:
        """Error probability, data and neighbors."""
        level = number_text.at_most(evidence.failure_probability)
        return f"error probability {level}, {evidence.data}; neighbors: {evidence.adjacency}"

    def facts(self, evidence: PrivacyEvidence) -> Sequence[tuple[str, str]]:
        """The pair, and what would have been found."""
        found = [
            ("Data", evidence.data),
            ("Neighbors", NEIGHBORS.get(evidence.adjacency, evidence.adjacency)),
        ]
        if evidence.smallest_fault is not None:
            flagged = f"{evidence.fault} {number_text.nearest(evidence.smallest_fault)}"
            found.append(("Would have flagged", flagged))
        elif evidence.fault:
            found.append(("Would have flagged", f"none of the faults tried ({evidence.fault} a factor)"))
        if evidence.detectable:
            size = f"it would have found a {evidence.detectable} (with probability one half)"
            found.append(("On the best possible pair", size))
        return found

    def detects(self, evidence: PrivacyEvidence) -> bool:
        """Whether it flags a weakened mechanism."""
        return evidence.smallest_fault is not None

    def summary(self, audits: Sequence[PrivacyEvidence]) -> str:
        """By how much the mechanism had to be weakened, where there are weaker versions of it."""
        untried = sum(not (a.fault or self.detects(a) or a.detects_nothing) for a in audits)
        if untried == len(audits):
            return f"{untried} had no weakened mechanism to notice"
        also = f", and {untried} had no weakened mechanism to notice" if untried else ""
        halved = sum(a.smallest_fault is not None and a.smallest_fault <= 2 for a in audits)
        flagged = sum(map(self.detects, audits))
        return (
            f"{halved} would have noticed half the noise (or twice the exponent), {flagged} a quarter of the noise"
            f"{also}"
        )


def rows_of(evidence: PrivacyEvidence) -> tuple[tuple[str, str], ...]:
    """What is shown of an audit of privacy: names and texts."""
    reused = evidence.reuse.summary() if evidence.reuse else ""
    return (
        ("verdict", Qualified(evidence.verdict, _qualified(evidence))),
        ("claim", evidence.full_claim),
        ("epsilon at least", f"{evidence.epsilon_lower:.4g} at delta {evidence.delta:g}"),
        ("failure probability", f"{evidence.failure_probability:g}"),
        ("runs", _runs(evidence)),
        *((("outputs", evidence.outputs),) if evidence.outputs else ()),
        ("why", evidence.reason),
        *((("would have found", evidence.detectable),) if evidence.detectable else ()),
        ("reproduce", evidence.reproduce),
        *((("reused", reused),) if reused else ()),
    )


def _runs(evidence: PrivacyEvidence) -> str:
    """How many, and what ended a sequential audit."""
    how = evidence.sequential
    if how is None:
        return f"{evidence.runs}, simulated, on each data set" if evidence.white_box else str(evidence.runs)
    return f"{evidence.runs} of at most {how.most_runs} on each data set, ended by {how.ended_by}"


def _qualified(evidence: PrivacyEvidence) -> str:
    """What is shown beside an audit's verdict: the adjacency, and whether the verdict can be reproduced."""
    again = "; cannot be reproduced from the seed" if evidence.repeats is False else ""
    return f" (adjacency: {evidence.adjacency}{again})"


VIEW = PrivacyView()
