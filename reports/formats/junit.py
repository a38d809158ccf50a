"""JUnit XML: a test case for each result."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from dpverify.views.results import Result


def junit(results: Iterable[Result], suite: str) -> str:
    """A document with one suite; the type of a failure is its verdict."""
    cases = list(results)
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
            said = {"type": case.verdict, "message": _plain(case.message)}
            ElementTree.SubElement(element, case.outcome, said).text = _plain(case.text)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _plain(text: str) -> str:
    """Characters that XML allows."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)
