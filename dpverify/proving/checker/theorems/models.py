"""The checker's finite models of clauses: witnesses that what is assumed can hold, and instances that refute a claim.

A model gives each type finitely many points, and each letter a value. All values are exact: numbers are terms of
formulas without letters, which are compared as fractions, or as intervals that are rounded outward. What is not
decided, or is beyond these rules, is neither true nor false; a model shows nothing by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, product
from typing import TypeAlias

from dpverify.proving.checker.reading import exact, fields, items, text
from dpverify.proving.checker.terms import (
    COMPARISONS,
    Term,
    Unknown,
    demand,
    number,
    symbol,
)  # fmt: skip
from dpverify.proving.checker.theorems.arithmetic import OPERATIONS
from dpverify.proving.checker.theorems.divergences import (
    Laws,
    Masses,
    dominated,
    guarantee,
)
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
    with_types,
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
    for_numbers,
    logic,
    made,
)
from dpverify.proving.checker.theorems.steps import Clause
from dpverify.proving.checker.values import WorkLeft

LARGEST = 8  # points of a type
MANY = 4096  # values that are tried of all letters of an `all`
LONGEST = 200  # terms of a sum
WORK = 400_000  # terms that are valued
FORMULAS = (
    *("all", "integrable", "private", "renyi-private", "concentrated", "gaussian", "density", "dominated"),
    "neighbors",
    *(*LOGIC, *COMPARISONS),
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


Value: TypeAlias = "Point | Term | Finite | Line | tuple[Value, Value]"
Lookup: TypeAlias = "Callable[[tuple[Value, ...]], Value]"
"""What a letter is, with arguments."""
Letters: TypeAlias = "Mapping[str, Lookup]"


def constant(value: Value) -> Lookup:
    """A letter without arguments."""
    return lambda _: value


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


def same(one: Value, other: Value) -> Term:
    """Whether values are equal."""
    if isinstance(one, Term) and isinstance(other, Term):
        return compared("==", one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return logic("and", *(same(*sides) for sides in zip(one, other, strict=True)))
    if isinstance(one, Point):
        return TRUE if one == other else FALSE
    return logic("and", *(TRUE if p is q else compared("==", p, q) for p, q in both(one, other)))


def on_the_line(clause: Clause) -> Clause:
    """A clause in which Euclidean spaces have one dimension."""
    spaces = dict.fromkeys((name for name, kind in clause.types if kind == "space"), "real")
    types = tuple(one for one in clause.types if one[1] != "space")
    return Clause(types, with_types(clause.body, spaces)) if spaces else clause


def definition(
    clause: Clause, kinds: tuple[Node, ...], kind: Node, given: dict[str, object]
) -> tuple[list[str], Node]:
    """New names of a letter's arguments, and the term that defines it, which has its type."""
    params = [text(one) for one in items(given["params"])]
    demand(len({*params}) == len(params) == len(kinds), "a letter with other arguments")
    own = [f"!{k}" for k in range(len(params))]
    body = put(nodes(given["term"]), {p: ((), ("sym", o)) for p, o in zip(params, own, strict=True)})
    scope = Scope(dict(clause.types), {}).with_letters([*parts_of(parts_of(clause.body)[1])])
    within = scope.with_letters([(o, (), one) for o, one in zip(own, kinds, strict=True)])
    demand(fits(within.type_of(body), kind), "a letter of another type")
    return own, body


