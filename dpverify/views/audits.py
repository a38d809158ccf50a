"""How audits are put into words: a view for each kind, looked up by kind.

A third party subclasses `AuditView` and calls `register`, or names an instance as an entry point of the group
`dpverify.views`. A kind without a view is shown with what every audit has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points

from dpverify.errors import InvalidArgumentError
from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.evidence import (
    AccountantEvidence,
    BatchesEvidence,
    ComplexityEvidence,
    ConstantEvidence,
    ExpectationEvidence,
    OneRunRecord,
    PrivacyEvidence,
    RateEvidence,
    RiskEvidence,
    SamplingEvidence,
)
from dpverify.ledger.verdicts import Qualified, Verdict
from dpverify.views import number_text
from dpverify.views.audit_view import AuditView, ClaimSource, Part, Strong
from dpverify.views.shown_outputs import output_rows

_NEIGHBORS = {
    "replace-one": "any one record replaced",
    "add-or-remove-one": "any one record added or removed",
    "index": "the record at one given place replaced",
}
"""Adjacencies in words."""


def _source(id_: str) -> tuple[Part, ...]:
    """Where a claim comes from, where that is said."""
    return (ClaimSource(id_),) if id_ else ()


class PrivacyView(AuditView):
    """The bound on epsilon, and the sandwich of profiles."""

    kind = "privacy"
    noun, nouns = "privacy audit", "privacy audits"
    leads = True

    def finding(self, evidence: PrivacyEvidence) -> Sequence[Part]:
        at = f"; at δ = {number_text.nearest(evidence.delta)} ε is at least "
        bound = Strong(number_text.at_least(evidence.epsilon_lower))
        return "claimed ", Strong(evidence.full_claim), *_source(evidence.claim_source), at, bound

    def circumstances(self, evidence: PrivacyEvidence) -> str:
        level = number_text.at_most(evidence.failure_probability)
        return f"failure probability {level}, {evidence.data}; neighbors: {evidence.adjacency}"

    def facts(self, evidence: PrivacyEvidence) -> Sequence[tuple[str, str]]:
        neighbors = _NEIGHBORS.get(evidence.adjacency, evidence.adjacency)
        found = [("Data", evidence.data), ("Neighbors", neighbors)]
        if (one := evidence.one_run) is not None:
            found.append(("Canaries", one_run_text(one)))
            found.append(("μ at least", number_text.at_least(one.mu_lower)))
            best = [number_text.at_least(bound) for bound in (one.best_mu_lower, one.best_epsilon_lower)]
            would = f"μ at least {best[0]}, ε at least {best[1]}"
            found += [("Best possible scores, if the claim is tight", would), ("Assumed", one.assumed)]
        if evidence.shown is not None:
            found += [(name.capitalize(), text) for name, text in output_rows(evidence.shown)]
        if share := _share_seen(evidence):
            found.append(("Share of the claim seen", share))
        if evidence.smallest_fault is not None:
            flagged = f"{evidence.fault} {number_text.nearest(evidence.smallest_fault)}"
            found.append(("Would have flagged", flagged))
        elif evidence.fault:
            found.append(("Would have flagged", f"none of the faults tried ({evidence.fault} a factor)"))
        if evidence.detectable:
            size = f"it would have found a {evidence.detectable} (with probability one half)"
            found.append(("On the best possible pair", size))
        return found

    def rows(self, evidence: PrivacyEvidence) -> tuple[tuple[str, str], ...]:
        return privacy_rows(evidence)

    def detects(self, evidence: PrivacyEvidence) -> bool:
        """Whether it flags a weakened mechanism."""
        return evidence.smallest_fault is not None

    def summary(self, audits: Sequence[PrivacyEvidence]) -> str:
        """By how much the mechanism had to be weakened, where there are weaker versions of it."""
        untried = sum(not (a.fault or self.detects(a) or a.detects_nothing) for a in audits)
        if untried == len(audits):
            return f"{untried} had no weakened mechanism to notice"
        also = f", and {untried} had no weakened mechanism to notice" if untried else ""
        halved = sum(a.smallest_fault is not None and a.smallest_fault <= 2 for a in audits)
        flagged = sum(map(self.detects, audits))
        return (
            f"{halved} would have noticed half the noise (or twice the exponent), {flagged} a quarter of the noise"
            f"{also}"
        )


def one_run_text(one: OneRunRecord) -> str:
    """The canaries of a training run, and which guesses about them count."""
    held = f" and {one.held_out} more that chose it" if one.held_out else ""
    sides = "members and others" if one.sides == 2 else "members alone"
    which = "" if one.larger_scores else ", members by smaller scores"
    correct = f"{one.correct} of {one.guesses} guesses ({sides}{which}) correct"
    return f"{one.canaries} canaries ({one.members} of them members){held}; by {one.statistic}, {correct}"


def _bound_text(evidence: PrivacyEvidence) -> str:
    """The lower bound on epsilon, beside what the claim allows and what the pair has, where that is known."""
    claimed, exact = evidence.epsilon_claimed, evidence.epsilon_exact
    beside = (
        ""
        if claimed is None
        else f"; claimed: {'any' if math.isinf(claimed) else number_text.nearest(claimed)}"
    )
    if exact is not None:
        beside += f"; of this pair: {number_text.span(exact.lower, exact.upper)}"
    return f"{number_text.at_least(evidence.epsilon_lower)} at delta {evidence.delta:g}{beside}"


def _mu_text(one: OneRunRecord) -> str:
    """The lower bound on mu, beside what the best possible scores show."""
    best = number_text.at_least(one.best_mu_lower)
    return (
        f"{number_text.at_least(one.mu_lower)}; with the best possible scores, if the claim is tight: {best}"
    )


def _share_seen(evidence: PrivacyEvidence) -> str:
    """Of a supported claim, how much of its epsilon the audit has seen, rounded down."""
    claimed, seen = evidence.epsilon_claimed, evidence.epsilon_lower
    if evidence.verdict is not Verdict.SUPPORTED or claimed is None or not 0 < claimed < math.inf:
        return ""
    return f"{math.floor(100 * max(seen, 0.0) / claimed)} % of its epsilon at delta {evidence.delta:g}"


def privacy_rows(evidence: PrivacyEvidence) -> tuple[tuple[str, str], ...]:
    """What is shown of an audit of privacy: names and texts."""
    again = "; cannot be reproduced from the seed" if evidence.repeats is False else ""
    runs, how = str(evidence.runs), evidence.sequential
    if how is not None:  # it could stop early
        ended = (
            f"ended by {how.ended_by}" if how.refuted_after is None else f"refuted after {how.refuted_after}"
        )
        runs += f" of at most {how.most_runs} on each data set, {ended}"
    elif evidence.white_box:
        done = "compared with the stated law" if evidence.stated_law else "simulated"
        runs += f", {done}, on each data set"
    one = evidence.one_run
    if one is not None:
        runs = f"1, with {one_run_text(one)}"
    rows = (
        ("verdict", Qualified(evidence.verdict, f" (adjacency: {evidence.adjacency}{again})")),
        ("claim", evidence.full_claim),
        ("epsilon at least", _bound_text(evidence)),
        ("mu at least", "" if one is None else _mu_text(one)),
        ("failure probability", f"{evidence.failure_probability:g}"),
        ("runs", runs),
        ("outputs", evidence.outputs),
        ("why", evidence.reason),
        ("share of the claim seen", _share_seen(evidence)),
        ("would have found", evidence.detectable),
        *(output_rows(evidence.shown) if evidence.shown is not None else ()),
        ("reproduce", evidence.reproduce),
        ("reused", evidence.reuse.summary() if evidence.reuse else ""),
    )
    optional = ("outputs", "share of the claim seen", "would have found", "reused", "mu at least")
    return tuple(row for row in rows if row[1] or row[0] not in optional)


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

    noun, nouns = "audit of an expectation", "audits of an expectation"

    def finding(self, evidence: ExpectationEvidence) -> Sequence[Part]:
        measured = Strong(number_text.span(evidence.measured.lower, evidence.measured.upper))
        bound: tuple[Part, ...] = ("no bound is stated for it",)
        if math.isfinite(evidence.bound):
            stated = Strong(number_text.nearest(evidence.bound))
            bound = (self.before_bound(evidence), stated, *_source(evidence.claim_source))
        said = vacuous_text(evidence)
        return f"{evidence.quantity} lies in ", measured, ", ", *bound, f", {said}" if said else ""

    def circumstances(self, evidence: ExpectationEvidence) -> str:
        return evidence.data

    def before_bound(self, evidence: ExpectationEvidence) -> str:
        """What stands before a bound."""
        return "the bound is "

    def is_measurement(self, evidence: ExpectationEvidence) -> bool:
        """Where no bound is stated."""
        return evidence.verdict is Verdict.UNDECIDED and not math.isfinite(evidence.bound)

    def summary(self, audits: Sequence[ExpectationEvidence]) -> str:
        """How many bounds could have been found to be broken."""
        return f"{sum(map(self.detects, audits))} could have found a broken bound"

    def facts(self, evidence: ExpectationEvidence) -> Sequence[tuple[str, str]]:
        found = [("Claimed", evidence.claim)] if evidence.claim else []
        found.append(("Data", evidence.data))
        if isinstance(evidence, RiskEvidence):
            least, rigorous = evidence.minimum, " (rigorous)" if evidence.minimum.rigorous else ""
            found.append(("Empirical minimum", f"{number_text.span(least.lower, least.upper)}{rigorous}"))
        if (end := evidence.extreme) is not None:
            low = evidence.from_below
            worst = f"{number_text.span(end.lower, end.upper)} (exhibited and certified)"
            if end.lower == end.upper:  # nothing is beyond it
                worst = f"at {'least' if low else 'most'} "
                worst += number_text.at_least(end.lower) if low else number_text.at_most(end.upper)
            found.append(("Smallest possible" if low else "Largest possible", worst))
        if evidence.detectable is not None and not self.is_measurement(evidence):
            size = number_text.nearest(evidence.detectable)
            found.append(("Would have found", f"an expectation of {size} (with probability about one half)"))
        return found


class RiskView(ExpectationView):
    """An excess risk."""

    kind = "risk"


class MeanView(ExpectationView):
    """An expectation that is no excess risk, bounded from above or from below."""

    kind = "mean"

    def before_bound(self, evidence: ExpectationEvidence) -> str:
        return f"claimed: at {'least' if evidence.from_below else 'most'} "


class SamplingView(AuditView):
    """A distance between a sampler's law and the correct one."""

    kind = "sampling"
    noun, nouns = "audit of a law", "audits of a law"

    def finding(self, evidence: SamplingEvidence) -> Sequence[Part]:
        measured = Strong(number_text.span(evidence.measured.lower, evidence.measured.upper))
        away = f" away from the correct one in {evidence.measured_distance} distance, claimed: "
        claim = "exact sampling"
        if evidence.bound != 0:
            claim = f"{evidence.distance} distance at most {number_text.nearest(evidence.bound)}"
        source = _source(evidence.claim_source)
        return f"the law of {evidence.statistic} is ", measured, away, Strong(claim), *source

    def circumstances(self, evidence: SamplingEvidence) -> str:
        return evidence.data

    def facts(self, evidence: SamplingEvidence) -> Sequence[tuple[str, str]]:
        found = [("Claimed", evidence.claim), ("Data", evidence.data)]
        if evidence.blind_rejected is not None:
            passes = "is rejected" if evidence.blind_rejected else "also passes"
            found.append(("A sampler that ignores the data", passes))
        return found

    def detects(self, evidence: SamplingEvidence) -> bool:
        """Whether it rejects a blind sampler."""
        return bool(evidence.blind_rejected)

    def summary(self, audits: Sequence[SamplingEvidence]) -> str:
        return f"{sum(map(self.detects, audits))} rejected a sampler that ignores the data"


