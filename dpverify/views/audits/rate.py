"""Measured exponents."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.ledger.evidence import RateEvidence
from dpverify.views import number_text
from dpverify.views.audits.view import AuditView, Part, Strong


class RateView(AuditView):
    """An exponent beside the claimed one."""

    kind = "rate"

    def finding(self, evidence: RateEvidence) -> Sequence[Part]:
        """Interval and claim."""
        measured = Strong(number_text.span(evidence.exponent.lower, evidence.exponent.upper))
        claimed = Strong(number_text.nearest(evidence.exponent_claimed))
        return f"exponent in {evidence.over} is ", measured, ", claimed ", claimed


VIEW = RateView()
