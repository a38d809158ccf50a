"""The search for counterexamples: simple numbers first, then spread points, then local optimization.

Floats only propose points. A point counts once it has been confirmed in exact fractions or by balls that
decide, assumptions included (`points.confirmed`). Many points at once are looked at in arrays of floats first, of which
those are left out where a claim surely does not fail; it does no harm to keep too much.
"""

from __future__ import annotations

import itertools
import math
import operator as ring
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from dpverify.formulas.calculus import worked_out
from dpverify.formulas.expressions import (
    Apply,
    Binder,
    Constant,
    Expression,
    Number,
    OutOfScopeError,
    Variable,
    free_variables,
)
from dpverify.formulas.logic import (
    And,
    Compare,
    Exists,
    ForAll,
    Formula,
    Implies,
    Not,
    Or,
    Relation,
    conjuncts,
    negated,
)
from dpverify.formulas.operators import operator
from dpverify.proving.problem import Ends, ProofProblem
from dpverify.proving.proof import Budget, NamedProver, Proof, undecided
from dpverify.proving.provers.points import confirmed, ranks, refutation, simple_values, spread_out
from dpverify.proving.reasoning.effort import note_the_clock
from dpverify.proving.reasoning.evaluation import MAX_TERMS_OF_SUM, ExactPoint

Violation = Callable[[Sequence[float]], float]
"""At most 0 where a formula holds, positive where it fails, NaN where it is undefined."""

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
_Looked = tuple[float, list[float], list[float]]
"""A gap, a place in the unit cube, and the point there."""

_QUANTIFIED = "a claim with a quantifier is not evaluated in floats"
_NEVER = -math.inf
SIMPLE_POINTS = 20_000
_BLOCKS = (256, 4096, SIMPLE_POINTS)
"""Simple points, up to these places, that are looked at together: many counterexamples are among the first."""
MAX_TERMS = 2_000_000
"""Terms of sums that one search adds up in floats."""
POINTS = 4096
CONFIRMATIONS = 200
"""How many proposed points are tried exactly before a stage gives up."""


class TermsLeft:
    """How many terms of sums all float functions of a search may still add up."""

    def __init__(self) -> None:
        self.left = MAX_TERMS

    def taken(self, first: float, last: float) -> range:
        """The places of a sum's terms; ValueError where there are none, or the work is spent."""
        count = last - first + 1
        if not 1 <= count <= min(self.left, MAX_TERMS_OF_SUM):
            raise ValueError
        self.left -= int(count)
        return range(int(count))


class _Code:
    """Python code for an expression, in floats, so that no number grows large; equal parts are worked out once."""

    def __init__(self, terms: TermsLeft) -> None:
        self.names: dict[str, Any] = {"taken": terms.taken, "prod": math.prod}
        self.lines: list[str] = []
        self._done: dict[Expression, str] = {}
        self._depth = 1

    def _new(self, value: str) -> str:
        name = f"t_{len(self.names)}_{len(self.lines)}"
        self.lines.append("    " * self._depth + f"{name} = {value}")
        return name

    def write(self, e: Expression, letters: Mapping[str, str]) -> str:
        """The name of the value; `letters` are those of variables."""
        if e not in self._done:
            self._done[e] = self._written(e, letters)
        return self._done[e]

    def _written(self, e: Expression, letters: Mapping[str, str]) -> str:
        match e:
            case Number(value):
                return f"({float(value)!r})"
            case Constant("pi"):
                return repr(math.pi)
            case Variable():
                return letters[e.name]
            case Apply(name, arguments):
                parts = [self.write(a, letters) for a in arguments]
                self.names.setdefault(f"f_{name}", operator(name).number)
                return self._new(_INFIX[name].format(*parts) if name in _INFIX and len(parts) < 3 else
                                 f"f_{name}({', '.join(parts)})")  # fmt: skip
            case Binder("sum" | "product" as kind, body, variable, first, last):
                low, high = (self.write(end, letters) for end in (first, last))
                values, place = self._new("[]"), self._new("0")
                self.lines.append("    " * self._depth + f"for {place} in taken({low}, {high}):")
                outside, self._depth = self._done, self._depth + 1
                # what depends on the index is worked out for each of its values
                self._done = {
                    part: name for part, name in outside.items() if variable not in free_variables(part)
                }
                index = self._new(f"{low} + {place}")
                term = self.write(body, {**letters, variable.name: index})
                self.lines.append("    " * self._depth + f"{values}.append({term})")
                self._done, self._depth = outside, self._depth - 1
                return self._new(f"{'sum' if kind == 'sum' else 'prod'}({values})")
            case _:
                raise OutOfScopeError("a claim with an integral is not evaluated in floats")


