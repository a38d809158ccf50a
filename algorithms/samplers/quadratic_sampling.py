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
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.samplers import truncated_exponential
from dpverify.algorithms.samplers.certified_rejection import (
    Counts,
    Envelope,
    build_envelope,
    sample,
    until_accepted,
)
from dpverify.algorithms.samplers.free_coordinates import FreeRegion
from dpverify.errors import NotGuaranteedError
from dpverify.problems import Ball, Box
from dpverify.problems.arrays import at_least, like, namespace, row_sums
from dpverify.running import Randomness
from dpverify.running.randomness import Array

Matrix = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
_PILOT = 4000
"""Proposals by which an envelope is chosen; they come from a stream of their own that is always the same."""
_DESCENT_STEPS = 500


class BatchSampler(Protocol):
    """Something that draws points."""

    def draw(self, rng: Randomness, runs: int) -> Array:
        """Independent points, shape (runs, d)."""


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
    """exp(-alpha ||w||^2 / 2 - <slope, w>) on a ball of any dimension d >= 2.

    Attributes:
        ball: the set.
        alpha: at least 0, one over length^2.
        slope: shape (d,), one over length.
    """

    ball: Ball
    alpha: float
    slope: Matrix

    @cached_property
    def _law(self) -> tuple[Envelope, _AxialPotential, _HalfDisk, Matrix]:
        # about the midpoint the linear part is slope + alpha midpoint
        slope = self.slope + self.alpha * self.ball.center()
        pull = float(np.linalg.norm(slope))
        axis = np.zeros(slope.shape[0])
        axis[0] = 1.0
        potential = _AxialPotential(self.alpha, pull, slope.shape[0], self.ball.radius)
        region = _HalfDisk(self.ball.radius)
        return (
            build_envelope(potential, region),
            potential,
            region,
            -slope / pull if pull > 0 else axis,
        )

    def draw(self, rng: Randomness, runs: int) -> Array:
        """Independent points, shape (runs, d)."""
        xp = rng.xp
        envelope, potential, region, direction = self._law
        axis = xp.asarray(direction, copy=True)
        pairs, _ = sample(envelope, potential, region, rng=rng, runs=runs, name="position about the axis")
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
    """exp(-sum of alpha_i w_i^2 / 2 + slope_i w_i) on a box: coordinates are independent.

    Attributes:
        lower: shape (d,), a length.
        upper: likewise.
        alphas: at least 0, shape (d,), one over length^2.
        slopes: shape (d,), one over length.
    """

    lower: Matrix
    upper: Matrix
    alphas: Matrix
    slopes: Matrix

    @cached_property
    def _laws(self) -> list[tuple[Envelope, _Parabola, FreeRegion]]:
        laws = []
        for alpha, slope, width, low in zip(
            self.alphas, self.slopes, self.upper - self.lower, self.lower, strict=True
        ):
            potential = _Parabola(float(alpha), float(slope + alpha * low), float(width))
            region = FreeRegion(Box((0.0,), (float(width),)))
            laws.append((build_envelope(potential, region, target=0.9), potential, region))
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
            columns = [
                sample(envelope, potential, region, rng=rng, runs=runs, name="coordinates")[0]
                for envelope, potential, region in self._laws
            ]
            steps = xp.concat(columns, axis=1)
        return xp.minimum(lower + steps, upper)


@dataclass(frozen=True, eq=False)
class _RotatedBox:
    """Any H: independent coordinates along H's axes, on the box along them that holds C; accepted in C."""

    constraint: Ball | Box
    hessian: Matrix
    slope: Matrix

    @cached_property
    def _parts(self) -> tuple[ProductSampler, Matrix]:
        eigenvalues, axes = np.linalg.eigh(self.hessian)
        middle = self.constraint.center()
        about = axes.T @ (self.slope + self.hessian @ middle)
        if isinstance(self.constraint, Ball):
            reach = np.full(about.shape, self.constraint.radius)
        else:
            reach = np.abs(axes.T) @ (
                0.5 * (np.array(self.constraint.upper) - np.array(self.constraint.lower))
            )
            reach = reach * (1 + 16 * _EPS)
        return ProductSampler(-reach, reach, np.maximum(eigenvalues, 0.0), about), axes

    def propose(self, rng: Randomness, count: int) -> tuple[Array, NDArray[np.bool_]]:
        product, axes = self._parts
        xp = rng.xp
        points = product.draw(rng, count) @ xp.asarray(axes.T, copy=True)
        points = points + like(self.constraint.center(), points)
        return points, np.asarray(FreeRegion(self.constraint).contains(points))


