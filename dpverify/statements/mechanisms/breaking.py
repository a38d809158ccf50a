"""What a pair of data sets needs, and an event that breaks a claim: from exact laws, rounded outward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import islice, product

from dpverify.proving.checker.terms import Term, number
from dpverify.proving.checker.theorems.cells import SumCells, cells_of, lines, masses
from dpverify.proving.checker.theorems.divergences import distance, divergence
from dpverify.proving.checker.theorems.lines import Line, half
from dpverify.proving.checker.theorems.numbers import NO, difference, made
from dpverify.proving.checker.theorems.outcomes import Finite, Point, Value, both
from dpverify.proving.checker.values import PRECISIONS, Values
from dpverify.proving.theorems.noises import of_noises
from dpverify.proving.theorems.spreads import Sight, Spread, after, each_noise, lines_of, needed, views

SHOWN = 6
"""Boxes of an event of several numbers."""
ORDERS = [number(Fraction(9, 8) ** k) for k in range(1, 48, 6)]
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True)
class Breaking:
    """How a pair breaks a claim."""

    measure: str
    """What it needs more of: `epsilon`, `rho` or `mu`."""
    needs: float
    """At least how much, in six digits, rounded down; infinite where none suffices, 0 where nothing is worked out."""
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

    def broken(self, head: str, bounds: Sequence[Term]) -> Breaking:
        """How they break a claim."""
        draw = _telling(*self.spreads)
        if head == "private":
            epsilon, delta = bounds
            event, chances = self.event(epsilon, delta)
            least, at = self.epsilon(epsilon, delta), _text(delta)
            return Breaking("epsilon", least, f"delta {at}", event, chances, draw)
        if head == "gaussian":
            return Breaking("mu", self.mu(), "", "", None, draw)
        if head == "concentrated":
            tried = (made("mul", self.divergence(order), made("pow", order, number(-1))) for order in ORDERS)
            return Breaking("rho", max(map(_low, tried)), "", "", None, draw)
        least, at = _low(self.divergence(bounds[0])), _text(bounds[0])
        return Breaking("rho", least, f"order {at}", "", None, draw)

    def through(self, cells: SumCells | None) -> list[tuple[Term, Term]]:
        """Masses of both laws: of values, or of cells; none where they are not worked out."""
        with suppress(ValueError):
            if cells is None:
                return both(self.one, self.other)
            return [*zip(masses(cells, self.one), masses(cells, self.other), strict=True)]
        return []

    @cached_property
    def masses(self) -> list[tuple[Term, Term]]:
        """Those through the cells of the model."""
        return self.through(self.cells)

    def lines(self, *families: str) -> list[tuple[Line, Line]]:
        """Laws that are independent, if all pairs are of one of some families and of one scale; else none."""
        found = list[tuple[Line, Line]]()
        with suppress(ValueError):
            if isinstance(self.one, Line) and isinstance(self.other, Line):
                found = [(self.one, self.other)]
            elif self.cells is not None:
                found = [*zip(lines(self.cells, self.one), lines(self.cells, self.other), strict=True)]
            return found if all(distance(pair) and pair[0].family in families for pair in found) else []
        return []

    def event(
        self, epsilon: Term, delta: Term
    ) -> tuple[str, tuple[tuple[float, float], tuple[float, float]] | None]:
        """An event of which the probabilities break the claim."""
        inside = _above(self.masses, epsilon)
        p, q = _sums(self.masses, inside)
        if bounds_of(difference(p, made("add", made("mul", made("exp", epsilon), q), delta)))[0] <= 0:
            return "", None
        first, second = (
            (six_digits(low, ROUND_FLOOR), six_digits(high, ROUND_CEILING))
            for low, high in map(bounds_of, (p, q))
        )
        if self.cells is not None:
            return _words(self.cells, inside, after(self.spreads[0]) is not None), (first, second)
        values = [v for law in (self.one, self.other) if isinstance(law, Finite) for v, _ in law.masses]
        names = [_name(v) for k, v in enumerate(dict.fromkeys(values)) if k in inside]
        return f"output is {' or '.join(names)}", (first, second)

    def epsilon(self, epsilon: Term, delta: Term) -> float:
        """The epsilon that is needed, at least."""
        if delta is NO and (pairs := self.lines("laplace")):
            return _low(made("add", *map(distance, pairs)))
        claimed, least_delta = (float(bounds_of(term)[0]) for term in (epsilon, delta))
        tried = [(self.masses, claimed)]
        if after(self.spreads[0]) is None:
            about = needed("private", *self.spreads, [0.0, least_delta]) * (1 - 1e-4)
            if not math.isfinite(about):
                return math.inf
            near = islice(views("private", *self.spreads, [about, least_delta]), 2)
            tried += [(pairs, about) for pairs in (self.masses, *map(self.through, map(cells_of, near)))]
        best = 0.0
        for masses_, about in tried:
            p, q = _sums(masses_, _above(masses_, number(Fraction(about))))
            least, most = bounds_of(difference(p, delta))[0], bounds_of(q)[1]
            if least > 0 and most > 0:
                best = max(best, _low(made("log", number(least / most))))
        return best

    def squares(self) -> Term | None:
        """Of normal laws, the sum of the squares of how many scales they are apart; None for others."""
        found = list[Term]()
        for p, q in self.lines("normal"):
            root = p.scale.head == "pow" and p.scale.parts[1].number == Fraction(1, 2)
            square = p.scale.parts[0] if root else made("mul", p.scale, p.scale)
            gap = difference(p.at, q.at)
            found.append(made("mul", gap, gap, made("pow", square, number(-1))))
        return made("add", *found) if found else None

    def divergence(self, order: Term) -> Term:
        """The Renyi divergence, or that of what is seen; 0 where none is worked out."""
        if square := self.squares():
            return half(made("mul", order, square))
        with suppress(ValueError):
            pairs = self.lines("laplace")
            return divergence(pairs[0] if len(pairs) == 1 else self.masses, order)
        return NO

    def mu(self) -> float:
        """The mu that is needed, at least."""
        if square := self.squares():
            return _low(made("pow", square, number(Fraction(1, 2))))
        floats = [[float(bounds_of(pair[side])[0]) for pair in self.masses] for side in (0, 1)]
        ratio = [p / q if q else math.inf for p, q in zip(*floats, strict=True)]
        ranked, best = sorted(range(len(ratio)), key=lambda k: -ratio[k]), 0.0
        for count in range(1, len(ranked)):
            p, q = (bounds_of(one) for one in _sums(self.masses, ranked[:count]))
            if 0 < p[0] < 1 and 0 < q[1] < 1:
                quantiles = (made("phi_inverse", number(part)) for part in (p[0], q[1]))
                best = max(best, _low(difference(*quantiles)))
        return best


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
        return max(range(len(far)), key=lambda k: math.inf if (d := far[k]) is None else d)
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
