"""Which side of a map's jumps a state lies on: for nodes, and by Gauss's rule for the parts of cells that are cut.

A state in a cell that a jump cuts is rounded to the cell's corners like any other, but it keeps its side: the corner
is then moved by the piece of that side. So a jump costs no accuracy. The mass of a corner's states on another side than
its own is an integral of a smooth density over a part of the cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpverify.auditing.exact.chains import PiecewiseMap
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError

NODES, WEIGHTS = (np.polynomial.legendre.leggauss(3)[0] + 1) / 2, np.polynomial.legendre.leggauss(3)[1] / 2
"""Gauss's rule on [0, 1]. With cells of at most 1 / 30 of the noise's standard deviation it is off by less than
3e-10 of a density, wherever that is within reach."""
_CLOSE = 1e-9
"""Relative: how far from a jump pieces are compared with the function, and how closely they have to agree."""


def own_sides(
    one: PiecewiseMap, points: FloatArray, ends: tuple[float, float], vertices: FloatArray
) -> NDArray[np.int64]:
    """The side of each node, points (k, d); see `Split`.

    A node on a jump lies above it, unless the set lies above it as a whole. Where a corner of the set (`vertices`)
    lies on a jump, at which states may lie with positive probability, it lies on the side on which the function is
    continuous there, or else it is refused. `ends` are those of <normal, x> on the set.
    """
    values = one.values(points)
    sides = np.zeros(len(points), dtype=np.int64)
    for place, jump in enumerate(one.jumps):
        above = values > jump if _below(one, place, ends, vertices) else values >= jump
        sides += above
    return sides


def _below(one: PiecewiseMap, place: int, ends: tuple[float, float], vertices: FloatArray) -> bool:
    """Whether nodes on a jump lie below it."""
    jump = one.jumps[place]
    if not ends[0] < jump < ends[1]:
        return jump == ends[0]
    on = vertices[one.values(vertices) == jump] if len(vertices) else vertices
    if not len(on):
        return False
    there, below, above = one.images(on), one.pieces[place].images(on), one.pieces[place + 1].images(on)
    for piece, is_below in ((above, False), (below, True)):
        if np.allclose(there, piece, rtol=_CLOSE, atol=_CLOSE):
            return is_below
    raise InvalidArgumentError(
        "function",
        there.tolist(),
        f"one of the pieces' images of the set's corners on the jump at {jump:.6g}",
    )


def images_by_side(
    one: PiecewiseMap, points: FloatArray, sides: NDArray[np.int64], ends: tuple[float, float]
) -> FloatArray:
    """Images of points, each by the piece of a side.

    A side on which the set has no inner point is that of states on the jump itself: there the function applies.
    """
    images = np.empty_like(points)
    for side, piece in enumerate(one.pieces):
        chosen = sides == side
        if not chosen.any():
            continue
        empty = (side > 0 and one.jumps[side - 1] >= ends[1]) or (
            side < len(one.jumps) and one.jumps[side] <= ends[0]
        )
        images[chosen] = (one if empty else piece).images(points[chosen])
    return images


def check_pieces(one: PiecewiseMap, points: FloatArray, images: FloatArray) -> None:
    """Refuse pieces that are unlike the function at a node that lies off the jumps."""
    values, jumps = one.values(points), np.asarray(one.jumps)
    scale = max(float(np.abs(values).max()), float(np.abs(jumps).max()))
    off = np.abs(values[:, None] - jumps).min(axis=1) > _CLOSE * scale
    there = one.images(points)
    apart = np.abs(there - images).max(axis=1)
    wrong = off & (apart > _CLOSE * (1 + np.abs(images).max(initial=0.0)))
    if wrong.any():
        node = int(np.argmax(wrong))
        raise InvalidArgumentError(
            "pieces",
            images[node].tolist(),
            f"what the function says at {points[node].tolist()}, which is {there[node].tolist()}",
        )


@dataclass(frozen=True, eq=False)
class Rule:
    """Integrals over parts of cells: points (p, d) in the mesh's coordinates, and which entry they count for.

    `beyond` is for each coordinate -1 or 1 where all states beyond that end of the set count, else 0; an entry is
    `sums`, (entries, p), times the densities at the points.
    """

    points: FloatArray
    beyond: NDArray[np.int8]
    sums: sparse.csr_array


@dataclass(frozen=True, eq=False)
class Split:
    """On which side of a map's jumps the states lie that are rounded to each node.

    Almost all nodes have states on one side alone: `own`, (nodes,), is how many jumps it lies beyond. Where a cell is
    cut, each of its nodes has an entry for every other side, whose mass the rule gives.
    """

    own: NDArray[np.int64]
    nodes: NDArray[np.int64]
    sides: NDArray[np.int64]
    rule: Rule


class RuleBuilder:
    """Collects weighted points for entries (node, side), given the side of each node."""

    def __init__(self, own: NDArray[np.int64]) -> None:
        self.own = own
        self._entries: dict[tuple[int, int], int] = {}
        self._points: list[FloatArray] = []
        self._beyond: list[NDArray[np.int8]] = []
        self._columns: list[tuple[int, NDArray[np.int64], FloatArray]] = []
        self._count = 0

    def add(
        self, side: int, corners: list[int], points: FloatArray, hats: FloatArray, beyond: tuple[int, ...]
    ) -> None:
        """Points in one part of a cell, with each corner's hat there times the weight, shape (corners, p)."""
        others = [place for place, corner in enumerate(corners) if self.own[corner] != side]
        if not others or not len(points):
            return
        places = np.arange(self._count, self._count + len(points))
        self._count += len(points)
        self._points.append(points)
        self._beyond.append(np.tile(np.asarray(beyond, dtype=np.int8), (len(points), 1)))
        for place in others:
            entry = self._entries.setdefault((corners[place], side), len(self._entries))
            self._columns.append((entry, places, hats[place]))

    def split(self, dimension: int) -> Split:
        """All entries so far."""
        nothing = (0, np.empty(0, dtype=np.int64), np.empty(0))
        entries, columns, values = zip(nothing, *self._columns, strict=True)
        rows = np.repeat(entries, [len(at) for at in columns])
        shape = len(self._entries), self._count
        sums = sparse.csr_array((np.concatenate(values), (rows, np.concatenate(columns))), shape=shape)
        keys = np.array(list(self._entries), dtype=np.int64).reshape(-1, 2)
        points = np.concatenate([np.empty((0, dimension)), *self._points])
        beyond = np.concatenate([np.empty((0, dimension), dtype=np.int8), *self._beyond])
        return Split(self.own, keys[:, 0], keys[:, 1], Rule(points, beyond, sums))


