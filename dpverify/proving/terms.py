"""Working on formulas before a prover sees them: derivatives worked out, conditions of definedness listed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import sympy as sp

from dpverify.evidence import Gap
from dpverify.proving.language import (
    DIMENSIONLESS,
    And,
    Compare,
    Expression,
    ForAll,
    Formula,
    Implies,
    Not,
    Or,
    Variable,
    bound_parts,
)


class OutOfScopeError(Exception):
    """A prover met something that it does not handle; the message says what. Never leaves this package."""

    gap = Gap.UNSUPPORTED_FUNCTION


class TooLargeError(OutOfScopeError):
    """It would handle it if it were smaller."""

    gap = Gap.EFFORT_SPENT


def fraction(value: Expression) -> Fraction:
    """An exact SymPy rational as a Fraction."""
    return Fraction(int(value.p), int(value.q))


def rational(value: Fraction) -> Expression:
    """A Fraction as a SymPy rational."""
    return sp.Rational(value.numerator, value.denominator)


def map_expressions(formula: Formula, change: Callable[[Expression], Expression]) -> Formula:
    """The formula with every side of every comparison changed."""
    match formula:
        case Compare(relation, left, right):
            return Compare(relation, change(left), change(right))
        case And(parts):
            return And(tuple(map_expressions(p, change) for p in parts))
        case Or(parts):
            return Or(tuple(map_expressions(p, change) for p in parts))
        case Not(part):
            return Not(map_expressions(part, change))
        case Implies(premise, conclusion):
            return Implies(map_expressions(premise, change), map_expressions(conclusion, change))
        case ForAll(variable, body):
            return ForAll(variable, map_expressions(body, change))


def sides(f: Formula) -> Iterator[Expression]:
    """Both sides of every comparison in a formula."""
    match f:
        case Compare(_, left, right):
            yield left
            yield right
        case And(parts) | Or(parts):
            for p in parts:
                yield from sides(p)
        case Not(part):
            yield from sides(part)
        case Implies(premise, conclusion):
            yield from sides(premise)
            yield from sides(conclusion)
        case ForAll(_, body):
            yield from sides(body)


MAX_OPERATIONS = 20_000
"""Operations of the longest derivative that is worked out."""
MAX_EXPANDED = 2_000
"""Terms, or degree, of the longest expression that is given to SymPy to be expanded."""


def check_expansion(e: Expression) -> None:
    """Refuse what SymPy would expand for ages; `OutOfScopeError`."""
    if _expanded_terms(e) > MAX_EXPANDED:
        raise TooLargeError("an expression is too long to be expanded")


def _expanded_terms(e: Expression) -> int:
    """About how many terms the expression has when it is expanded, high powers of one term counting as long."""
    parts = [_expanded_terms(a) for a in e.args]
    if e.is_Add:
        return min(MAX_EXPANDED + 1, sum(parts))
    if e.is_Pow and e.exp.is_Integer:
        n = min(abs(int(e.exp)), MAX_EXPANDED)
        return min(MAX_EXPANDED + 1, max(n, math.comb(n + parts[0] - 1, n) if parts[0] > 1 else 1))
    return min(MAX_EXPANDED + 1, math.prod(parts) if e.is_Mul else max(parts, default=1))


def resolve(e: Expression) -> Expression:
    """The expression with every derivative worked out and every `at` carried out."""
    if not e.has(sp.Derivative, sp.Subs):
        return e
    result = _worked_out(e)
    if result.has(sp.zoo, sp.nan, sp.I):
        raise OutOfScopeError(f"{e} has no value anywhere")
    return result


def _worked_out(e: Expression) -> Expression:
    if isinstance(e, sp.Derivative):
        ((variable, order),) = e.variable_count
        result = resolve(e.expr)
        for _ in range(int(order)):
            result = result.diff(variable)
            if result.count_ops() > MAX_OPERATIONS:
                raise TooLargeError("a derivative is too long to be worked out")
        if result.has(sp.Derivative, sp.Subs, sp.DiracDelta, sp.Heaviside, sp.sign):
            raise OutOfScopeError(f"the derivative of {e.expr} has no closed form everywhere")
        return result
    if isinstance(e, sp.Subs):
        return resolve(e.expr).subs(e.variables[0], resolve(e.point[0]))
    return e.func(*(resolve(a) if isinstance(a, sp.Expr) else _resolve_limits(a) for a in e.args))


def _resolve_limits(limits: Expression) -> Expression:
    return sp.Tuple(*(resolve(a) if isinstance(a, sp.Expr) else a for a in limits))


def resolve_formula(formula: Formula) -> Formula:
    """`resolve` on every side."""
    return map_expressions(formula, resolve)


# ---------------------------------------------------------------------------------------------- definedness


@dataclass(frozen=True)
class Condition:
    """`formula` must hold wherever the premises do, for an expression of a claim to be defined there."""

    formula: Formula
    premises: tuple[Formula, ...] = ()
    bound: tuple[Variable, ...] = ()
    """Variables that the expression binds (the index of a sum)."""
    exact: bool = True
    """Whether it is necessary, too; of a power with a symbolic exponent it only suffices."""


def defined_where(formula: Formula) -> Iterator[Condition]:
    """The conditions under which every comparison in a formula has two defined sides."""
    match formula:
        case Compare(_, left, right):
            yield from _conditions(left)
            yield from _conditions(right)
        case And(parts) | Or(parts):
            for part in parts:
                yield from defined_where(part)
        case Not(part):
            yield from defined_where(part)
        case Implies(premise, conclusion):
            yield from defined_where(premise)
            for condition in defined_where(conclusion):
                yield replace(condition, premises=(premise, *condition.premises))
        case ForAll(variable, body):
            for condition in defined_where(body):
                yield replace(condition, bound=(variable, *condition.bound))


def defined_between(
    e: Expression,
    index: Expression,
    first: Expression,
    last: Expression,
    *,
    whole: bool = True,
    inside: bool = False,
) -> Iterator[Condition]:
    """The conditions under which an expression is defined for all integers (or reals) from first to last."""
    running = bound_variable(index, integral=whole)
    between = (Compare("<=", first, index), Compare("<=", index, last))
    for condition in _conditions(e, inside=inside):
        yield replace(condition, bound=(running, *condition.bound), premises=(*between, *condition.premises))


def _conditions(e: Expression, *, inside: bool = False) -> Iterator[Condition]:
    """`inside`: below a derivative, where functions must be smooth around the point."""
    if isinstance(e, sp.Sum):
        yield from _conditions_of_sum(e, inside=inside)
        return
    if isinstance(e, sp.Integral):
        yield from _conditions_of_integral(e, inside=inside)
        return
    if isinstance(e, sp.Derivative):
        yield from _conditions(e.expr, inside=True)
        yield from _conditions(resolve(e), inside=inside)
        return
    if isinstance(e, sp.Subs):
        variable, value = e.variables[0], resolve(e.point[0])
        yield from _conditions(e.point[0], inside=inside)
        yield from _range_conditions(variable, value, value)
        for condition in _conditions(e.expr, inside=inside):
            yield _substituted(condition, variable, value)
        return
    for part in e.args:
        yield from _conditions(part, inside=inside)
    if isinstance(e, sp.Pow):
        yield from _conditions_of_power(resolve(e.base), resolve(e.exp), inside=inside)
    elif isinstance(e, sp.log):
        yield Condition(Compare("<", sp.Integer(0), resolve(e.args[0])))
    elif e in (sp.oo, -sp.oo, sp.zoo, sp.nan):
        raise OutOfScopeError("infinity is not a number to calculate with")


def _conditions_of_power(base: Expression, exponent: Expression, *, inside: bool) -> Iterator[Condition]:
    zero = sp.Integer(0)
    if exponent.is_Rational:
        if exponent.is_Integer:
            if exponent < 0:
                yield Condition(Compare("!=", base, zero))
        else:
            yield Condition(Compare("<" if inside or exponent < 0 else "<=", zero, base))
    elif exponent.is_integer:
        yield Condition(Compare("!=", base, zero), exact=False)
    elif base is not sp.E:
        yield Condition(Compare("<", zero, base), exact=False)


def _range_conditions(symbol: Expression, low: Expression, high: Expression) -> Iterator[Condition]:
    """What SymPy may have assumed of a bound symbol holds between the ends that it takes."""
    zero = sp.Integer(0)
    if symbol.is_positive:
        yield Condition(Compare("<", zero, low))
    elif symbol.is_nonnegative:
        yield Condition(Compare("<=", zero, low))
    if symbol.is_negative:
        yield Condition(Compare("<", high, zero))
    elif symbol.is_nonpositive:
        yield Condition(Compare("<=", high, zero))
    if symbol.is_integer and not (low.is_integer and high.is_integer):
        raise OutOfScopeError(f"{low} or {high} is not known to be an integer")


def _conditions_of_sum(e: Expression, *, inside: bool) -> Iterator[Condition]:
    body, index, first, last = bound_parts(e)
    yield from _conditions(first, inside=inside)
    yield from _conditions(last, inside=inside)
    first, last = resolve(first), resolve(last)
    if not (first.is_integer and last.is_integer):
        raise OutOfScopeError(f"the ends of {e} are not known to be integers")
    if index in first.free_symbols | last.free_symbols:
        raise OutOfScopeError(f"the ends of {e} use its index")
    yield Condition(Compare("<=", first, last))
    yield from _range_conditions(index, first, last)
    yield from defined_between(body, index, first, last, inside=inside)


def _conditions_of_integral(e: Expression, *, inside: bool) -> Iterator[Condition]:
    body, variable, low, high = bound_parts(e)
    if variable in low.free_symbols | high.free_symbols:
        raise OutOfScopeError(f"the ends of {e} use its variable")
    between: list[Formula] = []
    for end, sides in ((low, (low, variable)), (high, (variable, high))):
        if not end.is_infinite:
            yield from _conditions(end, inside=inside)
            between.append(Compare("<=", *map(resolve, sides)))
    if low.is_infinite or high.is_infinite:
        yield Condition(Compare("<", resolve(e), sp.oo))  # that it converges is never shown here
    else:
        yield Condition(Compare("<=", resolve(low), resolve(high)))
    finite_low = low if not low.is_infinite else sp.Integer(-1)
    finite_high = high if not high.is_infinite else sp.Integer(1)
    yield from _range_conditions(variable, resolve(finite_low), resolve(finite_high))
    running = bound_variable(variable, integral=False)
    for condition in _conditions(body, inside=inside):
        yield replace(condition, bound=(running, *condition.bound), premises=(*between, *condition.premises))


def _substituted(condition: Condition, symbol: Expression, value: Expression) -> Condition:
    def change(e: Expression) -> Expression:
        return e.subs(symbol, value)

    return replace(
        condition,
        formula=map_expressions(condition.formula, change),
        premises=tuple(map_expressions(p, change) for p in condition.premises),
    )


def bound_variable(symbol: Expression, *, integral: bool) -> Variable:
    """A variable for a symbol that a sum or an integral binds; its range is said by premises."""
    kind: Literal["real", "integer"] = "integer" if integral else "real"
    return Variable(symbol.name, kind, None, False, None, False, DIMENSIONLESS, "", symbol, symbol.name)
