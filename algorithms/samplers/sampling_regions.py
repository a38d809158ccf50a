"""Convex sets as Algorithms 5 to 7 of Bassily, Smith and Thakurta (2014) need them: in a cube, about an inner ball.

The paper takes the set C in isotropic position, so that the unit ball is inside. Here any C with an inner ball of a
known radius r will do: the gauge about the ball's center is (1/r)-Lipschitz, and the volume of C is at most
(diameter / r)^p times the ball's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpverify.checks import number
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Ball, Box, ConstraintSet, Simplex
from dpverify.problems.arrays import Array, namespace, row_sums
from dpverify.problems.per_run.ball_intersections import BallIntersections
from dpverify.running import Randomness

_SQUARE = 1e-12
"""Sides of a box that differ by less, relatively, are rounded versions of one length."""
_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Region:
    """C in a cube, one for all runs, or one for each."""

    dimension: int
    lower: Array
    """The cube's lowest corner, shape (p,) or (runs, p)."""
    edges: Array
    """Of the cube, shape () or (runs, 1); a length."""
    edge: float
    """At least all edges."""
    is_cube: bool
    """Whether C is the cube itself."""
    diameter: float
    """Of C at most, a length; the paper's ||C||."""
    middle: Array
    """Center of the inner ball and of the gauge, shape (p,) or (runs, p)."""
    inner_radius: float
    project: Callable[[Array], Array]
    gauge: Callable[[Array], Array]
    select: Callable[[Array], Region] | None = None
    """The region of some of the runs, by their numbers; None where all share one."""

    @property
    def shared(self) -> bool:
        """Whether all runs have the same C."""
        return self.select is None

    def at(self, xp: Any, places: Array, per_side: int, within: Array | float) -> Array:
        """Points of cells, at `within` (in [0, 1), relative to the cell) along every axis; shape (m, p)."""
        steps = xp.astype(places, xp.float64) + within
        return xp.asarray(self.lower) + xp.asarray(self.edges / per_side) * steps

    def contains(self, points: Array) -> Array:
        """Whether points of the cube are in C, shape (m,)."""
        if self.is_cube:
            return namespace(points).ones_like(points[:, 0]) > 0
        return self.gauge(points) <= 1.0

    def uniform_in_inner_ball(self, rng: Randomness, runs: int) -> Array:
        """Points uniform on the inner ball, shape (runs, p)."""
        xp = rng.xp
        directions = rng.normal((runs, self.dimension), "directions of the fallback")
        norms = xp.sqrt(row_sums(directions * directions))
        radii = self.inner_radius * rng.uniform((runs,), "radii of the fallback") ** (1.0 / self.dimension)
        return xp.asarray(self.middle) + (radii / norms)[:, None] * directions


def bounding_cube(constraint: ConstraintSet) -> tuple[np.ndarray, float]:
    """The lowest corner and the edge tau = ||C||_inf of a cube about C, centered where C's bounding box is."""
    axes = np.eye(constraint.dimension)
    high, low = np.asarray(constraint.support(axes)), -np.asarray(constraint.support(-axes))
    edge = float(np.max(high - low))
    return 0.5 * (high + low) - 0.5 * edge, edge


def is_cube(constraint: ConstraintSet) -> bool:
    """Whether C is a cube: a box with equal sides, or an interval."""
    # a subclass may be another set
    if type(constraint) is Box:
        widths = np.array(constraint.upper) - np.array(constraint.lower)
        return bool(np.max(widths) <= np.min(widths) * (1 + _SQUARE))
    return constraint.dimension == 1


def fixed_region(constraint: ConstraintSet, inner_radius: float | None = None) -> Region:
    """One set for all runs; `inner_radius` of a ball about its center is needed unless it is a ball or a box."""
    flat = isinstance(constraint, Simplex)
    if flat or not (math.isfinite(constraint.diameter) and constraint.diameter > 0):
        raise InvalidArgumentError("constraint", constraint, "a bounded convex set with interior")
    lower, edge = bounding_cube(constraint)
    cube = is_cube(constraint)
    known = None
    if type(constraint) is Ball:
        known = constraint.radius
    if type(constraint) is Box:
        known = 0.5 * float(np.min(np.array(constraint.upper) - np.array(constraint.lower)))
    if inner_radius is None:
        inner_radius = 0.5 * edge if cube and known is None else known
    if inner_radius is None:
        raise InvalidArgumentError(
            "inner_radius", None, "the radius of a ball about the set's center that is inside the set"
        )
    largest = 0.5 * edge if known is None else known * (1 + _SQUARE)
    number(
        "inner_radius",
        inner_radius,
        above=0,
        at_most=largest,
        allowed=f"a number above 0 and at most {largest:g}, the radius of a ball inside the set",
    )
    return Region(
        dimension=constraint.dimension,
        lower=lower,
        edges=np.asarray(edge),
        edge=edge,
        is_cube=cube,
        diameter=constraint.diameter,
        middle=constraint.center(),
        inner_radius=float(inner_radius),
        project=constraint.project,
        gauge=constraint.gauge,
    )


