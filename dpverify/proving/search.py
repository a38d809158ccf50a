"""The search for counterexamples: simple numbers first, then spread points, then local optimization.

Floats only propose points. A point counts once it has been confirmed in exact fractions or by balls that
decide, assumptions included (`points.confirmed`).
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from scipy.optimize import minimize
from sympy.printing.pycode import PythonCodePrinter

from dpverify.evidence import Verdict
from dpverify.proving.effort import note_the_clock
from dpverify.proving.evaluation import MAX_TERMS_OF_SUM, ExactPoint
from dpverify.proving.language import (
    And,
    Compare,
    ForAll,
    Formula,
    Implies,
    Not,
    Obligation,
    Or,
    Variable,
    bound_parts,
)
from dpverify.proving.points import confirmed, refutation
from dpverify.proving.proof import Budget, Proof
from dpverify.proving.terms import OutOfScopeError, fraction, resolve_formula

Violation = Callable[[Sequence[float]], float]
"""At most 0 where a formula holds, positive where it fails, NaN where it is undefined."""

_SIMPLE = tuple(
    map(
        Fraction,
        (
            "1",
            "2",
            "1/2",
            "0",
            "-1",
            "3",
            "4",
            "5",
            "1/4",
            "3/4",
            "1/3",
            "10",
            "1/10",
            "-2",
            "-1/2",
            "100",
            "1/100",
            "-1/4",
            "-5",
            "20",
            "1000",
            "1/1000",
        ),
    )
)
_QUANTIFIED = "a claim with a quantifier is not evaluated in floats"
_NEVER = -math.inf
SIMPLE_POINTS = 20_000
MAX_TERMS = 2_000_000
"""Terms of sums that one search adds up in floats."""
POINTS = 4096
CONFIRMATIONS = 200
"""How many proposed points are tried exactly before a stage gives up."""


# ---------------------------------------------------------------------------------------------- floats


def _normal_cdf(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


class _Terms:
    """How many terms of sums all float functions of a search may still add up."""

    def __init__(self) -> None:
        self.left = MAX_TERMS

    def total(self, term: Callable[[float], float], first: float, last: float) -> float:
        """The sum of a term from first to last; ValueError where the work is spent."""
        count = last - first + 1
        if not 1 <= count <= min(self.left, MAX_TERMS_OF_SUM):
            raise ValueError
        self.left -= int(count)
        return sum(term(first + k) for k in range(int(count)))


class _FloatCode(PythonCodePrinter):  # type: ignore[misc]
    """Python code that stays in floats, so that no number grows large, and counts the terms of its sums."""

    def _print_Integer(self, e: Any) -> str:  # noqa: N802 (SymPy's name)
        return f"({float(e)!r})"

    def _print_Rational(self, e: Any) -> str:  # noqa: N802
        return f"({float(e)!r})"

    def _print_Half(self, e: Any) -> str:  # noqa: N802
        return "0.5"

    def _print_Pow(self, e: Any, **_: Any) -> str:  # noqa: N802
        return f"pow_({self._print(e.base)}, {self._print(e.exp)})"

    def _print_Sum(self, e: Any) -> str:  # noqa: N802
        body, index, first, last = bound_parts(e)
        return f"total_(lambda {index.name}: {', '.join(map(self._print, (body, first, last)))})"


def _power(base: float, exponent: float) -> float:
    result = base**exponent
    if isinstance(result, complex):
        raise ValueError
    return float(result)


def _float_function(e: Any, symbols: list[Any], terms: _Terms) -> Callable[..., float]:
    if e.has(sp.Integral):
        raise OutOfScopeError("a claim with an integral is not evaluated in floats")
    # the letters of a program, whatever the symbols are called
    letters = {s: sp.Symbol(f"x_{k}") for k, s in enumerate(sorted(e.atoms(sp.Symbol), key=str))}
    arguments = [letters.get(s, sp.Symbol(f"y_{k}")) for k, s in enumerate(symbols)]
    names = {
        "math": math, "Phi": _normal_cdf, "erfc": math.erfc, "total_": terms.total, "pow_": _power, "floor": math.floor,
    }  # fmt: skip
    try:
        e = e.xreplace(letters)
        compiled = sp.lambdify(
            arguments, e, modules=[names, "math"], cse=not e.has(sp.Sum),
            printer=_FloatCode({"allow_unknown_functions": True, "user_functions": {"Phi": "Phi"}}),
        )  # fmt: skip
    except (NotImplementedError, ValueError, TypeError, SyntaxError, OverflowError, RecursionError) as error:
        raise OutOfScopeError("the claim is not evaluated in floats") from error

    def value(x: Sequence[float]) -> float:
        try:
            return float(compiled(*x))
        except (ValueError, ZeroDivisionError, OverflowError, TypeError, RecursionError):
            return math.nan

    return value


def violation(formula: Formula, symbols: list[Any], terms: _Terms | None = None) -> Violation:
    """How much a formula fails at a point, in floats, relative to the size of its sides."""
    terms = terms or _Terms()
    match formula:
        case Compare(relation, left, right):
            f, g = (_float_function(side, symbols, terms) for side in (left, right))

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
            fs = [violation(p, symbols, terms) for p in parts]
            return lambda x: max((v for v in (f(x) for f in fs) if not math.isnan(v)), default=math.nan)
        case Or(parts):
            gs = [violation(p, symbols, terms) for p in parts]
            return lambda x: min(g(x) for g in gs)
        case Not(part):
            return violation(_negated(part), symbols, terms)
        case Implies(premise, conclusion):
            return violation(Or((_negated(premise), conclusion)), symbols, terms)
        case ForAll():
            raise OutOfScopeError(_QUANTIFIED)


def _negated(formula: Formula) -> Formula:
    match formula:
        case Compare(relation, left, right):
            if relation in ("==", "!="):
                return Compare("!=" if relation == "==" else "==", left, right)
            return Compare("<" if relation == "<=" else "<=", right, left)
        case And(parts):
            return Or(tuple(map(_negated, parts)))
        case Or(parts):
            return And(tuple(map(_negated, parts)))
        case Not(part):
            return part
        case Implies(premise, conclusion):
            return And((premise, _negated(conclusion)))
        case ForAll():
            raise OutOfScopeError(_QUANTIFIED)


# ---------------------------------------------------------------------------------------------- points


def simple_values(v: Variable, box: tuple[object, object] | None) -> list[Fraction]:
    """Values of a variable's domain that are nice to read, the nicest first."""
    values = list(_SIMPLE)
    for bound in (v.lower, v.upper):
        if bound is not None:
            b = fraction(bound)
            values[3:3] = [b, b + 1, b - 1]
            values += [
                b + Fraction(1, 10),
                b - Fraction(1, 10),
                b + Fraction(1, 2),
                b - Fraction(1, 2),
                b + 2,
            ]
    if box is not None:
        low, high = (fraction(sp.Rational(str(end))) for end in box)
        values += [low, high, (low + high) / 2]
        # where the claim is meant comes first
        values.sort(key=lambda x: not low <= x <= high)
    return [x for x in dict.fromkeys(values) if v.contains(x)]


