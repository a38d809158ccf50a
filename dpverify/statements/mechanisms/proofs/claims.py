"""A mechanism's claim as a theorem: what is assumed of neighbors, what the mechanism is, and the proof of the claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from typing import Any

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.language import Node, free, heads, named, parts_of, put
from dpverify.proving.checker.theorems.steps import Clause
from dpverify.proving.theorems.building import ProofBuilder, Show, Value, proof_of
from dpverify.proving.theorems.derivation import UnderivedError, json_of
from dpverify.proving.theorems.letters import bounds
from dpverify.statements.mechanisms.pages import MechanismOnPage, MechanismStep, on
from dpverify.statements.mechanisms.proofs.added import added_bound, added_premises
from dpverify.statements.mechanisms.proofs.choices import (
    ABOVE,
    ANSWER,
    ANSWERS,
    BEGIN,
    ENDS,
    HISTORY,
    NEXT,
    ORDER,
    RUNS,
    ChoiceOnPage,
    H,
    N,
    choice_of,
    in_a_row,
    law_of,
)
from dpverify.statements.mechanisms.proofs.coins import CoinsOnPage, by_either
from dpverify.statements.mechanisms.proofs.composition import Composition, OneDraw, Route, routes, weakened
from dpverify.statements.mechanisms.proofs.guesses import cancelled, sensitivity
from dpverify.statements.mechanisms.proofs.local import LocalProof, has_smooth_scale
from dpverify.statements.mechanisms.proofs.loops import loop_of
from dpverify.statements.mechanisms.proofs.ranges import (
    COLUMN,
    DATA,
    HOLE,
    INDEX,
    ONE,
    OTHER,
    D,
    E,
    Ranges,
    magnitude,
    may_lack_value,
    minus,
    number,
    of_data,
    of_each,
    plain,
    replaced,
)
from dpverify.statements.mechanisms.proofs.samples import (
    SampleLetters,
    amplified,
    law_on_samples,
    on_samples,
    sample_letters,
)
from dpverify.statements.mechanisms.proofs.sensitivity import PLACE, Sensitivity
from dpverify.statements.theorems.library import certificate_of, shipped

SECOND = "the other column"
CHOICES = {
    ("select", "laplace"): "lemma.noisy-max-laplace-scale",
    ("select", "exponential"): "lemma.noisy-max-exponential-scale",
    ("stop", "laplace", "laplace"): "theorem.sparse-vector-scales",
    ("several", "laplace", "laplace"): "theorem.sparse-vector-answers",
}
"""What is known of what is chosen with noises of some families: of candidates, and of the threshold."""


@dataclass(frozen=True)
class MechanismClaim:
    """What a page says, as a clause."""

    clause: Clause
    names: tuple[str, ...]
    """Of its letters."""
    same: int
    """The place of the last premise about neighbors: that records are the same elsewhere."""

    @property
    def within(self) -> int:
        """The place of the premise that the place is one of a record, where neighbors have the same number of them."""
        return self.same - 1


class Clauses(Mapping[str, Clause]):
    """The clauses of the library."""

    def __getitem__(self, id_: str) -> Clause:
        return shipped()[id_].clause

    def __iter__(self) -> Iterator[str]:
        return iter(shipped())

    def __len__(self) -> int:
        return len(shipped())


@dataclass(frozen=True)
class MechanismProof:
    """Whether a claim is derived."""

    certificate: Json | None
    uses: tuple[str, ...]
    reason: str
    """Why it is not."""


def claim_of(mechanism: MechanismOnPage) -> MechanismClaim:
    """A mechanism's claim as a clause: letters, neighbors, and the guarantee of its law."""
    records = mechanism.records
    second: tuple[Node, ...] = (((COLUMN, (), records.over.kind)),) if records.over else ()
    interval: Node = "real"
    if records.low is not None and records.high is not None:
        interval = ("between", str(records.low), str(records.high))
    letters: list[Node] = [one.declared for one in mechanism.letters]
    letters += [(mechanism.size.name, (DATA,), "integer")] if mechanism.size else []
    letters += [(records.name, (DATA, *records.arguments), interval), (PLACE, (DATA, DATA), "integer")]
    index, place = ("sym", INDEX), ("of", PLACE, D, E)
    both, near = ((ONE, (), DATA), (OTHER, (), DATA)), ("neighbors", D, E)
    of_both: Iterator[Node] = (
        ("of", records.name, data, index, *(("sym", COLUMN) for _ in second)) for data in (D, E)
    )
    premises = [*(bound for one in mechanism.letters for bound in bounds(one)), *mechanism.given]
    premises += added_premises(mechanism) if mechanism.size else [
        ("all", both, (near,), ("and", ("<=", number(1), place), ("<=", place, records.last))),
        ("all", (*both, (INDEX, (), "integer"), *second),
         (near, ("<=", number(1), index), ("<=", index, records.last), ("not", ("==", index, place))),
         ("==", *of_both)),
    ]  # fmt: skip
    loop = loop_of(mechanism)
    own = loop or choice_of(mechanism) or (sample_letters(mechanism) if mechanism.sample else None)
    letters += own.letters if own else ()
    further = own.premises if own else ()
    head, *numbers = parts_of(mechanism.of("claim")[0].term)
    sampled = own if isinstance(own, SampleLetters) else None
    law = (
        law_on_samples(mechanism) if sampled else on(mechanism, loop.law if loop else law_of(mechanism), ONE)
    )
    guarantee: Node = (head, (ONE, sampled.data if sampled else DATA), law, *numbers)
    types = [list(one) for one in (*mechanism.types, (DATA, "data"), *(own.types if own else ()))]
    body: Node = ("all", tuple(letters), (*premises, *further), guarantee)
    clause = Clause.read({"types": types, "body": json_of(put(body, {}))})
    names = tuple(named(parts_of(one)[0]) for one in letters)
    return MechanismClaim(clause, names, len(premises) - 1)


