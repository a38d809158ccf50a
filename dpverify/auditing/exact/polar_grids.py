"""Polar grids: nodes on rings around the center of a disc, and the same with more rings for images outside of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpverify.checks import FloatArray


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
