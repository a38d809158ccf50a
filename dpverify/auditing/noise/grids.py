"""The grid of small uniform numbers that noise is made of.

Samplers turn a uniform number u into noise by its tail function, and u has finitely many bits: u = (k + c) / 2^b with
a whole k. Turned back, noise gives u again: P(X > x) for a number of its own, on each side of 0; exp(-(x^2 + y^2) / 2)
for the two numbers that Box and Muller's method makes at once, which lie some fixed distance apart: 1 where they are
returned in turns, 8 where a vector unit fills registers, half of all where there are two arrays. Of the stated law,
2^b u is uniform below any whole number, so its distance from the nearest k + c is too; on a grid it is 0 up to
rounding. That shows from a million numbers, long before one of them comes near the end.

Pairs are judged where they share no number, so that they are independent. Which distances are judged is chosen by the
same numbers, so that the level is divided by all distances that could have been.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.special import bdtrc

from dpverify.auditing.noise.laws import Law, Written, beyond, beyond_at, density
from dpverify.checks import FloatArray

Side = Literal[-1, 1]
SIDES: tuple[Side, ...] = (-1, 1)

_BITS = range(8, 57)
COARSE = 40
"""Bits up to which an end costs a delta that is asked for; the end of finer grids is a fact, and no fault."""
_MOST_STEPS = 2**48
"""Multiples of a grid's step that are looked at, at most; of numbers with few digits, fewer are."""
_FEWEST_STEPS = 8
_NEAR = 0.1
"""Distance from a grid that counts as near."""
_ROUNDING = 0.05
"""The same, of what arithmetic in the numbers' own digits may move them by."""
_OPERATIONS = 8
"""Rounding errors of a sampler's arithmetic, in units of the last digit."""
_ON_GRID, _PAIRS_ON_GRID = 0.9, 0.75
"""The part of the numbers that is near where a grid is the right one; of pairs, a quarter may be of no pair."""
_SPREAD = 0.5
"""The part of the multiples to be expected that are there, where numbers are uniform on a grid."""
_OFFSETS, _PAIR_OFFSETS = (0.0, 0.25, 0.5, 0.75), (0.0, 0.5)
_CLOSE = 64
"""Distances up to this get half of the level of all pairs."""
_LADDER = (12, 16, 19, 22, 25, 28, 32, 36, 41, 45, 49, 53, 57)
"""Grids by which distances are chosen; each has the coarser ones in it."""
_ANCHORS = 24
"""Large numbers whose partners are looked for, of each grid."""
_FEWEST_ANCHORS = 4
_SURE_ANCHORS = 8
_PHASES = 4
_EXACT_SUM = 100_000


@dataclass(frozen=True)
class NoiseGrid:
    """What noise is made of: uniform numbers of so many bits, the sign among them where numbers are made one by one.

    `first` is the smallest of them, in steps of 2^-bits, in (0, 1]; `lag` how far apart the two numbers lie that one is
    made of, None where each is made of its own. `checked` uniform numbers, those of which rounding leaves enough, were
    held against the grid, and `off` of them lie farther from it than a tenth of its step.
    """

    law: Law
    bits: int
    first: float
    lag: int | None = None
    checked: int = field(default=0, compare=False)
    off: int = field(default=0, compare=False)

    @property
    def coarse(self) -> bool:
        """Whether the end costs a delta that is asked for."""
        return self.bits <= COARSE

    @property
    def smallest_gap(self) -> float | None:
        """Between two neighboring numbers close to 0, in the law's scales; None for pairs, whose angle is not known."""
        return None if self.lag is not None else 2.0**-self.bits / float(density(self.law, np.zeros(())))

    @property
    def last_gap(self) -> float | None:
        """Between the last number and the one before it, in the law's scales; None for pairs."""
        return (
            None
            if self.lag is not None
            else self.end - beyond_at(self.law, (self.first + 1) * 2.0**-self.bits)
        )

    @property
    def end(self) -> float:
        """No number exceeds this, in the law's scales."""
        smallest = self.first * 2.0**-self.bits
        return beyond_at(self.law, smallest) if self.lag is None else math.sqrt(-2 * math.log(smallest))

    def lost(self, distance: float) -> float:
        """The probability, on one side, of what lies less than `distance` > 0 from the end.

        Exact for uniform numbers on this grid, whose values have probability 2^-bits each; for pairs with a uniform
        angle, and where too many steps would be summed, a lower bound.
        """
        step, from_ = 2.0**-self.bits, self.end - distance
        if self.lag is None:
            above = float(beyond(self.law, np.asarray(from_))) / step
            return min(1.0, max(math.ceil(above - self.first), 0) * step)
        if from_ <= 0:  # half of all, and what is closer to 0 than that
            return max(0.5, float(beyond(self.law, np.asarray(from_))) - step)
        count = max(math.ceil(math.exp(-(from_**2) / 2) / step - self.first), 0)
        if (
            count > _EXACT_SUM
        ):  # the part beyond decreases with u, so that each step has at least what follows it
            return max(0.0, float(beyond(self.law, np.asarray(from_))) - self.first * step / 2)
        radius = np.sqrt(-2 * np.log((np.arange(count) + self.first) * step))
        return float(np.sum(np.arccos(np.minimum(from_ / radius, 1.0)))) / math.pi * step

    def summary(self) -> str:
        """In words."""
        pairs = (
            ""
            if self.lag is None
            else f", each the radius of two numbers that lie {self.lag} apart (Box and Muller)"
        )
        told = f" ({self.off} of {self.checked} that rounding lets one tell are off)" if self.checked else ""
        return f"made of uniform numbers of {self.bits} bits{pairs}{told}"


