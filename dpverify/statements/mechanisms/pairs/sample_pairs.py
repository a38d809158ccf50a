"""Pairs that break the claim of a mechanism on samples: all samples of small data sets, as exact mixtures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from random import Random

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.theorems.arithmetic import FormulaLetters
from dpverify.proving.checker.theorems.language import Scope, put
from dpverify.proving.theorems.noises import mixed
from dpverify.proving.theorems.spreads import Spread
from dpverify.statements.mechanisms.pages import MechanismOnPage
from dpverify.statements.mechanisms.pairs.breaking import bounds_of
from dpverify.statements.mechanisms.pairs.search import PairCase, PairSearcher, Rows
from dpverify.statements.mechanisms.proofs.claims import MechanismClaim
from dpverify.statements.mechanisms.proofs.ranges import DATA
from dpverify.statements.mechanisms.proofs.samples import PLACES, SETS, WHOLE

LARGEST, POINTS = 3, 8
"""Records of a data set whose samples are gone through, and samples of a model."""


class SamplePairSearcher(PairSearcher):
    """A search for pairs, of which samples have other laws."""

    def __init__(self, mechanism: MechanismOnPage, sizes: dict[str, int], random: Random) -> None:
        super().__init__(mechanism, sizes, random)
        assert mechanism.sample is not None
        self.rate, of = mechanism.sample.rate, mechanism.sample.of
        self.taken = self.count
        self.count = self.model_of.code(of) if of else self.count

    def records(self, letters: dict[str, Fraction]) -> int:
        """How many records there are; 0 where that is not tried, or where samples are none."""
        n = super().records(letters)
        if n and self.mechanism.size is None and not 1 <= self.taken(_floats(letters)) < n:
            return 0
        return n if n <= LARGEST else 0

    def sets(self, letters: dict[str, Fraction], n: int) -> list[tuple[tuple[int, ...], Fraction]]:
        """All that may be drawn, as places from 0 on, with their chances; the checker refuses rounded ones."""
        if self.mechanism.size is None:
            every = [*permutations(range(n), int(self.taken(_floats(letters))))]
            return [(one, Fraction(1, len(every))) for one in every]
        exact = put(self.rate, {name: ((), ("num", str(value))) for name, value in letters.items()})
        p = min(max(bounds_of(FormulaLetters(Scope({}, {})).number(exact))[0], Fraction(0)), Fraction(1))
        every = [one for k in range(n + 1) for one in combinations(range(n), k)]
        return [(one, p ** len(one) * (1 - p) ** (n - len(one))) for one in every]

    def spread_on(self, case: PairCase, rows: Rows) -> Spread:
        """The law of the output on a random sample."""
        chances = dict[Rows, Fraction]()
        for places, chance in self.sets(case.letters, len(rows)):
            sample = tuple(rows[i] for i in places)
            chances[sample] = chances.get(sample, Fraction(0)) + chance
        kept = {sample: float(chance) for sample, chance in chances.items() if chance}
        found: Spread = mixed([*kept.values()], [self.spread(self.env(case, sample)) for sample in kept])
        return found

    def model(self, case: PairCase, claim: MechanismClaim) -> dict[str, Json]:
        """The pair with all its samples as a model of the claim; without letters, so that it is refused, if large."""
        model = self.poisson(case) if self.mechanism.size else self.fixed(case)
        found: dict[str, Json] = {name: str(value) for name, value in case.letters.items()}
        found |= model["letters"]
        letters = [found[name] for name in claim.names] if model["types"][DATA] <= POINTS else []
        return {**model, "letters": letters, "types": {**self.sizes, **model["types"]}}

    def poisson(self, case: PairCase) -> dict[str, Json]:
        """People, of whom each has a record; data sets are sets of them, those of the pair first."""
        rows = max(case.left, case.right, key=len)
        n, k = len(rows), case.place - 1
        drawn = self.sets(case.letters, n)
        sets = [places for places, _ in drawn]
        pair = [tuple(range(n)), (*range(k), *range(k + 1, n))]
        data = [*(pair if len(case.left) == n else pair[::-1]), *(one for one in sets if one not in pair)]
        apart = [[{*one} ^ {*other} for other in data] for one in data]

        def index(of: Sequence[tuple[int, ...]], places: Iterable[int]) -> int:
            return of.index(tuple(sorted({*places})))

        owner = [[min(both) if both else 0 for both in row] for row in apart]
        place = [
            [
                str((*other,).index(who) + 1) if who in other else "1"
                for other, who in zip(data, row, strict=True)
            ]
            for row in owner
        ]
        letters: dict[str, Json] = {
            **self.tables([tuple(rows[i] for i in one) for one in data]),
            "the place": place,
            "the law of sets": [str(chance) for _, chance in drawn],
            "with": [[index(sets, (*one, i)) for i in range(n)] for one in sets],
            "without": [[index(sets, {*one} - {i}) for i in range(n)] for one in sets],
            "the sample": [[index(data, {*one} & {*other}) for other in sets] for one in data],
            "the owner": owner,
        }
        near = [[i, j] for i, row in enumerate(apart) for j, both in enumerate(row) if len(both) == 1]
        return {
            "types": {DATA: len(data), PLACES: n, SETS: len(sets)}, "neighbors": {DATA: near}, "letters": letters
        }  # fmt: skip

    def fixed(self, case: PairCase) -> dict[str, Json]:
        """Two data sets; samples are the rows that come of places in any order."""
        n, sides = len(case.left), (case.left, case.right)
        sets = [places for places, _ in self.sets(case.letters, n)]
        rows = [[tuple(side[i] for i in places) for places in sets] for side in sides]
        data = [*dict.fromkeys(sample for side in rows for sample in side)]
        apart = [[[k for k, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]
                  for other in data] for one in data]  # fmt: skip

        def exchanged(places: tuple[int, ...], i: int, j: int) -> int:
            return sets.index(tuple({i: j, j: i}.get(k, k) for k in places))

        letters: dict[str, Json] = {
            **self.tables(data),
            "the place": [[str(both[0] + 1) if both else "1" for both in row] for row in apart],
            "has": [[i in places for i in range(n)] for places in sets],
            "exchanged": [[[exchanged(places, i, j) for j in range(n)] for i in range(n)] for places in sets],
            "the sample": [[data.index(sample) for sample in side] for side in rows],
            "the owner": [[case.place - 1] * 2] * 2,
        }
        near = [[i, j] for i, row in enumerate(apart) for j, both in enumerate(row) if len(both) <= 1]
        return {
            "types": {DATA: len(data), WHOLE: 2, PLACES: n, SETS: len(sets)}, "letters": letters,
            "neighbors": {DATA: near, WHOLE: [[0, 1], [1, 0]]},
        }  # fmt: skip


def _floats(letters: dict[str, Fraction]) -> dict[str, float]:
    return {name: float(value) for name, value in letters.items()}
