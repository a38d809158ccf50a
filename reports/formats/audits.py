"""Audits in the forms that other programs read: JSON with a published schema, JUnit XML, SARIF, Markdown.

Each is a function of the evidence alone, and of where its claim stands in the sources.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from dpverify.ledger.audits import AuditEvidence, SampledEvidence
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.verdicts import Qualified, Verdict
from dpverify.reports.formats.interchange import (
    Case,
    SourcePlace,
    junit_document,
    sarif_log,
    sarif_result,
)
from dpverify.reports.formats.markdown_text import code, escaped
from dpverify.reports.ledger_files import without_infinities

AUDIT_SCHEMA_VERSION = 1
"""Of the JSON form of one audit. A field's meaning never changes; new fields come without a new version."""

_RULES = {
    Verdict.VIOLATED: (
        "privacy-claim-violated",
        "A privacy claim is violated, except with the stated probability.",
    ),
    Verdict.UNDECIDED: ("privacy-claim-undecided", "An audit of a privacy claim decided nothing."),
}
AUDIT_RULES = dict(_RULES.values())
"""What the rules of audits say, by their ids."""

Outcome = Literal["", "failure", "error", "skipped"]


# ------------------------------------------------------------------------------------------- one audit


def audit_rows(evidence: PrivacyEvidence) -> tuple[tuple[str, str], ...]:
    """What is shown of an audit of privacy: names and texts."""
    reused = evidence.reuse.says() if evidence.reuse else ""
    return (
        ("verdict", Qualified(evidence.verdict, _qualified(evidence))),
        ("claim", evidence.full_claim),
        ("epsilon at least", f"{evidence.epsilon_lower:.4g} at delta {evidence.delta:g}"),
        ("failure probability", f"{evidence.failure_probability:g}"),
        ("runs", _runs(evidence)),
        *((("outputs", evidence.outputs),) if evidence.outputs else ()),
        ("why", evidence.reason),
        *((("would have found", evidence.detectable),) if evidence.detectable else ()),
        ("reproduce", evidence.reproduce),
        *((("reused", reused),) if reused else ()),
    )


def _runs(evidence: PrivacyEvidence) -> str:
    """How many, and what ended a sequential audit."""
    how = evidence.sequential
    if how is None:
        return f"{evidence.runs}, simulated, on each data set" if evidence.white_box else str(evidence.runs)
    return f"{evidence.runs} of at most {how.most_runs} on each data set, ended by {how.ended_by}"


def _qualified(evidence: PrivacyEvidence) -> str:
    """What is shown beside an audit's verdict: the adjacency, and whether the verdict can be reproduced."""
    again = "; cannot be reproduced from the seed" if evidence.repeats is False else ""
    return f" (adjacency: {evidence.adjacency}{again})"


def audit_json(evidence: PrivacyEvidence) -> dict[str, Any]:
    """The JSON form, which `audit.schema.json` in this package describes; infinities are texts, as in ledgers."""
    found = without_infinities(evidence.model_dump(mode="python"))
    found["profile"] = [
        {"eps": point["epsilon"], **{k: v for k, v in point.items() if k != "epsilon"}}
        for point in found["profile"]
    ]
    tree: dict[str, Any] = json.loads(
        json.dumps({"schema_version": AUDIT_SCHEMA_VERSION, **found}, allow_nan=False)
    )
    return tree


def audit_schema() -> dict[str, Any]:
    """The JSON Schema of `audit_json`, made from the classes of the evidence."""
    schema = PrivacyEvidence.model_json_schema(mode="serialization")
    schema = _with_infinities(schema)
    point = schema["$defs"]["ProfilePoint"]
    point["properties"] = {"eps" if k == "epsilon" else k: v for k, v in point["properties"].items()}
    point["required"] = ["eps" if k == "epsilon" else k for k in point["required"]]
    properties = {"schema_version": {"const": AUDIT_SCHEMA_VERSION}, **schema.pop("properties")}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dpverify:audit:{AUDIT_SCHEMA_VERSION}",
        "title": "An audit of a privacy claim, as dpverify audit prints it",
        "type": "object",
        "additionalProperties": False,
        "required": ["schema_version", *schema["required"]],
        "properties": properties,
        "$defs": schema["$defs"],
    }


