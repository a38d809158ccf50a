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
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Literal

import flint
import numpy as np
from numpy.typing import NDArray

from dpverify.evidence import Coverage, Verdict
from dpverify.formulas.expressions import Expression, OutOfScopeError, Variable, free_variables
from dpverify.formulas.logic import And, Compare, Formula, Le
from dpverify.formulas.values import UnclearError, UndefinedError, ball
from dpverify.formulas.vectors import coordinates_of, coordinates_text
from dpverify.proving.certificates import canonical
from dpverify.proving.language import Obligation, obligation_to_json
from dpverify.proving.pipeline import attempted
from dpverify.proving.proof import Budget, Prover
from dpverify.proving.provers.gram import Gram
from dpverify.proving.provers.points import confirmed
from dpverify.proving.provers.real_arithmetic import RealArithmetic
from dpverify.proving.provers.search import Terms, failing_gap, float_function, may_fail, spread_out
from dpverify.proving.provers.sieve import Sieve, ranks, values_at
from dpverify.proving.reasoning.effort import limited
from dpverify.proving.reasoning.evaluation import PRECISIONS, ExactPoint, evaluate, failing, text
from dpverify.proving.sizes import LogOf, Size, consistent, readable, sizes_of

Array = NDArray[np.float64]

Columns = Mapping[str, Array]
"""Letters by name, at many points."""
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
VECTORS = 200
"""Points that are tried where there are vectors, all of them exactly."""
TIMES = tuple(map(Fraction, ("1", "1/10", "10", "1/100", "100", "1/1000", "1000")))
"""By what known vectors are multiplied."""
SIMPLER = 12
"""Numbers that are tried for each letter of a point that was found."""
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

_BEYOND = (OutOfScopeError, OverflowError, RecursionError)
"""What ends a search: formulas too deep, work too long, numbers beyond floats."""

_CASE_OF_A_SIZE = re.compile(r"\b[A-Za-z]\w* = -?\d")


@dataclass(frozen=True)
class Realistic:
    """What was found.

    Attributes:
        sizes: of each letter, what it is and its range, in words.
        tried: points that were looked at.
        point: symbol to exact value; None where none was found.
        left: the left side there, where it is a number.
        right: the right side.
        because: where nothing was tried, why.
        stopped_by_the_clock: whether a far guard of time ended some work.
    """

    sizes: Mapping[str, str]
    tried: int
    point: Mapping[str, str] | None = None
    left: str | None = None
    right: str | None = None
    because: str = ""
    stopped_by_the_clock: bool = False


def asks_for_sizes(obligation: Obligation) -> bool:
    """Whether a formula has a letter whose size in practice is known, and is no case that sets sizes itself.

    A case sets sizes where its words give a letter a number, such as `n = 2`.
    """
    if obligation.coverage is Coverage.INSTANCE and _CASE_OF_A_SIZE.search(obligation.scope):
        return False
    return any(size.known for size in sizes_of(obligation.over).values())


