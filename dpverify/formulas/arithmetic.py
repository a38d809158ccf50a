"""The records of arithmetic, and of what is made of vectors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce

from dpverify.formulas.expressions import Apply, Expression, Number, constant, is_integer
from dpverify.formulas.logic import Gt, Le, Ne
from dpverify.formulas.records import (
    ANY_SIGN,
    CLOSED,
    NOT_NEGATIVE,
    POSITIVE,
    POWER,
    PRODUCT,
    SUM,
    Arguments,
    Json,
    Need,
    Operator,
    Signs,
    Writing,
    needing,
    shared_unit,
)
from dpverify.formulas.units import DIMENSIONLESS, Unit, pure
from dpverify.formulas.values import UndefinedError, Value, inner_value, norm_value, plus, power, sign, times

_MINUS_ONE = ["num", "-1"]
_ONE = Number(Fraction(1))


# ---------------------------------------------------------------------------------------------- units


def _unit_of_product(_: Arguments, units: Sequence[Unit | None]) -> Unit | None:
    result = DIMENSIONLESS
    for unit in units:
        if unit is None:
            return None
        result = result * unit
    return result


def _unit_of_quotient(_: Arguments, units: Sequence[Unit | None]) -> Unit | None:
    over, under = units
    return None if over is None or under is None else over / under


def _raised(base: Unit | None, exponent: Fraction | None) -> Unit | None:
    """The unit of a power; only a pure number has an exponent that is no number."""
    if exponent is None:
        return pure(base)
    if base is not None and base.same_as(DIMENSIONLESS):
        return DIMENSIONLESS
    return None if base is None else base**exponent


def _unit_of_power(arguments: Arguments, units: Sequence[Unit | None]) -> Unit | None:
    pure(units[1])
    return _raised(units[0], constant(arguments[1]))


def _unit_of_root(arguments: Arguments, units: Sequence[Unit | None]) -> Unit | None:
    pure(units[1])
    order = constant(arguments[1])
    return _raised(units[0], 1 / order if order else None)


# ---------------------------------------------------------------------------------------------- needs


def _needs_of_power(arguments: Arguments, inside: bool) -> Iterator[Need]:
    base, exponent = arguments
    value = constant(exponent)
    if value is not None:
        if value.denominator != 1:
            yield Need(Gt(base, 0) if inside or value < 0 else Le(0, base))
        elif value < 0:
            yield Need(Ne(base, 0))
    elif is_integer(exponent):
        yield Need(Ne(base, 0), exact=False)
    else:
        yield Need(Gt(base, 0), exact=False)


def _needs_of_root(arguments: Arguments, inside: bool) -> Iterator[Need]:
    base, order = arguments
    value = constant(order)
    if value is None:
        yield Need(Ne(order, 0))
        yield Need(Gt(base, 0), exact=False)
    elif value:
        yield from _needs_of_power((base, Number(1 / value)), inside)
    else:
        yield Need(Ne(order, 0))


# ---------------------------------------------------------------------------------------------- values


def _quotient(x: Value, y: Value, *, inside: bool = False) -> Value:
    if sign(y) == 0:
        raise UndefinedError("division by zero")
    return times(x, power(y, Fraction(-1)))


def _number_power(base: float, exponent: float) -> float:
    result = base**exponent
    if isinstance(result, complex):
        raise ValueError("a power of a negative number")
    return float(result)


# ---------------------------------------------------------------------------------------------- slopes


def _slopes_of_power(base: Expression, exponent: Expression) -> tuple[Expression | None, ...]:
    value = constant(exponent)
    in_exponent = Apply("pow", (base, exponent)) * Apply("log", (base,))
    if value is None:
        return exponent * base ** (exponent - 1), in_exponent
    if value in (0, 1):
        return Number(value), in_exponent
    return Number(value) * base ** Number(value - 1), in_exponent


def _slopes_of_root(base: Expression, order: Expression) -> tuple[Expression | None, ...]:
    value = constant(order)
    exponent = 1 / order if not value else Number(1 / value)
    first, second = _slopes_of_power(base, exponent)
    return first, None if second is None else second * (-1 / order**2)


# ---------------------------------------------------------------------------------------------- signs


def _signs_of_sum(_: Arguments, signs: Sequence[Signs]) -> Signs:
    parts = frozenset[int]().union(*signs)
    if {-1, 1} <= parts:
        return ANY_SIGN
    # a sum of terms of one sign vanishes only if all of them do
    return parts if all(0 in part for part in signs) else parts - {0}


def _negative(signs: Signs) -> Signs:
    return frozenset(-s for s in signs)


def _signs_of_power(arguments: Arguments, signs: Sequence[Signs]) -> Signs:
    base, exponent = signs[0], arguments[1]
    value = constant(exponent)
    if value is None:
        if not is_integer(exponent) or base <= {0, 1}:
            # with an exponent of 0, or where what is raised is 0, nothing more is said
            return POSITIVE | (base & {0})
        return ANY_SIGN
    if value.denominator != 1:
        # a root of what is 0 is 0
        return POSITIVE | (base & {0} if value > 0 else frozenset())
    if not value:
        return POSITIVE
    if value < 0:
        base = base - {0}
    return frozenset(abs(s) for s in base) if value.numerator % 2 == 0 else base


def _signs_of_root(arguments: Arguments, signs: Sequence[Signs]) -> Signs:
    value = constant(arguments[1])
    exponent = 1 / arguments[1] if not value else Number(1 / value)
    return _signs_of_power((arguments[0], exponent), signs)


# ---------------------------------------------------------------------------------------------- in writing


def _spread(*parts: str) -> str:
    """A product in LaTeX: what begins with a digit does not touch what is before it."""
    result = parts[0]
    for part in parts[1:]:
        result += rf" \cdot {part}" if part[:1].isdigit() or part.startswith(r"\frac") else f" {part}"
    return result


def _latex_root(x: str, order: str) -> str:
    return rf"\sqrt{{{x}}}" if order == "2" else rf"\sqrt[{order}]{{{x}}}"


def _text_root(x: str, order: str) -> str:
    return f"sqrt({x})" if order == "2" else f"root({x}, {order})"


# ---------------------------------------------------------------------------------------------- in certificates


def _neutral_negative(part: Json) -> Json:
    return ["num", str(-Fraction(part[1]))] if part[0] == "num" else ["mul", _MINUS_ONE, part]


def _neutral_quotient(over: Json, under: Json) -> Json:
    if under[0] == "num" and Fraction(under[1]):
        return ["mul", over, ["num", str(1 / Fraction(under[1]))]]
    return ["mul", over, ["pow", under, _MINUS_ONE]]


def _neutral_root(part: Json, order: Json) -> Json:
    numeric = order[0] == "num" and Fraction(order[1])
    return ["pow", part, ["num", str(1 / Fraction(order[1]))] if numeric else ["pow", order, _MINUS_ONE]]


ARITHMETIC = (
    Operator(
        "add", 2, None,
        text=Writing(lambda *a: " + ".join(a), SUM, (SUM, PRODUCT)),
        latex=Writing(lambda *a: " + ".join(a), SUM, (SUM, PRODUCT)),
        unit=shared_unit, value=lambda *a, inside=False: reduce(plus, a), number=lambda *a: sum(a),
        slopes=lambda *a: (_ONE,) * len(a), signs=_signs_of_sum,
    ),
    Operator(
        "sub", 2, 2,
        text=Writing(lambda a, b: f"{a} - {b}", SUM, (SUM, PRODUCT)),
        latex=Writing(lambda a, b: f"{a} - {b}", SUM, (SUM, PRODUCT)),
        unit=shared_unit, value=lambda x, y, inside=False: plus(x, -y), number=lambda a, b: a - b,
        slopes=lambda a, b: (_ONE, -_ONE),
        signs=lambda arguments, signs: _signs_of_sum(arguments, (signs[0], _negative(signs[1]))),
        neutral=lambda a, b: ["add", a, ["mul", _MINUS_ONE, b]],
    ),
    Operator(
        "neg", 1, 1,
        text=Writing(lambda a: f"-{a}", SUM, (PRODUCT,)),
        latex=Writing(lambda a: f"-{a}", SUM, (PRODUCT,)),
        unit=shared_unit, value=lambda x, inside=False: -x, number=lambda a: -a,
        slopes=lambda a: (-_ONE,), signs=lambda arguments, signs: _negative(signs[0]), neutral=_neutral_negative,
    ),
    Operator(
        "mul", 2, None,
        text=Writing(lambda *a: "*".join(a), PRODUCT, (PRODUCT, POWER)),
        latex=Writing(_spread, PRODUCT, (PRODUCT, POWER)),
        unit=_unit_of_product, value=lambda *a, inside=False: reduce(times, a), number=lambda *a: math.prod(a),
        slopes=lambda *a: tuple(
            reduce(lambda u, v: u * v, rest) for rest in (a[:i] + a[i + 1 :] for i in range(len(a)))
        ),
        signs=lambda _, signs: frozenset(math.prod(some) for some in itertools.product(*signs)),
    ),
    Operator(
        "div", 2, 2,
        text=Writing(lambda a, b: f"{a}/{b}", PRODUCT, (PRODUCT, POWER)),
        latex=Writing(lambda a, b: rf"\frac{{{a}}}{{{b}}}", POWER),
        unit=_unit_of_quotient, needs=needing(lambda a, b: Ne(b, 0)), value=_quotient, number=lambda a, b: a / b,
        slopes=lambda a, b: (1 / b, -(a / b**2)), neutral=_neutral_quotient,
        signs=lambda _, signs: frozenset(a * b for a in signs[0] for b in signs[1] - {0}),
    ),
    Operator(
        "pow", 2, 2,
        text=Writing(lambda a, b: f"{a}^{b}", POWER, (CLOSED, CLOSED)),
        latex=Writing(lambda a, b: f"{a}^{{{b}}}", POWER, (CLOSED, SUM)),
        unit=_unit_of_power, needs=_needs_of_power,
        value=power, number=_number_power, slopes=_slopes_of_power, signs=_signs_of_power,
    ),
    Operator(
        "root", 2, 2,
        text=Writing(_text_root), latex=Writing(_latex_root),
        unit=_unit_of_root, needs=_needs_of_root,
        value=lambda x, order, inside=False: power(x, power(order, Fraction(-1)), inside=inside),
        number=lambda x, order: _number_power(x, 1 / order), slopes=_slopes_of_root,
        signs=_signs_of_root, neutral=_neutral_root,
    ),
)  # fmt: skip


def _not_of_floats(*_: float) -> float:
    raise ValueError("vectors are not floats")


VECTOR_OPERATORS = (
    Operator(
        "inner", 2, 2,
        text=Writing(lambda a, b: f"<{a}, {b}>"), latex=Writing(lambda a, b: rf"\left\langle {a},{b}\right\rangle"),
        unit=_unit_of_product, value=inner_value, number=_not_of_floats, slopes=lambda *a: (None, None),
    ),
    Operator(
        "norm", 1, 1,
        text=Writing(lambda a: f"||{a}||"), latex=Writing(lambda a: rf"\left\|{a}\right\|"),
        unit=shared_unit, value=norm_value, number=_not_of_floats, slopes=lambda a: (None,),
        signs=lambda *_: NOT_NEGATIVE,
    ),
)  # fmt: skip
