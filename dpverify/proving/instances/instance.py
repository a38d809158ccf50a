"""One instance of a claim: what it is, the conditions that it meets, and both sides, evaluated from definitions.

A statement is refuted by an instance only: by laws, losses or data that code evaluates. The formula on a sheet that
says the same is held against it, so neither can be wrong alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import flint

from dpverify.formulas.logic import And, Compare, Exists, ForAll, Formula, Implies, Or
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.formulas.values import ball as as_ball
from dpverify.ledger.names import bare, formula_of
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.instances.laws import Ball, Number, ball
from dpverify.proving.language import Obligation
from dpverify.proving.reasoning.evaluation import evaluate, plain_truth

PRECISION = 192
"""Bits at which instances are evaluated."""


@dataclass(frozen=True)
class Premise:
    """A hypothesis of the statement, checked at the instance."""

    says: str
    holds: bool


@dataclass(frozen=True)
class Evaluation:
    """Enclosures of both sides of an instance's claim, and what the formula's letters and the hypotheses are."""

    left: Number
    right: Number
    point: Mapping[str, Number] = field(default_factory=dict)
    conditions: tuple[Premise, ...] = ()
    from_below: bool = False
    """Whether the left side is that of one event, or of a part of an integral, which the formula's own may exceed."""


@dataclass(frozen=True)
class Instance:
    """An instance of a claim, and the formula of the statement that it is about."""

    claim: str
    """`STATEMENT/OBLIGATION`."""
    says: str
    """What it is, in words."""
    evaluation: Callable[[], Evaluation]

    @property
    def statement(self) -> str:
        """The id of its statement."""
        return bare(self.claim)

    @property
    def obligation(self) -> str:
        """The name of its formula."""
        return formula_of(self.claim)


@dataclass(frozen=True)
class Judgment:
    """What an instance says of a claim: refuted, or undecided with the reason."""

    verdict: Verdict
    reason: str
    relation: str
    evaluation: Evaluation


def judge(instance: Instance, obligation: Obligation) -> Judgment:
    """Evaluate an instance and hold it against the formula of its statement.

    It refutes only where all conditions hold, the two sides are apart the wrong way for certain, the formula's own
    assumptions are not false at its point, and the formula's own sides meet the enclosures.
    """
    with flint.ctx.workprec(PRECISION):
        found = instance.evaluation()
        point: dict[str, Any] = {
            name: Fraction(value) if isinstance(value, int | Fraction) else value
            for name, value in found.point.items()
        }
        compare = None
        reason = next((f"it is not one: {c.says}" for c in found.conditions if not c.holds), "")
        if not reason:
            compare, reason = _shown(obligation, point)
        if compare is not None:
            apart = _apart(compare.relation, ball(found.left), ball(found.right))
            reason = apart or _tied(compare, point, found)
    verdict = Verdict.UNDECIDED if reason else Verdict.REFUTED
    return Judgment(verdict, reason, compare.relation if compare else "", found)


def _apart(relation: str, left: Ball, right: Ball) -> str:
    """Why a relation is not refuted by two enclosures; empty where it is."""
    refuted = {"<=": left > right, "<": left >= right, "==": not left.overlaps(right), "!=": False}[relation]
    return "" if refuted else "the claim holds at it, or its two sides are not told apart"


def _shown(obligation: Obligation, point: Mapping[str, Any]) -> tuple[Compare | None, str]:
    """The comparison that fails at a point, below quantifiers and premises; None with the reason."""
    claim, premises = obligation.claim, list(obligation.assuming)
    while isinstance(claim, Exists | ForAll | Implies | And):
        if isinstance(claim, Exists | ForAll):
            claim = claim.body
        elif isinstance(claim, Implies):
            if not any(isinstance(part, ForAll | Exists) for part in _parts(claim.premise)):
                premises.append(claim.premise)
            claim = claim.conclusion
        else:
            failing = [part for part in claim.parts if _truth(part, point) is False]
            if not failing:
                return None, "no part of the claim is false at it"
            claim = failing[0]
    if not isinstance(claim, Compare):
        return None, "its claim is no comparison"
    if any(_truth(premise, point) is False for premise in premises):
        return None, "an assumption of the formula is false at it"
    return claim, ""


def _parts(formula: Formula) -> tuple[Formula, ...]:
    return formula.parts if isinstance(formula, And | Or) else (formula,)


def _truth(formula: Formula, point: Mapping[str, Any]) -> bool | None:
    """Whether a formula holds at a point of balls; None where that is not known, as of a letter without a value."""
    if isinstance(formula, And):
        values = [_truth(part, point) for part in formula.parts]
        return False if False in values else None if None in values else True
    try:
        return plain_truth(formula, point)
    except KeyError:
        return None


def _tied(compare: Compare, point: Mapping[str, Any], found: Evaluation) -> str:
    """Why a formula's sides are not those of an instance; empty where they are."""
    for name, side, value in (("left", compare.left, found.left), ("right", compare.right, found.right)):
        try:
            own = as_ball(evaluate(side, point))
        except KeyError as error:
            return f"it says nothing of the letter {error.args[0]}"
        except (UndefinedError, UnclearError):
            return f"the formula's {name} side has no value at it"
        if not own.overlaps(ball(value)) and not (name == "left" and found.from_below and own > ball(value)):
            return f"the formula's {name} side is {own.str(10)} at it, and not {ball(value).str(10)}"
    return ""
