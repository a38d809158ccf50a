"""Integrals in closed form, each with what shows it: a completed square, or an antiderivative.

Closed forms are guessed, with SymPy's help where the integrand is no Gaussian, and count once an identity has
been shown: no integral is believed because an algebra system says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp

from dpverify.formulas.definedness import Requirement, conditions, converges, defined_between
from dpverify.formulas.expressions import Binder, Expression, OutOfScopeError
from dpverify.formulas.logic import Le, Lt
from dpverify.formulas.printing import formula_text
from dpverify.formulas.rendering.neutral import Json, expression_to_json
from dpverify.proving.reasoning.algebra import (
    antiderivative,
    check_integrand,
    coefficients_in,
    derivative,
    in_factors,
    replaced,
)
from dpverify.proving.reasoning.normal_form import is_identity
from dpverify.proving.reasoning.symbolic import Phi, SymPy, bound_parts, symbolic, symbolic_to_json, tree


@dataclass(frozen=True)
class ClosedIntegral:
    """An integral, its value, the certificate's entry, and the conditions under which both are the same."""

    method: str
    value: Expression
    entry: dict[str, Json]
    conditions: tuple[Requirement, ...]


def closed_integral(integral: Binder) -> ClosedIntegral:
    """An integral's closed form; `OutOfScopeError` where none is found."""
    e = symbolic(integral)
    if not isinstance(e, sp.Integral):
        raise OutOfScopeError(f"SymPy rewrites the integral over {integral.variable.name}")
    check_integrand(e.function)
    found = None if e.function.has(sp.Integral) else _gaussian(integral, e) or _by_antiderivative(integral, e)
    if found is None:
        raise OutOfScopeError(f"no closed form is found for the integral over {bound_parts(e)[1]}")
    return found


def _conditions(integral: Binder, *parts: Expression) -> Iterator[Requirement]:
    """That an integral and what takes its place are defined; that it converges is shown by what takes its place."""
    yield from (c for c in conditions(integral) if c != converges(integral))
    for part in parts:
        yield from conditions(part)


def _entry(**parts: SymPy) -> dict[str, Json]:
    return {name: symbolic_to_json(part) for name, part in parts.items()}


# ---------------------------------------------------------------------------------------------- Gaussians


def _gaussian(integral: Binder, e: SymPy) -> ClosedIntegral | None:
    """Factor * exp(-rate (x - center)^2), between any ends: the square in the exponent is completed."""
    body, x, low, high = bound_parts(e)
    factor, depending = body.as_independent(x, as_Add=False)
    exponent = sp.Integer(0)
    for part in sp.Mul.make_args(depending):
        if not isinstance(part, sp.exp):
            return None
        exponent += part.args[0]
    coefficients = coefficients_in(exponent, x)
    if coefficients is None or len(coefficients) != 3:
        return None
    square, linear, constant = coefficients
    rate = in_factors(-square)
    center = in_factors(linear / (2 * rate))
    factor = factor * sp.exp(in_factors(constant + rate * center**2))
    if not is_identity(body, factor * sp.exp(-rate * (x - center) ** 2)):
        return None

    def below(end: SymPy) -> SymPy:
        if end.is_infinite:
            return sp.Integer(1) if end is sp.oo else sp.Integer(0)
        return Phi(sp.sqrt(2 * rate) * (end - center))

    value = factor * sp.sqrt(sp.pi / rate) * (below(high) - below(low))
    positive = Lt(0, tree(rate))
    if value.has(sp.I):
        raise OutOfScopeError(f"{formula_text(positive)} is not shown")
    closed = tree(value)
    return ClosedIntegral(
        "gaussian-integral",
        closed,
        {"integral": expression_to_json(integral), **_entry(rate=rate, center=center, factor=factor)},
        # it converges at a positive rate
        (
            *conditions(tree(rate)),
            Requirement(positive),
            *_conditions(integral, tree(center), tree(factor), closed),
        ),
    )


# ---------------------------------------------------------------------------------------------- antiderivatives


def _by_antiderivative(integral: Binder, e: SymPy) -> ClosedIntegral | None:
    """F(upper) - F(lower) with F' = body, for finite ends in their order."""
    body, x, low, high = bound_parts(e)
    form = None if low.is_infinite or high.is_infinite else antiderivative(body, x)
    if form is None or form.has(sp.Integral, sp.Piecewise, sp.nan, sp.zoo, sp.oo):
        return None
    try:
        if not is_identity(derivative(form, x), body):
            return None
    except OutOfScopeError:
        return None
    value = replaced(form, {x: high}) - replaced(form, {x: low})
    if value.has(sp.I):
        raise OutOfScopeError("that an antiderivative is real at both ends is not shown")
    closed = tree(value)
    between = defined_between(tree(form), integral.variable, tree(low), tree(high))
    return ClosedIntegral(
        "antiderivative",
        closed,
        {"integral": expression_to_json(integral), **_entry(primitive=form)},
        (*_conditions(integral, closed), Requirement(Le(tree(low), tree(high))), *between),
    )
