"""The law of a rounded chain's last state, pushed through step by step on a grid.

All chains of a call go together: chains that have been the same so far are one row. A step takes the mass of each grid
point to its image, rounds that to the grid, and adds noise whose law, rounded to the grid in the same way, is known in
closed form: one convolution along each axis, in floats, with a bound on what that loses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft, special

from dpverify.auditing.exact.chains import NoisyChain, NoisyStep, StepMap
from dpverify.auditing.exact.grids import REACH, Grid, Spread, check_map, round_points
from dpverify.checks import FloatArray

_UNIT = 2.0**-53
_PER_LEVEL = 24.0
"""Units in the last place, relative in the Euclidean norm, by level of the Fourier transforms that a convolution takes;
three transforms of about 6 a level each, and the product."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_NUMBERS_AT_ONCE = 1 << 22
_SPREADS_KEPT = 1 << 25
"""Numbers in the roundings of maps that are kept for later steps."""


@dataclass(frozen=True)
class Laws:
    """Laws of the last state of rounded chains.

    Attributes:
        ends_merged: a row for each chain: all mass beyond an end of the set lies at that end.
        ends_apart: the same with one more point at each end for the mass beyond it by a spacing and more, which a
            projection takes to the end; what lies less far may do so or not.
        lost: for each chain, how far the rows are from the true ones in total variation.
        node_steps: grid points times rows, over all steps: what it cost.
    """

    ends_merged: FloatArray
    ends_apart: FloatArray
    lost: FloatArray
    node_steps: int


def last_laws(chains: Sequence[NoisyChain], grid: Grid) -> Laws:
    """Push the chains through, which have as many steps, the same set and the same noise in each step."""
    walk = _Walk(grid)
    first = chains[0]
    count = len(first.steps)
    apart_shape = tuple(length + 2 for length in grid.shape)
    released = np.zeros((len(chains), math.prod(apart_shape)))
    released_lost = np.zeros(len(chains))
    beginning = _rounded_start(grid, first)
    states, lost = np.zeros((1, grid.size)), np.zeros(1)
    row_of = np.zeros(len(chains), dtype=np.int64)
    for t in range(count):
        entering = (float(t == 0),) if first.skipped is None else first.skipped
        share = entering[t] if t < len(entering) else 0.0
        states += share * beginning
        pairs = [(int(row), chain.steps[t]) for row, chain in zip(row_of, chains, strict=True)]
        kinds = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
        row_of = np.array([kinds[pair] for pair in pairs])
        origins = np.array([row for row, _ in kinds])
        full, added = walk.step(states, [(row, step) for row, step in kinds])
        lost = lost[origins] + added
        leaving = (float(t == count - 1) if first.stopped is None else first.stopped[t]) or 0.0
        if leaving:
            released += leaving * full[row_of]
            released_lost += leaving * lost[row_of]
        states = _merged(full, apart_shape)
        if grid.cut:
            lost = lost + _at_ends(states, grid)
    return Laws(_merged(released, apart_shape), released, released_lost, walk.node_steps)


def _rounded_start(grid: Grid, chain: NoisyChain) -> FloatArray:
    spread = round_points(grid, np.asarray(chain.start)[None, :], (0,) * grid.dimension)
    masses = np.bincount(spread.targets[:, 0], weights=spread.weights[:, 0], minlength=grid.size)
    return np.asarray(masses, dtype=np.float64)


