"""Projection onto a convex set cut with a ball of each run's own: C0 = {w in C: ||w - center|| <= radius}.

Localization works on such sets; their centers are random, so a `ConstraintSet`, one for all runs, cannot describe
them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpverify.errors import InvalidArgumentError
from dpverify.privacy.checks import number
from dpverify.problems import AllSpace, Ball, ConstraintSet
from dpverify.problems.arrays import namespace, row_sums
from dpverify.running.randomness import Array

_ROUNDING = 1e-14
"""Relative to the largest coordinate: a few dozen roundings."""

_HALVINGS = 200
"""More than a bracket in [0, 1] of doubles can take; it ends the search even where rounding stalls it."""


@dataclass(frozen=True, eq=False)
class BallIntersections:
    """One set for each run: the points of `constraint` within `radius` of the run's center.

    Attributes:
        constraint: C, closed and convex.
        centers: points of C, one a run, shape (runs, d).
        radius: of all balls, a length above 0.
    """

    constraint: ConstraintSet
    centers: Array
    radius: float

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            InvalidArgumentError: if the centers are no batch of points of the constraint set's dimension, or the
                radius is not above 0. That centers are inside is not checked: `project` needs it.
        """
        if not isinstance(self.constraint, ConstraintSet):
            raise InvalidArgumentError(
                "constraint", self.constraint, "an object with the members of dpverify.problems.ConstraintSet"
            )
        shape = getattr(self.centers, "shape", None)
        if shape is None or len(shape) != 2 or shape[1] != self.constraint.dimension:
            raise InvalidArgumentError("centers", shape, f"shape (runs, {self.constraint.dimension})")
        number("radius", self.radius, above=0, allowed="a finite number above 0")

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.constraint.dimension

    @property
    def diameter(self) -> float:
        """No set's diameter is larger: twice the radius, or that of C."""
        return min(2.0 * self.radius, self.constraint.diameter)

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """Whether each run's point is in its set, up to `tolerance` in both constraints; booleans, (runs,)."""
        offset = w - self.centers
        distance = namespace(w).sqrt(row_sums(offset * offset))
        return self.constraint.contains(w, tolerance) & (distance <= self.radius + tolerance)

    def project(self, w: Array, *, overwrite: bool = False) -> Array:
        """The closest point of each run's set to that run's point, shape (runs, d); `w` is not changed.

        If the closest point of the ball is in C, or that of C in the ball, that is it. Else both constraints
        bind, and with a multiplier lam of the ball's the point is P_C((w + lam center) / (1 + lam)), or P_C(center
        + t (w - center)) with t = 1 / (1 + lam). Its distance from the center grows with t, so the t at which it
        is the radius is bracketed, down to neighboring doubles. For two balls that point has a closed form.

        Raises:
            InvalidArgumentError: if `w` does not have the centers' shape.
        """
        xp = namespace(w, self.centers)
        if w.shape != self.centers.shape:
            raise InvalidArgumentError("w", tuple(w.shape), f"shape {tuple(self.centers.shape)}")
        result = _into_ball(xp, w, self.centers, self.radius)
        if isinstance(self.constraint, AllSpace) or w.shape[0] == 0:
            return result
        # a point that rounding alone has put outside of C must not count as outside
        room = _ROUNDING * (self.radius + float(xp.max(xp.abs(result))))
        left = ~self.constraint.contains(result, room)
        result = self.constraint.project(result)
        if not bool(xp.any(left)):
            return result
        places = xp.nonzero(left)[0]
        outer, centers = xp.take(w, places, axis=0), xp.take(self.centers, places, axis=0)
        closest = self.constraint.project(outer)
        offset = closest - centers
        bound = xp.sqrt(row_sums(offset * offset)) > self.radius + room
        if bool(xp.any(bound)):
            both = xp.nonzero(bound)[0]
            found = self._where_both_bind(xp, xp.take(outer, both, axis=0), xp.take(centers, both, axis=0))
            closest = _put(xp, closest, bound, found)
        return _put(xp, result, left, closest)

    def _where_both_bind(self, xp: Any, w: Array, centers: Array) -> Array:
        # a subclass may have changed its projection
        if type(self.constraint) is Ball:
            return _onto_two_spheres(xp, w, centers, self.radius, self.constraint)
        offset = w - centers
        # ||P_C(center + t (w - center)) - center|| is at most t ||w - center||, so this t is not too large
        low = self.radius / xp.sqrt(row_sums(offset * offset))
        high = xp.ones_like(low)
        for _ in range(_HALVINGS):
            middle = low + 0.5 * (high - low)
            if not bool(xp.any((middle > low) & (middle < high))):
                break
            moved = self.constraint.project(centers + middle[:, None] * offset) - centers
            fits = row_sums(moved * moved) <= self.radius**2
            low, high = xp.where(fits, middle, low), xp.where(fits, high, middle)
        return self.constraint.project(centers + low[:, None] * offset)


def _put(xp: Any, points: Array, chosen: Array, new: Array) -> Array:
    """The points, with the chosen ones replaced by the new ones, in order."""
    places = xp.cumulative_sum(xp.astype(chosen, xp.int64)) - 1
    places = xp.where(chosen, places, xp.zeros_like(places))
    return xp.where(chosen[:, None], xp.take(new, places, axis=0), points)


def _into_ball(xp: Any, w: Array, centers: Array, radius: float) -> Array:
    """Closest points of the balls; points inside keep their bits."""
    offset = w - centers
    squared = row_sums(offset * offset)
    outside = squared > radius**2
    scale = radius / xp.sqrt(xp.where(outside, squared, xp.ones_like(squared)))
    return xp.where(outside[:, None], centers + offset * scale[:, None], w)


def _onto_two_spheres(xp: Any, w: Array, centers: Array, radius: float, ball: Ball) -> Array:
    """Closest points of the intersection of two spheres, a sphere in the plane that is orthogonal to their axis."""
    midpoint = xp.asarray(ball.center(), dtype=w.dtype)
    axis = centers - midpoint
    distance = xp.sqrt(row_sums(axis * axis))
    axis = axis / distance[:, None]
    height = 0.5 * (distance + (ball.radius - radius) * (ball.radius + radius) / distance)
    flat_radius = xp.sqrt(xp.maximum((ball.radius - height) * (ball.radius + height), xp.zeros_like(height)))
    offset = w - midpoint
    along = row_sums(offset * axis)
    across = offset - along[:, None] * axis
    length = xp.sqrt(row_sums(across * across))
    # on the axis itself one ball's closest point would be in the other, so a length of 0 comes of rounding alone
    scale = flat_radius / xp.where(length > 0.0, length, xp.full_like(length, math.inf))
    return midpoint + height[:, None] * axis + scale[:, None] * across
