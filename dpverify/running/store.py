"""Finished work on disk, so that an interrupted job goes on where it was and ends with the same bits."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from dpverify.checks import require
from dpverify.errors import InvalidDataError, reason_of
from dpverify.ledger.records import Reuse

Kind = Literal["block", "proof", "audit", "sources", "remembered"]

NAME_IN_FOLDER = "dpverify-store.sqlite"  # the file, where a folder is given
_APPLICATION = 0x64707665  # tells stores from other SQLite files: `dpve`
_LAYOUT = 1

_PERIOD = 1.0  # seconds for which finished work may wait to be written
_MOST_PENDING = 32 * 2**20  # bytes that may wait
_ALLOWED = "a file, created if it does not exist, or a folder to keep it in"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS work (
    name BLOB PRIMARY KEY,  -- SHA-256 of what the work is
    kind TEXT NOT NULL,
    content BLOB NOT NULL,
    digest BLOB NOT NULL    -- SHA-256 of name and content
)"""


class Store:
    """One SQLite file of finished work: blocks of runs, proofs, audits, remembered verdicts.

    Work has a kind and a key, a text that says everything that it depends on. Each row is under a SHA-256 of its
    key and content: a row that was damaged, or copied over another, counts as absent. What is put is written at most
    a second later, many rows in one synced transaction; so a program that is killed loses at most that second, and
    never spoils the file. Close a store, or use it in a `with` statement: then nothing waits at the end. Threads may
    share a store, and several programs the file. A process that was forked from the one that opened the store neither
    reads nor writes it.
    """

    def __init__(self, path: str | os.PathLike[str], *, patience: float = 10.0) -> None:
        """Open the file, or make it.

        Args:
            path: the file; or a folder (one that exists, or a text that ends with a slash), in which it is
                `dpverify-store.sqlite`.
            patience: seconds to wait while another program writes.

        Raises:
            InvalidArgumentError: if the path is empty or cannot be one.
            InvalidDataError: if the file is no store, is damaged or locked, or cannot be written to.
        """
        text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else path
        require(isinstance(text, str) and text and "\0" not in text, "store", path, _ALLOWED)
        self.path = Path(text)
        self._process = os.getpid()
        # `_lock` is held for moments, `_database` while SQLite works; who needs both takes `_database` first
        self._lock, self._database = threading.Lock(), threading.Lock()
        self._pending: dict[bytes, tuple[Kind, bytes]] = {}
        self._bytes = 0
        self._timer: threading.Timer | None = None
        self._failure: InvalidDataError | None = None
        self._counts: Counter[str] = Counter()  # by the names of `Reuse`
        self._vouched: dict[str, int] = {}
        with self._said():
            if text.endswith(os.sep) or self.path.is_dir():
                self.path /= NAME_IN_FOLDER
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # absolute, since SQLite gives some names a meaning of their own
            self._connection = sqlite3.connect(
                self.path.absolute(), timeout=patience, isolation_level=None, check_same_thread=False
            )
        # text in place of a blob is damage, and must be read to be seen as that
        self._connection.text_factory = bytes
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise
        _stores.add(self)

    def _prepare(self) -> None:
        with self._said(), self._transaction():
            application, tables = (
                self._connection.execute(query).fetchone()[0]
                for query in ("PRAGMA application_id", "SELECT count(*) FROM sqlite_master")
            )
            if application != _APPLICATION and (application or tables):
                raise InvalidDataError(
                    f"{self.path} belongs to another program; allowed for a store: {_ALLOWED}."
                )
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            # written each time: what cannot be written to is found before hours are spent
            self._connection.execute(f"PRAGMA user_version = {_LAYOUT}")
            self._connection.execute(_SCHEMA)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        try:
            self.close()
        except InvalidDataError:
            # what ended the work is what its caller should hear of
            if kind is None:
                raise

    def get(self, kind: Kind, key: str) -> bytes | None:
        """The content that was put under this key; None if there is none, or it is not what was put.

        Raises:
            InvalidDataError: if the file cannot be read.
        """
        if os.getpid() != self._process:
            return None
        name = _name(kind, key)
        with self._lock:
            pending = self._pending.get(name)
        if pending is not None:
            return pending[1]
        try:
            with self._said(), self._database:
                row = self._connection.execute(
                    "SELECT content, digest FROM work WHERE name = ?", (name,)
                ).fetchone()
        except InvalidDataError as error:
            if _code(error.__cause__) != sqlite3.SQLITE_CORRUPT:
                raise
            row = (b"", None)
        if row is None:
            return None
        content, digest = row
        if type(content) is not bytes or digest != _digest(name, content):
            self.tally("refused")
            return None
        return content

    def tally(self, what: str, count: int = 1) -> None:
        """Count something that `Reuse` has a field for."""
        with self._lock:
            self._counts[what] += count

    def put(self, kind: Kind, key: str, content: bytes) -> None:
        """Keep a finished piece of work; it is in the file at most a second later, or after `flush`.

        Raises:
            InvalidDataError: if the file cannot be written to, also if that was found out meanwhile.
        """
        if os.getpid() != self._process:
            return
        with self._lock:
            if self._failure is not None:
                raise self._failure
            self._pending[_name(kind, key)] = (kind, content)
            self._bytes += len(content)
            full = self._bytes > _MOST_PENDING
            if self._timer is None:
                self._timer = threading.Timer(_PERIOD, self._write_later)
                self._timer.start()
        if full:
            self.flush()

    def count(self, kind: Kind, *, taken: bool) -> None:
        """Count a piece of work that was wanted, and whether it was taken from the store."""
        self.tally(f"{kind}s")
        self.tally(f"{kind}s_taken", int(taken))

    def include(self, reuse: Reuse) -> None:
        """Count what another process wanted and took."""
        for name, count in reuse:
            if name != "store":
                self.tally(name, count)

    def reuse(self) -> Reuse:
        """What was wanted so far, and what of it was taken from the store."""
        with self._lock:
            return Reuse(store=str(self.path), **self._counts)

    def vouched(self, job: str) -> int:
        """Runs of the largest block of this job that was run again since the store was opened, with the same bits."""
        with self._lock:
            return self._vouched.get(job, 0)

    def vouch(self, job: str, runs: int) -> None:
        """Count a block of so many runs that was run again and had the same bits."""
        with self._lock:
            self._vouched[job] = max(runs, self._vouched.get(job, 0))
        self.tally("blocks_compared")

    def flush(self) -> None:
        """Write everything now.

        Raises:
            InvalidDataError: if the file cannot be written to.
        """
        if os.getpid() != self._process:
            return
        with self._database:
            with self._lock:
                if self._timer is not None:
                    self._timer.cancel()
                    self._timer = None
                written = dict(self._pending)
            if not written:
                return
            with self._said(), self._transaction():
                self._connection.executemany(
                    "INSERT OR REPLACE INTO work VALUES (?, ?, ?, ?)",
                    (
                        (name, kind, content, _digest(name, content))
                        for name, (kind, content) in written.items()
                    ),
                )
            # not before they are in the file: an interruption must lose nothing
            with self._lock:
                for name, row in written.items():
                    if self._pending.get(name) is row:
                        del self._pending[name]
                self._bytes = sum(len(content) for _, content in self._pending.values())

    def close(self) -> None:
        """Write everything, and close the file.

        Raises:
            InvalidDataError: if the file cannot be written to.
        """
        try:
            self.flush()
        finally:
            if os.getpid() == self._process:
                with self._database:
                    self._connection.close()

    def _write_later(self) -> None:
        with self._lock:
            if self._timer is not threading.current_thread():
                return
            self._timer = None
        try:
            self.flush()
        except InvalidDataError as error:
            with self._lock:
                self._failure = error

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing; the lock on the file is taken at the start, so that waiting for it cannot deadlock."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _said(self) -> Iterator[None]:
        """What SQLite and the file system raise, in one sentence."""
        try:
            yield
        except (sqlite3.Error, OSError, ValueError) as error:
            if isinstance(error, InvalidDataError):
                raise
            match _code(error):
                case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                    said = "is locked by another program; wait until it has ended, or use another file"
                case sqlite3.SQLITE_NOTADB:
                    said = f"is not a store, or is damaged; allowed: {_ALLOWED}"
                case sqlite3.SQLITE_CORRUPT:
                    said = f"is damaged ({error}); remove it, or use another file"
                case _:
                    said = f"cannot be written to ({reason_of(error)}); allowed: {_ALLOWED}"
            raise InvalidDataError(f"The store {self.path} {said}.") from error


