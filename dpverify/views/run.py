"""A run: counts, findings, what the audits can detect, and the headline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dpverify.checks import of_kind
from dpverify.grouping import grouped
from dpverify.ledger.audits import AuditEvidence, ClaimForm, ClaimOrigin
from dpverify.ledger.document import ErrorBudget, Ledger
from dpverify.ledger.entries import StatementEntry
from dpverify.ledger.headlines.words import Standing, counts
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, HOLDS, Consequence, Coverage, Gap, Variant, Verdict
from dpverify.views import number_text
from dpverify.views.audits import OWN, view_of
from dpverify.views.corrections import FaultyStatement, corrections, gravity, repairs_of
from dpverify.views.formula import BrokenFormula
from dpverify.views.number_text import plural
from dpverify.views.roots import roots_view

Faulty = tuple[FaultyStatement, ...]


@dataclass(frozen=True)
class VerdictCount:
    """How often one verdict was reached, by what it is about."""

    verdict: Verdict
    printed: int
    corrected: int
    audits: int


@dataclass(frozen=True)
class Power:
    """How many audits of a kind could have told a correct implementation from a wrong one, and how many see nothing."""

    text: str
    leads: bool
    """Whether it belongs into the headline."""


class Summary:
    """The outcome of a run, from its ledger alone."""

    def __init__(self, ledger: Ledger) -> None:
        of_kind("ledger", ledger, Ledger)
        self.proofs = tuple(entry for entry in ledger.entries if isinstance(entry, ProofEvidence))
        self.audits = tuple(entry for entry in ledger.entries if not isinstance(entry, ProofEvidence))
        catalog = {row.id for row in ledger.statements}
        names = {proof.statement for proof in self.proofs} | {audit.subject for audit in self.audits}
        # a row may carry a verdict from an earlier run
        names |= {row.id for row in ledger.statements if row.has_outcome}
        self.statements = len(catalog)
        self.checked = len(names & catalog) if catalog else len(names)
        """Statements of which at least one formula or audit has an outcome."""
        self.papers = tuple(dict.fromkeys(row.paper for row in ledger.statements))
        self._sort_statements(corrections(ledger).values())
        self._sort_formulas()
        self._sort_audits(ledger.profile)
        self.not_audited = ledger.not_audited
        entries: tuple[ProofEvidence | AuditEvidence, ...] = (*self.proofs, *self._judged)
        self.counts = tuple(_count(verdict, self.proofs, self._judged) for verdict in Verdict)
        self.undecided = tuple(entry for entry in entries if entry.verdict is Verdict.UNDECIDED)
        reasons = [entry.gap for entry in self.undecided]
        self.gaps = tuple((gap, reasons.count(gap)) for gap in Gap if gap in reasons)
        """How often each of the known reasons left something undecided."""
        self.scope = " ".join(self._headline())
        self.headline = " ".join([self.scope, *shown_text(ledger.statements)])

    def _sort_statements(self, found: Iterable[FaultyStatement]) -> None:
        """What is false in print or does not follow: statements themselves, and those of which only a part is so."""
        every = tuple(found)
        self.false_statements, self.where_meant, self.unfollowed = (
            tuple(each for each in every if each.standing is standing) for standing in _APART
        )
        self.false_parts, self.unfollowed_parts = (
            tuple(each for each in every if each.standing not in _APART and each.unfollowed is which)
            for which in (False, True)
        )
        groups = (
            ("Statements that are false as printed", self.false_statements),
            ("Statements that do not follow from what is declared", self.unfollowed),
            ("Statements that hold where they are meant", self.where_meant),
            ("Statements with a formula that is false in a proof, a condition or a unit", self.false_parts),
            ("Statements with a step or a condition that does not follow", self.unfollowed_parts),
        )
        self.groups = tuple(group for group in groups if group[1])

    def _sort_formulas(self) -> None:
        proofs = self.proofs
        broken = [proof for proof in proofs if proof.verdict in BROKEN]
        self.findings = tuple(
            BrokenFormula(proof, repairs_of(proof, proofs))
            for proof in sorted(broken, key=lambda proof: gravity(proof.consequence))
            if proof.variant is Variant.PRINTED
        )
        self.failed_repairs = tuple(BrokenFormula(p) for p in broken if p.variant is Variant.CORRECTED)
        self.units = sum(proof.coverage is Coverage.UNIT for proof in proofs)
        """Formulas whose units were compared."""
        self.units_agree = sum(map(units_agree, proofs))
        self.confirmed = _confirmed_text(proofs)
        decided = (proof for proof in proofs if proof.verdict is not Verdict.UNDECIDED)
        self.unconfirmed = tuple(proof for proof in decided if not proof.confirmed_by_checker)

    def _sort_audits(self, profile: str) -> None:
        self.measurements = tuple(filter(is_measurement, self.audits))
        self._judged = tuple(audit for audit in self.audits if not is_measurement(audit))
        self.violated = tuple(audit for audit in self.audits if audit.verdict is Verdict.VIOLATED)
        self.false_constants = tuple(audit for audit in self.audits if audit.verdict is Verdict.REFUTED)
        """Printed constants beyond which the formula was shown to fail; the paper's doing, not an implementation's."""
        self.powers = _powers(self._judged)
        self.sizes = sizes_text(profile, self.audits)

    def _headline(self) -> Iterator[str]:
        yield _scope_text(
            self.checked, self.statements, self.proofs, len(self._judged), len(self.measurements)
        )
        yield _false_text(
            self.false_statements, self.where_meant, self.unfollowed, self.false_parts, self.unfollowed_parts
        )
        if self.false_constants:
            yield f"{plural(len(self.false_constants), 'printed constant')} refuted."
        if self.violated:
            subjects = len({audit.subject for audit in self.violated})
            yield f"{plural(subjects, 'implementation')} {'violates' if subjects == 1 else 'violate'} a claim."
        elif self._judged:
            yield "No audit found a violation."
        for claim in self.not_audited:
            yield f"{claim.called} against {claim.claim} could not be audited: {claim.error.rstrip('.')}."
        yield from (f"{power.text}." for power in self.powers if power.leads)


_APART = (Standing.REFUTED, Standing.WHERE_MEANT, Standing.DOES_NOT_FOLLOW)


def is_measurement(audit: AuditEvidence) -> bool:
    """Whether an audit has nothing to compare with, so that it is a number without a verdict."""
    return view_of(audit).is_measurement(audit)


def spending(budget: ErrorBudget) -> tuple[str, str]:
    """What was spent of the failure probability, and the whole, both rounded up.

    The shares are floats: their sum may come out above the whole by a rounding error, and is then the whole.
    """
    spent, whole = math.fsum(budget.spent.values()), budget.failure_probability
    spent = whole if math.isclose(spent, whole, rel_tol=1e-9) else spent
    return number_text.at_most(spent), number_text.at_most(whole)


def sizes_text(profile: str, audits: Iterable[AuditEvidence]) -> str:
    """The sizes of the data, by what their audits are called; of a quick run also where real ones are audited."""
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for audit in audits:
        if audit.size is not None:
            view = view_of(audit)
            nouns = (view.noun or "other audit", view.nouns or "other audits")
            found.setdefault(nouns, []).append(audit.size)
    if not found:
        return ""
    parts = [
        f"{_range([n for n, _ in sizes])} records of {_range([d for _, d in sizes])} features in "
        f"{len(sizes)} {nouns[len(sizes) > 1]}"
        for nouns, sizes in found.items()
    ]
    more = "; the full profile adds real sizes" if profile == "quick" else ""
    return f"sizes of the {profile or 'run'} profile: {'; '.join(parts)}{more}"


def _range(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return number_text.count(low) if low == high else f"{number_text.count(low)} to {number_text.count(high)}"


def audit_text(audit: AuditEvidence) -> str:
    """What an audit found, in one sentence."""
    return view_of(audit).text(audit)


def origin_text(origin: ClaimOrigin) -> str:
    """How a claim relates to what its source prints, in words."""
    parts = {
        ClaimForm.AS_PRINTED: [f"as printed: {origin.printed}" if origin.printed else "as printed"],
        ClaimForm.CORRECTED: [f"corrected: {origin.because}", f"printed: {origin.printed}"],
        ClaimForm.UNSTATED: [f"none: {origin.because}"],
        ClaimForm.NOT_COMPARED: ["not compared with the paper"],
    }[origin.form]
    return "; ".join([*parts, *([f"holds for {origin.holds_for}"] if origin.holds_for else [])])


def units_agree(proof: ProofEvidence) -> bool:
    """Whether this says only that the units of both sides agree."""
    return proof.coverage is Coverage.UNIT and proof.verdict in HOLDS


def _powers(judged: Sequence[AuditEvidence]) -> tuple[Power, ...]:
    """What the audits can detect, for the kinds of which that is counted."""
    by_noun = grouped((noun, audit) for audit in judged if (noun := view_of(audit).noun))
    order = [*OWN, *(audit.kind for audit in judged)]
    return tuple(map(_power, sorted(by_noun.values(), key=lambda of: min(order.index(a.kind) for a in of))))


def _power(audits: list[AuditEvidence]) -> Power:
    view = view_of(audits[0])
    blind = sum(view_of(audit).detects_nothing(audit) for audit in audits)
    many = view.noun if len(audits) == 1 else view.nouns
    verb = "sees" if blind == 1 else "see"
    text = f"{number_text.count(len(audits))} {many}, of which {view.summary(audits)}; {blind} {verb} nothing here"
    return Power(text, view.leads)


def _count(
    verdict: Verdict, proofs: Iterable[ProofEvidence], audits: Iterable[AuditEvidence]
) -> VerdictCount:
    said = (proof for proof in proofs if not proof.says_nothing and not units_agree(proof))
    variants = [proof.variant for proof in said if proof.verdict is verdict]
    of_audits = sum(audit.verdict is verdict for audit in audits)
    return VerdictCount(
        verdict, variants.count(Variant.PRINTED), variants.count(Variant.CORRECTED), of_audits
    )


def _scope_text(
    checked: int, total: int, proofs: Sequence[ProofEvidence], audits: int, measurements: int
) -> str:
    scope = f"{checked} of {total} statements and algorithms" if total else plural(checked, "subject")
    formulas, units = _apart(proofs)
    also = f" (of {len(units):,} also the units)" if units else ""
    parts = [plural(len(formulas), "formula") + also, plural(audits, "audit")]
    parts += [plural(measurements, "measurement")] if measurements else []
    return f"Checked {scope}: {', '.join(parts[:-1])} and {parts[-1]}."


def _apart(proofs: Iterable[ProofEvidence]) -> tuple[list[ProofEvidence], list[ProofEvidence]]:
    """Formulas that say something, and comparisons of units, which are another question about the same formulas."""
    said = [proof for proof in proofs if not proof.says_nothing]
    units = [proof for proof in said if proof.coverage is Coverage.UNIT]
    return [proof for proof in said if proof.coverage is not Coverage.UNIT], units


def _confirmed_text(proofs: Iterable[ProofEvidence]) -> str:
    """How many the checker confirmed, and how many of these the kernel of a proof assistant accepts, if asked."""
    return " and ".join(
        f"{sum(proof.confirmed_by_checker for proof in some):,} of {plural(len(some), noun)}{_accepted(some)}"
        for some, noun in zip(_apart(proofs), ("formula", "unit check"), strict=True)
        if some or noun == "formula"
    )


def _accepted(proofs: Iterable[ProofEvidence]) -> str:
    said = [proof.kernel for proof in proofs if proof.kernel is not None]
    names, number = (
        sorted({answer.kernel for answer in said}),
        sum(answer.said == "accepted" for answer in said),
    )
    return f" (the kernel of {' or '.join(names)}: {number:,})" if said else ""


def _false_text(statements: Faulty, meant: Faulty, unfollowed: Faulty, parts: Faulty, open_: Faulty) -> str:
    if not any((statements, meant, unfollowed, parts, open_)):
        return "No printed formula was refuted."
    text = "No statement is false as printed."
    if statements:
        found = [statement.consequence for statement in statements]
        numbers = [f"{found.count(each)}: {each}" for each in Consequence if each in found]
        how = f" ({'; '.join(numbers)})" if numbers else ""
        verb = "is" if len(statements) == 1 else "are"
        text = f"{plural(len(statements), 'statement')} {verb} false as printed{how}."
    for some, one, several in (
        (meant, "holds where it is meant and fails in edge cases", "hold where they are meant and fail in edge cases"),
        (unfollowed, "does not follow from what is declared", "do not follow from what is declared"),
        (parts, *_has("a false formula in the proof, the conditions or the units")),
        (open_, *_has("a step or a condition that does not follow")),
    ):  # fmt: skip
        if some:
            noun = "more statement" if statements else "statement"
            text += f" {plural(len(some), noun)} {one if len(some) == 1 else several}."
    return text


def _has(what: str) -> tuple[str, str]:
    return f"has {what}", f"have {what}"


def shown_text(statements: Iterable[StatementEntry]) -> list[str]:
    """How the statements with formulas stand as printed, and what those that hold rest on."""
    rows = tuple(row for row in statements if row.is_counted)
    found = counts(row.printed.standing for row in rows)
    if not found:
        return []
    said = ", ".join(standing.of(number) for standing, number in found.items())
    total = sum(found.values())
    return [f"As printed, of {plural(total, 'statement')} with formulas: {said}.", *roots_view(rows).lines]
