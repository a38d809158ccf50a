"""The checker's values in models of theorems: points, numbers, pairs, numbers for each point, and their laws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from dpverify.proving.checker.terms import COMPARISONS, Term, demand, names
from dpverify.proving.checker.theorems.divergences import Laws, Masses
from dpverify.proving.checker.theorems.language import LOGIC
from dpverify.proving.checker.theorems.lines import Line, shifted
from dpverify.proving.checker.theorems.numbers import (
    FALSE,
    NO,
    ONE,
    TRUE,
    compared,
    demand_true,
    difference,
    logic,
    made,
)


@dataclass(frozen=True)
class Point:
    """A point of a finite type."""

    kind: str
    index: int


@dataclass(frozen=True)
class Finite:
    """A law of finitely many values, all different."""

    masses: tuple[tuple[Value, Term], ...]


@dataclass(frozen=True)
class Sequence:
    """A number for each point of a type, or for each whole number, of which nothing is known."""

    name: str


@dataclass(frozen=True)
class ChangedSequence:
    """The same numbers, but for one of them."""

    base: Sequence
    index: Value
    value: Term


@dataclass(frozen=True)
class Independent:
    """The law of independent numbers with the same law."""

    law: Line


@dataclass(frozen=True)
class Image:
    """The law of what has a law of its own in each of some cases, given a value of another law, and its name there."""

    name: str
    law: Line | Independent
    cases: tuple[tuple[tuple[Term, ...], Value], ...]


@dataclass(frozen=True)
class Mixture:
    """One of several laws, each with a chance."""

    laws: tuple[tuple[Term, Value], ...]


TOTAL = {"num", "sym", "add", "mul", "abs", "max", "min", "exp", "phi", "floor", *LOGIC, *COMPARISONS}
"""Heads of terms that always have a value."""
Value: TypeAlias = (
    "Point | Term | Finite | Line | Mixture | Sequence | ChangedSequence | Independent | Image"
    " | tuple[Value, Value]"
)
Lookup: TypeAlias = "Callable[[tuple[Value, ...]], Value]"
"""What a letter is, with arguments."""
Letters: TypeAlias = "Mapping[str, Lookup]"


@dataclass(frozen=True)
class ConstantLetter:
    """A letter without arguments."""

    value: Value

    def __call__(self, _: tuple[Value, ...]) -> Value:
        """Its value."""
        return self.value


constant: Callable[[Value], Lookup] = ConstantLetter


def numeric(value: Value) -> Term:
    """A number, or a formula."""
    if isinstance(value, Term):
        return value
    raise ValueError("no number")


def whole(value: object, limit: int) -> int:
    """A whole number from 0 up to a limit, without it."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < limit:
        return value
    raise ValueError(f"no whole number below {limit}: {value}")


def settled(value: Value) -> bool:
    """Whether a value is seen to equal another only if it is the same."""
    if isinstance(value, tuple):
        return all(map(settled, value))
    return isinstance(value, Point) or (isinstance(value, Term) and value.head == "num")


def total(value: Value) -> bool:
    """Whether a value has no part that may be undefined for some values of letters."""
    match value:
        case Term() if not names(value):
            return value in (TRUE, FALSE) or compared("==", value, value) is TRUE
        case Term("pow", (base, exponent)):
            return total(base) and exponent.head == "num" and exponent.number in range(100)
        case Term(head, parts):
            return head in TOTAL and all(map(total, parts))
        case Finite(masses):
            return all(total(one) and total(mass) for one, mass in masses)
        case Image(_, law, cases):
            return total(law) and all(total(part) for facts, one in cases for part in (*facts, one))
        case Independent(law):
            return total(law)
        case Line():
            return total(value.at) and total(value.scale)
        case one, other:
            return total(one) and total(other)
    return isinstance(value, Point)


