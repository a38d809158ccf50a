"""Examples in the docstrings of public names: each class and function has one, and all of them run."""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module

import pytest

from .test_public_api import PACKAGES

EVERY = ("dpverify", *(f"dpverify.{name}" for name in PACKAGES))


def public() -> dict[str, str]:
    """Docstrings of public classes and functions, their own and no base class's, by `package.name`."""
    found: dict[str, str] = {}
    for package in EVERY:
        module = import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found[f"{package}.{name}"] = inspect.cleandoc(thing.__doc__ or "")
    return found


PUBLIC = public()
EXAMPLES = {name: text for name, text in PUBLIC.items() if ">>>" in text}


def test_every_public_name_has_an_example() -> None:
    assert sorted(PUBLIC.keys() - EXAMPLES.keys()) == []


@pytest.mark.parametrize("package", EVERY)
def test_examples_run(package: str) -> None:
    """Each on its own, with nothing imported but what it imports; seeds are fixed."""
    names = [name for name in EXAMPLES if name.rpartition(".")[0] == package]
    assert names
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
