"""Pairs of data sets that break the claim of a mechanism that takes a candidate by coins in random order."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
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

MOST = 4
"""Candidates."""


class CoinPairSearcher(CandidatePairSearcher):
    """A search for pairs, on which another candidate is taken."""

    def __init__(self, mechanism: MechanismOnPage, sizes: dict[str, int], random: Random) -> None:
        super().__init__(mechanism, sizes, random)
        assert mechanism.choice is not None
        self.coins = CoinsOnPage(mechanism, mechanism.choice)
        self.codes = cache(lambda k: self.model_of.code(self.taken(range(1, k + 1))))

    def candidates(self, letters: dict[str, Any]) -> int:
        """How many there are; 0 where they are many."""
        found = super().candidates(letters)
        return found if found <= MOST else 0

    def heads(self, candidate: int) -> Node:
        """The chance that a candidate's coin shows heads."""
        return put(self.coins.line.term, {self.coins.line.index: ((), number(candidate))})

    def taken(self, left: Sequence[int]) -> Node:
        """The law of the first that shows heads, of candidates of which one is sure to show it."""
        if len(left) == 1:
            return ("certain", number(left[0]))
        found: Node = ""
        for k, one in enumerate(left):
            others = self.taken([*left[:k], *left[k + 1 :]])
            first: Node = ("mixture", self.heads(one), ("certain", number(one)), others)
            found = ("mixture", number(Fraction(1, k + 1)), first, found) if found else first
        return found

    def numbers(self, env: dict[str, Any]) -> tuple[tuple[Fraction, ...], ...]:
        """The chances of what is taken."""
        law = self.spread(env)
        assert isinstance(law, dict)
        return (tuple(Fraction(law[k]).limit_denominator(10**9) for k in sorted(law)),)

    def spread(self, env: dict[str, Any]) -> Spread:
        """The law of what is taken."""
        found: Spread = self.codes(self.candidates(env))(env)
        return found

    def entries(self, case: PairCase, claim: MechanismClaim) -> dict[str, Json]:
        """The pair as values of letters, with the law of what is taken."""
        k = self.candidates(self.env(case, case.left))
        law = on(self.mechanism, self.taken(range(1, k + 1)), ONE)
        own = {name: value for name, value in own_letters(claim).items() if name != ONE}
        return {**super().entries(case, claim), TAKEN: {"params": [ONE], "term": json_of(put(law, own))}}
