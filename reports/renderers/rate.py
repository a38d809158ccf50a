"""Measured exponents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify.ledger.evidence import RateEvidence
from dpverify.reports import number_text
from dpverify.reports.renderers.renderer import Renderer

if TYPE_CHECKING:
    from dpverify.reports.plots import Plot


class RateRenderer(Renderer):
    """An exponent beside the claimed one."""

    kind = "rate"
    template = "renderers/rate.html"

    def text(self, evidence: RateEvidence) -> str:
        """Interval and claim."""
        return (
            f"exponent in {evidence.over} is "
            f"{number_text.span(evidence.exponent.lower, evidence.exponent.upper)}, "
            f"claimed {number_text.nearest(evidence.exponent_claimed)}"
        )

    def plot(self, evidence: RateEvidence, name: str) -> Plot | None:
        """Both axes logarithmic."""
        from dpverify.reports.plots import rate_plot

        return rate_plot(evidence, name)


RENDERER = RateRenderer()