@dataclass(frozen=True, eq=False)
class _Minorant:
    """Any H: a diagonal D with H - D positive semidefinite instead, in a form that touches V at one point.

    V(w) is V of the touching point p plus <grad, w - p> plus half of (w - p)^T H (w - p); the last is at least the
    same with D, and what is left over is accepted against.
    """

    constraint: Ball | Box
    hessian: Matrix
    slope: Matrix

    @cached_property
    def _parts(self) -> tuple[BatchSampler, Matrix, Matrix]:
        constraint, hessian = self.constraint, self.hessian
        scale = np.sqrt(np.maximum(np.diag(hessian), 0.0))
        if isinstance(constraint, Ball) or not np.all(scale > 0):
            scale = np.ones(scale.shape)
        least = np.linalg.eigvalsh(hessian / np.outer(scale, scale))
        # a little below the smallest eigenvalue, so that its rounding cannot make the rest indefinite
        share = max(0.0, float(least[0]) - 64 * scale.shape[0] * _EPS * float(least[-1]))
        diagonal = share * scale**2
        touching = self._minimizer()
        slope = self.slope + hessian @ touching - diagonal * touching
        sampler: BatchSampler
        if isinstance(constraint, Ball):
            sampler = AxialSampler(constraint, float(diagonal[0]), slope)
        else:
            sampler = ProductSampler(np.array(constraint.lower), np.array(constraint.upper), diagonal, slope)
        return sampler, hessian - np.diag(diagonal), touching

    def _minimizer(self) -> Matrix:
        """About where V is smallest on C, by projected gradient steps; any point would be correct."""
        point = self.constraint.center()[None, :]
        largest = float(np.linalg.eigvalsh(self.hessian)[-1])
        if largest <= 0:
            return np.asarray(point[0])
        for _ in range(_DESCENT_STEPS):
            point = self.constraint.project(point - (point @ self.hessian + self.slope) / largest)
        return np.asarray(point[0])

    def propose(self, rng: Randomness, count: int) -> tuple[Array, NDArray[np.bool_]]:
        sampler, rest, touching = self._parts
        xp = rng.xp
        points = sampler.draw(rng, count)
        offset = points - like(touching, points)
        excess = 0.5 * row_sums((offset @ xp.asarray(rest, copy=True)) * offset)
        drawn = rng.uniform((count,), "acceptance")
        return points, np.asarray(xp.log1p(-drawn) <= -excess)


@dataclass(frozen=True, eq=False)
class RejectionSampler:
    """exp(-<w, H w> / 2 - <slope, w>) on a ball or box, for any H, by the better of two envelopes.

    Attributes:
        constraint: the set.
        hessian: H, positive semidefinite, shape (d, d), one over length^2.
        slope: shape (d,), one over length.
        smallest: share of proposals that must be accepted.
    """

    constraint: Ball | Box
    hessian: Matrix
    slope: Matrix
    smallest: float = 2e-3

    @cached_property
    def acceptance(self) -> float:
        """Estimate of the share of proposals that the better envelope accepts."""
        return self._choice[1]

    @cached_property
    def _choice(self) -> tuple[_RotatedBox | _Minorant, float]:
        envelopes = (
            _RotatedBox(self.constraint, self.hessian, self.slope),
            _Minorant(self.constraint, self.hessian, self.slope),
        )
        shares = [float(np.mean(envelope.propose(Randomness(0), _PILOT)[1])) for envelope in envelopes]
        best = int(np.argmax(shares))
        if not shares[best] >= self.smallest:
            raise NotGuaranteedError(
                f"Of {_PILOT} proposals for this quadratic loss a share of {shares[best]:.2g} was accepted, below "
                f"{self.smallest:g}: exact sampling would take too long; a smaller epsilon or fewer dimensions "
                "would help."
            )
        return envelopes[best], shares[best]

    def draw(self, rng: Randomness, runs: int) -> Array:
        """Independent points, shape (runs, d)."""
        envelope, _ = self._choice

        def propose(waiting: Counts) -> tuple[Array, NDArray[np.bool_], int]:
            points, accepted = envelope.propose(rng, waiting.size)
            return points, accepted, 0

        return until_accepted(propose, runs, rng.xp)[0]


def quadratic_sampler(constraint: Ball | Box, hessian: Matrix, slope: Matrix) -> BatchSampler:
    """The sampler for exp(-<w, H w> / 2 - <slope, w>) on the set, closed forms first."""
    diagonal: Any = np.diag(hessian)
    is_diagonal = not np.any(hessian - np.diag(diagonal))
    if isinstance(constraint, Box) and is_diagonal:
        return ProductSampler(np.array(constraint.lower), np.array(constraint.upper), diagonal, slope)
    if isinstance(constraint, Ball) and constraint.dimension == 1:
        ends = FreeRegion(constraint)
        return ProductSampler(ends.lower, ends.upper, diagonal, slope)
    if isinstance(constraint, Ball) and is_diagonal and np.all(diagonal == diagonal[0]):
        return AxialSampler(constraint, float(diagonal[0]), slope)
    return RejectionSampler(constraint, hessian, slope)
