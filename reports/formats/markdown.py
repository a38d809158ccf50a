"""GitHub's Markdown: a run's page, its findings, comments on pull requests. Text of the ledger is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.document import Ledger
from dpverify.ledger.entries import ErratumEntry, StatementEntry
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.headlines.rows import marks
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, Consequence, Coverage, Verdict
from dpverify.views.audits import privacy_rows
from dpverify.views.comparison import Comparison
from dpverify.views.corrections import FaultyStatement
from dpverify.views.findings import finding_groups, prove_command
from dpverify.views.formula import (
    BrokenFormula,
    Say,
    checked_text,
    consequence_text,
    facts,
    false_words,
    finding_text,
    gaps_text,
    name_of,
    point_text,
    reason_of,
    repair_text,
    shortened,
)
from dpverify.views.results import AuditedClaim
from dpverify.views.run import Summary, audit_text, is_measurement, spending
from dpverify.views.subjects import signs

_MOST = 30
"""Rows of a table in a comment on a pull request, which has at most 65,536 characters."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#+!|~$&@])")


def escaped(text: str) -> str:
    """Text on one line in which nothing is markup, a mention or an address."""
    found = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return found.replace("://", ":&#8203;//")


def code(text: str) -> str:
    """A code span, fenced by more backticks than are in it."""
    line = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(escaped(cell) for cell in row) + " |" for row in rows]
    return [*lines, ""]


def _list(items: Iterable[str]) -> list[str]:
    return [*(f"- {escaped(item)}" for item in items), ""]


def _left_out(rows: int) -> list[str]:
    return ["", f"And {rows - _MOST} more."] if rows > _MOST else []


# ------------------------------------------------------------------------------------------- a run


def render_markdown(ledger: Ledger) -> str:
    """What a run found, in GitHub's Markdown; text of the ledger is escaped."""
    summary = Summary(ledger)
    parts = ["## dpverify", "", escaped(summary.headline), ""]
    parts += _counts(summary)
    for label, found in summary.groups:
        rows = (_finding(finding) for each in found for finding in each.findings)
        parts += [f"### {label}", "", *_table(_OF_FINDINGS, rows)]
    said = [row for row in ledger.statements if row.printed.headline]
    if said:
        rows = ((row.id, row.printed.headline, row.corrected.headline) for row in said)
        parts += ["### What was shown of each statement", ""]
        parts += _table(("statement", "as printed", "corrected"), rows)
    if summary.failed_repairs:
        parts += ["### Corrections that do not hold", ""]
        parts += _list(name_of(failed.formula) for failed in summary.failed_repairs)
    if summary.powers:
        parts += ["### What the audits can detect", ""]
        parts += _list(power.text for power in summary.powers)
    parts += [escaped(f"The {summary.sizes}."), ""] if summary.sizes else []
    if summary.audits:
        parts += [
            "### Audits",
            "",
            *_table(("subject", "what", "verdict", "found"), map(_audit, summary.audits)),
        ]
    if summary.undecided:
        parts += ["### Undecided", ""]
        parts += [escaped(f"Reasons: {gaps_text(summary.gaps)}."), ""] if summary.gaps else []
        parts += _list(f"{name_of(entry)}: {reason_of(entry)}" for entry in summary.undecided)
    spent, whole = spending(ledger.budget)
    parts += [
        f"The checker confirmed {summary.confirmed}. Error probability spent: {spent} of {whole}.",
        "",
        f"Reproduce: {code(ledger.command)} (seed {ledger.seed}, "
        f"{escaped(ledger.program)} {escaped(ledger.program_version)}).",
    ]
    return "\n".join(parts) + "\n"


def _audit(audit: AuditEvidence) -> tuple[str, ...]:
    verdict = "measurement" if is_measurement(audit) else str(audit.verdict)
    return audit.subject, audit.title, verdict, audit_text(audit)


