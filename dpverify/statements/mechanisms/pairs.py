"""Pairs of data sets that break a mechanism's claim: searched in floating point, confirmed exactly by the checker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from random import Random
from typing import Any

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.theorems.language import Node, named, parts_of, put
from dpverify.proving.checker.theorems.models import Finite, Model, look
from dpverify.proving.checker.theorems.lines import Line
from dpverify.proving.checker.values import PRECISIONS, Values
from dpverify.proving.theorems.finite_models import FAILURES, GUARANTEES, FloatModel
from dpverify.proving.theorems.letters import TheoremLetter
from dpverify.statements.mechanisms.pages import MechanismOnPage, on
from dpverify.statements.mechanisms.proofs import MechanismClaim
from dpverify.statements.mechanisms.sensitivity import DATA

NUMBERS = tuple(map(Fraction, ("1", "1/2", "2", "0", "1/4", "3/4", "3", "4", "8", "1/10", "10", "-1")))
"""Values of public letters that are tried."""
WHOLE = tuple(map(Fraction, ("1", "2", "3", "4", "5", "6", "8", "0", "10", "20", "-1")))
PAIRS = 6000
"""Pairs that are tried."""
ASKED = 8
"""Pairs of which the checker is asked."""


@dataclass(frozen=True)
class BrokenPair:
    """Two data sets whose outputs are further apart than is claimed."""

    letters: tuple[tuple[str, str], ...]
    """LaTeX of public letters, and their values."""
    left: tuple[tuple[str, ...], ...]
    """Records, each with its numbers."""
    right: tuple[tuple[str, ...], ...]
    event: str
    probabilities: tuple[tuple[float, float], tuple[float, float]]
    """Of the event on both, between two numbers each."""
    model: Json
    """As the checker confirms it."""


def broken_pair(mechanism: MechanismOnPage, claim: MechanismClaim, seed: int = 0) -> BrokenPair | None:
    """A pair that breaks the claim; None if none is found. Deterministic for a seed."""
    asked, tried = 0, 0
    for size in (2, 3, 4):
        search = _Search(mechanism, {name: size for name, _ in mechanism.types}, Random(f"{seed} {size}"))
        best = list[tuple[float, Any]]()
        for case in islice(search.cases(), PAIRS if mechanism.types else PAIRS):
            tried += 1
            margin = search.margin(case)
            if margin is not None and margin < -1e-9:
                best.append((margin, case))
                if len(best) >= 20:
                    break
        for _, case in sorted(best, key=lambda one: (len(one[1].left), one[0])):
            model = search.model(case, claim)
            asked += 1
            with suppress(ValueError):
                seen = look(claim.clause, model)
                if min(seen.premises, default=1) == 1 and seen.claim == -1:
                    return search.shown(case, model, claim)
            if asked >= ASKED:
                return None
        if not mechanism.types:
            break
    return None


@dataclass(frozen=True)
class _Case:
    letters: dict[str, Fraction]
    left: tuple[tuple[Fraction, ...], ...]
    right: tuple[tuple[Fraction, ...], ...]
    place: int


class _Search:
    def __init__(self, mechanism: MechanismOnPage, sizes: dict[str, int], random: Random) -> None:
        self.mechanism, self.sizes, self.random = mechanism, sizes, random
        self.model_of = FloatModel(sizes, {})
        self.law = mechanism.of("draw")[0].term
        self.code = self.model_of.code(self.law)
        head, *numbers = parts_of(mechanism.of("claim")[0].term)
        self.rule = GUARANTEES[named(head)]
        self.bounds = [self.model_of.code(one) for one in numbers]
        self.count = self.model_of.code(mechanism.records.last)
        self.width = sizes[named(mechanism.records.over.kind)] if mechanism.records.over else 1
        written = {Fraction(n) for n in _numbers(self.law)}
        low, high = mechanism.records.low, mechanism.records.high
        near = {Fraction(-10) if low is None else low, Fraction(10) if high is None else high}
        inside = {n for n in written if min(near) < n < max(near)}
        self.ends = sorted(near)
        self.values = [*self.ends, *sorted(inside), (self.ends[0] + self.ends[1]) / 2]

    def options(self, letter: TheoremLetter) -> list[Fraction]:
        v = letter.number
        assert v is not None
        tried = WHOLE if letter.kind == "integer" else NUMBERS
        ends = [Fraction(end) for end in (v.lower, v.upper) if end is not None]
        found = [n for n in dict.fromkeys((*tried, *ends, *(e + 1 for e in ends))) if _fits(n, v)]
        if letter.kind == "integer":
            found.sort(key=lambda n: (abs(n), n))
        return found

    def cases(self) -> Iterator[_Case]:
        letters = [one for one in self.mechanism.letters if one.number is not None]
        rows = [self.options(one)[:6] for one in letters]
        settings = [dict(zip((one.name for one in letters), row, strict=True)) for row in product(*rows)]
        settings.sort(key=lambda one: sum(map(abs, one.values())))
        for bare in (True, False):
            for letters_ in settings[:60]:
                try:
                    n = int(self.count({k: float(v) for k, v in letters_.items()}))
                except FAILURES:
                    continue
                if 1 <= n <= 8:
                    yield from islice(self.pairs(letters_, n, bare), 200 if bare else 300)

    def pairs(self, letters: dict[str, Fraction], n: int, ends_only: bool) -> Iterator[_Case]:
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
                        yield _Case(letters, left, (*left[:k], row, *left[k + 1 :]), k + 1)

    def env(self, case: _Case, rows: tuple[tuple[Fraction, ...], ...]) -> dict[str, Any]:
        def at(args: tuple[Any, ...]) -> float:
            return float(rows[int(args[0]) - 1][args[1] if len(args) > 1 else 0])

        return {**{k: float(v) for k, v in case.letters.items()}, self.mechanism.records.name: at}

    def margin(self, case: _Case) -> float | None:
        """How far the claim is from being false; None where something has no value."""
        try:
            laws = [self.code(self.env(case, rows)) for rows in (case.left, case.right)]
            bounds = [one(self.env(case, case.left)) for one in self.bounds]
            return float(self.rule(*laws, *bounds))
        except (*FAILURES, IndexError):
            return None

    def model(self, case: _Case, claim: MechanismClaim) -> Json:
        """The pair as a model of the claim."""
        found: dict[str, Json] = {name: str(value) for name, value in case.letters.items()}
        below = [str(i) for i in range(1, len(case.left))]
        tables = []
        for rows in (case.left, case.right):
            entries = [[*map(str, row)] if self.mechanism.records.over else str(row[0]) for row in rows]
            tables.append({"below": below, "then": entries})
        found[self.mechanism.records.name] = tables
        found["the place"] = [[str(case.place)] * 2] * 2
        sizes = {**self.sizes, DATA: 2}
        return {
            "types": {name: sizes[name] for name, _ in claim.clause.types},
            "neighbors": {DATA: [[0, 1], [1, 0]]},
            "letters": [found[name] for name in claim.names],
        }

    def shown(self, case: _Case, model: Json, claim: MechanismClaim) -> BrokenPair:
        """The pair with an event and its probabilities."""
        exact, new = Model(claim.clause, model), dict[str, tuple[tuple[str, ...], Node]]()
        for name, letter in zip(claim.names, parts_of(parts_of(claim.clause.body)[1]), strict=True):
            own, kinds, _ = parts_of(letter)
            params = tuple(f"!{k}" for k in range(len(parts_of(kinds))))
            new[name] = params, ("of", own, *(("sym", p) for p in params)) if params else ("sym", own)
        law = put(on(self.mechanism, self.law, "D"), new)
        laws = [exact.value(law, {"D": lambda _, k=k: exact.points(DATA)[k]}) for k in (0, 1)]
        bounds = [one(self.env(case, case.left)) for one in self.bounds]
        event, probabilities = _event(laws, bounds[0])
        letters = tuple((one.latex, str(case.letters[one.name])) for one in self.mechanism.letters if one.name in case.letters)
        rows = [tuple(tuple(map(str, row)) for row in rows) for rows in (case.left, case.right)]
        return BrokenPair(letters, rows[0], rows[1], event, probabilities, model)


def _event(laws: list[Any], epsilon: float) -> tuple[str, tuple[tuple[float, float], tuple[float, float]]]:
    one, other = laws
    if isinstance(one, Line) and isinstance(other, Line):
        at = one.at
        above = _interval(other.at)[0] <= _interval(at)[0]
        if one.family == "normal":
            at = one.at
        sides = [law.below(at) for law in (one, other)]
        chances = [_interval(side) for side in sides]
        if above:
            chances = [(1 - high, 1 - low) for low, high in chances]
        sign = ">=" if above else "<="
        return f"output {sign} {_interval(at)[0]:.6g}", (chances[0], chances[1])
    assert isinstance(one, Finite) and isinstance(other, Finite)
    p, q = dict(one.masses), dict(other.masses)
    names, total = list[str](), [[0.0, 0.0], [0.0, 0.0]]
    for k, value in enumerate(p):
        masses = [_interval(p[value]), _interval(q[value])]
        if masses[0][0] > 2.718281828459045**epsilon * masses[1][1]:
            names.append(f"candidate {k + 1}")
            for row, mass in zip(total, masses, strict=True):
                row[0] += mass[0]
                row[1] += mass[1]
    return "output is " + " or ".join(names), ((total[0][0], total[0][1]), (total[1][0], total[1][1]))


def _interval(term: Any) -> tuple[float, float]:
    found = Values({}, PRECISIONS[0]).interval(term)
    return tuple(float(Fraction(end, 1 << PRECISIONS[0])) for end in (found.low, found.high))


def _numbers(node: Node) -> Iterator[str]:
    if isinstance(node, tuple):
        if node[:1] == ("num",):
            yield named(node[1])
        for part in node:
            yield from _numbers(part)


def _fits(n: Fraction, v: Any) -> bool:
    low = v.lower is None or n > v.lower or (n == v.lower and not v.lower_open)
    return bool(low and (v.upper is None or n < v.upper or (n == v.upper and not v.upper_open)))
