"""Matching of formulas: which values of its letters make one formula another, letter by letter.

Sums and products may have their terms in any order, an equation its sides; nothing else is rewritten. A number letter
of the pattern may be any expression of its kind. A functional, such as a divergence, is another letter that is printed
the same way once the numbers in its LaTeX are renamed; a letter that is printed in another way is an identification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from dpverify.formulas.expressions import (
    Apply,
    Binder,
    Expression,
    Number,
    Variable,
    constant,
    free_variables,
    is_integer,
)
from dpverify.formulas.functionals import FUNCTIONAL
from dpverify.formulas.logic import And, Compare, Exists, ForAll, Formula, Implies, Not, Or, formula_parts
from dpverify.formulas.notation.tokens import DRESS, end_of_group, normal, texts
from dpverify.formulas.rendering.latex import expression_latex
from dpverify.formulas.units import DIMENSIONLESS
from dpverify.formulas.vectors import is_vector

Values = Mapping[Variable, Expression]
"""Letters of a pattern, each with what it is."""

_MOST = 400
"""Steps of one match; formulas of papers need fewer, and what needs more is no match."""
_FOUND = 4
"""Matches of one pair of formulas that are looked at."""


@dataclass
class Matcher:
    """Finds what the letters of a pattern are in another formula.

    `letters` are those of the pattern that may be something else; `functionals` are those of both sides that may stand
    for functionals. `known` is what some letters are already.
    """

    letters: frozenset[Variable]
    functionals: frozenset[Variable]
    known: Values = field(default_factory=dict)
    _steps: int = 0

    def formulas(self, pattern: Formula, other: Formula) -> list[Values]:
        """What makes the pattern the other formula, those without identifications first; empty if nothing does."""
        self._steps = 0
        found: list[Values] = []
        for values in self._formula(pattern, other, self.known):
            if values not in found:
                found.append(values)
            if len(found) == _FOUND:
                break
        return sorted(found, key=lambda values: len(identified(values, self.functionals)))

    def sides(self, pattern: Expression, other: Expression) -> list[Values]:
        """The same of two expressions."""
        self._steps = 0
        return [
            values for values, _ in zip(self._match(pattern, other, self.known), range(_FOUND), strict=False)
        ]

    def _formula(self, pattern: Formula, other: Formula, values: Values) -> Iterator[Values]:
        match pattern, other:
            case Compare(), Compare():
                if pattern.relation == other.relation:
                    yield from self._all((pattern.left, pattern.right), (other.left, other.right), values)
                    if pattern.relation in ("==", "!="):
                        yield from self._all((pattern.left, pattern.right), (other.right, other.left), values)
            case (ForAll(bound, body), ForAll(new, new_body)) | (Exists(bound, body), Exists(new, new_body)):
                yield from self._bound(
                    bound, new, values, lambda within: self._formula(body, new_body, within)
                )
            case (And(), And()) | (Or(), Or()) | (Not(), Not()) | (Implies(), Implies()):
                yield from self._all(formula_parts(pattern), formula_parts(other), values)

    def _all(self, parts: tuple[Any, ...], others: tuple[Any, ...], values: Values) -> Iterator[Values]:
        """All parts, expressions or formulas, each with the other at its place."""
        if not parts and not others:
            yield values
        elif len(parts) == len(others):
            match = self._match if isinstance(parts[0], Expression) else self._formula
            for found in match(parts[0], others[0], values):
                yield from self._all(parts[1:], others[1:], found)

    def _match(self, pattern: Expression, other: Expression, values: Values) -> Iterator[Values]:
        self._steps += 1
        if self._steps > _MOST:
            return
        match pattern, other:
            case Variable(), _ if pattern in values:
                if same(values[pattern], other):
                    yield values
            case Variable(), _ if pattern in self.letters:
                if self._may_be(pattern, other):
                    yield {**values, pattern: other}
            case Apply(), Variable() if other in self.functionals and self._is_printed_as(pattern, other):
                letter = _letter(pattern)
                if same(values.get(letter, other), other):
                    yield {**values, letter: other}
            case Apply("add" | "mul" as operator, _), Apply(op, _) if op == operator:
                yield from self._in_any_order(
                    _flat(pattern, operator), _flat(other, operator), values, operator
                )
            case Apply(), Apply():
                if pattern.operator == other.operator:
                    yield from self._all(pattern.arguments, other.arguments, values)
            case Binder(kind, body, bound, first, last), Binder(
                other_kind, new_body, new, new_first, new_last
            ):
                if kind == other_kind:
                    for found in self._all((first, last), (new_first, new_last), values):
                        yield from self._bound(
                            bound, new, found, lambda within: self._match(body, new_body, within)
                        )
            case _:
                value = constant(pattern)
                if value is not None and value == constant(other):
                    yield values
                elif pattern == other:
                    letters = free_variables(pattern)
                    if all(same(values.get(v, v), v) for v in letters):
                        yield {**values, **{v: v for v in letters}}

    def _bound(
        self, bound: Variable, new: Variable, values: Values, inside: Callable[[Values], Iterator[Values]]
    ) -> Iterator[Values]:
        """What is found inside of a sum, an integral or a quantifier; no letter is what depends on a bound one."""
        if bound.kind != new.kind or not _same_domain(bound, new):
            return
        before = {v: e for v, e in values.items() if v != bound}
        for found in inside({**before, bound: new}):
            outside = {v: e for v, e in found.items() if v != bound}
            if not any(new in free_variables(e) for v, e in outside.items() if v not in before):
                yield {**outside, **({bound: values[bound]} if bound in values else {})}

    def _in_any_order(
        self, parts: list[Expression], others: list[Expression], values: Values, operator: str
    ) -> Iterator[Values]:
        """Terms of a sum, or factors; a letter may be several of them, if it is the last of the pattern."""
        if not parts:
            if not others:
                yield values
            return
        first, rest = parts[0], parts[1:]
        if not rest and len(others) > 1:
            if isinstance(first, Variable) and first not in self.functionals:
                yield from self._match(first, Apply(operator, tuple(others)), values)
            return
        for i, other in enumerate(others):
            for found in self._match(first, other, values):
                yield from self._in_any_order(rest, [*others[:i], *others[i + 1 :]], found, operator)

    def _may_be(self, letter: Variable, value: Expression) -> bool:
        if (letter.kind == "vector") != is_vector(value):
            return False
        if letter.kind == "integer" and not is_integer(value):
            return False
        if letter not in self.functionals:
            return True
        return isinstance(value, Variable) and value.unit == letter.unit and _head(letter) == _head(value)

    def _is_printed_as(self, pattern: Expression, other: Variable) -> bool:
        """Whether a functional is printed as what a pattern writes out, such as the length of a difference."""
        return (
            isinstance(pattern, Apply)
            and pattern.operator in _BRACKETS
            and _head(_letter(pattern)) == _head(other)
        )


def _same_domain(one: Variable, other: Variable) -> bool:
    ends = ("lower", "lower_open", "upper", "upper_open")
    return all(getattr(one, end) == getattr(other, end) for end in ends)


def _flat(e: Expression, operator: str) -> list[Expression]:
    """The terms of a sum of sums, or the factors; numbers and expressions first, single letters last."""
    found: list[Expression] = []
    waiting = [e]
    while waiting:
        part = waiting.pop(0)
        if isinstance(part, Apply) and part.operator == operator:
            waiting = [*part.arguments, *waiting]
        else:
            found.append(part)
    return sorted(found, key=lambda part: isinstance(part, Variable))


@lru_cache(maxsize=4096)
def _ordered(e: Expression) -> object:
    """A tree in which the order of terms and factors plays no part."""
    match e:
        case Apply("add" | "mul" as operator, _):
            return operator, tuple(sorted(repr(_ordered(part)) for part in _flat(e, operator)))
        case Apply(operator, arguments):
            return operator, tuple(map(_ordered, arguments))
        case Number() | Variable():
            return repr(e)
        case _:
            return e


def same(one: Expression, other: Expression) -> bool:
    """Whether two expressions are one, in whichever order their terms and factors stand."""
    return one == other or _ordered(one) == _ordered(other)


# ------------------------------------------------------------------------------------------------- in print


def printed(letter: Variable) -> tuple[str, ...]:
    """How a letter is printed, piece by piece; letters that are equal may be printed differently."""
    return texts(normal(letter.latex or letter.name))


def _head(letter: Variable) -> tuple[str, bool]:
    """What the print of a letter begins with, and whether that has a superscript, as in `D^{(z)}`."""
    pieces = printed(letter)
    start = next((i for i, piece in enumerate(pieces) if piece not in ("{", "}", "(", "[")), 0)
    at, above = start + 1, False
    if pieces[start:at] and pieces[start] in DRESS:
        at = end_of_group(pieces, at)
    while at < len(pieces) and pieces[at] in ("_", "^", "'"):
        above = above or pieces[at] == "^"
        at = at + 1 if pieces[at] == "'" else end_of_group(pieces, at + 1)
    return " ".join(pieces[start : start + 1]) + " ".join(
        pieces[start + 1 : at][:3] if pieces[start] in DRESS else ()
    ), above


_BRACKETS = ("norm", "abs", "inner")
"""Operators that are printed as brackets around what they are applied to."""


def _letter(e: Expression) -> Variable:
    """A letter for what is written out in a pattern and is one letter elsewhere."""
    latex = expression_latex(e)
    return Variable(latex, "real", None, True, None, True, DIMENSIONLESS, latex=latex, stands_for=FUNCTIONAL)


def is_named_in(letter: Variable, text: tuple[str, ...]) -> bool:
    """Whether a letter stands somewhere in pieces of print."""
    own = printed(letter)
    return any(text[i : i + len(own)] == own for i in range(len(text) - len(own) + 1))


def identified(values: Values, functionals: frozenset[Variable]) -> tuple[tuple[Variable, Variable], ...]:
    """The functionals that are printed otherwise than the letters that they are read as, with the numbers renamed."""
    renaming = {
        printed(v): printed(e)
        for v, e in values.items()
        if isinstance(e, Variable) and not _is_one(v, functionals) and v.kind == e.kind
    }
    return tuple(
        (v, e)
        for v, e in values.items()
        if isinstance(e, Variable)
        and _is_one(v, functionals)
        and not _prints(printed(v), printed(e), renaming)
    )


def _is_one(letter: Variable, functionals: frozenset[Variable]) -> bool:
    """Whether a letter stands for a functional, or for what a pattern writes out."""
    return letter in functionals or letter.stands_for == FUNCTIONAL


def _prints(
    pattern: tuple[str, ...], other: tuple[str, ...], renaming: Mapping[tuple[str, ...], tuple[str, ...]]
) -> bool:
    """Whether print is the other once each letter that is renamed is, wherever it stands."""
    i = j = 0
    names = sorted(renaming, key=len, reverse=True)
    while i < len(pattern):
        name = next((n for n in names if n and pattern[i : i + len(n)] == n), None)
        new = (pattern[i],) if name is None else renaming[name]
        if other[j : j + len(new)] != new:
            if name is None or other[j : j + len(name)] != name:
                return False
            new = name
        i += 1 if name is None else len(name)
        j += len(new)
    return j == len(other)
