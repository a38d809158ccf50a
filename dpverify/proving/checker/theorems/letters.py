"""The checker's letters of models: tables, steps, terms, choices, and sequences of independent numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from dpverify.proving.checker.reading import exact, fields, items, text
from dpverify.proving.checker.terms import Term, demand, heads, names, number, symbol
from dpverify.proving.checker.theorems.language import (
    Node,
    Scope,
    free,
    named,
    nodes,
    parts_of,
    put,
    with_types,
)
from dpverify.proving.checker.theorems.lines import Line
from dpverify.proving.checker.theorems.numbers import FALSE, TRUE, compared, follows, logic
from dpverify.proving.checker.theorems.outcomes import (
    ChangedSequence,
    Independent,
    Letters,
    Lookup,
    Point,
    Sequence,
    Value,
    constant,
    gathered,
    numeric,
    same,
    whole,
)
from dpverify.proving.checker.theorems.steps import Clause

TRIED = 200  # whole numbers among which one is chosen


class Terms(Protocol):
    """Types with points, and what terms are."""

    sizes: dict[str, int]
    sequences: dict[str, str]
    """Types of sequences of numbers, and the type of their places."""
    in_case: dict[Term, bool]
    """What is true or false in the case that is looked at."""
    scopes: dict[str, frozenset[str]]
    """Of each sequence the letters in which it may be read."""
    reads: dict[str, list[Value]]
    """The places at which it was read in this case."""
    places: dict[Value, str]
    """Names of places."""

    def value(self, node: Node, env: Letters) -> Value:
        """The value of a term."""

    def truth(self, node: Node, env: Letters) -> Term:
        """A formula."""

    def decide(self, f: Term) -> bool:
        """Whether it is true."""


def on_the_line(clause: Clause) -> Clause:
    """A clause in which Euclidean spaces have one dimension."""
    spaces = dict.fromkeys((name for name, kind in clause.types if kind == "space"), "real")
    types = tuple(one for one in clause.types if one[1] != "space")
    return Clause(types, with_types(clause.body, spaces)) if spaces else clause


def letters_of(clause: Clause, value: object, model: Terms) -> dict[str, Lookup]:
    """All letters of a clause; refused where these are defined by one another."""
    found, uses = dict[str, Lookup](), dict[str, set[str]]()
    known = [parts_of(letter) for letter in parts_of(parts_of(clause.body)[1])]
    for (letter, kinds, kind), one in zip(known, items(value), strict=True):
        reader = LetterReader(clause, model)
        found[named(letter)] = reader.letter(parts_of(kinds), kind, one)
        uses[named(letter)] = reader.uses
    while ready := {name for name, used in uses.items() if not used & uses.keys()}:
        uses = {name: used for name, used in uses.items() if name not in ready}
    demand(not uses, "letters that are defined by one another")
    return found


def points(kind: Node, sizes: Mapping[str, int]) -> list[Value]:
    """All values of a finite type."""
    if kind == "formula":
        return [FALSE, TRUE]
    if isinstance(kind, str):
        demand(kind in sizes, f"{kind} is not finite")
        return [Point(kind, i) for i in range(sizes[kind])]
    demand(kind[0] == "pair", "laws are not finitely many")
    return [(one, other) for one in points(kind[1], sizes) for other in points(kind[2], sizes)]


def entry(kind: Node, value: object, sizes: Mapping[str, int]) -> Value:
    """A value of a type."""
    if kind == "formula":
        demand(isinstance(value, bool), "no truth value")
        return TRUE if value else FALSE
    if isinstance(kind, str):
        if kind in sizes:
            return Point(kind, whole(value, sizes[kind]))
        demand(kind == "real" or exact(value).denominator == 1, "no whole number")
        return number(exact(value))
    if kind[0] == "between":
        demand(exact(kind[1]) <= exact(value) <= exact(kind[2]), "a number outside of its interval")
        return number(exact(value))
    rows = items(value)
    if kind[0] == "pair":
        one, other = (entry(part, row, sizes) for part, row in zip(kind[1:], rows, strict=True))
        return one, other
    if isinstance(kind[1], str) and kind[1] in sizes:
        found = [*zip(points(kind[1], sizes), map(exact, rows), strict=True)]
    else:
        found = [(entry(kind[1], v, sizes), exact(mass)) for v, mass in map(items, rows)]
    masses = [mass for _, mass in found]
    demand(min(masses) >= 0 and sum(masses) == 1, "masses that are no law's")
    law = gathered((v, number(mass)) for v, mass in found)
    demand(len(law.masses) == len(found), "a value twice")
    return law


def definition(
    clause: Clause, kinds: tuple[Node, ...], kind: Node, given: dict[str, object]
) -> tuple[list[str], Node]:
    """New names of a letter's arguments, and the term that defines it, which has its type."""
    params = [text(one) for one in items(given["params"])]
    demand(len({*params}) == len(params) == len(kinds), "a letter with other arguments")
    own = [f"!{k}" for k in range(len(params))]
    body = put(nodes(given["term"]), {p: ((), ("sym", o)) for p, o in zip(params, own, strict=True)})
    types = {name: "finite" if known == "any" else known for name, known in clause.types}
    scope = Scope(types, {}).with_letters([*parts_of(parts_of(clause.body)[1])])
    within = scope.with_letters([(o, (), one) for o, one in zip(own, kinds, strict=True)])
    demand(within.has(body, kind), "a letter of another type")
    return own, body


def written(base: Value, place: Value, value: Value) -> Value:
    """A sequence with another number at a place."""
    if isinstance(base, Sequence):
        return ChangedSequence(base, place, numeric(value))
    raise ValueError("a second number written")


