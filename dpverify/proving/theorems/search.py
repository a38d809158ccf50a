"""A search for finite models of a clause: witnesses that what is assumed can hold, and instances that refute a claim.

Types get 2 to 4 points. Letters start from small values; randomized response, its mixtures, point masses and two-point
laws are among them. One value at a time is then changed, as long as margins grow. All counts are fixed, and the same
seed finds the same model. Only what the checker confirms is returned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, count, islice, pairwise, product
from random import Random
from typing import Any, TypeAlias

from dpverify.proving.checker.theorems.language import Node, Scope, fits, free, named, nodes, parts_of, put
from dpverify.proving.checker.theorems.letters import on_the_line
from dpverify.proving.checker.theorems.models import show
from dpverify.proving.checker.theorems.steps import Clause
from dpverify.proving.theorems.derivation import json_of
from dpverify.proving.theorems.finite_models import FAILURES, NOT_KNOWN, Env, FloatModel, float_of
from dpverify.proving.theorems.sequences import (
    LINES,
    choice,
    laws_of_one,
    letters_of,
    mentions,
    numbers_in,
    sequence_types,
)
from dpverify.proving.theorems.spreads import views

Json: TypeAlias = Any
NUMBERS = tuple(
    map(Fraction, ("0", "1", "1/2", "2", "1/4", "1/3", "3", "1/8", "3/4", "3/2", "4", "1/16", "5", "-1"))
)
VALUES = tuple(map(Fraction, ("0", "1", "2", "-1", "1/2", "3")))
BODIES: dict[str, list[Json]] = {
    "real": [
        ["sym", "x"], ["num", "0"], ["pow", ["sym", "x"], ["num", "2"]], ["abs", ["sym", "x"]], ["num", "1"],
        ["mul", ["num", "-1"], ["pow", ["sym", "x"], ["num", "2"]]], ["mul", ["num", "2"], ["sym", "x"]],
        ["mul", ["num", "1/2"], ["sym", "x"]], ["mul", ["num", "-1"], ["sym", "x"]], ["exp", ["sym", "x"]],
        ["max", ["num", "0"], ["sym", "x"]],
    ],
    "integer": [["num", "0"], ["num", "1"], ["floor", ["sym", "x"]]],
    "formula": [["<=", ["num", "1"], ["sym", "x"]], ["<=", ["sym", "x"], ["num", "0"]],
                ["<=", ["num", "0"], ["num", "0"]], ["<", ["num", "0"], ["num", "0"]]],
}  # fmt: skip
"""Functions of a number x that are tried."""
HALF: Json = ["num", "1/2"]
SQUARE: Json = ["pow", ["sym", "x"], ["num", "2"]]
OF_VECTORS: dict[str, list[Json]] = {
    "real": [
        ["mul", HALF, SQUARE], ["num", "0"], ["sym", "x"], SQUARE, ["abs", ["sym", "x"]], ["num", "1"],
        ["mul", HALF, ["pow", ["add", ["sym", "x"], ["num", "-1"]], ["num", "2"]]],
    ],
    "vector": [
        ["sym", "x"], ["num", "0"], ["num", "1"], ["mul", ["num", "2"], ["sym", "x"]],
        ["mul", ["num", "-1"], ["sym", "x"]], ["mul", HALF, ["sym", "x"]],
    ],
    "sequence": [["num", "0"], ["num", "1"], ["sym", "x"], ["mul", ["num", "-1"], ["sym", "x"]]],
    "formula": [*(BODIES["formula"][k] for k in (2, 1, 0, 3)), ["==", ["sym", "x"], ["num", "0"]]],
}  # fmt: skip
"""The same of a number that stands for a vector: losses, their gradients in the same order, sequences, and sets."""
POINTS: list[Json] = [
    ["certain", one if one[0] != "num" else ["add", HALF, ["num", str(Fraction(one[1]) - Fraction(1, 2))]]]
    for one in OF_VECTORS["vector"]
]
"""Laws of points, in the same order; no number in them is a whole one."""
ZEROS: tuple[Json, ...] = (["num", "0"], POINTS[1], ["==", ["sym", "x0"], ["num", "0"]])
"""The function, the law and the set of vectors with which nothing moves."""
STARTS, SHORT = 4, 60
"""Starts with a loss and its gradient where a witness about vectors is wanted, and how many models each is worth."""
PENALTIES = (100.0, 3.0, 1.0)
"""What missing a premise counts, beside how far the claim is from being false."""
LONGEST = 400  # models from one start
KICKS, OPTIONS, GROUP, STAYS = 6, 4, 16, 0.3
LIVELIER = 150
"""Changes of a witness that are tried."""
VIEWS = 12
"""Cells of which the checker is asked for one model."""
CLEAR = 1e-7
"""How false a claim must be in floating point before the checker is asked."""


@dataclass(frozen=True)
class Effort:
    """How much is tried: models whose margins are worked out, in all, and models of which the checker is asked."""

    margins: int = 12000
    asked: int = 12


@dataclass
class Searched:
    """What a search for a model found."""

    model: Json = None
    """A model that the checker confirms, as JSON; None if there is none."""
    margins: int = 0
    """How many models were tried in floating point."""
    never_true: set[int] = field(default_factory=set)
    """Where no model was found: the premises, by number from 0, that were true in none that was tried."""
    never_together: bool = True
    """Whether the premises were never all true at once."""
    beyond: list[int] = field(default_factory=list)
    """Letters, by number from 0, to which this search gives no value."""


@dataclass(frozen=True)
class Space:
    """Types with numbers of points, and neighbors of data sets as pairs of numbers."""

    sizes: dict[str, int]
    neighbors: dict[str, list[tuple[int, int]]]
    ends: tuple[str, ...] = ("1/2",)
    """Up to which letters with a whole number as their argument change."""
    sequences: dict[str, str] = field(default_factory=dict)
    """Types of sequences of numbers, and their places."""


def spaces(clause: Clause, *, sequences: bool = False) -> list[Space]:
    """Numbers of points that are tried, small ones first.

    Data sets are all neighbors, those of a path, or these and each one its own. Where sequences are asked for, types
    that may be such are (`sequence_types`).
    """
    of_sequences = sequence_types(clause) if sequences else {}
    names = [n for n, kind in clause.types if kind not in ("data", "space") and n not in of_sequences]
    data = [name for name, kind in clause.types if kind == "data"]
    shapes = [
        (2, 2, {1, -1}),
        (3, 2, {1, -1}),
        (2, 3, {1, -1}),
        (4, 2, {1, -1}),
        (3, 3, {1, 2, -1, -2}),
        (2, 4, {1, -1}),
        (3, 3, {1, -1}),
        (2, 2, {0, 1, -1}),
        (3, 2, {0, 1, -1}),
    ]
    found = dict[str, Space]()
    for sets, points, steps in shapes:
        pairs = [(i, j) for i, j in product(range(sets), repeat=2) if i - j in steps]
        sizes = {**dict.fromkeys(names, points), **dict.fromkeys(data, sets)}
        ends = ("1/2",) if sets == 2 else ("1/2", "3/2")
        space = Space(sizes, dict.fromkeys(data, pairs), ends, of_sequences)
        found.setdefault(str(space), space)
    return [*found.values()]


def laws(n: int) -> list[tuple[Fraction, ...]]:
    """Laws of n points: uniform, randomized response and mixtures with it, point masses, and small denominators."""
    one = Fraction(1)
    found = [(one / n,) * n]
    for p in ("3/4", "1", "1/2", "7/8", "2/3", "9/10", "1/3"):
        rest = (one - Fraction(p)) / (n - 1) if n > 1 else Fraction(0)
        found += [tuple(Fraction(p) if i == j else rest for j in range(n)) for i in range(n)] if n > 1 else []
    if n <= 4:
        cuts = combinations(range(4 + n - 1), n - 1)
        for cut in cuts:
            ends = (-1, *cut, 4 + n - 1)
            found.append(tuple(Fraction(b - a - 1, 4) for a, b in pairwise(ends)))
    return [*dict.fromkeys(found)]


@dataclass
class Slot:
    """One value of a letter: those that are tried, and the one that is taken, as JSON."""

    options: list[Json]
    taken: Json = None
    grows: bool = False
    """Whether other numbers than the options are tried, too."""
    mixes: bool = False
    """Whether mixtures with the options are tried, too."""
    paired: bool = False
    """Whether the options are losses, or their gradients in the same order."""
    gradient: bool = False
    """The latter: of the first letter for a function to vectors."""
    zero: Json = None
    """What is taken where nothing moves."""


class Candidate:
    """The letters of a clause as slots."""

    def __init__(self, clause: Clause, space: Space, random: Random) -> None:
        self.clause, self.space, self.random = clause, space, random
        self.margins = FloatModel(space.sizes, space.neighbors)
        spaces = [name for name, kind in clause.types if kind == "space"]
        vectors = {
            parts_of(letter)[0]
            for letter in parts_of(parts_of(clause.body)[1])
            if parts_of(letter)[2] in spaces
        }
        clause = on_the_line(clause)
        _, letters, premises, claim = parts_of(clause.body)
        self.letters = [parts_of(letter) for letter in parts_of(letters)]
        self.defined = definitions(clause)
        self.dark = self.without_margins()
        self.premises = [self.margin(f, 0.0) for f in parts_of(premises)]
        self.claim = self.margin(claim, NOT_KNOWN)
        written = {n for n in numbers_in(clause.body) if abs(n) < 100}
        self.numbers = [*dict.fromkeys((*NUMBERS, *sorted(written), *sorted(n / 2 for n in written)))]
        self.of_vectors, self.family = bool(spaces), ""
        self.slots, self.beyond = list[Slot](), list[int]()
        self.shape = list[Json]()
        self.groups = list[list[Slot]]()
        for k, (name, kinds, kind) in enumerate(self.letters):
            self.family = "" if not spaces else "vector" if name in vectors else str(kind)
            if name in vectors and kinds == ("integer",):
                self.family = "sequence"
            before = len(self.slots)
            try:
                made = self.definition(named(name)) if name in self.defined else None
                made = made or (
                    self.in_sequences(named(name), parts_of(kinds), kind) if name in self.dark else None
                )
                self.shape.append(made or self.slot(parts_of(kinds), kind))
            except ValueError:
                self.beyond.append(k)
            self.groups += [self.slots[before:]] if len(self.slots) > before + 1 else []
        self.order = ordered({name: free(body) for name, (_, body) in self.defined.items()})

    def definition(self, name: str) -> Json:
        """A letter that a premise defines."""
        params, body = self.defined[name]
        return {"params": [*params], "term": json_of(body)}

    def without_margins(self) -> set[str]:
        """Letters of sequences, and those that are defined by them: these have no values in floating point."""
        found = {
            name
            for name, kinds, kind in letters_of(self.clause)
            if any(mentions(one, self.space.sequences) for one in (*kinds, kind))
        }
        uses = {name: free(body) for name, (_, body) in self.defined.items()}
        while more := {name for name, used in uses.items() if used & found} - found:
            found |= more
        return found

    def margin(self, f: Node, otherwise: float) -> Callable[[Env], float]:
        """A formula's margin; where none is worked out, what is said."""
        with suppress(ValueError):
            if not free(f) & self.dark:
                return self.margins.margin(f)
        return lambda _: otherwise

    def in_sequences(self, name: str, kinds: tuple[Node, ...], kind: Node) -> Json:
        """A letter of sequences."""
        types = self.space.sequences
        if kinds[:1] and kinds[0] in types and (kind == "real" or kind == kinds[0]):
            return "read" if kind == "real" else "write"
        if not kinds and kind in {("law", one) for one in types}:
            laws = laws_of_one(self.clause, types)
            return self.leaf(Slot([{"independent": json_of(one)} for one in laws]))
        if found := choice(self.clause, name):
            return found
        raise ValueError("a letter of sequences that is not described")

    def slot(self, kinds: tuple[Node, ...], kind: Node, at: int | None = None) -> Json:
        """The slots of a letter, as lists by the points of its arguments."""
        if not kinds:
            options, *rest = self.options(kind)
            if at is not None:
                n = self.space.sizes[named(kind if isinstance(kind, str) else kind[1])]
                own = at if isinstance(kind, str) else [str(int(i == at)) for i in range(n)]
                options.sort(key=lambda one: one != own)
            slot = Slot(options, *rest)
            slot.zero = "0" if (self.family, kind) == ("vector", "real") else None
            return self.leaf(slot)
        try:
            places = self.margins.points(kinds[0])
        except ValueError:
            if kinds[0] == "integer" and kinds[-1] == "real" and kind in kinds[1:-1]:  # no new state by noise
                params = [f"x{k}" for k in range(len(kinds))]
                own = [one for one, of in zip(params, kinds, strict=True) if of == kind]
                return self.leaf(Slot([{"params": params, "term": ["sym", one]} for one in own]))
            steps = kinds == ("integer",) and kind == "real" and len(self.space.ends) > 1
            chain = self.of_vectors and kind == ("law", "real") and kinds[0] == "integer" and "real" in kinds
            if chain and kinds[1] == "real":  # which is where it begins as long as there are no steps
                first, later = (self.slot(kinds[1:], kind) for _ in range(2))
                first.zero, first.paired, later.paired = first.options[0], False, False
                return {"below": ["1/2"], "then": [first, later]}
            if self.bodies(kind) and not steps and not chain:
                terms = [{"params": [*params], "term": term} for params, term in self.terms(kinds, kind)]
                gradient = self.family == "vector" and not any(slot.gradient for slot in self.slots)
                paired = self.family == "real" or gradient or (kinds, kind) == (("real",), ("law", "real"))
                zero = next((one for one in terms if one["term"] in ZEROS), None)
                return self.leaf(Slot(terms, paired=paired, gradient=gradient, zero=zero))
            if kinds[0] not in ("real", "integer"):
                raise
            ends = [*self.space.ends]
            if self.of_vectors:
                return {"below": ends, "then": [self.slot(kinds[1:], kind)] * (len(ends) + 1)}
            return {"below": ends, "then": [self.slot(kinds[1:], kind, at) for _ in range(len(ends) + 1)]}
        mine = at is None and isinstance(kinds[0], str) and kind in (kinds[0], ("law", kinds[0]))
        return [self.slot(kinds[1:], kind, k if mine else at) for k, _ in enumerate(places)]

    def leaf(self, slot: Slot) -> Slot:
        """A further slot; refused (ValueError) if nothing is tried for it."""
        if not slot.options:
            raise ValueError("values that are not tried")
        self.slots.append(slot)
        return slot

    @staticmethod
    def bodies(kind: Node) -> list[Json]:
        """Functions of a number x that are tried for a type."""
        if kind == ("law", "real"):
            x, one = ["sym", "x"], ["num", "1"]
            return [
                *(["certain", body] for body in BODIES["real"]),
                ["certain", HALF],
                *(["laplace", x, one], ["normal", x, one]),
                ["certain", ["mul", HALF, ["num", "0"]]],  # a real 0, unlike a whole one
            ]
        return BODIES.get(kind, []) if isinstance(kind, str) else []

    def terms(self, kinds: tuple[Node, ...], kind: Node) -> Iterator[tuple[list[str], Json]]:
        """Terms in arguments that may be numbers."""
        params = [f"x{k}" for k in range(len(kinds))]
        reals = [("sym", p) for p, one in zip(params, kinds, strict=True) if one in ("real", "integer")]
        numbers = [one for one in kinds if one in ("real", "integer")]
        scope = Scope({}, {named(p): ((), one) for (_, p), one in zip(reals, numbers, strict=True)})
        inner: list[Node] = [*reals]
        if len(reals) > 1:
            minus: Node = ("mul", ("num", "-1"), reals[1])
            inner += [("add", *reals), ("mul", *reals), ("add", reals[0], minus)]
        for one in inner:
            bodies = self.bodies(kind)
            if self.of_vectors and kind == ("law", "real"):
                bodies = [*(POINTS if kinds[0] == "real" else ()), ["certain", HALF], *bodies]
            for body in OF_VECTORS.get(self.family, bodies):
                found = put(nodes(body), {"x": ((), one)})
                if fits(scope.type_of(found), kind):
                    yield params, json_of(found)

    def options(self, kind: Node) -> tuple[list[Json], Json, bool, bool]:
        """Values of a type that are tried, none taken yet, and whether there are others near these."""
        if kind == "formula":
            return [True, False], None, False, False
        if kind == "real":
            few = [*NUMBERS[1:2], *self.numbers] if self.family == "real" else self.numbers
            return [str(n) for n in dict.fromkeys(few)], None, True, False
        if kind == "integer":
            return ["2", "1", "0", "3", "4", "-1"], None, False, False
        if isinstance(kind, str):
            return [*range(self.space.sizes[kind])], None, False, False
        if kind[0] == "pair":
            one, other = (self.options(part)[0] for part in kind[1:])
            return [[a, b] for a, b in product(one[:8], other[:8])], None, False, False
        try:
            points = self.margins.points(kind[1])
        except ValueError:
            return self.spread(kind[1]), None, False, False
        masses = [[*map(str, law)] for law in laws(len(points))]
        if isinstance(kind[1], str):
            return masses, None, False, True
        return [[[[*p], m] for p, m in zip(points, law, strict=True)] for law in masses], None, False, False

    def spread(self, kind: Node) -> list[Json]:
        """Laws of numbers, or of pairs with them: of one to three values."""
        if self.space.sequences and kind == "real":
            return [{"params": [], "term": json_of(one)} for one in LINES]
        values = [str(n) for n in VALUES] if kind == "real" else self.options(kind)[0][:6]
        found: list[Json] = [[[values[0], "1"]], [[values[1], "1"]]]
        if kind == "real":
            found += [{"params": [], "term": json_of(one)} for one in LINES]
            found += [[["-1", p], ["0", str(1 - 2 * Fraction(p))], ["1", p]] for p in ("1/4", "1/8")]
        for (a, b), p in product(combinations(values, 2), ("1/2", "1/4", "3/4", "1/8")):
            found.append([[a, p], [b, str(1 - Fraction(p))]])
        return found

    # ------------------------------------------------------------------------------------------- margins

    def start(self, first: bool) -> None:
        """Take the first option everywhere, or in places."""
        for slot in self.slots:
            stays = first or self.random.random() < STAYS
            slot.taken = slot.options[0] if stays else self.random.choice(slot.options)

    def start_at(self, k: int) -> None:
        """Take a loss and its gradient by number, and the first option elsewhere; last, what does not move.

        Of the last two, one has a loss that is 0.
        """
        for slot in self.slots:
            slot.taken = slot.options[min(k % (STARTS + 1), len(slot.options) - 1) if slot.paired else 0]
            if slot.zero is not None and (k == STARTS or (k > STARTS and not slot.paired)):
                slot.taken = slot.zero

    def env(self) -> Env:
        """The letters in floating point."""
        found: Env = {}
        for (name, kinds, kind), shape in zip(self.letters, self.shape, strict=True):
            if name not in self.defined and name not in self.dark:
                found[named(name)] = self.lookup(parts_of(kinds), kind, shape)
        for name in (one for one in self.order if one not in self.dark):
            params, body = self.defined[name]
            code = self.margins.code(body)
            found[name] = function(found, params, code) if params else code(found)
        return found

    def lookup(self, kinds: tuple[Node, ...], kind: Node, shape: Json) -> Any:
        """A letter in floating point: a value, or a function of its arguments."""
        if isinstance(shape, dict):
            ends = [*map(float_of, shape["below"])]
            parts = [self.lookup(kinds[1:], kind, row) for row in shape["then"]]
            if not kinds[1:]:
                return lambda args: parts[sum(end < args[0] for end in ends)]
            return lambda args: parts[sum(end < args[0] for end in ends)](args[1:])
        if isinstance(shape, Slot):
            if not kinds:
                return self.value(kind, shape.taken)
            body = self.margins.code(nodes(shape.taken["term"]))
            return function({}, tuple(shape.taken["params"]), body)
        places = self.margins.points(kinds[0])
        rows = {p: self.lookup(kinds[1:], kind, row) for p, row in zip(places, shape, strict=True)}
        return (lambda args: rows[args[0]](args[1:])) if kinds[1:] else (lambda args: rows[args[0]])

    def value(self, kind: Node, taken: Json) -> Any:
        """A value in floating point."""
        if kind == "formula":
            return 1.0 if taken else -1.0
        if isinstance(kind, str):
            return float_of(taken) if isinstance(taken, str) else taken
        if isinstance(taken, dict):
            return self.margins.code(nodes(taken["term"]))({})
        if kind[0] == "pair":
            return tuple(self.value(part, one) for part, one in zip(kind[1:], taken, strict=True))
        if isinstance(kind[1], str) and kind[1] in self.space.sizes:
            return dict(enumerate(map(float_of, taken)))
        return {self.value(kind[1], v): float_of(mass) for v, mass in taken}

    def measured(self, most: float = math.inf) -> tuple[list[float], float]:
        """The margins of what is assumed, and of what is claimed; 10 if more is missing than a number."""
        try:
            env = self.env()
        except FAILURES:
            return [-10.0] * (len(self.premises) or 1), 10.0
        found = [margin(env) for margin in self.premises]
        return found, 10.0 if lacking(found) > most else self.claim(env)

    def json(self) -> Json:
        """The model as JSON."""
        pairs = {name: [[*pair] for pair in pairs] for name, pairs in self.space.neighbors.items()}
        return {
            "types": {
                **self.space.sizes,
                **{name: {"for": one} for name, one in self.space.sequences.items()},
            },
            "neighbors": pairs,
            "letters": [_taken(shape) for shape in self.shape],
        }

    def liveliness(self) -> int:
        """How many values letters have, and how many numbers are not 0."""
        apart = {id(slot) for group in self.groups for slot in group}
        values: int = sum(len({str(slot.taken) for slot in group}) for group in self.groups)
        numbers: int = sum(1 for slot in self.slots if id(slot) not in apart and slot.taken != "0")
        return values + numbers

    def gets_livelier(self) -> bool:
        """Change values while what is assumed stays true, so that less is equal or 0; whether some were changed."""
        first = best = self.liveliness()
        for _ in range(LIVELIER if self.slots else 0):
            slot = self.random.choice(self.slots)
            kept, slot.taken = slot.taken, self.random.choice(slot.options)
            now = self.liveliness()
            if now > best and min(self.measured(-1.0)[0], default=0.0) >= 0:
                best = now
            else:
                slot.taken = kept
        return best > first

    def others(self, slot: Slot, most: int) -> list[Json]:
        """Values that a slot may take instead."""
        few = self.random.sample(slot.options, min(most, len(slot.options)))
        if slot.grows:
            at = Fraction(slot.taken)
            few += [str(at + step) for step in (Fraction(1, 4), Fraction(-1, 4), at, -at / 2, -at / 8)]
        if slot.mixes:
            few.append(mixed(slot.taken, self.random.choice(slot.options)))
        return [one for one in few if one != slot.taken]


