"""GitHub's Markdown: a run's page, its findings, comments on pull requests. Text of the ledger is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from dpverify.checks import of_kind
from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.document import Ledger
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.headlines.rows import marks
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, Consequence, Coverage, Verdict
from dpverify.ledger.written_numbers import short_sides
from dpverify.views.audits import view_of
from dpverify.views.comparison import Comparison
from dpverify.views.formula import (
    BrokenFormula,
    confirmed_by,
    consequence_text,
    finding_text,
    gaps_text,
    name_of,
    point_text,
    reason_of,
    repair_text,
    shortened,
)
from dpverify.views.letters.faults import Letter, PrintedFault, letters
from dpverify.views.letters.told import (
    LetterPart,
    PieceKind,
    Said,
    attached,
    command,
    entry_parts,
    erratum_said,
    first_page,
    lines,
)
from dpverify.views.results import AuditedClaim
from dpverify.views.roots import roots_of_ledger
from dpverify.views.run import Summary, audit_text, is_measurement, spending
from dpverify.views.shown_outputs import histogram_lines
from dpverify.views.theorems import theorems_text

if TYPE_CHECKING:
    from jinja2 import Environment

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
    return lines + ["| " + " | ".join(escaped(cell) for cell in row) + " |" for row in rows]


def _section(heading: str, lines: Iterable[str]) -> list[str]:
    """What stands below a heading; nothing where that is nothing."""
    found = list(lines)
    return [f"### {heading}", "", *found, ""] if found else []


def _list(items: Iterable[str]) -> list[str]:
    return [f"- {escaped(item)}" for item in items]


def _left_out(rows: int) -> list[str]:
    return ["", f"And {rows - _MOST} more."] if rows > _MOST else []


# ------------------------------------------------------------------------------------------- a run


def render_markdown(ledger: Ledger) -> str:
    """What a run found, in GitHub's Markdown; text of the ledger is escaped."""
    summary = Summary(ledger)
    parts = ["## dpverify", "", escaped(summary.headline), "", *_counts(summary), ""]
    for label, found in summary.groups:
        rows = (_finding(finding) for each in found for finding in each.findings)
        parts += _section(label, _table(_OF_FINDINGS, rows))
    said = [(s.id, s.printed.headline, s.corrected.headline) for s in ledger.statements if s.printed.headline]
    if said:
        table = _table(("statement", "as printed", "corrected"), said)
        parts += _section("What was shown of each statement", table)
    roots = roots_of_ledger(ledger)
    named = (
        f"{root.id} ({root.statements}){f': {root.result.title}' if root.result else ''}"
        for root in roots.results
    )
    lines = [line for text in roots.lines for line in (escaped(text), "")]
    parts += _section("What that rests on", [*lines, *_list(named)])
    failed = (name_of(failed.formula) for failed in summary.failed_repairs)
    parts += _section("Corrections that do not hold", _list(failed))
    parts += _section("What the audits can detect", _list(power.text for power in summary.powers))
    parts += [escaped(f"The {summary.sizes}."), ""] if summary.sizes else []
    if summary.audits:
        table = _table(("subject", "what", "verdict", "found"), map(_audit, summary.audits))
        parts += _section("Audits", table)
    reasons = [escaped(f"Reasons: {gaps_text(summary.gaps)}."), ""] if summary.gaps else []
    undecided = _list(f"{name_of(entry)}: {reason_of(entry)}" for entry in summary.undecided)
    parts += _section("Undecided", [*reasons, *undecided])
    if ledger.theorems:
        cells = [(row.id, str(row.verdict), ", ".join(row.rests_on), row.reason) for row in ledger.theorems]
        table = _table(("id", "verdict", "rests on", "why"), cells)
        parts += _section("Theorems and mechanisms", [escaped(theorems_text(ledger.theorems)), "", *table])
    spent, whole = spending(ledger.budget)
    program = f"{escaped(ledger.program)} {escaped(ledger.program_version)}"
    parts += [
        f"The checker confirmed {summary.confirmed}. Failure probability spent: {spent} of {whole}.",
        "",
        f"Reproduce: {code(ledger.command)} (seed {ledger.seed}, {program}).",
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
        *short_sides(proof.left, proof.right),
        "; ".join(repair_text(finding, repair) for repair in finding.repairs),
    )


