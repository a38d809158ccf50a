"""Signs of expressions from the signs of their parts, and inequalities by shifting variables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from dpverify.formulas.expressions import OutOfScopeError, Variable
from dpverify.formulas.logic import Compare, Formula
from dpverify.formulas.records import POSITIVE, Signs
from dpverify.formulas.rendering.neutral import Json
from dpverify.formulas.signs import possible_signs
from dpverify.proving.reasoning.algebra import replaced
from dpverify.proving.reasoning.normal_form import NormalForms, Quotient
from dpverify.proving.reasoning.symbolic import (
    Symbolic,
    SymPy,
    rational,
    symbol,
    symbolic,
    symbolic_formula,
    tree,
)

MAX_SHIFTS = 64


def holds_by_signs(claim: Formula) -> bool:
    """Whether a comparison follows from the signs of the parts of its sides' difference, where both are defined."""
    if not isinstance(claim, Compare):
        return False
    difference = claim.right - claim.left
    if _fits(claim.relation, possible_signs(difference)):
        return True
    try:
        return _fits(claim.relation, possible_signs(tree(symbolic(difference))))
    except OutOfScopeError:
        return False


def _fits(relation: str, signs: Signs) -> bool:
    match relation:
        case "<=":
            return -1 not in signs
        case "<":
            return signs == POSITIVE
        case "!=":
            return 0 not in signs
        case _:
            return signs == {0}


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


def _orderings(assuming: tuple[Formula, ...], over: tuple[Variable, ...]) -> Iterator[tuple[str, Shift]]:
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


def shifts(variables: tuple[Variable, ...], assuming: tuple[Formula, ...]) -> Iterator[dict[str, Shift]]:
    """Ways to write every bounded variable with a t >= 0, the most informed first."""
    ordered: dict[str, list[Shift]] = {}
    for name, shift in _orderings(assuming, variables):
        ordered.setdefault(name, []).append(shift)
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
    done: set[str] = set()
    pending = dict(chosen)
    while pending:
        ready = [n for n, s in pending.items() if all(p in done or p not in chosen for p in s.plus)]
        if not ready:
            return False
        for name in ready:
            done.add(name)
            del pending[name]
    return True


def shifted(e: SymPy, variables: tuple[Variable, ...], chosen: Mapping[str, Shift]) -> SymPy:
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
    """Whether the normal form of an expression is a quotient of polynomials with nonnegative coefficients.

    The letters must be symbols that are nonnegative by assumption, pi, exponentials and roots. With `strict`,
    the numerator must also have a term that is positive throughout. The expression is then nonnegative
    (positive) wherever it is defined.
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


def shift_that_shows(
    claim: Symbolic, variables: tuple[Variable, ...], assuming: tuple[Formula, ...]
) -> dict[str, Shift] | None:
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