class BatchesView(AuditView):
    """Recorded batches beside the sampling that is accounted for."""

    kind = "batches"
    noun, nouns = "audit of batches", "audits of batches"

    def finding(self, evidence: BatchesEvidence) -> Sequence[Part]:
        said = evidence.impossible
        if said is None:
            worst = [f"{one.count} of {one.tries}: {one.what}" for one in evidence.findings[:1]]
            said = (
                f"{number_text.count(evidence.counts)} counts tested, {worst[0] if worst else 'none is off'}"
            )
        return "claimed ", Strong(evidence.claim), f"; {said}"

    def circumstances(self, evidence: BatchesEvidence) -> str:
        level = number_text.at_most(evidence.failure_probability)
        return f"failure probability {level}, {number_text.count(evidence.runs)} batches or passes in {evidence.data}"

    def facts(self, evidence: BatchesEvidence) -> Sequence[tuple[str, str]]:
        missed = () if evidence.verdict is Verdict.VIOLATED else evidence.detectable
        counts = ("Counts", number_text.count(evidence.counts))
        return ("Data", evidence.data), counts, *(("Would have found", text) for text in missed)

    def rows(self, evidence: BatchesEvidence) -> tuple[tuple[str, str], ...]:
        verdict, *others = super().rows(evidence)
        return (
            verdict,
            ("claim", evidence.claim),
            ("batches or passes", str(evidence.runs)),
            ("failure probability", f"{evidence.failure_probability:g}"),
            *others,
        )


