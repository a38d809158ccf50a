"""The user's store, in the cache folder: what was computed once, under all that it depends on."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from dpverify.errors import InvalidDataError
from dpverify.running.store import NAME_IN_FOLDER, Store

_open: dict[Path, Store | None] = {}
"""By its path; None where it cannot be opened, which only costs time."""


def _store() -> Store | None:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = base / "dpverify" / NAME_IN_FOLDER
    if path not in _open:
        try:
            _open[path] = Store(path)
        except InvalidDataError:
            _open[path] = None
    return _open[path]


def keep(kind: str, key: Any, content: Any) -> None:
    """Keep JSON; a store that cannot be written only costs time.

    Args:
        kind: of what is kept.
        key: JSON that says all that it depends on, the program included.
        content: JSON.
    """
    store = _store()
    if store is not None:
        with contextlib.suppress(InvalidDataError):
            store.put("remembered", json.dumps([kind, key]), json.dumps(content).encode())
            store.flush()


def kept(kind: str, key: Any) -> Any:
    """What was kept; None where there is nothing, or nothing that can be read."""
    store = _store()
    with contextlib.suppress(InvalidDataError, ValueError):
        content = None if store is None else store.get("remembered", json.dumps([kind, key]))
        return None if content is None else json.loads(content)
    return None
