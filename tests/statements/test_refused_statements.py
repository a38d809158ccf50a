"""Obligations and uses that make no sense are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import real
from dpverify.formulas.logic import Le
from dpverify.ledger.headlines.rows import FormulaRow
from dpverify.ledger.verdicts import Coverage, Verdict
from dpverify.proving.language import Fault, Obligation
from dpverify.statements.paper import Paper, check_uses, papers
from dpverify.statements.selection import find_statement

PROVED, REFUTED, UNDECIDED = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED


CONCLUSION, INSTANCE, STEP, CONDITION = (
    Coverage.CONCLUSION,
    Coverage.INSTANCE,
    Coverage.STEP,
    Coverage.CONDITION,
)


def row(coverage: Coverage, verdict: Verdict = PROVED, name: str = "", **more: Any) -> FormulaRow:
    return FormulaRow(
        name or str(coverage), coverage, verdict, more.pop("uses", ()), more.pop("cut", ()), **more
    )


X = real("x", ge=0)


@pytest.mark.parametrize(
    "fields",
    [
        {"coverage": "most"},
        {"coverage": Coverage.UNIT},
        {"coverage": INSTANCE},  # of which case?
        {"coverage": CONCLUSION, "scope": "x = 1"},
        {"uses": "a.b"},
        {"catches": Fault("another variable", Le(real("y"), 0))},
    ],
)
def test_obligations_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        Obligation("o", "", Le(0, X), (X,), **fields)


def _with(statement: str, **changes: Any) -> list[Paper]:
    """All papers, with one statement changed."""
    return [
        Paper(
            paper.key,
            paper.title,
            paper.authors,
            paper.catalog,
            tuple(replace(s, **changes) if s.id == statement else s for s in paper.statements),
        )
        for paper in papers().values()
    ]


@pytest.mark.parametrize("name", ["fmtt18.thm99", "a-named-result", "fmtt18.thm23/no-such-row", ""])
def test_what_nobody_knows_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"uses of statement fmtt18\.thm23"):
        check_uses(_with("fmtt18.thm23", uses=(name,)))


def test_circles_are_refused() -> None:
    check_uses(papers().values())
    with pytest.raises(InvalidArgumentError, match="do not rest on themselves"):
        check_uses(_with("fmtt18.thm22", uses=("fmtt18.appB",)))
    statement = find_statement("fmtt18.thm35")
    assert statement is not None
    own = tuple(
        replace(o, uses=("fmtt18.thm35/bound",)) if o.name == "sum-of-squares" else o
        for o in statement.printed
    )
    with pytest.raises(InvalidArgumentError, match="do not rest on themselves"):
        check_uses(_with("fmtt18.thm35", printed=own))
