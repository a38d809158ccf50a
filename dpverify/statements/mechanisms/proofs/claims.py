"""A mechanism's claim as a theorem: what is assumed of neighbors, what the mechanism is, and the proof of the claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.language import Node, free, heads, named, parts_of, put
from dpverify.proving.checker.theorems.steps import Clause
from dpverify.proving.theorems.building import ProofBuilder, proof_of
from dpverify.proving.theorems.derivation import UnderivedError
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
from dpverify.statements.mechanisms.proofs.coins import by_either
from dpverify.statements.mechanisms.proofs.composition import Composition, OneDraw, Route, routes
from dpverify.statements.mechanisms.proofs.guesses import cancelled, sensitivity
from dpverify.statements.mechanisms.proofs.local import LocalProof, has_smooth_scale, premises_of
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
    magnitude,
    may_lack_value,
    minus,
    number,
    of_data,
    of_each,
    replaced,
    sum_ranges,
)
from dpverify.statements.mechanisms.proofs.samples import (
    SampleLetters,
    amplified,
    law_on_samples,
    on_samples,
    sample_letters,
)
from dpverify.statements.mechanisms.proofs.sensitivity import PLACE, Sensitivity
from dpverify.statements.theorems.library import clause_json, shipped
from dpverify.statements.theorems.pages import as_lists

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
    clause = Clause.read({"types": types, "body": as_lists(put(body, {}))})
    names = tuple(named(parts_of(one)[0]) for one in letters)
    return MechanismClaim(clause, names, len(premises) - 1)


def derive_mechanism(mechanism: MechanismOnPage) -> MechanismProof:
    """Derive a mechanism's claim from the theorems about its noise and the sensitivity of its queries."""
    claim = claim_of(mechanism)

    choice = choice_of(mechanism)

    def pure(proof: ProofBuilder, epsilon: Node, given: list[int]) -> int:
        """Pure privacy of what is chosen."""
        if isinstance(choice, ChoiceOnPage):
            by = _chosen_in_runs if choice.anew else _chosen
            return by(mechanism, claim, proof, choice, epsilon, given)
        assert choice is not None
        values = _has_values(mechanism, proof, choice.query, given, ((COLUMN, (), "integer"),))

        def moves(apart: bool, bound: Node) -> int:
            return _scores_move(mechanism, claim, proof, choice.query, "integer", bound, apart)

        return choice.prove(proof, epsilon, given, given[claim.same + 1 :], moves, values)

    def chosen(
        proof: ProofBuilder, draw: MechanismStep, head: str, numbers: tuple[Node, ...], given: list[int]
    ) -> int:
        if isinstance(choice, ChoiceOnPage) and choice.compared is not None:
            raise UnderivedError("no theorem is known of a number that was compared, put out")
        if head == "concentrated":
            law = on(mechanism, draw.term, ONE)
            return _concentrated(
                proof, law, draw.kind, numbers[0], given, lambda one: pure(proof, one, given)
            )
        if head != "private":
            raise UnderivedError("no theorem is known of Gaussian privacy for what is chosen")
        return pure(proof, numbers[0], given)

    def local(proof: ProofBuilder, given: list[int]) -> LocalProof:
        return LocalProof(
            mechanism, proof, given, claim.same, claim.within,
            lambda query: _has_values(mechanism, proof, query, given),
        )  # fmt: skip

    if mechanism.test is not None:
        try:
            steps = proof_of(
                claim.clause, claim.names, Clauses(), lambda proof, given: _do(local(proof, given).tested())
            )
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
                if smooth:
                    return local(proof, given).smooth(parts_of(draw.term), numbers)
                if choice is not None and draw.name == choice.line.name:
                    return chosen(proof, draw, head, numbers, given)
                return _one_draw(inside, claim, proof, draw, head, [*numbers], given)

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
                        _is_law(inside, proof, draw, given)
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
    uses = tuple(sorted(_used(steps)))
    clause = {"types": [list(one) for one in claim.clause.types], "body": as_lists(claim.clause.body)}
    certificate = {
        "version": 1, "theorem": mechanism.id, "clause": clause, "letters": [*claim.names],
        "library": {id_: clause_json(shipped()[id_]) for id_ in uses}, "steps": steps,
    }  # fmt: skip
    confirmed = check(certificate)
    if not confirmed.confirmed:
        raise UnderivedError(f"the checker refuses a step: {confirmed.says}")
    return MechanismProof(certificate, uses, "")


