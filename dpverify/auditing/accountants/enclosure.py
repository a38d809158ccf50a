"""The smallest epsilon of Poisson-sampled Gaussian releases between two proven bounds, without floats on the way.

A release compares P = (1 - q) N(0, s^2) + q N(1, s^2) with Q = N(0, s^2), s the noise multiplier, in both directions;
the two pairs dominate any release under add-or-remove-one, compose adaptively (Zhu, Dong and Wang 2022, Theorems 10 and
11), and are attained if all other records contribute nothing. With L = log dP/dQ under P, delta of T releases is

    E (1 - e^epsilon Y_1 ... Y_T)+, where Y = e^-L,

which is convex and falling in each Y. Losses are cut into cells of one width. Moving the mass of a cell to its two
ends, so that its mean of Y stays, can only raise delta; so can moving mass to a larger loss. Moving cells, or shares of
them, to one point, their mean of Y, can only lower delta; so can moving that point to the next smaller one of a
lattice, or leaving mass out. Masses of cells are balls (Arb), which become whole multiples of 2^-bits, rounded up for
the upper bound and down for the lower one. Their T-fold convolution is a power of a polynomial with whole
coefficients (FLINT), rounded in the same way after each product.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np
from flint import arb, ctx, fmpz, fmpz_poly

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.ledger.records import Interval

Direction = Literal["remove", "add"]

CELLS, FEWEST_CELLS, MOST_CELLS = 2**14, 64, 2**18
"""Of one release's loss: by default, and the range."""
_LEAST = 1e-300
_GUARD_BITS = 24
"""By how many bits the last place lies below what matters to delta, after all roundings."""
_GUARD = 2.0**-_GUARD_BITS
_FINEST = 1000
"""Cells in a standard deviation of one release's loss, beyond which finer ones gain nothing that anyone needs."""
_NEARLY = 2.0**-30
"""In widths: by how much points that become those of a lattice are planned above them."""
_FARTHEST = 16
"""In widths: beyond it nothing is taken to lift what lies below a point of a lattice."""
_COMPOSED = 8
"""Cells of all releases together over those of one."""


@dataclass(frozen=True)
class SampledGaussianReleases:
    """Adaptive sums with Gaussian noise over batches that hold each record independently with one probability.

    Guarantee: none is claimed; `smallest_epsilon` and `smallest_delta` enclose what is true of add-or-remove-one.

    Attributes:
        noise_multiplier: s, standard deviation over the L2 sensitivity of a sum; in [0.01, 1e6].
        sampling_probability: q, in [1e-9, 1].
        steps: T, at most a million.
        cells: at most so many of one release's loss, 64 to 2^18; the enclosure narrows about as their square.

    Raises:
        InvalidArgumentError: for anything outside of these ranges.
    """

    noise_multiplier: float
    sampling_probability: float
    steps: int = 1
    cells: int = CELLS

    def __post_init__(self) -> None:
        """Check the numbers."""
        checks.number_field(self, "noise_multiplier", at_least=0.01, at_most=1e6)
        checks.number_field(self, "sampling_probability", at_least=1e-9, at_most=1)
        checks.whole_field(self, "steps", at_most=10**6)
        checks.whole_field(self, "cells", at_least=FEWEST_CELLS, at_most=MOST_CELLS)

    def smallest_epsilon(self, delta: float) -> Interval:
        """Where the smallest epsilon at delta lies, nats; proven at both ends.

        Raises `InvalidArgumentError` for a delta outside [1e-300, 1).
        """
        delta = checks.number("delta", delta, at_least=_LEAST, below=1, allowed=f"a number in [{_LEAST}, 1)")
        ends = [_bounds(self, direction, delta).epsilon(delta) for direction in ("remove", "add")]
        return _largest(ends)

    def smallest_delta(self, epsilon: float, *, least: float = 1e-12) -> Interval:
        """Where the smallest delta at epsilon lies; proven at both ends, resolved down to `least`.

        Raises `InvalidArgumentError` for an epsilon below 0, or a `least` outside [1e-300, 1).
        """
        epsilon = checks.not_negative("epsilon", epsilon)
        least = checks.number("least", least, at_least=_LEAST, below=1, allowed=f"a number in [{_LEAST}, 1)")
        return _largest([_bounds(self, direction, least).delta(epsilon) for direction in ("remove", "add")])


