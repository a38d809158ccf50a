"""Proofs that a query moves little between neighbors, for every number of records.

Neighbors D and E differ in the record with the index k. A sum, product, largest or smallest value over records then
differs in one term, and what is left is arithmetic with that record on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

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
from dpverify.proving.theorems.building import ProofBuilder
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.finite_models import FAILURES, FOLDS, FloatModel
from dpverify.proving.theorems.letters import TheoremLetter
from dpverify.statements.mechanisms.pages import MechanismOnPage, on, private

Show = Callable[..., int]
"""Shows a formula in a proof, from facts by their places; `thorough=False` where that must not take long."""
DATA = "mathcalD"
"""The type of data sets."""
PLACE = "the place"
"""The index of the record in which neighbors differ, a function of both."""
ONE_PLACE = {
    "product": "rule.products-differ", "largest": "rule.largest-differ", "smallest": "rule.smallest-differ",
}  # fmt: skip
GRID, HOLE = 64, "the hole"
ONE, OTHER, INDEX, COLUMN = "the data", "the neighbor", "the index", "the column"
"""Names of bound letters, which no letter of a page has."""
D, E = ("sym", ONE), ("sym", OTHER)


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


def columns(mechanism: MechanismOnPage, body: Node) -> set[tuple[Node, ...]]:
    """The second indices of records in a term; none where records have none."""
    parts = parts_of(body)
    own = {parts[3:]} if parts[0] == "of" and parts[1] == mechanism.records.name else set()
    return own.union(*(columns(mechanism, part) for part, _ in inner(parts)))


class Sensitivity:
    """A proof within which two neighbors and the place of their difference are known."""

    def __init__(
        self,
        mechanism: MechanismOnPage,
        proof: ProofBuilder,
        near: int,
        same: int,
        within: int,
    ) -> None:
        self.mechanism, self.proof = mechanism, proof
        self.near, self.same = near, same
        self.place: Node = ("of", PLACE, D, E)
        both = proof.use(within, [((), D), ((), E)], [near])
        _, low, high = parts_of(proof.facts[both])
        self.low, self.high = proof.arithmetic(low, both), proof.arithmetic(high, both)
        self.public = [
            k
            for k, fact in enumerate(proof.facts)
            if parts_of(fact)[0] in ("<=", "<", "==") and PLACE not in free(fact)
        ]

    def sides(self, term: Node) -> tuple[Node, Node]:
        """A term on the one data set and on the other."""
        return on(self.mechanism, term, ONE), on(self.mechanism, term, OTHER)

    def equal(
        self, proof: ProofBuilder, at: Node, inside: list[int], shown: Iterable[tuple[Node, ...]]
    ) -> list[int]:
        """That the records of an index are the same, in some columns."""
        values = [((), D), ((), E), ((), at)]
        return [
            proof.use(self.same, [*values, *(((), one) for one in column)], [self.near, *inside])
            for column in shown
        ]

    def equal_elsewhere(self, fold: tuple[Node, ...], places: Sequence[Node], moved: set[int]) -> int:
        """That the terms of a fold are the same but at some places."""
        _, letter, body, first, last = fold
        name, i = named(parts_of(letter)[0]), ("sym", INDEX)
        one, other = self.sides(put(body, {name: ((), i)}))
        premises: tuple[Node, ...] = (
            ("<=", first, i), ("<=", i, last), *(("not", ("==", i, place)) for place in places)
        )  # fmt: skip
        whole: Node = ("all", ((INDEX, (), "integer"),), premises, ("==", one, other))

        def prove(proof: ProofBuilder, given: list[int]) -> None:
            known = [*given, self.low, self.high, *self.public]
            equal = list[int]()
            for c in sorted(moved):
                at = shifted(i, c)
                inside = [
                    proof.arithmetic(("<=", number(1), at), *known),
                    proof.arithmetic(("<=", at, self.mechanism.records.last), *known),
                    proof.arithmetic(("not", ("==", at, self.place)), *known),
                ]
                equal += self.equal(proof, at, inside, columns(self.mechanism, body))
            same = proof.arithmetic(("==", one, one), *given, *self.public)
            for k in equal:
                right, record = parts_of(proof.facts[same])[2], parts_of(proof.facts[k])[1]
                template = ("==", one, replaced(right, {record: ("sym", HOLE)}))
                same = proof.rewritten(same, k, template, HOLE)

        return self.proof.block(whole, [INDEX], prove)

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
            return self.proof.use(
                rule, [*functions, ((), self.place), *ends], [*elsewhere_and, *inside], defined=self.public
            )
        if head != "sum" or len(moved) != 2:
            raise UnderivedError("a record in more than two terms of a sum")
        places = [shifted(self.place, -c) for c in sorted(moved)]
        elsewhere = self.equal_elsewhere(fold, places, moved)
        limit, steps = most(self.mechanism, body, name, moved), list[int]()
        positive = self.proof.arithmetic(("<=", number(0), limit))
        for place in places:
            terms = self.sides(put(body, {name: ((), place)}))
            whole: Node = (
                "all",
                (),
                (("<=", first, place), ("<=", place, last)),
                ("<=", magnitude(*terms), limit),
            )

            def prove(
                proof: ProofBuilder, given: list[int], place: Node = place, terms: tuple[Node, Node] = terms
            ) -> None:
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
                proof.arithmetic(("<=", magnitude(*terms), limit), *equal)

            steps.append(self.proof.block(whole, [], prove))
        values = [*functions, *(((), place) for place in places), *ends, ((), limit), ((), limit)]
        return self.proof.use(
            "rule.sums-differ-twice", values, [positive, positive, elsewhere, *steps], defined=self.public
        )

    def between(self, fold: tuple[Node, ...], low: Node, high: Node) -> int:
        """That each term of a fold is between two numbers."""
        return terms_between(self.mechanism, self.proof, fold, low, high, self.public)

    def inside(self, fold: tuple[Node, ...]) -> list[int]:
        """That the place of the difference is among the indices of a fold."""
        known = [self.low, self.high, *self.public]
        return [
            self.proof.arithmetic(("<=", fold[3], self.place), *known),
            self.proof.arithmetic(("<=", self.place, fold[4]), *known),
        ]

    def bounded(self, query: Node, bound: Node) -> int:
        """That a query differs by at most a bound.

        Raises:
            UnderivedError: where that is not found.
        """
        return self.follows(("<=", magnitude(*self.sides(query)), bound), [query])

    def follows(self, claim: Node, terms: Sequence[Node], show: Show = ProofBuilder.arithmetic) -> int:
        """That something follows of terms on both data sets, by what shows it of numbers.

        Raises:
            UnderivedError: where that is not found.
        """
        known = [self.low, self.high, *self.public]
        seen = [*dict.fromkeys(fold for term in terms for fold in folds(self.mechanism, term))]
        try:  # where nothing need be known of sums
            return show(self.proof, claim, *self.public, thorough=not seen)
        except UnderivedError:
            if not seen:
                raise
        found = [self.differ(fold) for fold in seen]
        if all(is_linear(self.mechanism, one) for one in terms) or any(fold[0] != "sum" for fold in seen):
            return show(self.proof, claim, *found, *known)
        return Rests(self, seen, found).follows(claim, show)


class Rests:
    """What is left of sums without the record that differs, as numbers of which little is known."""

    def __init__(self, known: Sensitivity, seen: list[tuple[Node, ...]], found: list[int]) -> None:
        self.known, self.proof, self.folds = known, known.proof, seen
        mechanism, place = known.mechanism, known.place
        self.terms = [known.sides(put(fold[2], {named(parts_of(fold[1])[0]): ((), place)})) for fold in seen]
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
        self.mechanism = mechanism

    def range(self, fold: tuple[Node, ...]) -> list[int]:
        """Between which numbers a rest is; nothing where that is not seen."""
        known = self.known
        ends = extremes(known.mechanism, fold[2])
        if ends is None:
            return []
        try:
            every = known.between(fold, *ends)
        except UnderivedError:
            return []
        function = ((named(parts_of(fold[1])[0]),), on(known.mechanism, fold[2], ONE))
        values = [function, ((), known.place), ((), fold[3]), ((), fold[4]), *(((), end) for end in ends)]
        both = self.proof.use("rule.rest-range", values, [every, *known.inside(fold)], defined=known.public)
        return [self.proof.arithmetic(part, both) for part in parts_of(self.proof.facts[both])[1:]]

    def order(self, first: int, second: int) -> list[int]:
        """Of two sums, which has the larger terms; nothing where that is not seen."""
        one, other = self.folds[first], self.folds[second]
        known, proof = self.known, self.proof
        if one[3:] != other[3:]:
            return []
        bodies = [put(fold[2], {named(parts_of(fold[1])[0]): ((), ("sym", INDEX))}) for fold in (one, other)]
        gap = values_of(known.mechanism, minus(*bodies))
        if not gap or (min(gap) < -1e-12 and max(gap) > 1e-12):
            return []
        if max(gap) > 1e-12:
            bodies.reverse()
        small, large = (on(known.mechanism, body, ONE) for body in bodies)
        i = ("sym", INDEX)
        whole: Node = (
            "all",
            ((INDEX, (), "integer"),),
            (("<=", one[3], i), ("<=", i, one[4])),
            ("<=", small, large),
        )
        try:
            every = proof.block(whole, [INDEX], lambda inner, _: _one(inner, ("<=", small, large)))
        except UnderivedError:
            return []
        values = [((INDEX,), small), ((INDEX,), large), ((), known.place), ((), one[3]), ((), one[4])]
        return [proof.use("rule.rest-order", values, [every, *known.inside(one)], defined=known.public)]

    def follows(self, claim: Node, show: Show) -> int:
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
            known = [*self.known.public, self.known.low, self.known.high]
            show(inner, parts_of(general)[3], *assumed, *known)

        every = proof.block(general, [*"<>", *names], prove)
        values = [*(((), term) for term in record.values()), *(((), rest) for rest in self.rests)]
        fact = proof.use(every, values, [*given, *ends])
        for k, sides in enumerate(self.equal):
            for side, equation in enumerate(sides):
                added = put(("add", self.rests[k], self.terms[k][side]), {})
                template = replaced(proof.facts[fact], {added: ("sym", HOLE)})
                fact = proof.rewritten(fact, equation, template, HOLE)
        return fact


def replaced(node: Node, new: dict[Node, Node]) -> Node:
    """A term with terms in the place of others."""
    if node in new:
        return new[node]
    return tuple(replaced(part, new) for part in node) if isinstance(node, tuple) else node


def terms_between(
    mechanism: MechanismOnPage, proof: ProofBuilder, fold: tuple[Node, ...], low: Node, high: Node,
    public: Sequence[int],
) -> int:  # fmt: skip
    """That each term of a fold is between two numbers, on the data set D."""
    _, letter, body, first, last = fold
    i = ("sym", INDEX)
    term = on(mechanism, put(body, {named(parts_of(letter)[0]): ((), i)}), ONE)
    claim: Node = ("and", ("<=", low, term), ("<=", term, high))
    whole: Node = ("all", ((INDEX, (), "integer"),), (("<=", first, i), ("<=", i, last)), claim)

    def prove(inner: ProofBuilder, given: list[int]) -> None:
        parts = [inner.arithmetic(side, *given, *public) for side in claim[1:]]
        inner.arithmetic(claim, *parts)

    return proof.block(whole, [INDEX], prove)


def may_lack_value(term: Node) -> bool:
    """Whether something in a term is not defined everywhere."""
    parts = parts_of(term)
    return is_partial(parts) or any(may_lack_value(part) for part, _ in inner(parts))


def sum_ranges(
    mechanism: MechanismOnPage, proof: ProofBuilder, query: Node, public: Sequence[int], letters: tuple[Node, ...]
) -> list[int]:  # fmt: skip
    """Between which numbers the sums of a query are on each data set D; nothing where that is not seen."""
    found = list[int]()
    for fold in dict.fromkeys(folds(mechanism, query)):
        ends = extremes(mechanism, fold[2]) if fold[0] == "sum" else None
        if ends is None:
            continue
        term = on(mechanism, fold, ONE)
        times: Node = ("add", ("add", fold[4], ("mul", ("num", "-1"), fold[3])), number(1))
        low, high = (("mul", times, end) for end in ends)
        claim: Node = ("and", ("<=", low, term), ("<=", term, high))

        def prove(
            inner: ProofBuilder, _: list[int], fold: tuple[Node, ...] = fold, ends: tuple[Node, Node] = ends
        ) -> None:
            every = terms_between(mechanism, inner, fold, *ends, public)
            some = inner.arithmetic(("<=", fold[3], ("add", fold[4], number(1))), *public)
            function = ((named(parts_of(fold[1])[0]),), on(mechanism, fold[2], ONE))
            values = [function, ((), fold[3]), ((), fold[4]), *(((), end) for end in ends)]
            inner.use("rule.sum-range", values, [every, some], defined=public)

        with suppress(UnderivedError, ValueError):
            names = [named(parts_of(one)[0]) for one in letters]
            found.append(proof.block(("all", letters, (), claim), names, prove))
    return found


def cancelled(term: Node, root: int = 1) -> Node:
    """A root of a product of positive numbers without what stands above and below; a guess, which a proof confirms."""
    powers = dict[Node, Fraction]()
    for factor, times in _powers(term, Fraction(1, root)):
        powers[factor] = powers.get(factor, Fraction(0)) + times
    value, kept = Fraction(1), list[Node]()
    for factor, times in powers.items():
        if parts_of(factor)[0] == "num" and times.denominator == 1:
            value *= Fraction(named(parts_of(factor)[1])) ** int(times)
        elif times:
            kept.append(factor if times == 1 else ("pow", factor, number(times)))
    if value != 1 or not kept:
        kept.insert(0, number(value))
    return kept[0] if len(kept) == 1 else ("mul", *kept)


def _powers(node: Node, times: Fraction) -> Iterator[tuple[Node, Fraction]]:
    parts = parts_of(node)
    if parts[0] == "mul":
        for part in parts[1:]:
            yield from _powers(part, times)
    elif parts[0] == "pow" and parts_of(parts[2])[0] == "num":
        yield from _powers(parts[1], times * Fraction(named(parts_of(parts[2])[1])))
    elif parts[0] == "num" and (value := Fraction(named(parts[1]))) > 0:
        yield from (
            (number(n), t) for n, t in ((value.numerator, times), (value.denominator, -times)) if n > 1
        )
    else:
        yield node, times


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
    indices = {name for name in free(term) if name[:1] == "#" or name == INDEX}
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


def most(mechanism: MechanismOnPage, body: Node, index: str, moved: set[int]) -> Node:
    """By how much a term of two records differs if one of them does: a guess, which the proof must confirm."""
    records, code = mechanism.records, FloatModel({}, {}).code(body)
    low = 0.0 if records.low is None else float(records.low)
    high = 1.0 if records.high is None else float(records.high)
    others = dict.fromkeys(free(body), 1.0)

    def at(values: dict[int, float]) -> float:
        return float(code({**others, index: 0.0, records.name: lambda args: values[round(args[0])]}))

    found = 0.0
    for one, other, new in product((low, (low + high) / 2, high), repeat=3):
        first, second = sorted(moved)
        before = at({first: one, second: other})
        found = max(
            found, abs(at({first: new, second: other}) - before), abs(at({first: one, second: new}) - before)
        )
    return number(Fraction(found).limit_denominator(1000))


PURE = {"laplace": 1, "proportional": 2}
"""Laws whose noise gives pure privacy, and how often the sensitivity of their query is paid for."""


def cost(mechanism: MechanismOnPage, law: Node, head: str) -> Node:
    """What a draw costs of a budget, by a sensitivity that is a guess, which the proof must confirm.

    Raises:
        UnderivedError: where nothing is guessed.
    """
    name, *parts = parts_of(law)
    if head == "concentrated" and name in PURE:
        return ("mul", ("pow", cost(mechanism, law, "private"), number(2)), number(Fraction(1, 2)))
    if head == "private" and name == "laplace":
        return cancelled(("mul", sensitivity(mechanism, parts[0]), ("pow", parts[1], number(-1))))
    if head == "private" and name == "proportional" and parts_of(parts[1])[0] == "exp":
        return cancelled(("mul", number(2), sensitivity(mechanism, parts_of(parts[1])[1])))
    if head == "concentrated" and name == "normal":
        twice: Node = ("mul", number(2), ("pow", parts[1], number(2)))
        return cancelled(
            ("mul", ("pow", sensitivity(mechanism, parts[0]), number(2)), ("pow", twice, number(-1)))
        )
    raise UnderivedError(f"no sensitivity is guessed for the law `{name}`")


def sensitivity(mechanism: MechanismOnPage, query: Node) -> Node:
    """By how much a query differs between data sets: a guess from small ones, without what is public beside it.

    Raises:
        UnderivedError: where nothing is guessed.
    """
    head, *parts = parts_of(query)
    inside = [part for part in parts if private(mechanism, part)] if head in ("add", "mul") else []
    if len(inside) != 1:
        return _seen(mechanism, query)
    found = sensitivity(mechanism, inside[0])
    if head == "add":
        return found
    others = [part for part in map(parts_of, parts) if part != inside[0]]
    factors = [number(abs(Fraction(named(part[1])))) if part[0] == "num" else part for part in others]
    return cancelled(("mul", found, *factors))


def _seen(mechanism: MechanismOnPage, query: Node) -> Node:
    """By how much a query differs between small data sets: a number times a function of public letters that fits."""
    records, model = mechanism.records, FloatModel({}, {})
    if records.last[0] != "sym":
        raise UnderivedError("a sensitivity is guessed where the number of records is a letter")
    count = named(records.last[1])
    shown = free(query) - {count}
    letters = [one for one in mechanism.letters if one.number is not None and one.name in shown]
    found = list[tuple[dict[str, Any], float]]()
    try:
        code = model.code(query)
        for n, share in ((2, 0.25), (3, 0.75), (4, 0.5)):
            env: dict[str, Any] = {**dict.fromkeys(free(query), 0), count: float(n)}
            env |= {one.name: _inside(one, share + 0.01 * k) for k, one in enumerate(letters)}
            values = [-20.0, 20.0, *(env[one.name] for one in letters)]
            if records.low is not None and records.high is not None:
                values = [float(end) for end in (records.low, (records.low + records.high) / 2, records.high)]
            at = {
                row: float(code({**env, records.name: lambda i, row=row: row[int(i[0]) - 1]}))
                for row in product(dict.fromkeys(values[:4]), repeat=n)
            }
            moved = (abs(at[r] - at[(*r[:k], x, *r[k + 1 :])]) for r in at for k in range(n) for x in values)
            found.append((env, max(moved)))
    except (*FAILURES, IndexError):
        raise UnderivedError("a query has no value on a small data set") from None
    n_term, own = records.last, [one.term for one in letters]
    inverse: Node = ("pow", n_term, number(-1))
    of_count: list[Node] = [number(1), inverse, n_term, ("mul", minus(n_term, number(1)), inverse)]
    of_letters: list[Node] = [number(1), *own, *(("pow", one, number(2)) for one in own)]
    of_letters += [minus(one, other) for one, other in permutations(own, 2)]
    env, value = found[0]
    for shape in (cancelled(("mul", *pair)) for pair in product(of_count, of_letters)):
        at_shape = model.code(shape)
        times = Fraction(value / at_shape(env)).limit_denominator(1000)
        if times > 0 and all(
            math.isclose(float(times) * at_shape(env), value, rel_tol=1e-9) for env, value in found
        ):
            return shape if times == 1 else cancelled(("mul", number(times), shape))
    raise UnderivedError("no sensitivity is seen")


def _inside(letter: TheoremLetter, share: float) -> float:
    """A number of a letter's domain."""
    v: Any = letter.number
    low, high = (None if end is None else float(Fraction(end)) for end in (v.lower, v.upper))
    if low is not None and high is not None:
        found = low + (high - low) * share
    elif high is not None:
        found = high - 2 * share
    else:
        found = 2 * share + (low or 0.0)
    return float(math.ceil(found)) if letter.kind == "integer" else found
