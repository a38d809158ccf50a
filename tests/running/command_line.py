"""The command line in a process of its own, forked from one that has imported it: as it is, but sooner."""

from __future__ import annotations

import multiprocessing
import os
import signal
from dataclasses import dataclass
from pathlib import Path

SECONDS = 600
"""After which a program of these tests is taken to hang."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["dpverify.cli", "dpverify.auditing.requests.drawing", "command_line"])


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


def _main(folder: str, arguments: list[str]) -> None:
    from dpverify.cli import main

    os.chdir(folder)
    for descriptor, name in ((1, "out"), (2, "err")):
        file = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(file, descriptor)
        os.close(file)
    main(arguments)


def command(folder: Path, *arguments: str) -> Ended:
    """Run `dpverify` in a folder."""
    process = _context.Process(target=_main, args=(str(folder), list(arguments)))
    process.start()
    process.join(SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
    out, err = ((folder / name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err"))
    return Ended(int(process.exitcode or 0), out, err)


def alive(process: int) -> bool:
    """Whether a process runs; one that has ended and waits to be noticed does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")
    try:
        return status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return not Path("/proc/self").exists()


def end(process: int) -> None:
    """Kill a process that is left over, so that a failed test leaves nothing behind."""
    try:
        os.kill(process, signal.SIGKILL)
    except OSError:
        return
