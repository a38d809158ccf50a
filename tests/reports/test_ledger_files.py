"""Ledgers on disk."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest

from dpverify.errors import InvalidDataError
from dpverify.ledger.evidence import RiskEvidence
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Coverage
from dpverify.reports import ledger_json, parse_ledger, read_ledger, render_html, write_ledger

from .ledger_example import AUDITS, example_ledger


def test_round_trip(tmp_path: Path) -> None:
    ledger = example_ledger()
    path = write_ledger(ledger, tmp_path / "deep" / "ledger.json")
    assert read_ledger(path) == ledger
    assert ledger_json(read_ledger(path)) == path.read_text(encoding="utf-8")
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


def _changed(**changes: object) -> str:
    return json.dumps({**json.loads(ledger_json(example_ledger())), **changes})


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
        (_changed(schema_version=6), "has schema version 6; this program reads versions 1, 2, 3, 4 and 5"),
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
        read_ledger(tmp_path / "missing.json")
    with pytest.raises(InvalidDataError, match="cannot be read"):
        read_ledger(tmp_path)
    with pytest.raises(InvalidDataError, match="cannot be read"):
        read_ledger("a\0b")
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe{")
    with pytest.raises(InvalidDataError, match="is not text in UTF-8"):
        read_ledger(binary)


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


@pytest.mark.parametrize("version", [1, 2, 3])
def test_ledgers_from_before_a_field_are_read(version: int) -> None:
    """Without what versions 3 to 5 added, at first or later, everywhere, and with what version 4 took away."""
    newest = {
        "provenance", "prints", "mistake", "relation", "added", "standing_printed", "standing_repaired", "missing",
        "roots", "rests_on_unfollowed", "whole", "part", "ingredient",
    }  # fmt: skip
    added = {
        "scope", "uses", "consequence", "exceeds", "reading", "catches", "gap", "headline_printed", "headline_repaired",
        "given_printed", "given_repaired", "used_by", "rests_on_false", "errata", "results", "realistic",
    }  # fmt: skip
    if version < 3:
        added |= {
            "origin", "sees_nothing", "fault", "smallest_fault", "extreme", "detectable", "blind_rejected", "largest",
            "printed", "range_fixed_by", "marks",
        }  # fmt: skip
    tree = json.loads(example_ledger().model_dump_json())
    tree["schema_version"] = version
    for part in (tree, *tree["statements"], *tree["entries"]):
        for name in (added | newest) - ({"detectable"} if part.get("kind") == "privacy" else set()):
            part.pop(name, None)
    roles = {"whole": "statement", "instance": "statement", "condition": "choice"}
    for row in tree["entries"]:
        if row["kind"] == "proof":
            coverage = row.pop("coverage")
            row["role"] = roles.get(coverage, coverage)
            row["scope"] = (
                "identity maps" if row["verdict"] == "refuted" and row["role"] == "statement" else ""
            )
    if version == 3:
        tree["statements"][0]["covers_repaired"] = ["identity maps (attained)"]
    read = parse_ledger(json.dumps(tree), "old")
    assert read.schema_version == version
    assert [entry.verdict for entry in read.entries] == [entry.verdict for entry in example_ledger().entries]
    found = [entry.coverage for entry in read.entries if isinstance(entry, ProofEvidence)]
    assert found[:4] == [Coverage.INSTANCE, Coverage.WHOLE, Coverage.UNIT, Coverage.STEP]
    page = render_html(read)
    assert "dpverify" in page
    assert ("proved for: identity maps (attained)" in page) == (version == 3)