def _counts(summary: Summary) -> list[str]:
    rows = (
        (str(row.verdict), f"{row.printed:,}", f"{row.corrected:,}", f"{row.audits:,}")
        for row in summary.counts
        if row.printed or row.corrected or row.audits
    )
    return _table(("verdict", "printed formulas", "corrected formulas", "audits"), rows)


_OF_FINDINGS = (
    "statement", "what is false", "consequence", "where", "formula", "counterexample", "left", "right", "corrected",
)  # fmt: skip


def _finding(finding: BrokenFormula) -> tuple[str, ...]:
    proof = finding.formula
    return (
        proof.statement,
        "; ".join(map(str, marks([proof]))) or "the statement",
        consequence_text(proof),
        proof.where,
        shortened(proof.expression),
        point_text(proof.counterexample),
        proof.left or "",
        proof.right or "",
        "; ".join(repair_text(finding, repair) for repair in finding.repairs),
    )


def ledger_markdown(ledger: Ledger) -> str:
    """For a comment on a pull request: the headline, counts, and what fails or is a grave finding."""
    found = Summary(ledger)
    lines = [f"### dpverify: {escaped(found.headline)}", "", *_counts(found)[:-1]]
    failing = [f"{audit.subject}: {audit.reason}" for audit in found.violated]
    failing += [f"a correction does not hold: {finding_text(each)}" for each in found.failed_repairs]
    claims = [c for c in found.false_statements if c.consequence is Consequence.CLAIM]
    for heading, rows in (
        ("Fails", failing),
        ("Claims of the papers that fail", [f"{c.statement}: {c.title}" for c in claims]),
    ):
        if rows:
            lines += ["", f"**{heading}**", "", *(f"- {escaped(row)}" for row in rows[:_MOST])]
            lines += _left_out(len(rows))
    if found.gaps:
        lines += ["", escaped(f"Undecided: {gaps_text(found.gaps)}.")]
    spent, whole = spending(ledger.budget)
    lines += ["", f"Error probability spent: {spent} of {whole}. Reproduce: {code(ledger.command)}", ""]
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------- findings


_INTRODUCTION = (
    "Errata in the papers, found by computation: each formula below is broken by values in exact or rigorous "
    "arithmetic. Where it is not printed as it stands, the paper's own line comes first, and the formula is what "
    "follows from it. The gravest come first. Where some reading makes the "
    "printed formula true, that reading is given. The command under each finding computes it again. "
    "A counterexample is chosen to be simple; where letters have sizes in practice, a second one follows at a "
    "realistic size, chosen to be easy to read and to fail by much (docs/concepts/realistic-sizes.md says how). "
    "Neither is a typical case."
)


_TOLD = (Say.MISTAKE, Say.EXCESS, Say.REALISTIC, Say.READING)
"""What is told of each finding, beside its point and its sides."""


def findings_markdown(ledger: Ledger) -> str:
    """The findings as a page in GitHub's Markdown, with formulas between dollar signs; text is escaped."""
    lines = ["# Findings", "", _INTRODUCTION, ""]
    groups = finding_groups(ledger)
    if not groups:
        lines += ["No printed formula was refuted.", ""]
    for group in groups:
        lines += [f"## {group.heading}", "", group.meaning, ""]
        for found in group.statements:
            lines += _statement(found)
        lines += [_erratum(row, erratum) for row, erratum in group.errata]
        lines += [""] if group.errata else []
    return "\n".join(lines)


def _statement(found: FaultyStatement) -> Iterator[str]:
    title = f": {escaped(found.title)}" if found.title else ""
    yield from (f"### {escaped(found.statement)}, {escaped(found.where)}{title}", "")
    for finding in found.findings:
        yield from _as_printed(finding, found.where)
    for reason in found.reasons:
        yield from (f"Why: {escaped(reason)}.", "")
    yield from _corrected(found)
    yield from (f"Computed by {code(prove_command(found))}.", "")


