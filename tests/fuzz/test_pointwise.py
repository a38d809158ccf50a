"""The evaluator that verdicts are held against: values worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpverify.formulas.expressions import INFINITY, PI, at, derivative, integer, integral, real, total
from dpverify.formulas.logic import And, Compare, Eq, ForAll, Formula, Ge, Gt, Implies, Le, Lt, Ne, Not, Or
from dpverify.formulas.operators import absolute, erfc, exp, floor, log, maximum, minimum, normal_cdf, sqrt
from dpverify.formulas.rendering.neutral import formula_to_json

from .pointwise import holds_at

x, y, t, s = (real(name) for name in "xyts")
k, i, r = integer("k"), integer("i"), integer("r", ge=0, le=3)
X, Y, T, K = (v for v in (x, y, t, k))
HALF = Fraction(1, 2)
NOWHERE = Lt(sqrt(X), 0)
"""Undefined at x = -1."""

T_, F_, U_ = {"true"}, {"false"}, {"undefined"}
CASES: list[tuple[Formula, dict[str, int | str], set[str]]] = [
    (Ge((-2) ** K, -(10**30)), {"k": 101}, F_),
    (Ge((-2) ** K, -(10**30)), {"k": 100}, T_),
    (Lt(2**K, 2 ** (K + 1)), {"k": 10**6}, T_),
    (Le(sqrt(X), 2), {"x": -1}, U_),
    (Le(sqrt(X), 0), {"x": 0}, T_),
    (Eq(X ** Fraction(2, 3), 4), {"x": 8}, T_),
    (Eq(X ** Fraction(-1, 2), 1), {"x": 0}, U_),
    (Gt(X**Y, 0), {"x": -2, "y": 2}, T_),
    (Gt(X**Y, 0), {"x": -2, "y": "1/2"}, U_),
    (Eq(X**Y, 0), {"x": 0, "y": "1/2"}, T_),
    (Eq(X**Y, 0), {"x": 0, "y": -1}, U_),
    (Lt(log(X), 0), {"x": 0}, U_),
    (Lt(log(X), 0), {"x": "1/2"}, T_),
    (Eq(1 / X, 1 / X + 0 * Y), {"x": 0, "y": 0}, U_),
    (Eq(X / X, 1), {"x": 0}, U_),
    (Eq(0 * log(X), 0), {"x": 2}, T_),
    (Lt(exp(-(X**2)), 1), {"x": 10}, T_),
    (Gt(exp(X), 0), {"x": -(10**20)}, T_),
    (Lt(exp(X), 1), {"x": 10**20}, F_),
    (Lt(normal_cdf(X), HALF), {"x": -3}, T_),
    (Lt(erfc(X), Fraction(1, 10**40)), {"x": 10}, T_),
    (Lt(erfc(X), Fraction(1, 10**50)), {"x": 10}, F_),
    (Lt(maximum(X, PI), minimum(Y, 4)), {"x": 3, "y": "7/2"}, T_),
    (Eq(floor(exp(X)), 2), {"x": 1}, T_),
    (Eq(absolute(X) * floor(Y), -6), {"x": -3, "y": "-3/2"}, T_),
    (Eq(total(i**2, i, 1, k), K * (K + 1) * (2 * K + 1) / 6), {"k": 5}, T_),
    (Eq(total(i**2, i, 1, k), 0), {"k": 0}, U_),
    (Le(total(sqrt(i), i, k, 3), 100), {"k": -1}, U_),
    (Eq(integral(T**2, t, 0, x), X**3 / 3), {"x": 2}, T_),
    (Lt(integral(exp(-(T**2)), t, 0, x), Fraction(9, 10)), {"x": 1}, T_),
    (Lt(integral(exp(-(T**2)), t, -INFINITY, INFINITY), Fraction(1772, 1000)), {}, F_),
    (Lt(integral(exp(-(T**2)), t, -INFINITY, INFINITY), Fraction(1773, 1000)), {}, T_),
    (Lt(integral(exp(-(T**2) / 2), t, -INFINITY, x), Fraction(1254, 1000)), {"x": 0}, T_),
    (Eq(at(derivative(T**3, t, 2), t, x), 6 * X), {"x": 2}, T_),
    (Eq(derivative(absolute(X), x), -1), {"x": -2}, T_),
    (Eq(derivative(floor(X), x), 0), {"x": "1/2"}, T_),
    (Lt(derivative(exp(X) * log(X), x), 3), {"x": 1}, T_),
    (Lt(derivative(normal_cdf(X), x), Fraction(4, 10)), {"x": 0}, T_),
    (Lt(derivative(normal_cdf(X), x), Fraction(39, 100)), {"x": 0}, F_),
    (Eq(derivative(sqrt(X), x), 1), {"x": 0}, U_),
    (Eq(derivative(X ** Fraction(3, 2), x), 0), {"x": 0}, U_),
    (Eq(derivative(absolute(X), x), 1), {"x": 0}, U_),
    (Eq(integral(T**2, t, 0, x), 0), {"x": -1}, U_),
    (Eq(X**Y, 1), {"x": 0, "y": 0}, T_),
    (ForAll(t, Ge(T**2 + X, 0)), {"x": -1}, F_),
    (ForAll(r, Le(r + X, 5)), {"x": 2}, T_),
    (ForAll(r, Le(sqrt(r + X), 5)), {"x": -1}, U_),
    (Or((NOWHERE, Ge(X, -1))), {"x": -1}, T_),
    (Or((NOWHERE, Ge(X, 0))), {"x": -1}, U_),
    (And((NOWHERE, Ge(X, 0))), {"x": -1}, F_),
    (And((NOWHERE, Ge(X, -1))), {"x": -1}, U_),
    (Not(NOWHERE), {"x": -1}, U_),
    (Implies(NOWHERE, Ge(X, 0)), {"x": -1}, U_),
    (Implies(NOWHERE, Ge(X, -1)), {"x": -1}, T_),
    (Implies(Ge(X, 0), NOWHERE), {"x": -1}, T_),
    (Ne(X, Fraction(-1, 7)), {"x": "-1/7"}, F_),
]


@pytest.mark.parametrize(("formula", "point", "expected"), CASES)
def test_formulas_at_points(formula: Formula, point: dict[str, int | str], expected: set[str]) -> None:
    assert holds_at(formula_to_json(formula), {name: Fraction(v) for name, v in point.items()}) == expected


def test_what_is_not_known_is_not_said() -> None:
    everywhere = formula_to_json(ForAll(t, Ge(T**2, 0)))
    assert {"true", "false"} <= holds_at(everywhere, {})
    equal = formula_to_json(Compare("==", exp(X) * exp(Y), exp(X + Y)))
    assert "true" in holds_at(equal, {"x": Fraction(1, 3), "y": Fraction(2, 7)})
