"""Ball programs against mpmath: values, derivatives of both orders, on points and on wide boxes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy as sp
from flint import arb, ctx, fmpq

from dpverify.formulas.expressions import INFINITY, PI, at, derivative, integer, integral, real, total
from dpverify.formulas.operators import absolute, binomial, erfc, exp, log, maximum, minimum, normal_cdf, sqrt
from dpverify.proving.provers.ball_programs import Graph, NeedsValueError, NotExpressibleError, Program
from dpverify.proving.provers.nested_mean_value import NestedMeanValue
from dpverify.proving.reasoning.symbolic import Phi, symbol, symbolic

X = real("x")
x = X
K, N = integer("k"), integer("n")

FUNCTIONS = {
    "rational": (3 * x**2 - x / 7) / (1 + x**2),
    "powers": x**5 - x**-3 + x ** Fraction(5, 2) + x ** Fraction(-1, 2) + x ** Fraction(1, 3),
    "own power": x**x + 2**x + x**PI,
    "exp and log": exp(-(x**2)) * log(x) + log(1 + exp(x)),
    "erfc": erfc(x) + erfc(-2 * x) * x,
    "Gaussian": normal_cdf(x) * normal_cdf(-3 * x) + normal_cdf(-x - 10) * 10**23,
    "kinks": maximum(x, 1 - x, x**2 / 2) + minimum(x, Fraction(4, 3)) + absolute(x - 2),
    "worked out": derivative(exp(x) * x**2, X, 2) + at(derivative(log(x), X), X, 1 + x**2),
    "sum": total(x**K / (1 + K), K, 0, 6),
}
POINTS = [Fraction(7, 20), Fraction(9, 10), Fraction(27, 10), Fraction(41, 10)]  # no kink is here


def _mp(e: Any) -> Any:
    resolved = symbolic(e).doit().replace(Phi, lambda u: sp.erfc(-u / sp.sqrt(2)) / 2)
    return sp.lambdify(symbol(X), resolved, "mpmath")


def _inside(value: Any, enclosure: Any) -> bool:
    """Whether mpmath's value, good to 25 digits here, lies in the ball."""
    slack = arb(0, arb(10) ** -24) * (1 + abs(enclosure))
    return bool((enclosure + slack).overlaps(arb(mpmath.nstr(value, 40))))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives_agree_with_mpmath(name: str) -> None:
    graph = Graph()
    node = graph.compile(FUNCTIONS[name])
    first = graph.differentiate(node, "x")
    program = Program(graph, [node, first, graph.differentiate(first, "x")], ["x"])
    f = _mp(FUNCTIONS[name])
    with ctx.workprec(128), mpmath.workdps(60):
        for point in POINTS:
            balls = program([arb(fmpq(point.numerator, point.denominator))])
            where = mpmath.mpf(point.numerator) / point.denominator
            for order, enclosure in enumerate(balls):
                # mpmath differentiates numerically; 25 digits at 60 in use
                expected = mpmath.diff(f, where, order) if order else f(where)
                assert _inside(expected, enclosure), (point, order)
                assert enclosure.rel_accuracy_bits() > 60 or abs(expected) < 1e-20


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wide_balls_hold_every_value_and_slope(name: str) -> None:
    graph = Graph()
    node = graph.compile(FUNCTIONS[name])
    program = Program(graph, [node, graph.differentiate(node, "x")], ["x"])
    nested = NestedMeanValue(graph, node, ["x"], [0])
    f = _mp(FUNCTIONS[name])
    with mpmath.workdps(60):
        for low, high in (
            (Fraction(1, 3), Fraction(1)),
            (Fraction(4, 5), Fraction(3)),
            (Fraction(2), Fraction(5, 2)),
        ):
            ends = [arb(fmpq(q.numerator, q.denominator)) for q in (low, high)]
            box, middle = ends[0].union(ends[1]), (ends[0] + ends[1]) / 2
            plain, tight = program([box]), nested([box], [middle], [arb(0, (ends[1] - ends[0]) / 2)])
            for k in range(21):
                point = low + (high - low) * Fraction(2 * k + 1, 43)
                where = mpmath.mpf(point.numerator) / point.denominator
                for enclosures in (plain, tight):
                    for value, enclosure in zip((f(where), mpmath.diff(f, where)), enclosures, strict=True):
                        assert not enclosure.is_finite() or _inside(value, enclosure), (
                            point,
                            value,
                            enclosure,
                        )


def test_deep_tails_keep_their_accuracy() -> None:
    program = Program(graph := Graph(), [graph.compile(normal_cdf(x))], ["x"])
    (value,) = program([arb(-40)])
    with mpmath.workdps(40):
        expected = mpmath.erfc(40 / mpmath.sqrt(2)) / 2
    assert float(abs(value / arb(mpmath.nstr(expected, 30)) - 1).upper()) < 1e-12


def test_nested_form_tightens_a_difference_of_roots() -> None:
    graph = Graph()
    y = real("y")
    node = graph.compile(sqrt(x + y) - sqrt(x))
    box = [arb(16, "0.1"), arb("0.01", "0.001")]
    (plain,) = Program(graph, [node], ["x", "y"])(box)
    tight = NestedMeanValue(graph, node, ["x", "y"], [0, 1])(
        box, [b.mid() for b in box], [b - b.mid() for b in box]
    )[0]
    assert not plain > 0
    assert tight > 0
    assert float(tight.rad()) < float(plain.rad()) / 20


def test_open_sums_and_unknown_functions() -> None:
    with pytest.raises(NeedsValueError) as caught:
        Graph().compile(total(x**K, K, 0, N))
    assert caught.value.names == {"n"}
    for e in (integral(x, X, 0, 1), binomial(N, K), INFINITY):
        with pytest.raises(NotExpressibleError):
            Graph().compile(e)
    with pytest.raises(NotExpressibleError, match="free symbols y"):
        Program(graph := Graph(), [graph.compile(real("y") + x)], ["x"])