class GridSearch:
    """Looks for grids in noise: numbers `x`, (runs,), in the law's scales and in the order in which they were made.

    `written` is the format of the numbers before they were divided by the scale; where there is no grid, one is found
    with probability at most `level`. Grids of up to `seen_up_to` bits would have been found half of the time or more.
    """

    def __init__(self, law: Law, x: FloatArray, written: Written, scale: float, level: float) -> None:
        self._law, self._x, self._written, self._scale = law, x, written, scale
        looks_at_pairs = law == "normal"
        self._side_level = level / (2 if looks_at_pairs else 1) / (len(SIDES) * len(_BITS) * len(_OFFSETS))
        looks = len(_BITS) * len(_PAIR_OFFSETS) * _PHASES
        lags = max(x.size // 2, 1)
        self._pair_levels = {
            close: level / 2 / looks / ((2 * _CLOSE) if close else (2 * lags)) for close in (False, True)
        }
        self._pairs = looks_at_pairs
        self.seen_up_to = self._visible()

    def side(self, side: Side) -> NoiseGrid | None:
        """The coarsest grid of the numbers on one side of 0; None if there is none."""
        ours = side * self._x[side * self._x > 0]
        if not ours.size:
            return None
        uniform, largest = beyond(self._law, ours), float(ours.max())
        for bits in _BITS:
            found = self._on_grid(uniform, bits, 2 ** (bits - 1), _OFFSETS, _ON_GRID, self._side_level)
            if found is not None and self._reached(
                grid := NoiseGrid(self._law, bits, found[0], None, *found[1:]), largest
            ):
                return grid
        return None

    def pairs(self) -> NoiseGrid | None:
        """The coarsest grid of the radii of pairs; None if there is none, or the law is not normal."""
        if not self._pairs:
            return None
        halves = np.exp(-(self._x**2) / 2)
        largest = float(np.max(np.abs(self._x)))
        found = []
        for lag in sorted(self._likely_lags(halves)):
            level = self._pair_levels[lag <= _CLOSE]
            for phase in sorted({lag * k // (_PHASES // 2) for k in range(_PHASES)}):
                uniform = _products(halves, lag, phase)
                for bits in self._likely_bits(uniform):
                    first = self._on_grid(uniform, bits, 2**bits, _PAIR_OFFSETS, _PAIRS_ON_GRID, level, True)
                    if first is not None and self._reached(
                        grid := NoiseGrid(self._law, bits, first[0], lag, *first[1:]), largest
                    ):
                        found.append((bits, lag, grid))
                        break
        return min(found, key=lambda one: one[:2])[2] if found else None

    def _likely_bits(self, uniform: FloatArray) -> Iterator[int]:
        """Bits of grids that lie in a finer one which most numbers are near."""
        low = _BITS[0]
        for rung in _LADDER:
            multiples = self._steps(rung, 2**rung, pairs=True)
            steps = uniform[uniform < multiples * 2.0**-rung] * 2.0**rung
            near = np.count_nonzero(np.abs(steps - np.rint(steps)) < _NEAR)
            if multiples < _FEWEST_STEPS or near >= _PAIRS_ON_GRID * steps.size:
                yield from range(low, rung)
            low = rung

    def _likely_lags(self, halves: FloatArray) -> set[int]:
        """Distances at which large numbers most often have a partner that puts them on a grid."""
        most = halves.size // 2
        found: set[int] = set()
        for bits in _LADDER:
            steps = self._steps(bits, 2**bits, pairs=True)
            below = min(steps * 2.0**-bits, 2.0**-4)
            anchors = np.flatnonzero((halves <= below) & (halves * 2.0**bits > 0.5))
            if anchors.size < _FEWEST_ANCHORS:
                continue
            anchors = anchors[np.argsort(-halves[anchors], kind="stable")[:_ANCHORS]]
            hits = np.zeros(most + 1, dtype=np.int64)
            for at in anchors.tolist():
                multiples = halves * (halves[at] * 2.0**bits)
                near = (np.abs(multiples - np.rint(multiples)) < _ROUNDING / 2) & (multiples > 0.5)
                either = np.zeros(most + 1, dtype=bool)
                after, before = near[at + 1 : at + 1 + most], near[max(at - most, 0) : at][::-1]
                either[1 : after.size + 1] |= after
                either[1 : before.size + 1] |= before
                hits += either
            for _ in range(2):
                found.add(best := int(np.argmax(hits)))
                hits[best] = -1
        return found - {0}

    def _on_grid(
        self,
        uniform: FloatArray,
        bits: int,
        most: int,
        offsets: tuple[float, ...],
        part: float,
        level: float,
        pairs: bool = False,
    ) -> tuple[float, int, int] | None:
        """The smallest number on the grid, in steps, of how many and how many are off, if these are on one."""
        multiples = self._steps(bits, most, pairs=pairs)
        if multiples < min(most, _FEWEST_STEPS):
            return None
        steps = uniform[uniform < multiples * 2.0**-bits] * 2.0**bits
        chance = self._chance(bits, multiples, pairs=pairs)
        if not steps.size or steps.size * math.log(chance) > math.log(level):
            return None  # too few to say so, were all of them near
        for offset in offsets:
            whole = np.rint(steps - offset)
            near = int(np.count_nonzero(np.abs(steps - offset - whole) < _NEAR))
            if near < part * steps.size or float(bdtrc(near - 1, steps.size, chance)) >= level:
                continue
            # numbers that come again and again are on any grid
            if np.unique(whole).size >= _SPREAD * multiples * -math.expm1(-steps.size / multiples):
                return offset or 1.0, steps.size, steps.size - near
        return None

    def _reached(self, grid: NoiseGrid, largest: float) -> bool:
        """Whether no number lies beyond the end of the grid; else they are no noise of it, whatever they are."""
        return largest <= grid.end * (1 + _OPERATIONS * 2.0**-self._written.bits) + self._spacing(grid.end)

    def _spacing(self, x: float) -> float:
        return float(self._written.spacing(np.asarray(x * self._scale))) / self._scale

    def _error(self, bits: int, *, pairs: bool) -> tuple[float, float]:
        """Relative errors of a uniform number near the end: of how it is written, and of how it was made."""
        smallest = 2.0**-bits
        x = math.sqrt(-2 * math.log(smallest)) if pairs else beyond_at(self._law, smallest)
        rate = x + 1 if self._law == "normal" else 1.0
        made = rate * x * _OPERATIONS * 2.0**-self._written.bits
        return rate * self._spacing(x) * (math.sqrt(2) if pairs else 1) / 2, made

    def _steps(self, bits: int, most: int, *, pairs: bool) -> int:
        """Multiples that rounding does not move away from the grid."""
        return min(most, _MOST_STEPS, int(_ROUNDING / max(self._error(bits, pairs=pairs))))

    def _chance(self, bits: int, multiples: int, *, pairs: bool) -> float:
        """Of a number of the stated law, rounded as these are, to be near; at most."""
        moved = self._error(bits, pairs=pairs)[0] * multiples
        return 2 * (_NEAR + moved) * (multiples + moved) / max(multiples - moved, 1.0)

    def _visible(self) -> int:
        found = 0
        for bits in _BITS:
            if not self._sees(bits, pairs=False) or (self._pairs and not self._sees(bits, pairs=True)):
                break
            found = bits
        return found

    def _sees(self, bits: int, *, pairs: bool) -> bool:
        most = 2**bits if pairs else 2 ** (bits - 1)
        multiples = self._steps(bits, most, pairs=pairs)
        if multiples < min(most, _FEWEST_STEPS):
            return False
        level = self._pair_levels[False] if pairs else self._side_level
        needed = math.log(level) / math.log(self._chance(bits, multiples, pairs=pairs))
        counted = self._x.size * multiples * 2.0**-bits / (2 if pairs else 1)
        if counted < needed:
            return False
        if not pairs:
            return True
        ladder = next(one for one in _LADDER if one > bits)
        below = min(self._steps(ladder, 2**ladder, pairs=True) * 2.0**-ladder, 2.0**-4)
        anchors = self._x.size * 2 * float(beyond(self._law, np.asarray(math.sqrt(-2 * math.log(below)))))
        return anchors >= _SURE_ANCHORS


def _products(halves: FloatArray, lag: int, phase: int) -> FloatArray:
    """exp(-(x^2 + y^2) / 2) of numbers that lie so far apart, no number in two pairs."""
    rest = halves[phase:]
    blocks = rest[: rest.size - rest.size % (2 * lag)].reshape(-1, 2, lag)
    return np.asarray((blocks[:, 0] * blocks[:, 1]).ravel())


def grids_of(search: GridSearch) -> Iterator[tuple[Side, NoiseGrid]]:
    """The grid of each side, as far as there are any; one of pairs is that of both sides."""
    sides = {side: search.side(side) for side in SIDES}
    if None in sides.values() and (both := search.pairs()) is not None:
        sides = {side: found or both for side, found in sides.items()}
    yield from ((side, found) for side, found in sides.items() if found is not None)