def _largest(ends: list[Interval]) -> Interval:
    return Interval(lower=max(end.lower for end in ends), upper=max(end.upper for end in ends), rigorous=True)


def down(value: arb) -> float:
    """A float that is not above a ball."""
    found = float(value.lower())
    return found if arb(found) <= value else math.nextafter(found, -math.inf)


def up(value: arb) -> float:
    """A float that is not below a ball."""
    return -down(-value)


def _floor(value: arb) -> int:
    return int(value.lower().floor().unique_fmpz())


@dataclass(frozen=True)
class LossCell:
    """Losses from `index` to `index + 1` widths, but for a shift, and the mass that both laws have there."""

    index: int
    upper_law: arb
    lower_law: arb

    def reversed(self) -> LossCell:
        """The same with the laws exchanged."""
        return LossCell(-self.index - 1, self.lower_law, self.upper_law)


@dataclass(frozen=True)
class Lattice:
    """Masses at (first + k) widths, in units of 2^-bits, and what lies at an infinite loss."""

    masses: fmpz_poly
    first: int
    infinite: int = 0

    def times(self, other: Lattice, bits: int, *, upward: bool) -> Lattice:
        """The law of the sum, rounded."""
        product = self.masses * other.masses
        length = product.length()
        product = product // fmpz(1 << bits)
        infinite = 0
        if upward:
            product += fmpz_poly([1] * length)
            # an infinite loss of either, whatever the other one is; masses rounded up may sum to more than 1
            finite, every = int(self.masses(1)), int(other.masses(1)) + other.infinite
            infinite = -(-(self.infinite * every + other.infinite * finite) >> bits)
        return Lattice(product, self.first + other.first, infinite)

    def trimmed(self, tail: int, *, upward: bool) -> Lattice:
        """Without ends of at most this mass: upward the top becomes infinite and the bottom moves up, else they go."""
        masses, length = self.masses, self.masses.length()
        low = high = 0
        begin, end = 0, length
        while end - begin > 1 and high + int(masses[end - 1]) <= tail:
            end -= 1
            high += int(masses[end])
        while end - begin > 1 and low + int(masses[begin]) <= tail:
            low += int(masses[begin])
            begin += 1
        kept = masses.truncate(end).right_shift(begin)
        if not upward:
            return Lattice(kept, self.first + begin)
        kept += fmpz_poly([low])
        return Lattice(kept, self.first + begin, self.infinite + high)


