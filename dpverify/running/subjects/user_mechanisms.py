"""A user's own function as a mechanism."""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems.tables.records import Records
from dpverify.running.fingerprints import fingerprint as fingerprint_of
from dpverify.running.outputs import Output
from dpverify.running.randomness import Randomness
from dpverify.running.sources import hash_of_file, shown
from dpverify.running.user_process import call_function, takes_runs
from dpverify.running.user_sessions import Limits, Target, UserSession

_IDLE_SECONDS = 10.0  # after which a worker process on a cluster ends where no block came for it


class FunctionMechanism:
    """A function `(data, rng) -> output`, or batched `(data, rng, runs) -> outputs`, as a mechanism.

    It is called in the process that computes the block, without limits: for functions of one's own test suite. What
    comes from elsewhere is better run by `UserMechanism`, in a process of its own.

    The function gets a NumPy array of its own, which it may overwrite, and a `numpy.random.Generator` from
    which it must draw all its randomness; otherwise results cannot be reproduced. The batched form returns
    one entry a run along the first axis and is called once a block, which is much faster.

    A data set with `features` and `labels` is handed over as one array, the labels in the last column; `Records` in the
    form that they name. Outputs that are
    no numbers of one shape come back as texts (`dpverify.running.subjects.texts`).

    Attributes:
        batched: whether it takes `runs`; read from its signature.
        count_exceptions: whether an exception that it raises is an output; it is then called for one run at a time.

    Raises:
        InvalidArgumentError: for what cannot be called so.
    """

    any_output = True
    """Outputs need not be finite numbers of one shape."""

    def __init__(self, function: Callable[..., Any], *, count_exceptions: bool = False) -> None:
        if not callable(function):
            raise InvalidArgumentError(
                "function", function, "a callable (data, rng) -> output or (data, rng, runs) -> outputs"
            )
        self.function = function
        self.batched = takes_runs(function)
        self.count_exceptions = count_exceptions

    def __reduce__(self) -> tuple[Any, ...]:
        made = functools.partial(type(self), count_exceptions=self.count_exceptions)
        return made, (self.function,)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Hash of the function and of all that it reads, as `dpverify.running.fingerprints` knows it."""
        return fingerprint_of((self.function, "exceptions") if self.count_exceptions else self.function)

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        """Call the function, once or once a run; what exits, or has no form as text, is refused."""
        name = str(getattr(self.function, "__qualname__", type(self.function).__qualname__))
        return Output(
            call_function(
                self.function,
                name,
                plain_array(data),
                rng.generator,
                runs,
                batched=self.batched,
                count_exceptions=self.count_exceptions,
            )
        )


class UserMechanism:
    """A function or estimator of a module, or a command, run in a worker process with limits of time and memory.

    The function is as `FunctionMechanism` describes it, and gives the same bits. It is imported and called in a process
    of its own, one for each block that is computed at the same time: it may exit, hang, print, crash or change what it
    imports without more than a sentence here. What it prints goes to standard error. Its worker processes, and all
    that they started, are ended by `close`, when the mechanism is no longer used, and with the program, even one that
    is killed. Only outputs come back, as plain arrays.

    Attributes:
        target: `package.module:function`.
        folder: searched for the module, besides `sys.path`.
        batched: whether the function takes `runs`; read from its signature.
    """

    has_own_processes = True
    """Executors need no processes of theirs: `processes=K` are K worker processes of this mechanism."""

    any_output = True
    """Outputs need not be finite numbers of one shape."""

    def __init__(
        self, target: Target, folder: str, limits: Limits, *, batched: bool, idle_seconds: float | None = None
    ) -> None:
        self.target, self.folder, self.limits, self.batched = target, folder, limits, batched
        self._imported: tuple[Path, ...] = ()
        self._token = secrets.token_hex(8)
        self._sessions = _Sessions(target, folder, limits, idle_seconds)
        weakref.finalize(self, self._sessions.close)

    @classmethod
    def load(
        cls,
        target: str | Target,
        folder: str | os.PathLike[str] | None = None,
        *,
        limits: Limits | None = None,
    ) -> UserMechanism:
        """Import a function by `package.module:function`; the folder (default: current) is searched too.

        A `Target` may also name an estimator, or a command, which is looked for but not started.

        Raises:
            InvalidArgumentError: if the text has another form, or module or function are not there.
            InvalidDataError: if the module raises, exits, ends its process or does not come back.
        """
        require(isinstance(limits, Limits | None), "limits", limits, "Limits(seconds=..., memory=...)")
        try:
            where = str(Path(folder if folder is not None else Path.cwd()).resolve())
        except (TypeError, ValueError, OSError) as error:
            raise InvalidArgumentError("folder", folder, "a folder") from error
        named = target if isinstance(target, Target) else Target(target)
        mechanism = cls(named, where, limits or Limits(), batched=False)
        with mechanism._sessions.borrowed() as session:
            mechanism.batched = session.batched
            mechanism._imported = tuple(Path(source) for source in session.sources)
        return mechanism

    def close(self) -> None:
        """End the worker processes, and refuse further calls."""
        self._sessions.close()

    def __enter__(self) -> UserMechanism:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to a cluster by name: the worker processes are started there."""
        return _reopened, (self.target, self.folder, self.limits, self.batched, self._token)

    def loaded_sources(self) -> tuple[Path, ...]:
        """Files of the modules that were loaded for the function so far and lie outside of installed packages.

        Its own module and what that imports, but for the standard library and what is installed. Modules that are
        imported within the function are known after its first call. Files that are read without being
        imported are not seen.
        """
        return tuple(Path(source) for source in sorted(self._sessions.sources))

    @functools.cached_property
    def fingerprint(self) -> str:
        """Hash of the target and of every file that was loaded with its module.

        What is loaded when the function runs is not known yet: a store looks at `loaded_sources` of each block, too.

        Raises:
            InvalidArgumentError: for a command: what it loads is not known, so that kept runs might be those of another
                program.
        """
        if self.target.command:
            raise InvalidArgumentError(
                "store", self.target.text, "no store for a command, unless you state its fingerprint"
            )
        files = [(shown(str(source), self.folder), hash_of_file(source)) for source in self._imported]
        said = (self.target.text, self.target.attributes, self.batched, files, *self.target.arguments)
        return fingerprint_of((*said, "exceptions") if self.target.count_exceptions else said)

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        """As `FunctionMechanism` does; what ends its process or does not come back is refused, too."""
        with self._sessions.borrowed() as session:
            return Output(session.compute(plain_array(data), rng.generator, runs))


