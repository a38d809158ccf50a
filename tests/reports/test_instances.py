"""A report shows what refutes a statement: what it is, both sides, what was checked, the command."""

from __future__ import annotations

from dpverify.ledger.entries import InstanceEntry
from dpverify.ledger.headlines.words import VariantOutcome
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Verdict
from dpverify.reports import render_html

from .html_check import Page
from .ledger_example import STATEMENTS, example_ledger


def _entry(verdict: Verdict = Verdict.REFUTED, reason: str = "") -> InstanceEntry:
    return InstanceEntry(
        obligation="two-points",
        says="two losses on a net of two points",
        conditions=("the losses are convex",),
        point={"E": "2.718"},
        relation="<=",
        left=Interval(lower=0.5, upper=0.5, rigorous=True),
        right=Interval(lower=0.3240271, upper=0.3240272, rigorous=True),
        verdict=verdict,
        reason=reason,
        reproduce="dpverify explain x.1",
    )


def test_a_page_shows_what_refutes_a_statement() -> None:
    row = STATEMENTS[9].model_copy(
        update={"instances": (_entry(),), "printed": VariantOutcome(verdict=Verdict.REFUTED)}
    )
    page = Page(render_html(example_ledger(statements=(row,), entries=())))
    assert page.problems == []
    words = page.words()
    for fact in (
        "two-points",
        "losses on a net of two points",
        "0.5 <= 0.324027 is false",
        "convex",
        "dpverify explain x.1",
    ):
        assert fact in words


def test_one_that_refutes_nothing_says_why() -> None:
    entry = _entry(Verdict.UNDECIDED, "it is not one: the losses are convex")
    assert entry.text().endswith("is not refuted")
    row = STATEMENTS[9].model_copy(
        update={"instances": (entry,), "printed": VariantOutcome(verdict=Verdict.REFUTED)}
    )
    assert "it is not one" in Page(render_html(example_ledger(statements=(row,), entries=()))).words()
