"""Where an inequality is to be shown: letters with their domains, what is given there, and what floats say of it."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import sympy as sp

from dpverify.formulas.calculus import substituted
from dpverify.formulas.definedness import Requirement, conditions
from dpverify.formulas.expressions import Expression, Number, OutOfScopeError, Variable, free_variables
from dpverify.formulas.logic import Compare, Formula, Ge, Gt, Implies, Le, Lt, free_in, in_domain
from dpverify.formulas.operators import normal_cdf
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.proving.proof import Budget
from dpverify.proving.reasoning.algebra import derivative, replaced
from dpverify.proving.reasoning.effort import spend
from dpverify.proving.reasoning.evaluation import evaluate
from dpverify.proving.reasoning.satisfiability import unsatisfiable
from dpverify.proving.reasoning.symbolic import (
    TRANSCENDENTAL,
    Phi,
    SymPy,
    symbol,
    symbolic,
    symbolic_formula,
    tree,
)
from dpverify.proving.reasoning.truth import missing, shift_that_shows

SAMPLES = 160
"""Points at which floats try an inequality before anything is proved."""
_TRIED = 4_000
_SHARE = 8
"""A single question gets this part of the work that a claim may take."""
_LOOK = 10_000
"""Steps of an attempt that a look at an inequality counts for: SymPy's work on what it came from."""
_QUESTION = 40_000
"""Steps that a question to z3 about it counts for, beside `_OPERATION` for each of its operations."""
_OPERATION = 500
_DIGITS = 9
"""Digits after the point of what is known of exponentials and logarithms of numbers."""
_ZERO = Number(Fraction(0))
_NEAR = 1e-9
"""Relative size below which floats say nothing of a sign."""


def transcendental(e: SymPy) -> bool:
    """Whether there is anything but powers and roots."""
    return bool(e.has(*TRANSCENDENTAL)) or any(not p.exp.is_Rational for p in e.atoms(sp.Pow))


