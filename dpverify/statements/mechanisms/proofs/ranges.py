"""Between which numbers sums, largest and smallest values over records are: guesses, and proofs of these."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations, product
from typing import Any, NamedTuple

from dpverify.proving.checker.theorems.language import (
    Node,
    bound_in,
    free,
    inner,
    is_partial,
    named,
    parts_of,
    put,
)
from dpverify.proving.theorems.building import ProofBuilder, Value
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.finite_models import FAILURES, FOLDS, FloatModel
from dpverify.proving.theorems.sequences import subterms
from dpverify.statements.mechanisms.pages import MechanismOnPage, on, private

ONE, OTHER, INDEX, COLUMN = "the data", "the neighbor", "the index", "the column"
"""Names of bound letters, which no letter of a page has."""
D, E = ("sym", ONE), ("sym", OTHER)
DATA = "mathcalD"
"""The type of data sets."""
HOLE = "the hole"
RANGES = {"sum": "rule.sum-range", "largest": "rule.largest-range", "smallest": "rule.smallest-range"}
GRID, SMALL, FAR = 64, 3, 20.0
"""Steps between the bounds of a record, how many records a small data set has, and a number that stands for any."""


def replaced(node: Node, new: dict[Node, Node]) -> Node:
    """A term with terms in the place of others."""
    if node in new:
        return new[node]
    return tuple(replaced(part, new) for part in node) if isinstance(node, tuple) else node


def number(value: Fraction | int) -> Node:
    """A number."""
    return ("num", str(value))


def minus(one: Node, other: Node) -> Node:
    """A difference, as it is read."""
    return ("add", one, ("mul", ("num", "-1"), other))


def magnitude(one: Node, other: Node) -> Node:
    """The absolute value of a difference."""
    return ("abs", minus(one, other))


class Fold(NamedTuple):
    """A sum, product, largest or smallest value: a term of the checker's language, with its parts by name."""

    head: Node
    letter: Node
    body: Node
    first: Node
    last: Node

    @property
    def name(self) -> str:
        """Of its index."""
        return named(parts_of(self.letter)[0])

    def at(self, index: Node) -> Node:
        """Its term of an index."""
        return put(self.body, {self.name: ((), index)})

    def inside(self, index: Node = ("sym", INDEX), last: Node = "") -> tuple[Node, Node]:
        """That an index is one of its, maybe with another last one."""
        return ("<=", self.first, index), ("<=", index, last or self.last)


def plain(*terms: Node) -> list[Value]:
    """Terms as values of letters without arguments."""
    return [((), one) for one in terms]


def folds(mechanism: MechanismOnPage, *terms: Node) -> Iterator[Fold]:
    """The outermost sums, products, largest and smallest values over records."""
    for parts in map(parts_of, terms):
        if parts[0] in FOLDS and private(mechanism, parts):
            yield Fold(*parts)
        elif parts[0] not in ("num", "sym"):
            yield from folds(mechanism, *(part for part, _ in inner(parts)))


def closed_folds(mechanism: MechanismOnPage, term: Node) -> Iterator[Fold]:
    """Those, and such within them as do not depend on an index."""
    for fold in folds(mechanism, term):
        yield fold
        for one in closed_folds(mechanism, fold.body):
            if not any(name[:1] == "#" for name in free(one)):
                yield one


def own_index(proof: ProofBuilder) -> str:
    """A name for an index that is not taken."""
    name = INDEX
    while name in proof.state.scope.letters:
        name += "'"
    return name


def of_data(proof: ProofBuilder, data: Node) -> list[int]:
    """What is known of each data set, of one: how many records it has at least."""
    every = [k for k, fact in enumerate(proof.facts) if of_each(parts_of(fact))]
    return [proof.use(k, [((), data)], []) for k in every]


def of_each(fact: tuple[Node, ...]) -> bool:
    """Whether a fact is a comparison that holds of each data set."""
    if fact[0] != "all" or len(parts_of(fact[1])) != 1 or fact[2]:
        return False
    (letter,) = parts_of(fact[1])
    return parts_of(letter)[1:] == ((), DATA) and parts_of(fact[3])[0] in ("<=", "<", "==")


