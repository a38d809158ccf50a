"""What a pair of data sets needs, and an event that breaks a claim: from exact laws, rounded outward."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import islice, product

from dpverify.proving.checker.terms import Term, demand, number
from dpverify.proving.checker.theorems.cells import SumCells, cells_of, fails, lines, masses
from dpverify.proving.checker.theorems.divergences import distance, guarantee
from dpverify.proving.checker.theorems.numbers import (
    FALSE,
    NO,
    TRUE,
    UNKNOWN,
    compared,
    difference,
    logic,
    made,
)
from dpverify.proving.checker.theorems.outcomes import Finite, Point, Value, both, pair_of_laws
from dpverify.proving.checker.values import PRECISIONS, Values
from dpverify.proving.theorems.noises import of_noises
from dpverify.proving.theorems.spreads import (
    Sight,
    Spread,
    after,
    each_noise,
    lines_of,
    needed,
    steady,
    views,
)

SHOWN = 6
"""Boxes of an event of several numbers."""
STEPS = (1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.2, 0.4)
"""How far below what is needed in floating point, and above it, the checker is asked."""
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True)
class Breaking:
    """How a pair breaks a claim."""

    measure: str
    """What it needs more of: `epsilon`, `rho` or `mu`."""
    needs: float
    """At least how much, in six digits, rounded down; infinite where none suffices."""
    suffices: float | None
    """How much is enough for the pair, in six digits, rounded up; None where none is seen to be."""
    at: str
    """At which delta, or at which order, as text; empty for others."""
    event: str
    """Of an (epsilon, delta): an event whose two probabilities break the claim; empty where none is found."""
    probabilities: tuple[tuple[float, float], tuple[float, float]] | None
    """Of the event on both, each between two numbers of six digits, rounded outward."""
    draw: int
    """Which draw of numbers is to blame: the one that tells most; from 0."""


@dataclass(frozen=True)
class ExactPair:
    """Two laws, exactly and through cells, and in floating point."""

    one: Value
    other: Value
    cells: SumCells | None
    spreads: tuple[Spread, Spread]
    names: Mapping[Value, str]
    """How values are said that are points of a type."""

    def broken(self, head: str, bounds: Sequence[Term]) -> Breaking:
        """How they break a claim."""
        event, chances = self.event(*bounds) if head == "private" else ("", None)
        at = f"delta {_text(bounds[1])}" if head == "private" else ""
        at = f"order {_text(bounds[0])}" if head == "renyi-private" else at
        measure = {"concentrated": "rho", "gaussian": "mu"}.get(head, "epsilon")
        least, most = self.needs(head, bounds)
        return Breaking(measure, least, most, at, event, chances, _telling(*self.spreads))

    def false(self, head: str, bounds: Sequence[Term], cells: SumCells | None) -> bool:
        """Whether the checker sees a guarantee not to hold."""
        if cells is not None:
            return fails(head, cells, self.one, self.other, [*bounds])
        return self.guaranteed(head, bounds) is FALSE

    def guaranteed(self, head: str, bounds: Sequence[Term]) -> Term:
        """Whether the checker sees a guarantee to hold both ways, or not to hold."""
        with suppress(ValueError):
            pairs = [pair_of_laws(self.one, self.other), pair_of_laws(self.other, self.one)]
            return logic("and", *(guarantee(head, pair, [*bounds]) for pair in pairs))
        cells = self.cells
        if cells and len(cells.along) == len(cells.along[0]):
            # as many sums as outputs, each of a noise of its own: the outputs are a function of these, too
            with suppress(ValueError):
                each = [*zip(lines(cells, self.one), lines(cells, self.other), strict=True)]
                if len(each) == 1:
                    return guarantee(head, each[0], [*bounds])
                demand({line.family for line, _ in each} == {"laplace"} and head == "private", "another law")
                return (
                    compared("<=", made("add", *map(distance, each)), bounds[0])
                    if bounds[1] is NO
                    else UNKNOWN
                )
        return UNKNOWN

    def needs(self, head: str, bounds: Sequence[Term]) -> tuple[float, float | None]:
        """At least how much is needed, as the checker refutes less; and what suffices, where that is seen."""
        k = int(head == "renyi-private")
        floats = [float(bounds_of(bound)[0]) for bound in bounds]
        about = needed(head, *self.spreads, floats)
        plain = after(self.spreads[0]) is None
        if not math.isfinite(about):
            return math.inf if plain else _low(bounds[k]), None

        def with_number(value: float) -> list[Term]:
            return [*bounds[:k], number(Fraction(repr(value))), *bounds[k + 1 :]]

        floats[k] = about * (1 - 1e-4)
        near = islice(views(head, *self.spreads, floats), 2 * plain)
        cells, least = [self.cells, *map(cells_of, near)], _low(bounds[k])
        for step in STEPS:
            tried = six_digits(Fraction(about * (1 - step)), ROUND_FLOOR)
            if tried <= least or any(self.false(head, with_number(tried), one) for one in cells):
                least = max(least, tried)
                break
        for step in (0.0, *STEPS[:5]):
            tried = six_digits(Fraction(f"{about * (1 + step):.9e}"), ROUND_CEILING)
            if self.guaranteed(head, with_number(tried)) is TRUE:
                return least, tried
        return least, None

    def event(
        self, epsilon: Term, delta: Term
    ) -> tuple[str, tuple[tuple[float, float], tuple[float, float]] | None]:
        """An event of which the probabilities break the claim."""
        laws, cells, pairs = (self.one, self.other), self.cells, list[tuple[Term, Term]]()
        with suppress(ValueError):
            pairs = [*zip(*(masses(cells, law) for law in laws), strict=True)] if cells else both(*laws)
        inside = _above(pairs, epsilon)
        p, q = _sums(pairs, inside)
        if bounds_of(difference(p, made("add", made("mul", made("exp", epsilon), q), delta)))[0] <= 0:
            return "", None
        first, second = (
            (six_digits(low, ROUND_FLOOR), six_digits(high, ROUND_CEILING))
            for low, high in map(bounds_of, (p, q))
        )
        if self.cells is not None:
            return _words(self.cells, inside, after(self.spreads[0]) is not None), (first, second)
        values = [v for law in (self.one, self.other) if isinstance(law, Finite) for v, _ in law.masses]
        said = [self.names.get(v) or _name(v) for k, v in enumerate(dict.fromkeys(values)) if k in inside]
        return f"output is {' or '.join(said)}", (first, second)


def bounds_of(term: Term) -> tuple[Fraction, Fraction]:
    """Numbers between which a term is; the same twice, where it is seen to be a fraction."""
    values = Values({}, PRECISIONS[0])
    exact = values.exact(term)
    if exact is not None:
        return exact, exact
    found = values.interval(term)
    return Fraction(found.low, 1 << PRECISIONS[0]), Fraction(found.high, 1 << PRECISIONS[0])


def six_digits(value: Fraction, way: str) -> float:
    """A number of six digits that is not above a fraction, or not below it."""
    context = Context(prec=6, rounding=way, Emin=-9999, Emax=9999)
    found = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    near = float(found)
    if way == ROUND_CEILING and near == 0 < found:
        return math.nextafter(0.0, 1.0)
    return near


def _low(term: Term) -> float:
    """A lower bound of a number that is not negative; 0 where it is beyond what is worked out."""
    with suppress(ValueError):
        return six_digits(bounds_of(term)[0], ROUND_FLOOR)
    return 0.0


def _text(term: Term) -> str:
    return f"{_low(term):g}"


def _telling(one: Spread, other: Spread) -> int:
    """The noise by which outputs are furthest apart."""
    left, right = of_noises(one), of_noises(other)
    with suppress(ValueError):
        along = each_noise(left)
        far = Sight(along, lines_of(left, along), lines_of(right, along)).far
        return max(range(len(far)), key=lambda k: math.inf if (d := far[k]) is None else steady(d))
    return 0


def _above(pairs: list[tuple[Term, Term]], epsilon: Term) -> list[int]:
    """Where the first mass is surely above e^epsilon times the other."""
    grown = made("exp", epsilon)
    over = (bounds_of(difference(p, made("mul", grown, q)))[0] for p, q in pairs)
    return [k for k, low in enumerate(over) if low > 0]


def _sums(pairs: list[tuple[Term, Term]], inside: list[int]) -> tuple[Term, Term]:
    first, second = (made("add", NO, *(pairs[k][side] for k in inside)) for side in (0, 1))
    return first, second


def _name(value: Value) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_name, value))})"
    if isinstance(value, Point):
        return f"number {value.index + 1}"
    return f"{_low(value):g}" if isinstance(value, Term) else str(value)


def _words(cells: SumCells, inside: list[int], atoms: bool) -> str:
    """Cells as boxes, put together where one goes on in the other."""
    counts = [len(row) + 1 for row in cells.cuts]
    known = [*product(*(range(count) for count in counts))]
    boxes = [tuple((i, i + 1) for i in known[k]) for k in inside]
    for axis in reversed(range(len(counts))):
        joined = list[tuple[tuple[int, int], ...]]()
        for box in sorted(boxes, key=lambda box: (box[:axis], box[axis + 1 :], box[axis])):
            last = joined[-1] if joined else None
            same = last is not None and (last[:axis], last[axis + 1 :]) == (box[:axis], box[axis + 1 :])
            if last is not None and same and last[axis][1] == box[axis][0]:
                joined[-1] = (*last[:axis], (last[axis][0], box[axis][1]), *last[axis + 1 :])
            else:
                joined.append(box)
        boxes = joined
    said = [" and ".join(filter(None, _sides(cells, box, atoms))) for box in boxes[:SHOWN]]
    more = f", or in one of {len(boxes) - SHOWN} more boxes" if len(boxes) > SHOWN else ""
    return ", or ".join(said) + more if len(cells.cuts) > 1 else " or ".join(said)


def _sides(cells: SumCells, box: tuple[tuple[int, int], ...], atoms: bool) -> list[str]:
    """What a box says of each sum of outputs."""
    found = list[str]()
    for row, cuts, (first, last) in zip(cells.along, cells.cuts, box, strict=True):
        ends = [None, *(f"{float(cut.number):g}" for cut in cuts), None]
        low, high = ends[first], ends[last]
        name, less = _sum(row), "<" if atoms else "<="
        if low is not None and high is not None:
            found.append(f"{low} {less} {name} <= {high}")
        elif low is not None:
            found.append(f"{name} {'>' if atoms else '>='} {low}")
        elif high is not None:
            found.append(f"{name} <= {high}")
    return found


def _sum(row: tuple[Term, ...]) -> str:
    """A sum of multiples of outputs."""
    names = ["output"] if len(row) == 1 else [f"{place} output" for place in PLACES]
    parts = [(w.number, name) for w, name in zip(row, names, strict=False) if w.number]
    found = ""
    for times, name in parts:
        sign = "-" if times < 0 else "+" if found else ""
        exact = times.denominator < 1000
        size = f"{abs(times) if exact else f'{float(abs(times)):g}'} * " if abs(times) != 1 else ""
        found += f" {sign} {size}{name}" if found else f"{sign}{size}{name}"
    return found
