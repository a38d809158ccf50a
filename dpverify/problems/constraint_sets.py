"""Closed convex sets with their Euclidean projections, for whole batches of points.

Points have shape (runs, d) and may come from any array library that follows the array API standard. Sets and points
may have any magnitude that their dtype holds: where squares would leave its range, they are divided by the largest
coordinate first.

Projections return points inside, up to rounding, as they are, bit for bit and in any company; what they return counts
as inside the next time, so that a second projection changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from dpverify import checks
from dpverify.errors import InvalidArgumentError
from dpverify.problems.arrays import (
    Array,
    at_least,
    like,
    namespace,
    quiet,
    row_norms,
    row_sums,
    safe_squares,
)
from dpverify.problems.conic import Affine, ConicProgram

Vector = npt.NDArray[np.float64]


@runtime_checkable
class ConstraintSet(Protocol):
    """What every constraint set offers. Lengths are Euclidean, in the unit of w."""

    @property
    def dimension(self) -> int:
        """Number d of coordinates."""

    @property
    def diameter(self) -> float:
        """Largest distance between two points; `math.inf` if the set is unbounded."""

    @property
    def largest_norm(self) -> float:
        """Largest ||w|| in the set, the radius that a loss's constants need; `math.inf` if unbounded."""

    def project(self, w: Array, *, overwrite: bool = False) -> Array:
        """Closest points of the set, shape (runs, d).

        May return `w` itself, if all of it is inside; never writes to it unless `overwrite`, which allows
        that and saves memory traffic.
        """

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """Whether each point meets each constraint up to `tolerance`; booleans, shape (runs,).

        The tolerance is relative to the size of the numbers that the set is made of, and never below the rounding of
        the points' dtype unless it is 0: points that `project` returns are contained, at any magnitude.
        """

    def gauge(self, w: Array) -> Array:
        """Minkowski gauge about the center c, inf {r > 0: c + (w - c) / r in the set}, shape (runs,).

        At most 1 exactly on the set; dimensionless.
        """

    def center(self) -> Vector:
        """The point c that the gauge is about, shape (d,), in the (relative) interior."""

    def minimize_linear(self, g: Array) -> Array:
        """A point of the set where <g, w> is smallest, one for each row of g; shape (runs, d)."""

    def support(self, g: Array) -> Array:
        """Largest <g, w> on the set for each row of g, shape (runs,); infinite where there is none."""

    def conic_rows(self, program: ConicProgram, w: Affine) -> None:
        """Require that a program's point, whose d coordinates are the rows, is in the set."""