def _merged(full: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Rows over a grid, without the outermost points of each axis: their mass goes to their neighbors."""
    masses = full.reshape(-1, *shape)
    for axis in range(1, masses.ndim):
        masses = np.moveaxis(masses, axis, -1)
        inner = masses[..., 1:-1].copy()
        inner[..., 0] += masses[..., 0]
        inner[..., -1] += masses[..., -1]
        masses = np.moveaxis(inner, -1, axis)
    return np.ascontiguousarray(masses).reshape(len(full), -1)


def _at_ends(states: FloatArray, grid: Grid) -> FloatArray:
    masses = states.reshape(-1, *grid.shape)
    total = np.zeros(len(states))
    for axis in range(1, masses.ndim):
        ends = np.take(masses, [0, -1], axis=axis)
        total += ends.reshape(len(states), -1).sum(axis=1)
    return total


class _Walk:
    """Steps on one grid; keeps the roundings of maps that come again."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._spreads: dict[tuple[StepMap, tuple[int, ...]], Spread] = {}
        self._images: dict[StepMap, FloatArray] = {}
        self._kept = 0
        self.node_steps = 0

    def step(self, states: FloatArray, rows: list[tuple[int, NoisyStep]]) -> tuple[FloatArray, FloatArray]:
        """Rows over a grid with one more point at each end, and what is lost in each row."""
        grid, d = self._grid, self._grid.dimension
        stddev = rows[0][1].noise_stddev
        ratios = [stddev / h for h in grid.spacings]
        reach = [math.ceil(REACH * ratio) + 2 for ratio in ratios]
        margins = self._margins([step for _, step in rows], reach)
        wide = tuple(length + 2 * margin for length, margin in zip(grid.shape, margins, strict=True))
        moved = np.zeros((len(rows), math.prod(wide)))
        for place, (row, step) in enumerate(rows):
            for one, probability in zip(step.maps, step.probabilities or (), strict=True):
                spread = self._spread(one, margins)
                for targets, weights in zip(spread.targets, spread.weights, strict=True):
                    moved[place] += np.bincount(
                        targets, weights=weights * (probability * states[row]), minlength=math.prod(wide)
                    )
        lost = np.full(len(rows), 4 * d * 2 * float(special.ndtr(-REACH)))
        # adding up nonnegative masses, at most so many at a point
        lost += 2**d * _UNIT * (grid.size + 8 * len(rows[0][1].maps))
        masses = moved.reshape(len(rows), *wide)
        for axis in range(d):
            masses = np.moveaxis(masses, axis + 1, -1)
            lost += _float_allowance(masses, ratios[axis])
            masses = np.moveaxis(_convolved(masses, ratios[axis], margins[axis], reach[axis]), -1, axis + 1)
        self.node_steps += len(rows) * math.prod(wide)
        return np.ascontiguousarray(masses).reshape(len(rows), -1), lost

    def _margins(self, steps: list[NoisyStep], reach: list[int]) -> tuple[int, ...]:
        """So many points more at each end hold all images, up to where noise takes nothing back into the set."""
        grid = self._grid
        needed = np.zeros(grid.dimension)
        for one in {one for step in steps for one in step.maps}:
            places = grid.places(self._image(one))
            beyond = np.maximum(-places.min(axis=0), places.max(axis=0) - np.asarray(grid.cells))
            needed = np.maximum(needed, beyond)
        return tuple(
            min(max(math.ceil(beyond), 0) + 1, most + 2) for beyond, most in zip(needed, reach, strict=True)
        )

    def _image(self, one: StepMap) -> FloatArray:
        if one not in self._images:
            images = one.images(self._grid.points)
            check_map(self._grid, one, images)
            self._make_room(images.size)
            self._images[one] = images
        return self._images[one]

    def _spread(self, one: StepMap, margins: tuple[int, ...]) -> Spread:
        if (one, margins) not in self._spreads:
            spread = round_points(self._grid, self._image(one), margins)
            self._make_room(2 * spread.weights.size)
            self._spreads[one, margins] = spread
        return self._spreads[one, margins]

    def _make_room(self, numbers: int) -> None:
        if self._kept + numbers > _SPREADS_KEPT:
            self._images.clear()
            self._spreads.clear()
            self._kept = 0
        self._kept += numbers


def _kernel(ratio: float, length: int) -> FloatArray:
    """Mass at 0, 1, ..., length grid points of a normal number of standard deviation `ratio`, rounded to the grid.

    The mass at j is the integral of the density times the hat of width 1 around j. Gauss's rule on both sides of j is
    exact to rounding as long as the standard deviation is at least 2.
    """
    places = (_NODES + 1) / 2
    weights = _WEIGHTS / 2 * (1 - places) / (math.sqrt(2 * math.pi) * ratio)
    j = np.arange(length + 1)[:, None]
    masses: FloatArray = (
        np.exp(-(((j + places) / ratio) ** 2) / 2) + np.exp(-(((j - places) / ratio) ** 2) / 2)
    ) @ weights
    return masses


def _convolved(masses: FloatArray, ratio: float, margin: int, reach: int) -> FloatArray:
    """Add noise along the last axis, which has `margin` more points at each end than the grid has; the result has one.

    What goes beyond that point is put there.
    """
    wide = masses.shape[-1]
    length = wide - 2 * margin + 2
    first = margin - 1
    kernel = _kernel(ratio, max(reach, wide) + 1)
    # at the ends: all mass that goes there or beyond; tails[j] is that of j, j + 1, ...
    tails = np.cumsum(kernel[::-1])[::-1]
    places = np.arange(wide)
    to_low = np.where(places >= first, tails[np.abs(places - first)], 1 - tails[np.abs(places - first) + 1])
    to_high = to_low[::-1]
    # lags that are looked at: below `wide`; longer ones may wrap into the margins, which are not
    size = fft.next_fast_len(2 * wide, real=True)
    around = np.zeros(size)
    around[:wide], around[-wide + 1 :] = kernel[:wide], kernel[wide - 1 : 0 : -1]
    transform = fft.rfft(around)
    out = np.empty((*masses.shape[:-1], length))
    flat, target = masses.reshape(-1, wide), out.reshape(-1, length)
    for part in _parts(len(flat), size):
        there = fft.irfft(fft.rfft(flat[part], size) * transform, size)
        np.maximum(there[:, first : first + length], 0.0, out=target[part])
    target[:, 0], target[:, -1] = flat @ to_low, flat @ to_high
    return out


def _parts(rows: int, size: int) -> Iterator[slice]:
    step = max(1, _NUMBERS_AT_ONCE // size)
    for begin in range(0, rows, step):
        yield slice(begin, min(begin + step, rows))


def _float_allowance(masses: FloatArray, ratio: float) -> FloatArray:
    """What a convolution along the last axis may be off by in each row, summed over all points.

    A Fourier transform is off by a few units a level in the Euclidean norm, relative to what it transforms; the sum
    over a line is at most the root of its length times that.
    """
    length = masses.shape[-1]
    lines = masses.reshape(len(masses), -1, length)
    kernel = math.sqrt(1 / (2 * math.sqrt(math.pi) * ratio))
    norms = np.sqrt((lines**2).sum(axis=2)).sum(axis=1) + kernel * lines.sum(axis=(1, 2))
    return np.asarray(_PER_LEVEL * _UNIT * math.log2(4 * length) * math.sqrt(2 * length) * norms)


def signature(chain: NoisyChain) -> tuple[object, ...]:
    """What chains that go together share."""
    stddevs: NDArray[np.float64] = np.array([step.noise_stddev for step in chain.steps])
    return (
        chain.start,
        repr(chain.constraint),
        chain.skipped,
        chain.stopped,
        stddevs.tobytes(),
    )