def lacking(margins: list[float]) -> float:
    """How much premises miss."""
    return -sum(min(margin, 0.0) for margin in margins)


def mixed(one: Json, other: Json) -> Json:
    """The mixture of two laws of points, if it has small denominators; else the second."""
    masses = [(Fraction(a) + Fraction(b)) / 2 for a, b in zip(one, other, strict=True)]
    return [*map(str, masses)] if max(m.denominator for m in masses) <= 96 else other


def function(env: Env, params: tuple[str, ...], code: Any) -> Any:
    """A letter that a term defines."""
    return cache(lambda args: code({**env, **dict(zip(params, args, strict=True))}))


def _taken(shape: Json) -> Json:
    if isinstance(shape, Slot):
        return shape.taken
    if isinstance(shape, dict) and "then" in shape:
        return {**shape, "then": _taken(shape["then"])}
    return [_taken(row) for row in shape] if isinstance(shape, list) else shape


Definitions: TypeAlias = "dict[str, tuple[tuple[str, ...], Node]]"


def definitions(clause: Clause) -> Definitions:
    """Letters that premises define: equal to a term without them, for all of their arguments."""
    _, letters, premises, _ = parts_of(clause.body)
    names = {named(parts_of(letter)[0]) for letter in parts_of(letters)}
    found: Definitions = {}
    for premise in parts_of(premises):
        inner, bound = parts_of(premise), list[str]()
        if inner[0] == "all":
            bound = [named(parts_of(letter)[0]) for letter in parts_of(inner[1])]
            inner = ("",) if parts_of(inner[2]) else parts_of(inner[3])
        if inner[0] != "==":
            continue
        for left, right in (inner[1:], inner[:0:-1]):
            head, *rest = parts_of(left)
            args = [named(one[1]) for one in map(parts_of, rest[1:]) if one[0] == "sym"]
            if head not in ("sym", "of") or rest[0] not in names - found.keys():
                continue
            if len(args) != len(rest) - 1 or sorted(args) != sorted(bound):
                continue
            params = tuple(f"a{k}" for k in range(len(args)))
            body = put(right, {arg: ((), ("sym", p)) for arg, p in zip(args, params, strict=True)})
            more: Definitions = {**found, named(rest[0]): (params, body)}
            if len(ordered({name: free(term) for name, (_, term) in more.items()})) == len(more):
                found = more
                break
    return found


