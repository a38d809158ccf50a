"""Audits of expectations that are no risks."""

from __future__ import annotations

from dpverify.ledger.evidence import ExpectationEvidence, MeanEvidence
from dpverify.views import number_text
from dpverify.views.audits.expectations import ExpectationView


class MeanView(ExpectationView):
    """An expectation that is bounded from above or from below."""

    kind = "mean"

    def bound(self, evidence: ExpectationEvidence) -> str:
        """From which side."""
        assert isinstance(evidence, MeanEvidence)
        return f"claimed: at {'least' if evidence.at_least else 'most'} "

    def extreme(self, evidence: ExpectationEvidence) -> tuple[str, str]:
        """On the side that would break the bound."""
        assert isinstance(evidence, MeanEvidence)
        if not evidence.at_least:
            return super().extreme(evidence)
        end = evidence.extreme
        assert end is not None
        if end.lower == end.upper:
            return "Smallest possible", f"at least {number_text.at_least(end.lower)}"
        return "Smallest possible", f"{number_text.span(end.lower, end.upper)} (exhibited and certified)"


VIEW = MeanView()
