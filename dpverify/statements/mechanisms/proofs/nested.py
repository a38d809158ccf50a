"""Sums in which a record stands in many terms, of pairs or with a sum in each, or in few, as at every second index."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from dpverify.proving.checker.theorems.language import Node, free, parts_of, put
from dpverify.proving.theorems.building import ProofBuilder
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.finite_models import FAILURES, FloatModel
from dpverify.statements.mechanisms.proofs.ranges import (
    INDEX,
    Fold,
    extremes,
    folds,
    magnitude,
    minus,
    number,
    places,
    plain,
)

if TYPE_CHECKING:
    from dpverify.statements.mechanisms.proofs.sensitivity import Sensitivity

SECOND = f"{INDEX} behind"


def is_of_pairs(fold: Fold) -> bool:
    """Whether a sum is over all pairs of indices, the smaller one first."""
    within, after = parts_of(fold.body), ("add", ("sym", fold.name), number(1))
    return fold.head == within[0] == "sum" and within[3:] == (after, fold.last)


def pairs_differ(known: Sensitivity, fold: Fold) -> int:
    """By how much a sum over pairs differs: each record is in one pair with each other."""
    within, first, last = Fold(*parts_of(fold.body)), fold.first, fold.last
    proof, body, names = known.proof, within.body, (fold.name, within.name)
    ends = extremes(known.mechanism, body)
    if not {*places(known.mechanism, body)} <= {("sym", name) for name in names} or ends is None:
        raise UnderivedError("a record of a pair with another index than the pair's")
    most = minus(*reversed(ends))
    i, j = ("sym", INDEX), ("sym", SECOND)
    one, other = known.sides(put(body, {names[0]: ((), i), names[1]: ((), j)}))
    letters = tuple((name, (), "integer") for name in (INDEX, SECOND))
    inside: tuple[Node, ...] = ("<=", first, i), ("<", i, j), ("<=", j, last)
    apart = tuple(("not", ("==", at, known.place)) for at in (i, j))

    def same(inner: ProofBuilder, given: list[int]) -> None:
        equal = [k for at in (i, j) for k in known.equal_at(inner, at, body, given)]
        known.same_value(inner, one, equal, given)

    def near(inner: ProofBuilder, given: list[int]) -> None:
        pairs = [pair for side in (one, other) for pair in ((ends[0], side), (side, ends[1]))]
        within = [inner.arithmetic(("<=", *pair), *given, *known.public) for pair in pairs]
        inner.arithmetic(("<=", magnitude(one, other), most), *within)

    elsewhere = proof.every(letters, (*inside, *apart), ("==", one, other), same)
    every = proof.every(letters, inside, ("<=", magnitude(one, other), most), near)
    values = [*((names, side) for side in known.sides(body)), *plain(known.place, first, last, most)]
    return proof.applied("rule.pairs-differ", values, known.known, [elsewhere, every])


def all_differ(known: Sensitivity, fold: Fold, each: Node, whole: Node) -> int:
    """By how much a sum differs with another in each term: each term by little, and that at the place.

    `each` is a guess of the one, `whole` of all together.
    """
    proof, first, last, i = known.proof, fold.first, fold.last, ("sym", INDEX)
    facts = [known.differ(one) for one in dict.fromkeys(folds(known.mechanism, fold.body))]
    claim: Node = ("<=", magnitude(*known.sides(fold.at(i))), each)
    premises = (*fold.inside(), ("not", ("==", i, known.place)))

    def near(inner: ProofBuilder, given: list[int]) -> None:
        equal = known.equal_at(inner, i, fold.body, given)
        inner.arithmetic(claim, *equal, *facts, *known.public)

    elsewhere = proof.every([(INDEX, (), "integer")], premises, claim, near)
    values = [*known.functions(fold), *plain(known.place, first, last, each)]
    rests = proof.applied("rule.rests-near", values, known.known, [elsewhere])
    at_place = known.sides(fold.at(known.place))
    others: Node = ("mul", minus(last, first), each)
    own = proof.arithmetic(("<=", magnitude(*at_place), minus(whole, others)), *facts, *known.public)
    return proof.arithmetic(("<=", magnitude(*known.sides(fold)), whole), rests, own)


def steps_of(known: Sensitivity, fold: Fold) -> tuple[int, list[int]] | None:
    """Where all indices of records are a multiple of a sum's index, and numbers more: these; None for others."""
    name, found = fold.name, list[tuple[int, int]]()
    for at in {*places(known.mechanism, fold.body)}:
        if not free(at) <= {name}:
            return None
        try:
            code = FloatModel({}, {}).code(at)
            zero, one, two = (Fraction(code({name: k})) for k in (0, 1, 2))
        except FAILURES:
            return None
        if two - one != one - zero or any(part.denominator > 1 for part in (zero, one)):
            return None
        found.append((int(one - zero), int(zero)))
    (times, *others), more = {a for a, _ in found}, sorted({c for _, c in found})
    return (
        (times, more) if not others and times > 1 and more[-1] - more[0] < times and len(more) < 3 else None
    )


