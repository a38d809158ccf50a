"""What was found of hypotheses and conditions, in words: lines for the terminal, and a page of Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from dpverify.ledger.verdicts import Coverage, Use
from dpverify.statements.paper import CatalogRow, papers
from dpverify.verification.hypotheses.found import ConditionsTogether, HypothesisUse, StatementHypotheses
from dpverify.views.formula import point_text

CUT_SHORT = "a guard of time ended some of the work here, so that a faster machine may find more"

_WIDTH = 120
"""Of the page's paragraphs."""


def summary(found: Iterable[StatementHypotheses]) -> str:
    """How many hypotheses there are of each use, and how many statements' conditions can hold at once."""
    every = list(found)
    counts = ", ".join(f"{sum(len(f.of(use)) for f in every)} {use}" for use in Use)
    total = sum(len(f.hypotheses) for f in every)
    once = sum(len(f.printed) == 1 and f.printed[0].point is not None for f in every)
    return (
        f"Hypotheses: {total}, {counts}. Statements whose conditions can hold all at once: {once} of "
        f"{sum(bool(f.printed) for f in every)}."
    )


def markdown(found: Iterable[StatementHypotheses]) -> str:
    """A page of Markdown with all of it, statement by statement."""
    every = list(found)
    paragraphs = (textwrap.wrap(text, _WIDTH) for text in (*_INTRODUCTION, summary(every)))
    lines = ["# Hypotheses", "", *(line for paragraph in paragraphs for line in (*paragraph, ""))]
    for paper in papers().values():
        rows = {row.id: row for row in paper.catalog}
        mine = [f for f in every if f.statement in rows]
        if mine:
            lines += [f"## {paper.key}", "", *(line for f in mine for line in _section(f, rows[f.statement]))]
    return "\n".join(lines).rstrip() + "\n"


_INTRODUCTION = (
    "Made by `make hypotheses`. Each proved formula that gives the conclusion of a statement is tried again without "
    "each of its hypotheses: the conditions that it is printed with, and the ends of its letters' domains (that a "
    "letter is an integer is not tried). A hypothesis is *needed* if the formula is false, or has no value, at a point "
    "where all others hold; *not proved without it* if neither such a point nor a proof is found; and *unused* if the "
    "formula is proved without it, and without all other unused ones at once. Of several formulas with the same "
    "hypothesis, the one is named that needs it most; if the conclusion does not need it, the steps and conditions of "
    "the proof are tried as well. What is unused here may still be needed by what the statement rests on, or for its "
    "words to make sense.",
    "*Together* says whether the conditions of all formulas of a statement and its proof, domains included, can hold "
    "at once, and where. If no such point is found, the formulas are split into cases, the conclusion's first: "
    "separate cases of a proof, or steps whose letters mean something else there.",
    "`dpverify hypotheses ID` computes it again, `dpverify explain ID` shows it beside the formulas.",
)


def _section(f: StatementHypotheses, row: CatalogRow) -> Iterator[str]:
    yield from (f"### {f.statement}", "", f"{row.where}: {row.title}", "")
    for use in Use:
        of = f.of(use)
        if of:
            yield f"- {use}: " + "; ".join(map(_item, of))
    if f.left:
        yield f"- not tried, since not proved: {', '.join(f'`{name}`' for name in f.left)}"
    if f.cut_short:
        yield f"- {CUT_SHORT}"
    if not f.hypotheses and not f.left:
        yield "- no formula of its own gives the conclusion" if not f.formulas else "- no hypotheses"
    for words, of_variant in (("together", f.printed), ("together, corrected", f.corrected)):
        for line in case_lines(of_variant):
            yield f"- {words}: {line}"
    yield ""


def _item(h: HypothesisUse) -> str:
    step = "" if h.coverage is Coverage.CONCLUSION else f" in the {h.coverage} `{h.formula}` only"
    return f"`{h.hypothesis}`{step}" + (f" ({point_text(h.point)})" if h.point else "")


def use_text(h: HypothesisUse) -> str:
    """`false without it (bound)`; that only a step needs it is said."""
    if h.use is Use.UNUSED:
        return str(h.use)
    step = (
        "" if h.coverage is Coverage.CONCLUSION else f", a {h.coverage}; the conclusion is proved without it"
    )
    return f"{h.use} ({h.formula}{step})"


def case_lines(found: tuple[ConditionsTogether, ...]) -> Iterator[str]:
    """That the conditions can hold at once, and where; or the cases into which they fall, and why."""
    if len(found) == 1 and found[0].point is not None:
        yield f"all conditions can hold at once{_where(found[0])}"
        return
    for number, case in enumerate(found, 1):
        can = f"can hold at once{_where(case)}" if case.point is not None else "no point is known"
        yield f"case {number} ({', '.join(case.formulas)}): {can}{'; ' + case.why if case.why else ''}"


def _where(case: ConditionsTogether) -> str:
    return f", at {point_text(case.point)}" if case.point else ""
