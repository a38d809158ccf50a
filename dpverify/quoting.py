"""What users' code says when it fails, short enough for one sentence; and command lines that they can paste."""

from __future__ import annotations

import shlex

LONGEST = 200  # characters of a message that are shown


def quoted(message: object, longest: int = LONGEST) -> str:
    """A message in one line: white space collapsed, control characters left out, cut at `longest` characters."""
    try:
        text = str(message)
    except Exception:
        # of a user's class, whose __str__ may fail as well
        return "(no readable message)"
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


def named(error: BaseException) -> str:
    """An exception's type, and its message if it has one."""
    message = quoted(error)
    kind = quoted(type(error).__name__)
    return f"{kind}: {message}" if message else kind


def command_line(*words: object) -> str:
    """Words as a shell takes them."""
    return shlex.join(str(word) for word in words)