def _do(_: int) -> None:
    """Nothing more."""


def _used(steps: list[Mapping[str, Json]]) -> set[str]:
    found = {one["of"] for one in steps if one["step"] == "use" and isinstance(one["of"], str)}
    return found.union(*(_used(one["steps"]) for one in steps if one["step"] == "block"))


_OneDraw: TypeAlias = (
    "Callable[[MechanismOnPage, MechanismClaim, ProofBuilder, tuple[Node, ...], list[Node], list[int]], int]"
)


def _one_draw(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, draw: MechanismStep, head: str,
    numbers: list[Node], given: list[int],
) -> int:  # fmt: skip
    """That one draw has a guarantee."""
    law = parts_of(draw.term)
    known: Mapping[tuple[Node, str], _OneDraw] = {
        ("laplace", "private"): _laplace,
        ("proportional", "private"): _weights,
        ("bernoulli", "private"): _bernoulli,
        ("normal", "concentrated"): partial(_normal, "concentrated"),
        ("normal", "gaussian"): partial(_normal, "gaussian"),
        ("normal", "private"): _normal_approximate,
    }
    if head == "concentrated" and law[0] != "normal":

        def pure(epsilon: Node) -> int:
            return _one_draw(mechanism, claim, proof, draw, "private", [epsilon, number(0)], given)

        return _concentrated(proof, on(mechanism, draw.term, ONE), draw.kind, numbers[0], given, pure)
    if (law[0], head) not in known:
        raise UnderivedError(f"no theorem is known of this guarantee for the law `{law[0]}`")
    return known[law[0], head](mechanism, claim, proof, law, numbers, given)


def _chosen(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, choice: ChoiceOnPage, epsilon: Node,
    given: list[int],
) -> int:  # fmt: skip
    """Pure privacy of what is chosen: the candidate with the largest noisy score, or the first above a threshold."""
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
    known = [k for k in given if parts_of(proof.facts[k])[0] != "all"]
    alike, chosen = given[claim.same + 1 : claim.same + 4], given[claim.same + 4 :]
    scale, query = laws[0][-1], put(above.location, {choice.line.index: ((), ("sym", COLUMN))})
    second = ((COLUMN, (), choice.kind),)
    read, other, law = (one[0] for one in noise.letters(choice.kind))
    w, r, x, t = (("sym", name) for name in ("w", COLUMN, "x", "t"))
    types = {"mathcalD": DATA, "W": noise.type} | ({} if choice.kind == "integer" else {"R": choice.kind})
    values: list[tuple[tuple[str, ...], Node]] = [
        ((ONE, COLUMN), on(mechanism, query, ONE)), (("w", COLUMN), ("of", read, w, r)),
        (("w", COLUMN, "x"), ("of", other, w, r, x)), ((), ("sym", law)),
    ]  # fmt: skip
    if threshold is None:
        bound: Node = ("mul", ("mul", epsilon, scale), ("num", "1/2"))
        signs = [proof.arithmetic(("<", number(0), one), *known) for one in (scale, epsilon)]
        values += [
            ((COLUMN,), ("of", ORDER, r)),
            ((ONE, "w"), ("of", ANSWER, D, w)),
            ((), scale),
            ((), epsilon),
        ]
    else:
        wide = laws[1][-1]
        costs = ("mul", number(2), count or number(1), ("pow", scale, number(-1))), ("pow", wide, number(-1))
        bound = ("mul", epsilon, ("pow", ("add", *costs), number(-1)))
        signs = [proof.arithmetic(("<", number(0), one), *known) for one in (bound, wide, scale)]
        columns = mechanism.records.columns
        answer = (ONE, "w", "t"), ("of", ANSWER, *((H,) if choice.anew else ()), D, w, t)
        values.append(((), below[0].location))
        if count:
            types["O"] = ANSWERS
            signs.insert(0, proof.arithmetic(("<=", number(1), columns), *known))
            values += [((), columns), (("o", COLUMN), ("of", ABOVE, ("sym", "o"), r)), ((), count), answer]
        else:
            values += [((), choice.start), ((), ("add", columns, number(1))), answer]
        values += [((), bound), ((), wide), ((), scale), ((), epsilon)]
    moves = [_moves(mechanism, claim, proof, query, bound, second)]
    if threshold is not None:
        of_query: Node = ("mul", ("mul", number(2), bound), ("pow", scale, number(-1)))
        shares = [
            ("mul", of_query, count) if count else of_query,
            ("mul", bound, ("pow", wide, number(-1))),
        ]
        moves.append(proof.arithmetic(("<=", ("add", *shares), epsilon), *known))
    defined = [*_has_values(mechanism, proof, query, given, second), *known]
    return proof.use(rule, values, [*signs, *moves, *chosen, *alike], types, defined)


