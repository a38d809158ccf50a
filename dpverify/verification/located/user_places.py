"""Where a user's function stands in the sources, found without importing anything of theirs."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from dpverify.running import Target
from dpverify.views.results import SourcePlace


def place_of(target: Target, folder: Path | None = None) -> SourcePlace | None:
    """The line where a function or class begins, in the folder where the program runs; None without a source file.

    It is the module's first line where the name is not defined there, and of a command, that of the first of its words
    that is a file.
    """
    here = Path.cwd() if folder is None else folder
    if target.command:
        words = [here / word for word in target.options[-1].split()]
        file = next((word for word in words if word.is_file() and not word.is_relative_to("/usr")), None)
        return None if file is None else SourcePlace.of(file, 1, here)
    module, _, name = target.text.partition(":")
    file = source_of(module, here)
    return None if file is None else SourcePlace.of(file, _line(file, name), here)


def source_of(module: str, here: Path) -> Path | None:
    """The file of a module, searched for in a folder and where Python does; None without a source file."""
    parts = module.split(".")
    for root in dict.fromkeys([here, *(Path(entry) for entry in sys.path if entry)]):
        for file in (root.joinpath(*parts).with_suffix(".py"), root.joinpath(*parts, "__init__.py")):
            if file.is_file():
                return file
    return None


def _line(file: Path, name: str) -> int:
    """Where a module binds a name last at its top, from 1; 1 where it does not."""
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return 1
    found = 1
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound = [node.name]
        elif isinstance(node, ast.Assign):
            bound = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            bound = [node.target.id]
        else:
            continue
        if name in bound:
            found = node.lineno
    return found
