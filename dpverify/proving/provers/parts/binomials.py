"""Sums over binomials in closed form: the sum of (n over i) a^i b^(n - i) over i from 0 to n is (a + b)^n."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from dpverify.formulas.calculus import map_sides
from dpverify.formulas.expressions import (
    Apply,
    Binder,
    Expression,
    OutOfScopeError,
    constant,
    mapped,
    outside,
)
from dpverify.formulas.logic import Compare
from dpverify.formulas.rendering.neutral import Json, expression_to_json
from dpverify.ledger.verdicts import Gap
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, Proof, ProverByParts, proved, shown, undecided
from dpverify.proving.reasoning.algebra import in_factors, replaced, simplified
from dpverify.proving.reasoning.contacts import exponential, logarithm
from dpverify.proving.reasoning.symbolic import SymPy, symbol, symbolic, symbolic_to_json, tree


class BinomialSums(ProverByParts):
    """The prover of comparisons with sums by the binomial theorem."""

    name = "binomial sums"

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Prove a comparison with a closed form in place of its first such sum."""
        claim = problem.claim
        if not isinstance(claim, Compare):
            return None
        found = next((e for side in (claim.left, claim.right) for e in _sums(side)), None)
        if found is None:
            return None
        a, b, factor = _parts(found)
        closed: Expression = tree(factor) * (tree(a) + tree(b)) ** found.last
        left = problem.claiming(
            map_sides(claim, lambda e: mapped(e, lambda part: closed if part == found else None))
        )
        inner = self._prove(left, budget, (*self._provers, self))
        if (steps_of := shown(inner)) is None:
            return undecided(inner.reason, inner.gap or Gap.NO_METHOD)
        entry: dict[str, Json] = {
            name: symbolic_to_json(e) for name, e in (("a", a), ("b", b), ("factor", factor))
        }
        steps = {"method": "binomial-sum", "sum": expression_to_json(found), **entry}
        return proved(problem, {**steps, "then": steps_of["proof"]})


def _sums(e: Expression) -> Iterator[Binder]:
    """Sums from 0 with a binomial of the last index over the index as a factor, under no binder."""
    for part in (part for part in outside(e) if isinstance(part, Binder)):
        if part.kind == "sum" and constant(part.first) == 0 and _binomial(part) in _factors(part.body):
            yield part


def _binomial(e: Binder) -> Expression:
    return Apply("binomial", (e.last, e.variable))


def _factors(e: Expression) -> Iterator[Expression]:
    if isinstance(e, Apply) and e.operator == "mul":
        for part in e.arguments:
            yield from _factors(part)
    else:
        yield e


def _parts(e: Binder) -> tuple[SymPy, SymPy, SymPy]:
    """The letters of the theorem, and a factor; `OutOfScopeError` where the terms are no powers."""
    i, n = symbol(e.variable), symbolic(e.last)
    rest = sp.Mul(*(symbolic(part) for part in _factors(e.body) if part != _binomial(e)))
    ratio = simplified(replaced(rest, {i: i + 1}) / rest)
    start = replaced(rest, {i: sp.Integer(0)})
    base = exponential(in_factors(logarithm(start) / n))
    if base.has(*n.free_symbols):
        base, factor = sp.Integer(1), start
    else:
        factor = sp.Integer(1)
    if ratio.has(i) or factor.has(*n.free_symbols):
        raise OutOfScopeError("no sum by the binomial theorem")
    return simplified(ratio * base), base, factor
