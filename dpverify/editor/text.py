"""What an editor asks of the text of a page: where a display ends, which letters there are, where an id is declared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from dpverify.statements.pages import SHARED
from dpverify.statements.paper import PaperFolder, papers
from dpverify.statements.theorems.names import FOLDERS

_ID = re.compile(r"[A-Za-z][\w-]*(?:\.[\w-]+)+")
_LETTER = re.compile(r"^\|\s*\$([^$]+)\$\s*\|\s*(?P<kind>[^|]*)\|(?P<meaning>[^|]*)")


def end_of(lines: Sequence[str], line: int) -> int:
    """The last line, from 1, of the display that begins at a line; that line itself where none does."""
    first = lines[line - 1].lstrip() if line <= len(lines) else ""
    if not first.startswith("$$") or first.count("$$") > 1:
        return line
    ends = (number for number in range(line + 1, len(lines) + 1) if "$$" in lines[number - 1])
    return next(ends, line)


def letters_of(lines: Sequence[str], path: Path) -> dict[str, str]:
    """LaTeX of the letters that a page declares, or `letters.md` beside it, with their kinds and meanings."""
    shared = path.with_name(SHARED)
    beside = shared.read_text(encoding="utf-8").splitlines() if shared.is_file() else []
    rows = [match for line in (*beside, *lines) if (match := _LETTER.match(line)) is not None]
    return {row[1].strip(): f"{row['kind'].strip()} {row['meaning'].strip()}".strip() for row in rows}


def id_at(line: str, column: int) -> str:
    """The id, such as `theorem.weaker`, around a column of a line, from 0; empty if there is none."""
    return next((found[0] for found in _ID.finditer(line) if found.start() <= column <= found.end()), "")


def declared(id_: str, path: Path) -> tuple[Path, int] | None:
    """The page and the line, from 1, of the heading with an id: beside a page, of a paper, or among theorems."""
    for page in _pages(path):
        text = page.read_text(encoding="utf-8-sig", errors="replace")
        if f"{{#{id_}}}" in text:
            lines = text.splitlines()
            return page, next(n for n, line in enumerate(lines, 1) if line.rstrip().endswith(f"{{#{id_}}}"))
    return None


def _pages(path: Path) -> Iterator[Path]:
    yield from sorted(path.parent.glob("*.md"))
    for folder in FOLDERS.values():
        yield from sorted(folder.glob("*.md"))
    for paper in papers().values():
        if isinstance(paper, PaperFolder):
            yield from dict.fromkeys(paper.pages.values())
