"""Each command that README, CONTRIBUTING and docs show is run by a test, or stands here with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .page_blocks import DOCS, ROOT, commands

MINUTES = "takes minutes or hours; run by hand"
MAKE = "a part of it runs in the tests of what it makes"
NAMES = "stands for a reader's own names"
INSTALLS = "installs from an index or into this environment; make release installs the wheel"
BY_HAND = "run by hand"

README, AUDIT = "tests/packaging/test_readme.py", "tests/packaging/test_audit_page.py"
PAGES, GALLERY = "tests/packaging/test_pages_run.py", "tests/packaging/test_gallery.py"
PAPERS = "tests/statements/test_registered_papers.py"

KNOWN: dict[str, dict[str, str]] = {
    "README.md": {
        "": README,
        "python3 -m venv": INSTALLS,
        "pip install": INSTALLS,
        "dpverify audit package.module:": NAMES,
        'dpverify audit --command "./mechanism"': NAMES,
        "dpverify audit --left p.csv": NAMES,
        "dpverify prove docs/examples/my-theorem.md": "tests/statements/test_page.py",
        "dpverify run --format junit": "tests/cli/test_project.py",
        "dpverify compare old/ledger.json": NAMES,
        "dpverify verify --profile full": MINUTES,
        "make ": MINUTES,
        "dpverify prove theorems": MINUTES,
        "dpverify prove theorem.gaussian-analytic": BY_HAND,
        "dpverify prove docs/examples/clipped-sum.md": "tests/cli/test_mechanisms.py",
    },
    "CONTRIBUTING.md": {"make ": MINUTES},
    "docs/audit-your-own-code.md": {"": AUDIT},
    "docs/ci.md": {"pip install": INSTALLS, "": "tests/cli/test_project.py"},
    "docs/dpriv-bench.md": {"make ": MAKE},
    "docs/examples/a-paper.md": {"": PAPERS, "pip install": INSTALLS},
    "docs/examples/bun-steinke/README.md": {"": PAPERS, "pip install": INSTALLS},
    "docs/gallery.md": {"": GALLERY, "pip install": INSTALLS},
    "docs/how-to/audit-a-library.md": {
        "make ": MINUTES,
        "cd docs/examples/campaign": "needs diffprivlib; make test-libraries runs the campaign's claims",
        "printf": BY_HAND,
        "dpverify audit of_diffprivlib:histogram": "needs diffprivlib; run by hand",
    },
    "docs/how-to/check-batches.md": {"": "tests/cli/test_batches.py"},
    "docs/how-to/editor.md": {"": "never ends; tests/editor runs what it does"},
    "docs/how-to/fit.md": {"": NAMES},
    "docs/how-to/one-training-run.md": {"": PAGES},
    "docs/how-to/theorem.md": {"": PAGES},
    "docs/how-to/user-level-claims.md": {"": NAMES},
    "docs/importing.md": {"": "tests/statements/importing/test_importing.py"},
    "docs/mechanism-gallery.md": {"dpverify prove mechanisms": MINUTES, "make ": MAKE},
    "docs/mechanisms.md": {
        "dpverify prove docs/examples/clipped-sum.md": "tests/cli/test_mechanisms.py",
        "dpverify read": "tests/cli/test_read.py",
        "dpverify prove mean.md": BY_HAND,
    },
    "docs/outputs.md": {"dpverify badge": README, "dpverify compare": NAMES},
    "docs/report.md": {
        "chromium": "needs chromium; run by hand",
        "dpverify report": BY_HAND,
    },
    "docs/rocq.md": {
        "apt-get": INSTALLS,
        "dpverify ": "needs Rocq; tests/proving/rocq run where it is installed",
    },
    "docs/sharpen.md": {"": "tests/verification/test_thresholds.py"},
    "docs/textbook.md": {"": MINUTES, "dpverify prove textbook.logarithm": BY_HAND, "make ": MAKE},
    "docs/theorems.md": {
        "dpverify prove my-theorems.md": "tests/cli/test_theorems.py",
        "dpverify prove theorem.composition": BY_HAND,
        "dpverify explain theorem.composition": BY_HAND,
        "dpverify prove theorems": MINUTES,
        "dpverify list theorems": "tests/verification/test_theorem_verdicts.py",
        "dpverify verify --paper theorems": MINUTES,
        "dpverify check": MINUTES,
        "python -": BY_HAND,
    },
    "docs/tutorial.md": {"": PAGES},
}
"""By page and by how a command begins, the longest such beginning counts: the test that runs it, or why none does."""


def _shown() -> Iterator[tuple[str, str]]:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))):
        for command in commands(page):
            yield page.relative_to(ROOT).as_posix(), command


def _beginning(page: str, command: str) -> str | None:
    """The entry that says what becomes of a command; None if there is none."""
    return max((start for start in KNOWN.get(page, ()) if command.startswith(start)), key=len, default=None)


def test_each_command_is_run_or_says_why_not() -> None:
    assert [shown for shown in _shown() if _beginning(*shown) is None] == []


def test_each_entry_is_of_a_command_that_is_shown() -> None:
    used = {(page, _beginning(page, command)) for page, command in _shown()}
    assert {(page, start) for page, starts in KNOWN.items() for start in starts} == used


@pytest.mark.parametrize("page", KNOWN)
def test_the_test_that_is_named_reads_the_page_or_has_the_command(page: str) -> None:
    for start, test in KNOWN[page].items():
        if test.startswith("tests/"):
            text = (ROOT / test).read_text(encoding="utf-8")
            words = re.split(r"[\s\"',]+", start)
            names = {Path(page).name, Path(page).parent.name}
            assert any(name in text for name in names) or (start and all(word in text for word in words)), (
                page,
                start,
            )


def test_a_command_that_nobody_runs_is_noticed() -> None:
    """Planted: on a page without an entry, and on one whose entries begin otherwise."""
    assert _beginning("docs/store.md", "dpverify list") is None
    assert _beginning("docs/outputs.md", "dpverify list") is None
    assert _beginning("README.md", "make everything") == "make "
