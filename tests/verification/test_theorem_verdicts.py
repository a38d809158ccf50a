"""Verdicts of theorems that lie beside the program: shown at once, true, and of no changed page."""

from __future__ import annotations

import random
from typing import Any

import pytest

from dpverify import cli
from dpverify.ledger.verdicts import Verdict
from dpverify.verification import theorems as derived
from dpverify.verification.remembering import theorem_verdicts
from dpverify.verification.remembering.shipped import FOLDER, packed
from dpverify.verification.remembering.theorem_verdicts import pages_hash, verdicts_of

ROWS, _ = theorem_verdicts._read(FOLDER)


@pytest.fixture(autouse=True)
def read_anew() -> Any:
    yield
    theorem_verdicts._read.cache_clear()


def shown(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    with pytest.raises(SystemExit) as ended:
        cli.main([*command])
    said = capsys.readouterr()
    assert ended.value.code == 0, said.err
    return " ".join((said.out + said.err).split())


def test_rows_say_what_is_found_now() -> None:
    """Of some with few displays; `make verify` derives all. Where it fails, `make answers` writes them again."""
    short = sorted(id_ for id_, row in ROWS.items() if len(row.displays) <= 3)
    for id_ in random.Random(0).sample(short, 5):
        (now,) = derived.theorem_rows([id_])
        assert ROWS[id_] == now.found.model_copy(update={"seconds": 0.0}), id_


def test_they_are_shown_without_a_derivation_and_without_a_prover(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(derived, "theorem_rows", lambda *_, **__: pytest.fail("a theorem was derived"))
    monkeypatch.setattr("dpverify.extras._is_there", lambda name: False)
    for names in (["theorems"], ["mechanisms"], ["theorem.laplace"]):
        said = shown(capsys, "list", *names)
        assert "come with the program, found by" in said
        assert "are not checked here" in said
    found, _ = verdicts_of(["theorems", "mechanisms"])
    assert {row.id for row in found} == ROWS.keys()
    assert {row.verdict for row in found} == {Verdict.PROVED, Verdict.REFUTED}
    assert "are not checked here" in shown(capsys, "explain", "theorem.laplace")


def test_where_a_page_or_the_file_has_changed_they_are_derived(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(derived, "theorem_rows", lambda *_, **__: [])
    content = {
        "pages": pages_hash(),
        "rows": {"theorem.laplace": ROWS["theorem.laplace"].model_dump(mode="json")},
    }
    file = tmp_path / "theorems.gz"
    monkeypatch.setattr(theorem_verdicts, "FOLDER", tmp_path)
    for changed, known in ((content, True), ({**content, "pages": "other"}, False), (None, False)):
        file.write_bytes(b"torn" if changed is None else packed(changed))
        theorem_verdicts._read.cache_clear()
        assert bool(verdicts_of(["theorem.laplace"])[0]) is known
