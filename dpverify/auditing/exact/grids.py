"""Grids: equally spaced points whose first and last lie at the set's ends, and the rounding of points to them.

A point is rounded to the corners of its cell at random, so that its mean stays where it is: coordinate by coordinate,
to the left end with the fraction of the cell that lies on its right. In what follows h is the spacing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpverify.auditing.exact.chains import Map, NoisyChain, PiecewiseMap, StepMap
from dpverify.auditing.exact.closeness import REACH
from dpverify.auditing.exact.meshes import Spread
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.problems import AllSpace, Ball, Box

_BETWEEN = 32
"""How many places in a cell are looked at to see how far a map is from straight there."""
_UNIT = 2.0**-53
_SLACK = 1e-7
"""Relative: by how much a map's differences may exceed its declared constant, for rounding."""


@dataclass(frozen=True)
class Grid:
    """Points on an interval, or on a rectangle.

    Attributes:
        lower: first point of each axis.
        upper: last point of each axis.
        cells: cells of each axis.
        cut: whether the set goes on beyond the grid, so that runs which reach an end are lost.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    cells: tuple[int, ...]
    cut: bool = False

    @property
    def dimension(self) -> int:
        """Number of axes."""
        return len(self.lower)

    @property
    def shape(self) -> tuple[int, ...]:
        """Points along each axis."""
        return tuple(cells + 1 for cells in self.cells)

    @property
    def size(self) -> int:
        """Points in all."""
        return math.prod(self.shape)

    @property
    def spacings(self) -> tuple[float, ...]:
        """H along each axis, a length."""
        return tuple(
            (high - low) / cells for low, high, cells in zip(self.lower, self.upper, self.cells, strict=True)
        )

    @property
    def spacing(self) -> float:
        """The largest of them."""
        return max(self.spacings)

    @cached_property
    def points(self) -> FloatArray:
        """All points, shape (size, d)."""
        axes = [
            np.linspace(low, high, count)
            for low, high, count in zip(self.lower, self.upper, self.shape, strict=True)
        ]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(self.size, self.dimension)

    def places(self, points: FloatArray) -> FloatArray:
        """Points in units of cells from the first grid point, shape (k, d)."""
        return np.asarray((points - np.asarray(self.lower)) / np.asarray(self.spacings))


def interval_of(constraint: Box | Ball | AllSpace) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Lower and upper ends of a bounded set; None for the whole space."""
    if isinstance(constraint, Box):
        return tuple(constraint.lower), tuple(constraint.upper)
    if isinstance(constraint, Ball):
        middle = float(constraint.center()[0])
        return (middle - constraint.radius,), (middle + constraint.radius,)
    return None


def window(chains: list[NoisyChain]) -> tuple[tuple[float, ...], tuple[float, ...], bool]:
    """Lower and upper ends that hold almost all runs, and whether the set goes on beyond them.

    In the whole space the ends lie around the path of the maps without noise, at as many standard deviations of the
    noise so far, spread by the maps' Lipschitz constants, as `REACH` says, and at the sum of the jumps that a run may
    have met. A guess: what leaves is counted later.
    """
    ends = interval_of(chains[0].constraint)
    if ends is not None:
        return (*ends, False)
    low = np.full(chains[0].dimension, math.inf)
    high = -low
    for chain in chains:
        begins = len(chain.skipped) if chain.skipped else 1
        paths = np.tile(np.asarray(chain.start), (begins, 1))
        variance = jumped = 0.0
        low, high = np.minimum(low, paths.min(axis=0)), np.maximum(high, paths.max(axis=0))
        for t, step in enumerate(chain.steps):
            going = paths[: t + 1]
            images = np.stack([one.images(going) for one in step.maps])
            spread = images.std(axis=0).max() if len(step.maps) > 1 else 0.0
            paths[: t + 1] = np.average(images, axis=0, weights=step.probabilities)
            factor = max(one.lipschitz_constant for one in step.maps)
            variance = factor**2 * variance + step.noise_stddev**2 + spread**2
            jumped = factor * jumped + max(_jump(one) for one in step.maps)
            reach = (REACH + 0.5) * math.sqrt(variance) + jumped
            low, high = (
                np.minimum(low, paths.min(axis=0) - reach),
                np.maximum(high, paths.max(axis=0) + reach),
            )
    return tuple(low.tolist()), tuple(high.tolist()), True


