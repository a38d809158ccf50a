"""Integrals in closed form, each with what shows it: a completed square, or an antiderivative.

Closed forms are guessed, with SymPy's help where the integrand is no Gaussian, and count once an identity has
been shown: no integral is believed because an algebra system says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp
from sympy.integrals.manualintegrate import manualintegrate

from dpverify.proving.language import Compare, Expression, Json, Phi, bound_parts, expression_to_json
from dpverify.proving.normal_form import is_identity
from dpverify.proving.terms import (
    Condition,
    OutOfScopeError,
    TooLargeError,
    check_expansion,
    defined_between,
    defined_where,
)

_LONGEST = 60
"""Operations of the longest integrand that is given to SymPy."""
_HIGHEST = 12
"""Highest power in it."""


@dataclass(frozen=True)
class ClosedIntegral:
    """An integral, its value, the certificate's entry, and the conditions under which both are the same."""

    method: str
    value: Expression
    entry: dict[str, Json]
    conditions: tuple[Condition, ...]


def closed_integral(e: Expression) -> ClosedIntegral:
    """An integral's closed form; `OutOfScopeError` where none is found."""
    check_expansion(e.function)
    if any(p.exp.is_Rational and abs(p.exp) > _HIGHEST for p in e.function.atoms(sp.Pow)):
        raise TooLargeError("the powers in an integrand are too high")
    found = None if e.function.has(sp.Integral) else _gaussian(e) or _by_antiderivative(e)
    if found is None:
        raise OutOfScopeError(f"no closed form is found for the integral over {bound_parts(e)[1]}")
    return found


def _conditions(*parts: Expression, converges: Expression = None) -> Iterator[Condition]:
    for part in parts:
        for condition in defined_where(Compare("==", part, sp.Integer(0))):
            if condition.formula != Compare("<", converges, sp.oo):
                yield condition


def _entry(**parts: Expression) -> dict[str, Json]:
    return {name: expression_to_json(part) for name, part in parts.items()}


# ---------------------------------------------------------------------------------------------- Gaussians


def _gaussian(e: Expression) -> ClosedIntegral | None:
    """Factor * exp(-rate (x - center)^2), between any ends: the square in the exponent is completed."""
    body, x, low, high = bound_parts(e)
    factor, depending = body.as_independent(x, as_Add=False)
    exponent = sp.Integer(0)
    for part in sp.Mul.make_args(depending):
        if not isinstance(part, sp.exp):
            return None
        exponent += part.args[0]
    exponent = sp.expand(exponent)
    if not exponent.is_polynomial(x) or sp.degree(exponent, x) != 2:
        return None
    square, slope, constant = sp.Poly(exponent, x).all_coeffs()
    rate = sp.factor(-square)
    center = sp.factor(slope / (2 * rate))
    factor = factor * sp.exp(sp.factor(constant + rate * center**2))
    if not is_identity(body, factor * sp.exp(-rate * (x - center) ** 2)):
        return None

    def below(end: Expression) -> Expression:
        if end.is_infinite:
            return sp.Integer(1) if end is sp.oo else sp.Integer(0)
        return Phi(sp.sqrt(2 * rate) * (end - center))

    value = factor * sp.sqrt(sp.pi / rate) * (below(high) - below(low))
    return ClosedIntegral(
        "gaussian-integral",
        value,
        _entry(integral=e, rate=rate, center=center, factor=factor),
        # it converges at a positive rate
        (Condition(Compare("<", sp.Integer(0), rate)), *_conditions(e, value, center, converges=e)),
    )


# ---------------------------------------------------------------------------------------------- antiderivatives


def _by_antiderivative(e: Expression) -> ClosedIntegral | None:
    """F(upper) - F(lower) with F' = body, for finite ends in their order."""
    body, x, low, high = bound_parts(e)
    if low.is_infinite or high.is_infinite or body.count_ops() > _LONGEST:
        return None
    try:
        form = manualintegrate(body, x)
    except (ValueError, NotImplementedError, TypeError, AttributeError, sp.PolynomialError, RecursionError):
        # SymPy says "not this way" in several ways
        return None
    if form.has(sp.Integral, sp.Piecewise, sp.nan, sp.zoo, sp.oo):
        return None
    try:
        if not is_identity(form.diff(x), body):
            return None
    except OutOfScopeError:
        return None
    value = form.subs(x, high) - form.subs(x, low)
    between = defined_between(form, x, low, high, whole=False)
    return ClosedIntegral(
        "antiderivative",
        value,
        _entry(integral=e, primitive=form),
        (Condition(Compare("<=", low, high)), *between, *_conditions(e, value)),
    )