def may_lack_value(term: Node) -> bool:
    """Whether something in a term is not defined everywhere."""
    return any(map(is_partial, subterms(term)))


@dataclass(frozen=True)
class Ranges:
    """What is known within a proof of folds on a data set."""

    mechanism: MechanismOnPage
    proof: ProofBuilder
    public: Sequence[int]
    """Facts about public letters, by their places."""
    data: str = ONE

    def on(self, term: Node) -> Node:
        """A term, on the data set."""
        return on(self.mechanism, term, self.data)

    def function(self, fold: Fold) -> Value:
        """The terms of a fold as a function of its index."""
        return (fold.name,), self.on(fold.body)

    def within(self, inner: ProofBuilder, given: Sequence[int]) -> Ranges:
        """The same within a block of the proof."""
        return replace(self, proof=inner, public=[*given, *self.public])

    def between(self, fold: Fold, low: Node, high: Node) -> int:
        """That each term of a fold is between two numbers."""
        name = own_index(self.proof)
        own, ends = fold.at(("sym", name)), fold.inside(("sym", name), self.on(fold.last))
        claim: Node = ("and", ("<=", low, self.on(own)), ("<=", self.on(own), high))

        def prove(inner: ProofBuilder, given: list[int]) -> None:
            here = self.within(inner, given)
            known = [k for one in folds(self.mechanism, own) for k in here.of(one)]
            parts = [inner.arithmetic(side, *known, *here.public) for side in parts_of(claim)[1:]]
            inner.arithmetic(claim, *parts)

        return self.proof.every([(name, (), "integer")], ends, claim, prove)

    def both(self, rule: str, values: Sequence[Value], *others: int) -> list[int]:
        """The two parts of what a rule gives."""
        both = self.proof.applied(rule, values, self.public, others)
        return [self.proof.arithmetic(part, both) for part in parts_of(self.proof.facts[both])[1:]]

    def of(self, fold: Fold) -> list[int]:
        """Between which numbers a fold is; nothing where that is not seen.

        Of a sum with a record of an index that is public, this is said of all terms but that of this index.
        """
        first, last = fold.first, self.on(fold.last)
        ends = extremes(self.mechanism, fold.body) if fold.head in RANGES else None
        if ends is None:
            return []
        with suppress(UnderivedError, ValueError):
            every, bounds = self.between(fold, *ends), plain(first, last, *ends)
            pinned = next(pins(self.mechanism, fold.body, fold.name), None) if fold.head == "sum" else None
            if pinned is not None:
                return self.both("rule.rest-range", [self.function(fold), *plain(pinned), *bounds], every)
            return self.both(RANGES[named(fold.head)], [self.function(fold), *bounds], every)
        return []

    def orders(self, seen: Sequence[Fold]) -> list[int]:
        """Of two largest values, which has the smaller terms; nothing where that is not seen."""
        found, proof = list[int](), self.proof
        for one, other in permutations([fold for fold in seen if fold.head == "largest"], 2):
            if one[3:] != other[3:] or (ends := extremes(self.mechanism, one.body)) is None:
                continue
            index, top = own_index(proof), self.on(other)
            i, small = ("sym", index), [*folds(self.mechanism, one.body, other.body)]
            terms = [self.on(fold.at(i)) for fold in (one, other)]
            claim: Node = ("and", ("<=", ends[0], terms[0]), ("<=", terms[0], top))

            def prove(
                inner: ProofBuilder, given: list[int], one: Fold = one, other: Fold = other,
                claim: Node = claim, terms: Sequence[Node] = terms, i: Node = i, small: Sequence[Fold] = small,
            ) -> None:  # fmt: skip
                facts, public = [*given], self.public
                for fold in (*dict.fromkeys(fold for fold in small if fold.head == "smallest"), other):
                    values = [self.function(fold), *plain(i, fold.first, fold.last)]
                    here = self.within(inner, given)
                    facts += here.both("rule.between-extremes", values)
                    facts += here.of(fold) if fold is not other else []
                for rank in zip(ranks(one.body), ranks(other.body), strict=False):
                    facts.append(no_larger(inner, *rank, public))
                near = inner.arithmetic(("<=", *terms), *facts, *public, thorough=False)
                sides = [
                    inner.arithmetic(side, near, *facts, *public, thorough=False)
                    for side in parts_of(claim)[1:]
                ]
                inner.arithmetic(claim, *sides)

            with suppress(UnderivedError, ValueError):
                every = proof.every([(index, (), "integer")], one.inside(i), claim, prove)
                values = [self.function(one), *plain(one.first, one.last, ends[0], top)]
                found.append(self.both(RANGES["largest"], values, every)[1])
        return found

    def wholeness(self, query: Node) -> list[int]:
        """That remainders of counts in a query are at least one less than what is divided by; nothing for others."""
        found, proof = list[int](), self.proof
        for value, by in dict.fromkeys(remainders(query)):
            if parts_of(value)[0] != "sum":
                continue
            fold = Fold(*parts_of(self.on(value)))
            if parts_of(fold.body)[0] == "indicator":
                event = (fold.name,), parts_of(fold.body)[1]
                values = [event, *plain(fold.first, fold.last)]
                whole = proof.use("rule.count-whole", values, [], defined=self.public)
                count = parts_of(proof.facts[whole])[2]
                floor: Node = ("floor", ("mul", number(Fraction(1, by)), count))
                left: Node = ("add", count, ("mul", number(-by), floor))
                below = proof.arithmetic(("<", left, number(by)))
                ends = plain(left, number(by))
                least = proof.use("rule.next-integer", ends, [below], defined=self.public)
                template = replaced(proof.facts[least], {count: ("sym", HOLE)})
                found.append(proof.rewritten(least, whole, template, HOLE))
        return found

    def sums(self, query: Node, letters: tuple[Node, ...]) -> list[int]:
        """Between which numbers the sums of a query are on each data set D; nothing where that is not seen."""
        found = list[int]()
        for fold in dict.fromkeys(closed_folds(self.mechanism, query)):
            ends = extremes(self.mechanism, fold.body) if fold.head == "sum" else None
            if ends is None:
                continue
            term, times = self.on(fold), ("add", minus(self.on(fold.last), fold.first), number(1))
            low, high = (("mul", times, end) for end in ends)
            claim: Node = ("and", ("<=", low, term), ("<=", term, high))

            def prove(inner: ProofBuilder, _: list[int], fold: Fold = fold) -> None:
                replace(self, proof=inner).of(fold)

            with suppress(UnderivedError, ValueError):
                found.append(self.proof.every(letters, (), claim, prove))
        return found


