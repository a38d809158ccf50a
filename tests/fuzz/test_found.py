"""What random obligations have brought to light: wrong verdicts, errors and work without end, each once more."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpverify.formulas.expressions import Variable, at, derivative, expression, integer, integral, real, total
from dpverify.formulas.logic import And, Eq, ForAll, Formula, Ge, Gt, Implies, Le, Lt, Ne, Not, Or
from dpverify.formulas.operators import (
    absolute,
    binomial,
    erfc,
    exp,
    gamma,
    log,
    maximum,
    minimum,
    normal_cdf,
    sqrt,
)
from dpverify.proving.language import Obligation
from dpverify.proving.provers import search as searching

from .test_verdicts import held

TINY = Fraction(1, 10**12)
r, s, t = real("r", ge=0), real("s"), real("t")


def root_of_a_negative_power() -> tuple[Formula, list[Variable], list[Formula]]:
    x = integer("x", ge=0)
    return Or((Ge(sqrt((-1000) ** x), 0), Le(x**2 + x + 3, x))), [x], []


def a_number_exp_1000() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x", ge=1)
    return Le(1001, exp(expression(1000)) - TINY), [x], [Lt(1000, x / 1000), Lt(Fraction(5, 2), x)]


def exp_1000_x() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x", gt=0, le=1)
    return ForAll(r, Ge(exp(-1000 * x) - 1, 0)), [x], []


def exp_1000_over_x() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x", gt=-1)
    first = Implies(Ge(x**-4, 0), Le(2 * x, expression(-2) ** (2 * x)))
    return Or((first, Implies(Ge(exp(-1000 / x) - TINY, 0), Ge(exp(-2) + 1, 0)))), [x], []


def large_powers() -> tuple[Formula, list[Variable], list[Formula]]:
    x = integer("x", ge=0)
    return Not(Not(Ne(expression(Fraction(1, 1000)) ** (-x), 0))), [x], []


def powers_and_phi() -> tuple[Formula, list[Variable], list[Formula]]:
    x, y = real("x", gt=0, lt=1), integer("y", ge=2)
    power = expression(10) ** y
    other = Or((Le(normal_cdf(y), normal_cdf(y)), Ne(x, Fraction(1, 2))))
    return Or((Lt(1 - power, 1 + TINY - power), other)), [x, y], []


def undefined_assumption() -> tuple[Formula, list[Variable], list[Formula]]:
    x, y = real("x", gt=0, lt=1), real("y", le=0)
    either = Or((Gt(y ** Fraction(2, 3), 0), Ne(y, 0)))
    return Le(1 + x, exp(x) - TINY), [x, y], [either, Le(x + TINY, x**2 + 1)]


def integral_from_above() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x")
    return Not(Le(integral(2 * x, t, 0, x) ** 2 + 1, 0)), [x], []


def integral_from_above_in_part() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x")
    return Or((Ge(integral(2 * x, t, 0, x) ** 2, 0), Lt(x, -5))), [x], []


def tiny_exponents() -> tuple[Formula, list[Variable], list[Formula]]:
    x, y = real("x", gt=1, lt="1.0000000000000000000000001"), integer("y", ge=-2, le=2)
    u = at(x / s, s, Fraction(1, 2)) / x**x
    e = exp(y)
    return Le(1 + 2 * (y - 1) * e * u, e**2 + (y - 1) ** 2 * u**2), [x, y], [Ge(y - 2, 0)]


def maximum_with_a_root() -> tuple[Formula, list[Variable], list[Formula]]:
    x = integer("x", le=0)
    return Le(0, maximum(x, 1 / sqrt(x)) ** -3 - Fraction(1, 1000)), [x], []


def logarithm_of_a_derivative_that_is_0() -> tuple[Formula, list[Variable], list[Formula]]:
    x, y = real("x", ge="1/3", le="2/3"), integer("y", le=0)
    slope = log(derivative(y, x) ** Fraction(3, 2))
    return And((Le(1000**x * erfc(x), slope),)), [x, y], []


def complex_at_a_point() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x")
    return Le(2 * x + at(derivative(s**s, s), s, -1), 4 * x), [x], []


def complex_antiderivative() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x")
    return Le(2 * x + integral(expression(Fraction(-1, 2)) ** t, t, 0, 1), 4 * x), [x], []


def far_tail() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x")
    return Le(x**2 + x, erfc(exp(1000))), [x], []


def nothing_in_exponents() -> tuple[Formula, list[Variable], list[Formula]]:
    x, y = real("x"), real("y", gt=1)
    nothing = log(y) * 0
    return Le((x + x) ** 2, 0), [x, y], [Eq(exp(nothing) * exp(-nothing), 1)]


def numbers_that_grow_in_z3() -> tuple[Formula, list[Variable], list[Formula]]:
    x, y = integer("x", ge=-1), real("y", le=0)
    claim = Le(sqrt(y) * y - Fraction(1, 1000), sqrt(y) ** 2 + y**2)
    return claim, [x, y], [Lt(-1000 * y - Fraction(1, 2), y / expression(-2) ** y)]


def long_powers_of_ten() -> tuple[Formula, list[Variable], list[Formula]]:
    x, y = real("x", ge=1000, le=1001), real("y")
    ten = expression(10) ** (x * 1)
    return Le(0, (x + x + (x + x) + x) ** 2), [x, y], [Le(ten, ten + (x + x) ** 2)]


def a_long_binomial() -> tuple[Formula, list[Variable], list[Formula]]:
    x = integer("x")
    return Le(absolute(binomial(x, 2) + x**2), 0), [x], [Le(1000, x + x)]


def gamma_of_a_thousand() -> tuple[Formula, list[Variable], list[Formula]]:
    x, y = real("x"), real("y", ge=1000, le=1001)
    return Lt(0, total(x + x, integer("i"), 1, 2)), [x, y], [Le(x, gamma(y))]


def phi_of_a_long_number() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x", ge=1000, le=1001)
    return (
        Or((Le(1 + absolute(x), exp(absolute(x))), Ne(x, 0))),
        [x],
        [Lt(0, normal_cdf(expression(10) ** x))],
    )


def minimum_of_what_is_undefined() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x")
    return Le(minimum(1 / x, 1), maximum(1 / x, 1)), [x], []


def maximum_of_what_is_undefined() -> tuple[Formula, list[Variable], list[Formula]]:
    x = integer("x")
    return Le(maximum(sqrt(1 / x), x), 8 * x), [x], []


FOUND = [
    root_of_a_negative_power, a_number_exp_1000, exp_1000_x, exp_1000_over_x, large_powers, powers_and_phi,
    undefined_assumption, integral_from_above, integral_from_above_in_part, tiny_exponents,
    maximum_with_a_root, logarithm_of_a_derivative_that_is_0, complex_at_a_point, complex_antiderivative, far_tail,
    numbers_that_grow_in_z3, nothing_in_exponents, long_powers_of_ten, a_long_binomial, gamma_of_a_thousand,
    phi_of_a_long_number, minimum_of_what_is_undefined, maximum_of_what_is_undefined,
]  # fmt: skip


@pytest.mark.parametrize("found", FOUND)
def test_found_once(found, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(searching, "POINTS", 128)
    claim, over, assuming = found()
    assert held(Obligation("found", "nowhere", claim, tuple(over), assuming=tuple(assuming))) == []
