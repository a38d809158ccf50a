"""What somebody else registers as a paper and cannot be loaded is named, and ends nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpverify.cli import main
from dpverify.statements import paper


def _registers(folder: Path, name: str, module: str) -> None:
    (folder / f"{name}.py").write_text(module, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[dpverify.papers]\n{name} = {name}:PAPER\n", encoding="utf-8")


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Registers a module as a paper, until the test ends."""

    def register(module: str) -> None:
        _registers(tmp_path, "brokenplugin", module)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(paper, "broken", {})
        monkeypatch.delitem(sys.modules, "brokenplugin", raising=False)
        paper.registered.cache_clear()

    yield register
    paper.registered.cache_clear()


@pytest.mark.parametrize(
    ("module", "why"),
    [
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("PAPER = 3\n", "allowed: a Paper object"),
        ("", "has no attribute 'PAPER'"),
    ],
)
def test_the_others_are_there(plugin: Callable[[str], None], module: str, why: str) -> None:
    known = set(paper.registered())
    plugin(module)
    assert set(paper.registered()) == known
    assert why in paper.broken["brokenplugin"]


def test_it_is_named_behind_what_was_asked(
    plugin: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    plugin("1 / 0\n")
    with pytest.raises(SystemExit) as ended:
        main(["list", "no.such-id"])
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert "no.such-id" in said.err
    begins = "dpverify: the paper brokenplugin is left out (brokenplugin:PAPER of brokenplugin 1.0: "
    assert said.err.splitlines()[-1].startswith(begins)
