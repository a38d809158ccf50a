"""The search for a counterexample at sizes met in practice, to a formula that has one.

Numbers that are easy to read come first (`sizes.readable`), in blocks, and from the first block with a counterexample
one at which the formula fails by most. Letters that an equation among the assumptions fixes, and logarithms of other
letters, follow from these; then also letters that assumptions bound, which go as far as these let them. Then come
numbers from anywhere in the lists, and what a prover proposes. As in any search here, floats only propose: a point
counts once it is confirmed in exact fractions or by balls that decide, assumptions included.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from dpverify.analyses.following import Array, Columns, LetterRule, rules_of
from dpverify.analyses.sizes import LogOf, Size, consistent, readable, sizes_of, tied
from dpverify.formulas.expressions import Expression, OutOfScopeError, Variable
from dpverify.formulas.logic import Formula, Le
from dpverify.formulas.values import UnclearError, UndefinedError, ball
from dpverify.ledger.besides.realistic import RealisticPoint
from dpverify.ledger.facts import PracticalSize
from dpverify.ledger.verdicts import Verdict
from dpverify.ledger.written_numbers import coordinates_of, coordinates_text
from dpverify.proving.certificates import canonical
from dpverify.proving.language import Obligation
from dpverify.proving.pipeline import attempted
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, Prover
from dpverify.proving.provers.gram import Gram
from dpverify.proving.provers.points import admitted, confirmed, ranks, spread_out
from dpverify.proving.provers.real_arithmetic import RealArithmetic
from dpverify.proving.provers.search import (
    Violation,
    failing_gap,
    may_be_admitted,
    may_be_counterexamples,
    parts_apart,
)
from dpverify.proving.reasoning.effort import EffortSpentError, limited
from dpverify.proving.reasoning.evaluation import PRECISIONS, ExactPoint, evaluate, failing, text

Indices = NDArray[np.int64]
"""Places in lists, (points, letters)."""

BLOCKS = (256, 2048)
"""Points of readable numbers, up to these places, that are looked at together."""
SPREAD = 2048
"""Points that are spread over all readable numbers."""
PROPOSALS = 1000
"""Points of a block whose letters are worked out exactly."""
CONFIRMATIONS = 40
"""Points of a block that are tried exactly."""
EXACT = 200
"""Points that are tried where there are vectors, or what has no floats: all of them exactly."""
TIMES = tuple(map(Fraction, ("1", "1/10", "10", "1/100", "100", "1/1000", "1000")))
"""By what known vectors are multiplied."""
SIMPLER = 12
"""Numbers that are tried for each letter of a point that was found."""
ROUNDS = 4
"""How often all of its letters are gone through."""
BANDS = 10
"""Points whose claims fail by about as much: the difference of the sides, as a part of the sum of their sizes."""
STEPS = 5_000_000
"""Steps of evaluation in one search."""
UNITS = 50_000
"""Of z3's work."""
MAGNITUDE = 400
"""Powers of ten of the sides of a claim; beyond, a point is not taken."""

LONGEST = 128
"""Bits of a fraction that is shown as one."""

_BEYOND = (EffortSpentError, OutOfScopeError, OverflowError, RecursionError)
"""What ends a search: formulas too deep, work too long, numbers beyond floats."""


def asks_for_sizes(obligation: Obligation) -> bool:
    """Whether a formula has a letter whose size in practice is known, and is no case with sizes of its own."""
    return not obligation.own_sizes and any(size.known for size in sizes_of(obligation.over).values())


