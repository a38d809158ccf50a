"""SARIF 2.1.0, for code scanning: a result for whatever is to be looked at, at its place in the sources."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from dpverify import __version__
from dpverify.reports.ledger_files import without_infinities
from dpverify.views.results import RULES, Result, SourcePlace

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(results: Iterable[Result]) -> dict[str, Any]:
    """A log of one run: what is refuted, does not follow, is violated, undecided or not audited.

    What is proved or supported has no result, since viewers show each result as something to look at.
    """
    shown = [_result(result) for result in results if result.rule]
    rules = [{"id": id_, "shortDescription": {"text": text}} for id_, text in RULES.items()]
    driver = {"name": "dpverify", "version": __version__, "semanticVersion": __version__, "rules": rules}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": shown}]}


def _result(result: Result) -> dict[str, Any]:
    """A failure, or at level `none` an open question (SARIF 2.1.0, 3.27.9 and 3.27.10)."""
    kind, mark = result.mark
    found: dict[str, Any] = {
        "ruleId": result.rule,
        "kind": "open" if result.level == "none" else "fail",
        "level": result.level,
        "message": {"text": result.text if kind == "claim" else result.message},
        "properties": without_infinities(dict(result.properties)),
        "partialFingerprints": {f"dpverify/{kind}/v1": mark},
    }
    if result.place is not None:
        found["locations"] = [{"physicalLocation": _location(result.place)}]
    return found


def _location(place: SourcePlace) -> dict[str, Any]:
    where = {"uri": quote(place.file), "uriBaseId": "%SRCROOT%"}
    if place.file.startswith("/"):
        where = {"uri": f"file://{quote(place.file)}"}
    return {"artifactLocation": where, "region": {"startLine": place.line}}
