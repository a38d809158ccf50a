"""The checker's finite models of clauses: witnesses that what is assumed can hold, and instances that refute a claim.

A model gives each type finitely many points, and each letter a value. All values are exact: numbers are terms of
formulas without letters, which are compared as fractions, or as intervals that are rounded outward. What is not
decided, or is beyond these rules, is neither true nor false; a model shows nothing by it. Where it matters whether a
formula in letters for numbers is true, both cases are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import TypeVar

from dpverify.proving.checker.reading import exact, fields, items, text
from dpverify.proving.checker.terms import COMPARISONS, Term, Unknown, demand, names, number, symbol
from dpverify.proving.checker.theorems.arithmetic import OPERATIONS
from dpverify.proving.checker.theorems.cells import by_cases, cells_of, fails
from dpverify.proving.checker.theorems.choices import masses_of
from dpverify.proving.checker.theorems.divergences import dominated, guarantee
from dpverify.proving.checker.theorems.events import (
    AllLetters,
    UnknownEvent,
    bounded,
    event_of,
    for_letters,
    half_lines,
    law_of_image,
)
from dpverify.proving.checker.theorems.language import LOGIC, Node, free, named, parts_of
from dpverify.proving.checker.theorems.letters import letters_of, on_the_line, points
from dpverify.proving.checker.theorems.lines import Line, chance, half, integrable, mean
from dpverify.proving.checker.theorems.numbers import (
    FALSE,
    NO,
    ONE,
    TRUE,
    UNKNOWN,
    compared,
    demand_true,
    difference,
    logic,
    made,
)
from dpverify.proving.checker.theorems.outcomes import (
    ConstantLetter,
    Finite,
    Independent,
    Letters,
    Lookup,
    Point,
    Sequence,
    Value,
    blended,
    both,
    chance_of,
    constant,
    mixed,
    numeric,
    pair_of_laws,
    same,
    settled,
    total,
    whole,
)
from dpverify.proving.checker.theorems.steps import Clause
from dpverify.proving.checker.values import WorkLeft

LARGEST = 8  # points of a type
MANY = 4096  # values that are tried of all letters of an `all`
LONGEST = 200  # terms of a sum
WORK = 1_000_000  # terms that are valued
FEW = 32  # cases
FOLDS = {"sum": "add", "product": "mul", "largest": "max", "smallest": "min"}
EMPTY = {"sum": NO, "product": ONE}  # of no numbers
FORMULAS = (
    *("all", "integrable", "private", "renyi-private", "concentrated", "gaussian", "density", "dominated"),
    "neighbors",
    *(*LOGIC, *COMPARISONS),
)


_Found = TypeVar("_Found")


def excludes(g: Term, f: Term) -> bool:
    """Whether formulas say of one term that it is one number, and that it is another."""
    equal = f.head == g.head == "==" and f.parts[1] is g.parts[1] and f is not g
    return equal and f.parts[0].head == g.parts[0].head == "num"


class OpenError(Exception):
    """A formula in letters for numbers of which it matters whether it is true."""

    def __init__(self, formula: Term) -> None:
        super().__init__("a formula that is not decided")
        self.letters = {name.split("_")[0] for name in names(formula)}
        self.formula = formula


class Model:
    """A clause's types and letters with values."""

    def __init__(self, clause: Clause, value: object) -> None:
        clause, given = on_the_line(clause), fields(value)
        demand(given.keys() - {"cells"} == {"types", "neighbors", "letters"}, "no model")
        self.cells = cells_of(given["cells"]) if "cells" in given else None
        self.clause = clause
        self.work, self.open, self.in_case = WorkLeft(WORK), list[str](), dict[Term, bool]()
        self.places, self.reads = dict[Value, str](), dict[str, list[Value]]()
        self.folds = dict[tuple[Node, frozenset[tuple[str, Value]]], Value]()
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
        self.letters = letters_of(clause, given["letters"], self)

    # ------------------------------------------------------------------------------------------- letters

    def choices(self, kinds: tuple[Node, ...], kind: Node) -> list[Lookup]:
        """All values of a letter of an `all`."""
        values = points(kind, self.sizes)
        if not kinds:
            return [*map(constant, values)]
        places = [*product(*(points(one, self.sizes) for one in kinds))]
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
        if head in FOLDS:
            return self.fold(node, env)
        if head in ("mean", "then", "total", "proportional", "chance"):
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
                return mixed(self.number(weight, env), *(Finite(((value, ONE),)) for value in (ONE, NO)))
            case "mixture", weight, one, other:
                return mixed(self.number(weight, env), self.value(one, env), self.value(other, env))
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
            case (("excess" | "divergence"), given, one, other):
                laws = pair_of_laws(self.value(one, env), self.value(other, env))
                return guarantee(named(head), laws, [self.number(given, env)])
            case "inner", one, other:
                return made("mul", self.number(one, env), self.number(other, env))
            case "norm", one:
                return made("abs", self.number(one, env))
            case "ratio", one, other, at:
                place = self.value(at, env)
                above, below = (chance_of(self.law(law, env), place) for law in (one, other))
                if below is NO:
                    return NO  # what has no mass has this density
                return made("mul", above, made("pow", below, number(-1)))
        if head in FORMULAS:
            return self.truth(node, env)
        demand(head in OPERATIONS, f"{head} is beyond these models")
        return made(named(head), *self.numbers(rest, env))

    def fold(self, node: Node, env: Letters) -> Value:
        """A sum, product, largest or smallest value: worked out once where its letters have the same settled values."""
        head, letter, *parts = parts_of(node)
        (name, kind), near = parts_of(letter), free(node) & env.keys()
        own = {n: one.value for n in near if isinstance(one := env[n], ConstantLetter) and settled(one.value)}
        if len(own) < len(near):
            return self.of_binder(named(head), named(name), kind, parts, env)
        key = node, frozenset(own.items())
        if key not in self.folds:
            self.folds[key] = self.of_binder(named(head), named(name), kind, parts, env)
        return self.folds[key]

    def new_letter(self) -> str:
        """A new letter for a number; formulas within its scope may depend on it."""
        self.open.append(f"x{len(self.open)}")
        return self.open[-1]

    def drawn(self, law: Line | Independent) -> tuple[str, Value]:
        """A new letter, and the number or sequence for which it stands, where that has a law."""
        x = self.new_letter()
        self.scopes[x], self.reads[x] = frozenset(self.open), []
        return x, symbol(x) if isinstance(law, Line) else Sequence(x)

    def decide(self, f: Term) -> bool:
        """Whether a formula is true; where that is not seen, both cases are looked at (`cases`)."""
        if f in (TRUE, FALSE):
            return f is TRUE
        demand(names(f) and total(f), "a formula that is not decided")
        if f not in self.in_case:
            if any(holds and excludes(g, f) for g, holds in self.in_case.items()):
                return False
            raise OpenError(f)
        return self.in_case[f]

    def cases(self, own: set[str], run: Callable[[], _Found]) -> list[tuple[list[Term], _Found]]:
        """What comes of something in all cases of formulas that have letters of its own."""
        found, left = list[tuple[list[Term], _Found]](), list[dict[Term, bool]]([{}])
        kept = self.in_case
        while left:
            case = left.pop()
            self.in_case = {**kept, **case}
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
                self.in_case = kept
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
            places = points(kind, self.sizes)
            weights = [self.number(parts[0], within(place)) for place in places]
            whole_weight = made("add", *weights)
            if head == "total":
                return whole_weight
            for weight in weights:
                demand_true(compared("<=", NO, weight), "a negative weight")
            demand_true(compared("<", NO, whole_weight), "weights without a sum")
            share = made("pow", whole_weight, number(-1))
            return Finite(tuple((p, made("mul", w, share)) for p, w in zip(places, weights, strict=True)))
        if head in FOLDS:
            first, last = (end.number if end.head == "num" else None for end in self.numbers(parts[1:], env))
            least = -(head in EMPTY)
            if first is None or last is None or first % 1 or last % 1 or not least <= last - first < LONGEST:
                raise ValueError("a sum of less than no terms, the largest of none, or many")
            terms = [self.number(parts[0], within(number(first + i))) for i in range(int(last - first) + 1)]
            return made(FOLDS[head], *terms) if terms else EMPTY[head]
        if head != "then" and (found := self.of_event((head, (name, kind), *parts), env, {})):
            return found
        law = self.value(parts[0], env)
        if isinstance(law, Line | Independent):
            x, one = self.drawn(law)
            place = within(one)
            if head == "then":
                return by_cases(law, x, self.cases({x}, lambda: self.value(parts[1], place)))
            if not isinstance(law, Line):
                raise ValueError("a mean over sequences")
            if head == "mean":
                return mean(law, x, self.number(parts[1], place))
            pieces = self.cases({x}, lambda: self.truth(parts[1], place))
            f = logic("or", *(logic("and", *facts, f) for facts, f in pieces))
            return chance(law, x, f, lambda value: self.decided(parts[1], within(value)))
        if not isinstance(law, Finite):
            raise ValueError("a law of another form")
        masses = law.masses
        if head == "then":
            laws = [(mass, self.value(parts[1], within(v))) for v, mass in masses]
            if len(laws) == 1 and laws[0][0] is ONE:
                return laws[0][1]
            return blended(laws)
        if head == "chance":
            return made("add", *(mass for v, mass in masses if self.decided(parts[1], within(v))))
        return made("add", *(made("mul", mass, self.number(parts[1], within(v))) for v, mass in masses))

    def of_event(self, node: Node, env: Letters, laws: dict[str, Line | Independent]) -> Term | None:
        """The chance of an event of numbers of which nothing is known, as a mean of such chances; else none."""
        inside = node
        while parts_of(inside)[0] in ("mean", "chance"):
            inside = parts_of(inside)[3]
        if (event := event_of(inside, env)) is None:
            return None
        head, *rest = parts_of(node)
        if head == "of":
            return event.chance(law_of_image(self.value(rest[1], env), laws))
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
        if head in ("private", "renyi-private", "concentrated", "gaussian"):
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
        demand(all(names(b) or compared("==", b, b) is TRUE for b in bounds), "a bound without a value")
        places = [{**env, name: constant(Point(kind, i))} for i in range(self.sizes[kind])]
        laws = [masses_of(self.value(parts[1], place)) for place in places]
        for i, j in sorted(self.neighbors[kind]):
            found.append(UNKNOWN)
            with suppress(ValueError):
                found[-1] = guarantee(head, pair_of_laws(laws[i], laws[j]), bounds)
            if self.cells and fails(head, self.cells, laws[i], laws[j], bounds):
                found[-1] = FALSE
        return logic("and", *found)

    def for_all(self, node: Node, env: Letters) -> Term:
        """Whether a claim holds for all values of letters for which all that is assumed holds."""
        _, letters, premises, claim = parts_of(node)
        outer, found, place = [*self.open], list[Term](), {**env}
        finite, known = list[tuple[str, list[Lookup]]](), AllLetters({}, set(), {}, outer)
        try:
            for letter, kinds, kind in map(parts_of, parts_of(letters)):
                name = named(letter)
                if not parts_of(kinds) and kind in ("real", "integer"):
                    known.numbers[name] = Unknown(self.new_letter(), named(kind))
                elif not parts_of(kinds) and kind in self.sequences:
                    known.sequences.add(self.new_letter())
                    place[name] = constant(Sequence(self.open[-1]))
                elif kind == "formula" and {*parts_of(kinds)} & {"real", *self.sequences}:
                    demand(len(parts_of(kinds)) == 1, "an event of several numbers")
                    known.events[name] = UnknownEvent(self.new_letter())
                else:
                    finite.append((name, self.choices(parts_of(kinds), kind)))
            self.scopes.update({name: frozenset(self.open) for name in known.sequences})
            refused = {name: event.outside for name, event in known.events.items()}
            for k, row in enumerate(product(*(values for _, values in finite))):
                demand(k < MANY, "more values than are tried")
                at = {**place, **{n: one for (n, _), one in zip(finite, row, strict=True)}}
                found += self.instances((parts_of(premises), claim), known, {**at, **refused})
                for event in half_lines() if known.events and {*found} != {TRUE} else ():
                    less, events = replace(known, events={}), dict.fromkeys(known.events, event)
                    tried = self.instances((parts_of(premises), claim), less, {**at, **events})
                    found += [f for f in tried if f is FALSE]
                if FALSE in found:
                    break
        finally:
            self.open = outer
        return logic("and", *found)

    def instances(
        self, clause: tuple[tuple[Node, ...], Node], known: AllLetters, env: Letters
    ) -> Iterator[Term]:
        """Whether a claim holds for all numbers and sequences; whole numbers between bounds are gone through."""
        place = {**env, **{name: constant(symbol(v.name)) for name, v in known.numbers.items()}}

        def run() -> tuple[list[Term], Term]:
            given = list[Term]()
            for f in clause[0]:
                given.append(self.truth(f, place))
                if given[-1] is FALSE or bounded(known, given):
                    return given, (TRUE if given[-1] is FALSE else UNKNOWN)
            return given, self.truth(clause[1], place)

        for facts, (given, held) in self.cases(known.own(), run):
            if held is TRUE:
                yield TRUE
            elif found := bounded(known, [*facts, *given]):
                less = replace(known, numbers={n: v for n, v in known.numbers.items() if n != found[0]})
                for k in found[1]:
                    yield from self.instances(clause, less, {**env, found[0]: constant(number(k))})
            else:
                yield for_letters(known, [*facts, *given], held)


def show(clause: Clause, value: object, refute: bool) -> None:
    """Refuse unless all that a clause assumes is true in a model and, to refute it, what it claims is false there."""
    model = Model(clause, value)
    _, _, premises, claim = parts_of(model.clause.body)
    for k, premise in enumerate(parts_of(premises)):
        seen = model.truth(premise, {})
        demand(seen is TRUE, f"in the model, what is assumed is not seen to be true: number {k}")
    demand(not refute or model.truth(claim, {}) is FALSE, "in the model, the claim is not seen to be false")
