"""Where blocks are computed: here, or through joblib in threads, in processes or on a Dask cluster."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import joblib
from joblib.parallel import LokyBackend, ThreadingBackend

from dpverify.checks import of_kind, whole_number
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.extras import install_command
from dpverify.garbage import look_for_garbage_rarely
from dpverify.quoting import named
from dpverify.running.thread_pools import SharedContext, thread_pools

Item = TypeVar("Item")
Result = TypeVar("Result")

_CONNECT_SECONDS = 10.0

_LONGEST_WAIT = 5.0
"""Seconds for calls to be taken up before worker processes are ended; it takes milliseconds."""

_LOOKS = 0.25  # seconds between two looks at who the parent is
MOST_WORKERS = 1024  # threads or processes of one machine; thousands of them only take memory
_FORMS = '"serial", "threads=K", "processes=K" with K from 1 to 1024, or "dask=ADDRESS"'


@dataclass(frozen=True)
class Executor:
    """Where the blocks of a run are computed. The results do not depend on it.

    Attributes:
        kind: `serial` (here, one after the other), `threads`, `processes` or `dask`.
        workers: how many blocks at once; 0 with Dask: as many as the cluster has threads.
        address: of the Dask scheduler, such as `tcp://10.0.0.1:8786`; empty otherwise.
    """

    kind: Literal["serial", "threads", "processes", "dask"] = "serial"
    workers: int = 1
    address: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in ("serial", "threads", "processes", "dask"):
            raise InvalidArgumentError("executor", self.kind, _FORMS)
        least = 0 if self.kind == "dask" else 1
        most = 1 if self.kind == "serial" else MOST_WORKERS
        whole_number("workers", self.workers, at_least=least, at_most=most)
        if not isinstance(self.address, str) or (self.kind == "dask") != bool(self.address):
            raise InvalidArgumentError("executor", f"{self.kind}={self.address}", _FORMS)

    @classmethod
    def parse(cls, text: str) -> Executor:
        """Read `serial`, `threads=K`, `processes=K` or `dask=ADDRESS`.

        Raises:
            InvalidArgumentError: if the text has none of these forms.
        """
        of_kind("executor", text, str, _FORMS)
        if text == "serial":
            return cls()
        local = re.fullmatch(r"(threads|processes)=([1-9][0-9]{0,5})", text)
        if local is not None:
            kind: Literal["threads", "processes"] = "threads" if local[1] == "threads" else "processes"
            return cls(kind, int(local[2]))
        if text.startswith("dask=") and len(text) > len("dask="):
            return cls("dask", 0, text.removeprefix("dask="))
        raise InvalidArgumentError("executor", text, _FORMS)

    def __str__(self) -> str:
        """The form that `parse` reads."""
        if self.kind == "serial":
            return "serial"
        return f"{self.kind}={self.address or self.workers}"

    @classmethod
    def chosen(cls, executor: Executor | str | None) -> Executor:
        """An executor given as such, as the text that `parse` reads, or not at all: serial.

        Raises:
            InvalidArgumentError: for anything else.
        """
        if executor is None:
            return cls()
        return executor if isinstance(executor, cls) else cls.parse(executor)  # type: ignore[arg-type]

    def serving(self, mechanism: object) -> Executor:
        """The executor to use for a mechanism: one with worker processes of its own is served by threads."""
        if self.kind == "processes" and getattr(mechanism, "has_own_processes", False):
            return Executor("threads", self.workers)
        return self

    @contextlib.contextmanager
    def open(self) -> Iterator[Workers]:
        """Connect to the workers, for as long as the context lasts.

        Raises:
            InvalidArgumentError: if Dask is wanted but not installed, or its scheduler does not answer.
        """
        if self.kind == "serial":
            yield Workers(None)
        elif self.kind == "dask":
            with _dask_client(self.address) as client:
                backend = _dask_backend(client)
                workers = max(1, sum(client.nthreads().values()))
                with (
                    joblib.parallel_config(backend=backend),
                    joblib.Parallel(n_jobs=workers, return_as="generator", batch_size=1) as parallel,
                ):
                    yield Workers(parallel, backend)
        else:
            backend = _WaitingThreads() if self.kind == "threads" else worker_processes()
            with joblib.Parallel(
                n_jobs=self.workers, backend=backend, return_as="generator", batch_size=1
            ) as parallel:
                yield Workers(parallel, backend)


class Workers:
    """Open workers, which compute calls of one function, several at once."""

    def __init__(self, pool: Any, backend: _Telling | None = None) -> None:
        self._pool, self._backend = pool, backend

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        done: Callable[[Result], None] | None = None,
    ) -> Generator[Result]:
        """Yield the results in the order of the items, each as soon as it and those before it are there.

        `done` is told of each result as soon as it is there, also before those before it; in this process, but in
        any thread.
        """
        if self._pool is None:
            for item in items:
                result = function(item)
                if done is not None:
                    done(result)
                yield result
            return
        if self._backend is not None:
            self._backend.done = done
        results = self._pool(joblib.delayed(function)(item) for item in items)
        try:
            # no `yield from`, which would close the results by itself, with joblib's warning
            for result in results:
                yield result
        except BrokenProcessPool as error:
            # joblib lists what it knows: {SIGKILL(-9)} where memory ran out, {EXIT(1)} where the code ended it
            codes = re.search(r"exit codes of the workers are \{(.*?)\}", str(error))
            raise InvalidDataError(_lost_worker(codes[1] if codes else "")) from error
        finally:
            with warnings.catch_warnings():
                # whoever stops early means it
                warnings.filterwarnings("ignore", message=".*tasks which were still being processed")
                warnings.filterwarnings("ignore", message=".*tasks have been successfully executed")
                results.close()


class _Telling:
    """A backend that tells somebody of the results that it gets, when it gets them."""

    done: Callable[[Any], None] | None = None

    def tell(self, results: Any) -> None:
        """Pass on the results of one batch of calls."""
        if self.done is not None and isinstance(results, list):
            for result in results:
                self.done(result)


class _WaitingThreads(_Telling, ThreadingBackend):  # type: ignore[misc]  # joblib has no types
    """Joblib's threads, whose results are waited for; joblib would look every 10 ms, 4 % of a run of 0.25 s."""

    supports_retrieve_callback = False
    supports_return_generator = True

    def submit(self, func: Callable[[], Any], callback: Callable[..., None] | None = None) -> Any:
        """Hand a call to the threads; the result, or what it raised, is fetched by `retrieve_result`."""

        def call() -> Any:
            try:
                results = func()
                self.tell(results)
                return results
            except Exception:
                raise
            except BaseException as error:
                # these would end the thread and leave whoever waits for the result waiting forever
                return _Ended(error)

        return self._get_pool().apply_async(call, (), callback=callback, error_callback=callback)

    def retrieve_result(self, out: Any, timeout: float | None = None) -> Any:
        """The result of a call, or what it raised."""
        result = super().retrieve_result(out, timeout)
        if isinstance(result, _Ended):
            raise result.exception
        return result