def derive_mechanism(mechanism: MechanismOnPage) -> MechanismProof:
    """Derive a mechanism's claim from the theorems about its noise and the sensitivity of its queries."""
    claim, choice = claim_of(mechanism), choice_of(mechanism)
    if mechanism.test is not None:
        try:
            steps = proof_of(
                claim.clause, claim.names, Clauses(),
                lambda proof, given: DrawProof(mechanism, claim, proof, given).local.tested(),
            )  # fmt: skip
            return _confirmed(mechanism, claim, steps)
        except (UnderivedError, ValueError) as error:
            return MechanismProof(None, (), str(error) or type(error).__name__)

    reasons, loop, smooth = list[str](), loop_of(mechanism), has_smooth_scale(mechanism)
    whole_budget = Route("private", (parts_of(mechanism.of("claim")[0].term)[1:],))
    for inside in on_samples(mechanism) if mechanism.sample else (in_a_row(mechanism),):
        for route in [whole_budget] if smooth else loop.routes() if loop else routes(inside):

            def one_draw(
                proof: ProofBuilder, draw: MechanismStep, head: str, numbers: tuple[Node, ...], given: list[int],
                inside: MechanismOnPage = inside,
            ) -> int:  # fmt: skip
                whole = DrawProof(mechanism, claim, proof, given)
                if smooth:
                    return whole.local.smooth(parts_of(draw.term), numbers)
                if choice is not None and draw.name == choice.line.name:
                    return whole.of_choice(choice, draw, head, numbers)
                return replace(whole, mechanism=inside).of_draw(draw, head, numbers)

            whole = Composition(inside, route, one_draw)

            def prove(
                proof: ProofBuilder,
                given: list[int],
                whole: Composition = whole,
                inside: MechanismOnPage = inside,
                one_draw: OneDraw = one_draw,
            ) -> None:
                if loop is not None:
                    loop.prove(proof, given, whole.route, one_draw, given[claim.same + 1 :])
                    return
                for draw in inside.of("draw"):
                    if draw not in inside.draws:
                        DrawProof(inside, claim, proof, given).is_law(draw)
                whole.prove(proof, given)
                if mechanism.sample:
                    amplified(mechanism, inside, proof, given, claim.same)

            try:
                steps = proof_of(claim.clause, claim.names, Clauses(), prove)
                return _confirmed(mechanism, claim, steps)
            except (UnderivedError, ValueError) as error:
                reasons.append(str(error) or type(error).__name__)
    missing = " on samples" * bool(mechanism.sample) or " for such laws"
    reason = reasons[0] if reasons else f"no theorem is known of this guarantee{missing}"
    if mechanism.loop is not None and mechanism.loop.shuffled:
        reason = f"no theorem is known of what random order adds to privacy; of the list in order, {reason}"
    return MechanismProof(None, (), reason)


