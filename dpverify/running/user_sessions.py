"""Worker processes of users' functions, seen from the program that starts, asks and ends them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpverify.checks import number, require, whole_number
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems.tables.records import Records
from dpverify.quoting import quoted
from dpverify.running import user_guard, user_process
from dpverify.running.subjects import texts
from dpverify.running.subjects.commands import words
from dpverify.running.user_process import LARGEST_HEADER, NO_MEMORY, PIPE_GONE, check_target, frame, plain

GIB = 2**30

LARGEST_TEXT = 2**20  # bytes of what a worker process prints that are shown; the rest is counted
_LAST_WORDS = 10.0  # seconds for the guard to end what is left of a worker; it takes milliseconds
_LONGEST_SENTENCE = 1000

_CHUNK = 2**16

try:
    import fcntl

    _ABOVE = fcntl.F_DUPFD_CLOEXEC
except ImportError:  # where there is no fork either
    pass


@dataclass(frozen=True)
class Limits:
    """What a user's function may use. They are for code that ran away: no verdict depends on them.

    Attributes:
        seconds: of wall-clock time, for the import of the module, and for each call of the function: one run, or one
            block of runs in the batched form.
        memory: bytes of data for each of its processes. Enforced by the operating system; macOS does not.
    """

    seconds: float = 600.0
    memory: int = 4 * GIB

    def __post_init__(self) -> None:
        number("seconds", self.seconds, above=0.0, at_most=1e6, allowed="a number above 0, at most 1e6")
        whole_number("memory", self.memory, at_least=2**26, at_most=2**60)


@dataclass(frozen=True)
class Target:
    """A function or an estimator of a module, or a command.

    Attributes:
        text: `package.module:name`, or a command line.
        attributes: of the fitted estimator, which are its output; empty for anything else.
        command: whether the text is a command line.
        structure: whether it is a function from a data set to the `StatedStructure` of runs on it.
        noise: whether it is a function (rng, size) -> numbers, which gets no data.
        count_exceptions: whether an exception that it raises is an output.
        arguments: of a function that is called by names, for one run at a time: each parameter with a number, or with
            `data`, `rng`, or `seed` for a fresh integer a run. Where it gets neither of the last two, NumPy's global
            generator is seeded before each run.

    Raises:
        InvalidArgumentError: for attributes that are no names, or of a command, and for a command line without a
            program that is there.
    """

    text: str
    attributes: tuple[str, ...] = ()
    command: bool = False
    structure: bool = False
    noise: bool = False
    count_exceptions: bool = False
    arguments: tuple[tuple[str, float | str], ...] = ()

    def __post_init__(self) -> None:
        for name in self.attributes:
            if self.command or not isinstance(name, str) or not name.isidentifier():
                raise InvalidArgumentError(
                    "attribute", name, "the name of an attribute of a fitted estimator"
                )
        if len(set(self.attributes)) < len(self.attributes):
            raise InvalidArgumentError("attribute", " ".join(self.attributes), "each attribute once")
        if self.command:
            words(self.text)

    @property
    def kind(self) -> str:
        """In a word."""
        if self.structure:
            return "structure"
        if self.noise:
            return "generator"
        return "command" if self.command else "estimator" if self.attributes else "function"

    @property
    def module(self) -> str:
        """Where it is imported from; empty for a command."""
        return "" if self.command else self.text.partition(":")[0]

    @property
    def options(self) -> tuple[str, ...]:
        """The words of `dpverify audit` that name it."""
        named = ("--command", self.text) if self.command else (self.text,)
        return (*named, *(word for name in self.attributes for word in ("--attribute", name)))

    def __str__(self) -> str:
        return self.text + (f" ({', '.join(self.attributes)})" if self.attributes else "")


class Guard(Protocol):
    """The process that guards a worker: what is needed of `subprocess.Popen`."""

    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


class ForeignError(Exception):
    """What a user's function raised in its worker process: an exception's type and message, and the line of code."""

    def __init__(self, kind: str, message: str, where: str = "") -> None:
        super().__init__(kind, message, where)
        self.kind, self.message, self.where = kind, message, where  # where: as `(m.py, line 3)`, or empty

    def __str__(self) -> str:
        return self.message


class UserSession:
    """One worker process with a user's function, estimator or command loaded; for one thread at a time.

    What it prints goes to standard error, up to a length. It is ended, with every process that it started, by `close`,
    by the first failure, and by the end of the program, whichever way that comes.
    """

    def __init__(self, target: Target, limits: Limits) -> None:
        self._check(target)
        require(
            hasattr(os, "fork"), "callable", target.text, "sample files on this system, which has no fork"
        )
        self.target, self.limits = target, limits
        self.batched = False  # whether the function takes `runs`
        self.sources: tuple[
            str, ...
        ] = ()  # files outside of installed packages that were loaded for it so far
        self.answered = 0  # messages
        self._sent = ""
        self._printed = 0
        self._open: set[int] = set()
        self._guard: Guard | None = None
        self._closed = False
        self._ending = threading.Lock()
        self._busy = threading.Lock()

    def _check(self, target: Target) -> None:
        if not target.command:
            check_target(target.text)

    def start(self, folder: str) -> None:
        """Start the worker process and import the function's module, which is searched for in `folder` too."""
        with self._closed_on_failure(), self._busy:
            self._start(folder)
            header, _ = self._answer(importing=True)
            self.batched = header.get("batched") is True

    @contextlib.contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        try:
            yield
        except ForeignError:
            raise  # the process is sound: its code said what is wrong
        except BaseException:
            self.close()
            raise

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        if min(ends) <= 2:  # a standard stream was closed, whose number the worker needs for its own
            low, ends = ends, (fcntl.fcntl(ends[0], _ABOVE, 3), fcntl.fcntl(ends[1], _ABOVE, 3))
            for end in low:
                os.close(end)
        self._open |= set(ends)
        return ends

    def _drop(self, *ends: int) -> None:
        """Close pipes, each once: their numbers are given to others afterwards."""
        for end in ends:
            if end in self._open:
                self._open.remove(end)
                os.close(end)

    def _start(self, folder: str) -> None:
        with self._ending:
            if self._closed:
                raise InvalidDataError(f"{self.target} was closed before it was started.")
            asked, self._requests = self._pipe()
            self._replies, answered = self._pipe()
            self._output, printed = self._pipe()
            self._status, ended = self._pipe()
            lifeline, self._lifeline = self._pipe()
            for end in (self._requests, self._replies, self._output, self._status):
                os.set_blocking(end, False)
            self._guard = self._launch(folder, (asked, answered), printed, lifeline, ended)
            self._drop(asked, answered, lifeline, ended, printed)

    def _launch(
        self, folder: str, channels: tuple[int, int], printed: int, lifeline: int, ended: int
    ) -> Guard:
        """Start the guard, which starts the worker process."""
        path = [*([] if folder in sys.path else [folder]), *sys.path]
        worker = {"path": path, "channels": list(channels), "target": asdict(self.target)}
        guard = {
            "command": [sys.executable, "-P", str(Path(user_process.__file__)), json.dumps(worker)],
            "memory": self.limits.memory,
            "lifeline": lifeline,
            "status": ended,
            "channels": list(channels),
        }
        # the order of sets of text is part of a function's outputs, so it has to repeat
        environment = {"PYTHONHASHSEED": "0", **os.environ}
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(user_guard.__file__)), json.dumps(guard)],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            pass_fds=(*channels, lifeline, ended),
            start_new_session=True,
            env=environment,
        )

    @property
    def running(self) -> bool:
        return self._guard is not None

    def close(self) -> None:
        """End the worker process and all that it started; a second time nothing.

        Another thread may be waiting for an answer: it finds the process ended, and closes the pipes itself.
        """
        with self._ending:
            self._closed = True
            guard, self._guard = self._guard, None
            if guard is not None:
                self._drop(self._lifeline)  # which the guard watches
                try:
                    guard.wait(timeout=_LAST_WORDS)
                except subprocess.TimeoutExpired:
                    guard.kill()
                    guard.wait()
                hidden = self._printed - LARGEST_TEXT
                if hidden > 0:
                    _show(f"\n({hidden} more bytes that {self.target} printed are not shown)\n")
        if self._busy.acquire(blocking=False):
            with self._ending:
                self._drop(*tuple(self._open))
            self._busy.release()

    def compute(self, data: NDArray[Any] | Records, rng: np.random.Generator, runs: int) -> NDArray[Any]:
        """The function's outputs on `data`, one a run along the first axis."""
        with self._closed_on_failure(), self._busy:
            table = isinstance(data, Records)
            data = data.packed() if isinstance(data, Records) else data
            digest = hashlib.blake2b(
                repr((data.dtype, data.shape, table)).encode() + data.tobytes()
            ).hexdigest()
            asked = {"runs": runs, "stream": _described(rng), "table": table}
            try:
                message = frame(asked, None if digest == self._sent else data)
            except ValueError as error:
                raise InvalidDataError(
                    f"The data for {self.target} has type {data.dtype}; allowed: an array of numbers or text."
                ) from error
            self._sent = digest
            return self._outputs(message)

    def ask(self, asked: dict[str, Any], array: NDArray[Any]) -> tuple[dict[str, Any], bytes]:
        """What a stated structure answers, a header and the bytes of an array; see `subjects.stating`."""
        with self._closed_on_failure(), self._busy:
            return self._answer(frame(asked, array))

    def _outputs(self, message: bytes) -> NDArray[Any]:
        """The outputs that are the answer to a message."""
        header, payload = self._answer(message)
        try:
            points = plain(payload)
            return texts.unpacked(points) if header.get("texts") is True else points
        except ValueError as error:
            raise InvalidDataError(
                f"The {self.target.kind} {self.target} sent something other than a plain array; allowed: outputs alone."
            ) from error

    def _answer(self, message: bytes = b"", *, importing: bool = False) -> tuple[dict[str, Any], bytes]:
        """Send a message and wait for the reply, showing what is printed meanwhile."""
        waiting = memoryview(message)
        received = bytearray()
        deadline = time.monotonic() + self.limits.seconds
        watched = select.poll()
        for pipe in (self._replies, self._output, self._status):
            watched.register(pipe, select.POLLIN)
        if waiting:
            watched.register(self._requests, select.POLLOUT)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise InvalidDataError(self._too_long(importing))
            ready = dict(watched.poll(min(left, 3600.0) * 1000))
            if self._requests in ready:
                try:
                    waiting = waiting[os.write(self._requests, waiting[:_CHUNK]) :]
                except BlockingIOError:
                    continue
                except BrokenPipeError:
                    waiting = waiting[:0]  # how it ended is about to be said
                if not waiting:
                    watched.unregister(self._requests)
            if self._output in ready and not self._show_output():
                watched.unregister(self._output)
            if self._replies in ready:
                got = _read(self._replies)
                if got:
                    received += got
                    for header, payload in self._frames(received):
                        if header["kind"] != "alive":
                            self.answered += 1
                            self._drain_output()
                            return self._checked(header, importing), payload
                        deadline = time.monotonic() + self.limits.seconds
                    continue
                # closed, by its end or by the user's code: its end will tell
                watched.unregister(self._replies)
            elif self._status in ready:
                raise InvalidDataError(self._how_it_ended(importing))

    def _frames(self, received: bytearray) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Take whole messages off the front of what was received."""
        while len(received) >= 4:
            (size,) = struct.unpack("<I", received[:4])
            if size > LARGEST_HEADER:
                raise InvalidDataError(self._unreadable())
            if len(received) < 4 + size:
                return
            try:
                header = json.loads(received[4 : 4 + size])
            except (ValueError, RecursionError) as error:
                raise InvalidDataError(self._unreadable()) from error
            length = header.get("bytes") if isinstance(header, dict) else None
            if type(length) is not int or not 0 <= length <= self.limits.memory or "kind" not in header:
                raise InvalidDataError(self._unreadable())
            end = 4 + size + length
            if len(received) < end:
                return
            payload = bytes(received[4 + size : end])
            del received[:end]
            yield header, payload

    def _checked(self, header: dict[str, Any], importing: bool) -> dict[str, Any]:
        """The header of a good reply; what another one says is raised."""

        def text(name: str) -> str:
            return quoted(header.get(name, ""), longest=_LONGEST_SENTENCE)

        kind = header["kind"]
        sources = header.get("sources", [])
        if kind == ("loaded" if importing else "points") and isinstance(sources, list):
            self.sources = tuple(sorted({*self.sources, *(str(source) for source in sources)}))
            return header
        if kind == "argument":
            raise InvalidArgumentError(text("argument"), text("value"), text("allowed"))
        if kind == "data":
            raise InvalidDataError(text("message"))
        if kind == "memory":
            raise InvalidDataError(self._no_memory())
        if kind == "raised" and not importing:
            raise ForeignError(text("type"), text("message"), text("where"))
        raise InvalidDataError(self._unreadable())

    def _show_output(self) -> bool:
        """Show some of what was printed; whether there was anything."""
        text = _read(self._output)
        shown = text[: max(0, LARGEST_TEXT - self._printed)]
        self._printed += len(text)
        if shown:
            _show(shown.decode("utf-8", errors="backslashreplace"))
        return bool(text)

    def _drain_output(self) -> None:
        """Show what was printed before a reply; a process that prints on and on is not waited for."""
        limit = self._printed + LARGEST_TEXT
        while self._printed < limit and self._show_output():
            pass

    def _how_it_ended(self, importing: bool) -> str:
        said = _read(self._status)
        self._drain_output()
        who, when = self._who(importing)
        try:
            ended = json.loads(said)
        except ValueError:
            ended = {}
        if most := ended.get("processes"):
            return f"{who} had more than {most} processes at once {when} and was stopped; allowed: at most {most}."
        code = ended.get("code")
        if code == PIPE_GONE:
            return self._unreadable("closed", "closes only")
        if code == NO_MEMORY:
            return self._no_memory()
        if isinstance(code, int) and code < 0:
            with contextlib.suppress(ValueError):
                name = signal.Signals(-code).name
                hint = "; the system may have run out of memory" if name == "SIGKILL" else ""
                return f"{who} was ended by {name} {when}{hint}; allowed: code that does not end its process."
        how = f"exit code {code}" if isinstance(code, int) else "no exit code"
        return f"{who} ended its process ({how}) {when}; allowed: code that does not end its process."

    def _who(self, importing: bool) -> tuple[str, str]:
        if importing:
            if self.target.command:
                return f"The command {self.target}", "before it was started"
            return f"The module {self.target.module}", "while it was imported"
        return f"The {self.target.kind} {self.target}", "before its runs were done"

    def _too_long(self, importing: bool) -> str:
        who, _ = self._who(importing)
        return (
            f"{who} did not return within {self.limits.seconds:g} s of wall-clock time and was stopped, without a "
            "verdict; this limit guards against runaway code: raise it (--time-limit) for code that is slow."
        )

    def _no_memory(self) -> str:
        return (
            f"{self.target} ran out of memory; its limit is {self.limits.memory / GIB:g} GiB per process; raise "
            "it with --memory-limit."
        )

    def _unreadable(self, did: str = "wrote to", does: str = "writes only to") -> str:
        return (
            f"The {self.target.kind} {self.target} {did} the pipe through which its outputs are read; allowed: "
            f"code that {does} what it opened."
        )


def _described(rng: np.random.Generator) -> dict[str, Any]:
    """A generator as JSON: seed sequence and state, from which the worker makes the same one."""
    bits = rng.bit_generator
    sequence: Any = bits.seed_seq
    return {
        "bits": type(bits).__name__,
        "entropy": sequence.entropy,
        "spawn_key": sequence.spawn_key,
        "children": sequence.n_children_spawned,
        "state": bits.state,
    }


def _read(pipe: int) -> bytes:
    try:
        return os.read(pipe, _CHUNK)
    except BlockingIOError:
        return b""


def _show(text: str) -> None:
    stream = sys.stderr
    if stream is None:
        return
    with contextlib.suppress(OSError, ValueError):
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, errors="backslashreplace").decode(encoding))
        stream.flush()
