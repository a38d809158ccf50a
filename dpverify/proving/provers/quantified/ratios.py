"""How large a constant must be, in floats: the largest ratio over the domain, and simple numbers beyond it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import minimize

from dpverify.formulas.expressions import Variable
from dpverify.formulas.logic import Compare, Formula, free_in
from dpverify.proving.provers.points import spread_out
from dpverify.proving.provers.search import TermsLeft, float_function, violation

SAMPLES = 1500
"""Points at which a ratio is looked at."""
CLIMBS = 6
_FEW = 150
SIZES = (3.0, 9.0)
"""How many powers of ten unbounded letters range over, and how close to open ends: usually, and to see growth."""
_STEPS = 150
_AGAIN = 4
_ROUNDING = 1e-9


LEAST, MOST = 0, 1
"""Of what is needed of a constant at a point: what it must at least be, and the inverse of what it may at most be."""


@dataclass(frozen=True)
class Extreme:
    """The largest that is needed at least (`value`), and points where it is, or nearly so, the best first."""

    value: float
    points: tuple[tuple[float, ...], ...]


def place(u: float, v: Variable, size: float) -> float:
    """A number in (0, 1) to a letter's domain, by powers of ten away from its ends."""
    low = None if v.lower is None else float(v.lower)
    high = None if v.upper is None else float(v.upper)
    s = (2 * u - 1) * size
    if low is not None and high is not None:
        half = (high - low) / 2
        x = low + half * 10 ** (2 * s) if s < 0 else high - half * 10 ** (-2 * s)
    elif low is not None:
        # integers: a third of the points at the end itself
        x = low + (
            math.floor(10 ** (max(0.0, 1.5 * u - 0.5) * size) + 1e-9) - 1 if v.kind == "integer" else 10**s
        )
    elif high is not None:
        x = high - 10**s
    else:
        x = math.copysign(10 ** (abs(2 * s) - size), s)
    return float(round(x)) if v.kind == "integer" else x


def inside(v: Variable, x: float) -> bool:
    """Whether a finite number lies in a letter's domain."""
    above = v.lower is None or (x > v.lower if v.lower_open else x >= v.lower)
    below = v.upper is None or (x < v.upper if v.upper_open else x <= v.upper)
    return math.isfinite(x) and above and below


class Ratio:
    """What the constants of one comparison must be, all of them the same number, at points of the other letters."""

    def __init__(
        self,
        claim: Compare,
        constants: Sequence[Variable],
        letters: Sequence[Variable],
        conditions: Sequence[Formula],
    ) -> None:
        self.letters = tuple(letters)
        used = free_in(claim)
        self.constants = [v for v in constants if v in used]
        around = [v.name for v in letters]
        names = [*around, *(v.name for v in self.constants)]
        terms = TermsLeft()
        self._sides = [float_function(side, names, terms) for side in (claim.left, claim.right)]
        self._conditions = [
            violation(f, around, terms) for f in conditions if not free_in(f) & set(self.constants)
        ]

    def gap(self, x: Sequence[float], c: float) -> float:
        """Right minus left."""
        point = [*x, *[c] * len(self.constants)]
        left, right = (side(point) for side in self._sides)
        return right - left

    def needed(self, x: Sequence[float]) -> tuple[float, float] | None:
        """`LEAST` and `MOST` at one point; None where a condition fails or something is undefined."""
        try:
            return self._needed(x)
        except (OverflowError, ValueError, ZeroDivisionError):
            return None

    def _needed(self, x: Sequence[float]) -> tuple[float, float] | None:
        if not all(condition(x) <= 1e-12 for condition in self._conditions):
            return None
        left, right = (
            [side([*x, *[c] * len(self.constants)]) for c in (1.0, 2.0, 3.0)] for side in self._sides
        )
        if not all(map(math.isfinite, (*left, *right))):
            return None
        for mine, other, least in ((left, right, True), (right, left, False)):
            # one side is a multiple of the constant, the other has none
            if mine[0] == mine[2] and other[2] == 3 * other[0] and other[0]:
                at = mine[0] / other[0]
                if (other[0] > 0) is least:
                    return at, 0.0
                return (0.0, 1 / at) if at > 0 else (math.inf, 0.0)
        one, two, three = (r - x for x, r in zip(left, right, strict=True))
        slope = two - one
        if abs(three - two - slope) > 1e-6 * abs(slope):
            return self._bisected(x, rising=three > one)
        if slope == 0:
            fails = one < -_ROUNDING * max(abs(left[0]), abs(right[0]))
            return math.inf if fails else 0.0, 0.0
        at = 1 - one / slope
        return (at, 0.0) if slope > 0 else (0.0, 1 / at if at > 0 else math.inf)

    def _bisected(self, x: Sequence[float], *, rising: bool) -> tuple[float, float]:
        low, high = -40.0, 40.0
        for _ in range(60):
            middle = (low + high) / 2
            try:
                gap = self.gap(x, 2.0**middle)
            except OverflowError:
                gap = math.nan
            holds = gap >= 0
            if holds is rising:
                high = middle
            else:
                low = middle
        return (2.0**high, 0.0) if rising else (0.0, 1 / 2.0**low)


