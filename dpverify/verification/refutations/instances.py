"""The instances of statements: evaluated, held against their formulas, and what follows for headlines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

from dpverify.analyses.mistakes import mistake_of
from dpverify.errors import DpverifyError
from dpverify.ledger.entries import InstanceEntry
from dpverify.ledger.headlines.rows import HOLDS, FormulaRow
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Consequence, Coverage, Verdict
from dpverify.proving.instances.instance import judge
from dpverify.proving.instances.laws import Number, ball
from dpverify.proving.language import Statement
from dpverify.statements.paper import papers
from dpverify.verification.catalog.source_rows import correction_of, printed_of
from dpverify.verification.refutations.consequences import consequence_of


@cache
def instance_entries(paper: str, statement_id: str) -> tuple[InstanceEntry, ...]:
    """The instances of a statement, each evaluated and held against the formula that it is about."""
    of = papers()[paper]
    instances = (of.instances or {}).get(statement_id, ())
    if not instances:
        return ()
    statement = next(s for s in of.statements if s.id == statement_id)
    printed = {o.name: o for o in statement.printed}
    found = []
    for instance in instances:
        if instance.obligation not in printed:
            raise DpverifyError(f"There is an instance of {instance.claim}, which no sheet prints.")
        judgment = judge(instance, printed[instance.obligation])
        evaluation = judgment.evaluation
        entry = InstanceEntry(
            obligation=instance.obligation,
            says=instance.says,
            conditions=tuple(c.says if c.holds else f"{c.says}: no" for c in evaluation.conditions),
            point={name: _text(value) for name, value in evaluation.point.items()},
            relation=judgment.relation,
            left=_interval(evaluation.left),
            right=_interval(evaluation.right),
            verdict=judgment.verdict,
            reason=judgment.reason,
            reproduce=f"dpverify explain {statement_id}",
        )
        found.append(entry)
    return tuple(found)


def _text(value: Number) -> str:
    if isinstance(value, int | Fraction):
        return str(value)
    return str(ball(value).str(12, radius=False))


def _interval(value: Number) -> Interval:
    found = ball(value)
    low, high = float(found.lower()), float(found.upper())
    return Interval(lower=math.nextafter(low, -math.inf), upper=math.nextafter(high, math.inf), rigorous=True)


def held_to_instances(
    statement: Statement, rows: Sequence[FormulaRow], entries: Sequence[InstanceEntry]
) -> tuple[FormulaRow, ...]:
    """The rows of a statement of a paper that keeps instances: what is printed is refuted by these only.

    A formula of the conclusion that an instance refutes is refuted, whatever its own verdict; without an instance, the
    conclusion does not follow where its formula is false, and a false special case is one of a step of the proof.
    """
    refuting = {entry.obligation for entry in entries if entry.verdict is Verdict.REFUTED}
    return tuple(_held(statement, row, row.name in refuting) for row in rows)


def _held(statement: Statement, row: FormulaRow, refuted: bool) -> FormulaRow:
    if row.corrected:
        return row
    if refuted:
        if row.verdict in HOLDS:
            raise DpverifyError(
                f"An instance refutes {statement.id}/{row.name}, which is {row.verdict}: one of the two is wrong."
            )
        said = row.consequence or _consequence(statement, row)
        return replace(row, verdict=Verdict.REFUTED, consequence=said)
    if row.verdict is Verdict.REFUTED and row.coverage is Coverage.CONCLUSION:
        return replace(row, verdict=Verdict.DOES_NOT_FOLLOW)
    if row.verdict is Verdict.REFUTED and row.coverage is Coverage.INSTANCE:
        return replace(row, consequence=Consequence.STEP)
    return row


def _consequence(statement: Statement, row: FormulaRow) -> Consequence | None:
    """What follows from a formula that an instance refutes, and of which no counterexample in numbers is known."""
    printed = printed_of(statement, row.name)
    if printed is None:
        return None
    mistake = mistake_of(printed, correction_of(statement, row.name))
    return consequence_of(row.coverage, printed, mistake, None)