class RateView(AuditView):
    """A measured exponent beside the claimed one."""

    kind = "rate"

    def finding(self, evidence: RateEvidence) -> Sequence[Part]:
        measured = Strong(number_text.span(evidence.exponent.lower, evidence.exponent.upper))
        claimed = Strong(number_text.nearest(evidence.exponent_claimed))
        return f"exponent in {evidence.over} is ", measured, ", claimed ", claimed


class ComplexityView(AuditView):
    """A count of queries beside the claimed one."""

    kind = "complexity"
    is_tabular = True

    def finding(self, evidence: ComplexityEvidence) -> Sequence[Part]:
        counted, claimed = number_text.count(evidence.counted), number_text.count(evidence.claimed)
        return (f"{counted} {evidence.oracle} queries, claimed {claimed}",)

    def circumstances(self, evidence: ComplexityEvidence) -> str:
        return evidence.data


def provable_text(constant: ConstantEvidence) -> str:
    """The computed constant, rounded to the safe side, and which of the two it is."""
    if constant.smallest is not None:
        return f"smallest provable {number_text.at_most(constant.smallest)}"
    return f"largest safe {number_text.at_least(constant.largest)}" if constant.largest is not None else ""


class ConstantView(AuditView):
    """A printed constant beside the provable one."""

    kind = "constant"
    is_tabular = True

    def finding(self, evidence: ConstantEvidence) -> Sequence[Part]:
        printed = evidence.printed
        stands = "none is printed" if printed is None else f"printed: {number_text.nearest(printed)}"
        return (f"the constant in {evidence.formula}: {provable_text(evidence)}, {stands}",)

    def is_measurement(self, evidence: ConstantEvidence) -> bool:
        """Where none is printed."""
        return evidence.verdict is Verdict.UNDECIDED and evidence.printed is None


