"""Pairs of data sets that break the claim of a mechanism that chooses, by the checker's own law of what is chosen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product, zip_longest
from random import Random
from typing import Any

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.theorems.language import named, parts_of, put
from dpverify.proving.checker.theorems.models import LARGEST
from dpverify.proving.checker.theorems.outcomes import Point, Value
from dpverify.proving.theorems.derivation import json_of
from dpverify.proving.theorems.finite_models import Code
from dpverify.proving.theorems.noises import FloatLine
from dpverify.proving.theorems.spreads import Spread
from dpverify.statements.mechanisms.pages import MechanismOnPage
from dpverify.statements.mechanisms.pairs.chosen_chances import Side, answers, largest, reached
from dpverify.statements.mechanisms.pairs.search import PairCase, PairSearcher, own_letters
from dpverify.statements.mechanisms.proofs.choices import (
    ABOVE,
    ANSWER,
    ANSWERS,
    ASKED,
    BEGIN,
    ENDS,
    HISTORY,
    NEXT,
    ORDER,
    RUNS,
    ChoiceOnPage,
    H,
)
from dpverify.statements.mechanisms.proofs.claims import MechanismClaim
from dpverify.statements.mechanisms.proofs.ranges import ONE

SIZES, FEW = (1, 2, 3, 5), 4
"""Whole numbers that are tried, and how many values of each letter."""
FAR = Fraction(10)
"""A record that is tried where none is the largest."""
MOST, LAWS = 5, 200
"""Records, candidates, and laws that are tried."""
WITNESSED = 12
"""Candidates of a pair of which only what is assumed is looked at."""


def _fraction(value: float) -> Fraction:
    return Fraction(value).limit_denominator(10**6)


def possible(k: int, count: int) -> list[tuple[int, ...]]:
    """Which of k are above, where at most so many are."""
    return [row for row in product((0, 1), repeat=k) if sum(row) <= count]


def few_answers(k: int, count: int | None) -> bool:
    """Whether there are no more answers than a model has points."""
    return count is None or (k <= LARGEST and len(possible(k, count)) <= LARGEST)


def said(answer: Sequence[int]) -> str:
    """Which are above."""
    return f"{{{', '.join(str(i + 1) for i, one in enumerate(answer) if one)}}}"


class CandidatePairSearcher(PairSearcher, ABC):
    """A search for pairs, of which what is chosen among candidates has other laws."""

    enough, steps, widest, first, whole = 3, 0, MOST, MOST, True

    def __init__(self, mechanism: MechanismOnPage, sizes: dict[str, int], random: Random) -> None:
        super().__init__(mechanism, sizes, random)
        self.columns = mechanism.records.columns
        self.known = dict[Any, dict[Any, float]]()

    def candidates(self, letters: dict[str, Any]) -> int:
        """How many there are."""
        assert self.mechanism.records.over is not None
        kind = named(self.mechanism.records.over.kind)
        return int(self.model_of.code(self.columns)(letters)) if self.columns else self.sizes[kind]

    def answers(self, env: dict[str, Any]) -> int | None:
        """After how many answers above it stops; None where one is chosen."""
        count = self.mechanism.choice.count if self.mechanism.choice else ""
        return int(self.model_of.code(count)(env)) if count else None

    @abstractmethod
    def numbers(self, env: dict[str, Any]) -> tuple[tuple[Fraction, ...], ...]:
        """On what the law depends."""

    def cases(self) -> Iterator[PairCase]:
        """Pairs with other laws than those before, simple ones first."""
        letters, seen = self.letters, set[Any]()
        every = [(one.kind, self.options(one)) for one in letters]
        options = [[v for v in of if kind != "integer" or v in SIZES][:FEW] or of[:1] for kind, of in every]
        settings = list[Iterator[PairCase]]()
        for row in sorted(product(*map(enumerate, options)), key=lambda row: sum(k for k, _ in row)):
            one = dict(zip((letter.name for letter in letters), (v for _, v in row), strict=True))
            place = {name: float(value) for name, value in one.items()}
            n, k = self.records(one), self.candidates(place)
            count = self.answers(place)
            if 1 <= n <= MOST and 1 <= k <= self.widest and (not self.whole or few_answers(k, count)):
                settings.append(self.extreme(one, n, k))
        turns = (
            settings if self.columns else zip_longest(*settings)
        )  # by turns where all have as many candidates
        for case in (case for row in turns for case in row if case is not None):
            both = [self.env(case, rows) for rows in (case.left, case.right)]
            found = *map(self.numbers, both), *(bound(both[0]) for bound in self.bounds)
            if len(self.known) >= (LAWS if self.columns else LAWS // max(len(case.left[0]) - 1, 1)):
                return
            if found not in seen:
                seen.add(found)
                yield case

    def plain(self) -> PairCase | None:
        """A pair without a law, for as few candidates as there may be: in each data set, all have the same numbers."""
        for letters in sorted(self.settings(), key=lambda one: sum(map(abs, one.values()))):
            place = {name: float(v) for name, v in letters.items()}
            n, k, count = self.records(letters), self.candidates(place), self.answers(place)
            if 1 <= k <= WITNESSED and few_answers(k, count):
                rows = ((self.ends[0],) * k,) * n
                replaced = (self.ends[-1],) * k if self.mechanism.size is None else None
                return self.pair(letters, rows, 0, replaced)
        return None

    def extreme(self, letters: dict[str, Fraction], n: int, k: int) -> Iterator[PairCase]:
        """Records that are at ends or in the middle: one, and all others the same."""
        low, high = self.ends[0], self.ends[-1]
        middle = (low + high) / 2
        far = [(low, FAR)] * (self.mechanism.records.high is None)
        for place, (a, b) in product(
            dict.fromkeys(((n + 1) // 2, 1, n)), ((low, high), (low, middle), (middle, high), *far)
        ):
            crossed = (a, *(b,) * (k - 1)), (b, *(a,) * (k - 1))
            rows = [
                *dict.fromkeys(((a,) * k, (b,) * k, *crossed, (*(b,) * (k - 1), a), (*(a,) * (k - 1), b)))
            ]
            for rest in rows[:4] if n > 1 else rows[:1]:
                before, behind = (rest,) * (place - 1), (rest,) * (n - place)
                near = [
                    crossed,
                    crossed[::-1],
                    *(permutations(rows, 2) if (a, b, place) == (low, high, 1) else ()),
                ]
                for one, other in near:
                    replaced = other if self.mechanism.size is None else None
                    yield self.pair(letters, (*before, one, *behind), place - 1, replaced)


class ChoicePairSearcher(CandidatePairSearcher):
    """The same of what is chosen by noisy numbers."""

    def __init__(self, mechanism: MechanismOnPage, sizes: dict[str, int], random: Random) -> None:
        super().__init__(mechanism, sizes, random)
        assert mechanism.choice is not None
        self.choice = ChoiceOnPage(mechanism, mechanism.choice)
        self.sides = [(self.model_of.code(one.location), one.noise) for one in self.choice.sides]
        self.scales: list[Code] = [self.model_of.code(parts_of(one.law)[-1]) for one in self.choice.noises]
        self.sequences = {one.type: {"for": self.choice.kind} for one in self.choice.noises if one.index}

    def numbers(self, env: dict[str, Any]) -> tuple[tuple[Fraction, ...], ...]:
        """The locations of each side, for each candidate, and the scales of noises: from the least, in one's scale."""
        first, index = 1 if self.columns else 0, self.choice.line.index
        places = range(first, first + min(self.candidates(env), self.first))
        at = [[code({**env, index: i}) for i in places] for code, _ in self.sides]
        least, scales = min(map(min, at)), [code(env) for code in self.scales]
        rows = [[(x - least) / scales[0] for x in row] for row in at]
        return tuple(tuple(map(_fraction, row)) for row in (*rows, [one / scales[0] for one in scales]))

    def values(self, case: PairCase) -> dict[Value, str]:
        """Of several answers, those above."""
        count = self.answers(self.env(case, case.left))
        rows = [] if count is None else possible(len(case.left[0]), count)
        return {Point(ANSWERS, k): said(row) for k, row in enumerate(rows)}

    def spread(self, env: dict[str, Any]) -> Spread:
        """The law of what is chosen."""
        numbers, count = self.numbers(env), self.answers(env)
        if (numbers, count) not in self.known:
            self.known[numbers, count] = self.law_of([[*map(float, row)] for row in numbers], count)
        return self.known[numbers, count]

    def law_of(self, numbers: Sequence[Sequence[float]], count: int | None) -> dict[Any, float]:
        """The same for locations of each side, for each candidate, and scales of noises."""
        *at, scales = numbers
        own = self.noises(scales)
        if self.choice.line.role == "select":
            return largest(at[0], own[0][0] if own[0] and own[0][1] else None)
        low, high = own
        chances = reached([y - t for t, y in zip(*at, strict=True)], low, high)
        if count is not None:
            return dict(answers(*chances, count, self.choice.anew))
        return {one.index(1) + 1 if 1 in one else len(one) + 1: p for one, p in answers(*chances, 1)}

    def noises(self, scales: Sequence[float]) -> list[Side]:
        """The noise of each side, and whether each candidate has its own."""
        found = {
            one.name: (FloatLine(named(parts_of(one.law)[0]), 0.0, scale), bool(one.index))
            for one, scale in zip(self.choice.noises, scales, strict=True)
        }
        return [None if one is None else found[one.name] for _, one in self.sides]

    def entries(self, case: PairCase, claim: MechanismClaim) -> dict[str, Json]:
        """The pair as values of letters, with sequences for noises."""
        found, own = super().entries(case, claim), own_letters(claim)
        for one in self.choice.noises:
            if one.index:
                names = [named(parts_of(letter)[0]) for letter in one.letters(self.choice.kind)]
                law: dict[str, Json] = {"independent": json_of(put(one.law, own))}
                found |= dict(zip(names, ("read", "write", law), strict=True))
        found[ORDER] = [str(i) for i in range(self.sizes.get(named(self.choice.kind), 0))]
        history: tuple[str, ...] = (named(H[1]),) if self.choice.anew else ()
        if self.choice.anew:
            self.sequences[HISTORY] = 1
            found |= {
                BEGIN: 0, NEXT: {"params": ["h", "u"], "term": ["sym", "h"]}, ASKED: ["1"], ENDS: [True],
                RUNS: {"params": ["n", "h", "d"], "term": ["certain", ["sym", "h"]]},
            }  # fmt: skip
        elif (count := self.answers(self.env(case, case.left))) is not None:
            rows = possible(len(case.left[0]), count)
            ends = [*map(str, range(len(case.left[0]) + 1))]
            found[ABOVE] = [{"below": ends, "then": ["0", *map(str, row), "0"]} for row in rows]
            self.sequences[ANSWERS] = len(rows)
        params = [*history, ONE, *(named(parts_of(one)[0]) for one in self.choice.bound)]
        hidden = {name: value for name, value in own.items() if name not in params}
        where = json_of(put(self.choice.where, hidden))
        found[ANSWER] = {"params": params, "first": "value", "where": where}
        return found
