"""Counted queries."""

from __future__ import annotations

from dpverify.ledger.evidence import ComplexityEvidence
from dpverify.reports import number_text
from dpverify.reports.renderers.renderer import Renderer


class ComplexityRenderer(Renderer):
    """A count beside the claimed one, in a table."""

    kind = "complexity"
    template = "renderers/complexity.html"
    is_tabular = True

    def text(self, evidence: ComplexityEvidence) -> str:
        """Both counts."""
        return (
            f"{number_text.count(evidence.counted)} {evidence.oracle} queries, "
            f"claimed {number_text.count(evidence.claimed)} ({evidence.data})"
        )


RENDERER = ComplexityRenderer()
