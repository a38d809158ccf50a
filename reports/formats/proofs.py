"""Proofs and whole ledgers in the forms that other programs read: JSON with a schema, JUnit XML, SARIF, Markdown.

A refuted formula of a paper is a finding about the paper; on a page of one's own it is a fault of that page. So each
form is told whether findings fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.document import Ledger
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, Consequence, Coverage, Variant, Verdict
from dpverify.reports.formats.audits import AUDIT_RULES, Outcome, junit_case, sarif_of
from dpverify.reports.formats.interchange import Case, SourcePlace, junit_document, sarif_log, sarif_result
from dpverify.reports.formats.markdown_text import code, escaped
from dpverify.reports.summary import (
    Finding,
    finding_text,
    gaps_text,
    is_measurement,
    name_of,
    reason_of,
    spending,
    summarize,
)

Entry = ProofEvidence | AuditEvidence

PROOFS_SCHEMA_VERSION = 1
"""Of the JSON form of proofs. A field's meaning never changes; new fields come without a new version."""

_MOST = 30
"""Rows of a table in Markdown; a comment on a pull request has at most 65,536 characters."""

_RULES = {
    "formula-does-not-follow": "A formula does not follow from what is declared: letters that stand for expectations "
    "and the like have values that break it, which nothing may attain.",
    "formula-refuted": "A formula is false, by a counterexample in exact or rigorous arithmetic.",
    "correction-refuted": "The correction of a formula is false or does not follow, by a counterexample in exact or "
    "rigorous arithmetic.",
    "formula-undecided": "A formula is neither proved nor refuted.",
    "constant-refuted": "A printed constant is too small.",
    "fault": "A fault in dpverify, and no verdict.",
    **AUDIT_RULES,
}


def proofs_json(proofs: Sequence[ProofEvidence]) -> dict[str, Any]:
    """The JSON form, which `proofs.schema.json` in this package describes."""
    entries = [proof.model_dump(mode="json") for proof in proofs]
    return {"schema_version": PROOFS_SCHEMA_VERSION, "entries": entries}


def proofs_schema() -> dict[str, Any]:
    """The JSON Schema of `proofs_json`, made from the class of the evidence."""
    schema = ProofEvidence.model_json_schema(mode="serialization")
    definitions = schema.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dpverify:proofs:{PROOFS_SCHEMA_VERSION}",
        "title": "Formulas that were proved or refuted, as dpverify prove prints them",
        "type": "object",
        "additionalProperties": False,
        "required": ["schema_version", "entries"],
        "properties": {
            "schema_version": {"const": PROOFS_SCHEMA_VERSION},
            "entries": {"type": "array", "items": {"$ref": "#/$defs/ProofEvidence"}},
        },
        "$defs": {**definitions, "ProofEvidence": schema},
    }


# ------------------------------------------------------------------------------------------- what fails


def outcome_of(entry: Entry, *, findings_fail: bool, undecided: Literal["error", "skipped"]) -> Outcome:
    """What an entry is as a test case; empty where it passes.

    Args:
        entry: of a ledger.
        findings_fail: whether a printed formula or constant that is refuted, or does not follow, is a failure.
        undecided: what no answer is. A measurement has nothing to answer, and passes.
    """
    if isinstance(entry, ProofEvidence) and entry.fault:
        return "error"
    if entry.verdict is Verdict.UNDECIDED:
        return "" if isinstance(entry, AuditEvidence) and is_measurement(entry) else undecided
    if entry.verdict is Verdict.VIOLATED or _is_failed_correction(entry):
        return "failure"
    return "failure" if entry.verdict in BROKEN and findings_fail else ""


def _is_failed_correction(entry: Entry) -> bool:
    return isinstance(entry, ProofEvidence) and entry.variant is Variant.CORRECTED and entry.verdict in BROKEN


def entries_junit(
    entries: Sequence[Entry], *, suite: str, findings_fail: bool, undecided: Literal["error", "skipped"]
) -> str:
    """A test case for each formula and each audit."""
    cases = []
    for entry in entries:
        outcome = outcome_of(entry, findings_fail=findings_fail, undecided=undecided)
        if isinstance(entry, ProofEvidence):
            cases.append(
                Case(
                    entry.statement,
                    f"{entry.obligation} ({_variant(entry)})",
                    entry.seconds,
                    _properties(entry),
                    outcome,
                    str(entry.verdict),
                    _message(entry),
                    entry.fault or _message(entry),
                )
            )
        else:
            cases.append(junit_case(entry, outcome))
    return junit_document(cases, suite)


