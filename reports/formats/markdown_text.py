"""Text and code in Markdown, in which nothing else is markup."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#+!|~$&@])")


def escaped(text: str) -> str:
    """Text on one line in which nothing is markup, a mention or an address."""
    found = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return found.replace("://", ":&#8203;//")


def code(text: str) -> str:
    """A code span, fenced by more backticks than are in it."""
    line = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"