_INFIX = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "neg": "-{}"}


def float_function(e: Expression, names: Sequence[str], terms: TermsLeft) -> Callable[..., float]:
    code = _Code(terms)
    # the letters of a program, whatever the variables are called
    letters = {name: f"x_{k}" for k, name in enumerate(names)}
    try:
        result = code.write(worked_out(e), letters)
        lines = [f"def function({', '.join(letters.values())}):", *code.lines, f"    return {result}"]
        exec(compile("\n".join(lines), "<formula>", "exec"), code.names)
    except (OverflowError, RecursionError, SyntaxError, KeyError) as error:
        raise OutOfScopeError("the claim is not evaluated in floats") from error
    compiled = code.names["function"]

    def value(x: Sequence[float]) -> float:
        try:
            return float(compiled(*x))
        except (ValueError, ArithmeticError, TypeError, RecursionError):
            return math.nan

    return value


def violation(formula: Formula, names: Sequence[str], terms: TermsLeft | None = None) -> Violation:
    """How much a formula fails at a point of the named variables, in floats, relative to the size of its sides."""
    terms = terms or TermsLeft()
    match formula:
        case Compare(relation, left, right):
            f, g = (float_function(side, names, terms) for side in (left, right))

            def compare(x: Sequence[float]) -> float:
                a, b = f(x), g(x)
                gap = (a - b) / (abs(a) + abs(b) + 1e-300) if a != b else 0.0
                if math.isinf(a) or math.isinf(b):
                    return math.nan
                if relation == "==":
                    return abs(gap) - 1e-12 if a != b else 0.0
                if relation == "!=":
                    return 1e-12 - abs(gap)
                return gap if relation == "<=" else gap + 1e-15

            return compare
        case And(parts):
            fs = [violation(p, names, terms) for p in parts]
            return lambda x: max((v for v in (f(x) for f in fs) if not math.isnan(v)), default=math.nan)
        case Or(parts):
            gs = [violation(p, names, terms) for p in parts]
            return lambda x: min(g(x) for g in gs)
        case Not(part):
            return violation(negated(part), names, terms)
        case Implies(premise, conclusion):
            return violation(Or((negated(premise), conclusion)), names, terms)
        case ForAll() | Exists():
            raise OutOfScopeError(_QUANTIFIED)


def parts_apart(problem: ProofProblem) -> ProofProblem:
    """The same with every part of an assumption as one: where one has no value in floats, all have none."""
    return replace(problem, assuming=tuple(part for f in problem.assuming for part in conjuncts(f)))


def failing_gap(problem: ProofProblem) -> Violation:
    """Positive only where the claim fails and every assumption holds, up to rounding."""
    if problem.has_vectors:
        raise OutOfScopeError("function not supported: inner products of vectors")
    names, terms = [v.name for v in problem.over], TermsLeft()
    claim = violation(problem.claim, names, terms)
    assumptions = [violation(a, names, terms) for a in problem.assuming]
    slack = 1e-12

    def gap(x: Sequence[float]) -> float:
        values = [assumption(x) for assumption in assumptions]
        if any(map(math.isnan, values)):
            return math.nan
        worst = max(values, default=_NEVER)
        return -worst if worst > slack else claim(x)

    return gap


_ROUNDING = 1e-11
"""Relative to the size of two sides: above it, they differ whoever has rounded their values."""
_CLOSEST = 1e-13
"""Below it, no search calls them different."""

_ARRAYS: dict[str, Callable[..., Any]] = {
    "add": lambda *a: sum(a), "sub": ring.sub, "neg": ring.neg, "mul": lambda *a: math.prod(a), "div": ring.truediv,
    "pow": np.power, "root": lambda x, order: np.power(x, 1 / order), "exp": np.exp, "log": np.log,
    "log_base": lambda x, base: np.log(x) / np.log(base), "abs": np.abs,
    "sin": np.sin, "cos": np.cos, "arctan": np.arctan,
    "max": lambda *a: reduce(np.maximum, a), "min": lambda *a: reduce(np.minimum, a),
}  # fmt: skip
"""Operators over arrays; comparisons with any other one keep all points."""


def may_be_counterexamples(problem: ProofProblem, columns: Array) -> Mask:
    """Which points may be some, by arrays of floats alone; columns are (variables, points), the mask is (points,)."""
    return _may_hold(problem, (*problem.assuming, Not(problem.claim)), columns)


