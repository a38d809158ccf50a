"""Corrections that tests and audits compute: what is named exists, and the page has them as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.statements.errata import ERRATA
from dpverify.statements.paper import Paper, papers
from dpverify.verification.catalog.entries import catalog_entries

from ..benchmarks.errata_page import BEGIN, END, main, with_errata

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "algorithms.md"


def test_every_correction_names_tests_or_audits_that_exist() -> None:
    tests = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)\(", file.read_text(encoding="utf-8"), re.M)
    }
    audits = {plan.name for paper in papers().values() for plan in paper.plans}
    known = {"test": tests, "audit": audits}
    for errata in ERRATA.values():
        for erratum in errata:
            assert erratum.evidence, erratum.printed
            for text in erratum.evidence:
                kind, name = text.split(" ", 1)
                assert name in known[kind], text


def test_they_are_in_the_ledger_s_catalog() -> None:
    entries = {entry.id: entry.errata for entry in catalog_entries([])}
    assert {id_: errata for id_, errata in entries.items() if errata} == dict(ERRATA)
    encoded = {s.id for paper in papers().values() for s in paper.statements}
    assert not encoded & set(ERRATA)  # the provers say what is false among those


def test_the_page_has_them_as_they_are() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_errata(text) == text, "make pages"


def test_a_page_that_was_edited_is_seen_and_written_anew(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    edited = text.replace("is only 2 rho-zCDP", "is rho-zCDP")
    assert edited != text
    assert with_errata(edited) == text
    page = tmp_path / "page.md"
    page.write_text(edited, encoding="utf-8")
    assert main([str(page)]) == 0
    assert page.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("text", ["", BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}{BEGIN}{END}"])
def test_a_page_without_its_marks_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InvalidDataError):
        with_errata(text)
    (tmp_path / "page.md").write_text(text)
    assert main([str(tmp_path / "page.md")]) == main([str(tmp_path / "none.md")]) == main([]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_a_correction_of_what_no_catalog_has_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="ids of the paper's catalog"):
        Paper("key", "", "", (), errata={"key.thm1": next(iter(ERRATA.values()))})
