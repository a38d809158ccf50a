"""Letters isolated from equations, and points carried over to formulas in which letters are written out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce

from dpverify.formulas.expressions import Apply, Expression, Variable, free_variables, subexpressions
from dpverify.formulas.logic import Compare
from dpverify.formulas.operators import apply, exp, log, root
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.proving.language import Obligation
from dpverify.proving.reasoning.evaluation import ExactPoint, evaluate


def carried_over(form: Obligation, point: ExactPoint) -> Iterator[ExactPoint]:
    """Points of a written-out form near a point at which letters that stand for formulas were given values.

    Letters of the formulas that have no value there follow from those that have; whoever takes one confirms it.
    """
    over = form.over
    for limit in (10, 1000, 10**6):
        known: ExactPoint = {v.name: point[v.name] for v in over if v.name in point}
        for letter, body in form.formulas.items():
            unknown = [v for v in free_variables(body) if v.name not in known]
            if len(unknown) != 1 or letter.name not in point:
                continue
            value = isolated(Compare("==", letter, body), unknown[0].name)
            if value is None:
                continue
            try:
                exact = Fraction(float(evaluate(value, {**known, letter.name: point[letter.name]})))
            except (UndefinedError, UnclearError, ValueError, OverflowError, KeyError):
                continue
            whole = unknown[0].kind == "integer"
            known[unknown[0].name] = Fraction(round(exact)) if whole else exact.limit_denominator(limit)
        if len(known) == len(over):
            yield known


def isolated(equation: Compare, name: str) -> Expression | None:
    """What a letter has to be equal to so that an equation holds; of several values one that is not negative.

    None where it does not occur just once, or stands in what is not undone.
    """
    left, right = equation.left, equation.right
    times = _occurrences(left, name), _occurrences(right, name)
    if sum(times) != 1:
        return None
    side, other = (left, right) if times[0] else (right, left)
    while not isinstance(side, Variable):
        if not isinstance(side, Apply):
            return None
        (place,) = (k for k, part in enumerate(side.arguments) if _occurrences(part, name))
        moved = _undone(side.operator, place, side.arguments[:place] + side.arguments[place + 1 :], other)
        if moved is None:
            return None
        side, other = side.arguments[place], moved
    return other


def _occurrences(e: Expression, name: str) -> int:
    return sum(isinstance(part, Variable) and part.name == name for part in subexpressions(e))


def _undone(operator: str, place: int, rest: Sequence[Expression], value: Expression) -> Expression | None:
    """What the argument at a place has to be so that an operator has a value, the other arguments being the rest."""
    match operator, place:
        case ("add", _):
            return reduce(lambda a, b: a - b, rest, value)
        case ("mul", _):
            return reduce(lambda a, b: a / b, rest, value)
        case ("neg", _):
            return -value
        case ("sub", 0):
            return value + rest[0]
        case ("sub", 1):
            return rest[0] - value
        case ("div", 0):
            return value * rest[0]
        case ("div", 1):
            return rest[0] / value
        case ("pow", 0):
            return root(value, rest[0])
        case ("pow", 1):
            return log(value) / log(rest[0])
        case ("root", 0):
            return value ** rest[0]
        case ("exp", _):
            return log(value)
        case ("log", _):
            return exp(value)
        case ("log_base", 0):
            return apply("pow", rest[0], value)
        case ("abs", _):
            return value
        case _:
            return None