def graded(lists: list[list[Fraction]], limit: int) -> Iterator[tuple[Fraction, ...]]:
    """Tuples of entries by the sum of their ranks, so that simple numbers come before less simple ones."""
    produced = 0
    for total in range(sum(len(values) - 1 for values in lists) + 1):
        for ranks in _compositions(total, [len(values) for values in lists]):
            yield tuple(values[r] for values, r in zip(lists, ranks, strict=True))
            produced += 1
            if produced >= limit:
                return


def _compositions(total: int, sizes: list[int]) -> Iterator[tuple[int, ...]]:
    if len(sizes) == 1:
        if total < sizes[0]:
            yield (total,)
        return
    for first in range(min(total, sizes[0] - 1) + 1):
        for rest in _compositions(total - first, sizes[1:]):
            yield (first, *rest)


def _stretched(u: float, v: Variable, box: tuple[object, object] | None) -> float:
    """A number in (0, 1) to the variable's domain: evenly on bounded ones, by powers of ten on the others."""
    low = None if v.lower is None else float(v.lower)
    high = None if v.upper is None else float(v.upper)
    if box is not None:
        low, high = (float(sp.Rational(str(end))) for end in box)
    if low is not None and high is not None:
        x = low + (high - low) * u
    elif low is not None:
        x = low + 10 ** (8 * u - 4)
    elif high is not None:
        x = high - 10 ** (8 * u - 4)
    else:
        x = math.copysign(10 ** (16 * abs(u - 0.5) - 4) - 1e-4, u - 0.5)
    return float(round(x)) if v.kind == "integer" else x


def _rationalized(obligation: Obligation, x: Sequence[float]) -> Iterator[ExactPoint]:
    """Simple rational points near a float point, the simplest first."""
    if not all(map(math.isfinite, x)):
        return
    exact = [Fraction(value) for value in x]
    for limit in (1, 2, 5, 10, 100, 1000, 10**6, None):
        point = {
            v.symbol: Fraction(round(value))
            if v.kind == "integer"
            else value
            if limit is None
            else _near(value, limit)
            for v, value in zip(obligation.over, exact, strict=True)
        }
        if all(v.contains(point[v.symbol]) for v in obligation.over):
            yield point


def _near(value: Fraction, limit: int) -> Fraction:
    """A fraction near a value: denominators up to `limit`, for small values in relation to their size."""
    if value and abs(value) < Fraction(1, limit):
        return 1 / (1 / value).limit_denominator(limit)
    return value.limit_denominator(limit)


def _late(end: float) -> bool:
    """Whether the far guard's time has come, which is noted."""
    if time.monotonic() > end:
        note_the_clock()
        return True
    return False


def _only_point(_obligation: Obligation, _gap: Violation, _end: float) -> Iterator[ExactPoint]:
    """A closed formula has one point."""
    yield {}