class _Sessions:
    """The worker processes of one mechanism in this process: as many as there are calls at the same time."""

    def __init__(self, target: Target, folder: str, limits: Limits, idle_seconds: float | None) -> None:
        self.target, self.folder, self.limits, self.idle_seconds = target, folder, limits, idle_seconds
        self.sources: set[str] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._idle: list[UserSession] = []
        self._busy: set[UserSession] = set()

    @contextlib.contextmanager
    def borrowed(self) -> Iterator[UserSession]:
        """A session for one call."""
        session = self._take()
        try:
            yield session
        finally:
            self._give_back(session)

    def _take(self) -> UserSession:
        with self._lock:
            if self._closed:
                raise InvalidDataError(
                    f"{self.target} was closed; allowed: a mechanism that is loaded again."
                )
            session = self._idle.pop() if self._idle else UserSession(self.target, self.limits)
            self._busy.add(session)
        if not session.running:
            try:
                session.start(self.folder)
            except BaseException:
                self._give_back(session)
                raise
        return session

    def _give_back(self, session: UserSession) -> None:
        with self._lock:
            self.sources |= set(session.sources)
            self._busy.discard(session)
            if session.running and not self._closed:
                self._idle.append(session)
        if self.idle_seconds is not None:
            timer = threading.Timer(self.idle_seconds, self._end_idle, (session, session.answered))
            timer.daemon = True
            timer.start()

    def _end_idle(self, session: UserSession, answered: int) -> None:
        with self._lock:
            if session not in self._idle or session.answered != answered:
                return
            self._idle.remove(session)
        session.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            sessions = [*self._idle, *self._busy]
            self._idle.clear()
        for session in sessions:
            session.close()


@functools.lru_cache(maxsize=4)
def _reopened(target: Target, folder: str, limits: Limits, batched: bool, token: str) -> UserMechanism:
    """The same mechanism in another process; the token tells those that were loaded at different times apart."""
    return UserMechanism(target, folder, limits, batched=batched, idle_seconds=_IDLE_SECONDS)


def plain_array(data: Any) -> Any:
    """Data as users' functions get it: an array, the labels of a data set in its last column; tables are kept."""
    if isinstance(data, Records):
        return data
    try:
        if hasattr(data, "features") and hasattr(data, "labels"):
            return np.column_stack((np.asarray(data.features), np.asarray(data.labels)))
        return np.asarray(data)
    except (TypeError, ValueError) as error:
        raise InvalidDataError(
            "The data is not a rectangular array; allowed: an array of records."
        ) from error
