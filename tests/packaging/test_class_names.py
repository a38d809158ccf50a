"""A class name stands once in the whole source, so that a name says which class is meant."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def classes(text: str) -> Iterator[str]:
    """The names of the classes that a module defines, at any depth."""
    return (node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef))


def modules() -> Iterator[Path]:
    """The files of the source, each once: the links of a plain checkout are left out."""
    for folder in ("dpverify", "algorithms", "properties", "reports"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT)
            if not any((ROOT / part).is_symlink() for part in (name, *name.parents)):
                yield name


def twice(sources: dict[str, str]) -> dict[str, list[str]]:
    """Each class name that stands more than once, with the files."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for file, text in sources.items():
        for name in classes(text):
            found[name].append(file)
    return {name: files for name, files in found.items() if len(files) > 1}


def test_a_class_name_stands_once() -> None:
    assert len(list(modules())) > 100
    assert twice({str(path): (ROOT / path).read_text(encoding="utf-8") for path in modules()}) == {}


def test_a_planted_twin_is_found() -> None:
    assert twice({"a.py": "class _Row: ...", "b.py": "def f():\n class _Row: ..."}) == {
        "_Row": ["a.py", "b.py"]
    }
