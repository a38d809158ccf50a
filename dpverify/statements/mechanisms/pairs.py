"""Pairs of data sets that break a mechanism's claim: searched in floating point, confirmed exactly by the checker."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from random import Random
from typing import Any, TypeAlias

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.terms import number
from dpverify.proving.checker.theorems.choices import masses_of
from dpverify.proving.checker.theorems.language import Node, named, parts_of, put
from dpverify.proving.checker.theorems.letters import points
from dpverify.proving.checker.theorems.lines import Line
from dpverify.proving.checker.theorems.models import Model, show
from dpverify.proving.checker.theorems.numbers import NO, made
from dpverify.proving.checker.theorems.outcomes import Point, TwoLines, constant
from dpverify.proving.checker.values import PRECISIONS, Values
from dpverify.proving.theorems.finite_models import FAILURES, GUARANTEES, FloatModel
from dpverify.proving.theorems.letters import TheoremLetter
from dpverify.statements.mechanisms.choices import law_of
from dpverify.statements.mechanisms.pages import MechanismOnPage, on
from dpverify.statements.mechanisms.proofs import MechanismClaim
from dpverify.statements.mechanisms.sensitivity import DATA, ONE

NUMBERS = tuple(map(Fraction, ("1", "1/2", "2", "0", "1/4", "3/4", "3", "4", "8", "1/10", "10", "-1")))
"""Values of public letters that are tried."""
WHOLE = tuple(map(Fraction, ("1", "2", "3", "4", "5", "6", "8", "0", "10", "20", "-1")))
PAIRS = 2000
"""Pairs that are tried."""
ASKED = 8
"""Pairs of which the checker is asked."""
ENOUGH = 20
"""Pairs that seem to break a claim, of which the clearest is taken."""
FEW, OF_ONE = 8, 120
"""Settings of public letters that are tried first, and pairs for each of them."""
LONGEST = 8
"""Records of a data set."""
CLEAR = 1e-9
"""How false a claim must be in floating point before the checker is asked."""


@dataclass(frozen=True)
class BrokenPair:
    """Two data sets whose outputs are further apart than is claimed."""

    letters: tuple[tuple[str, str], ...]
    """LaTeX of public letters, and their values."""
    left: tuple[tuple[str, ...], ...]
    """Records, each with its numbers."""
    right: tuple[tuple[str, ...], ...]
    event: str
    """What the output is to be."""
    needs: float
    """The epsilon at delta 0, the rho or the mu that this pair needs, rounded down; infinite where none suffices."""
    measure: str
    """What that is: `epsilon`, `rho` or `mu`."""
    probabilities: tuple[tuple[float, float], tuple[float, float]]
    """Of the event on both, between two numbers each."""
    model: Json
    """As the checker confirms it."""


@dataclass(frozen=True)
class PairSearch:
    """What a search found."""

    broken: BrokenPair | None
    """A pair that breaks the claim."""
    witness: Json
    """A pair of which all that is assumed is true, as a model; None if none was found."""
    tried: int
    """How many pairs were looked at."""


def search_pairs(
    mechanism: MechanismOnPage,
    claim: MechanismClaim,
    seed: int = 0,
    searcher: type[PairSearcher] | None = None,
) -> PairSearch:
    """Search for a pair that breaks the claim. Deterministic for a seed."""
    asked, tried, witness = 0, 0, None
    for size in (2, 3, 4):
        search = (searcher or PairSearcher)(
            mechanism, {name: size for name, _ in mechanism.types}, Random(f"{seed} {size}")
        )
        worst = list[tuple[float, PairCase]]()
        for case in islice(search.cases(), PAIRS):
            tried += 1
            margin = search.margin(case)
            if witness is None and asked < ASKED:
                asked += 1
                model = search.model(case, claim)
                witness = model if _true(claim, model) else None
            if margin is not None and margin < -CLEAR:
                worst.append((margin, case))
                if len(worst) >= search.enough:
                    break
        for _, case in sorted(worst, key=lambda one: (len(one[1].left), one[0])):
            asked += 1
            model = search.model(case, claim)
            if _true(claim, model, refuted=True):
                return PairSearch(search.shown(case, model, claim), witness, tried)
            if asked >= ASKED * size:
                break
        if not mechanism.types:
            break
    return PairSearch(None, witness, tried)


def _true(claim: MechanismClaim, model: Json, *, refuted: bool = False) -> bool:
    """Whether what is assumed is true in a model and, to refute it, what is claimed is false."""
    try:
        show(claim.clause, model, refuted)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class PairCase:
    """Values of public letters, and two data sets that differ in the record at a place."""

    letters: dict[str, Fraction]
    left: tuple[tuple[Fraction, ...], ...]
    right: tuple[tuple[Fraction, ...], ...]
    place: int


class PairSearcher:
    """A search for pairs, for some numbers of candidates."""

    enough = ENOUGH

    def __init__(self, mechanism: MechanismOnPage, sizes: dict[str, int], random: Random) -> None:
        self.mechanism, self.sizes, self.random = mechanism, sizes, random
        self.model_of = FloatModel(sizes, {})
        self.law = law_of(mechanism)
        self.code = self.model_of.code(self.law)
        head, *numbers = parts_of(mechanism.of("claim")[0].term)
        self.rule = GUARANTEES[named(head)]
        self.bounds = [self.model_of.code(one) for one in numbers]
        self.given = [self.model_of.margin(one) for one in mechanism.given]
        self.count = self.model_of.code(mechanism.records.last)
        self.sequences = dict[str, Json]()
        over = mechanism.records.over
        self.width = sizes.get(named(over.kind), 1) if over else 1
        written = {Fraction(n) for n in _numbers(self.law)}
        low, high = mechanism.records.low, mechanism.records.high
        near = [
            n
            for n in (Fraction(0), Fraction(1), *written)
            if low is None or n >= low
            if high is None or n <= high
        ]
        self.ends = sorted(
            {*(near if low is None or high is None else ()), *(n for n in (low, high) if n is not None)}
        )
        far = [n for n, end in ((Fraction(-10), low), (Fraction(10), high)) if end is None]
        inside = {n for n in written if self.ends[0] < n < self.ends[-1]}
        self.values = [
            *dict.fromkeys((*self.ends, *sorted(inside), (self.ends[0] + self.ends[-1]) / 2, *far))
        ]

    def options(self, letter: TheoremLetter) -> list[Fraction]:
        v = letter.number
        assert v is not None
        tried = WHOLE if letter.kind == "integer" else NUMBERS
        ends = [Fraction(end) for end in (v.lower, v.upper) if end is not None]
        found = [n for n in dict.fromkeys((*tried, *ends, *(e + 1 for e in ends))) if _fits(n, v)]
        if letter.kind == "integer":
            found.sort(key=lambda n: (abs(n), n))
        return found

    def cases(self) -> Iterator[PairCase]:
        letters = [one for one in self.mechanism.letters if one.number is not None]
        rows = [self.options(one)[:6] for one in letters]
        settings = [dict(zip((one.name for one in letters), row, strict=True)) for row in product(*rows)]
        settings = [one for one in settings if self.is_given(one)]
        settings.sort(key=lambda one: sum(map(abs, one.values())))
        few = settings[:FEW]
        for bare, some in ((True, few), (False, few), (True, settings[FEW:]), (False, settings[FEW:])):
            for one in some:
                try:
                    n = int(self.count({name: float(v) for name, v in one.items()}))
                except FAILURES:
                    continue
                if 1 <= n <= LONGEST:
                    yield from islice(self.pairs(one, n, bare), OF_ONE)

    def is_given(self, letters: dict[str, Fraction]) -> bool:
        """Whether letters are as the page assumes, as far as floating point tells."""
        env = {name: float(value) for name, value in letters.items()}
        try:
            return all(one(env) >= 0 for one in self.given)
        except FAILURES:
            return False

    def pairs(self, letters: dict[str, Fraction], n: int, ends_only: bool) -> Iterator[PairCase]:
        """Data sets with numbers at ends, then others."""
        values = self.ends if ends_only else self.values
        rows = [*product(values, repeat=self.width)]
        if len(rows) ** n <= 64:
            every = [*product(rows, repeat=n)]
        else:
            every = [tuple(self.random.choice(rows) for _ in range(n)) for _ in range(40)]
            every = [(row,) * n for row in rows[:8]] + every
        for left in every:
            for k in range(n):
                for row in rows:
                    if row != left[k]:
                        yield PairCase(letters, left, (*left[:k], row, *left[k + 1 :]), k + 1)

    def env(self, case: PairCase, rows: tuple[tuple[Fraction, ...], ...]) -> dict[str, Any]:
        def at(args: tuple[Any, ...]) -> float:
            k = int(args[0])
            if not 1 <= k <= len(rows):
                raise IndexError(k)
            return float(rows[k - 1][args[1] if len(args) > 1 else 0])

        return {**{k: float(v) for k, v in case.letters.items()}, self.mechanism.records.name: at}

    def margin(self, case: PairCase) -> float | None:
        """How far the claim is from being false; None where something has no value."""
        try:
            laws = [self.code(self.env(case, rows)) for rows in (case.left, case.right)]
            bounds = [one(self.env(case, case.left)) for one in self.bounds]
            return float(self.rule(*laws, *bounds))
        except (*FAILURES, IndexError):
            return None

    def model(self, case: PairCase, claim: MechanismClaim) -> Json:
        """The pair as a model of the claim."""
        found = self.entries(case, claim)
        sizes = {**self.sizes, **self.sequences, DATA: 2}
        return {
            "types": {name: sizes[name] for name, _ in claim.clause.types},
            "neighbors": {DATA: [[0, 1], [1, 0]]},
            "letters": [found[name] for name in claim.names],
        }

    def entries(self, case: PairCase, _: MechanismClaim) -> dict[str, Json]:
        """The pair as values of letters."""
        found: dict[str, Json] = {name: str(value) for name, value in case.letters.items()}
        below = [str(i) for i in range(1, len(case.left))]
        tables = []
        for rows in (case.left, case.right):
            entries: list[Json] = [
                [*map(str, row)] if self.mechanism.records.over else str(row[0]) for row in rows
            ]
            if self.mechanism.records.columns:
                entries = [
                    {"below": [*map(str, range(1, len(row)))], "then": [*map(str, row)]} for row in rows
                ]
            tables.append({"below": below, "then": entries})
        found[self.mechanism.records.name] = tables
        found["the place"] = [[str(case.place)] * 2] * 2
        return found

    def shown(self, case: PairCase, model: Json, claim: MechanismClaim) -> BrokenPair:
        """The pair with an event and its probabilities."""
        exact, new = Model(claim.clause, model), own_letters(claim)
        law = put(on(self.mechanism, self.law, ONE), new)
        laws: list[Any] = [
            masses_of(exact.value(law, {ONE: constant(place)})) for place in points(DATA, exact.sizes)
        ]
        bounds = [one(self.env(case, case.left)) for one in self.bounds]
        event, needs, probabilities = _event(laws, bounds[0])
        head, measure = parts_of(self.mechanism.of("claim")[0].term)[0], "epsilon"
        if head in ("concentrated", "gaussian"):
            pairs = (
                [laws]
                if isinstance(laws[0], Line)
                else [[law.first for law in laws], [law.second for law in laws]]
            )
            far = [(interval_of(q.at)[0] - interval_of(p.at)[0]) / interval_of(p.scale)[1] for p, q in pairs]
            square, measure = math.fsum(d * d for d in far), "rho" if head == "concentrated" else "mu"
            needs = math.nextafter(square / 2 if head == "concentrated" else math.sqrt(square), 0)
        letters = tuple(
            (one.latex, str(case.letters[one.name]))
            for one in self.mechanism.letters
            if one.name in case.letters
        )
        rows = [tuple(tuple(map(str, row)) for row in rows) for rows in (case.left, case.right)]
        return BrokenPair(letters, rows[0], rows[1], event, needs, measure, probabilities, model)


def own_letters(claim: MechanismClaim) -> dict[str, tuple[tuple[str, ...], Node]]:
    """What letters are in the claim's clause, by their names."""
    new = dict[str, tuple[tuple[str, ...], Node]]()
    for name, letter in zip(claim.names, parts_of(parts_of(claim.clause.body)[1]), strict=True):
        own, kinds, _ = parts_of(letter)
        params = tuple(f"!{k}" for k in range(len(parts_of(kinds))))
        new[name] = params, ("of", own, *(("sym", p) for p in params)) if params else ("sym", own)
    return new


