"""Pairs of data sets that break a mechanism's claim: searched in floating point, confirmed exactly by the checker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from random import Random
from typing import Any, TypeAlias

from dpverify.checks import FloatArray
from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.theorems.choices import masses_of
from dpverify.proving.checker.theorems.language import Node, free, named, parts_of
from dpverify.proving.checker.theorems.letters import points
from dpverify.proving.checker.theorems.models import Model, show
from dpverify.proving.checker.theorems.outcomes import Finite, Value, constant
from dpverify.proving.theorems.finite_models import FAILURES, FloatModel
from dpverify.proving.theorems.letters import TheoremLetter
from dpverify.proving.theorems.sequences import numbers_in
from dpverify.proving.theorems.spreads import Spread, margin, steady, views
from dpverify.statements.mechanisms.pages import MechanismOnPage
from dpverify.statements.mechanisms.pairs.breaking import Breaking, ExactPair
from dpverify.statements.mechanisms.proofs.choices import law_of
from dpverify.statements.mechanisms.proofs.claims import MechanismClaim
from dpverify.statements.mechanisms.proofs.ranges import DATA

Rows: TypeAlias = "tuple[tuple[Fraction, ...], ...]"
"""Records of a data set, each with its numbers."""
NUMBERS = tuple(map(Fraction, ("1", "1/2", "2", "0", "-1", "1/4", "3/4", "3", "4", "8", "1/10", "10")))
"""Values of public letters that are tried."""
FURTHER = tuple(map(Fraction, ("1/100", "20", "1/1000", "100", "1e-6", "1e-12", "1e-20")))
"""Values that are tried on the way from the best pairs: ends of domains."""
WHOLE = tuple(map(Fraction, ("1", "2", "3", "4", "5", "6", "8", "0", "10", "20", "-1")))
PAIRS, STEPS = 1500, 500
"""Pairs that are tried, and steps from the best of them."""
ASKED = 8
"""Pairs of which the checker is asked."""
VIEWS = 12
"""Cells of which it is asked for one pair."""
ENOUGH = 20
"""Pairs that seem to break a claim, of which the clearest is taken."""
BEST = 4
"""Pairs from which steps are taken."""
FEW, OF_ONE = 8, 120
"""Settings of public letters that are tried first, and pairs for each of them."""
LONGEST, MANY = 100, 30
"""Records of a data set; and of one that the checker goes through record by record."""
CLEAR = 1e-9
"""How false a claim must be in floating point before the checker is asked."""


@dataclass(frozen=True)
class BrokenPair(Breaking):
    """Two data sets whose outputs are further apart than is claimed."""

    letters: tuple[tuple[str, str], ...]
    """LaTeX of public letters, and their values."""
    left: tuple[tuple[str, ...], ...]
    """Records, each with its numbers."""
    right: tuple[tuple[str, ...], ...]
    model: Json
    """As the checker confirms it."""


@dataclass(frozen=True)
class PairCase:
    """Values of public letters, and two data sets that differ in the record at a place.

    Where one has a record more, the number of records of that one is among the letters, and the place is in it.
    """

    letters: dict[str, Fraction]
    left: tuple[tuple[Fraction, ...], ...]
    right: tuple[tuple[Fraction, ...], ...]
    place: int

    @property
    def size(self) -> tuple[int, int]:
        """How many records it has and, where these are many, how often they change."""
        rows = max(self.left, self.right, key=len)
        return len(rows), sum(rows[i] != rows[i - 1] for i in range(1, len(rows))) * (len(rows) > MANY)


@dataclass(frozen=True)
class PairSearch:
    """What a search found."""

    broken: BrokenPair | None
    """A pair that breaks the claim."""
    witness: Json
    """A pair of which all that is assumed is true, as a model; None if none is found, or one answer breaks it."""
    tried: int
    """How many pairs were looked at."""
    nearest: PairCase | None
    """The pair that comes nearest to breaking the claim, as far as that is seen; else some pair."""
    sizes: dict[str, int]
    """Of that pair, how many candidates there are."""


def search_pairs(
    mechanism: MechanismOnPage,
    claim: MechanismClaim,
    seed: int = 0,
    searcher: type[PairSearcher] | None = None,
) -> PairSearch:
    """Search for a pair that breaks the claim. Deterministic for a seed."""
    tried, witness, nearest = 0, None, None
    for size in (2, 3, 4) if mechanism.types else (2,):
        sizes = {name: size for name, _ in mechanism.types}
        search = (searcher or PairSearcher)(mechanism, sizes, Random(f"{seed} {size}"))
        found = search.found()
        tried += search.tried
        nearest = nearest or (found[0][1] if found else search.moderate())
        broken = [(far, one) for far, one in found if far < -CLEAR]
        for _, case in sorted(broken, key=lambda one: (one[1].size, one[0]))[:ASKED]:
            confirmed = search.confirmed(case, claim)
            if confirmed is not None:
                witness = witness or search.witness_of(case, claim)
                return PairSearch(search.shown(case, confirmed, claim), witness, tried, case, sizes)
        for some in (search.some or search.plain(), *(one for _, one in found[:1])):
            if witness is None and some is not None:
                witness = search.assumed_in(some, claim)
    return PairSearch(None, witness, tried, nearest, {name: 2 for name, _ in mechanism.types})


def holds(claim: MechanismClaim, model: Json, *, refuted: bool = False) -> bool:
    """Whether what is assumed is true in a model and, to refute it, what is claimed is false."""
    try:
        show(claim.clause, model, refuted)
    except ValueError:
        return False
    return True


class PairSearcher:
    """A search for pairs, for some numbers of candidates."""

    enough, steps, patience, most, of_one = ENOUGH, STEPS, PAIRS, PAIRS, OF_ONE

    def __init__(self, mechanism: MechanismOnPage, sizes: dict[str, int], random: Random) -> None:
        self.mechanism, self.sizes, self.random = mechanism, sizes, random
        self.model_of = FloatModel(sizes, {})
        self.law = law_of(mechanism)
        self.code = self.model_of.code(self.law)
        head, *numbers = parts_of(mechanism.of("claim")[0].term)
        self.head = named(head)
        self.bounds = [self.model_of.code(one) for one in numbers]
        self.given = [self.model_of.margin(one) for one in mechanism.given]
        self.count = self.model_of.code(mechanism.records.last)
        self.sequences, self.codes = dict[str, Json](), dict[Node, Any]()
        self.public = [one for one in mechanism.letters if one.number is not None]
        self.letters = [one for one in mechanism.sized_letters if one.number is not None]
        self.orders = {one.name: itself for one in mechanism.letters if one.arguments == ("integer",)}
        self.functions = {
            one.name: [*map(Fraction, range(sizes[named(one.arguments[0])]))] for one in mechanism.letters
            if len(one.arguments) == 1 and one.kind == "real" and one.arguments[0] in sizes
        }  # fmt: skip
        """Functions of candidates, which are tried with their numbers from 0 on."""
        self.tried, self.spreads = 0, dict[tuple[Any, ...], Spread]()
        self.some: PairCase | None = None
        over = mechanism.records.over
        width = self.width(sizes.get(named(over.kind), 1) if over else 1)
        written = numbers_in(self.law)
        low, high = mechanism.records.low, mechanism.records.high
        near = [
            n
            for n in (Fraction(0), Fraction(1), *written)
            if (low is None or n >= low) and (high is None or n <= high)
        ]
        ends = {*(near if low is None or high is None else ()), *(n for n in (low, high) if n is not None)}
        far = [n for n, end in ((Fraction(-10), low), (Fraction(10), high)) if end is None]
        inside = {n for n in written if min(ends) < n < max(ends)}
        self.ends = sorted(ends)
        values = dict.fromkeys((*self.ends, *sorted(inside), (min(ends) + max(ends)) / 2, *far))
        self.rows = {bare: [*product(self.ends if bare else values, repeat=width)] for bare in (True, False)}

    def width(self, candidates: int) -> int:
        """How many numbers a record has."""
        columns = self.mechanism.records.columns
        return int(named(columns[1])) if columns and columns[0] == "num" else candidates

    def options(self, letter: TheoremLetter) -> list[Fraction]:
        v = letter.number
        assert v is not None
        tried, further = (WHOLE, ()) if letter.kind == "integer" else (NUMBERS, FURTHER)
        of_it = [k for k, one in enumerate(self.mechanism.given) if free(one) == {letter.name}]
        ends = [Fraction(end) for end in (v.lower, v.upper) if end is not None]
        said = [n for k in of_it for n in sorted(numbers_in(self.mechanism.given[k]))]
        ends += [end for n in said for end in (n, *([1 / n] if n and letter.kind != "integer" else []))]
        near = [n for e in ends for n in (e, e + 1, e - 1, *([] if letter.kind == "integer" else [e / 2]))]
        found = [
            n
            for n in dict.fromkeys((*tried, *near, *further))
            if v.contains(n) and self.holds({letter.name: float(n)}, of_it)
        ]
        if letter.kind == "integer":
            found.sort(key=lambda n: (abs(n), n))
        return found

    def holds(self, env: dict[str, Any], assumed: Iterable[int]) -> bool:
        """Whether some of what is assumed of letters is true."""
        try:
            return all(self.given[k](env) >= 0 for k in assumed)
        except FAILURES:
            return False

    def records(self, letters: dict[str, Fraction]) -> int:
        """How many records there are, in one that has a record more than another; 0 where that is not tried.

        Also where letters are not as the page assumes.
        """
        env: dict[str, Any] = {name: float(v) for name, v in letters.items()} | self.orders
        try:
            n = int(self.count(env)) if self.holds(env, range(len(self.given))) else 0
        except FAILURES:
            return 0
        size = self.mechanism.size.number if self.mechanism.size else None
        fewer = size is None or size.contains(Fraction(n - 1))
        return n if 1 <= n <= LONGEST and fewer else 0

    def settings(self) -> Iterator[dict[str, Fraction]]:
        """Values of public letters."""
        for row in product(*(self.options(one)[:6] for one in self.letters)):
            letters = dict(zip((one.name for one in self.letters), row, strict=True))
            if self.records(letters):
                yield letters

    def cases(self) -> Iterator[PairCase]:
        settings = sorted(self.settings(), key=lambda one: sum(map(abs, one.values())))
        few = settings[:FEW]
        for bare, some in ((True, few), (False, few), (True, settings[FEW:]), (False, settings[FEW:])):
            for one in some:
                if n := self.records(one):
                    yield from islice(self.pairs(one, n, self.rows[bare]), self.of_one)

    def pairs(
        self, letters: dict[str, Fraction], n: int, rows: list[tuple[Fraction, ...]]
    ) -> Iterator[PairCase]:
        """Data sets of some rows; at first those in which one candidate gains what all others lose."""
        low, high, width = self.ends[0], self.ends[-1], len(rows[0])
        gains, losses = ((end, *(low + high - end,) * (width - 1)) for end in (low, high))
        for rest in (low, high) if width > 1 and not self.mechanism.size else ():
            for one, other in ((gains, losses), (losses, gains)):
                others = ((rest,) * width,) * (n - 1)
                yield PairCase(letters, (one, *others), (other, *others), 1)
        if len(rows) ** n <= 64:
            every = [*product(rows, repeat=n)]
        else:
            every = [tuple(self.random.choice(rows) for _ in range(n)) for _ in range(40)]
            every = [(row,) * n for row in rows[:8]] + every
        for left in every:
            for k in range(n):
                yield from (self.pair(letters, left, k, row) for row in self.others(left[k], rows))

    def others(
        self, row: tuple[Fraction, ...], rows: Sequence[tuple[Fraction, ...]]
    ) -> Iterator[tuple[Fraction, ...] | None]:
        """What may stand for a record in a neighbor; where one has a record more, nothing."""
        return iter([None, ()]) if self.mechanism.size else (one for one in rows if one != row)

    def pair(
        self, letters: dict[str, Fraction], left: Sequence[tuple[Fraction, ...]], k: int,
        row: tuple[Fraction, ...] | None,
    ) -> PairCase:  # fmt: skip
        """A data set and one with another record; for None without the record, for () the other way around."""
        if row:
            return PairCase(letters, tuple(left), (*left[:k], row, *left[k + 1 :]), k + 1)
        sides = tuple(left), (*left[:k], *left[k + 1 :])
        return PairCase(letters, *(sides if row is None else sides[::-1]), k + 1)

    def found(self) -> list[tuple[float, PairCase]]:
        """Pairs, those that break the claim most first: of many, and on the way from the best of these."""
        found, broken = list[tuple[float, PairCase]](), 0
        for case in islice(self.cases(), self.most):
            self.some = self.some or case
            if (far := self.margin(case)) is not None:
                far = steady(far)
                found.append((far, case))
                broken += far < -CLEAR
            if broken >= self.enough or (not found and self.tried >= self.patience):
                break
        found.sort(key=lambda one: one[0])
        best = found[:BEST]
        for _ in range(self.steps if best and not broken else 0):
            k = self.random.randrange(len(best))
            at = self.step(best[k][1])
            less = None if at is None else self.margin(at)
            if at is not None and less is not None and (less := steady(less)) < best[k][0]:
                best[k] = less, at
                if less < -CLEAR:
                    break
        return sorted([*best, *found[: 2 * ENOUGH]], key=lambda one: one[0])

    def plain(self) -> PairCase | None:
        """A pair of which only what is assumed is looked at, where no pair is tried; None if there is none."""
        return None

    def moderate(self) -> PairCase | None:
        """Some pair, where public letters are near 1, whole ones near 3."""
        near = [3 if one.kind == "integer" else 1 for one in self.letters]
        known = [
            (sum(abs(v - m) for v, m in zip(one.values(), near, strict=True)), k, one)
            for k, one in enumerate(self.settings())
        ]
        if not known:
            return None
        letters = min(known)[2]
        return next(self.pairs(letters, self.records(letters), self.rows[True]), None)

    def step(self, case: PairCase) -> PairCase | None:
        """A change of one record, of all others, of the place, or of a public letter; None where that is no pair."""
        rows, k, kind = self.rows[False], case.place - 1, self.random.randrange(5)
        row, left = self.random.choice(rows), [*max(case.left, case.right, key=len)]
        right: tuple[Fraction, ...] | None = case.right[k] if self.mechanism.size is None else None
        if len(case.left) < len(case.right):
            right = ()
        n, letters, mine = len(left), case.letters, left[k]
        if kind == 4 and self.letters:
            letter = self.random.choice(self.letters)
            assert letter.number is not None
            more = self.options(letter)
            old = letters[letter.name]
            more += [old + 1, old - 1, 2 * old] if letter.kind == "integer" else [old * 2, old / 2]
            letters = {**letters, letter.name: self.random.choice(more)}
            n = self.records(letters) if letter.number.contains(letters[letter.name]) else 0
            if not n:
                return None
            others = [one for i, one in enumerate(left) if i != k] or [mine]
            left = [others[i % len(others)] for i in range(n)]
            k = min(k, n - 1)
            left[k] = mine
        elif kind == 0:
            left = [one if i == k else row for i, one in enumerate(left)]
        elif kind == 1:
            left[self.random.randrange(n)] = row
        elif kind == 2:
            right = row if self.mechanism.size is None else () if right is None else None
        else:
            k = self.random.randrange(n)
            left[k], left[case.place - 1] = left[case.place - 1], left[k]
        return None if left[k] == right else self.pair(letters, left, k, right)

    def env(self, case: PairCase, rows: tuple[tuple[Fraction, ...], ...]) -> dict[str, Any]:
        at = record_at(rows, self.mechanism)
        numbers = {k: float(v) for k, v in case.letters.items()}
        found: dict[str, Any] = {**numbers, **self.orders, self.mechanism.records.name: at}
        found |= dict.fromkeys(self.functions, numbered)
        return found | ({self.mechanism.size.name: float(len(rows))} if self.mechanism.size else {})

    def valued(self, node: Node) -> Any:
        """A term as a function of letters."""
        if node not in self.codes:
            self.codes[node] = self.model_of.code(node)
        return self.codes[node]

    def spread_on(self, case: PairCase, rows: Rows) -> Spread:
        """The law of the output, on a data set."""
        return self.spread(self.env(case, rows))

    def spread(self, env: dict[str, Any]) -> Spread:
        """The law of the output."""
        found: Spread = self.code(env)
        return found

    def laws(self, case: PairCase) -> tuple[Spread, Spread, list[float]]:
        """Both laws, and what is claimed, in floating point."""
        letters = tuple(case.letters.items())
        for rows in (case.left, case.right):
            if (letters, rows) not in self.spreads:
                self.spreads[letters, rows] = self.spread_on(case, rows)
        one, other = (self.spreads[letters, rows] for rows in (case.left, case.right))
        return one, other, [float(bound(self.env(case, case.left))) for bound in self.bounds]

    def margin(self, case: PairCase) -> float | None:
        """How far the claim is from being false; None where something has no value, or is not worked out."""
        self.tried += 1
        try:
            one, other, bounds = self.laws(case)
            return margin(self.head, one, other, bounds)
        except (*FAILURES, IndexError):
            return None

    def model(self, case: PairCase, claim: MechanismClaim) -> dict[str, Json]:
        """The pair as a model of the claim."""
        found, sizes = self.entries(case, claim), {**self.sizes, **self.sequences, DATA: 2}
        return {
            "types": {name: sizes[name] for name, _ in claim.clause.types},
            "neighbors": {DATA: [[0, 1], [1, 0]]},
            "letters": [found[name] for name in claim.names],
        }

    def assumed_in(self, case: PairCase, claim: MechanismClaim) -> dict[str, Json] | None:
        """The pair as a model in which all that is assumed is true; None where it is not seen to be."""
        model = self.model(case, claim)
        return model if holds(claim, model) else None

    def witness_of(self, broken: PairCase, claim: MechanismClaim) -> dict[str, Json] | None:
        """The same of a pair that breaks the claim."""
        return self.assumed_in(broken, claim)

    def entries(self, case: PairCase, _: MechanismClaim) -> dict[str, Json]:
        """The pair as values of letters."""
        found: dict[str, Json] = {name: str(value) for name, value in case.letters.items()}
        found |= {name: {"params": ["i"], "term": ["sym", "i"]} for name in self.orders}
        found |= self.tables([case.left, case.right])
        found |= {name: [*map(str, values)] for name, values in self.functions.items()}
        found["the place"] = [[str(case.place)] * 2] * 2
        return found

    def tables(self, sides: Sequence[Rows]) -> dict[str, Json]:
        """The records of data sets, and how many they are where that is not public, as values of letters."""
        tables, some, size = [], max(sides, key=len), self.mechanism.size
        for rows in (rows or some for rows in sides):
            entries: list[Json] = [*rows]
            for k, row in enumerate(rows):
                entries[k] = [*map(str, row)] if self.mechanism.records.over else str(row[0])
                if self.mechanism.records.columns:
                    entries[k] = in_steps([*map(str, row)])
            tables.append(in_steps(entries))
        found: dict[str, Json] = {self.mechanism.records.name: tables}
        return found | ({size.name: [str(len(rows)) for rows in sides]} if size else {})

    def confirmed(self, case: PairCase, claim: MechanismClaim) -> dict[str, Json] | None:
        """The pair as a model that refutes the claim, with cells where laws are of numbers; None if none does."""
        plain, laws = self.model(case, claim), self.laws(case)
        models = self.models(plain, *laws) if holds(claim, plain) else ()
        return next((model for model in models if holds(claim, model, refuted=True)), None)

    def models(
        self, plain: dict[str, Json], one: Spread, other: Spread, bounds: list[float]
    ) -> Iterator[dict[str, Json]]:
        """The pair as models, with cells and without."""
        yield from (
            {**plain, "cells": cells} for cells in islice(views(self.head, one, other, bounds), VIEWS)
        )
        yield plain

    def values(self, _: PairCase) -> dict[Value, str]:
        """How values of the output are said that are points."""
        return {}

    def shown(self, case: PairCase, model: dict[str, Json], claim: MechanismClaim) -> BrokenPair:
        """The pair with what it needs and, of an (epsilon, delta), an event."""
        exact = Model(claim.clause, model)
        _, letter, law, *numbers = parts_of(parts_of(claim.clause.body)[3])
        name, kind = map(named, parts_of(letter))
        data = points(kind, exact.sizes)[:2]
        laws = [masses_of(exact.value(law, {name: constant(place)})) for place in data]
        bounds = [exact.number(one, {}) for one in numbers]
        one, other, _ = self.laws(case)
        cells = None if any(isinstance(law, Finite) for law in laws) else exact.cells
        pair = ExactPair(laws[0], laws[1], cells, (one, other), self.values(case))
        seen = pair.broken(self.head, bounds)
        letters = tuple((one.latex, str(case.letters[one.name])) for one in self.public)
        rows = [tuple(tuple(map(str, row)) for row in rows) for rows in (case.left, case.right)]
        return BrokenPair(**vars(seen), letters=letters, left=rows[0], right=rows[1], model=model)


def record_at(rows: Rows | FloatArray, mechanism: MechanismOnPage) -> Callable[[tuple[Any, ...]], float]:
    """A data set's records as a function of their indices; others are refused (IndexError)."""
    first = 1 if mechanism.records.columns else 0

    def at(args: tuple[Any, ...]) -> float:
        k, j = int(args[0]), int(args[1]) - first if len(args) > 1 else 0
        if not (1 <= k <= len(rows) and 0 <= j < len(rows[0])):
            raise IndexError(k)
        return float(rows[k - 1][j])

    return at


def in_steps(values: Sequence[Json]) -> Json:
    """Values of the numbers from 1 on: what they are up to each number behind which they change."""
    ends = [k for k in range(1, len(values)) if values[k] != values[k - 1]]
    return {"below": [*map(str, ends)], "then": [*(values[k - 1] for k in ends), values[-1]]}


def itself(at: tuple[Any, ...]) -> Any:
    """The permutation that changes nothing, which is the one that is tried."""
    return at[0]


def numbered(at: tuple[Any, ...]) -> float:
    """The number of a candidate, from 0 on."""
    return float(at[0])


def own_letters(claim: MechanismClaim) -> dict[str, tuple[tuple[str, ...], Node]]:
    """What letters are in the claim's clause, by their names."""
    new = dict[str, tuple[tuple[str, ...], Node]]()
    for name, letter in zip(claim.names, parts_of(parts_of(claim.clause.body)[1]), strict=True):
        own, kinds, _ = parts_of(letter)
        params = tuple(f"!{k}" for k in range(len(parts_of(kinds))))
        new[name] = params, ("of", own, *(("sym", p) for p in params)) if params else ("sym", own)
    return new
