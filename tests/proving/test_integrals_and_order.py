"""Integrals in closed form, and claims on logarithms and exponentials that follow from their arguments."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy as sp

from dpverify.evidence import Verdict
from dpverify.proving import prove
from dpverify.proving.integrals import closed_integral
from dpverify.proving.language import (
    And,
    Compare,
    Eq,
    Formula,
    Ge,
    Le,
    Lt,
    Obligation,
    Variable,
    bound_parts,
    integral,
    normal_cdf,
    real,
)
from dpverify.proving.monotone import unwrapped
from dpverify.proving.proof import Proof
from dpverify.proving.terms import OutOfScopeError

x, sigma = real("x", gt=0), real("sigma", gt=0)
order = real("order", gt=1)
z, w = real("z"), real("w")
X, Z, W, S = (v.symbol for v in (x, z, w, sigma))
BELL = sp.exp(-(Z**2) / 2) / sp.sqrt(2 * sp.pi)


def settle(claim: Formula, *over: Variable, assuming: tuple[Formula, ...] = ()) -> Proof:
    return prove(Obligation("test", "nowhere", claim, over, assuming=assuming))


def method(proof: Proof) -> str:
    assert proof.certificate is not None
    return str(proof.certificate["proof"]["method"])


# ------------------------------------------------------------------- integrals


def divergence(factor: object) -> Formula:
    """Renyi divergence of N(0, sigma^2) and N(x, sigma^2) by its definition, against factor * order * x^2/sigma^2."""
    exponent = -(order * Z**2 + (1 - order) * (Z - X) ** 2) / (2 * S**2)
    moment = integral(sp.exp(exponent) / (sp.sqrt(2 * sp.pi) * S), z, -sp.oo, sp.oo)
    return Eq(sp.log(moment) / (order - 1), sp.sympify(factor) * order * X**2 / S**2)


def test_divergence_of_shifted_gaussians() -> None:
    proof = settle(divergence("1/2"), x, sigma, order)
    assert (proof.verdict, method(proof)) == (Verdict.PROVED, "gaussian-integral")
    assert proof.certificate is not None
    steps = proof.certificate["proof"]
    assert steps["then"] == {"method": "identity"}
    assert set(steps) == {"method", "integral", "rate", "center", "factor", "then"}


@pytest.mark.parametrize("factor", ["1", "1/4", "-1/2", "501/1000"])
def test_faulty_divergences_are_refuted(factor: str) -> None:
    proof = settle(divergence(factor), x, sigma, order)
    assert (proof.verdict, method(proof)) == (Verdict.REFUTED, "gaussian-integral")
    assert proof.certificate is not None
    assert proof.certificate["proof"]["then"]["method"] == "counterexample"
    assert set(proof.counterexample or {}) == {"x", "sigma", "order"}


TRUE_INTEGRALS = [
    (integral(BELL, z, -sp.oo, w), normal_cdf(w)),
    (integral(BELL, z, w, sp.oo), 1 - normal_cdf(w)),
    (integral(BELL, z, w, w + 1), normal_cdf(w + 1) - normal_cdf(w)),
    (integral(sp.exp(-X * Z**2 + W * Z), z, -sp.oo, sp.oo), sp.sqrt(sp.pi / X) * sp.exp(W**2 / (4 * X))),
    (integral(Z**2 - W, z, 0, x), X**3 / 3 - W * X),
    (integral(1 / Z, z, 1, 1 + x), sp.log(1 + X)),
    (integral(Z * sp.exp(-Z), z, 0, x), 1 - (1 + X) * sp.exp(-X)),
]


@pytest.mark.parametrize(("left", "right"), TRUE_INTEGRALS)
def test_integrals(left: sp.Expr, right: sp.Expr) -> None:
    assert settle(Eq(left, right), x, w).verdict is Verdict.PROVED
    for wrong in (
        right + sp.Rational(1, 1000),
        2 * right,
        right.subs({X: 2 * X, W: W + 1}, simultaneous=True),
    ):
        assert settle(Eq(left, wrong), x, w).verdict is Verdict.REFUTED


@pytest.mark.parametrize(("left", "right"), TRUE_INTEGRALS)
def test_closed_forms_agree_with_quadrature(left: sp.Expr, right: sp.Expr) -> None:
    # mpmath's quadrature of these smooth integrands is accurate to far more than the 15 digits compared
    del right
    value = closed_integral(left).value
    for point in ({X: sp.Rational(1, 3), W: sp.Rational(-1, 2)}, {X: sp.Integer(2), W: sp.Rational(3, 4)}):
        body, _, low, high = bound_parts(left)
        integrand = sp.lambdify(Z, body.subs(point), modules="mpmath")
        with mpmath.workdps(30):
            ends = [mpmath.mpf(str(sp.N(end.subs(point), 30)).replace("oo", "inf")) for end in (low, high)]
            numeric = mpmath.quad(
                integrand, [ends[0], *(k for k in (-3, 0, 3) if ends[0] < k < ends[1]), ends[1]]
            )
            assert abs(numeric - mpmath.mpf(str(sp.N(value.subs(point), 30)))) < mpmath.mpf(10) ** -15


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (Eq(integral(sp.exp(X * Z**2), z, -sp.oo, sp.oo), 1), "0 < -x is not shown"),
        (Eq(integral(sp.exp(-W * Z**2), z, -sp.oo, sp.oo), sp.sqrt(sp.pi / X)), "0 < w is not shown"),
        (Eq(integral(1 / Z, z, -1, x), sp.log(X)), "is not shown"),
        (Eq(integral(1 / Z**2, z, -1, x), -1 / X - 1), "z != 0 is not shown"),
        (Eq(integral((Z**2 - 1) / (Z - 1), z, 0, 2), 5), "z - 1 != 0 is not shown"),
        (Eq(integral(Z**2, z, 0, w), W**3 / 3), "0 <= w is not shown"),
        (Eq(integral(sp.exp(Z**3), z, 0, x), 1), "no closed form is found for the integral over z"),
        (Eq(integral(sp.exp(-Z), z, 0, sp.oo), 1), "no closed form is found for the integral over z"),
    ],
)
def test_integrals_that_diverge_or_have_no_rule_are_left_undecided(claim: Formula, why: str) -> None:
    proof = settle(claim, x, w)
    assert proof.verdict is Verdict.UNDECIDED
    assert why in proof.reason
    assert "Printer" not in proof.reason
    assert "\n" not in proof.reason


def test_the_logarithm_of_an_integral_that_may_vanish_is_not_defined() -> None:
    claim = Le(sp.log(integral(BELL, z, w, w + x - 1)), 0)
    assert settle(claim, x, w).verdict is not Verdict.PROVED


def test_nested_integrals_are_refused() -> None:
    with pytest.raises(OutOfScopeError, match="no closed form"):
        closed_integral(sp.Integral(sp.Integral(Z * W, (Z, 0, W)) ** 2, (W, 0, 1)))


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
def test_certificates_of_integrals_hold_in_numbers(left: sp.Expr, right: sp.Expr) -> None:
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
        (Ge(sp.log(1 / X), 0), (Le(x, 1),)),
        (Le(sp.log(2 * X) / 3, sp.log(1 + X**2) / 3), ()),
        (Le(2 * sp.log(X), sp.log(1 + X**2)), ()),
        (Lt(sp.log(X) / 2, sp.log(X + 1) / 3 + sp.log(X + 2) / 6), ()),
        (Le(3 * sp.exp(2 * Z * W), 3 * sp.exp(Z**2 + W**2)), ()),
        (Lt(sp.exp(-1 - Z**2), 1), ()),
    ],
)
def test_claims_by_the_order_of_arguments(claim: Compare, assuming: tuple[Formula, ...]) -> None:
    proof = settle(claim, x, z, w, assuming=assuming)
    assert (proof.verdict, method(proof)) == (Verdict.PROVED, "monotone")
    step = unwrapped(claim)
    assert step is not None
    of = sp.log if step.function == "log" else sp.exp
    again = step.times * (of(step.larger) - of(step.smaller))
    point = {X: sp.Rational(3, 7), Z: sp.Rational(2, 3), W: sp.Rational(-5, 4)}
    assert abs((claim.right - claim.left - again).subs(point).n(30)) < 1e-25
    assert step.times > Fraction(0)


@pytest.mark.parametrize(
    ("claim", "assuming"),
    [
        (Ge(sp.log(1 / X), 0), (Le(x, 2),)),
        (Le(sp.log(1 / X), 0), (Le(x, 1),)),
        (Le(sp.log(3 * X), sp.log(1 + X**2)), ()),
        (Lt(2 * sp.log(X), sp.log(X**2 + X) - sp.log(sp.Integer(2))), ()),
        (Le(sp.exp(3 * Z * W), sp.exp(Z**2 + W**2)), ()),
        (Lt(sp.exp(-(Z**2)), 1), ()),
        (Le(sp.exp(W), sp.exp(Z)), ()),
    ],
)
def test_faulty_claims_on_arguments_are_refuted(claim: Formula, assuming: tuple[Formula, ...]) -> None:
    assert settle(claim, x, z, w, assuming=assuming).verdict is Verdict.REFUTED


def test_the_order_of_arguments_needs_defined_logarithms() -> None:
    # z <= z + 1 holds everywhere, the logarithms are not defined everywhere
    assert settle(Le(sp.log(Z), sp.log(Z + 1)), z).verdict is Verdict.UNDECIDED
    assert settle(Le(sp.log(Z), sp.log(Z + 1)), z, assuming=(Lt(0, z),)).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    "claim",
    [
        Le(sp.log(X) + 1, sp.log(X + 1)),
        Le(X * sp.log(X), X * sp.log(X + 1)),
        Le(sp.exp(Z), 2 * sp.exp(W)),
        Eq(sp.log(X), sp.log(X + 1)),
        Le(sp.exp(Z) + sp.exp(W), sp.exp(Z + 1)),
    ],
)
def test_other_claims_are_not_unwrapped(claim: Compare) -> None:
    assert unwrapped(claim) is None


def test_a_conjunction_of_integrals() -> None:
    good, bad = Eq(integral(Z**2, z, 0, x), X**3 / 3), Eq(integral(Z**2, z, 0, x), X**3)
    assert settle(And((good, Le(0, x))), x).verdict is Verdict.PROVED
    assert settle(And((good, bad)), x).verdict is not Verdict.PROVED