def realistic(
    obligation: Obligation,
    counterexample: Mapping[str, str],
    confirms: Callable[[Mapping[str, str]], bool] = lambda point: True,
) -> Realistic:
    """Look for a counterexample at sizes met in practice; the same points in the same order every time.

    Args:
        obligation: a formula that is false.
        counterexample: where it is.
        confirms: someone else who confirms points; one that is not confirmed is taken only where no other is found.

    Examples:
        >>> from dpverify.formulas.expressions import integer, real
        >>> from dpverify.formulas.logic import Le
        >>> from dpverify.formulas.units import NATS, RECORDS
        >>> from dpverify.proving.language import Obligation
        >>> from dpverify.proving.realistic import realistic
        >>> n = integer("n", ge=1, unit=RECORDS, meaning="number of records")
        >>> epsilon = real("epsilon", gt=0, unit=NATS)
        >>> small = Obligation("bound", "page 1", Le(1, epsilon / n), (n, epsilon))
        >>> found = realistic(small, {"n": "2", "epsilon": "1"})
        >>> found.point, found.left, found.right
        ({'n': '1000', 'epsilon': '1'}, '1', '1/1000')
        >>> realistic(Obligation("bound", "page 1", Le(2, n), (n,)), {"n": "1"}).point is None
        True
    """
    search = _Search(obligation, {x: coordinates_of(value) for x, value in counterexample.items()}, confirms)
    with limited(STEPS) as meter:
        try:
            point = search.found() or search.doubtful
        except _BEYOND:
            point = search.doubtful
        found = Realistic(size_texts(obligation), search.tried, because=search.because)
    if point is not None:
        left, right = sides_at(obligation, point)
        found = replace(found, point=_named(obligation, point), left=left, right=right)
    return replace(found, stopped_by_the_clock=meter.stopped_by_the_clock)


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
    if (
        isinstance(value, Fraction)
        and value.denominator.bit_length() + value.numerator.bit_length() > LONGEST
    ):
        with flint.ctx.workprec(PRECISIONS[-1]):
            return str(ball(value).str(17, radius=False))
    return text(e, point)


def _can_be_compared(side: str | None) -> bool:
    """Whether a side has an order of magnitude that says anything to a reader."""
    try:
        return side is None or abs(Decimal(side.partition("/")[0]).adjusted()) < MAGNITUDE
    except InvalidOperation:  # a ball around 0
        return False


def size_texts(obligation: Obligation) -> dict[str, str]:
    """Of each letter, what it is and its range in practice."""
    sizes = sizes_of(obligation.over)
    ranged = _ranged(obligation, sizes)
    return {
        x: s.says() if x in ranged else f"{s.what}, as the assumptions bound it" for x, s in sizes.items()
    }


def _ranged(obligation: Obligation, sizes: Mapping[str, Size]) -> frozenset[str]:
    """The letters that have to be in their ranges: of no known size only those that nothing assumed bounds."""
    follow = {rule.name for rule in _rules(obligation, sizes, tight=True)}
    return frozenset(x for x, size in sizes.items() if size.known or x not in follow)


def is_realistic(obligation: Obligation, point: ExactPoint) -> bool:
    """Whether all numbers of a point have sizes met in practice, alone and together."""
    sizes = sizes_of(obligation.over)
    return (
        all(sizes[x].holds(point[x]) for x in _ranged(obligation, sizes))
        and consistent(sizes, point)
        and all(_agrees(of, x, point) for x, of in _logarithms(sizes).items())
    )


def _agrees(of: LogOf, name: str, point: ExactPoint) -> bool:
    return bool(point[name] == of.rounded({x: float(point[x]) for x in of.letters}))


def _logarithms(sizes: Mapping[str, Size]) -> dict[str, LogOf]:
    """The letters that stand for a logarithm of other letters of the same formula."""
    return {
        x: s.log_of
        for x, s in sizes.items()
        if s.log_of is not None and {*s.log_of.letters} <= {*sizes} - {x}
    }


# ------------------------------------------------------------------------------------------------ letters that follow


