"""Formulas with quantifiers at a rational point.

Once the point is put in, a `forall` without other free symbols is a question of its own. It is true where its
body is shown to be defined and to hold on the variable's whole domain, and false where one value of the
variable makes the body false in exact arithmetic; z3 only proposes that value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from dpverify.proving import evaluation
from dpverify.proving.definedness import all_hold
from dpverify.proving.evaluation import ExactPoint
from dpverify.proving.language import (
    And,
    Compare,
    ForAll,
    Formula,
    Implies,
    Not,
    Obligation,
    Or,
    free_symbols,
)
from dpverify.proving.proof import Budget
from dpverify.proving.satisfiability import points_near, unsatisfiable
from dpverify.proving.terms import (
    Condition,
    OutOfScopeError,
    defined_where,
    map_expressions,
    rational,
    resolve_formula,
)

_TRUE = Compare("<=", sp.Integer(0), sp.Integer(0))
_FALSE = Compare("<", sp.Integer(0), sp.Integer(0))


def truth(formula: Formula, point: ExactPoint) -> bool | None:
    """Whether the formula holds at a point; None where it is undefined or nothing decides."""
    return evaluation.truth(_without_quantifiers(formula, point), point)


def _without_quantifiers(formula: Formula, point: ExactPoint) -> Formula:
    """The formula with every `forall` that can be decided at the point replaced by its truth."""
    match formula:
        case Compare():
            return formula
        case And(parts):
            return And(tuple(_without_quantifiers(p, point) for p in parts))
        case Or(parts):
            return Or(tuple(_without_quantifiers(p, point) for p in parts))
        case Not(part):
            return Not(_without_quantifiers(part, point))
        case Implies(premise, conclusion):
            return Implies(_without_quantifiers(premise, point), _without_quantifiers(conclusion, point))
        case ForAll():
            try:
                value = _decided(formula, point)
            except OutOfScopeError:
                value = None
            return formula if value is None else _TRUE if value else _FALSE


def _decided(formula: ForAll, point: ExactPoint) -> bool | None:
    variable = formula.variable
    if variable.symbol in point:
        raise OutOfScopeError(f"{variable.name} is bound twice")
    body = _substituted(resolve_formula(formula.body), point)
    if free_symbols(body) - {variable.symbol}:
        return None
    budget = Budget()
    for integers in (False, True) if variable.kind == "integer" else (False,):
        answer, model = unsatisfiable((variable,), (), body, budget=budget, integers=integers)
        if answer is True:
            closed = Obligation("at a point", "", _TRUE, ())
            return True if not all_hold(closed, _conditions(formula, point), budget) else None
        for witness in points_near((variable,), model) if model else ():
            value = witness[variable.symbol]
            if variable.contains(value) and truth(formula.body, {**point, variable.symbol: value}) is False:
                return False
    return None


def _substituted(formula: Formula, point: ExactPoint) -> Formula:
    values = {symbol: rational(value) for symbol, value in point.items()}
    return map_expressions(formula, lambda e: e.subs(values, simultaneous=True))


def _conditions(formula: ForAll, point: ExactPoint) -> Iterator[Condition]:
    """When the formula is defined; listed before the point goes in, which may make a division disappear."""
    for condition in defined_where(formula):
        yield replace(
            condition,
            formula=_substituted(condition.formula, point),
            premises=tuple(_substituted(p, point) for p in condition.premises),
        )
