"""The pages of DPriv-Bench's questions about the literature: all are counted, they are read, and cheap ones decided."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dpverify.statements.theorems.pages import read_theorems
from dpverify.verification.theorems import chosen_theorems, find_theorem

FOLDER = Path(__file__).parents[1] / "benchmarks" / "dpriv_bench"
ROWS = list(csv.DictReader((FOLDER / "literature.csv").read_text().splitlines()))
PAGES = sorted({row["page"] for row in ROWS if row["form"] == "theorem"})


def test_each_question_has_a_page_or_a_reason():
    assert len({row["question"] for row in ROWS}) == len(ROWS) == 125
    for row in ROWS:
        assert bool(row["page"]) == bool(row["form"]) != bool(row["why"]), row
        section = f"{{#dpriv.{int(row['question']):03}}}"
        assert not row["page"] or section in (FOLDER / row["page"]).read_text(), row


@pytest.mark.one_in(7)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_read_by_both_readers(page):
    assert not [one.id for one in read_theorems(FOLDER / page) if one.unclear]


@pytest.mark.parametrize(
    ("page", "right", "wrong"), [("composition", "122", "121"), ("accounting", "001", "002")]
)
def test_cheap_ones_are_decided(page, right, wrong):
    chosen, known = chosen_theorems([str(FOLDER / f"literature/{page}.md")])
    for question, derived in ((wrong, False), (right, True)):
        found = find_theorem({one.id: one for _, one in chosen}[f"dpriv.{question}"], known)
        assert found.model is not None
        assert found.derived == derived
