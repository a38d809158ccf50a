"""Proofs and ledgers as JSON, JUnit XML, SARIF and Markdown: what is false fails where it should, at its place."""

from __future__ import annotations

import copy
import json
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

import pytest

from dpverify.ledger.besides.kernels import KernelAnswer, KernelReason
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Coverage, Gap, Variant, Verdict
from dpverify.reports.formats.documents import proofs_json
from dpverify.reports.formats.junit import junit
from dpverify.reports.formats.markdown import ledger_markdown, proofs_markdown
from dpverify.reports.formats.sarif import sarif
from dpverify.views.formula import confirmed_by
from dpverify.views.results import SourcePlace, result_of

from ..json_schema import faults, proofs_schema
from ..ledger_example import example_ledger

SCHEMA = json.loads((files("dpverify.reports.formats") / "proofs.schema.json").read_text(encoding="utf-8"))


def proof(verdict: Verdict, **more: Any) -> ProofEvidence:
    fields: dict[str, Any] = {
        "statement": "mine", "obligation": "bound", "where": "mine.md, line 7", "coverage": Coverage.CONCLUSION,
        "variant": Variant.PRINTED, "latex": r"a\le b", "expression": "a <= b", "verdict": verdict, "prover": "search",
    }  # fmt: skip
    return ProofEvidence(**{**fields, **more})


PROVED = proof(Verdict.PROVED, confirmed_by_checker=True)
REFUTED = proof(Verdict.REFUTED, counterexample={"a": "2", "b": "1"}, left="2", right="1")
STEP = proof(Verdict.REFUTED, coverage=Coverage.STEP)
CORRECTION = proof(Verdict.REFUTED, variant=Variant.CORRECTED)
UNDECIDED = proof(Verdict.UNDECIDED, reason="nothing | <b> found", gap=Gap.FAULT)
FAULT = proof(Verdict.UNDECIDED, reason="a fault", gap=Gap.FAULT, fault="Traceback ...")
ALL = (PROVED, REFUTED, STEP, CORRECTION, UNDECIDED, FAULT)


def test_the_published_schema_is_that_of_the_classes() -> None:
    """Otherwise write it again: `json.dumps(proofs_schema(), indent=1)`."""
    assert proofs_schema() == SCHEMA
    assert SCHEMA["$id"] == "urn:dpverify:proofs:1"


def test_json_fits_the_schema_and_nothing_else_does() -> None:
    tree = json.loads(json.dumps(proofs_json(ALL), allow_nan=False))
    assert faults(tree, SCHEMA, SCHEMA) == []
    for path, value in (
        ("verdict", "fine"),
        ("coverage", None),
        ("unknown", 1),
        ("confirmed_by_checker", "yes"),
    ):
        wrong = copy.deepcopy(tree)
        wrong["entries"][0][path] = value
        assert faults(wrong, SCHEMA, SCHEMA), path


@pytest.mark.parametrize(
    ("findings_fail", "undecided", "outcomes"),
    [
        (True, "error", ["", "failure", "failure", "failure", "error", "error"]),
        (False, "skipped", ["", "", "", "failure", "skipped", "error"]),
    ],
)
def test_junit_fails_for_what_should_fail(findings_fail: bool, undecided: Any, outcomes: list[str]) -> None:
    results = [result_of(each, findings_fail=findings_fail, undecided=undecided) for each in ALL]
    text = junit(results, "s")
    root = ElementTree.fromstring(text.encode())
    found = [
        next((child.tag for child in case if child.tag != "properties"), "") for case in root.iter("testcase")
    ]
    assert found == outcomes
    for total, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert root.get(total) == str(outcomes.count(tag))
    (fault,) = [error for error in root.iter("error") if error.text == "Traceback ..."]
    assert fault.get("message") == "mine, bound (printed): a fault"


def test_sarif_has_the_line_of_what_is_false() -> None:
    place = SourcePlace("docs/mine.md", 7)
    (run,) = sarif(result_of(each, place, findings_fail=True) for each in ALL)["runs"]
    levels = [(r["ruleId"], r["kind"], r["level"]) for r in run["results"]]
    assert levels == [
        ("formula-refuted", "fail", "error"),
        ("formula-refuted", "fail", "warning"),
        ("correction-refuted", "fail", "error"),
        ("formula-undecided", "open", "none"),
        ("fault", "fail", "error"),
    ]
    found = run["results"][0]["locations"][0]["physicalLocation"]
    assert (found["artifactLocation"]["uri"], found["region"]) == ("docs/mine.md", {"startLine": 7})
    assert (
        "a <= b is false at a = 2, b = 1, where the sides are 2 and 1" in run["results"][0]["message"]["text"]
    )
    assert {r["ruleId"] for r in run["results"]} <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    (finding, *_) = sarif(result_of(each, place) for each in ALL)["runs"][0]["results"]
    assert (finding["kind"], finding["level"]) == ("fail", "note")


def test_markdown_says_first_what_is_not_proved() -> None:
    text = proofs_markdown(ALL, title="mine.md: refuted", command="dpverify prove mine.md")
    assert text.startswith("### mine.md: refuted\n")
    rows = [line for line in text.splitlines() if line.startswith("| mine")]
    assert "refuted" in rows[0]
    assert "proved" in rows[-1]
    assert r"nothing \| \<b\> found" in text
    assert "Reproduce: `dpverify prove mine.md`" in text
    many = proofs_markdown([REFUTED] * 200, title="many", command="x")
    assert "And 170 more." in many
    assert len(many) < 65_536


def test_a_whole_ledger_in_each_form() -> None:
    ledger = example_ledger()
    results = sarif(map(result_of, ledger.entries))["runs"][0]["results"]
    violated = [e for e in ledger.entries if e.verdict is Verdict.VIOLATED]
    assert violated
    assert [r["ruleId"] for r in results].count("privacy-claim-violated") == len(violated)
    json.dumps(results, allow_nan=False)
    cases = [result_of(entry, undecided="skipped") for entry in ledger.entries]
    root = ElementTree.fromstring(junit(cases, "s").encode())
    assert root.get("tests") == str(len(ledger.entries))
    assert root.get("failures") == str(len(violated))
    text = ledger_markdown(ledger)
    assert all(f"{audit.subject}:" in text.replace("\\", "") for audit in violated)
    assert len(text) < 65_536


def test_what_confirmed_a_formula_is_only_what_its_row_says() -> None:
    """A refusal names no kernel, nor does a row without an answer; an acceptance without a theorem is no answer."""
    answer = KernelAnswer(kernel="Rocq 8.16.1", said="accepted", theorem="sha256:0")
    accepted = PROVED.but(kernel=answer)
    refused = PROVED.but(kernel=answer.but(said="refused", reason=KernelReason.SCRIPT))
    assert confirmed_by([accepted]) == "checker, Rocq 8.16.1"
    assert confirmed_by([refused]) == confirmed_by([PROVED]) == "checker"
    assert confirmed_by([accepted, refused, STEP, UNDECIDED]) == "checker (2 of 3), Rocq 8.16.1 (1 of 3)"
    assert confirmed_by([UNDECIDED]) == confirmed_by([STEP]) == "not confirmed"
    assert confirmed_by([]) == ""
    with pytest.raises(ValueError, match="what is accepted has a theorem and no reason"):
        KernelAnswer(kernel="Rocq 8.16.1", said="accepted")
