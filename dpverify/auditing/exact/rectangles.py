"""Laws on an interval, a rectangle, or a window of all space: a grid, and noise along one axis after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import fft, special

from dpverify.auditing.exact.chains import PiecewiseMap, StepMap
from dpverify.auditing.exact.closeness import REACH, Rounding
from dpverify.auditing.exact.grids import Grid, check_constant, check_steepest, rounding_slack
from dpverify.auditing.exact.meshes import Mesh, Noised, Spread
from dpverify.auditing.exact.sides import Rule, RuleBuilder, between_lines, on_interval
from dpverify.checks import FloatArray

_BETWEEN = 32
"""How many places in a cell are looked at to see how far a map is from straight there."""
_UNIT = 2.0**-53
_POINTS_AT_ONCE = 1 << 11
"""Of a rule, whose points come cell after cell: those of a part lie close together."""


@dataclass(frozen=True)
class Margins:
    """A grid with some more points at each end of each axis."""

    grid: Grid
    each: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Points along each axis."""
        return tuple(length + 2 * margin for length, margin in zip(self.grid.shape, self.each, strict=True))

    @property
    def size(self) -> int:
        """Points in all."""
        return math.prod(self.shape)

    def axis(self, number: int) -> FloatArray:
        """Coordinates along an axis."""
        h, margin = self.grid.spacings[number], self.each[number]
        return np.asarray(self.grid.lower[number] + h * (np.arange(self.shape[number]) - margin))


