"""Integrals in closed form, and claims on logarithms and exponentials that follow from their arguments."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy as sp

from dpverify.formulas.calculus import substituted
from dpverify.formulas.expressions import (
    INFINITY,
    PI,
    Binder,
    Expression,
    OutOfScopeError,
    Variable,
    expression,
    integral,
    real,
)
from dpverify.formulas.logic import And, Compare, Eq, Formula, Ge, Le, Lt
from dpverify.formulas.operators import exp, log, normal_cdf, sqrt
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import prove
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Proof
from dpverify.proving.provers.exact import closed_integral, unwrapped
from dpverify.proving.reasoning.symbolic import bound_parts, symbol, symbolic, symbolic_formula

x, sigma = real("x", gt=0), real("sigma", gt=0)
order = real("order", gt=1)
z, w = real("z"), real("w")
X, Z, W, S = (v for v in (x, z, w, sigma))
BELL = exp(-(Z**2) / 2) / sqrt(2 * PI)


def settle(claim: Formula, *over: Variable, assuming: tuple[Formula, ...] = ()) -> Proof:
    return prove(Obligation("test", "nowhere", claim, over, assuming=assuming))


def method(proof: Proof) -> str:
    assert proof.certificate is not None
    return str(proof.certificate["proof"]["method"])


# ------------------------------------------------------------------- integrals


def divergence(factor: object) -> Formula:
    """Renyi divergence of N(0, sigma^2) and N(x, sigma^2) by its definition, against factor * order * x^2/sigma^2."""
    exponent = -(order * Z**2 + (1 - order) * (Z - X) ** 2) / (2 * S**2)
    moment = integral(exp(exponent) / (sqrt(2 * PI) * S), z, -INFINITY, INFINITY)
    return Eq(log(moment) / (order - 1), expression(factor) * order * X**2 / S**2)


def test_divergence_of_shifted_gaussians() -> None:
    proof = settle(divergence(Fraction(1, 2)), x, sigma, order)
    assert (proof.verdict, method(proof)) == (Verdict.PROVED, "gaussian-integral")
    assert proof.certificate is not None
    steps = proof.certificate["proof"]
    assert steps["then"] == {"method": "identity"}
    assert set(steps) == {"method", "integral", "rate", "center", "factor", "then"}


@pytest.mark.parametrize("factor", ["1", "1/4", "-1/2", "501/1000"])
def test_faulty_divergences_are_refuted(factor: str) -> None:
    proof = settle(divergence(Fraction(factor)), x, sigma, order)
    assert (proof.verdict, method(proof)) == (Verdict.REFUTED, "gaussian-integral")
    assert proof.certificate is not None
    assert proof.certificate["proof"]["then"]["method"] == "counterexample"
    assert set(proof.counterexample or {}) == {"x", "sigma", "order"}


TRUE_INTEGRALS = [
    (integral(BELL, z, -INFINITY, w), normal_cdf(w)),
    (integral(BELL, z, w, INFINITY), 1 - normal_cdf(w)),
    (integral(BELL, z, w, w + 1), normal_cdf(w + 1) - normal_cdf(w)),
    (integral(exp(-X * Z**2 + W * Z), z, -INFINITY, INFINITY), sqrt(PI / X) * exp(W**2 / (4 * X))),
    (integral(Z**2 - W, z, 0, x), X**3 / 3 - W * X),
    (integral(1 / Z, z, 1, 1 + x), log(1 + X)),
    (integral(Z * exp(-Z), z, 0, x), 1 - (1 + X) * exp(-X)),
]


@pytest.mark.parametrize(("left", "right"), TRUE_INTEGRALS)
def test_integrals(left: Expression, right: Expression) -> None:
    assert settle(Eq(left, right), x, w).verdict is Verdict.PROVED
    for wrong in (
        right + Fraction(1, 1000),
        2 * right,
        substituted(right, {X: 2 * X, W: W + 1}),
    ):
        assert settle(Eq(left, wrong), x, w).verdict is Verdict.REFUTED


@pytest.mark.parametrize(("left", "right"), TRUE_INTEGRALS)
def test_closed_forms_agree_with_quadrature(left: Expression, right: Expression) -> None:
    # mpmath's quadrature of these smooth integrands is accurate to far more than the 15 digits compared
    del right
    assert isinstance(left, Binder)
    value = symbolic(closed_integral(left).value)
    for x_, w_ in ((sp.Rational(1, 3), sp.Rational(-1, 2)), (sp.Integer(2), sp.Rational(3, 4))):
        point = {symbol(X): x_, symbol(W): w_}
        body, _, low, high = bound_parts(symbolic(left))
        integrand = sp.lambdify(symbol(Z), body.subs(point), modules="mpmath")
        with mpmath.workdps(30):
            ends = [mpmath.mpf(str(sp.N(end.subs(point), 30)).replace("oo", "inf")) for end in (low, high)]
            numeric = mpmath.quad(
                integrand, [ends[0], *(k for k in (-3, 0, 3) if ends[0] < k < ends[1]), ends[1]]
            )
            assert abs(numeric - mpmath.mpf(str(sp.N(value.subs(point), 30)))) < mpmath.mpf(10) ** -15


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (Eq(integral(exp(X * Z**2), z, -INFINITY, INFINITY), 1), "0 < -x is not shown"),
        (Eq(integral(exp(-W * Z**2), z, -INFINITY, INFINITY), sqrt(PI / X)), "0 < w is not shown"),
        (Eq(integral(1 / Z, z, -1, x), log(X)), "is not shown"),
        (Eq(integral(1 / Z**2, z, -1, x), -1 / X - 1), "z^2 != 0 is not shown"),
        (Eq(integral((Z**2 - 1) / (Z - 1), z, 0, 2), 5), "z - 1 != 0 is not shown"),
        (Eq(integral(Z**2, z, 0, w), W**3 / 3), "0 <= w is not shown"),
        (Eq(integral(exp(Z**3), z, 0, x), 1), "no closed form is found for the integral over z"),
        (
            Eq(integral(exp(-Z) / (1 + Z), z, 0, INFINITY), 1),
            "no closed form is found for the integral over z",
        ),
        (Eq(integral(exp(-W * Z), z, 0, INFINITY), 1 / X), "0 < w is not shown"),
    ],
)
def test_integrals_that_diverge_or_have_no_rule_are_left_undecided(claim: Formula, why: str) -> None:
    proof = settle(claim, x, w)
    assert proof.verdict is Verdict.UNDECIDED
    assert why in proof.reason
    assert "Printer" not in proof.reason
    assert "\n" not in proof.reason


def test_the_logarithm_of_an_integral_that_may_vanish_is_not_defined() -> None:
    claim = Le(log(integral(BELL, z, w, w + x - 1)), 0)
    assert settle(claim, x, w).verdict is not Verdict.PROVED


def test_nested_integrals_are_refused() -> None:
    with pytest.raises(OutOfScopeError, match="no closed form"):
        closed_integral(integral(integral(Z * W, z, 0, W) ** 2, w, 0, 1))  # type: ignore[arg-type]


# ------------------------------------------------------------------- what certificates say


def number(e: Any, values: dict[str, mpmath.mpf]) -> mpmath.mpf:
    """A certificate's expression in numbers, read from docs/certificates.md alone."""
    head, *parts = e
    if head == "num":
        return mpmath.mpf(Fraction(parts[0]).numerator) / Fraction(parts[0]).denominator
    if head == "sym":
        return values[parts[0]]
    if head == "pi":
        return +mpmath.pi
    if head == "integral":
        body, name, low, high = parts
        ends = [mpmath.mpf(f"{end[1]}inf") if end[0] == "inf" else number(end, values) for end in (low, high)]
        inner = [mpmath.mpf(k) for k in (-2, 0, 2) if ends[0] < k < ends[1]]
        return mpmath.quad(lambda v: number(body, {**values, name: v}), [ends[0], *inner, ends[1]])
    rules: dict[str, Any] = {
        "add": lambda *xs: mpmath.fsum(xs),
        "mul": lambda *xs: mpmath.fprod(xs),
        "pow": lambda b, n: b**n,
        "exp": mpmath.exp,
        "log": mpmath.log,
        "phi": mpmath.ncdf,
    }
    return rules[head](*(number(a, values) for a in parts))


