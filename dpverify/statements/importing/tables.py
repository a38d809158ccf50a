"""Words and commands of papers' sources, by what they do there: tables.toml says it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

from dpverify.statements.pages.words import WORDS

_TABLES: Mapping[str, Any] = tomllib.loads(
    resources.files("dpverify.statements.importing").joinpath("tables.toml").read_text(encoding="utf-8")
)


def words(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(_TABLES[name].split())


def meanings(name: str) -> dict[str, str]:
    """Of a table, what each of its words means; _ stands for the spaces of a phrase, but before a script."""
    told = ((word, meaning) for meaning, listed in _TABLES[name].items() for word in listed.split())
    return {re.sub(r"(?<=[a-z-])_(?=[a-z])", " ", word): meaning for word, meaning in told}


def ending(said: str, among: Iterable[str]) -> str:
    """The longest of some phrases that words end with; empty where they end with none."""
    return max((phrase for phrase in among if f" {said}".endswith(f" {phrase}")), key=len, default="")


def one_of(name: str) -> str:
    """A list as a part of a regular expression: one of its phrases, the longest first."""
    found = sorted(_TABLES[name].split(), key=len, reverse=True)
    return "(?:" + "|".join(phrase.replace("_", " ") for phrase in found) + ")"


REFUSING = re.compile(
    rf"(?<![\w])(?:{one_of('refusing')}|{'|'.join(map(re.escape, WORDS['denying']))})(?!\w)"
)
"""What may change what a sentence claims."""
PATTERNS = {name: re.compile("".join(said.split("\n"))) for name, said in _TABLES["patterns"].items()}
"""What the modules beside this file look for."""
OUTSIDE = {name: re.compile(said) for name, said in _TABLES["outside"].items()}
"""What shows that a relation is about something that formulas of pages do not have."""
EXISTENTIAL = re.compile(rf"(?<![\w]){one_of('existential')}(?!\w)")
"""What says that there is something."""
ASKING = re.compile(rf"(?<![\w]){one_of('asking')}(?!\w)")
"""What leaves open whether it claims."""
JOINING = meanings("joining")
"""What joins two formulas of a sentence, with the sign for it."""
PROBABLE = meanings("probable")
"""What is said of a probability before its number, with the sign for it."""
