"""Mechanisms on samples: what is assumed of samples, as theorems about them have it, and amplification by sampling.

Of Poisson sampling, samples are data sets of which each record of the data is with a probability, in the order of the
data. Without replacement, the records of a sample are in random order: samples that differ in one record differ in one
place. They are of a type of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce

from dpverify.proving.checker.theorems.language import Node, named, parts_of, put, with_types
from dpverify.proving.theorems.building import ProofBuilder
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.finite_models import FAILURES, FloatModel
from dpverify.proving.theorems.sequences import subterms
from dpverify.statements.mechanisms.pages import MechanismOnPage, SampleOnPage, at_data, on
from dpverify.statements.mechanisms.proofs.added import compared, has_more
from dpverify.statements.mechanisms.proofs.composition import weakened
from dpverify.statements.mechanisms.proofs.guesses import cancelled, cost, inside
from dpverify.statements.mechanisms.proofs.ranges import DATA, ONE, OTHER, D, E, minus, number, of_each, plain
from dpverify.statements.theorems.library import shipped

WHOLE, PLACES, SETS = "whole data", "places", "sets of places"
"""Types: data sets of which samples without replacement are taken, places (or people), and what is drawn."""
SET, PLACE_OF, OTHER_PLACE = "the set", "a place", "another place"
"""Bound letters."""
R = ("sym", SET)
POISSON, FIXED = "theorem.poisson-sampling", "lemma.laws-of-samples"


@dataclass(frozen=True)
class SampleLetters:
    """What a clause has of samples."""

    types: tuple[tuple[str, str], ...]
    letters: tuple[Node, ...]
    premises: tuple[Node, ...]
    data: str
    """The type of the data of which samples are taken."""
    law: Node
    """That of what is drawn."""
    values: tuple[tuple[tuple[str, ...], Node], ...]
    """What stands for the letters of the theorem, but for the last three: two numbers and the mechanism."""


def sample_letters(mechanism: MechanismOnPage) -> SampleLetters:
    """What a mechanism's clause has of samples."""
    assert mechanism.sample is not None
    poisson, rate = mechanism.size is not None, mechanism.sample.rate
    data = DATA if poisson else WHOLE
    own: dict[str, tuple[tuple[Node, ...], Node]] = {
        "the sample": ((data, SETS), DATA),
        "the owner": ((data, data), PLACES),
    }
    if mechanism.size is not None:
        own = {
            "the law of sets": ((), ("law", SETS)), "with": ((SETS, PLACES), SETS), "without": ((SETS, PLACES), SETS),
            **own,
        }  # fmt: skip
        rest = [((ONE, OTHER), has_more(mechanism.size, D, E)), *plain(rate)]
        law: Node = ("sym", "the law of sets")
    else:
        own = {"has": ((SETS, PLACES), "formula"), "exchanged": ((SETS, PLACES, PLACES), SETS), **own}
        rest = plain(mechanism.records.last, mechanism.sample.of)
        law = ("proportional", (SET, SETS), number(1))
    values = (*(_letter(name, kinds) for name, (kinds, _) in own.items()), *rest)
    theorem = shipped()[POISSON if poisson else FIXED].clause
    types = {"mathcalD": data, "I": PLACES, "R": SETS, "U": DATA, "T": "real"}
    _, letters, premises, _ = parts_of(with_types(theorem.body, types))
    names = [named(parts_of(one)[0]) for one in parts_of(letters)]
    put_in = dict(zip(names, values, strict=False))
    assumed = parts_of(premises)[4:8] if poisson else (*parts_of(premises)[5:10], parts_of(premises)[-1])
    found = [put(one, put_in) for one in assumed]
    if not poisson:
        found += _neighbors_of_samples()
    sort = "any" if poisson else "finite"
    kinds = ((WHOLE, "data"),) * (not poisson) + ((PLACES, sort), (SETS, sort))
    declared = tuple((name, args, kind) for name, (args, kind) in own.items())
    return SampleLetters(kinds, declared, tuple(found), data, law, values)


def _letter(name: str, kinds: tuple[Node, ...]) -> tuple[tuple[str, ...], Node]:
    names = tuple(f"argument {k}" for k in range(len(kinds)))
    return names, ("of", name, *(("sym", one) for one in names)) if names else ("sym", name)


def taken(data: Node, places: Node = R) -> Node:
    """A sample of a data set."""
    return ("of", "the sample", data, places)


def _neighbors_of_samples() -> list[Node]:
    """Which samples without replacement are neighbors: of one data set, and of two."""
    here, there = ("sym", PLACE_OF), ("sym", OTHER_PLACE)
    letters: tuple[Node, ...] = (
        (ONE, (), WHOLE),
        (SET, (), SETS),
        (PLACE_OF, (), PLACES),
        (OTHER_PLACE, (), PLACES),
    )
    exchanged: Node = ("neighbors", taken(D), taken(D, ("of", "exchanged", R, here, there)))
    both: tuple[Node, ...] = ((ONE, (), WHOLE), (OTHER, (), WHOLE), (SET, (), SETS))
    inside: Node = ("of", "has", R, ("of", "the owner", D, E))
    return [
        ("all", letters, (("of", "has", R, here), ("not", ("of", "has", R, there))), exchanged),
        ("all", both, (("neighbors", D, E), inside), ("neighbors", taken(D), taken(E))),
    ]


def law_on_samples(mechanism: MechanismOnPage) -> Node:
    """The law of the output, on a sample of the data set D."""
    return ("then", (SET, SETS), sample_letters(mechanism).law, at_data(mechanism, mechanism.law, taken(D)))


def amplified_epsilon(sample: SampleOnPage, epsilon: Node) -> Node:
    """The epsilon on a sample, of what has one on a whole data set."""
    return ("log", ("add", number(1), ("mul", sample.rate, minus(("exp", epsilon), number(1)))))