@pytest.mark.parametrize(("left", "right"), TRUE_INTEGRALS)
def test_certificates_of_integrals_hold_in_numbers(left: Expression, right: Expression) -> None:
    proof = settle(Eq(left, right), x, w)
    assert proof.certificate is not None
    steps = proof.certificate["proof"]
    with mpmath.workdps(30):
        values = {"x": mpmath.mpf(3) / 7, "w": mpmath.mpf(-2) / 3}
        body, name, low, high = steps["integral"][1:]
        whole = number(steps["integral"], values)

        def at(part: str, v: object) -> mpmath.mpf:
            return number(steps[part], {**values, name: mpmath.mpf(v)})

        if steps["method"] == "gaussian-integral":
            rate, center, factor = (number(steps[part], values) for part in ("rate", "center", "factor"))
            for v in (-1, 0, "0.3"):
                bell = factor * mpmath.exp(-rate * (mpmath.mpf(v) - center) ** 2)
                assert mpmath.almosteq(number(body, {**values, name: mpmath.mpf(v)}), bell, 1e-25)

            def below(end: Any) -> mpmath.mpf:
                if end[0] == "inf":
                    return mpmath.mpf(end[1] == "+")
                return mpmath.ncdf(mpmath.sqrt(2 * rate) * (number(end, values) - center))

            value = factor * mpmath.sqrt(mpmath.pi / rate) * (below(high) - below(low))
        else:
            assert mpmath.almosteq(
                mpmath.diff(lambda v: at("primitive", v), mpmath.mpf(1)),
                number(body, {**values, name: mpmath.mpf(1)}),
                1e-12,
            )
            value = at("primitive", number(high, values)) - at("primitive", number(low, values))
        assert mpmath.almosteq(whole, value, 1e-15)