def realistic(
    obligation: Obligation,
    counterexample: Mapping[str, str],
    confirms: Callable[[Mapping[str, str]], bool] = lambda point: True,
) -> RealisticPoint:
    """Look for a counterexample at sizes met in practice, of a formula that is false at the one given.

    The same points in the same order every time. `confirms` is someone else who confirms points; one that is not
    confirmed is taken only where no other is found.
    """
    known = {x: coordinates_of(value) for x, value in counterexample.items()}
    search = _RealisticSearch(obligation, known, confirms)
    with limited(STEPS) as meter:
        try:
            sure = search.found()
        except _BEYOND:
            sure = search.sure  # what was found before; only easier numbers were looked for
    point = sure or search.doubtful
    because = search.because
    if not because and point is None and not search.tried:
        because = "the formula has numbers beyond the search"
    elif not because and point is None and not search.admitted:
        because = "at none of them all assumptions were seen to hold"
    left, right = (None, None) if point is None else sides_at(obligation, point)
    return RealisticPoint(
        sizes=practical_sizes(obligation),
        tried=search.tried,
        point=None if point is None else _named(obligation, point),
        left=left,
        right=right,
        because=because,
        confirmed_by_checker=sure is not None,
        stopped_by_the_clock=meter.stopped_by_the_clock,
    )


def _named(obligation: Obligation, point: ExactPoint) -> dict[str, str]:
    return {v.name: coordinates_text(point[v.name]) for v in obligation.over}


def sides_at(obligation: Obligation, point: ExactPoint) -> tuple[str | None, str | None]:
    """Both sides of what fails at a point, long fractions as decimals; none where they are no numbers."""
    shown = failing(obligation.claim, point)
    try:
        return (None, None) if shown is None else (_side(shown.left, point), _side(shown.right, point))
    except (UndefinedError, UnclearError):
        return None, None


def _side(e: Expression, point: ExactPoint) -> str:
    value = evaluate(e, point)
    bits = map(int.bit_length, value.as_integer_ratio()) if isinstance(value, Fraction) else ()
    if sum(bits) > LONGEST:
        with flint.ctx.workprec(PRECISIONS[-1]):
            return str(ball(value).str(17, radius=False))
    return text(e, point)


def _can_be_compared(side: str | None) -> bool:
    """Whether a side has an order of magnitude that says anything to a reader."""
    try:
        return side is None or abs(Decimal(side.partition("/")[0]).adjusted()) < MAGNITUDE
    except InvalidOperation:  # a ball around 0
        return False


def practical_sizes(obligation: Obligation) -> dict[str, PracticalSize]:
    """Of each letter, what it is and its range in practice."""
    sizes = sizes_of(obligation.over)
    ranged = _ranged(obligation, sizes)
    return {x: size.recorded(ranged=x in ranged) for x, size in sizes.items()}


def _ranged(obligation: Obligation, sizes: Mapping[str, Size]) -> frozenset[str]:
    """The letters that have to be in their ranges: of no known size only those that nothing assumed bounds."""
    follow = {rule.name for rule in rules_of(obligation, sizes, tight=True)}
    return frozenset(x for x, size in sizes.items() if size.known or x not in follow)


def is_realistic(obligation: Obligation, point: ExactPoint) -> bool:
    """Whether all numbers of a point have sizes met in practice, alone and together."""
    sizes = sizes_of(obligation.over)
    follow = {rule.name: rule for rule in rules_of(obligation, sizes, tight=True)}
    return (
        all(size.holds(point[x]) or _may_leave(size, follow.get(x), x, point) for x, size in sizes.items())
        and consistent(sizes, point)
        and all(point[x] == _rounded_log(of, point) for x, of in tied(sizes).items())
    )


def _may_leave(size: Size, rule: LetterRule | None, name: str, point: ExactPoint) -> bool:
    """Whether assumptions take a letter of no known size out of its range: by an equation, or as far as a bound is."""
    if size.known or rule is None:
        return False
    if rule.how in ("equal", "affine"):
        return True
    bound = rule.exact(point)
    return bound is not None and min(size.low, bound) <= point[name] <= max(size.high, bound)


