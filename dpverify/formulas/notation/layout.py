"""What spacing, columns and row breaks between tokens say: nothing beside a sign, and elsewhere there must be one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.signs import CLOSERS, ENDS, OPENERS, SEPARATORS, STARTS, Sign
from dpverify.formulas.notation.tokens import normal, refusal, texts

_EM = 18
"""Mathematical units in the width of an M."""
_NOTICED, _WIDE = 5, 9
"""From these widths on a gap may part two formulas, and looks as if it parted whatever stands there; so does what TeX
puts around relations.
"""
_WIDTHS = {
    r"\,": 3, r"\thinspace": 3, r"\:": 4, r"\>": 4, r"\medspace": 4, "\\ ": 6, "~": 6,
    "\n": 6, r"\;": _WIDE, r"\thickspace": _WIDE, r"\enspace": 9, r"\enskip": 9, r"\quad": _EM, r"\qquad": 2 * _EM,
    r"\hfill": _EM, r"\!": -3,
}  # fmt: skip
_UNITS = {"em": 18.0, "ex": 8.0, "mu": 1.0, "pt": 1.8, "mm": 5.1, "cm": 51.0, "in": 130.0, "pc": 21.6}
_LAID_OUT = re.compile(
    r"\\(?:label|tag\*?)\s*\{(?:[^{}]|\{[^{}]*\})*\}|(?P<row>\\\\)|(?P<column>&)|(?P<box>\\h?phantom|\\hspace\*?)\s*\{(?P<inside>[^{}]*)"
    r"|(?P<space>\\[A-Za-z]+|\\.|~|\n)",
    re.DOTALL,
)
_LENGTH = re.compile(r"\s*(-?\d*\.?\d+)\s*([a-z]{2})\s*")
_SIGNS = frozenset(
    ("+", "-", "=", "<", ">", ",", ";", ":", "(", "[", "|", r"\|", r"\{", r"\\", r"\le", r"\ge")
)
"""What a gap in a long letter may stand beside."""


@dataclass(frozen=True)
class Spacing:
    """What is between two tokens.

    Attributes:
        width: in mathematical units.
        rows: how many row breaks there are.
        columns: whether there is a `&`, after the last row break.
    """

    width: float = 0
    rows: int = 0
    columns: bool = False

    @property
    def parts(self) -> bool:
        """Whether it looks as if it parted what is on its sides."""
        return self.width >= _WIDE or self.columns or self.rows > 0


@lru_cache(maxsize=1024)
def gap(latex: str) -> Spacing:
    """The gap that some LaTeX without letters and signs makes."""
    width, rows, columns = 0.0, 0, False
    for match in _LAID_OUT.finditer(latex):
        if match["row"]:
            rows, columns = rows + 1, False
        elif match["column"]:
            columns = True
        elif match["box"]:
            length = _LENGTH.fullmatch(match["inside"])
            known = length is not None and length[2] in _UNITS and "space" in match["box"]
            width += float(length[1]) * _UNITS[length[2]] if known and length else _EM * bool(match["inside"])
        else:
            width += _WIDTHS.get(match["space"], 0)
    return Spacing(width, rows, columns)


def check_layout(latex: str, found: list[Sign]) -> None:
    """Refuse gaps that may stand for a comma, or for nothing."""
    for i, (before, after) in enumerate(pairwise(found)):
        between = gap(latex[before.end : after.start])
        if between.width < -_NOTICED:
            allowed = "no space below 0, which prints one sign over another"
            raise refusal(latex, before.end, after.start, allowed)
        if between == Spacing() or not _ends(found, i):
            continue
        if after.type in STARTS - {"PLUS", "MINUS"}:
            if between.parts or (between.width >= _NOTICED and _complete(found, i)):
                raise _refused(latex, found, i)
        elif after.type in ("PLUS", "MINUS"):
            alone = between.columns and between.rows > 0
            stop = _row_end(latex, found, i + 1) if alone else len(found)
            if between.parts and _complete(found, i, stop):
                raise _glued(latex, before, after)
    for token in found:
        of = getattr(token.payload, "of", None)
        inside = gap(latex[token.start : token.end])
        if of is not None and inside.parts and not _SIGNS & {*texts(normal(of.latex))}:
            raise refusal(latex, token.start, token.end, f"the letter `{of.latex}` without a gap in it")


def _ends(found: list[Sign], i: int) -> bool:
    """Whether a factor ends there: not a sign, nor the scripts of a sum or a function."""
    while found[i].type == "RBRACE":
        depth, i = 1, i - 1
        while depth and i >= 0:
            depth += (found[i].type == "RBRACE") - (found[i].type == "LBRACE")
            i -= 1
        if i < 0 or found[i].type not in ("UNDER", "CARET"):
            return True
        i -= 1
    return found[i].type in ENDS or found[i].type == "AT"


def _complete(found: list[Sign], i: int, stop: int | None = None) -> bool:
    """Whether there is a relation on both sides of a place, in what it is between."""
    ahead = range(i + 1, len(found) if stop is None else stop)
    return _related(found, range(i, -1, -1), OPENERS) and _related(found, ahead, CLOSERS)


def _related(found: list[Sign], places: range, outward: frozenset[str]) -> bool:
    depth = 0
    for k in places:
        kind = found[k].type
        if kind in outward:
            if depth == 0:
                return False
            depth -= 1
        elif kind in OPENERS or kind in CLOSERS:
            depth += 1
        elif depth == 0 and kind in SEPARATORS:
            return False
        elif depth == 0 and kind in ("RELATION", "IN"):
            return True
    return False


def _row_end(latex: str, found: list[Sign], start: int) -> int:
    for k in range(start, len(found) - 1):
        if gap(latex[found[k].end : found[k + 1].start]).rows:
            return k + 1
    return len(found)


def _refused(latex: str, found: list[Sign], i: int) -> InvalidArgumentError:
    allowed = (
        r"a sign in the gap: a comma or `\text{and}` between two formulas, `\text{for}` or `\text{if}` before a "
        r"condition, `\cdot` in a product"
    )
    before = next((token.type for token in reversed(found[: i + 1]) if token.type in SEPARATORS), "")
    if before in ("FORALL", "EXISTS") or before == found[0].type == "FOR":
        allowed = "a colon after what is quantified, or a sign in the gap"
    return refusal(latex, found[i].start, found[i + 1].end, allowed)


def _glued(latex: str, before: Sign, after: Sign) -> InvalidArgumentError:
    formula = f"a comma before the gap and then a formula that begins with `{after}`"
    allowed = f"one of two readings: {formula}, or the sum without a gap before the sign"
    return refusal(latex, before.end, after.end, allowed)
