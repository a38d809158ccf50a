"""Showing that expressions are defined on the domain; nothing is proved about those that may not be."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from dpverify.proving.language import Compare, Formula, Obligation, free_symbols
from dpverify.proving.proof import Budget
from dpverify.proving.satisfiability import unsatisfiable
from dpverify.proving.signs import holds_by_signs, shift_that_shows
from dpverify.proving.terms import Condition, OutOfScopeError, defined_where, resolve_formula

_SHARE = 4
"""A single condition gets this part of the work that a claim may take."""


def is_defined(obligation: Obligation, budget: Budget) -> str:
    """An empty string if every side of the claim is shown to be defined on the domain, else what is not.

    By signs of parts, by shifted variables, and by z3, in this order.
    """
    return all_hold(obligation, defined_where(obligation.claim), budget)


def all_hold(obligation: Obligation, wanted: Iterable[Condition], budget: Budget) -> str:
    """The same for given conditions."""
    conditions: dict[str, Condition] = {}
    for condition in wanted:
        conditions.setdefault(repr(condition), condition)
    for condition in conditions.values():
        if not _discharged(obligation, condition, budget):
            return f"{_in_words(condition.formula)} is not shown"
    return ""


def _in_words(f: Formula) -> str:
    return f"{f.left} {f.relation} {f.right}" if isinstance(f, Compare) else str(f)


def _discharged(obligation: Obligation, condition: Condition, budget: Budget) -> bool:
    if isinstance(condition.formula, Compare) and condition.formula.right is sp.oo:
        return False  # a limit is shown by its closed form, or not at all
    hidden = {v.symbol for v in condition.bound}
    variables = (*(v for v in obligation.over if v.symbol not in hidden), *condition.bound)
    assuming = (*(a for a in obligation.assuming if not free_symbols(a) & hidden), *condition.premises)
    by_symbol = {v.symbol: v for v in variables}
    if holds_by_signs(condition.formula, by_symbol):
        return True
    formula = resolve_formula(condition.formula)
    premises = tuple(map(resolve_formula, assuming))
    try:
        if isinstance(formula, Compare):
            for claim in _readings(formula):
                # a term of the claim is shown to be defined by conditions of its own
                if shift_that_shows(claim, variables, premises) is not None:
                    return True
        return unsatisfiable(variables, premises, formula, budget=budget, share=_SHARE)[0] is True
    except OutOfScopeError:
        return False


def _readings(formula: Compare) -> tuple[Compare, ...]:
    if formula.relation == "!=":
        return Compare("<", formula.left, formula.right), Compare("<", formula.right, formula.left)
    return (formula,)
