"""What all threads of a process share: the libraries' thread pools, and contexts that several threads are in at once.

Apart from what spreads work over processes, which is slow to import.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator

from threadpoolctl import ThreadpoolController


def thread_pools() -> ThreadpoolController:
    """The loaded libraries that have thread pools; to look takes ten milliseconds, and only imports bring new ones."""
    return _thread_pools(len(sys.modules))


@functools.lru_cache(maxsize=1)
def _thread_pools(modules: int) -> ThreadpoolController:
    return ThreadpoolController()


@contextlib.contextmanager
def no_idle_threads() -> Iterator[None]:
    """A copy of OpenBLAS that is loaded inside starts no threads, unless the environment says how many.

    It would start one for each core at once, and those wait busily for work: on two cores a tenth of a CPU second for
    each copy, and NumPy and SciPy bring one each. For a process that does all its linear algebra on one thread. The
    environment is left as it was, so that processes started afterwards are not concerned.
    """
    name = "OPENBLAS_NUM_THREADS"
    if any(other in os.environ for other in (name, "GOTO_NUM_THREADS", "OMP_NUM_THREADS")):
        yield
        return
    os.environ[name] = "1"
    try:
        yield
    finally:
        os.environ.pop(name, None)


class SharedContext:
    """A context that threads may be in at the same time: the first one in enters it, the last one out leaves it."""

    def __init__(self, make: Callable[[], contextlib.AbstractContextManager[object]]) -> None:
        self.make = make
        self._lock = threading.Lock()
        self._inside = 0
        self._leave = contextlib.ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                with contextlib.ExitStack() as entered:
                    entered.enter_context(self.make())
                    self._leave = entered.pop_all()
            self._inside += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._leave.close()
