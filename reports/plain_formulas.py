"""Printed formulas on one line of plain characters, for a terminal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from xml.etree import ElementTree

from dpverify.reports.formulas import pieces
from dpverify.reports.mathml import mathml
from dpverify.views.subjects import signs

_RAISED = str.maketrans("0123456789+−-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_ACCENTS = {"^": "\u0302", "~": "\u0303", "¯": "\u0304", "―": "\u0304", "˙": "\u0307", "→": "\u20d7"}
_CLOSING = {")": "(", "]": "[", "}": "{", "⟩": "⟨", "⌉": "⌈", "⌋": "⌊"}
_TIGHT = frozenset("/!()[]{}⟨⟩.:") | {"′", "″", "‖", "|", "∥"}
_SYMBOLS = str.maketrans({"∥": "‖", "⋅": "·", "≔": ":="})

Kind = Literal["operand", "fraction", "script", "open", "close", "sign", "space", "large"]
"""What stands in a formula, as far as the space around it goes."""


@dataclass(frozen=True)
class _Piece:
    text: str
    kind: Kind = "operand"
    """What it begins as."""
    ending: Kind | None = None
    """What it ends as, where that is something else."""


def plain_formula(latex: str) -> str:
    """A formula in LaTeX, or text with formulas between dollar signs, in characters that a terminal shows.

    For instance `α‖x₀ − x′₀‖²/(2Tσ²)`. Powers and indices that Unicode has no signs for are written with `^` and `_`.
    A formula that cannot be read is given back as it is.
    """
    text = "".join(_plain(part) if display else part for part, display in pieces(latex))
    return " ".join(text.split())


def plain_words(text: str) -> str:
    """Words, in which formulas may stand between dollar signs."""
    return plain_formula(text) if "$" in text else text


def plain_signs(text: str) -> str:
    """A formula that was typed, such as `a^2*b <= c`, with the signs of print: `a²·b ≤ c`."""
    text = re.sub(r"\^([0-9]+)(?![0-9.])", lambda match: match[1].translate(_RAISED), signs(text))
    return text.replace(" == ", " = ").replace("*", "·")


@lru_cache(maxsize=4096)
def _plain(latex: str) -> str:
    root = mathml(latex, "inline")
    return latex if root is None else _row(list(root)).text


def _row(elements: list[ElementTree.Element]) -> _Piece:
    """Elements that stand side by side, with the space that keeps them apart."""
    found: list[_Piece] = []
    for element in elements:
        piece = _piece(element, found)
        if piece.text:
            found.append(piece)
    if len(found) == 1:
        return found[0]
    text = ""
    before: Kind = "open"
    for piece in found:
        text += _between(before, piece.kind) + piece.text
        before = piece.ending or piece.kind
    return _Piece(re.sub(r" {2,}", " ", text).replace(" ,", ",").strip())


def _between(before: Kind, after: Kind) -> str:
    if "sign" in (before, after) or before == "open" or after == "close" or "space" in (before, after):
        return ""
    if "fraction" in (before, after) and before != "large":
        return " · "
    if before == "large" or (before == "script" and after != "open"):  # else e^x y would read as e to the xy
        return " "
    return ""


def _piece(element: ElementTree.Element, before: list[_Piece]) -> _Piece:
    children = list(element)
    match element.tag:
        case "mo":
            return _operator(element, before)
        case "mi" | "mn" | "mtext":
            text = (element.text or "").translate(_SYMBOLS)
            return _Piece(text, "space" if element.tag == "mtext" else "operand")
        case "mspace":
            return _Piece(" ", "space")
        case "mfrac":
            return _fraction(element, *map(_row, ([children[0]], [children[1]])))
        case "msqrt":
            return _Piece("√" + _bracketed(_row(children).text))
        case "mroot":
            return _Piece(f"{_bracketed(_one(children[0]))}^(1/{_bracketed(_one(children[1]))})", "script")
        case "msub" | "msup" | "msubsup":
            return _scripts(element.tag, children, before)
        case "munder" | "mover" | "munderover":
            return _limits(element.tag, children)
        case "mtable":
            return _Piece("; ".join(_cells([_row(list(cell)).text for cell in row]) for row in children))
        case _:
            return _row(children)


def _cells(texts: list[str]) -> str:
    """A row of an alignment, or a case and its condition, which a comma keeps apart."""
    found = ""
    for text in filter(None, texts):
        apart = "" if not found else ", " if text[0].isalnum() else " "
        found += apart + text
    return found


def _one(element: ElementTree.Element) -> str:
    return _row([element]).text


def _operator(element: ElementTree.Element, before: list[_Piece]) -> _Piece:
    text = (element.text or "").strip().translate(_SYMBOLS)
    if text in {",", ";"}:
        return _Piece(f"{text} ", "sign")
    if text in _CLOSING.values():
        return _Piece(text, "open")
    if text in _CLOSING:
        return _Piece(text, "close")
    if text in {"∑", "∏", "∫"}:
        return _Piece(text, "large")
    if text in {"‖", "|"}:
        opened = sum(piece.text.startswith(text) for piece in before) % 2
        return _Piece(text, "close" if opened else "open")
    if text[0].isalpha() or text in {"∇", "∂", "¬", "√", "…", "⋯"}:
        return _Piece(text)
    tight = text in {"−", "+", "±"} and (not before or before[-1].kind in ("open", "sign"))
    return _Piece(text if tight or text[0] in _TIGHT else f" {text} ", "sign")


def _fraction(element: ElementTree.Element, above: _Piece, below: _Piece) -> _Piece:
    if element.get("linethickness") == "0":  # a binomial coefficient, whose brackets are outside
        return _Piece(f"{above.text} choose {below.text}")
    top = f"({above.text})" if _is_sum(above.text) else above.text
    return _Piece(f"{top}/{_bracketed(below.text)}", "fraction")


def _scripts(tag: str, children: list[ElementTree.Element], before: list[_Piece]) -> _Piece:
    base = _piece(children[0], before)
    lower = _one(children[1]) if tag != "msup" else ""
    upper = _one(children[-1]) if tag != "msub" else ""
    primes = re.match("[′″]*", upper)
    text = base.text.strip() + (primes[0] if primes else "")
    upper = upper.lstrip("′″")
    ending = base.ending or base.kind
    if lower:
        easy = lower.isdecimal()
        text += lower.translate(_LOWERED) if easy else _script("_", lower)
        ending = ending if easy or ending == "large" else "script"
    if upper:
        easy = re.fullmatch(r"[+−-]?[0-9]+", upper) is not None
        text += upper.translate(_RAISED) if easy else _script("^", upper)
        ending = ending if easy or ending == "large" else "script"
    return _Piece(text, base.kind, ending)


def _limits(tag: str, children: list[ElementTree.Element]) -> _Piece:
    base = _row([children[0]])
    if tag == "mover":
        accent = _ACCENTS.get(_one(children[1]).strip())
        if accent is not None:
            return _Piece(base.text + accent if len(base.text) == 1 else f"({base.text}){accent}")
    lower = _one(children[1]) if tag != "mover" else ""
    upper = _one(children[-1]) if tag != "munder" else ""
    scripts = (_script("_", lower) if lower else "") + (_script("^", upper) if upper else "")
    return _Piece(base.text.strip() + scripts, "large")


def _script(sign: str, text: str) -> str:
    """What is set below or above the line, without the spaces that it has on the line."""
    close = re.sub(r" ([^\s\w]+) ", r"\1", f" {text} ").strip().replace(", ", ",")
    bare = re.fullmatch(r"\w[\u0300-\u036f]?[′″]*|[0-9]+|[^\s\w()]", close) is not None
    return sign + (close if bare or _outer_brackets(close) else f"({close})")


def _bracketed(text: str) -> str:
    """The text, in brackets unless it is one symbol or number, or stands in brackets already."""
    power = re.match(r"(.*?)[⁰¹²³⁴-⁹]*$", text)
    base = power[1] if power else text
    bare = re.fullmatch(r"\w[\u0300-\u036f]?(?:[₀-₉]+|_\w)?[′″]*|[0-9.]+|[∞ℝ]|\|\w+\||√\w", base) is not None
    return text if bare or _outer_brackets(base.removeprefix("√")) else f"({text})"


def _outer_brackets(text: str) -> bool:
    """Whether a pair of round brackets goes around all of the text."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return place == len(text) - 1 and sign == ")"
    return False


def _is_sum(text: str) -> bool:
    """Whether plus, minus or a relation stands outside of all brackets and norms."""
    depth, norms = 0, 0
    for word in re.split(r"(\s[^\s\w]+\s|[()\[\]{}‖|])", text):
        if word in {"‖", "|"}:
            norms ^= 1 if word == "‖" else 2
        elif word in {"(", "[", "{"}:
            depth += 1
        elif word in {")", "]", "}"}:
            depth -= 1
        elif depth == norms == 0 and re.fullmatch(r"\s[^\s\w·]+\s", word):
            return True
    return False
