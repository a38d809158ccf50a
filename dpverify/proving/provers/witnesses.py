"""Points at which an obligation says anything at all: in its domain and box, with every assumption true."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpverify.formulas.logic import Lt
from dpverify.ledger.verdicts import Verdict
from dpverify.ledger.written_numbers import coordinates_text
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Budget
from dpverify.proving.provers.gram import admitted_point
from dpverify.proving.provers.points import admitted
from dpverify.proving.provers.proposals import simple_points
from dpverify.proving.provers.real_arithmetic import RealArithmetic
from dpverify.proving.provers.search import Search

_FALSE = Lt(0, 0)
_FIRST = 64
"""Simple points that are tried exactly before anything is searched."""
NONE_FOUND = "no witness: no point is found at which all assumptions hold"


@dataclass(frozen=True)
class Witness:
    """A confirmed point (symbol to exact value), or why there is none."""

    point: dict[str, str] | None
    why: str = ""
    impossible: bool = False
    """Whether it has been shown that there is none."""


def witness(obligation: Obligation, budget: Budget) -> Witness:
    """A point of domain and box at which all assumptions are true, in exact or rigorous arithmetic."""
    if any(v.kind == "vector" for v in obligation.over):
        found_point = admitted_point(obligation)
        if found_point is None:
            return Witness(None, NONE_FOUND)
        return Witness({name: coordinates_text(value) for name, value in found_point.items()})
    for point in simple_points(obligation, _FIRST):
        if admitted(obligation, point):
            return Witness({v.name: str(point[v.name]) for v in obligation.over})
    # a witness is a counterexample to what is false everywhere
    inside = replace(obligation.within_box(), claim=_FALSE)
    found = Search().attempt(inside, budget)
    if found is not None and found.counterexample is not None:
        return Witness(dict(found.counterexample))
    anywhere = replace(inside, assuming=obligation.assuming)
    found = RealArithmetic().attempt(anywhere, budget)
    if found is not None and found.verdict is Verdict.PROVED:
        return Witness(None, "the assumptions contradict one another, so the claim is vacuous", True)
    for prover in (RealArithmetic(), Search(thorough=True)):
        found = prover.attempt(inside, budget)
        if found is not None and found.verdict is Verdict.PROVED:
            return Witness(
                None, "the assumptions contradict one another in the box, so the claim is vacuous there"
            )
        if found is not None and found.counterexample is not None:
            return Witness(dict(found.counterexample))
    return Witness(None, NONE_FOUND)