_Ends: TypeAlias = "tuple[float, float]"


def _event(laws: list[Any], epsilon: float) -> tuple[str, float, tuple[_Ends, _Ends]]:
    """An event, the epsilon that two laws need, and the event's probabilities."""
    one, other = laws
    if isinstance(one, Line) and isinstance(other, Line):
        return _half_line(one, other, epsilon)
    if isinstance(one, TwoLines):
        halves = [
            _half_line(p, q, epsilon) for p, q in ((one.first, other.first), (one.second, other.second))
        ]
        low, high = ([math.prod(half[2][side][end] for half in halves) for side in (0, 1)] for end in (0, 1))
        event = " and ".join(
            f"{word} {half[0]}" for word, half in zip(("first", "second"), halves, strict=True)
        )
        return event, math.fsum(half[1] for half in halves), ((low[0], high[0]), (low[1], high[1]))
    p, q = dict(one.masses), dict(other.masses)
    inside = [v for v in p if interval_of(p[v])[0] > math.exp(epsilon) * interval_of(q.get(v, NO))[1]]
    ratios = [
        interval_of(p[v])[0] / interval_of(q.get(v, NO))[1] if interval_of(q.get(v, NO))[1] else math.inf
        for v in p
    ]
    chances = [made("add", *(law.get(v, NO) for v in inside)) for law in (p, q)]
    names = [f"number {v.index + 1}" if isinstance(v, Point) else str(v.number) for v in inside]
    return (
        f"output is {' or '.join(names)}",
        math.log(max(ratios)),
        (interval_of(chances[0]), interval_of(chances[1])),
    )


