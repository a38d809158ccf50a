"""A short summary in Markdown, for the page of a CI job."""

from __future__ import annotations

from collections.abc import Iterable

from dpverify.ledger.document import Ledger
from dpverify.ledger.headlines.rows import marks
from dpverify.reports.formats.markdown_text import code, escaped
from dpverify.reports.summary import (
    Finding,
    audit_text,
    consequence_text,
    gaps_text,
    is_measurement,
    name_of,
    reason_of,
    repair_text,
    shortened,
    spending,
    summarize,
)


def render_markdown(ledger: Ledger) -> str:
    """What a run found, in GitHub's Markdown; text of the ledger is escaped.

    Examples:
        >>> from types import SimpleNamespace
        >>> from dpverify.auditing import CountAuditor, CountQuestion, ErrorShare, Label
        >>> from dpverify.ledger import Ledger
        >>> from dpverify.reports import render_markdown
        >>> question = CountQuestion(50, claim="n gradients", data="50 records", label=Label("mine.sgd"))
        >>> counted = SimpleNamespace(count=lambda oracle, runs: [51] * runs)
        >>> evidence = CountAuditor().audit(question, counted, ErrorShare.nothing())
        >>> ledger = Ledger(
        ...     program_version="0.1.0", created="2026-01-31T12:00:00Z", command="make audit", seed=0, profile="fast",
        ...     versions={}, statements=(), entries=(evidence,), budget=ErrorShare(1e-6).record(), seconds=1.0,
        ... )
        >>> print(*(line for line in render_markdown(ledger).splitlines() if "mine.sgd" in line))
        | mine.sgd |  | violated | 51 gradient queries, claimed 50 (50 records) |
    """
    summary = summarize(ledger)
    parts = ["## dpverify", "", escaped(summary.headline), ""]
    parts += _table(
        ("verdict", "printed formulas", "corrected formulas", "audits"),
        [
            (str(row.verdict), str(row.printed), str(row.corrected), str(row.audits))
            for row in summary.counts
            if row.printed or row.corrected or row.audits
        ],
    )
    for label, found in (
        ("Statements that are false as printed", summary.false_statements),
        ("Statements that do not follow from what is declared", summary.unfollowed),
        ("Statements that hold where they are meant", summary.where_meant),
        ("False formulas in proofs, conditions and units", summary.false_parts),
        ("Steps and conditions that do not follow", summary.unfollowed_parts),
    ):
        if found:
            parts += [f"### {label}", ""]
            parts += _findings(finding for each in found for finding in each.findings)
    said = [row for row in ledger.statements if row.printed.headline]
    if said:
        parts += ["### What was shown of each statement", ""]
        parts += _table(
            ("statement", "as printed", "corrected"),
            [(row.id, row.printed.headline, row.corrected.headline) for row in said],
        )
    if summary.failed_repairs:
        parts += ["### Corrections that do not hold", ""]
        parts += _list(name_of(failed.formula) for failed in summary.failed_repairs)
    if summary.powers:
        parts += ["### What the audits can detect", ""]
        parts += _list(power.text for power in summary.powers)
    parts += [escaped(f"The {summary.sizes}."), ""] if summary.sizes else []
    if summary.audits:
        parts += ["### Audits", ""]
        parts += _table(
            ("subject", "what", "verdict", "found"),
            [
                (
                    audit.subject,
                    audit.title,
                    "measurement" if is_measurement(audit) else str(audit.verdict),
                    audit_text(audit),
                )
                for audit in summary.audits
            ],
        )
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


def _findings(findings: Iterable[Finding]) -> list[str]:
    return _table(
        (
            "statement",
            "what is false",
            "consequence",
            "where",
            "formula",
            "counterexample",
            "left",
            "right",
            "corrected",
        ),
        [
            (
                finding.formula.statement,
                "; ".join(map(str, marks([finding.formula]))) or "the statement",
                consequence_text(finding.formula),
                finding.formula.where,
                shortened(finding.formula.expression),
                ", ".join(f"{k} = {v}" for k, v in (finding.formula.counterexample or {}).items()),
                finding.formula.left or "",
                finding.formula.right or "",
                "; ".join(repair_text(finding, repair) for repair in finding.repairs),
            )
            for finding in findings
        ],
    )


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(escaped(cell) for cell in row) + " |" for row in rows]
    return [*lines, ""]


def _list(items: Iterable[str]) -> list[str]:
    return [*(f"- {escaped(item)}" for item in items), ""]
