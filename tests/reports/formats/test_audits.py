"""Audits as JSON, JUnit XML, SARIF and Markdown; the published schema describes the JSON, and nothing else."""

from __future__ import annotations

import copy
import json
import math
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dpverify.ledger.evidence import PrivacyEvidence, ProfilePoint, SequentialRecord
from dpverify.ledger.records import SpentShare
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.reports.formats.documents import audit_json
from dpverify.reports.formats.junit import junit
from dpverify.reports.formats.markdown import audit_markdown
from dpverify.reports.formats.sarif import sarif
from dpverify.running import Target
from dpverify.verification.located.user_places import place_of
from dpverify.views.results import SourcePlace, result_of

from ..json_schema import audit_schema, faults

SCHEMA = json.loads((files("dpverify.reports.formats") / "audit.schema.json").read_text(encoding="utf-8"))


def evidence(verdict: Verdict, **more: Any) -> PrivacyEvidence:
    fields: dict[str, Any] = {
        "subject": "mine:release", "title": "mine:release against 1-DP", "verdict": verdict, "reason": "a < b & c > d",
        "reproduce": "dpverify audit mine:release", "runs": 100, "failure_probability": 1e-3, "seed": 0,
        "shares": (SpentShare(path=("all",), failure_probability=1e-3, why="bets"),),
        "data": "data.csv and neighbor.csv",
        "adjacency": "replace-one", "claim": "1-DP", "epsilon_lower": 1.5, "delta": 0.0, "epsilon_claimed": 1.0,
        "profile": (ProfilePoint(epsilon=0.0, delta_lower=0.2, delta_claimed=0.5),),
    }  # fmt: skip
    return PrivacyEvidence(**{**fields, **more})


VIOLATED, SUPPORTED = evidence(Verdict.VIOLATED), evidence(Verdict.SUPPORTED)
UNDECIDED = evidence(
    Verdict.UNDECIDED, gap=Gap.TOO_FEW_RUNS, epsilon_claimed=math.inf,
    sequential=SequentialRecord(most_runs=9, least_runs=None, log_evidence=-math.inf, log_needed=6.9, ended_by="limit"),
)  # fmt: skip
ALL = (VIOLATED, SUPPORTED, UNDECIDED)


def test_the_published_schema_is_that_of_the_classes() -> None:
    """Otherwise write it again: `json.dumps(audit_schema(), indent=1)`."""
    assert audit_schema() == SCHEMA
    assert SCHEMA["$id"] == "urn:dpverify:audit:1"


@pytest.mark.parametrize("audit", ALL, ids=lambda audit: audit.verdict)
def test_json_is_valid_and_fits_the_schema(audit: PrivacyEvidence) -> None:
    tree = json.loads(json.dumps(audit_json(audit, curves=True), allow_nan=False))
    assert faults(tree, SCHEMA, SCHEMA) == []
    assert audit_json(audit) == {**tree, "profile": []}
    assert tree["schema_version"] == 1
    if audit is UNDECIDED:
        assert tree["epsilon_claimed"] == "Infinity"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict",), "fine"),
        (("epsilon_lower",), "1.5"),
        (("schema_version",), 2),
        (("runs",), 1.5),
        (("profile", 0, "eps"), None),
        (("shares", 0, "why"), 3),
        (("unknown",), 1),
    ],
)
def test_the_schema_refuses_what_does_not_fit(path: tuple[Any, ...], value: Any) -> None:
    tree = copy.deepcopy(audit_json(VIOLATED, curves=True))
    place: Any = tree
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert faults(tree, SCHEMA, SCHEMA)
    del place[path[-1]]
    assert faults(tree, SCHEMA, SCHEMA) or path == ("unknown",)


def test_junit_has_a_failure_and_an_error() -> None:
    root = ElementTree.fromstring(junit(map(result_of, ALL), "s").encode())
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "1")
    violated, supported, undecided = root.iter("testcase")
    assert violated.find("failure").get("message") == "a < b & c > d"  # type: ignore[union-attr]
    assert "failure probability 0.001" in str(violated.find("failure").text)  # type: ignore[union-attr]
    assert supported.find("failure") is None
    assert undecided.find("error") is not None
    assert {p.get("name"): p.get("value") for p in violated.iter("property")}[
        "dpverify.epsilon_lower"
    ] == "1.5"
    odd = result_of(evidence(Verdict.VIOLATED, reason="\x00\x1b[0m"))
    assert ElementTree.fromstring(junit([odd], "s").encode()) is not None


def test_sarif_points_to_the_line_and_passes_over_what_is_supported() -> None:
    places = (SourcePlace("src/my code.py", 7), None, None)
    tree = sarif(result_of(audit, place) for audit, place in zip(ALL, places, strict=True))
    json.dumps(tree, allow_nan=False)
    assert tree["version"] == "2.1.0"
    (run,) = tree["runs"]
    first, second = run["results"]
    assert (first["kind"], first["level"]) == ("fail", "error")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/my%20code.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 7}
    # SARIF 2.1.0, 3.27.10: whatever is no failure has level none
    assert (second["kind"], second["level"], "locations" in second) == ("open", "none", False)
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {"privacy-claim-violated", "privacy-claim-undecided"} <= rules


def test_markdown_has_no_markup_of_the_audits_own() -> None:
    text = audit_markdown(evidence(Verdict.VIOLATED, reason="x | <b> @everyone", detectable="a pair"))
    assert "### Privacy claim of `mine:release`: violated" in text
    assert r"| why | x \| \<b\> \@everyone |" in text
    assert "Reproduce: `dpverify audit mine:release`" in text


def test_a_function_is_found_without_importing_it(tmp_path: Path) -> None:
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit(9)\n")
    (package / "code.py").write_text(
        "import os\n\n\ndef other(): ...\n\n\ndef release(a, b): ...\n\n\nmodel = 3\n"
    )
    assert place_of(Target("mine.code:release"), tmp_path) == SourcePlace("mine/code.py", 7)
    assert place_of(Target("mine.code:model"), tmp_path) == SourcePlace("mine/code.py", 10)
    assert place_of(Target("mine.code:imported"), tmp_path) == SourcePlace("mine/code.py", 1)
    assert place_of(Target("mine:release"), tmp_path) == SourcePlace("mine/__init__.py", 1)
    assert place_of(Target("absent_module:release"), tmp_path) is None
    assert place_of(Target("sh mine/code.py", command=True), tmp_path) == SourcePlace("mine/code.py", 1)