def _half_line(one: Line, other: Line, epsilon: float) -> tuple[str, float, tuple[_Ends, _Ends]]:
    """The same of two laws of a family: where one is far above the other."""
    at, scales = one.at, [interval_of(law.scale)[0] for law in (one, other)]
    gap = abs(interval_of(one.at)[0] - interval_of(other.at)[0])
    needs = math.nextafter(gap / scales[0], 0) if one.family == "laplace" else math.inf
    if scales[0] > scales[1]:
        needs = math.inf
        at = made(
            "add",
            at,
            made(
                "mul",
                number(Fraction(1 + math.ceil(4 * (epsilon + gap + 1) / (1 - scales[1] / scales[0])))),
                one.scale,
            ),
        )
    above = interval_of(other.at)[0] <= interval_of(at)[0]
    ends = [interval_of(law.below(at)) for law in (one, other)]
    chances = [(1 - high, 1 - low) if above else (low, high) for low, high in ends]
    return f"output {'>=' if above else '<='} {interval_of(at)[0]:.6g}", needs, (chances[0], chances[1])


def interval_of(term: Any) -> tuple[float, float]:
    found = Values({}, PRECISIONS[0]).interval(term)
    return float(Fraction(found.low, 1 << PRECISIONS[0])), float(Fraction(found.high, 1 << PRECISIONS[0]))


def _numbers(node: Node) -> Iterator[str]:
    if isinstance(node, tuple):
        if node[:1] == ("num",):
            yield named(node[1])
        for part in node:
            yield from _numbers(part)


def _fits(n: Fraction, v: Any) -> bool:
    low = v.lower is None or n > v.lower or (n == v.lower and not v.lower_open)
    return bool(low and (v.upper is None or n < v.upper or (n == v.upper and not v.upper_open)))
