"""Keeping what users' code prints out of the program's own output."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import IO

from dpverify.running.shared_context import SharedContext


@contextlib.contextmanager
def _to_error() -> Iterator[None]:
    with _descriptor_to_error(), contextlib.redirect_stdout(_error_stream()):
        yield


standard_output_to_error = SharedContext(_to_error)
"""A context in which what is written to standard output goes to standard error.

That holds for the whole process: for Python's `sys.stdout` in all threads, for file descriptor 1, and so for C
libraries, for child processes and for worker processes started meanwhile.

Not covered is what comes later: text that a C library holds in a buffer of its own until the program ends, threads and
child processes that outlive the context, and `atexit` functions. Nor are worker processes started earlier: those of a
Dask cluster write where the cluster was started.
"""


def _error_stream() -> IO[str] | None:
    """A stream of its own to standard error, which users' code may wrap or close without harm."""
    try:
        return open(
            sys.stderr.fileno(),
            "w",
            buffering=1,
            encoding=sys.stderr.encoding,
            errors="backslashreplace",
            closefd=False,
        )
    except (AttributeError, OSError, ValueError):
        # there is none, or it is no file, as in notebooks
        return sys.stderr


@contextlib.contextmanager
def _descriptor_to_error() -> Iterator[None]:
    _flush()
    try:
        saved = os.dup(1)
    except OSError:
        # closed by whoever started the program
        yield
        return
    try:
        with contextlib.suppress(OSError):
            os.dup2(2, 1)
        yield
        # what was written through another reference to the original stream
        _flush()
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def _flush() -> None:
    for stream in (sys.stdout, sys.__stdout__):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()  # type: ignore[union-attr]  # None without standard output
