"""A mechanism's claim as a theorem: what is assumed of neighbors, what the mechanism is, and the proof of the claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.language import Node, named, parts_of, put
from dpverify.proving.checker.theorems.steps import Clause
from dpverify.proving.theorems.building import ProofBuilder, proof_of
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.letters import bounds
from dpverify.statements.mechanisms.choices import ANSWER, ORDER, Choice, choice_of, law_of
from dpverify.statements.mechanisms.pages import MechanismOnPage, on
from dpverify.statements.mechanisms.sensitivity import (
    DATA,
    PLACE,
    D,
    E,
    Sensitivity,
    cancelled,
    cost,
    magnitude,
    number,
    sum_ranges,
)
from dpverify.statements.theorems.library import clause_json, shipped
from dpverify.statements.theorems.pages import as_lists

CHOICES = {
    ("select", "laplace"): "lemma.noisy-max-laplace-scale",
    ("select", "exponential"): "lemma.noisy-max-exponential-scale",
    ("stop", "laplace", "laplace"): "theorem.sparse-vector-scales",
}
"""What is known of what is chosen with noises of some families: of candidates, and of the threshold."""


@dataclass(frozen=True)
class MechanismClaim:
    """What a page says, as a clause."""

    clause: Clause
    names: tuple[str, ...]
    """Of its letters."""
    same: int
    """The place of the premise that records are the same elsewhere."""
    within: int
    """The place of the premise that the place is one of a record."""


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
    second: tuple[Node, ...] = ((("r", (), records.over.kind)),) if records.over else ()
    interval: Node = "real"
    if records.low is not None and records.high is not None:
        interval = ("between", str(records.low), str(records.high))
    letters: list[Node] = [one.declared for one in mechanism.letters]
    letters += [(records.name, (DATA, *records.arguments), interval), (PLACE, (DATA, DATA), "integer")]
    choice = choice_of(mechanism)
    letters += choice.letters if choice else ()
    index, place = ("sym", "i"), ("of", PLACE, D, E)
    both, near = (("D", (), DATA), ("E", (), DATA)), ("neighbors", D, E)
    of_both: Iterator[Node] = (
        ("of", records.name, data, index, *(("sym", "r") for _ in second)) for data in (D, E)
    )
    premises = [bound for one in mechanism.letters for bound in bounds(one)]
    premises += [
        ("all", both, (near,), ("and", ("<=", number(1), place), ("<=", place, records.last))),
        ("all", (*both, ("i", (), "integer"), *second),
         (near, ("<=", number(1), index), ("<=", index, records.last), ("not", ("==", index, place))),
         ("==", *of_both)),
    ]  # fmt: skip
    chosen = choice.premises if choice else ()
    head, *numbers = parts_of(mechanism.of("claim")[0].term)
    guarantee: Node = (head, ("D", DATA), on(mechanism, law_of(mechanism), "D"), *numbers)
    types = [list(one) for one in (*mechanism.types, (DATA, "data"), *(choice.types if choice else ()))]
    body: Node = ("all", tuple(letters), (*premises, *chosen), guarantee)
    clause = Clause.read({"types": types, "body": as_lists(put(body, {}))})
    names = tuple(named(parts_of(one)[0]) for one in letters)
    return MechanismClaim(clause, names, len(premises) - 1, len(premises) - 2)


def derive_mechanism(mechanism: MechanismOnPage) -> MechanismProof:
    """Derive a mechanism's claim from the theorems about its noise and the sensitivity of its queries."""
    claim = claim_of(mechanism)
    library = Clauses()
    head, *numbers = parts_of(mechanism.of("claim")[0].term)
    draws = mechanism.of("draw")

    def prove(proof: ProofBuilder, given: list[int]) -> None:
        choice = choice_of(mechanism)
        if choice is not None:
            _chosen(mechanism, claim, proof, choice, numbers, given)
        elif len(draws) == 1:
            _one_draw(mechanism, claim, proof, draws[0].term, named(head), numbers, given)
        else:
            _two_draws(mechanism, claim, proof, named(head), numbers, given)

    try:
        steps = proof_of(claim.clause, claim.names, library, prove)
    except (UnderivedError, ValueError) as error:
        return MechanismProof(None, (), str(error) or type(error).__name__)
    uses = tuple(sorted(_used(steps)))
    clause = {"types": [list(one) for one in claim.clause.types], "body": as_lists(claim.clause.body)}
    certificate = {
        "version": 1, "theorem": mechanism.id, "clause": clause, "letters": [*claim.names],
        "library": {id_: clause_json(shipped()[id_]) for id_ in uses}, "steps": steps,
    }  # fmt: skip
    confirmed = check(certificate)
    if not confirmed.confirmed:
        return MechanismProof(None, uses, f"the checker refuses a step: {confirmed.says}")
    return MechanismProof(certificate, uses, "")


