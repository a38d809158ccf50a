"""Which of two readings is meant, said beside a display and not in it."""

from __future__ import annotations

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import CLOSING, OPENING, Latex, normal, texts

_ADDED = frozenset(("(", ")", "[", "]", r"\{", r"\}", r"\cdot"))


def with_reading(latex: str, reading: str) -> str:
    """A display with a part of it replaced by the same part with brackets and dots added.

    Raises:
        InvalidArgumentError: if the reading differs in anything else, or fits no place or several.
    """
    display, added = normal(latex), texts(normal(reading))
    parts = texts(display)
    places = []
    for start in range(len(parts)):
        stop = _covers(parts, start, added)
        if stop is not None and _balanced(parts[start:stop]):
            places.append((start, stop))
    if len(places) != 1:
        how = "no part" if not places else f"{len(places)} parts"
        raise InvalidArgumentError(
            "reading",
            Latex(reading),
            f"one part of the display with brackets or dots added; it fits {how} of it",
        )
    start, stop = places[0]
    return f"{latex[: display[start].start]} {reading} {latex[display[stop - 1].end :]}"


def _covers(parts: tuple[str, ...], start: int, added: tuple[str, ...]) -> int | None:
    """The index after the pieces from `start` on that are the reading without what it adds; None where it is not."""
    i = start
    for k, part in enumerate(added):
        if i < len(parts) and parts[i] == part:
            i += 1
        elif part not in _ADDED or (k == 0 and start > 0 and part == r"\cdot"):
            return None
    return i if i > start else None


def _balanced(parts: tuple[str, ...]) -> bool:
    depth = 0
    for part in parts:
        depth += part in OPENING or part == "{"
        depth -= part in CLOSING or part == "}"
        if depth < 0:
            return False
    return depth == 0
