"""Grids: equally spaced points whose first and last lie at the set's ends, and the rounding of points to them.

A point is rounded to the corners of its cell at random, so that its mean stays where it is: coordinate by coordinate,
to the left end with the fraction of the cell that lies on its right. In what follows h is the spacing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpverify.auditing.exact.chains import Map, NoisyChain, PiecewiseMap, StepMap
from dpverify.auditing.exact.closeness import REACH
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.problems import AllSpace, Ball, Box

_UNIT = 2.0**-53
_SLACK = 1e-7
"""Relative: by how much a map's differences may exceed its declared constant, for rounding."""


@dataclass(frozen=True)
class Grid:
    """Points on an interval, or on a rectangle: first and last point of each axis, and its cells.

    `cut` says that the set goes on beyond the grid, so that runs which reach an end are lost.
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


def check_steepest(step: StepMap, differences: FloatArray, spacing: float, largest: float) -> None:
    """Refuse a map whose images of points `spacing` apart have `differences`, (..., d), larger than declared.

    `largest` is the size of the numbers that were subtracted.
    """
    rounding = rounding_slack(step, largest, spacing)
    steepest = float(np.linalg.norm(differences, axis=-1).max()) / spacing
    check_constant("lipschitz_constant", step.lipschitz_constant, steepest, rounding)


def rounding_slack(step: StepMap, largest: float, spacing: float) -> float:
    """By how much a map's differences over a spacing may exceed its declared constant."""
    return 16 * _UNIT * largest / spacing + _SLACK * (1 + step.lipschitz_constant)


def check_constant(argument: str, declared: float, seen: float, slack: float) -> None:
    """Refuse a constant that the map exceeds on the grid."""
    if not seen <= declared + slack:
        raise InvalidArgumentError(
            argument, declared, f"at least {seen:.6g}, which the map reaches on the grid"
        )


@dataclass(frozen=True)
class PolarGrid:
    """Nodes at the distances 0, h, ..., radius from a center, with `turns` angles each; `cells` along a radius.

    Images may lie as far as `reach` from the center; lengths.
    """

    center: tuple[float, float]
    radius: float
    cells: int
    turns: int
    reach: float

    @property
    def shape(self) -> tuple[int, int]:
        """Rings, and nodes on each."""
        return self.cells + 1, self.turns

    @property
    def size(self) -> int:
        """Nodes in all; the center is as many as a ring has."""
        return (self.cells + 1) * self.turns

    @property
    def ring(self) -> float:
        """Distance of two rings."""
        return self.radius / self.cells

    @property
    def turn(self) -> float:
        """Angle between two nodes of a ring."""
        return 2 * math.pi / self.turns

    @property
    def spacing(self) -> float:
        """The longest edge of a cell, out to `reach`; a length."""
        return max(self.ring, (self.reach + self.ring) * self.turn)

    @property
    def radii(self) -> FloatArray:
        """Of the rings."""
        return np.linspace(0.0, self.radius, self.cells + 1)

    @property
    def angles(self) -> FloatArray:
        """Of the nodes on a ring."""
        return np.asarray(self.turn * np.arange(self.turns, dtype=np.float64))

    @cached_property
    def points(self) -> FloatArray:
        """All nodes, ring after ring, shape (size, 2)."""
        around = np.stack([np.cos(self.angles), np.sin(self.angles)], axis=-1)
        return np.asarray(np.asarray(self.center) + self.radii[:, None, None] * around).reshape(-1, 2)

    @classmethod
    def finest(
        cls, center: Sequence[float], radius: float, reach: float, spacing: float, least: int
    ) -> PolarGrid:
        """With cells of at most that spacing, and at least so many along a radius."""
        cells = max(math.ceil(radius / spacing), least)
        edge = min(spacing, radius / cells)
        turns = math.ceil(2 * math.pi * (reach + radius / cells) / edge)
        return cls((float(center[0]), float(center[1])), radius, cells, turns, reach)


@dataclass(frozen=True)
class Rings:
    """A polar grid with more rings: `cells` along a radius."""

    grid: PolarGrid
    cells: int

    @property
    def size(self) -> int:
        """Places in all."""
        return (self.cells + 1) * self.grid.turns

    @property
    def radius(self) -> float:
        """Of the outermost ring."""
        return self.cells * self.grid.ring