class RectangleMesh(Mesh[Grid, Margins]):
    """The nodes of a `Grid`. A release is drawn anew around its node before it is projected."""

    redrawn = True

    @property
    def corners(self) -> FloatArray:
        return np.array(list(product(*zip(self.grid.lower, self.grid.upper, strict=True))), dtype=np.float64)

    def ends(self, one: PiecewiseMap) -> tuple[float, float]:
        values = one.values(self.corners)
        return float(values.min()), float(values.max())

    def layout(self, images: Sequence[FloatArray], stddev: float) -> Margins:
        """So many points more at each end hold all images, up to where noise takes nothing back into the set."""
        grid = self.grid
        needed = np.zeros(grid.dimension)
        for one in images:
            places = grid.places(one)
            needed = np.maximum(needed, -places.min(axis=0, initial=0.0))
            needed = np.maximum(needed, (places - np.asarray(grid.cells)).max(axis=0, initial=0.0))
        most = (math.ceil(REACH * stddev / h) + 4 for h in grid.spacings)
        each = (min(math.ceil(beyond) + 1, most) for beyond, most in zip(needed, most, strict=True))
        return Margins(grid, tuple(each))

    def spread(self, points: FloatArray, layout: Margins) -> Spread:
        """Round points, shape (k, d), coordinate by coordinate; what lies beyond the layout goes to its end."""
        k, d = points.shape
        places = self.grid.places(points)
        targets = np.zeros((2**d, k), dtype=np.int64)
        weights = np.ones((2**d, k))
        for axis, (length, margin) in enumerate(zip(layout.shape, layout.each, strict=True)):
            place = np.clip(places[:, axis] + margin, 0, length - 1)
            left = np.minimum(np.floor(place), length - 2)
            fraction = place - left
            for corner in range(2**d):
                right = (corner >> axis) & 1
                targets[corner] = targets[corner] * length + left.astype(np.int64) + right
                weights[corner] *= fraction if right else 1 - fraction
        return Spread(targets, weights)

    def noised(self, moved: FloatArray, layout: Margins, stddev: float) -> RectangleLaws:
        """Add noise, along one axis after the other, and project."""
        grid, d = self.grid, self.grid.dimension
        ratios = [stddev / h for h in grid.spacings]
        lost = np.full(len(moved), 4 * d * 2 * float(special.ndtr(-REACH)))
        masses = moved.reshape(len(moved), *layout.shape)
        for axis in range(d):
            masses = np.moveaxis(masses, axis + 1, -1)
            lost += float_allowance(masses, ratios[axis])
            reach = math.ceil(REACH * ratios[axis]) + 2
            masses = np.moveaxis(convolved(masses, ratios[axis], layout.each[axis], reach), -1, axis + 1)
        full = np.ascontiguousarray(masses).reshape(len(moved), -1)
        states = merged(full, self._with_ends)
        if grid.cut:
            lost = lost + _at_ends(states, grid)
        return RectangleLaws(states, lost, full, moved, layout, stddev)

    @property
    def _with_ends(self) -> tuple[int, ...]:
        return tuple(length + 2 for length in self.grid.shape)

    def _cut(self, builder: RuleBuilder, one: PiecewiseMap) -> None:
        grid, normal = self.grid, one.normal
        if grid.dimension == 1:
            self._cut_line(
                builder, one, 0, np.arange(grid.size), 0.0, normal[0], lambda at: at[:, None], (0,)
            )
            return
        self._cut_rectangles(builder, one)
        # states that the projection takes to an edge: all that lie beyond it count at their place along it
        nodes = np.arange(grid.size).reshape(grid.shape)
        for along in (0, 1):
            across = 1 - along
            if normal[along] == 0:
                continue
            for direction, end in ((-1, grid.lower[across]), (1, grid.upper[across])):
                edge = np.take(nodes, 0 if direction < 0 else -1, axis=across)
                beyond = (0, direction) if across else (direction, 0)

                def placed(at: FloatArray, end: float = end, along: int = along) -> FloatArray:
                    points = np.full((len(at), 2), end)
                    points[:, along] = at
                    return points

                offset = normal[across] * end
                self._cut_line(builder, one, along, edge, offset, normal[along], placed, beyond)

    def _cut_line(
        self,
        builder: RuleBuilder,
        one: PiecewiseMap,
        along: int,
        nodes: NDArray[np.int64],
        offset: float,
        slope: float,
        placed: Callable[[FloatArray], FloatArray],
        beyond: tuple[int, ...],
    ) -> None:
        """Cells between neighbors of some nodes in a line, where <normal, x> is offset + slope times a coordinate."""
        places = np.linspace(self.grid.lower[along], self.grid.upper[along], self.grid.shape[along])
        own = builder.own[nodes]
        jumps = (-math.inf, *one.jumps, math.inf)
        for left in np.flatnonzero(own[1:] != own[:-1]):
            begin, stop = places[left], places[left + 1]
            for side in range(own[left : left + 2].min(), own[left : left + 2].max() + 1):
                low, high = sorted((jump - offset) / slope for jump in jumps[side : side + 2])
                at, weights = on_interval(max(begin, low), min(stop, high))
                fraction = (at - begin) / (stop - begin)
                hats = np.stack([1 - fraction, fraction]) * weights
                builder.add(side, nodes[left : left + 2].tolist(), placed(at), hats, beyond)

    def _cut_rectangles(self, builder: RuleBuilder, one: PiecewiseMap) -> None:
        grid, own = self.grid, builder.own
        axes = [np.linspace(*ends) for ends in zip(grid.lower, grid.upper, grid.shape, strict=True)]
        sides = own.reshape(grid.shape)
        corners_of = np.stack([sides[:-1, :-1], sides[:-1, 1:], sides[1:, :-1], sides[1:, 1:]])
        jumps = (-math.inf, *one.jumps, math.inf)
        for i, j in zip(*np.nonzero(np.ptp(corners_of, axis=0)), strict=True):
            lower, upper = (axes[0][i], axes[1][j]), (axes[0][i + 1], axes[1][j + 1])
            corners = [int((i + a) * grid.shape[1] + j + b) for a in (0, 1) for b in (0, 1)]
            for side in range(own[corners].min(), own[corners].max() + 1):
                at, weights = between_lines(lower, upper, one.normal, jumps[side : side + 2])
                x, y = ((at - np.asarray(lower)) / (np.asarray(upper) - np.asarray(lower))).T
                hats = np.stack([(1 - x) * (1 - y), (1 - x) * y, x * (1 - y), x * y]) * weights
                builder.add(side, corners, at, hats, (0, 0))

    def check(self, step: StepMap, images: FloatArray) -> None:
        grid = self.grid
        reached = images.reshape(*grid.shape, grid.dimension)
        largest = float(np.abs(images).max(initial=0.0) + max(map(abs, (*grid.lower, *grid.upper))))
        for axis, h in enumerate(grid.spacings):
            check_steepest(step, np.diff(reached, axis=axis), h, largest)
        if grid.dimension == 1 and grid.cells[0] > 1:
            slack = rounding_slack(step, largest, grid.spacing)
            slopes = np.diff(images[:, 0]) / grid.spacing
            assert step.bend is not None
            check_constant("bend", step.bend, float(np.ptp(slopes)) / 2, slack)
            turns = float(np.abs(np.diff(slopes)).max()) / grid.spacing
            check_constant("curvature", step.curvature, turns, 2 * slack / grid.spacing)

    def rounding(self, maps: Sequence[StepMap], stddev: float) -> Rounding:
        """The mean is kept; a map is off as far as it bends in a cell."""
        return Rounding.of_step(
            self.spacing / stddev,
            max(one.lipschitz_constant for one in maps),
            max(self._deviation(one) for one in maps) / stddev,
            self.grid.dimension,
        )

    def _deviation(self, step: StepMap) -> float:
        """How far a map is at most from its linear interpolation between grid points, a length.

        At most bend E||R - x|| and curvature E||R - x||^2 / 2 for the rounded point R. In one dimension the map is also
        looked at between the grid's points, which settles it up to bend h / places.
        """
        grid, h, d = self.grid, self.spacing, self.grid.dimension
        assert step.bend is not None
        bound = min(step.bend * h * math.sqrt(d) / 2, step.curvature * h**2 * d / 8)
        largest = max(max(map(abs, ends)) for ends in (grid.lower, grid.upper))
        rounding = 16 * _UNIT * (1 + step.lipschitz_constant) * (largest + h)
        if d == 1 and bound > 0 and step.curvature == math.inf:
            fine = Grid(grid.lower, grid.upper, (grid.cells[0] * _BETWEEN,))
            images = step.images(fine.points)[:, 0]
            ends = images[::_BETWEEN]
            fractions = np.arange(_BETWEEN) / _BETWEEN
            straight = ends[:-1, None] * (1 - fractions) + ends[1:, None] * fractions
            seen = float(np.abs(images[:-1].reshape(-1, _BETWEEN) - straight).max())
            bound = min(bound, seen + step.bend * h / _BETWEEN)
        return bound + rounding

    def coarser(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """All mass beyond an end of the set lies at that end."""
        shape = self._with_ends
        return merged(left[None, :], shape)[0], merged(right[None, :], shape)[0]

    def finer(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """One more point at each end for the mass beyond it by a spacing and more, which a projection takes to the end.

        What lies less far may be projected or not.
        """
        return left, right


@dataclass(frozen=True, eq=False)
class RectangleLaws(Noised):
    """Laws on a grid; `released` has one more point at each end of each axis."""

    states: FloatArray
    lost: FloatArray
    released: FloatArray
    moved: FloatArray
    layout: Margins
    stddev: float

    def densities(self, rule: Rule) -> FloatArray:
        count = len(rule.points)
        densities = np.empty((len(self.moved), count))
        for begin in range(0, count, _POINTS_AT_ONCE):
            part = slice(begin, min(begin + _POINTS_AT_ONCE, count))
            near = [self._near(rule, part, axis) for axis in range(rule.points.shape[1])]
            factors = [self._factor(rule, part, axis, places) for axis, places in enumerate(near)]
            for row, masses in enumerate(self.moved):
                there = masses.reshape(self.layout.shape)[tuple(near)]
                along = factors[0] @ there
                densities[row, part] = along if along.ndim == 1 else (along * factors[1]).sum(axis=1)
        return densities

    def _near(self, rule: Rule, part: slice, axis: int) -> slice:
        """Places along an axis from which noise reaches one of some points."""
        if rule.beyond[part, axis].any():
            return slice(None)
        places, points = self.layout.axis(axis), rule.points[part, axis]
        reach = REACH * self.stddev
        first, last = np.searchsorted(places, [points.min() - reach, points.max() + reach])
        return slice(int(first), int(last))

    def _factor(self, rule: Rule, part: slice, axis: int, near: slice) -> FloatArray:
        """For some points of the rule and places along an axis, the density there or the mass beyond the end."""
        lags = (rule.points[part, axis, None] - self.layout.axis(axis)[near]) / self.stddev
        density = np.asarray(np.exp(-(lags**2) / 2) / (math.sqrt(2 * math.pi) * self.stddev))
        beyond = rule.beyond[part, axis, None]
        return np.where(beyond == 0, density, special.ndtr(-beyond * lags)) if beyond.any() else density


def merged(full: FloatArray, shape: tuple[int, ...]) -> FloatArray:
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


_PER_LEVEL = 24.0
"""Units in the last place, relative in the Euclidean norm, by level of the Fourier transforms that a convolution takes;
three transforms of about 6 a level each, and the product."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_NUMBERS_AT_ONCE = 1 << 22


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


def convolved(masses: FloatArray, ratio: float, margin: int, reach: int) -> FloatArray:
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


def float_allowance(masses: FloatArray, ratio: float) -> FloatArray:
    """What a convolution along the last axis may be off by in each row, summed over all points.

    A Fourier transform is off by a few units a level in the Euclidean norm, relative to what it transforms; the sum
    over a line is at most the root of its length times that.
    """
    length = masses.shape[-1]
    lines = masses.reshape(len(masses), -1, length)
    kernel = math.sqrt(1 / (2 * math.sqrt(math.pi) * ratio))
    norms = np.sqrt((lines**2).sum(axis=2)).sum(axis=1) + kernel * lines.sum(axis=(1, 2))
    return np.asarray(_PER_LEVEL * _UNIT * math.log2(4 * length) * math.sqrt(2 * length) * norms)
