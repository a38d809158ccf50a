"""LaTeX in pieces, and in one form: what looks the same comes out the same.

Spacing, sizes of brackets and braces that nobody sees fall away; arguments and scripts are always in braces, in the
order subscript, primes, superscript.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.hints import character

LONGEST = 4000
"""Characters in one formula at most."""
DEEPEST = 30
"""Levels of braces, or of brackets, at most."""


class Latex(str):
    """LaTeX in an error message: shown as it is, backslashes not doubled."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"`{self}`"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of LaTeX and where it was; `side` is `l` or `r` where the source says on which side a bar stands."""

    text: str
    start: int
    end: int
    side: str = ""


def refusal(latex: str, start: int, end: int, allowed: str) -> InvalidArgumentError:
    """What is said of a formula that cannot be read: the place, what stands there, what is allowed."""
    shown = latex[start:end].strip() or latex[max(0, start - 12) : start + 12].strip()
    place = f"formula at character {start + 1}" if latex.strip() else "formula"
    return InvalidArgumentError(place, Latex(shown), allowed)


_PIECE = re.compile(
    r"""
      (?P<skip>[ \t\r\n]+|~|&|\\[,;:!>\ ]|\\(?:quad|qquad|enspace|enskip|thinspace|medspace|thickspace|hfill
        |displaystyle|textstyle|scriptstyle|limits|nolimits|nonumber|notag|null|strut|mathstrut|allowbreak|nobreak)(?![A-Za-z])
        |\\(?:hspace\*?|[hv]?phantom|label)\s*\{(?:[^{}]|\{[^{}]*\})*\}|\\tag\*?\s*\{\$?\(?(?:[A-Za-z]\.?)?[\d.]*[a-z]?[*'†‡]*\)?\$?\})
    | (?P<environment>\\(?P<edge>begin|end)\s*\{(?P<named>aligned|align\*?|split|equation\*?|gathered|gather\*?)\}
        (?:\[[tbc]\])?)
    | (?P<line>\\\\\*?(?:\[\s*-?\d*\.?\d+\s*(?:pt|em|ex|mu|mm|cm|in|pc|sp|bp)\s*\])?)
    | (?P<size>\\(?:left|right|middle|[bB]igg?[lrm]?)(?![A-Za-z]))
    | (?P<words>\\(?:text|textrm|textnormal|textit|mbox|operatorname\*?)\s*\{(?P<inner>[^{}]*)\})
    | (?P<roman>\\mathrm\s*\{(?P<name>\s*[A-Za-z][A-Za-z\s]+)\})
    | (?P<command>\\[A-Za-z]+|\\[{}|])
    | (?P<other>[A-Za-z0-9{}\[\]()_^'+\-*/=<>|!,.:;])
    """,
    re.VERBOSE,
)
_KINDS = ("skip", "environment", "line", "size", "words", "roman", "command", "other")
_SAME = {
    r"\leq": r"\le", r"\leqslant": r"\le", r"\geq": r"\ge", r"\geqslant": r"\ge", r"\neq": r"\ne", r"\lt": "<",
    r"\gt": ">", r"\land": r"\wedge", r"\lor": r"\vee", r"\lnot": r"\neg", r"\Rightarrow": r"\implies",
    r"\Longrightarrow": r"\implies", r"\Leftrightarrow": r"\iff", r"\Longleftrightarrow": r"\iff",
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\dbinom": r"\binom", r"\tbinom": r"\binom",
    r"\lbrace": r"\{", r"\rbrace": r"\}", r"\Vert": r"\|", r"\vert": "|", r"\lbrack": "[", r"\rbrack": "]",
}  # fmt: skip
_BARS = {
    r"\lvert": ("|", "l"), r"\rvert": ("|", "r"), r"\lVert": (r"\|", "l"), r"\rVert": (r"\|", "r"),
}  # fmt: skip
ARGUMENTS = {
    r"\frac": 2, r"\binom": 2, r"\sqrt": 1,
    **dict.fromkeys(
        (
            r"\mathrm", r"\mathbb", r"\mathcal", r"\mathbf", r"\mathsf", r"\mathit", r"\mathfrak", r"\mathscr",
            r"\boldsymbol", r"\bm", r"\hat", r"\widehat", r"\tilde", r"\widetilde", r"\bar", r"\overline", r"\vec",
            r"\dot", r"\ddot", r"\check", r"\breve", r"\underline",
        ),
        1,
    ),
}  # fmt: skip
"""Commands that take arguments, and how many."""
ROOT = ("[of root", "of root]")
"""The brackets around the order of a root, which are no others."""
DRESS = frozenset(ARGUMENTS) - {r"\frac", r"\binom", r"\sqrt"}
"""Alphabets and accents: with their argument they are one letter."""


