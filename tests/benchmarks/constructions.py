"""Samplers whose numbers are no function of one uniform number: how far they reach, and lattices that they leave.

A ziggurat (Marsaglia and Tsang 2000), the polar method (Marsaglia and Bray 1964) and the ratio of uniforms (Kinderman
and Monahan 1977) take several uniform numbers, and reject some. Where numbers end follows from the bits of those. Of
two constructions numbers show more: each is a whole multiple of a step that can be computed, and small ones have bits
enough to tell whether they are. A name is a supposition of whoever gives it; how many numbers are off is computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError

_ROUNDING = 8
"""Rounding errors of a sampler's arithmetic, in units of the last digit."""
_PRECISION = 120
"""Bits of the layers' widths while they are computed."""
_TOLD = 1e-2
"""A number is looked at where one of any other origin would lie on the lattice with at most this probability."""


@dataclass(frozen=True)
class LatticeCheck:
    """How many numbers were held against a lattice, how many lie off it, and how many of other origin would not."""

    checked: int
    off: int
    by_chance: float
    """Numbers expected on the lattice if they were spread evenly."""

    @property
    def holds(self) -> bool:
        """Whether some numbers were checked and none is off."""
        return self.checked > 0 and self.off == 0


@dataclass(frozen=True)
class Ziggurat:
    """Normal numbers from layers: a whole number of `bits` times the width of one of `layers`.

    Beyond the lowest layer's edge lie logarithms of uniform numbers of `tail_bits`. `digits` are the significant bits
    of the numbers' format, or of the sampler's table of widths if that has fewer: 49 in NumPy's. Raises
    `InvalidArgumentError` for fewer than 2 layers, or bits outside [8, 64].
    """

    bits: int = 52
    tail_bits: int = 53
    digits: int = 53
    layers: int = 256

    def __post_init__(self) -> None:
        _check_bits(self.bits, self.tail_bits, self.digits)
        checks.whole_number("layers", self.layers, at_least=2, at_most=4096)

    @property
    def widths(self) -> FloatArray:
        """Of the layers, from the lowest, whose width is that of its area; all areas are alike."""
        return np.array(_widths(self.layers))

    @property
    def end(self) -> float:
        """No number exceeds this, in standard deviations."""
        edge = float(self.widths[1])
        return edge + self.tail_bits * math.log(2) / edge

    @property
    def smallest_gap(self) -> float:
        """The step of the narrowest layer."""
        return float(self.widths.min()) * 2.0**-self.bits

    def check(self, values: ArrayLike) -> LatticeCheck:
        """Hold numbers close to 0 against the steps of all layers; raises `InvalidDataError` for no floats (runs,)."""
        sizes = np.abs(_floats(values))
        steps = self.widths * 2.0**-self.bits
        error = _ROUNDING * 2.0**-self.digits
        # chance of one number: over all layers, twice its own error in steps
        small = sizes[(sizes > 0) & (2 * error * sizes * np.sum(1 / steps) < _TOLD)]
        multiples = small[:, None] / steps
        off = np.abs(multiples - np.rint(multiples))
        on = np.any((off <= error * multiples) & (multiples > 0.5), axis=1)
        chance = float(np.sum(np.minimum(2 * error * multiples.sum(axis=1), 1.0)))
        return LatticeCheck(small.size, int(np.count_nonzero(~on)), chance)


@dataclass(frozen=True)
class Polar:
    """Normal numbers in pairs, from points in the unit disc whose coordinates are 2 u - 1, with u of so many bits.

    The two of a pair follow one another, from the first number on. `digits` as of `Ziggurat`.
    """

    bits: int = 53
    digits: int = 53

    def __post_init__(self) -> None:
        _check_bits(self.bits, self.digits)

    @property
    def end(self) -> float:
        """No number exceeds this: that of a point one step from the center."""
        return math.sqrt(4 * (self.bits - 1) * math.log(2))

    @property
    def smallest_gap(self) -> float | None:
        """None: a step of one coordinate is multiplied by what depends on both."""
        return None

    def check(self, values: ArrayLike) -> LatticeCheck:
        """Turn pairs back into points and hold small coordinates against their step; raises as `Ziggurat.check`."""
        x = _floats(values)
        pairs = x[: x.size // 2 * 2].reshape(-1, 2)
        squared = np.sum(pairs**2, axis=1)
        radius = np.exp(-squared / 4)  # of the point
        with np.errstate(divide="ignore", invalid="ignore"):
            points = np.abs(pairs) * np.where(squared > 0, radius / np.sqrt(squared), 0.0)[:, None]
        multiples = points * 2.0 ** (self.bits - 1)
        error = _ROUNDING * (1 + squared[:, None]) * 2.0**-self.digits * multiples
        told = (2 * error < _TOLD) & (pairs != 0)
        off = np.abs(multiples - np.rint(multiples))[told]
        far = int(np.count_nonzero(off > np.maximum(error[told], 1e-9)))
        return LatticeCheck(off.size, far, float(2 * error[told].sum()))


@dataclass(frozen=True)
class RatioOfUniforms:
    """Normal numbers as a ratio of two uniform ones of so many bits, the lower of them at least one step."""

    bits: int = 53

    def __post_init__(self) -> None:
        _check_bits(self.bits)

    @property
    def end(self) -> float:
        """No number exceeds this: what is larger is rejected, whatever the lower number."""
        return 2 * math.sqrt(self.bits * math.log(2))


@cache
def _widths(layers: int) -> tuple[float, ...]:
    """The lowest edge for which the layers' areas reach the density's peak, found by bisection in balls."""
    low, high = arb(2), arb(6)
    with ctx.workprec(_PRECISION):
        for _ in range(_PRECISION):
            middle = ((low + high) / 2).mid()
            low, high = (middle, high) if _stack(middle, layers) is None else (low, middle)
        found = _stack(high, layers)
    assert found is not None
    return tuple(map(float, found))


def _stack(edge: arb, layers: int) -> list[arb] | None:
    """Widths of layers above an edge; None where their area is so large that they pass the density's peak."""
    area = edge * (-edge * edge / 2).exp() + (arb.pi() / 2).sqrt() * (edge / arb(2).sqrt()).erfc()
    top = (-edge * edge / 2).exp()
    widths = [area / top, edge]
    for _ in range(layers - 2):
        top += area / widths[-1]
        if not top < 1:
            return None
        widths.append((-2 * top.log()).sqrt())
    return widths if top + area / widths[-1] <= 1 else None


def _check_bits(*bits: int) -> None:
    for one in bits:
        checks.whole_number("bits", one, at_least=8, at_most=64)


def _floats(values: ArrayLike) -> FloatArray:
    raw = np.asarray(values)
    if raw.ndim != 1 or raw.dtype.kind != "f" or not np.all(np.isfinite(raw)):
        raise InvalidDataError(
            f"The values have shape {raw.shape} and type {raw.dtype}; allowed: finite floats, (runs,)."
        )
    return raw.astype(np.float64)