def may_be_admitted(problem: ProofProblem, columns: Array) -> Mask:
    """At which of the points all assumptions may hold."""
    return _may_hold(problem, problem.assuming, columns)


def _may_hold(problem: ProofProblem, formulas: tuple[Formula, ...], columns: Array) -> Mask:
    letters = {v.name: column for v, column in zip(problem.over, columns, strict=True)}
    with np.errstate(all="ignore"):
        mask = _ColumnValues(letters).may_be(And(formulas), True)
    return np.broadcast_to(mask, columns.shape[1:])


def values_at(e: Expression, columns: Mapping[str, Array]) -> Array | None:
    """Values of an expression at many points, NaN where there is none; None for what has no arrays here."""
    try:
        with np.errstate(all="ignore"):
            found = _ColumnValues(columns).value(worked_out(e))
    except (OutOfScopeError, OverflowError, RecursionError, KeyError):
        return None
    return np.broadcast_to(found, next(iter(columns.values())).shape)


class _ColumnValues:
    """Values of expressions at some points; not a number where one is undefined, or not finite."""

    def __init__(self, letters: Mapping[str, Array]) -> None:
        self._letters = letters
        self._done: dict[Expression, Any] = {}

    def may_be(self, formula: Formula, truth: bool) -> Mask | bool:
        """Where a formula may be true, or false, rounding apart."""
        match formula:
            case Compare(relation, left, right):
                sides = self._sides(left, right)
                return True if sides is None else _may_be(relation, *sides, truth)
            case And(parts) | Or(parts):
                every = isinstance(formula, And) is truth
                join: Callable[..., Any] = np.logical_and if every else np.logical_or
                return reduce(join, (self.may_be(part, truth) for part in parts), every)
            case Not(part):
                return self.may_be(part, not truth)
            case Implies(premise, conclusion):
                return self.may_be(Or((Not(premise), conclusion)), truth)
            case ForAll() | Exists():
                return True

    def _sides(self, left: Expression, right: Expression) -> tuple[Array, Array] | None:
        """The difference of two sides and their size; None where they are not evaluated here."""
        try:
            a, b = (self.value(worked_out(side)) for side in (left, right))
        except (OutOfScopeError, OverflowError, RecursionError, KeyError):
            return None
        return a - b, np.abs(a) + np.abs(b) + 1e-299

    def value(self, e: Expression) -> Any:
        """Its value at each point."""
        if e not in self._done:
            found = np.asarray(self._worked_out(e))
            self._done[e] = np.where(np.isfinite(found), found, np.nan)
        return self._done[e]

    def _worked_out(self, e: Expression) -> Any:
        match e:
            case Number(value):
                return np.float64(value)
            case Constant("pi"):
                return np.float64(math.pi)
            case Variable():
                return self._letters[e.name]
            case Apply(name, arguments) if name in _ARRAYS:
                return _ARRAYS[name](*map(self.value, arguments))
            case _:
                raise OutOfScopeError("no arrays of it")


def _may_be(relation: Relation, gap: Array, size: Array, truth: bool) -> Mask | bool:
    """Where a relation between two sides may be true, or false, given their difference and size."""
    if relation in ("<=", "<"):
        return ~((gap if truth else -gap) > _ROUNDING * size)
    if (relation == "==") is truth:
        return ~(np.abs(gap) > _ROUNDING * size)
    return True if truth else ~(np.abs(gap) < _CLOSEST * size)


def _stretched(u: float, v: Variable, box: Ends | None) -> float:
    """A number in (0, 1) to the variable's domain: evenly on bounded ones, by powers of ten on the others."""
    low = None if v.lower is None else float(v.lower)
    high = None if v.upper is None else float(v.upper)
    if box is not None:
        low, high = map(float, box)
    if low is not None and high is not None:
        x = low + (high - low) * u
    elif low is not None:
        x = low + 10 ** (8 * u - 4)
    elif high is not None:
        x = high - 10 ** (8 * u - 4)
    else:
        x = math.copysign(10 ** (16 * abs(u - 0.5) - 4) - 1e-4, u - 0.5)
    return float(round(x)) if v.kind == "integer" else x


