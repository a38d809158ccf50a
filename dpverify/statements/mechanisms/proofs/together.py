"""Rounds of a loop that share a budget, as noise on each number of a vector: what a record costs in all of them.

A round asks for a sum over records. The term of a record is a product of what depends on the number of the round and
of what does not; what rounds cost is bounded by a sum over rounds of the former, for one record of any data set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import product
from typing import Any

from dpverify.proving.checker.theorems.language import Node, free, named, parts_of, put
from dpverify.proving.theorems.building import ProofBuilder, Show, Value
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.finite_models import FAILURES, FloatModel
from dpverify.statements.mechanisms.pages import MechanismOnPage, flat, on, private
from dpverify.statements.mechanisms.proofs.added import BOTH, FEWER, MORE, OneMore, has_more
from dpverify.statements.mechanisms.proofs.composition import Route
from dpverify.statements.mechanisms.proofs.guesses import cancelled, fitted, inside, multiple
from dpverify.statements.mechanisms.proofs.own_sums import is_own
from dpverify.statements.mechanisms.proofs.ranges import (
    DATA,
    ONE,
    OTHER,
    D,
    E,
    Fold,
    magnitude,
    minus,
    number,
    of_data,
    plain,
)
from dpverify.statements.mechanisms.proofs.sensitivity import PLACE, Sensitivity
from dpverify.statements.mechanisms.rounds import LoopOnPage

ROUND, RECORD = "the round", "the record"
NOW, R = ("sym", ROUND), ("sym", RECORD)
EVENT = "the event"
HEADS = {"laplace": "private", "normal": "concentrated"}
"""By law, in which currency rounds are paid for."""
ZERO, UNIT, TWO = number(0), number(1), number(2)


@dataclass(frozen=True)
class Share:
    """In what form a record's terms are paid for: a function of these that is added up over rounds."""

    of: Callable[[Node], Node]
    """Of a term, and of what stands in it beside what depends on the round."""
    times: int
    """How often it is paid for, of what the noise asks for the term alone."""
    ends: tuple[Fraction | None, Fraction | None]
    """Between which numbers terms must be."""


def _itself(term: Node) -> Node:
    return term


def _square(term: Node) -> Node:
    return ("pow", term, TWO)


_POSITIVE, _BITS = (Fraction(0), None), (Fraction(0), Fraction(1))
SHARES = {
    "private": (Share(_itself, 1, _POSITIVE), Share(lambda term: ("abs", term), 1, (None, None))),
    "concentrated": (Share(_itself, 1, _BITS), Share(_square, 1, _POSITIVE), Share(_square, 2, (None, None))),
}
"""By currency, the forms, of which the first that fits is taken."""


