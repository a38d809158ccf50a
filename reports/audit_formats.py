"""Audits in the forms that other programs read: JSON with a published schema, JUnit XML, SARIF, Markdown.

Each is a function of the evidence alone, and of where its claim stands in the sources.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from dpverify import __version__
from dpverify.evidence import AuditEvidence, PrivacyEvidence, SampledEvidence, Verdict
from dpverify.reports.ledger_files import without_infinities
from dpverify.reports.markdown_text import code, escaped

AUDIT_SCHEMA_VERSION = 1
"""Of the JSON form of one audit. A field's meaning never changes; new fields come without a new version."""

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    Verdict.VIOLATED: (
        "privacy-claim-violated",
        "A privacy claim is violated, except with the stated probability.",
    ),
    Verdict.UNDECIDED: ("privacy-claim-undecided", "An audit of a privacy claim decided nothing."),
}


@dataclass(frozen=True)
class SourcePlace:
    """A line that a report points to.

    Attributes:
        file: with slashes, from the folder in which the program runs where it is below it.
        line: from 1.
    """

    file: str
    line: int


# ------------------------------------------------------------------------------------------- one audit


def audit_rows(evidence: PrivacyEvidence) -> tuple[tuple[str, str], ...]:
    """What is shown of an audit of privacy: names and texts."""
    reused = evidence.reuse.says() if evidence.reuse else ""
    return (
        ("verdict", evidence.verdict + _qualified(evidence)),
        ("claim", evidence.claim),
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


def junit_xml(audits: Sequence[AuditEvidence], *, suite: str = "dpverify") -> str:
    """A test case for each audit: a failure where it is violated, an error where it is undecided."""
    counted = [audit.verdict for audit in audits]
    violated, undecided = counted.count(Verdict.VIOLATED), counted.count(Verdict.UNDECIDED)
    seconds = [float(getattr(audit, "seconds", 0.0)) for audit in audits]
    numbers = {"tests": len(audits), "failures": violated, "errors": undecided, "skipped": 0}
    totals = {name: str(count) for name, count in numbers.items()} | {"time": f"{sum(seconds):.3f}"}
    root = ElementTree.Element("testsuites", totals)
    group = ElementTree.SubElement(root, "testsuite", {"name": suite, **totals})
    for audit, took in zip(audits, seconds, strict=True):
        names = {
            "classname": audit.subject or suite,
            "name": audit.title or audit.subject,
            "time": f"{took:.3f}",
        }
        case = ElementTree.SubElement(group, "testcase", {k: _plain(v) for k, v in names.items()})
        properties = ElementTree.SubElement(case, "properties")
        for name, value in _numbers(audit).items():
            ElementTree.SubElement(
                properties, "property", {"name": f"dpverify.{name}", "value": _plain(str(value))}
            )
        what = {Verdict.VIOLATED: "failure", Verdict.UNDECIDED: "error"}.get(audit.verdict)
        if what is not None:
            said = {"type": str(audit.verdict), "message": _plain(audit.reason)}
            ElementTree.SubElement(case, what, said).text = _plain("\n".join(audit.lines()))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def sarif(audits: Sequence[tuple[AuditEvidence, SourcePlace | None]]) -> dict[str, Any]:
    """SARIF 2.1.0: an error for each violated claim, an open result for each undecided one, at the line of the claim.

    A claim that is supported has no result, since viewers show each result as something to look at.
    """
    results = []
    for audit, place in audits:
        if audit.verdict not in _RULES:
            continue
        violated = audit.verdict is Verdict.VIOLATED
        result: dict[str, Any] = {
            "ruleId": _RULES[audit.verdict][0],
            "kind": "fail" if violated else "open",
            "level": "error" if violated else "none",
            "message": {"text": "\n".join(audit.lines())},
            "properties": without_infinities(_numbers(audit)),
            "partialFingerprints": {"dpverify/claim/v1": f"{audit.subject}: {audit.title}"},
        }
        if place is not None:
            where = {"uri": quote(place.file), "uriBaseId": "%SRCROOT%"}
            if place.file.startswith("/"):
                where = {"uri": f"file://{quote(place.file)}"}
            physical = {"artifactLocation": where, "region": {"startLine": place.line}}
            result["locations"] = [{"physicalLocation": physical}]
        results.append(result)
    rules = [{"id": id_, "shortDescription": {"text": text}} for id_, text in _RULES.values()]
    driver = {"name": "dpverify", "version": __version__, "semanticVersion": __version__, "rules": rules}
    return {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def audit_markdown(evidence: PrivacyEvidence) -> str:
    """For the description of a pull request or a comment on it."""
    rows = audit_rows(evidence)
    table = [f"| {escaped(name)} | {escaped(text)} |" for name, text in rows if name != "reproduce"]
    again = (
        code(evidence.reproduce) if evidence.reproduce.startswith("dpverify") else escaped(evidence.reproduce)
    )
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


def _numbers(audit: AuditEvidence) -> dict[str, Any]:
    """What a reader of results sorts and filters by."""
    found: dict[str, Any] = {"verdict": str(audit.verdict)}
    for name in ("claim", "epsilon_lower", "epsilon_claimed", "delta", "adjacency", "runs"):
        value = getattr(audit, name, None)
        if value is not None:
            found[name] = value
    if isinstance(audit, SampledEvidence):
        found |= {"failure_probability": audit.failure_probability, "seed": audit.seed}
    return found | ({"reproduce": audit.reproduce} if audit.reproduce else {})


def _plain(text: str) -> str:
    """Characters that XML allows."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)
