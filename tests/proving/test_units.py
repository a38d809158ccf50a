"""Homogeneity in loss and length."""

from __future__ import annotations

import pytest

from dpverify.formulas.expressions import at, derivative, expression, integer, integral, real, total
from dpverify.formulas.logic import Compare, Eq, ForAll, Formula, Implies, Le
from dpverify.formulas.operators import absolute, erfc, exp, log, maximum, normal_cdf, sqrt
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import homogeneity
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation

loss, length, lipschitz = (
    real("loss", gt=0, unit=LOSS),
    real("length", gt=0, unit=LENGTH),
    real("lipschitz", gt=0, unit=LOSS / LENGTH),
)
number, count, index = real("number", gt=0), integer("count", ge=1), integer("index", ge=1)
dummy = real("dummy", unit=LENGTH)
OVER = (loss, length, lipschitz, number, count)
A, B, G, N, M = (v for v in OVER)

HOMOGENEOUS: list[Formula] = [
    Le(A, G * B),
    Le(sqrt(A**2 + (G * B) ** 2), 0),
    Le(maximum(A, G * B, 0), absolute(A)),
    Eq(exp(-(A**2) / (G * B) ** 2), log(N) + normal_cdf(N) + erfc(G * B / A)),
    Eq(derivative(G * B**2, length), A),
    Eq(derivative(G * B**2, length, 2), G),
    Eq(integral(G * dummy, dummy, 0, B), A * B),
    Eq(total(A * index, index, 1, M), A * M**2),
    Eq(at(derivative(G * dummy**2, dummy), dummy, B), A),
    Le((A / (G * B)) ** N, 2 ** M),
    ForAll(dummy, Implies(Le(dummy, B), Le(G * dummy, A))),
    Le(A, expression(0)),
]  # fmt: skip

CLASHES: list[Formula] = [
    Le(A, B),
    Le(A**2, A),
    Le(A + 1, A),
    Le(sqrt(A), A),
    Le(maximum(A, B), A),
    Le(exp(A), 1),
    Le(1, log(B)),
    Le(1, normal_cdf(B)),
    Le(1, erfc(G)),
    Le(A**N, A),
    Le(N**A, N),
    Eq(derivative(G * B**2, length), G),
    Eq(derivative(G * B**2, length, 2), A),
    Eq(integral(G * dummy, dummy, 0, B), A),
    Eq(total(A * index, index, 1, B), A),
    Eq(at(derivative(G * dummy**2, dummy), dummy, B), G),
    ForAll(dummy, Implies(Le(dummy, A), Le(G * dummy, A))),
]


@pytest.mark.parametrize("claim", HOMOGENEOUS, ids=str)
def test_homogeneous_formulas(claim: Formula) -> None:
    proof = homogeneity(Obligation("test", "nowhere", claim, OVER))
    assert proof.verdict is Verdict.PROVED
    assert proof.certificate is not None
    assert proof.certificate["proof"]["method"] == "units"
    assert check(proof.certificate).confirmed


@pytest.mark.parametrize("unit", ["0", "2"])
def test_another_unit_of_what_is_integrated_over_is_refused(unit: str) -> None:
    proof = homogeneity(Obligation("test", "nowhere", Eq(integral(G * dummy, dummy, 0, B), A * B), OVER))
    assert proof.certificate is not None
    proof.certificate["proof"]["bound"]["dummy"]["length"] = unit
    assert not check(proof.certificate).confirmed


def test_what_is_integrated_over_refutes_nothing() -> None:
    """Its unit is the certificate's to choose, so that a bad choice would refute what is homogeneous."""
    proof = homogeneity(Obligation("test", "nowhere", Eq(integral(G * dummy, dummy, 0, B), A * B), OVER))
    assert proof.certificate is not None
    sides = {"left": {"loss": "0", "length": "0"}, "right": {"loss": "0", "length": "1"}}
    proof.certificate["proof"] |= sides | {"bound": {"dummy": {"loss": "0", "length": "0"}}}
    assert not check(proof.certificate | {"verdict": "refuted"}).confirmed


@pytest.mark.parametrize("claim", CLASHES, ids=str)
def test_formulas_that_are_not(claim: Formula) -> None:
    proof = homogeneity(Obligation("test", "nowhere", claim, OVER))
    assert proof.verdict is Verdict.REFUTED
    assert proof.left != proof.right


def test_assumptions_are_checked_too() -> None:
    assuming: tuple[Compare, ...] = (Le(A, B),)
    assert homogeneity(Obligation("t", "", Le(A, A), OVER, assuming=assuming)).verdict is Verdict.REFUTED


def test_the_certificate_names_both_units() -> None:
    proof = homogeneity(Obligation("test", "nowhere", Le(A**2 / B, 1), OVER))
    assert proof.certificate is not None
    assert proof.certificate["proof"] == {
        "method": "units",
        "left": {"loss": "2", "length": "-1"},
        "right": {"loss": "0", "length": "0"},
    }
    assert (proof.left, proof.right) == ("loss^2 length^-1", "dimensionless")


def test_counts_of_records_and_nats_are_pure_numbers() -> None:
    m, epsilon = integer("m", ge=1, unit=RECORDS), real("epsilon", gt=0, unit=NATS)
    claim = Obligation("test", "nowhere", Le(log(m), m * epsilon), (m, epsilon))
    assert homogeneity(claim).verdict is Verdict.PROVED
