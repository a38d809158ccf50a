"""Worker processes that are copies of this one, for functions that only this process knows: those of a test session."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.errors import InvalidDataError
from dpverify.running import user_guard, user_process
from dpverify.running.progress import Progress
from dpverify.running.user_process import frame, with_message
from dpverify.running.user_sessions import ForeignError, Limits, Target, UserSession

Work = Callable[[Sequence[int], Progress], NDArray[Any]]
"""From what is asked, in whole numbers, to outputs; it tells a progress what is done."""


class ForkedSession(UserSession):
    """A copy of this process that computes outputs one after the other; only they come back, as plain arrays.

    What it does cannot end this process, nor write to its memory, its files or its reports: it is guarded like the
    worker processes of the command line, with the same limits, and ended with all that it started. What it changes
    in its own memory is lost, and of what was open only files to read stay open.
    """

    def __init__(self, name: str, work: Work, limits: Limits) -> None:
        super().__init__(Target(name), limits)
        self.work = work

    def __enter__(self) -> ForkedSession:
        self.start("")
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def outputs(self, *asked: int) -> NDArray[Any]:
        """What the work gives."""
        with self._closed_on_failure(), self._busy:
            try:
                return self._outputs(frame({"work": asked}))
            except ForeignError as error:
                said = with_message(error.message, error.where)
                raise InvalidDataError(f"The function {self.target} raised {error.kind}{said}") from None

    def _check(self, target: Target) -> None:
        """Any name is one."""

    def _launch(
        self, folder: str, channels: tuple[int, int], printed: int, lifeline: int, ended: int
    ) -> _Forked:
        with warnings.catch_warnings():
            # of threads, which the copy does not have; it takes no lock of theirs
            warnings.simplefilter("ignore", DeprecationWarning)
            guard = os.fork()
        if guard:
            return _Forked(guard)
        try:
            os.setsid()
            theirs = {*channels, lifeline, ended, printed}
            for descriptor in self._open - theirs:
                os.close(descriptor)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for descriptor in _ways_out() - theirs:
                os.dup2(nowhere, descriptor)
            for old, new in ((nowhere, 0), (printed, 1), (printed, 2)):
                os.dup2(old, new)
            user_guard.guard(
                lambda: self._serve(*channels),
                memory=self.limits.memory + _written_to(),
                lifeline=lifeline,
                status=ended,
                channels=channels,
            )
        finally:
            os._exit(0)

    def _serve(self, requests: int, replies: int) -> None:
        for name, descriptor, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
            stream = open(descriptor, mode, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        user_process.serve_work(requests, replies, self.work)


class _Forked:
    """A process that was forked from this one."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        end = None if timeout is None else time.monotonic() + timeout
        while self._code is None:
            try:
                found, status = os.waitpid(self._process, os.WNOHANG)
            except ChildProcessError:  # somebody else has waited for it
                found, status = self._process, 0
            if found:
                self._code = os.waitstatus_to_exitcode(status)
            elif end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("worker", timeout or 0.0)
            else:
                time.sleep(0.002)
        return self._code

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)


def _ways_out() -> set[int]:
    """Descriptors above the standard ones that are more than files to read: reports, captures, other processes."""
    import fcntl

    folder = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"
    found = set()
    for name in os.listdir(folder):
        descriptor = int(name)
        with contextlib.suppress(OSError):  # the listing itself is closed by now
            reads = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
            if descriptor > 2 and not (reads and stat.S_ISREG(os.fstat(descriptor).st_mode)):
                found.add(descriptor)
    return found


def _written_to() -> int:
    """Bytes that this process may write to already, which its copy begins with; 0 where that is not known."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def one_truth_value(points: NDArray[Any]) -> bool:
    """What work said that answers with yes or no."""
    return points.shape == (1,) and bool(np.asarray(points)[0])
