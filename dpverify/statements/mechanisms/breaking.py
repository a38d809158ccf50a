"""What a pair of data sets needs, and an event that breaks a claim: from exact laws, rounded outward."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import product

import numpy as np

from dpverify.proving.checker.terms import Term, number
from dpverify.proving.checker.theorems.cells import SumCells, cells_of, lines, masses
from dpverify.proving.checker.theorems.divergences import distance, divergence
from dpverify.proving.checker.theorems.lines import Line, half
from dpverify.proving.checker.theorems.numbers import NO, difference, made
from dpverify.proving.checker.theorems.outcomes import Finite, Point, Value, both
from dpverify.proving.checker.values import PRECISIONS, Values
from dpverify.statements.mechanisms.spreads import NoiseSum, lines_of, needed, views
from dpverify.statements.mechanisms.spreads import distance as float_distance

SHOWN = 6
"""Boxes of an event of several numbers."""
ORDERS = [Fraction(9, 8) ** k for k in range(1, 48, 6)]
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


def broken_by(
    head: str, one: Value, other: Value, bounds: Sequence[Term], cells: SumCells | None,
    spreads: tuple[list[NoiseSum], list[NoiseSum]] | None, names: Mapping[Value, str],
) -> Breaking:  # fmt: skip
    """How a pair breaks a claim: its laws, exactly, through cells and in floating point."""
    draw = _telling(*spreads) if spreads else 0
    if head == "private":
        delta = bounds[1]
        event, chances = _event(one, other, bounds[0], delta, cells, spreads, names)
        least, at = _epsilon(one, other, bounds[0], delta, cells, spreads), _text(delta)
        return Breaking("epsilon", least, f"delta {at}", event, chances, draw)
    if head == "gaussian":
        return Breaking("mu", _mu(one, other, cells), "", "", None, draw)
    if head == "concentrated":
        return Breaking("rho", _rho(one, other, cells), "", "", None, draw)
    order, _ = bounds
    return Breaking(
        "rho", _low(_divergence(one, other, order, cells)), f"order {_text(order)}", "", None, draw
    )


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
    return six_digits(bounds_of(term)[0], ROUND_FLOOR)


def _text(term: Term) -> str:
    return f"{_low(term):g}"


def _telling(left: list[NoiseSum], right: list[NoiseSum]) -> int:
    """The noise by which outputs are furthest apart."""
    outputs = left[0].outputs[:, 1:]
    if outputs.shape[0] != outputs.shape[1] or abs(np.linalg.det(outputs)) < 1e-9:
        return 0
    along = np.asarray(np.linalg.inv(outputs), dtype=np.float64)
    try:
        pairs = zip(lines_of(left, along), lines_of(right, along), strict=True)
    except ValueError:
        return 0
    far = [float_distance(one, other) for one, other in pairs]
    return int(np.argmax([math.inf if d is None else d for d in far]))


def _masses(one: Value, other: Value, cells: SumCells | None) -> list[tuple[Term, Term]]:
    """Those of both laws: of values, or of cells; none where they are not worked out."""
    with suppress(ValueError):
        if cells is None:
            return both(one, other)
        return [*zip(masses(cells, one), masses(cells, other), strict=True)]
    return []


def _above(pairs: list[tuple[Term, Term]], epsilon: Term) -> list[int]:
    """Where the first mass is surely above e^epsilon times the other."""
    grown = made("exp", epsilon)
    over = (bounds_of(difference(p, made("mul", grown, q)))[0] for p, q in pairs)
    return [k for k, low in enumerate(over) if low > 0]


def _sums(pairs: list[tuple[Term, Term]], inside: list[int]) -> tuple[Term, Term]:
    first, second = (made("add", NO, *(pairs[k][side] for k in inside)) for side in (0, 1))
    return first, second


def _event(
    one: Value, other: Value, epsilon: Term, delta: Term, cells: SumCells | None,
    spreads: tuple[list[NoiseSum], list[NoiseSum]] | None, names: Mapping[Value, str],
) -> tuple[str, tuple[tuple[float, float], tuple[float, float]] | None]:  # fmt: skip
    """An event of which the probabilities break the claim."""
    pairs = _masses(one, other, cells)
    inside = _above(pairs, epsilon)
    p, q = _sums(pairs, inside)
    if bounds_of(difference(p, made("add", made("mul", made("exp", epsilon), q), delta)))[0] <= 0:
        return "", None
    chances = [
        (six_digits(low, ROUND_FLOOR), six_digits(high, ROUND_CEILING))
        for low, high in map(bounds_of, (p, q))
    ]
    if cells is None:
        values = [v for law in (one, other) if isinstance(law, Finite) for v, _ in law.masses]
        shown = [names.get(v) or _name(v) for k, v in enumerate(dict.fromkeys(values)) if k in inside]
        return f"output is {' or '.join(shown)}", (chances[0], chances[1])
    atoms = spreads is not None and spreads[0][0].after is not None
    return _words(cells, inside, atoms), (chances[0], chances[1])


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


def _lines(one: Value, other: Value, cells: SumCells | None) -> list[tuple[Line, Line]]:
    """Laws that are independent; none where laws are of other forms."""
    if isinstance(one, Line) and isinstance(other, Line):
        return [(one, other)]
    try:
        return [] if cells is None else [*zip(lines(cells, one), lines(cells, other), strict=True)]
    except ValueError:
        return []


def _distances(one: Value, other: Value, cells: SumCells | None, family: str) -> list[Term]:
    """How many scales lines of a family are apart; none where not all are of it, with equal scales."""
    found = _lines(one, other, cells)
    try:
        return [distance(pair) for pair in found] if all(p.family == family for p, _ in found) else []
    except ValueError:
        return []


def _epsilon(
    one: Value, other: Value, epsilon: Term, delta: Term, cells: SumCells | None,
    spreads: tuple[list[NoiseSum], list[NoiseSum]] | None,
) -> float:  # fmt: skip
    """The epsilon that a pair needs, at least."""
    if delta is NO and (far := _distances(one, other, cells, "laplace")):
        return _low(made("add", *far))
    claimed, least_delta = float(bounds_of(epsilon)[0]), float(bounds_of(delta)[0])
    tried = [(_masses(one, other, cells), claimed)] if cells or spreads is None else []
    if spreads is None:
        floats = [dict(enumerate(float(bounds_of(pair[side])[0]) for pair in tried[0][0])) for side in (0, 1)]
        about = needed("private", floats[0], floats[1], [0.0, least_delta])
        tried.append((tried[0][0], about * (1 - 1e-4)))
    elif spreads[0][0].after is None:
        about = needed("private", *spreads, [0.0, least_delta]) * (1 - 1e-4)
        if not math.isfinite(about):
            return math.inf
        near = views("private", *spreads, [about, least_delta])
        found = [cells_of(view.json) for view, _ in zip(near, range(2), strict=False)]
        tried += [(_masses(one, other, part), about) for part in found]
    best = 0.0
    for pairs, about in tried:
        if not math.isfinite(about):
            return math.inf
        p, q = _sums(pairs, _above(pairs, number(Fraction(about))))
        least, most = bounds_of(difference(p, delta))[0], bounds_of(q)[1]
        if least > 0 and most > 0:
            best = max(best, _low(made("log", number(least / most))))
    return best


def _squares(one: Value, other: Value, cells: SumCells | None) -> Term | None:
    """Of normal laws of equal scales, the sum of the squares of how many scales they are apart; None for others."""
    if not _distances(one, other, cells, "normal"):
        return None
    found = list[Term]()
    for p, q in _lines(one, other, cells):
        root = p.scale.head == "pow" and p.scale.parts[1].number == Fraction(1, 2)
        square = p.scale.parts[0] if root else made("mul", p.scale, p.scale)
        gap = difference(p.at, q.at)
        found.append(made("mul", gap, gap, made("pow", square, number(-1))))
    return made("add", *found)


def _rho(one: Value, other: Value, cells: SumCells | None) -> float:
    if square := _squares(one, other, cells):
        return _low(half(square))
    pairs = _masses(one, other, cells)
    found = [0.0]
    for order in map(number, ORDERS):
        with suppress(ValueError):
            found.append(_low(made("mul", divergence(pairs, order), made("pow", order, number(-1)))))
    return max(found)


def _divergence(one: Value, other: Value, order: Term, cells: SumCells | None) -> Term:
    if square := _squares(one, other, cells):
        return half(made("mul", order, square))
    with suppress(ValueError):
        pair = _lines(one, other, cells)
        alone = len(pair) == 1 and _distances(one, other, cells, "laplace")
        return divergence(pair[0] if alone else _masses(one, other, cells), order)
    return NO


def _mu(one: Value, other: Value, cells: SumCells | None) -> float:
    if square := _squares(one, other, cells):
        return _low(made("pow", square, number(Fraction(1, 2))))
    pairs = _masses(one, other, cells)
    floats = [[float(bounds_of(pair[side])[0]) for pair in pairs] for side in (0, 1)]
    ratio = [p / q if q else math.inf for p, q in zip(*floats, strict=True)]
    ranked, best = sorted(range(len(pairs)), key=lambda k: -ratio[k]), 0.0
    for count in range(1, len(ranked)):
        p, q = (bounds_of(one) for one in _sums(pairs, ranked[:count]))
        if 0 < p[0] < 1 and 0 < q[1] < 1:
            quantiles = (made("phi_inverse", number(part)) for part in (p[0], q[1]))
            best = max(best, _low(difference(*quantiles)))
    return best
