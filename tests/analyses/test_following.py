"""Letters that follow from others: the value that follows makes the equation hold, and goes no further than a bound."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpverify.analyses.following import LetterRule, rules_of
from dpverify.analyses.sizes import sizes_of
from dpverify.formulas.expressions import Expression, Variable, integer, real
from dpverify.formulas.logic import Compare, Eq, Formula, Le, Lt
from dpverify.formulas.operators import absolute, exp, log, log_to_base, maximum, root, sqrt
from dpverify.formulas.vectors import norm, vector
from dpverify.proving.language import Obligation
from dpverify.proving.reasoning.evaluation import evaluate
from dpverify.proving.writing_out import isolated

F = Fraction
X, Y, Z = real("x"), real("y", gt=0, size="epsilon"), real("z", gt=0)
V = vector("v")


@pytest.mark.parametrize(
    "side",
    [X + Y + Z, Y - X, X - Y, -X, Y * X * Z, X / Y, Y / X, X**2, X**Y, Y**X, sqrt(X), root(X, 3), exp(X), log(X),
     log_to_base(X, Y), absolute(X), log(Y * exp(X / Z)) ** 2, 1 / (Y + 1 / X)],
)  # fmt: skip
def test_what_a_letter_has_to_be_makes_the_equation_hold(side: Expression) -> None:
    """Both ways round; in balls, for what follows is no fraction here."""
    others = {"y": F(7, 4), "z": F(5, 4)}
    value = F(float(evaluate(side, {"x": F(5, 8), **others})))
    for equation in (Eq(side, Z * value / Z), Eq(Z * value / Z, side)):
        found = isolated(equation, "x")
        assert found is not None
        assert float(evaluate(found, others)) == pytest.approx(0.625)


@pytest.mark.parametrize(
    "equation", [Eq(X * X, Y), Eq(X, X + Y), Eq(maximum(X, Y), Z), Eq(Y, Z), Eq(norm(X * V), Y)]
)
def test_some_letters_are_not_isolated(equation: Compare) -> None:
    assert isolated(equation, "x") is None


def rules(*assuming: Formula, over: tuple[Variable, ...] = (X, Y, Z), **ways: bool) -> list[LetterRule]:
    o = Obligation("bound", "page 1", Le(1, 0), over, assuming=assuming)
    return rules_of(o, sizes_of(over), **ways)


def test_the_letter_follows_whose_value_is_rational() -> None:
    equation = Eq(log(X**2 * Y / Z), 0)
    assert rules(equation) == []
    (rule,) = rules(equation, isolate=True)
    assert rule.name in "yz"
    at = {"x": F(3), "y": F(2), "z": F(5)}
    value = rule.exact(at)
    assert value is not None
    assert evaluate(log(X**2 * Y / Z), {**at, rule.name: value}) == 0


def test_equations_about_vectors_are_looked_at_too() -> None:
    q = real("q", gt=0, lt=1)
    (rule,) = rules(Eq(norm(V), q * X), over=(X, q, V))
    assert rule.exact({"v": (F(3), F(4)), "x": F(10), "q": F(1, 2)}) in (F(1, 2), F(10))


@pytest.mark.parametrize(
    ("bound", "value"),
    [(Le(X, Y), F(3, 10)), (Lt(X, Y), F(29, 100)), (Le(Y, X), F(3, 10)), (Lt(Y, X), F(31, 100)),
     (Le(X, 9 * Y), F(27, 10)), (Le(X, Y / 7), F(42, 1000)), (Le(Y / 7, X), F(43, 1000)), (Le(X, sqrt(Y)), F(54, 100)),
     (Le(X, -Y / 7), F(-43, 1000)), (Lt(X, -Y), F(-31, 100)),
     (Lt(X, 10 * Y / 3), F(99, 100)), (Lt(-10 * Y / 3, X), F(-99, 100)), (Lt(10 * Y / 3, X), F(11, 10)),
     (Le(X, Y - F(3, 10)), F(0)), (Lt(X, Y - F(3, 10)), None)],
)  # fmt: skip
def test_a_bound_is_gone_up_to_and_no_further(bound: Compare, value: Fraction | None) -> None:
    """In fractions and in floats: 0.3 is 0.3, and a strict bound is not met."""
    (rule,) = rules(bound, over=(X, Y), tight=True)
    assert rule.name == "x"
    assert rule.exact({"y": F(3, 10)}) == value
    (found,) = rule.in_floats({"y": np.array([0.3])})
    assert math.isnan(found) if value is None else found == pytest.approx(float(value))


def test_integers_follow_last() -> None:
    n = integer("n", ge=1)
    (rule,) = rules(Eq(n * Y, X * exp(0)), over=(X, n, Y), isolate=True)
    assert rule.name in ("x", "y")
