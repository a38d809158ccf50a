"""Audits of samplers' laws."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.ledger.evidence import SamplingEvidence
from dpverify.views import number_text
from dpverify.views.audits.view import AuditView, ClaimSource, Part, Strong


def law_claim(audit: SamplingEvidence) -> str:
    """What is claimed of a sampler's law."""
    if audit.bound == 0:
        return "exact sampling"
    return f"{audit.distance} distance at most {number_text.nearest(audit.bound)}"


class SamplingView(AuditView):
    """A distance between laws."""

    kind = "sampling"
    noun = "audit of a law"
    nouns = "audits of a law"

    def finding(self, evidence: SamplingEvidence) -> Sequence[Part]:
        """Distance and claim."""
        measured = Strong(number_text.span(evidence.measured.lower, evidence.measured.upper))
        away = f" away from the correct one in {evidence.measured_distance} distance, claimed: "
        source = (ClaimSource(evidence.claim_source),) if evidence.claim_source else ()
        return f"the law of {evidence.statistic} is ", measured, away, Strong(law_claim(evidence)), *source

    def circumstances(self, evidence: SamplingEvidence) -> str:
        """The data."""
        return evidence.data

    def facts(self, evidence: SamplingEvidence) -> Sequence[tuple[str, str]]:
        """What a blind sampler does."""
        found = [("Claimed", evidence.claim), ("Data", evidence.data)]
        if evidence.blind_rejected is not None:
            passes = "is rejected" if evidence.blind_rejected else "also passes"
            found.append(("A sampler that ignores the data", passes))
        return found

    def detects(self, evidence: SamplingEvidence) -> bool:
        """Whether it rejects a blind sampler."""
        return bool(evidence.blind_rejected)

    def summary(self, audits: Sequence[SamplingEvidence]) -> str:
        """How many do."""
        return f"{sum(map(self.detects, audits))} rejected a sampler that ignores the data"


VIEW = SamplingView()
