"""A token with its place in the LaTeX and what it stands for."""

from __future__ import annotations

from typing import Any

from lark import Token


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