def entries_sarif(
    entries: Sequence[tuple[Entry, SourcePlace | None]], *, findings_fail: bool
) -> dict[str, Any]:
    """SARIF 2.1.0: what is refuted, does not follow, is violated or undecided, each at its place.

    What is no failure is a note, and of one's own formulas a step or a reference that is false is a warning. What is
    proved or supported has no result, since viewers show each result as something to look at.
    """
    results = []
    for entry, place in entries:
        if isinstance(entry, ProofEvidence):
            results += _proof_results(entry, place, findings_fail)
        elif entry.verdict is Verdict.REFUTED:
            results.append(
                sarif_result(
                    "constant-refuted",
                    "error" if findings_fail else "note",
                    f"{name_of(entry)}: {entry.reason}",
                    properties={"verdict": str(entry.verdict)},
                    fingerprint={"dpverify/claim/v1": name_of(entry)},
                    place=place,
                )
            )
        elif entry.verdict in (Verdict.VIOLATED, Verdict.UNDECIDED) and not is_measurement(entry):
            results.append(sarif_of(entry, place))
    return sarif_log(results, _RULES)


def _proof_results(
    proof: ProofEvidence, place: SourcePlace | None, findings_fail: bool
) -> list[dict[str, Any]]:
    level: Literal["error", "warning", "note", "none"]
    if proof.fault:
        rule, level = "fault", "error"
    elif proof.verdict is Verdict.UNDECIDED:
        rule, level = "formula-undecided", "none"
    elif proof.verdict not in BROKEN:
        return []
    elif proof.variant is Variant.CORRECTED:
        rule, level = "correction-refuted", "error"
    else:
        beside = proof.coverage in (Coverage.STEP, Coverage.REFERENCE)
        rule = "formula-refuted" if proof.verdict is Verdict.REFUTED else "formula-does-not-follow"
        level = ("warning" if beside else "error") if findings_fail else "note"
    return [
        sarif_result(
            rule,
            level,
            _message(proof),
            properties=_properties(proof),
            fingerprint={"dpverify/formula/v1": f"{proof.statement}/{proof.obligation}/{proof.variant}"},
            place=place,
        )
    ]


def _variant(proof: ProofEvidence) -> str:
    return "corrected" if proof.variant is Variant.CORRECTED else "printed"


def _message(proof: ProofEvidence) -> str:
    """What is to be said of a formula, in one line."""
    if proof.verdict in BROKEN:
        return finding_text(Finding(proof))
    if proof.verdict is Verdict.UNDECIDED:
        return f"{name_of(proof)}: {reason_of(proof)}"
    return f"{name_of(proof)}: {proof.verdict}"


def _properties(proof: ProofEvidence) -> dict[str, Any]:
    """What a reader of results sorts and filters by."""
    found: dict[str, Any] = {
        "verdict": str(proof.verdict),
        "coverage": str(proof.coverage),
        "prover": proof.prover,
        "confirmed_by_checker": proof.confirmed_by_checker,
        "formula": proof.expression,
        "read": proof.read,
    }
    for name in ("consequence", "mistake", "provenance"):
        if (value := getattr(proof, name)) is not None:
            found[name] = str(value)
    if proof.counterexample:
        found["counterexample"] = ", ".join(f"{k}={v}" for k, v in proof.counterexample.items())
    return found


# ------------------------------------------------------------------------------------------- Markdown


def proofs_markdown(
    proofs: Sequence[ProofEvidence], *, title: str, beside: Sequence[str] = (), command: str
) -> str:
    """For a comment on a pull request: a row for each formula, what is not proved first."""
    order = (*BROKEN, Verdict.UNDECIDED)
    rows = sorted(proofs, key=lambda p: order.index(p.verdict) if p.verdict in order else len(order))
    units = [p for p in rows if p.coverage is Coverage.UNIT and p.verdict not in order]
    shown = [p for p in rows if p not in units]
    lines = [
        f"### {escaped(title)}",
        "",
        "| formula | coverage | verdict | checker | counterexample, or why | what was read |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for proof in shown[:_MOST]:
        point = ", ".join(f"{name} = {value}" for name, value in (proof.counterexample or {}).items())
        why = point or (reason_of(proof) if proof.verdict is Verdict.UNDECIDED else "")
        name = f"{proof.statement}, {proof.obligation} ({_variant(proof)})"
        checked = "confirmed" if proof.confirmed_by_checker else "not confirmed"
        cells = [name, str(proof.coverage), str(proof.verdict), checked, why, proof.read]
        lines.append(f"| {' | '.join(escaped(cell) for cell in cells)} |")
    lines += _left_out(len(shown))
    for line in beside:
        lines += ["", escaped(line)]
    if units:
        lines += ["", f"In {len(units)} more formulas, the units of both sides agree."]
    return "\n".join([*lines, "", f"Reproduce: {code(command)}", ""])


def ledger_markdown(ledger: Ledger) -> str:
    """For a comment on a pull request: the headline, counts, and what fails or is a grave finding."""
    found = summarize(ledger)
    lines = [f"### dpverify: {escaped(found.headline)}", "", "| verdict | printed | corrected | audits |"]
    lines += ["| --- | --- | --- | --- |"]
    lines += [
        f"| {row.verdict} | {row.printed:,} | {row.corrected:,} | {row.audits:,} |"
        for row in found.counts
        if row.printed or row.corrected or row.audits
    ]
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


def _left_out(rows: int) -> list[str]:
    return ["", f"And {rows - _MOST} more."] if rows > _MOST else []
