"""Source files outside of the installed packages: what a result depends on beside the versions of packages."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import site
import sys
import sysconfig
import time
import types
import weakref
from collections.abc import Mapping
from pathlib import Path

_PACKAGE_FOLDERS = {"site-packages", "dist-packages"}
"""Where packages are installed, also those of another environment that is on the path."""

_OWN_NAME = __name__.partition(".")[0]


def is_installed(module: types.ModuleType) -> bool:
    """Whether a module comes with Python, with an installed package, or with this program."""
    name = str(getattr(module, "__name__", ""))
    if name.partition(".")[0] == _OWN_NAME:
        return True
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return in_installed_folder(file)
    # a module without a file is built in or frozen, or was made by hand, as in a notebook
    origin = getattr(getattr(module, "__spec__", None), "origin", None)
    return origin in ("built-in", "frozen") or name in sys.builtin_module_names


@functools.cache
def in_installed_folder(file: str) -> bool:
    """Whether a file is of the standard library or of an installed package."""
    return any(
        _PACKAGE_FOLDERS & set(path.parts)
        or any(path.is_relative_to(folder) for folder in _installed_folders())
        for path in (Path(os.path.abspath(file)), Path(os.path.realpath(file)))
    )


@functools.cache
def _installed_folders() -> tuple[Path, ...]:
    known = sysconfig.get_paths()
    folders = {known[name] for name in ("stdlib", "platstdlib", "purelib", "platlib") if name in known}
    folders |= set(site.getsitepackages()) if hasattr(site, "getsitepackages") else set()
    folders.add(site.getusersitepackages())
    return tuple({Path(place(folder)) for folder in folders for place in (os.path.abspath, os.path.realpath)})


_first_seen: dict[tuple[str, int], str] = {}


def loaded_sources() -> dict[str, str]:
    """Every file outside of the installed packages that a module of this process was loaded from, with its hash.

    The hash is empty for a file that cannot be read, or that has changed since this was first asked: nobody knows
    what was loaded from it. The program that was started (`__main__`) is not among them.
    """
    found = {}
    # a copy, since other threads import meanwhile; the list of a dictionary can meet that halfway
    for name, module in sys.modules.copy().items():
        if _passed_over.get(name) is module:
            continue
        file = getattr(module, "__file__", None)
        if (
            name in ("__main__", "__mp_main__")
            or not isinstance(file, str)
            or file.startswith("<")
            or is_installed(module)
        ):
            _passed_over[name] = module
            continue
        path = os.path.abspath(file)
        found[path] = _hash_as_first_seen(path, module)
    return found


_passed_over: dict[str, types.ModuleType] = {}
"""Modules that need no second look: there are thousands."""


def _hash_as_first_seen(path: str, loaded_by: object) -> str:
    content, key = hash_of_file(path), (path, id(loaded_by))
    if key not in _first_seen:
        _first_seen[key] = content
        # once it is gone, another object may get its number
        weakref.finalize(loaded_by, _first_seen.pop, key, None).atexit = False
    return content if _first_seen[key] == content else ""


def shown(path: str, folder: str | os.PathLike[str]) -> str:
    """A path relative to a folder, where it is inside, so that it means the same when both have moved."""
    return os.path.relpath(path, folder) if Path(path).is_relative_to(folder) else path


def hash_of_file(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file in hexadecimal digits, empty if it cannot be read."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


class SourceWatch:
    """The files that results of a process rest on: what it has loaded by the time that they are there.

    A function may import a module the first time it is called, of which nobody knew when the key of its results was
    made. Travels to worker processes, which load everything anew.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Start now; paths will be relative to the folder where they are inside."""
        self._folder = os.path.abspath(folder)
        self._since = time.time()
        self._process = _process()
        self._expected = loaded_sources()
        self._seen: tuple[object, ...] = ()
        self._files: dict[str, str] | None = {}

    def files(self, mechanism: object = None) -> dict[str, str] | None:
        """The files and their hashes; None if one may not be what was loaded, so that nothing can be said.

        A mechanism that computes in other processes says with a method `loaded_sources` which files they have loaded.
        """
        elsewhere: tuple[str, ...] = ()
        if callable(listed := getattr(mechanism, "loaded_sources", None)):
            elsewhere = tuple(os.path.abspath(path) for path in listed())
        # asked once a block, so answered in a moment: a new module is the last one
        seen = len(sys.modules), next(reversed(sys.modules)), elsewhere
        if self._files is not None and seen != self._seen:
            self._seen = seen
            loaded = {path: _hash_as_first_seen(path, mechanism) for path in elsewhere} | loaded_sources()
            # what was here before needs no look at the clock
            new = loaded if _process() != self._process else loaded.keys() - self._expected.keys()
            files = {**self._expected, **loaded}
            same = all(files[path] == content for path, content in self._expected.items())
            if same and all(files.values()) and all(_written(path) <= self._since for path in new):
                self._files = {shown(path, self._folder): content for path, content in files.items()}
            else:
                self._files = None
        return self._files


def _process() -> tuple[str, int]:
    return platform.node(), os.getpid()


def _written(path: str) -> float:
    """When a file was written last, in seconds since 1970; infinity where there is none."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return float("inf")


def unchanged(files: Mapping[str, str], folder: str | os.PathLike[str]) -> bool:
    """Whether the files that `SourceWatch` found with this folder are still what they were."""
    return all(content and hash_of_file(Path(folder) / path) == content for path, content in files.items())
