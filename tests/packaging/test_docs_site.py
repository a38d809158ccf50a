"""The site of the documentation has every page, no dead link, and what it loads is in this repository."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from dpverify.statements.paper import papers

from .page_blocks import DOCS, ROOT, anchors, languages, links

CONFIG = yaml.safe_load((DOCS / "site" / "mkdocs.yml").read_text(encoding="utf-8"))
OUTSIDE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES = sorted(DOCS.rglob("*.md"))

RUN_BY = {
    "accounting.md": "tests/auditing/accountants/test_accountants.py",
    "algorithms.md": "tests/packaging/test_readme.py",
    "audit-your-own-code.md": "tests/packaging/test_audit_page.py",
    "ci.md": "tests/cli/test_project.py",
    "batch-division.md": "tests/auditing/accountants/test_division.py",
    "concepts/adjacency.md": "tests/packaging/test_pages_run.py",
    "device.md": "tests/algorithms/test_on_device.py",
    "exact.md": "tests/verification/test_exact.py",
    "examples/a-paper.md": "tests/statements/test_registered_papers.py",
    "gallery.md": "tests/packaging/test_gallery.py",
    "how-to/check-batches.md": "tests/cli/test_batches.py",
    "how-to/failure-probability.md": "tests/packaging/test_pages_run.py",
    "how-to/fit.md": "tests/packaging/test_pages_run.py",
    "how-to/one-training-run.md": "tests/packaging/test_pages_run.py",
    "how-to/missing-values.md": "tests/packaging/test_pages_run.py",
    "how-to/exceptions.md": "tests/packaging/test_pages_run.py",
    "how-to/user-level-claims.md": "tests/packaging/test_pages_run.py",
    "how-to/refutation.md": "tests/packaging/test_pages_run.py",
    "how-to/theorem.md": "tests/packaging/test_pages_run.py",
    "how-to/train-with-canaries.md": "tests/training/test_page.py",
    "notation.md": "tests/formulas/test_notation.py",
    "outputs.md": "tests/packaging/test_readme.py",
    "pytest.md": "tests/packaging/test_readme.py",
    "sequential.md": "tests/packaging/test_pages_run.py",
    "mechanisms.md": "tests/cli/test_mechanisms.py",
    "theorems.md": "tests/cli/test_theorems.py",
    "sharpen.md": "tests/verification/test_thresholds.py",
    "textbook.md": "tests/statements/test_textbook.py",
    "tutorial.md": "tests/packaging/test_pages_run.py",
}
"""Pages with code, and the tests that run it."""


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hooks", DOCS / "site" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _named(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    return [page for item in (nav.values() if isinstance(nav, dict) else nav) for page in _named(item)]


def test_every_page_is_in_the_navigation_once(hooks: ModuleType) -> None:
    made = ["hypotheses.md", *(f"papers/{key}.md" for key in papers())]
    pages = [page.relative_to(DOCS).as_posix() for page in PAGES] + [*hooks.ADDED.values(), *made]
    assert sorted(_named(CONFIG["nav"])) == sorted(pages)


@pytest.mark.parametrize("page", [*OUTSIDE, *PAGES], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path, hooks: ModuleType) -> None:
    for target, anchor in links(page):
        if re.match(r"\w+:", target):
            continue
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), target
        assert not file.is_dir() or page in OUTSIDE, f"{target}: a folder has no page on the site"
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


def test_links_that_leave_the_pages_stay_on_the_site(hooks: ModuleType) -> None:
    """Links from the site's pages to the README, to sources and back, where MkDocs would find none."""
    changed = hooks.with_links_of_the_site
    assert (
        changed("report.md", "[a](../README.md#b) `[a](../README.md)`")
        == "[a](index.md#b) `[a](../README.md)`"
    )
    assert changed("index.md", "[a](docs/report.md) ![b](docs/images/report.png)") == (
        "[a](report.md) ![b](images/report.png)"
    )
    assert changed("papers/x.md", "[a](../../algorithms/contract.py)") == (
        "[a](../source/algorithms/contract.py.txt)"
    )
    assert changed("report.md", "[a](store.md#b) [c](nowhere.md) [d](#e)") == (
        "[a](store.md#b) [c](nowhere.md) [d](#e)"
    )
    (source,) = [path for path in hooks.linked("notation.md") if path.suffix == ".lark"]
    assert hooks.place_on_site(source) == "source/dpverify/formulas/notation/grammar.lark.txt"


def test_formulas_are_shown_without_a_script(hooks: ModuleType) -> None:
    shown = hooks.on_page_content(r'<p><span class="arithmatex">\(a&lt;\frac{1}{2}\)</span></p>')
    assert "<mfrac>" in shown
    assert "arithmatex" not in shown
    assert "math" not in hooks.on_page_content("<p>no formula</p>")


def test_pages_with_code_are_run_by_a_test() -> None:
    """Each page with code that a reader would run is named in the test that runs it; commands: test_commands.py."""
    code = {"python", "markdown", "yaml"}
    pages = {page.relative_to(DOCS).as_posix() for page in PAGES if languages(page) & code}
    assert pages == set(RUN_BY)
    for page, test in RUN_BY.items():
        assert page.rpartition("/")[2] in (ROOT / test).read_text(encoding="utf-8"), test


def test_what_the_site_needs_is_pinned_once() -> None:
    """What both files pinned could not be installed into one environment for long."""

    def pins(name: str) -> dict[str, str]:
        lines = re.findall(r"^([\w.-]+)==([\w.]+)( ;)?", (ROOT / name).read_text(encoding="utf-8"), re.M)
        return {
            re.sub(r"[-_.]+", "-", package).lower(): version for package, version, only in lines if not only
        }

    own, locked = pins("docs/requirements.txt"), pins("requirements-dev.lock")
    assert not own.keys() & locked.keys()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = {re.split(r"[\[>]", need)[0] for need in project["dependency-groups"]["docs"]}
    assert wanted <= own.keys()
