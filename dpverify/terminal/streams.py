"""Standard streams as a program may get them: closed, or with no room left."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any


class _Unfailing(io.RawIOBase):
    """Standard error that drops what it cannot write: what is said there beside a verdict is no part of it."""

    def fileno(self) -> int:
        return 2

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        with contextlib.suppress(OSError):
            return os.isatty(2)
        return False

    def write(self, content: Any) -> int:
        left = memoryview(content).cast("B")
        size = len(left)
        with contextlib.suppress(OSError):
            while left:
                left = left[os.write(2, left) :]
        return size


def fill_closed_streams() -> None:
    """Open what was closed of descriptors 0, 1 and 2 to nowhere, so that no file or pipe gets their number."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                nowhere = os.open(os.devnull, os.O_RDWR)
                if nowhere != descriptor:
                    os.dup2(nowhere, descriptor)
                    os.close(nowhere)
    for name, descriptor, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            stream = open(descriptor, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


@contextlib.contextmanager
def streams_for_commands() -> Iterator[None]:
    """Standard streams that no sentence fails on, for as long as a command runs.

    What was closed leads nowhere; standard error drops what it has no room for; a character that a terminal lacks is
    shown by its code. Results on standard output are never dropped in silence.
    """
    fill_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    before = sys.stderr
    if before is not sys.__stderr__:  # somebody else's, such as a test's
        yield
        return
    encoding = getattr(before, "encoding", None) or "utf-8"
    sys.stderr = io.TextIOWrapper(
        _Unfailing(), encoding=encoding, errors="backslashreplace", write_through=True
    )  # fmt: skip
    try:
        yield
    finally:
        sys.stderr = before
