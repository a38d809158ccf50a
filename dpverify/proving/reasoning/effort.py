"""Work that is counted, so that no answer depends on how fast a machine is."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType


@dataclass
class Meter:
    """What is left of an attempt's steps, and whether a wall-clock guard has ended some of its work."""

    left: int
    stopped_by_the_clock: bool = False


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


class EffortSpentError(Exception):
    """The steps of one attempt are used up; it ends, and tries nothing else."""


@contextmanager
def limited(steps: int) -> Iterator[Meter]:
    """Let the algebra and the evaluations inside take so many steps; without this they are not limited.

    Where this is inside another one, that one too is told if a wall-clock guard has ended some work.
    """
    meter, around = Meter(steps), _METER.get()
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)
        if around is not None and meter.stopped_by_the_clock:
            around.stopped_by_the_clock = True


def spend(steps: int) -> None:
    """Count some steps; `EffortSpentError` where there are none left."""
    meter = _METER.get()
    if meter is not None:
        meter.left -= steps
        if meter.left < 0:
            raise EffortSpentError("the limit on steps of algebra and evaluation was reached")


def note_the_clock() -> None:
    """Note that a wall-clock guard has ended some work of the attempt in progress."""
    meter = _METER.get()
    if meter is not None:
        meter.stopped_by_the_clock = True


CEILING = 2 * 2**30
"""Bytes that one row may take beyond what the process has when it begins; counts end all known work far below."""


@contextmanager
def below_a_ceiling(more: int = CEILING) -> Iterator[None]:
    """Let this process take so many bytes more, and answer `MemoryError` to whatever wants more than that.

    The last resort behind the counts, so that a row ends and not the machine. How much the same work takes depends on
    libraries and their allocator, though not on how fast a machine is; a verdict that hangs on it is not kept. On Linux
    only, where a process can ask what it has; a lower limit that is there already stays.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    with open("/proc/self/status", encoding="ascii") as status:
        taken = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))
    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [n for n in (taken + more, before, most) if n != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits), most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, most))


class GuardError(BaseException):
    """The guard has ended work that no count has; nothing that mends other failures may catch it."""


_GUARDED: ContextVar[bool] = ContextVar("guarded", default=False)


@contextmanager
def guarded(seconds: float) -> Iterator[None]:
    """End, by `GuardError`, what is inside after so many seconds of this process's CPU time.

    CPU time, so that a busy machine ends nothing. It is for what hangs in a library's algebra, where nothing is
    counted; an attempt that it ended says so. Only the main thread has signals: elsewhere there is no guard, nor is
    there one inside another one.
    """
    if (
        _GUARDED.get()
        or not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    ended = False

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal ended
        ended = True
        note_the_clock()
        raise GuardError

    token = _GUARDED.set(True)
    before = signal.signal(signal.SIGPROF, end)
    # again and again, for an exception that comes up while an object is finalized is lost
    signal.setitimer(signal.ITIMER_PROF, seconds, max(seconds, 1.0))
    try:
        yield
    except Exception as error:
        if ended:  # a library made another exception of it, as ctypes does while it converts arguments
            raise GuardError from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        _GUARDED.reset(token)
