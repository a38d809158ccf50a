"""The user's cache folder: what was computed once, under a hash of all that it depends on."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from dpverify.files import write_whole


def file_of(kind: str, key: Any) -> Path:
    """Where it is kept, in a folder for its kind; `key` is JSON that says all it depends on, the program included."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = hashlib.sha256(json.dumps(key).encode()).hexdigest()
    return base / "dpverify" / kind / f"{name}.json"


def keep(path: Path, content: Any) -> None:
    """Write JSON; a cache that cannot be written only costs time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(content).encode())
    except OSError:
        return


def kept(path: Path) -> Any:
    """What was written; None where there is nothing, or nothing that can be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
