"""The program that computed something, as a hash of its files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("dpverify", "dpverify.algorithms", "dpverify.properties", "dpverify.reports")
"""Their folders need not lie within one another where the program is not installed but run from its source."""


SHIPPED = "verdicts"  # a folder of what the program has found, which is no part of the program


@cache
def program_hash(packages: tuple[str, ...] = PACKAGES) -> str:
    """A hash that changes with any file of the packages, however deep; the same wherever they are installed."""
    files = {
        name: content
        for package in packages
        for folder in getattr(find_spec(package), "submodule_search_locations", None) or ()
        for name, content in _files(Path(folder), package.replace(".", "/"))
    }
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        for part in (name.encode(), content):
            digest.update(f"{len(part)}:".encode() + part)
    return digest.hexdigest()


def _files(folder: Path, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            if entry.name not in ("__pycache__", SHIPPED):
                yield from _files(entry, path)
        else:
            yield path, entry.read_bytes()
