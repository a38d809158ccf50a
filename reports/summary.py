"""The summary of a ledger: counts, findings, and the lines that a terminal shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpverify.ledger.audits import AuditEvidence, ClaimForm, ClaimOrigin
from dpverify.ledger.document import Budget, Ledger
from dpverify.ledger.entries import ErratumEntry, StatementEntry
from dpverify.ledger.headlines.rows import CLAIMS, Mark, gravest, marks
from dpverify.ledger.headlines.words import Standing, counts
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, Consequence, Coverage, Gap, Variant, Verdict
from dpverify.reports import number_text
from dpverify.reports.renderers import OWN, renderer_of

MEANING = {
    Verdict.PROVED: "exactly, on the whole domain",
    Verdict.CERTIFIED: "by rigorous intervals, on the box shown",
    Verdict.REFUTED: "by a counterexample in exact or rigorous arithmetic",
    Verdict.DOES_NOT_FOLLOW: "letters that stand for expectations and the like have values that break it, which "
    "nothing may attain",
    Verdict.SUPPORTED: "a statistical test found no violation",
    Verdict.VIOLATED: "a statistical test rejects the claim, with the error probability shown",
    Verdict.UNDECIDED: "no answer, with the reason",
}


@dataclass(frozen=True)
class VerdictCount:
    """How often one verdict was reached, by what it is about."""

    verdict: Verdict
    printed: int
    corrected: int
    audits: int


@dataclass(frozen=True)
class Finding:
    """One formula that is false or does not follow, and its corrections."""

    formula: ProofEvidence
    repairs: tuple[ProofEvidence, ...] = ()


@dataclass(frozen=True)
class Correction:
    """A statement with printed formulas that are false or do not follow, their corrections, and why."""

    statement: str
    title: str
    where: str
    findings: tuple[Finding, ...]
    repairs: tuple[tuple[ProofEvidence, str], ...]
    """The corrected formulas of all findings, each once, and where they hold if the correction changed that."""
    reasons: tuple[str, ...]
    marks: tuple[Mark, ...]
    """What else is false besides the statement itself, such as `a step of its proof is false`."""
    consequence: Consequence | None = None
    """The worst of its findings'; None where none is false."""
    standing: Standing | None = None
    """How the statement itself stands."""

    @property
    def unfollowed(self) -> bool:
        """Whether none of it is false: all that was found does not follow from what is declared."""
        return all(each.formula.verdict is Verdict.DOES_NOT_FOLLOW for each in self.findings)


@dataclass(frozen=True)
class Power:
    """How many audits of a kind could have told a correct implementation from a wrong one."""

    noun: str
    audits: int
    seeing: int
    """Those that flag the fault that is tried on them."""
    blind: int
    """Those that see nothing: they are undecided, whatever the implementation does."""
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
    false_statements: tuple[Correction, ...]
    """Statements that are false as printed."""
    where_meant: tuple[Correction, ...]
    """Statements that are false in edge cases only, which no reader means."""
    unfollowed: tuple[Correction, ...]
    """Statements that do not follow from what is declared."""
    false_parts: tuple[Correction, ...]
    """Statements that stand, or were not checked as a whole, but of which a part is false as printed: a step of the
    proof, a condition, a unit."""
    unfollowed_parts: tuple[Correction, ...]
    """The same where no part is false, but one does not follow."""
    findings: tuple[Finding, ...]
    """Printed formulas that are false or do not follow."""
    failed_repairs: tuple[Finding, ...]
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
    """How large the data were that each kind of audit was run on; empty where ledgers do not say."""
    units: int
    """Formulas whose units were compared."""
    units_agree: int
    certificates: int
    confirmed: str
    """How many formulas the checker confirmed, and of how many it confirmed the units."""
    unconfirmed: tuple[ProofEvidence, ...]
    """Proofs with a verdict that the checker did not confirm."""
    headline: str


