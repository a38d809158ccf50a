"""What pushing a law through needs of the points on which it lives: one contract for rectangles and for discs.

A mesh has nodes, to which states are rounded at random. Steps of the chain take nodes to images, which are rounded to
the places of a layout, a larger mesh of the same kind; noise takes masses on a layout back to the nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.exact.chains import PiecewiseMap, StepMap
from dpverify.auditing.exact.closeness import Rounding
from dpverify.checks import FloatArray


@dataclass(frozen=True)
class Spread:
    """Where the mass of each of some points goes when it is rounded to a layout.

    Attributes:
        targets: flat places in the layout, shape (2^d, points).
        weights: of each, in sum 1 along the first axis.
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


@dataclass(frozen=True, eq=False)
class Split:
    """On which side of a map's jumps the states lie that are rounded to each node.

    Almost all nodes have states on one side alone. Where a cell is cut, each of its nodes has an entry for every
    other side.

    Attributes:
        own: side of each node, shape (nodes,): how many jumps it lies beyond.
        nodes: of each entry, flat.
        sides: of each entry.
        rule: how the mesh finds the mass of each entry.
    """

    own: NDArray[np.int64]
    nodes: NDArray[np.int64]
    sides: NDArray[np.int64]
    rule: object


class Noised(Protocol):
    """Laws after a step, a row each: before and after the projection.

    Attributes:
        states: masses on the nodes, shape (rows, nodes).
        released: what a release of these states needs, shape (rows, numbers); linear in the law.
        lost: for each row, how far it is from the true one in total variation.
    """

    @property
    def states(self) -> FloatArray: ...
    @property
    def released(self) -> FloatArray: ...
    @property
    def lost(self) -> FloatArray: ...

    def masses(self, split: Split) -> FloatArray:
        """Of each entry, shape (rows, entries)."""
        ...


class Mesh(Protocol):
    """Nodes on a set.

    Attributes:
        points: of the nodes, shape (nodes, d).
        spacing: the longest edge of a cell, also of a layout's; a length.
        redrawn: whether the upper bound is on a release that is drawn anew around its node.
    """

    @property
    def points(self) -> FloatArray: ...
    @property
    def spacing(self) -> float: ...
    @property
    def redrawn(self) -> bool: ...

    def layout(self, images: Sequence[FloatArray], stddev: float) -> Layout:
        """One that holds all these points, as far as noise takes them back."""
        ...

    def spread(self, points: FloatArray, layout: Layout) -> Spread:
        """Round points to a layout; the mean stays, up to what `rounding` allows."""
        ...

    def noised(self, moved: FloatArray, layout: Layout, stddev: float) -> Noised:
        """Add noise to masses on a layout, shape (rows, places), and project."""
        ...

    def split(self, one: PiecewiseMap) -> Split:
        """The sides of a map with jumps."""
        ...

    def ends(self, one: PiecewiseMap) -> tuple[float, float]:
        """Least and largest value on the set in which a map's jumps are counted."""
        ...

    def check(self, step: StepMap, images: FloatArray) -> None:
        """Refuse a map that spreads neighboring nodes more than declared."""
        ...

    def rounding(self, maps: Sequence[StepMap], stddev: float) -> Rounding:
        """What is known of both roundings of a step with one of these maps."""
        ...

    def coarser(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Two laws that are no easier to tell apart than the releases, from what is released."""
        ...

    def finer(self, left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Two laws that are no harder to tell apart than the releases."""
        ...
