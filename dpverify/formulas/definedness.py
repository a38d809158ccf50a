"""Where a formula's expressions have values: a list of conditions, read off the trees as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dpverify.formulas.calculus import map_sides, substituted, worked_out
from dpverify.formulas.expressions import (
    INFINITY,
    Apply,
    At,
    Binder,
    Constant,
    Derivative,
    Expression,
    OutOfScopeError,
    Variable,
    constant,
    free_variables,
    is_infinite,
    is_integer,
)
from dpverify.formulas.logic import Compare, Exists, ForAll, Formula, Implies, Le, Lt, formula_parts
from dpverify.formulas.operators import operator


@dataclass(frozen=True)
class Requirement:
    """`formula` must hold wherever the premises do, for an expression of a claim to be defined there.

    Together, the conditions of an expression are met only where it has a value: each asks something of parts whose
    own conditions are listed, too, so that it may be shown for any form of them that is equal where they are defined.
    """

    formula: Compare
    premises: tuple[Formula, ...] = ()
    bound: tuple[Variable, ...] = ()
    """Variables that the expression binds (the index of a sum)."""
    exact: bool = True
    """Whether it is necessary, too; of a power with a symbolic exponent it only suffices."""


def defined_where(formula: Formula) -> Iterator[Requirement]:
    """When every comparison in a formula has two defined sides; `OutOfScopeError` where that can't be said."""
    match formula:
        case Compare(_, left, right):
            yield from conditions(left)
            yield from conditions(right)
        case Implies(premise, conclusion):
            yield from defined_where(premise)
            for condition in defined_where(conclusion):
                yield replace(condition, premises=(premise, *condition.premises))
        case ForAll(variable, body) | Exists(variable, body):
            for condition in defined_where(body):
                yield replace(condition, bound=(variable, *condition.bound))
        case _:
            for part in formula_parts(formula):
                yield from defined_where(part)


def defined_between(
    e: Expression, index: Variable, first: Expression, last: Expression, *, inside: bool = False
) -> Iterator[Requirement]:
    """The conditions under which an expression is defined for all values of its index from first to last."""
    between: list[Formula] = []
    if not is_infinite(first):
        between.append(Le(worked_out(first), index))
    if not is_infinite(last):
        between.append(Le(index, worked_out(last)))
    for condition in conditions(e, inside=inside):
        yield replace(condition, bound=(index, *condition.bound), premises=(*between, *condition.premises))


def conditions(e: Expression, *, inside: bool = False) -> Iterator[Requirement]:
    """The conditions of one expression; `inside` a derivative, functions must be smooth around the point."""
    match e:
        case Apply(name, arguments):
            for part in arguments:
                yield from conditions(part, inside=inside)
            for need in operator(name).needs(tuple(map(worked_out, arguments)), inside):
                if not _surely(need.formula):
                    yield Requirement(need.formula, exact=need.exact)
        case Binder("integral"):
            yield from _of_integral(e, inside=inside)
        case Binder():
            yield from _of_sum(e, inside=inside)
        case Derivative(body, _, _):
            yield from conditions(body, inside=True)
            yield from conditions(worked_out(e), inside=inside)
        case At(body, variable, value):
            yield from conditions(value, inside=inside)
            value = worked_out(value)
            if variable.kind == "integer" and not is_integer(value):
                raise OutOfScopeError(f"a value of {variable.name} is not known to be an integer")
            for condition in conditions(body, inside=inside):
                yield _with_values(condition, variable, value)
        case Constant("oo" | "-oo"):
            raise OutOfScopeError("infinity is not a number")
        case _:
            pass


def _surely(f: Compare) -> bool:
    """Whether a comparison of two numbers holds."""
    left, right = constant(f.left), constant(f.right)
    if left is None or right is None:
        return False
    return {"<=": left <= right, "<": left < right, "==": left == right, "!=": left != right}[f.relation]


def _with_values(condition: Requirement, variable: Variable, value: Expression) -> Requirement:
    if any(v.name == variable.name for v in condition.bound):
        return condition  # bound anew further inside
    if any(v.name == other.name for v in condition.bound for other in free_variables(value)):
        raise OutOfScopeError(f"{variable.name} has a value that contains a name bound further inside")

    def change(e: Expression) -> Expression:
        return worked_out(substituted(e, {variable: value}))

    formula = condition.formula
    return replace(
        condition,
        formula=Compare(formula.relation, change(formula.left), change(formula.right)),
        premises=tuple(map_sides(p, change) for p in condition.premises),
    )


def _in_range(index: Variable, first: Expression, last: Expression) -> Iterator[Requirement]:
    """The index keeps to its declared domain, which whoever simplifies under a sum or an integral may use."""
    low, high = index.lower, index.upper
    if (low is not None and is_infinite(first)) or (high is not None and is_infinite(last)):
        raise OutOfScopeError(f"{index.name} leaves its domain")
    if low is not None:
        yield Requirement(Lt(low, first) if index.lower_open else Le(low, first), exact=False)
    if high is not None:
        yield Requirement(Lt(last, high) if index.upper_open else Le(last, high), exact=False)


def _of_sum(e: Binder, *, inside: bool) -> Iterator[Requirement]:
    for end in (e.first, e.last):
        yield from conditions(end, inside=inside)
    first, last = worked_out(e.first), worked_out(e.last)
    if not (is_integer(first) and is_integer(last)):
        raise OutOfScopeError(f"the ends of a {e.kind} are not known to be integers")
    _not_in_ends(e)
    yield Requirement(Le(first, last))
    yield from _in_range(e.variable, first, last)
    yield from defined_between(e.body, e.variable, first, last, inside=inside)


def _of_integral(e: Binder, *, inside: bool) -> Iterator[Requirement]:
    if inside:
        raise OutOfScopeError("a derivative of an integral")
    _not_in_ends(e)
    for end in (e.first, e.last):
        if not is_infinite(end):
            yield from conditions(end)
    first, last = (end if is_infinite(end) else worked_out(end) for end in (e.first, e.last))
    if is_infinite(first) or is_infinite(last):
        yield converges(e)
    else:
        yield Requirement(Le(first, last))
    yield from _in_range(e.variable, first, last)
    yield from defined_between(e.body, e.variable, first, last)


def converges(e: Binder) -> Requirement:
    """That an integral with an infinite end has a value, which is shown by its closed form or not at all."""
    return Requirement(Lt(e, INFINITY))


def _not_in_ends(e: Binder) -> None:
    if any(v.name == e.variable.name for end in (e.first, e.last) for v in free_variables(end)):
        says = f"the ends of {'an' if e.kind == 'integral' else 'a'} {e.kind} use its variable"
        raise OutOfScopeError(says)
