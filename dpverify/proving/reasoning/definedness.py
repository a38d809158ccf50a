"""Showing that expressions are defined on the domain; nothing is proved about those that may not be."""

from __future__ import annotations

from collections.abc import Iterable

from dpverify.formulas.definedness import Requirement, defined_where
from dpverify.formulas.expressions import INFINITY, OutOfScopeError
from dpverify.formulas.logic import Compare, Lt, free_in
from dpverify.formulas.printing import formula_text
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Budget
from dpverify.proving.reasoning.satisfiability import unsatisfiable
from dpverify.proving.reasoning.signs import holds_by_signs, shift_that_shows
from dpverify.proving.reasoning.symbolic import symbolic_formula

_SHARE = 4
"""A single condition gets this part of the work that a claim may take."""


def is_defined(obligation: Obligation, budget: Budget) -> str:
    """An empty string if every side of the claim is shown to be defined on the domain, else what is not.

    By signs of parts, by shifted variables, and by z3, in this order.
    """
    return all_hold(obligation, defined_where(obligation.claim), budget)


def all_hold(obligation: Obligation, wanted: Iterable[Requirement], budget: Budget) -> str:
    """The same for given conditions.

    Each is shown in whatever form it has in the provers: a form is equal to what it is one of where that is defined,
    and what a condition is about is shown to be defined by the conditions that belong to its parts.
    """
    for condition in dict.fromkeys(wanted):
        if not _discharged(obligation, condition, budget):
            return f"{formula_text(condition.formula)} is not shown"
    return ""


def _discharged(obligation: Obligation, condition: Requirement, budget: Budget) -> bool:
    if condition.formula.right == INFINITY:
        return False  # a limit is shown by its closed form, or not at all
    hidden = {v.name for v in condition.bound}
    variables = (*(v for v in obligation.over if v.name not in hidden), *condition.bound)
    assuming = (
        *(a for a in obligation.assuming if not {v.name for v in free_in(a)} & hidden),
        *condition.premises,
    )
    if holds_by_signs(condition.formula):
        return True
    try:
        for claim in _readings(condition.formula):
            if shift_that_shows(symbolic_formula(claim), variables, assuming) is not None:
                return True
        return unsatisfiable(variables, assuming, condition.formula, budget=budget, share=_SHARE)[0] is True
    except OutOfScopeError:
        return False


def _readings(formula: Compare) -> tuple[Compare, ...]:
    if formula.relation == "!=":
        return Lt(formula.left, formula.right), Lt(formula.right, formula.left)
    return (formula,)
