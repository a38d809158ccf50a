"""The guard of a worker process: starts it in a session of its own, and ends all that is left of it.

A program of its own, started by the path of this file; it uses the standard library only and runs no user's code. It
lives until the worker process ends, or until the program that started it is gone, however it went: the pipe that it
watches is closed by the system. Then it ends the whole process group of the worker and, on Linux, every other process
that descends from it, and reports how the worker ended. On Linux it also counts these, and ends them where they are too
many.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable

_ORPHANS_COME_HERE, _DIE_WITH_PARENT = 36, 1
"""Linux: PR_SET_CHILD_SUBREAPER and PR_SET_PDEATHSIG."""

MOST_PROCESSES = 512
"""Of one worker, itself included, at once."""

_COUNTED_EACH = 0.1
"""Seconds between counts of a worker's processes."""

_ROUNDS = 200
"""How often to look for processes that are still there; each time those that are found are ended."""


def _control(option: int, value: int) -> None:
    """Linux's prctl; nothing elsewhere."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _limit_memory(limit: int) -> None:
    """Bound what a process may write to; Linux counts just that as data, other systems the address space."""
    import resource

    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    _, most = resource.getrlimit(kind)
    bound = limit if most == resource.RLIM_INFINITY else min(limit, most)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(kind, (bound, most))
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _become_worker(work: Callable[[], None], memory: int, own: tuple[int, ...]) -> None:
    """Turn this process, a fork of the guard, into the worker."""
    try:
        os.setsid()
        _control(_DIE_WITH_PARENT, signal.SIGKILL)
        for descriptor in own:
            os.close(descriptor)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _limit_memory(memory)
        work()
    finally:
        os._exit(126)


def not_contained(system: str = sys.platform) -> str:
    """A sentence about what is not contained of code that is run on this system; empty on Linux."""
    if system == "linux":
        return ""
    if system == "win32":
        return (
            "On this system (win32) audited code is not contained: it runs in this process, without limits on time, "
            "memory and processes; use a container for code that is not trusted."
        )
    return (
        f"On this system ({system}) audited code is contained less than on Linux: its memory may not be limited, the "
        "number of its processes is not, and those that leave its process group are not ended with it; use a container "
        "for code that is not trusted."
    )


def _children(process: int) -> list[int]:
    """Of a process, on Linux."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def _too_many() -> bool:
    """Whether more processes descend from this one than a worker may have."""
    seen = below = _children(os.getpid())
    while below and len(seen) <= MOST_PROCESSES:
        below = [child for process in below for child in _children(process)]
        seen = seen + below
    return len(seen) > MOST_PROCESSES


def _end_all(worker: int) -> None:
    """Kill the worker's process group, then whatever came to the guard when its parent ended."""
    for _ in range(_ROUNDS):
        with contextlib.suppress(OSError):
            os.killpg(worker, signal.SIGKILL)
        for child in _children(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not _children(os.getpid()):
            return
        time.sleep(0.005)


def _wait(worker: int, lifeline: int) -> dict[str, int] | None:
    """How the worker ended, by its exit code, or that it had too many processes; None if the program was gone first."""
    ringing, ring = os.pipe()
    for descriptor in (ringing, ring):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
    while True:
        # nothing is lost if the worker ends now: its signal came before, or fills the pipe
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == worker:
                    return {"code": os.waitstatus_to_exitcode(found[1])}
        ready, _, _ = select.select([ringing, lifeline], [], [], _COUNTED_EACH)
        if lifeline in ready:
            return None
        if ringing in ready:
            os.read(ringing, 4096)
        if _too_many():
            return {"processes": MOST_PROCESSES}


def guard(
    work: Callable[[], None], *, memory: int, lifeline: int, status: int, channels: tuple[int, ...]
) -> None:
    """Guard a worker, which does `work` in a fork of this process, until it ends or the lifeline is closed.

    The worker may write to so many bytes of memory, and owns the channels; `lifeline` and `status` are pipes: one is
    closed when the program is gone, to the other the guard writes how the worker ended.
    """
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    _control(_ORPHANS_COME_HERE, 1)
    worker = os.fork()
    if worker == 0:
        _become_worker(work, memory, (lifeline, status))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    for descriptor in channels:
        os.close(descriptor)
    ended = _wait(worker, lifeline)
    _end_all(worker)
    if ended is not None:
        with contextlib.suppress(OSError):
            os.write(status, json.dumps(ended).encode())


def main() -> None:
    """Guard the worker that the command line describes, as JSON."""
    asked = json.loads(sys.argv[1])
    command = asked["command"]
    guard(
        lambda: os.execv(command[0], command),
        memory=asked["memory"],
        lifeline=asked["lifeline"],
        status=asked["status"],
        channels=tuple(asked["channels"]),
    )


if __name__ == "__main__":
    main()