def grows(ratio: Ratio) -> bool:
    """Whether what is needed seems to grow without bound, from a few points."""
    for of in (LEAST, MOST):
        near, far = (_largest(ratio, size, of) for size in SIZES)
        if far > 30 * near > 0 or math.isinf(far):
            return True
    return False


def _largest(ratio: Ratio, size: float, of: int) -> float:
    points = spread_out(len(ratio.letters), _FEW, 0)
    found = (ratio.needed([place(c, v, size) for c, v in zip(u, ratio.letters, strict=True)]) for u in points)
    return max((0.0, *(needed[of] for needed in found if needed is not None)))


def extremes(ratio: Ratio, size: float) -> tuple[Extreme, Extreme]:
    """The largest of what is needed at least, and of the inverse of what it may at most be, with where they are."""
    return _extreme(ratio, size, LEAST), _extreme(ratio, size, MOST)


def _extreme(ratio: Ratio, size: float, of: int) -> Extreme:
    def point(u: Sequence[float]) -> tuple[float, ...]:
        inside = (min(max(float(c), 1e-9), 1 - 1e-9) for c in u)
        return tuple(place(c, v, size) for c, v in zip(inside, ratio.letters, strict=True))

    def value(u: Sequence[float]) -> float:
        found = ratio.needed(point(u))
        return -1.0 if found is None else found[of]

    if not ratio.letters:
        return Extreme(max(value(()), 0.0), ((),))
    cloud = [(value(u), list(u)) for u in spread_out(len(ratio.letters), SAMPLES, 0)]
    cloud.sort(key=lambda entry: -entry[0])
    best, where = cloud[0]

    def climb(start: list[float]) -> None:
        nonlocal best, where
        limits = {"maxfev": _STEPS, "xatol": 1e-7, "fatol": 1e-13}
        with np.errstate(invalid="ignore"):  # it subtracts values that may be infinite
            found = minimize(lambda w: -value(w), start, method="Nelder-Mead", options=limits)
        if -found.fun > best:
            best, where = -float(found.fun), list(found.x)

    for start, u in cloud[:CLIMBS]:
        if 0 < start < math.inf:
            climb(u)
    before = where
    for _ in range(
        _AGAIN if 0 < best < math.inf else 0
    ):  # from where the others ended, with steps of usual size
        climb(where)
    return Extreme(max(best, 0.0), tuple(map(point, (where, before))))


def rounded_up(x: float, digits: int) -> Fraction:
    """The least number with so many significant digits that is not below."""
    scale = Fraction(10) ** (digits - 1 - math.floor(math.log10(x)))
    return Fraction(math.ceil(Fraction(x) * scale * (1 - Fraction(1, 10**12)))) / scale


def rounded_down(x: float, digits: int) -> Fraction:
    """The largest number with so many significant digits that is not above."""
    scale = Fraction(10) ** (digits - 1 - math.floor(math.log10(x)))
    return Fraction(math.floor(Fraction(x) * scale)) / scale


def simple_beyond(x: float) -> Iterator[Fraction]:
    """Simple numbers that are at least about x, from near to far."""
    if x <= 0:
        yield Fraction(1)
        return
    near = Fraction(x).limit_denominator(60)
    if near and abs(float(near) - x) <= 1e-7 * x:
        yield near
    yield from (
        rounded_up(x, 2),
        rounded_up(1.03 * x, 3),
        rounded_up(1.3 * x, 1),
        rounded_up(3 * x, 1),
        rounded_up(12 * x, 1),
    )