def ledger_markdown(ledger: Ledger) -> str:
    """For a comment on a pull request: the headline, counts, and what fails or is a grave finding."""
    found = Summary(ledger)
    lines = [f"### dpverify: {escaped(found.headline)}", "", *_counts(found)]
    failing = [f"{audit.subject}: {audit.reason}" for audit in found.violated]
    failing += [f"a correction does not hold: {finding_text(each)}" for each in found.failed_repairs]
    claims = [c for c in found.false_statements if c.consequence is Consequence.CLAIM]
    for heading, rows in (
        ("Fails", failing),
        ("Claims of the papers that fail", [f"{c.statement}: {c.title}" for c in claims]),
    ):
        if rows:
            lines += ["", f"**{heading}**", "", *_list(rows[:_MOST])]
            lines += _left_out(len(rows))
    if found.gaps:
        lines += ["", escaped(f"Undecided: {gaps_text(found.gaps)}.")]
    if ledger.theorems:
        lines += ["", escaped(theorems_text(ledger.theorems))]
    spent, whole = spending(ledger.budget)
    lines += ["", f"Failure probability spent: {spent} of {whole}. Reproduce: {code(ledger.command)}", ""]
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------- findings


def findings_markdown(ledger: Ledger, named: Mapping[str, str] | None = None, paper: str = "") -> str:
    """The findings as letters in GitHub's Markdown, one for each paper, with formulas between dollar signs.

    Args:
        ledger: what a run of dpverify found.
        named: papers' keys to their titles, which stand above the letters.
        paper: the key of the one whose letter is wanted; of all of them where it is empty.
    """
    of_kind("ledger", ledger, Ledger)
    page = _environment().get_template("letter.md")
    found = [each for each in letters(ledger) if not each.empty and paper in ("", each.paper)]
    made = [page.render(letter=each, named=(named or {}).get(each.paper, "")).rstrip("\n") for each in found]
    return "\n\n".join(made or ["No printed formula was refuted."]) + "\n"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(  # no HTML: what is in it is escaped for Markdown
        loader=PackageLoader("dpverify.reports.formats", ""),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    own = (escaped, code, first_page, entry_parts, erratum_said, command)
    environment.filters.update({function.__name__: function for function in own})
    environment.filters.update(told=_told, said=_said, table=_faults_table)
    return environment


def _said(pieces: Said) -> str:
    """Pieces of sentences, with formulas between dollar signs; displays on lines of their own."""
    text = ""
    for piece in pieces:
        inline = piece.kind is PieceKind.FORMULA and _is_math(piece.text)
        if piece.kind is PieceKind.DISPLAY and _is_math(piece.text):
            text = f"{text.rstrip()}\n\n$$\n{piece.text}\n$$\n\n"
            continue
        shown = (
            f"${piece.text}$"
            if inline
            else escaped(piece.text)
            if piece.kind is PieceKind.WORDS
            else code(piece.text)
        )
        close = text.endswith("\n") or attached(text, piece)
        text += shown if close else f" {shown}"
    return text.strip("\n")


def _told(part: LetterPart) -> str:
    label, said = f"**{escaped(part.label)}:**", _said(part.said)
    return f"{label}\n\n{said}" if said.startswith("$$") else f"{label} {said}"


def _faults_table(faults: Sequence[PrintedFault], letter: Letter) -> str:
    """A row for each fault."""
    rows = ["| where | formula | fails | instead |", "| --- | --- | --- | --- |"]
    for line in lines(faults, letter):
        cells = (
            f"{_with_formulas(line.where)} {code(line.name)}",
            *map(_cell, (line.printed, line.fails, line.instead)),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _cell(pieces: Said) -> str:
    """What stands in a table, where a bar ends a cell."""
    return _said(
        tuple(p._replace(text=without_bars(p.text)) if p.kind is PieceKind.FORMULA else p for p in pieces)
    )


def without_bars(latex: str) -> str:
    """A formula for a table, where a bar ends a cell."""
    return _BAR.sub(_bar, latex)


_BAR = re.compile(r"\\?\|")


def _bar(found: re.Match[str]) -> str:
    return r"\Vert " if found[0] != "|" else r"\vert "


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


# ------------------------------------------------------------------------------------------- formulas, audits, claims


def proofs_markdown(
    proofs: Sequence[ProofEvidence], *, title: str, beside: Sequence[str] = (), command: str
) -> str:
    """For a comment on a pull request: a row for each formula, what is not proved first."""
    order = (*BROKEN, Verdict.UNDECIDED)
    rows = sorted(proofs, key=lambda p: order.index(p.verdict) if p.verdict in order else len(order))
    units = [p for p in rows if p.coverage is Coverage.UNIT and p.verdict not in order]
    shown = [p for p in rows if p not in units]
    head = ("formula", "coverage", "verdict", "confirmed by", "counterexample, or why", "what was read")
    cells = [
        (
            name_of(proof), str(proof.coverage), str(proof.verdict), confirmed_by([proof]),
            point_text(proof.counterexample) or (reason_of(proof) if proof.verdict is Verdict.UNDECIDED else ""),
            proof.read,
        )
        for proof in shown[:_MOST]
    ]  # fmt: skip
    lines = [f"### {escaped(title)}", "", *_table(head, cells), *_left_out(len(shown))]
    for line in beside:
        lines += ["", escaped(line)]
    if units:
        lines += ["", f"In {len(units)} more formulas, the units of both sides agree."]
    return "\n".join([*lines, "", f"Reproduce: {code(command)}", ""])


def audit_markdown(evidence: AuditEvidence) -> str:
    """For the description of a pull request or a comment on it."""
    rows = view_of(evidence).rows(evidence)
    table = [f"| {escaped(name)} | {escaped(text)} |" for name, text in rows if name != "reproduce"]
    privacy = evidence if isinstance(evidence, PrivacyEvidence) else None
    repeats = privacy is None or privacy.repeats is not False
    again = code(evidence.reproduce) if repeats else escaped(evidence.reproduce)
    claim = "Claim about" if privacy is None else "Privacy claim of"
    title = f"### {claim} {code(evidence.subject)}: {evidence.verdict}"
    shown = None if privacy is None else privacy.shown
    picture = [] if shown is None else ["", "```text", *histogram_lines(shown), "```"]
    return "\n".join([title, "", "| | |", "| --- | --- |", *table, *picture, "", f"Reproduce: {again}", ""])


_OUTCOMES = ("violated", "not audited", "undecided", "supported")


def claims_markdown(claims: Sequence[AuditedClaim], *, command: str) -> str:
    """For a comment on a pull request: a row for each claim, what is violated first, and how to run it again."""
    outcomes = [one.outcome for one in claims]
    counts = [f"{outcomes.count(outcome)} {outcome}" for outcome in _OUTCOMES if outcome in outcomes]
    worst_first = sorted(claims, key=lambda one: _OUTCOMES.index(one.outcome))
    rows = [(one.outcome, *one.cells) for one in worst_first]
    table = _table(("verdict", "name", "claim", "epsilon at least", "why"), rows)
    return "\n".join(
        [f"### dpverify: {', '.join(counts)}", "", *table, "", f"Reproduce: {code(command)}", ""]
    )


def comparison_markdown(found: Comparison) -> str:
    """Two ledgers side by side, for a pull request."""
    lines = [f"### dpverify: {found.summary()}", ""]
    if found.changed:
        lines += ["| change | row | before | after |", "| --- | --- | --- | --- |"]
        for row in found.changed:
            change = f"**{row.change}**" if row.change.fails else str(row.change)
            lines.append(f"| {change} | {code(row.row)} | {escaped(row.before)} | {escaped(row.after)} |")
        lines.append("")
    return "\n".join([*lines, *_list((*found.notes, *(found.exact or ())))]).rstrip("\n") + "\n"