def _chosen_in_runs(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, choice: ChoiceOnPage, epsilon: Node,
    given: list[int],
) -> int:  # fmt: skip
    """Pure privacy of answers with a threshold that is drawn anew after each: runs that each say one answer."""
    known, count = [k for k in given if parts_of(proof.facts[k])[0] != "all"], choice.line.count
    of_run = cancelled(("mul", epsilon, ("pow", count, number(-1))))
    h, law = named(H[1]), on(mechanism, choice.law_of(choice.answer), ONE)
    first, runs = given[claim.same + 4 : -3], given[-3:]

    def run(inner: ProofBuilder, _: list[int]) -> None:
        said = [inner.use(k, [((), H)], []) for k in first]
        _chosen(mechanism, claim, inner, choice, of_run, [*given[: claim.same + 4], *said])

    private: Node = ("private", (ONE, DATA), law, of_run, number(0))
    one = proof.block(("all", ((h, (), HISTORY),), (), private), [h], run)
    terms: dict[str, tuple[tuple[str, ...], Node]] = {
        "a": ((h, "u"), ("of", NEXT, H, ("sym", "u"))), "B": ((h,), ("of", ENDS, H)), "h": ((), ("sym", BEGIN)),
        "k": ((), count), "K": ((h, ONE), law), "N": (("the number", h, ONE), ("of", RUNS, N, H, D)),
        "varepsilon": ((), of_run),
    }  # fmt: skip
    signs = [proof.arithmetic(("<=", number(0), term), *known) for term in (of_run, count)]
    types: dict[str, Node] = {"mathcalD": DATA, "H": HISTORY, "U": "integer"}
    values = [terms[name] for name in shipped()["theorem.pure-until"].names]
    found = proof.use("theorem.pure-until", values, [*signs, *runs, one], types, known)
    total: Node = ("mul", count, of_run)
    within = [proof.arithmetic(("<=", *pair), *known) for pair in ((total, epsilon), (number(0), number(0)))]
    numbers = [((), term) for term in (total, number(0), epsilon, number(0))]
    types = {"mathcalD": DATA, "T": HISTORY}
    return proof.use(
        "theorem.weaker", [((ONE,), on(mechanism, choice.law, ONE)), *numbers], [found, *within], types, known
    )


def _concentrated(
    proof: ProofBuilder, law: Node, kind: Node, rho: Node, given: list[int], pure: Callable[[Node], int]
) -> int:
    """Concentrated privacy of a law, from pure privacy."""
    known = [k for k in given if parts_of(proof.facts[k])[0] != "all"]
    epsilon = cancelled(("mul", number(2), rho), root=2)
    positive = proof.arithmetic(("<", number(0), epsilon), *known)
    drawn, types = ((ONE,), law), {"mathcalD": DATA, "T": kind}
    premises = [positive, pure(epsilon)]
    found = proof.use("theorem.pure-to-concentrated", [drawn, ((), epsilon)], premises, types, known)
    half = parts_of(proof.facts[found])[3]
    equal = proof.arithmetic(("==", half, rho), *known)
    return proof.use("rule.equal-concentrated", [drawn, ((), half), ((), rho)], [found, equal], types, known)


