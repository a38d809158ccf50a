"""Accountants' numbers."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.ledger.evidence import AccountantEvidence
from dpverify.reports import number_text
from dpverify.reports.renderers.renderer import Renderer


class AccountantRenderer(Renderer):
    """A claimed epsilon beside a two-sided value."""

    kind = "accountant"

    def text(self, evidence: AccountantEvidence) -> str:
        """Claim and interval."""
        smallest = number_text.span(evidence.smallest.lower, evidence.smallest.upper)
        return (
            f"claimed ε = {number_text.nearest(evidence.claimed)} at δ = {number_text.nearest(evidence.delta)}; "
            f"the smallest is {smallest} ({evidence.releases})"
        )

    def facts(self, evidence: AccountantEvidence) -> Sequence[tuple[str, str]]:
        """What was accounted for, and by whom."""
        found = [("Releases", evidence.releases)]
        found += [("Accountant", evidence.accountant)] if evidence.accountant else []
        found += [("Under-reported by", f"{evidence.ulps} floats")] if evidence.ulps else []
        return found


RENDERER = AccountantRenderer()
