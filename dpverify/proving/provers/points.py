"""Counterexamples: confirmed points, made simple, and what is reported of them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpverify.formulas.expressions import Apply, subexpressions
from dpverify.formulas.logic import comparisons
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.formulas.vectors import same_dimension
from dpverify.ledger.verdicts import Verdict
from dpverify.ledger.written_numbers import coordinates_text
from dpverify.proving.certificates import certificate
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Proof
from dpverify.proving.reasoning.evaluation import ExactPoint, evaluate, failing, text
from dpverify.proving.reasoning.truth import truth

_ROUNDS = 4
"""How often every coordinate is gone through."""


def admitted(obligation: Obligation, point: ExactPoint) -> bool:
    """Whether a point lies in the domain and certainly satisfies every assumption."""
    inside = all(v.contains(point[v.name]) for v in obligation.over) and same_dimension(point)
    return inside and all(truth(a, point) is True for a in obligation.assuming)


def confirmed(obligation: Obligation, point: ExactPoint) -> bool:
    """Whether a point is a counterexample: admitted, and the claim is certainly false there."""
    return admitted(obligation, point) and truth(obligation.claim, point) is False


def _size(value: Fraction) -> tuple[int, Fraction, bool]:
    return value.denominator + abs(value.numerator), abs(value), value < 0


def _candidates(here: Fraction) -> list[Fraction]:
    """Simpler numbers to try instead, the simplest first: small ones, and those nearby."""
    found = {Fraction(n) for n in (0, 1, 2, 3, 4, 5, 10, -1, -2)} | {Fraction(1, 2), Fraction(-1, 2)}
    found |= {here.limit_denominator(d) for d in (1, 2, 4, 10, 100, 1000)}
    found |= {Fraction(math.floor(here * d) + n, d) for d in range(1, 5) for n in range(1 - d, d + 1)}
    return sorted((c for c in found if _size(c) < _size(here)), key=_size)


def _simpler(here: Any) -> list[Any]:
    """Values to try instead of a number, or of a vector's coordinates one by one."""
    if not isinstance(here, tuple):
        return _candidates(here)
    return [(*here[:i], c, *here[i + 1 :]) for i, value in enumerate(here) for c in _candidates(value)]


def exact_norms(obligation: Obligation, point: ExactPoint) -> bool:
    """Whether all norms in an obligation are fractions at a point, so that anyone can work it out."""
    compared = (c for f in (obligation.claim, *obligation.assuming) for c in comparisons(f))
    parts = (e for c in compared for side in (c.left, c.right) for e in subexpressions(side))
    norms = (e for e in parts if isinstance(e, Apply) and e.operator == "norm")
    return all(isinstance(evaluate(e, point), Fraction) for e in norms)


def simplified(obligation: Obligation, point: ExactPoint) -> ExactPoint:
    """A counterexample with simpler numbers, found one coordinate at a time from a confirmed one.

    A point in the obligation's box stays there.
    """
    ends = obligation.ends

    def boxed(moved: ExactPoint) -> bool:
        return all(low <= moved[name] <= high for name, (low, high) in ends.items())

    def accepted(moved: ExactPoint) -> bool:
        if (inside and not boxed(moved)) or not confirmed(obligation, moved):
            return False
        return not exact or exact_norms(obligation, moved)

    inside, exact = boxed(point), exact_norms(obligation, point)
    best = dict(point)
    for _ in range(_ROUNDS):
        before = dict(best)
        for name in best:
            for candidate in _simpler(best[name]):
                if accepted({**best, name: candidate}):
                    best[name] = candidate
                    break
        if best == before:
            break
    return best


def refutation(obligation: Obligation, point: ExactPoint, prover: str, seconds: float) -> Proof:
    """The proof that a confirmed point is a counterexample, made simpler where it stays one."""
    return refutation_at(obligation, simplified(obligation, point), prover, seconds)


def refutation_at(obligation: Obligation, point: ExactPoint, prover: str, seconds: float) -> Proof:
    """The proof that this point is a counterexample, with both sides' values there."""
    named = {v.name: coordinates_text(point[v.name]) for v in obligation.over}
    left = right = None
    shown = failing(obligation.claim, point)
    if shown is not None:
        try:
            left, right = text(shown.left, point), text(shown.right, point)
        except (UndefinedError, UnclearError):
            left = right = None
    return Proof(
        Verdict.REFUTED,
        prover,
        certificate(obligation, Verdict.REFUTED, {"method": "counterexample", "point": named}),
        counterexample=named,
        left=left,
        right=right,
        seconds=seconds,
    )
