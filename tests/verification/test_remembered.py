"""What is remembered is found without reading a formula, and never where anything that it rests on has changed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dpverify import cli, proving
from dpverify.formulas import notation
from dpverify.formulas.expressions import real
from dpverify.formulas.logic import Ge
from dpverify.proving.language import Statement
from dpverify.running.store import NAME_IN_FOLDER
from dpverify.statements.paper import papers
from dpverify.statements.plans import Profile
from dpverify.statements.selection import find_statement
from dpverify.statements.sheet import Sheet
from dpverify.verification.catalog import answers, program
from dpverify.verification.refutations import instance_entries
from dpverify.verification.remembering import remembered, shipped
from dpverify.verification.remembering.remembered import (
    HowFound,
    audits_of,
    recall,
    recall_instances,
    remember,
    remember_all,
)

ROOT = Path(__file__).parents[2]
NAME = "fmtt18.def10"
QUICK = ("bst14.huber-smooth", "fmtt18.def10")


@pytest.fixture(autouse=True)
def _nothing_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "none")


def statement(name: str) -> Statement:
    found = find_statement(name)
    assert found is not None
    return found


_IN_A_COPY = """
import json, sys
from dpverify.ledger.proofs import ProofEvidence
from dpverify.statements.selection import find_statement
from dpverify.verification.remembering.remembered import recall, remember_all
if len(sys.argv) > 2:
    remember_all(map(ProofEvidence.model_validate, json.load(open(sys.argv[2]))))
