"""Projection onto a convex set cut with a ball of each run's own: C0 = {w in C: ||w - center|| <= radius}.

Localization works on such sets; their centers are random, so a `ConstraintSet`, one for all runs, cannot describe
them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpverify.checks import number, require
from dpverify.errors import InvalidArgumentError
from dpverify.problems import AllSpace, Ball, ConstraintSet
from dpverify.problems.arrays import Array, namespace, quiet, row_norms, row_sums
from dpverify.problems.per_run.batched_minimizers import scatter

_ROUNDING = 1e-14  # relative to the constraint set: a few dozen roundings
_HALVINGS = 200
"""More than a bracket in [0, 1] of doubles can take; it ends the search even where rounding stalls it."""


@dataclass(frozen=True, eq=False)
class BallIntersections:
    """One set for each run: the points of `constraint` within `radius` of the run's center."""

    constraint: ConstraintSet  # C, closed and convex
    centers: Array  # points of C, which is not checked, one a run, shape (runs, d)
    radius: float  # of all balls, a length above 0

    def __post_init__(self) -> None:
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
        return self.constraint.dimension

    @property
    def diameter(self) -> float:
        """No set's diameter is larger: twice the radius, or that of C."""
        return min(2.0 * self.radius, self.constraint.diameter)

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """Whether each run's point is in its set, up to `tolerance` in both constraints; booleans, (runs,).

        The tolerance is relative to the size of the numbers: of the constraint set's, and of the center and radius.
        """
        xp = namespace(w)
        with quiet():
            slack = self._slack(xp, max(tolerance, 2 * self._rounding(xp)) if tolerance else 0.0)
            return self.constraint.contains(w, tolerance) & (
                row_norms(w - self.centers) <= self.radius + slack
            )

    def _rounding(self, xp: Any) -> float:
        """Relative rounding of a distance from a center, in the centers' dtype."""
        return (self.dimension + 16) * float(xp.finfo(self.centers.dtype).eps)

    def _slack(self, xp: Any, relative: float) -> Array:
        return relative * (xp.max(xp.abs(self.centers), axis=-1) * math.sqrt(self.dimension) + self.radius)

    def project(self, w: Array, *, overwrite: bool = False) -> Array:
        """The closest point of each run's set to that run's point, shape (runs, d); `w` is not changed.

        If the closest point of the ball is in C, or that of C in the ball, that is it. Else both constraints
        bind, and with a multiplier lam of the ball's the point is P_C((w + lam center) / (1 + lam)), or P_C(center
        + t (w - center)) with t = 1 / (1 + lam). Its distance from the center grows with t, so the t at which it
        is the radius is bracketed, down to neighboring doubles. For two balls that point has a closed form.
        """
        xp = namespace(w, self.centers)
        require(w.shape == self.centers.shape, "w", tuple(w.shape), f"shape {tuple(self.centers.shape)}")
        if w.shape[0] == 0:
            return w
        with quiet():
            return self._project(xp, w)

    def _project(self, xp: Any, w: Array) -> Array:
        # a point that rounding alone has put outside must not count as outside
        slack = self._slack(xp, self._rounding(xp))
        result = _into_ball(xp, w, self.centers, self.radius, slack)
        if isinstance(self.constraint, AllSpace):
            return result
        left = ~self.constraint.contains(result, _ROUNDING)
        result = self.constraint.project(result)
        if not bool(xp.any(left)):
            return result
        places = xp.nonzero(left)[0]
        outer, centers = xp.take(w, places, axis=0), xp.take(self.centers, places, axis=0)
        closest = self.constraint.project(outer)
        offset = closest - centers
        slack = xp.take(slack, places, axis=0)
        bound = row_norms(offset) > self.radius + slack
        if bool(xp.any(bound)):
            both = xp.nonzero(bound)[0]
            found = self._where_both_bind(xp, xp.take(outer, both, axis=0), xp.take(centers, both, axis=0))
            closest = scatter(bound, found, closest)
        return scatter(left, closest, result)

    def _where_both_bind(self, xp: Any, w: Array, centers: Array) -> Array:
        # a subclass may have changed its projection
        if type(self.constraint) is Ball:
            return _onto_two_spheres(xp, w, centers, self.radius, self.constraint)
        offset = w - centers
        # ||P_C(center + t (w - center)) - center|| is at most t ||w - center||, so this t is not too large
        low = self.radius / row_norms(offset)
        high = xp.ones_like(low)
        for _ in range(_HALVINGS):
            middle = low + 0.5 * (high - low)
            if not bool(xp.any((middle > low) & (middle < high))):
                break
            moved = self.constraint.project(centers + middle[:, None] * offset) - centers
            fits = row_norms(moved) <= self.radius
            low, high = xp.where(fits, middle, low), xp.where(fits, high, middle)
        return self.constraint.project(centers + low[:, None] * offset)


def _into_ball(xp: Any, w: Array, centers: Array, radius: float, slack: Array) -> Array:
    """Closest points of the balls; points inside keep their bits."""
    offset = w - centers
    largest = xp.max(xp.abs(offset), axis=-1)
    # a difference beyond the range is taken at half its size
    fits = xp.isfinite(largest)
    offset = xp.where(fits[:, None], offset, 0.5 * w - 0.5 * centers)
    largest = xp.where(fits, largest, xp.max(xp.abs(offset), axis=-1))
    limit = xp.where(fits, radius + slack, 0.5 * (radius + slack))
    unit = xp.maximum(largest, limit)
    relative = offset / unit[:, None]
    length = row_norms(relative)
    outside = length > limit / unit
    scale = radius / xp.where(outside, length, xp.ones_like(length))
    return xp.where(outside[:, None], centers + relative * scale[:, None], w)


def _onto_two_spheres(xp: Any, w: Array, centers: Array, radius: float, ball: Ball) -> Array:
    """Closest points of the intersection of two spheres, a sphere in the plane that is orthogonal to their axis."""
    midpoint = xp.asarray(ball.center(), dtype=w.dtype)
    axis = centers - midpoint
    distance = row_norms(axis)
    axis = axis / distance[:, None]
    height = 0.5 * (distance + (ball.radius - radius) * (ball.radius + radius) / distance)
    flat_radius = xp.sqrt(xp.maximum((ball.radius - height) * (ball.radius + height), xp.zeros_like(height)))
    offset = w - midpoint
    along = row_sums(offset * axis)
    across = offset - along[:, None] * axis
    length = row_norms(across)
    # on the axis itself one ball's closest point would be in the other, so a length of 0 comes of rounding alone
    scale = flat_radius / xp.where(length > 0.0, length, xp.full_like(length, math.inf))
    return midpoint + height[:, None] * axis + scale[:, None] * across
