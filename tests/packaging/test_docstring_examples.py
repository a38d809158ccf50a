"""Examples in the docstrings of public names: all of them run, and what has none yet is listed.

The list, without_example.txt, may only become shorter: what is new, or has an example, does not belong there.
"""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module
from pathlib import Path

import pytest

from .test_public_api import PACKAGES

LIST = Path(__file__).with_name("without_example.txt")
COMPLETE = ("dpverify", "dpverify.privacy", "dpverify.properties")
"""Packages in which every class and function has an example."""


def public() -> dict[str, str]:
    """Docstrings of public classes and functions, by `package.name`."""
    found: dict[str, str] = {}
    for package in ("dpverify", *(f"dpverify.{name}" for name in PACKAGES)):
        module = import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found[f"{package}.{name}"] = inspect.getdoc(thing) or ""
    return found


PUBLIC = public()
EXAMPLES = {name: text for name, text in PUBLIC.items() if ">>>" in text}


def test_what_has_no_example_is_listed() -> None:
    without = sorted(PUBLIC.keys() - EXAMPLES.keys())
    assert without == LIST.read_text(encoding="utf-8").split(), "remove names that have an example now"
    assert not [name for name in without if name.rpartition(".")[0] in COMPLETE]


@pytest.mark.parametrize("package", COMPLETE)
def test_examples_run(package: str) -> None:
    """Each on its own, with nothing imported but what it imports; seeds are fixed."""
    names = [name for name in EXAMPLES if name.rpartition(".")[0] == package]
    assert names
    assert _failures(names) == []


def test_examples_of_other_packages_run() -> None:
    names = [name for name in EXAMPLES if name.rpartition(".")[0] not in COMPLETE]
    assert _failures(names) == []


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