def summarize(ledger: Ledger) -> Summary:
    """Count and sort a ledger's entries."""
    proofs = tuple(entry for entry in ledger.entries if isinstance(entry, ProofEvidence))
    audits = tuple(entry for entry in ledger.entries if not isinstance(entry, ProofEvidence))
    broken = [proof for proof in proofs if proof.verdict in BROKEN]
    findings = tuple(
        Finding(proof, _repairs(proof, proofs))
        for proof in sorted(broken, key=lambda proof: _gravity(proof.consequence))
        if proof.variant is Variant.PRINTED
    )
    names = {proof.statement for proof in proofs} | {audit.subject for audit in audits}
    names |= {
        row.id
        for row in ledger.statements
        if row.printed.verdict or row.corrected.verdict or row.printed.standing is Standing.WHERE_MEANT
    }  # a row may carry a verdict from an earlier run
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
    decided = [proof for proof in proofs if proof.verdict is not Verdict.UNDECIDED]
    measurements = tuple(audit for audit in audits if is_measurement(audit))
    judged = tuple(audit for audit in audits if not is_measurement(audit))
    entries: tuple[ProofEvidence | AuditEvidence, ...] = (*proofs, *judged)
    undecided = tuple(entry for entry in entries if entry.verdict is Verdict.UNDECIDED)
    reasons = [entry.gap for entry in undecided]
    units = [proof for proof in proofs if proof.coverage is Coverage.UNIT]
    powers = _powers(judged)
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
        failed_repairs=tuple(Finding(proof) for proof in broken if proof.variant is Variant.CORRECTED),
        violated=violated,
        false_constants=false_constants,
        undecided=undecided,
        errata=tuple(
            sorted(
                ((row, erratum) for row in ledger.statements for erratum in row.errata),
                key=lambda found: _gravity(found[1].consequence),
            )
        ),
        gaps=tuple((gap, reasons.count(gap)) for gap in Gap if gap in reasons),
        measurements=measurements,
        powers=powers,
        sizes=sizes_text(ledger.profile, audits),
        units=len(units),
        units_agree=sum(_agree(proof) for proof in units),
        certificates=sum(proof.certificate is not None for proof in decided),
        confirmed=_confirmed_text(proofs),
        unconfirmed=tuple(proof for proof in decided if not proof.confirmed_by_checker),
        headline=" ".join(
            (
                _scope_text(checked, len(catalog), proofs, len(judged), len(measurements)),
                _false_text(false_statements, meant, unfollowed, false_parts, unfollowed_parts),
                *(
                    [f"{_plural(len(false_constants), 'printed constant')} refuted."]
                    if false_constants
                    else []
                ),
                *_violated_text(violated, judged),
                *(f"{power.text}." for power in powers if power.leads),
                *_shown_text(ledger.statements),
            )
        ),
    )


def corrections(ledger: Ledger) -> dict[str, Correction]:
    """Id to correction, for every statement with a printed formula that is false or does not follow, gravest first."""
    proofs = [entry for entry in ledger.entries if isinstance(entry, ProofEvidence)]
    rows = {row.id: row for row in ledger.statements}
    found: dict[str, list[Finding]] = {}
    for proof in proofs:
        if proof.variant is Variant.PRINTED and proof.verdict in BROKEN:
            found.setdefault(proof.statement, []).append(Finding(proof, _repairs(proof, proofs)))
    for findings in found.values():
        findings.sort(key=lambda finding: _gravity(finding.formula.consequence))
    made: dict[str, Correction] = {}
    for name, findings in found.items():
        unique: dict[int, tuple[ProofEvidence, str]] = {}
        for finding in findings:
            for repair in finding.repairs:  # several findings may have it; one of them, its name
                narrowed = where_it_holds(finding, repair) or unique.get(id(repair), (repair, ""))[1]
                unique[id(repair)] = (repair, narrowed)
        made[name] = Correction(
            statement=name,
            title=rows[name].title if name in rows else "",
            where=rows[name].where if name in rows else findings[0].formula.where,
            findings=tuple(findings),
            repairs=tuple(unique.values()),
            reasons=_reasons(repair for repair, _ in unique.values())
            or _reasons(p for p in proofs if p.statement == name and p.variant is Variant.CORRECTED),
            marks=marks(finding.formula for finding in findings),
            consequence=_consequence(rows.get(name), [finding.formula for finding in findings]),
            standing=_standing(rows.get(name), [finding.formula for finding in findings]),
        )
    return dict(sorted(made.items(), key=lambda named: _gravity(named[1].consequence)))