def _moves(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, query: Node, bound: Node,
    second: tuple[Node, ...] = (),
) -> int:  # fmt: skip
    """That a query differs by at most a bound between all neighbors."""
    letters = ((ONE, (), DATA), (OTHER, (), DATA), *second)
    names = [named(parts_of(one)[0]) for one in letters]
    one, other = on(mechanism, query, ONE), on(mechanism, query, OTHER)
    whole: Node = ("all", letters, (("neighbors", D, E),), ("<=", magnitude(one, other), bound))

    def prove(inner: ProofBuilder, given: list[int]) -> None:
        small = cancelled(bound)
        if mechanism.size:
            found = added_bound(mechanism, inner, given[0], claim.same, query, small)
        else:
            found = Sensitivity(mechanism, inner, given[0], claim.same, claim.within).bounded(query, small)
        if small != bound:
            known = [k for k, f in enumerate(inner.facts) if parts_of(f)[0] in ("<=", "<", "==")]
            public = [k for k in known if PLACE not in free(inner.facts[k])]
            equal = inner.arithmetic(("==", small, bound), *public)
            inner.arithmetic(("<=", magnitude(one, other), bound), found, equal)

    return proof.block(whole, names, prove)


def _scores_move(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, score: Node, kind: Node, bound: Node,
    apart: bool,
) -> int:  # fmt: skip
    """That the score of each candidate differs by at most a bound; or how much the scores of two are apart."""
    other: Node = put(score, {COLUMN: ((), ("sym", SECOND))})
    letters = ((COLUMN, (), kind), (SECOND, (), kind))
    query = minus(score, other) if apart else score
    return _moves(mechanism, claim, proof, query, bound, letters if apart else letters[:1])


def _has_values(
    mechanism: MechanismOnPage,
    proof: ProofBuilder,
    query: Node,
    given: list[int],
    second: tuple[Node, ...] = (),
) -> list[int]:
    """That a query has a value on each data set, and between which numbers sums are by which it has one."""
    term = on(mechanism, query, ONE)
    letters = ((ONE, (), DATA), *second)
    names = [named(parts_of(one)[0]) for one in letters]
    public = [k for k in given if parts_of(proof.facts[k])[0] != "all"]
    if mechanism.size and not may_lack_value(query) and heads(query).isdisjoint(("largest", "smallest")):
        return []
    ranges = sum_ranges(mechanism, proof, query, public, letters) if may_lack_value(query) else []

    def prove(inner: ProofBuilder, _: list[int]) -> None:
        found = [inner.use(k, [((), ("sym", name)) for name in names], []) for k in ranges]
        inner.arithmetic(("==", term, term), *found, *of_data(inner, D), *public)

    sizes = [k for k in given if of_each(parts_of(proof.facts[k]))]
    return [*ranges, *sizes, proof.block(("all", letters, (), ("==", term, term)), names, prove)]


def _is_law(mechanism: MechanismOnPage, proof: ProofBuilder, draw: MechanismStep, given: list[int]) -> None:
    """That a draw can be made on each data set; asked of draws on which nothing depends."""
    head, *parts = parts_of(draw.term)
    if head not in ("laplace", "normal"):
        raise UnderivedError(f"on a draw nothing depends, and it is not seen to be possible: `{head}`")
    seen = [one for one in mechanism.of("draw") if one.name in free(draw.term)]
    letters = ((ONE, (), DATA), *((one.name, (), one.kind) for one in seen))
    query = on(mechanism, parts[0], ONE)
    claim: Node = ("and", ("<", number(0), parts[1]), ("==", query, query))
    values = [] if seen else _has_values(mechanism, proof, parts[0], given)

    def prove(inner: ProofBuilder, _: list[int]) -> None:
        known = [k for k in given if parts_of(proof.facts[k])[0] != "all"]
        found = [inner.use(k, [((), D)], []) for k in values]
        inner.arithmetic(claim, inner.arithmetic(claim[1], *known), *found)

    proof.block(("all", letters, (), claim), [named(parts_of(one)[0]) for one in letters], prove)


