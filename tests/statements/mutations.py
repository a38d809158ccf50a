"""Faults planted in formulas: what a slip of the pen would make of them.

A fault changes one place of a claim's tree: a number, a sign, an exponent, an operator, an end of a sum, one letter for
another of the same unit, a term or factor left out, a relation turned round. One that makes the claim weaker, or leaves
it what it was, is none; so faults are held against the claim at points of its domain, by the evaluation of the fuzzer,
which shares nothing with the provers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Apply, At, Binder, Derivative, Expression, Number, Variable
from dpverify.formulas.logic import And, Compare, ForAll, Formula, Implies, Not, Or, comparisons, free_in
from dpverify.formulas.rendering.neutral import expression_to_json, formula_to_json
from dpverify.formulas.vectors import check_formula
from dpverify.proving.language import Obligation

from ..fuzz import pointwise

Json = Any


@dataclass(frozen=True)
class Fault:
    """A changed claim, and what was changed."""

    said: str
    claim: Formula


def faults(claim: Formula, over: tuple[Variable, ...]) -> Iterator[Fault]:
    """Every change of one place."""
    for put, side in _sides(claim):
        for said, changed in _changes(side, over):
            if _well_formed(put(changed)):
                yield Fault(said, put(changed))
    for said, changed in _turned(claim):
        yield Fault(said, changed)


def _well_formed(f: Formula) -> bool:
    """Whether vectors are no numbers there; dividing by one is no slip that can be read."""
    try:
        check_formula(f)
    except InvalidArgumentError:
        return False
    return True


def _sides(f: Formula) -> Iterator[tuple[Callable[[Expression], Formula], Expression]]:
    """Each side of each comparison, and how to put another in its place."""
    match f:
        case Compare(_, left, right):
            yield lambda e: replace(f, left=e), left
            yield lambda e: replace(f, right=e), right
        case And(parts) | Or(parts):
            for i, part in enumerate(parts):
                for put, side in _sides(part):
                    yield _within(f, parts, i, put), side
        case Implies(_, conclusion):
            for put, side in _sides(conclusion):
                yield _into(lambda g: replace(f, conclusion=g), put), side
        case ForAll(_, body):
            for put, side in _sides(body):
                yield _into(lambda g: replace(f, body=g), put), side
        case Not():
            return


def _within(
    f: And | Or, parts: tuple[Formula, ...], i: int, put: Callable[[Expression], Formula]
) -> Callable[[Expression], Formula]:
    return lambda e: replace(f, parts=(*parts[:i], put(e), *parts[i + 1 :]))


def _into(
    outer: Callable[[Formula], Formula], put: Callable[[Expression], Formula]
) -> Callable[[Expression], Formula]:
    return lambda e: outer(put(e))


def _turned(f: Formula) -> Iterator[tuple[str, Formula]]:
    match f:
        case Compare("<=" | "<" as relation, left, right):
            yield "relation turned round", Compare(relation, right, left)
        case And(parts) | Or(parts):
            for i, part in enumerate(parts):
                for said, changed in _turned(part):
                    yield said, replace(f, parts=(*parts[:i], changed, *parts[i + 1 :]))
        case _:
            return


_SWAPS = {"add": "sub", "sub": "add", "max": "min", "min": "max", "mul": "div", "div": "mul"}


def _changes(e: Expression, over: tuple[Variable, ...]) -> Iterator[tuple[str, Expression]]:
    match e:
        case Number(value):
            for said, other in (
                ("doubled", 2 * value), ("halved", value / 2), ("one more", value + 1), ("one less", value - 1),
                ("sign lost", -value),
            ):  # fmt: skip
                if other != value:
                    yield f"{value} {said}", Number(other)
        case Variable():
            for other_letter in over:
                if other_letter != e and other_letter.kind == e.kind and other_letter.unit.same_as(e.unit):
                    yield f"{other_letter.name} for {e.name}", other_letter
        case Apply(operator, arguments):
            yield from _changes_of(operator, arguments)
            for i, argument in enumerate(arguments):
                for said, changed in _changes(argument, over):
                    yield said, Apply(operator, (*arguments[:i], changed, *arguments[i + 1 :]))
        case Binder(kind, _, variable, first, last):
            if kind != "integral":
                yield "sum begins one late", replace(e, first=first + 1)
                yield "sum ends one early", replace(e, last=last - 1)
            yield from _changes_within(e, (*over, variable), "body")
            yield from _changes_within(e, over, "first", "last")
        case Derivative(order=order):
            yield "derivative of the next order", replace(e, order=order + 1)
            yield from _changes_within(e, over, "body")
        case At():
            yield from _changes_within(e, over, "body", "value")
        case _:
            return


def _changes_of(operator: str, arguments: tuple[Expression, ...]) -> Iterator[tuple[str, Expression]]:
    """Changes of an operator, and of which arguments it has."""
    if operator in _SWAPS and len(arguments) == 2:
        yield f"{_SWAPS[operator]} for {operator}", Apply(_SWAPS[operator], arguments)
    if operator in ("sub", "div", "pow") and arguments[0] != arguments[1]:
        yield f"sides of {operator} exchanged", Apply(operator, arguments[::-1])
    if operator in ("add", "mul", "sub", "div", "neg", "root", "max", "min", "pow"):
        for i in range(len(arguments)):
            rest = (*arguments[:i], *arguments[i + 1 :])
            if operator == "root" and i == 0:
                continue
            if rest:
                yield f"part of {operator} left out", rest[0] if len(rest) == 1 else Apply(operator, rest)
            elif operator == "neg":
                yield "sign lost", arguments[0]


def _changes_within(
    e: Binder | Derivative | At, over: tuple[Variable, ...], *names: str
) -> Iterator[tuple[str, Expression]]:
    for name in names:
        for said, changed in _changes(getattr(e, name), over):
            yield said, replace(e, **{name: changed})


# ---------------------------------------------------------------------------------------------- which are faults

_STEPS = tuple(Fraction(k, 7) for k in (1, 3, 6, 10, 17, 29))
_WHOLE = (0, 1, 2, 3, 4, 6, 9)
_TRIED = 400


def points(
    obligation: Obligation, start: Mapping[str, Any] | None = None, *, seed: int, most: int = 12
) -> list[dict[str, Any]]:
    """Some points of domain and box at which the assumptions are true: `start`, what is around it, and others."""
    rng = random.Random(seed)
    over = obligation.over
    conditions = [formula_to_json(a) for a in obligation.assuming]
    tried: list[dict[str, Any]] = []
    if start is not None:
        tried = [dict(start), *({**start, v.name: x} for v in over for x in _around(v, start[v.name]))]
    ranges = [_vectors() if v.kind == "vector" else _values(v, obligation.box.get(v.name)) for v in over]
    if all(ranges):
        tried += [
            {v.name: rng.choice(values) for v, values in zip(over, ranges, strict=True)}
            for _ in range(_TRIED)
        ]
    found: list[dict[str, Any]] = []
    for point in tried:
        inside = all(v.contains(point[v.name]) for v in over)
        if (
            inside
            and point not in found
            and all(pointwise.holds_at(c, point) == {pointwise.TRUE} for c in conditions)
        ):
            found.append(point)
            if len(found) == most:
                break
    return found


def without_one(
    obligation: Obligation, where: list[dict[str, Any]], *, seed: int
) -> list[list[dict[str, Any]]]:
    """For each assumption, points of the domain at which all others are true: `where`, and what is around them.

    Letters that are equal at a point are also moved together, so that equations between them stay true.
    """
    over, conditions = obligation.over, [formula_to_json(a) for a in obligation.assuming]
    if not conditions:
        return []
    rng = random.Random(seed)
    tried = [dict(point) for point in where]
    for point in where:
        for value in dict.fromkeys(value for value in point.values() if not isinstance(value, tuple)):
            equal = [v for v in over if point[v.name] == value]
            for group in (equal, *([v] for v in equal)):
                for moved in _moves(group[0], value):
                    tried.append({**point, **{v.name: moved for v in group}})
        for v in over:
            if v.kind == "vector":
                tried += [{**point, v.name: moved} for moved in _around(v, point[v.name])]
        for _ in range(_TRIED // 8):
            several = rng.sample(over, rng.randint(2, max(2, len(over) // 2))) if len(over) > 1 else over
            tried.append({**point, **{v.name: rng.choice(_moves(v, point[v.name])) for v in several}})
    inside = [p for p in tried if all(v.contains(p[v.name]) for v in over)]
    holding = [[pointwise.holds_at(c, p) == {pointwise.TRUE} for c in conditions] for p in inside]
    return [
        [p for p, true in zip(inside, holding, strict=True) if all(t or i == one for i, t in enumerate(true))]
        for one in range(len(conditions))
    ]


def needs_less(claim: Formula, changed: Formula, around: list[list[dict[str, Any]]]) -> bool:
    """Whether a changed claim stays true without an assumption that the claim itself needs.

    Such a one says something else, and less in that respect: that a thing is itself, one of the assumptions again, or
    what a part of them says. `around` holds points where all assumptions but one are true, for each.
    """
    before, after = formula_to_json(claim), formula_to_json(changed)
    return any(
        any(pointwise.holds_at(before, p) == {pointwise.FALSE} for p in found)
        and all(pointwise.holds_at(after, p) == {pointwise.TRUE} for p in found)
        for found in around
    )


def _vectors() -> list[tuple[Fraction, ...]]:
    """Vectors of the plane."""
    return [(Fraction(a), Fraction(b)) for a in (0, 1, -1, 2, 3) for b in (0, 1, -2)]


def _moves(v: Variable, value: Any) -> tuple[Any, ...]:
    """Other values of a letter, some of them far away."""
    if isinstance(value, tuple):
        return _around(v, value)
    return (*_around(v, value), value + 20, value - 20, Fraction(0))


def _around(v: Variable, value: Any) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return tuple((*value[:i], value[i] + s, *value[i + 1 :]) for i in range(len(value)) for s in (1, -1))
    if v.kind == "integer":
        return value + 1, value - 1, value + 3
    return value * Fraction(3, 2), value * Fraction(2, 3), value + Fraction(1, 5), value - Fraction(1, 5)


def _values(v: Variable, ends: Any) -> list[Fraction]:
    low, high = v.lower, v.upper
    if ends is not None:
        first, last = (Fraction(str(end)) for end in ends)
        low = first if low is None else max(low, first)
        high = last if high is None else min(high, last)
    if v.kind == "integer":
        start = low if low is not None else (high - 9 if high is not None else Fraction(0))
        found = [start + k for k in _WHOLE]
    elif low is not None and high is not None:
        found = [low + (high - low) * Fraction(k, 8) for k in range(9)]
    elif low is not None:
        found = [low, *(low + s for s in _STEPS)]
    elif high is not None:
        found = [high, *(high - s for s in _STEPS)]
    else:
        found = [Fraction(0), *_STEPS, *(-s for s in _STEPS)]
    return [x for x in found if v.contains(x) and (high is None or x <= high) and (low is None or x >= low)]


def stronger(claim: Formula, changed: Formula, where: list[dict[str, Any]]) -> bool:
    """Whether the changed claim says more at some point, and at none surely less: its slack is smaller there."""
    pairs = list(zip(comparisons(claim), comparisons(changed), strict=True))
    different = [(old, new) for old, new in pairs if old != new]
    if len(different) != 1:
        return False
    ((old, new),) = different
    if new.left == new.right:
        return False  # that a thing is itself
    if old.relation == "==":
        return any(_slack(new, p) is not None and not _zero(_slack(new, p)) for p in where)
    found = False
    for point in where:
        before, after = _slack(old, point), _slack(new, point)
        if before is None or after is None:
            continue
        if after.a > before.b:
            return False
        found = found or after.b < before.a
    return found


def slack_left(claim: Formula, changed: Formula, where: list[dict[str, Any]]) -> float | None:
    """How far the changed comparison is from being false, at the nearest of some points; None where it isn't known."""
    pairs = zip(comparisons(claim), comparisons(changed), strict=True)
    found = [_slack(new, p) for old, new in pairs if old != new for p in where]
    return min((float(slack.a) for slack in found if slack is not None), default=None)


def _slack(c: Compare, point: dict[str, Any]) -> Any:
    """Right minus left, as an interval; None where it is not known."""
    if not {v.name for v in free_in(c)} <= set(point):
        return None  # a quantified letter
    left, right = (pointwise.term(expression_to_json(side), point) for side in (c.left, c.right))
    if left is None or right is None or not (left.surely and right.surely):
        return None
    return pointwise.wide(right.number) - pointwise.wide(left.number)


def _zero(x: Any) -> bool:
    return bool(x.a <= 0 <= x.b)
