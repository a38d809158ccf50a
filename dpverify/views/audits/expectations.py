"""What the views of expectations have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpverify.ledger.evidence import ExpectationEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.views import number_text
from dpverify.views.audits.view import AuditView, ClaimSource, Part, Strong


def vacuous_text(evidence: ExpectationEvidence) -> str:
    """That the bound says nothing, or at which points of the curve it does not; empty if neither is certified."""
    if evidence.vacuous and evidence.extreme is not None:
        if evidence.from_below:
            return f"vacuous: nothing below {number_text.at_least(evidence.extreme.lower)} is possible"
        return f"vacuous: nothing above {number_text.at_most(evidence.extreme.upper)} is possible"
    points = zip(evidence.curve, evidence.vacuous_on_curve(), strict=True)
    sizes = [number_text.nearest(x) for (x, *_), empty in points if empty]
    return f"vacuous at {evidence.curve_over} = {', '.join(sizes)}" if sizes else ""


class ExpectationView(AuditView):
    """An interval beside a bound."""

    noun = "audit of an expectation"
    nouns = "audits of an expectation"

    def finding(self, evidence: ExpectationEvidence) -> Sequence[Part]:
        """Interval and bound."""
        measured = Strong(number_text.span(evidence.measured.lower, evidence.measured.upper))
        bound: tuple[Part, ...] = ("no bound is stated for it",)
        if math.isfinite(evidence.bound):
            bound = (self.bound(evidence), Strong(number_text.nearest(evidence.bound)))
            bound += (ClaimSource(evidence.claim_source),) if evidence.claim_source else ()
        said = vacuous_text(evidence)
        return f"{evidence.quantity} lies in ", measured, ", ", *bound, f", {said}" if said else ""

    def circumstances(self, evidence: ExpectationEvidence) -> str:
        """The data."""
        return evidence.data

    def bound(self, evidence: ExpectationEvidence) -> str:
        """What stands before a bound."""
        return "the bound is "

    def is_measurement(self, evidence: ExpectationEvidence) -> bool:
        """Where no bound is stated."""
        return evidence.verdict is Verdict.UNDECIDED and not math.isfinite(evidence.bound)

    def summary(self, audits: Sequence[ExpectationEvidence]) -> str:
        """How many bounds could have been found to be broken."""
        return f"{sum(map(self.detects, audits))} could have found a broken bound"

    def extreme(self, evidence: ExpectationEvidence) -> tuple[str, str]:
        """The worst value that anything could have: an interval around it, or one number that nothing is beyond."""
        end = evidence.extreme
        assert end is not None
        if end.lower == end.upper:
            return "Largest possible", f"at most {number_text.at_most(end.upper)}"
        return "Largest possible", f"{number_text.span(end.lower, end.upper)} (exhibited and certified)"

    def minimum(self, evidence: ExpectationEvidence) -> Sequence[tuple[str, str]]:
        """What was subtracted."""
        return ()

    def facts(self, evidence: ExpectationEvidence) -> Sequence[tuple[str, str]]:
        """How it was audited, and what would have been found."""
        measurement = self.is_measurement(evidence)
        found = [("Claimed", evidence.claim)] if evidence.claim else []
        found += [("Data", evidence.data), *self.minimum(evidence)]
        found += [self.extreme(evidence)] if evidence.extreme else []
        if evidence.detectable is not None and not measurement:
            size = number_text.nearest(evidence.detectable)
            found.append(("Would have found", f"an expectation of {size} (with probability about one half)"))
        return found
