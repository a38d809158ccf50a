"""Exact samples of Gaussian-like densities on balls and boxes, in any dimension.

The density is exp(-V) on C with V quadratic and convex: V(w) = <w, H w> / 2 + <g, w>, H positive semidefinite.
- H = 0 or a multiple of the identity, on a ball: the density depends on w only through t, the position along one
  axis, and s, the distance from that axis. The law of (t, s) is log-concave on a half-disk in two dimensions and is
  sampled by certified rejection; the direction off the axis is uniform.
- H diagonal, on a box: coordinates are independent, each sampled by certified rejection in one dimension, or by
  inverting its distribution function where H = 0.
- any other H: rejection from one of the two above, which is refused where too few proposals are accepted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.samplers import truncated_exponential
from dpverify.algorithms.samplers.certified_rejection import Envelope, Matrix, build_envelope, until_accepted
from dpverify.algorithms.samplers.free_coordinates import FreeRegion
from dpverify.errors import NotGuaranteedError
from dpverify.problems import Ball, Box
from dpverify.problems.arrays import at_least, like, namespace, row_sums
from dpverify.running import Randomness
from dpverify.running.randomness import Array

_EPS = float(np.finfo(np.float64).eps)
_PILOT = 4000
"""Proposals by which an envelope is chosen; they come from a stream of their own that is always the same."""
_LEAST_SHARE = 2e-3
"""Of these that must be accepted."""
_DESCENT_STEPS = 500


@dataclass(frozen=True, eq=False)
class _AxialPotential:
    """V of (t, s): alpha (t^2 + s^2) / 2 - pull t - (d - 2) log s."""

    alpha: float
    pull: float
    dimension: int
    radius: float

    @property
    def rounding(self) -> float:
        size = self.alpha * self.radius**2 + self.pull * self.radius + 800.0 * (self.dimension - 2) + 1.0
        return 256 * _EPS * size

    def value(self, points: Array) -> Array:
        t, s = points[:, 0], points[:, 1]
        value = 0.5 * self.alpha * (t * t + s * s) - self.pull * t
        if self.dimension == 2:
            return value
        xp = namespace(points)
        safe = xp.where(s > 0.0, s, xp.ones_like(s))
        return xp.where(s > 0.0, value - (self.dimension - 2) * xp.log(safe), xp.full_like(value, math.inf))

    def gradient(self, points: Array) -> Array:
        t, s = points[:, 0], points[:, 1]
        steep = self.alpha * s - (self.dimension - 2) / s
        return namespace(points).stack([self.alpha * t - self.pull, steep], axis=1)


@dataclass(frozen=True)
class _HalfDisk:
    """{(t, s): s >= 0, t^2 + s^2 <= radius^2}."""

    radius: float

    @property
    def lower(self) -> Matrix:
        return np.array([-self.radius, 0.0])

    @property
    def upper(self) -> Matrix:
        return np.array([self.radius, self.radius])

    def contains(self, points: Array) -> Array:
        return row_sums(points * points) <= self.radius**2

    def inside(self, points: Array) -> Array:
        norms = namespace(points).sqrt(row_sums(points * points))
        return points * (self.radius / at_least(norms, self.radius))[:, None]

    def excludes(self, lower: Matrix, upper: Matrix) -> NDArray[np.bool_]:
        nearest = np.clip(0.0, lower, upper)
        return np.asarray(np.sum(nearest**2, axis=1) >= self.radius**2 * (1 + 1e-12))


@dataclass(frozen=True, eq=False)
class AxialSampler:
    """exp(-alpha ||w||^2 / 2 - <slope, w>) on a ball of any dimension d >= 2, for alpha >= 0."""

    ball: Ball
    alpha: float
    slope: Matrix

    @cached_property
    def _law(self) -> tuple[Envelope, Matrix]:
        # about the midpoint the linear part is slope + alpha midpoint
        slope = self.slope + self.alpha * self.ball.center()
        pull = float(np.linalg.norm(slope))
        axis = np.zeros(slope.shape[0])
        axis[0] = 1.0
        potential = _AxialPotential(self.alpha, pull, slope.shape[0], self.ball.radius)
        envelope = build_envelope(potential, _HalfDisk(self.ball.radius))
        return envelope, -slope / pull if pull > 0 else axis

    def draw(self, rng: Randomness, runs: int) -> Array:
        """Independent points, shape (runs, d)."""
        xp = rng.xp
        envelope, direction = self._law
        axis = xp.asarray(direction, copy=True)
        pairs, _ = envelope.sample(rng=rng, runs=runs, name="position about the axis")
        off = rng.normal((runs, self.slope.shape[0]), "direction off the axis")
        # twice, since once leaves a rounding error of the size of what is taken off
        for _ in range(2):
            off = off - (off @ axis)[:, None] * axis[None, :]
        off = off * (pairs[:, 1] / xp.sqrt(row_sums(off * off)))[:, None]
        return like(self.ball.center(), off) + pairs[:, 0][:, None] * axis[None, :] + off


@dataclass(frozen=True, eq=False)
class _Parabola:
    """V(x) = alpha x^2 / 2 + slope x, x being measured from the interval's lower end."""

    alpha: float
    slope: float
    width: float

    @property
    def rounding(self) -> float:
        return 256 * _EPS * (self.alpha * self.width**2 + abs(self.slope) * self.width + 1.0)

    def value(self, points: Array) -> Array:
        return (0.5 * self.alpha * points[:, 0] + self.slope) * points[:, 0]

    def gradient(self, points: Array) -> Array:
        return self.alpha * points + self.slope


