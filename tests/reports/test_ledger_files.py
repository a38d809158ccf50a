"""Ledgers on disk."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest

from dpverify.errors import InvalidDataError
from dpverify.ledger.evidence import RiskEvidence
from dpverify.ledger.records import Interval
from dpverify.reports import ledger_json, load_ledger, parse_ledger, write_ledger

from .ledger_example import AUDITS, example_ledger


def test_round_trip(tmp_path: Path) -> None:
    ledger = example_ledger()
    path = write_ledger(ledger, tmp_path / "deep" / "ledger.json")
    assert load_ledger(path) == ledger
    assert ledger_json(load_ledger(path)) == path.read_text(encoding="utf-8")
    assert os.listdir(path.parent) == ["ledger.json"]


def test_infinities_survive() -> None:
    risk = next(audit for audit in AUDITS if isinstance(audit, RiskEvidence))
    changed = risk.model_copy(
        update={
            "bound": math.inf,
            "measured": Interval(lower=-math.inf, upper=math.inf),
            "curve": ((1.0, -math.inf, math.inf, math.inf),),
        }
    )
    ledger = example_ledger(entries=(changed,))
    text = ledger_json(ledger)
    json.loads(text, parse_constant=pytest.fail)
    assert parse_ledger(text) == ledger


EXAMPLE = json.loads(ledger_json(example_ledger()))


def _changed(**changes: object) -> str:
    return json.dumps({**EXAMPLE, **changes})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("NaN", "NaN is not a JSON number"),
        ("[]", "is not a ledger"),
        ("null", "is not a ledger"),
        ("{}", "is not a ledger"),
        (_changed(schema_version=2), "has schema version 2; this program reads version 1"),
        (_changed(schema_version=True), "has schema version True"),
        (_changed(schema_version="1"), "has schema version '1'"),
        (_changed(schema_version=None), "has schema version None"),
        (_changed(schema_version="x" * 1000), "has schema version"),
        (_changed(seed="many"), "at seed: "),
        (_changed(seconds=None), "at seconds: "),
        (_changed(unheard_of=1), "at unheard_of: "),
        (_changed(entries=[{"kind": "rumor"}]), "at entries.0: "),
        (_changed(entries=[{"kind": "proof"}]), "at entries.0.statement: "),
        (_changed(statements={}), "at statements: "),
    ],
)
def test_refused_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(InvalidDataError) as caught:
        parse_ledger(text, "Ledger L")
    said = str(caught.value)
    assert message in said
    assert said.startswith("Ledger L ")
    assert said.endswith(".")
    assert not said.endswith("..")
    assert "\n" not in said
    assert len(said) < 250


def test_a_cut_off_file_is_refused_at_every_length(tmp_path: Path) -> None:
    whole = ledger_json(example_ledger(entries=(), statements=()))
    for length in range(0, len(whole) - 2, 7):
        with pytest.raises(InvalidDataError):
            parse_ledger(whole[:length])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataError, match=r"missing\.json cannot be read: No such file"):
        load_ledger(tmp_path / "missing.json")
    with pytest.raises(InvalidDataError, match="cannot be read"):
        load_ledger(tmp_path)
    with pytest.raises(InvalidDataError, match="cannot be read"):
        load_ledger("a\0b")
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe{")
    with pytest.raises(InvalidDataError, match="is not text in UTF-8"):
        load_ledger(binary)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_ledger(example_ledger(), tmp_path / "ledger.json")
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidDataError, match=r"ledger\.json cannot be written: No space left on device\."):
        write_ledger(example_ledger(seed=1), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["ledger.json"]


def test_a_place_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidDataError, match="cannot be written"):
        write_ledger(example_ledger(), tmp_path / "file" / "ledger.json")