def _side(size: str) -> str:
    """The side that the size of a bracket says: `\\left`, `\\bigr`."""
    last = size[1] if size in (r"\left", r"\right") else size[-1]
    return last if last in "lr" else ""


def pieces(latex: str) -> list[Piece]:
    """LaTeX in pieces, spacing and sizes left out."""
    require(isinstance(latex, str) and latex.strip(), "formula", latex, "LaTeX that is not empty")
    if len(latex) > LONGEST:
        raise InvalidArgumentError("formula", Latex(latex), f"at most {LONGEST} characters")
    found: list[Piece] = []
    around: list[tuple[str, int, int]] = []
    position, side = 0, ""
    while position < len(latex):
        match = _PIECE.match(latex, position)
        if match is None:
            raise refusal(latex, position, position + 1, character(latex[position]))
        start, position = position, match.end()
        kind = next(name for name in _KINDS if match[name] is not None)
        text = match.group()
        if kind == "skip":
            continue
        if kind == "environment":
            if match["edge"] == "begin":
                around.append((match["named"], start, position))
            elif not around or around.pop()[0] != match["named"]:
                raise refusal(latex, start, position, "the end of what began last")
            continue
        if kind == "size":
            side = _side(text)
            if text in (r"\left", r"\right") and latex[position:].lstrip().startswith("."):
                position = latex.index(".", position) + 1
                found.append(Piece(text + ".", start, position))
            continue
        if kind == "line":
            if latex[position : position + 1] == "[":
                allowed = "a space or braces before a bracket at the start of a row"
                raise refusal(latex, start, position + 1, allowed)
            text = r"\\"
        elif kind in ("words", "roman"):
            inner = " ".join((match["inner"] or match["name"] or "").split())
            head = r"\text" if kind == "words" and not text.startswith(r"\operatorname") else r"\operatorname"
            text = f"{head}{{{inner}}}"
        text = _SAME.get(text, text)
        text, own = _BARS.get(text, (text, ""))
        found.append(Piece(text, start, position, own or (side if text in ("|", r"\|") else "")))
        side = ""
    if around:
        raise refusal(latex, *around[-1][1:], f"`\\end{{{around[-1][0]}}}` after it")
    return found


class _Normal:
    """Pieces in the one form; braces around arguments and scripts only."""

    def __init__(self, latex: str, found: list[Piece]) -> None:
        self.latex, self.pieces, self.at = latex, found, 0

    def sequence(self, closing: str, depth: int) -> list[Piece]:
        if depth > DEEPEST:
            here = self.pieces[min(self.at, len(self.pieces) - 1)]
            raise refusal(self.latex, here.start, here.end, f"at most {DEEPEST} levels of braces")
        out: list[Piece] = []
        opened = self.pieces[self.at - 1] if closing and self.at else None
        while self.at < len(self.pieces):
            piece = self.pieces[self.at]
            if piece.text == closing:
                self.at += 1
                return out
            if piece.text in ("_", "^", "'"):
                out += self.scripts(depth)
            else:
                out += self.unit(depth)
        if opened is not None:
            raise refusal(self.latex, opened.start, opened.end, f"a matching `{closing}`")
        return out

    def unit(self, depth: int) -> list[Piece]:
        """The next piece with its arguments; what is in braces without need comes without them."""
        piece = self.pieces[self.at]
        self.at += 1
        if piece.text == "{":
            return self.sequence("}", depth + 1)
        if piece.text == "}":
            raise refusal(self.latex, piece.start, piece.end, "a `{` before it")
        if piece.text in (r"\over", r"\choose", r"\atop"):
            raise refusal(self.latex, piece.start, piece.end, r"`\frac{}{}` or `\binom{}{}`")
        out = [piece]
        if piece.text == r"\sqrt" and self.at < len(self.pieces) and self.pieces[self.at].text == "[":
            bracket = self.pieces[self.at]
            self.at += 1
            inner = self.sequence("]", depth + 1)
            order = Piece(ROOT[0], bracket.start, bracket.end), Piece(ROOT[1], bracket.end, bracket.end)
            out += [order[0], *inner, order[1]]
        for _ in range(ARGUMENTS.get(piece.text, 0)):
            out += self.argument(piece, depth)
        return out

    def argument(self, of: Piece, depth: int) -> list[Piece]:
        if self.at >= len(self.pieces) or self.pieces[self.at].text in ("}", "_", "^", "'", r"\\"):
            raise refusal(self.latex, of.start, of.end, f"`{of.text}` with something to apply it to")
        first = self.pieces[self.at]
        inner = self.unit(depth + 1)
        stop = self.pieces[self.at - 1].end
        return [Piece("{", first.start, first.start), *inner, Piece("}", stop, stop)]

    def scripts(self, depth: int) -> list[Piece]:
        """All scripts of one thing: subscript, primes, superscript."""
        below: list[Piece] = []
        above: list[Piece] = []
        primes: list[Piece] = []
        while self.at < len(self.pieces) and self.pieces[self.at].text in ("_", "^", "'"):
            piece = self.pieces[self.at]
            self.at += 1
            if piece.text == "'":
                if above:
                    raise refusal(self.latex, piece.start, piece.end, "primes before a superscript")
                primes.append(piece)
                continue
            naked = self.at < len(self.pieces) and self.pieces[self.at].text != "{"
            script = [piece, *self.argument(piece, depth)]
            if naked:
                self.short(piece, script[2])
            marks = script[2:-1]
            if piece.text == "^" and marks and all(mark.text in ("'", r"\prime") for mark in marks):
                # the last one ends with the script, so that no closing brace is left behind it
                ends = [*(mark.end for mark in marks[:-1]), script[-1].end]
                primes += [Piece("'", mark.start, end) for mark, end in zip(marks, ends, strict=True)]
            elif below if piece.text == "_" else above:
                raise refusal(self.latex, piece.start, piece.end, "one subscript and one superscript")
            elif piece.text == "_":
                below = script
            else:
                above = script
        return [*below, *primes, *above]

    def short(self, script: Piece, first: Piece) -> None:
        """Refuse `x^12` and `x^-1`, of which TeX raises the first character alone."""
        if self.at >= len(self.pieces):
            return
        following = self.pieces[self.at]
        digits = first.text.isdigit() and following.text.isdigit() and first.end == following.start
        if digits or (first.text in ("+", "-") and following.text.isalnum()):
            one = f"{script.text}{first.text}"
            allowed = (
                f"`{script.text}{{{first.text}{following.text}}}`, or `{one}` and then `{following.text}`"
            )
            raise refusal(self.latex, script.start, following.end, f"one of two readings: {allowed}")