def _with_infinities(schema: Any) -> Any:
    """Numbers may be infinite, which JSON says in words."""
    if isinstance(schema, list):
        return [_with_infinities(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "number":
        words = {"enum": ["Infinity", "-Infinity", "NaN"]}
        rest = {k: v for k, v in schema.items() if k not in ("type", "default")}
        return {"anyOf": [{"type": "number"}, words], **rest}
    return {key: _with_infinities(value) for key, value in schema.items()}


# ------------------------------------------------------------------------------------------- several audits


def junit_case(audit: AuditEvidence, outcome: Outcome) -> Case:
    """An audit as a test case."""
    return Case(
        audit.subject,
        audit.title or audit.subject,
        float(getattr(audit, "seconds", 0.0)),
        numbers(audit),
        outcome,
        str(audit.verdict),
        audit.reason,
        "\n".join(audit.lines()),
    )


def junit_xml(audits: Sequence[AuditEvidence], *, suite: str = "dpverify") -> str:
    """A test case for each audit: a failure where it is violated, an error where it is undecided."""
    outcomes: dict[Verdict, Outcome] = {Verdict.VIOLATED: "failure", Verdict.UNDECIDED: "error"}
    return junit_document([junit_case(audit, outcomes.get(audit.verdict, "")) for audit in audits], suite)


def sarif_of(audit: AuditEvidence, place: SourcePlace | None) -> dict[str, Any]:
    """An audit that is violated or undecided, as a result."""
    return sarif_result(
        _RULES[audit.verdict][0],
        "error" if audit.verdict is Verdict.VIOLATED else "none",
        "\n".join(audit.lines()),
        properties=numbers(audit),
        fingerprint={"dpverify/claim/v1": f"{audit.subject}: {audit.title}"},
        place=place,
    )


def sarif(audits: Sequence[tuple[AuditEvidence, SourcePlace | None]]) -> dict[str, Any]:
    """SARIF 2.1.0: an error for each violated claim, an open result for each undecided one, at the line of the claim.

    A claim that is supported has no result, since viewers show each result as something to look at.
    """
    return sarif_log(
        [sarif_of(audit, place) for audit, place in audits if audit.verdict in _RULES], AUDIT_RULES
    )


def audit_markdown(evidence: PrivacyEvidence) -> str:
    """For the description of a pull request or a comment on it."""
    rows = audit_rows(evidence)
    table = [f"| {escaped(name)} | {escaped(text)} |" for name, text in rows if name != "reproduce"]
    again = escaped(evidence.reproduce) if evidence.repeats is False else code(evidence.reproduce)
    return "\n".join(
        [
            f"### Privacy claim of {code(evidence.subject)}: {evidence.verdict}",
            "",
            "| | |",
            "| --- | --- |",
            *table,
            "",
            f"Reproduce: {again}",
            "",
        ]
    )


def numbers(audit: AuditEvidence) -> dict[str, Any]:
    """What a reader of results sorts and filters by."""
    found: dict[str, Any] = {"verdict": str(audit.verdict)}
    for name in ("claim", "epsilon_lower", "epsilon_claimed", "delta", "adjacency", "runs"):
        value = getattr(audit, name, None)
        if value is not None:
            found[name] = value
    if isinstance(audit, SampledEvidence):
        found |= {"failure_probability": audit.failure_probability, "seed": audit.seed}
    if conditions := getattr(audit, "conditions", ()):
        found["conditions"] = "; ".join(conditions)
    return found | ({"reproduce": audit.reproduce} if audit.reproduce else {})