def _used(steps: list[Mapping[str, Json]]) -> set[str]:
    found = {one["of"] for one in steps if one["step"] == "use" and isinstance(one["of"], str)}
    return found.union(*(_used(one["steps"]) for one in steps if one["step"] == "block"))


def _one_draw(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, term: Node, head: str, numbers: list[Node],
    given: list[int],
) -> int:  # fmt: skip
    """That one draw has a guarantee."""
    law = parts_of(term)
    known = {
        ("laplace", "private"): _laplace,
        ("proportional", "private"): _weights,
        ("normal", "concentrated"): _normal,
        ("normal", "gaussian"): _normal,
    }
    if (law[0], head) not in known:
        raise UnderivedError(f"no theorem is known of this guarantee for the law `{law[0]}`")
    return known[str(law[0]), head](mechanism, claim, proof, law, numbers, given)


def _chosen(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, choice: Choice, numbers: list[Node],
    given: list[int],
) -> int:  # fmt: skip
    """What is chosen among candidates: the one with the largest noisy score, or the first above a noisy threshold."""
    *below, above = choice.sides
    noise, threshold = above.noise, below[0].noise if below else None
    laws = [parts_of(one.law) if one else ("",) for one in (noise, threshold)]
    heads = tuple(str(law[0]) for law in laws[: len(choice.sides)])
    rule = CHOICES.get((choice.line.role, *heads))
    each = noise is not None and noise.index != "" and (threshold is None or not threshold.index)
    if claim.clause.body[3][0] != "private" or rule is None or noise is None or not each:
        what = " and ".join(head or "no" for head in heads[::-1])
        raise UnderivedError(f"no theorem is known of this guarantee for this choice with {what} noise")
    known = [k for k in given if parts_of(proof.facts[k])[0] != "all"]
    alike, chosen = given[claim.same + 1 : claim.same + 4], given[claim.same + 4 :]
    epsilon, scale = numbers[0], laws[0][-1]
    query, second = put(above.location, {choice.line.index: ((), ("sym", "r"))}), (("r", (), choice.kind),)
    read, other, law = (one[0] for one in noise.letters(choice.kind))
    w, r, x, t = (("sym", name) for name in "wrxt")
    types = {"mathcalD": DATA, "W": noise.type} | ({} if choice.kind == "integer" else {"R": choice.kind})
    values: list[tuple[tuple[str, ...], Node]] = [
        (("D", "r"), on(mechanism, query, "D")), (("w", "r"), ("of", read, w, r)),
        (("w", "r", "x"), ("of", other, w, r, x)), ((), ("sym", law)),
    ]  # fmt: skip
    if threshold is None:
        bound: Node = ("mul", ("mul", epsilon, scale), ("num", "1/2"))
        signs = [proof.arithmetic(("<", number(0), one), *known) for one in (scale, epsilon)]
        values += [(("r",), ("of", ORDER, r)), (("D", "w"), ("of", ANSWER, D, w)), ((), scale), ((), epsilon)]
    else:
        wide = laws[1][-1]
        costs = ("mul", number(2), ("pow", scale, number(-1))), ("pow", wide, number(-1))
        bound = ("mul", epsilon, ("pow", ("add", *costs), number(-1)))
        signs = [proof.arithmetic(("<", number(0), one), *known) for one in (bound, wide, scale)]
        last = ("add", mechanism.records.columns, number(1))
        values += [
            ((), below[0].location), ((), number(1)), ((), last), (("D", "w", "t"), ("of", ANSWER, D, w, t)),
            ((), bound), ((), wide), ((), scale), ((), epsilon),
        ]  # fmt: skip
    moves = [_moves(mechanism, claim, proof, query, bound, second)]
    if threshold is not None:
        shares = [
            ("mul", ("mul", number(2), bound), ("pow", scale, number(-1))),
            ("mul", bound, ("pow", wide, number(-1))),
        ]
        moves.append(proof.arithmetic(("<=", ("add", *shares), epsilon), *known))
    defined = [_has_values(mechanism, proof, query, given, second), *known]
    return proof.use(rule, values, [*signs, *moves, *chosen, *alike], types, defined)


