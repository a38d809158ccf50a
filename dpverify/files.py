"""Files that appear with their whole content or not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterable
from pathlib import Path

from dpverify.errors import InvalidArgumentError, InvalidDataError, reason_of


def write_whole(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write a file so that no reader ever sees a part of it, even if the program fails; if durable, or the power.

    A link is followed, and stays one. What is no regular file (a pipe, /dev/stdout) is written to as it is: it cannot
    be replaced. A new file gets the permissions that the user's umask leaves.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            stream.write(content)
        return
    target = Path(os.path.realpath(path))
    aside = target.with_name(f".{target.name[:100]}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with aside.open("xb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(aside, target)
    finally:
        aside.unlink(missing_ok=True)
    if durable and os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def check_writable(option: str, path: Path, allowed: str = "") -> None:
    """Refuse a file that an option names, before any work is done; an existing file stays as it is."""
    try:
        if path.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        if not path.exists() or path.is_file():
            with tempfile.TemporaryFile(dir=Path(os.path.realpath(path)).parent):
                pass
    except (OSError, ValueError) as error:
        raise unwritable(option, path, error, allowed) from error


def unwritable(option: str, path: Path, error: Exception, allowed: str = "") -> InvalidArgumentError:
    """The error that says why a file cannot be written to, and what else is `allowed`."""
    said = f"{allowed}a file in an existing folder that can be written to ({reason_of(error)})"
    return InvalidArgumentError(option, str(path), said)


_BEGIN, _END = "<!-- table: begin -->", "<!-- table: end -->"


def write_table(path: Path, lines: Iterable[str]) -> None:
    """Put a table's lines into a page, between two comments that mark its place, instead of what is there."""
    before, first, rest = path.read_text(encoding="utf-8").partition(_BEGIN)
    _, last, after = rest.partition(_END)
    if not first or not last:
        raise InvalidDataError(f"{path} lacks {_BEGIN} or {_END}; allowed: a page with both, in this order.")
    body = "\n".join(lines)
    write_whole(path, f"{before}{_BEGIN}\n{body}\n{_END}{after}".encode())