def on_samples(mechanism: MechanismOnPage) -> Iterator[MechanismOnPage]:
    """The mechanism on a whole data set, with guesses of claims from which its own follows by sampling."""
    claim = mechanism.of("claim")[0]
    head, *numbers = parts_of(claim.term)
    if mechanism.sample is None or head != "private":
        return
    rate, total = mechanism.sample.rate, None
    delta = (
        numbers[1] if numbers[1] == number(0) else cancelled(("mul", numbers[1], ("pow", rate, number(-1))))
    )
    one, grown = number(1), minus(("exp", numbers[0]), number(1))
    guesses = [
        *(term[1] for term in subterms(numbers[0]) if term[0] == "exp"),
        ("log", ("add", one, ("mul", grown, ("pow", rate, number(-1))))),
    ]
    with suppress(UnderivedError):
        total = reduce(
            lambda *two: ("add", *two), [cost(mechanism, draw.term, "private") for draw in mechanism.draws]
        )
        guesses.insert(0, total)
    seen = list[list[float]]()
    for guess in guesses:
        larger = [(amplified_epsilon(mechanism.sample, guess), numbers[0])] + (
            [(total, guess)] if total else []
        )
        found = _at_some_letters(mechanism, guess)
        small = (zip(*(_at_some_letters(mechanism, side) for side in pair), strict=True) for pair in larger)
        if found not in seen and all(low <= high + 1e-9 * abs(high) for rows in small for low, high in rows):
            seen.append(found)
            steps = (*mechanism.steps[:-1], replace(claim, term=("private", guess, delta)))
            yield replace(mechanism, sample=None, steps=steps)


def _at_some_letters(mechanism: MechanismOnPage, term: Node) -> list[float]:
    """A term at some values of letters, in floating point, as seven digits; none where it is not known there."""
    found, model = list[float](), FloatModel({}, {})
    given = [model.margin(one) for one in mechanism.given]
    for share in (0.2, 0.35, 0.6, 0.85):
        env = {
            one.name: inside(one, min(share + 0.03 * k, 0.99))
            for k, one in enumerate(reversed(mechanism.letters)) if one.number is not None
        }  # fmt: skip
        with suppress(*FAILURES):
            if all(one(env) >= 0 for one in given):
                found.append(float(f"{model.code(term)(env):.6e}"))
    return found


def amplified(
    mechanism: MechanismOnPage, inside: MechanismOnPage, proof: ProofBuilder, given: list[int], last: int
) -> None:
    """Prove the claim from that on a whole data set; the last premise about neighbors has the place `last`."""
    assert mechanism.sample is not None
    letters, known = sample_letters(mechanism), proof.plain(given)
    _, epsilon, delta = parts_of(inside.of("claim")[0].term)
    law = on(mechanism, mechanism.law, ONE)
    whole = proof.facts.index(put(("private", (ONE, DATA), law, epsilon, delta), {}))
    assumed = given[last + 1 :]
    values = [*letters.values, *plain(epsilon, delta), ((ONE,), law)]
    types: dict[str, Node] = {"mathcalD": letters.data, "T": mechanism.output.kind, "I": PLACES, "R": SETS}
    if mechanism.size is not None:
        premises, rule = [*assumed[:1], last - 3, *assumed[2:4], whole], POISSON
    else:
        laws = [_close(inside, proof, whole, k, assumed[6 + k]) for k in (0, 1)]
        premises = [*assumed[1:5], *laws, assumed[5]]
        types["U"], rule = DATA, FIXED
    defined = [k for k, fact in enumerate(proof.facts) if of_each(parts_of(fact)) or k in known]
    found = proof.applied(rule, values, known, premises, types, lambda: defined)
    numbers = parts_of(proof.facts[found])[3:]
    claimed = parts_of(mechanism.of("claim")[0].term)[1:]
    if numbers != tuple(put(one, {}) for one in claimed):
        types = {"mathcalD": letters.data, "T": mechanism.output.kind}
        weakened(proof, found, law_on_samples(mechanism), claimed, types, known, defined)


def _close(inside: MechanismOnPage, proof: ProofBuilder, whole: int, which: int, source: int) -> int:
    """That the laws of the output on samples that are neighbors are close: of one data set, or of two."""
    _, letters, premises, near = parts_of(_neighbors_of_samples()[which])
    _, one, other = parts_of(near)
    _, epsilon, delta = parts_of(inside.of("claim")[0].term)
    kind, event = inside.output.kind, "the event"
    y = "the output"

    def chance(data: Node) -> Node:
        return ("chance", (y, kind), at_data(inside, inside.law, data), ("of", event, ("sym", y)))

    bound: Node = ("add", ("mul", ("exp", epsilon), chance(other)), delta)
    claim: Node = (
        "all",
        (*parts_of(letters), (event, (kind,), "formula")),
        premises,
        ("<=", chance(one), bound),
    )
    types: dict[str, Node] = {"T": kind, "mathcalD": DATA}
    defined = [*compared(proof), *(k for k, fact in enumerate(proof.facts) if of_each(parts_of(fact)))]
    names = [f"letter {k}" for k in range(len(parts_of(letters)))]

    def prove(inner_proof: ProofBuilder, given: list[int]) -> None:
        near_here = inner_proof.use(source, plain(*(("sym", name) for name in names)), given)
        _, first, second = parts_of(inner_proof.facts[near_here])
        law, said = ((ONE,), on(inside, inside.law, ONE)), (("y",), ("of", event, ("sym", "y")))
        values = [law, *plain(first, second), said, *plain(epsilon, delta)]
        inner_proof.use("rule.private-elim", values, [whole, near_here], types, defined)

    return proof.block(claim, [*names, event], prove)
