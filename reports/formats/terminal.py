"""What a terminal shows of a run: lines of plain text."""

from __future__ import annotations

from dataclasses import dataclass

from dpverify.ledger.document import Ledger
from dpverify.ledger.verdicts import Verdict
from dpverify.views.formula import finding_text, gaps_text, name_of, reason_of
from dpverify.views.run import Summary, audit_text, spending
from dpverify.views.theorems import theorems_text, why


@dataclass(frozen=True)
class SummaryLine:
    """One line for a terminal, with the verdict that it is about, if any, so that it can be colored."""

    text: str
    verdict: Verdict | None = None


def summary_lines(ledger: Ledger) -> tuple[SummaryLine, ...]:
    """What a run found, as lines of plain text."""
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
        lines += [
            SummaryLine(finding_text(finding), finding.formula.verdict)
            for each in found
            for finding in each.findings
        ]
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
    if ledger.theorems:
        lines.append(SummaryLine(theorems_text(ledger.theorems)))
    lines += [
        SummaryLine(f"{theorem.id}: {why(theorem)}", theorem.verdict)
        for theorem in ledger.theorems
        if theorem.verdict is not Verdict.PROVED
    ]
    spent, whole = spending(ledger.budget)
    lines.append(SummaryLine(f"error probability spent: {spent} of {whole}"))
    if ledger.reuse is not None and ledger.reuse.summary():
        lines.append(SummaryLine(f"reused: {ledger.reuse.summary()}"))
    lines.append(SummaryLine(f"reproduce: {ledger.command} (seed {ledger.seed})"))
    return tuple(SummaryLine(" ".join(line.text.split()), line.verdict) for line in lines)