def ordered(uses: dict[str, frozenset[str]]) -> list[str]:
    """Names, each after those that it uses; without those of a circle."""
    found = list[str]()
    while ready := [n for n, used in uses.items() if n not in found and not used & uses.keys() - {*found}]:
        found += ready
    return found


def find_model(clause: Clause, *, refute: bool, effort: Effort = Effort(), seed: int = 0) -> Searched:
    """A model in which all that a clause assumes is true and, to refute it, what it claims is false.

    Deterministic for a seed. Each model was confirmed by the checker, exactly. What has no margin (sequences, and what
    is said of all functions) is left to it alone.
    """
    found, asked = Searched(), 0
    found.never_true = {*range(len(parts_of(parts_of(clause.body)[2])))}
    of_sequences = not refute and bool(sequence_types(clause))
    try:
        candidates = [
            Candidate(clause, space, Random(f"{seed} {k}"))
            for k, space in enumerate(spaces(clause, sequences=of_sequences))
        ]
    except ValueError:
        return found
    found.beyond = candidates[0].beyond
    rounds = count() if not found.beyond else range(0)
    order: Iterable[tuple[int, Candidate]] = ((k, candidate) for k in rounds for candidate in candidates)
    if candidates[0].of_vectors and not refute and not found.beyond:
        order = chain(((-1 - k, candidates[0]) for k in range(STARTS + 2)), order)
    for k, candidate in order:
        if found.margins >= effort.margins or asked >= effort.asked or (k and not candidate.slots):
            break
        climb = Climb(
            candidate,
            found,
            min(found.margins + (SHORT if k < 0 else min(LONGEST, effort.margins // 10)), effort.margins),
            refute,
            PENALTIES[k % len(PENALTIES)],
        )
        if climb.reaches(first=k == (0 if refute else 1), at=-1 - k):
            asked += 1
            found.model = confirmed(clause, candidate, refute)
            if found.model is not None:
                with suppress(ValueError):
                    if not refute and candidate.gets_livelier():
                        show(clause, candidate.json(), refute)
                        found.model = candidate.json()
                break
    return found


def confirmed(clause: Clause, candidate: Candidate, refute: bool) -> Json:
    """A candidate as a model that the checker confirms, with cells where a claim needs these; None if there is none."""
    plain, worst = candidate.json(), candidate.margins.worst if refute else None
    seen = islice(views(*worst), VIEWS) if worst is not None else ()
    for model in (plain, *({**plain, "cells": cells} for cells in seen)):
        with suppress(ValueError):
            show(clause, model, refute)
            return model
    return None


def put_in(slots: list[Slot], values: list[Json]) -> None:
    """Give slots their values."""
    for slot, value in zip(slots, values, strict=True):
        slot.taken = value


@dataclass
class Climb:
    """A search from one start; what premises miss counts with a penalty, beside how far the claim is from false."""

    candidate: Candidate
    found: Searched
    last: int
    refute: bool
    penalty: float
    missing: float = 0.0
    claim: float = 0.0

    def reaches(self, first: bool, at: int = -1) -> bool:
        """Whether this comes to what is wanted, from a start by its number if that is not negative."""
        if at < 0:
            self.candidate.start(first)
        else:
            self.candidate.start_at(at)
        self.begin()
        for _ in range(KICKS):
            self.improve()
            if self.good() or self.over() or not self.candidate.slots:
                break
            slots = self.candidate.slots
            self.kick(self.candidate.random.sample(slots, min(2, len(slots))))
        return self.good()

    def worth(self) -> float:
        """Smaller is better."""
        before = self.candidate.margins.work
        # a claim is as false as it may be at -1: where more is missing than that makes up for, it does not matter
        most = (self.best + 1) / self.penalty if self.refute else -1.0
        margins, self.claim = self.candidate.measured(most)
        self.found.margins += 1 + self.candidate.margins.work - before
        self.found.never_true -= {k for k, margin in enumerate(margins) if margin >= 0}
        self.missing = lacking(margins)
        self.found.never_together &= self.missing > 0
        return self.penalty * self.missing + (max(self.claim, -1.0) if self.refute else 0.0)

    def good(self) -> bool:
        """Whether the last one is what is wanted."""
        return self.missing <= 0 and (not self.refute or -9 < self.claim < -CLEAR)

    def over(self) -> bool:
        """Whether as many were tried as may be."""
        return self.found.margins >= self.last

    def begin(self) -> None:
        """Work out where the search starts."""
        self.best = math.inf
        self.best = self.worth()

    def improve(self) -> None:
        """Change one slot after another, and all of a letter, as long as that is better."""
        better = not self.good()
        while better and not self.over():
            better = False
            slots = self.candidate.slots
            moves = [[slot] for slot in self.candidate.random.sample(slots, len(slots))]
            for move in moves if self.refute else [*moves, *self.candidate.groups]:
                kept = [slot.taken for slot in move]
                for values in self.tried_for(move):
                    put_in(move, values)
                    now = self.worth()
                    if self.good():
                        return
                    if now < self.best - 1e-12:
                        self.best, kept, better = now, values, True
                put_in(move, kept)
                if self.over():
                    return

    def tried_for(self, move: list[Slot]) -> list[list[Json]]:
        """Values for a slot, or options of the same number for all slots of a letter."""
        if len(move) == 1:
            return [[one] for one in self.candidate.others(move[0], OPTIONS)]
        count_ = len(move[0].options)
        few = self.candidate.random.sample(range(count_), min(GROUP, count_))
        return [[slot.options[i] for slot in move] for i in few]

    def kick(self, slots: list[Slot]) -> None:
        """Change some slots at once, for better or worse."""
        for slot in slots:
            slot.taken = self.candidate.random.choice(slot.options)
        self.begin()
