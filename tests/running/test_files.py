"""Tables are put into pages, and nothing else of a page changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpverify.errors import InvalidDataError
from dpverify.files import write_table

BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def test_a_table_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before {BEGIN}\nold\nrows\n{END}\nafter\n", encoding="utf-8")
    write_table(page, iter(["| a |", "| - |"]))
    assert page.read_text(encoding="utf-8") == f"before {BEGIN}\n| a |\n| - |\n{END}\nafter\n"


@pytest.mark.parametrize("text", ["", BEGIN, END, f"{END}\n{BEGIN}"])
def test_a_page_without_its_place_stays_as_it_is(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidDataError, match=r"page\.md lacks"):
        write_table(page, ["| a |"])
    assert page.read_text(encoding="utf-8") == text
