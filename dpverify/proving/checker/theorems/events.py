"""The checker's events of numbers of which nothing is known: their probabilities under laws, and how these compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import permutations

from dpverify.proving.checker.terms import (
    Term,
    Unknown,
    conjuncts,
    demand,
    heads,
    names,
    number,
    symbol,
    term,
)
from dpverify.proving.checker.theorems.language import Node, named, parts_of
from dpverify.proving.checker.theorems.lines import Line, shifted
from dpverify.proving.checker.theorems.numbers import (
    FALSE,
    NO,
    TRIED,
    TRUE,
    UNKNOWN,
    compared,
    difference,
    follows,
    for_numbers,
    made,
)
from dpverify.proving.checker.theorems.outcomes import (
    ChangedSequence,
    Independent,
    Letters,
    Sequence,
    Value,
    numeric,
)

FEW = 32  # whole numbers between bounds that are gone through


class UnknownEvent:
    """A set of numbers, or of sequences of numbers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.laws = dict[Value, Term]()

    def outside(self, _: tuple[Value, ...]) -> Value:
        """What it is of a number: not known."""
        raise ValueError("an event of numbers outside of a probability")

    def chance(self, law: Value) -> Term:
        """A letter for its probability under a law; of a number, for whether this is in it."""
        line = law.law if isinstance(law, Independent) else law
        used = [line] if isinstance(line, Term) else [line.at, line.scale] if isinstance(line, Line) else []
        demand(used and not any(map(names, used)), "a law that depends on letters")
        return self.laws.setdefault(law, symbol(f"{self.name}_{len(self.laws)}"))

    def letters(self) -> list[Unknown]:
        """The letters of its probabilities."""
        return [
            Unknown(one.name, "real", NO.number, False, NO.number + 1, False) for one in self.laws.values()
        ]


def event_of(node: Node, env: Letters) -> UnknownEvent | None:
    """The event that a formula says a value is in."""
    term = parts_of(node)
    found = getattr(env.get(named(term[1])), "__self__", None) if term[0] == "of" else None
    return found if isinstance(found, UnknownEvent) else None


def facts_of(laws: Mapping[Value, Term]) -> Iterator[Term]:
    """What holds between probabilities of an event: densities that are moved are in a ratio everywhere.

    exp(-|x - a|/s) <= exp(|a - b|/s) exp(-|x - b|/s); of exponential laws, the same where a is not below b.
    """
    lines = [(law, chance) for law, chance in laws.items() if isinstance(law, Line)]
    for (one, left), (other, right) in permutations(lines, 2):
        gap = difference(one.at, other.at)
        moved = one.family == other.family and compared("==", one.scale, other.scale) is TRUE
        above = one.family == "exponential" and compared("<=", NO, gap) is TRUE
        if moved and (above or one.family == "laplace"):
            ratio = made("exp", made("mul", made("abs", gap), made("pow", one.scale, number(-1))))
            yield term("<=", left, term("mul", ratio, right))


def law_of_image(value: Value, laws: Mapping[str, Line | Independent]) -> Value:
    """The law of a value that is made of independent ones with laws; of a number without any, itself."""
    if isinstance(value, Term):
        demand(names(value) <= laws.keys(), "further letters")
        used = [*names(value)]
        demand(len(used) <= 1, "two numbers with laws")
        law = laws[used[0]] if used else None
        demand(not used or isinstance(law, Line), "no number")
        return shifted(law, used[0], value) if isinstance(law, Line) else value
    base = value.base if isinstance(value, ChangedSequence) else value
    if not isinstance(base, Sequence):
        raise ValueError("an event of other values")
    law = laws.get(base.name)
    if law is None:
        raise ValueError("a sequence without a law")
    if isinstance(value, ChangedSequence):
        index = names(value.index) if isinstance(value.index, Term) else frozenset()
        demand(not {name.split("_")[0] for name in index} & laws.keys(), "a place that has a law")
        kept = isinstance(law, Independent) and law_of_image(value.value, laws) == law.law
        demand(kept and names(value.value), "a number with another law than the others")
    return law


@dataclass(frozen=True)
class AllLetters:
    """Letters of an `all`: numbers and events by their names, sequences, and what is in scope around it."""

    numbers: dict[str, Unknown]
    sequences: set[str]
    events: dict[str, UnknownEvent]
    outer: list[str]

    def own(self) -> set[str]:
        """The names of numbers and sequences within formulas."""
        return {v.name for v in self.numbers.values()} | self.sequences


def between(facts: Iterable[Term], letter: Term) -> range | None:
    """The whole numbers that a letter may be, where facts say so."""
    low, high = list[int](), list[int]()
    for f in conjuncts(*facts):
        if f.head not in ("<=", "<", "==") or letter not in f.parts:
            continue
        one, other = f.parts
        least, most = (one, other) if f.head != "==" or one.head == "num" else (other, one)
        if most is letter and least.head == "num":
            low.append(int(least.number // 1) + 1 if f.head == "<" else -int(-least.number // 1))
        if f.head == "==" and most is letter and least.head == "num":
            high.append(int(least.number // 1))
        if f.head != "==" and least is letter and most.head == "num":
            high.append(-int(-most.number // 1) - 1 if f.head == "<" else int(most.number // 1))
    return range(max(low), min(high) + 1) if low and high else None


def bounded(known: AllLetters, facts: list[Term]) -> tuple[str, range] | None:
    """A letter for a whole number that facts keep between bounds, and the numbers there."""
    for name, letter in known.numbers.items():
        found = between(facts, symbol(letter.name)) if letter.kind == "integer" else None
        if found is not None and len(found) < FEW:
            return name, found
    return None


def for_letters(known: AllLetters, given: list[Term], held: Term) -> Term:
    """Whether a claim holds for all numbers and sequences, and for any probabilities of events."""
    used = {name: name.partition("_")[0] for name in sorted(frozenset().union(*map(names, (*given, held))))}
    read = [Unknown(name, "real") for name, base in used.items() if base in known.sequences]
    events = [one for one in known.events.values() if one.name in used.values()]
    facts = [*given, *(f for one in events for f in facts_of(one.laws))]
    outer = [name for name, base in used.items() if base in known.outer]
    if "unknown" in heads(held):
        kept = tuple(f for f in facts if "unknown" not in heads(f))
        return TRUE if not outer and follows(kept, FALSE) else UNKNOWN
    letters = [*known.numbers.values(), *read, *(v for one in events for v in one.letters())]
    found = for_numbers(letters, facts, held, outer)
    return found if found is TRUE or not events else UNKNOWN


def half_lines() -> Iterator[Callable[[tuple[Value, ...]], Value]]:
    """Events of numbers that are tried: up to a number, from a number on, that number."""

    def up_to(end: Term, args: tuple[Value, ...]) -> Value:
        return compared("<=", numeric(args[0]), end)

    def from_on(end: Term, args: tuple[Value, ...]) -> Value:
        return compared("<=", end, numeric(args[0]))

    def equal(end: Term, args: tuple[Value, ...]) -> Value:
        return compared("==", end, numeric(args[0]))

    for end in map(number, TRIED):
        yield from (partial(shape, end) for shape in (up_to, from_on, equal))