def _as_printed(finding: BrokenFormula, where: str) -> Iterator[str]:
    proof = finding.formula
    if proof.coverage is Coverage.UNIT:
        name = code(proof.units_of or proof.obligation)
        sides = escaped(f"left {proof.left}, right {proof.right}")
        yield from (f"The units of {name} differ: {sides}.", "")
        return
    place = f" ({_with_formulas(proof.where)})" if proof.where and proof.where != where else ""
    yield from (f"As printed{place}, the {proof.coverage} {code(proof.obligation)} {false_words(proof)}:", "")
    yield from _printed_first(proof)
    yield from _formula(proof)
    if proof.scope:
        yield from (f"The case: {escaped(proof.scope)}.", "")
    said = [f"at {point_text(proof.counterexample)}" if proof.counterexample else proof.reason]
    said += [f"the sides are {proof.left} and {proof.right}"] if None not in (proof.left, proof.right) else []
    found = facts(proof)
    sentences = [", ".join(filter(None, said))]
    sentences += [say.before(found[say]) for say in _TOLD if say in found]
    told = [escaped(f"{text[0].upper()}{text[1:]}.") for text in sentences if text]
    if told:
        yield from (" ".join(told), "")


_FROM_IT = {
    Provenance.OURS: "what follows from it, in letters of ours:",
    Provenance.SPECIAL: "a special case of it:",
    Provenance.PIECED: "pieced together from it and the text:",
    Provenance.TORN: "as it was read, since the text lost a sign:",
}


def _printed_first(proof: ProofEvidence) -> Iterator[str]:
    """The paper's own lines, and what the formula below them is."""
    if proof.provenance is None or proof.provenance is Provenance.VERBATIM:
        return
    lines = [line for line in proof.prints if _is_math(line)]
    if not lines:
        yield from (f"({escaped(proof.provenance.says)})", "")
        return
    yield from ("The paper prints", "")
    for line in lines:
        yield from ("$$", line, "$$", "")
    yield from (_FROM_IT[proof.provenance], "")


def _corrected(found: FaultyStatement) -> Iterator[str]:
    shown = {finding.formula.latex for finding in found.findings}
    for repair, narrowed in found.repairs:
        if repair.coverage is Coverage.UNIT:
            continue
        domain = f" for {escaped(signs(narrowed))}" if narrowed else ""
        if repair.latex and repair.latex in shown:
            same = f"the same formula{domain} ({repair.verdict})"
            yield from (f"Corrected, {code(repair.obligation)}: {same}.", "")
            if not domain:
                yield from _meant(repair)
        else:
            yield from (f"Corrected, {code(repair.obligation)}{domain} ({repair.verdict}):", "")
            yield from _formula(repair)
            shown.add(repair.latex)


def _formula(proof: ProofEvidence) -> Iterator[str]:
    if _is_math(proof.latex):
        yield from ("$$", proof.latex, "$$", "")
    else:
        yield from (code(proof.expression), "")
    if proof.written_in_full:
        yield from _meant(proof)
    if proof.assuming:
        yield from (f"given {', '.join(code(signs(text)) for text in proof.assuming)}", "")
    if said := [f"${text}$" for text in proof.notation if _is_math(text)]:
        yield from (f"where {', '.join(said)}", "")


def _meant(proof: ProofEvidence) -> Iterator[str]:
    yield from (f"that is, {code(signs(proof.expression))}", "")


def _with_formulas(text: str) -> str:
    """Text in which formulas may stand between dollar signs."""
    parts = text.split("$")
    if len(parts) % 2 == 0:
        return escaped(text)
    return "".join(
        f"${part}$" if odd % 2 else f"{' ' * part.startswith(' ')}{escaped(part)}{' ' * part.endswith(' ')}"
        for odd, part in enumerate(parts)
    )


def _is_math(text: str) -> bool:
    """Whether it stays between dollar signs, as what this program writes does."""
    return bool(text) and "$" not in text and "\n" not in text


