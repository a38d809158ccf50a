"""A fault of dpverify's own in one row ends no other row, is reported as such, and is the run's exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpverify import cli, proving
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import Proof, prove
from dpverify.proving.language import Obligation
from dpverify.statements.selection import find_statement
from dpverify.verification.catalog import proofs
from dpverify.verification.remembering import remembered

ID = "fmtt18.def10"


@pytest.fixture
def _one_row_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = find_statement(ID)
    assert found is not None
    first = found.printed[0].name

    def failing(obligation: Obligation) -> Proof:
        if obligation.name == first:
            raise OverflowError("planted")
        return prove(obligation)

    monkeypatch.setattr(proving, "prove", failing)


@pytest.mark.usefixtures("_one_row_fails")
def test_other_rows_are_proved_and_nothing_is_remembered() -> None:
    records = [r.evidence for r in proofs.prove_statement(ID)]
    faulty = [r for r in records if r.fault]
    assert len(faulty) == 1
    assert faulty[0].verdict is Verdict.UNDECIDED
    assert faulty[0].reason == "a fault in dpverify, not a verdict: OverflowError: planted"
    assert "Traceback" in faulty[0].fault
    assert any(r.verdict is Verdict.PROVED for r in records)
    statement = find_statement(ID)
    assert statement is not None
    remembered.remember_all(records)
    assert remembered.recall(statement) is None


@pytest.mark.usefixtures("_one_row_fails")
def test_the_command_line_ends_with_70_and_delivers_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.json"
    with pytest.raises(SystemExit) as ended:
        cli.main(["prove", ID, "--jobs", "1", "--json", str(out)])
    assert ended.value.code == 70
    rows = json.loads(out.read_text())["entries"]
    assert sum(bool(r["fault"]) for r in rows) == 1
    said = capsys.readouterr().err
    assert f"this is a fault in dpverify, not a verdict on {ID}" in said
    assert "OverflowError: planted" in said


def test_what_the_clock_ended_is_not_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    statement = find_statement(ID)
    assert statement is not None
    records = [r.evidence for r in proofs.prove_statement(ID)]
    cut = [r.model_copy(update={"stopped_by_the_clock": True}) for r in records]
    remembered.remember(statement, cut)
    assert remembered.recall(statement) is None
    remembered.remember(statement, records)
    assert remembered.recall(statement) == records