class Model:
    """A clause's types and letters with values."""

    def __init__(self, clause: Clause, value: object) -> None:
        clause, given = on_the_line(clause), fields(value)
        demand(given.keys() == {"types", "neighbors", "letters"}, "no model")
        self.work, self.fresh, self.open = WorkLeft(WORK), count(), list[str]()
        self.sizes, self.neighbors = dict[str, int](), dict[str, set[tuple[int, int]]]()
        sizes, relations = fields(given["types"]), fields(given["neighbors"])
        demand(sizes.keys() == dict(clause.types).keys(), "types that are not the clause's")
        demand(relations.keys() == {name for name, kind in clause.types if kind == "data"}, "no neighbors")
        for name, size in sizes.items():
            self.sizes[name] = whole(size, LARGEST + 1)
            demand(self.sizes[name] > 0, "a type without points")
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
                below = compared("<=", numeric(args[0]), end)
                if below is not FALSE:
                    found = part(args[1:])
                    same_all = below is TRUE or all(found == other(args[1:]) for other in parts)
                    demand(same_all, "a number on an unknown side of a step")
                    return found
            return parts[-1](args[1:])

        return at

    def defined(self, name: str, kinds: tuple[Node, ...], kind: Node, given: dict[str, object]) -> Lookup:
        """A letter that is defined by a term in its arguments and in other letters."""
        own, body = definition(self.clause, kinds, kind, given)
        self.uses[name] |= free(body) - {*own}
        return lambda args: self.value(body, dict(zip(own, map(constant, args), strict=True)))

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

    @staticmethod
    def mixed(weight: Term, one: Finite, other: Finite) -> Finite:
        """One law with a chance, else the other."""
        for low, high in ((NO, weight), (weight, ONE)):
            demand_true(compared("<=", low, high), "a weight that is no chance")
        weights = [(weight, one), (difference(ONE, weight), other)]
        return gathered((v, made("mul", w, mass)) for w, law in weights for v, mass in law.masses)

    def new_letter(self) -> str:
        """A new letter for a number; formulas within its scope may depend on it."""
        self.open.append(f"x{next(self.fresh)}")
        return self.open[-1]

    def of_binder(self, head: str, name: str, kind: Node, parts: list[Node], env: Letters) -> Value:
        """The value of what binds a letter and is no formula."""

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
        law = self.value(parts[0], env)
        if isinstance(law, Line):
            x = self.new_letter()
            place = within(symbol(x))
            if head == "chance":
                f = self.truth(parts[1], place)
                return chance(law, x, f, lambda value: self.decided(parts[1], within(value)))
            if head == "mean":
                return mean(law, x, self.number(parts[1], place))
            ((value, _),) = self.law(parts[1], place).masses
            return shifted(law, x, numeric(value))
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

    # ------------------------------------------------------------------------------------------- formulas

    def decided(self, node: Node, env: Letters) -> bool:
        """Whether a formula is true; refused where it is not seen whether it is."""
        found = self.truth(node, env)
        demand(found in (TRUE, FALSE), "a formula that is not decided")
        return found is TRUE

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
                place = {**env, named(name): constant(symbol(self.new_letter()))}
                return TRUE if integrable(self.number(rest[2], place)) else UNKNOWN
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
            found.append(guarantee(head, pair_of_laws(laws[i], laws[j]), bounds))
        return logic("and", *found)

    def for_all(self, node: Node, env: Letters) -> Term:
        """Whether a claim holds for all values of letters for which all that is assumed holds."""
        _, letters, premises, claim = parts_of(node)
        known = [(named(n), parts_of(kinds), kind) for n, kinds, kind in map(parts_of, parts_of(letters))]
        outer = [*self.open]
        numbers = {
            n: Unknown(self.new_letter(), named(kind))
            for n, kinds, kind in known
            if not kinds and kind in ("real", "integer")
        }
        finite = [(name, self.choices(kinds, kind)) for name, kinds, kind in known if name not in numbers]
        found = list[Term]()
        symbols = {name: constant(symbol(v.name)) for name, v in numbers.items()}
        try:
            for k, row in enumerate(product(*(values for _, values in finite))):
                demand(k < MANY, "more values than are tried")
                place = {**env, **symbols, **{n: one for (n, _), one in zip(finite, row, strict=True)}}
                given = [*self.until_false(parts_of(premises), place)]
                if given[-1:] != [FALSE]:
                    held = self.truth(claim, place)
                    found.append(for_numbers([*numbers.values()], given, held, outer))
                    if found[-1] is FALSE:
                        break
        finally:
            self.open = outer
        return logic("and", *found)

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
    _, _, premises, claim = parts_of(model.clause.body)
    seen = [model.truth(f, {}) for f in (*parts_of(premises), claim)]
    signs = [(f is TRUE) - (f is FALSE) for f in seen]
    return Found(tuple(signs[:-1]), signs[-1])


def show(clause: Clause, value: object, refute: bool) -> None:
    """Refuse unless all that a clause assumes is true in a model and, to refute it, what it claims is false there."""
    found = look(clause, value)
    for k, premise in enumerate(found.premises):
        demand(premise == 1, f"in the model, what is assumed is not seen to be true: number {k}")
    demand(not refute or found.claim == -1, "in the model, the claim is not seen to be false")