@dataclass(frozen=True)
class Assumptions:
    """Letters and comparisons that hold there, as trees; domains are those of the letters.

    With `constants`, bounds of exponentials and logarithms of numbers are known as well.
    """

    variables: tuple[Variable, ...]
    given: tuple[Formula, ...]
    budget: Budget
    constants: bool = False

    def knowing(self, *more: Formula) -> Assumptions:
        """The same place with more that is given."""
        return replace(self, given=(*self.given, *more))

    @cached_property
    def points(self) -> list[dict[SymPy, float]]:
        """Points of the place, spread and the same each time; they only guide, and prove nothing."""
        rng = random.Random(len(self.variables))
        lists = [_values(v) for v in self.variables]
        grid: Iterator[tuple[float, ...]] = itertools.product(*lists)
        if math.prod(map(len, lists)) > _TRIED:
            grid = (tuple(rng.choice(values) for values in lists) for _ in range(_TRIED))
        tests = [t for t in map(_test, self.given) if t is not None]
        symbols = [symbol(v) for v in self.variables]
        found = []
        for values in grid:
            point = dict(zip(symbols, values, strict=True))
            if all(test(point) for test in tests):
                found.append(point)
        if len(found) > SAMPLES:
            found = rng.sample(found, SAMPLES)
        return found

    def signs(self, e: SymPy) -> set[int]:
        """The signs that floats see for certain; {1} where there is no point to look at."""
        spend(1 + len(self.points))
        terms = sp.Add.make_args(e)
        value = compiled(tuple(terms))
        found = set()
        for point in self.points:
            try:
                parts = value(point)
                total, size = math.fsum(parts), max(map(abs, parts))
            except (ValueError, OverflowError, ZeroDivisionError, TypeError):
                continue
            if total > _NEAR * size:
                found.add(1)
            elif total < -_NEAR * size:
                found.add(-1)
        return found or {1}

    def vanishes(self, e: SymPy) -> bool:
        """Whether floats see 0 wherever they see anything; False where they see nothing."""
        spend(1 + len(self.points))
        value = compiled(tuple(sp.Add.make_args(e)))
        seen = 0
        for point in self.points:
            try:
                parts = value(point)
                if abs(math.fsum(parts)) > _NEAR * max(1e-300, *map(abs, parts)):
                    return False
            except (ValueError, OverflowError, ZeroDivisionError, TypeError):
                continue
            seen += 1
        return seen > 0

    def at_once(self, f: SymPy, *, strict: bool, solver: bool = True) -> bool:
        """Whether 0 <= f (0 < f) follows by signs of coefficients, or by z3, wherever f is defined."""
        spend(_LOOK)
        if f.is_number and not f.is_Rational and positive_number(f, strict):
            return True
        claim = Compare("<" if strict else "<=", sp.Integer(0), f)
        try:
            if shift_that_shows(claim, self.variables, self.given) is not None:
                return True
            if not solver:
                return False
            spend(_QUESTION + _OPERATION * f.count_ops())
            facts = (*self.given, *_tails(f), *(self._values(f) if self.constants else ()))
            written = Compare(claim.relation, _ZERO, tree(f))
            return unsatisfiable(self.variables, facts, written, budget=self.budget, share=_SHARE)[0] is True
        except OutOfScopeError:
            return False

    def _values(self, f: SymPy) -> Iterator[Formula]:
        """Bounds of the exponentials and logarithms of numbers in an expression and in what is given."""
        sides = [f]
        for given in self.given:
            if isinstance(given, Compare):
                with suppress(OutOfScopeError):
                    sides.append(symbolic(given.right - given.left))
        found = set().union(*(side.atoms(sp.exp, sp.log) | side.atoms(sp.E) for side in sides))
        for part in sorted((e for e in found if e.is_number), key=sp.default_sort_key):
            argument = part.args[0] if part.args else sp.Integer(1)
            if not argument.is_Rational:
                continue
            ends = (argument.p, argument.q) if isinstance(part, sp.log) and argument > 0 else ()
            primes = sorted({prime for end in ends for prime in sp.factorint(end, limit=1000)} - {1})
            for e in map(sp.log, primes) if isinstance(part, sp.log) else (part,):
                value = evaluate(tree(e), {})
                if isinstance(value, Fraction):
                    continue
                scaled = (value * 10**_DIGITS).floor().unique_fmpz()
                if scaled is not None:
                    yield Le(Fraction(int(scaled), 10**_DIGITS), tree(e))
                    yield Le(tree(e), Fraction(int(scaled) + 1, 10**_DIGITS))

    def defines(self, e: Expression, *, smooth: bool = False) -> bool:
        """Whether an expression is shown to be defined here, and smooth."""
        return self.shows_all(conditions(e, inside=smooth))

    def shows_all(self, wanted: Iterator[Requirement]) -> bool:
        """Whether conditions are shown to hold here."""
        try:
            return not missing(self.variables, self.given, wanted, self.budget)
        except OutOfScopeError:
            return False

    def ends(self, x: Variable) -> Iterator[tuple[int, Expression | None, bool]]:
        """Ends of x: 1 below it and -1 above it, the end itself (None: infinite), and whether it is left out."""
        for side, bound, is_open in ((1, x.lower, x.lower_open), (-1, x.upper, x.upper_open)):
            for given in self.given:
                end = _linear_end(given, x)
                if end is not None and end[0] == side:
                    assert isinstance(given, Compare)
                    yield side, end[1], given.relation == "<"
            yield side, None if bound is None else Number(bound), is_open or bound is None

    @cached_property
    def depending(self) -> set[SymPy]:
        """The letters with an end that depends on others."""
        ends = ((x, end) for x in self.variables for _, end, _ in self.ends(x))
        return {symbol(x) for x, end in ends if end is not None and free_variables(end)}

    def along(self, x: Variable, side: int, end: Expression | None) -> tuple[Assumptions, Assumptions] | None:
        """What holds between x and an end (without it), and at the end; None where x may leave its domain before."""
        path: list[Formula] = []
        at: list[Formula] = []
        rest = tuple(v for v in self.variables if v != x)
        # what is linear in x and holds at both ends of a way holds on it
        for given in (*self.given, *in_domain(x, x)):
            if x not in free_in(given):
                path.append(given)
                at.append(given)
                continue
            if not isinstance(given, Compare) or given.relation not in ("<", "<="):
                continue
            try:
                difference = symbolic(given.right - given.left)
            except OutOfScopeError:
                continue
            rate = derivative(difference, symbol(x))
            if rate.has(symbol(x)) or transcendental(difference):
                continue
            there = side * -rate if end is None else replaced(difference, {symbol(x): symbolic(end)})
            if not self.at_once(there, strict=False):
                if given in in_domain(x, x):
                    return None
                continue
            at.append(Le(_ZERO, tree(there)))
            if given not in in_domain(x, x):
                path.append(given)
        if end is not None:
            path.append(Lt(end, x) if side > 0 else Lt(x, end))
        way = replace(self, given=tuple(path))
        return way, replace(self, variables=rest, given=tuple(f for f in at if free_in(f)))