def _reasons(corrected: Iterable[ProofEvidence]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(proof.because for proof in corrected if proof.because))


def _consequence(row: StatementEntry | None, broken: list[ProofEvidence]) -> Consequence | None:
    """What follows from what is false in a statement: by the catalog where it is refuted, else by its formulas."""
    if row is not None and row.printed.consequence is not None:
        return row.printed.consequence
    return _worst(broken)


def _worst(refuted: Iterable[ProofEvidence]) -> Consequence | None:
    """The worst consequence among the wholes and instances if there are any, else among all."""
    found = list(refuted)
    claims = [p.consequence for p in found if p.coverage in CLAIMS and p.verdict is Verdict.REFUTED]
    return gravest(claims or [p.consequence for p in found])


def _standing(row: StatementEntry | None, broken: Iterable[ProofEvidence]) -> Standing | None:
    """How a statement stands: by the catalog, else by its formulas that are false or do not follow."""
    if row is not None and row.printed.standing is not None:
        return row.printed.standing
    verdicts = {proof.verdict for proof in broken if proof.coverage in CLAIMS}
    if row is not None and row.printed.verdict is not None:
        verdicts = {row.printed.verdict}
    if Verdict.REFUTED in verdicts:
        return Standing.REFUTED
    return Standing.DOES_NOT_FOLLOW if Verdict.DOES_NOT_FOLLOW in verdicts else None


def _gravity(consequence: Consequence | None) -> int:
    """Its place in the order of findings; last where none is known."""
    known = list(Consequence)
    return len(known) if consequence is None else known.index(consequence)


def is_measurement(audit: AuditEvidence) -> bool:
    """Whether an audit has nothing to compare with, so that it is a number without a verdict."""
    return renderer_of(audit).is_measurement(audit)


def spending(budget: Budget) -> tuple[str, str]:
    """What was spent of the error probability, and the whole, both rounded up.

    The shares are floats: their sum may come out above the whole by a rounding error, and is then the whole.
    """
    spent, whole = math.fsum(budget.spent.values()), budget.failure_probability
    spent = whole if math.isclose(spent, whole, rel_tol=1e-9) else spent
    return number_text.at_most(spent), number_text.at_most(whole)


@dataclass(frozen=True)
class SummaryLine:
    """One line for a terminal, with the verdict that it is about, if any, so that it can be colored.

    Examples:
        >>> from dpverify.ledger import Verdict
        >>> from dpverify.reports import SummaryLine
        >>> line = SummaryLine("mine.sgd: 51 gradient queries, claimed 50", Verdict.VIOLATED)
        >>> print(line.verdict, line.text, sep=": ")
        violated: mine.sgd: 51 gradient queries, claimed 50
    """

    text: str
    verdict: Verdict | None = None


