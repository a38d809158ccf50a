"""Many steps of a single run, for NumPy; for speed alone.

With one run there is no long axis to work along, and a step costs what its calls cost. So the noise of many steps is
drawn in one call, which gives the same numbers as a call for each, and a step is a handful of calls on one point.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.problems import ConstraintSet, GeneralizedLinear, Logistic
from dpverify.problems.per_run.local_problems import LocalBalls, LocalLoss

Array = NDArray[np.float64]

_LARGEST_EXPONENT = 700.0  # exp stays finite, and the slope there is 1e-304 at most

_NUMBERS_TOGETHER = 2**20


def steps_together(dimension: int) -> int:
    """How many steps' records and noise are held at once: 8 MiB of each, and at least one."""
    return max(1, min(4096, _NUMBERS_TOGETHER // max(1, dimension)))


def slope_of(loss: GeneralizedLinear) -> Callable[[float, float], float]:
    """The loss's `link_slope` of one number and one label."""
    if type(loss) is Logistic:  # a subclass may have changed what its slope is
        return _logistic_slope
    z, label = np.empty(1), np.empty(1)

    def slope(margin: float, y: float) -> float:
        z[0], label[0] = margin, y
        return float(loss.link_slope(z, label)[0])

    return slope


def _logistic_slope(margin: float, y: float) -> float:
    return -y / (1.0 + math.exp(min(y * margin, _LARGEST_EXPONENT)))


def walk(
    point: Array,
    features: Array,
    labels: Array,
    noise: Array,
    factors: Array,
    *,
    slope: Callable[[float, float], float],
    ridge: float,
    project: Callable[[Array], None],
) -> None:
    """Take the steps w <- Proj(w - factor (slope x + ridge w) + noise) in place."""
    with np.errstate(over="ignore"):  # squares of points far away, which projections handle
        for x, y, z, factor in zip(features, labels.tolist(), noise, factors.tolist(), strict=True):
            change = -factor * slope(float(np.dot(point, x)), y)
            if ridge:
                point *= 1.0 - factor * ridge
            x *= change
            point += x
            point += z
            project(point)


def walk_locally(
    point: Array,
    features: Array,
    labels: Array,
    noise: Array,
    factors: Array,
    *,
    loss: LocalLoss,
    balls: LocalBalls,
) -> None:
    """Take the steps u <- Proj(u - factor grad(u) + noise) on a local problem of one run, in place.

    Bit for bit what the methods of the loss and of the set give: the same operations on arrays of the same shapes,
    without what these methods do for many runs and other libraries. Arguments as for `walk`; what the noise holds
    afterwards is of no use.
    """
    original = loss.original
    slope = None
    kind: Any = type(original)  # which may have a gradient of its own
    plain = GeneralizedLinear.gradient, GeneralizedLinear.slope
    if isinstance(original, GeneralizedLinear) and (kind.gradient, kind.slope) == plain:
        slope = original.link_slope
    offset, anchor, center = (np.asarray(rows)[0] for rows in (loss.offsets, loss.anchors, balls.centers))
    inner, outer = balls.radius**2, balls.outer_radius**2 * (1.0 + 1e-14)
    # products are of one row, as there
    here, squares = np.empty((1, point.size)), np.empty((1, point.size))
    there, square, away, ones = here[0], squares[0], np.empty(point.size), np.ones(point.size)
    for x, y, z, factor in zip(features, labels, noise, factors.tolist(), strict=True):
        np.add(point, offset, out=there)
        change = original.gradient(here, x, y)[0] if slope is None else x * slope(here @ x, y)
        np.subtract(there, anchor, out=away)
        away *= loss.weight
        change += away
        change *= -factor
        z += change
        z += point
        np.multiply(z, z, out=square)
        if (squares @ ones)[0] <= inner:
            np.add(z, center, out=away)
            np.multiply(away, away, out=square)
            if (squares @ ones)[0] - outer <= 0.0:
                point[...] = z
                continue
        point[...] = balls.project(z[None, :])[0]


def projection(constraint: ConstraintSet, radius: float | None) -> Callable[[Array], None]:
    """The set's projection of one point (d,), in place; quicker for a ball about the origin of a known radius."""

    def general(point: Array) -> None:
        point[...] = constraint.project(point[None, :])[0]

    if radius is None or not 0 < radius * radius < math.inf:
        return general
    ball, square = float(radius), radius * radius

    def onto_ball(point: Array) -> None:
        norm_square = float(np.dot(point, point))
        if norm_square <= square:
            return
        if norm_square < math.inf:
            point *= ball / math.sqrt(norm_square)
        else:
            general(point)

    return onto_ball