def local_cubes(constraint: ConstraintSet, centers: Array, radius: float) -> Region:
    """A cube for each run, inside a cube C: it holds all points of C within `radius` of the run's center.

    In one dimension that is exactly the interval; in more, a cube of edge min(2 radius, edge of C), moved into C.
    """
    xp = namespace(centers)
    low, whole = bounding_cube(constraint)
    lower = xp.asarray(low, dtype=centers.dtype)
    edge = min(2.0 * radius, whole)
    if constraint.dimension == 1:
        first = xp.maximum(centers - radius, xp.broadcast_to(lower, centers.shape))
        last = xp.minimum(centers + radius, xp.broadcast_to(lower + whole, centers.shape))
        edges = last - first
    else:
        highest = xp.broadcast_to(lower + (whole - edge), centers.shape)
        first = xp.minimum(xp.maximum(centers - radius, xp.broadcast_to(lower, centers.shape)), highest)
        edges = xp.full((centers.shape[0], 1), edge, dtype=centers.dtype)
    middle = first + 0.5 * edges

    def project(points: Array) -> Array:
        return xp.minimum(xp.maximum(points, first), first + edges)

    def gauge(points: Array) -> Array:
        return xp.max(xp.abs(points - middle) / (0.5 * edges), axis=-1)

    def select(numbers: Array) -> Region:
        return local_cubes(constraint, xp.take(centers, numbers, axis=0), radius)

    diameter = edge * math.sqrt(constraint.dimension)
    return Region(
        constraint.dimension, first, edges, edge, True, diameter, middle, 0.5 * edge, project, gauge, select
    )


def local_balls(constraint: ConstraintSet, centers: Array, radius: float, inner_radius: float) -> Region:
    """For each run the points of C within `radius` of the run's center, which is in C.

    C has diameter D and a ball of radius r about its center c0. Then C cut with the run's ball has one of radius t r
    about center + t (c0 - center) for t = min(1, radius / (D + r)), by convexity and the triangle inequality.
    """
    xp = namespace(centers)
    cut = BallIntersections(constraint, centers, radius)
    share = min(1.0, radius / (constraint.diameter + inner_radius))
    middle = centers + share * (xp.asarray(constraint.center(), dtype=centers.dtype) - centers)
    corner, whole = bounding_cube(constraint)
    edge = min(2.0 * radius, whole)
    lower = centers - radius
    if edge != 2.0 * radius:
        lower = xp.broadcast_to(xp.asarray(corner, dtype=centers.dtype), centers.shape)

    def gauge(points: Array) -> Array:
        offset = points - middle
        own = _gauge_of_ball(offset, middle - centers, radius)
        return xp.maximum(own, _gauge_about(constraint, middle, offset))

    def select(numbers: Array) -> Region:
        return local_balls(constraint, xp.take(centers, numbers, axis=0), radius, inner_radius)

    edges = xp.full((centers.shape[0], 1), edge, dtype=centers.dtype)
    return Region(
        constraint.dimension,
        lower,
        edges,
        edge,
        False,
        cut.diameter,
        middle,
        share * inner_radius,
        cut.project,
        gauge,
        select,
    )


def _gauge_of_ball(offset: Array, middle: Array, radius: float) -> Array:
    """Gauge of a ball about `middle`, relative to its center: 1/s for ||middle + s offset|| = radius."""
    xp = namespace(offset)
    squared, inner = row_sums(offset * offset), row_sums(offset * middle)
    room = radius**2 - row_sums(middle * middle)
    # 1/s solves room g^2 - 2 inner g - squared = 0
    return (inner + xp.sqrt(inner * inner + squared * room)) / room


def _gauge_about(constraint: ConstraintSet, middle: Array, offset: Array) -> Array:
    """Gauge of C about points of its interior, found with `contains`; from above, to within a relative 2^-50."""
    xp = namespace(offset)
    high = xp.ones_like(offset[:, 0])
    outside = ~constraint.contains(middle + offset, 0.0)
    while bool(xp.any(outside)):
        high = xp.where(outside, 2.0 * high, high)
        outside = ~constraint.contains(middle + offset / high[:, None], 0.0)
    # below 1/2 the exact value does not matter to a penalty max(0, gauge - 1)
    low = 0.5 * high
    for _ in range(_HALVINGS):
        between = 0.5 * (low + high)
        fits = constraint.contains(middle + offset / between[:, None], 0.0)
        low, high = xp.where(fits, low, between), xp.where(fits, between, high)
    return high