@dataclass(frozen=True)
class Ball:
    """{w: ||w - midpoint|| <= radius}, about the origin unless `midpoint` is given.

    Raises:
        InvalidArgumentError: if `dimension` is not a positive integer, `radius` not positive and finite, or
            `midpoint` not `dimension` finite numbers.

    Examples:
        >>> import numpy as np
        >>> from dpverify.problems import Ball
        >>> ball = Ball(2, radius=1.0)
        >>> ball.project(np.array([[3.0, 4.0], [0.1, 0.2]])).round(2).tolist()  # one point a row
        [[0.6, 0.8], [0.1, 0.2]]
        >>> ball.diameter, ball.contains(np.array([[0.6, 0.8]])).tolist()
        (2.0, [True])
    """

    dimension: int
    radius: float
    midpoint: Sequence[float] | None = None

    def __post_init__(self) -> None:
        checks.whole_number("dimension", self.dimension)
        checks.number("radius", self.radius, above=0.0)
        if self.midpoint is not None:
            object.__setattr__(self, "midpoint", _numbers("midpoint", self.midpoint, self.dimension))

    @property
    def diameter(self) -> float:
        return 2.0 * self.radius

    @property
    def largest_norm(self) -> float:
        return self.radius if self.midpoint is None else math.hypot(*self.midpoint) + self.radius

    def project(self, w: Array, *, overwrite: bool = False) -> Array:
        """Closest points; one pass for the norms, a second only if some point is outside."""
        _check_batch(w, self.dimension)
        xp = namespace(w)
        if w.shape[0] == 0:
            return w
        with quiet():
            offset = w if self.midpoint is None else w - like(self.midpoint, w)
            squared = row_sums(offset * offset)
            low, high = safe_squares(w.dtype, xp)
            limit = self._limit(w)
            if low <= limit * limit <= high:
                if bool(xp.max(squared) <= limit * limit):
                    return w
                outside = squared > limit * limit
                # Exactly 1 for points inside, so that no point's projection depends on its neighbors in the batch.
                scale = xp.where(
                    outside, self.radius / xp.sqrt(at_least(squared, low)), xp.ones_like(squared)
                )
                if bool(xp.max(squared) <= high):
                    return self._scaled(w, offset, outside, scale, overwrite)
                common = self._scaled(w, offset, outside, scale, False)
                return xp.where((squared <= high)[:, None], common, self._far(w, offset))
            return self._far(w, offset)

    def _scaled(self, w: Array, offset: Array, outside: Array, scale: Array, overwrite: bool) -> Array:
        if self.midpoint is not None:
            moved = offset * scale[:, None] + like(self.midpoint, w)
            return namespace(w).where(outside[:, None], moved, w)
        if overwrite:
            w *= scale[:, None]
            return w
        return w * scale[:, None]

    def _far(self, w: Array, offset: Array) -> Array:
        """The same without squares of large or small numbers."""
        xp = namespace(w)
        radius, limit = (like(min(r, float(xp.finfo(w.dtype).max)), w) for r in (self.radius, self._limit(w)))
        largest = xp.max(xp.abs(offset), axis=-1)
        if self.midpoint is not None:
            # a difference beyond the range is taken at half its size
            fits = xp.isfinite(largest)
            half = 0.5 * w - 0.5 * like(self.midpoint, w)
            offset = xp.where(fits[:, None], offset, half)
            largest = xp.where(fits, largest, xp.max(xp.abs(half), axis=-1))
            limit = xp.where(fits, limit, 0.5 * limit)
        unit = xp.maximum(largest, limit)
        relative = offset / unit[:, None]
        length = xp.sqrt(row_sums(relative * relative))
        outside = length > limit / unit
        moved = relative * (radius / xp.where(outside, length, xp.ones_like(length)))[:, None]
        if self.midpoint is not None:
            moved += like(self.midpoint, w)
        return xp.where(outside[:, None], moved, w)

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """Whether ||w - midpoint|| <= radius, up to tolerance (||midpoint|| + radius)."""
        slack = _slack(w, self.dimension, tolerance) * self.largest_norm
        return self._distance(w) <= like(min(self.radius + slack, float(namespace(w).finfo(w.dtype).max)), w)

    def gauge(self, w: Array) -> Array:
        with quiet():
            return self._distance(w) / self.radius

    def center(self) -> Vector:
        return np.zeros(self.dimension) if self.midpoint is None else np.array(self.midpoint)

    def minimize_linear(self, g: Array) -> Array:
        """Midpoint - radius g / ||g||; the midpoint where g = 0."""
        _check_batch(g, self.dimension)
        xp = namespace(g)
        largest = xp.max(xp.abs(g), axis=-1)
        direction = g / xp.where(largest > 0.0, largest, xp.ones_like(largest))[:, None]
        norm = row_norms(direction)
        return (
            like(self.center(), g)
            - (self.radius / xp.where(norm > 0.0, norm, xp.ones_like(norm)))[:, None] * direction
        )

    def support(self, g: Array) -> Array:
        _check_batch(g, self.dimension)
        return g @ like(self.center(), g) + self.radius * row_norms(g)

    def conic_rows(self, program: ConicProgram, w: Affine) -> None:
        program.second_order(program.constants(self.radius, 1), w - self.center())

    def _distance(self, w: Array) -> Array:
        _check_batch(w, self.dimension)
        with quiet():
            return row_norms(w if self.midpoint is None else w - like(self.midpoint, w))

    def _limit(self, w: Array) -> float:
        """The largest computed distance from the midpoint that counts as inside: the radius, and its rounding."""
        return self.radius + _rounding(w, self.dimension) * self.largest_norm


