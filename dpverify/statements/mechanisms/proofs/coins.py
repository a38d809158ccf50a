"""Mechanisms that go through candidates in random order and take the first whose coin shows heads (permute-and-flip).

The coin of a candidate shows heads with the exponential of what its score lacks to the largest, times a number. The
order is that of independent uniform times: a candidate is taken if it has heads and no other had that came before.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from dpverify.proving.checker.theorems.language import Node, parts_of, put
from dpverify.proving.theorems.building import ProofBuilder
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.statements.mechanisms.pages import MechanismOnPage, MechanismStep, on, scaled_lack
from dpverify.statements.mechanisms.proofs.guesses import cancelled, sensitivity
from dpverify.statements.mechanisms.proofs.ranges import COLUMN, DATA, ONE, D, minus, number, plain

TAKEN = "the law of what is taken"
R, T, U, UNIT = ("sym", COLUMN), ("sym", "other"), ("sym", "time"), number(1)
Moves: TypeAlias = "Callable[[bool, Node], int]"
"""Shows that scores differ by at most a bound between all neighbors, or how much two scores are apart."""


class CoinsOnPage:
    """What a page says of coins in random order, as a letter and assumptions of a clause."""

    types: tuple[tuple[str, str], ...] = ()
    outcome: Node = "integer"
    """The type of what is chosen."""

    def __init__(self, mechanism: MechanismOnPage, line: MechanismStep) -> None:
        found = scaled_lack(line.term, line.index, mechanism.records.columns)
        assert found is not None
        self.mechanism, self.line, self.last = mechanism, line, mechanism.records.columns
        self.factor, self.score = found
        self.query = put(self.score, {line.index: ((), R)})
        self.letters: tuple[Node, ...] = ((TAKEN, (DATA,), ("law", "integer")),)
        self.law: Node = ("of", TAKEN, D)

    @property
    def costs(self) -> list[Node | None]:
        """What it costs of a pure budget, by a sensitivity that is a guess, where scores may move in both directions.

        Raises:
            UnderivedError: where nothing is guessed.
        """
        return [cancelled(("mul", number(2), self.factor, sensitivity(self.mechanism, self.query)))]

    def at(self, candidate: Node, term: Node, data: str = ONE) -> Node:
        """A term of a candidate, on a data set."""
        return on(self.mechanism, put(term, {self.line.index: ((), candidate)}), data)

    @property
    def premises(self) -> tuple[Node, ...]:
        """With which chances candidates are taken."""
        heads, others = (self.at(one, self.line.term) for one in (R, T))
        before: Node = ("mul", ("mul", U, others), ("indicator", ("not", ("==", T, R))))
        none: Node = ("product", ("other", "integer"), minus(UNIT, before), UNIT, self.last)
        first: Node = ("mul", heads, ("mean", ("time", "real"), ("uniform", number(0), UNIT), none))
        chance: Node = ("chance", ("other", "integer"), self.law, ("==", T, R))
        every, within = ((ONE, (), DATA), (COLUMN, (), "integer")), (("<=", UNIT, R), ("<=", R, self.last))
        return (
            ("all", every, within, ("==", chance, first)),
            ("all", every, (("not", ("and", *within)),), ("==", chance, number(0))),
        )

    def prove(
        self, proof: ProofBuilder, epsilon: Node, given: list[int], chances: list[int], moves: Moves, values: list[int]
    ) -> int:  # fmt: skip
        """Pure privacy, from what is assumed of chances and how far scores move."""
        known = proof.plain(given)
        every: tuple[Node, ...] = ((ONE, (), DATA), (COLUMN, (), "integer"))
        names = (ONE, COLUMN)
        score, exponent = self.at(R, self.score), self.at(R, parts_of(self.line.term)[1])
        largest: Node = ("largest", ("other", "integer"), self.at(T, self.score), UNIT, self.last)
        same: Node = ("==", exponent, ("mul", self.factor, minus(score, largest)))
        lack = proof.every(every, (), same, lambda inner, _: inner.arithmetic(same, *known))

        def by(apart: bool) -> int:
            """The claim, from how much two scores move apart, or from twice what one moves."""
            cost: Node = self.factor if apart else ("mul", number(2), self.factor)
            bound = cancelled(("mul", epsilon, ("pow", cost, number(-1))))
            puts = [
                *plain(self.last),
                (names, score),
                *plain(self.factor),
                (names, exponent),
                *plain(bound, epsilon),
            ]
            return proof.applied(
                "theorem.permute-and-flip" + "-apart" * apart, [*puts, ((ONE,), self.law)], known,
                (lack, lambda _: moves(apart, bound), *chances), {"mathcalD": DATA}, lambda: [*values, lack],
            )  # fmt: skip

        return by_either(self.mechanism, by)


def by_either(mechanism: MechanismOnPage, by: Callable[[bool], int]) -> int:
    """What follows from how much two scores move apart, or from how much one moves; the likelier first.

    Raises:
        UnderivedError: where it follows from neither.
    """
    first = mechanism.size is not None
    try:
        return by(first)
    except UnderivedError as error:
        with suppress(UnderivedError):
            return by(not first)
        raise error from None