class _RealisticSearch:
    """One search, which counts the points that it has tried."""

    def __init__(
        self, obligation: Obligation, known: ExactPoint, confirms: Callable[[Mapping[str, str]], bool]
    ) -> None:
        self._obligation, self._known, self._confirms = obligation, known, confirms
        self.sure: ExactPoint | None = None
        """The first counterexample that someone else confirms."""
        self.doubtful: ExactPoint | None = None
        """The first that someone else does not confirm."""
        self.sizes = sizes_of(obligation.over)
        self.tried = 0
        self.because = ""
        """What is never of its size, where that is so."""
        self.admitted = False
        """Whether all assumptions hold at one of the points that were tried, for certain."""

    def _taken(self, way: _Places, point: ExactPoint) -> bool:
        """Whether a point is a counterexample that someone else confirms, too."""
        if not way.accepts(point):
            return False
        sure = self._confirms(_named(self._obligation, point))
        if sure:
            self.sure = self.sure or point
        else:
            self.doubtful = self.doubtful or point
        return sure

    def found(self) -> ExactPoint | None:
        """A counterexample at such sizes."""
        o = self._obligation
        plain = _Places(o, self.sizes, self._known)
        self.because = plain.impossible()
        if self.because:
            return None
        if any(v.kind == "vector" for v in o.over):
            found = self._one_by_one(plain, (self._scaled(), self._closer()))
            return found or self._proposed(Gram(), Budget(), plain)
        try:
            gap = failing_gap(parts_apart(o.problem))
        except OutOfScopeError:
            return self._one_by_one(plain, ([{}],))
        ways = [plain]
        for how in ({"tight": True}, {"isolate": True}):
            way = _Places(o, self.sizes, self._known, **how)
            if all(way.lists) and all(way.rules != other.rules for other in ways):
                ways.append(way)
        for way in ways:
            for block in way.readable():
                if found := self._worst_of(way, block, gap):
                    return found
        for way in ways:
            if found := self._worst_of(way, way.spread(), gap):
                return way.simplified(found, self._taken)
        return self._proposed(RealArithmetic(), Budget(units=UNITS), plain)

    def _worst_of(self, way: _Places, places: Indices, gap: Violation) -> ExactPoint | None:
        """The point at which the formula fails by most, of those that are counterexamples."""
        self.tried += len(places)
        columns = way.columns(places)
        over = self._obligation.over
        values = np.array([columns[v.name] for v in over]).reshape(len(over), len(places))
        sized = np.flatnonzero(way.of_their_sizes(columns))
        if not self.admitted:
            held = places[sized[may_be_admitted(self._obligation.problem, values[:, sized])]]
            points = itertools.islice(way.whole(held[:PROPOSALS]), CONFIRMATIONS)
            self.admitted = any(map(self._is_admitted, points))
        kept = sized[may_be_counterexamples(self._obligation.problem, values[:, sized])]
        proposed = []
        for place, x in zip(kept.tolist(), values[:, kept].T.tolist(), strict=True):
            by = gap(x)
            if by > 0:
                proposed.append((-math.floor(BANDS * by + 1e-9), place))
        best = way.whole(places[place] for _, place in sorted(proposed)[:PROPOSALS])
        return next((p for p in itertools.islice(best, CONFIRMATIONS) if self._taken(way, p)), None)

    def _is_admitted(self, point: ExactPoint) -> bool:
        return admitted(self._obligation.problem, point) and is_realistic(self._obligation, point)

    def _confined(self) -> ProofProblem:
        """The formula with all ranges as assumptions."""
        sides: list[Formula] = []
        for v in self._obligation.over:
            if v.name in self.sizes:
                sides += [Le(self.sizes[v.name].low, v), Le(v, self.sizes[v.name].high)]
        problem = self._obligation.problem
        return replace(problem, assuming=(*problem.assuming, *sides), box={})

    def _proposed(self, prover: Prover, budget: Budget, way: _Places) -> ExactPoint | None:
        """What a prover proposes with all ranges as assumptions."""
        self.tried += 1
        proof = attempted(prover, self._confined(), budget)
        if proof is None or proof.verdict is not Verdict.REFUTED or proof.counterexample is None:
            return None
        point = {x: coordinates_of(value) for x, value in proof.counterexample.items()}
        return way.simplified(point, self._taken) if self._taken(way, point) else None

    def _one_by_one(self, way: _Places, others: Iterable[Sequence[ExactPoint]]) -> ExactPoint | None:
        """Numbers that are easy to read, each with one of several points of the other letters."""
        for more in filter(None, others):
            for *place, last in ranks((*map(len, way.lists), len(more)), EXACT).tolist():
                self.tried += 1
                point = way.filled({**way.point(place), **more[last]})
                if point is None:
                    continue
                if self._taken(way, point):
                    return point
                self.admitted = self.admitted or self._is_admitted(point)
        return None

    def _scaled(self) -> list[ExactPoint]:
        """The known vectors, all of them times a number."""
        names = [v.name for v in self._obligation.over if v.kind == "vector"]
        return [{x: tuple(t * c for c in self._known[x]) for x in names} for t in TIMES]

    def _closer(self) -> list[ExactPoint]:
        """The known vectors, one of them brought closer to another one."""
        (same, *_) = self._scaled()
        return [
            {**same, x: tuple(b + t * (a - b) for a, b in zip(same[x], same[y], strict=True))}
            for t in (Fraction(1, 10), Fraction(1, 100))
            for x, y in itertools.permutations(same, 2)
        ]