def on_interval(low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Points and weights of Gauss's rule on an interval; none on an empty one."""
    if not high > low:
        return np.empty(0), np.empty(0)
    return low + (high - low) * NODES, (high - low) * WEIGHTS


def between_lines(
    lower: tuple[float, float], upper: tuple[float, float], normal: Sequence[float], strip: Sequence[float]
) -> tuple[FloatArray, FloatArray]:
    """Points, shape (p, 2), and weights in the part of a rectangle with <normal, x> in an interval, open or not."""
    # across: the axis along which the lines are least steep
    across = int(abs(normal[1]) < abs(normal[0]))
    inner = 1 - across
    low, high = lower[across], upper[across]
    slope = normal[across] / normal[inner]
    ends = sorted(value / normal[inner] for value in strip)
    breaks = [low, high]
    if slope != 0:
        for end in ends:
            if math.isfinite(end):
                breaks += [(end - edge) / slope for edge in (lower[inner], upper[inner])]
    places = np.unique(np.clip(breaks, low, high))
    points, weights = [], []
    for left, right in pairwise(places):
        outer, outer_weights = on_interval(left, right)
        for at, weight in zip(outer, outer_weights, strict=True):
            begin = max(ends[0] - slope * at, lower[inner])
            end = min(ends[1] - slope * at, upper[inner])
            along, along_weights = on_interval(begin, end)
            pair = np.empty((len(along), 2))
            pair[:, across], pair[:, inner] = at, along
            points.append(pair)
            weights.append(weight * along_weights)
    if not points:
        return np.empty((0, 2)), np.empty(0)
    return np.concatenate(points), np.concatenate(weights)
