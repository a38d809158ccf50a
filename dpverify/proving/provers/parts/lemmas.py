"""Claims that need something shown first, or two cases: each part is proved by the other provers.

What keeps denominators from 0, and roots and logarithms defined, is shown first and assumed from then on. A maximum of
two, or an absolute value, is one of two terms in each of two cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from dpverify.formulas.calculus import map_sides, with_values
from dpverify.formulas.definedness import conditions
from dpverify.formulas.expressions import (
    Apply,
    Expression,
    OutOfScopeError,
    Variable,
    free_variables,
    mapped,
    outside,
    subexpressions,
)
from dpverify.formulas.logic import Compare, Formula, Le, Lt, conjuncts, free_in, in_domain
from dpverify.formulas.rendering.neutral import Json, expression_to_json, formula_to_json
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import (
    Budget,
    Proof,
    Prove,
    Prover,
    ProverByParts,
    proved,
    settled,
    shown,
    undecided,
)
from dpverify.proving.reasoning.places import Assumptions
from dpverify.proving.reasoning.symbolic import symbolic
from dpverify.proving.reasoning.truth import missing

_MOST = 4
"""Cases within cases."""


class Lemmas(ProverByParts):
    """The prover of comparisons with facts that it shows first, or in two cases."""

    name = "lemmas"

    def __init__(self, prove: Prove, provers: Sequence[Prover], *, depth: int = 0) -> None:
        super().__init__(prove, provers)
        self._depth = depth

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Prove a comparison."""
        if not isinstance(problem.claim, Compare):
            return None
        split = next(_splits(problem.claim), None)
        if split is None or self._depth >= _MOST:
            return self._with_facts(problem, budget, (*self._provers,))
        if missing(problem.over, problem.assuming, conditions(split[0]), budget):
            # in neither case is a point where it is undefined
            return self._with_facts(problem, budget, self._deeper)
        return self._in_cases(problem, budget, *split)

    @property
    def _deeper(self) -> tuple[Prover, ...]:
        return (*self._provers, Lemmas(self._prove, self._provers, depth=self._depth + 1))

    def _with_facts(self, problem: ProofProblem, budget: Budget, provers: tuple[Prover, ...]) -> Proof | None:
        facts = list[Json]()
        there = problem
        for condition in problem.wanted:
            if condition.bound or condition.premises:
                continue
            if not missing(there.over, there.assuming, (condition,), budget):
                continue
            for fact in _stronger(there, condition.formula, budget):
                steps = shown(self._prove(there.claiming(fact), budget, self._provers))
                if steps is not None:
                    facts.append({"fact": formula_to_json(fact), "proof": steps["proof"]})
                    there = there.about(there.claim, there.over, (*there.assuming, fact))
                    break
        if not facts:
            return None
        then = self._prove(there, budget, provers)
        if (steps := shown(then)) is None:
            return undecided(then.reason, then.gap)
        return proved(problem, {"method": "known", "facts": facts, "then": steps["proof"]})

    def _in_cases(
        self, problem: ProofProblem, budget: Budget, old: Expression, first: Expression, second: Expression
    ) -> Proof:
        split = first - second
        cases = list[Json]()
        for new, given in ((first, Le(0, split)), (second, Le(0, -split))):
            claim = map_sides(problem.claim, partial(mapped, change={old: new}.get))
            part = self._prove(
                problem.about(claim, problem.over, (*problem.assuming, given)), budget, self._deeper
            )
            if (steps := shown(part)) is None:
                return undecided(f"in one of two cases: {part.reason}", part.gap or Gap.NO_METHOD)
            cases.append({"new": expression_to_json(new), **steps})
        ends = {"split": expression_to_json(split), "old": expression_to_json(old)}
        return proved(problem, {"method": "cases", **ends, "cases": cases})


class Substitution(ProverByParts):
    """The prover of what is assumed to hold where a letter has a value that need not be a fraction."""

    name = "substitution"

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Prove or refute with the value in the letter's place; a witness is one of what is left."""
        given = [f for a in problem.assuming for f in conjuncts(a)]
        for v, value in (pair for f in given for pair in _values(f)):
            over = tuple(w for w in problem.over if w != v)
            said = [f for f in given if (v, value) not in _values(f)]
            free = tuple(f for f in said if v not in free_in(f))
            if missing(over, free, conditions(value), budget):
                continue
            there = [with_values(f, {v: value}) for f in (problem.claim, *said, *in_domain(v, v))]
            inner = self._prove(problem.about(there[0], over, tuple(there[1:])), budget, self._provers)
            if inner.certificate is None:
                return undecided(inner.reason, inner.gap)
            point = inner.counterexample if inner.verdict is Verdict.REFUTED else inner.witness
            shown = ", ".join(f"{name} = {x}" for name, x in (point or {}).items())
            steps = {
                "method": "substitution", "letter": v.name, "value": expression_to_json(value),
                "then": inner.certificate["proof"], "witness": inner.certificate.get("witness"),
            }  # fmt: skip
            where = f"{'fails' if inner.verdict is Verdict.REFUTED else 'says something'} at {shown}"
            return replace(
                settled(problem, inner.verdict, steps), reason=f"{where}, with the {v.name} of these"
            )
        return None


def _values(f: Formula) -> list[tuple[Variable, Expression]]:
    """A real letter and the other side of an equation without it."""
    if not isinstance(f, Compare) or f.relation != "==":
        return []
    pairs = ((f.left, f.right), (f.right, f.left))
    return [
        (v, e)
        for v, e in pairs
        if isinstance(v, Variable) and v.kind == "real" and v not in free_variables(e)
    ]


def _stronger(problem: ProofProblem, wanted: Compare, budget: Budget) -> Iterator[Compare]:
    """Comparisons from which a condition follows, as floats see them."""
    if wanted.relation != "!=":
        yield wanted
        return
    given = tuple(f for f in problem.assuming if isinstance(f, Compare))
    try:
        signs = Assumptions(problem.over, given, budget).signs(symbolic(wanted.right - wanted.left))
    except OutOfScopeError:
        return
    if len(signs) == 1:
        yield Lt(wanted.left, wanted.right) if 1 in signs else Lt(wanted.right, wanted.left)


def _splits(claim: Compare) -> Iterator[tuple[Expression, Expression, Expression]]:
    """A maximum, minimum or absolute value without another one inside, and what it is in either case."""
    for e in (part for side in (claim.left, claim.right) for part in outside(side)):
        if not isinstance(e, Apply) or any(
            isinstance(part, Apply) and part.operator in ("abs", "max", "min")
            for a in e.arguments
            for part in subexpressions(a)
        ):
            continue
        match e:
            case Apply("abs", (u,)):
                yield e, u, -u
            case Apply("max", (u, v)):
                yield e, u, v
            case Apply("min", (u, v)):
                yield e, v, u