def no_larger(proof: ProofBuilder, one: Node, other: Node, public: Sequence[int]) -> int:
    """That a whole number is at most another: else it is larger by 1 at least."""
    claim: Node = ("<=", one, other)
    larger: Node = ("<", other, one)

    def apart(inner: ProofBuilder, given: list[int]) -> None:
        more = inner.use("rule.next-integer", [((), other), ((), one)], given, defined=public)
        inner.arithmetic(claim, more, *given, *public, thorough=False)

    return proof.cases(larger, claim, apart, lambda inner, given: inner.arithmetic(claim, *given), public)


def ranks(term: Node) -> Iterator[Node]:
    """What counts are compared with in a term."""
    yield from (one[2] for one in subterms(term) if one[0] == "<" and parts_of(one[1])[0] == "sum")


def remainders(term: Node) -> Iterator[tuple[Node, int]]:
    """What is divided, and by which whole number, where floors of quotients are in a term outside of sums."""
    parts = parts_of(term)
    quotient = parts_of(parts[1]) if parts[0] == "floor" else ("",)
    if quotient[0] == "mul" and len(quotient) == 3 and parts_of(quotient[1])[0] == "num":
        by = Fraction(named(parts_of(quotient[1])[1]))
        if by.numerator == 1:
            yield quotient[2], by.denominator
    if not bound_in(parts):
        for part, _ in inner(parts):
            yield from remainders(part)


