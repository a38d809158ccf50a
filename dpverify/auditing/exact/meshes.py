"""What pushing a law through needs of the points on which it lives: one contract for rectangles and for discs.

A mesh has nodes, to which states are rounded at random. Steps of the chain take nodes to images, which are rounded to
the places of a layout, a larger mesh of the same kind; noise takes masses on a layout back to the nodes.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.exact.chains import PiecewiseMap, StepMap
from dpverify.auditing.exact.closeness import Rounding
from dpverify.auditing.exact.grids import Grid, PolarGrid
from dpverify.auditing.exact.sides import Rule, RuleBuilder, Split, own_sides
from dpverify.checks import FloatArray

_SPLITS_KEPT = 64


@dataclass(frozen=True)
class Spread:
    """Where the mass of each point goes when it is rounded: flat places in the layout, (2^d, points), and weights.

    Weights are in sum 1 along the first axis.
    """

    targets: NDArray[np.int64]
    weights: FloatArray

    def moved(self, masses: FloatArray, size: int) -> FloatArray:
        """Masses of the points, at places of a layout of so many places."""
        total = np.zeros(size)
        for targets, weights in zip(self.targets, self.weights, strict=True):
            total += np.bincount(targets, weights=weights * masses, minlength=size)
        return total

    @cached_property
    def terms(self) -> int:
        """The most masses that are added up at one place."""
        return max((int(np.bincount(targets).max(initial=0)) for targets in self.targets), default=0)


class Layout(Hashable, Protocol):
    """Places for images."""

    @property
    def size(self) -> int:
        """How many."""
        ...


LayoutT = TypeVar("LayoutT", bound=Layout)
GridT = TypeVar("GridT", bound=Grid | PolarGrid)


class Noised(ABC):
    """Laws after a step, a row each: before and after the projection."""

    states: FloatArray
    """Masses on the nodes, shape (rows, nodes)."""
    lost: FloatArray
    """For each row, how far it is from the true one in total variation."""

    released: FloatArray
    """What a release of these states needs, shape (rows, numbers); linear in the law."""

    @abstractmethod
    def densities(self, rule: Rule) -> FloatArray:
        """At the points of a rule, shape (rows, points)."""

    def masses(self, split: Split) -> FloatArray:
        """Of each entry of a split, shape (rows, entries)."""
        return np.asarray((split.rule.sums @ self.densities(split.rule).T).T)


class Mesh(ABC, Generic[GridT, LayoutT]):
    """Nodes on a set."""

    redrawn: ClassVar[bool]
    """Whether the upper bound is on a release that is drawn anew around its node."""

    def __init__(self, grid: GridT) -> None:
        self.grid: GridT = grid
        self._splits: dict[tuple[Sequence[float], Sequence[float], bytes], Split] = {}

    @property
    def points(self) -> FloatArray:
        """Of the nodes, shape (nodes, d)."""
        return self.grid.points

    @property
    def spacing(self) -> float:
        """The longest edge of a cell, also of a layout's; a length."""
        return self.grid.spacing

    @property
    @abstractmethod
    def corners(self) -> FloatArray:
        """Of the set, shape (k, d)."""

    def split(self, one: PiecewiseMap) -> Split:
        """The sides of a map with jumps; maps of one record at many rates jump at the same places."""
        own = own_sides(one, self.points, self.ends(one), self.corners)
        key = one.normal, one.jumps, hashlib.blake2b(own.tobytes()).digest()
        if key not in self._splits:
            if len(self._splits) == _SPLITS_KEPT:
                self._splits.clear()
            builder = RuleBuilder(own)
            self._cut(builder, one)
            self._splits[key] = builder.split(self.points.shape[1])
        return self._splits[key]

    @abstractmethod
    def _cut(self, builder: RuleBuilder, one: PiecewiseMap) -> None:
        """Find the parts of all cells that a map's jumps cut."""

    @abstractmethod
    def ends(self, one: PiecewiseMap) -> tuple[float, float]:
        """Least and largest value on the set in which a map's jumps are counted."""

    @abstractmethod
    def layout(self, images: Sequence[FloatArray], stddev: float) -> LayoutT:
        """One that holds all these points, as far as noise takes them back."""

    @abstractmethod
    def spread(self, points: FloatArray, layout: LayoutT) -> Spread:
        """Round points to a layout; the mean stays, up to what `rounding` allows."""

    @abstractmethod
    def noised(self, moved: FloatArray, layout: LayoutT, stddev: float) -> Noised:
        """Add noise to masses on a layout, shape (rows, places), and project."""

    @abstractmethod
    def check(self, step: StepMap, images: FloatArray) -> None:
        """Refuse a map that spreads neighboring nodes more than declared, or, on a line, bends more."""

    @abstractmethod
    def rounding(self, maps: Sequence[StepMap], stddev: float) -> Rounding:
        """What is known of both roundings of a step with one of these maps."""

    @abstractmethod
    def coarser(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Two laws that are no easier to tell apart than the releases, from what is released."""

    @abstractmethod
    def finer(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Two laws that are no harder to tell apart than the releases."""