class LetterReader:
    """A letter of a clause, and the other letters by which it is defined."""

    def __init__(self, clause: Clause, model: Terms) -> None:
        self.clause, self.model = clause, model
        self.uses = set[str]()

    def letter(self, kinds: tuple[Node, ...], kind: Node, value: object) -> Lookup:
        """A letter: its value, or those for each point of its first argument, or a term."""
        if isinstance(value, dict) and "below" in value:
            return self.steps(kinds, kind, fields(value))
        if isinstance(value, dict) and "where" in value:
            return self.chosen(kinds, kind, fields(value))
        if kinds and value in ("read", "write"):
            return self.of_sequences(kinds, kind, str(value))
        if isinstance(value, dict) and "independent" in value:
            return self.independent(kinds, kind, fields(value))
        if isinstance(value, dict):
            return self.defined(kinds, kind, fields(value))
        if not kinds:
            return constant(entry(kind, value, self.model.sizes))
        rows = zip(points(kinds[0], self.model.sizes), items(value), strict=True)
        table = {point: self.letter(kinds[1:], kind, row) for point, row in rows}
        return lambda args: table[args[0]](args[1:])

    def steps(self, kinds: tuple[Node, ...], kind: Node, given: dict[str, object]) -> Lookup:
        """A letter whose first argument is a number: what it is up to each of some numbers, and above."""
        demand(given.keys() == {"below", "then"} and kinds[:1] in (("real",), ("integer",)), "no steps")
        ends = [number(exact(end)) for end in items(given["below"])]
        parts = [self.letter(kinds[1:], kind, part) for part in items(given["then"])]
        demand(len(parts) == len(ends) + 1, "steps that are not one more than their ends")

        def at(args: tuple[Value, ...]) -> Value:
            for end, part in zip(ends, parts[:-1], strict=True):
                if self.model.decide(compared("<=", numeric(args[0]), end)):
                    return part(args[1:])
            return parts[-1](args[1:])

        return at

    def defined(self, kinds: tuple[Node, ...], kind: Node, given: dict[str, object]) -> Lookup:
        """A letter that is defined by a term in its arguments and in other letters."""
        own, body = definition(self.clause, kinds, kind, given)
        self.uses |= free(body) - {*own}
        return lambda args: self.model.value(body, dict(zip(own, map(constant, args), strict=True)))

    def chosen(self, kinds: tuple[Node, ...], kind: Node, given: dict[str, object]) -> Lookup:
        """A letter that is the first point, or the first whole number from 0 on, of which a formula is true."""
        demand(given.keys() == {"params", "first", "where"}, "no choice")
        params = [*items(given["params"]), given["first"]]
        what: dict[str, object] = {"params": params, "term": given["where"]}
        own, body = definition(self.clause, (*kinds, kind), "formula", what)
        self.uses |= free(body) - {*own}
        values = [*map(number, range(TRIED))] if kind == "integer" else points(kind, self.model.sizes)

        def at(args: tuple[Value, ...]) -> Value:
            for value in values:
                f = self.model.truth(body, dict(zip(own, map(constant, (*args, value)), strict=True)))
                if self.implied(f) or self.model.decide(f):
                    return value
            raise ValueError("a choice among none")

        return at

    def of_sequences(self, kinds: tuple[Node, ...], kind: Node, value: str) -> Lookup:
        """The letter that is the number at a place of a sequence, or the sequence with another number there."""
        place = self.model.sequences.get(str(kinds[0]))
        wanted = ((kinds[0], place), "real") if value == "read" else ((kinds[0], place, "real"), kinds[0])
        demand(place and (kinds, kind) == wanted, "no letter of sequences")
        return lambda args: self.number_at(args[0], args[1]) if value == "read" else written(*args)

    def independent(self, kinds: tuple[Node, ...], kind: Node, given: dict[str, object]) -> Lookup:
        """The law of a sequence of independent numbers, from the law of one."""
        sequences = isinstance(kind, tuple) and kind[0] == "law" and kind[1] in self.model.sequences
        demand(given.keys() == {"independent"} and not kinds and sequences, "no law of sequences")
        law: dict[str, object] = {"params": [], "term": given["independent"]}
        one = self.defined((), ("law", "real"), law)

        def at(args: tuple[Value, ...]) -> Value:
            found = one(args)
            if isinstance(found, Line):
                return Independent(found)
            raise ValueError("no law of a family")

        return at

    def implied(self, f: Term) -> bool:
        """Whether a formula follows from the case that is looked at."""
        facts = tuple(g if holds else logic("not", g) for g, holds in self.model.in_case.items())
        about = bool(names(f)) and names(f) <= frozenset().union(*map(names, facts))
        return about and "unknown" not in heads(f) and follows(facts, f)

    def number_at(self, value: Value, place: Value) -> Value:
        """The number at a place; two places are the same or not, and both cases are looked at."""

        def here(other: Value) -> bool:
            return self.model.decide(same(place, other))

        if isinstance(value, ChangedSequence):
            return value.value if here(value.index) else self.number_at(value.base, place)
        if not isinstance(value, Sequence):
            raise ValueError("no sequence")
        demand(
            not isinstance(place, Term) or names(place) <= self.model.scopes[value.name],
            "a place that is quantified later",
        )
        known = self.model.reads.setdefault(value.name, [])
        found = place if place in known else next(filter(here, known), place)
        known += [] if found in known else [found]
        return symbol(f"{value.name}_{self.model.places.setdefault(found, str(len(self.model.places)))}")
