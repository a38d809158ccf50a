"""What draws cost together: one after the other, adaptively, in the currency of the claim or one that gives it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpverify.proving.checker.theorems.language import Node, free, parts_of
from dpverify.proving.theorems.building import ProofBuilder
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.finite_models import FAILURES, FloatModel
from dpverify.statements.mechanisms.pages import MechanismOnPage, MechanismStep, on
from dpverify.statements.mechanisms.proofs.guesses import cancelled, cost
from dpverify.statements.mechanisms.proofs.ranges import DATA, ONE, minus, number, of_each, plain

OneDraw = Callable[[ProofBuilder, MechanismStep, str, "tuple[Node, ...]", list[int]], int]
"""Proves that a draw has a guarantee: its head, and its numbers."""
MADE = {
    "private": "theorem.post-processing", "concentrated": "lemma.made-concentrated", "gaussian": "lemma.made-gaussian",
}  # fmt: skip
"""Of currencies, what is known of all that is made from a draw."""
WEAKER = {
    "private": "theorem.weaker", "concentrated": "lemma.concentrated-weaker", "gaussian": "theorem.gdp-weaker",
}  # fmt: skip
"""What is known of a guarantee with larger numbers."""
SEQUENCE = {
    "private": "lemma.sequence", "concentrated": "lemma.sequence-concentrated", "gaussian": "theorem.gaussian-sequence",
}  # fmt: skip
"""What is known of a draw and what goes on with it."""
NONE = number(0)
CLEAR = 1e-6
"""By how much the logarithm of a delta must be small enough before a proof is sought."""


@dataclass(frozen=True)
class Route:
    """A currency, and what each draw costs in it."""

    head: str
    costs: tuple[tuple[Node, ...], ...]
    together: bool = False
    """Whether that is what all rounds of a loop cost together, not each of them."""

    def total(self, first: int) -> tuple[Node, ...]:
        """What the draws cost together from one on."""
        if first == len(self.costs) - 1:
            return self.costs[first]
        pairs = zip(self.costs[first], self.total(first + 1), strict=True)
        if self.head == "gaussian":
            sums: Iterator[Node] = (("add", *(("pow", one, number(2)) for one in pair)) for pair in pairs)
            return tuple(("pow", one, number(Fraction(1, 2))) for one in sums)
        return tuple(("add", *pair) for pair in pairs)


def routes(mechanism: MechanismOnPage) -> Iterator[Route]:
    """The ways in which a claim may follow, the simplest first; costs are guesses, which a proof must confirm."""
    head, *numbers = parts_of(mechanism.of("claim")[0].term)
    if head == "gaussian":
        costs = [known_cost(mechanism, draw, head) for draw in mechanism.draws]
        budget: Node | None = numbers[0] if len(costs) == 1 else None
        yield from (Route(head, tuple((c,) for c in row)) for row in _shares(costs, budget))
        return
    pure, concentrated = (
        [known_cost(mechanism, draw, c) for draw in mechanism.draws] for c in ("private", "concentrated")
    )
    if head == "private":
        noisy = [k for k, draw in enumerate(mechanism.draws) if parts_of(draw.term)[0] == "normal"]
        if not noisy:
            yield from (Route("private", tuple((c, NONE) for c in row)) for row in _shares(pure, numbers[0]))
        if len(noisy) == 1 and (rest := _without(numbers[0], pure, noisy[0])) is not None:
            row = [(c or NONE, NONE) for c in pure]
            row[noisy[0]] = (rest, numbers[1])
            yield Route("private", tuple(row))
        budget = None
    else:
        budget = concentrated_budget(mechanism)
    yield from (Route("concentrated", tuple((c,) for c in row)) for row in _shares(concentrated, budget))


def concentrated_budget(mechanism: MechanismOnPage) -> Node:
    """Concentrated privacy that gives a claim of it, or of Renyi privacy."""
    head, *numbers = parts_of(mechanism.of("claim")[0].term)
    if head == "renyi-private":
        return cancelled(("mul", numbers[1], ("pow", numbers[0], number(-1))))
    return numbers[0]


def known_cost(mechanism: MechanismOnPage, draw: MechanismStep, head: str) -> Node | None:
    """What a draw costs of a budget, a guess of public letters; None where nothing is guessed."""
    try:
        found = cost(mechanism, draw.term, head)
    except UnderivedError:
        return None
    return found if free(found) <= {one.name for one in mechanism.letters} else None


def _shares(costs: Sequence[Node | None], budget: Node | None) -> Iterator[tuple[Node, ...]]:
    """What each draw may cost: what is guessed; where nothing is, what the others leave of a budget."""
    if len(costs) == 1 and budget is not None:
        yield (budget,)
    if None not in costs:
        yield tuple(one for one in costs if one is not None)
    elif (
        len(costs) > 1
        and budget is not None
        and (rest := _without(budget, costs, costs.index(None))) is not None
    ):
        yield tuple(one or rest for one in costs)


def _without(budget: Node, costs: Sequence[Node | None], k: int) -> Node | None:
    """What is left of a budget for one draw; None where another's cost is not known."""
    for one in (*costs[:k], *costs[k + 1 :]):
        if one is None:
            return None
        budget = minus(budget, one)
    return budget


