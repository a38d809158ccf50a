"""The libraries that have thread pools, apart from what spreads work over processes, which is slow to import."""

from __future__ import annotations

import functools
import sys

from threadpoolctl import ThreadpoolController


def thread_pools() -> ThreadpoolController:
    """The loaded libraries that have thread pools.

    Looking for them takes some ten milliseconds, and only an import brings a new one.
    """
    return _thread_pools(len(sys.modules))


@functools.lru_cache(maxsize=1)
def _thread_pools(modules: int) -> ThreadpoolController:
    return ThreadpoolController()
