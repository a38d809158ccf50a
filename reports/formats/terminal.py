"""What a terminal shows of a run: lines of plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpverify.ledger.document import Ledger
from dpverify.ledger.verdicts import Verdict
from dpverify.statements.theorems.names import FOLDERS
from dpverify.views.formula import BrokenFormula, finding_text, gaps_text, name_of, reason_of
from dpverify.views.letters.faults import Letter, letters
from dpverify.views.number_text import plural
from dpverify.views.run import Summary, audit_text, spending
from dpverify.views.theorems import theorems_text, why

_SHOWN = 6
"""Of what is undecided, measured, or meant to be refuted, how many lines are shown."""


@dataclass(frozen=True)
class SummaryLine:
    """One line for a terminal, with the verdict that it is about, if any, so that it can be colored."""

    text: str
    verdict: Verdict | None = None


def summary_lines(ledger: Ledger) -> tuple[SummaryLine, ...]:
    """What a run found, as lines of plain text: of each fault that changes a claim, one; of the others, how many.

    Theorems that come with the program to be refuted are counted, too, where they are many.
    """
    summary = Summary(ledger)
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
    for label, found in summary.groups:
        named = ", ".join(
            each.statement + (f" ({', '.join(map(str, each.marks))})" if each.marks else "") for each in found
        )
        lines.append(SummaryLine(f"{label}: {named}"))
    for letter in letters(ledger):
        lines += _of_letter(letter)
    for failed in summary.failed_repairs:
        lines.append(SummaryLine(f"correction does not hold: {finding_text(failed)}", failed.formula.verdict))
    for audit in summary.violated:
        lines.append(SummaryLine(f"{audit.subject}: {audit_text(audit)}", Verdict.VIOLATED))
    for constant in summary.false_constants:
        lines.append(SummaryLine(f"{constant.subject}: {audit_text(constant)}", Verdict.REFUTED))
    if summary.gaps:
        lines.append(SummaryLine(f"undecided: {gaps_text(summary.gaps)}"))
    lines += _some(
        [
            SummaryLine(f"{name_of(entry)}: {reason_of(entry)}", Verdict.UNDECIDED)
            for entry in summary.undecided
        ],
        "undecided",
    )
    lines += _some(
        [SummaryLine(f"measured: {each.subject}: {audit_text(each)}") for each in summary.measurements],
        "measured",
    )
    lines.append(SummaryLine(f"the checker confirmed {summary.confirmed}"))
    if ledger.theorems:
        lines.append(SummaryLine(theorems_text(ledger.theorems)))
    refuted = [theorem for theorem in ledger.theorems if theorem.verdict is Verdict.REFUTED]
    several = sum(theorem.page in FOLDERS for theorem in refuted) > _SHOWN
    lines += [
        SummaryLine(f"{theorem.id}: {why(theorem)}", theorem.verdict)
        for theorem in ledger.theorems
        if theorem.verdict is Verdict.UNDECIDED
        or (theorem.verdict is Verdict.REFUTED and not (several and theorem.page in FOLDERS))
    ]
    spent, whole = spending(ledger.budget)
    lines.append(SummaryLine(f"failure probability spent: {spent} of {whole}"))
    if ledger.reuse is not None and ledger.reuse.summary():
        lines.append(SummaryLine(f"reused: {ledger.reuse.summary()}"))
    lines.append(SummaryLine(f"reproduce: {ledger.command} (seed {ledger.seed})"))
    return tuple(SummaryLine(" ".join(line.text.split()), line.verdict) for line in lines)


def _some(lines: Sequence[SummaryLine], what: str) -> Iterator[SummaryLine]:
    """The first of several lines, and how many more there are."""
    yield from lines[:_SHOWN]
    if len(lines) > _SHOWN:
        yield SummaryLine(f"{what}: {len(lines) - _SHOWN} more, which the report has")


def _of_letter(letter: Letter) -> Iterator[SummaryLine]:
    """A paper's faults, each by its most telling formula, and how many others its letter has."""
    for entry in letter.entries:
        for fault in entry.faults[:1]:
            text = finding_text(BrokenFormula(fault.shown, fault.repairs))
            yield SummaryLine(text, fault.shown.verdict)
    shown = sum(bool(entry.faults) for entry in letter.entries)
    others = len(letter.rows) - shown
    if others:
        paper = f" --paper {letter.paper}" * bool(letter.paper)
        yield SummaryLine(
            f"{letter.paper or 'others'}: {plural(others, 'other printed formula')} false or not following: steps of "
            f"proofs, edge cases, or the same again (dpverify findings LEDGER{paper})"
        )
