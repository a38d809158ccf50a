"""A loss's answers, only where its constants hold.

A guarantee is computed from constants that a loss declares for some points, for records of norm at most 1 and for some
labels. Whoever hands a loss's gradients to somebody else does it through a `GuardedOracle`: it answers at points where
the constants hold and refuses all others, by a rule that does not look at the records.
"""

from __future__ import annotations

import sys
from typing import Any

from dpverify.errors import InvalidArgumentError
from dpverify.problems.arrays import Array, namespace, quiet, row_norms
from dpverify.problems.constraint_sets import Ball
from dpverify.problems.problem import Problem

_EVERYWHERE = 1e100
"""Norms up to which inner products with records are finite numbers in all that is computed from them."""
_ROUNDING = 1e-9
"""Relative excess over a set that is put down to rounding; such points are projected before they are used. So much of
the gradient sensitivity may be rounding, where gradients grow with their points and that of the record is lost."""


class GuardedOracle:
    """A problem's gradients and losses, at points where the declared constants hold.

    Args:
        problem: whose loss answers, and whose constants were read when it was made.
    """

    def __init__(self, problem: Problem) -> None:
        self._loss = problem.loss
        self._constraint = problem.constraint
        constants = problem.constants
        radius, sensitivity = constants.sensitivity_radius, constants.gradient_sensitivity
        if radius is not None and constants.strong_convexity > 0 < sensitivity:
            radius = min(
                radius, _ROUNDING * sensitivity / (constants.strong_convexity * sys.float_info.epsilon)
            )
        # points of the set alone are sure to be covered where the loss names no radius of its own
        bounded = radius is not None and radius < _EVERYWHERE
        self._region = Ball(problem.constraint.dimension, radius) if bounded and radius is not None else None
        self._on_set = radius is None

    def admitted(self, points: Array) -> Array:
        """The points, once it is sure that the constants hold there; a point outside by rounding is projected.

        Args:
            points: shape (runs, d), floats.

        Raises:
            InvalidArgumentError: for points outside, and for those that are not finite or of a norm above 1e100,
                where an answer that is not a number could tell records apart.
        """
        region: Any = self._constraint if self._on_set else self._region
        xp = namespace(points)
        with quiet():
            if not bool(xp.all(row_norms(points) <= _EVERYWHERE)):
                raise InvalidArgumentError(
                    "points", points, f"finite numbers, with norms up to {_EVERYWHERE:g}"
                )
            if region is None:
                return points
            if not bool(xp.all(region.contains(points, _ROUNDING))):
                where = (
                    "points of the constraint set"
                    if self._on_set
                    else f"points of norm at most {region.radius:g}"
                )
                raise InvalidArgumentError(
                    "points", points, f"{where}, where the constants of {type(self._loss).__name__} hold"
                )
            return region.project(points)

    def gradient(self, points: Array, x: Array, y: Array) -> Array:
        """(Sub)gradients at admitted points, a new array of shape (runs, d); arguments as for `Loss.gradient`."""
        return self._loss.gradient(points, x, y)

    def value(self, points: Array, x: Array, y: Array) -> Array:
        """Losses at admitted points, shape (runs,); arguments as for `Loss.value`."""
        return self._loss.value(points, x, y)
