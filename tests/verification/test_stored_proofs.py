"""Proofs that are in a store are not found again, and come back with their certificates."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dpverify import proving
from dpverify.errors import InvalidDataError
from dpverify.ledger.verdicts import Coverage
from dpverify.proving.checker import Confirmation, check
from dpverify.running import Store
from dpverify.statements.selection import find_statement
from dpverify.verification.catalog import program, proofs
from dpverify.verification.catalog import rows as proof_rows
from dpverify.verification.catalog.proofs import prove_statements
from dpverify.verification.catalog.rows import ProofRecord

# a few quick obligations, with units
NAME = "bst14.eq2"


def found(store: Store | None) -> list[ProofRecord]:
    statement = find_statement(NAME)
    assert statement is not None
    return prove_statements([statement], store=store)


def refuse(*_: object, **__: object) -> Any:
    raise AssertionError("something was proved although it is in the store")


def rows(path: Path) -> int:
    connection = sqlite3.connect(path)
    count = int(connection.execute("SELECT count(*) FROM work WHERE kind = 'proof'").fetchone()[0])
    connection.close()
    return count


def test_a_resumed_job_takes_every_confirmed_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path / "store") as store:
        first = found(store)
    total = rows(tmp_path / "store")
    assert total == sum(1 for _ in proofs._tasks(find_statement(NAME)))  # type: ignore[arg-type]
    with monkeypatch.context() as patched, Store(tmp_path / "store") as store:
        patched.setattr(proving, "prove", refuse)
        patched.setattr("dpverify.proving.checker.check", refuse)
        assert found(store) == first
        assert store.reuse().summary() == f"{total} of {total} proofs taken from {tmp_path / 'store'}"
    # another program, even in a file that no proof reads, proves anew
    with monkeypatch.context() as patched, Store(tmp_path / "store") as store:
        patched.setattr(program, "program_hash", lambda: "another program")
        patched.setattr(proving, "prove", refuse)
        proved = [record.evidence for record in found(store) if record.evidence.coverage is not Coverage.UNIT]
        assert all("something was proved" in (evidence.fault or "") for evidence in proved)


def test_what_a_clock_or_a_fault_ended_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = proof_rows._evidence
    change: dict[str, object] = {}

    def ended(*arguments: Any) -> ProofRecord:
        record = real(*arguments)
        return ProofRecord(record.evidence.model_copy(update=change), record.certificate)

    monkeypatch.setattr(proof_rows, "_evidence", ended)
    for now in ({"stopped_by_the_clock": True}, {"fault": "a fault"}):
        change.clear()
        change.update(now)
        with Store(tmp_path / "store") as store:
            found(store)
        assert rows(tmp_path / "store") == 0


def test_a_check_that_a_clock_ended_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(certificate: Any) -> Confirmation:
        return check(certificate)._replace(by_the_clock=True)

    monkeypatch.setattr("dpverify.proving.checker.check", late)
    with Store(tmp_path / "store") as store:
        assert all(r.evidence.stopped_by_the_clock for r in found(store) if r.certificate is not None)
    assert rows(tmp_path / "store") == 0


def test_a_store_that_cannot_be_used_is_said_before_anything_is_proved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpverify.verification import VerificationSettings, verify

    monkeypatch.setattr(proving, "prove", refuse)
    (tmp_path / "file").write_text("x" * 5000)
    with pytest.raises(InvalidDataError, match="is not a store"):
        verify(VerificationSettings(papers=(NAME,), store=str(tmp_path / "file")))
