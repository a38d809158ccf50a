"""Constants with which something holds for all values of the letters: found in floats, then proved."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import mul

from dpverify.formulas.calculus import with_values
from dpverify.formulas.expressions import Apply, Expression, Number, OutOfScopeError, Variable, constant
from dpverify.formulas.logic import Compare, Formula, expressions_in, free_in, in_domain
from dpverify.formulas.printing import expression_text
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.verdicts import HOLDS, Gap, Verdict
from dpverify.proving.certificates import certificate
from dpverify.proving.proof import Proof, gap_of
from dpverify.proving.provers.points import confirmed, graded, refutation
from dpverify.proving.provers.quantified.ratios import (
    SIZES,
    Extreme,
    Ratio,
    extremes,
    grows,
    rounded_down,
    simple_beyond,
)
from dpverify.proving.provers.quantified.task import Task, values_to_json
from dpverify.proving.provers.search import rationalized

_GROWS = 1.5
"""How much larger what is needed may be far out, before it is taken to grow."""
_TOO_LARGE = 1e12
_GROWING = "the constant that is needed seems to grow without bound"
_OPTIONS = [
    Fraction(x)
    for x in ("1", "2", "3", "10", "100", "1/2", "1/10", "1/100", "1000", "10000", "1/1000", "0", "5", "30")
]
_TRIES = 4
"""How many choices of thresholds and powers are tried."""
_POWERS = tuple(map(Fraction, ("0", "1", "-1", "1/2", "-1/2", "2", "-2")))
_SCALES = 40
"""How many ways for constants to depend on letters are looked at."""


def with_constants(task: Task, *, scaled: bool = False) -> Proof | None:
    """A proof of the claim with numbers, or with constants that are multiples of powers of earlier letters."""
    tried = hopeless = 0
    try:
        for scale in _scales(task) if scaled else [None]:
            hopeless = 0
            for fixed in _options(task):
                found = _with_fixed(task, fixed, scale)
                if isinstance(found, Proof):
                    return found
                tried += found
                hopeless += not found
                if tried >= _TRIES:
                    return None
                # what grows without bound mostly does so whatever the thresholds are
                if task.constants and hopeless > 4 * len(task.others):
                    break
    except OutOfScopeError as error:
        task.note(str(error), gap_of(error))
    return None


def _scales(task: Task) -> Iterator[Expression | None]:
    """What constants are multiples of: powers of the letters that come before them all."""
    common = [v for v in task.letters if all(v in task.earlier(c) for c in task.constants)]
    common = [v for v in common if v.lower is not None and (v.lower > 0 or (v.lower_open and v.lower == 0))]
    if not common or not task.constants:
        return
    lists = itertools.product(*(range(len(_POWERS)) for _ in common))
    for ranks in itertools.islice(sorted(lists, key=sum), 1, _SCALES):
        powers = [(v, _POWERS[r]) for v, r in zip(common, ranks, strict=True) if r]
        yield reduce(mul, (v if p == 1 else Apply("pow", (v, Number(p))) for v, p in powers))


def _options(task: Task) -> Iterator[dict[Variable, Fraction]]:
    """Numbers for thresholds and powers, simple ones first."""
    for values in graded([_numbers_of(v) for v in task.others], 60):
        yield dict(zip(task.others, values, strict=True))


def _with_fixed(task: Task, fixed: Mapping[Variable, Fraction], scale: Expression | None) -> Proof | bool:
    """The proof with these numbers and constants to them; else whether it was tried to prove it."""
    put: dict[Variable, Expression] = {v: Number(x) for v, x in fixed.items()}
    if scale is not None:
        put |= {v: v * scale for v in task.constants}
    conditions = tuple(with_values(f, put) for f in task.conditions)
    parts = [with_values(part, put) for part in task.parts]
    values: dict[Variable, Fraction] = dict(fixed)
    proofs: dict[int, Proof] = {}
    extreme: dict[Variable, tuple[Extreme, bool]] = {}
    plans = []
    for group in _groups(task, parts):
        plan = _plan(task, group, parts, conditions)
        if plan is None:
            return False
        plans.append((group, plan))
    for part in parts:
        if not free_in(part) & set(task.constants) and _fails_somewhere(task, part, conditions):
            task.note("some numbers are too small or too large", Gap.NO_METHOD)
            return False
    for group, (candidates, where, least) in plans:
        mine = [i for i, part in enumerate(parts) if free_in(part) & set(group)]
        found = _first(task, [parts[i] for i in mine], group, candidates, conditions)
        if found is None:
            return True
        values |= dict.fromkeys(group, found[0])
        proofs |= dict(zip(mine, found[1], strict=True))
        if len(group) == 1:
            extreme[group[0]] = where, least
    others = [i for i in range(len(parts)) if i not in proofs]
    shown = task.all_shown(task.left(parts[i], conditions) for i in others)
    if shown is None:
        return True
    proofs |= dict(zip(others, shown, strict=True))
    return _whole(task, values, scale, [proofs[i] for i in range(len(parts))], extreme)


def _fails_somewhere(task: Task, part: Formula, conditions: tuple[Formula, ...]) -> bool:
    """Whether a part without constants is false at some point, in floats."""
    if not isinstance(part, Compare) or part.relation not in ("<=", "<"):
        return False
    ratio = Ratio(part, (), task.letters, conditions)
    return any(math.isinf(extremes(ratio, size)[0].value) for size in SIZES)


def _groups(task: Task, parts: Sequence[Formula]) -> list[tuple[Variable, ...]]:
    """Constants that occur in the same parts, which get the same value."""
    groups: list[set[Variable]] = []
    for part in parts:
        mine = set(free_in(part)) & set(task.constants)
        if mine:
            joined = mine.union(*(g for g in groups if g & mine))
            groups = [*(g for g in groups if not g & mine), joined]
    return [tuple(v for v in task.constants if v in g) for g in groups]


def _plan(
    task: Task, group: tuple[Variable, ...], parts: Sequence[Formula], conditions: tuple[Formula, ...]
) -> tuple[list[Fraction], Extreme, bool] | None:
    """Numbers to try for constants, where they must be largest, and whether they must be large."""
    least: Extreme | None = None
    most: Extreme | None = None
    for part in parts:
        if not free_in(part) & set(group):
            continue
        assert isinstance(part, Compare)
        ratio = Ratio(part, group, task.letters, conditions)
        if grows(ratio):
            task.note(_GROWING)
            return None
        near, far = (extremes(ratio, size) for size in SIZES)
        for k in (0, 1):
            if far[k].value > _GROWS * near[k].value > 0 or far[k].value > _TOO_LARGE:
                task.note(_GROWING)
                return None
        low, high = (max((near[k], far[k]), key=lambda e: e.value) for k in (0, 1))
        least = low if least is None or low.value > least.value else least
        most = high if most is None or high.value > most.value else most
    assert least is not None
    assert most is not None
    if most.value > 0 >= least.value:
        return [1 / x for x in simple_beyond(most.value)], most, False
    candidates = [x for x in simple_beyond(least.value) if not most.value or x <= 1 / most.value]
    if not candidates:
        task.note("no constant is large enough and small enough", Gap.NO_METHOD)
        return None
    return candidates, least, True


def _first(
    task: Task,
    parts: Sequence[Formula],
    group: tuple[Variable, ...],
    candidates: Sequence[Fraction],
    conditions: tuple[Formula, ...],
) -> tuple[Fraction, list[Proof]] | None:
    """The first number with which all parts are proved."""
    last: Proof | None = None
    for value in candidates:
        put: dict[Variable, Expression] = dict.fromkeys(group, Number(value))
        proofs = []
        for part in parts:
            last = task.shown(task.left(with_values(part, put), conditions))
            if last.verdict not in HOLDS:
                break
            proofs.append(last)
        else:
            return value, proofs
    if last is not None:
        numbers = " = ".join(v.name for v in group)
        task.note(f"with {numbers} = {candidates[-1]}: {last.reason}", last.gap)
    return None


def _whole(
    task: Task,
    numbers: Mapping[Variable, Fraction],
    scale: Expression | None,
    proofs: Sequence[Proof],
    extreme: Mapping[Variable, tuple[Extreme, bool]],
) -> Proof | bool:
    """The proof of the claim with the numbers, and how small the constants may be at least."""
    values: dict[Variable, Expression] = {}
    inside: list[Proof] = []
    for v in task.prefix.chosen:
        number = Number(numbers.get(v, Fraction(1)))
        values[v] = _times(number, scale if v in task.constants else None)
        if isinstance(values[v], Number):
            continue
        shown = task.all_shown(task.left(f, task.conditions) for f in in_domain(v, values[v]))
        if shown is None:
            return True
        inside += shown
    below: list[Json] = []
    said: list[str] = []
    for v, value in values.items():
        said.append(f"{v.name} = {expression_text(value)}")
        bound = _bound(task, v, values, *extreme[v]) if v in extreme and scale is None else None
        if bound is not None:
            number, false = Number(bound[0]), bound[1]
            below.append({"values": values_to_json({**values, v: number}), "inner": false.certificate})
            point = ", ".join(f"{name} = {at}" for name, at in (false.counterexample or {}).items())
            said[-1] += f" (not {number.value}{': ' if point else ''}{point})"
    return task.claim(values, [*inside, *proofs], "with " + ", ".join(said), below)


def _bound(
    task: Task, v: Variable, values: Mapping[Variable, Expression], where: Extreme, least: bool
) -> tuple[Fraction, Proof] | None:
    """A number near the constant that will not do, and the point that shows it."""
    if not where.value or _has_higher_roots(task.prefix.core):
        return None
    for share, digits in ((0.9999, 3), (0.999, 3), (0.99, 2), (0.9, 2), (0.5, 1)):
        number = rounded_down(where.value * share, digits)
        less: dict[Variable, Expression] = {**values, v: Number(number if least else 1 / number)}
        inner = task.under(less)
        value = less[v]
        assert isinstance(value, Number)
        # within the conditions rather than at their edge, where intervals decide
        strict = replace(inner, assuming=tuple(map(_strict, inner.assuming)))
        for held, near in itertools.product((strict, inner), where.points):
            for point in itertools.islice(rationalized(held, near), 8):
                if confirmed(held, point):
                    shown = refutation(held, point)
                    steps = {"method": "counterexample", "point": dict(shown.counterexample or {})}
                    of_inner = certificate(inner, Verdict.REFUTED, steps)
                    return value.value, replace(shown, certificate=of_inner)
    return None


def _has_higher_roots(formula: Formula) -> bool:
    """Whether there are roots other than square ones, which nobody but the provers works out at a point."""
    for part in expressions_in(formula):
        if isinstance(part, Apply) and part.operator in ("pow", "root"):
            power = constant(part.arguments[1])
            order = power if power is None or part.operator == "root" else power.denominator
            if order not in (1, 2):
                return True
    return False


def _strict(formula: Formula) -> Formula:
    if isinstance(formula, Compare) and formula.relation == "<=":
        return Compare("<", formula.left, formula.right)
    return formula


def _times(number: Number, scale: Expression | None) -> Expression:
    return number if scale is None else scale if number.value == 1 else number * scale


def _numbers_of(v: Variable) -> list[Fraction]:
    """Numbers of a domain that may do, those nearest to its ends first."""
    ends = [end for end in (v.lower, v.upper) if end is not None]
    return [x for x in dict.fromkeys((*ends, *_OPTIONS)) if v.contains(x)]