def _erratum(row: StatementEntry, erratum: ErratumEntry) -> str:
    evidence = ", ".join(code(text) for text in erratum.evidence)
    return (
        f"- **{escaped(row.id)}**, {escaped(erratum.where)}: {escaped(erratum.printed)}. "
        f"Corrected: {escaped(erratum.corrected)}. Computed in {evidence}."
    )


# ------------------------------------------------------------------------------------------- formulas, audits, claims


def proofs_markdown(
    proofs: Sequence[ProofEvidence], *, title: str, beside: Sequence[str] = (), command: str
) -> str:
    """For a comment on a pull request: a row for each formula, what is not proved first."""
    order = (*BROKEN, Verdict.UNDECIDED)
    rows = sorted(proofs, key=lambda p: order.index(p.verdict) if p.verdict in order else len(order))
    units = [p for p in rows if p.coverage is Coverage.UNIT and p.verdict not in order]
    shown = [p for p in rows if p not in units]
    head = ("formula", "coverage", "verdict", "checker", "counterexample, or why", "what was read")
    cells = [
        (
            name_of(proof), str(proof.coverage), str(proof.verdict), checked_text(proof),
            point_text(proof.counterexample) or (reason_of(proof) if proof.verdict is Verdict.UNDECIDED else ""),
            proof.read,
        )
        for proof in shown[:_MOST]
    ]  # fmt: skip
    lines = [f"### {escaped(title)}", "", *_table(head, cells)[:-1], *_left_out(len(shown))]
    for line in beside:
        lines += ["", escaped(line)]
    if units:
        lines += ["", f"In {len(units)} more formulas, the units of both sides agree."]
    return "\n".join([*lines, "", f"Reproduce: {code(command)}", ""])


def audit_markdown(evidence: PrivacyEvidence) -> str:
    """For the description of a pull request or a comment on it."""
    rows = privacy_rows(evidence)
    table = [f"| {escaped(name)} | {escaped(text)} |" for name, text in rows if name != "reproduce"]
    again = escaped(evidence.reproduce) if evidence.repeats is False else code(evidence.reproduce)
    title = f"### Privacy claim of {code(evidence.subject)}: {evidence.verdict}"
    return "\n".join([title, "", "| | |", "| --- | --- |", *table, "", f"Reproduce: {again}", ""])


_OUTCOMES = ("violated", "not audited", "undecided", "supported")


def claims_markdown(claims: Sequence[AuditedClaim], *, command: str) -> str:
    """For a comment on a pull request: a row for each claim, what is violated first, and how to run it again."""
    outcomes = [one.outcome for one in claims]
    counts = [f"{outcomes.count(outcome)} {outcome}" for outcome in _OUTCOMES if outcome in outcomes]
    rows = []
    for one in sorted(claims, key=lambda one: _OUTCOMES.index(one.outcome)):
        bound, why = "", one.error
        if one.found is not None:
            bound, why = f"{one.found.epsilon_lower:.4g} at delta {one.found.delta:g}", one.found.reason
        rows.append((one.outcome, one.name, one.claim, bound, why))
    table = _table(("verdict", "name", "claim", "epsilon at least", "why"), rows)
    return "\n".join([f"### dpverify: {', '.join(counts)}", "", *table, f"Reproduce: {code(command)}", ""])


def comparison_markdown(found: Comparison) -> str:
    """Two ledgers side by side, for a pull request."""
    lines = [f"### dpverify: {found.summary()}", ""]
    if found.changed:
        lines += ["| change | row | before | after |", "| --- | --- | --- | --- |"]
        for row in found.changed:
            change = f"**{row.change}**" if row.change.fails else str(row.change)
            lines.append(f"| {change} | {code(row.row)} | {escaped(row.before)} | {escaped(row.after)} |")
        lines.append("")
    return "\n".join([*lines, *(f"- {escaped(note)}" for note in found.notes)]).rstrip("\n") + "\n"
