"""What to write in place of what is not read: commands, characters, and signs where they do not fit."""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Mapping
from importlib import resources

from lark import UnexpectedInput

_SAID: Mapping[str, Mapping[str, str]] = tomllib.loads(
    resources.files("dpverify.formulas.notation").joinpath("hints.toml").read_text(encoding="utf-8")
)
_COMMANDS = {f"\\{name}": said for names, said in _SAID["commands"].items() for name in names.split()}


def hint(command: str) -> str:
    """What to write in place of a command of LaTeX; empty for one that may be a letter."""
    return _COMMANDS.get(command, "")


def character(text: str) -> str:
    """What to write in place of a character that is not read."""
    if text.isascii():
        return _SAID["plain"].get(text, "a character of the notation, see docs/notation.md")
    name = f"U+{ord(text):04X}, {unicodedata.name(text, 'without a name')}"
    written = _SAID["characters"].get(text)
    return f"`{written}` for {name}" if written else f"LaTeX for {name}"


def expected(error: UnexpectedInput) -> str:
    """What could have stood where the grammar fits no further."""
    token = getattr(error, "token", None)
    if token is not None and token.type in _SAID["places"]:
        return _SAID["places"][token.type]
    wanted = getattr(error, "expected", None) or getattr(error, "accepts", None) or ()
    named = [said for kind, said in _SAID["tokens"].items() if kind in wanted]
    return " or ".join(named[:4]) + " here" if named else "something else here, see docs/notation.md"
