"""Mechanisms with a loop: one round as a mechanism of its own, all rounds as a clause, and few rounds one by one.

What was drawn so far is a history, a point of a type of which nothing is assumed: a claim holds whatever is read off
it, whatever a round makes of it, and whenever the loop ends, so also for what the page keeps, puts out, and stops by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from dpverify.proving.checker.theorems.language import Node, named, parts_of, put
from dpverify.proving.theorems.building import ProofBuilder, Show, Value
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.statements.mechanisms.pages import MechanismOnPage, flat, on, private
from dpverify.statements.mechanisms.proofs.composition import (
    MADE,
    NONE,
    Composition,
    OneDraw,
    Route,
    routes,
    weakened,
)
from dpverify.statements.mechanisms.proofs.ranges import (
    DATA,
    HOLE,
    ONE,
    OTHER,
    D,
    E,
    number,
    places,
    plain,
    replaced,
)
from dpverify.statements.mechanisms.proofs.sensitivity import PLACE
from dpverify.statements.mechanisms.proofs.together import SharedRounds
from dpverify.statements.mechanisms.rounds import LoopOnPage
from dpverify.statements.theorems.library import shipped

HISTORY, LISTED = "history", "rows of outputs"
BEGIN, NEXT, RUNS, ENDS, MADE_OF = "the beginning", "the next", "the rounds", "the end", "the output"
EVENT = "the event"
H, U, N, X = ("sym", "the history"), ("sym", "the draws"), ("sym", "the number"), ("sym", "the last")
ROUNDS = {"concentrated": "theorem.concentrated-until", "private": "theorem.pure-until"}
"""By currency, what is known of k rounds, of which some may not be made."""
TOGETHER = {"private": "theorem.pure-together", "concentrated": "theorem.concentrated-together"}
"""By currency, what is known of rounds that share a budget."""
PAID_IN = {("concentrated", "concentrated"), ("renyi-private", "concentrated")}
"""Claims that follow from a currency, beside those of pure and approximate privacy."""
IN_TURN = "theorem.records-in-turn"
"""What is known of rounds that each ask for the record with their own number."""


def loop_of(mechanism: MechanismOnPage) -> LoopClause | None:
    """What is said of a mechanism's loop, if it has one."""
    return None if mechanism.loop is None else LoopClause(mechanism, mechanism.loop)


