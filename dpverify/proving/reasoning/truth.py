"""What is shown to be defined on a domain, and whether formulas with quantifiers hold at a point.

Nothing is proved about expressions that may not be defined. Once a rational point is put in, a `forall` without other
free symbols is a question of its own. It is true where its body is shown to be defined and to hold on the variable's
whole domain, and false where one value of the variable makes the body false in exact arithmetic; z3 only proposes that
value.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial

from dpverify.formulas.calculus import map_sides, substituted
from dpverify.formulas.definedness import Requirement, defined_where
from dpverify.formulas.expressions import (
    INFINITY,
    Expression,
    Number,
    OutOfScopeError,
    Variable,
    free_variables,
)
from dpverify.formulas.logic import ForAll, Formula, Le, Lt, free_in
from dpverify.formulas.rendering.printing import formula_text
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Budget, UnshownError
from dpverify.proving.reasoning.evaluation import ExactPoint, plain_truth
from dpverify.proving.reasoning.satisfiability import points_near, unsatisfiable, whole_or_not
from dpverify.proving.reasoning.signs import holds_by_signs, shift_that_shows
from dpverify.proving.reasoning.symbolic import symbolic_formula

_SHARE = 4
"""A single condition gets this part of the work that a claim may take."""


def require(obligation: Obligation, wanted: Iterable[Requirement], budget: Budget) -> None:
    """Raise `UnshownError` unless conditions are shown on the domain, under the assumptions."""
    if unshown := missing(obligation, wanted, budget):
        raise UnshownError(unshown)


def missing(obligation: Obligation, wanted: Iterable[Requirement], budget: Budget) -> str:
    """The first condition that is not shown, in words; empty if all are.

    By signs of parts, by shifted variables, and by z3, in this order. Each is shown in whatever form it has in the
    provers: a form is equal to what it is one of where that is defined, and what a condition is about is shown to be
    defined by the conditions that belong to its parts.
    """
    for condition in dict.fromkeys(wanted):
        if not _discharged(obligation, condition, budget):
            return f"{formula_text(condition.formula)} is not shown"
    return ""


def _discharged(obligation: Obligation, condition: Requirement, budget: Budget) -> bool:
    formula = condition.formula
    if formula.right == INFINITY:
        return False  # a limit is shown by its closed form, or not at all
    hidden = {v.name for v in condition.bound}
    variables = (*(v for v in obligation.over if v.name not in hidden), *condition.bound)
    assuming = (
        *(a for a in obligation.assuming if not {v.name for v in free_in(a)} & hidden),
        *condition.premises,
    )
    if holds_by_signs(formula):
        return True
    orders = (Lt(formula.left, formula.right), Lt(formula.right, formula.left))
    try:
        for claim in orders if formula.relation == "!=" else (formula,):
            if shift_that_shows(symbolic_formula(claim), variables, assuming) is not None:
                return True
        return unsatisfiable(variables, assuming, formula, budget=budget, share=_SHARE)[0] is True
    except OutOfScopeError:
        return False


def truth(formula: Formula, point: ExactPoint) -> bool | None:
    """Whether the formula holds at a point; None where it is undefined or nothing decides."""
    return plain_truth(formula, point, cache(partial(_decided, point=point)))


def _decided(formula: Formula, point: ExactPoint) -> bool | None:
    """The truth of a `forall` at a point, where it is decided."""
    if not isinstance(formula, ForAll) or formula.variable.name in point or formula.variable.kind == "vector":
        return None
    variable, budget = formula.variable, Budget()
    try:
        body = map_sides(formula.body, partial(_put_in, point=point))
        if free_in(body) - {variable}:
            return None
        for integers in whole_or_not((variable,)):
            answer, model = unsatisfiable((variable,), (), body, budget=budget, integers=integers)
            if answer is True:
                closed = Obligation("at a point", "", Le(0, 0), ())
                return None if missing(closed, defined_where(ForAll(variable, body)), budget) else True
            for witness in points_near((variable,), model) if model else ():
                value = witness[variable.name]
                inside = variable.contains(value)
                if inside and truth(formula.body, {**point, variable.name: value}) is False:
                    return False
    except OutOfScopeError:
        pass
    return None


def _put_in(e: Expression, point: ExactPoint) -> Expression:
    """An expression with the point's numbers for its letters, as it is written."""
    here: dict[Variable, Expression] = {
        v: Number(point[v.name]) for v in free_variables(e) if v.name in point and v.kind != "vector"
    }
    return substituted(e, here)