class AccountantView(AuditView):
    """An accountant's epsilon beside a two-sided value."""

    kind = "accountant"

    def finding(self, evidence: AccountantEvidence) -> Sequence[Part]:
        smallest = number_text.span(evidence.smallest.lower, evidence.smallest.upper)
        at = f"at δ = {number_text.nearest(evidence.delta)}"
        claimed = Strong(number_text.nearest(evidence.claimed))
        return "claimed ε = ", claimed, f" {at}; the smallest is ", Strong(smallest)

    def circumstances(self, evidence: AccountantEvidence) -> str:
        return evidence.releases

    def facts(self, evidence: AccountantEvidence) -> Sequence[tuple[str, str]]:
        found = [("Releases", evidence.releases)]
        found += [("Accountant", evidence.accountant)] if evidence.accountant else []
        found += [("Under-reported by", f"{evidence.ulps} floats")] if evidence.ulps else []
        return found


# ------------------------------------------------------------------------------------------- kinds and their views

_VIEWS = (
    PrivacyView(), RiskView(), MeanView(), SamplingView(), BatchesView(), RateView(), ComplexityView(),
    ConstantView(), AccountantView(),
)  # fmt: skip
OWN = tuple(view.kind for view in _VIEWS)
"""Kinds of the program, in the order in which a report counts them."""

_PLAIN = AuditView()
_REGISTERED: dict[str, AuditView] = {}


def register(view: AuditView) -> None:
    """Show audits of the view's kind by it.

    Raises:
        InvalidArgumentError: for what is no view, and for a kind that has another one.
    """
    if not isinstance(view, AuditView) or not view.kind:
        raise InvalidArgumentError("view", view, "an AuditView with a kind")
    known = _found().get(view.kind)
    if known is not None and type(known) is not type(view):
        raise InvalidArgumentError("view.kind", view.kind, "a kind that has no view yet")
    _REGISTERED[view.kind] = view


def view_of(evidence: AuditEvidence) -> AuditView:
    """Its kind's, or one that shows what every audit has."""
    return _found().get(evidence.kind, _PLAIN)


def _found() -> dict[str, AuditView]:
    return _installed() | _REGISTERED


@cache
def _installed() -> dict[str, AuditView]:
    found = (*_VIEWS, *(point.load() for point in entry_points(group="dpverify.views")))
    return {view.kind: view for view in found}


__all__ = ["OWN", "AuditView", "register", "view_of"]
