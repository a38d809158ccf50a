"""The formulas of the first encoded statements, each with the verdict that mathematics gives it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpverify.evidence import Verdict
from dpverify.formulas.expressions import PI, Variable, derivative, integer, real, total
from dpverify.formulas.logic import Eq, ForAll, Formula, Ge, Implies, Le, Lt
from dpverify.formulas.operators import exp, log, maximum, minimum, normal_cdf, sqrt
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS
from dpverify.proving import homogeneity, prove
from dpverify.proving.language import Obligation, continuously_differentiable
from dpverify.proving.proof import Proof

T, n, t, i, k = (integer(name, ge=1) for name in ("T", "n", "t", "i", "k"))
order = real("order", ge=1)
sigma, distance = real("sigma", gt=0, unit=LENGTH), real("distance", ge=0, unit=LENGTH)
eta, L = real("eta", gt=0, unit=LENGTH / LOSS * LENGTH), real("L", gt=0, unit=LOSS / LENGTH)


def obligation(claim: Formula, *over: Variable, assuming: tuple[Formula, ...] = ()) -> Obligation:
    return Obligation("test", "nowhere", claim, over, assuming=assuming)


def settle(claim: Formula, *over: Variable, assuming: tuple[Formula, ...] = ()) -> Proof:
    return prove(obligation(claim, *over, assuming=assuming))


def point(proof: Proof) -> dict[str, Fraction]:
    assert proof.counterexample is not None
    return {name: Fraction(value) for name, value in proof.counterexample.items()}


# ------------------------------------------------------------------- fmtt18, Theorem 1 (informal)

divergence = order * distance**2 / (2 * T * sigma**2)
printed_thm1 = Le(divergence, order * distance / (2 * T * sigma**2))


def test_theorem_1_as_printed_is_refuted() -> None:
    proof = settle(printed_thm1, T, order, sigma, distance)
    assert proof.verdict is Verdict.REFUTED
    p = point(proof)
    left = p["order"] * p["distance"] ** 2 / (2 * p["T"] * p["sigma"] ** 2)
    right = p["order"] * p["distance"] / (2 * p["T"] * p["sigma"] ** 2)
    assert (proof.left, proof.right) == (str(left), str(right))
    assert left > right


def test_theorem_1_as_printed_is_not_homogeneous() -> None:
    proof = homogeneity(obligation(printed_thm1, T, order, sigma, distance))
    assert proof.verdict is Verdict.REFUTED
    assert {proof.left, proof.right} == {"dimensionless", "length^-1"}


def test_theorem_1_repaired() -> None:
    step = distance / T
    assert settle(Ge(distance - t * step, 0), T, t, distance, assuming=(Le(t, T),)).verdict is Verdict.PROVED
    claim = Eq(total(order * step**2 / (2 * sigma**2), t, 1, T), divergence)
    assert settle(claim, T, order, sigma, distance).verdict is Verdict.PROVED
    assert homogeneity(obligation(claim, T, order, sigma, distance)).verdict is Verdict.PROVED


def test_theorem_1_with_a_wrong_schedule_is_refuted() -> None:
    step = distance / (T + 1)
    claim = Eq(total(order * step**2 / (2 * sigma**2), t, 1, T), divergence)
    assert settle(claim, T, order, sigma, distance).verdict is Verdict.REFUTED


# ------------------------------------------------------------------- fmtt18, Theorem 23

share = 2 * eta * L / (n - t + 1)


def test_theorem_23_schedule() -> None:
    claim = Ge(2 * eta * L - (i - t + 1) * share, 0)
    assert settle(claim, n, t, i, eta, L, assuming=(Le(t, i), Le(i, n))).verdict is Verdict.PROVED


def test_theorem_23_schedule_one_step_too_long_is_refuted() -> None:
    claim = Ge(2 * eta * L - (i - t + 2) * share, 0)
    assert settle(claim, n, t, i, eta, L, assuming=(Le(t, i), Le(i, n))).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("numerator", "verdict"), [(2, Verdict.PROVED), (1, Verdict.REFUTED), (4, Verdict.REFUTED)]
)
def test_theorem_23_sum(numerator: int, verdict: Verdict) -> None:
    deviation = real("sigma", gt=0, unit=LOSS / LENGTH)
    claim = Eq(
        total(order * share**2 / (2 * eta**2 * deviation**2), i, t, n),
        numerator * order * L**2 / (deviation**2 * (n - t + 1)),
    )
    assert settle(claim, n, t, order, eta, L, deviation, assuming=(Le(t, n),)).verdict is verdict


def test_a_sum_that_may_be_empty_is_not_proved() -> None:
    deviation = real("sigma", gt=0)
    claim = Eq(
        total(order * share**2 / (2 * eta**2 * deviation**2), i, t, n),
        2 * order * L**2 / (deviation**2 * (n - t + 1)),
    )
    proof = prove(obligation(claim, n, t, order, eta, L, deviation))
    assert proof.verdict is Verdict.UNDECIDED


# ------------------------------------------------------------------- fmtt18, Theorem 35 and appendix B


def test_theorem_35() -> None:
    left = (n - 1) / n + 1 / (n - i + 1)
    assert settle(Lt(left, 2), n, i, assuming=(Le(i, n),)).verdict is Verdict.PROVED
    assert settle(Lt(left, Fraction(3, 2)), n, i, assuming=(Le(i, n),)).verdict is Verdict.REFUTED


@pytest.mark.parametrize(("factor", "verdict"), [(5, Verdict.PROVED), (2, Verdict.REFUTED)])
def test_appendix_b(factor: int, verdict: Verdict) -> None:
    log_term, eps = real("l", gt=0, unit=NATS), real("eps", gt=0, unit=NATS)
    a = 2 * log_term / eps
    deviation = factor * L * sqrt(log_term) / eps
    claim = Le(4 * a * L**2 / deviation**2 + log_term / (a - 1), eps)
    assert settle(claim, log_term, eps, L, assuming=(Ge(a, 5),)).verdict is verdict


# ------------------------------------------------------------------- fmtt18, Lemmas 14, 25 and Proposition 5


def test_lemma_25_step() -> None:
    a, c = real("a"), real("c", gt=0, le=1)
    claim = Le(1 + a + a**2, 1 + (1 + c) * a)
    proof = settle(claim, a, c, assuming=(Le(a, c),))
    assert proof.verdict is Verdict.REFUTED
    assert point(proof)["a"] < 0
    assert settle(claim, a, c, assuming=(Le(a, c), Ge(a, 0))).verdict is Verdict.PROVED


def test_lemma_14_case_split() -> None:
    x, log_term, a = real("X"), real("l", gt=0), real("a", gt=1)
    claim = Le(x * (a - 1) / a, x + log_term / (a - 1))
    assert settle(claim, x, log_term, a, assuming=(Ge(x, -log_term * a / (a - 1)),)).verdict is Verdict.PROVED
    assert settle(claim, x, log_term, a).verdict is Verdict.REFUTED


@pytest.mark.parametrize("power", [2, 3])
def test_proposition_5_merging_two_atoms(power: int) -> None:
    p1, p2, q1, q2 = (real(name, gt=0) for name in ("p1", "p2", "q1", "q2"))
    merged = (p1 + p2) ** power / (q1 + q2) ** (power - 1)
    parts = p1**power / q1 ** (power - 1) + p2**power / q2 ** (power - 1)
    assert settle(Le(merged, parts), p1, p2, q1, q2).verdict is Verdict.PROVED
    assert settle(Le(merged, Fraction(99, 100) * parts), p1, p2, q1, q2).verdict is Verdict.REFUTED


# ------------------------------------------------------------------- bst14


def test_huberization_is_once_and_not_twice_differentiable() -> None:
    h, z = real("h", gt=0), real("z")
    pieces = ((0, -h), (z**2 / (4 * h) + z / 2 + h / 4, h))
    assert settle(continuously_differentiable(pieces, z, z, 1), h).verdict is Verdict.PROVED
    proof = settle(continuously_differentiable(pieces, z, z, 2), h)
    assert proof.verdict is Verdict.REFUTED
    assert (proof.counterexample, proof.left, proof.right) == ({"h": "1"}, "0", "1/2")


def test_lemma_2_2_mixture() -> None:
    x, y, z = (real(name, gt=0) for name in ("x", "y", "z"))
    g, e = real("g", ge=0, le=1), real("E", ge=1)
    assuming = (Le(x, e * y), Le(x, e * z))

    def claim(weight: object) -> Formula:
        return Le((1 - g) * z + g * x, (1 + weight * (e - 1)) * ((1 - g) * z + g * y))

    assert settle(claim(g), x, y, z, g, e, assuming=assuming).verdict is Verdict.PROVED
    assert settle(claim(g**2), x, y, z, g, e, assuming=assuming).verdict is Verdict.REFUTED
    assert settle(claim(g), x, y, z, g, e, assuming=assuming[:1]).verdict is Verdict.REFUTED


# ------------------------------------------------------------------- gll22


def test_equation_9_derivative() -> None:
    s, c, eps = real("s"), real("c"), real("eps", ge=0)

    def density(x: Any) -> Any:
        return exp(-(x**2) / 2) / sqrt(2 * PI)

    profile = normal_cdf(s - c) - exp(eps) * normal_cdf(-c)
    slope = density(s - c) - exp(eps) * density(c)
    assert settle(Eq(derivative(profile, c), -slope), s, c, eps).verdict is Verdict.PROVED
    assert settle(Eq(derivative(profile, c), slope), s, c, eps).verdict is Verdict.REFUTED


def test_equation_9_exponents() -> None:
    x, m, shift = real("x"), real("m", gt=0), real("shift")
    ratio = exp(-((x - shift) ** 2) * m / 2) / exp(-(x**2) * m / 2)
    right = exp(m * shift * x - m * shift**2 / 2)
    assert settle(Eq(ratio, right), x, m, shift).verdict is Verdict.PROVED
    assert settle(Eq(ratio, right * exp(m)), x, m, shift).verdict is Verdict.REFUTED


def power(p: Variable, q: Variable, x: Any) -> Any:
    """Power of the best test of level x between two distributions on two atoms, p >= q: two segments."""
    return minimum(p * x / q, p + (1 - p) * (x - q) / (1 - q))


def test_proposition_3_3_order_of_profiles_gives_order_of_powers() -> None:
    """Two atoms: divergences that compare at every E >= 0 give best tests that compare at every level."""
    p, q, r, s = (real(name, gt=0, lt=1) for name in ("p", "q", "r", "s"))
    e, x = real("E", ge=0), real("x", ge=0, le=1)

    def divergence_at(a: Variable, b: Variable) -> object:
        return maximum(0, a - e * b, 1 - e)

    premise = ForAll(e, Le(divergence_at(p, q), divergence_at(r, s)))
    ordered = (Le(q, p), Le(s, r))
    conclusion = ForAll(x, Le(power(p, q, x), power(r, s, x)))
    assert settle(Implies(premise, conclusion), p, q, r, s, assuming=ordered).verdict is Verdict.PROVED
    backwards = ForAll(x, Le(power(r, s, x), power(p, q, x)))
    assert settle(Implies(premise, backwards), p, q, r, s, assuming=ordered).verdict is not Verdict.PROVED


def test_units_of_record_counts_and_nats_are_pure_numbers() -> None:
    m, eps = integer("m", ge=1, unit=RECORDS), real("eps", gt=0, unit=NATS)
    assert homogeneity(obligation(Le(log(m), m * eps), m, eps)).verdict is Verdict.PROVED
