"""A row that the two readers read differently is refused by `check`, and not decided by `verify`."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpverify.ledger.document import ErrorBudget, Ledger
from dpverify.ledger.verdicts import Gap, Variant, Verdict
from dpverify.proving.second_reader import rows
from dpverify.reports import write_report
from dpverify.statements.selection import find_statement
from dpverify.verification.catalog.entries import catalog_entries, results_of
from dpverify.verification.catalog.proofs import prove_statement
from dpverify.verification.checking import ledger_check
from dpverify.verification.checking.ledger_check import LedgerCheck, Status, check_ledger
from dpverify.verification.display_counts import displays_of_ledger

STATEMENT = "bst14.huber-smooth"
"""With chains of equations, and definitions with a parameter."""


@pytest.fixture(scope="module")
def ledger(proofs: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ledger of one statement, as `verify` writes it."""
    return ledger_of(STATEMENT, proofs, tmp_path_factory)


@pytest.mark.parametrize("name", ["gll22.cor3.12"])
def test_rows_that_say_what_they_assume_are_accepted(
    name: str, proofs: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert not check_ledger(ledger_of(name, proofs, tmp_path_factory)).failed


def ledger_of(name: str, proofs: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ledger of a statement."""
    records = proofs.of(name)
    found, entries = [record.evidence for record in records], catalog_entries(records)
    written = Ledger(
        program_version="0.1.0",
        created="2026-01-01T00:00:00+00:00",
        command=f"dpverify verify --paper {name} --profile quick --seed 0",
        seed=0,
        profile="quick",
        versions={},
        statements=entries,
        results=results_of(entries, found),
        entries=tuple(found),
        displays=displays_of_ledger(found),
        budget=ErrorBudget(failure_probability=1e-3, spent={}),
        seconds=1.0,
    )
    folder = tmp_path_factory.mktemp("ledger")
    write_report(
        written, folder, {r.evidence.certificate: r.certificate for r in records if r.certificate is not None}
    )
    return folder / "ledger.json"


def _refused(found: LedgerCheck) -> list[str]:
    return [row.says for row in found.rows if row.status is Status.REFUSED]


def test_every_row_is_read_by_both(ledger: Path) -> None:
    found = check_ledger(ledger)
    assert not found.failed
    assert found.trees == 0
    assert "2 rows are made of trees and not of LaTeX" in replace(found, trees=2).summary()


def test_rows_checked_side_by_side_are_the_same(ledger: Path, tmp_path: Path) -> None:
    """In their order, and with what is wrong in one."""
    shutil.copytree(ledger.parent, tmp_path / "other")
    other = tmp_path / "other" / "ledger.json"
    content = json.loads(other.read_text())
    content["entries"][3]["checker_says"] = "all is well"
    other.write_text(json.dumps(content))
    found = check_ledger(other)
    assert len(found.rows) > ledger_check.FEW
    assert len(found.failed) == 1
    assert check_ledger(other, workers=2) == found


def test_a_row_that_is_read_in_two_ways_is_refused(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rows.RELATIONS, "=", "<=")
    refused = _refused(check_ledger(ledger))
    assert refused
    assert all("the first reader reads `" in says and "==(" in says for says in refused)
    assert all("<=(" in says.partition("where the second reads `")[2] for says in refused)


def test_what_the_second_reader_refuses_is_refused(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(rows.RELATIONS, "=")
    refused = _refused(check_ledger(ledger))
    assert refused
    assert all("the second reader does not read what the first reads as `" in says for says in refused)


def test_no_verdict_is_given_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    statement = find_statement(STATEMENT)
    assert statement is not None
    monkeypatch.setitem(rows.RELATIONS, "=", "<=")
    found = {
        r.evidence.obligation: r.evidence
        for r in prove_statement(STATEMENT)
        if r.evidence.variant is Variant.PRINTED
    }
    for obligation in statement.printed:
        if obligation.source is not None and "=" in obligation.source["display"]:
            row = found[obligation.name]
            assert (row.verdict, row.gap, row.certificate) == (Verdict.UNDECIDED, Gap.FAULT, None)
            assert "where the second reads" in row.reason
