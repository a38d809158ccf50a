"""Proofs that a query moves little between neighbors, for every number of records.

Neighbors D and E differ in the record with the index k. A sum, product, largest or smallest value over records then
differs in one term, and what is left is arithmetic with that record on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from dpverify.proving.checker.theorems.language import Node, bound_in, free, inner, named, parts_of, put
from dpverify.proving.theorems.building import ProofBuilder
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.finite_models import FAILURES, FOLDS, FloatModel
from dpverify.statements.mechanisms.pages import MechanismOnPage, on, private

DATA = "mathcalD"
"""The type of data sets."""
PLACE = "the place"
"""The index of the record in which neighbors differ, a function of both."""
ONE_PLACE = {
    "product": "rule.products-differ", "largest": "rule.largest-differ", "smallest": "rule.smallest-differ",
}  # fmt: skip
GRID = 64
D, E = ("sym", "D"), ("sym", "E")


def minus(one: Node, other: Node) -> Node:
    """A difference, as it is read."""
    return ("add", one, ("mul", ("num", "-1"), other))


def magnitude(one: Node, other: Node) -> Node:
    """The absolute value of a difference."""
    return ("abs", minus(one, other))


def number(value: Fraction | int) -> Node:
    """A number."""
    return ("num", str(value))


def shifted(place: Node, by: int) -> Node:
    """An index further on."""
    return ("add", place, number(by)) if by else place


def folds(mechanism: MechanismOnPage, term: Node) -> Iterator[tuple[Node, ...]]:
    """The outermost sums, products, largest and smallest values over records."""
    parts = parts_of(term)
    if parts[0] in FOLDS and private(mechanism, term):
        yield parts
    elif parts[0] not in ("num", "sym"):
        for part, _ in inner(parts):
            yield from folds(mechanism, part)


def offsets(mechanism: MechanismOnPage, body: Node, index: str) -> set[int]:
    """By how much the indices of records in a term are above a letter.

    Raises:
        UnderivedError: where they are something else.
    """
    parts = parts_of(body)
    if parts[0] == "of" and parts[1] == mechanism.records.name:
        at = parts_of(parts[2])
        if at == ("sym", index):
            return {0}
        if at[0] == "add" and len(at) == 3 and at[1] == ("sym", index) and parts_of(at[2])[0] == "num":
            return {int(Fraction(named(parts_of(at[2])[1])))}
        raise UnderivedError("the index of a record is not the letter of its sum, and a number more")
    if parts[0] in ("num", "sym"):
        return set()
    if bound_in(parts) and private(mechanism, body):
        raise UnderivedError("a sum over records within another")
    return set[int]().union(*(offsets(mechanism, part, index) for part, _ in inner(parts)))


class Sensitivity:
    """A proof within which two neighbors and the place of their difference are known."""

    def __init__(
        self, mechanism: MechanismOnPage, proof: ProofBuilder, near: int, same: int, within: int, second: tuple[Node, ...]
    ) -> None:
        self.mechanism, self.proof, self.second = mechanism, proof, second
        self.near, self.same = near, same
        self.place: Node = ("of", PLACE, D, E)
        both = proof.use(within, [((), D), ((), E)], [near])
        _, low, high = parts_of(proof.facts[both])
        self.low, self.high = proof.arithmetic(low, both), proof.arithmetic(high, both)
        self.public = [
            k for k, fact in enumerate(proof.facts) if parts_of(fact)[0] in ("<=", "<", "==") and PLACE not in free(fact)
        ]

    def sides(self, term: Node) -> tuple[Node, Node]:
        """A term on the one data set and on the other."""
        return on(self.mechanism, term, "D"), on(self.mechanism, term, "E")

    def equal_elsewhere(self, fold: tuple[Node, ...], places: Sequence[Node], moved: set[int]) -> int:
        """That the terms of a fold are the same but at some places."""
        _, letter, body, first, last = fold
        name, i = named(parts_of(letter)[0]), ("sym", "i")
        one, other = self.sides(put(body, {name: ((), i)}))
        premises: tuple[Node, ...] = (
            ("<=", first, i), ("<=", i, last), *(("not", ("==", i, place)) for place in places)
        )  # fmt: skip
        whole: Node = ("all", (("i", (), "integer"),), premises, ("==", one, other))

        def prove(proof: ProofBuilder, given: list[int]) -> None:
            known = [*given, self.low, self.high, *self.public]
            equal = []
            for c in sorted(moved):
                at = shifted(i, c)
                inside = [
                    proof.arithmetic(("<=", number(1), at), *known),
                    proof.arithmetic(("<=", at, self.mechanism.records.last), *known),
                    proof.arithmetic(("not", ("==", at, self.place)), *known),
                ]
                values = [((), D), ((), E), ((), at), *(((), one) for one in self.second)]
                equal.append(proof.use(self.same, values, [self.near, *inside]))
            proof.arithmetic(("==", one, other), *equal)

        return self.proof.block(whole, ["i"], prove)

    def differ(self, fold: tuple[Node, ...]) -> int:
        """By how much a fold differs."""
        head, letter, body, first, last = fold
        name = named(parts_of(letter)[0])
        moved = offsets(self.mechanism, body, name)
        functions = [((name,), side) for side in self.sides(body)]
        ends = [((), first), ((), last)]
        known = [self.low, self.high, *self.public]
        if moved == {0}:
            elsewhere = self.equal_elsewhere(fold, [self.place], moved)
            inside = [
                self.proof.arithmetic(("<=", first, self.place), *known),
                self.proof.arithmetic(("<=", self.place, last), *known),
            ]
            if head == "product":
                elsewhere_and = [elsewhere, self.between(fold, number(0), number(1))]
            else:
                elsewhere_and = [elsewhere]
            rule = "rule.sums-differ" if head == "sum" else ONE_PLACE[named(head)]
            return self.proof.use(rule, [*functions, ((), self.place), *ends], [*elsewhere_and, *inside])
        if head != "sum" or len(moved) != 2:
            raise UnderivedError("a record in more than two terms of a sum")
        places = [shifted(self.place, -c) for c in sorted(moved)]
        elsewhere = self.equal_elsewhere(fold, places, moved)
        apart = self.proof.arithmetic(("not", ("==", *places)))
        limit, steps = number(most(self.mechanism, body)), list[int]()
        positive = self.proof.arithmetic(("<=", number(0), limit))
        for place in places:
            terms = self.sides(put(body, {name: ((), place)}))
            whole: Node = ("all", (), (("<=", first, place), ("<=", place, last)), ("<=", magnitude(*terms), limit))

            def prove(proof: ProofBuilder, given: list[int], place: Node = place, terms: tuple[Node, Node] = terms) -> None:
                equal = []
                for c in sorted(moved):
                    at = shifted(place, c)
                    if put(at, {}) != self.place and not _same_index(at, self.place):
                        facts = [*given, *known]
                        inside = [
                            proof.arithmetic(("<=", number(1), at), *facts),
                            proof.arithmetic(("<=", at, self.mechanism.records.last), *facts),
                            proof.arithmetic(("not", ("==", at, self.place))),
                        ]
                        values = [((), D), ((), E), ((), at), *(((), one) for one in self.second)]
                        equal.append(proof.use(self.same, values, [self.near, *inside]))
                proof.arithmetic(("<=", magnitude(*terms), limit), *equal)

            steps.append(self.proof.block(whole, [], prove))
        values = [*functions, *(((), place) for place in places), *ends, ((), limit), ((), limit)]
        return self.proof.use("rule.sums-differ-twice", values, [positive, positive, elsewhere, apart, *steps])

    def between(self, fold: tuple[Node, ...], low: Node, high: Node) -> int:
        """That each term of a fold is between two numbers."""
        _, letter, body, first, last = fold
        i = ("sym", "i")
        term = on(self.mechanism, put(body, {named(parts_of(letter)[0]): ((), i)}), "D")
        claim: Node = ("and", ("<=", low, term), ("<=", term, high))
        whole: Node = ("all", (("i", (), "integer"),), (("<=", first, i), ("<=", i, last)), claim)

        def prove(proof: ProofBuilder, given: list[int]) -> None:
            parts = [proof.arithmetic(side, *given, *self.public) for side in claim[1:]]
            proof.arithmetic(claim, *parts)

        return self.proof.block(whole, ["i"], prove)

    def rest(self, fold: tuple[Node, ...]) -> list[int]:
        """Between which numbers a sum is without the record that differs; nothing where that is not seen."""
        _, letter, body, first, last = fold
        ends = extremes(self.mechanism, body)
        if ends is None:
            return []
        try:
            every = self.between(fold, *ends)
        except UnderivedError:
            return []
        known = [self.low, self.high, *self.public]
        inside = [
            self.proof.arithmetic(("<=", first, self.place), *known),
            self.proof.arithmetic(("<=", self.place, last), *known),
        ]
        function = ((named(parts_of(letter)[0]),), on(self.mechanism, body, "D"))
        values = [function, ((), self.place), ((), first), ((), last), *(((), end) for end in ends)]
        return [self.proof.use("rule.rest-range", values, [every, *inside])]

    def order(self, one: tuple[Node, ...], other: tuple[Node, ...]) -> list[int]:
        """Of two sums, which has the larger terms; nothing where that is not seen."""
        if one[3:] != other[3:]:
            return []
        bodies = [put(fold[2], {named(parts_of(fold[1])[0]): ((), ("sym", "i"))}) for fold in (one, other)]
        gap = values_of(self.mechanism, minus(*bodies))
        if not gap or (min(gap) < -1e-12 and max(gap) > 1e-12):
            return []
        if max(gap) > 1e-12:
            bodies.reverse()
        small, large = (on(self.mechanism, body, "D") for body in bodies)
        i, first, last = ("sym", "i"), one[3], one[4]
        whole: Node = ("all", (("i", (), "integer"),), (("<=", first, i), ("<=", i, last)), ("<=", small, large))
        known = [self.low, self.high, *self.public]
        try:
            every = self.proof.block(whole, ["i"], lambda proof, given: _one(proof, ("<=", small, large)))
        except UnderivedError:
            return []
        inside = [
            self.proof.arithmetic(("<=", first, self.place), *known),
            self.proof.arithmetic(("<=", self.place, last), *known),
        ]
        values = [(("i",), small), (("i",), large), ((), self.place), ((), first), ((), last)]
        return [self.proof.use("rule.rest-order", values, [every, *inside])]

    def bounded(self, query: Node, bound: Node) -> int:
        """That a query differs by at most a bound.

        Raises:
            UnderivedError: where that is not found.
        """
        claim: Node = ("<=", magnitude(*self.sides(query)), bound)
        try:  # where nothing need be known of sums
            return self.proof.arithmetic(claim, *self.public)
        except UnderivedError:
            pass
        seen = [*dict.fromkeys(folds(self.mechanism, query))]
        found = [self.differ(fold) for fold in seen]
        try:
            return self.proof.arithmetic(claim, *found, *self.public)
        except UnderivedError:
            if is_linear(self.mechanism, query):
                raise
        for fold in seen:
            found += self.rest(fold)
        for one, other in combinations(seen, 2):
            found += self.order(one, other)
        return self.proof.arithmetic(claim, *found, self.low, self.high, *self.public)


def _one(proof: ProofBuilder, claim: Node) -> None:
    proof.arithmetic(claim)


def _same_index(one: Node, other: Node) -> bool:
    """Whether an index is a place, a number more and as much less."""
    parts = parts_of(one)
    if parts[0] != "add" or parts_of(parts[2])[0] != "num":
        return False
    first, by = parts_of(parts[1]), Fraction(named(parts_of(parts[2])[1]))
    if first[0] == "add" and parts_of(first[2])[0] == "num":
        return first[1] == other and by + Fraction(named(parts_of(first[2])[1])) == 0
    return False


def is_linear(mechanism: MechanismOnPage, query: Node) -> bool:
    """Whether a query is a sum of multiples of folds, and of what is public."""
    parts = parts_of(query)
    if parts[0] in FOLDS or not private(mechanism, query):
        return True
    if parts[0] == "add":
        return all(is_linear(mechanism, part) for part in parts[1:])
    if parts[0] == "mul":
        inside = [part for part in parts[1:] if private(mechanism, part)]
        return len(inside) == 1 and is_linear(mechanism, inside[0])
    return False


# --------------------------------------------------------------------------------------------- guesses


def values_of(mechanism: MechanismOnPage, term: Node) -> list[float]:
    """A term of one record, at numbers between the record's bounds, in floating point; none if it is of more."""
    records = mechanism.records
    indices = {name for name in free(term) if name[:1] in "#i"}
    if records.low is None or records.high is None or not free(term) <= {records.name, *indices}:
        return []
    low, high = float(records.low), float(records.high)
    code, found = FloatModel({}, {}).code(term), list[float]()
    for k in range(GRID + 1):
        x = low + (high - low) * k / GRID
        try:
            found.append(float(code({**dict.fromkeys(indices, 1.0), records.name: lambda _, x=x: x})))
        except FAILURES:
            return []
    return found


def extremes(mechanism: MechanismOnPage, body: Node) -> tuple[Node, Node] | None:
    """The smallest and largest value of a term of one record, as far as it looks; None if that is not seen."""
    found = values_of(mechanism, body)
    if not found:
        return None
    records = mechanism.records
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


def most(mechanism: MechanismOnPage, body: Node) -> int:
    """By how much a term of records may differ: a guess, which the proof must confirm."""
    return 1
