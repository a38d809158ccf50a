"""docs/papers is what `make pages` makes: a page for each paper, with verdicts, and links to files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpverify.ledger.document import Ledger
from dpverify.reports import write_ledger
from dpverify.statements.paper import papers
from dpverify.verification.paper_page import main

from ..packaging.page_blocks import anchors

PAGES = Path(__file__).parents[2] / "docs" / "papers"


def test_the_pages_are_up_to_date(tmp_path: Path, ledger_of_proofs: Ledger) -> None:
    folder, file = tmp_path / "docs" / "papers", tmp_path / "ledger.json"
    folder.mkdir(parents=True)
    write_ledger(ledger_of_proofs, file)
    assert main([str(folder), str(file)]) == 0
    assert {page.name for page in folder.iterdir()} == {f"{key}.md" for key in papers()}
    for page in folder.iterdir():
        made, kept = page.read_text(encoding="utf-8"), (PAGES / page.name).read_text(encoding="utf-8")
        assert _named(made) == _named(kept), "run make verify pages"
        assert "refuted" in kept
        for link in re.findall(r"(?<!\\)\]\(([^)]+)\)", kept):
            name, _, anchor = link.partition("#")
            place = (PAGES / name).resolve()
            assert place.is_file(), link
            assert not anchor or anchor in anchors(place), link


def _named(page: str) -> str:
    """The page without the folders of its links, which depend on where it lies."""
    return re.sub(r"\]\([^)]*\)", "]", page)


@pytest.mark.parametrize("arguments", [
    [], ["no-such-folder", "ledger.json"], ["."], [".", "no-such-ledger.json"], ["a", "b", "c"],
])  # fmt: skip
def test_bad_input(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1
