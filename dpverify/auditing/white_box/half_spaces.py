"""The probability that a released state lies in a half-space, given the state before the last noise.

The event is <u, Proj(c + s Z)> >= t for a unit vector u. Write c + s Z = y + v u with y orthogonal to u: as a
projection onto a convex set is monotone, <u, Proj(y + v u)> never falls as v grows, so given y the event is a
half-line of v, and v is normal with mean <u, c>. Where nothing is projected, or in one dimension, y plays no part
and the probability is exact; otherwise y is drawn, and what is returned is the probability given c and y, whose mean
over y is that given c.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from dpverify.auditing.white_box.simulation import Before
from dpverify.checks import FloatArray
from dpverify.problems import Ball, Box, ConstraintSet
from dpverify.running import StatedStructure

_REACH = 40.0
"""Standard deviations beyond which a normal number never is."""
_BISECTIONS = 60
_ALLOWANCE = 1e-9
"""Relative, for rounding."""


def half_space(
    before: Before, direction: FloatArray, thresholds: FloatArray, constraint: ConstraintSet | None
) -> FloatArray:
    """P(<direction, released> >= threshold | what the runs know), shape (thresholds, k).

    `direction` is a unit vector (d,); the runs' generator draws y where it is needed.
    """
    mean, stddev = before.centers @ direction, before.noise_stddevs
    d = direction.size
    if constraint is None:
        return _above(mean, stddev, thresholds[:, None])
    top, bottom = ends(constraint, direction)
    if d == 1:
        inside = _above(mean, stddev, thresholds[:, None])
    else:
        noise = before.rng.standard_normal(before.centers.shape)
        across = before.centers + stddev[:, None] * noise
        across -= np.multiply.outer(across @ direction, direction)
        if type(constraint) is Ball:
            inside = _above(mean, stddev, _in_ball(across, direction, thresholds, constraint))
        else:
            inside = np.stack(
                [
                    _above(mean, stddev, _start(across, mean, stddev, direction, t, constraint))
                    for t in thresholds
                ]
            )
    inside[thresholds <= bottom] = 1.0
    inside[thresholds > top] = 0.0
    return inside


def largest(structure: StatedStructure, direction: FloatArray, thresholds: FloatArray) -> FloatArray:
    """What the conditional probability never exceeds, whatever the state was, shape (thresholds,).

    States before a run's last step are the start or points of the set, so that step's constant says how far its images
    reach from that of the set's center. 1 where that is not known. Where runs end after different steps, the largest
    of all of them.
    """
    count = len(structure.steps)
    stopped = structure.stopped or (0.0,) * (count - 1) + (1.0,)
    # a run that leaves out steps takes its last one from a point of the set, or from the start
    found = [_largest_after(structure, t, direction, thresholds) for t, p in enumerate(stopped) if p > 0]
    return np.asarray(np.max(found, axis=0))


def _largest_after(
    structure: StatedStructure, t: int, direction: FloatArray, thresholds: FloatArray
) -> FloatArray:
    """The same for runs that end with step t, from 0."""
    last, d = structure.steps[t], structure.dimension
    ones = np.ones(thresholds.size)
    if last.draws:
        return ones
    constraint, origin, radius = structure.constraint, np.asarray(structure.start), 0.0
    if t > 0 and last.lipschitz_constant > 0:
        if constraint is None or not math.isfinite(constraint.diameter * last.lipschitz_constant):
            return ones
        origin = np.asarray(constraint.center())
        symmetric = type(constraint) in (Ball, Box)
        radius = constraint.diameter / (2 if symmetric else 1)
        if structure.skipped is not None:
            radius = max(radius, float(np.linalg.norm(np.asarray(structure.start) - origin)))
        radius *= last.lipschitz_constant
    image = last.images(origin[None, :], np.random.default_rng(0))[0]
    found = ndtr((float(image @ direction) + radius - thresholds) / last.noise_stddev) * (1 + _ALLOWANCE)
    found = np.clip(found, 1e-12, 1.0)
    if constraint is not None:
        top, bottom = ends(constraint, direction)
        # in more dimensions a projection may bring points up; onto a ball never beyond its middle
        known = thresholds >= (top + bottom) / 2 if type(constraint) is Ball else ones * (d == 1) > 0
        found = np.where(known & (thresholds > bottom), found, 1.0)
    return np.asarray(found)


def ends(constraint: ConstraintSet | None, direction: FloatArray) -> tuple[float, float]:
    """Largest and smallest <direction, w> on the set."""
    if constraint is None:
        return math.inf, -math.inf
    both = constraint.support(np.stack([direction, -direction]))
    return float(both[0]), -float(both[1])


def _above(mean: FloatArray, stddev: FloatArray, start: FloatArray) -> FloatArray:
    return np.asarray(ndtr((mean - start) / stddev))


def _in_ball(across: FloatArray, direction: FloatArray, thresholds: FloatArray, ball: Ball) -> FloatArray:
    """Where the half-lines begin, (thresholds, k).

    A point at distance w from the axis through the center is either inside, or brought to the sphere with
    <u, Proj> = r v / sqrt(v^2 + w^2), center at 0.
    """
    middle = np.zeros(direction.size) if ball.midpoint is None else np.asarray(ball.midpoint)
    along = float(middle @ direction)
    width = np.linalg.norm(across - (middle - along * direction), axis=1)
    shifted = thresholds[:, None] - along
    room = np.maximum(ball.radius**2 - shifted**2, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        outside = shifted * width / np.sqrt(room)
    outside = np.where(room > 0, outside, np.copysign(np.inf, shifted))
    return along + np.where(width**2 <= room, shifted, outside)


def _start(
    across: FloatArray,
    mean: FloatArray,
    stddev: FloatArray,
    direction: FloatArray,
    threshold: float,
    constraint: ConstraintSet,
) -> FloatArray:
    """Where the half-line of one threshold begins, (k,), by bisection."""
    low, high = mean - _REACH * stddev, mean + _REACH * stddev
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        points = across + np.multiply.outer(middle, direction)
        inside = np.asarray(constraint.project(points)) @ direction >= threshold
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    return np.asarray((low + high) / 2)
