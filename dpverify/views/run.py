"""A run: counts, findings, what the audits can detect, and the headline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpverify.ledger.audits import AuditEvidence, ClaimForm, ClaimOrigin
from dpverify.ledger.document import ErrorBudget, Ledger
from dpverify.ledger.entries import ErratumEntry, StatementEntry
from dpverify.ledger.headlines.rows import HOLDS
from dpverify.ledger.headlines.words import Standing, counts
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, Consequence, Coverage, Gap, Variant, Verdict
from dpverify.views import number_text
from dpverify.views.audits import OWN, view_of
from dpverify.views.corrections import FaultyStatement, corrections, gravity, repairs_of
from dpverify.views.formula import BrokenFormula

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


@dataclass(frozen=True)
class Summary:
    """The outcome of a run, from its ledger alone."""

    statements: int
    """Statements in the catalog."""
    checked: int
    """Statements of which at least one formula or audit has an outcome."""
    papers: tuple[str, ...]
    proofs: tuple[ProofEvidence, ...]
    audits: tuple[AuditEvidence, ...]
    counts: tuple[VerdictCount, ...]
    false_statements: Faulty
    """Statements that are false as printed."""
    where_meant: Faulty
    """Statements that are false in edge cases only, which no reader means."""
    unfollowed: Faulty
    """Statements that do not follow from what is declared."""
    false_parts: Faulty
    """Statements that stand, or were not checked as a whole, but of which a part is false as printed: a step of the
    proof, a condition, a unit."""
    unfollowed_parts: Faulty
    """The same where no part is false, but one does not follow."""
    findings: tuple[BrokenFormula, ...]
    """Printed formulas that are false or do not follow."""
    failed_repairs: tuple[BrokenFormula, ...]
    """Corrected formulas that are false too."""
    violated: tuple[AuditEvidence, ...]
    false_constants: tuple[AuditEvidence, ...]
    """Printed constants beyond which the formula was shown to fail; the paper's doing, not an implementation's."""
    undecided: tuple[ProofEvidence | AuditEvidence, ...]
    errata: tuple[tuple[StatementEntry, ErratumEntry], ...]
    """Errata that a test or an audit computes, with their statements, worst consequence first."""
    measurements: tuple[AuditEvidence, ...]
    """Audits without a claim to compare with: they have a number and no verdict."""
    powers: tuple[Power, ...]
    """What the audits can detect, one entry per kind of audit."""
    gaps: tuple[tuple[Gap, int], ...]
    """How often each of the known reasons left something undecided."""
    sizes: str
    """How large the data were that each kind of audit was run on; empty if ledgers do not say."""
    units: int
    """Formulas whose units were compared."""
    units_agree: int
    confirmed: str
    """How many formulas the checker confirmed, and of how many it confirmed the units."""
    unconfirmed: tuple[ProofEvidence, ...]
    """Proofs with a verdict that the checker did not confirm."""
    headline: str

    @property
    def groups(self) -> tuple[tuple[str, Faulty], ...]:
        """What is false in print or does not follow, under headings."""
        found = (
            ("Statements that are false as printed", self.false_statements),
            ("Statements that do not follow from what is declared", self.unfollowed),
            ("Statements that hold where they are meant", self.where_meant),
            ("Statements with a formula that is false in a proof, a condition or a unit", self.false_parts),
            ("Statements with a step or a condition that does not follow", self.unfollowed_parts),
        )
        return tuple(group for group in found if group[1])


def summarize(ledger: Ledger) -> Summary:
    """Count and sort a ledger's entries."""
    proofs = tuple(entry for entry in ledger.entries if isinstance(entry, ProofEvidence))
    audits = tuple(entry for entry in ledger.entries if not isinstance(entry, ProofEvidence))
    broken = [proof for proof in proofs if proof.verdict in BROKEN]
    findings = tuple(
        BrokenFormula(proof, repairs_of(proof, proofs))
        for proof in sorted(broken, key=lambda proof: gravity(proof.consequence))
        if proof.variant is Variant.PRINTED
    )
    names = {proof.statement for proof in proofs} | {audit.subject for audit in audits}
    # a row may carry a verdict from an earlier run
    names |= {row.id for row in ledger.statements if row.has_outcome}
    catalog = {row.id for row in ledger.statements}
    violated = tuple(audit for audit in audits if audit.verdict is Verdict.VIOLATED)
    false_constants = tuple(audit for audit in audits if audit.verdict is Verdict.REFUTED)
    corrected = corrections(ledger).values()
    apart = (Standing.REFUTED, Standing.WHERE_MEANT, Standing.DOES_NOT_FOLLOW)
    false_statements, meant, unfollowed = (
        tuple(found for found in corrected if found.standing is standing) for standing in apart
    )
    parts = [found for found in corrected if found.standing not in apart]
    false_parts, unfollowed_parts = (
        tuple(found for found in parts if found.unfollowed is which) for which in (False, True)
    )
    checked = len(names & catalog) if catalog else len(names)
    measurements = tuple(audit for audit in audits if is_measurement(audit))
    judged = tuple(audit for audit in audits if not is_measurement(audit))
    entries: tuple[ProofEvidence | AuditEvidence, ...] = (*proofs, *judged)
    undecided = tuple(entry for entry in entries if entry.verdict is Verdict.UNDECIDED)
    reasons = [entry.gap for entry in undecided]
    units = [proof for proof in proofs if proof.coverage is Coverage.UNIT]
    powers = _powers(judged)
    constants = [f"{plural(len(false_constants), 'printed constant')} refuted."] if false_constants else []
    headline = (
        _scope_text(checked, len(catalog), proofs, len(judged), len(measurements)),
        _false_text(false_statements, meant, unfollowed, false_parts, unfollowed_parts),
        *constants,
        *_violated_text(violated, judged),
        *(f"{power.text}." for power in powers if power.leads),
        *shown_text(ledger.statements),
    )
    errata = [(row, erratum) for row in ledger.statements for erratum in row.errata]
    return Summary(
        statements=len(catalog),
        checked=checked,
        papers=tuple(dict.fromkeys(row.paper for row in ledger.statements)),
        proofs=proofs,
        audits=audits,
        counts=tuple(_count(verdict, proofs, judged) for verdict in Verdict),
        false_statements=false_statements,
        where_meant=meant,
        unfollowed=unfollowed,
        false_parts=false_parts,
        unfollowed_parts=unfollowed_parts,
        findings=findings,
        failed_repairs=tuple(BrokenFormula(proof) for proof in broken if proof.variant is Variant.CORRECTED),
        violated=violated,
        false_constants=false_constants,
        undecided=undecided,
        errata=tuple(sorted(errata, key=lambda found: gravity(found[1].consequence))),
        gaps=tuple((gap, reasons.count(gap)) for gap in Gap if gap in reasons),
        measurements=measurements,
        powers=powers,
        sizes=sizes_text(ledger.profile, audits),
        units=len(units),
        units_agree=sum(map(units_agree, units)),
        confirmed=_confirmed_text(proofs),
        unconfirmed=tuple(
            p for p in proofs if p.verdict is not Verdict.UNDECIDED and not p.confirmed_by_checker
        ),
        headline=" ".join(headline),
    )


