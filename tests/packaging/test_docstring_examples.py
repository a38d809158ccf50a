"""Examples in the docstrings of what users call: each of these has one, and all examples run."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from importlib import import_module

import pytest

import dpverify

from .page_blocks import DOCS, blocks
from .test_public_api import PACKAGES

EVERY = ("dpverify", *(f"dpverify.{name}" for name in PACKAGES))


def shown() -> set[str]:
    """Words in the Python code of the README and of the pages of docs/, outside of strings of one line."""
    pages = (DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md")))
    code = [block for page in pages for form in ("python", "pycon") for block in blocks(page, form)]
    return set(re.findall(r"\w+", re.sub(r"\"[^\"\n]*\"", "", "\n".join(code))))


def public() -> Iterator[tuple[str, str]]:
    """Public classes and functions with their docstrings, their own and no base class's, by `package.name`."""
    for package in EVERY:
        module = import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield f"{package}.{name}", inspect.cleandoc(thing.__doc__ or "")


SHOWN = shown()
PUBLIC = dict(public())
EXAMPLES = {name: text for name, text in PUBLIC.items() if ">>>" in text}
CALLED = {
    name
    for name in PUBLIC
    for word in [name.rpartition(".")[2]]
    if word in dpverify.__all__ or word in SHOWN or word.startswith("check_")
}
"""The top level, the checks, and what the README and the docs show in code."""


def test_what_users_call_has_an_example() -> None:
    assert 50 < len(CALLED) < 100
    assert sorted(CALLED - EXAMPLES.keys()) == []


@pytest.mark.parametrize("package", sorted({name.rpartition(".")[0] for name in EXAMPLES}))
def test_examples_run(package: str) -> None:
    """Each on its own, with nothing imported but what it imports; seeds are fixed."""
    assert _failures([name for name in EXAMPLES if name.rpartition(".")[0] == package]) == []


def test_a_wrong_example_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXAMPLES, "wrong", ">>> 1 + 1\n3\n")
    monkeypatch.setitem(EXAMPLES, "raises", ">>> import dpverify\n>>> dpverify.nothing\n")
    assert _failures(["wrong", "raises"]) == ["wrong", "raises"]


def _failures(names: list[str]) -> list[str]:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    parser = doctest.DocTestParser()
    failed = []
    for name in names:
        test = parser.get_doctest(EXAMPLES[name], {}, name, None, 0)
        if runner.run(test).failed:
            failed.append(name)
    return failed
