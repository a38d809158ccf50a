"""Which names are of theorems and of mechanisms; who asks loads none, and no prover."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dpverify.errors import InvalidArgumentError

SHIPPED, MECHANISMS = "theorems", "mechanisms"
"""The names of all theorems, and of all mechanisms, that come with the program."""
FOLDER = Path(__file__).parent
FOLDERS = {SHIPPED: FOLDER, MECHANISMS: FOLDER.parent / "mechanisms" / "gallery"}
"""Where their pages are."""


_LETTERS = re.compile(r"^\|\s*letter\s*\|\s*kind\s*\|", re.MULTILINE)
_RECORDS = re.compile(r"^[-*]\s+records:", re.MULTILINE)


def is_page_of_theorems(name: str) -> bool:
    """Whether a name is of a page that declares letters by their kinds."""
    return _is_page(name, _LETTERS)


def is_page_of_mechanisms(name: str) -> bool:
    """Whether a name is of a page that says what its records are."""
    return _is_page(name, _RECORDS)


def _is_page(name: str, line: re.Pattern[str]) -> bool:
    path = Path(name)
    if not name.endswith(".md") or not path.is_file():
        return False
    try:
        return line.search(path.read_text(encoding="utf-8-sig")) is not None
    except (OSError, UnicodeDecodeError):
        return False


def about_theorems(names: Sequence[str]) -> bool:
    """Whether names are of theorems: all, an id, or a page of one's own.

    Raises:
        InvalidArgumentError: where some are and others are not.
    """
    others, found = split_names(names)
    if found and others:
        raise InvalidArgumentError("ids", others[0], f"theorems alone, where `{found[0]}` is asked for")
    return bool(found)


def split_names(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names that are of no theorems, and those that are."""
    of = {name: _is_theorem(str(name)) for name in names}
    return tuple(name for name in names if not of[name]), tuple(name for name in names if of[name])


def _is_theorem(name: str) -> bool:
    return name in FOLDERS or name in named_like(name) or is_page_of_theorems(name)


def named_like(name: str) -> Sequence[str]:
    """The ids of all theorems and mechanisms, where a name begins as theirs do."""
    if not name.startswith(("theorem.", "lemma.", "mechanism.")):
        return ()
    from dpverify.statements.theorems.library import mechanism_pages, shipped

    return *shipped(), *mechanism_pages()
