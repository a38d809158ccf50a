"""Inequalities by a square factor."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from dpverify.formulas.expressions import Variable, expression, real
from dpverify.formulas.logic import Compare, Formula, Le, Lt
from dpverify.formulas.operators import exp
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import prove
from dpverify.proving.language import Obligation
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, Proof
from dpverify.proving.provers.exact import Exact, square_factor
from dpverify.proving.reasoning.normal_form import is_identity
from dpverify.proving.reasoning.symbolic import symbolic, symbolic_formula, tree

P1, P2, Q1, Q2 = OVER = tuple(real(name, gt=0) for name in ("p1", "p2", "q1", "q2"))
z = real("z")


def attempt(claim: Formula, *over: Variable) -> Proof:
    proof = Exact().attempt(ProofProblem("test", claim, over), Budget())
    assert proof is not None
    return proof


def merging(k: int, factor: object = 1) -> Compare:
    merged = (P1 + P2) ** k / (Q1 + Q2) ** (k - 1)
    return Le(expression(factor) * merged, P1**k / Q1 ** (k - 1) + P2**k / Q2 ** (k - 1))


@pytest.mark.parametrize("k", [2, 3, 4])
def test_merging_atoms_lowers_moments(k: int) -> None:
    claim = merging(k)
    proof = attempt(claim, *OVER)
    assert proof.verdict is Verdict.PROVED
    assert proof.certificate is not None
    steps = proof.certificate["proof"]
    assert (steps["method"], steps["then"]["method"]) == ("square", "signs")
    square = square_factor(symbolic_formula(claim))
    assert square is not None
    assert is_identity(symbolic(claim.right - claim.left), square.root**2 * square.rest)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_faulty_moments_are_refuted(k: int) -> None:
    claim = merging(k, Fraction(1001, 1000))
    assert attempt(claim, *OVER).verdict is Verdict.UNDECIDED
    assert prove(Obligation("test", "nowhere", claim, OVER)).verdict is Verdict.REFUTED


def test_a_square_may_vanish() -> None:
    square = z**2 * (z**2 + 1)
    assert attempt(Le(0, tree(sp.expand(symbolic((z - 3) ** 2 * (z**2 + 1))))), z).verdict is Verdict.PROVED
    assert square_factor(symbolic_formula(Lt(0, square))) is None
    assert prove(Obligation("test", "nowhere", Lt(0, square), (z,))).verdict is Verdict.REFUTED


@pytest.mark.parametrize("claim", [Le(0, z**2 - 1), Le(0, z * 3), Le(0, exp(z) - z - 1), Le(0, 1)])
def test_other_claims_have_no_square(claim: Compare) -> None:
    assert square_factor(symbolic_formula(claim)) is None


def test_a_square_times_something_negative_is_not_proved() -> None:
    claim = Le(0, tree(sp.expand(symbolic((z - 1) ** 2 * (z**2 - 2)))))
    assert attempt(claim, z).verdict is Verdict.UNDECIDED
    assert prove(Obligation("test", "nowhere", claim, (z,))).verdict is Verdict.REFUTED