print(recall(find_statement(sys.argv[1])) is not None)
"""


def test_a_changed_file_of_the_program_is_noticed(proofs: Any, tmp_path: Path) -> None:
    package = tmp_path / "copy" / "dpverify"
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "dpverify", package, ignore=leave)
    for part in (
        "algorithms",
        "properties",
        "reports",
    ):  # links, which the copy follows, where a checkout has them
        shutil.copytree(ROOT / part, package / part, ignore=leave, dirs_exist_ok=True)
    entries = tmp_path / "entries.json"
    entries.write_text(json.dumps([r.evidence.model_dump(mode="json") for r in proofs.of(NAME)]))

    def recalled(*more: str) -> bool:
        done = subprocess.run(
            [sys.executable, "-c", _IN_A_COPY, NAME, *more],
            capture_output=True,
            text=True,
            check=True,
            cwd=package.parent,  # where it is looked for first
            env={
                **os.environ,
                "PYTHONDONTWRITEBYTECODE": "",
            },  # what is kept compiled is no file of the program
        )
        return done.stdout.strip() == "True"

    assert recalled(str(entries))
    assert recalled()
    for name in (
        "statements/fmtt18/preliminaries.md",
        "formulas/notation/grammar.lark",
        "proving/provers/exact.py",
        "proving/checker/terms.py",
    ):
        file = package / name
        before = file.read_bytes()
        file.write_bytes(before + b"\n")
        assert not recalled(), name
        file.write_bytes(before)
    assert recalled()


def test_another_version_of_a_library_is_noticed(proofs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    remember_all(r.evidence for r in proofs.of(NAME))
    assert recall(statement(NAME)) is not None
    monkeypatch.setattr(program, "libraries", lambda: ["another version"])
    assert recall(statement(NAME)) is None


def test_another_source_is_noticed_though_the_program_is_the_same(proofs: Any) -> None:
    x = real("x", ge=0)
    sheet = Sheet("a.1", (x,), where="Lemma 1").define("b", "2x")
    evidence = [proofs.of(NAME)[0].evidence]
    remember(sheet.step("s", r"b\ge 0").statement, evidence)
    assert recall(sheet.step("s", r"b\ge 0").statement) == evidence
    corrected = sheet.step("s", r"b\ge 0").corrected("s", "b=b", because="a reason")
    for other in (
        sheet.step("s", r"b\ge -1"),
        sheet.step("s", r"b\ge 0", given="x<1"),
        sheet.step("s", Ge(x, 0)),
        Sheet("a.1", (x,), where="Lemma 1").define("b", "3x").step("s", r"b\ge 0"),
        Sheet("a.1", (real("x", ge=1),), where="Lemma 1").define("b", "2x").step("s", r"b\ge 0"),
        corrected,
    ):
        assert recall(other.statement) is None


def test_listing_what_is_remembered_reads_no_formula(
    proofs: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    remember_all(r.evidence for r in proofs.of(*QUICK))

    def fail(*_: object, **__: object) -> Any:
        raise AssertionError("a formula was read")

    for name in ("read_display", "read_expression", "read_formula"):
        monkeypatch.setattr(notation, name, fail)
    with pytest.raises(SystemExit) as ended:
        cli.main(["list", *QUICK])
    assert ended.value.code == 0
    assert "refuted" in capsys.readouterr().out


def test_an_instance_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    recall_instances.cache_clear()
    found = recall_instances("bst14", "bst14.alg8-privacy")
    assert found == instance_entries("bst14", "bst14.alg8-privacy") != ()
    recall_instances.cache_clear()
    monkeypatch.setattr(remembered, "instance_entries", lambda *_: pytest.fail("it was judged again"))
    assert recall_instances("bst14", "bst14.alg8-privacy") == found
    monkeypatch.setattr(remembered, "program", lambda: ["another"])
    recall_instances.cache_clear()
    with pytest.raises(pytest.fail.Exception, match="judged again"):
        recall_instances("bst14", "bst14.alg8-privacy")


def test_what_an_interrupted_command_has_proved_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = map(statement, QUICK)
    prove = proving.prove
    last = second.printed[-1]

    def interrupted(obligation: Any) -> Any:
        if obligation is last:
            raise KeyboardInterrupt
        return prove(obligation)

    monkeypatch.setattr(proving, "prove", interrupted)
    monkeypatch.setattr(answers, "lines", dict)
    with pytest.raises((SystemExit, KeyboardInterrupt)):
        cli.main(["list", *QUICK, "--jobs", "1"])
    assert "Checking the proofs that come with the program of 2 of 2 statements" in capsys.readouterr().err
    assert recall(first, HowFound.CONFIRMED) is not None
    assert recall(second, HowFound.CONFIRMED) is None


def test_what_the_checker_confirms_is_listed_and_is_no_proof_of_here(
    proofs: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def listed() -> tuple[str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(["list", *QUICK, "--jobs", "1"])
        assert ended.value.code == 0
        said = capsys.readouterr()
        return said.out, " ".join(said.err.split())

    records = proofs.of(*QUICK)
    monkeypatch.setattr(proving, "prove", lambda _: pytest.fail("a formula was proved"))
    out, err = listed()
    assert "Proofs of 2 of 2 statements come with the program, and the checker confirmed them here" in err
    assert all(recall(statement(name)) is None for name in QUICK)
    assert [recall(statement(name), HowFound.CONFIRMED) is None for name in QUICK] == [False, False]
    # once they are proved here, that is what is shown, and nothing is said of the others
    remember_all(r.evidence for r in records)
    assert listed() == (out, "")


def test_what_was_proved_is_shown_again_and_only_proved_again_if_asked(
    proofs: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    remember_all(r.evidence for r in proofs.of(*QUICK))

    def refused(obligation: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(proving, "prove", refused)
    with pytest.raises(SystemExit) as ended:
        cli.main(["prove", *QUICK, "--json", "-", "--jobs", "1"])
    assert ended.value.code == 0
    shown = capsys.readouterr()
    expected = [r.evidence.model_dump(mode="json") for r in proofs.of(*QUICK)]
    assert json.loads(shown.out)["entries"] == expected
    assert "What was found of 2 of 2 statements before is shown; --again proves all anew." in shown.err
    with pytest.raises(SystemExit) as ended:
        cli.main(["prove", *QUICK, "--again", "--jobs", "1"])
    assert ended.value.code == 128 + signal.SIGINT


def test_all_is_kept_in_one_store_and_damage_costs_only_time(proofs: Any, tmp_path: Path) -> None:
    remember_all(r.evidence for r in proofs.of(NAME))
    audits_of(papers()["fmtt18"])
    (file,) = (tmp_path / "cache" / "dpverify").iterdir()
    assert file.name == NAME_IN_FOLDER
    assert recall(statement(NAME)) is not None
    with closing(sqlite3.connect(file)) as other, other:
        kinds = {kind for (kind,) in other.execute("SELECT kind FROM work")}
        other.execute("UPDATE work SET content = ?", (b"[]",))
    assert kinds == {"remembered"}
    assert recall(statement(NAME)) is None


def test_audits_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    paper = papers()["fmtt18"]
    counted = audits_of(paper)
    quick = [plan.subject for plan in paper.plans if plan.within(Profile.QUICK)]
    assert counted["fmtt18.alg1"] == quick.count("fmtt18.alg1") > 0
    monkeypatch.setattr(type(paper), "plans", property(lambda _: pytest.fail("audits were loaded")))
    assert audits_of(paper) == counted
