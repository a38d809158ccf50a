"""Letters that follow from others: by equations among the assumptions, or by bounds there, as far as these let them go.

What follows is only proposed: whoever takes a point confirms it with all assumptions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpverify.analyses.sizes import Size, tied
from dpverify.formulas.expressions import Expression, Variable, free_variables
from dpverify.formulas.logic import Compare, conjuncts
from dpverify.formulas.values import UnclearError, UndefinedError, Value
from dpverify.proving.language import Obligation
from dpverify.proving.provers.search import TermsLeft, float_function, values_at
from dpverify.proving.reasoning.evaluation import ExactPoint, evaluate
from dpverify.proving.writing_out import isolated

Array = NDArray[np.float64]

Columns = Mapping[str, Array]
"""Letters by name, at many points."""


@dataclass(frozen=True)
class LetterRule:
    """How a letter follows from others: from the other side of a comparison, or so that an affine equation holds."""

    name: str
    letters: frozenset[str]
    expression: Expression
    how: Literal["equal", "affine", "down", "up"] = "equal"
    """Equal to the expression; so that it is 0; or the expression rounded to two digits, where it is a bound."""
    strict: bool = False
    """Whether the bound is strict."""

    def exact(self, point: ExactPoint) -> Fraction | None:
        """Its value, where that is rational."""
        try:
            if self.how == "affine":
                at_1, at_2 = (evaluate(self.expression, {**point, self.name: Fraction(x)}) for x in (1, 2))
                if not (isinstance(at_1, Fraction) and isinstance(at_2, Fraction)) or at_1 == at_2:
                    return None
                return 1 - at_1 / (at_2 - at_1)
            value = evaluate(self.expression, point)
            if self.how != "equal":
                return _two_digits(value, up=self.how == "up", strict=self.strict)
        except (UndefinedError, UnclearError, ValueError, OverflowError):
            return None
        return value if isinstance(value, Fraction) else None

    def in_floats(self, columns: Columns) -> Array:
        """The same at many points, NaN where there is no value."""
        if self.how != "affine":
            value = _column(self.expression, columns)
            if self.how == "equal":
                return value
            return _all_two_digits(value, up=self.how == "up", strict=self.strict)
        one = np.ones_like(next(iter(columns.values())))
        at_1, at_2 = (_column(self.expression, {**columns, self.name: x * one}) for x in (1.0, 2.0))
        return 1 - at_1 / (at_2 - at_1)


def _column(e: Expression, columns: Columns) -> Array:
    """Values of an expression at many points."""
    found = values_at(e, columns)
    if found is not None:
        return found
    names = list(columns)
    function = float_function(e, names, TermsLeft())
    return np.array([function(x) for x in np.array([columns[x] for x in names]).T.tolist()])


def _two_digits(value: Value, *, up: bool, strict: bool) -> Fraction:
    """The next number with two significant digits: the value itself where that has no more, unless `strict`."""
    exact = value if isinstance(value, Fraction) else Fraction(float(value))
    if not exact:
        if strict:
            raise ValueError("0 has no next number")
        return exact
    digit = Fraction(10) ** (math.floor(math.log10(abs(exact))) - 1)
    count = Fraction((math.ceil if up else math.floor)(exact / digit))
    if strict and count * digit == exact:
        # below 1 comes 0.99
        count += (1 if up else -1) * (Fraction(1, 10) if count == (-10 if up else 10) else 1)
    return count * digit


def _all_two_digits(values: Array, *, up: bool, strict: bool) -> Array:
    """The same of many values in floats; a value that is that close to such a number is one."""
    with np.errstate(all="ignore"):
        digit = 10.0 ** (np.floor(np.log10(np.abs(values))) - 1)
        count = values / digit
        near = np.round(count)
        same = np.abs(count - near) <= 1e-9
        count = np.where(same, near, np.ceil(count) if up else np.floor(count))
        if strict:
            step = (1 if up else -1) * np.where(near == (-10 if up else 10), 0.1, 1.0)
            count = np.where(same, count + step, count)
        return np.where(values == 0, math.nan if strict else 0.0, count * digit)


def rules_of(
    obligation: Obligation, sizes: Mapping[str, Size], *, tight: bool = False, isolate: bool = False
) -> list[LetterRule]:
    """Letters that follow from others, each from those before it: equations among the assumptions fix letters.

    `tight`: letters of no known size are also as large, or as small, as bounds let them be. `isolate`: of an equation,
    that letter follows whose value is rational, by whatever operators it is reached; not the one that stands alone.
    """
    rules: list[LetterRule] = []
    compared = _compared(obligation)
    kinds = {v.name: v.kind for v in obligation.over}
    for f in compared:
        if f.relation == "==":
            _add(rules, [*(_isolated(f, sizes, kinds) if isolate else ()), *_solved(f, sizes)])
    bounded = {x for x, size in sizes.items() if not size.known} - {*tied(sizes)}
    for f in compared if tight else ():
        if f.relation in ("<=", "<"):
            _add(rules, (r for r in _bounds(f) if r.name in bounded))
    ordered: list[LetterRule] = []
    while rules:
        waiting = {r.name for r in rules}
        ordered += (r for r in rules if not r.letters & waiting)
        rules = [r for r in rules if r.letters & waiting]
    return ordered


def _compared(obligation: Obligation) -> list[Compare]:
    """The comparisons among the assumptions, of which all hold."""
    parts = (f for part in obligation.assuming for f in conjuncts(part))
    return [f for f in parts if isinstance(f, Compare)]


def _add(rules: list[LetterRule], candidates: Iterable[LetterRule]) -> None:
    """Add the first candidate whose letter does not follow yet, and is behind none of its own letters."""
    for rule in candidates:
        if rule.name not in {r.name for r in rules} and rule.name not in _behind(rule.letters, rules):
            rules.append(rule)
            return


def _behind(letters: frozenset[str], rules: Sequence[LetterRule]) -> frozenset[str]:
    """All that letters follow from, with themselves."""
    more = letters.union(*(r.letters for r in rules if r.name in letters))
    return letters if more == letters else _behind(more, rules)


def _names(e: Expression) -> frozenset[str]:
    return frozenset(v.name for v in free_variables(e))


def _solved(equation: Compare, sizes: Mapping[str, Size]) -> Iterator[LetterRule]:
    """How letters of an equation may follow from its others, those of no known size first."""
    left, right = equation.left, equation.right
    sides = [
        LetterRule(side.name, _names(other), other)
        for side, other in ((left, right), (right, left))
        if isinstance(side, Variable) and side.name in sizes and side.name not in _names(other)
    ]
    yield from sorted(sides, key=lambda r: sizes[r.name].known)
    gap = left - right
    for name in sorted(_names(gap) & {*sizes}, key=lambda x: (sizes[x].known, x)):
        if _is_affine(gap, name):
            yield LetterRule(name, _names(gap) - {name}, gap, "affine")


def _bounds(f: Compare) -> Iterator[LetterRule]:
    """A letter that stands alone on one side, as far as the other side lets it go."""
    strict = f.relation == "<"
    if isinstance(f.left, Variable) and f.left.name not in _names(f.right):
        yield LetterRule(f.left.name, _names(f.right), f.right, "down", strict)
    if isinstance(f.right, Variable) and f.right.name not in _names(f.left):
        yield LetterRule(f.right.name, _names(f.left), f.left, "up", strict)


def _somewhere(*expressions: Expression) -> ExactPoint:
    """A point at which expressions are looked at; what follows of it is confirmed anyway. Norms are rational there."""
    letters = sorted({v for e in expressions for v in free_variables(e)}, key=lambda v: v.name)
    numbers = {v: Fraction(7 + k, 5) for k, v in enumerate(letters)}
    return {v.name: (3 * x, 4 * x) if v.kind == "vector" else x for v, x in numbers.items()}


def _is_affine(gap: Expression, name: str) -> bool:
    """Whether an expression is affine in a letter, as far as one point shows."""
    at = _somewhere(gap)
    try:
        first, second, third = (evaluate(gap, {**at, name: Fraction(x)}) for x in (1, 2, 3))
    except (UndefinedError, UnclearError, KeyError):
        return False
    rational = isinstance(first, Fraction) and isinstance(second, Fraction) and isinstance(third, Fraction)
    return rational and bool(second - first == third - second != 0)


def _isolated(equation: Compare, sizes: Mapping[str, Size], kinds: Mapping[str, str]) -> list[LetterRule]:
    """How letters that occur once in an equation follow, where that is rational as far as one point shows."""
    found = []
    for name in sorted((_names(equation.left) | _names(equation.right)) & {*sizes}):
        value = isolated(equation, name)
        if value is not None and _is_rational(value):
            found.append(LetterRule(name, _names(value), value))
    return sorted(found, key=lambda r: (kinds[r.name] == "integer", sizes[r.name].known))


def _is_rational(e: Expression) -> bool:
    try:
        return isinstance(evaluate(e, _somewhere(e)), Fraction)
    except (UndefinedError, UnclearError, KeyError):
        return False