def _two_draws(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, head: str, numbers: list[Node],
    given: list[int],
) -> None:  # fmt: skip
    """That two draws, of which the second may see what the first has said, have a guarantee together."""
    first, second = mechanism.of("draw")
    costs = [cost(mechanism, draw.term, head) for draw in (first, second)]
    rest: list[Node] = [number(0)] if head == "private" else []
    one = _one_draw(mechanism, claim, proof, first.term, head, [costs[0], *rest], given)
    law = on(mechanism, second.term, "D")
    whole: Node = ("all", ((first.name, (), first.kind),), (), (head, ("D", DATA), law, costs[1], *rest))

    def prove(inner: ProofBuilder, _: list[int]) -> None:
        _one_draw(mechanism, claim, inner, second.term, head, [costs[1], *rest], given)

    two = proof.block(whole, [first.name], prove)
    values = [(("D",), on(mechanism, first.term, "D")), ((first.name, "D"), law), *(((), c) for c in costs)]
    types: dict[str, Node] = {"mathcalD": DATA, "T": first.kind, "U": second.kind}
    known = [k for k in given if parts_of(proof.facts[k])[0] != "all"]
    if head == "private":
        none = proof.arithmetic(("<=", number(0), number(0)))
        values += [((), number(0)), ((), number(0))]
        both = proof.use("theorem.composition", values, [none, one, two], types, known)
        within = proof.arithmetic(("<=", ("add", *costs), numbers[0]), *known)
        exactly = proof.arithmetic(("<=", ("add", number(0), number(0)), numbers[1]), *known)
        weaker = [
            (("D",), on(mechanism, mechanism.law, "D")), ((), ("add", *costs)), ((), ("add", number(0), number(0))),
            *(((), one) for one in numbers),
        ]  # fmt: skip
        pair: dict[str, Node] = {"mathcalD": DATA, "T": ("pair", first.kind, second.kind)}
        proof.use("theorem.weaker", weaker, [both, within, exactly], pair, known)
    else:
        both = proof.use("theorem.concentrated-composition", values, [one, two], types, known)
        equal = proof.arithmetic(("==", ("add", *costs), numbers[0]), *known)
        same = [(("D",), on(mechanism, mechanism.law, "D")), ((), ("add", *costs)), ((), numbers[0])]
        pair = {"mathcalD": DATA, "T": ("pair", first.kind, second.kind)}
        proof.use("rule.equal-concentrated", same, [both, equal], pair, known)