class _Processes(_Telling, LokyBackend):  # type: ignore[misc]  # joblib has no types
    """Joblib's processes, ended only when every call has been taken up: one that comes later gives a traceback."""

    def retrieve_result_callback(self, out: Any) -> Any:
        """The results of a batch of calls, or what it raised."""
        results = super().retrieve_result_callback(out)
        self.tell(results)
        return results

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """End the workers, with the calls that they are at."""
        waiting = getattr(self._workers, "_work_ids", None)
        limit = time.monotonic() + _LONGEST_WAIT
        while waiting is not None and not waiting.empty() and time.monotonic() < limit:
            time.sleep(0.001)
        super().abort_everything(ensure_ready)


def worker_processes() -> Any:
    """Joblib's backend of processes that end with this one, even if it is killed."""
    # Where warnings are errors, this one would end the thread that hands out work, and whoever waits for it would wait
    # forever. All that it says is that a worker had grown large and that a new one took its place.
    warnings.filterwarnings(
        "ignore", message="A worker stopped while some jobs were given", category=UserWarning
    )
    return _Processes(initializer=_begin, initargs=(os.getpid(),))


def _begin(parent: int) -> None:
    end_with_parent(parent)
    look_for_garbage_rarely()


@dataclass(frozen=True, eq=False)
class _Ended:
    """What ended a call in a thread: `KeyboardInterrupt`, say, which is no `Exception`."""

    exception: BaseException


def _lost_worker(how: str) -> str:
    return (
        f"A worker process ended{f' ({how})' if how else ''} before its runs were done; allowed: a mechanism "
        "that does not end its process, and that fits into memory on every worker."
    )


@contextlib.contextmanager
def _dask_client(address: str) -> Iterator[Any]:
    try:
        import distributed
    except ImportError as error:
        raise InvalidArgumentError(
            "executor",
            f"dask={address}",
            f"serial, threads or processes; dask after {install_command('dask')}",
        ) from error
    try:
        _knock(address)
        client = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InvalidArgumentError(
            "executor", f"dask={address}", "the address of a running Dask scheduler"
        ) from error
    with client:
        yield client


def _knock(address: str) -> None:
    """Refuse an address at which nobody listens: a client that was made for it would show a traceback as it ends."""
    from distributed.comm.addressing import parse_address, parse_host_port

    scheme, place = parse_address(address)
    if scheme in ("tcp", "tls"):
        socket.create_connection(parse_host_port(place), timeout=_CONNECT_SECONDS).close()


def _dask_backend(client: Any) -> Any:
    """Joblib's backend for Dask, which would wait forever for a block that ended its workers."""
    from distributed import KilledWorker
    from joblib._dask import DaskDistributedBackend

    class Backend(_Telling, DaskDistributedBackend):  # type: ignore[misc]  # joblib has no types
        def submit(self, func: Callable[[], Any], callback: Callable[..., None] | None = None) -> Any:
            future = super().submit(func, callback)

            def fail(done: Any) -> None:
                if callback is not None and not done.cancelled() and done.exception() is not None:
                    callback(done.exception())

            future.add_done_callback(fail)
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, KilledWorker):
                raise InvalidDataError(_lost_worker("")) from out
            if isinstance(out, Exception):
                # what the mechanism raises comes back as a result, so this is about the workers
                raise InvalidDataError(f"The Dask cluster could not compute a block: {named(out)}") from out
            if isinstance(out, BaseException):
                raise out
            results = super().retrieve_result_callback(out)
            self.tell(results)
            return results

    return Backend(client=client)


one_blas_thread = SharedContext(lambda: thread_pools().limit(limits=1, user_api="blas"))
"""A context in which BLAS uses one thread.

Blocks are what runs in parallel, so a second layer of threads only costs; and the number of threads changes how BLAS
splits its sums, which would let the machine's size into the bits.
"""


def end_with_parent(parent: int) -> None:
    """Let this process end soon after the process `parent`, which started it, has ended.

    A signal at the parent's death, as Linux has it, comes when the thread ends that started the process; so a thread
    looks instead. Where the system has no new parent for an orphan, nothing happens.
    """

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOKS)
        os._exit(1)

    if hasattr(os, "getppid") and os.getppid() != os.getpid():
        threading.Thread(target=look, name="end with parent", daemon=True).start()