def _confirmed(mechanism: MechanismOnPage, claim: MechanismClaim, steps: list[Json]) -> MechanismProof:
    """The certificate of a proof, which the checker confirms."""
    certificate, uses = certificate_of(mechanism.id, claim.clause, claim.names, shipped(), steps)
    confirmed = check(certificate)
    if not confirmed.confirmed:
        raise UnderivedError(f"the checker refuses a step: {confirmed.says}")
    return MechanismProof(certificate, uses, "")


@dataclass(frozen=True)
class DrawProof:
    """A proof in which the guarantee of a draw is shown, and the places of what is assumed."""

    mechanism: MechanismOnPage
    claim: MechanismClaim
    proof: ProofBuilder
    given: list[int]

    @property
    def known(self) -> list[int]:
        """What is assumed of public letters."""
        return self.proof.plain(self.given)

    @property
    def local(self) -> LocalProof:
        """The same of claims by what is true near a data set."""
        own = self.claim
        return LocalProof(self.mechanism, self.proof, self.given, own.same, own.within, self.has_values)

    def shown(self, relation: str, left: Node, right: Node) -> int:
        """A comparison of public letters."""
        return self.proof.arithmetic((relation, left, right), *self.known)

    def applied(
        self, rule: str, values: list[Value], types: dict[str, Node], *others: int | Show,
        defined: Callable[[], list[int]] = list,
    ) -> int:  # fmt: skip
        """A rule's claim, as of a proof from what is assumed of public letters."""
        return self.proof.applied(rule, values, self.known, others, types, defined)

    def on_data(self, term: Node) -> Value:
        """A term as a function of the data set."""
        return (ONE,), on(self.mechanism, term, ONE)

    def of_draw(self, draw: MechanismStep, head: str, numbers: Sequence[Node]) -> int:
        """That one draw has a guarantee."""
        law = parts_of(draw.term)
        known: Mapping[tuple[Node, str], Callable[..., int]] = {
            ("laplace", "private"): self.laplace,
            ("proportional", "private"): self.weights,
            ("bernoulli", "private"): self.bernoulli,
            ("normal", "concentrated"): partial(self.normal, "concentrated"),
            ("normal", "gaussian"): partial(self.normal, "gaussian"),
            ("normal", "private"): self.normal_approximate,
        }
        if head == "concentrated" and law[0] != "normal":
            return self.concentrated(
                draw, numbers[0], lambda epsilon: self.of_draw(draw, "private", [epsilon, number(0)])
            )
        if (law[0], head) not in known:
            raise UnderivedError(f"no theorem is known of this guarantee for the law `{law[0]}`")
        return known[law[0], head](law, *numbers)

    def of_choice(
        self, choice: ChoiceOnPage | CoinsOnPage, draw: MechanismStep, head: str, numbers: Sequence[Node]
    ) -> int:
        """That what is chosen, which stands for a draw, has a guarantee."""
        if isinstance(choice, ChoiceOnPage) and choice.compared is not None:
            raise UnderivedError("no theorem is known of a number that was compared, put out")
        if head == "concentrated":
            return self.concentrated(draw, numbers[0], partial(self.pure, choice))
        if head != "private":
            raise UnderivedError("no theorem is known of Gaussian privacy for what is chosen")
        return self.pure(choice, numbers[0])

    def pure(self, choice: ChoiceOnPage | CoinsOnPage, epsilon: Node) -> int:
        """Pure privacy of what is chosen."""
        if isinstance(choice, ChoiceOnPage):
            return self.chosen_in_runs(choice, epsilon) if choice.anew else self.chosen(choice, epsilon)
        values = self.has_values(choice.query, ((COLUMN, (), "integer"),))

        def moves(apart: bool, bound: Node) -> int:
            return self.scores_move(choice.query, "integer", bound, apart)

        return choice.prove(self.proof, epsilon, self.given, self.given[self.claim.same + 1 :], moves, values)

    def chosen(self, choice: ChoiceOnPage, epsilon: Node) -> int:
        """Pure privacy of what is chosen: the candidate with the largest noisy score, or the first above a limit."""
        *below, above = choice.sides
        noise, threshold = above.noise, below[0].noise if below else None
        laws = [parts_of(one.law) if one else ("",) for one in (noise, threshold)]
        heads = tuple(str(law[0]) for law in laws[: len(choice.sides)])
        count = "" if choice.anew else choice.line.count
        rule = CHOICES.get(("several" if count else choice.line.role, *heads))
        each = noise is not None and noise.index != "" and (threshold is None or not threshold.index)
        if rule is None or noise is None or not each:
            what = " and ".join(head or "no" for head in heads[::-1])
            raise UnderivedError(f"no theorem is known of this guarantee for this choice with {what} noise")
        alike, chosen = (
            self.given[self.claim.same + 1 : self.claim.same + 4],
            self.given[self.claim.same + 4 :],
        )
        scale, query = laws[0][-1], put(above.location, {choice.line.index: ((), ("sym", COLUMN))})
        second = ((COLUMN, (), choice.kind),)
        read, other, law = (one[0] for one in noise.letters(choice.kind))
        w, r, x, t = (("sym", name) for name in ("w", COLUMN, "x", "t"))
        types = {"mathcalD": DATA, "W": noise.type} | ({} if choice.kind == "integer" else {"R": choice.kind})
        values: list[Value] = [
            ((ONE, COLUMN), on(self.mechanism, query, ONE)), (("w", COLUMN), ("of", read, w, r)),
            (("w", COLUMN, "x"), ("of", other, w, r, x)), *plain(("sym", law)),
        ]  # fmt: skip
        if threshold is None:
            bound: Node = ("mul", ("mul", epsilon, scale), ("num", "1/2"))
            values += [
                ((COLUMN,), ("of", ORDER, r)),
                ((ONE, "w"), ("of", ANSWER, D, w)),
                *plain(scale, epsilon),
            ]
        else:
            wide = laws[1][-1]
            costs = (
                ("mul", number(2), count or number(1), ("pow", scale, number(-1))),
                ("pow", wide, number(-1)),
            )
            bound = ("mul", epsilon, ("pow", ("add", *costs), number(-1)))
            columns = self.mechanism.records.columns
            answer = (ONE, "w", "t"), ("of", ANSWER, *((H,) if choice.anew else ()), D, w, t)
            above_is: Value = ("o", COLUMN), ("of", ABOVE, ("sym", "o"), r)
            if count:
                types["O"] = ANSWERS
            many = [*plain(columns), above_is, *plain(count)]
            one = plain(choice.start, ("add", columns, number(1)))
            values += [*plain(below[0].location), *(many if count else one), answer]
            values += plain(bound, wide, scale, epsilon)
        return self.applied(
            rule, values, types, lambda _: self.moves(query, bound, second), *chosen, *alike,
            defined=partial(self.has_values, query, second),
        )  # fmt: skip

    def chosen_in_runs(self, choice: ChoiceOnPage, epsilon: Node) -> int:
        """Pure privacy of answers with a threshold that is drawn anew after each: runs that each say one answer."""
        count = choice.line.count
        of_run = cancelled(("mul", epsilon, ("pow", count, number(-1))))
        h, law = named(H[1]), on(self.mechanism, choice.law_of(choice.answer), ONE)
        first, runs = self.given[self.claim.same + 4 : -3], self.given[-3:]

        def run(inner: ProofBuilder, _: list[int]) -> None:
            said = [inner.use(k, plain(H), []) for k in first]
            replace(self, proof=inner, given=[*self.given[: self.claim.same + 4], *said]).chosen(
                choice, of_run
            )

        private: Node = ("private", (ONE, DATA), law, of_run, number(0))
        one = self.proof.every([(h, (), HISTORY)], (), private, run)
        terms: dict[str, Value] = {
            "a": ((h, "u"), ("of", NEXT, H, ("sym", "u"))), "B": ((h,), ("of", ENDS, H)), "h": ((), ("sym", BEGIN)),
            "k": ((), count), "K": ((h, ONE), law), "N": (("the number", h, ONE), ("of", RUNS, N, H, D)),
            "varepsilon": ((), of_run),
        }  # fmt: skip
        types: dict[str, Node] = {"mathcalD": DATA, "H": HISTORY, "U": "integer"}
        values = [terms[name] for name in shipped()["theorem.pure-until"].names]
        found = self.applied("theorem.pure-until", values, types, *runs, one)
        types, law = {"mathcalD": DATA, "T": HISTORY}, on(self.mechanism, choice.law, ONE)
        return weakened(self.proof, found, law, (epsilon, number(0)), types, self.known)

    def concentrated(self, draw: MechanismStep, rho: Node, pure: Callable[[Node], int]) -> int:
        """Concentrated privacy of a draw, from pure privacy."""
        epsilon = cancelled(("mul", number(2), rho), root=2)
        drawn, types = self.on_data(draw.term), {"mathcalD": DATA, "T": draw.kind}
        values = [drawn, *plain(epsilon)]
        found = self.applied("theorem.pure-to-concentrated", values, types, lambda _: pure(epsilon))
        values = [drawn, *plain(parts_of(self.proof.facts[found])[3], rho)]
        return self.applied("rule.equal-concentrated", values, types, found)

    def moves(self, query: Node, bound: Node, second: tuple[Node, ...] = ()) -> int:
        """That a query differs by at most a bound between all neighbors."""
        letters = ((ONE, (), DATA), (OTHER, (), DATA), *second)
        moved = magnitude(on(self.mechanism, query, ONE), on(self.mechanism, query, OTHER))

        def prove(inner: ProofBuilder, given: list[int]) -> None:
            small = cancelled(bound)
            if self.mechanism.size:
                found = added_bound(self.mechanism, inner, given[0], self.claim.same, query, small)
            else:
                found = Sensitivity(
                    self.mechanism, inner, given[0], self.claim.same, self.claim.within
                ).bounded(query, small)
            if small != bound:
                known = [k for k, f in enumerate(inner.facts) if parts_of(f)[0] in ("<=", "<", "==")]
                public = [k for k in known if PLACE not in free(inner.facts[k])]
                equal = inner.arithmetic(("==", small, bound), *public)
                inner.arithmetic(("<=", moved, bound), found, equal)

        return self.proof.every(letters, (("neighbors", D, E),), ("<=", moved, bound), prove)

    def scores_move(self, score: Node, kind: Node, bound: Node, apart: bool) -> int:
        """That the score of each candidate differs by at most a bound; or how much the scores of two are apart."""
        other: Node = put(score, {COLUMN: ((), ("sym", SECOND))})
        letters = ((COLUMN, (), kind), (SECOND, (), kind))
        query = minus(score, other) if apart else score
        return self.moves(query, bound, letters if apart else letters[:1])

    def has_values(self, query: Node, second: tuple[Node, ...] = ()) -> list[int]:
        """That a query has a value on each data set, and between which numbers sums are by which it has one."""
        term = on(self.mechanism, query, ONE)
        letters: tuple[Node, ...] = ((ONE, (), DATA), *second)
        public = self.known
        if (
            self.mechanism.size
            and not may_lack_value(query)
            and heads(query).isdisjoint(("largest", "smallest"))
        ):
            return []
        ranges = (
            Ranges(self.mechanism, self.proof, public).sums(query, letters) if may_lack_value(query) else []
        )

        def prove(inner: ProofBuilder, _: list[int]) -> None:
            found = [inner.use(k, plain(*(("sym", parts_of(one)[0]) for one in letters)), []) for k in ranges]
            inner.arithmetic(("==", term, term), *found, *of_data(inner, D), *public)

        sizes = [k for k in self.given if of_each(parts_of(self.proof.facts[k]))]
        return [*ranges, *sizes, self.proof.every(letters, (), ("==", term, term), prove)]

    def is_law(self, draw: MechanismStep) -> None:
        """That a draw can be made on each data set; asked of draws on which nothing depends."""
        head, *parts = parts_of(draw.term)
        if head not in ("laplace", "normal"):
            raise UnderivedError(f"on a draw nothing depends, and it is not seen to be possible: `{head}`")
        seen = [one for one in self.mechanism.of("draw") if one.name in free(draw.term)]
        letters = ((ONE, (), DATA), *((one.name, (), one.kind) for one in seen))
        query = on(self.mechanism, parts[0], ONE)
        claim: Node = ("and", ("<", number(0), parts[1]), ("==", query, query))
        values = [] if seen else self.has_values(parts[0])

        def prove(inner: ProofBuilder, _: list[int]) -> None:
            found = [inner.use(k, plain(D), []) for k in values]
            inner.arithmetic(claim, inner.arithmetic(claim[1], *self.known), *found)

        self.proof.every(letters, (), claim, prove)

    def laplace(self, law: tuple[Node, ...], epsilon: Node, _: Node) -> int:
        """Laplace noise, by the sensitivity that its scale allows."""
        query, scale = law[1:]
        return self.applied(
            "lemma.laplace-scale", [self.on_data(query), *plain(scale, epsilon)], {"mathcalD": DATA},
            lambda _: self.moves(query, ("mul", epsilon, scale)), defined=partial(self.has_values, query),
        )  # fmt: skip

    def bernoulli(self, law: tuple[Node, ...], *numbers: Node) -> int:
        """A bit: neither its probability nor that of the other bit is much larger on a neighbor."""
        values: list[Value] = [self.on_data(law[1]), *plain(*numbers)]
        types: dict[str, Node] = {"mathcalD": DATA}
        show = repeat(lambda one: self.by_arithmetic(one, [ONE, OTHER]))
        return self.proof.applied("lemma.bernoulli-private", values, self.known, show, types)

    def by_arithmetic(self, claim: Node, names: Sequence[str]) -> int:
        """A formula for all data sets with some names, by arithmetic."""
        _, letters, _, body = parts_of(put(claim, {}))
        old = [named(parts_of(one)[0]) for one in parts_of(letters)]
        new = {one: ((), ("sym", name)) for one, name in zip(old, names, strict=False)}
        return self.proof.block(
            claim, names[: len(old)], lambda inner, _: inner.arithmetic(put(body, new), *self.known)
        )

    def normal(self, head: str, law: tuple[Node, ...], budget: Node) -> int:
        """Normal noise: the budget's bound on the query's sensitivity, then concentrated or Gaussian privacy."""
        query, scale = law[1:]
        if head == "gaussian":
            bound = cancelled(("mul", budget, scale))
            cost: Node = ("mul", bound, ("pow", scale, number(-1)))
        else:
            bound = cancelled(("mul", ("mul", number(2), budget), ("pow", scale, number(2))), root=2)
            twice: Node = ("mul", number(2), ("pow", scale, number(2)))
            cost = ("mul", ("pow", bound, number(2)), ("pow", twice, number(-1)))
        rule = {"gaussian": "theorem.gaussian-gdp", "concentrated": "theorem.gaussian-concentrated"}[head]
        types: dict[str, Node] = {"mathcalD": DATA}
        moves, defined = self.moves(query, bound), self.has_values(query)
        by: dict[str, Any] = {"defined": lambda: defined}
        values = [self.on_data(query), *plain(bound, scale)]
        found = self.applied(rule, values, types, moves, **by)
        values = [self.on_data(law), *plain(cost, budget)]
        of_same = "theorem.gdp-weaker" if head == "gaussian" else "rule.equal-concentrated"
        return self.applied(of_same, values, {**types, "T": "real"}, found, **by)

    def normal_approximate(self, law: tuple[Node, ...], epsilon: Node, delta: Node) -> int:
        """Normal noise and approximate privacy: by the profile where that is small enough, or classically."""
        query, scale = law[1:]
        bound = sensitivity(self.mechanism, query)
        types: dict[str, Node] = {"mathcalD": DATA}
        moves, defined = self.moves(query, bound), self.has_values(query)
        by: dict[str, Any] = {"defined": lambda: defined}
        values = [self.on_data(query), *plain(bound, scale, epsilon)]
        with suppress(UnderivedError):
            return self.applied("lemma.gaussian-scale", [*values, *plain(delta)], types, moves, **by)
        found = self.applied("theorem.gaussian-analytic", values, types, moves, **by)
        ratio = cancelled(("mul", scale, ("pow", bound, number(-1))))
        if not free(ratio) | free(epsilon):  # the noise is a number times the sensitivity
            half, whole = (("pow", ("mul", number(2), one), number(-1)) for one in (scale, ratio))
            far: Node = ("mul", ("mul", epsilon, scale), ("pow", bound, number(-1)))
            for one, other in ((("mul", bound, half), whole), (far, ("mul", epsilon, ratio))):
                same = self.shown("==", one, other)
                found = self.proof.rewritten(
                    found, same, replaced(self.proof.facts[found], {one: ("sym", HOLE)}), HOLE
                )
        profile = parts_of(self.proof.facts[found])[4]
        if profile == delta:
            return found
        types["T"], of = "real", on(self.mechanism, law, ONE)
        known = [*defined, *self.known]
        return weakened(self.proof, found, of, (epsilon, delta), types, self.known, known)

    def weights(self, law: tuple[Node, ...], epsilon: Node, _: Node) -> int:
        """The exponential mechanism: weights that are exponentials of scores."""
        letter, weight = law[1:]
        power, (name, kind) = parts_of(weight), map(named, parts_of(letter))
        if power[0] != "exp":
            raise UnderivedError("the weights are not `e^{...}`")
        query = put(power[1], {name: ((), ("sym", COLUMN))})
        values: list[Value] = [((ONE, COLUMN), on(self.mechanism, query, ONE)), *plain(epsilon)]

        def by(apart: bool) -> int:
            bound: Node = epsilon if apart else ("mul", epsilon, ("num", "1/2"))
            return self.applied(
                "lemma.exponential-weights" + "-apart" * apart, values, {"mathcalD": DATA, "R": kind},
                lambda _: self.scores_move(query, kind, bound, apart),
                defined=partial(self.has_values, query, ((COLUMN, (), kind),)),
            )  # fmt: skip

        return by_either(self.mechanism, by)
