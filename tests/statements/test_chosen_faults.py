"""A table of mutations: slips of the pen in printed displays, each of which is refuted where the display is proved."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from dpverify.formulas.logic import And
from dpverify.ledger.verdicts import BROKEN, Verdict
from dpverify.proving import prove
from dpverify.proving.language import Obligation
from dpverify.statements.pages import read_page
from dpverify.statements.paper import PaperFolder, papers
from dpverify.statements.sheet import Sheet
from dpverify.verification.catalog.rows import ProofRecord

TABLE = (
    # a constant
    ("fmtt18.thm1/schedule-gives-the-bound", r"{2T\sigma^2}", r"{T\sigma^2}"),
    (
        "fmtt18.thm23/schedule-gives-the-bound",
        r"\frac{\alpha\cdot\varepsilon}",
        r"\frac{2\alpha\cdot\varepsilon}",
    ),
    ("fmtt18.thm35/bound", r"<\frac{4\alpha L^2}", r"<\frac{3\alpha L^2}"),
    ("fmtt18.appB/noise-is-enough", r"\frac{4\alpha L^2}", r"\frac{8\alpha L^2}"),
    ("fmtt18.lem27/renyi-of-one-step", r"\frac{2\alpha L^2}", r"\frac{\alpha L^2}"),
    ("fmtt18.prop5/merging-two-atoms-order-2", r"p_2^{2}q_2^{-1}", r"\frac{99}{100}p_2^{2}q_2^{-1}"),
    ("fmtt18.prop5/merging-two-atoms-order-3", r"p_2^{3}q_2^{-2}", r"\frac{99}{100}p_2^{3}q_2^{-2}"),
    ("gll22.lem6.3/gaussian-tail", r"\frac{1}{2}", r"\frac{2}{5}"),
    # an index
    ("fmtt18.thm23/schedule-gives-the-bound", r"\sum_{i=t}^{n}", r"\sum_{i=t}^{n+1}"),
    ("fmtt18.thm26/last-display", r"\sum_{T=1}^{n}", r"\sum_{T=1}^{n+1}"),
    ("fmtt18.thm35/sum-of-squares", r"{n^2}+", r"{n}+"),
    # a power, a sign, a part left out
    ("bst14.lem2.2/mixture", r"1+\gamma(e", r"1+\gamma^2(e"),
    ("bst14.lem2.2/two-gamma-epsilon", r"2\gamma\varepsilon", r"\gamma\varepsilon"),
    ("bst14.eq2/expansion", r"+2n\langle", r"+n\langle"),
    ("bst14.eq2/bound", r"n^2L^2+p\sigma^2", r"n^2L^2+\sigma^2"),
    ("bst14.huber-smooth/second-derivative", r"\frac{1}{2h}", r"\frac{1}{4h}"),
    ("bst14.alg7-budget/budget", r"2\cdot\frac{\varepsilon}{3}", r"\frac{\varepsilon}{3}"),
    ("bst14.lem4.1/sensitivity", r"\frac{2L}", r"\frac{L}"),
    ("bst14.lem6.6/privacy", r"(e^{\tilde\varepsilon})^2", r" e^{\tilde\varepsilon}"),
    ("bst14.thm5.4/excess-of-a-quadratic-loss", r"=\frac{n}{2}", r"=\frac{1}{2}"),
    ("fmtt18.def10/completing-the-square", r"\alpha(\alpha-1)", r"\alpha^2"),
    ("fmtt18.lem15/divergences-add", r"\varepsilon_1+\varepsilon_2", r"\varepsilon_1-\varepsilon_2"),
    ("fmtt18.lem14/likely-events", r"{\alpha-1}", r"{\alpha}"),
    ("fmtt18.lem25/logarithm", r"\le x", r"\le x-x^2"),
    ("gll22.eq9/slope-of-the-half-line's-value", r"e^\varepsilon\varphi(c)-", r"e^\varepsilon\varphi(c)+"),
    ("gll22.lem6.3/first-argument", r"=-\sqrt", r"=\sqrt"),
    ("gll22.lem6.3/growing-in-s", r"=\varphi(-", r"=\varphi("),
    ("gll22.lem6.3/decreasing-in-t", r"\le 0", r"\le -1"),
    # in a definition
    ("fmtt18.thm1/schedule-is-admissible", "-ta_t", "-(t+1)a_t"),
    ("fmtt18.thm23/schedule-is-admissible", "(i-t+1)a_i", "(i-t+2)a_i"),
    ("fmtt18.thm35/schedule-ends-at-zero", "-(n-i+1)a_{n^2}", "-(n-i)a_{n^2}"),
    ("fmtt18.appB/noise-is-enough", r"\frac{5L", r"\frac{2L"),
    ("mn25.lem11/third-term", r"=\alpha", r"=2\alpha"),
    ("mn25.lem12/condition-never-holds", r"<\log(1/\delta)", r"<\frac{1}{100}\log(1/\delta)"),
    ("mn25.lem13/calls", r"\frac{C^2}{4}\cdot", r" 2C^2\cdot"),
    ("mn25.lem15/last-line", r"\frac{d}{6}", r"\frac{d}{5}"),
    ("mn25.lem16/stability", r"\frac{L}{\lambda n}", r"\frac{L}{2\lambda n}"),
    ("mn25.thm6/constants", "72n", "144n"),
    # a relation turned round
    ("fmtt18.def10/largest-at-the-longest-shift", r"\le", r"\ge"),
    ("fmtt18.thm26/induction-step", r"\le", r"\ge"),
    ("gll22.eq9/not-negative", r"\ge 0", r"\le 0"),
)

CONDITIONS = (
    ("bst14.lem2.2/mixture", 0),
    ("bst14.lem2.2/mixture", 1),
    ("fmtt18.lem14/likely-events", 0),
    ("fmtt18.thm23/schedule-is-admissible", 1),
)
"""Rows with the number of a condition without which they are false."""


@cache
def sheet(id_: str) -> Sheet:
    paper = papers()[id_.partition(".")[0]]
    assert isinstance(paper, PaperFolder)
    return next(s for s in read_page(paper.pages[id_], at_once=False).sheets if s.id == id_)


def rows(name: str) -> list[Obligation]:
    """The printed row of a name and the corrected one."""
    id_, _, row = name.partition("/")
    here = sheet(id_)
    return [o for o in (*here.printed, *here.corrections) if o.name == row]


def misprinted(name: str, row: Obligation, old: str, new: str) -> Obligation:
    """The row as it would be read with another piece of LaTeX in its display, or in a definition of its sheet."""
    here = sheet(name.partition("/")[0])
    read = [
        *zip(here.rows, here.printed, strict=True),
        *zip(here.corrected_rows, here.corrections, strict=True),
    ]
    source = next(source for source, o in read if o is row)
    if isinstance(source.display, str) and old in source.display:
        changed = replace(source, display=source.display.replace(old, new, 1))
    else:
        definitions = tuple(replace(d, body=d.body.replace(old, new, 1)) for d in source.definitions)
        assert definitions != source.definitions
        changed = replace(source, definitions=definitions)
    (found,) = replace(here, rows=(changed,), corrected_rows=()).printed
    return replace(found, catches=None, consequence=None)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("name", "old", "new"), TABLE)
def test_slips_of_the_pen_are_refuted(name: str, old: str, new: str, all_proofs: list[ProofRecord]) -> None:
    verdicts = {
        (r.evidence.statement, r.evidence.obligation, r.evidence.latex): r.evidence.verdict
        for r in all_proofs
    }
    texts = [each.body for each in sheet(name.partition("/")[0]).definitions]
    shown = [
        row
        for row in rows(name)
        if verdicts[(*name.split("/"), row.latex)] in (Verdict.PROVED, Verdict.CERTIFIED)
        and any(old in text for text in (row.latex, *texts))
    ]
    assert shown
    assert {prove(misprinted(name, row, old, new)).verdict for row in shown} <= {*BROKEN}


@pytest.mark.parametrize(("name", "number"), CONDITIONS)
def test_rows_are_false_without_their_conditions(name: str, number: int) -> None:
    for row in rows(name):
        fewer = row.assuming[:number] + row.assuming[number + 1 :]
        assert prove(row).verdict is Verdict.PROVED
        assert prove(replace(row, assuming=fewer)).verdict in BROKEN


def test_a_sum_that_may_be_empty_is_not_proved() -> None:
    (row,) = rows("fmtt18.thm23/schedule-gives-the-bound")
    assert prove(replace(row, assuming=())).verdict is Verdict.UNDECIDED


def test_the_same_in_the_other_direction_is_not_proved() -> None:
    """Divergences that compare at every E do not order the powers of the best tests the other way round."""
    row = next(o for o in rows("gll22.prop3.3/only-if") if prove(o).verdict is Verdict.PROVED)
    assert isinstance(row.claim, And)
    turned = And(tuple(replace(c, left=c.right, right=c.left) for c in row.claim.parts))
    assert prove(replace(row, claim=turned)).verdict in BROKEN
