"""The checker's finite models of clauses: witnesses that what is assumed can hold, and instances that refute a claim.

A model gives each type finitely many points, and each letter a value. All values are exact: numbers are terms of
formulas without letters, which are compared as fractions, or as intervals that are rounded outward. What is not
decided, or is beyond these rules, is neither true nor false; a model shows nothing by it. Where it matters whether a
formula in letters for numbers is true, both cases are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from dpverify.proving.checker.reading import exact, fields, items, text
from dpverify.proving.checker.terms import (
    COMPARISONS,
    Term,
    Unknown,
    conjuncts,
    demand,
    heads,
    names,
    number,
    symbol,
)
from dpverify.proving.checker.theorems.arithmetic import OPERATIONS
from dpverify.proving.checker.theorems.divergences import dominated, guarantee
from dpverify.proving.checker.theorems.events import Event, law_of_image
from dpverify.proving.checker.theorems.language import (
    LOGIC,
    Node,
    Scope,
    fits,
    free,
    named,
    nodes,
    parts_of,
    put,
)
from dpverify.proving.checker.theorems.lines import Line, chance, half, integrable, mean, shifted
from dpverify.proving.checker.theorems.numbers import (
    FALSE,
    NO,
    ONE,
    TRUE,
    UNKNOWN,
    compared,
    demand_true,
    difference,
    follows,
    for_numbers,
    logic,
    made,
)
from dpverify.proving.checker.theorems.outcomes import (
    Finite,
    Image,
    Independent,
    Letters,
    Lookup,
    Point,
    Sequence,
    Value,
    Written,
    both,
    chance_of,
    constant,
    gathered,
    numeric,
    same,
    total,
    whole,
)
from dpverify.proving.checker.theorems.steps import Clause
from dpverify.proving.checker.values import WorkLeft

LARGEST = 8  # points of a type
MANY = 4096  # values that are tried of all letters of an `all`
LONGEST = 200  # terms of a sum
WORK = 400_000  # terms that are valued
FEW = 32  # cases, and whole numbers between bounds
FORMULAS = (
    *("all", "integrable", "private", "renyi-private", "concentrated", "density", "dominated", "neighbors"),
    *(*LOGIC, *COMPARISONS),
)


_Found = TypeVar("_Found")


class OpenError(Exception):
    """A formula in letters for numbers of which it matters whether it is true."""

    def __init__(self, formula: Term) -> None:
        super().__init__("a formula that is not decided")
        self.letters = {name.split("_")[0] for name in names(formula)}
        self.formula = formula


def between(facts: Iterable[Term], letter: Term) -> tuple[int, int] | None:
    """The first and the last whole number that a letter may be, where facts say so."""
    low, high = list[int](), list[int]()
    for f in conjuncts(*facts):
        if f.head in ("<=", "<", "==") and letter in f.parts:
            one, other = f.parts
            if other is letter and one.head == "num":
                low.append(int(one.number // 1) + 1 if f.head == "<" else -int(-one.number // 1))
            if one is letter and other.head == "num":
                high.append(-int(-other.number // 1) - 1 if f.head == "<" else int(other.number // 1))
            if f.head == "==":
                low, high = [*low, *high], [*low, *high]
    return (max(low), min(high)) if low and high else None


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
    demand(fits(within.type_of(body), kind), "a letter of another type")
    return own, body


class Model:
    """A clause's types and letters with values."""

    def __init__(self, clause: Clause, value: object) -> None:
        given = fields(value)
        demand(given.keys() == {"types", "neighbors", "letters"}, "no model")
        self.work, self.open, self.assumed = WorkLeft(WORK), list[str](), dict[Term, bool]()
        self.places, self.reads = dict[Value, str](), dict[str, list[Value]]()
        self.scopes = dict[str, frozenset[str]]()
        self.sizes, self.neighbors = dict[str, int](), dict[str, set[tuple[int, int]]]()
        self.sequences = dict[str, str]()
        sizes, relations = fields(given["types"]), fields(given["neighbors"])
        demand(sizes.keys() == dict(clause.types).keys(), "types that are not the clause's")
        demand(relations.keys() == {name for name, kind in clause.types if kind == "data"}, "no neighbors")
        for name, size in sizes.items():
            if isinstance(size, dict):
                demand(size.keys() == {"for"} and dict(clause.types)[name] == "any", "no type of sequences")
                self.sequences[name] = text(size["for"])
                continue
            self.sizes[name] = whole(size, LARGEST + 1)
            demand(self.sizes[name] > 0, "a type without points")
        demand({*self.sequences.values()} <= {"integer", *self.sizes}, "sequences without places")
        for name, pairs in relations.items():
            found = [[whole(i, self.sizes[name]) for i in items(pair)] for pair in items(pairs)]
            self.neighbors[name] = {(i, j) for i, j in found}
            demand(all((j, i) in self.neighbors[name] for i, j in found), "neighbors that are not symmetric")
        letters = [parts_of(letter) for letter in parts_of(parts_of(clause.body)[1])]
        self.clause = clause
        self.uses, self.letters = dict[str, set[str]](), dict[str, Lookup]()
        for (letter, kinds, kind), one in zip(letters, items(given["letters"]), strict=True):
            self.uses[named(letter)] = set()
            self.letters[named(letter)] = self.letter(named(letter), parts_of(kinds), kind, one)
        while ready := {name for name, uses in self.uses.items() if not uses & self.uses.keys()}:
            self.uses = {name: uses for name, uses in self.uses.items() if name not in ready}
        demand(not self.uses, "letters that are defined by one another")

    # ------------------------------------------------------------------------------------------- letters

    def letter(self, name: str, kinds: tuple[Node, ...], kind: Node, value: object) -> Lookup:
        """A letter: its value, or those for each point of its first argument, or a term."""
        if isinstance(value, dict) and "below" in value:
            return self.steps(name, kinds, kind, fields(value))
        if isinstance(value, dict) and "where" in value:
            return self.chosen(name, kinds, kind, fields(value))
        if kinds and value in ("read", "write"):
            return self.of_sequences(kinds, kind, str(value))
        if isinstance(value, dict) and "independent" in value:
            return self.independent(name, kinds, kind, fields(value))
        if isinstance(value, dict):
            return self.defined(name, kinds, kind, fields(value))
        if not kinds:
            return constant(self.entry(kind, value))
        rows = zip(self.points(kinds[0]), items(value), strict=True)
        table = {point: self.letter(name, kinds[1:], kind, row) for point, row in rows}
        return lambda args: table[args[0]](args[1:])

    def steps(self, name: str, kinds: tuple[Node, ...], kind: Node, given: dict[str, object]) -> Lookup:
        """A letter whose first argument is a number: what it is up to each of some numbers, and above."""
        demand(given.keys() == {"below", "then"} and kinds[:1] in (("real",), ("integer",)), "no steps")
        ends = [number(exact(end)) for end in items(given["below"])]
        parts = [self.letter(name, kinds[1:], kind, part) for part in items(given["then"])]
        demand(len(parts) == len(ends) + 1, "steps that are not one more than their ends")

        def at(args: tuple[Value, ...]) -> Value:
            for end, part in zip(ends, parts[:-1], strict=True):
                if self.decide(compared("<=", numeric(args[0]), end)):
                    return part(args[1:])
            return parts[-1](args[1:])

        return at

    def defined(self, name: str, kinds: tuple[Node, ...], kind: Node, given: dict[str, object]) -> Lookup:
        """A letter that is defined by a term in its arguments and in other letters."""
        own, body = definition(self.clause, kinds, kind, given)
        self.uses[name] |= free(body) - {*own}
        return lambda args: self.value(body, dict(zip(own, map(constant, args), strict=True)))

    def chosen(self, name: str, kinds: tuple[Node, ...], kind: Node, given: dict[str, object]) -> Lookup:
        """A letter that is the first point, or the first whole number from 0 on, of which a formula is true."""
        demand(given.keys() == {"params", "first", "where"}, "no choice")
        params = [*items(given["params"]), given["first"]]
        what: dict[str, object] = {"params": params, "term": given["where"]}
        own, body = definition(self.clause, (*kinds, kind), "formula", what)
        self.uses[name] |= free(body) - {*own}
        values = [*map(number, range(LONGEST))] if kind == "integer" else self.points(kind)

        def at(args: tuple[Value, ...]) -> Value:
            for value in values:
                f = self.truth(body, dict(zip(own, map(constant, (*args, value)), strict=True)))
                if self.implied(f) or self.decide(f):
                    return value
            raise ValueError("a choice among none")

        return at

    def of_sequences(self, kinds: tuple[Node, ...], kind: Node, value: str) -> Lookup:
        """The letter that is the number at a place of a sequence, or the sequence with another number there."""
        place = self.sequences.get(str(kinds[0]))
        wanted = ((kinds[0], place), "real") if value == "read" else ((kinds[0], place, "real"), kinds[0])
        demand(place and (kinds, kind) == wanted, "no letter of sequences")
        return lambda args: self.read(args[0], args[1]) if value == "read" else self.written(*args)

    def independent(self, name: str, kinds: tuple[Node, ...], kind: Node, given: dict[str, object]) -> Lookup:
        """The law of a sequence of independent numbers, from the law of one."""
        sequences = isinstance(kind, tuple) and kind[0] == "law" and kind[1] in self.sequences
        demand(given.keys() == {"independent"} and not kinds and sequences, "no law of sequences")
        law: dict[str, object] = {"params": [], "term": given["independent"]}
        one = self.defined(name, (), ("law", "real"), law)

        def at(args: tuple[Value, ...]) -> Value:
            found = one(args)
            if isinstance(found, Line):
                return Independent(found)
            raise ValueError("no law of a family")

        return at

    def read(self, value: Value, place: Value) -> Value:
        """The number at a place; two places are the same or not, and both cases are looked at."""

        def here(other: Value) -> bool:
            return self.decide(same(place, other))

        if isinstance(value, Written):
            return value.value if here(value.index) else self.read(value.base, place)
        if not isinstance(value, Sequence):
            raise ValueError("no sequence")
        demand(
            not isinstance(place, Term) or names(place) <= self.scopes[value.name],
            "a place that is quantified later",
        )
        known = self.reads.setdefault(value.name, [])
        found = place if place in known else next(filter(here, known), place)
        known += [] if found in known else [found]
        return symbol(f"{value.name}_{self.places.setdefault(found, str(len(self.places)))}")

    @staticmethod
    def written(base: Value, place: Value, value: Value) -> Value:
        """A sequence with another number at a place."""
        demand(isinstance(base, Sequence), "a second number written")
        return Written(base, place, numeric(value)) if isinstance(base, Sequence) else base

    def points(self, kind: Node) -> list[Value]:
        """All values of a finite type."""
        if kind == "formula":
            return [FALSE, TRUE]
        if isinstance(kind, str):
            demand(kind in self.sizes, f"{kind} is not finite")
            return [Point(kind, i) for i in range(self.sizes[kind])]
        demand(kind[0] == "pair", "laws are not finitely many")
        return [(one, other) for one in self.points(kind[1]) for other in self.points(kind[2])]

    def entry(self, kind: Node, value: object) -> Value:
        """A value of a type."""
        if kind == "formula":
            demand(isinstance(value, bool), "no truth value")
            return TRUE if value else FALSE
        if isinstance(kind, str):
            if kind in self.sizes:
                return Point(kind, whole(value, self.sizes[kind]))
            demand(kind == "real" or exact(value).denominator == 1, "no whole number")
            return number(exact(value))
        rows = items(value)
        if kind[0] == "pair":
            one, other = (self.entry(part, row) for part, row in zip(kind[1:], rows, strict=True))
            return one, other
        if isinstance(kind[1], str) and kind[1] in self.sizes:
            found = [*zip(self.points(kind[1]), map(exact, rows), strict=True)]
        else:
            found = [(self.entry(kind[1], v), exact(mass)) for v, mass in map(items, rows)]
        masses = [mass for _, mass in found]
        demand(min(masses) >= 0 and sum(masses) == 1, "masses that are no law's")
        law = gathered((v, number(mass)) for v, mass in found)
        demand(len(law.masses) == len(found), "a value twice")
        return law

    def choices(self, kinds: tuple[Node, ...], kind: Node) -> list[Lookup]:
        """All values of a letter of an `all`."""
        values = self.points(kind)
        if not kinds:
            return [*map(constant, values)]
        places = [*product(*map(self.points, kinds))]
        demand(len(values) ** len(places) <= MANY, "more values than are tried")
        tables = (dict(zip(places, row, strict=True)) for row in product(values, repeat=len(places)))
        return [table.__getitem__ for table in tables]

    # ------------------------------------------------------------------------------------------- values

    def law(self, node: Node, env: Letters) -> Finite:
        """A finite law."""
        found = self.value(node, env)
        if isinstance(found, Finite):
            return found
        raise ValueError("a law that is not finite")

    def number(self, node: Node, env: Letters) -> Term:
        """A number."""
        return numeric(self.value(node, env))

    def numbers(self, parts: Iterable[Node], env: Letters) -> list[Term]:
        """Several of them."""
        return [self.number(part, env) for part in parts]

    def value(self, node: Node, env: Letters) -> Value:
        """The value of a term or formula; refused where it has none, or is beyond these rules."""
        self.work.spend()
        head, *rest = parts_of(node)
        if head in ("mean", "then", "total", "proportional", "sum", "product", "chance"):
            name, kind = parts_of(rest[0])
            return self.of_binder(named(head), named(name), kind, rest[1:], env)
        match head, *rest:
            case "num", written:
                return number(exact(written))
            case (("sym" | "of"), str(name), *args):
                return (env.get(name) or self.letters[name])(tuple(self.value(part, env) for part in args))
            case "certain", one:
                return Finite(((self.value(one, env), ONE),))
            case "pair", one, other:
                return self.value(one, env), self.value(other, env)
            case "bernoulli", weight:
                return self.mixed(self.number(weight, env), *(Finite(((value, ONE),)) for value in (ONE, NO)))
            case "mixture", weight, one, other:
                return self.mixed(self.number(weight, env), self.law(one, env), self.law(other, env))
            case ("normal" | "laplace") as family, at, scale:
                demand_true(compared("<", NO, self.number(scale, env)), "a law without a positive scale")
                return Line(family, self.number(at, env), self.number(scale, env))
            case "exponential", scale:
                demand_true(compared("<", NO, self.number(scale, env)), "a law without a positive scale")
                return Line("exponential", NO, self.number(scale, env))
            case "uniform", low, high:
                first, last = self.number(low, env), self.number(high, env)
                demand_true(compared("<", first, last), "a uniform law without length")
                return Line("uniform", half(made("add", first, last)), difference(last, first))
            case "indicator", f:
                return ONE if self.decided(f, env) else NO
            case "ratio", one, other, at:
                place = self.value(at, env)
                above, below = (chance_of(self.law(law, env), place) for law in (one, other))
                return made("mul", above, made("pow", below, number(-1)))
        if head in FORMULAS:
            return self.truth(node, env)
        demand(head in OPERATIONS, f"{head} is beyond these models")
        return made(named(head), *self.numbers(rest, env))

    @staticmethod
    def mixed(weight: Term, one: Finite, other: Finite) -> Finite:
        """One law with a chance, else the other."""
        for low, high in ((NO, weight), (weight, ONE)):
            demand_true(compared("<=", low, high), "a weight that is no chance")
        weights = [(weight, one), (difference(ONE, weight), other)]
        return gathered((v, made("mul", w, mass)) for w, law in weights for v, mass in law.masses)

    def new_letter(self) -> str:
        """A new letter for a number; formulas within its scope may depend on it."""
        self.open.append(f"x{len(self.open)}")
        return self.open[-1]

    def drawn(self, law: Line | Independent) -> tuple[str, Value]:
        """A new letter, and the number or sequence for which it stands, where that has a law."""
        x = self.new_letter()
        self.scopes[x] = frozenset(self.open)
        return x, symbol(x) if isinstance(law, Line) else Sequence(x)

    def decide(self, f: Term) -> bool:
        """Whether a formula is true; where that is not seen, both cases are looked at (`cases`)."""
        if f in (TRUE, FALSE):
            return f is TRUE
        demand(names(f) and not heads(f) & {"unknown", "forall"}, "a formula that is not decided")
        if f not in self.assumed:
            raise OpenError(f)
        return self.assumed[f]

    def implied(self, f: Term) -> bool:
        """Whether a formula follows from the case that is looked at."""
        facts = [g if holds else logic("not", g) for g, holds in self.assumed.items()]
        return bool(facts) and "unknown" not in heads(f) and follows(facts, f)

    def cases(self, own: set[str], run: Callable[[], _Found]) -> list[tuple[list[Term], _Found]]:
        """What comes of something in all cases of formulas that have letters of its own."""
        found, left = list[tuple[list[Term], _Found]](), list[dict[Term, bool]]([{}])
        kept = self.assumed
        while left:
            case = left.pop()
            self.assumed = {**kept, **case}
            self.reads.update({name: [] for name in own})
            try:
                result = run()
                found.append(([f if holds else logic("not", f) for f, holds in case.items()], result))
            except OpenError as one:
                if not one.letters & own:
                    raise
                demand(len(left) + len(found) < FEW, "many cases")
                left += [{**case, one.formula: holds} for holds in (False, True)]
            finally:
                self.assumed = kept
        return found

    def of_binder(self, head: str, name: str, kind: Node, parts: list[Node], env: Letters) -> Value:
        """The value of what binds a letter and is no formula."""
        outer = [*self.open]
        try:
            return self.bound(head, name, kind, parts, env)
        except OpenError as one:
            if one.letters <= {*outer}:
                raise
            raise ValueError("cases of a number that has a law") from None
        finally:
            self.open = outer

    def bound(self, head: str, name: str, kind: Node, parts: list[Node], env: Letters) -> Value:
        """The same, with further letters that are in scope."""

        def within(value: Value) -> Letters:
            return {**env, name: constant(value)}

        if head in ("total", "proportional"):
            places = self.points(kind)
            weights = [self.number(parts[0], within(place)) for place in places]
            whole_weight = made("add", *weights)
            if head == "total":
                return whole_weight
            for weight in weights:
                demand_true(compared("<=", NO, weight), "a negative weight")
            demand_true(compared("<", NO, whole_weight), "weights without a sum")
            share = made("pow", whole_weight, number(-1))
            return Finite(tuple((p, made("mul", w, share)) for p, w in zip(places, weights, strict=True)))
        if head in ("sum", "product"):
            first, last = (end.number if end.head == "num" else None for end in self.numbers(parts[1:], env))
            if first is None or last is None or first % 1 or last % 1 or not first <= last < first + LONGEST:
                raise ValueError("a sum of no terms, or of many")
            terms = [self.number(parts[0], within(number(first + i))) for i in range(int(last - first) + 1)]
            return made("add" if head == "sum" else "mul", *terms)
        if head != "then" and (found := self.of_event((head, (name, kind), *parts), env, {})):
            return found
        law = self.value(parts[0], env)
        if isinstance(law, Line | Independent):
            x, one = self.drawn(law)
            place = within(one)
            if head == "then":
                return self.image(law, x, self.cases({x}, lambda: self.value(parts[1], place)))
            if not isinstance(law, Line):
                raise ValueError("a mean over sequences")
            if head == "mean":
                return mean(law, x, self.number(parts[1], place))
            pieces = self.cases({x}, lambda: self.truth(parts[1], place))
            f = logic("or", *(logic("and", *facts, f) for facts, f in pieces))
            return chance(law, x, f, lambda value: self.decided(parts[1], within(value)))
        masses = law.masses if isinstance(law, Finite) else ()
        if head == "then":
            laws = [(mass, self.value(parts[1], within(v))) for v, mass in masses]
            if len(laws) == 1 and laws[0][0] is ONE:
                return laws[0][1]
            finite = [(mass, one) for mass, one in laws if isinstance(one, Finite)]
            demand(len(finite) == len(laws), "a mixture of laws that are not finite")
            return gathered((v, made("mul", mass, m)) for mass, one in finite for v, m in one.masses)
        if head == "chance":
            return made("add", *(mass for v, mass in masses if self.decided(parts[1], within(v))))
        return made("add", *(made("mul", mass, self.number(parts[1], within(v))) for v, mass in masses))

    @staticmethod
    def image(law: Line | Independent, x: str, pieces: list[tuple[list[Term], Value]]) -> Value:
        """The law of what has laws, in each case, that depend on a number with a law."""
        value = pieces[0][1]
        single = len(pieces) == 1 and isinstance(value, Finite) and len(value.masses) == 1
        point = value.masses[0][0] if single and isinstance(value, Finite) else None
        if isinstance(law, Line) and isinstance(point, Term) and x in names(point):
            return shifted(law, x, point)
        if point is not None and (isinstance(point, Point) or (isinstance(point, Term) and not names(point))):
            return value
        demand(all(total(f) for facts, one in pieces for f in (*facts, one)), "what may have no value")
        return Image(law, tuple((tuple(facts), one) for facts, one in pieces))

    def of_event(self, node: Node, env: Letters, laws: dict[str, Line | Independent]) -> Term | None:
        """The chance of an event of numbers of which nothing is known, as a mean of such chances; else none."""
        head, *rest = parts_of(node)
        if head == "of" and isinstance(event := env.get(named(rest[0])), Event):
            return event.chance(law_of_image(self.value(rest[1], env), laws))
        inside = node
        while parts_of(inside)[0] in ("mean", "chance"):
            inside = parts_of(inside)[3]
        event = env.get(named(parts_of(inside)[1])) if parts_of(inside)[0] == "of" else None
        if inside is node or not isinstance(event, Event):
            return None
        name, law = named(parts_of(rest[0])[0]), self.value(rest[1], env)
        if isinstance(law, Finite):
            found = [
                (mass, self.of_event(rest[2], {**env, name: constant(v)}, laws)) for v, mass in law.masses
            ]
            demand(not any(names(mass) & laws.keys() for mass, _ in found), "a mass that depends on a number")
            return made("add", *(made("mul", mass, numeric(one or UNKNOWN)) for mass, one in found))
        if not isinstance(law, Line | Independent):
            raise ValueError("an event under another law")
        line = law if isinstance(law, Line) else law.law
        demand(not (names(line.at) | names(line.scale)) & laws.keys(), "a law that depends on a number")
        x, value = self.drawn(law)
        return self.of_event(rest[2], {**env, name: constant(value)}, {**laws, x: law})

    # ------------------------------------------------------------------------------------------- formulas

    def decided(self, node: Node, env: Letters) -> bool:
        """Whether a formula is true."""
        return self.decide(self.truth(node, env))

    def truth(self, node: Node, env: Letters) -> Term:
        """A formula in letters for numbers, or that it is true, false or not known."""
        head, *rest = parts_of(node)
        if head in LOGIC:
            return logic(named(head), *(self.truth(part, env) for part in rest))
        with suppress(ValueError):
            return self.atom(named(head), node, env)
        return UNKNOWN

    def atom(self, head: str, node: Node, env: Letters) -> Term:
        """The same of a formula that is not made of others."""
        _, *rest = parts_of(node)
        if head == "all":
            return self.for_all(node, env)
        if head in ("==", "!="):
            found = same(*(self.value(part, env) for part in rest))
            return found if head == "==" else logic("not", found)
        if head in COMPARISONS:
            left, right = self.numbers(rest, env)
            return compared(head, left, right)
        if head == "neighbors":
            one, other = (self.value(part, env) for part in rest)
            demand(isinstance(one, Point) and isinstance(other, Point), "no data sets")
            near = isinstance(one, Point) and isinstance(other, Point) and (one.index, other.index)
            return TRUE if isinstance(one, Point) and near in self.neighbors[one.kind] else FALSE
        if head == "dominated":
            return dominated(both(*(self.value(part, env) for part in rest)))
        if head in ("private", "renyi-private", "concentrated"):
            return self.guarantee(head, rest, env)
        if head == "integrable":
            name, _ = parts_of(rest[0])
            law = self.value(rest[1], env)
            if isinstance(law, Line):
                outer, x = [*self.open], self.new_letter()
                try:
                    place = {**env, named(name): constant(symbol(x))}
                    pieces = self.cases({x}, lambda: self.number(rest[2], place))
                finally:
                    self.open = outer
                return TRUE if all(integrable(value) for _, value in pieces) else UNKNOWN
            masses = self.law(rest[1], env).masses
            values = [self.number(rest[2], {**env, named(name): constant(v)}) for v, _ in masses]
            return logic("and", *(compared("==", value, value) for value in values))
        if head == "density":
            return FALSE if self.law(rest[1], env) else UNKNOWN  # a finite law has none
        return numeric(self.value(node, env))

    def guarantee(self, head: str, parts: list[Node], env: Letters) -> Term:
        """Whether the laws of all neighbors are near one another."""
        name, kind = map(named, parts_of(parts[0]))
        bounds, found = self.numbers(parts[2:], env), list[Term]()
        places = [{**env, name: constant(Point(kind, i))} for i in range(self.sizes[kind])]
        laws = [self.value(parts[1], place) for place in places]
        for i, j in sorted(self.neighbors[kind]):
            one, other = laws[i], laws[j]
            lines = (one, other) if isinstance(one, Line) and isinstance(other, Line) else None
            found.append(guarantee(head, lines or both(one, other), bounds))
        return logic("and", *found)

    def for_all(self, node: Node, env: Letters) -> Term:
        """Whether a claim holds for all values of letters for which all that is assumed holds."""
        _, letters, premises, claim = parts_of(node)
        outer, found, place = [*self.open], list[Term](), {**env}
        numbers, sequences, finite = dict[str, Unknown](), set[str](), list[tuple[str, list[Lookup]]]()
        try:
            for letter, kinds, kind in map(parts_of, parts_of(letters)):
                name = named(letter)
                if not parts_of(kinds) and kind in ("real", "integer"):
                    numbers[name] = Unknown(self.new_letter(), named(kind))
                elif not parts_of(kinds) and kind in self.sequences:
                    sequences.add(self.new_letter())
                    place[name] = constant(Sequence(self.open[-1]))
                elif kind == "formula" and parts_of(kinds)[0] in ("real", *self.sequences):
                    demand(len(parts_of(kinds)) == 1, "an event of several numbers")
                    place[name] = Event(self.new_letter())
                else:
                    finite.append((name, self.choices(parts_of(kinds), kind)))
            self.scopes.update({name: frozenset(self.open) for name in sequences})
            for k, row in enumerate(product(*(values for _, values in finite))):
                demand(k < MANY, "more values than are tried")
                at = {**place, **{n: one for (n, _), one in zip(finite, row, strict=True)}}
                found += self.instances((parts_of(premises), claim), numbers, sequences, at, outer)
                if FALSE in found:
                    break
        finally:
            self.open = outer
        return logic("and", *found)

    def instances(
        self,
        clause: tuple[tuple[Node, ...], Node],
        numbers: dict[str, Unknown],
        sequences: set[str],
        env: Letters,
        outer: list[str],
    ) -> Iterator[Term]:
        """Whether a claim holds for all numbers and sequences; whole numbers between bounds are gone through."""
        place = {**env, **{name: constant(symbol(v.name)) for name, v in numbers.items()}}

        def run() -> tuple[list[Term], Term]:
            given = [*self.until_false(clause[0], place)]
            return given, (TRUE if given[-1:] == [FALSE] else self.truth(clause[1], place))

        for facts, (given, held) in self.cases({v.name for v in numbers.values()} | sequences, run):
            ends = {
                n: between((*facts, *given), symbol(v.name))
                for n, v in numbers.items()
                if v.kind == "integer"
            }
            name, end = next(
                ((n, end) for n, end in ends.items() if end and end[1] - end[0] < FEW), ("", (0, 0))
            )
            if held is TRUE:
                yield TRUE
            elif name:
                less = {n: v for n, v in numbers.items() if n != name}
                for k in range(end[0], end[1] + 1):
                    at = {**env, name: constant(number(k))}
                    yield from self.instances(clause, less, sequences, at, outer)
            else:
                yield self.for_letters([*numbers.values()], sequences, env, (facts, given, held), outer)

    @staticmethod
    def for_letters(
        numbers: list[Unknown],
        sequences: set[str],
        env: Letters,
        claim: tuple[list[Term], list[Term], Term],
        outer: list[str],
    ) -> Term:
        """Whether something holds for all numbers; what is shown for all numbers in place of probabilities is true."""
        facts, given, held = claim
        used = sorted(frozenset().union(*map(names, (*facts, *given, held))))
        read = [Unknown(name, "real") for name in used if name.partition("_")[0] in sequences]
        events = [one for one in env.values() if isinstance(one, Event)]
        own = [v for one in events for v in one.letters() if v.name in used]
        known = [f for one in events if own for f in one.facts()]
        letters = [*numbers, *read, *(v for one in events if own for v in one.letters())]
        if "unknown" in heads(held):
            kept = [f for f in (*facts, *known, *given) if "unknown" not in heads(f)]
            return TRUE if not {*used} & {*outer} and follows(kept, FALSE) else UNKNOWN
        found = for_numbers(letters, [*facts, *known, *given], held, outer)
        return found if found is TRUE or not own else UNKNOWN

    def until_false(self, formulas: Iterable[Node], env: Letters) -> Iterator[Term]:
        """Formulas up to the first that is false."""
        for f in formulas:
            found = self.truth(f, env)
            yield found
            if found is FALSE:
                return


@dataclass(frozen=True)
class Found:
    """What is seen in a model: 1 where a formula is true, -1 where it is false, else 0."""

    premises: tuple[int, ...]
    claim: int


def look(clause: Clause, value: object) -> Found:
    """Whether what a clause assumes and claims is true in a model; what is no model is refused."""
    model = Model(clause, value)
    _, _, premises, claim = parts_of(clause.body)
    seen = [model.truth(f, {}) for f in (*parts_of(premises), claim)]
    signs = [(f is TRUE) - (f is FALSE) for f in seen]
    return Found(tuple(signs[:-1]), signs[-1])


def show(clause: Clause, value: object, refute: bool) -> None:
    """Refuse unless all that a clause assumes is true in a model and, to refute it, what it claims is false there."""
    found = look(clause, value)
    for k, premise in enumerate(found.premises):
        demand(premise == 1, f"in the model, what is assumed is not seen to be true: number {k}")
    demand(not refute or found.claim == -1, "in the model, the claim is not seen to be false")