@dataclass(frozen=True)
class Bounds:
    """T releases in one direction: laws of the loss above and below the true one."""

    above: Lattice
    below: Lattice
    width: float
    offset: arb
    """What is added to the losses of `below`, in all."""
    bits: int
    precision: int

    def epsilon(self, delta: float) -> Interval:
        """Where the smallest epsilon at delta lies."""
        with ctx.workprec(self.precision):
            goal = arb(delta) * (1 << self.bits)
            lower = max(0.0, down(self._crossing(self.below, goal, self.offset, upward=False)))
            if not self.above.infinite < goal:
                return Interval(lower=lower, upper=math.inf, rigorous=True)
            upper = max(0.0, up(self._crossing(self.above, goal, arb(0), upward=True)))
            return Interval(lower=lower, upper=upper, rigorous=True)

    def delta(self, epsilon: float) -> Interval:
        """Where the smallest delta at epsilon lies."""
        with ctx.workprec(self.precision):
            lower = down(self._mass(self.below, arb(epsilon) - self.offset, upward=False))
            upper = up(self._mass(self.above, arb(epsilon), upward=True))
            return Interval(lower=max(0.0, lower), upper=min(1.0, upper), rigorous=True)

    def _tails(self, law: Lattice, *, upward: bool) -> Iterator[tuple[int, int, int]]:
        """From the top: k, mass above k widths, and there the sum of mass times e^-(loss - (k + 1) widths)."""
        unit = 1 << self.bits
        shrink = (-arb(self.width)).exp() * unit
        factor = _floor(shrink) if upward else -_floor(-shrink)
        # the second term is taken off: rounded down for the upper bound
        spill = 0 if upward else unit - 1
        masses = law.masses.coeffs()
        above, weighted = law.infinite, 0
        for k in range(len(masses) - 1, -1, -1):
            mass = int(masses[k])
            above += mass
            weighted = ((weighted * factor + spill) >> self.bits) + mass
            yield law.first + k - 1, above, weighted

    def _crossing(self, law: Lattice, goal: arb, offset: arb, *, upward: bool) -> arb:
        """The smallest epsilon of this law at a delta, in units of 2^-bits, that exceeds what is at infinity."""
        width = arb(self.width)
        shrink = (-width).exp()
        k = above = weighted = 0
        for k, above, weighted in self._tails(law, upward=upward):
            there = above - weighted * shrink  # delta at k widths
            if (not there <= goal if upward else there > goal) or offset + (k + 1) * width < 0:
                break
        if above <= goal:
            return arb(0)
        # of the lines whose largest is delta, the one that holds from k to k + 1 widths
        root = offset + (k + 1) * width + ((above - goal) / weighted).log()
        # balls may not tell on which side of k widths delta is crossed
        return root.max(offset + k * width) if upward else root

    def _mass(self, law: Lattice, epsilon: arb, *, upward: bool) -> arb:
        """Delta at epsilon: the largest of its lines, of which any is a lower bound."""
        width, last, found = arb(self.width), arb(law.infinite), arb(law.infinite)
        for k, above, weighted in self._tails(law, upward=upward):
            ends = (k + 1) * width < epsilon
            if ends or k * width < epsilon + width:
                last, found = found, above - weighted * (epsilon - (k + 1) * width).exp()
            if ends:
                break
        return last.max(found) / (1 << self.bits)


def _loss(x: FloatArray, noise: float, q: float) -> FloatArray:
    """The loss of one release at x, about; nats."""
    plain = (2 * x - 1) / (2 * noise**2)
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp(np.log1p(-q), math.log(q) + plain))


@dataclass(frozen=True)
class _Plan:
    """How finely and how far losses are cut: guesses, which bounds do not rest on."""

    width: float
    lowest: int
    highest: int


def _plan(releases: SampledGaussianReleases, delta: float) -> _Plan:
    noise, q, steps = releases.noise_multiplier, releases.sampling_probability, releases.steps
    from scipy.special import ndtri

    reach = -float(ndtri(max(min(delta * _GUARD / steps, 0.1), 1e-300)))
    z = np.linspace(-reach, reach, 20_001)
    weight = np.exp(-(z**2) / 2)
    own, moved = _loss(noise * z, noise, q), _loss(1 + noise * z, noise, q)
    lowest, highest = float(own[0]), float(moved[-1])
    mean = ((1 - q) * own + q * moved) @ weight / weight.sum()
    square = ((1 - q) * (own - mean) ** 2 + q * (moved - mean) ** 2) @ weight / weight.sum()
    spread = math.sqrt(max(square, 0.0))
    composed = min(steps * (highest - lowest), highest - lowest + 2 * reach * spread * math.sqrt(steps))
    width = max(
        (highest - lowest) / releases.cells,
        composed / (_COMPOSED * releases.cells),
        spread / _FINEST,
        1e-12 * (highest - lowest),
    )
    # few bits, so that multiples are exact in floats
    mantissa, exponent = math.frexp(width)
    width = math.ldexp(math.ceil(mantissa * 1024) / 1024, exponent)
    return _Plan(width, math.floor(lowest / width), math.ceil(highest / width))


@dataclass(frozen=True)
class _Cut:
    """Cells of losses, from the smallest on, and the masses of both laws below and above them."""

    cells: list[LossCell]
    below: tuple[arb, arb]
    above: tuple[arb, arb]

    def reversed(self) -> _Cut:
        """The same with the laws exchanged."""
        turned = [cell.reversed() for cell in reversed(self.cells)]
        return _Cut(turned, (self.above[1], self.above[0]), (self.below[1], self.below[0]))


