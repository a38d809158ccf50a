"""Audits of excess risks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpverify.ledger.evidence import ExpectationEvidence, RiskEvidence
from dpverify.reports import number_text
from dpverify.reports.renderers.expectations import ExpectationRenderer

if TYPE_CHECKING:
    from dpverify.reports.plots import Plot


class RiskRenderer(ExpectationRenderer):
    """A risk, with the minimum that was subtracted."""

    kind = "risk"

    def minimum(self, evidence: ExpectationEvidence) -> Sequence[tuple[str, str]]:
        """The certified minimum of the empirical risk."""
        assert isinstance(evidence, RiskEvidence)
        least = evidence.minimum
        rigorous = " (rigorous)" if least.rigorous else ""
        return [("Empirical minimum", f"{number_text.span(least.lower, least.upper)}{rigorous}")]

    def plot(self, evidence: RiskEvidence, name: str) -> Plot:
        """In units of the loss."""
        from dpverify.reports.plots import mean_plot

        return mean_plot(evidence, name, units="In units of the loss")


RENDERER = RiskRenderer()