class SharedRounds:
    """A loop whose rounds share a budget."""

    def __init__(self, round_: MechanismOnPage, loop: LoopOnPage) -> None:
        """A loop with one round as a mechanism of its own.

        Raises:
            UnderivedError: where its rounds are of another form.
        """
        self.mechanism, self.loop = round_, loop
        draws = round_.of("draw")
        family, *rest = parts_of(draws[0].term)
        if len(draws) != 1 or family not in HEADS or len(rest) != 2:
            raise UnderivedError("no such draw")
        self.head = HEADS[named(family)]
        self.query, self.scale = rest
        head, *parts = parts_of(self.query)
        own = [one for one in parts if private(round_, one)] if head == "add" else []
        self.factors, fold = multiple(round_, own[0] if len(own) == 1 else self.query)
        fixed = {loop.index, *(name for name, _ in loop.start)}
        sums = fold[0] == "sum" and private(round_, fold) and not is_own(round_, fold)
        still = ("pair", self.scale, *self.factors, *parts_of(fold)[3:])
        if not sums or fixed & free(still) or private(round_, self.scale):
            raise UnderivedError("no sum over records, with noise of the same scale for all rounds")
        if loop.index not in free(self.query) or (fixed - {loop.index}) & free(self.query):
            raise UnderivedError("what is asked does not depend on the number of the round alone")
        self.fold = Fold(*parts_of(fold))
        self.factor: Node = ("mul", UNIT, *self.factors)
        body = [*flat(self.at(self.term(R), NOW), "mul")]
        self.varying = _product([one for one in body if ROUND in free(one)])
        self.still = _product([one for one in body if ROUND not in free(one)])

    def at(self, term: Node, round_: Node) -> Node:
        """A term in some round."""
        return put(term, {self.loop.index: ((), round_)})

    def term(self, index: Node) -> Node:
        """What a record adds to what is asked, factors of all aside."""
        return self.fold.at(index)

    def cost(self, one: Node, other: Node, scale: Node) -> Node:
        """What a round costs in which one number is asked for on the data, and another on the neighbor."""
        if self.head == "private":
            return ("mul", magnitude(one, other), ("pow", scale, number(-1)))
        return ("mul", _square(minus(one, other)), ("pow", ("mul", TWO, _square(scale)), number(-1)))

    @property
    def of_round(self) -> Node:
        """The cost of a round on the data and its neighbor."""
        one, other = self.asked(NOW)
        return self.cost(one, other, self.scale)

    def paid(self, share: Share, factor: Node, scale: Node) -> Node:
        """What is paid for 1 of a record's share."""
        if self.head == "private":
            return ("mul", factor, ("pow", scale, number(-1)))
        twice: Node = ("pow", ("mul", TWO, _square(scale)), number(-1))
        times = 1 if self.mechanism.size else share.times
        return ("mul", number(times), _square(factor), twice)

    def share(self, share: Share) -> tuple[Node, Node]:
        """Of a record: what does not depend on the round, and a sum over rounds, by which its share is multiplied."""
        total: Node = ("sum", (ROUND, "integer"), share.of(self.varying), UNIT, self.loop.last)
        return share.of(self.still), put(total, {})

    def most(self, share: Share) -> Node:
        """The largest share of a record: a guess.

        Raises:
            UnderivedError: where nothing is guessed.
        """
        records, model = self.mechanism.records, FloatModel({}, {})
        term: Node = ("mul", *self.share(share))
        shown = free(term) | free(self.loop.last)
        letters = [one for one in self.mechanism.letters if one.number is not None and one.name in shown]
        rounds = [one for one in letters if one.term == self.loop.last]
        found = list[tuple[dict[str, Any], float]]()
        try:
            code = model.code(term)
            for k, place in ((2, 0.25), (3, 0.75), (4, 0.5)):
                env: dict[str, Any] = {**dict.fromkeys(shown, 0.0), RECORD: 1.0}
                env |= {one.name: inside(one, place + 0.01 * n) for n, one in enumerate(letters)}
                env |= {one.name: float(k) for one in rounds}
                ends = [-20.0 if records.low is None else float(records.low)]
                ends.append(20.0 if records.high is None else float(records.high))
                if records.over:
                    rows = [*product((*ends, sum(ends) / 2), repeat=k)]
                else:
                    rows = [
                        (one,) for one in (*ends, *(n for n in (1.0, 2.0, 3.0) if ends[0] <= n <= ends[1]))
                    ]
                tried = [lambda i, row=row: row[int(i[-1]) - 1 if records.over else 0] for row in rows]
                found.append((env, max(float(code({**env, records.name: at})) for at in tried)))
            own = [one.term for one in letters]
            shapes = [UNIT, *own, *map(_square, own), *(_product([x, y]) for x, y in product(own, own))]
            return fitted(found, shapes, model)
        except (*FAILURES, IndexError):
            raise UnderivedError("a record's share has no value on a small data set") from None

    @cached_property
    def guess(self) -> tuple[Share, Node, Node]:
        """The form of shares, the largest share, and what all rounds cost together; costs must be confirmed.

        Raises:
            UnderivedError: where nothing is guessed.
        """
        share = next(one for one in SHARES[self.head] if self.fits(one))
        most = self.most(share)
        sides = 1 if self.mechanism.size else 2
        return share, most, cancelled(("mul", number(sides), self.paid(share, self.factor, self.scale), most))

    @property
    def route(self) -> Route | None:
        """What all rounds cost, in their currency; None where nothing is guessed."""
        try:
            total = self.guess[2]
        except UnderivedError:
            return None
        return Route(self.head, ((total, ZERO) if self.head == "private" else (total,),), together=True)

    def fits(self, share: Share) -> bool:
        """Whether terms of records seem to be of such a form."""
        low, high = share.ends
        if high is not None:
            return parts_of(self.varying)[0] == "indicator" and self.still == UNIT
        bits, records = parts_of(self.varying)[0] == "indicator", self.mechanism.records
        return low is None or bits or (records.low is not None and records.low >= 0)

    def asked(self, round_: Node) -> list[Node]:
        """What is asked for in a round, on the data and the neighbor."""
        return [on(self.mechanism, self.at(self.query, round_), data) for data in (ONE, OTHER)]

    def shows(
        self, proof: ProofBuilder, known: list[int], same: int, history: str, at: Node
    ) -> Iterator[Show]:
        """Shows what theorems assume of rounds that share a budget: of each round, of its cost, and of all costs.

        The last of what is assumed of neighbors has the place `same`; `at` is the number of a history's next round.

        Raises:
            UnderivedError: where that is not found.
        """
        scale = proof.arithmetic(("<", ZERO, self.scale), *known)
        some = proof.arithmetic(("<=", UNIT, self.loop.last), *known)
        if self.head == "private":
            yield lambda claim: self.two_laws(proof, known, scale, claim, history, at)
            yield lambda claim: self.not_negative(proof, known, scale, claim)
        yield lambda claim: Spent(self, [scale, some, *known], same).prove(proof, claim)

    def two_laws(
        self, proof: ProofBuilder, known: list[int], scale: int, claim: Node, history: str, at: Node
    ) -> int:
        """That laws of a round, on the data and the neighbor, are in a ratio that its cost says."""
        said: Value = (("said",), ("of", EVENT, ("sym", "said")))
        values = [*plain(*self.asked(at), self.scale), said]

        def prove(inner: ProofBuilder, _: list[int]) -> None:
            inner.use("lemma.laplace-apart", values, [scale], defined=known)

        return proof.block(claim, [history, ONE, OTHER, EVENT], prove)

    def not_negative(self, proof: ProofBuilder, known: list[int], scale: int, claim: Node) -> int:
        """That no round costs less than nothing."""

        def prove(inner: ProofBuilder, _: list[int]) -> None:
            terms = dict(zip(("<p>", "<q>", "<s>"), (*self.asked(NOW), self.scale), strict=True))
            p, q, s = (("sym", name) for name in terms)
            generally(inner, terms, [("<", ZERO, s)], ("<=", ZERO, self.cost(p, q, s)), [scale], known)

        return proof.block(claim, [ONE, OTHER, ROUND], prove)

    @property
    def letters(self) -> dict[str, Value]:
        """Letters of theorems about rounds that share a budget."""
        if self.head == "private":
            return {"c": ((ONE, OTHER, ROUND), self.of_round)}
        return {"f": ((ROUND, ONE), self.asked(NOW)[0]), "sigma": ((), self.scale)}


