"""Points at which a problem says anything at all: in its domain and box, with every assumption true."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpverify.formulas.logic import Lt
from dpverify.ledger.verdicts import Verdict
from dpverify.ledger.written_numbers import coordinates_text
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget
from dpverify.proving.provers.points import MANY, admitted, random_points, simple_points
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


def witness(problem: ProofProblem, budget: Budget) -> Witness:
    """A point of domain and box at which all assumptions are true, in exact or rigorous arithmetic."""
    points = random_points(problem, MANY) if problem.has_vectors else simple_points(problem, _FIRST)
    for point in points:
        if admitted(problem, point):
            return Witness({name: coordinates_text(value) for name, value in point.items()})
    if problem.has_vectors:
        return Witness(None, NONE_FOUND)
    # a witness is a counterexample to what is false everywhere
    anywhere = replace(problem, claim=_FALSE, box={})
    inside = replace(anywhere, assuming=problem.within_box)
    for prover, stated, vacuous in (
        (Search(), inside, ""),
        (RealArithmetic(), anywhere, ", so the claim is vacuous"),
        (RealArithmetic(), inside, " in the box, so the claim is vacuous there"),
        (Search(thorough=True), inside, ""),
    ):
        found = prover.attempt(stated, budget)
        if found is not None and found.verdict is Verdict.PROVED:
            why = f"the assumptions contradict one another{vacuous}"
            return Witness(None, why, impossible=stated is anywhere)
        if found is not None and found.counterexample is not None and stated is inside:
            return Witness(dict(found.counterexample))
    return Witness(None, NONE_FOUND)
