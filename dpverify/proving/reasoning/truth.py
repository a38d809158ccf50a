"""What is shown to be defined on a domain, by shifting variables too, and whether formulas hold at a point.

Nothing is proved about expressions that may not be defined. Once a rational point is put in, a `forall` without other
free symbols is a question of its own. It is true where its body is shown to be defined and to hold on the variable's
whole domain, and false where one value of the variable makes the body false in exact arithmetic; z3 only proposes that
value.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from graphlib import CycleError, TopologicalSorter

import sympy as sp

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
from dpverify.formulas.logic import Compare, ForAll, Formula, Lt, free_in
from dpverify.formulas.printing import formula_text
from dpverify.formulas.rendering.neutral import Json
from dpverify.grouping import grouped
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, UnshownError
from dpverify.proving.reasoning.algebra import replaced
from dpverify.proving.reasoning.evaluation import ExactPoint, plain_truth
from dpverify.proving.reasoning.normal_form import NormalForms, Quotient
from dpverify.proving.reasoning.satisfiability import points_near, unsatisfiable, whole_or_not
from dpverify.proving.reasoning.symbolic import (
    Symbolic,
    SymPy,
    holds_by_signs,
    rational,
    symbol,
    symbolic_formula,
)

Letters = tuple[Variable, ...]
Formulas = tuple[Formula, ...]

MAX_SHIFTS = 64
_SHARE = 4
"""A single condition gets this part of the work that a claim may take."""


def require(problem: ProofProblem, wanted: Iterable[Requirement], budget: Budget) -> None:
    """Raise `UnshownError` unless conditions are shown on the domain, under the assumptions."""
    if unshown := missing(problem.over, problem.assuming, wanted, budget):
        raise UnshownError(unshown)


def missing(over: Letters, given: Formulas, wanted: Iterable[Requirement], budget: Budget) -> str:
    """The first condition that is not shown, in words; empty if all are.

    By signs of parts, by shifted variables, and by z3, in this order. Each is shown in whatever form it has in the
    provers: a form is equal to what it is one of where that is defined, and what a condition is about is shown to be
    defined by the conditions that belong to its parts.
    """
    for condition in dict.fromkeys(wanted):
        if not _discharged(over, given, condition, budget):
            return f"{formula_text(condition.formula)} is not shown"
    return ""


def _discharged(over: Letters, given: Formulas, condition: Requirement, budget: Budget) -> bool:
    formula = condition.formula
    if formula.right == INFINITY:
        return False  # a limit is shown by its closed form, or not at all
    hidden = {v.name for v in condition.bound}
    variables = (*(v for v in over if v.name not in hidden), *condition.bound)
    seen = (a for a in given if not {v.name for v in free_in(a)} & hidden)
    assuming = (*seen, *condition.premises)
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
                return None if missing((), (), defined_where(ForAll(variable, body)), budget) else True
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


@dataclass(frozen=True)
class Shift:
    """What stands for one variable: bound + t, bound - t, or a sum of other variables + t, with t >= 0."""

    end: str
    plus: tuple[str, ...] = ()
    positive: bool = False
    """Whether t > 0, the bound being open."""

    def to_json(self) -> Json:
        """As certificates write it."""
        return [self.end, {"plus": list(self.plus)}] if self.plus else [self.end]


def _orderings(assuming: Formulas, over: Letters) -> Iterator[tuple[str, Shift]]:
    by_symbol: Mapping[SymPy, Variable] = {symbol(v): v for v in over}
    for written in assuming:
        try:
            formula = symbolic_formula(written)
        except OutOfScopeError:
            continue
        if not isinstance(formula, Compare) or formula.relation not in ("<=", "<"):
            continue
        terms = sp.Add.make_args(formula.right - formula.left)
        plus = [t for t in terms if t in by_symbol]
        minus = [-t for t in terms if -t in by_symbol]
        if len(plus) == 1 and minus and len(terms) == 1 + len(minus):
            names = tuple(by_symbol[m].name for m in minus)
            yield by_symbol[plus[0]].name, Shift("lower", names, formula.relation == "<")


def shifts(variables: Letters, assuming: Formulas) -> Iterator[dict[str, Shift]]:
    """Ways to write every bounded variable with a t >= 0, the most informed first."""
    ordered = grouped(_orderings(assuming, variables))
    choices: list[list[tuple[str, Shift | None]]] = []
    for v in variables:
        options: list[Shift | None] = list(ordered.get(v.name, []))
        if v.lower is not None:
            options.append(Shift("lower", (), v.lower_open))
        if v.upper is not None:
            options.append(Shift("upper", (), v.upper_open))
        choices.append([(v.name, option) for option in options or [None]])
    for combination in itertools.islice(itertools.product(*choices), MAX_SHIFTS):
        result = {name: shift for name, shift in combination if shift is not None}
        if _acyclic(result):
            yield result


def _acyclic(chosen: Mapping[str, Shift]) -> bool:
    try:
        TopologicalSorter({name: shift.plus for name, shift in chosen.items()}).prepare()
    except CycleError:
        return False
    return True


def shifted(e: SymPy, variables: Letters, chosen: Mapping[str, Shift]) -> SymPy:
    """The expression with every chosen variable replaced; t keeps the variable's name."""
    by_name = {v.name: v for v in variables}
    replacement: dict[str, SymPy] = {}

    def value(name: str) -> SymPy:
        if name not in chosen:
            return symbol(by_name[name])
        if name not in replacement:
            shift, v = chosen[name], by_name[name]
            if shift.plus:
                start = sum(value(p) for p in shift.plus)
            else:
                bound = v.lower if shift.end == "lower" else v.upper
                start = rational(bound if bound is not None else Fraction(0))
            # what is an integer stays one: (-2)^k has no sign, but is defined
            kind = {"integer": True} if v.kind == "integer" and start.is_integer else {}
            t = sp.Dummy(name, **{"positive" if shift.positive else "nonnegative": True}, **kind)
            if v.kind == "integer" and not kind:
                raise OutOfScopeError(f"the integer {name} is no integer away from {start}")
            replacement[name] = start - t if shift.end == "upper" and not shift.plus else start + t
        return replacement[name]

    return replaced(e, {symbol(by_name[name]): value(name) for name in chosen})


def shown_nonnegative(e: SymPy, *, strict: bool) -> bool:
    """Whether an expression is nonnegative wherever it is defined: a quotient of nonnegative coefficients.

    The letters must be symbols that are nonnegative by assumption, pi, exponentials and roots. With `strict`, the
    numerator must also have a term that is positive throughout.
    """
    forms = NormalForms()
    q = forms.of(e)
    for candidate in (q, Quotient(*({m: -c for m, c in p.items()} for p in (q.numerator, q.denominator)))):
        if (
            forms.is_nonnegative(candidate.numerator)
            and forms.is_nonnegative(candidate.denominator)
            and (not strict or forms.has_positive_term(candidate.numerator))
        ):
            return True
    return False


def shift_that_shows(claim: Symbolic, variables: Letters, assuming: Formulas) -> dict[str, Shift] | None:
    """A shift after which right minus left of a claim in SymPy's form has only nonnegative coefficients, or None."""
    if claim.relation not in ("<=", "<"):
        return None
    difference = claim.right - claim.left
    for chosen in shifts(variables, assuming):
        try:
            if shown_nonnegative(shifted(difference, variables, chosen), strict=claim.relation == "<"):
                return chosen
        except OutOfScopeError:
            continue
    return None
