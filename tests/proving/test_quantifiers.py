"""Claims with quantifiers at a point, and what a counterexample shows of it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpverify.formulas.expressions import Expression, Variable, at, derivative, expression, integer, real
from dpverify.formulas.logic import And, Compare, Eq, ForAll, Formula, Ge, Implies, Le, Lt, Not
from dpverify.formulas.operators import exp, maximum, sqrt
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import prove
from dpverify.proving.language import Obligation
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget
from dpverify.proving.provers.points import confirmed
from dpverify.proving.provers.real_arithmetic import RealArithmetic
from dpverify.proving.reasoning.truth import truth

a, b = real("a"), real("b")
t, unit = real("t"), real("u", ge=0, le=1)
whole = integer("k", ge=0)
A, B, T, U, K = (v for v in (a, b, t, unit, whole))


def settle(claim: Formula, *over: Variable, assuming: tuple[Formula, ...] = ()):  # type: ignore[no-untyped-def]
    return prove(Obligation("test", "nowhere", claim, over, assuming=assuming))


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        (ForAll(t, Le(0, T**2 + A)), True),
        (ForAll(t, Le(0, T**2 - A)), False),
        (ForAll(t, Lt(0, (T - A) ** 2)), False),
        (ForAll(t, Le(0, (T - A) ** 2)), True),
        (ForAll(unit, Le(maximum(U, A * U - 1), 1)), True),
        (ForAll(unit, Le(maximum(U, A * U - Fraction(1, 2)), 1)), True),
        (ForAll(unit, Le(maximum(U, A * U), 1)), True),
        (ForAll(unit, Le(maximum(U, A * U + Fraction(1, 100)), 1)), False),
        (Not(ForAll(t, Le(A, T))), True),
        (Implies(ForAll(unit, Le(U, A)), Le(A, 0)), False),
        (ForAll(whole, Le(0, (K - A) * (2 * K - A))), True),
        (ForAll(whole, Le(0, (2 * K - A) * (K - A - 1))), False),
        (ForAll(t, ForAll(unit, Le(-1, T**2 + U * A))), True),
        (ForAll(t, ForAll(unit, Le(T * U, A))), False),
    ],
)
def test_quantifiers_at_a_point(formula: Formula, value: bool) -> None:
    assert truth(formula, {"a": Fraction(1)}) is value


@pytest.mark.parametrize(
    "formula",
    [
        ForAll(t, Le(0, 1 / (T**2 - A) ** 2)),
        ForAll(t, Le(0, (1 - A) / T + 1)),
        ForAll(unit, Le(0, sqrt(U - A))),
        ForAll(t, Le(1 + T, exp(T) + A)),
        ForAll(t, Le(T, B)),
    ],
)
def test_what_is_undefined_or_beyond_polynomials_is_not_decided(formula: Formula) -> None:
    assert truth(formula, {"a": Fraction(1)}) is None


def curve(masses: tuple[Variable, ...], factor: Variable) -> Expression:
    """Largest Q(event) - factor * P(event), P uniform on [0, 1], Q in three steps of given partial masses."""
    points = zip((expression(0), Fraction(1, 4), Fraction(1, 2), expression(1)), (0, *masses, 1), strict=True)
    return maximum(*(expression(mass) - factor * end for end, mass in points))


def descending(first: Variable, second: Variable) -> tuple[Compare, ...]:
    return Ge(4 * first, 4 * (second - first)), Ge(4 * (second - first), 2 * (1 - second))


def order_of_curves(growth: Variable, *, backwards: bool = False) -> Obligation:
    g1, g2, h1, h2 = (real(name, ge=0, le=1) for name in ("g1", "g2", "h1", "h2"))
    premise = ForAll(growth, Le(curve((g1, g2), growth), curve((h1, h2), growth)))
    conclusion = And((Le(h1, g1), Le(h2, g2)) if backwards else (Le(g1, h1), Le(g2, h2)))
    shape = (*descending(g1, g2), *descending(h1, h2))
    return Obligation("test", "nowhere", Implies(premise, conclusion), (g1, g2, h1, h2), assuming=shape)


def test_curves_from_one_on_do_not_order_the_masses() -> None:
    obligation = order_of_curves(real("E", ge=1))
    proof = prove(obligation)
    assert proof.verdict is Verdict.REFUTED
    point = {v: Fraction((proof.counterexample or {})[v.name]) for v in obligation.over}
    g1, g2, h1, h2 = point.values()
    assert g1 > h1 or g2 > h2
    # the curves at every kink of either and at both ends decide the premise: slopes are constant between
    ends = [
        (Fraction(0), Fraction(0)),
        (Fraction(1, 4), None),
        (Fraction(1, 2), None),
        (Fraction(1), Fraction(1)),
    ]

    def value(masses: tuple[Fraction, Fraction], growth: Fraction) -> Fraction:
        heights = (Fraction(0), *masses, Fraction(1))
        return max(height - growth * end for (end, _), height in zip(ends, heights, strict=True))

    kinks = {Fraction(1)} | {
        (q - p) / (d - c)
        for masses in ((g1, g2), (h1, h2))
        for (c, p) in zip((e for e, _ in ends), (Fraction(0), *masses, Fraction(1)), strict=True)
        for (d, q) in zip((e for e, _ in ends), (Fraction(0), *masses, Fraction(1)), strict=True)
        if c < d
    }
    assert all(value((g1, g2), e) <= value((h1, h2), e) for e in kinks if e >= 1)
    assert value((g1, g2), max(kinks) + 1) == value((h1, h2), max(kinks) + 1) == 0


def test_the_printed_example_is_confirmed_and_a_faulty_one_is_not() -> None:
    obligation = order_of_curves(real("E", ge=1))
    symbols = [v.name for v in obligation.over]
    example = dict(zip(symbols, map(Fraction, ("1/2", "3/4", "1/2", "2/3")), strict=True))
    assert not confirmed(obligation.problem, {**example, symbols[3]: Fraction(3, 4)})
    assert not confirmed(obligation.problem, {**example, symbols[0]: Fraction(3, 4)})
    assert confirmed(obligation.problem, example)


def test_curves_at_all_ratios_order_the_masses() -> None:
    assert prove(order_of_curves(real("E", gt=0))).verdict is Verdict.PROVED
    assert prove(order_of_curves(real("E", gt=0), backwards=True)).verdict is Verdict.REFUTED


# ------------------------------------------------------------------- what counterexamples show


def test_bound_symbols_are_not_shown() -> None:
    h = real("h", gt=0)
    claim = Eq(at(derivative(T**2 / (4 * h), t), t, h), 1)
    proof = settle(claim, t, h)
    assert proof.verdict is Verdict.REFUTED
    assert dict(proof.counterexample) == {"h": "1"}
    # the certificate's point is one of the whole domain
    assert set(proof.certificate["proof"]["point"]) == {"t", "h"}


def test_counterexamples_keep_to_the_box_where_the_claim_fails_in_it() -> None:
    x = real("x", ge=0)
    claim = Le(x**2 + 1, x + 1)
    everywhere = prove(Obligation("test", "nowhere", claim, (x,)))
    boxed = prove(Obligation("test", "nowhere", claim, (x,), box={"x": (5, 9)}))
    assert dict(everywhere.counterexample or {}) == {"x": "2"}
    assert dict(boxed.counterexample or {}) == {"x": "5"}


def test_too_many_cases_are_refused_with_a_reason() -> None:
    symbols = [real(f"x{k}") for k in range(8)]
    claim = Le(0, sum(maximum(0, v) for v in symbols) + exp(-(symbols[0] ** 2)))
    proof = RealArithmetic().attempt(ProofProblem("test", claim, tuple(symbols)), Budget())
    assert proof is not None
    assert proof.reason == "max, min and abs make too many cases"