@dataclass(frozen=True)
class Box:
    """{w: lower <= w <= upper}, coordinate by coordinate, with lower < upper.

    Raises:
        InvalidArgumentError: unless both ends are equally many finite numbers with lower < upper.

    Examples:
        >>> import numpy as np
        >>> from dpverify.problems import Box
        >>> box = Box([0.0, -1.0], [1.0, 1.0])
        >>> box.project(np.array([[2.0, 0.5]])).tolist()
        [[1.0, 0.5]]
        >>> box.minimize_linear(np.array([[1.0, -3.0]])).tolist()  # the corner with the smallest inner product
        [[0.0, 1.0]]
        >>> Box.cube(3, 0.5).lower
        (-0.5, -0.5, -0.5)
    """

    lower: Sequence[float]
    upper: Sequence[float]

    def __post_init__(self) -> None:
        lower = _numbers("lower", self.lower, None)
        upper = _numbers("upper", self.upper, len(lower))
        if not all(low < high for low, high in zip(lower, upper, strict=True)):
            raise InvalidArgumentError("upper", upper, f"numbers greater than lower = {lower}")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @classmethod
    def cube(cls, dimension: int, half_width: float) -> Box:
        """[-half_width, half_width]^dimension."""
        checks.whole_number("dimension", dimension)
        checks.number("half_width", half_width, above=0.0)
        return cls((-half_width,) * dimension, (half_width,) * dimension)

    @property
    def dimension(self) -> int:
        return len(self.lower)

    @property
    def diameter(self) -> float:
        return math.hypot(*(high - low for low, high in zip(self.lower, self.upper, strict=True)))

    @property
    def largest_norm(self) -> float:
        """Norm of the corner that is farthest from the origin."""
        return math.hypot(*(max(-low, high) for low, high in zip(self.lower, self.upper, strict=True)))

    def project(self, w: Array, *, overwrite: bool = False) -> Array:
        _check_batch(w, self.dimension)
        xp = namespace(w)
        lower, upper = self._ends
        return xp.minimum(xp.maximum(w, like(lower, w)), like(upper, w))

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """Whether lower <= w <= upper in every coordinate, up to tolerance times the larger end's size."""
        _check_batch(w, self.dimension)
        lower, upper = np.array(self.lower), np.array(self.upper)
        with quiet():
            room = _slack(w, 1, tolerance) * np.maximum(np.abs(lower), np.abs(upper))
            inside = (w >= like(lower - room, w)) & (w <= like(upper + room, w))
        return namespace(w).all(inside, axis=-1)

    def gauge(self, w: Array) -> Array:
        """Largest |w_i - center_i| over half the width of side i."""
        _check_batch(w, self.dimension)
        xp = namespace(w)
        relative = xp.abs(w - like(self.center(), w)) / like(self._half_widths, w)
        return xp.max(relative, axis=-1)

    def center(self) -> Vector:
        return 0.5 * np.array(self.lower) + 0.5 * np.array(self.upper)

    def minimize_linear(self, g: Array) -> Array:
        _check_batch(g, self.dimension)
        return namespace(g).where(g > 0.0, like(self.lower, g), like(self.upper, g))

    def support(self, g: Array) -> Array:
        _check_batch(g, self.dimension)
        return row_sums(namespace(g).maximum(g * like(self.lower, g), g * like(self.upper, g)))

    def conic_rows(self, program: ConicProgram, w: Affine) -> None:
        program.nonnegative(w - np.array(self.lower))
        program.nonnegative(-w + np.array(self.upper))

    @cached_property
    def _ends(self) -> tuple[float | Vector, float | Vector]:
        """The ends, as single numbers (much faster) where all sides are the same."""
        lower, upper = (
            ends[0] if min(ends) == max(ends) else np.array(ends) for ends in (self.lower, self.upper)
        )
        return lower, upper

    @cached_property
    def _half_widths(self) -> Vector:
        return 0.5 * np.array(self.upper) - 0.5 * np.array(self.lower)


@dataclass(frozen=True)
class Simplex:
    """{w: w_i >= 0, sum w_i = scale}, a set without interior in R^d.

    Its gauge is taken inside the plane sum w_i = scale, about scale / d in every coordinate; off the plane it
    is infinite (the plane has a relative thickness of d + 8 roundings).

    Raises:
        InvalidArgumentError: if `dimension` is not a positive integer or `scale` not positive and finite.
    """

    dimension: int
    scale: float = 1.0

    def __post_init__(self) -> None:
        checks.whole_number("dimension", self.dimension)
        checks.number("scale", self.scale, above=0.0)

    @property
    def diameter(self) -> float:
        """The side length, scale times the square root of 2; 0 in one dimension."""
        return self.scale * math.sqrt(2.0) if self.dimension > 1 else 0.0

    @property
    def largest_norm(self) -> float:
        return self.scale

    def project(self, w: Array, *, overwrite: bool = False) -> Array:
        """Closest points: max(w - theta, 0) with theta = max over k of (sum of the k largest - scale) / k.

        Held, Wolfe, Crowder, Validation of subgradient optimization (1974), with the threshold in closed
        form.
        """
        _check_batch(w, self.dimension)
        xp = namespace(w)
        with quiet():
            # Subtracting the largest coordinate changes nothing but keeps the sums small.
            shifted = w - xp.max(w, axis=-1, keepdims=True)
            descending = xp.sort(shifted, axis=-1, descending=True)
            counts = like(np.arange(1, self.dimension + 1), w)
            thresholds = (xp.cumulative_sum(descending, axis=-1) - self.scale) / counts
            shifted -= xp.max(thresholds, axis=-1, keepdims=True)
            inside = self._within(w, 0.0, _rounding(w, self.dimension) * self.scale)
            return xp.where(inside[:, None], w, at_least(shifted, 0.0))

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """Whether every w_i >= 0 and sum w_i = scale, both up to tolerance times scale."""
        _check_batch(w, self.dimension)
        room = _slack(w, self.dimension, tolerance) * self.scale
        with quiet():
            return self._within(w, room, room)

    def _within(self, w: Array, below: float, off: float) -> Array:
        xp = namespace(w)
        return xp.all(w >= -below, axis=-1) & (xp.abs(xp.sum(w, axis=-1) - self.scale) <= off)

    def gauge(self, w: Array) -> Array:
        """Largest of 0 and 1 - d w_i / scale on the plane sum w_i = scale, infinite off it."""
        _check_batch(w, self.dimension)
        xp = namespace(w)
        thickness = (self.dimension + 8) * xp.finfo(w.dtype).eps * (self.scale + xp.sum(xp.abs(w), axis=-1))
        on_plane = xp.abs(xp.sum(w, axis=-1) - self.scale) <= thickness
        gauge = at_least(1.0 - xp.min(w, axis=-1) * (self.dimension / self.scale), 0.0)
        return xp.where(on_plane, gauge, xp.full_like(gauge, math.inf))

    def center(self) -> Vector:
        return np.full(self.dimension, self.scale / self.dimension)

    def minimize_linear(self, g: Array) -> Array:
        _check_batch(g, self.dimension)
        xp = namespace(g)
        chosen = xp.argmin(g, axis=-1, keepdims=True)
        coordinates = xp.arange(self.dimension, device=chosen.device, dtype=chosen.dtype)
        return self.scale * xp.astype(coordinates[None, :] == chosen, g.dtype)

    def support(self, g: Array) -> Array:
        _check_batch(g, self.dimension)
        return self.scale * namespace(g).max(g, axis=-1)

    def conic_rows(self, program: ConicProgram, w: Affine) -> None:
        program.nonnegative(w)
        program.zero(w.image(np.ones((1, len(w)))) - self.scale)


