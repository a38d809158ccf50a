"""docs/papers is what `make pages` makes: a page for each paper, with links to files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpverify.statements.paper import papers
from dpverify.verification.paper_page import main

PAGES = Path(__file__).parents[2] / "docs" / "papers"


def test_the_pages_are_up_to_date(tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "papers"
    folder.mkdir(parents=True)
    assert main([str(folder)]) == 0
    assert {page.name for page in folder.iterdir()} == {f"{key}.md" for key in papers()}
    for page in folder.iterdir():
        made, kept = page.read_text(encoding="utf-8"), (PAGES / page.name).read_text(encoding="utf-8")
        assert _named(made) == _named(kept), "run make pages"
        for link in re.findall(r"\]\(([^)]+)\)", kept):
            assert (PAGES / link).resolve().is_file(), link


def _named(page: str) -> str:
    """The page without the folders of its links, which depend on where it lies."""
    return re.sub(r"\]\([^)]*\)", "]", page)


@pytest.mark.parametrize("arguments", [[], ["no-such-folder"], ["a", "b"]])
def test_bad_input(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1