def positive_number(e: SymPy, strict: bool) -> bool:
    """Whether a number is positive for certain, or 0 where that is enough."""
    try:
        value = evaluate(tree(e), {})
    except (OutOfScopeError, UndefinedError, UnclearError):
        return False
    return bool(value > 0 or (not strict and value == 0))


def _linear_end(given: Formula, x: Variable) -> tuple[int, Expression] | None:
    """The end that a comparison sets x, where it is linear in x with a number as factor."""
    if not isinstance(given, Compare) or given.relation not in ("<", "<=") or x not in free_in(given):
        return None
    try:
        difference = symbolic(given.right - given.left)
    except OutOfScopeError:
        return None
    rate = derivative(difference, symbol(x))
    if not rate.is_Rational or rate == 0:
        return None
    return (1 if rate > 0 else -1), tree(symbol(x) - difference / rate)


def _tails(f: SymPy) -> Iterator[Formula]:
    """What is known of the distribution function where it occurs, the last by Chebyshev's inequality."""
    for part in sorted(f.atoms(Phi), key=sp.default_sort_key):
        u = tree(part.args[0])
        value = normal_cdf(u)
        yield Lt(0, value)
        yield Lt(value, 1)
        yield Implies(Ge(u, 0), Ge(value, Fraction(1, 2)))
        yield Implies(Le(u, 0), Le(value, Fraction(1, 2)))
        yield Implies(Gt(u, 0), Le(2 * u * u * (1 - value), 1))
        yield Implies(Lt(u, 0), Le(2 * u * u * value, 1))


def _values(v: Variable) -> list[float]:
    low = None if v.lower is None else float(v.lower)
    high = None if v.upper is None else float(v.upper)
    values: list[float]
    if v.kind == "integer":
        first, step = (low, 1.0) if low is not None else (high, -1.0)
        values = [(-3.0 if first is None else first) + step * k for k in (0, 1, 2, 3, 4, 6, 11, 30, 100)]
    elif low is not None and high is not None:
        values = [
            low + (high - low) * q for q in (0.0, 0.002, 0.06, 0.25, 0.4, 0.55, 0.7, 0.85, 0.95, 0.999, 1.0)
        ]
    elif low is not None or high is not None:
        start, sign = (low, 1.0) if low is not None else (high, -1.0)
        assert start is not None
        values = [
            start + sign * q for q in (0.0, 0.002, 0.05, 0.2, 0.5, 0.9, 1.0, 1.4, 2.2, 3.5, 6.0, 15.0, 70.0)
        ]
    else:
        values = [s * q for q in (0.0, 0.004, 0.1, 0.45, 1.0, 1.7, 3.0, 8.0, 40.0) for s in (1.0, -1.0)][1:]
    inside = []
    for x in values:
        if low is not None and (x < low or (v.lower_open and x == low)):
            continue
        if high is not None and (x > high or (v.upper_open and x == high)):
            continue
        inside.append(x)
    return inside


def _phi(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


_FLOATS = {"Phi": _phi, "erfc": math.erfc, "Sine": math.sin, "Cosine": math.cos, "Arctangent": math.atan}


@lru_cache(4_000)
def compiled(parts: tuple[SymPy, ...]) -> Callable[[dict[SymPy, float]], list[float]]:
    """Floats for expressions at a point."""
    symbols = sorted(set().union(*(p.free_symbols for p in parts)), key=sp.default_sort_key)
    made: Any = sp.lambdify(symbols, list(parts), modules=[_FLOATS, "math"])
    return lambda point: [float(x) for x in made(*(point[s] for s in symbols))]


def _test(formula: Formula) -> Callable[[dict[SymPy, float]], bool] | None:
    if not isinstance(formula, Compare):
        return None
    try:
        value = compiled((symbolic_formula(formula).right - symbolic_formula(formula).left,))
    except OutOfScopeError:
        return None
    strict = formula.relation == "<"

    def holds(point: dict[SymPy, float]) -> bool:
        try:
            (gap,) = value(point)
        except (ValueError, OverflowError, ZeroDivisionError, TypeError, KeyError):
            return False
        if formula.relation == "==":
            return abs(gap) < _NEAR
        return gap > 0 if strict else gap >= 0

    return holds


def put(e: Expression, x: Variable, value: Expression) -> Expression:
    """An expression with a letter replaced."""
    return substituted(e, {x: value}) if x in free_variables(e) else e
