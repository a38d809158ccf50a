"""Named results as statements: proved or cited, used by instantiation, and what that leaves as roots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpverify.ledger.document import Ledger
from dpverify.ledger.headlines.roots import FoundStatement, below
from dpverify.ledger.headlines.rows import FormulaRow
from dpverify.ledger.names import bare
from dpverify.ledger.premises import PremiseOrigin
from dpverify.ledger.verdicts import Coverage, Variant, Verdict
from dpverify.statements.literature import PAPER
from dpverify.statements.own_pages import opened
from dpverify.statements.paper import papers
from dpverify.verification.catalog.proofs import prove_statement
from dpverify.views.roots import roots_of_statement, roots_view
from tests.kept_proofs import Proofs

IN_WORDS = {
    "continuum-fano", "duchi-wainwright", "johnson-lindenstrauss", "morris-peres", "norm-of-a-gaussian",
    "randomized-response", "shifts-in-gdp-form", "stochastic-by-empirical",
}  # fmt: skip
"""What no page says in a formula yet."""


def test_every_named_result_is_used_and_stands_on_a_page() -> None:
    used = {bare(name) for paper in papers().values() for s in paper.statements for name in s.rests_on}
    assert {row.id for row in PAPER.catalog} - set(PAPER.pages) == IN_WORDS
    assert {row.id for row in PAPER.catalog} - used <= {"randomized-response", "renyi-triangle"}
    assert all(row.title and row.where for row in PAPER.catalog)


def test_what_is_not_cited_is_proved(proofs: Proofs) -> None:
    rows = [record.evidence for record in proofs.of("literature")]
    assert {row.statement for row in rows} >= {"jensen", "gilbert-varshamov", "basic-composition", "wald"}
    assert all(row.verdict is Verdict.PROVED and row.confirmed_by_checker for row in rows)
    assert not [row for row in rows if row.coverage is Coverage.CITED]


def _row(name: str, *uses: str) -> FormulaRow:
    return FormulaRow(name, Coverage.CONCLUSION, Verdict.PROVED, uses, ())


def _found(id_: str, *uses: str, cited: tuple[str, ...] = ()) -> FoundStatement:
    return FoundStatement(id_, (), {Variant.PRINTED: (_row("bound", *uses),)}, cited, cited)


def test_a_proved_result_is_no_root_of_the_literature_and_a_cited_one_is() -> None:
    shown = {
        "p.thm": _found("p.thm", "proved", "half", "half/bound"),
        "proved": _found("proved", "cited"),
        "half": _found("half", cited=("tail",)),
    }
    roots = below("p.thm", Variant.PRINTED, shown).roots
    assert roots.literature == ("cited", "half")
    assert roots.own == ("half/bound",)
    assert roots.unproved == ()


def test_few_named_results_are_left(ledger_of_proofs: Ledger, all_proofs: list[Any]) -> None:
    """Of the papers' statements, at least 60 hold with what is proved here and 25 named results."""
    found = roots_view(ledger_of_proofs.statements, [record.evidence for record in all_proofs])
    assert found.own >= 20
    assert len(found.results) <= 32
    listed = {root.id for root in found.results[:25]}
    roots = [roots_of_statement(row) for row in ledger_of_proofs.statements if row.is_counted]
    within = [r for r in roots if r and not r.unproved and set(map(bare, r.literature)) <= listed]
    assert len(within) >= 60
    numbers = dict(found.premises)
    assert numbers[PremiseOrigin.INSTANTIATED] >= 90
    assert numbers[PremiseOrigin.ASSUMED] <= 1100


PAGE = """# Lemma

| letter | domain | stands for |
| --- | --- | --- |
| $\\mathbb{E}X$ | >= 0 | functional |
| $\\mathbb{E}Y$ | >= 0 | functional |
| $c$ | > 0 | |

`source` (cited; given $c\\le 1$):
$$\\mathbb{E}X\\le c\\cdot\\mathbb{E}Y$$

`bound`:
$$\\mathbb{E}X\\le\\mathbb{E}Y$$
- given $c=\\frac12$, $\\mathbb{E}X\\le PREMISE$
- uses `one.lemma/source`
"""


@pytest.mark.parametrize(
    ("premise", "origin"),
    [
        (r"c\cdot\mathbb{E}Y", PremiseOrigin.INSTANTIATED),
        (r"c\cdot\mathbb{E}Y-\frac{1}{100}", PremiseOrigin.ASSUMED),  # more than the source says
    ],
)
def test_a_page_of_ones_own_cites_too(tmp_path: Path, premise: str, origin: PremiseOrigin) -> None:
    page = tmp_path / f"{origin}.md"
    name = f"{origin}.lemma"
    text = PAGE.replace("# Lemma", f"# Lemma {{#{name}}}").replace("PREMISE", premise)
    page.write_text(text.replace("one.lemma", name), encoding="utf-8")
    assert opened(str(page)) is not None
    rows = prove_statement(name)
    (row,) = [r.evidence for r in rows if r.evidence.coverage is Coverage.CONCLUSION]
    assert [premise.origin for premise in row.premises] == [origin]
    assert not [r for r in rows if r.evidence.obligation == "source"]