def is_measurement(audit: AuditEvidence) -> bool:
    """Whether an audit has nothing to compare with, so that it is a number without a verdict."""
    return view_of(audit).is_measurement(audit)


def spending(budget: ErrorBudget) -> tuple[str, str]:
    """What was spent of the error probability, and the whole, both rounded up.

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
    grouped: dict[str, list[AuditEvidence]] = {}
    for audit in judged:
        grouped.setdefault(view_of(audit).noun, []).append(audit)
    grouped.pop("", None)
    order = [*OWN, *(audit.kind for audit in judged)]
    return tuple(map(_power, sorted(grouped.values(), key=lambda of: min(order.index(a.kind) for a in of))))


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
    return " and ".join(
        f"{sum(proof.confirmed_by_checker for proof in some):,} of {plural(len(some), noun)}"
        for some, noun in zip(_apart(proofs), ("formula", "unit check"), strict=True)
        if some or noun == "formula"
    )


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
    rows = tuple(statements)
    found = counts(row.printed.standing for row in rows)
    if not found:
        return []
    said = ", ".join(standing.of(number) for standing, number in found.items())
    total = sum(found.values())
    return [f"As printed, of {plural(total, 'statement')} with formulas: {said}.", *roots_text(rows)]


def roots_text(statements: Iterable[StatementEntry]) -> list[str]:
    """On what those that hold as printed rest in the end, each counted once; nothing where none holds."""
    roots = [row.roots for row in statements if row.printed.standing in (Standing.HOLDS, Standing.IN_PART)]
    if not roots:
        return []
    unproved = sum(bool(each.unproved) for each in roots)
    literature = sum(bool(each.literature) and not each.unproved for each in roots)
    own = sum(bool(each.own) and not each.literature and not each.unproved for each in roots)
    parts = (
        (len(roots) - unproved - literature - own, "assume", "nothing"),
        (own, "rest", "on statements proved here"),
        (literature, "rest", "on results of the literature"),
        (unproved, "rest", "on a statement that is not proved"),
    )
    said = ", ".join(f"{number} {verb}{'s' * (number == 1)} {what}" for number, verb, what in parts if number)
    on_a_box = sum(bool(each.boxed) for each in roots)
    boxed = f" ({on_a_box} on a box)" if on_a_box else ""
    return [f"Of the {len(roots)} that {'holds' if len(roots) == 1 else 'hold'}{boxed}, {said}."]


def _violated_text(violated: tuple[AuditEvidence, ...], audits: tuple[AuditEvidence, ...]) -> list[str]:
    if violated:
        subjects = len({audit.subject for audit in violated})
        verb = "violates" if subjects == 1 else "violate"
        return [f"{plural(subjects, 'implementation')} {verb} a claim."]
    return ["No audit found a violation."] if audits else []


def plural(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number_text.count(number)} {noun}" + ("" if number == 1 else "s")
