"""JUnit XML and SARIF: how these are written, whatever they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote
from xml.etree import ElementTree

from dpverify import __version__
from dpverify.reports.ledger_files import without_infinities

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True)
class SourcePlace:
    """A line that a report points to.

    Attributes:
        file: with slashes, from the folder in which the program runs where it is below it.
        line: from 1.
    """

    file: str
    line: int


@dataclass(frozen=True)
class Case:
    """A test case of JUnit.

    Attributes:
        group: what it is about.
        name: of the case.
        seconds: that it took.
        properties: names and values that readers sort and filter by.
        outcome: `failure`, `error` or `skipped`; empty where it passed.
        kind: of the outcome, such as a verdict.
        message: one line.
        text: everything else that is said of it.
    """

    group: str
    name: str
    seconds: float = 0.0
    properties: Mapping[str, Any] = field(default_factory=dict)
    outcome: Literal["", "failure", "error", "skipped"] = ""
    kind: str = ""
    message: str = ""
    text: str = ""


def junit_document(cases: Sequence[Case], suite: str) -> str:
    """A document with one suite."""
    outcomes = [case.outcome for case in cases]
    totals = {
        "tests": str(len(cases)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": str(outcomes.count("skipped")),
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }
    root = ElementTree.Element("testsuites", totals)
    group = ElementTree.SubElement(root, "testsuite", {"name": suite, **totals})
    for case in cases:
        names = {"classname": case.group or suite, "name": case.name, "time": f"{case.seconds:.3f}"}
        element = ElementTree.SubElement(group, "testcase", {k: _plain(v) for k, v in names.items()})
        properties = ElementTree.SubElement(element, "properties")
        for name, value in case.properties.items():
            what = {"name": f"dpverify.{name}", "value": _plain(str(value))}
            ElementTree.SubElement(properties, "property", what)
        if case.outcome:
            said = {"type": case.kind, "message": _plain(case.message)}
            ElementTree.SubElement(element, case.outcome, said).text = _plain(case.text)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def sarif_result(
    rule: str,
    level: Literal["error", "warning", "note", "none"],
    text: str,
    *,
    properties: Mapping[str, Any],
    fingerprint: Mapping[str, str],
    place: SourcePlace | None,
) -> dict[str, Any]:
    """A result of SARIF: a failure, or at level `none` an open question (SARIF 2.1.0, 3.27.9 and 3.27.10)."""
    result: dict[str, Any] = {
        "ruleId": rule,
        "kind": "open" if level == "none" else "fail",
        "level": level,
        "message": {"text": text},
        "properties": without_infinities(dict(properties)),
        "partialFingerprints": dict(fingerprint),
    }
    if place is not None:
        where = {"uri": quote(place.file), "uriBaseId": "%SRCROOT%"}
        if place.file.startswith("/"):
            where = {"uri": f"file://{quote(place.file)}"}
        physical = {"artifactLocation": where, "region": {"startLine": place.line}}
        result["locations"] = [{"physicalLocation": physical}]
    return result


def sarif_log(results: Sequence[dict[str, Any]], rules: Mapping[str, str]) -> dict[str, Any]:
    """A log of one run; `rules` are what each rule says, by its id."""
    described = [{"id": id_, "shortDescription": {"text": text}} for id_, text in rules.items()]
    driver = {
        "name": "dpverify", "version": __version__, "semanticVersion": __version__, "rules": described
    }  # fmt: skip
    return {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": list(results)}],
    }


def _plain(text: str) -> str:
    """Characters that XML allows."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)