_stores: weakref.WeakSet[Store] = weakref.WeakSet()


def _between_transactions() -> None:
    """A process that is forked within a transaction would roll it back at its end, in the parent's file."""
    for store in list(_stores):
        store._database.acquire()


def _go_on() -> None:
    for store in list(_stores):
        if store._database.locked():
            store._database.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_between_transactions, after_in_parent=_go_on, after_in_child=_go_on)


@contextlib.contextmanager
def opened(store: Store | str | os.PathLike[str] | None) -> Iterator[Store | None]:
    """A store that is open already, left open; or one at a path, for as long as this lasts; or none."""
    if store is None or isinstance(store, Store):
        yield store
        return
    with Store(store) as mine:
        yield mine


def _name(kind: Kind, key: str) -> bytes:
    return hashlib.sha256(f"{kind}\n{key}".encode("utf-8", "surrogatepass")).digest()


def _digest(name: bytes, content: bytes) -> bytes:
    digest = hashlib.sha256(name)
    digest.update(content)
    return digest.digest()


def _code(error: BaseException | None) -> int:
    """SQLite's result code, without what some add to it; 0 for other errors."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


_open: dict[Path, Store | None] = {}
"""By its path; None if it cannot be opened, which only costs time."""


def _of_the_user() -> Store | None:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = base / "dpverify" / NAME_IN_FOLDER
    if path not in _open:
        try:
            _open[path] = Store(path)
        except InvalidDataError:
            _open[path] = None
    return _open[path]


def keep(kind: str, key: Any, content: Any) -> None:
    """Keep JSON under all that it depends on, the program included; a store that cannot be written only costs time."""
    store = _of_the_user()
    if store is not None:
        with contextlib.suppress(InvalidDataError):
            store.put("remembered", json.dumps([kind, key]), json.dumps(content).encode())
            store.flush()


def kept(kind: str, key: Any) -> Any:
    """What was kept; None if there is nothing, or nothing that can be read."""
    store = _of_the_user()
    with contextlib.suppress(InvalidDataError, ValueError):
        content = None if store is None else store.get("remembered", json.dumps([kind, key]))
        return None if content is None else json.loads(content)
    return None