def gathered(pairs: Iterable[tuple[Value, Term]]) -> Finite:
    """The law of values with masses, of which equal ones are put together."""
    found = dict[Value, list[Term]]()
    for value, mass in pairs:
        found.setdefault(value, []).append(mass)
    demand(
        len(found) == 1 or all(map(settled, found)), "values of which it is not seen whether they are equal"
    )
    return Finite(tuple((value, made("add", *masses)) for value, masses in found.items()))


def chance_of(law: Finite, value: Value) -> Term:
    """The mass of a value."""
    demand(all(value == other or (settled(value) and settled(other)) for other, _ in law.masses), "no mass")
    return dict(law.masses).get(value, NO)


def both(one: Value, other: Value) -> Masses:
    """The masses that two finite laws give to each value."""
    if isinstance(one, Finite) and isinstance(other, Finite):
        values = dict.fromkeys(value for law in (one, other) for value, _ in law.masses)
        return [(chance_of(one, value), chance_of(other, value)) for value in values]
    raise ValueError("laws that are not finite")


def pair_of_laws(one: Value, other: Value) -> Laws:
    """Two laws that are compared: lines, or their masses."""
    return (one, other) if isinstance(one, Line) and isinstance(other, Line) else both(one, other)


def letters_in(value: Value) -> frozenset[str]:
    """The names of letters in a value; refused of sequences."""
    match value:
        case Term():
            return names(value)
        case Point():
            parts = list[Value]()
        case Line():
            parts = [value.at, value.scale]
        case Finite(pairs) | Mixture(pairs):
            parts = [part for pair in pairs for part in pair]
        case Image(_, law, cases):
            parts = [law, *(part for facts, one in cases for part in (*facts, one))]
        case (one, other):
            parts = [one, other]
        case _:
            raise ValueError("letters of sequences")
    return frozenset[str]().union(*map(letters_in, parts))


def mixed(weight: Term, one: Value, other: Value) -> Value:
    """One law with a chance, else the other."""
    if weight in (ONE, NO):
        return one if weight is ONE else other
    for low, high in ((NO, weight), (weight, ONE)):
        demand_true(compared("<=", low, high), "a weight that is no chance")
    return blended([(weight, one), (difference(ONE, weight), other)])


def blended(laws: list[tuple[Term, Value]]) -> Finite | Mixture:
    """One of several laws, each with a chance."""
    finite = [(weight, law) for weight, law in laws if isinstance(law, Finite)]
    if len(finite) < len(laws):
        return Mixture(tuple(laws))
    return gathered((v, made("mul", w, mass)) for w, law in finite for v, mass in law.masses)


def same(one: Value, other: Value) -> Term:
    """Whether values are equal."""
    if isinstance(one, Term) and isinstance(other, Term):
        return compared("==", one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return logic("and", *(same(*sides) for sides in zip(one, other, strict=True)))
    if isinstance(one, Point):
        return TRUE if one == other else FALSE
    if one == other and isinstance(one, Line | Independent | Image | Mixture):
        return TRUE
    return logic("and", *(TRUE if p is q else compared("==", p, q) for p, q in both(one, other)))


def is_fixed(outcome: tuple[Value, Term]) -> bool:
    """Whether an outcome and its mass depend on no letter."""
    value, mass = outcome
    return not names(mass) and (isinstance(value, Point) or (isinstance(value, Term) and not names(value)))


def image(law: Line | Independent, x: str, pieces: list[tuple[list[Term], Value]]) -> Value:
    """The law of what has laws, in each case, that depend on a number with a law."""
    value = pieces[0][1]
    single = len(pieces) == 1 and isinstance(value, Finite) and len(value.masses) == 1
    point = value.masses[0][0] if single and isinstance(value, Finite) else None
    if isinstance(law, Line) and isinstance(point, Term) and x in names(point):
        with suppress(ValueError):
            return shifted(law, x, point)
    if len(pieces) == 1 and isinstance(value, Finite) and all(map(is_fixed, value.masses)):
        return value
    demand(all(total(f) for facts, one in pieces for f in (*facts, one)), "what may have no value")
    return Image(x, law, tuple((tuple(facts), one) for facts, one in pieces))