@dataclass(frozen=True)
class AllSpace:
    """R^dimension: no constraint.

    Raises:
        InvalidArgumentError: if `dimension` is not a positive integer.
    """

    dimension: int
    diameter: ClassVar[float] = math.inf
    largest_norm: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        checks.whole_number("dimension", self.dimension)

    def project(self, w: Array, *, overwrite: bool = False) -> Array:
        _check_batch(w, self.dimension)
        return w

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """True for points without NaN."""
        _check_batch(w, self.dimension)
        checks.not_negative("tolerance", tolerance)
        return namespace(w).all(w == w, axis=-1)

    def gauge(self, w: Array) -> Array:
        _check_batch(w, self.dimension)
        xp = namespace(w)
        return xp.zeros_like(xp.sum(w, axis=-1))

    def center(self) -> Vector:
        return np.zeros(self.dimension)

    def minimize_linear(self, g: Array) -> Array:
        """Not there, unless g = 0.

        Raises:
            InvalidArgumentError: if some row of g is not 0.
        """
        _check_batch(g, self.dimension)
        xp = namespace(g)
        if not bool(xp.all(g == 0.0)):
            raise InvalidArgumentError("constraint", self, "a bounded set, to minimize a linear function on")
        return xp.zeros_like(g)

    def support(self, g: Array) -> Array:
        _check_batch(g, self.dimension)
        xp = namespace(g)
        zeros = xp.zeros_like(xp.sum(g, axis=-1))
        return xp.where(xp.all(g == 0.0, axis=-1), zeros, xp.full_like(zeros, math.inf))

    def conic_rows(self, program: ConicProgram, w: Affine) -> None:
        """Nothing is required."""


def _check_batch(w: Array, dimension: int) -> None:
    if w.ndim != 2 or w.shape[1] != dimension:
        raise InvalidArgumentError("w", tuple(w.shape), f"points of shape (runs, {dimension})")


def _rounding(w: Array, dimension: int) -> float:
    """Relative rounding of a sum over the coordinates, and of what is done to it, in the points' dtype."""
    return (dimension + 16) * float(namespace(w).finfo(w.dtype).eps)


def _slack(w: Array, dimension: int, tolerance: float) -> float:
    """The tolerance that is meant: twice the rounding at least, so that projections are inside, or exactly 0."""
    asked = checks.not_negative("tolerance", tolerance)
    return max(asked, 2.0 * _rounding(w, dimension)) if asked else 0.0


def _numbers(argument: str, values: object, count: int | None) -> tuple[float, ...]:
    """Return `values` as a tuple of `count` finite floats (of any positive number if None)."""
    allowed = "at least one finite number" if count is None else f"{count} finite numbers"
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidArgumentError(argument, values, allowed) from None
    if array.ndim != 1 or array.size == 0 or (count is not None and array.size != count):
        raise InvalidArgumentError(argument, values, allowed)
    checks.require(np.all(np.isfinite(array)), argument, values, allowed)
    return tuple(array.tolist())