def _moves(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, query: Node, bound: Node,
    second: tuple[Node, ...] = (),
) -> int:  # fmt: skip
    """That a query differs by at most a bound between all neighbors."""
    letters = (("D", (), DATA), ("E", (), DATA), *second)
    names = [named(parts_of(one)[0]) for one in letters]
    one, other = on(mechanism, query, "D"), on(mechanism, query, "E")
    whole: Node = ("all", letters, (("neighbors", D, E),), ("<=", magnitude(one, other), bound))

    def prove(inner: ProofBuilder, given: list[int]) -> None:
        second = tuple(("sym", name) for name in names[2:])
        known = Sensitivity(mechanism, inner, given[0], claim.same, claim.within, second)
        small = cancelled(bound)
        found = known.bounded(query, small)
        if small != bound:
            equal = inner.arithmetic(("==", small, bound), *known.public)
            inner.arithmetic(("<=", magnitude(one, other), bound), found, equal)

    return proof.block(whole, names, prove)


def _has_values(
    mechanism: MechanismOnPage,
    proof: ProofBuilder,
    query: Node,
    given: list[int],
    second: tuple[Node, ...] = (),
) -> int:
    """That a query has a value on each data set."""
    term = on(mechanism, query, "D")
    letters = (("D", (), DATA), *second)
    whole: Node = ("all", letters, (), ("==", term, term))
    public = [k for k in given if parts_of(proof.facts[k])[0] != "all"]

    def prove(inner: ProofBuilder, _: list[int]) -> None:
        inner.arithmetic(("==", term, term), *sum_ranges(mechanism, inner, query, public), *public)

    return proof.block(whole, [named(parts_of(one)[0]) for one in letters], prove)


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
    values = [(("D",), on(mechanism, query, "D")), ((), scale), ((), epsilon)]
    defined = [_has_values(mechanism, proof, query, given), *known]
    return proof.use(
        "lemma.laplace-scale", values, [positive, not_negative, moves], {"mathcalD": DATA}, defined
    )


def _normal(
    mechanism: MechanismOnPage, claim: MechanismClaim, proof: ProofBuilder, law: tuple[Node, ...], numbers: list[Node],
    given: list[int],
) -> int:  # fmt: skip
    """Normal noise: the claim's bound on the query's sensitivity, then concentrated or Gaussian privacy."""
    _, query, scale = law
    (budget,), head = numbers, mechanism.of("claim")[0].term[0]
    known = [k for k in given if parts_of(proof.facts[k])[0] != "all"]
    if head == "gaussian":
        bound = cancelled(("mul", budget, scale))
        cost: Node = ("mul", bound, ("pow", scale, number(-1)))
    else:
        bound = cancelled(("mul", ("mul", number(2), budget), ("pow", scale, number(2))), root=2)
        cost = (
            "mul",
            ("pow", bound, number(2)),
            ("pow", ("mul", number(2), ("pow", scale, number(2))), number(-1)),
        )
    positive = [proof.arithmetic(("<", number(0), one), *known) for one in (bound, scale)]
    moves = _moves(mechanism, claim, proof, query, bound)
    values = [(("D",), on(mechanism, query, "D")), ((), bound), ((), scale)]
    defined = [_has_values(mechanism, proof, query, given), *known]
    types: dict[str, Node] = {"mathcalD": DATA}
    rule = {"gaussian": "theorem.gaussian-gdp", "concentrated": "theorem.gaussian-concentrated"}[str(head)]
    found = proof.use(rule, values, [*positive, moves], types, defined)
    drawn = (("D",), on(mechanism, law, "D"))
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
    query = put(power[1], {name: ((), ("sym", "r"))})
    bound: Node = ("mul", epsilon, ("num", "1/2"))
    second: tuple[Node, ...] = (("r", (), kind),)
    moves = _moves(mechanism, claim, proof, query, bound, second)
    values = [(("D", "r"), on(mechanism, query, "D")), ((), epsilon)]
    defined = [_has_values(mechanism, proof, query, given, second), *known]
    return proof.use(
        "lemma.exponential-weights", values, [not_negative, moves], {"mathcalD": DATA, "R": kind}, defined
    )
