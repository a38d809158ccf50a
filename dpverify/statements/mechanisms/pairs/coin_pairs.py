"""Pairs of data sets that break the claim of a mechanism that takes a candidate by coins in random order."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.theorems.language import Node, put
from dpverify.proving.theorems.derivation import json_of
from dpverify.proving.theorems.spreads import Spread
from dpverify.statements.mechanisms.pages import MechanismOnPage, on
from dpverify.statements.mechanisms.pairs.choice_pairs import CandidatePairSearcher
from dpverify.statements.mechanisms.pairs.search import PairCase, own_letters
from dpverify.statements.mechanisms.proofs.claims import MechanismClaim
from dpverify.statements.mechanisms.proofs.coins import TAKEN, CoinsOnPage
from dpverify.statements.mechanisms.proofs.ranges import ONE, number

SURE = number(1)


def in_random_order(heads: list[Node], shown: tuple[int, ...] = (), place: int = 1) -> Node:
    """The law of the first whose coin shows heads, of candidates of which one is sure to show it.

    It is any of those that show heads, each with the same chance: those before a place that do are known.
    """
    if not heads:
        found: Node = ("certain", number(shown[0] if shown else 0))
        for count, one in enumerate(shown[1:], 2):
            found = ("mixture", number(Fraction(1, count)), ("certain", number(one)), found)
        return found
    taken = in_random_order(heads[1:], (*shown, place), place + 1)
    if heads[0] == SURE:
        return taken
    return ("mixture", heads[0], taken, in_random_order(heads[1:], shown, place + 1))


class CoinPairSearcher(CandidatePairSearcher):
    """A search for pairs, on which another candidate is taken."""

    widest = 8

    def __init__(self, mechanism: MechanismOnPage, sizes: dict[str, int], random: Random) -> None:
        super().__init__(mechanism, sizes, random)
        assert mechanism.choice is not None
        self.coins = CoinsOnPage(mechanism, mechanism.choice)
        self.heads = self.model_of.code(self.coins.line.term)

    def candidates(self, letters: dict[str, Any]) -> int:
        """How many there are; 0 where there is only one of a number that is a letter."""
        found = super().candidates(letters)
        return found if found > 1 or self.columns[0] == "num" else 0

    def numbers(self, env: dict[str, Any]) -> tuple[tuple[Fraction, ...], ...]:
        """The chances that coins show heads."""
        index, places = self.coins.line.index, range(1, self.candidates(env) + 1)
        return (tuple(Fraction(self.heads({**env, index: i})).limit_denominator(10**12) for i in places),)

    def spread(self, env: dict[str, Any]) -> Spread:
        """The law of what is taken."""
        (heads,) = key = self.numbers(env)
        if key not in self.known:
            law = in_random_order([number(one) for one in heads])
            self.known[key] = self.model_of.code(law)(env)
        return self.known[key]

    def entries(self, case: PairCase, claim: MechanismClaim) -> dict[str, Json]:
        """The pair as values of letters, with the law of what is taken."""
        places, index = range(1, self.candidates(self.env(case, case.left)) + 1), self.coins.line.index
        heads = [put(self.coins.line.term, {index: ((), number(one))}) for one in places]
        if all(
            {*chances} == {1}
            for side in (case.left, case.right)
            for chances in self.numbers(self.env(case, side))
        ):
            heads = [SURE] * len(heads)
        law = on(self.mechanism, in_random_order(heads), ONE)
        own = {name: value for name, value in own_letters(claim).items() if name != ONE}
        return {**super().entries(case, claim), TAKEN: {"params": [ONE], "term": json_of(put(law, own))}}
