"""Signs of expressions from the signs of their parts, and inequalities by shifting variables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sympy as sp

from dpverify.proving.language import Compare, Expression, Formula, Json, Phi, Variable
from dpverify.proving.normal_form import NormalForms, Quotient
from dpverify.proving.terms import OutOfScopeError

Signs = frozenset[int]
_ANY: Signs = frozenset({-1, 0, 1})
_POSITIVE: Signs = frozenset({1})
MAX_SHIFTS = 64


def signs_of_variable(v: Variable) -> Signs:
    """The signs that a variable takes on its domain."""
    result = set(_ANY)
    if v.lower is not None and v.lower >= 0:
        result.discard(-1)
        if v.lower > 0 or v.lower_open:
            result.discard(0)
    if v.upper is not None and v.upper <= 0:
        result.discard(1)
        if v.upper < 0 or v.upper_open:
            result.discard(0)
    return frozenset(result)


def possible_signs(e: Expression, variables: Mapping[Expression, Variable]) -> Signs:
    """A set that contains the sign of the expression at every point of the domain where it is defined."""

    def of(part: Expression) -> Signs:
        return possible_signs(part, variables)

    if e.is_Rational:
        return frozenset({int(sp.sign(e))})
    if e.is_Symbol:
        return signs_of_variable(variables[e]) if e in variables else _ANY
    if e is sp.pi or e is sp.E or isinstance(e, sp.exp | sp.erfc | Phi):
        return _POSITIVE
    if e.is_Mul:
        result = _POSITIVE
        for part in e.args:
            result = frozenset(a * b for a in result for b in of(part))
        return result
    if e.is_Add:
        parts = frozenset().union(*(of(part) for part in e.args))
        if not {-1, 1} <= parts:
            # a sum of terms of one sign vanishes only if all of them do
            return parts if all(0 in of(part) for part in e.args) else parts - {0}
        return _ANY
    if e.is_Pow:
        base = of(e.base)
        if not e.exp.is_integer:
            # a root of what is 0 is 0; with other exponents the base is positive wherever this may be used
            return _POSITIVE | (base & {0} if e.exp.is_Rational and e.exp > 0 else frozenset())
        if e.exp.is_even:
            return frozenset(abs(s) for s in base)
        if e.exp.is_odd or base <= {0, 1}:
            return base
        return _ANY
    if isinstance(e, sp.Abs):
        return frozenset(abs(s) for s in of(e.args[0]))
    if isinstance(e, sp.Max | sp.Min):
        pick = max if isinstance(e, sp.Max) else min
        return frozenset(pick(choice) for choice in itertools.product(*(of(a) for a in e.args)))
    return _ANY


def holds_by_signs(claim: Formula, variables: Mapping[Expression, Variable]) -> bool:
    """Whether a comparison follows from the signs of the parts of its sides' difference."""
    if not isinstance(claim, Compare):
        return False
    signs = possible_signs(claim.right - claim.left, variables)
    match claim.relation:
        case "<=":
            return -1 not in signs
        case "<":
            return signs == _POSITIVE
        case "!=":
            return 0 not in signs
        case "==":
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


def _orderings(
    assuming: tuple[Formula, ...], by_symbol: Mapping[Expression, Variable]
) -> Iterator[tuple[str, Shift]]:
    for formula in assuming:
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
    for name, shift in _orderings(assuming, {v.symbol: v for v in variables}):
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


def shifted(e: Expression, variables: tuple[Variable, ...], chosen: Mapping[str, Shift]) -> Expression:
    """The expression with every chosen variable replaced; t keeps the variable's name."""
    by_name = {v.name: v for v in variables}
    replacement: dict[str, Expression] = {}

    def value(name: str) -> Expression:
        if name not in chosen:
            return by_name[name].symbol
        if name not in replacement:
            shift, v = chosen[name], by_name[name]
            if shift.plus:
                start = sum(value(p) for p in shift.plus)
            else:
                start = v.lower if shift.end == "lower" else v.upper
            # what is an integer stays one: (-2)^k has no sign, but is defined
            kind = {"integer": True} if v.kind == "integer" and start.is_integer else {}
            t = sp.Dummy(name, **{"positive" if shift.positive else "nonnegative": True}, **kind)
            if v.kind == "integer" and not kind:
                raise OutOfScopeError(f"the integer {name} is no integer away from {start}")
            replacement[name] = start - t if shift.end == "upper" and not shift.plus else start + t
        return replacement[name]

    return e.subs({by_name[name].symbol: value(name) for name in chosen}, simultaneous=True)


def shown_nonnegative(e: Expression, *, strict: bool) -> bool:
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
    claim: Compare, variables: tuple[Variable, ...], assuming: tuple[Formula, ...]
) -> dict[str, Shift] | None:
    """A shift after which right minus left has only nonnegative coefficients, or None."""
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
