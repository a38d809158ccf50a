"""Packages that load their parts when they are asked for, so that a command loads only what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def attributes(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose public names are defined in modules.

    Args:
        package: its name.
        modules: from each public name to the module that defines it. No module of the package may have a public name:
            once imported, the module would be what is found under it.
    """

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name]), name)

    return find
