"""LaTeX compared as a reader would: what the sheets show with what is printed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence


def plain(text: str) -> str:
    """LaTeX without what nobody sees: spacing, sizes of brackets, braces around one sign or around braces."""
    # a dot ends a command, so that spacing can go
    text = re.sub(r"\\([A-Za-z]+)\s*", r"\\\1·", text)
    text = re.sub(
        r"\\(left|right|middle|[bB]igg?[lrm]?|quad|qquad|displaystyle|mbox|mathop)·|\\\\|\\[,;:! ]|~|\s",
        "",
        text,
    )
    for same, one in (
        (r"\^\{\\prime·\}", "'"),
        (r"\\leq·", r"\\le·"),
        (r"\\geq·", r"\\ge·"),
        (r"\\[td]frac·", r"\\frac·"),
        (r"\\[lr]Vert·", r"\\|"),
    ):
        text = re.sub(same, one, text)
    text = text.replace("{}", "")
    # braces that hold several signs say what is a fraction's or a power's, and stay
    before = ""
    while before != text:
        before, text = text, re.sub(r"(?<!\\)\{(\\[A-Za-z]+·|\\?[^\\{}]|\{[^{}]*\})\}", r"\1", text)
    return re.sub(r"([A-Za-z])'_(\{[^{}]*\}|\w)", r"\1_\2'", text)


_RELATION = re.compile(
    r"[=<>]|\\(?:le|ge|neq?|doteq|approx|lesssim|gtrsim|ll|gg|equiv|propto|preceq|succeq|in|iff)·"
)
_OPEN = re.compile(rf"(?:{_RELATION.pattern}|[-+(,;.]|\\cdot·)$")
_END = re.compile(rf"{_RELATION.pattern}|[,;.]|\\text·|$")


def relations(text: str) -> list[int]:
    """Where the relations stand that are in no braces."""
    depth, out = 0, []
    for n, c in enumerate(text):
        if c in "{}" and text[n - 1 : n] != "\\":
            depth += 1 if c == "{" else -1
        elif not depth and _RELATION.match(text, n):
            out.append(n)
    return out


def covered(lines: Sequence[str], obligations: Mapping[str, str]) -> list[tuple[tuple[str, ...], bool]]:
    """For each line of a display, the obligations whose LaTeX is part of it, and whether they say all of it.

    A part begins and ends where a link of a chain of relations does; all of a line is said where each of its relations
    is within a part. Lines belong together: a part may begin in one and end in the next.
    """
    texts = [plain(line) for line in lines]
    for n, following in enumerate(texts[1:]):
        # a line that neither breaks off nor goes on in the next one ends there
        if not (_OPEN.search(texts[n]) or _RELATION.match(following)):
            texts[n] += ";"
    whole = "".join(texts)
    found = {name: list(_parts(whole, plain(latex))) for name, latex in obligations.items()}
    out, start = [], 0
    for text in texts:
        places = [start + n for n in relations(text)]
        names = {name: spans for name, spans in found.items() if _within(places, spans)}
        spans = [span for some in names.values() for span in some]
        all_said = bool(places) and all(_within([n], spans) for n in places)
        out.append((tuple(names), all_said))
        start += len(text)
    return out


def _parts(whole: str, part: str) -> Iterable[tuple[int, int]]:
    """Where a part stands that no sign before or behind it belongs to."""
    if not _RELATION.search(part):
        return
    start = whole.find(part)
    while start >= 0:
        end = start + len(part)
        before = whole[:start]
        if (not before or re.search(rf"(?:{_RELATION.pattern}|[,;])$", before)) and _END.match(whole, end):
            yield start, end
        start = whole.find(part, start + 1)


def _within(places: Iterable[int], spans: Iterable[tuple[int, int]]) -> bool:
    return any(low <= n < high for n in places for low, high in spans)
