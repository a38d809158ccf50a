"""Counterexamples that are no fractions: an equation holds somewhere between two numbers, and the claim fails there."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from flint import arb, fmpq

from dpverify.formulas.expressions import OutOfScopeError, Variable
from dpverify.formulas.logic import Compare, Formula, Not, conjuncts, free_in
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.ledger.verdicts import Verdict
from dpverify.ledger.written_numbers import at_least, at_most
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, NamedProver, Proof, settled, undecided
from dpverify.proving.provers.ball_programs import Graph, NeedsValueError, NotExpressibleError
from dpverify.proving.provers.branch_and_bound import BoxCondition, ball
from dpverify.proving.provers.points import graded, simple_values
from dpverify.proving.reasoning.effort import spend
from dpverify.proving.reasoning.evaluation import ExactPoint, evaluate

_POINTS = 24
"""Values of the other letters between which an equation is looked at."""
_HALVINGS = 40
_STEP = 500
"""Steps of an attempt that a look at an equation at a point counts for."""


class Crossings(NamedProver):
    """Refutes claims with `!=`, and claims under an equation that no fractions satisfy."""

    name = "crossings"

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Refute by an equation that holds between two numbers."""
        given = [f for a in problem.assuming for f in conjuncts(a)]
        claim = problem.claim
        tried = False
        for which, equation, rest in _equations(claim, given):
            for v in problem.over:
                if v.kind != "real" or v not in free_in(equation):
                    continue
                tried = True
                for point, low, high in _changes(problem, equation, v):
                    if _throughout(problem, rest, {**point, v.name: low}, v, high):
                        steps = {
                            "method": "crossing", "letter": v.name, "ends": [str(low), str(high)], "which": which,
                            "point": {name: str(value) for name, value in point.items()},
                        }  # fmt: skip
                        others = "".join(f", {name} = {value}" for name, value in point.items())
                        ends = f"{at_least(float(low), 5)} and {at_most(float(high), 5)}"
                        where = f"false for some {v.name} between {ends}{others}"
                        return replace(settled(problem, Verdict.REFUTED, steps), reason=where)
        return undecided("no change of sign is found") if tried else None


def _equations(claim: Formula, given: list[Formula]) -> Iterator[tuple[int | None, Compare, list[Formula]]]:
    """Equations, their numbers among the assumptions, and what else is to hold where they do."""
    if isinstance(claim, Compare) and claim.relation == "!=":
        yield None, claim, given
    for i, f in enumerate(given):
        if isinstance(f, Compare) and f.relation == "==":
            yield i, f, [*given[:i], *given[i + 1 :], Not(claim)]


def _changes(
    problem: ProofProblem, equation: Compare, v: Variable
) -> Iterator[tuple[ExactPoint, Fraction, Fraction]]:
    """Values of the other letters, and two of this one close together between which the sides change places."""
    others = [w for w in problem.over if w != v]
    lists = [simple_values(w, problem.ends.get(w.name)) for w in others]
    values = sorted(x for x in simple_values(v, problem.ends.get(v.name)) if v.contains(x))

    def side(point: ExactPoint, x: Fraction) -> int:
        spend(_STEP)
        try:
            gap = evaluate(equation.right - equation.left, {**point, v.name: x})
        except (UndefinedError, UnclearError):
            return 0
        return int(gap > 0) - int(gap < 0)

    for chosen in graded(lists, _POINTS):
        point: ExactPoint = {w.name: x for w, x in zip(others, chosen, strict=True)}
        signs = [(x, side(point, x)) for x in values]
        known = [(x, sign) for x, sign in signs if sign]
        for (low, first), (high, second) in itertools.pairwise(known):
            if first == second or any(low < x < high for x, _ in signs):
                continue
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                sign = side(point, middle)
                if sign == 0:
                    break
                low, high = (middle, high) if sign == first else (low, middle)
            yield point, low, high


def _throughout(
    problem: ProofProblem, rest: list[Formula], point: ExactPoint, v: Variable, high: Fraction
) -> bool:
    """Whether formulas are seen to hold for all values of a letter from a point to another value."""
    graph, names = Graph(), [w.name for w in problem.over]
    try:
        conditions = [BoxCondition(f, graph, lambda e: graph.compile(e, {}), names) for f in rest]
        balls = [arb(_exact(point[w.name])) for w in problem.over]
        balls[problem.over.index(v)] = ball(_exact(point[v.name]), _exact(high))
        return all(c.judge(balls) is True for c in conditions)
    except (NotExpressibleError, NeedsValueError, OutOfScopeError):
        return False


def _exact(q: Fraction) -> fmpq:
    return fmpq(q.numerator, q.denominator)