class LoopClause:
    """A loop as letters and assumptions of a clause."""

    def __init__(self, mechanism: MechanismOnPage, loop: LoopOnPage) -> None:
        self.mechanism, self.loop = mechanism, loop
        draws = mechanism.of("draw")
        said, kind = paired([("sym", one.name) for one in draws]), paired([one.kind for one in draws])
        steps = [one for one in mechanism.steps if one.role in ("query", "draw")]
        last = replace(mechanism.output, term=said, kind=kind)
        self.round = replace(mechanism, loop=None, steps=(*steps, last, *mechanism.of("claim")))
        """One round, which puts out all that it draws."""
        self.before: list[tuple[str, Node]] = [
            *((name, "real") for name, _ in loop.start),
            (loop.index, "integer"),
        ]
        """Letters that a round has before its draws."""
        self.kind: Node = LISTED if loop.listed else mechanism.output.kind
        """The type of the output."""
        asked = [self.round.law, loop.until or number(0)]
        self.in_turn = not (mechanism.size or mechanism.records.over) and all(
            at == ("sym", loop.index) for one in asked for at in places(mechanism, one)
        )
        """Whether each round asks for the record with its own number, and for no other."""
        self.shared: SharedRounds | None = None
        """Where rounds share a budget, what they are together."""
        with suppress(UnderivedError):
            self.shared = None if self.in_turn else SharedRounds(self.round, loop)

    @property
    def types(self) -> tuple[tuple[str, str], ...]:
        """The type of histories and, where the output is that of each round, that of all."""
        return ((HISTORY, "any"), *(((LISTED, "any"),) * self.loop.listed))

    @property
    def letters(self) -> tuple[Node, ...]:
        """What reads histories, and makes them."""
        return (
            (BEGIN, (), HISTORY), (NEXT, (HISTORY, self.round.output.kind), HISTORY),
            (RUNS, ("integer", HISTORY, DATA), ("law", HISTORY)),
            *((f"now {name}", (HISTORY,), kind) for name, kind in self.before),
            (ENDS, (HISTORY,), "formula"), (MADE_OF, (HISTORY,), self.kind),
        )  # fmt: skip

    def round_at(self, history: Node) -> Node:
        """The law of a round's draws, on one data set."""
        return put(self.round.law, {name: ((), ("of", f"now {name}", history)) for name, _ in self.before})

    def rounds(self, number_of: Node, history: Node) -> Node:
        """The law of the history after at most some rounds."""
        return ("of", RUNS, number_of, history, D)

    @property
    def law(self) -> Node:
        """The law of the output, on the data set D."""
        last = self.loop.last
        if private(self.mechanism, last):  # which is said to be wrong, and need not be a whole number
            last = ("floor", last)
        begin = self.rounds(last, ("sym", BEGIN))
        return ("then", (named(H[1]), HISTORY), begin, ("certain", ("of", MADE_OF, H)))

    @property
    def premises(self) -> tuple[Node, ...]:
        """What rounds are: none is left; the loop has ended; or one is made, and then the others."""
        letters: tuple[Node, ...] = (
            (named(N[1]), (), "integer"),
            (named(H[1]), (), HISTORY),
            (ONE, (), DATA),
        )
        more, some = ("add", N, number(1)), ("<=", number(0), N)
        following = self.rounds(N, ("of", NEXT, H, U))
        after: Node = ("==", self.rounds(more, H), (
            "then", (named(U[1]), self.round.output.kind), on(self.mechanism, self.round_at(H), ONE), following,
        ))  # fmt: skip
        none: Node = ("all", letters[1:], (), ("==", self.rounds(number(0), H), ("certain", H)))
        ends, same = ("of", ENDS, H), ("==", self.rounds(more, H), ("certain", H))
        found = none, ("all", letters, (some, ends), same), ("all", letters, (some, ("not", ends)), after)
        if not self.in_turn and self.shared is None:
            return found
        at, last = self.numbered(H), self.mechanism.records.last if self.in_turn else self.loop.last
        counted: Node = ("==", self.numbered(("of", NEXT, H, U)), ("add", at, number(1)))
        each: Node = ("all", ((named(U[1]), (), self.round.output.kind),), (), counted)
        within: Node = ("all", letters[1:2], (("<=", at, last), ("not", ends)), each)
        return (*found, within, ("==", self.numbered(("sym", BEGIN)), number(1)))

    def numbered(self, history: Node) -> Node:
        """The number of the next round."""
        return ("of", f"now {self.loop.index}", history)

    def routes(self) -> Iterator[Route]:
        """The ways in which a claim may follow; what a round costs are guesses, which a proof must confirm."""
        (claim,) = self.round.of("claim")
        head, *numbers = parts_of(claim.term)
        shared = None if self.shared is None else self.shared.route
        if shared is not None and (head == "private" or (head, shared.head) in PAID_IN):
            yield shared
        if self.in_turn and head == "private":
            yield from (route for route in routes(self.round) if route.head == "private")
        shares: list[Node] = [("mul", one, ("pow", self.loop.last, number(-1))) for one in numbers]
        if head == "renyi-private":
            shares[0] = numbers[0]
        claimed = replace(claim, term=(head, *shares))
        one = replace(self.round, steps=(*self.round.steps[:-1], claimed))
        left_out = ("gaussian", "private") if self.in_turn else ("gaussian",)
        found = [route for route in routes(one) if route.head not in left_out]
        approximate = head == "private" and numbers[1] != NONE
        for route in sorted(found, key=lambda route: approximate and route.head == "private"):
            if route.head == "concentrated" or all(one[1] == NONE for one in route.costs):
                yield route

    def prove(
        self, proof: ProofBuilder, given: list[int], route: Route, one_draw: OneDraw, recursion: Sequence[int]
    ) -> None:
        """Prove the claim on a route; `recursion` has the places of what rounds are.

        Raises:
            UnderivedError: where it does not follow.
        """
        whole = Composition(self.round, route, one_draw)
        known = whole.known = proof.plain(given)
        self.has_values(proof, known)
        prove_all = self.together if route.together else self.one_by_one
        found, total = prove_all(proof, given, whole, recursion)
        last, h = self.loop.last, named(H[1])
        first = self.rounds(last, ("sym", BEGIN))
        types = {"mathcalD": DATA, "T": HISTORY, "U": self.kind}
        values = [((ONE,), first), ((h,), ("of", MADE_OF, H)), *plain(*total)]
        found = proof.use(MADE[route.head], values, [found], types, known)
        whole.conclude(proof, found, total, on(self.mechanism, self.law, ONE), self.kind)

    def one_by_one(
        self, proof: ProofBuilder, given: list[int], whole: Composition, recursion: Sequence[int]
    ) -> tuple[int, tuple[Node, ...]]:
        """What rounds cost together, each as much as any other, or one alone; and its proof."""
        route, known = whole.route, whole.known
        head, added = route.head, route.total(0)
        in_turn = self.in_turn and head == "private"
        free_of_delta = all(one[1:] in ((), (NONE,)) for one in route.costs)
        costs = (added[0], *([NONE] if added[1:] else [])) if free_of_delta else added
        letters = tuple((name, (), kind) for name, kind in self.before)
        law = on(self.mechanism, self.round.law, ONE)

        def of_letters(inner: ProofBuilder, _: list[int]) -> None:
            found = whole.behind(inner, 0, given)
            if added != costs:  # a sum of zeros
                types: dict[str, Node] = {"mathcalD": DATA, "T": self.round.output.kind}
                weakened(inner, found, law, costs, types, known)

        every = proof.every(letters, (), (head, (ONE, DATA), law, *costs), of_letters)
        at = on(self.mechanism, self.round_at(H), ONE)
        now = plain(*(("of", f"now {name}", H) for name, _ in self.before))
        private: Node = (head, (ONE, DATA), at, *costs)
        one = proof.every([(H[1], (), HISTORY)], (), private, lambda inner, _: inner.use(every, now, []))
        last = self.loop.last
        terms = {**self.terms(at), "rho": ((), costs[0]), "varepsilon": ((), costs[0])}
        rule, others = IN_TURN if in_turn else ROUNDS[str(head)], list[int | Show]([*recursion[:3], one])
        total: tuple[Node, ...] = (("mul", last, costs[0]), *costs[1:])
        if in_turn:
            total, count = costs, self.mechanism.records.last
            terms |= {"p": ((ONE, OTHER), ("of", PLACE, D, E))}
            terms |= {"delta": ((), costs[1]), "m": ((), count)}
            same = given[-len(recursion) - 1]
            others[3:] = [recursion[3], lambda claim: self.elsewhere(proof, claim, at, same, known), one]
        values, facts = [terms[name] for name in shipped()[rule].names], [*known, *recursion[4:]]
        return proof.applied(rule, values, facts, others, self.round_types), total

    @property
    def round_types(self) -> dict[str, Node]:
        """Types of theorems about rounds."""
        return {"mathcalD": DATA, "H": HISTORY, "U": self.round.output.kind}

    def terms(self, law: Node) -> dict[str, Value]:
        """Letters of theorems about rounds, of which one has a law."""
        h, u, n = (named(one[1]) for one in (H, U, N))
        return {
            "a": ((h, u), ("of", NEXT, H, U)), "B": ((h,), ("of", ENDS, H)), "h": ((), ("sym", BEGIN)),
            "k": ((), self.loop.last), "K": ((h, ONE), law), "N": ((n, h, ONE), self.rounds(N, H)),
            "t": ((h,), self.numbered(H)),
        }  # fmt: skip

    def together(
        self, proof: ProofBuilder, given: list[int], whole: Composition, recursion: Sequence[int]
    ) -> tuple[int, tuple[Node, ...]]:
        """What rounds that share a budget cost together, and its proof."""
        assert self.shared is not None
        route, known = whole.route, whole.known
        total, rule = route.total(0), TOGETHER[route.head]
        shared = {**self.shared.letters, "rho": ((), total[0]), "varepsilon": ((), total[0])}
        terms = {**self.terms(on(self.mechanism, self.round_at(H), ONE)), **shared}
        clause, values = shipped()[rule].clause, [terms[name] for name in shipped()[rule].names]
        types = {name: self.round_types[name] for name, _ in clause.types if name in self.round_types}
        spent = self.shared.shows(proof, known, given[-len(recursion) - 1], named(H[1]), self.numbered(H))
        facts = [*known, *recursion[4:]]
        return proof.applied(rule, values, facts, [*recursion[:4], *spent], types), total

    def elsewhere(self, proof: ProofBuilder, claim: Node, law: Node, same: int, known: list[int]) -> int:
        """That a round that does not ask for the record in which neighbors differ says the same of both."""

        def prove(inner: ProofBuilder, given: list[int]) -> None:
            record = inner.use(same, plain(D, E, self.numbered(H)), given)
            of_event: Node = ("of", EVENT, ("sym", "what is said"))
            chance = put(("chance", ("what is said", self.round.output.kind), law, of_event), {})
            equal = inner.arithmetic(("==", chance, chance), *known)
            in_hole = replaced(chance, {parts_of(inner.facts[record])[1]: ("sym", HOLE)})
            inner.rewritten(equal, record, ("==", chance, in_hole), HOLE)

        return proof.block(claim, [named(H[1]), ONE, OTHER, EVENT], prove)

    def has_values(self, proof: ProofBuilder, known: list[int]) -> None:
        """That what is kept has a value, and the sides of what is compared, whatever was drawn.

        Raises:
            UnderivedError: where that is not seen, or where one of these depends on records.
        """
        sides = [*parts_of(self.loop.until)[1:]] if self.loop.until else []
        kept = [term for _, term in (*self.loop.start, *self.loop.kept)]
        terms = [*kept, *sides, *flat(self.mechanism.output.term, "pair")]
        if any(private(self.mechanism, term) for term in terms):
            raise UnderivedError("what is kept or put out, or by what a loop ends, depends on records")
        seen = [*self.before, *((one.name, one.kind) for one in self.mechanism.of("draw"))]
        letters = [(name, (), kind) for name, kind in seen]
        for term in (one for one in terms if parts_of(one)[0] != "sym"):
            same: Node = ("==", term, term)

            def prove(inner: ProofBuilder, given: list[int], same: Node = same) -> None:
                inner.arithmetic(same, *known, *given)

            proof.every(letters, [("<=", number(1), ("sym", self.loop.index))], same, prove)


def paired(terms: Sequence[Node]) -> Node:
    """Terms or types as pairs within pairs."""
    found = terms[-1]
    for one in terms[-2::-1]:
        found = ("pair", one, found)
    return found
