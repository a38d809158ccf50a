"""Claims with quantiles of the normal distribution: a letter takes the place of each, and its Phi that of a letter.

What is left is a problem without quantiles, for the other provers; its certificate is part of this one's.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpverify.formulas.calculus import map_sides, substituted
from dpverify.formulas.expressions import (
    Apply,
    Expression,
    OutOfScopeError,
    Variable,
    free_variables,
    mapped,
    real,
)
from dpverify.formulas.logic import Compare, expressions_in, in_domain
from dpverify.formulas.operators import normal_cdf
from dpverify.formulas.rendering.neutral import Json, expression_to_json
from dpverify.ledger.verdicts import Gap
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, Proof, ProverByParts, proved, shown, undecided
from dpverify.proving.reasoning.algebra import low_roots
from dpverify.proving.reasoning.symbolic import symbol, symbolic, tree


class Quantiles(ProverByParts):
    """The prover of comparisons in which something is a quantile of what is linear in a letter."""

    name = "quantiles"

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Prove a comparison with letters for its quantiles."""
        if not isinstance(problem.claim, Compare):
            return None
        left, letters = problem, list[Json]()
        while (of := next(_quantiles(left), None)) is not None:
            found = _without(left, of, f"q_{len(letters)}")
            if found is None:
                return undecided("a quantile of what is not linear in a letter", Gap.NO_METHOD)
            left, entry = found
            letters.append(entry)
        if not letters:
            return None
        inner = self._prove(left, budget, self._provers)
        if (steps := shown(inner)) is None:
            return undecided(inner.reason, inner.gap)
        then = {"then": steps["proof"], "witness": steps["witness"]}
        return proved(problem, {"method": "quantile", "letters": letters, **then})


def _quantiles(problem: ProofProblem) -> Iterator[Expression]:
    for e in expressions_in(*problem.stated):
        if isinstance(e, Apply) and e.operator == "phi_inverse":
            yield e.arguments[0]


def _without(problem: ProofProblem, of: Expression, name: str) -> tuple[ProofProblem, Json] | None:
    """The problem with a letter for a quantile, and the entry of a certificate."""
    letter = real(name)
    if name in problem.letters:
        return None
    for x in problem.over:
        if x.kind != "real" or x not in free_variables(of):
            continue
        try:
            roots = low_roots(symbolic(of) - symbol(letter), symbol(x))
        except OutOfScopeError:
            return None
        if len(roots) != 1:
            continue
        value = tree(roots[0])
        there = substituted(value, {letter: normal_cdf(letter)})

        def change(e: Expression, x: Variable = x, there: Expression = there) -> Expression:
            return substituted(mapped(e, lambda part: _named(part, of, letter)), {x: there})

        claim, *given = (map_sides(f, change) for f in (*problem.stated, *in_domain(x, x)))
        over = (*(v for v in problem.over if v != x), letter)
        entry = [x.name, name, expression_to_json(of), expression_to_json(value)]
        return problem.about(claim, over, tuple(given)), entry
    return None


def _named(e: Expression, of: Expression, letter: Variable) -> Expression | None:
    """A letter for a quantile, and for that of the rest to 1."""
    if isinstance(e, Apply) and e.operator == "phi_inverse":
        (at,) = e.arguments
        return letter if at == of else -letter if at == 1 - of or of == 1 - at else None
    return None
