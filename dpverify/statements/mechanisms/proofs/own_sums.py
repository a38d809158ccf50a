"""Sums over the numbers of one record, as in its norm, which are the same where records are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dpverify.proving.checker.theorems.language import Node, free, inner, named, parts_of
from dpverify.proving.theorems.building import ProofBuilder
from dpverify.statements.mechanisms.pages import MechanismOnPage, private
from dpverify.statements.mechanisms.proofs.ranges import Fold, places, plain

NUMBER = "the number of the record"
"""The name of a bound letter, which no letter of a page has."""


def is_own(mechanism: MechanismOnPage, term: Node) -> bool:
    """Whether a term is a sum over numbers of a record: its letter is in no index of a record but the second."""
    head, *parts = parts_of(term)
    if head != "sum" or not private(mechanism, parts[1]):
        return False
    name = named(parts_of(parts[0])[0])
    return not any(name in free(at) for at in places(mechanism, parts[1]))


def own_sums(mechanism: MechanismOnPage, term: Node) -> Iterator[Node]:
    """The outermost sums over numbers of a record in a term."""
    if is_own(mechanism, term):
        yield term
    else:
        for part, _ in inner(parts_of(term)):
            yield from own_sums(mechanism, part)


def numbered(term: Node) -> Node:
    """The terms of a sum, with the letter of this module."""
    return Fold(*parts_of(term)).at(("sym", NUMBER))


def equal_sums(
    proof: ProofBuilder, one: Node, other: Node, public: Sequence[int],
    show: Callable[[ProofBuilder, Node, Node, list[int]], object],
) -> int:  # fmt: skip
    """That two sums are equal, where it is shown that their terms are."""
    fold, terms = Fold(*parts_of(one)), [numbered(side) for side in (one, other)]
    every = proof.every(
        [(NUMBER, (), "integer")], fold.inside(("sym", NUMBER)), ("==", *terms),
        lambda inside, given: show(inside, terms[0], terms[1], given),
    )  # fmt: skip
    values = [*(((NUMBER,), body) for body in terms), *plain(fold.first, fold.last)]
    return proof.applied("lemma.equal-sums", values, public, [every])
