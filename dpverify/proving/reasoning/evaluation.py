"""Expressions and formulas at a point: exact fractions while all is rational, else Arb balls that decide or do not."""

from __future__ import annotations

import operator as ring
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

import flint

from dpverify.formulas.calculus import worked_out
from dpverify.formulas.expressions import (
    Apply,
    At,
    Binder,
    Constant,
    Derivative,
    Expression,
    Number,
    OutOfScopeError,
    Variable,
)
from dpverify.formulas.logic import And, Compare, Exists, ForAll, Formula, Implies, Not, Or
from dpverify.formulas.operators import operator
from dpverify.formulas.printing import expression_text
from dpverify.formulas.values import UnclearError, UndefinedError, Value, ball, plus, sign, times
from dpverify.formulas.vectors import is_vector
from dpverify.proving.reasoning.effort import spend

Point = Mapping[str, Value]
"""Name to value."""
ExactPoint = dict[str, Any]
_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {"<=": ring.le, "<": ring.lt, "==": ring.eq, "!=": ring.ne}
PRECISIONS = (64, 128, 256, 512)
MAX_TERMS_OF_SUM = 10_000


def evaluate(e: Expression, point: Point, *, inside: bool = False) -> Value:
    """The value at a point; exact where the arithmetic is rational, else a ball at the working precision.

    `inside` a derivative, what is not smooth at the point has no value. Raises `UndefinedError` where there is no
    value, `UnclearError` where balls cannot tell.
    """
    spend(4)
    match e:
        case Number(value):
            return value
        case Variable():
            return point[e.name]
        case Apply("pow", (Apply("norm", (of,)), Number(exponent))) if exponent == 2:
            # a fraction, where the norm itself may be none
            return evaluate(Apply("inner", (of, of)), point, inside=inside)
        case Apply("inner" | "norm" as name, arguments):
            return operator(name).value(*(_coordinates(a, point) for a in arguments), inside=inside)
        case Apply(name, arguments):
            values = (evaluate(a, point, inside=inside) for a in arguments)
            return operator(name).value(*values, inside=inside)
        case Constant("pi"):
            return flint.arb.pi()
        case Binder("sum" | "product"):
            return _repeated(e, point, inside=inside)
        case Derivative(body, _, _):
            evaluate(body, point, inside=True)  # undefined here, no derivative either
            return evaluate(_worked_out(e), point, inside=inside)
        case At(body, variable, value):
            here = evaluate(value, point, inside=inside)
            return evaluate(body, {**point, variable.name: here}, inside=inside)
        case _:
            raise UnclearError(f"{type(e).__name__} is not evaluated")


def _coordinates(e: Expression, point: Point) -> tuple[Value, ...]:
    """The coordinates of a vector expression at a point."""
    match e:
        case Variable():
            found: tuple[Value, ...] = point[e.name]
            return found
        case Apply("add" | "sub", (first, *rest)):
            ahead = Fraction(1 if e.operator == "add" else -1)
            found = _coordinates(first, point)
            for part in rest:
                found = tuple(map(plus, found, _scaled(ahead, _coordinates(part, point))))
            return found
        case Apply("neg", (part,)):
            return _scaled(Fraction(-1), _coordinates(part, point))
        case Apply("mul", factors):
            (v,) = (f for f in factors if is_vector(f))
            numbers = (evaluate(f, point) for f in factors if not is_vector(f))
            return _scaled(reduce(times, numbers, Fraction(1)), _coordinates(v, point))
        case Apply("div", (v, number)):
            return _scaled(evaluate(1 / number, point), _coordinates(v, point))
        case _:
            raise UnclearError(f"{expression_text(e)} is no vector that is evaluated")


def _scaled(number: Value, coordinates: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple(times(number, c) for c in coordinates)


def _worked_out(e: Expression) -> Expression:
    try:
        return worked_out(e)
    except OutOfScopeError as error:
        raise UnclearError(str(error)) from error


def _repeated(e: Binder, point: Point, *, inside: bool) -> Value:
    low, high = (evaluate(end, point, inside=inside) for end in (e.first, e.last))
    if not (isinstance(low, Fraction) and isinstance(high, Fraction)):
        raise UnclearError("the ends of a sum are not exact")
    if low.denominator != 1 or high.denominator != 1 or high < low:
        raise UndefinedError("a sum must run from an integer up to an integer")
    if high - low >= MAX_TERMS_OF_SUM:
        raise UnclearError("a sum is too long")
    inner = dict(point)
    values = []
    for i in range(low.numerator, high.numerator + 1):
        inner[e.variable.name] = Fraction(i)
        values.append(evaluate(e.body, inner, inside=inside))
    return reduce(plus if e.kind == "sum" else times, values)


def text(e: Expression, point: Point) -> str:
    """The value in print: an exact fraction, or a decimal of which all digits hold."""
    with flint.ctx.workprec(PRECISIONS[-1]):
        value = evaluate(e, point)
        if isinstance(value, Fraction):
            return str(value)
        return str(value.str(17, radius=False))


def _compare(formula: Compare, point: Point) -> bool | None:
    try:
        left, right = evaluate(formula.left, point), evaluate(formula.right, point)
        exact = isinstance(left, Fraction) and isinstance(right, Fraction)
        s = sign(left - right if exact else ball(left) - ball(right))
    except (UndefinedError, UnclearError):
        return None
    return bool(_RELATIONS[formula.relation](s, 0))


def kleene(formula: Formula, judge: Callable[[Formula], bool | None]) -> bool | None:
    """The truth of a formula from what is said of its comparisons and quantifiers, where that is enough."""
    match formula:
        case And(parts) | Or(parts):
            decisive = isinstance(formula, Or)
            values = [kleene(part, judge) for part in parts]
            return decisive if decisive in values else None if None in values else not decisive
        case Not(part):
            value = kleene(part, judge)
            return None if value is None else not value
        case Implies(premise, conclusion):
            return kleene(Or((Not(premise), conclusion)), judge)
        case _:
            return judge(formula)


def plain_truth(
    formula: Formula, point: Point, quantified: Callable[[Formula], bool | None] = lambda _: None
) -> bool | None:
    """Whether the formula holds at a point; None where it is undefined or nothing decides, as of a quantifier."""

    def judge(part: Formula) -> bool | None:
        return _compare(part, point) if isinstance(part, Compare) else quantified(part)

    for precision in PRECISIONS:
        with flint.ctx.workprec(precision):
            value = kleene(formula, judge)
        if value is not None:
            return value
    return None


def failing(formula: Formula, point: Point) -> Compare | None:
    """A comparison to show for a formula that fails at a point, false there (true inside a `Not`)."""
    match formula:
        case Compare():
            return formula
        case And(parts):
            return next((failing(p, point) for p in parts if plain_truth(p, point) is False), None)
        case Or(parts):
            return failing(parts[-1], point) if parts else None
        case Not(part):
            return failing(part, point)
        case Implies(_, conclusion):
            return failing(conclusion, point)
        case ForAll() | Exists():
            return None