@dataclass(frozen=True)
class _End:
    """An end of a cell for one normal law: the mass beyond it, on the side where that is small."""

    beyond: arb
    on_top: bool

    @classmethod
    def at(cls, z: arb) -> _End:
        """At so many standard deviations over the square root of 2."""
        return cls(z.erfc() / 2, True) if z > 0 else cls((-z).erfc() / 2, False)

    @property
    def above(self) -> arb:
        """The mass above it."""
        return self.beyond if self.on_top else 1 - self.beyond

    def to(self, other: _End) -> arb:
        """The mass from here to a higher end."""
        if self.on_top == other.on_top:
            return self.beyond - other.beyond if self.on_top else other.beyond - self.beyond
        return 1 - self.beyond - other.beyond


def _cut(releases: SampledGaussianReleases, plan: _Plan, shift: float) -> _Cut:
    """Cells of the loss log dP/dQ, which end at whole numbers of widths plus `shift`."""
    noise, q, width = arb(releases.noise_multiplier), arb(releases.sampling_probability), arb(plan.width)
    root, least = noise * arb(2).sqrt(), 1 - q
    lowest = plan.lowest
    # the first end of a cell that surely lies above the smallest loss, log(1 - q)
    while not ((lowest + shift) * width).exp() > least:
        lowest += 1
    own = moved = _End(arb(0), False)
    cells = []
    for k in range(lowest, max(plan.highest, lowest + 1) + 1):
        # where the loss has this value
        x = noise**2 * ((((k + shift) * width).exp() - least) / q).log() + arb(0.5)
        here, there = _End.at(x / root), _End.at((x - 1) / root)
        plain = own.to(here)
        cells.append(LossCell(k - 1, least * plain + q * moved.to(there), plain))
        own, moved = here, there
    nothing = arb(0), arb(0)
    above = least * own.above + q * moved.above, own.above
    if ((lowest - 1 + shift) * width).exp() <= least:
        return _Cut(cells, nothing, above)
    return _Cut(cells[1:], (cells[0].upper_law, cells[0].lower_law), above)


def _above(cut: _Cut, width: arb, bits: int) -> Lattice:
    """Each cell's mass at its two ends, both laws' masses kept; below them at the first, above them at infinity."""
    unit, first = 1 << bits, cut.cells[0].index
    masses = [0] * (len(cut.cells) + 1)
    masses[0] = -_floor(-cut.below[0] * unit)
    shrink, grow = (1 - (-width).exp()) / unit, (width.exp() - 1) / unit
    for k, cell in enumerate(cut.cells):
        p, q = cell.upper_law, cell.lower_law
        masses[k] += max(0, -_floor(-(q * ((cell.index + 1) * width).exp() - p) / grow))
        masses[k + 1] += max(0, -_floor(-(p - q * (cell.index * width).exp()) / shrink))
    return Lattice(fmpz_poly(masses), first, -_floor(-cut.above[0] * unit))


def _below(cut: _Cut, width: arb, bits: int) -> tuple[Lattice, float]:
    """Cells merged into points, rounded down to a lattice whose offset, a part of the width, is the second."""
    unit = 1 << bits
    cells = [LossCell(0, *cut.below), *cut.cells, LossCell(0, *cut.above)]
    kept = [cell for cell in cells if cell.upper_law.lower() * unit >= 1 and cell.lower_law > 0]
    places = np.array([float((cell.upper_law / cell.lower_law).log() / width) for cell in kept])
    weights = np.array([float(cell.upper_law) for cell in kept])
    parts = places - np.floor(places)
    order = np.argsort(parts)
    # rounding down costs the mean part above the offset, and one width more for each part below it
    cost = np.cumsum(weights[order]) - weights[order] - parts[order] * weights.sum()
    offset = float(parts[order][int(np.argmin(cost))])
    offset = max(0.0, offset - 2 * _NEARLY)
    masses: dict[int, int] = {}
    for group in _groups(places, weights, float(width), offset + _NEARLY):
        p = sum((arb(share) * kept[k].upper_law for k, share in group), arb(0))
        q = sum((arb(share) * kept[k].lower_law for k, share in group), arb(0))
        index = _floor((p / q).log() / width - offset)
        masses[index] = masses.get(index, 0) + _floor(p * unit)
    first = min(masses)
    return Lattice(fmpz_poly([masses.get(k, 0) for k in range(first, max(masses) + 1)]), first), offset


