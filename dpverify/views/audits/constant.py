"""Constants made explicit."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.ledger.evidence import ConstantEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.views import number_text
from dpverify.views.audits.view import AuditView, Part


def provable_text(constant: ConstantEvidence) -> str:
    """The computed constant, rounded to the safe side, and which of the two it is."""
    if constant.smallest is not None:
        return f"smallest provable {number_text.at_most(constant.smallest)}"
    return f"largest safe {number_text.at_least(constant.largest)}" if constant.largest is not None else ""


class ConstantView(AuditView):
    """A printed constant beside the provable one, in a table."""

    kind = "constant"
    is_tabular = True

    def finding(self, evidence: ConstantEvidence) -> Sequence[Part]:
        """Both constants."""
        printed = evidence.printed
        stands = "none is printed" if printed is None else f"printed: {number_text.nearest(printed)}"
        return (f"the constant in {evidence.formula}: {provable_text(evidence)}, {stands}",)

    def is_measurement(self, evidence: ConstantEvidence) -> bool:
        """Where none is printed."""
        return evidence.verdict is Verdict.UNDECIDED and evidence.printed is None


VIEW = ConstantView()
