"""Which names are of theorems; who asks loads none, and no prover."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dpverify.errors import InvalidArgumentError

SHIPPED = "theorems"
"""The name of all theorems that come with the program."""
FOLDER = Path(__file__).parent
"""Where their pages are."""


def is_page_of_theorems(text: str) -> bool:
    """Whether a page declares letters by their kinds."""
    return re.search(r"^\|\s*letter\s*\|\s*kind\s*\|", text, re.MULTILINE) is not None


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
    of = {name: _is_theorem(name) for name in names}
    return tuple(name for name in names if not of[name]), tuple(name for name in names if of[name])


def _is_theorem(name: str) -> bool:
    if name == SHIPPED or name.startswith(("theorem.", "lemma.")):
        from dpverify.statements.theorems.library import shipped

        return name == SHIPPED or name in shipped()
    path = Path(name)
    if not name.endswith(".md") or not path.is_file():
        return False
    try:
        return is_page_of_theorems(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return False
