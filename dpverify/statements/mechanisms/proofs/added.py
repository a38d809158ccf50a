"""Neighbors of which one has a record more: what is assumed of them, and proofs that a query moves little between them.

The number of records is a function of the data set. Of two neighbors, one has a record more than the other, at a place;
records before it have the same index in both, and those behind it one index more. It is shown of the one with fewer
records and the other, and holds of both in either order.
"""

from __future__ import annotations

from dpverify.proving.checker.theorems.language import Node, free, named, parts_of, put
from dpverify.proving.theorems.building import ProofBuilder
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.letters import TheoremLetter, bounds
from dpverify.statements.mechanisms.pages import MechanismOnPage, on
from dpverify.statements.mechanisms.proofs.own_sums import equal_sums, numbered, own_sums
from dpverify.statements.mechanisms.proofs.ranges import (
    COLUMN,
    DATA,
    HOLE,
    INDEX,
    ONE,
    OTHER,
    D,
    E,
    Fold,
    Ranges,
    extremes,
    folds,
    magnitude,
    minus,
    number,
    of_data,
    plain,
    replaced,
)
from dpverify.statements.mechanisms.proofs.sensitivity import PLACE, columns, is_linear, offsets, shifted

FEWER, MORE = "the data with fewer records", "the data with a record more"
"""Names of bound letters, which no letter of a page has."""
ONE_MORE = {
    "sum": "rule.sum-one-more", "product": "rule.product-one-more",
    "largest": "rule.largest-one-more", "smallest": "rule.smallest-one-more",
}  # fmt: skip
OWN = {FEWER, MORE, ONE, OTHER, PLACE}
BOTH: tuple[Node, ...] = ((ONE, (), DATA), (OTHER, (), DATA))


def has_more(size: TheoremLetter, fewer: Node, more: Node) -> Node:
    """That a data set has a record more than another."""
    return ("==", ("add", ("of", size.name, fewer), number(1)), ("of", size.name, more))


def added_premises(mechanism: MechanismOnPage) -> list[Node]:
    """What is assumed of data sets and of neighbors, of which one has a record more."""
    size, records = mechanism.size, mechanism.records
    assert size is not None
    second: tuple[Node, ...] = ((COLUMN, (), records.over.kind),) if records.over else ()
    i, place = ("sym", INDEX), ("of", PLACE, D, E)
    near, more = ("neighbors", D, E), has_more(size, D, E)
    index: tuple[Node, ...] = (*BOTH, (INDEX, (), "integer"), *second)

    def at(data: Node, where: Node) -> Node:
        return ("of", records.name, data, where, *(("sym", COLUMN) for _ in second))

    before = near, more, ("<=", number(1), i), ("<", i, place)
    behind = near, more, ("<=", place, i), ("<=", i, ("of", size.name, D))
    return [
        *(("all", ((ONE, (), DATA),), (), on(mechanism, bound, ONE)) for bound in bounds(size)),
        ("all", BOTH, (near, ("not", more)), has_more(size, E, D)),
        ("all", BOTH, (near, more), ("and", ("<=", number(1), place), ("<=", place, ("of", size.name, E)))),
        ("all", index, before, ("==", at(E, i), at(D, i))),
        ("all", index, behind, ("==", at(E, shifted(i, 1)), at(D, i))),
    ]  # fmt: skip


def added_bound(
    mechanism: MechanismOnPage, proof: ProofBuilder, near: int, last: int, query: Node, bound: Node
) -> int:
    """That a query differs by at most a bound between D and E, which are known to be neighbors.

    The last of what is assumed of neighbors has the place `last`.

    Raises:
        UnderivedError: where that is not found.
    """
    size = mechanism.size
    assert size is not None
    sides = [on(mechanism, query, side) for side in (ONE, OTHER)]
    claim: Node = ("<=", magnitude(*sides), bound)
    more = has_more(size, D, E)
    every = proof.block(
        ("all", BOTH, (("neighbors", D, E), more), claim), [FEWER, MORE],
        lambda inner, given: OneMore(mechanism, inner, given, last).bounded(query, bound),
    )  # fmt: skip

    def exchanged(inner: ProofBuilder, given: list[int]) -> None:
        other = inner.use(last - 3, plain(D, E), [near, *given])
        back = inner.use("rule.neighbors-symmetric", plain(D, E), [near], {"mathcalD": DATA})
        inner.arithmetic(claim, inner.use(every, plain(E, D), [back, other]))

    return proof.cases(
        more, claim, lambda inner, given: inner.use(every, plain(D, E), [near, *given]), exchanged,
        [*compared(proof), *of_data(proof, D), *of_data(proof, E)],
    )  # fmt: skip