def summary_lines(ledger: Ledger) -> tuple[SummaryLine, ...]:
    """What a run found, as lines of plain text.

    Examples:
        >>> from types import SimpleNamespace
        >>> from dpverify.auditing import CountAuditor, CountQuestion, ErrorShare, Label
        >>> from dpverify.ledger import Ledger
        >>> from dpverify.reports import summary_lines
        >>> question = CountQuestion(50, claim="n gradients", data="50 records", label=Label("mine.sgd"))
        >>> counted = SimpleNamespace(count=lambda oracle, runs: [51] * runs)
        >>> evidence = CountAuditor().audit(question, counted, ErrorShare.nothing())
        >>> ledger = Ledger(
        ...     program_version="0.1.0", created="2026-01-31T12:00:00Z", command="make audit", seed=0, profile="fast",
        ...     versions={}, statements=(), entries=(evidence,), budget=ErrorShare(1e-6).record(), seconds=1.0,
        ... )
        >>> for line in summary_lines(ledger):
        ...     print(line.text)
        Checked 1 subject: 0 formulas and 1 audit. No printed formula was refuted. 1 implementation violates a claim.
        violated: 0 printed, 0 corrected, 1 audit
        mine.sgd: 51 gradient queries, claimed 50 (50 records)
        the checker confirmed 0 of 0 formulas
        error probability spent: 0 of 1×10⁻⁶
        reproduce: make audit (seed 0)
    """
    summary = summarize(ledger)
    lines = [SummaryLine(summary.headline)]
    for row in summary.counts:
        if row.printed or row.corrected or row.audits:
            audits = f"{row.audits} audit{'s' if row.audits != 1 else ''}"
            counts = f"{row.printed} printed, {row.corrected} corrected, {audits}"
            lines.append(SummaryLine(f"{row.verdict}: {counts}", row.verdict))
    if summary.units:
        lines.append(SummaryLine(f"units agree: {summary.units_agree:,} of {summary.units:,} formulas"))
    lines += [SummaryLine(power.text) for power in summary.powers]
    lines += [SummaryLine(summary.sizes)] if summary.sizes else []
    for label, found in (
        ("false as printed", summary.false_statements),
        ("does not follow from what is declared", summary.unfollowed),
        ("holds where meant", summary.where_meant),
        ("false in a proof, a condition or a unit", summary.false_parts),
        ("not following in a proof or a condition", summary.unfollowed_parts),
    ):
        if found:
            named = ", ".join(
                each.statement + (f" ({', '.join(map(str, each.marks))})" if each.marks else "")
                for each in found
            )
            lines.append(SummaryLine(f"{label}: {named}"))
        for finding in (finding for each in found for finding in each.findings):
            lines.append(SummaryLine(finding_text(finding), finding.formula.verdict))
    for failed in summary.failed_repairs:
        lines.append(SummaryLine(f"correction does not hold: {finding_text(failed)}", failed.formula.verdict))
    for audit in summary.violated:
        lines.append(SummaryLine(f"{audit.subject}: {audit_text(audit)}", Verdict.VIOLATED))
    for constant in summary.false_constants:
        lines.append(SummaryLine(f"{constant.subject}: {audit_text(constant)}", Verdict.REFUTED))
    if summary.gaps:
        lines.append(SummaryLine(f"undecided: {gaps_text(summary.gaps)}"))
    for entry in summary.undecided:
        lines.append(SummaryLine(f"{name_of(entry)}: {reason_of(entry)}", Verdict.UNDECIDED))
    for measured in summary.measurements:
        lines.append(SummaryLine(f"measured: {measured.subject}: {audit_text(measured)}"))
    lines.append(SummaryLine(f"the checker confirmed {summary.confirmed}"))
    spent, whole = spending(ledger.budget)
    lines.append(SummaryLine(f"error probability spent: {spent} of {whole}"))
    if ledger.reuse is not None and ledger.reuse.says():
        lines.append(SummaryLine(f"reused: {ledger.reuse.says()}"))
    lines.append(SummaryLine(f"reproduce: {ledger.command} (seed {ledger.seed})"))
    return tuple(SummaryLine(" ".join(line.text.split()), line.verdict) for line in lines)


def gaps_text(gaps: Iterable[tuple[Gap, int]]) -> str:
    """The reasons why things are undecided, with how often each was met."""
    return ", ".join(f"{gap} ({number_text.count(count)})" for gap, count in gaps)


def consequence_text(proof: ProofEvidence) -> str:
    """What follows from a false formula, what is wrong with it, by how much it fails, a reading that makes it true."""
    parts = [str(proof.consequence)] if proof.consequence else []
    parts += [f"mistake: {proof.mistake}"] if proof.mistake else []
    parts += [f"by how much: {proof.excess.text()}"] if proof.excess else []
    parts += [f"would be true {proof.reading}"] if proof.reading else []
    return "; ".join(parts)


