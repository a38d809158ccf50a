"""Accountants' numbers."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.ledger.evidence import AccountantEvidence
from dpverify.views import number_text
from dpverify.views.audits.view import AuditView, Part, Strong


class AccountantView(AuditView):
    """A claimed epsilon beside a two-sided value."""

    kind = "accountant"

    def finding(self, evidence: AccountantEvidence) -> Sequence[Part]:
        """Claim and interval."""
        smallest = number_text.span(evidence.smallest.lower, evidence.smallest.upper)
        at = f"at δ = {number_text.nearest(evidence.delta)}"
        claimed = Strong(number_text.nearest(evidence.claimed))
        return "claimed ε = ", claimed, f" {at}; the smallest is ", Strong(smallest)

    def circumstances(self, evidence: AccountantEvidence) -> str:
        """What was accounted for."""
        return evidence.releases

    def facts(self, evidence: AccountantEvidence) -> Sequence[tuple[str, str]]:
        """What was accounted for, and by whom."""
        found = [("Releases", evidence.releases)]
        found += [("Accountant", evidence.accountant)] if evidence.accountant else []
        found += [("Under-reported by", f"{evidence.ulps} floats")] if evidence.ulps else []
        return found


VIEW = AccountantView()