# ------------------------------------------------------------------- logarithms and exponentials


@pytest.mark.parametrize(
    ("claim", "assuming"),
    [
        (Ge(log(1 / X), 0), (Le(x, 1),)),
        (Le(log(2 * X) / 3, log(1 + X**2) / 3), ()),
        (Le(2 * log(X), log(1 + X**2)), ()),
        (Lt(log(X) / 2, log(X + 1) / 3 + log(X + 2) / 6), ()),
        (Le(3 * exp(2 * Z * W), 3 * exp(Z**2 + W**2)), ()),
        (Lt(exp(-1 - Z**2), 1), ()),
    ],
)
def test_claims_by_the_order_of_arguments(claim: Compare, assuming: tuple[Formula, ...]) -> None:
    proof = settle(claim, x, z, w, assuming=assuming)
    assert (proof.verdict, method(proof)) == (Verdict.PROVED, "monotone")
    step = unwrapped(symbolic_formula(claim))
    assert step is not None
    of = sp.log if step.function == "log" else sp.exp
    again = step.times * (of(step.larger) - of(step.smaller))
    point = {symbol(X): sp.Rational(3, 7), symbol(Z): sp.Rational(2, 3), symbol(W): sp.Rational(-5, 4)}
    assert abs((symbolic(claim.right - claim.left) - again).subs(point).n(30)) < 1e-25
    assert step.times > Fraction(0)


@pytest.mark.parametrize(
    ("claim", "assuming"),
    [
        (Ge(log(1 / X), 0), (Le(x, 2),)),
        (Le(log(1 / X), 0), (Le(x, 1),)),
        (Le(log(3 * X), log(1 + X**2)), ()),
        (Lt(2 * log(X), log(X**2 + X) - log(expression(2))), ()),
        (Le(exp(3 * Z * W), exp(Z**2 + W**2)), ()),
        (Lt(exp(-(Z**2)), 1), ()),
        (Le(exp(W), exp(Z)), ()),
    ],
)
def test_faulty_claims_on_arguments_are_refuted(claim: Formula, assuming: tuple[Formula, ...]) -> None:
    assert settle(claim, x, z, w, assuming=assuming).verdict is Verdict.REFUTED


def test_the_order_of_arguments_needs_defined_logarithms() -> None:
    # z <= z + 1 holds everywhere, the logarithms are not defined everywhere
    assert settle(Le(log(Z), log(Z + 1)), z).verdict is Verdict.UNDECIDED
    assert settle(Le(log(Z), log(Z + 1)), z, assuming=(Lt(0, z),)).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    "claim",
    [
        Le(log(X) + 1, log(X + 1)),
        Le(X * log(X), X * log(X + 1)),
        Le(exp(Z), 2 * exp(W)),
        Eq(log(X), log(X + 1)),
        Le(exp(Z) + exp(W), exp(Z + 1)),
    ],
)
def test_other_claims_are_not_unwrapped(claim: Compare) -> None:
    assert unwrapped(symbolic_formula(claim)) is None


def test_a_conjunction_of_integrals() -> None:
    good, bad = Eq(integral(Z**2, z, 0, x), X**3 / 3), Eq(integral(Z**2, z, 0, x), X**3)
    assert settle(And((good, Le(0, x))), x).verdict is Verdict.PROVED
    assert settle(And((good, bad)), x).verdict is not Verdict.PROVED