def finding_text(finding: Finding) -> str:
    """A formula that is false or does not follow, its counterexample, what that means and its correction."""
    proof = finding.formula
    text = f"{proof.statement} ({proof.where}), {proof.obligation}: {shortened(proof.expression)} "
    text += "compares different units" if proof.coverage is Coverage.UNIT else false_words(proof)
    if proof.counterexample:
        text += " at " + ", ".join(f"{name} = {value}" for name, value in proof.counterexample.items())
    elif proof.reason and proof.coverage is not Coverage.UNIT:
        text += f" ({proof.reason})"
    if proof.left is not None and proof.right is not None:
        text += f", where the sides are {proof.left} and {proof.right}"
    said = consequence_text(proof)
    text += f"; {said}" if said else ""
    return "; corrected: ".join([text, *(repair_text(finding, repair) for repair in finding.repairs)])


def repair_text(finding: Finding, repair: ProofEvidence) -> str:
    """A corrected formula, where it holds, and its verdict."""
    narrowed = where_it_holds(finding, repair)
    what = "the same" if narrowed and repair.expression == finding.formula.expression else repair.expression
    return f"{shortened(what)}{f' for {narrowed}' if narrowed else ''} ({repair.verdict})"


def false_words(proof: ProofEvidence) -> str:
    """What is said of a formula with a counterexample."""
    if proof.verdict is Verdict.DOES_NOT_FOLLOW:
        return "does not follow from what is declared"
    return "is false"


def where_it_holds(finding: Finding, repair: ProofEvidence) -> str:
    """The conditions and domains of a correction that the printed formula lacks; empty if there are none."""
    return " and ".join(repair.added) if finding.formula.obligation == repair.obligation else ""


