"""What random obligations have brought to light: wrong verdicts, errors and work without end, each once more."""

from __future__ import annotations

import pytest
import sympy as sp

from dpverify.proving import search as searching
from dpverify.proving.language import (
    And,
    ForAll,
    Formula,
    Ge,
    Gt,
    Implies,
    Le,
    Lt,
    Ne,
    Not,
    Obligation,
    Or,
    Phi,
    Variable,
    at,
    derivative,
    integer,
    integral,
    real,
)

from .test_verdicts import held

TINY = sp.Rational(1, 10**12)
r, s, t = real("r", ge=0), real("s"), real("t")


def root_of_a_negative_power() -> tuple[Formula, list[Variable], list[Formula]]:
    x = integer("x", ge=0)
    return Or((Ge(sp.sqrt((-1000) ** x.symbol), 0), Le(x**2 + x + 3, x))), [x], []


def a_number_exp_1000() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x", ge=1)
    return Le(1001, sp.exp(sp.Integer(1000)) - TINY), [x], [Lt(1000, x / 1000), Lt(sp.Rational(5, 2), x)]


def exp_1000_x() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x", gt=0, le=1)
    return ForAll(r, Ge(sp.exp(-1000 * x.symbol) - 1, 0)), [x], []


def exp_1000_over_x() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x", gt=-1)
    first = Implies(Ge(x.symbol**-4, 0), Le(2 * x.symbol, sp.Integer(-2) ** (2 * x.symbol)))
    return Or((first, Implies(Ge(sp.exp(-1000 / x.symbol) - TINY, 0), Ge(sp.exp(-2) + 1, 0)))), [x], []


def large_powers() -> tuple[Formula, list[Variable], list[Formula]]:
    x = integer("x", ge=0)
    return Not(Not(Ne(sp.Rational(1, 1000) ** (-x.symbol), 0))), [x], []


def powers_and_phi() -> tuple[Formula, list[Variable], list[Formula]]:
    x, y = real("x", gt=0, lt=1), integer("y", ge=2)
    power = sp.Integer(10) ** y.symbol
    other = Or((Le(Phi(y.symbol), Phi(y.symbol)), Ne(x, sp.Rational(1, 2))))
    return Or((Lt(1 - power, 1 + TINY - power), other)), [x, y], []


def undefined_assumption() -> tuple[Formula, list[Variable], list[Formula]]:
    x, y = real("x", gt=0, lt=1), real("y", le=0)
    either = Or((Gt(y.symbol ** sp.Rational(2, 3), 0), Ne(y, 0)))
    return Le(1 + x, sp.exp(x.symbol) - TINY), [x, y], [either, Le(x + TINY, x**2 + 1)]


def integral_from_above() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x")
    return Not(Le(integral(2 * x.symbol, t, 0, x) ** 2 + 1, 0)), [x], []


def integral_from_above_in_part() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x")
    return Or((Ge(integral(2 * x.symbol, t, 0, x) ** 2, 0), Lt(x, -5))), [x], []


def tiny_exponents() -> tuple[Formula, list[Variable], list[Formula]]:
    x, y = real("x", gt=1, lt="1.0000000000000000000000001"), integer("y", ge=-2, le=2)
    u = at(x / s, s, sp.Rational(1, 2)) / x.symbol**x.symbol
    e = sp.exp(y.symbol)
    return Le(1 + 2 * (y - 1) * e * u, e**2 + (y - 1) ** 2 * u**2), [x, y], [Ge(y - 2, 0)]


def maximum_with_a_root() -> tuple[Formula, list[Variable], list[Formula]]:
    x = integer("x", le=0)
    return Le(0, sp.Max(x.symbol, 1 / sp.sqrt(x.symbol)) ** -3 - sp.Rational(1, 1000)), [x], []


def logarithm_of_a_derivative_that_is_0() -> tuple[Formula, list[Variable], list[Formula]]:
    x, y = real("x", ge="1/3", le="2/3"), integer("y", le=0)
    slope = sp.log(derivative(y, x) ** sp.Rational(3, 2))
    return And((Le(1000**x.symbol * sp.erfc(x.symbol), slope),)), [x, y], []


def complex_at_a_point() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x")
    return Le(2 * x + at(derivative(s.symbol**s.symbol, s), s, -1), 4 * x), [x], []


def complex_antiderivative() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x")
    return Le(2 * x + integral(sp.Rational(-1, 2) ** t.symbol, t, 0, 1), 4 * x), [x], []


def far_tail() -> tuple[Formula, list[Variable], list[Formula]]:
    x = real("x")
    return Le(x**2 + x, sp.erfc(sp.exp(1000))), [x], []


FOUND = [
    root_of_a_negative_power, a_number_exp_1000, exp_1000_x, exp_1000_over_x, large_powers, powers_and_phi,
    undefined_assumption, integral_from_above, integral_from_above_in_part, tiny_exponents,
    maximum_with_a_root, logarithm_of_a_derivative_that_is_0, complex_at_a_point, complex_antiderivative, far_tail,
]  # fmt: skip


@pytest.mark.parametrize("found", FOUND)
def test_found_once(found, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(searching, "POINTS", 128)
    claim, over, assuming = found()
    assert held(Obligation("found", "nowhere", claim, tuple(over), assuming=tuple(assuming))) == []
