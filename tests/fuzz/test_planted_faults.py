"""Faults planted into provers and checker: each makes them say something wrong, and a point shows it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.logic import Formula, Ge, Gt, Implies, Le, Lt, Ne, Or
from dpverify.formulas.operators import exp, sqrt
from dpverify.proving import pipeline, prove
from dpverify.proving.checker import check
from dpverify.proving.checker.arithmetic import reals
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Prover
from dpverify.proving.provers import branch_and_bound as balls_of_boxes
from dpverify.proving.provers import real_arithmetic
from dpverify.proving.provers.balls import BallProver
from dpverify.proving.provers.witnesses import Witness
from dpverify.proving.reasoning.normal_form import NormalForms

from .holding import faults
from .test_verdicts import BUDGET

Patch = pytest.MonkeyPatch

x, y = real("x"), real("y", gt=0)
k, t = integer("k", ge=0), integer("t", ge=1)
w = real("w", gt=1, lt="1.0000000000000000000000001")
z = real("z", ge="1/16", le="33/16")
X, Y, K = x, y, k


def wrong(
    claim: Formula,
    *over: Variable,
    assuming: tuple[Formula, ...] = (),
    provers: tuple[Prover, ...] | None = None,
) -> list[str]:
    """What is found to be wrong with a verdict."""
    obligation = Obligation("planted", "nowhere", claim, over, assuming=assuming)
    proof = prove(obligation, budget=BUDGET, provers=provers)
    return faults(proof.certificate) if proof.certificate is not None else []


def every_base_is_positive(patch: Patch) -> None:
    patch.setattr(NormalForms, "is_positive", lambda self, q: True)


def all_is_defined(patch: Patch) -> None:
    patch.setattr(real_arithmetic, "missing", lambda *_: "")


def any_point_is_a_witness(patch: Patch) -> None:
    def first(obligation: Obligation, budget: Any) -> Witness:
        return Witness({v.name: "1" for v in obligation.over})

    patch.setattr(pipeline, "witness", first)


def implications_are_facts(patch: Patch) -> None:
    asked = real_arithmetic.unsatisfiable

    def leaking(variables: Any, assuming: Any, *claim: Any, **options: Any) -> Any:
        told = tuple(f.conclusion if isinstance(f, Implies) else f for f in assuming)
        return asked(variables, told, *claim, **options)

    patch.setattr(real_arithmetic, "unsatisfiable", leaking)


def ends_are_closed(patch: Patch) -> None:
    def contains(self: Variable, value: Any) -> bool:
        return (self.lower is None or value >= self.lower) and (self.upper is None or value <= self.upper)

    patch.setattr(Variable, "contains", contains)


def a_box_is_its_middle(patch: Patch) -> None:
    whole = balls_of_boxes.ball

    def middle(low: Any, high: Any) -> Any:
        return whole((low + high) / 2, (low + high) / 2)

    patch.setattr(balls_of_boxes, "ball", middle)


CONTRADICTION = (Gt(X, 2), Lt(X, 1))
PLANTED: list[tuple[Callable[[Patch], None], Formula, tuple[Variable, ...], tuple[Formula, ...]]] = [
    (every_base_is_positive, Or((Gt((-1) ** K, 0), Ne(k, 999))), (k,), ()),
    (every_base_is_positive, Ge((1 - w) ** t, -Fraction(1, 10**30)), (w, t), ()),
    (all_is_defined, Ge(sqrt(X), 0), (x,), ()),
    (all_is_defined, Or((Ge(sqrt(X + 1), 0), Gt(X, 5))), (x,), ()),
    (any_point_is_a_witness, Le(X, Y), (x, y), CONTRADICTION),
    (any_point_is_a_witness, Gt(X, 0), (x,), (Ge(X, 5),)),
    (implications_are_facts, Or((Ge(X, 1), Ne(X, Fraction(-1, 7)))), (x,), (Implies(Ge(X, 0), Ge(X, 1)),)),
    (ends_are_closed, Ne(Y * (Y + 1), 0), (y,), ()),
]


@pytest.mark.parametrize(("plant", "claim", "over", "assuming"), PLANTED)
def test_planted_faults_are_seen(
    plant: Callable[[Patch], None],
    claim: Formula,
    over: tuple[Variable, ...],
    assuming: tuple[Formula, ...],
    monkeypatch: Patch,
) -> None:
    assert wrong(claim, *over, assuming=assuming) == []
    plant(monkeypatch)
    assert wrong(claim, *over, assuming=assuming) != []


def test_a_prover_that_looks_at_the_middles_of_boxes_is_seen(monkeypatch: Patch) -> None:
    claim = Ge((z - Fraction(7920, 7919)) ** 2 * exp(z), Fraction(1, 10**9))
    assert wrong(claim, z, provers=(BallProver(),)) == []
    a_box_is_its_middle(monkeypatch)
    assert wrong(claim, z, provers=(BallProver(),)) != []


def everything_is_defined(patch: Patch) -> None:
    patch.setattr(reals.Reals, "need", lambda self, relation, u: self.learn(relation, u))


def test_a_checker_that_takes_all_for_defined_is_seen(monkeypatch: Patch) -> None:
    claim, witness = Or((Ge(sqrt(X + 1), 0), Gt(X, 5))), {"x": "1"}
    problem = Obligation("planted", "nowhere", claim, (x,)).problem.json
    certificate = {
        "version": 1,
        "problem": problem,
        "verdict": "proved",
        "proof": {"method": "smt"},
        "witness": witness,
    }
    assert not check(certificate).confirmed
    everything_is_defined(monkeypatch)
    assert check(certificate).confirmed
    assert faults(certificate) != []
