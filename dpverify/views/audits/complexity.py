"""Counted queries."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.ledger.evidence import ComplexityEvidence
from dpverify.views import number_text
from dpverify.views.audits.view import AuditView, Part


class ComplexityView(AuditView):
    """A count beside the claimed one, in a table."""

    kind = "complexity"
    is_tabular = True

    def finding(self, evidence: ComplexityEvidence) -> Sequence[Part]:
        """Both counts."""
        counted, claimed = number_text.count(evidence.counted), number_text.count(evidence.claimed)
        return (f"{counted} {evidence.oracle} queries, claimed {claimed}",)

    def circumstances(self, evidence: ComplexityEvidence) -> str:
        """The data."""
        return evidence.data


VIEW = ComplexityView()