def _laplace(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, law: tuple[Node, ...], numbers: list[Node],
    given: list[int],
) -> int:  # fmt: skip
    _, query, scale = law
    epsilon, _ = numbers
    known = [k for k in given if parts_of(proof.facts[k])[0] != "all"]
    bound: Node = ("mul", epsilon, scale)
    positive = proof.arithmetic(("<", number(0), scale), *known)
    not_negative = proof.arithmetic(("<=", number(0), epsilon), *known)
    moves = _moves(mechanism, claim, proof, query, bound)
    values = [((ONE,), on(mechanism, query, ONE)), ((), scale), ((), epsilon)]
    defined = [*_has_values(mechanism, proof, query, given), *known]
    return proof.use(
        "lemma.laplace-scale", values, [positive, not_negative, moves], {"mathcalD": DATA}, defined
    )


def _bernoulli(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, law: tuple[Node, ...], numbers: list[Node],
    given: list[int],
) -> int:  # fmt: skip
    """A bit: neither its probability nor that of the other bit is much larger on a neighbor."""
    known = [k for k in given if parts_of(proof.facts[k])[0] != "all"]
    values: list[tuple[tuple[str, ...], Node]] = [
        ((ONE,), on(mechanism, law[1], ONE)),
        *(((), one) for one in numbers),
    ]
    types: dict[str, Node] = {"mathcalD": DATA}
    premises = list[int]()
    for one in premises_of("lemma.bernoulli-private", values, types):
        names = [ONE, OTHER] if parts_of(one)[0] == "all" else []
        premises.append(_by_arithmetic(proof, one, names, known))
    return proof.use("lemma.bernoulli-private", values, premises, types, known)


def _by_arithmetic(proof: ProofBuilder, claim: Node, names: Sequence[str], known: list[int]) -> int:
    """A formula, or one for all data sets with some names, by arithmetic."""
    if parts_of(claim)[0] != "all":
        return proof.arithmetic(claim, *known)
    _, letters, _, body = parts_of(put(claim, {}))
    new = {
        named(parts_of(x)[0]): ((), ("sym", name)) for x, name in zip(parts_of(letters), names, strict=False)
    }

    def prove(inner: ProofBuilder, _: list[int]) -> None:
        inner.arithmetic(put(body, new), *known)

    return proof.block(claim, names[: len(parts_of(letters))], prove)


def _normal(
    head: str, mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, law: tuple[Node, ...],
    numbers: list[Node], given: list[int],
) -> int:  # fmt: skip
    """Normal noise: the budget's bound on the query's sensitivity, then concentrated or Gaussian privacy."""
    _, query, scale = law
    (budget,) = numbers
    known = [k for k in given if parts_of(proof.facts[k])[0] != "all"]
    if head == "gaussian":
        bound = cancelled(("mul", budget, scale))
        cost: Node = ("mul", bound, ("pow", scale, number(-1)))
    else:
        bound = cancelled(("mul", ("mul", number(2), budget), ("pow", scale, number(2))), root=2)
        twice: Node = ("mul", number(2), ("pow", scale, number(2)))
        cost = ("mul", ("pow", bound, number(2)), ("pow", twice, number(-1)))
    rule = {"gaussian": "theorem.gaussian-gdp", "concentrated": "theorem.gaussian-concentrated"}[head]
    types, values, premises, defined = _normal_moves(mechanism, claim, proof, query, scale, bound, given)
    found = proof.use(rule, values, premises, types, defined)
    drawn = ((ONE,), on(mechanism, law, ONE))
    types["T"] = "real"
    if head == "gaussian":
        both = [proof.arithmetic(("<", number(0), one), *known) for one in (cost, budget)]
        within = proof.arithmetic(("<=", cost, budget), *known)
        values = [drawn, ((), cost), ((), budget)]
        return proof.use("theorem.gdp-weaker", values, [*both, found, within], types, defined)
    equal = proof.arithmetic(("==", cost, budget), *known)
    return proof.use(
        "rule.equal-concentrated", [drawn, ((), cost), ((), budget)], [found, equal], types, defined
    )


_Value: TypeAlias = "tuple[tuple[str, ...], Node]"


def _normal_moves(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, query: Node, scale: Node, bound: Node,
    given: list[int],
) -> tuple[dict[str, Node], list[_Value], list[int], list[int]]:  # fmt: skip
    """What theorems about normal noise ask of a query and its sensitivity."""
    known = [k for k in given if parts_of(proof.facts[k])[0] != "all"]
    positive = [proof.arithmetic(("<", number(0), one), *known) for one in (bound, scale)]
    moves = _moves(mechanism, claim, proof, query, bound)
    values: list[_Value] = [((ONE,), on(mechanism, query, ONE)), ((), bound), ((), scale)]
    defined = [*_has_values(mechanism, proof, query, given), *known]
    return {"mathcalD": DATA}, values, [*positive, moves], defined