@dataclass(frozen=True, eq=False)
class ProductSampler:
    """exp(-sum of alpha_i w_i^2 / 2 + slope_i w_i) on a box: coordinates are independent; all have shape (d,)."""

    lower: Matrix
    upper: Matrix
    alphas: Matrix
    slopes: Matrix

    @cached_property
    def _laws(self) -> list[Envelope]:
        laws = []
        for alpha, slope, width, low in zip(
            self.alphas, self.slopes, self.upper - self.lower, self.lower, strict=True
        ):
            potential = _Parabola(float(alpha), float(slope + alpha * low), float(width))
            region = FreeRegion(Box((0.0,), (float(width),)))
            laws.append(build_envelope(potential, region, target=0.9))
        return laws

    def draw(self, rng: Randomness, runs: int) -> Array:
        """Independent points, shape (runs, d)."""
        xp = rng.xp
        lower, upper = xp.asarray(self.lower, copy=True), xp.asarray(self.upper, copy=True)
        if not np.any(self.alphas):
            levels = rng.uniform((runs, self.lower.shape[0]), "coordinates")
            widths, slopes = xp.asarray(self.upper - self.lower), xp.asarray(self.slopes, copy=True)
            steps = truncated_exponential.quantile(levels, slopes + 0.0 * levels, widths, xp)
        else:
            columns = [law.sample(rng=rng, runs=runs, name="coordinates")[0] for law in self._laws]
            steps = xp.concat(columns, axis=1)
        return xp.minimum(lower + steps, upper)


Proposal = Callable[[Randomness, int], tuple[Array, NDArray[np.bool_]]]
"""Draws so many points, shape (count, d), and says which are accepted."""


def _rotated_box(constraint: Ball | Box, hessian: Matrix, slope: Matrix) -> Proposal:
    """Any H: independent coordinates along H's axes, on the box along them that holds C; accepted in C."""
    eigenvalues, axes = np.linalg.eigh(hessian)
    middle = constraint.center()
    about = axes.T @ (slope + hessian @ middle)
    if isinstance(constraint, Ball):
        reach = np.full(about.shape, constraint.radius)
    else:
        reach = np.abs(axes.T) @ (0.5 * (np.array(constraint.upper) - np.array(constraint.lower)))
        reach = reach * (1 + 16 * _EPS)
    product = ProductSampler(-reach, reach, np.maximum(eigenvalues, 0.0), about)

    def propose(rng: Randomness, count: int) -> tuple[Array, NDArray[np.bool_]]:
        points = product.draw(rng, count) @ rng.xp.asarray(axes.T, copy=True)
        points = points + like(middle, points)
        return points, np.asarray(FreeRegion(constraint).contains(points))

    return propose


