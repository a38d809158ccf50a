"""Every public name exists, is documented, and is listed once."""

from __future__ import annotations

import inspect
import pkgutil
import re
import types
from importlib import import_module
from pathlib import Path

import pytest

from .page_blocks import DOCS

PAPERS = ("bst14", "fmtt18", "gll22", "mn25")
PACKAGES = (
    *(
        "privacy",
        "problems",
        "running",
        "algorithms",
        "proving",
        "auditing",
        "properties",
        "reports",
        "training",
    ),
    *(f"algorithms.{folder}" for folder in (*PAPERS, "yardstick")),
    *("auditing.exact", "auditing.neighbors", "auditing.white_box", "statements.exact"),
)


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_exist_and_are_documented(package: str) -> None:
    module = import_module(f"dpverify.{package}")
    assert module.__doc__
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        found = getattr(module, name)
        if inspect.isclass(found) or inspect.isfunction(found):
            assert inspect.getdoc(found), f"dpverify.{package}.{name} has no docstring"
            assert found.__module__.startswith(f"dpverify.{package}"), f"{name} is re-exported from elsewhere"


@pytest.mark.parametrize("package", ["", *(f".{name}" for name in PACKAGES), ".ledger", ".verification"])
def test_public_names_are_shown(package: str) -> None:
    found = import_module(f"dpverify{package}")
    names = set(dir(found)) if hasattr(found, "__dir__") else {n for n in dir(found) if n in found.__all__}
    assert names == set(found.__all__)


@pytest.mark.parametrize("package", [*PACKAGES, "verification"])
def test_names_found_when_asked_for_are_no_modules(package: str) -> None:
    """Once imported, a module of the same name would be what is found."""
    found = import_module(f"dpverify.{package}")
    modules = {module.name for module in pkgutil.iter_modules(found.__path__)}
    assert not modules & set(found.__all__)
    assert all(not isinstance(getattr(found, name), types.ModuleType) for name in found.__all__)


@pytest.mark.parametrize("page", sorted((DOCS / "reference").glob("[!i]*.md")), ids=lambda page: page.stem)
def test_the_reference_has_every_public_name_once_in_a_group(page: Path) -> None:
    title, *groups = page.read_text(encoding="utf-8").split("\n## ")
    package = import_module(title.split()[1])
    listed = re.findall(rf"^::: {re.escape(package.__name__)}\.(\w+)$", "\n".join(groups), re.M)
    assert sorted(listed) == sorted(package.__all__)
    assert ":::" not in title
