"""Finite nets of balls, boxes and simplices, with a proved covering radius.

A net's covering radius is the largest distance of a point of C from the net. Nets here are made from a grid of cubes
in the plane of C: the centers of the cubes that may meet C are projected onto C. A point of C in a cube is at most
half the cube's diagonal from its center, and no farther from the projected center, since projection does not stretch
and leaves the point where it is. So half the diagonal is a bound, not an assumption.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dpverify.checks import positive, whole_number
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.ledger.records import Interval
from dpverify.problems import Ball, Box, ConstraintSet, Simplex

Matrix = NDArray[np.float64]

_ROUNDING = 1e-12
_DIGITS = 12
"""Net points that agree to so many digits, relative to the diameter, are one."""


@dataclass(frozen=True, eq=False)
class Net:
    """Points of C, shape (m, d), and a length that is at least the largest distance of a point of C from them."""

    points: Matrix
    cover_radius: float


def grid_net(constraint: ConstraintSet, radius: float, *, largest: int = 1_000_000) -> Net:
    """A net with a covering radius of at most `radius`."""
    positive("radius", radius)
    whole_number("largest", largest)
    centers, half_diagonal = _cells(constraint, radius * (1 - _ROUNDING), largest)
    points = np.asarray(constraint.project(centers), dtype=np.float64)
    unit = constraint.diameter
    _, first = np.unique(np.round(points / unit, _DIGITS), axis=0, return_index=True)
    # points that were merged are within rounding of the one that stays
    reached = half_diagonal + unit * 10.0**-_DIGITS * math.sqrt(points.shape[1])
    return Net(np.ascontiguousarray(points[np.sort(first)]), min(reached, constraint.diameter))


def cover_radius(points: Matrix, constraint: ConstraintSet, *, cells: int = 20_000) -> Interval:
    """An interval that holds the covering radius of any net of C, by a search over at most `cells` cubes.

    Lower end: distance from the net of some point of C. Upper end: for each cube that may meet C, its center's
    distance from the net plus half its diagonal.
    """
    net = np.asarray(points, dtype=np.float64)
    if net.ndim != 2 or net.shape[0] < 1 or net.shape[1] != constraint.dimension:
        raise InvalidArgumentError(
            "points", net.shape, f"at least one point, shape (m, {constraint.dimension})"
        )
    if not np.all(np.isfinite(net)) or not np.all(constraint.contains(net, 1e-9)):
        raise InvalidArgumentError("points", points, "finite points of the constraint set")
    centers, half_diagonal = _cells(constraint, _radius_for(constraint, cells), cells)
    tree = scipy.spatial.KDTree(net)
    distances, _ = tree.query(centers)
    attained, _ = tree.query(np.asarray(constraint.project(centers)))
    upper = min(float(np.max(distances)) + half_diagonal, constraint.diameter)
    upper += _ROUNDING * constraint.diameter
    return Interval(lower=min(float(np.max(attained)), upper), upper=upper, rigorous=False)


def _frame(constraint: ConstraintSet) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """A point of C, orthonormal axes of its plane as columns, and the bounds of C along them from that point."""
    if type(constraint) not in (Ball, Box, Simplex) or not constraint.diameter > 0:
        raise InvalidArgumentError("constraint", constraint, "a ball, box or simplex of positive diameter")
    middle = constraint.center()
    d = constraint.dimension
    axes = np.eye(d)
    if isinstance(constraint, Simplex):
        # all directions but (1, ..., 1)
        axes = np.linalg.qr(np.column_stack([np.ones(d), np.eye(d)[:, :-1]]))[0][:, 1:]
    upper = np.asarray(constraint.support(axes.T)) - middle @ axes
    lower = -np.asarray(constraint.support(-axes.T)) - middle @ axes
    return middle, axes, lower, upper


def grid_size(constraint: ConstraintSet, radius: float) -> tuple[int, float]:
    """How many cubes the grid of `grid_net` has, at least as many as the net has points, and their half diagonal."""
    _, _, widths, counts = _grid_of(constraint, radius * (1 - _ROUNDING))
    return math.prod(map(int, counts)), min(0.5 * float(np.linalg.norm(widths)), constraint.diameter)


def _grid_of(constraint: ConstraintSet, half_diagonal: float) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """The corner of a grid of cubes about C and its axes, as in `_frame`; the cubes' edges, and how many along each."""
    middle, axes, lower, upper = _frame(constraint)
    edge = 2 * half_diagonal / math.sqrt(lower.shape[0])
    counts = np.maximum(1.0, np.ceil((upper - lower) / edge * (1 - _ROUNDING)))
    return middle + axes @ lower, axes, (upper - lower) / counts, counts


def _cells(constraint: ConstraintSet, half_diagonal: float, largest: int) -> tuple[Matrix, float]:
    """Centers of the cubes of a grid that may meet C, and their half diagonal, at most what is asked for."""
    corner, axes, widths, counts = _grid_of(constraint, half_diagonal)
    with np.errstate(over="ignore"):
        cubes = float(np.prod(counts))
    if not cubes <= largest:
        raise NotGuaranteedError(
            f"A grid with half diagonal {half_diagonal:.3g} has {cubes:.3g} cubes, more than "
            f"{largest}; fewer dimensions, a larger radius or fewer records would help."
        )
    lines = [(np.arange(int(count)) + 0.5) * width for count, width in zip(counts, widths, strict=True)]
    places = np.array(list(itertools.product(*lines)), dtype=np.float64).reshape(-1, len(lines))
    centers = corner + places @ axes.T
    half = 0.5 * float(np.linalg.norm(widths))
    away = np.linalg.norm(centers - np.asarray(constraint.project(centers)), axis=1)
    return centers[away <= half * (1 + 1e-9)], half


def _radius_for(constraint: ConstraintSet, cells: int) -> float:
    """A half diagonal with about, and not more than, so many cubes."""
    whole_number("cells", cells)
    _, _, lower, upper = _frame(constraint)
    p = lower.shape[0]
    edge = float(np.max(upper - lower)) / max(1, math.floor(cells ** (1 / p) * (1 + 1e-9)))
    return float(0.5 * edge * math.sqrt(p) * (1 + 1e-9))
