"""Whether formulas with quantifiers hold at a point.

Once a rational point is put in, a `forall` without other free symbols is a question of its own. It is true where its
body is shown to be defined and to hold on the variable's whole domain, and false where one value of the
variable makes the body false in exact arithmetic; z3 only proposes that value.
"""

from __future__ import annotations

from dpverify.formulas.calculus import map_sides, substituted
from dpverify.formulas.definedness import defined_where
from dpverify.formulas.expressions import Expression, Number, OutOfScopeError, Variable, free_variables
from dpverify.formulas.logic import And, Compare, Exists, ForAll, Formula, Implies, Le, Lt, Not, Or, free_in
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Budget
from dpverify.proving.reasoning.definedness import all_hold
from dpverify.proving.reasoning.evaluation import ExactPoint, plain_truth
from dpverify.proving.reasoning.satisfiability import points_near, unsatisfiable

_TRUE, _FALSE = Le(0, 0), Lt(0, 0)


def truth(formula: Formula, point: ExactPoint) -> bool | None:
    """Whether the formula holds at a point; None where it is undefined or nothing decides."""
    return plain_truth(_without_quantifiers(formula, point), point)


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
        case Exists():
            return formula
        case ForAll():
            try:
                value = _decided(formula, point)
            except OutOfScopeError:
                value = None
            return formula if value is None else _TRUE if value else _FALSE


def _decided(formula: ForAll, point: ExactPoint) -> bool | None:
    variable = formula.variable
    if variable.kind == "vector":
        raise OutOfScopeError("a vector under a quantifier")
    if variable.name in point:
        raise OutOfScopeError(f"{variable.name} is bound twice")
    body = _substituted(formula.body, point)
    if free_in(body) - {variable}:
        return None
    budget = Budget()
    for integers in (False, True) if variable.kind == "integer" else (False,):
        answer, model = unsatisfiable((variable,), (), body, budget=budget, integers=integers)
        if answer is True:
            closed = Obligation("at a point", "", _TRUE, ())
            return True if not all_hold(closed, defined_where(ForAll(variable, body)), budget) else None
        for witness in points_near((variable,), model) if model else ():
            value = witness[variable.name]
            if variable.contains(value) and truth(formula.body, {**point, variable.name: value}) is False:
                return False
    return None


def _substituted(formula: Formula, point: ExactPoint) -> Formula:
    """The formula with the point's numbers for its letters, as it is written."""

    def change(e: Expression) -> Expression:
        here: dict[Variable, Expression] = {
            v: Number(point[v.name]) for v in free_variables(e) if v.name in point and v.kind != "vector"
        }
        return substituted(e, here)

    return map_sides(formula, change)
