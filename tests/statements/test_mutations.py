"""Faults planted in the encoded formulas: how many are no longer proved, and none that is false at a point.

By default a few rows with one fault each. `DPVERIFY_MUTATIONS=3 pytest -s` on this file takes three of every row
(minutes), prints how many there were and the survivors with their slack, and asks that at most one in twenty survives:
a claim that was made stronger, and is still proved, because the formula has slack there.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dpverify.formulas.expressions import real
from dpverify.formulas.notation import read_formula
from dpverify.formulas.rendering.neutral import formula_to_json
from dpverify.ledger.verdicts import Verdict
from dpverify.ledger.written_numbers import coordinates_of
from dpverify.proving import Budget, prove
from dpverify.proving.language import Obligation
from dpverify.statements.paper import papers
from dpverify.statements.sheet import Sheet

from ..fuzz import pointwise
from .mutations import Fault, faults, needs_less, points, slack_left, stronger, without_one

_ASKED = int(os.environ.get("DPVERIFY_MUTATIONS", "0"))
_ROWS = 40
"""Rows that are tried where nobody asks for all of them, spread over the papers."""
_BUDGET = Budget(boxes=20_000, operations=500_000, units=100_000)
_SHOWN = (Verdict.PROVED, Verdict.CERTIFIED)


def rows() -> list[tuple[str, Obligation]]:
    found = [
        (f"{s.id}/{o.name}", o)
        for paper in papers().values()
        for s in paper.statements
        for o in (*s.printed, *(s.corrected.obligations if s.corrected else ()))
    ]
    return found[:: 1 if _ASKED else max(1, len(found) // _ROWS)]


def planted(obligation: Obligation, where: list[dict[str, Any]], seed: int) -> list[Fault]:
    """Some faults that make the claim say more, with all of its assumptions."""
    found = list(faults(obligation.claim, obligation.over))
    random.Random(seed).shuffle(found)
    around = without_one(obligation, where, seed=seed)
    chosen = (
        f
        for f in found
        if stronger(obligation.claim, f.claim, where) and not needs_less(obligation.claim, f.claim, around)
    )
    return [fault for _, fault in zip(range(max(1, _ASKED)), chosen, strict=False)]


def test_planted_faults() -> None:
    total, survivors = 0, []
    for number, (name, obligation) in enumerate(rows()):
        proof = prove(obligation, budget=_BUDGET)
        if proof.verdict not in _SHOWN or proof.witness is None:
            continue
        start = {letter: coordinates_of(value) for letter, value in proof.witness.items()}
        where = points(obligation, start, seed=number)
        for fault in planted(obligation, where, number):
            changed = replace(obligation, claim=fault.claim, catches=None, consequence=None)
            total += 1
            if prove(changed, budget=_BUDGET).verdict in _SHOWN:
                left = slack_left(obligation.claim, fault.claim, where)
                survivors.append(
                    f"{name}: {fault.said}" + (f", slack {left:.3g}" if left is not None else "")
                )
                false = {pointwise.FALSE}
                assert all(pointwise.holds_at(formula_to_json(fault.claim), p) != false for p in where), name
    assert total >= 3
    assert len(survivors) < total
    if _ASKED:
        print(
            f"{total - len(survivors)} of {total} faults are no longer proved; survivors:",
            *survivors,
            sep="\n",
        )
        assert len(survivors) <= total / 20


_NUMBERS = {name: real(name) for name in "abc"}


@pytest.mark.parametrize(
    ("claim", "changed", "given", "counts"),
    [
        (r"a\le c", r"b\le c", r"a\le b, b\le c", False),  # an assumption again
        (r"a\le c", r"b\le c+1", r"a\le b, b\le c", False),  # weaker than one
        (r"a\le c+1", r"c\le c+1", r"a\le c", False),  # needs nothing
        (r"a\le c+1", r"a\le c", r"a\le c", True),  # more, of the same assumption
        (r"a\le c+2", r"a\le c+1", r"a\le b, b\le c", True),
    ],
)
def test_what_needs_less_is_no_fault(claim: str, changed: str, given: str, counts: bool) -> None:
    sheet = Sheet("x.row", tuple(_NUMBERS.values())).conclusion("row", claim, given=given)
    (obligation,) = sheet.statement.printed
    fault = read_formula(changed, tuple(_NUMBERS.values()))
    where = points(obligation, {name: Fraction(0) for name in "abc"}, seed=1)
    around = without_one(obligation, where, seed=1)
    assert len(where) > 3
    assert needs_less(obligation.claim, fault, around) is not counts