def normal(latex: str) -> tuple[Piece, ...]:
    """The pieces of LaTeX in the one form."""
    return _normal(latex) if isinstance(latex, str) else _normal_form(latex)


def _normal_form(latex: str) -> tuple[Piece, ...]:
    return tuple(_Normal(latex, pieces(latex)).sequence("", 0))


_normal = lru_cache(maxsize=4096)(_normal_form)


OPENING = {
    "(": ")", "[": "]", r"\{": r"\}", r"\lfloor": r"\rfloor", r"\lceil": r"\rceil", r"\langle": r"\rangle",
}  # fmt: skip
CLOSING = {right: left for left, right in OPENING.items()}


def texts(found: Iterable[Piece]) -> tuple[str, ...]:
    """What the pieces say, without their places."""
    return tuple(piece.text for piece in found)


def end_of_group(parts: tuple[str, ...], start: int) -> int:
    """The index after the brace that closes the one at `start`."""
    depth = 0
    for i in range(start, len(parts)):
        depth += (parts[i] == "{") - (parts[i] == "}")
        if depth == 0:
            return i + 1
    return len(parts)


def takes_a_factor(parts: tuple[str, ...]) -> bool:
    """Whether a letter of these pieces, with another behind it, is their product and nothing else.

    What ends with a bracket is closed by it; `\\mathbb{E}\\|b\\|^2x` could be the mean of a product.
    """
    bare = parts
    if parts[-1:] == ("}",):
        starts = [
            i for i, part in enumerate(parts) if part == "^" and end_of_group(parts, i + 1) == len(parts)
        ]
        bare = parts[: starts[0]] if starts else parts
    return takes_a_power(bare) or parts[-1] in CLOSING


def takes_a_power(parts: tuple[str, ...]) -> bool:
    """Whether a letter of these pieces, with `^2` behind it, is its square and nothing else.

    So it is for a single letter (with an accent, with scripts but no superscript) and for what brackets or bars
    enclose; `\\ln(1/\\delta)^2` could be the logarithm of a square.
    """
    if not parts:
        return False
    first = parts[0]
    if first in ("|", r"\|"):
        stop = next((i for i in range(1, len(parts)) if parts[i] == first), len(parts) - 1) + 1
    elif first in OPENING:
        depths = [*accumulate((part in OPENING) - (part in CLOSING) for part in parts), 0]
        stop = min(depths.index(0) + 1, len(parts))
    else:
        stop = 1
        while first in ARGUMENTS and stop < len(parts) and parts[stop] == "{":
            stop = end_of_group(parts, stop)
    if stop < len(parts) and parts[stop] == "_":
        stop = end_of_group(parts, stop + 1)
    while stop < len(parts) and parts[stop] == "'":
        stop += 1
    return stop == len(parts)