def compared(proof: ProofBuilder) -> list[int]:
    """The comparisons that are known."""
    return [k for k, fact in enumerate(proof.facts) if parts_of(fact)[0] in ("<=", "<", "==")]


class OneMore:
    """A proof within which a data set and one with a record more are known."""

    def __init__(self, mechanism: MechanismOnPage, proof: ProofBuilder, given: list[int], last: int) -> None:
        self.mechanism, self.proof, self.given, self.last = mechanism, proof, given, last
        assert mechanism.size is not None
        self.fewer, self.more = ("sym", FEWER), ("sym", MORE)
        self.count: Node = ("of", mechanism.size.name, self.fewer)
        self.place: Node = ("of", PLACE, self.fewer, self.more)
        both = proof.use(last - 2, plain(self.fewer, self.more), given)
        ends = parts_of(proof.facts[both])[1:]
        sizes = [one for data in (self.fewer, self.more) for one in of_data(proof, data)]
        for end in ends:
            proof.arithmetic(end, both)
        self.public = [k for k in compared(proof) if free(proof.facts[k]).isdisjoint(OWN)]
        self.known = [*dict.fromkeys((*compared(proof), *sizes))]

    def sides(self, term: Node) -> tuple[Node, Node]:
        """A term on the data set with fewer records, and on the other."""
        return on(self.mechanism, term, FEWER), on(self.mechanism, term, MORE)

    def is_whole(self, fold: Fold) -> bool:
        """Whether a fold goes over all records."""
        return fold[3:] == (number(1), self.mechanism.records.last)

    def ranges(self) -> Ranges:
        """What is known of folds on the data set with fewer records."""
        return Ranges(self.mechanism, self.proof, self.known, FEWER)

    def alike(self, fold: Fold, by: int, place: Node) -> int:
        """That the terms of a fold before a place are the same, or those from it on, with another index."""
        i = ("sym", INDEX)
        one, other = self.sides(fold.at(i))[0], self.sides(fold.at(shifted(i, by)))[1]

        def between(first: Node, place: Node, last: Node) -> tuple[Node, ...]:
            return (("<=", place, i), ("<=", i, last)) if by else (("<=", first, i), ("<", i, place))

        premises = between(fold.first, place, self.sides(fold.last)[0])

        def prove(proof: ProofBuilder, given: list[int]) -> None:
            within = [*given, *self.known]
            if not self.is_whole(fold):
                ends = between(number(1), self.place, self.count)
                given = [proof.arithmetic(end, *within) for end in ends]
            self.same(proof, fold.at(i), by, given, within)

        return self.proof.every([(INDEX, (), "integer")], premises, ("==", other, one), prove)

    def same(self, proof: ProofBuilder, term: Node, by: int, given: list[int], known: list[int]) -> int:
        """That a term of a record is the same of the one with an index more, or the same, with a record more."""
        one, i = on(self.mechanism, term, FEWER), ("sym", INDEX)
        found = proof.arithmetic(("==", one, one), *known)
        source, of = self.last - 1 + bool(by), (self.fewer, self.more, i)
        equal = [
            proof.use(source, plain(*of, *column), [*self.given, *given])
            for column in columns(self.mechanism, term)
        ]
        for own in own_sums(self.mechanism, term):

            def of_number(inner: ProofBuilder, _: Node, __: Node, inside: list[int], own: Node = own) -> int:
                return self.same(inner, numbered(own), by, given, [*known, *inside])

            more = on(self.mechanism, put(own, {INDEX: ((), shifted(i, by))}), MORE)
            equal.append(equal_sums(proof, more, on(self.mechanism, own, FEWER), self.known, of_number))
        for k in equal:
            fewer = parts_of(proof.facts[k])[2]
            template = ("==", replaced(parts_of(proof.facts[found])[1], {fewer: ("sym", HOLE)}), one)
            found = proof.rewritten(found, k, template, HOLE)
        return found

    def differ(self, fold: Fold) -> int:
        """By how much a fold over all records differs.

        Raises:
            UnderivedError: where that is not found.
        """
        head, _, body, first, last = fold
        if offsets(self.mechanism, body, fold.name) - {0}:
            raise UnderivedError("the index of a record is not the letter of its sum")
        functions = [((fold.name,), side) for side in self.sides(body)]
        place, (of_fewer, of_more) = self.place, self.sides(last)
        if not self.is_whole(fold):  # what moves beyond an end makes room for what is behind the place
            place = ("max", first, ("min", self.place, of_more))
            more = self.proof.arithmetic(("==", ("add", of_fewer, number(1)), of_more), *self.known)
            self.known += [more, self.proof.arithmetic(("<=", first, of_more), *self.known)]
        values = [*functions, *plain(place, of_more, first, of_fewer)]
        others = [self.alike(fold, by, place) for by in (0, 1)]
        if head == "product":
            others.append(self.ranges().between(fold, number(0), number(1)))
        elif head != "sum":
            known = extremes(self.mechanism, body)
            if known is None:
                raise UnderivedError(f"it is not seen between which numbers the {head} value is")
            far, added = minus(*known[::-1]), put(self.sides(body)[1], {fold.name: ((), place)})
            values += plain(far)
            near: Node = ("<=", magnitude(added, self.sides(fold.at(("sym", INDEX)))[0]), far)
            each = self.proof.every(
                [(INDEX, (), "integer")], fold.inside(last=self.count), near,
                lambda inner, given: inner.arithmetic(near, *given, *self.known),
            )  # fmt: skip
            others.append(each)
        return self.proof.applied(ONE_MORE[named(head)], values, self.known, others)

    def bounded(self, query: Node, bound: Node) -> int:
        """That a query differs by at most a bound.

        Raises:
            UnderivedError: where that is not found.
        """
        claim: Node = ("<=", magnitude(*self.sides(query)), bound)
        seen = [*dict.fromkeys(folds(self.mechanism, query))]
        try:
            return self.proof.arithmetic(claim, *self.known, thorough=not seen)
        except UnderivedError:
            if not seen:
                raise
        found = [self.differ(fold) for fold in seen]
        if is_linear(self.mechanism, query) or any(fold[0] != "sum" for fold in seen):
            return self.proof.arithmetic(claim, *found, *self.known)
        return self.generally(query, bound, seen, found)

    def generally(self, query: Node, bound: Node, seen: list[Fold], found: list[int]) -> int:
        """The same for all values of sums, of the record, and of the number of records, then for these.

        Raises:
            UnderivedError: where that is not found.
        """
        proof, records, count = self.proof, self.mechanism.records, named(self.count[1])
        if not all(map(self.is_whole, seen)):
            raise UnderivedError("a formula of a sum that is not over all records")
        second, *others = {column for fold in seen for column in columns(self.mechanism, fold)} or {()}
        if others:
            raise UnderivedError("numbers of several columns of a record")
        record = put(("of", records.name, self.more, self.place, *second), {})
        rests = [on(self.mechanism, fold, FEWER) for fold in seen]
        names = ["the record", "the count", *(f"the rest {k}" for k in range(len(seen)))]
        terms = [record, self.count, *rests]
        kinds = ["real", "integer", *("real" for _ in seen)]
        exchange: dict[Node, Node] = {term: ("sym", name) for term, name in zip(terms, names, strict=True)}
        ends = [
            proof.arithmetic(end)
            for end in (("<=", number(records.low or 0), record), ("<=", record, number(records.high or 0)))
            if records.low is not None and records.high is not None
        ]
        given = [*ends, *of_data(proof, self.fewer), *(k for fold in seen for k in self.ranges().of(fold))]
        large: dict[Node, Node] = {("of", count, self.more): ("add", self.count, number(1))}
        large |= {parts_of(proof.facts[k])[1]: parts_of(proof.facts[k])[2] for k in found}
        one, other = self.sides(query)
        claim: Node = ("<=", magnitude(one, replaced(other, large)), bound)
        letters = tuple((name, (), kind) for name, kind in zip(names, kinds, strict=True))
        premises = tuple(replaced(proof.facts[k], exchange) for k in given)
        general = replaced(put(claim, {}), exchange)
        every = proof.every(
            letters,
            premises,
            general,
            lambda inner, assumed: inner.arithmetic(general, *assumed, *self.public),
        )
        fact = proof.use(every, plain(*terms), given, defined=self.known)
        for k, (term, _) in zip((self.given[1], *found), [*large.items()], strict=True):
            del large[term]  # the number of records first, which is part of sums
            within = replaced(other, {**large, term: ("sym", HOLE)})
            template = put(("<=", magnitude(one, within), bound), {})
            if HOLE in free(template):
                fact = proof.rewritten(fact, k, template, HOLE)
        return fact
