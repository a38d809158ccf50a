"""Exact samples of a Gaussian restricted to a constraint set, for whole batches of runs.

The restriction of N(mean, s^2 I) to a set has the Gaussian's density there, renormalized: it is what a Gaussian
is given that it falls into the set. Projecting a Gaussian onto the set is another law, with mass on the boundary.

Every sampler here is a rejection sampler with a proposal that dominates the target, so there is no truncation and
no grid: the law is exact up to the rounding of double precision. The number of rounds does not grow with how far
outside the mean is, nor (but for the simplex, like the square root) with the dimension.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpverify.algorithms.parameters import Positive, check_parameters
from dpverify.errors import InvalidArgumentError
from dpverify.problems import AllSpace, Ball, Box, ConstraintSet, Simplex
from dpverify.problems.arrays import namespace
from dpverify.running import Randomness
from dpverify.running.randomness import Array

_PLAIN_ROUNDS = 2
_BISECTIONS = 40
_NARROW = (
    2.5  # an interval about 0 of this many standard deviations: uniform proposals beat normal ones below
)


@dataclass(frozen=True)
class RestrictedGaussian:
    """N(mean, s^2 I) restricted to a ball, box, simplex or all space; on the simplex, to its plane first.

    A few plain proposals come first, since they are cheap and nearly always enough when the set is large; runs
    that missed the set then get a proposal made for it. Whether a run was rejected before does not change the law
    of what is accepted later, so the mixture is exact.

    - Box: coordinates are independent normals on intervals, sampled by Robert's (1995) rejection.
    - Ball: with t along the direction of the mean and q the distance from that axis, the density of (t, q) is
      q^(d-2) times a Gaussian, log-concave in the plane; it is dominated from its mode, in closed form.
    - Simplex: independent normals on [0, infinity) with a common shift, given their sum; all but one are proposed
      and the last one is what is left.
    """

    constraint: ConstraintSet
    stddev: Positive

    def __post_init__(self) -> None:
        check_parameters(self)
        if type(self.constraint) not in (Ball, Box, Simplex, AllSpace):
            raise InvalidArgumentError("constraint", self.constraint, "a Ball, Box, Simplex or AllSpace")

    def propose(self, mean: Array, rng: Randomness) -> tuple[Array, Array]:
        """Gaussians about the means, (runs, d), and whether each is in the set, (runs,): one plain round."""
        xp = rng.xp
        points = mean + self.stddev * rng.normal(tuple(mean.shape), "restricted Gaussian")
        constraint = self.constraint
        if isinstance(constraint, AllSpace):
            return points, xp.ones(points.shape[0], dtype=xp.bool)
        if isinstance(constraint, Simplex):
            # conditioned on its plane, an isotropic Gaussian is its own projection onto it
            points = points - ((xp.sum(points, axis=1) - constraint.scale) / constraint.dimension)[:, None]
            return points, xp.all(points >= 0.0, axis=1)
        return points, constraint.contains(points, 0.0)

    def sample(self, mean: Array, rng: Randomness) -> Array:
        """One point of the set for each mean: both have shape (runs, d)."""
        xp = rng.xp
        d = self.constraint.dimension
        if mean.ndim != 2 or mean.shape[1] != d or not bool(xp.all(xp.isfinite(mean))):
            raise InvalidArgumentError("mean", mean, f"finite numbers, shape (runs, {d})")
        points = xp.zeros_like(mean)
        pending = xp.ones(mean.shape[0], dtype=xp.bool)
        for _ in range(_PLAIN_ROUNDS):
            proposed, inside = self.propose(mean[pending], rng)
            pending = _settle(points, pending, proposed, inside)
            if not bool(xp.any(pending)):
                return points
        on_set: Any = {Box: _on_box, Ball: _on_ball, Simplex: _on_simplex}[type(self.constraint)]
        points[pending] = on_set(self.constraint, mean[pending], self.stddev, rng)
        return points


def _settle(points: Array, pending: Array, proposed: Array, accepted: Array) -> Array:
    """Store the accepted proposals of the pending runs; returns which runs are still pending."""
    done = pending & False
    done[pending] = accepted
    points[done] = proposed[accepted]
    return pending & ~done


def truncated_normal(lower: Array, upper: Array, rng: Randomness) -> Array:
    """Standard normals restricted to intervals, one for each pair of ends with lower < upper; ends may be infinite.

    Robert, Simulation of truncated normal variables (1995): normal proposals on wide intervals about 0, uniform ones
    on narrow intervals, exponential ones in the tails. At least about a third is accepted everywhere.
    """
    xp = rng.xp
    # intervals left of 0 are reflected
    flip = upper <= 0.0
    a = xp.where(flip, -upper, lower)
    b = xp.where(flip, -lower, upper)
    tail = a > 0.0
    start = xp.where(tail, a, xp.zeros_like(a))
    rate = 0.5 * (start + xp.sqrt(start * start + 4.0))
    width = b - a
    uniform = xp.where(tail, width * rate <= 1.0, width < _NARROW)
    finite_width = xp.where(uniform, width, xp.ones_like(a))
    finite_a = xp.where(xp.isfinite(a), a, xp.zeros_like(a))
    values = xp.zeros_like(a)
    pending = xp.ones(a.shape[0], dtype=xp.bool)
    while bool(xp.any(pending)):
        begin, end, far, flat = a[pending], b[pending], tail[pending], uniform[pending]
        origin, slope = start[pending], rate[pending]
        count = (int(begin.shape[0]),)
        where = rng.uniform(count, "interval")
        spread = finite_a[pending] + finite_width[pending] * where
        shifted = origin - xp.log1p(-where) / slope
        proposed = xp.where(flat, spread, xp.where(far, shifted, rng.normal(count, "interval")))
        # log of the acceptance probability: against the flat top, against the exponential, or none
        top = -0.5 * (proposed - origin) * (proposed + origin)
        offset = proposed - slope
        log_accept = xp.where(flat, top, xp.where(far, -0.5 * offset * offset, xp.zeros_like(top)))
        accepted = (proposed >= begin) & (proposed <= end)
        accepted = accepted & (rng.uniform(count, "interval accepted") < xp.exp(log_accept))
        pending = _settle(values, pending, proposed, accepted)
    return xp.where(flip, -values, values)


def _on_box(box: Box, mean: Array, stddev: float, rng: Randomness) -> Array:
    xp = rng.xp
    lower = xp.reshape((xp.asarray(box.lower, dtype=xp.float64) - mean) / stddev, (-1,))
    upper = xp.reshape((xp.asarray(box.upper, dtype=xp.float64) - mean) / stddev, (-1,))
    points = mean + stddev * xp.reshape(truncated_normal(lower, upper, rng), tuple(mean.shape))
    # rounding may push a coordinate a hair over its end
    return box.project(points)


def _on_ball(ball: Ball, mean: Array, stddev: float, rng: Randomness) -> Array:
    xp = rng.xp
    center = xp.asarray(ball.center(), dtype=xp.float64)
    offset = mean - center
    if ball.dimension == 1:
        ends = xp.full_like(offset[:, 0], ball.radius)
        drawn = truncated_normal((-ends - offset[:, 0]) / stddev, (ends - offset[:, 0]) / stddev, rng)
        return ball.project(mean + stddev * drawn[:, None])
    distance = xp.sqrt(xp.sum(offset * offset, axis=1))
    first = xp.zeros_like(offset)
    first[:, 0] = 1.0
    at_center = distance == 0.0
    axis = offset / xp.where(at_center, xp.ones_like(distance), distance)[:, None]
    axis = xp.where(at_center[:, None], first, axis)
    along, across = _along_and_across(ball, distance, stddev, rng)
    # a uniformly random direction across the axis
    direction = rng.normal(tuple(mean.shape), "direction across")
    direction = direction - xp.sum(direction * axis, axis=1)[:, None] * axis
    norm = xp.sqrt(xp.sum(direction * direction, axis=1))
    return ball.project(center + along[:, None] * axis + (across / norm)[:, None] * direction)


def _along_and_across(ball: Ball, distance: Array, stddev: float, rng: Randomness) -> tuple[Array, Array]:
    """Coordinates (t, q) of the restricted Gaussian along the axis to the mean and across it, (runs,) each.

    Their log-density is h = -((t - a)^2 + q^2) / (2 s^2) + (d - 2) ln q on the half disc; for d = 2 there is no
    logarithm and q has either sign. h is dominated by its mode's tangent for the logarithm, and in the disc a depth
    e below the boundary is at least |x - x0|^2 / (2 R) for the mode x0 on the boundary, so half of the boundary's
    slope can be turned into curvature: with n = x0 / R and x = x0 - e n + (tangential part),
    h(x) <= h(x0) - (slope / 2) e - |x - x0|^2 (1 / s^2 + slope / (2 R)) / 2.
    """
    xp = rng.xp
    radius, power = ball.radius, float(ball.dimension - 2)
    log_free = ball.dimension == 2
    variance = stddev * stddev
    inside = distance * distance + power * variance < radius * radius
    # the mode on the boundary, at angle theta from the axis: A sin^2 = (d - 2) cos
    pull = distance * (radius / variance)
    some_pull = xp.where(pull > 0.0, pull, xp.ones_like(pull))
    cosine = xp.where(
        pull > 0.0,
        2.0 * pull / (power + xp.sqrt(power * power + 4.0 * some_pull * some_pull)),
        xp.zeros_like(pull),
    )
    sine = xp.sqrt(xp.maximum(1.0 - cosine * cosine, xp.zeros_like(cosine)))
    if not log_free:
        # from the same equation, without the cancellation in 1 - cos^2
        sine = xp.where(pull > 0.0, xp.sqrt(power * cosine / some_pull), xp.ones_like(pull))
    mode_t = xp.where(inside, distance, radius * cosine)
    mode_q = xp.where(inside, xp.full_like(distance, stddev * math.sqrt(power)), radius * sine)
    slope = (power - radius * radius / variance + distance * mode_t / variance) / radius
    slope = xp.where(inside, xp.zeros_like(slope), xp.maximum(slope, xp.zeros_like(slope)))
    precision = 1.0 / variance + slope / (2.0 * radius)
    # wide Gaussians in the plane that hardly vary over the disc
    flat = (distance * radius < variance) & (log_free and stddev > radius)
    along, across = xp.zeros_like(distance), xp.zeros_like(distance)
    pending = xp.ones(distance.shape[0], dtype=xp.bool)
    while bool(xp.any(pending)):
        count = (int(xp.sum(xp.astype(pending, xp.int64))),)
        scale = 1.0 / xp.sqrt(precision[pending])
        steepness, within, wide = slope[pending], inside[pending], flat[pending]
        t0, q0, a = mode_t[pending], mode_q[pending], distance[pending]
        shift = 0.5 * steepness * scale
        lowest = xp.where(within, xp.full_like(shift, -math.inf), shift)
        depth = scale * (truncated_normal(lowest, xp.full_like(shift, math.inf), rng) - shift)
        tangential = scale * rng.normal(count, "tangential")
        unit_t = xp.where(within, xp.ones_like(t0), t0 / radius)
        unit_q = xp.where(within, xp.zeros_like(q0), q0 / radius)
        t = t0 - depth * unit_t - tangential * unit_q
        q = q0 - depth * unit_q + tangential * unit_t
        squared = depth * depth + tangential * tangential
        log_accept = -0.5 * steepness * depth + squared * (steepness / (4.0 * radius))
        if log_free:
            even = 2.0 * rng.uniform(count, "disc") - 1.0
            odd = 2.0 * rng.uniform(count, "disc") - 1.0
            t, q = xp.where(wide, radius * even, t), xp.where(wide, radius * odd, q)
            nearest = xp.maximum(a - radius, xp.zeros_like(a))
            gap = nearest * nearest - (t - a) * (t - a) - q * q
            log_accept = xp.where(wide, gap / (2.0 * variance), log_accept)
            legal = xp.ones(count[0], dtype=xp.bool)
        else:
            legal = q > 0.0
            ratio = xp.where(legal, q / q0, xp.ones_like(q))
            log_accept = log_accept + power * (xp.log(ratio) - (ratio - 1.0))
        legal = legal & (t * t + q * q <= radius * radius)
        accepted = legal & (rng.uniform(count, "ball accepted") < xp.exp(xp.where(legal, log_accept, -1.0)))
        _settle(across, pending, q, accepted)
        pending = _settle(along, pending, t, accepted)
    return along, across


def _on_simplex(simplex: Simplex, mean: Array, stddev: float, rng: Randomness) -> Array:
    """Normals on [0, infinity) given their sum, by proposing all coordinates but the one that varies most.

    A shift that is common to all means changes nothing given the sum, so it is chosen to make the sum likely; the
    law is exact for any shift, only the number of rounds depends on it.
    """
    xp = rng.xp
    d, total = simplex.dimension, simplex.scale
    if d == 1:
        return xp.full_like(mean, total)
    shifted = mean + _likely_shift(mean, stddev, total)[:, None]
    widest = xp.argmax(shifted, axis=1)
    left_over = xp.arange(d)[None, :] == widest[:, None]
    points = xp.zeros_like(mean)
    pending = xp.ones(mean.shape[0], dtype=xp.bool)
    while bool(xp.any(pending)):
        center, last = shifted[pending], left_over[pending]
        lower = xp.reshape(-center / stddev, (-1,))
        drawn = truncated_normal(lower, xp.full_like(lower, math.inf), rng)
        proposed = center + stddev * xp.reshape(drawn, tuple(center.shape))
        proposed = xp.maximum(xp.where(last, xp.zeros_like(proposed), proposed), xp.zeros_like(proposed))
        rest = total - xp.sum(proposed, axis=1)
        own = xp.sum(xp.where(last, center, xp.zeros_like(center)), axis=1)
        below = xp.minimum(own, xp.zeros_like(own))  # the coordinate's density is largest at max(0, its mean)
        log_accept = (below * below - (rest - own) * (rest - own)) / (2.0 * stddev * stddev)
        legal = rest >= 0.0
        chance = rng.uniform((int(rest.shape[0]),), "simplex accepted")
        accepted = legal & (chance < xp.exp(xp.where(legal, log_accept, -1.0)))
        pending = _settle(points, pending, xp.where(last, rest[:, None], proposed), accepted)
    return points


def _likely_shift(mean: Array, stddev: float, total: float) -> Array:
    """A shift, (runs,), at which the means of the normals on [0, infinity) add up to about the total.

    The mean of N(m, s^2) on [0, infinity) is near (m + sqrt(m^2 + 4 s^2)) / 2, right in both tails.
    """
    xp = namespace(mean)
    d = mean.shape[1]
    largest = xp.max(mean, axis=1)
    # at the upper end one term alone reaches the total; at the lower end each is below a d-th of it
    high = total - largest
    low = total / d - largest - stddev * stddev * d / total
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        center = mean + middle[:, None]
        sums = xp.sum(0.5 * (center + xp.sqrt(center * center + 4.0 * stddev * stddev)), axis=1)
        above = sums > total
        high = xp.where(above, middle, high)
        low = xp.where(above, low, middle)
    return 0.5 * (low + high)
