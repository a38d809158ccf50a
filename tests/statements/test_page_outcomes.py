"""Pages as people write them, and what is read of each or why it is refused: the table is page_outcomes.txt.

A page stands above a line that begins with `=>`. What follows is what was read of its displays, or lines and names of
what is refused. Pages without a table of letters get the one at the beginning of the file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dpverify.statements.pages import PageError, read_page
from dpverify.verification.catalog.rows import what_was_read

FILE = Path(__file__).with_name("page_outcomes.txt")


def cases() -> list[tuple[str, str]]:
    """Each page with its outcome."""
    letters, *rest = FILE.read_text(encoding="utf-8").split("\n----\n")
    found = []
    for case in rest:
        page, _, said = case.partition("\n=> ")
        found.append(
            (
                page if page.startswith(("| ", "<!--\n|", "```\n|", "> |", "!")) else f"{letters}\n{page}",
                said.rstrip("\n"),
            )
        )
    return found


def outcome(page: str, folder: Path) -> str:
    """What is read of a page, a line for each row; or what is refused, with its line."""
    path = folder / "mine.md"
    path.write_text(page.removeprefix("!"), encoding="utf-8")
    try:
        read = read_page(path)
    except PageError as error:
        found = dict.fromkeys(
            f"line {line}: {what.argument.partition(' at ')[0]}" for line, what in error.errors
        )
        return "refused, " + "; ".join(found)
    rows = [f"{o.name} ({o.coverage}): {what_was_read(o)}" for o in read.statement.printed]
    return "\n".join([*rows, *([read.summary()] if read.unread else [])])


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("page", "said"), cases())
def test_every_page_is_read_as_it_is_written_or_refused(page: str, said: str, tmp_path: Path) -> None:
    assert outcome(page, tmp_path) == said


def test_the_table_is_long_and_each_page_stands_in_it_once() -> None:
    pages = [page for page, _ in cases()]
    assert len(pages) >= 200
    assert len(set(pages)) == len(pages)
    assert {said.startswith("refused") for _, said in cases()} == {True, False}
