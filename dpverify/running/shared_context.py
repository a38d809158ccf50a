"""Contexts for the whole process, for several threads at once."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable


class SharedContext:
    """A context that threads may be in at the same time: the first one in enters it, the last one out leaves it.

    Attributes:
        make: what to enter, made anew each time.
    """

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