class Spent:
    """A proof of how much all rounds cost together."""

    def __init__(self, rounds: SharedRounds, known: list[int], same: int) -> None:
        self.rounds, self.mechanism, self.known, self.same = rounds, rounds.mechanism, known, same
        self.share, self.most, self.total = rounds.guess
        self.paid = rounds.paid(self.share, rounds.factor, rounds.scale)
        self.inside: tuple[Node, ...] = (("<=", UNIT, NOW), ("<=", NOW, rounds.loop.last))
        self.fold = Fold(*parts_of(put(rounds.at(rounds.fold, NOW), {})))

    def of_record(self, term: Node, data: str, index: Node) -> Node:
        """A term of a record, on a data set."""
        return put(on(self.mechanism, term, data), {RECORD: ((), index)})

    def prove(self, proof: ProofBuilder, claim: Node) -> int:
        """That between neighbors all rounds cost at most the guess."""
        bounded = self.record_is_bounded(proof)
        if self.mechanism.size is not None:
            return proof.block(
                claim, [ONE, OTHER], partial(self.by_cases, self.one_more(proof), bounded, claim)
            )

        def of_both(inner: ProofBuilder, given: list[int]) -> None:
            place: Node = ("of", PLACE, D, E)

            def differ(deeper: ProofBuilder) -> int:
                return Sensitivity(self.mechanism, deeper, given[0], self.same, self.same - 1).differ(
                    self.fold
                )

            self.of_sides(inner, claim, bounded, [(ONE, place), (OTHER, place)], differ)

        return proof.block(claim, [ONE, OTHER], of_both)

    def one_more(self, proof: ProofBuilder) -> int:
        """What a sum over records is with a record more, in each round."""
        assert self.mechanism.size is not None
        place: Node = ("of", PLACE, D, E)
        fewer, more = (on(self.mechanism, self.fold, data) for data in (ONE, OTHER))
        added = self.of_record(self.rounds.at(self.rounds.term(R), NOW), OTHER, place)
        whole: Node = (
            "all", (*BOTH, (ROUND, (), "integer")),
            (("neighbors", D, E), has_more(self.mechanism.size, D, E), *self.inside),
            ("==", more, ("add", fewer, added)),
        )  # fmt: skip
        return proof.block(
            whole, [FEWER, MORE, ROUND],
            lambda inner, given: OneMore(self.mechanism, inner, given[:2], self.same).differ(self.fold),
        )  # fmt: skip

    def by_cases(
        self, one_more: int, bounded: int, claim: Node, proof: ProofBuilder, given: list[int]
    ) -> None:
        """The claim, whichever of two neighbors has a record more."""
        assert self.mechanism.size is not None
        _, letters, _, body = parts_of(put(claim, {}))
        names = [named(parts_of(one)[0]) for one in parts_of(letters)]
        body, more = put(body, {names[0]: ((), D), names[1]: ((), E)}), has_more(self.mechanism.size, D, E)

        def by(fewer: Node, with_more: Node, inner: ProofBuilder, assumed: list[int]) -> None:
            premises = [given[0], *assumed]
            if fewer == E:
                other = inner.use(self.same - 3, plain(D, E), premises)
                back = inner.use("rule.neighbors-symmetric", plain(D, E), given, {"mathcalD": DATA})
                premises = [back, other]

            def differ(deeper: ProofBuilder) -> int:
                within = [k for k, fact in enumerate(deeper.facts) if fact in self.inside]
                return deeper.use(one_more, plain(fewer, with_more, NOW), [*premises, *within])

            side = named(with_more[1]), ("of", PLACE, fewer, with_more)
            self.of_sides(inner, claim, bounded, [side], differ)

        sizes = [*of_data(proof, D), *of_data(proof, E)]
        proof.cases(more, body, partial(by, D, E), partial(by, E, D), [*self.known, *sizes])

    def of_sides(
        self, proof: ProofBuilder, claim: Node, bounded: int, sides: Sequence[tuple[str, Node]],
        differ: Callable[[ProofBuilder], int],
    ) -> None:  # fmt: skip
        """The claim by the records in which neighbors differ: one of each, or one that the other does not have."""
        rounds, of = self.rounds, self.share.of
        varying, still = (
            [self.of_record(term, *side) for side in sides] for term in (rounds.varying, rounds.still)
        )
        stills, shares, most = [*map(of, still)], [*map(of, varying)], [self.most] * len(sides)
        if len(sides) == 1:
            stills, shares, most = [*stills, ZERO], [*shares, *shares], [*most, ZERO]
        times: list[Node] = [("mul", self.paid, one) for one in stills]
        below = _sum(("mul", x, y) for x, y in zip(times, shares, strict=True))

        def of_round(inner: ProofBuilder, given: list[int]) -> None:
            facts = [differ(inner), *given, *self.known]
            pairs, order = [*zip(varying, still, strict=True)], sides[0][0] == ONE
            with suppress(UnderivedError):
                self.one_round(inner, facts, pairs, order, below)
                return
            self.one_round(inner, facts, pairs, not order, below)  # what is asked has a minus

        every = proof.every([(ROUND, (), "integer")], self.inside, ("<=", rounds.of_round, below), of_round)
        values: list[Value] = [((ROUND,), one) for one in (rounds.of_round, *shares)]
        values += plain(UNIT, rounds.loop.last, *times)
        found = proof.applied("lemma.sum-below-two", values, self.known, [every])
        sums: list[Node] = [("sum", (ROUND, "integer"), one, UNIT, rounds.loop.last) for one in shares]
        ends = [proof.use(bounded, plain(("sym", data), place), []) for data, place in sides]
        if len(sides) == 1:
            ends.append(proof.arithmetic(("<=", ("mul", ZERO, sums[0]), ZERO), *self.known))
        spent = parts_of(proof.facts[found])[1]
        numbers = [spent, self.paid, *sums, *stills, *most, self.total]
        proof.applied("lemma.paid-for-two", plain(*numbers), self.known)

    def one_round(
        self, proof: ProofBuilder, facts: list[int], pairs: Sequence[tuple[Node, Node]], first: bool, below: Node
    ) -> None:  # fmt: skip
        """That a round costs at most what is paid for the shares of records in it.

        `pairs` has for each record what depends on the round, and what does not; the first is that of the data, or not.
        """
        rounds, (low, high) = self.rounds, self.share.ends
        terms: list[Node] = [("mul", x, y) for x, y in pairs]
        asked, names = (
            rounds.asked(NOW),
            ("<p>", "<q>", "<factor>", "<scale>", "<u>", "<v>")[: 4 + len(terms)],
        )
        p, q, factor, s, *both = (("sym", name) for name in names)
        gap, apart = (minus(*two) if len(two) > 1 else two[0] for two in (terms, both))
        order = slice(None, None, 1 if first else -1)
        values = dict(zip(names, (*asked, rounds.factor, rounds.scale, *terms), strict=True))
        premises: list[Node] = [
            ("==", minus(*(p, q)[order]), ("mul", factor, apart)), ("<", ZERO, s), ("<=", ZERO, factor)
        ]  # fmt: skip
        given = [
            proof.arithmetic(("==", minus(*asked[order]), ("mul", rounds.factor, gap)), *facts), self.known[0],
            proof.arithmetic(("<=", ZERO, rounds.factor), *self.known),
        ]  # fmt: skip
        for one, letter in zip(terms, both, strict=True):
            if low is not None:
                premises.append(("<=", number(low), letter))
                given.append(proof.arithmetic(("<=", number(low), one), *facts))
            if high is not None:
                premises.append(("<=", letter, number(high)))
                given.append(proof.arithmetic(("<=", one, number(high)), *facts))
        paid = rounds.paid(self.share, factor, s)
        cost = rounds.cost(p, q, s)
        dear = _sum(("mul", paid, self.share.of(one)) for one in both)
        found = generally(proof, values, premises, ("<=", cost, dear), given, self.known)
        equal = [self.multiplied(proof, *pair) for pair in pairs]
        proof.arithmetic(("<=", rounds.of_round, below), found, *equal)

    def multiplied(self, proof: ProofBuilder, varying: Node, still: Node) -> int:
        """That the share of a product is the product of shares."""
        x, y, of = ("sym", "<x>"), ("sym", "<y>"), self.share.of
        claim: Node = ("==", of(("mul", x, y)), ("mul", of(y), of(x)))
        return generally(proof, {"<x>": varying, "<y>": still}, [], claim, [], self.known)

    def record_is_bounded(self, proof: ProofBuilder) -> int:
        """That no record has a larger share than the guess."""
        still, total = (on(self.mechanism, one, ONE) for one in self.rounds.share(self.share))
        claim: Node = ("<=", ("mul", still, total), self.most)
        return proof.every(
            [(ONE, (), DATA), (RECORD, (), "integer")], (), claim,
            lambda inner, _: inner.arithmetic(claim, *self.once(inner, Fold(*parts_of(total))), *self.known),
        )  # fmt: skip

    def once(self, proof: ProofBuilder, total: Fold) -> Iterator[int]:
        """Of a sum of indicators that a number is that of the round: that it is at most 1."""
        i, (head, *said) = ("sym", total.name), parts_of(total.body)
        if head == "indicator" and parts_of(said[0])[0] == "==" and i in parts_of(said[0])[1:]:
            (value,) = (one for one in parts_of(said[0])[1:] if one != i)
            if total.name not in free(value) and parts_of(said[0])[2] == i:
                yield proof.use("rule.one-of-several", plain(value, total.first, total.last), [])


def generally(
    proof: ProofBuilder, terms: dict[str, Node], premises: Sequence[Node], claim: Node, given: Sequence[int],
    defined: Sequence[int],
) -> int:  # fmt: skip
    """What follows by arithmetic for all numbers, for some terms."""
    every = proof.every([(name, (), "real") for name in terms], premises, claim)
    return proof.use(every, plain(*terms.values()), given, defined=defined)


def _sum(terms: Iterable[Node]) -> Node:
    first, *others = terms
    return ("add", first, *others) if others else first


def _product(factors: Sequence[Node]) -> Node:
    return UNIT if not factors else factors[0] if len(factors) == 1 else ("mul", *factors)
