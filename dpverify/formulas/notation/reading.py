"""Which of two readings is meant, said beside a display and not in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import CLOSING, OPENING, Latex, normal, texts

_Read = TypeVar("_Read")
_ADDED = frozenset(("(", ")", "[", "]", r"\{", r"\}", r"\cdot"))


def meant(latex: str, reading: str, read: Callable[[str], _Read]) -> _Read:
    """What a display says, read as said beside it; a reading settles what it says and changes nothing."""
    if not reading:
        return read(latex)
    found = read(with_reading(latex, reading))
    for less in with_less(latex, reading):
        try:
            other = read(less)
        except InvalidArgumentError:
            continue
        if other != found:
            allowed = "no brackets or dots but those that settle which of two readings is meant"
            raise InvalidArgumentError("reading", Latex(reading), allowed)
    return found


def with_reading(latex: str, reading: str) -> str:
    """A display with a part of it replaced by the same part with brackets and dots added."""
    start, stop, _ = _place(latex, reading)
    return f"{latex[:start]} {reading} {latex[stop:]}"


def with_less(latex: str, reading: str) -> Iterator[str]:
    """The display with all of a reading but one pair of the brackets, or one of the dots, that it adds."""
    start, stop, added = _place(latex, reading)
    found = normal(reading)
    opened: list[int] = []
    groups: list[set[int]] = []
    for k, piece in enumerate(found):
        if piece.text in OPENING:
            opened.append(k)
        elif piece.text == r"\cdot":
            groups.append({k})
        elif piece.text in CLOSING and opened:
            groups.append({k, opened.pop()})
    groups = [group for group in groups if group <= added]
    rest = added.difference(*groups)
    """Brackets that are closed by one of the display's own."""
    for group in (*groups, rest) if rest else groups:
        less = list(reading)
        for i in group:
            less[found[i].start : found[i].end] = " " * (found[i].end - found[i].start)
        yield f"{latex[:start]} {''.join(less)} {latex[stop:]}"


def _place(latex: str, reading: str) -> tuple[int, int, set[int]]:
    """Where the part begins and ends that is read, and which pieces of the reading are added."""
    display, wanted = normal(latex), texts(normal(reading))
    parts = texts(display)
    places = []
    for start in range(len(parts)):
        found = _covers(parts, start, wanted)
        if found is not None and _balanced(parts[start : found[0]]):
            places.append((start, *found))
    if len(places) != 1:
        how = "no part" if not places else f"{len(places)} parts"
        allowed = f"one part of the display with brackets or dots added; it fits {how} of it"
        raise InvalidArgumentError("reading", Latex(reading), allowed)
    start, stop, added = places[0]
    return display[start].start, display[stop - 1].end, added


def _covers(parts: tuple[str, ...], start: int, wanted: tuple[str, ...]) -> tuple[int, set[int]] | None:
    """The index after the pieces from `start` on that are the reading without what it adds, and what that is."""
    i, added = start, set()
    for k, part in enumerate(wanted):
        if i < len(parts) and parts[i] == part:
            i += 1
        elif part not in _ADDED or (k == 0 and start > 0 and part == r"\cdot"):
            return None
        else:
            added.add(k)
    return (i, added) if i > start else None


def _balanced(parts: tuple[str, ...]) -> bool:
    depth = 0
    for part in parts:
        depth += part in OPENING or part == "{"
        depth -= part in CLOSING or part == "}"
        if depth < 0:
            return False
    return depth == 0
