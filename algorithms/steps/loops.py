"""The steps of one run as a loop over numbers, for Numba to compile; `single_run` does the same with NumPy.

Every operation, and the order of operations, is that of `SingleRun`, so that the bits are, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.extras import Compiled

Array = NDArray[np.float64]

NO_KIND = -1
"""A loss or a set that is not known here."""
LOGISTIC, HINGE, SQUARED, LINEAR, POSITIVE_PART, HUBERIZED, DISTANCE = range(7)
NO_LIMIT, BALL, BOX, TWO_BALLS = range(4)

_LARGEST_EXPONENT = 700.0  # exp stays finite, and the slope there is 1e-304 at most


@cache
def inner_product() -> Callable[[Any, Any], float]:
    """The BLAS routine that Numba takes for `np.dot`."""
    from scipy.linalg.blas import ddot  # half a second that whoever only reads the catalog need not wait

    found: Callable[[Any, Any], float] = ddot
    return found


def slope(kind: int, parameter: float, z: float, y: float) -> float:
    """The slope of a loss at <w, x> = z, `link_slope` of one number."""
    if kind == LOGISTIC:
        exponent = y * z
        return -y / (1.0 + math.exp(exponent if exponent < _LARGEST_EXPONENT else _LARGEST_EXPONENT))
    if kind == HINGE:
        return -y if y * z < 1.0 else 0.0
    if kind == SQUARED:
        return z - y
    if kind == LINEAR:
        return y if parameter else 1.0
    if kind == POSITIVE_PART:
        return -1.0 if y - z > 0.0 else 0.0
    return -min(max(((y - z) + parameter) / (2.0 * parameter), 0.0), 1.0)


def within(radius: float) -> float:
    """The largest squared distance that counts as inside of a ball, with an allowance for rounding."""
    return radius * radius * (1.0 + 1e-14)


def walk(
    point: Array, total: Array, features: Array, labels: Array, noise: Array, factors: Array,
    kind: int, parameter: float, ridge: float, moved: bool, offset: Array, anchor: Array, weight: float,
    region: int, places: Array, radius: float, outer_radius: float,
) -> None:  # fmt: skip
    """Take the steps of `SingleRun.walk`; the arguments are its fields."""
    d = point.size
    here = point if not moved else np.empty(d)
    room = np.empty((5, d))
    square = radius * radius
    for t in range(factors.size):
        x, factor = features[t], factors[t]
        for i in range(total.size):
            total[i] += point[i]
        if moved:
            for i in range(d):
                here[i] = point[i] + offset[i]
        change = -factor
        if kind != DISTANCE:
            change = -factor * slope(kind, parameter, np.dot(here, x), labels[t])
        to_anchor, to_origin = -factor * weight, -factor * ridge
        for i in range(d):
            h = here[i]
            step = (h - x[i]) * change if kind == DISTANCE else x[i] * change
            if moved:
                step += (h - anchor[i]) * to_anchor
            if ridge:
                step += h * to_origin
            point[i] += step + noise[t, i]
        if region == BALL:
            length = np.dot(point, point)
            if length > square:
                _shorten(point, length, radius)
        elif region == BOX:
            for i in range(d):
                point[i] = min(max(point[i], places[0, i]), places[1, i])
        elif region == TWO_BALLS:
            _into_both(point, places, radius, outer_radius, room)


def _shorten(away: Array, square: float, radius: float) -> None:
    if not square < math.inf:
        largest = 0.0
        for i in range(away.size):
            largest = max(largest, abs(away[i]))
        for i in range(away.size):
            away[i] /= largest
        square = np.dot(away, away)
    factor = radius / math.sqrt(square)
    for i in range(away.size):
        away[i] *= factor


def _into_both(point: Array, places: Array, radius: float, outer_radius: float, room: Array) -> None:
    d, radii = point.size, (radius, outer_radius)
    for i in range(d):
        room[0, i] = point[i] - places[0, i]
        room[1, i] = point[i] - places[1, i]
    squares = np.dot(room[0], room[0]), np.dot(room[1], room[1])
    if squares[0] <= radius * radius and squares[1] <= outer_radius * outer_radius:
        return
    near, gap = room[2], room[3]
    for own in (0, 1):
        other = 1 - own
        for i in range(d):
            near[i] = room[own, i]
        if squares[own] > radii[own] * radii[own]:
            _shorten(near, squares[own], radii[own])
        for i in range(d):
            near[i] += places[own, i]
            gap[i] = near[i] - places[other, i]
        if np.dot(gap, gap) <= within(radii[other]):
            for i in range(d):
                point[i] = near[i]
            return
    axis = room[4]
    for i in range(d):
        axis[i] = places[0, i] - places[1, i]
    distance = math.sqrt(np.dot(axis, axis))
    inverse = 1.0 / distance if distance > 0.0 else 0.0
    for i in range(d):
        axis[i] *= inverse
    height = 0.5 * (distance + (outer_radius - radius) * (outer_radius + radius) * inverse)
    height = min(max(height, -outer_radius), outer_radius)
    flat = math.sqrt(max((outer_radius - height) * (outer_radius + height), 0.0))
    along, across = np.dot(room[1], axis), near
    for i in range(d):
        across[i] = room[1, i] - along * axis[i]
    length = math.sqrt(np.dot(across, across))
    factor = flat / length if length > 0.0 else 0.0
    for i in range(d):
        point[i] = axis[i] * height + across[i] * factor + places[1, i]


WALK = Compiled(walk, slope, within, _shorten, _into_both)