def shortened(text: str, length: int = 160) -> str:
    """The text, cut at a space near `length` characters where it is longer."""
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    cut = text.rfind(" ", length // 2, length)
    return text[: cut if cut > 0 else length - 1] + " …"


def sizes_text(profile: str, audits: Iterable[AuditEvidence]) -> str:
    """The sizes of the data, by what their audits are called; of a quick run also where real ones are audited."""
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for audit in audits:
        if audit.size is not None:
            renderer = renderer_of(audit)
            nouns = (renderer.noun or "other audit", renderer.nouns or "other audits")
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
    return renderer_of(audit).text(audit)


def origin_text(origin: ClaimOrigin) -> str:
    """How a claim relates to what its source prints, in words."""
    parts = {
        ClaimForm.AS_PRINTED: [f"as printed: {origin.printed}" if origin.printed else "as printed"],
        ClaimForm.CORRECTED: [f"corrected: {origin.because}", f"printed: {origin.printed}"],
        ClaimForm.UNSTATED: [f"none: {origin.because}"],
        ClaimForm.NOT_COMPARED: ["not compared with the paper"],
    }[origin.form]
    return "; ".join([*parts, *([f"holds for {origin.holds_for}"] if origin.holds_for else [])])


def name_of(entry: ProofEvidence | AuditEvidence) -> str:
    """What an entry is about, for a list."""
    if isinstance(entry, ProofEvidence):
        return f"{entry.statement}, {entry.obligation} ({entry.variant})"
    return f"{entry.subject}, {entry.title}"


def reason_of(entry: ProofEvidence | AuditEvidence) -> str:
    """Why an entry is undecided."""
    return entry.reason or "no reason was recorded"


def _repairs(refuted: ProofEvidence, proofs: Iterable[ProofEvidence]) -> tuple[ProofEvidence, ...]:
    """The corrections of a refuted formula: those with its name, else of the whole statement, else all."""
    corrected = [p for p in proofs if p.statement == refuted.statement and p.variant is Variant.CORRECTED]
    same_name = [proof for proof in corrected if proof.obligation == refuted.obligation]
    whole = [proof for proof in corrected if proof.coverage in (Coverage.WHOLE, Coverage.INSTANCE)]
    return tuple(same_name or whole or corrected)


def _agree(proof: ProofEvidence) -> bool:
    """Whether this says only that the units of both sides agree."""
    return proof.coverage is Coverage.UNIT and proof.verdict in (Verdict.PROVED, Verdict.CERTIFIED)


def _powers(judged: Iterable[AuditEvidence]) -> tuple[Power, ...]:
    """What the audits can detect, for the kinds of which that is counted."""
    grouped: dict[str, list[AuditEvidence]] = {}
    for audit in judged:
        grouped.setdefault(renderer_of(audit).noun, []).append(audit)
    order = {noun: min(_place(audit) for audit in audits) for noun, audits in grouped.items()}
    return tuple(
        _power(noun, grouped[noun]) for noun in sorted(grouped, key=lambda noun: order[noun]) if noun
    )


def _place(audit: AuditEvidence) -> int:
    return OWN.index(audit.kind) if audit.kind in OWN else len(OWN)


def _power(noun: str, audits: list[AuditEvidence]) -> Power:
    renderer = renderer_of(audits[0])
    blind = sum(renderer_of(audit).sees_nothing(audit) for audit in audits)
    many = noun if len(audits) == 1 else renderer.nouns
    verb = "sees" if blind == 1 else "see"
    text = f"{number_text.count(len(audits))} {many}, of which {renderer.says(audits)}; {blind} {verb} nothing here"
    seeing = sum(renderer_of(audit).sees(audit) for audit in audits)
    return Power(noun, len(audits), seeing, blind, text, renderer.leads)


def _count(
    verdict: Verdict, proofs: Iterable[ProofEvidence], audits: Iterable[AuditEvidence]
) -> VerdictCount:
    said = (proof for proof in proofs if not proof.says_nothing and not _agree(proof))
    variants = [proof.variant for proof in said if proof.verdict is verdict]
    return VerdictCount(
        verdict=verdict,
        printed=variants.count(Variant.PRINTED),
        corrected=variants.count(Variant.CORRECTED),
        audits=sum(audit.verdict is verdict for audit in audits),
    )


def _scope_text(
    checked: int, total: int, proofs: Sequence[ProofEvidence], audits: int, measurements: int
) -> str:
    scope = f"{checked} of {total} statements and algorithms" if total else _plural(checked, "subject")
    formulas, units = _apart(proofs)
    also = f" (of {len(units):,} also the units)" if units else ""
    parts = [_plural(len(formulas), "formula") + also, _plural(audits, "audit")]
    parts += [_plural(measurements, "measurement")] if measurements else []
    return f"Checked {scope}: {', '.join(parts[:-1])} and {parts[-1]}."


def _apart(proofs: Iterable[ProofEvidence]) -> tuple[list[ProofEvidence], list[ProofEvidence]]:
    """Formulas that say something, and comparisons of units, which are another question about the same formulas."""
    formulas: list[ProofEvidence] = []
    units: list[ProofEvidence] = []
    for proof in proofs:
        if proof.says_nothing:
            continue
        (units if proof.coverage is Coverage.UNIT else formulas).append(proof)
    return formulas, units


def _confirmed_text(proofs: Iterable[ProofEvidence]) -> str:
    formulas, units = _apart(proofs)
    said = f"{_confirmed(formulas)} of {_plural(len(formulas), 'formula')}"
    return said + (f" and {_confirmed(units)} of {_plural(len(units), 'unit check')}" if units else "")


def _confirmed(proofs: Iterable[ProofEvidence]) -> str:
    return f"{sum(proof.confirmed_by_checker for proof in proofs):,}"


def _false_text(
    statements: tuple[Correction, ...],
    meant: tuple[Correction, ...],
    unfollowed: tuple[Correction, ...],
    parts: tuple[Correction, ...],
    unfollowed_parts: tuple[Correction, ...],
) -> str:
    if not any((statements, meant, unfollowed, parts, unfollowed_parts)):
        return "No printed formula was refuted."
    text = "No statement is false as printed."
    if statements:
        verb = "is" if len(statements) == 1 else "are"
        text = f"{_plural(len(statements), 'statement')} {verb} false as printed{_how(statements)}."
    for found, one, many in (
        (meant, "holds where it is meant and fails in edge cases", "hold where they are meant and fail in edge cases"),
        (unfollowed, "does not follow from what is declared", "do not follow from what is declared"),
        (
            parts,
            "has a false formula in the proof, the conditions or the units",
            "have a false formula in the proof, the conditions or the units",
        ),
        (
            unfollowed_parts,
            "has a step or a condition that does not follow",
            "have a step or a condition that does not follow",
        ),
    ):  # fmt: skip
        if found:
            noun = "more statement" if statements else "statement"
            text += f" {_plural(len(found), noun)} {one if len(found) == 1 else many}."
    return text


def _how(statements: Iterable[Correction]) -> str:
    """How many of them are false with which consequence, where that is known."""
    found = [statement.consequence for statement in statements]
    numbers = [f"{found.count(each)}: {each}" for each in Consequence if each in found]
    return f" ({'; '.join(numbers)})" if numbers else ""


def _shown_text(statements: Iterable[StatementEntry]) -> list[str]:
    """How the statements with formulas stand as printed, and what those that hold rest on."""
    rows = tuple(statements)
    found = counts(row.printed.standing for row in rows)
    if not found:
        return []
    said = ", ".join(standing.of(number) for standing, number in found.items())
    total = sum(found.values())
    return [f"As printed, of {_plural(total, 'statement')} with formulas: {said}.", *roots_text(rows)]


@dataclass(frozen=True)
class RootCounts:
    """On what the statements that hold rest in the end: each is counted once."""

    nothing: int = 0
    own: int = 0
    """On statements that are proved here, and on nothing else."""
    literature: int = 0
    """On named results of the literature too, and on nothing that is not proved."""
    unproved: int = 0
    """On something that is not proved."""
    boxed: int = 0
    """Of all these, those that rest on a formula that is proved on a part of its domain only."""


def root_counts(statements: Iterable[StatementEntry]) -> RootCounts:
    """Count the statements that hold as printed by what they rest on."""
    roots = [row.roots for row in statements if row.printed.standing in (Standing.HOLDS, Standing.IN_PART)]
    unproved = sum(bool(each.unproved) for each in roots)
    literature = sum(bool(each.literature) and not each.unproved for each in roots)
    own = sum(bool(each.own) and not each.literature and not each.unproved for each in roots)
    return RootCounts(
        len(roots) - unproved - literature - own, own, literature, unproved, sum(bool(e.boxed) for e in roots)
    )


def roots_text(statements: Iterable[StatementEntry]) -> list[str]:
    """The same in a sentence; nothing where none holds."""
    found = root_counts(statements)
    total = found.nothing + found.own + found.literature + found.unproved
    if not total:
        return []
    parts = (
        (found.nothing, "assumes nothing", "assume nothing"),
        (found.own, "rests on statements proved here", "rest on statements proved here"),
        (found.literature, "rests on results of the literature", "rest on results of the literature"),
        (found.unproved, "rests on a statement that is not proved", "rest on a statement that is not proved"),
    )
    said = ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in parts if n)
    boxed = f" ({found.boxed} on a box)" if found.boxed else ""
    return [f"Of the {total} that {'holds' if total == 1 else 'hold'}{boxed}, {said}."]


def _violated_text(violated: tuple[AuditEvidence, ...], audits: tuple[AuditEvidence, ...]) -> list[str]:
    if violated:
        subjects = len({audit.subject for audit in violated})
        verb = "violates" if subjects == 1 else "violate"
        return [f"{_plural(subjects, 'implementation')} {verb} a claim."]
    return ["No audit found a violation."] if audits else []


def _plural(number: int, noun: str) -> str:
    return f"{number_text.count(number)} {noun}" + ("" if number == 1 else "s")
