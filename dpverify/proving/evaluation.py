"""Formulas at a point: exact fractions while all is rational, otherwise Arb balls that decide or do not."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import flint
import sympy as sp

from dpverify.proving.effort import spend
from dpverify.proving.language import (
    And,
    Compare,
    Expression,
    ForAll,
    Formula,
    Implies,
    Not,
    Or,
    Phi,
    bound_parts,
)
from dpverify.proving.terms import OutOfScopeError, fraction, resolve

Value = Any
"""Fraction or flint.arb."""
Point = Mapping[Expression, Value]
ExactPoint = dict[Expression, Fraction]
PRECISIONS = (64, 128, 256, 512)
MAX_TERMS_OF_SUM = 10_000
MAX_BITS = 20_000


class UndefinedError(Exception):
    """The expression has no value at this point."""


class UnclearError(Exception):
    """The balls do not decide, at this precision or at all."""


def ball(value: Value) -> Any:
    """A ball around a value, at the working precision."""
    if isinstance(value, Fraction):
        return flint.arb(flint.fmpq(value.numerator, value.denominator))
    return value


def sign(value: Value) -> int:
    """-1, 0 or 1; `UnclearError` where a ball straddles zero."""
    if isinstance(value, Fraction):
        return (value > 0) - (value < 0)
    if value > 0:
        return 1
    if value < 0:
        return -1
    raise UnclearError


def evaluate(e: Expression, point: Point, *, inside: bool = False) -> Value:
    """The value at a point; exact where the arithmetic is rational, else a ball at the working precision.

    `inside` a derivative, the root of 0 has no value. Raises `UndefinedError` where there is no value,
    `UnclearError` where balls cannot tell.
    """
    spend(4)
    if e.is_Rational:
        return fraction(e)
    if e.is_Symbol:
        return point[e]
    if e is sp.pi:
        return flint.arb.pi()
    if e is sp.E:
        return flint.arb(1).exp()
    if e.is_Add:
        return _fold([evaluate(a, point, inside=inside) for a in e.args], _plus)
    if e.is_Mul:
        return _fold([evaluate(a, point, inside=inside) for a in e.args], _times)
    if e.is_Pow:
        base, exponent = (evaluate(a, point, inside=inside) for a in e.args)
        return _power(base, exponent, inside=inside)
    if isinstance(e, sp.Sum):
        return _sum(e, point, inside=inside)
    if isinstance(e, sp.Derivative):
        evaluate(e.expr, point, inside=True)  # undefined here, no derivative either
        return evaluate(_worked_out(e), point, inside=inside)
    if isinstance(e, sp.Subs):
        inner = dict(point)
        inner[e.variables[0]] = _in_range(e.variables[0], evaluate(e.point[0], point, inside=inside))
        return evaluate(e.expr, inner, inside=inside)
    function = _FUNCTIONS.get(e.func)
    if function is not None:
        return function(*(evaluate(a, point, inside=inside) for a in e.args))
    raise UnclearError(f"{type(e).__name__} is not evaluated")


def _worked_out(e: Expression) -> Expression:
    try:
        return resolve(e)
    except OutOfScopeError as error:
        raise UnclearError(str(error)) from error


def _fold(values: list[Value], operation: Callable[[Value, Value], Value]) -> Value:
    exact = [v for v in values if isinstance(v, Fraction)]
    balls = [v for v in values if not isinstance(v, Fraction)]
    result: Value = None
    for v in exact:
        result = v if result is None else operation(result, v)
        if isinstance(result, Fraction) and result.denominator.bit_length() > MAX_BITS:
            result = ball(result)
    for v in balls:
        result = v if result is None else operation(ball(result), ball(v))
    return result


def _plus(x: Value, y: Value) -> Value:
    return x + y if type(x) is type(y) else ball(x) + ball(y)


def _times(x: Value, y: Value) -> Value:
    return x * y if type(x) is type(y) else ball(x) * ball(y)


def _in_range(symbol: Expression, value: Value) -> Value:
    """The value, if it keeps to what SymPy assumed of the symbol (and simplified by)."""
    s = None if isinstance(value, Fraction) and not value else sign(value)
    wrong = (
        (symbol.is_positive and s != 1)
        or (symbol.is_negative and s != -1)
        or (symbol.is_nonnegative and s == -1)
        or (symbol.is_nonpositive and s == 1)
    )
    if wrong or (symbol.is_integer and not (isinstance(value, Fraction) and value.denominator == 1)):
        raise UndefinedError(f"{symbol} does not take this value")
    return value


def _power(base: Value, exponent: Value, *, inside: bool = False) -> Value:
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        n = exponent.numerator
        if n < 0 and isinstance(base, Fraction) and not base:
            raise UndefinedError("division by zero")
        if isinstance(base, Fraction):
            if abs(n) * max(base.numerator.bit_length(), base.denominator.bit_length()) <= MAX_BITS:
                return base**n
            base = ball(base)
        if n < 0:
            sign(base)  # straddling zero is unclear
        return base ** flint.fmpz(n)
    s = sign(base)
    if s == 0 and not inside and sign(exponent) > 0:
        return Fraction(0)
    if s <= 0:
        raise UndefinedError("a root of what is not positive")
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        exact = _exact_root(base, exponent.denominator)
        if exact is not None:
            return _power(exact, Fraction(exponent.numerator))
    return ball(base) ** ball(exponent)


def _exact_root(base: Fraction, n: int) -> Fraction | None:
    if n > 64:
        return None
    parts = []
    for part in (base.numerator, base.denominator):
        root = int(flint.fmpz(part).root(n))
        if root**n != part:
            return None
        parts.append(root)
    return Fraction(parts[0], parts[1])


def _sum(e: Expression, point: Point, *, inside: bool) -> Value:
    body, index, first, last = bound_parts(e)
    low, high = (evaluate(end, point, inside=inside) for end in (first, last))
    if not (isinstance(low, Fraction) and isinstance(high, Fraction)):
        raise UnclearError("the ends of a sum are not exact")
    if low.denominator != 1 or high.denominator != 1 or high < low:
        raise UndefinedError("a sum runs from an integer up to an integer")
    if high - low >= MAX_TERMS_OF_SUM:
        raise UnclearError("a sum is too long")
    values = []
    inner = dict(point)
    for i in range(low.numerator, high.numerator + 1):
        inner[index] = _in_range(index, Fraction(i))
        values.append(evaluate(body, inner, inside=inside))
    return _fold(values, _plus)


def _exp(x: Value) -> Value:
    return Fraction(1) if isinstance(x, Fraction) and not x else ball(x).exp()


def _log(x: Value) -> Value:
    if sign(x) <= 0:
        raise UndefinedError("the logarithm of what is not positive")
    return Fraction(0) if isinstance(x, Fraction) and x == 1 else ball(x).log()


def _erfc(x: Value) -> Value:
    return Fraction(1) if isinstance(x, Fraction) and not x else ball(x).erfc()


def _phi(x: Value) -> Value:
    if isinstance(x, Fraction) and not x:
        return Fraction(1, 2)
    return (-ball(x) / flint.arb(2).sqrt()).erfc() / 2


def _max(*values: Value) -> Value:
    if all(isinstance(v, Fraction) for v in values):
        return max(values)
    result = ball(values[0])
    for v in values[1:]:
        result = result.max(ball(v))
    return result


def _min(*values: Value) -> Value:
    return -_max(*(-v for v in values))


def _floor(x: Value) -> Value:
    if isinstance(x, Fraction):
        return Fraction(math.floor(x))
    whole = x.floor().unique_fmpz()
    if whole is None:
        raise UnclearError("a floor of a ball with an integer inside")
    return Fraction(int(whole))


_FUNCTIONS: dict[Any, Callable[..., Value]] = {
    sp.exp: _exp,
    sp.log: _log,
    sp.erfc: _erfc,
    Phi: _phi,
    sp.Max: _max,
    sp.Min: _min,
    sp.Abs: lambda x: _max(x, -x),
    sp.floor: _floor,
}


# ---------------------------------------------------------------------------------------------- formulas


def _compare(formula: Compare, point: Point) -> bool | None:
    try:
        left, right = evaluate(formula.left, point), evaluate(formula.right, point)
        exact = isinstance(left, Fraction) and isinstance(right, Fraction)
        s = sign(left - right if exact else ball(left) - ball(right))
    except (UndefinedError, UnclearError):
        return None
    match formula.relation:
        case "<=":
            return s <= 0
        case "<":
            return s < 0
        case "==":
            return s == 0
        case "!=":
            return s != 0


def _truth(formula: Formula, point: Point) -> bool | None:
    match formula:
        case Compare():
            return _compare(formula, point)
        case And(parts):
            values = [_truth(p, point) for p in parts]
            return False if False in values else None if None in values else True
        case Or(parts):
            values = [_truth(p, point) for p in parts]
            return True if True in values else None if None in values else False
        case Not(part):
            value = _truth(part, point)
            return None if value is None else not value
        case Implies(premise, conclusion):
            return _truth(Or((Not(premise), conclusion)), point)
        case ForAll():
            return None


def truth(formula: Formula, point: Point) -> bool | None:
    """Whether the formula holds at a point; None where it is undefined or the balls never decide.

    A quantifier is not decided here (see `quantifiers.truth`).
    """
    for precision in PRECISIONS:
        with flint.ctx.workprec(precision):
            value = _truth(formula, point)
        if value is not None:
            return value
    return None


def text(e: Expression, point: Point) -> str:
    """The value in print: an exact fraction, or a decimal of which all digits hold."""
    with flint.ctx.workprec(PRECISIONS[-1]):
        value = evaluate(e, point)
        if isinstance(value, Fraction):
            return str(value)
        return str(value.str(17, radius=False))


def failing(formula: Formula, point: Point) -> Compare | None:
    """A comparison to show for a formula that fails at a point, false there (true inside a `Not`)."""
    match formula:
        case Compare():
            return formula
        case And(parts):
            return next((failing(p, point) for p in parts if truth(p, point) is False), None)
        case Or(parts):
            return failing(parts[-1], point) if parts else None
        case Not(part):
            return failing(part, point)
        case Implies(_, conclusion):
            return failing(conclusion, point)
        case ForAll():
            return None