def _minorant(constraint: Ball | Box, hessian: Matrix, slope: Matrix) -> Proposal:
    """Any H: a diagonal D with H - D positive semidefinite instead, in a form that touches V at one point.

    V(w) is V of the touching point p plus <grad, w - p> plus half of (w - p)^T H (w - p); the last is at least the
    same with D, and what is left over is accepted against.
    """
    scale = np.sqrt(np.maximum(np.diag(hessian), 0.0))
    if isinstance(constraint, Ball) or not np.all(scale > 0):
        scale = np.ones(scale.shape)
    least = np.linalg.eigvalsh(hessian / np.outer(scale, scale))
    # a little below the smallest eigenvalue, so that its rounding cannot make the rest indefinite
    share = max(0.0, float(least[0]) - 64 * scale.shape[0] * _EPS * float(least[-1]))
    diagonal = share * scale**2
    touching = _about_smallest(constraint, hessian, slope)
    sampler = quadratic_sampler(
        constraint, np.diag(diagonal), slope + hessian @ touching - diagonal * touching
    )

    def propose(rng: Randomness, count: int) -> tuple[Array, NDArray[np.bool_]]:
        points = sampler.draw(rng, count)
        offset = points - like(touching, points)
        rest = rng.xp.asarray(hessian - np.diag(diagonal), copy=True)
        excess = 0.5 * row_sums((offset @ rest) * offset)
        return points, np.asarray(rng.xp.log1p(-rng.uniform((count,), "acceptance")) <= -excess)

    return propose


def _about_smallest(constraint: Ball | Box, hessian: Matrix, slope: Matrix) -> Matrix:
    """About where V is smallest on C, by projected gradient steps; any point would be correct."""
    point = constraint.center()[None, :]
    largest = float(np.linalg.eigvalsh(hessian)[-1])
    for _ in range(_DESCENT_STEPS if largest > 0 else 0):
        point = constraint.project(point - (point @ hessian + slope) / largest)
    return np.asarray(point[0])


@dataclass(frozen=True, eq=False)
class RejectionSampler:
    """exp(-<w, H w> / 2 - <slope, w>) on a ball or box, for any H, by the better of two envelopes.

    Refused on drawing if too few proposals of both are accepted.
    """

    constraint: Ball | Box
    hessian: Matrix
    slope: Matrix

    @cached_property
    def _proposal(self) -> Proposal:
        made = [of(self.constraint, self.hessian, self.slope) for of in (_rotated_box, _minorant)]
        shares = [float(np.mean(propose(Randomness(0), _PILOT)[1])) for propose in made]
        best = int(np.argmax(shares))
        if not shares[best] >= _LEAST_SHARE:
            raise NotGuaranteedError(
                f"Of {_PILOT} proposals for this quadratic loss a share of {shares[best]:.2g} was accepted, below "
                f"{_LEAST_SHARE:g}: exact sampling would take too long; a smaller epsilon or fewer dimensions "
                "would help."
            )
        return made[best]

    def draw(self, rng: Randomness, runs: int) -> Array:
        """Independent points, shape (runs, d)."""
        propose = self._proposal
        return until_accepted(lambda waiting: (*propose(rng, waiting.size), 0), runs, rng.xp)[0]


def quadratic_sampler(
    constraint: Ball | Box, hessian: Matrix, slope: Matrix
) -> AxialSampler | ProductSampler | RejectionSampler:
    """The sampler for exp(-<w, H w> / 2 - <slope, w>) on the set, closed forms first."""
    diagonal: Any = np.diag(hessian)
    is_diagonal = not np.any(hessian - np.diag(diagonal))
    if is_diagonal and isinstance(constraint, Ball) and constraint.dimension > 1:
        if np.all(diagonal == diagonal[0]):
            return AxialSampler(constraint, float(diagonal[0]), slope)
    elif is_diagonal:
        ends = FreeRegion(constraint)
        return ProductSampler(ends.lower, ends.upper, diagonal, slope)
    return RejectionSampler(constraint, hessian, slope)
