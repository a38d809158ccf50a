"""A release brings what was found of its statements, and no other program takes that for its own."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dpverify import cli, proving
from dpverify.proving.language import Statement
from dpverify.statements.selection import find_statement
from dpverify.verification.remembering import remembered, shipped
from dpverify.verification.remembering.shipped import origin, recall_or_read, ship

NAME = "fmtt18.def10"


@pytest.fixture(scope="module")
def release(all_remembered: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("release") / "verdicts.json.gz"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(all_remembered))
        assert ship(file) > 100
    return file


@pytest.fixture
def of_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Nothing is remembered, and the release came with this file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda file: monkeypatch.setattr(shipped, "FILE", file)


def statement() -> Statement:
    found = find_statement(NAME)
    assert found is not None
    return found


def listed(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["list", NAME])
    assert ended.value.code == 0
    said = capsys.readouterr()
    return said.out, said.err


def test_verdicts_of_the_release_are_listed_without_a_proof(
    release: Path,
    of_file: Callable[[Path], None],
    all_remembered: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(obligation: object) -> None:
        raise AssertionError("a formula was proved")

    of_file(release)
    monkeypatch.setattr(proving, "prove", fail)
    out, err = listed(capsys)
    assert "1 of 1 statements were found when this release was made, with Python" in " ".join(err.split())
    monkeypatch.setenv("XDG_CACHE_HOME", str(all_remembered))
    assert listed(capsys) == (out, "")


def test_what_was_found_here_comes_first(
    release: Path, of_file: Callable[[Path], None], all_remembered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_file(release)
    assert origin([statement()])
    monkeypatch.setenv("XDG_CACHE_HOME", str(all_remembered))
    assert recall_or_read(statement()) == remembered.recall(statement())
    assert not origin([statement()])


def test_another_program_and_other_formulas_have_none(
    release: Path, of_file: Callable[[Path], None], tmp_path: Path
) -> None:
    of_file(release)
    assert recall_or_read(statement())
    content = json.loads(gzip.decompress(release.read_bytes()))
    of_other = tmp_path / "of-another-program.gz"
    of_other.write_bytes(gzip.compress(json.dumps({**content, "program": "another"}).encode()))
    of_file(of_other)
    assert recall_or_read(statement()) is None
    of_rest = tmp_path / "of-other-formulas.gz"
    rest = dict(content["statements"])
    del rest[remembered.source_hash(statement())]
    of_rest.write_bytes(gzip.compress(json.dumps({**content, "statements": rest}).encode()))
    of_file(of_rest)
    assert recall_or_read(statement()) is None


@pytest.mark.parametrize(
    "content", [b"", b"no gzip", *(gzip.compress(text, mtime=0) for text in (b"no json", b"[]"))]
)
def test_a_broken_file_is_as_good_as_none(
    content: bytes, of_file: Callable[[Path], None], tmp_path: Path
) -> None:
    file = tmp_path / "broken.gz"
    file.write_bytes(content)
    of_file(file)
    assert recall_or_read(statement()) is None
    assert origin([statement()]) == ""


def test_what_a_clock_cut_short_is_not_shipped(
    of_file: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_file(tmp_path / "none")
    monkeypatch.setattr(shipped, "recall_or_prove", lambda *_, **__: [])  # none of it is kept then
    with pytest.raises(SystemExit, match="is not kept, since a clock cut it short"):
        ship(tmp_path / "release.gz")
    assert not (tmp_path / "release.gz").exists()