def _normal_approximate(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, law: tuple[Node, ...], numbers: list[Node],
    given: list[int],
) -> int:  # fmt: skip
    """Normal noise and approximate privacy: by the profile where that is seen to be small enough, or classically."""
    _, query, scale = law
    epsilon, delta = numbers
    known = [k for k in given if parts_of(proof.facts[k])[0] != "all"]
    bound = sensitivity(mechanism, query)
    types, values, (*positive, moves), defined = _normal_moves(
        mechanism, claim, proof, query, scale, bound, given
    )
    values.append(((), epsilon))
    with suppress(UnderivedError):
        inside = [proof.arithmetic(end, *known) for end in (
            ("<", number(0), epsilon), ("<=", epsilon, number(1)), ("<", number(0), delta),
            ("<=", delta, number(Fraction(3, 4))),
        )]  # fmt: skip
        level: Node = ("log", ("mul", number(5), ("pow", ("mul", number(4), delta), number(-1))))
        times: Node = ("pow", ("mul", number(2), level), number(Fraction(1, 2)))
        within = proof.arithmetic(("<=", ("mul", times, bound), ("mul", epsilon, scale)), *known)
        classical = [*positive, *inside, moves, within]
        return proof.use("lemma.gaussian-scale", [*values, ((), delta)], classical, types, defined)
    not_negative = proof.arithmetic(("<=", number(0), epsilon), *known)
    found = proof.use("theorem.gaussian-analytic", values, [*positive, not_negative, moves], types, defined)
    ratio = cancelled(("mul", scale, ("pow", bound, number(-1))))
    if not free(ratio) | free(epsilon):  # the noise is a number times the sensitivity
        half, whole = (("pow", ("mul", number(2), one), number(-1)) for one in (scale, ratio))
        far: Node = ("mul", ("mul", epsilon, scale), ("pow", bound, number(-1)))
        for one, other in ((("mul", bound, half), whole), (far, ("mul", epsilon, ratio))):
            same = proof.arithmetic(("==", one, other), *known)
            found = proof.rewritten(found, same, replaced(proof.facts[found], {one: ("sym", HOLE)}), HOLE)
    profile = parts_of(proof.facts[found])[4]
    if profile == delta:
        return found
    equal = proof.arithmetic(("<=", epsilon, epsilon), *known)
    within = proof.arithmetic(("<=", profile, delta), *known)
    values = [((ONE,), on(mechanism, law, ONE)), *(((), one) for one in (epsilon, profile, epsilon, delta))]
    return proof.use("theorem.weaker", values, [found, equal, within], {**types, "T": "real"}, defined)


def _weights(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, law: tuple[Node, ...], numbers: list[Node],
    given: list[int],
) -> int:  # fmt: skip
    letter, weight = law[1:]
    power, (name, kind) = parts_of(weight), map(named, parts_of(letter))
    if power[0] != "exp":
        raise UnderivedError("the weights are not `e^{...}`")
    epsilon, _ = numbers
    known = [k for k in given if parts_of(proof.facts[k])[0] != "all"]
    not_negative = proof.arithmetic(("<=", number(0), epsilon), *known)
    query = put(power[1], {name: ((), ("sym", COLUMN))})
    values = [((ONE, COLUMN), on(mechanism, query, ONE)), ((), epsilon)]
    defined = [*_has_values(mechanism, proof, query, given, ((COLUMN, (), kind),)), *known]

    def by(apart: bool) -> int:
        bound: Node = epsilon if apart else ("mul", epsilon, ("num", "1/2"))
        moves = _scores_move(mechanism, claim, proof, query, kind, bound, apart)
        rule = "lemma.exponential-weights" + "-apart" * apart
        return proof.use(rule, values, [not_negative, moves], {"mathcalD": DATA, "R": kind}, defined)

    return by_either(mechanism, by)
