"""What was found of statements lies beside the program, is true, and is taken for no other formula."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from dpverify import cli, proving
from dpverify.errors import DpverifyError
from dpverify.ledger.proofs import ProofEvidence
from dpverify.proving.language import Statement
from dpverify.statements.own_pages import HERE, opened
from dpverify.statements.pages import read_page, statements_on
from dpverify.statements.paper import PaperFolder, papers
from dpverify.statements.selection import find_statement
from dpverify.verification.catalog import answers
from dpverify.verification.catalog.proofs import prove_statements
from dpverify.verification.remembering import remembered, shipped
from dpverify.verification.remembering.shipped import origin, read_rows, recall_or_read, ship

NAME = "fmtt18.def10"
FILE = "fmtt18.json.gz"
OF_A_LIBRARY = {
    "boxes", "certificate", "checker_says", "counterexample", "excess", "left", "prover", "realistic", "reason",
    "right", "seconds", "witness",
}  # fmt: skip
"""What another version of a library may find otherwise. (Which verdict it leads to is no part of this.)"""


@pytest.fixture(autouse=True)
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was found on this machine."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Any], Any]], None]:
    """The program brings this file, with its content changed."""

    def copy(change: Callable[[Any], Any]) -> None:
        folder = tmp_path / "verdicts"
        folder.mkdir()
        content = change(json.loads(gzip.decompress((shipped.FOLDER / FILE).read_bytes())))
        (folder / FILE).write_bytes(gzip.compress(json.dumps(content).encode()))
        monkeypatch.setattr(shipped, "FOLDER", folder)

    return copy


def statement() -> Statement:
    found = find_statement(NAME)
    assert found is not None
    return found


def listed(capsys: pytest.CaptureFixture[str], *names: str) -> tuple[str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["list", *(names or [NAME])])
    assert ended.value.code == 0
    said = capsys.readouterr()
    return said.out, " ".join(said.err.split())


def untrue(rows: Mapping[str, Any], found: Iterable[ProofEvidence]) -> list[str]:
    """Statements whose rows say something else than was found; of those without rows, none."""
    now: dict[str, list[Any]] = {}
    for evidence in found:
        now.setdefault(evidence.statement, []).append(evidence.model_dump(mode="json", exclude=OF_A_LIBRARY))
    wrong = []
    for name, records in now.items():
        of = find_statement(name)
        assert of is not None
        kept = remembered.read_evidence(rows.get(remembered.source_hash(of)))
        if kept is not None and [e.model_dump(mode="json", exclude=OF_A_LIBRARY) for e in kept] != records:
            wrong.append(name)
    return wrong


def test_rows_say_what_the_checker_confirms_now(all_proofs: list[Any]) -> None:
    """Where it fails, `make answers` writes them again."""
    rows, _ = read_rows(shipped.FOLDER)
    assert untrue(rows, (r.evidence for r in all_proofs)) == []
    known = {
        remembered.source_hash(s)
        for p in papers().values()
        if isinstance(p, PaperFolder)
        for s in p.statements
    }
    assert known & rows.keys()


def test_a_row_that_is_wrong_is_noticed(proofs: Any) -> None:
    found = [r.evidence for r in proofs.of(NAME)]
    rows = {remembered.source_hash(statement()): [e.model_dump(mode="json") for e in found]}
    assert untrue(rows, found) == []
    (of,) = rows.values()
    of[0] = {**of[0], "verdict": "refuted" if of[0]["verdict"] != "refuted" else "proved"}
    assert untrue(rows, found) == [NAME]


def test_they_are_listed_without_a_proof_and_without_a_prover(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(proving, "prove", lambda _: pytest.fail("a formula was proved"))
    out, err = listed(capsys)
    assert "Verdicts of 1 of 1 statements come with the program, found by" in err
    assert "are not checked here" in err
    monkeypatch.setattr("dpverify.extras._is_there", lambda name: False)
    assert listed(capsys) == (out, err)


def test_the_textbook_is_listed_without_a_proof_and_without_a_prover(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(proving, "prove", lambda _: pytest.fail("a formula was proved"))
    monkeypatch.setattr("dpverify.extras._is_there", lambda name: False)
    out, err = listed(capsys, "textbook")
    number = len({line.partition("\t")[0] for line in out.splitlines() if line.startswith("textbook.")})
    assert number > 100
    assert f"Verdicts of {number} of {number} statements come with the program" in err


def test_rows_of_the_textbook_say_what_the_checker_confirms_now() -> None:
    """Of some with few displays. Where it fails, `make answers` writes them again."""
    paper = opened("textbook")
    assert paper is not None
    short = [s for s in paper.statements if len(s.parts) <= 3]
    some = random.Random(0).sample(short, 4)
    found = [r.evidence for r in prove_statements(some, known=answers.known)]
    assert {e.statement for e in found} == {s.id for s in some}
    rows, _ = read_rows(shipped.FOLDER)
    assert untrue(rows, found) == []
    assert all(remembered.source_hash(s) in rows for s in paper.statements)


def test_a_changed_display_of_the_textbook_has_no_row(tmp_path: Path) -> None:
    for page in ("letters.md", "trade_off.md"):
        (tmp_path / page).write_text((HERE / "textbook" / page).read_text("utf-8"), "utf-8")
    text = (tmp_path / "trade_off.md").read_text("utf-8")
    display = "$$\\Phi(x-\\mu)\\le\\Phi(x)$$"
    assert text.count(display) == 1
    (tmp_path / "trade_off.md").write_text(text.replace(display, f"$$0+{display[2:]}"), "utf-8")
    found = read_page(tmp_path / "trade_off.md", at_once=False).statements
    (without,) = (s.id for s in found if recall_or_read(s) is None)
    assert without == "textbook.gaussian-trade-off"


def test_what_was_found_here_comes_first(proofs: Any) -> None:
    assert origin([statement()])
    remembered.remember_all(r.evidence for r in proofs.of(NAME))
    assert recall_or_read(statement()) == remembered.recall(statement())
    assert not origin([statement()])


def test_a_statement_that_has_changed_is_found_anew_or_needs_the_provers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paper = papers()["fmtt18"]
    assert isinstance(paper, PaperFolder)
    for page in paper.folder.glob("*.md"):
        (tmp_path / page.name).write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
    page = tmp_path / paper.pages[NAME].name
    text = page.read_text(encoding="utf-8")
    display = "$$-\\frac{\\alpha z^2"
    assert text.count(display) == 1
    page.write_text(text.replace(display, display.replace("$$", "$$0")), encoding="utf-8")
    changed = {s.id: s for s in statements_on((page,))}
    monkeypatch.setitem(paper.__dict__, "statements", tuple(changed.get(s.id, s) for s in paper.statements))
    others = [s for s in changed.values() if s.id != NAME and NAME not in s.rests_on]
    assert others
    assert all(recall_or_read(s) is not None for s in others)
    with monkeypatch.context() as patch:
        patch.setattr("dpverify.extras._is_there", lambda name: False)
        _, err = listed(capsys)
    said = f"No verdicts are shown of {NAME}: finding them needs clarabel, cvc5, sympy, z3; allowed: after pip install"
    assert said in err
    _, err = listed(capsys, NAME, "--jobs", "1")
    assert "Checking the proofs that come with the program of 1 of 1 statement, once" in err


def test_a_file_that_was_changed_counts_for_nothing(copied: Callable[..., None]) -> None:
    def prove_it(content: Any) -> Any:
        for rows in content["rows"].values():
            for row in rows:
                row["verdict"] = "proved"
        return content

    assert recall_or_read(statement()) is not None
    copied(prove_it)
    assert recall_or_read(statement()) is None
    assert origin([statement()]) == ""


@pytest.mark.parametrize("packed", ["no json", "[]", "{}", None, ""])
def test_a_broken_file_is_as_good_as_none(
    packed: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = gzip.compress(packed.encode()) if packed else b"no gzip" if packed is None else b""
    (tmp_path / FILE).write_bytes(content)
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    assert recall_or_read(statement()) is None
    assert origin([statement()]) == ""


def test_of_another_program_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "program_hash", lambda: "another")
    read_rows.cache_clear()
    assert "found by an earlier state of dpverify" in origin([statement()])
    read_rows.cache_clear()


def test_what_a_clock_cut_short_is_not_shipped(
    proofs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (record, *_) = proofs.of(NAME)
    cut = record.evidence.but(stopped_by_the_clock=True)
    monkeypatch.setattr(shipped, "recall_or_prove", lambda *_, **__: [type(record)(cut)])
    with pytest.raises(DpverifyError, match="a clock has cut short"):
        ship(tmp_path / "verdicts")
    assert not (tmp_path / "verdicts").exists()
