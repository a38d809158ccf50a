"""Proofs that a query moves little between neighbors, for every number of records.

Neighbors D and E differ in the record with the index k. A sum, product, largest or smallest value over records then
differs in one term, and what is left is arithmetic with that record on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import combinations, permutations

from dpverify.proving.checker.theorems.language import Node, bound_in, free, inner, named, parts_of, put
from dpverify.proving.theorems.building import ProofBuilder, Value
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.finite_models import FOLDS
from dpverify.proving.theorems.sequences import subterms
from dpverify.statements.mechanisms.pages import MechanismOnPage, on, private
from dpverify.statements.mechanisms.proofs.guesses import cancelled, most, multiple, sensitivity
from dpverify.statements.mechanisms.proofs.nested import (
    all_differ,
    is_of_pairs,
    one_differs,
    pairs_differ,
    steps_of,
)
from dpverify.statements.mechanisms.proofs.own_sums import equal_sums, is_own, numbered, own_sums
from dpverify.statements.mechanisms.proofs.ranges import (
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
    places,
    plain,
    remainders,
    replaced,
    values_of,
)
from dpverify.statements.mechanisms.proofs.rewriting import rewritten

Show = Callable[..., int]
"""Shows a formula in a proof, from facts by their places; `thorough=False` where that must not take long."""
PLACE = "the place"
"""The index of the record in which neighbors differ, a function of both."""
ONE_PLACE = {
    "sum": "rule.sums-differ", "product": "rule.products-differ",
    "largest": "rule.largest-differ", "smallest": "rule.smallest-differ",
}  # fmt: skip
SCALED = ("the factor", "the bound", "the first", "the second")


def shifted(place: Node, by: int) -> Node:
    """An index further on."""
    return ("add", place, number(by)) if by else place


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
    if bound_in(parts) and private(mechanism, body) and not is_own(mechanism, body):
        raise UnderivedError("a sum over records within another")
    return set[int]().union(*(offsets(mechanism, part, index) for part, _ in inner(parts)))


def columns(mechanism: MechanismOnPage, body: Node) -> set[tuple[Node, ...]]:
    """The second indices of records in a term, sums over these aside; none where records have none."""
    parts = parts_of(body)
    if is_own(mechanism, body):
        return set()
    own = {parts[3:]} if parts[0] == "of" and parts[1] == mechanism.records.name else set()
    return own.union(*(columns(mechanism, part) for part, _ in inner(parts)))


def records_at(mechanism: MechanismOnPage, term: Node, index: Node) -> set[tuple[Node, ...]]:
    """The records of an index in a term."""
    return {one for one in subterms(term) if one[:3] == ("of", mechanism.records.name, index)}


class Sensitivity:
    """A proof within which two neighbors and the place of their difference are known."""

    def __init__(
        self, mechanism: MechanismOnPage, proof: ProofBuilder, near: int, same: int, within: int
    ) -> None:
        self.mechanism, self.proof = mechanism, proof
        self.near, self.same, self.within = near, same, within
        self.place: Node = ("of", PLACE, D, E)
        both = proof.use(within, plain(D, E), [near])
        _, low, high = parts_of(proof.facts[both])
        self.low, self.high = proof.arithmetic(low, both), proof.arithmetic(high, both)
        self.seen = list[int]()
        """What is known of sums, by which a query has a value."""
        self.settled = frozenset[Node]()
        """Public indices of which it is assumed that they are the place, or are not."""
        self.public = [
            k
            for k, fact in enumerate(proof.facts)
            if parts_of(fact)[0] in ("<=", "<", "==") and PLACE not in free(fact)
        ]

    def sides(self, term: Node) -> tuple[Node, Node]:
        """A term on the one data set and on the other."""
        return on(self.mechanism, term, ONE), on(self.mechanism, term, OTHER)

    def functions(self, fold: Fold) -> list[Value]:
        """The terms of a fold as functions of its index, on both."""
        return [((fold.name,), side) for side in self.sides(fold.body)]

    def ranges(self, data: str = ONE) -> Ranges:
        """What is known of folds on a data set."""
        return Ranges(self.mechanism, self.proof, self.public, data)

    def equal(
        self, proof: ProofBuilder, at: Node, inside: list[int], shown: Iterable[tuple[Node, ...]]
    ) -> list[int]:
        """That the records of an index are the same, in some columns."""
        return [proof.use(self.same, plain(D, E, at, *one), [self.near, *inside]) for one in shown]

    def equal_at(self, proof: ProofBuilder, at: Node, body: Node, given: list[int]) -> list[int]:
        """The same of an index of which it is known that it is one of a record, and not the place, as facts say."""
        known = [*given, self.low, self.high, *self.public]
        inside = [
            proof.arithmetic(("<=", number(1), at), *known),
            proof.arithmetic(("<=", at, self.mechanism.records.last), *known),
            proof.arithmetic(("not", ("==", at, self.place)), *known),
        ]
        return self.equal(proof, at, inside, columns(self.mechanism, body))

    def same_value(self, proof: ProofBuilder, term: Node, equal: list[int], given: list[int]) -> None:
        """That a term is the same with the records that are equal."""
        same = proof.arithmetic(("==", term, term), *given, *self.public)
        for k in equal:
            right, record = parts_of(proof.facts[same])[2], parts_of(proof.facts[k])[1]
            same = proof.rewritten(same, k, ("==", term, replaced(right, {record: ("sym", HOLE)})), HOLE)

    def most_of(self, fold: Fold, more: list[int]) -> Node:
        """By how much a term differs if one of its records does: a guess."""
        if len(more) == 2:
            return most(self.mechanism, fold.body, fold.name, {*more})
        ends = extremes(self.mechanism, fold.body)
        if ends is None:
            raise UnderivedError("no range of a term is seen")
        return minus(*reversed(ends))

    def equal_elsewhere(self, fold: Fold, places: Sequence[Node], moved: set[int]) -> int:
        """That the terms of a fold are the same but at some places."""
        i = ("sym", INDEX)
        one, other = self.sides(fold.at(i))
        premises = (*fold.inside(), *(("not", ("==", i, place)) for place in places))

        def prove(proof: ProofBuilder, given: list[int]) -> None:
            equal = [k for c in sorted(moved) for k in self.equal_at(proof, shifted(i, c), fold.body, given)]
            for own in own_sums(self.mechanism, fold.at(i)):

                def same(
                    inner: ProofBuilder, term: Node, _: Node, within: list[int], own: Node = own
                ) -> None:
                    records = self.equal_at(inner, i, numbered(own), given)
                    self.same_value(inner, term, records, [*given, *within])

                equal.append(equal_sums(proof, *self.sides(own), self.public, same))
            self.same_value(proof, one, equal, given)

        return self.proof.every([(INDEX, (), "integer")], premises, ("==", one, other), prove)

    def differ(self, fold: Fold) -> int:
        """By how much a fold differs."""
        head, body, name = fold.head, fold.body, fold.name
        if is_of_pairs(fold):
            return pairs_differ(self, fold)
        if head == "sum" and any(not is_own(self.mechanism, one) for one in folds(self.mechanism, body)):
            low = number(self.mechanism.records.low or 0)
            alone = replaced(body, dict.fromkeys(records_at(self.mechanism, body, ("sym", name)), low))
            return all_differ(
                self, fold, sensitivity(self.mechanism, alone), sensitivity(self.mechanism, fold)
            )
        if head == "sum" and (found := steps_of(self, fold)) is not None:
            return one_differs(self, fold, *found)
        moved = offsets(self.mechanism, body, name)
        functions, known = self.functions(fold), self.known
        if moved == {0}:
            shown = [self.equal_elsewhere(fold, [self.place], moved)]
            shown += [self.ranges().between(fold, number(0), number(1))] if head == "product" else []
            values = [*functions, *plain(self.place, fold.first, fold.last)]
            return self.proof.applied(ONE_PLACE[named(head)], values, known, shown)
        if head != "sum" or len(moved) != 2:
            raise UnderivedError("a record in more than two terms of a sum")
        places = [shifted(self.place, -c) for c in sorted(moved)]
        elsewhere = self.equal_elsewhere(fold, places, moved)
        limits, steps = list[Node](), list[int]()
        for place in places:
            terms, within = self.sides(fold.at(place)), fold.inside(place)
            limit = most(self.mechanism, body, name, moved)
            if self.settled:
                with suppress(UnderivedError):
                    self.proof.arithmetic(("not", ("and", *within)), *known, thorough=False)
                    limit = number(0)
            limits.append(limit)
            claim: Node = ("<=", magnitude(*terms), limit)

            def prove(
                proof: ProofBuilder, given: list[int], place: Node = place, claim: Node = claim, limit: Node = limit
            ) -> None:  # fmt: skip
                if limit == number(0):  # there is no such term
                    proof.arithmetic(claim, *given, *known)
                    return
                equal = list[int]()
                for c in sorted(moved):
                    at = shifted(place, c)
                    if put(at, {}) != self.place and not _same_index(at, self.place):
                        facts = [*given, *known]
                        inside = [
                            proof.arithmetic(("<=", number(1), at), *facts),
                            proof.arithmetic(("<=", at, self.mechanism.records.last), *facts),
                            proof.arithmetic(("not", ("==", at, self.place))),
                        ]
                        equal += self.equal(proof, at, inside, columns(self.mechanism, body))
                proof.arithmetic(claim, *equal)

            steps.append(self.proof.every((), within, claim, prove))
        values = [*functions, *plain(*places, fold.first, fold.last, *limits)]
        return self.proof.applied("rule.sums-differ-twice", values, known, [elsewhere, *steps])

    @property
    def known(self) -> list[int]:
        """What is known of the place, and of public letters."""
        return [self.low, self.high, *self.public]

    def bounded(self, query: Node, bound: Node) -> int:
        """That a query differs by at most a bound.

        Raises:
            UnderivedError: where that is not found.
        """
        claim: Node = ("<=", magnitude(*self.sides(query)), bound)
        others, inside = multiple(self.mechanism, query)
        if others:
            return self.scaled(others, inside, bound, claim)
        if (whole := self.in_another_form(query, bound, claim)) is not None:
            return whole
        seen = [*dict.fromkeys(folds(self.mechanism, query))]
        try:  # where nothing need be known of sums
            return self.proof.arithmetic(claim, *self.public, thorough=not seen)
        except UnderivedError:
            if not seen:
                raise
        if parts_of(query)[0] == "pow" and parts_of(query)[2] == number(Fraction(1, 2)):
            with suppress(UnderivedError):
                return self.of_root(parts_of(query)[1], bound, claim)
        alone = replaced(query, dict.fromkeys(seen, number(0)))
        pinned = [at for at in places(self.mechanism, alone) if at not in self.settled]
        if pinned:
            return self.by_cases(pinned[0], query, bound, claim)
        stepped = any(True for _ in remainders(query))
        try:
            if stepped:
                return self.by_ranges(query, seen, claim)
            found = [self.differ(fold) for fold in seen]
            if is_linear(self.mechanism, query) or any(fold[0] != "sum" for fold in seen) or self.settled:
                return self.linear(claim, found)
            return Rests(self, seen, found).bounded(bound, claim)
        except UnderivedError as error:
            with suppress(UnderivedError):
                if not stepped:
                    return self.by_ranges(query, seen, claim)
            raise error from None

    def linear(self, claim: Node, found: list[int]) -> int:
        """A bound from those of sums: by what is known of its letters, else by all that is known."""
        own = [k for k in self.public if free(self.proof.facts[k]) <= free(claim)]
        for facts in dict.fromkeys([(*own,), (*self.public,)]):
            with suppress(UnderivedError):
                return self.proof.arithmetic(claim, *found, self.low, self.high, *facts)
        raise UnderivedError("arithmetic does not give it")

    def of_root(self, inside: Node, bound: Node, claim: Node) -> int:
        """That a root differs by at most a bound, as what it is the root of does by the square of the bound."""
        proof, (limit, square, *both) = self.proof, [("sym", name) for name in SCALED]
        squared = cancelled(("pow", bound, number(2)))
        found = self.bounded(inside, squared)
        for ranges in map(self.ranges, (ONE, OTHER)):
            self.seen += [k for fold in folds(self.mechanism, inside) for k in ranges.of(fold)]
        sides, facts = self.sides(inside), [*self.seen, *self.public]
        zero, half = number(0), number(Fraction(1, 2))
        near: Node = ("<=", magnitude(*both), square)
        equal: Node = ("==", square, ("pow", limit, number(2)))
        general: Node = ("<=", magnitude(*(("pow", one, half) for one in both)), limit)
        premises = (*(("<=", zero, one) for one in (limit, *both)), near, equal)
        every = proof.every([(name, (), "real") for name in SCALED], premises, general)
        shown = [proof.arithmetic(("<=", zero, one), *facts) for one in (bound, *sides)]
        shown += [found, proof.arithmetic(("==", squared, ("pow", bound, number(2))), *self.public)]
        whole = proof.use(every, plain(bound, squared, *sides), shown, defined=[*facts, found])
        return proof.arithmetic(claim, whole)

    def by_cases(self, at: Node, query: Node, bound: Node, claim: Node) -> int:
        """That a query differs by at most a bound, whether the record of a public index differs or not."""

        def inside(proof: ProofBuilder, given: list[int], here: bool) -> None:
            known = Sensitivity(self.mechanism, proof, self.near, self.same, self.within)
            known.settled = self.settled | {at}
            known.public = [*self.public, *given]
            if not here:
                known.public += known.equal_at(proof, at, query, given)
            known.bounded(query, bound)

        return self.proof.cases(
            ("==", at, self.place), claim, partial(inside, here=True), partial(inside, here=False),
            self.known,
        )  # fmt: skip

    def by_ranges(self, query: Node, seen: list[Fold], claim: Node) -> int:
        """The same by what values sums, largest and smallest values may have."""
        found = list[int]()
        for ranges in map(self.ranges, (ONE, OTHER)):
            found += [*ranges.wholeness(query), *ranges.orders(seen)]
            found += [k for fold in seen for k in ranges.of(fold)]
        return self.proof.arithmetic(claim, *found, *self.public, thorough=False)

    def in_another_form(self, query: Node, bound: Node, claim: Node) -> int | None:
        """The same of a query in another form, where its sums have one."""
        new, equations = rewritten(self, query)
        if not equations:
            return None
        fact = self.bounded(new, bound)
        return self.proof.arithmetic(claim, fact, *equations, *self.seen, *self.public)

    def scaled(self, others: list[Node], inside: Node, bound: Node, claim: Node) -> int:
        """That a multiple of a query differs by at most a bound, by what the query does."""
        proof, (times, most, one, other) = self.proof, (("sym", name) for name in SCALED)
        factor: Node = ("mul", *others) if len(others) > 1 else others[0]
        least = cancelled(("mul", bound, *(("pow", part, number(-1)) for part in others)))
        found = self.bounded(inside, least)
        given: tuple[Node, ...] = (("<=", number(0), times), ("<=", magnitude(one, other), most))
        scaled = magnitude(("mul", times, one), ("mul", times, other))
        letters = [(name, (), "real") for name in SCALED]
        every = proof.every(letters, given, ("<=", scaled, ("mul", times, most)))
        positive = proof.arithmetic(("<=", number(0), factor), *self.public)
        values, known = plain(factor, least, *self.sides(inside)), [*self.public, *self.seen, found]
        whole = proof.use(every, values, [positive, found], defined=known)
        equal = proof.arithmetic(("==", ("mul", factor, least), bound), *self.public)
        return proof.arithmetic(claim, whole, equal)

    def follows(self, claim: Node, terms: Sequence[Node], show: Show = ProofBuilder.arithmetic) -> int:
        """That something follows of terms on both data sets, by what shows it of numbers.

        Raises:
            UnderivedError: where that is not found.
        """
        known = self.known
        seen = [*dict.fromkeys(folds(self.mechanism, *terms))]
        try:  # where nothing need be known of sums
            return show(self.proof, claim, *self.public, thorough=not seen)
        except UnderivedError:
            if not seen:
                raise
        found = [self.differ(fold) for fold in seen]
        if all(is_linear(self.mechanism, one) for one in terms) or any(fold[0] != "sum" for fold in seen):
            return show(self.proof, claim, *found, *known)
        return Rests(self, seen, found).follows(
            claim, lambda inner, assumed, goal: show(inner, goal, *assumed, *known)
        )


class Rests:
    """What is left of sums without the record that differs, as numbers of which little is known."""

    def __init__(self, known: Sensitivity, seen: list[Fold], found: list[int]) -> None:
        self.known, self.proof, self.folds = known, known.proof, seen
        self.mechanism = known.mechanism
        self.terms = [known.sides(fold.at(known.place)) for fold in seen]
        self.sums = [known.sides(fold) for fold in seen]
        self.rests = [minus(one, term) for (one, _), (term, _) in zip(self.sums, self.terms, strict=True)]
        self.facts = [k for fold in seen for k in self.range(fold)]
        for one, other in combinations(range(len(seen)), 2):
            self.facts += self.order(one, other)
        self.equal = [
            tuple(
                self.proof.arithmetic(("==", side, ("add", rest, term)), differ)
                for side, term in zip(sides, terms, strict=True)
            )
            for sides, rest, terms, differ in zip(self.sums, self.rests, self.terms, found, strict=True)
        ]
        known.seen += [*self.facts, *(k for pair in self.equal for k in pair)]

    def range(self, fold: Fold) -> list[int]:
        """Between which numbers a rest is; nothing where that is not seen."""
        known, ranges, ends = self.known, self.known.ranges(), extremes(self.mechanism, fold.body)
        if ends is None:
            return []
        try:
            every = ranges.between(fold, *ends)
        except UnderivedError:
            return []
        values = [ranges.function(fold), *plain(known.place, fold.first, fold.last, *ends)]
        both = self.proof.applied("rule.rest-range", values, known.known, [every])
        sides = [*parts_of(self.proof.facts[both])[1:]]
        if ends[0] == number(0):
            sides[0] = ("<=", number(0), parts_of(sides[0])[2])
        return [self.proof.arithmetic(side, both) for side in sides]

    def order(self, first: int, second: int) -> list[int]:
        """Of two sums, which has the larger terms; nothing where that is not seen."""
        one, other = self.folds[first], self.folds[second]
        known, proof = self.known, self.proof
        if one[3:] != other[3:]:
            return []
        bodies = [fold.at(("sym", INDEX)) for fold in (one, other)]
        gap = values_of(known.mechanism, minus(*bodies))
        if not gap or (min(gap) < -1e-12 and max(gap) > 1e-12):
            return []
        if max(gap) > 1e-12:
            bodies.reverse()
        small, large = (on(known.mechanism, body, ONE) for body in bodies)
        claim: Node = ("<=", small, large)
        try:
            every = proof.every(
                [(INDEX, (), "integer")], one.inside(), claim, lambda inner, _: inner.arithmetic(claim)
            )
        except UnderivedError:
            return []
        values = [((INDEX,), small), ((INDEX,), large), *plain(known.place, one.first, one.last)]
        return [proof.applied("rule.rest-order", values, known.known, [every])]

    def of_numbers(self, proof: ProofBuilder, assumed: list[int], sides: list[Node], bound: Node) -> None:
        """That two numbers are near: by what is known of records and rests, of these alone at first; or as both are
        between those that come of the least and the largest record.
        """
        claim: Node = ("<=", magnitude(*sides), bound)
        every = [*assumed, *self.known.public, self.known.low, self.known.high]
        plain = [
            k for k in assumed if not free(proof.facts[k]) & {one.name for one in self.mechanism.letters}
        ]
        for facts in (plain, every):
            with suppress(UnderivedError):
                proof.arithmetic(claim, *facts, thorough=False)
                return
        ends = [
            replaced(sides[0], {("sym", "<"): number(end)})
            for end in (self.mechanism.records.low, self.mechanism.records.high) if end is not None
        ]  # fmt: skip
        for least, greatest in permutations(ends, 2):
            with suppress(UnderivedError):
                pairs = [(one, other) for side in sides for one, other in ((least, side), (side, greatest))]
                found = [proof.arithmetic(("<=", *pair), *plain, thorough=False) for pair in pairs]
                gap = proof.arithmetic(("<=", minus(greatest, least), bound), *every, thorough=False)
                proof.arithmetic(claim, *found, gap, thorough=False)
                return
        proof.arithmetic(claim, *every)

    def bounded(self, bound: Node, claim: Node) -> int:
        """That a query of sums differs by at most a bound."""

        def show(inner: ProofBuilder, assumed: list[int], goal: Node) -> None:
            _, one, other = parts_of(parts_of(parts_of(goal)[1])[1])
            self.of_numbers(inner, assumed, [one, parts_of(other)[2]], bound)

        return self.follows(claim, show)

    def follows(self, claim: Node, show: Callable[[ProofBuilder, list[int], Node], object]) -> int:
        """That something is true of sums on both data sets: for all rests and records, then for these."""
        proof, records = self.proof, self.mechanism.records
        second, *others = {column for fold in self.folds for column in columns(self.mechanism, fold)}
        if others:
            raise UnderivedError("numbers of several columns of a record")
        names = [f"the rest {k}" for k in range(len(self.folds))]
        letters: list[Node] = [(name, (), "real") for name in (*"<>", *names)]
        record = {
            side: put(("of", records.name, data, self.known.place, *second), {})
            for side, data in (("<", D), (">", E))
        }  # fmt: skip
        exchange: dict[Node, Node] = {
            **{term: ("sym", side) for side, term in record.items()},
            **{put(rest, {}): ("sym", name) for rest, name in zip(self.rests, names, strict=True)},
        }
        wholes: dict[Node, Node] = {
            put(sides[k], {}): ("add", rest, terms[k]) for k in (0, 1)
            for sides, rest, terms in zip(self.sums, self.rests, self.terms, strict=True)
        }  # fmt: skip
        of_rests = replaced(claim, wholes)
        given = [*self.facts]
        premises = [replaced(proof.facts[k], exchange) for k in given]
        ends = [
            proof.arithmetic(end) for term in record.values()
            for end in (("<=", number(records.low or 0), term), ("<=", term, number(records.high or 0)))
            if records.low is not None
        ]  # fmt: skip
        premises += [replaced(proof.facts[k], exchange) for k in ends]
        general: Node = ("all", tuple(letters), tuple(premises), replaced(of_rests, exchange))

        def prove(inner: ProofBuilder, assumed: list[int]) -> None:
            show(inner, assumed, parts_of(general)[3])

        every = proof.block(general, [*"<>", *names], prove)
        fact = proof.use(every, plain(*record.values(), *self.rests), [*given, *ends])
        for k, sides in enumerate(self.equal):
            for side, equation in enumerate(sides):
                added = put(("add", self.rests[k], self.terms[k][side]), {})
                template = replaced(proof.facts[fact], {added: ("sym", HOLE)})
                fact = proof.rewritten(fact, equation, template, HOLE)
        return fact


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
    if parts[0] in FOLDS or parts == mechanism.records.last or not private(mechanism, query):
        return True
    if parts[0] == "add":
        return all(is_linear(mechanism, part) for part in parts[1:])
    if parts[0] == "mul":
        inside = [part for part in parts[1:] if private(mechanism, part)]
        return len(inside) == 1 and is_linear(mechanism, inside[0])
    return False