def pins(mechanism: MechanismOnPage, body: Node, index: str) -> Iterator[Node]:
    """Indices of records in a term that are public."""
    parts = parts_of(body)
    if parts[0] == "of" and parts[1] == mechanism.records.name:
        bound = {
            name for name in free(parts[2]) if name == index or name[:1] == "#" or name.startswith(INDEX)
        }
        if not bound and not private(mechanism, parts[2]):
            yield parts[2]
    if not bound_in(parts):
        for part, _ in inner(parts):
            yield from pins(mechanism, part, index)


# --------------------------------------------------------------------------------------------- guesses


def ends_of(mechanism: MechanismOnPage) -> tuple[float, float]:
    """The ends of records, or numbers far away."""
    records = mechanism.records
    return (
        -FAR if records.low is None else float(records.low),
        FAR if records.high is None else float(records.high),
    )


def values_of(mechanism: MechanismOnPage, term: Node) -> list[float]:
    """A term of one record, at numbers between the record's bounds, in floating point; none if it is of more."""
    records = mechanism.records
    indices = {name for name in free(term) if name[:1] == "#" or name.startswith(INDEX) or name == COLUMN}
    if len({*places(mechanism, term)}) != 1 or not free(term) <= {records.name, *indices}:
        return []
    low, high = ends_of(mechanism)
    code, found = FloatModel({}, {}).code(term), list[float]()
    for k in range(GRID + 1):
        x = low + (high - low) * k / GRID
        try:
            found.append(float(code({**dict.fromkeys(indices, 1.0), records.name: lambda _, x=x: x})))
        except FAILURES:
            return []
    return found


def places(mechanism: MechanismOnPage, term: Node) -> Iterator[Node]:
    """The first indices of the records in a term."""
    yield from (one[2] for one in subterms(term) if one[:2] == ("of", mechanism.records.name))


def on_small(mechanism: MechanismOnPage, term: Node) -> list[float]:
    """A term of several records on small data sets, public letters being small; none where it has no value."""
    records = mechanism.records
    if records.last[0] != "sym":
        return []
    code, found = FloatModel({}, {}).code(term), list[float]()
    env: dict[str, Any] = {**dict.fromkeys(free(term), 1.0), named(records.last[1]): float(SMALL)}
    indices = [name for name in free(term) if name[:1] == "#" or name.startswith(INDEX)]
    low, high = ends_of(mechanism)
    numbers = [low, (low + high) / 2, high]
    for row in product(numbers, repeat=SMALL):
        env[records.name] = lambda at, row=row: row[(int(at[0]) - 1) % SMALL]
        for at in product(range(1, SMALL + 1), repeat=len(indices)):
            try:
                found.append(float(code({**env, **dict(zip(indices, map(float, at), strict=True))})))
            except FAILURES:
                return []
    return found


def extremes(mechanism: MechanismOnPage, body: Node) -> tuple[Node, Node] | None:
    """The smallest and largest value of a term of records, as far as it looks; None if that is not seen."""
    records, found = mechanism.records, values_of(mechanism, body)
    if not found and (found := on_small(mechanism, body)):
        return exactly(min(found), []), exactly(max(found), [])
    if not found:
        return None
    ends = [(found[k], with_record(mechanism, body, x)) for k, x in ((0, records.low), (-1, records.high))]
    return exactly(min(found), ends), exactly(max(found), ends)


def exactly(value: float, ends: list[tuple[float, Node]]) -> Node:
    """A number that looks like a value: a fraction, or a term that has it at an end."""
    near = Fraction(value).limit_denominator(100)
    if math.isclose(near, value, abs_tol=1e-12):
        return number(near)
    return next((term for at, term in ends if math.isclose(at, value, abs_tol=1e-12)), number(near))


def with_record(mechanism: MechanismOnPage, body: Node, value: Fraction | None) -> Node:
    """A term with a number for each record."""
    names = tuple(f"!{k}" for k in range(len(mechanism.records.arguments)))
    return put(body, {mechanism.records.name: (names, number(value or 0))})
