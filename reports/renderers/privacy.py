"""Privacy audits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.reports import number_text
from dpverify.reports.renderers.renderer import Renderer

if TYPE_CHECKING:
    from dpverify.reports.plots import Plot


class PrivacyRenderer(Renderer):
    """The bound on epsilon, and the sandwich of profiles."""

    kind = "privacy"
    noun = "privacy audit"
    nouns = "privacy audits"
    leads = True
    template = "renderers/privacy.html"

    def text(self, evidence: PrivacyEvidence) -> str:
        """Claim and bound."""
        return (
            f"claimed {evidence.full_claim}; at δ = {number_text.nearest(evidence.delta)} "
            f"ε is at least {number_text.at_least(evidence.epsilon_lower)} "
            f"(error probability {number_text.at_most(evidence.failure_probability)}, {evidence.data}; "
            f"neighbors: {evidence.adjacency})"
        )

    def plot(self, evidence: PrivacyEvidence, name: str) -> Plot | None:
        """The sandwich."""
        from dpverify.reports.plots import privacy_plot

        return privacy_plot(evidence, name)

    def sees(self, evidence: PrivacyEvidence) -> bool:
        """Whether it flags a weakened mechanism."""
        return evidence.smallest_fault is not None

    def says(self, audits: Sequence[PrivacyEvidence]) -> str:
        """By how much the mechanism had to be weakened, where there are weaker versions of it."""
        untried = sum(not (a.fault or self.sees(a) or a.sees_nothing) for a in audits)
        if untried == len(audits):
            return f"{untried} had no weakened mechanism to notice"
        also = f", and {untried} had no weakened mechanism to notice" if untried else ""
        halved = sum(a.smallest_fault is not None and a.smallest_fault <= 2 for a in audits)
        flagged = sum(map(self.sees, audits))
        return (
            f"{halved} would have noticed half the noise (or twice the exponent), {flagged} a quarter of the noise"
            f"{also}"
        )


RENDERER = PrivacyRenderer()
