"""Printed formulas on a page: MathML, or the LaTeX itself if it cannot be read."""

from __future__ import annotations

import re
from functools import lru_cache
from xml.etree import ElementTree

from markupsafe import Markup, escape

from dpverify.reports.mathml import mathml

_DELIMITERS = re.compile(
    r"(?<!\\)\$\$(.+?)(?<!\\)\$\$|(?<!\\)\$(.+?)(?<!\\)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.S
)
_WORDS = re.compile(r"[^\\{}_^]*[A-Za-z]{3,}[^\\{}_^]*")
_NARROW = "()[]{}|‖,"
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_BREAKS = frozenset("=≤≥<>≠≈∼∈+−±∓⟹∝")
"""Signs before which a formula may be broken, outside of parentheses; before words it may be, too."""
_NARROWEST = 24.0
"""Characters as set that fit into a line everywhere."""
_DEEPEST = 3
"""In fewer parentheses than that a formula may be broken."""
_LINES = 10
"""How many lines it may fill."""
_SMALLER = 0.7
"""Of the width of a letter, that of one in an index or an exponent."""


def formula(latex: str) -> Markup:
    """A displayed formula: MathML, or `<code>` with the LaTeX where it cannot be converted.

    Plain words, and text with formulas between dollar signs, become a paragraph with formulas in the line.
    """
    latex = latex.strip()
    if not latex:
        return Markup("")
    parts = pieces(latex)
    if len(parts) == 1 and parts[0][1] == "block" and parts[0][0] == latex:
        return _math(latex, "block")
    words = (_math(part, display) if display else escape(part) for part, display in parts)
    return Markup('<p class="prose">') + Markup("").join(words) + Markup("</p>")


@lru_cache(maxsize=4096)
def inline(latex: str, widest: float) -> Markup:
    """A formula in a line of text; nothing where it is wider, in characters as set."""
    row = mathml(latex.strip(), "inline")
    return Markup("") if row is not None and _width(row) > widest else _math(latex.strip(), "inline")


@lru_cache(maxsize=4096)
def in_lines(latex: str, widest: float) -> Markup:
    """A formula that is broken before relations, sums, differences and words where it does not fit into a line.

    What is in parentheses is broken only where its part would still be too wide. Nothing where a part would be wider
    than `widest`, in characters as set, even so, or all more than ten times that.
    """
    if [kind for _, kind in pieces(latex)] != ["block"]:
        return formula(latex) if len(latex) <= _LINES * widest else Markup("")
    row = mathml(latex.strip(), "block")
    if row is None:
        return Markup("")
    parts, breaks = [list(row)], _breaks(row)
    for depth in range(_DEEPEST):
        fits = widest if depth else min(widest, _NARROWEST)  # so that it can be broken on a phone, too
        parts = [
            piece
            for part in parts
            for piece in ([part] if sum(map(_width, part)) <= fits else _split(part, breaks, depth))
        ]
    widths = [sum(map(_width, part)) for part in parts if not _is_text(part)]
    if max(widths, default=0.0) > widest or sum(widths) > _LINES * widest:
        return Markup("")
    return Markup('<span class="lines">{}</span>').format(Markup(" ").join(map(_line, parts)))


def _breaks(row: ElementTree.Element) -> dict[ElementTree.Element, int]:
    """Before what a formula may be broken, and how many parentheses that is in."""
    found: dict[ElementTree.Element, int] = {}
    depth, before = 0, None
    for child in row:
        text, sign = (child.text or "").strip(), child.tag == "mo" and child.get("lspace") != "0"
        words = child.tag == "mtext" and text[:1].isalpha()
        after = before is not None and (before.tag == "mtext" or (depth == 0 and before.text == ","))
        if before is not None and ((sign and text in _BREAKS) or words or after):
            found[child] = depth
        depth += (child.tag == "mo") * ((text in _OPENING) - (text in _CLOSING))
        before = child
    return found


def _split(
    part: list[ElementTree.Element], breaks: dict[ElementTree.Element, int], depth: int
) -> list[list[ElementTree.Element]]:
    """A part, broken wherever it may be at that depth."""
    found: list[list[ElementTree.Element]] = []
    for child in part:
        if not found or breaks.get(child) == depth:
            found.append([])
            if child in breaks and child.tag == "mo":
                child.set("form", "infix")  # though nothing comes before it any more
        found[-1].append(child)
    return found


def _is_text(part: list[ElementTree.Element]) -> bool:
    """Whether it is words alone, which a browser breaks by itself."""
    return len(part) == 1 and part[0].tag == "mtext"


def _line(part: list[ElementTree.Element]) -> Markup:
    if _is_text(part):
        return Markup("{}").format(part[0].text)
    math = ElementTree.Element("math", {"display": "inline", "displaystyle": "true"})
    math.extend(part)
    return Markup(ElementTree.tostring(math, encoding="unicode"))


def _width(element: ElementTree.Element) -> float:
    text, parts = (element.text or "").strip(), [_width(child) for child in element]
    match element.tag:
        case "mo" if element.get("lspace") == "0" or (len(text) == 1 and text in _NARROW):
            return 0.7
        case "mo":
            return len(text) + 1.0
        case "mi" | "mn" | "mtext":
            return float(len(text))
        case "mspace":
            return 0.3
        case "mfrac":
            return 0.8 * max(parts) + 0.3
        case "msup" | "msub" | "msubsup":
            return parts[0] + _SMALLER * max(parts[1:])
        case "munder" | "mover" | "munderover":
            return max(parts[0], _SMALLER * max(parts[1:]))
        case "msqrt":
            return 1 + sum(parts)
        case "mroot":
            return 1 + parts[0]
        case "mtable":
            return max(parts, default=0.0)
    return sum(parts)


def pieces(text: str) -> list[tuple[str, str]]:
    """Formulas and the words around them: each with `block` or `inline`, where it is a formula, else with nothing.

    Text without dollar signs is one formula, unless it is plain words.
    """
    text = text.strip()
    if _DELIMITERS.search(text) is None:
        return [(text, "" if _WORDS.fullmatch(text) else "block")] if text else []
    found: list[tuple[str, str]] = []
    end = 0
    for match in _DELIMITERS.finditer(text):
        found.append((text[end : match.start()], ""))
        inner = next(group for group in match.groups() if group is not None)
        found.append((inner.strip(), "block" if match[1] is not None or match[4] is not None else "inline"))
        end = match.end()
    found.append((text[end:], ""))
    return [(part, display) for part, display in found if part]


@lru_cache(maxsize=4096)
def _math(latex: str, display: str) -> Markup:
    root = mathml(latex, display)
    if root is None:
        return Markup('<code class="latex">{}</code>').format(latex)
    return Markup(ElementTree.tostring(root, encoding="unicode"))