class _Places:
    """Points by the places of their numbers in lists, one for each letter that follows from no other by `rules`."""

    def __init__(
        self,
        obligation: Obligation,
        sizes: Mapping[str, Size],
        known: ExactPoint,
        *,
        tight: bool = False,
        isolate: bool = False,
    ) -> None:
        self._obligation, self._sizes = obligation, sizes
        self._ranged = _ranged(obligation, sizes)
        self.rules = rules_of(obligation, sizes, tight=tight, isolate=isolate)
        follows = {r.name for r in self.rules}
        self._logs = {x: of for x, of in tied(sizes).items() if x not in follows}
        self._free = [v for v in obligation.over if v.name in sizes.keys() - follows - self._logs.keys()]
        self.lists = [
            readable(v, sizes[v.name], () if sizes[v.name].known or v.name not in known else (known[v.name],))
            for v in self._free
        ]

    def impossible(self) -> str:
        """What is never of its size, whatever the rest."""
        for v, values in zip(self._free, self.lists, strict=True):
            if not values:
                practice = self._sizes[v.name].recorded().range_text()
                return f"{v.name} lies in {v.domain_text()}, and is {practice} in practice"
        for rule in self.rules:
            size = self._sizes[rule.name]
            value = None if rule.letters or rule.how == "affine" else rule.exact({})
            if value is not None and size.known and not size.holds(value):
                return f"{rule.name} is {value} by assumption, and {size.recorded().range_text()} in practice"
        return ""

    def readable(self) -> Iterator[Indices]:
        """Blocks of places, by the sum of their ranks."""
        places = (
            ranks(tuple(map(len, self.lists)), BLOCKS[-1]) if self.lists else np.zeros((1, 0), dtype=np.int16)
        )
        for first, last in itertools.pairwise((0, *BLOCKS)):
            if len(places) > first:
                yield places[first:last].astype(np.int64)

    def spread(self) -> Indices:
        """Places that are spread over the lists, more at their beginnings; they follow from the formula alone."""
        if not self.lists:
            return np.zeros((0, 0), dtype=np.int64)
        problem = canonical(self._obligation.problem.json)
        seed = int.from_bytes(hashlib.sha256(problem.encode()).digest()[:4], "big") % 10**6
        cube = np.array(list(spread_out(len(self.lists), SPREAD, seed))).reshape(SPREAD, len(self.lists))
        lengths = np.array([*map(len, self.lists)])
        return np.asarray(np.floor(cube**1.5 * lengths), dtype=np.int64)

    def point(self, places: Iterable[int]) -> ExactPoint:
        """The numbers of the letters that follow from no other."""
        chosen = zip(self._free, self.lists, places, strict=True)
        return {v.name: values[place] for v, values, place in chosen}

    def whole(self, places: Iterable[Iterable[int]]) -> Iterator[ExactPoint]:
        """Points at places with all letters that follow, but for those where one has no rational value."""
        return (point for place in places if (point := self.filled(self.point(place))) is not None)

    def columns(self, places: Indices) -> dict[str, Array]:
        """All letters at many places in floats; NaN where one has no value."""
        found: dict[str, Array] = {}
        with np.errstate(all="ignore"):
            for k, (v, values) in enumerate(zip(self._free, self.lists, strict=True)):
                found[v.name] = np.array([*map(float, values)])[places[:, k]]
            self._add_logarithms(found, _rounded_logs)
            for rule in self.rules:
                found[rule.name] = rule.in_floats(found) if found else np.full(len(places), _number(rule))
            self._add_logarithms(found, _rounded_logs)
        return found

    def _add_logarithms(
        self, found: dict[str, Any], rounded: Callable[[LogOf, Mapping[str, Any]], Any]
    ) -> None:
        """Add the letters that stand for logarithms of letters that are there."""
        for x, of in self._logs.items():
            if x not in found and {*of.letters} <= {*found}:
                found[x] = rounded(of, found)

    def of_their_sizes(self, columns: Columns) -> NDArray[np.bool_]:
        """Where letters that follow may be of their sizes, rounding apart; what has no value is nowhere."""
        mask: NDArray[np.bool_] = ~np.any([np.isnan(column) for column in columns.values()], axis=0)
        letters = {v.name: v for v in self._obligation.over}
        for rule in self.rules:
            size, column = self._sizes[rule.name], columns[rule.name]
            if rule.name in self._ranged:
                slack = np.maximum(1e-3 * np.abs(column), 1e-12)
                mask &= (column >= float(size.low) - slack) & (column <= float(size.high) + slack)
            if letters[rule.name].kind == "integer":
                mask &= np.abs(column - np.round(column)) <= 1e-6
        return mask

    def filled(self, point: ExactPoint) -> ExactPoint | None:
        """The point with all letters that follow; None where one has no rational value."""
        whole = dict(point)
        self._add_logarithms(whole, _rounded_log)
        for rule in self.rules:
            value = rule.exact(whole)
            if value is None:
                return None
            whole[rule.name] = value
        self._add_logarithms(whole, _rounded_log)
        return None if None in whole.values() or len(whole) < len(self._obligation.over) else whole

    def accepts(self, point: ExactPoint) -> bool:
        """Whether a whole point is a counterexample of such sizes, for certain, with sides that can be compared."""
        o = self._obligation
        inside = all(v.contains(point[v.name]) for v in o.over) and is_realistic(o, point)
        return inside and confirmed(o.problem, point) and all(map(_can_be_compared, sides_at(o, point)))

    def simplified(self, point: ExactPoint, taken: Callable[[_Places, ExactPoint], bool]) -> ExactPoint:
        """The point with numbers that are easier to read, one letter at a time, where it stays a counterexample."""
        best = point
        for _ in range(ROUNDS):
            before = best
            for v, values in zip(self._free, self.lists, strict=True):
                simpler = self._with_simpler(v, values[:SIMPLER], best)
                best = next((moved for moved in simpler if taken(self, moved)), best)
            if best == before:
                break
        return best

    def _with_simpler(self, v: Variable, values: list[Fraction], best: ExactPoint) -> Iterator[ExactPoint]:
        """The point with each of the numbers for a letter that come before its own."""
        rest = {u.name: best[u.name] for u in self._obligation.over if u in self._free or u.kind == "vector"}
        for value in itertools.takewhile(lambda x: x != best[v.name], values):
            moved = self.filled({**rest, v.name: value})
            if moved is not None:
                yield moved


def _rounded_log(of: LogOf, point: Mapping[str, Any]) -> Fraction | None:
    return of.rounded({a: float(point[a]) for a in of.letters})


def _rounded_logs(of: LogOf, columns: Columns) -> Array:
    inside = float(of.factor) * np.ones_like(columns[of.letters[0]])
    for a in of.letters:
        inside = inside * columns[a] if a in of.above else inside / columns[a]
    return np.round(100 * np.log(inside)) / 100


def _number(rule: LetterRule) -> float:
    value = rule.exact({})
    return math.nan if value is None else float(value)
