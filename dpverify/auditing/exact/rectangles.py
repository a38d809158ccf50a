"""Laws on an interval, a rectangle, or a window of all space: a grid, and noise along one axis after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpverify.auditing.exact.chains import PiecewiseMap, StepMap
from dpverify.auditing.exact.closeness import REACH, Rounding
from dpverify.auditing.exact.convolutions import convolved, float_allowance
from dpverify.auditing.exact.grids import Grid, check_map, deviation, round_points
from dpverify.auditing.exact.meshes import Layout, Split, Spread
from dpverify.auditing.exact.sides import Rule, RuleBuilder, Splits, between_lines, on_interval, own_sides
from dpverify.checks import FloatArray

_POINTS_AT_ONCE = 1 << 11
"""Of a rule, whose points come cell after cell: those of a part lie close together."""


@dataclass(frozen=True)
class Margins:
    """A grid with some more points at each end of each axis.

    Attributes:
        grid: the nodes.
        each: how many more, along each axis.
    """

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


class RectangleMesh:
    """The nodes of a `Grid`. A release is drawn anew around its node before it is projected."""

    redrawn = True

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self._splits = Splits()

    @property
    def points(self) -> FloatArray:
        """Of the nodes, shape (size, d)."""
        return self.grid.points

    @property
    def spacing(self) -> float:
        """The longest edge of a cell."""
        return self.grid.spacing

    def ends(self, one: PiecewiseMap) -> tuple[float, float]:
        """Least and largest value in which a map's jumps are counted."""
        values = one.values(self._corners)
        return float(values.min()), float(values.max())

    @property
    def _corners(self) -> FloatArray:
        corners = product(*zip(self.grid.lower, self.grid.upper, strict=True))
        return np.array(list(corners), dtype=np.float64)

    def layout(self, images: Sequence[FloatArray], stddev: float) -> Margins:
        """So many points more at each end hold all images, up to where noise takes nothing back into the set."""
        grid = self.grid
        needed = np.zeros(grid.dimension)
        for one in images:
            places = grid.places(one)
            needed = np.maximum(needed, -places.min(axis=0, initial=0.0))
            needed = np.maximum(needed, (places - np.asarray(grid.cells)).max(axis=0, initial=0.0))
        most = (math.ceil(REACH * stddev / h) + 4 for h in grid.spacings)
        return Margins(
            grid,
            tuple(min(math.ceil(beyond) + 1, most) for beyond, most in zip(needed, most, strict=True)),
        )

    def spread(self, points: FloatArray, layout: Layout) -> Spread:
        """Round points to a layout."""
        assert isinstance(layout, Margins)
        return round_points(self.grid, points, layout.each)

    def noised(self, moved: FloatArray, layout: Layout, stddev: float) -> RectangleLaws:
        """Add noise, along one axis after the other, and project."""
        assert isinstance(layout, Margins)
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
        return RectangleLaws(states, full, lost, moved, layout, stddev)

    @property
    def _with_ends(self) -> tuple[int, ...]:
        return tuple(length + 2 for length in self.grid.shape)

    def split(self, one: PiecewiseMap) -> Split:
        """The sides of a map with jumps."""
        own = own_sides(one, self.grid.points, self.ends(one), self._corners)
        return self._splits.of(one, own, lambda: self._cut(one, own))

    def _cut(self, one: PiecewiseMap, own: NDArray[np.int64]) -> Split:
        grid = self.grid
        builder = RuleBuilder(grid.dimension)
        jumps = (-math.inf, *one.jumps, math.inf)
        if grid.dimension == 1:
            self._cut_intervals(builder, one, own, jumps)
        else:
            self._cut_rectangles(builder, one, own, jumps)
            self._cut_edges(builder, one, own, jumps)
        return builder.split(own)

    def _cut_intervals(
        self, builder: RuleBuilder, one: PiecewiseMap, own: NDArray[np.int64], jumps: tuple[float, ...]
    ) -> None:
        points = self.grid.points[:, 0]
        for left in np.flatnonzero(own[1:] != own[:-1]):
            corners = [int(left), int(left) + 1]
            begin, end = points[corners]
            for side in range(own[corners].min(), own[corners].max() + 1):
                low, high = sorted(jump / one.normal[0] for jump in (jumps[side], jumps[side + 1]))
                at, weights = on_interval(max(begin, low), min(end, high))
                fraction = (at - begin) / (end - begin)
                hats = np.stack([1 - fraction, fraction]) * weights
                builder.add(side, corners, own, at[:, None], hats, (0,))

    def _cut_rectangles(
        self, builder: RuleBuilder, one: PiecewiseMap, own: NDArray[np.int64], jumps: tuple[float, ...]
    ) -> None:
        grid = self.grid
        axes = [np.linspace(*ends) for ends in zip(grid.lower, grid.upper, grid.shape, strict=True)]
        sides = own.reshape(grid.shape)
        corners_of = np.stack([sides[:-1, :-1], sides[:-1, 1:], sides[1:, :-1], sides[1:, 1:]])
        normal = (one.normal[0], one.normal[1])
        for i, j in zip(*np.nonzero(np.ptp(corners_of, axis=0)), strict=True):
            lower, upper = (axes[0][i], axes[1][j]), (axes[0][i + 1], axes[1][j + 1])
            corners = [int((i + a) * grid.shape[1] + j + b) for a in (0, 1) for b in (0, 1)]
            for side in range(own[corners].min(), own[corners].max() + 1):
                at, weights = between_lines(lower, upper, normal, (jumps[side], jumps[side + 1]))
                x, y = ((at - np.asarray(lower)) / (np.asarray(upper) - np.asarray(lower))).T
                hats = np.stack([(1 - x) * (1 - y), (1 - x) * y, x * (1 - y), x * y]) * weights
                builder.add(side, corners, own, at, hats, (0, 0))

    def _cut_edges(
        self, builder: RuleBuilder, one: PiecewiseMap, own: NDArray[np.int64], jumps: tuple[float, ...]
    ) -> None:
        """States that the projection takes to an edge: all that lie beyond it count at their place along it."""
        grid = self.grid
        sides = own.reshape(grid.shape)
        for along in (0, 1):
            across = 1 - along
            if one.normal[along] == 0:
                continue
            places = np.linspace(grid.lower[along], grid.upper[along], grid.shape[along])
            strides = (grid.shape[1], 1)
            for direction, end in ((-1, grid.lower[across]), (1, grid.upper[across])):
                node = 0 if direction < 0 else grid.cells[across]
                line = np.take(sides, node, axis=across)
                for left in np.flatnonzero(line[1:] != line[:-1]):
                    corners = [
                        int(node * strides[across] + (left + step) * strides[along]) for step in (0, 1)
                    ]
                    begin, stop = places[left], places[left + 1]
                    for side in range(own[corners].min(), own[corners].max() + 1):
                        low, high = sorted(
                            (jump - one.normal[across] * end) / one.normal[along]
                            for jump in (jumps[side], jumps[side + 1])
                        )
                        at, weights = on_interval(max(begin, low), min(stop, high))
                        fraction = (at - begin) / (stop - begin)
                        points, beyond = np.full((len(at), 2), end), [0, 0]
                        points[:, along], beyond[across] = at, direction
                        hats = np.stack([1 - fraction, fraction]) * weights
                        builder.add(side, corners, own, points, hats, tuple(beyond))

    def check(self, step: StepMap, images: FloatArray) -> None:
        """Refuse a map that spreads neighboring grid points more than declared, or, on a line, bends more."""
        check_map(self.grid, step, images)

    def rounding(self, maps: Sequence[StepMap], stddev: float) -> Rounding:
        """The mean is kept; a map is off as far as it bends in a cell."""
        return Rounding.of_step(
            self.spacing / stddev,
            max(one.lipschitz_constant for one in maps),
            max(deviation(self.grid, one) for one in maps) / stddev,
            self.grid.dimension,
        )

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
class RectangleLaws:
    """See `meshes.Noised`; `released` has one more point at each end of each axis."""

    states: FloatArray
    released: FloatArray
    lost: FloatArray
    moved: FloatArray
    layout: Margins
    stddev: float

    def masses(self, split: Split) -> FloatArray:
        """Of each entry of a split, shape (rows, entries)."""
        rule = split.rule
        assert isinstance(rule, Rule)
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
        return np.asarray((rule.sums @ densities.T).T)

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
        beyond = rule.beyond[part, axis, None]
        if not beyond.any():
            return np.asarray(np.exp(-(lags**2) / 2) / (math.sqrt(2 * math.pi) * self.stddev))
        density = np.exp(-(lags**2) / 2) / (math.sqrt(2 * math.pi) * self.stddev)
        return np.where(beyond == 0, density, special.ndtr(-beyond * lags))


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
