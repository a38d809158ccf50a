"""Formulas: relations between expressions, and what is said of several of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from dpverify.formulas.expressions import (
    Expression,
    OutOfScopeError,
    Variable,
    all_variables,
    expression,
    free_variables,
    subexpressions,
)

Relation = Literal["<=", "<", "==", "!="]


@dataclass(frozen=True)
class Compare:
    """left (relation) right, between two expressions of the same unit.

    `turned` says that it is written the other way around, with `>=` or `>`; that makes no other formula of it.
    """

    relation: Relation
    left: Expression
    right: Expression
    turned: bool = field(default=False, compare=False)

    def as_written(self, left: str | None, right: str | None) -> tuple[str, str | None, str | None]:
        """The relation as it is written and, in that order, what is said of its two sides."""
        if not self.turned:
            return self.relation, left, right
        return self.relation.replace("<", ">"), right, left


@dataclass(frozen=True)
class And:
    """All of the parts."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Or:
    """At least one of the parts."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Not:
    """The negation."""

    part: Formula


@dataclass(frozen=True)
class Implies:
    """If the first, then the second."""

    premise: Formula
    conclusion: Formula


@dataclass(frozen=True)
class ForAll:
    """For every value of the variable in its domain."""

    variable: Variable
    body: Formula


@dataclass(frozen=True)
class Exists:
    """For at least one value of the variable in its domain."""

    variable: Variable
    body: Formula


Formula = Compare | And | Or | Not | Implies | ForAll | Exists


def Le(left: object, right: object) -> Compare:  # noqa: N802
    """Left <= right."""
    return Compare("<=", expression(left), expression(right))


def Lt(left: object, right: object) -> Compare:  # noqa: N802
    """Left < right."""
    return Compare("<", expression(left), expression(right))


def Ge(left: object, right: object) -> Compare:  # noqa: N802
    """Left >= right, kept as right <= left."""
    return Compare("<=", expression(right), expression(left), turned=True)


def Gt(left: object, right: object) -> Compare:  # noqa: N802
    """Left > right, kept as right < left."""
    return Compare("<", expression(right), expression(left), turned=True)


def Eq(left: object, right: object) -> Compare:  # noqa: N802
    """Left == right."""
    return Compare("==", expression(left), expression(right))


def Ne(left: object, right: object) -> Compare:  # noqa: N802
    """Left != right."""
    return Compare("!=", expression(left), expression(right))


def negated(formula: Formula) -> Formula:
    """What is true where a formula is false; `OutOfScopeError` for one with a quantifier in it."""
    match formula:
        case Compare("<=" | "<" as relation, left, right):
            return Compare("<" if relation == "<=" else "<=", right, left)
        case Compare(relation, left, right):
            return Compare("!=" if relation == "==" else "==", left, right)
        case And(parts):
            return Or(tuple(map(negated, parts)))
        case Or(parts):
            return And(tuple(map(negated, parts)))
        case Not(part):
            return part
        case Implies(premise, conclusion):
            return And((premise, negated(conclusion)))
        case ForAll() | Exists():
            raise OutOfScopeError("a quantifier within a part of the claim")


def in_domain(v: Variable, value: object) -> tuple[Compare, ...]:
    """That a value lies between the ends of a letter's domain."""
    found = []
    if v.lower is not None:
        found.append((Lt if v.lower_open else Le)(v.lower, value))
    if v.upper is not None:
        found.append((Lt if v.upper_open else Le)(value, v.upper))
    return tuple(found)


def formula_parts(formula: Formula) -> tuple[Formula, ...]:
    """The formulas that a formula is made of."""
    match formula:
        case And(parts) | Or(parts):
            return parts
        case Not(part) | ForAll(_, part) | Exists(_, part):
            return (part,)
        case Implies(premise, conclusion):
            return premise, conclusion
        case Compare():
            return ()


def with_parts(formula: Formula, parts: Iterable[Formula]) -> Formula:
    """The formula with others in the place of those that it is made of."""
    match formula:
        case And() | Or():
            return type(formula)(tuple(parts))
        case ForAll(variable, _) | Exists(variable, _):
            return type(formula)(variable, *parts)
        case Not() | Implies():
            return type(formula)(*parts)
        case Compare():
            return formula


def subformulas(formula: Formula) -> Iterator[Formula]:
    """The formula and all of its parts, each before its own."""
    yield formula
    for part in formula_parts(formula):
        yield from subformulas(part)


def comparisons(formula: Formula) -> Iterator[Compare]:
    """Every comparison inside a formula."""
    return (part for part in subformulas(formula) if isinstance(part, Compare))


def expressions_in(*formulas: Formula) -> Iterator[Expression]:
    """Every expression in formulas, each before its own parts."""
    for compare in (compare for formula in formulas for compare in comparisons(formula)):
        yield from subexpressions(compare.left)
        yield from subexpressions(compare.right)


def conjuncts(formula: Formula) -> Iterator[Formula]:
    """The parts of a conjunction, and of those in it; the formula itself where it is none."""
    if isinstance(formula, And):
        for part in formula.parts:
            yield from conjuncts(part)
    else:
        yield formula


def variables_of(formula: Formula) -> Iterator[Variable]:
    """Every variable in a formula, bound ones included, as often as it is written."""
    for part in subformulas(formula):
        if isinstance(part, Compare):
            yield from all_variables(part.left)
            yield from all_variables(part.right)
        elif isinstance(part, ForAll | Exists):
            yield part.variable


def free_in(formula: Formula) -> frozenset[Variable]:
    """The variables that a formula leaves free."""
    match formula:
        case Compare(_, left, right):
            return free_variables(left) | free_variables(right)
        case ForAll(variable, body) | Exists(variable, body):
            return free_in(body) - {variable}
        case _:
            return frozenset().union(*map(free_in, formula_parts(formula)))


def has_exists(formula: Formula) -> bool:
    """Whether an `Exists` is part of a formula."""
    return any(isinstance(part, Exists) for part in subformulas(formula))