def _groups(
    places: FloatArray, weights: FloatArray, width: float, offset: float
) -> Iterator[list[tuple[int, float]]]:
    """Shares of cells, (cell, share), that make points just above a lattice's: any shares of sum 1 are allowed.

    From the smallest loss on, what lies below the next point of the lattice takes so much of what lies above it that
    their mean of Y is that of the point.
    """
    group: list[tuple[int, float]] = []
    target, missing = 0.0, 0.0
    for k, (place, weight) in enumerate(zip(places.tolist(), weights.tolist(), strict=True)):
        rest = 1.0
        while rest > 0:
            if group and place - target > _FARTHEST:
                yield group
                group = []
            if not group:
                # one that is just above a point already is a group of its own
                target, missing = math.ceil(place - offset - 4 * _NEARLY) + offset, 0.0
            # in units of the point's own Y
            gain = -math.expm1(min((target - place) * width, 700.0)) * weight
            if gain < 0 or rest * gain <= missing:
                group.append((k, rest))
                missing, rest = missing - rest * gain, 0.0
                continue
            share = min(math.floor(missing / gain * 2**30 + 1) / 2**30, rest) if missing > 0 else rest
            group.append((k, share))
            rest -= share
            yield group
            group = []
    if group:
        yield group


def _power(law: Lattice, steps: int, bits: int, tail: float, *, upward: bool) -> Lattice:
    """The law of the sum of so many losses; ends of at most `tail`, in all, are cut off."""
    part = int(Fraction(tail) * (1 << bits)) // (2 * steps.bit_length() + 1)
    square, count, total = law.trimmed(part // steps, upward=upward), 1, None
    done = 0
    while True:
        if steps & count:
            total = square if total is None else total.times(square, bits, upward=upward)
            done += count
            total = total.trimmed(part * done // steps, upward=upward)
        count *= 2
        if count > steps:
            assert total is not None
            return total
        square = square.times(square, bits, upward=upward).trimmed(part * count // steps, upward=upward)


def bits_for(delta: float, cells: int, steps: int) -> int:
    """Below the point, of whole multiples that tell deltas of this size after so many releases of so many cells."""
    return _GUARD_BITS + math.ceil(-math.log2(delta) + math.log2(_COMPOSED * cells * steps))


def bounds_below(cells: list[LossCell], width: float, steps: int, delta: float, bits: int) -> Bounds:
    """From below alone, for so many releases of two discrete laws, whose points are cells, the smallest loss first.

    Points of a release may be lost, for a smaller bound. The precision of the context is that of the bounds.
    """
    nothing = arb(0), arb(0)
    below, offset = _below(_Cut(cells, nothing, nothing), arb(width), bits)
    composed = _power(below, steps, bits, delta * _GUARD, upward=False)
    anything = Lattice(fmpz_poly([0]), 0, 1 << bits)
    return Bounds(anything, composed, width, steps * arb(offset) * arb(width), bits, ctx.prec)


@lru_cache(maxsize=8)
def _bounds(releases: SampledGaussianReleases, direction: Direction, delta: float) -> Bounds:
    """Both laws of all releases, for a delta of this size or larger."""
    plan = _plan(releases, delta)
    bits = bits_for(delta, releases.cells, releases.steps)
    precision = bits + 64 + math.ceil(-math.log2(min(releases.sampling_probability, plan.width, 1.0)))
    with ctx.workprec(precision):
        width = arb(plan.width)
        # most losses are about 0: they hardly spread at an end of a cell, and make one point in the first cell
        q = releases.sampling_probability
        shift = math.log1p(-q) / plan.width % 1.0 if q < 1 else 0.5
        outer, inner = _cut(releases, plan, 0.0), _cut(releases, plan, shift)
        if direction == "add":
            outer, inner = outer.reversed(), inner.reversed()
        above, (below, offset) = _above(outer, width, bits), _below(inner, width, bits)
        return Bounds(
            _power(above, releases.steps, bits, delta * _GUARD, upward=True),
            _power(below, releases.steps, bits, delta * _GUARD, upward=False),
            plan.width,
            releases.steps * arb(offset) * width,
            bits,
            precision,
        )
