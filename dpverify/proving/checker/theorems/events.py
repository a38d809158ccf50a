"""The checker's events of numbers of which nothing is known: their probabilities under laws, and how these compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations

from dpverify.proving.checker.terms import Term, Unknown, demand, names, number, symbol, term
from dpverify.proving.checker.theorems.lines import Line, shifted
from dpverify.proving.checker.theorems.numbers import NO, TRUE, compared, difference, made
from dpverify.proving.checker.theorems.outcomes import Independent, Sequence, Value, Written


class Event:
    """A set of numbers, or of sequences of numbers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.laws = dict[Value, Term]()

    def __call__(self, _: tuple[Value, ...]) -> Value:
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

    def facts(self) -> Iterator[Term]:
        """What holds between them: densities of the same scale that are moved are in a ratio everywhere.

        exp(-|x - a|/s) <= exp(|a - b|/s) exp(-|x - b|/s); of exponential laws, the same where a is not below b.
        """
        lines = [(law, chance) for law, chance in self.laws.items() if isinstance(law, Line)]
        for (one, left), (other, right) in permutations(lines, 2):
            exponential = one.family == "exponential"
            if one.family != other.family or not (exponential or one.family == "laplace"):
                continue
            gap = difference(one.at, other.at)
            if compared("==", one.scale, other.scale) is TRUE and not (
                exponential and compared("<=", NO, gap) is not TRUE
            ):
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
    base = value.base if isinstance(value, Written) else value
    if not isinstance(base, Sequence):
        raise ValueError("an event of other values")
    law = laws[base.name]
    if isinstance(value, Written):
        index = names(value.index) if isinstance(value.index, Term) else frozenset()
        demand(not index & laws.keys(), "a place that has a law")
        kept = isinstance(law, Independent) and law_of_image(value.value, laws) == law.law
        demand(kept and names(value.value), "a number with another law than the others")
    return law
