"""Putting an expression in a variable's place, in a tree, refusing what a sum or an integral would capture."""

from __future__ import annotations

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import (
    Apply,
    At,
    Bound,
    Derivative,
    Expression,
    Variable,
    children,
    free_variables,
)


def substitute(e: Expression, variable: Variable, value: Expression) -> Expression:
    """The expression with a value in place of each free occurrence of a variable.

    A derivative in the variable becomes the derivative at the value.

    Raises:
        InvalidArgumentError: where the value has a variable that would be bound inside.
    """
    if e == variable:
        return value
    if value == variable or variable not in free_variables(e):
        return e
    match e:
        case Apply(operator, arguments):
            return Apply(operator, tuple(substitute(a, variable, value) for a in arguments))
        case Bound(kind, body, index, first, last):
            ends = (substitute(first, variable, value), substitute(last, variable, value))
            if index == variable:
                return Bound(kind, body, index, *ends)
            _check(index, value, body, variable)
            return Bound(kind, substitute(body, variable, value), index, *ends)
        case Derivative(body, of, order) if of != variable:
            _check(of, value, body, variable)
            return Derivative(substitute(body, variable, value), of, order)
        case Derivative():
            return At(e, variable, value)
        case At(body, of, point):
            moved = substitute(point, variable, value)
            if of == variable:
                return At(body, of, moved)
            _check(of, value, body, variable)
            return At(substitute(body, variable, value), of, moved)
        case _:
            return e


def _check(bound: Variable, value: Expression, body: Expression, variable: Variable) -> None:
    if bound in free_variables(value) and variable in free_variables(body):
        raise InvalidArgumentError(
            f"what {variable.name} stands for",
            value,
            f"expressions without {bound.name}, which is bound where {variable.name} occurs",
        )


def depth(e: Expression) -> int:
    """Levels of a tree."""
    deepest, rest = 0, [(e, 1)]
    while rest:
        part, level = rest.pop()
        deepest = max(deepest, level)
        rest += [(child, level + 1) for child in children(part)]
    return deepest


def size(e: Expression) -> int:
    """Nodes of a tree."""
    count, rest = 0, [e]
    while rest:
        part = rest.pop()
        count += 1
        rest += children(part)
    return count
