"""Audits of samplers' laws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpverify.ledger.evidence import SamplingEvidence
from dpverify.reports import number_text
from dpverify.reports.renderers.renderer import Renderer

if TYPE_CHECKING:
    from dpverify.reports.plots import Plot


def law_claim(audit: SamplingEvidence) -> str:
    """What is claimed of a sampler's law."""
    if audit.bound == 0:
        return "exact sampling"
    return f"{audit.distance} distance at most {number_text.nearest(audit.bound)}"


class SamplingRenderer(Renderer):
    """A distance between laws."""

    kind = "sampling"
    noun = "audit of a law"
    nouns = "audits of a law"
    template = "renderers/sampling.html"

    def text(self, evidence: SamplingEvidence) -> str:
        """Distance and claim."""
        return (
            f"the law of {evidence.statistic} is "
            f"{number_text.span(evidence.measured.lower, evidence.measured.upper)} away from the correct one in "
            f"{evidence.measured_distance} distance, claimed: {law_claim(evidence)} ({evidence.data})"
        )

    def facts(self, evidence: SamplingEvidence) -> Sequence[tuple[str, str]]:
        """What a blind sampler does."""
        found = [("Data", evidence.data)]
        if evidence.blind_rejected is not None:
            passes = "is rejected" if evidence.blind_rejected else "also passes"
            found.append(("A sampler that ignores the data", passes))
        return found

    def plot(self, evidence: SamplingEvidence, name: str) -> Plot:
        """The band around the law."""
        from dpverify.reports.plots import law_plot

        return law_plot(evidence, name)

    def sees(self, evidence: SamplingEvidence) -> bool:
        """Whether it rejects a blind sampler."""
        return bool(evidence.blind_rejected)

    def says(self, audits: Sequence[SamplingEvidence]) -> str:
        """How many do."""
        return f"{sum(map(self.sees, audits))} rejected a sampler that ignores the data"


RENDERER = SamplingRenderer()
