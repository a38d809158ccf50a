"""Arithmetic between the steps of theorems: the checker's own, else what the provers of formulas find."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import (
    Apply,
    Binder,
    Constant,
    Expression,
    Number,
    OutOfScopeError,
    Variable,
)
from dpverify.formulas.logic import And, Compare, Formula, Implies, Not, Or
from dpverify.formulas.rendering.neutral import Json
from dpverify.formulas.units import DIMENSIONLESS
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker.arithmetic.questions import OvertimeError
from dpverify.proving.checker.terms import Term, Unknown
from dpverify.proving.checker.theorems.arithmetic import FormulaLetters, entail, problem
from dpverify.proving.checker.theorems.language import Node, Scope, free, heads
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Budget

BUDGET = Budget(boxes=1, operations=1000, units=50_000, steps=200_000, guard=60.0)
"""What one question is worth; boxes prove nothing here."""
WORK = 400_000
"""What the checker's question is worth, by cvc5's count, while a proof is sought."""
ALONE = Budget(boxes=1, operations=1000)
"""What a question is worth that has few facts."""
FEW = 4
NUMBERS = Budget(boxes=16, operations=1000)
"""What a question is worth that is of numbers alone."""
OPAQUE = (
    ("inner", "norm", "power"),
    ("abs", "max", "min", "power"),
    ("abs", "max", "min", "exp", "log", "pow", "sin", "cos", "arctan"),
    (),
    ("power",),
)
"""Functions of which nothing need be known, as is tried in this order."""


def arithmetic(scope: Scope, facts: Sequence[Node], claim: Node, *, thorough: bool = True) -> Json | None:
    """The parts of a step that shows a claim from facts: none, or a proof and its witness. None if nothing is found.

    Only where it is to be thorough are the provers of formulas asked.
    """
    given, shown = [*facts], frozenset().union(*map(heads, (*facts, claim)))
    numbers = not given and not free(claim)
    values = numbers and thorough and not shown.isdisjoint(("exp", "log", "phi"))  # long work for cvc5
    if values and (found := _proved(scope, given, claim, NUMBERS)) is not None:
        return found
    if "pow" in shown:
        shown |= {"power"}
    tried = OPAQUE if shown & {"inner", "norm"} else OPAQUE[1:]
    for opaque in dict.fromkeys(shown & frozenset(hidden) for hidden in tried):
        parts: Json = {"opaque": sorted(opaque)} if opaque else {}
        try:
            entail(scope, given, claim, None, None, opaque, WORK)
        except (ValueError, OvertimeError):
            continue
        return parts
    if not thorough:
        return None
    budget = NUMBERS if numbers else ALONE if len(given) <= FEW else BUDGET
    return None if values else _proved(scope, given, claim, budget)


def _proved(scope: Scope, given: list[Node], claim: Node, budget: Budget) -> Json | None:
    from dpverify.proving.pipeline import prove  # half a second, and most proofs ask for none of it

    try:
        found = prove(obligation(scope, given, claim), budget=budget)
    except (InvalidArgumentError, OutOfScopeError, KeyError, TypeError):
        return None
    if found.verdict is not Verdict.PROVED or found.certificate is None:
        return None
    proof, witness = found.certificate["proof"], dict(found.witness or {})
    try:
        entail(scope, given, claim, proof, witness, frozenset())
    except (ValueError, KeyError):
        return None
    return {"proof": proof, "witness": witness}


def obligation(scope: Scope, facts: Sequence[Node], claim: Node) -> Obligation:
    """A claim and the facts from which it is to follow, for the provers of formulas."""
    found = problem(FormulaLetters(scope), facts, claim)
    known = {v.name: _variable(v) for v in found.variables}
    reader = _Formulas(known)
    assuming = tuple(map(reader.formula, found.assuming))
    wanted = reader.formula(found.claim)
    return Obligation("step", "a theorem", wanted, tuple(known.values()), assuming=assuming)


def _variable(v: Unknown) -> Variable:
    kind: Literal["real", "integer", "vector"] = "integer" if v.kind == "integer" else "real"
    low, high = v.lower, v.upper
    return Variable(v.name, kind, low, v.lower_open, high, v.upper_open, DIMENSIONLESS, stands_for="number")


class _Formulas:
    def __init__(self, known: dict[str, Variable]) -> None:
        self.known = known

    def formula(self, f: Term) -> Formula:
        match f.head:
            case "and":
                return And(tuple(map(self.formula, f.parts)))
            case "or":
                return Or(tuple(map(self.formula, f.parts)))
            case "not":
                return Not(self.formula(f.parts[0]))
            case "implies":
                return Implies(*map(self.formula, f.parts))
            case "<=" | "<" | "==" | "!=" as relation:
                left, right = map(self.expression, f.parts)
                return Compare(relation, left, right)
        raise OutOfScopeError(f.head)

    def expression(self, e: Term) -> Expression:
        match e.head:
            case "num":
                return Number(Fraction(e.number))
            case "sym":
                return self.known[e.name]
            case "pi":
                return Constant("pi")
            case "sum" | "product" as kind:
                index = Variable(
                    e.name, "integer", None, True, None, True, DIMENSIONLESS, stands_for="number"
                )
                within = _Formulas({**self.known, e.name: index})
                first, last = map(self.expression, e.parts[1:])
                return Binder(kind, within.expression(e.parts[0]), index, first, last)
        return Apply(e.head, tuple(map(self.expression, e.parts)))
