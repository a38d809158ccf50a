"""Pages of the site that are made of a ledger: what is false, the papers, and their statements with verdicts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpverify.ledger.document import Ledger
from dpverify.ledger.verdicts import Coverage
from dpverify.reports import write_ledger
from dpverify.statements.paper import PaperFolder, papers
from dpverify.verification.pages import main, site_pages

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def pages(ledger_of_proofs: Ledger) -> dict[str, str]:
    return dict(site_pages(ledger_of_proofs, [], DOCS))


def test_every_paper_has_its_pages(pages: dict[str, str]) -> None:
    assert "findings.md" in pages
    for key, paper in papers().items():
        assert isinstance(paper, PaperFolder)
        table = pages[f"papers/{key}.md"]
        for row in paper.catalog:
            assert f"`{row.id}`" in table
        for name, anchor in re.findall(r"\]\((\w+/\w+\.md)#([\w.-]+)\)", table):
            assert f"{{#{anchor}}}" in pages[f"papers/{name}"]
        for name in set(re.findall(r"\]\((\.\.[^)]+)\)", table)):
            assert (DOCS / "papers" / name).resolve().is_file(), name


def test_every_display_has_its_verdict(pages: dict[str, str]) -> None:
    page = pages["papers/fmtt18/noisy_sgd.md"]
    (part,) = re.findall(r"^## Theorem 23 .*?(?=^## )", page, re.M | re.S)
    assert "As printed: **holds, given fmtt18.def10" in part
    (behind,) = re.findall(r"^`last-display` .*?(?=^Corrected)", part, re.M | re.S)
    assert re.search(r"^> \*\*refuted\*\* at .*confirmed by the checker\)$", behind, re.M)
    (mended,) = re.findall(r"^Corrected `last-display` .*?(?=^`)", part, re.M | re.S)
    assert "> **proved**" in mended
    verdicts = sum(text.count("\n> **") for name, text in pages.items() if name.count("/") == 2)
    parts = (part for p in papers().values() for s in p.statements for part in s.parts)
    assert verdicts == sum(part.coverage is not Coverage.CITED for part in parts)
    assert not any("$`" in text for text in pages.values())


def test_the_pages_are_written(tmp_path: Path, ledger_of_proofs: Ledger) -> None:
    write_ledger(ledger_of_proofs, tmp_path / "ledger.json")
    assert main(["site", str(tmp_path / "made"), str(tmp_path / "ledger.json")]) == 0
    assert (tmp_path / "made" / "papers" / "mn25.md").is_file()


@pytest.mark.parametrize(
    "arguments", [[], ["site", "."], ["site", ".", "no-such-ledger.json"], ["a", "b", "c"]]
)
def test_bad_input(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1