@dataclass(frozen=True)
class _Rule:
    """How a letter follows from others: as the other side of a comparison, or so that an affine equation holds.

    Attributes:
        name: the letter.
        letters: those that it follows from.
        expression: the other side, or the difference of both.
        how: `equal` to the expression; the `affine` expression is 0; or the expression rounded `down` or `up` to two
            digits, where it bounds the letter.
    """

    name: str
    letters: frozenset[str]
    expression: Expression
    how: Literal["equal", "affine", "down", "up"] = "equal"

    def exact(self, point: ExactPoint) -> Fraction | None:
        """Its value, where that is rational."""
        try:
            if self.how == "affine":
                at_1, at_2 = (evaluate(self.expression, {**point, self.name: Fraction(x)}) for x in (1, 2))
                if not (isinstance(at_1, Fraction) and isinstance(at_2, Fraction)) or at_1 == at_2:
                    return None
                return 1 - at_1 / (at_2 - at_1)
            value = evaluate(self.expression, point)
            if self.how != "equal":
                return _two_digits(float(value), up=self.how == "up")
        except (UndefinedError, UnclearError, ValueError, OverflowError):
            return None
        return value if isinstance(value, Fraction) else None

    def in_floats(self, columns: Columns) -> Array:
        """The same at many points, NaN where there is no value."""
        if self.how != "affine":
            value = _column(self.expression, columns)
            if self.how == "equal":
                return value
            digit = 10.0 ** (np.floor(np.log10(np.abs(value))) - 1)
            return (np.ceil if self.how == "up" else np.floor)(value / digit) * digit
        one = np.ones_like(next(iter(columns.values())))
        at_1, at_2 = (_column(self.expression, {**columns, self.name: x * one}) for x in (1.0, 2.0))
        return 1 - at_1 / (at_2 - at_1)


def _column(e: Expression, columns: Columns) -> Array:
    """Values of an expression at many points."""
    found = values_at(e, columns)
    if found is not None:
        return found
    names = list(columns)
    function = float_function(e, names, Terms())
    return np.array([function(*x) for x in np.array([columns[x] for x in names]).T.tolist()])


def _two_digits(value: float, *, up: bool) -> Fraction:
    """The next number with two significant digits."""
    if not value:
        return Fraction(0)
    digit = Fraction(10) ** (math.floor(math.log10(abs(value))) - 1)
    return (math.ceil if up else math.floor)(Fraction(value) / digit) * digit


def _compared(obligation: Obligation) -> list[Compare]:
    """The comparisons among the assumptions, of which all hold."""
    parts = (f for part in obligation.assuming for f in (part.parts if isinstance(part, And) else (part,)))
    return [f for f in parts if isinstance(f, Compare)]


def _rules(obligation: Obligation, sizes: Mapping[str, Size], *, tight: bool = False) -> list[_Rule]:
    """Letters that follow from others, each from those before it.

    Equations among the assumptions fix letters; with `tight`, letters of no known size are also as large, or as small,
    as the bounds among the assumptions let them be.
    """
    rules: list[_Rule] = []
    compared = _compared(obligation)
    for f in compared:
        if f.relation == "==":
            _add(rules, _solved(f, sizes))
    for f in compared if tight else ():
        if f.relation in ("<=", "<"):
            _add(rules, (r for r in _bounds(f) if r.name in sizes and not sizes[r.name].known))
    ordered: list[_Rule] = []
    while rules:
        waiting = {r.name for r in rules}
        ready = [r for r in rules if not r.letters & waiting]
        ordered += ready
        rules = [r for r in rules if r not in ready]
    return ordered


def _add(rules: list[_Rule], candidates: Iterable[_Rule]) -> None:
    """Add the first candidate whose letter does not follow yet, and is behind none of its own letters."""
    for rule in candidates:
        if rule.name not in {r.name for r in rules} and rule.name not in _behind(rule.letters, rules):
            rules.append(rule)
            return


def _behind(letters: frozenset[str], rules: Sequence[_Rule]) -> frozenset[str]:
    """All that letters follow from, with themselves."""
    more = letters.union(*(r.letters for r in rules if r.name in letters))
    return letters if more == letters else _behind(more, rules)


def _names(e: Expression) -> frozenset[str]:
    return frozenset(v.name for v in free_variables(e))


def _solved(equation: Compare, sizes: Mapping[str, Size]) -> Iterator[_Rule]:
    """How letters of an equation may follow from its others, those of no known size first."""
    left, right = equation.left, equation.right
    sides = [
        _Rule(side.name, _names(other), other)
        for side, other in ((left, right), (right, left))
        if isinstance(side, Variable) and side.name in sizes and side.name not in _names(other)
    ]
    yield from sorted(sides, key=lambda r: sizes[r.name].known)
    gap = left - right
    for name in sorted(_names(gap) & {*sizes}, key=lambda x: (sizes[x].known, x)):
        if _is_affine(gap, name):
            yield _Rule(name, _names(gap) - {name}, gap, "affine")


