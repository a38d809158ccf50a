"""Trees with their derivatives taken and `at` carried out, by the operators' records, and nothing else changed.

Wherever an expression has a value, what comes out here has the same; the converse is not claimed, so that where
an expression is defined is asked of the expression itself (`definedness`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from dpverify.formulas.expressions import (
    Apply,
    At,
    Binder,
    Derivative,
    Expression,
    Number,
    OutOfScopeError,
    Variable,
    children,
    free_variables,
    rebuilt,
    subexpressions,
)
from dpverify.formulas.logic import Compare, Exists, ForAll, Formula, formula_parts, with_parts
from dpverify.formulas.operators import operator

MAX_NODES = 20_000
"""Nodes of the longest derivative that is worked out."""
_ZERO, _ONE = Number(Fraction(0)), Number(Fraction(1))


def map_sides(formula: Formula, change: Callable[[Expression], Expression]) -> Formula:
    """The formula with every side of every comparison changed."""
    if isinstance(formula, Compare):
        return replace(formula, left=change(formula.left), right=change(formula.right))
    return with_parts(formula, (map_sides(part, change) for part in formula_parts(formula)))


def with_values(formula: Formula, values: Mapping[Variable, Expression]) -> Formula:
    """The formula with its free letters replaced.

    Raises:
        OutOfScopeError: where a letter is bound that occurs in what another is replaced by.
    """
    if isinstance(formula, ForAll | Exists):
        values = {v: e for v, e in values.items() if v != formula.variable}
    if isinstance(formula, Compare):
        return map_sides(formula, lambda side: substituted(side, values))
    return with_parts(formula, (with_values(part, values) for part in formula_parts(formula)))


def substituted(e: Expression, values: Mapping[Variable, Expression]) -> Expression:
    """The expression with free variables replaced."""
    if not values:
        return e
    match e:
        case Variable():
            return values.get(e, e)
        case Binder(kind, body, variable, first, last):
            ends = (substituted(end, values) for end in (first, last))
            return Binder(kind, _within(body, variable, values), variable, *ends)
        case At(body, variable, value):
            return At(_within(body, variable, values), variable, substituted(value, values))
        case Derivative(body, variable, order):
            found = Derivative(_within(body, variable, values), variable, order)
            # the derivative's value is wanted there, not the derivative of what is there
            return At(found, variable, values[variable]) if variable in values else found
        case _:
            return rebuilt(e, tuple(substituted(part, values) for part in children(e)))


def _within(body: Expression, variable: Variable, values: Mapping[Variable, Expression]) -> Expression:
    """A body in which a variable is bound, with values of others."""
    used = {v: value for v, value in values.items() if v != variable and v in free_variables(body)}
    if any(variable.name == v.name for value in used.values() for v in free_variables(value)):
        raise OutOfScopeError(f"{variable.name} is bound where an expression that contains it is substituted")
    return substituted(body, used)


def worked_out(e: Expression) -> Expression:
    """The expression with derivatives taken and every `at` carried out; `OutOfScopeError` where that can't be done."""
    if not any(isinstance(part, Derivative | At) for part in subexpressions(e)):
        return e
    match e:
        case Derivative(body, variable, order):
            result = worked_out(body)
            for _ in range(order):
                result = differentiated(result, variable)
                if sum(1 for _ in subexpressions(result)) > MAX_NODES:
                    raise OutOfScopeError("a derivative is too long to be worked out")
            return result
        case At(body, variable, value):
            return substituted(worked_out(body), {variable: worked_out(value)})
        case _:
            return rebuilt(e, tuple(map(worked_out, children(e))))


def differentiated(e: Expression, variable: Variable) -> Expression:
    """The derivative of an expression without derivatives and `at`, rule by rule."""
    if variable not in free_variables(e):
        return _ZERO
    match e:
        case Variable():
            return _ONE
        case Apply(name, arguments):
            terms = []
            slopes = operator(name).slopes(*arguments)
            for part, slope in zip(arguments, slopes, strict=True):
                inner = differentiated(part, variable)
                if inner == _ZERO:
                    continue
                if slope is None:
                    raise OutOfScopeError(f"a derivative of {name}")
                terms.append(slope if inner == _ONE else inner if slope == _ONE else slope * inner)
            result = terms[0] if terms else _ZERO
            for term in terms[1:]:
                result = result + term
            return result
        case Binder("sum", body, index, first, last):
            if variable in free_variables(first) | free_variables(last):
                raise OutOfScopeError("a derivative in the end of a sum")
            return Binder("sum", differentiated(body, variable), index, first, last)
        case Binder(kind, _, _, _, _):
            raise OutOfScopeError(f"a derivative of {'an' if kind == 'integral' else 'a'} {kind}")
        case _:
            raise AssertionError(e)