def _spread_out(dimension: int, count: int, seed: int) -> Iterator[list[float]]:
    """Evenly spread points of the open unit cube: multiples of powers of the golden ratio, modulo 1."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / (dimension + 1))
    steps = [ratio ** -(k + 1) for k in range(dimension)]
    for i in range(1, count + 1):
        yield [min(max((0.5 + (i + seed) * step) % 1.0, 1e-9), 1 - 1e-9) for step in steps]


# ---------------------------------------------------------------------------------------------- the prover


class Search:
    """The prover, which only ever refutes; `thorough` adds spread points and local optimization."""

    def __init__(self, *, thorough: bool = False, seed: int = 0) -> None:
        self.thorough = thorough
        self.seed = seed

    @property
    def name(self) -> str:
        """`search`, whichever the depth."""
        return "search"

    def attempt(self, obligation: Obligation, budget: Budget) -> Proof | None:
        """Look for a counterexample; the same points in the same order every time."""
        start = time.monotonic()
        try:
            gap = self._gap(obligation)
        except OutOfScopeError as error:
            seconds = time.monotonic() - start
            return Proof(Verdict.UNDECIDED, self.name, reason=str(error), gap=error.gap, seconds=seconds)
        end = start + budget.guard
        stages = (self._spread, self._climbed) if self.thorough else (self._simple,)
        for stage in stages if obligation.over else (_only_point,):
            for point in itertools.islice(stage(obligation, gap, end), CONFIRMATIONS):
                if confirmed(obligation, point):
                    return refutation(obligation, point, self.name, time.monotonic() - start)
                if _late(end):
                    break
        return Proof(
            Verdict.UNDECIDED, self.name, reason="no counterexample found", seconds=time.monotonic() - start
        )

    def _gap(self, obligation: Obligation) -> Violation:
        """Positive only where the claim fails and every assumption holds, up to rounding."""
        symbols = [v.symbol for v in obligation.over]
        terms = _Terms()
        claim = violation(resolve_formula(obligation.claim), symbols, terms)
        assumptions = [violation(resolve_formula(a), symbols, terms) for a in obligation.assuming]
        slack = 1e-12

        def gap(x: Sequence[float]) -> float:
            worst = _NEVER
            for assumption in assumptions:
                v = assumption(x)
                if math.isnan(v):
                    return math.nan
                worst = max(worst, v)
            if worst > slack:
                return -worst
            return claim(x)

        return gap

    def _simple(self, obligation: Obligation, gap: Violation, end: float) -> Iterator[ExactPoint]:
        lists = [simple_values(v, obligation.box.get(v.name)) for v in obligation.over]
        if not all(lists):
            return
        for i, values in enumerate(graded(lists, SIMPLE_POINTS)):
            if i % 256 == 0 and _late(end):
                return
            if gap([float(x) for x in values]) > 0:
                yield {v.symbol: x for v, x in zip(obligation.over, values, strict=True)}

    def _cloud(
        self, obligation: Obligation, gap: Violation, end: float
    ) -> list[tuple[float, list[float], list[float]]]:
        """Spread points with their gaps, the largest gaps first: (gap, place in the unit cube, point)."""
        # boxes are where a claim is meant; half of the points go there, half over the whole domain
        boxes: list[Mapping[str, tuple[object, object]]] = [{}, obligation.box] if obligation.box else [{}]
        found = []
        for k, box in enumerate(boxes):
            for i, u in enumerate(_spread_out(len(obligation.over), POINTS, self.seed + k)):
                if i % 64 == 0 and _late(end):
                    break
                x = [_stretched(c, v, box.get(v.name)) for c, v in zip(u, obligation.over, strict=True)]
                value = gap(x)
                if not math.isnan(value):
                    found.append((value, u, x))
        found.sort(key=lambda entry: -entry[0])
        return found

    def _spread(self, obligation: Obligation, gap: Violation, end: float) -> Iterator[ExactPoint]:
        for value, _, x in itertools.islice(self._cloud(obligation, gap, end), 20):
            if value > 0:
                yield from _rationalized(obligation, x)

    def _climbed(self, obligation: Obligation, gap: Violation, end: float) -> Iterator[ExactPoint]:
        def point_of(u: Sequence[float]) -> list[float]:
            return [
                _stretched(min(max(float(c), 1e-9), 1 - 1e-9), v, None)
                for c, v in zip(u, obligation.over, strict=True)
            ]

        def lost(u: Sequence[float]) -> float:
            value = gap(point_of(u))
            return 1e3 if math.isnan(value) else -value

        for _, u, _ in self._cloud(obligation, gap, end)[:8]:
            if _late(end):
                return
            result = minimize(
                lost, u, method="Nelder-Mead", options={"maxfev": 400, "xatol": 1e-6, "fatol": 1e-12}
            )
            if result.fun < 0:
                yield from _rationalized(obligation, point_of(result.x))