class Composition:
    """Proves a claim on a route, from what is proved of each draw."""

    def __init__(self, mechanism: MechanismOnPage, route: Route, one_draw: OneDraw) -> None:
        self.mechanism, self.route, self.one_draw = mechanism, route, one_draw
        self.sizes = list[int]()

    def prove(self, proof: ProofBuilder, given: list[int]) -> None:
        """Prove the claim.

        Raises:
            UnderivedError: where it does not follow on this route.
        """
        self.assume(proof, given)
        mechanism, found = self.mechanism, self.behind(proof, 0, given)
        law = on(mechanism, mechanism.law, ONE)
        self.conclude(proof, found, self.route.total(0), law, mechanism.output.kind)

    def assume(self, proof: ProofBuilder, given: list[int]) -> None:
        """Know what is given of letters."""
        self.known = proof.plain(given)
        self.sizes = [k for k in given if of_each(parts_of(proof.facts[k]))]

    def conclude(
        self, proof: ProofBuilder, found: int, total: tuple[Node, ...], of: Node, kind: Node
    ) -> None:
        """Prove the claim of a law from what it costs in the currency of the route."""
        head, *numbers = parts_of(self.mechanism.of("claim")[0].term)
        law = ((ONE,), of)
        types: dict[str, Node] = {"mathcalD": DATA, "T": kind}

        def use(rule: str, *values: Node) -> int:
            """What a rule gives of what is known of the law."""
            return proof.applied(rule, [law, *plain(*values)], self.known, [found], types, lambda: self.sizes)

        if self.route.head == "concentrated" and head == "private":
            epsilon, delta = numbers
            if (order := best_order(total[0], epsilon, delta)) is not None:
                found = use("theorem.concentrated-to-approximate-improved", order, *total, epsilon)
            else:
                found = use("theorem.concentrated-to-approximate", *total, delta)
            total = parts_of(proof.facts[found])[3:]
        elif head == "renyi-private":
            order, bound = numbers
            found = use("rule.concentrated-elim", order, *total)
            use("lemma.renyi-weaker", order, parts_of(proof.facts[found])[4], bound)
            return
        if total != tuple(numbers):
            use(WEAKER[str(head)], *total, *numbers)

    def behind(self, proof: ProofBuilder, k: int, given: list[int]) -> int:
        """That what follows on the first draws has a guarantee."""
        mechanism, head = self.mechanism, self.route.head
        draw, costs = mechanism.draws[k], self.route.costs[k]
        one = self.one_draw(proof, draw, head, costs, given)
        rest = mechanism.law_behind(k + 1)
        if mechanism.law_behind(k) == draw.term:
            return one
        types = {"mathcalD": DATA, "T": draw.kind, "U": mechanism.output.kind}
        first, numbers = ((ONE,), on(mechanism, draw.term, ONE)), plain(*costs)
        if parts_of(rest)[0] == "certain":
            made = ((draw.name,), parts_of(rest)[1])
            values = [first, made, *numbers]
            return proof.applied(MADE[head], values, self.known, [one], types, lambda: self.sizes)
        total = self.route.total(k + 1)
        law = on(mechanism, rest, ONE)
        private: Node = (head, (ONE, DATA), law, *total)
        drawn: Node = (draw.name, (), draw.kind)
        other = proof.every([drawn], (), private, lambda inner, _: self.behind(inner, k + 1, given))
        values = [first, ((draw.name, ONE), law)]
        values += plain(*(one for pair in zip(costs, total, strict=True) for one in pair))
        return proof.applied(SEQUENCE[head], values, self.known, [one, other], types, lambda: self.sizes)


def weakened(
    proof: ProofBuilder, found: int, law: Node, numbers: Sequence[Node], types: dict[str, Node],
    known: Sequence[int], defined: Sequence[int] = (),
) -> int:  # fmt: skip
    """Approximate privacy of a law with numbers that are seen to be at least those that are proved."""
    values = [((ONE,), law), *plain(*parts_of(proof.facts[found])[3:], *numbers)]
    return proof.applied("theorem.weaker", values, known, [found], types, lambda: defined)


def best_order(rho: Node, epsilon: Node, delta: Node) -> Node | None:
    """The order by which concentrated privacy gives the smallest delta; None where that is not of numbers alone."""
    if any(map(free, (rho, epsilon, delta))):
        return None
    try:
        r, e, d = (float(FloatModel({}, {}).code(one)({})) for one in (rho, epsilon, delta))
    except FAILURES:
        return None
    for parts in (1, 4, 16):  # the simplest that will do
        orders = [Fraction(k, parts) for k in range(parts + 1, 200 * parts)]
        logs = [(x - 1) * (x * r - e) - math.log(x - 1) + x * math.log1p(-1 / x) for x in map(float, orders)]
        if d > 0 and min(logs) < math.log(d) - CLEAR:
            return number(orders[logs.index(min(logs))])
    return None