def rationalized(problem: ProofProblem, x: Sequence[float]) -> Iterator[ExactPoint]:
    """Simple rational points near a float point, the simplest first."""
    if not all(map(math.isfinite, x)):
        return
    exact = [Fraction(value) for value in x]
    for limit in (1, 2, 5, 10, 100, 1000, 10**6, None):
        near = [
            Fraction(round(x)) if v.kind == "integer" else x if limit is None else _near(x, limit)
            for v, x in zip(problem.over, exact, strict=True)
        ]
        if all(v.contains(x) for v, x in zip(problem.over, near, strict=True)):
            yield {v.name: x for v, x in zip(problem.over, near, strict=True)}


def _near(value: Fraction, limit: int) -> Fraction:
    """A fraction near a value: denominators up to `limit`, for small values in relation to their size."""
    if value and abs(value) < Fraction(1, limit):
        return 1 / (1 / value).limit_denominator(limit)
    return value.limit_denominator(limit)


def _as_float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.nan


def _late(end: float) -> bool:
    """Whether the far guard's time has come, which is noted."""
    if time.process_time() > end:
        note_the_clock()
        return True
    return False


class Search(NamedProver):
    """The prover, which only ever refutes; `thorough` adds spread points and local optimization."""

    name = "search"

    def __init__(self, *, thorough: bool = False) -> None:
        self.thorough = thorough

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof:
        """Look for a counterexample; the same points in the same order every time."""
        gap = failing_gap(problem if self.thorough else parts_apart(problem))
        end = time.process_time() + budget.guard
        stages: tuple[Callable[..., Iterator[ExactPoint]], ...] = (self._simple,)
        if not problem.over:
            stages = (lambda *_: iter([{}]),)
        elif self.thorough:
            stages = (self._spread, self._climbed)
        for stage in stages:
            for point in itertools.islice(stage(problem, gap, end), CONFIRMATIONS):
                if confirmed(problem, point):
                    return refutation(problem, point)
                if _late(end):
                    break
        return undecided("no counterexample found")

    def _simple(self, problem: ProofProblem, gap: Violation, end: float) -> Iterator[ExactPoint]:
        lists = [simple_values(v, problem.ends.get(v.name)) for v in problem.over]
        if not all(lists):
            return
        floats = [np.array(list(map(_as_float, values))) for values in lists]
        places = ranks(tuple(map(len, lists)), SIMPLE_POINTS)
        for first, last in itertools.pairwise((0, *_BLOCKS)):
            block = places[first:last]
            columns = np.array([f[block[:, k]] for k, f in enumerate(floats)])
            kept = may_be_counterexamples(problem, columns)
            points = zip(block[kept].tolist(), columns[:, kept].T.tolist(), strict=True)
            for i, (place, x) in enumerate(points):
                if i % 256 == 0 and _late(end):
                    return
                if gap(x) > 0:
                    chosen = zip(problem.over, lists, place, strict=True)
                    yield {v.name: values[rank] for v, values, rank in chosen}

    def _cloud(self, problem: ProofProblem, gap: Violation, end: float) -> list[_Looked]:
        """Spread points with their gaps, the largest gaps first."""
        # boxes are where a claim is meant; half of the points go there, half over the whole domain
        boxes = [{}, problem.ends] if problem.box else [{}]
        found = []
        for k, box in enumerate(boxes):
            for i, u in enumerate(spread_out(len(problem.over), POINTS, k)):
                if i % 64 == 0 and _late(end):
                    break
                x = [_stretched(c, v, box.get(v.name)) for c, v in zip(u, problem.over, strict=True)]
                value = gap(x)
                if not math.isnan(value):
                    found.append((value, u, x))
        found.sort(key=lambda entry: -entry[0])
        return found

    def _spread(self, problem: ProofProblem, gap: Violation, end: float) -> Iterator[ExactPoint]:
        for value, _, x in itertools.islice(self._cloud(problem, gap, end), 20):
            if value > 0:
                yield from rationalized(problem, x)

    def _climbed(self, problem: ProofProblem, gap: Violation, end: float) -> Iterator[ExactPoint]:
        def point_of(u: Sequence[float]) -> list[float]:
            return [
                _stretched(min(max(float(c), 1e-9), 1 - 1e-9), v, None)
                for c, v in zip(u, problem.over, strict=True)
            ]

        def lost(u: Sequence[float]) -> float:
            value = gap(point_of(u))
            return 1e3 if math.isnan(value) else -value

        for _, u, _ in self._cloud(problem, gap, end)[:8]:
            if _late(end):
                return
            result = minimize(
                lost, u, method="Nelder-Mead", options={"maxfev": 400, "xatol": 1e-6, "fatol": 1e-12}
            )
            if result.fun < 0:
                yield from rationalized(problem, point_of(result.x))
