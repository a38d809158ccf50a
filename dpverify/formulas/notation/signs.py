"""A token with its place in the LaTeX and what it stands for."""

from __future__ import annotations

from typing import Any

from lark import Token

ENDS = frozenset(
    ("NUMBER", "LETTER", "CONSTANT", "EULER", "RBRACE", "CLOSE", "BANG", "FLOOR_CLOSE", "CEILING_CLOSE",
     "ANGLE_CLOSE", "BAR_CLOSE", "INTERVAL_CLOSE")
)  # fmt: skip
"""What a factor ends with."""
STARTS = frozenset(
    ("NUMBER", "LETTER", "CONSTANT", "EULER", "INDEXED", "APPLIED", "ORDER", "FUNCTION", "FRACTION", "BINOMIAL",
     "ROOT", "OPEN", "FLOOR_OPEN", "CEILING_OPEN", "ANGLE_OPEN", "BAR_OPEN", "BIG", "INTEGRAL", "DERIVATIVE",
     "PLUS", "MINUS")
)  # fmt: skip
"""What a term begins with."""
SEPARATORS = frozenset(("COMMA", "AND", "OR", "IMPLIES", "IFF", "FOR", "COLON", "FORALL", "EXISTS", "NOT"))
"""What stands between formulas."""
BRACKETS = {
    "OPEN": "CLOSE", "LBRACE": "RBRACE", "FLOOR_OPEN": "FLOOR_CLOSE", "CEILING_OPEN": "CEILING_CLOSE",
    "ROOT_OPEN": "ROOT_CLOSE", "ANGLE_OPEN": "ANGLE_CLOSE",
}  # fmt: skip
OPENERS = frozenset((*BRACKETS, "BAR_OPEN", "INTERVAL_OPEN"))
CLOSERS = frozenset((*BRACKETS.values(), "BAR_CLOSE", "INTERVAL_CLOSE"))


class Sign(Token):
    """Lark's token; `payload` is a number's value, a letter's variable, a bar's side."""

    payload: Any

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.start_pos or 0

    @property
    def end(self) -> int:
        """The place after it."""
        return self.end_pos or 0


def sign(kind: str, text: str, start: int, end: int, payload: Any = "") -> Sign:
    """A token of a kind that the grammar declares."""
    made = Sign(kind, text, start_pos=start, end_pos=end)
    made.payload = payload
    return made
