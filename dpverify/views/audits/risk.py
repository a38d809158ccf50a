"""Audits of excess risks."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.ledger.evidence import ExpectationEvidence, RiskEvidence
from dpverify.views import number_text
from dpverify.views.audits.expectations import ExpectationView


class RiskView(ExpectationView):
    """A risk, with the minimum that was subtracted."""

    kind = "risk"

    def minimum(self, evidence: ExpectationEvidence) -> Sequence[tuple[str, str]]:
        """The certified minimum of the empirical risk."""
        assert isinstance(evidence, RiskEvidence)
        least = evidence.minimum
        rigorous = " (rigorous)" if least.rigorous else ""
        return [("Empirical minimum", f"{number_text.span(least.lower, least.upper)}{rigorous}")]


VIEW = RiskView()
