"""Packages whose names are loaded when they are asked for, by the stubs beside them (Scientific Python's SPEC 1)."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def attach_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, from the lines `from .module import name` of its stub.

    Args:
        package: its `__name__`.
        file: its `__file__`, beside which the stub lies.
    """
    lines = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body
    found = {name.name: of.module for of in lines if isinstance(of, ast.ImportFrom) for name in of.names}
    names = sorted(found)

    def getattr_(name: str) -> Any:
        if name not in found:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{found[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return getattr_, names.copy, names