def _bounds(f: Compare) -> Iterator[_Rule]:
    """A letter that stands alone on one side, as far as the other side lets it go."""
    if isinstance(f.left, Variable) and f.left.name not in _names(f.right):
        yield _Rule(f.left.name, _names(f.right), f.right, "down")
    if isinstance(f.right, Variable) and f.right.name not in _names(f.left):
        yield _Rule(f.right.name, _names(f.left), f.left, "up")


def _is_affine(gap: Expression, name: str) -> bool:
    """Whether an expression is affine in a letter, as far as one point shows; what follows is confirmed anyway."""
    at: ExactPoint = {x: Fraction(7 + k, 5) for k, x in enumerate(sorted(_names(gap)))}
    try:
        first, second, third = (evaluate(gap, {**at, name: Fraction(x)}) for x in (1, 2, 3))
    except (UndefinedError, UnclearError, KeyError):
        return False
    rational = isinstance(first, Fraction) and isinstance(second, Fraction) and isinstance(third, Fraction)
    return rational and bool(second - first == third - second != 0)


# ------------------------------------------------------------------------------------------------ the search


class _Search:
    """One search, which counts the points that it looks at.

    Attributes:
        sizes: of the letters.
        tried: how many points were looked at.
        because: what is never of its size, where that is so.
        doubtful: the first counterexample that someone else does not confirm.
    """

    def __init__(
        self, obligation: Obligation, known: ExactPoint, confirms: Callable[[Mapping[str, str]], bool]
    ) -> None:
        self._obligation, self._known, self._confirms = obligation, known, confirms
        self.doubtful: ExactPoint | None = None
        self.sizes = sizes_of(obligation.over)
        self.tried = 0
        self.because = ""

    def _taken(self, way: _Places, point: ExactPoint) -> bool:
        """Whether a point is a counterexample that someone else confirms, too."""
        if not way.accepts(point):
            return False
        sure = self._confirms(_named(self._obligation, point))
        if not sure and self.doubtful is None:
            self.doubtful = point
        return sure

    def found(self) -> ExactPoint | None:
        """A counterexample at such sizes."""
        plain = _Places(self._obligation, self.sizes, self._known)
        self.because = plain.impossible()
        if self.because:
            return None
        if any(v.kind == "vector" for v in self._obligation.over):
            return self._with_vectors(plain)
        tight = _Places(self._obligation, self.sizes, self._known, tight=True)
        ways = [plain, tight] if tight.rules != plain.rules else [plain]
        for way in ways:
            for block in way.readable():
                if found := self._worst_of(way, block):
                    return found
        for way in ways:
            if found := self._worst_of(way, way.spread()):
                return way.simplified(found, self._taken)
        return self._proposed(plain)

    def _worst_of(self, way: _Places, places: Indices) -> ExactPoint | None:
        """The point at which the formula fails by most, of those that are counterexamples."""
        self.tried += len(places)
        o = self._obligation
        names, terms = [v.name for v in o.over], Terms()
        gap = failing_gap(o, names, terms)
        quick = may_fail(o.claim, o.assuming, names, terms)
        columns = way.columns(places)
        values = np.array([columns[x] for x in names]).reshape(len(names), len(places))
        sized = np.flatnonzero(way.of_their_sizes(columns))
        kept = sized[Sieve(o.claim, o.assuming, names).kept(values[:, sized])]
        proposed = []
        for place, x in zip(kept.tolist(), values[:, kept].T.tolist(), strict=True):
            by = gap(x) if quick(*x) else math.nan
            if by > 0:
                proposed.append((-math.floor(BANDS * by), place))
        filled = (way.filled(way.point(places[place])) for _, place in sorted(proposed)[:PROPOSALS])
        for point in itertools.islice((point for point in filled if point is not None), CONFIRMATIONS):
            if self._taken(way, point):
                return point
        return None

    def _proposed(self, way: _Places) -> ExactPoint | None:
        """What z3 proposes with all ranges as assumptions."""
        self.tried += 1
        return self._by(RealArithmetic(), Budget(units=UNITS), way)

    def _confined(self) -> Obligation:
        """The formula with all ranges as assumptions."""
        sides: list[Formula] = []
        for v in self._obligation.over:
            if v.name in self.sizes:
                sides += [Le(self.sizes[v.name].low, v), Le(v, self.sizes[v.name].high)]
        return replace(self._obligation, assuming=(*self._obligation.assuming, *sides), box={})

    def _by(self, prover: Prover, budget: Budget, way: _Places) -> ExactPoint | None:
        """What a prover proposes."""
        proof = attempted(prover, self._confined(), budget)
        if proof is None or proof.verdict is not Verdict.REFUTED or proof.counterexample is None:
            return None
        point = {x: coordinates_of(value) for x, value in proof.counterexample.items()}
        return way.simplified(point, self._taken) if self._taken(way, point) else None

    def _with_vectors(self, way: _Places) -> ExactPoint | None:
        """Numbers that are easy to read, with vectors made of the known ones; then what a prover proposes."""
        for vectors in (self._scaled(), self._closer()):
            for *place, last in ranks([*map(len, way.lists), len(vectors)], VECTORS).tolist():
                self.tried += 1
                point = way.filled({**way.point(place), **vectors[last]})
                if point is not None and self._taken(way, point):
                    return point
        self.tried += 1
        return self._by(Gram(), Budget(), way)

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
    """Points by the places of their numbers in lists, one for each letter that follows from no other.

    Attributes:
        rules: how other letters follow.
        lists: the numbers, those that are read most easily first.
    """

    def __init__(
        self, obligation: Obligation, sizes: Mapping[str, Size], known: ExactPoint, *, tight: bool = False
    ) -> None:
        self._obligation, self._sizes = obligation, sizes
        self.rules = _rules(obligation, sizes, tight=tight)
        follows = {r.name for r in self.rules}
        self._logs = {x: of for x, of in _logarithms(sizes).items() if x not in follows}
        self._free = [
            v
            for v in obligation.over
            if v.name in sizes and v.name not in follows and v.name not in self._logs
        ]
        self.lists = [
            readable(v, sizes[v.name], () if sizes[v.name].known or v.name not in known else (known[v.name],))
            for v in self._free
        ]

    def impossible(self) -> str:
        """What is never of its size, whatever the rest."""
        for v, values in zip(self._free, self.lists, strict=True):
            if not values:
                return f"{v.name} lies in {v.domain_text()}, and is {self._sizes[v.name].range_text()} in practice"
        for rule in self.rules:
            size = self._sizes[rule.name]
            value = None if rule.letters or rule.how == "affine" else rule.exact({})
            if value is not None and size.known and not size.holds(value):
                return f"{rule.name} is {value} by assumption, and {size.range_text()} in practice"
        return ""

    def readable(self) -> Iterator[Indices]:
        """Blocks of places, by the sum of their ranks."""
        places = (
            ranks([*map(len, self.lists)], BLOCKS[-1]) if self.lists else np.zeros((1, 0), dtype=np.int16)
        )
        for first, last in itertools.pairwise((0, *BLOCKS)):
            if len(places) > first:
                yield places[first:last].astype(np.int64)

    def spread(self) -> Indices:
        """Places that are spread over the lists, more at their beginnings; they follow from the formula alone."""
        if not self.lists:
            return np.zeros((0, 0), dtype=np.int64)
        problem = canonical(obligation_to_json(self._obligation))
        seed = int.from_bytes(hashlib.sha256(problem.encode()).digest()[:4], "big") % 10**6
        cube = np.array(list(spread_out(len(self.lists), SPREAD, seed))).reshape(SPREAD, len(self.lists))
        lengths = np.array([*map(len, self.lists)])
        return np.asarray(np.floor(cube**1.5 * lengths), dtype=np.int64)

    def point(self, places: Iterable[int]) -> ExactPoint:
        """The numbers of the letters that follow from no other."""
        chosen = zip(self._free, self.lists, places, strict=True)
        return {v.name: values[place] for v, values, place in chosen}

    def columns(self, places: Indices) -> dict[str, Array]:
        """All letters at many places in floats; NaN where one has no value."""
        found: dict[str, Array] = {}
        with np.errstate(all="ignore"):
            for k, (v, values) in enumerate(zip(self._free, self.lists, strict=True)):
                found[v.name] = np.array([*map(float, values)])[places[:, k]]
            self._add_logarithms(found)
            for rule in self.rules:
                found[rule.name] = rule.in_floats(found) if found else np.full(len(places), _number(rule))
            self._add_logarithms(found)
        return found

    def _add_logarithms(self, found: dict[str, Array]) -> None:
        for x, of in self._logs.items():
            if x not in found and {*of.letters} <= {*found}:
                inside = float(of.factor) * np.ones_like(found[of.letters[0]])
                for a in of.letters:
                    inside = inside * found[a] if a in of.above else inside / found[a]
                found[x] = np.round(100 * np.log(inside)) / 100

    def of_their_sizes(self, columns: Columns) -> NDArray[np.bool_]:
        """Where letters that follow may be of their sizes, rounding apart; what has no value is nowhere."""
        mask: NDArray[np.bool_] = ~np.any([np.isnan(column) for column in columns.values()], axis=0)
        for rule in self.rules:
            size, column = self._sizes[rule.name], columns[rule.name]
            if size.known:
                mask &= (column >= float(size.low) * 0.999) & (column <= float(size.high) * 1.001)
        return mask

    def filled(self, point: ExactPoint) -> ExactPoint | None:
        """The point with all letters that follow; None where one has no rational value."""
        whole = dict(point)
        self._fill_logarithms(whole)
        for rule in self.rules:
            value = rule.exact(whole)
            if value is None:
                return None
            whole[rule.name] = value
        self._fill_logarithms(whole)
        return None if None in whole.values() or len(whole) < len(self._obligation.over) else whole

    def _fill_logarithms(self, whole: ExactPoint) -> None:
        for x, of in self._logs.items():
            if x not in whole and {*of.letters} <= {*whole}:
                whole[x] = of.rounded({a: float(whole[a]) for a in of.letters})

    def accepts(self, point: ExactPoint) -> bool:
        """Whether a whole point is a counterexample of such sizes, for certain, with sides that can be compared."""
        o = self._obligation
        inside = all(v.contains(point[v.name]) for v in o.over) and is_realistic(o, point)
        return inside and confirmed(o, point) and all(map(_can_be_compared, sides_at(o, point)))

    def simplified(self, point: ExactPoint, taken: Callable[[_Places, ExactPoint], bool]) -> ExactPoint:
        """The point with numbers that are easier to read, one letter at a time, where it stays a counterexample."""
        best = point
        for v, values in zip(self._free, self.lists, strict=True):
            for value in values[:SIMPLER]:
                if value == best[v.name]:
                    break
                rest = {
                    u.name: best[u.name]
                    for u in self._obligation.over
                    if u in self._free or u.kind == "vector"
                }
                moved = self.filled({**rest, v.name: value})
                if moved is not None and taken(self, moved):
                    best = moved
                    break
        return best


def _number(rule: _Rule) -> float:
    value = rule.exact({})
    return math.nan if value is None else float(value)
