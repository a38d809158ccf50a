"""Pages of the site that are made of a ledger: what is false, the papers, and their statements with verdicts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpverify.ledger.document import Ledger
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, Consequence, Coverage, Variant
from dpverify.reports import write_ledger
from dpverify.statements.paper import PaperFolder, papers
from dpverify.views.letters.faults import letters
from dpverify.views.letters.told import PartLabel, PieceKind, entry_parts, point

from ..benchmarks.pages import letters_on_papers, main, site_pages

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def pages(ledger_of_proofs: Ledger) -> dict[str, str]:
    return dict(site_pages(ledger_of_proofs, [], DOCS))


def test_every_paper_has_its_pages(pages: dict[str, str]) -> None:
    for key, paper in papers().items():
        assert isinstance(paper, PaperFolder)
        table = pages[f"papers/{key}.md"]
        for row in paper.catalog:
            assert f"`{row.id}`" in table
        for name, anchor in re.findall(r"\]\((\w+/\w+\.md)#([\w.-]+)\)", table):
            assert f"{{#{anchor}}}" in pages[f"papers/{name}"]
        for name in set(re.findall(r"\]\((\.\.[^)]+)\)", table)):
            assert name.removeprefix("../") in pages or (DOCS / "papers" / name).resolve().is_file(), name


def test_each_letter_tells_each_row_once(ledger_of_proofs: Ledger) -> None:
    """Nothing is lost, and a letter can be read: few entries, whatever the number of rows."""
    of = {row.id: row.paper for row in ledger_of_proofs.statements}
    written = letters_on_papers(ledger_of_proofs)
    for letter in letters(ledger_of_proofs):
        broken = [
            id(entry)
            for entry in ledger_of_proofs.entries
            if isinstance(entry, ProofEvidence) and entry.variant is Variant.PRINTED
            if entry.verdict in BROKEN and of[entry.statement] == letter.paper
        ]
        assert sorted(map(id, letter.rows)) == sorted(broken)
        if not letter.empty:
            assert 4 <= len(letter.entries) <= 6
            text = written[letter.paper]
            assert len(re.findall(r"^## \d+\. ", text, re.M)) == len(letter.entries)
            assert len(re.findall(r"^Again: `dpverify \w+ \S+`$", text, re.M)) == len(letter.entries)
            assert len(text.splitlines()) < 500


def test_one_noise_is_one_entry(ledger_of_proofs: Ledger) -> None:
    """Lemma 27's noise is told once, with the theorems that rest on it; what else is false there is apart."""
    (letter,) = [each for each in letters(ledger_of_proofs) if each.paper == "fmtt18"]
    (entry,) = [each for each in letter.entries if each.consequence is Consequence.CONDITION]
    assert [row.id for row in entry.statements] == [
        f"fmtt18.{name}" for name in ("lem27", "thm29", "thm30", "cor34")
    ]
    assert [letter.entries[0].statements[0].id, letter.entries[0].consequence] == [
        "fmtt18.thm1", Consequence.CLAIM,
    ]  # fmt: skip


def test_printed_and_true_are_two_lines(ledger_of_proofs: Ledger) -> None:
    """And a point has no letter that neither its formula nor what stands beside it shows."""
    for letter in letters(ledger_of_proofs):
        for entry in letter.entries:
            said = {part.label: part.said for part in entry_parts(entry, letter)}
            true = said.get(PartLabel.TRUE, said.get(PartLabel.CASE, ()))
            assert not true or true != said.get(PartLabel.PRINTED)
            for fault in entry.faults:
                proof = fault.shown
                shown = (*proof.definitions, *proof.assuming_latex, proof.latex)
                for piece in point(proof, proof.counterexample):
                    assert piece.kind is PieceKind.FORMULA or piece.text == ",", (proof.obligation, piece)
                assert set(proof.counterexample or {}) <= set(proof.letters), shown


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