def one_differs(known: Sensitivity, fold: Fold, times: int, more: list[int]) -> int:
    """By how much a sum differs in which a record stands in one term at most, of an index a part of its own."""
    _, _, body, first, last = fold
    proof, place = known.proof, known.place
    own: Node = ("floor", ("mul", number(Fraction(1, times)), ("add", place, number(-more[0]))))
    i, facts = ("sym", INDEX), known.known
    one, other = known.sides(fold.at(i))
    before: Node = minus(first, number(1))
    premises = (*fold.inside(), ("not", ("==", i, own)), ("not", ("==", i, before)))

    def apart(inner: ProofBuilder, given: list[int], at: Node) -> int:
        claim: Node = ("not", ("==", at, place))

        def by(order: tuple[Node, Node], deeper: ProofBuilder, assumed: list[int]) -> None:
            less = deeper.arithmetic(("<", *order), *given, *assumed)
            deeper.arithmetic(claim, deeper.use("rule.next-integer", plain(*order), [less], defined=facts))

        return inner.cases(("<", i, own), claim, partial(by, (i, own)), partial(by, (own, i)), facts)

    def same(inner: ProofBuilder, given: list[int]) -> None:
        equal = list[int]()
        for at in {*places(known.mechanism, fold.at(i))}:
            no_place = apart(inner, given, at)
            equal += known.equal_at(inner, at, body, [*given, no_place])
        known.same_value(inner, one, equal, given)

    elsewhere = proof.every([(INDEX, (), "integer")], premises, ("==", one, other), same)
    limit = known.most_of(fold, more)
    near: Node = ("<=", magnitude(*known.sides(fold.at(own))), limit)
    at_own = sorted({*places(known.mechanism, fold.at(own))}, key=str)

    def at_place(inner: ProofBuilder, given: list[int]) -> None:
        if len(at_own) == 1:
            inner.arithmetic(near)
            return

        def by(other: Node, deeper: ProofBuilder, assumed: list[int]) -> None:
            no_place = deeper.arithmetic(("not", ("==", other, place)), *assumed)
            equal = known.equal_at(deeper, other, body, [*given, *assumed, no_place])
            deeper.arithmetic(near, *equal)

        here: Node = ("==", at_own[0], place)
        inner.cases(here, near, partial(by, at_own[1]), partial(by, at_own[0]), facts)

    step = proof.every((), fold.inside(own), near, at_place)
    nothing: Node = ("<=", magnitude(*known.sides(fold.at(before))), number(0))
    vacuous = proof.every((), fold.inside(before), nothing)
    values = [*known.functions(fold), *plain(own, before, first, last, limit, number(0))]
    return proof.applied("rule.sums-differ-twice", values, facts, [elsewhere, step, vacuous])