def _jump(one: Map) -> float:
    """How far a map's pieces are apart on its jumps, at the points of these next to the origin; a length."""
    if not isinstance(one, PiecewiseMap):
        return 0.0
    normal = np.asarray(one.normal)
    at = np.asarray(one.jumps)[:, None] * normal / (normal @ normal)
    pairs = zip(one.pieces, one.pieces[1:], at, strict=False)
    return max(
        float(np.linalg.norm(above.images(point[None]) - below.images(point[None])))
        for below, above, point in pairs
    )


def round_points(grid: Grid, points: FloatArray, margins: tuple[int, ...]) -> Spread:
    """Round points, shape (size, d), to a grid with so many more points at each end of each axis.

    What lies beyond that grid goes to its end.
    """
    k, d = points.shape
    places = grid.places(points)
    targets = np.zeros((2**d, k), dtype=np.int64)
    weights = np.ones((2**d, k))
    for axis in range(d):
        length = grid.shape[axis] + 2 * margins[axis]
        place = np.clip(places[:, axis] + margins[axis], 0, length - 1)
        left = np.minimum(np.floor(place), length - 2)
        fraction = place - left
        for corner in range(2**d):
            right = (corner >> axis) & 1
            targets[corner] = targets[corner] * length + left.astype(np.int64) + right
            weights[corner] *= fraction if right else 1 - fraction
    return Spread(targets, weights)


def deviation(grid: Grid, step: StepMap) -> float:
    """How far a map is at most from its linear interpolation between grid points, a length.

    At most bend E||R - x|| and curvature E||R - x||^2 / 2 for the rounded point R. In one dimension the map is also
    looked at between the grid's points, which settles it up to bend h / places.
    """
    h, d = grid.spacing, grid.dimension
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


def check_map(grid: Grid, step: StepMap, images: FloatArray) -> None:
    """Refuse a map that spreads neighboring grid points more than declared, or, on a line, bends more.

    Raises:
        InvalidArgumentError: with the constant that was seen.
    """
    reached = images.reshape(*grid.shape, grid.dimension)
    largest = np.abs(images).max(initial=0.0) + max(map(abs, (*grid.lower, *grid.upper)))
    rounding = 16 * _UNIT * largest / min(grid.spacings) + _SLACK * (1 + step.lipschitz_constant)
    for axis, h in enumerate(grid.spacings):
        check_steepest(step, np.diff(reached, axis=axis), h, float(largest))
    if grid.dimension == 1 and grid.cells[0] > 1:
        slopes = np.diff(images[:, 0]) / grid.spacing
        assert step.bend is not None
        _check("bend", step.bend, float(np.ptp(slopes)) / 2, rounding)
        turns = float(np.abs(np.diff(slopes)).max()) / grid.spacing
        _check("curvature", step.curvature, turns, 2 * rounding / grid.spacing)


def check_steepest(step: StepMap, differences: FloatArray, spacing: float, largest: float) -> None:
    """Refuse a map whose images of points at that distance differ by more than declared.

    Args:
        step: the map.
        differences: of images, shape (..., d).
        spacing: how far the points are apart.
        largest: size of the numbers that were subtracted.

    Raises:
        InvalidArgumentError: with the constant that was seen.
    """
    rounding = 16 * _UNIT * largest / spacing + _SLACK * (1 + step.lipschitz_constant)
    steepest = float(np.linalg.norm(differences, axis=-1).max()) / spacing
    _check("lipschitz_constant", step.lipschitz_constant, steepest, rounding)


def _check(argument: str, declared: float, seen: float, slack: float) -> None:
    if not seen <= declared + slack:
        raise InvalidArgumentError(
            argument, declared, f"at least {seen:.6g}, which the map reaches on the grid"
        )
