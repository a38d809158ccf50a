"""Closed convex sets with their Euclidean projections, for whole batches of points.

Points have shape (runs, d) and may come from any array library that follows the array API standard.
Magnitudes up to 1e150 are handled; beyond that a squared norm leaves the range of double precision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from dpverify.errors import InvalidArgumentError
from dpverify.problems.arrays import (
    Array,
    at_least,
    check_integer,
    check_not_negative,
    check_real,
    like,
    namespace,
    row_sums,
)

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
        """Whether each point meets each constraint up to `tolerance`, a length; booleans, shape (runs,).

        The default tolerance leaves room for rounding: points that `project` returns are contained.
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

    def cvxpy_constraints(self, variable: Any) -> list[Any]:
        """The CVXPY constraints that say `variable`, of shape (d,), is in the set."""


@dataclass(frozen=True)
class Ball:
    """{w: ||w - midpoint|| <= radius}, about the origin unless `midpoint` is given.

    Raises:
        InvalidArgumentError: if `dimension` is not a positive integer, `radius` not positive and finite, or
            `midpoint` not `dimension` finite numbers.
    """

    dimension: int
    radius: float
    midpoint: Sequence[float] | None = None

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension)
        check_real("radius", self.radius, above=0.0)
        if self.midpoint is not None:
            object.__setattr__(self, "midpoint", _numbers("midpoint", self.midpoint, self.dimension))

    @property
    def diameter(self) -> float:
        """Twice the radius."""
        return 2.0 * self.radius

    @property
    def largest_norm(self) -> float:
        """||midpoint|| + radius."""
        return self.radius if self.midpoint is None else math.hypot(*self.midpoint) + self.radius

    def project(self, w: Array, *, overwrite: bool = False) -> Array:
        """Closest points; one pass for the norms, a second only if some point is outside."""
        _check_batch(w, self.dimension)
        xp = namespace(w)
        if w.shape[0] == 0:
            return w
        offset = w if self.midpoint is None else w - like(self.midpoint, w)
        squared = row_sums(offset * offset)
        if bool(xp.max(squared) <= self.radius**2):
            return w
        # Exactly 1 for points inside, so that no point's projection depends on its neighbors in the batch.
        scale = self.radius / xp.sqrt(at_least(squared, self.radius**2))
        if self.midpoint is not None:
            offset *= scale[:, None]
            offset += like(self.midpoint, w)
            return offset
        if overwrite:
            w *= scale[:, None]
            return w
        return w * scale[:, None]

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """Whether ||w - midpoint|| <= radius + tolerance."""
        return self._distance(w) <= self.radius + check_not_negative("tolerance", tolerance)

    def gauge(self, w: Array) -> Array:
        """||w - midpoint|| / radius."""
        return self._distance(w) / self.radius

    def center(self) -> Vector:
        """The midpoint."""
        return np.zeros(self.dimension) if self.midpoint is None else np.array(self.midpoint)

    def minimize_linear(self, g: Array) -> Array:
        """Midpoint - radius g / ||g||; the midpoint where g = 0."""
        _check_batch(g, self.dimension)
        xp = namespace(g)
        norm = xp.sqrt(row_sums(g * g))
        return (
            like(self.center(), g)
            - (self.radius / xp.where(norm > 0.0, norm, xp.ones_like(norm)))[:, None] * g
        )

    def support(self, g: Array) -> Array:
        """<g, midpoint> + radius ||g||."""
        _check_batch(g, self.dimension)
        return g @ like(self.center(), g) + self.radius * namespace(g).sqrt(row_sums(g * g))

    def cvxpy_constraints(self, variable: Any) -> list[Any]:
        """One second-order cone."""
        import cvxpy

        return [cvxpy.norm(variable - self.center(), 2) <= self.radius]

    def _distance(self, w: Array) -> Array:
        _check_batch(w, self.dimension)
        offset = w if self.midpoint is None else w - like(self.midpoint, w)
        return namespace(w).sqrt(row_sums(offset * offset))


@dataclass(frozen=True)
class Box:
    """{w: lower <= w <= upper}, coordinate by coordinate, with lower < upper.

    Raises:
        InvalidArgumentError: unless both ends are equally many finite numbers with lower < upper.
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
        check_integer("dimension", dimension)
        check_real("half_width", half_width, above=0.0)
        return cls((-half_width,) * dimension, (half_width,) * dimension)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.lower)

    @property
    def diameter(self) -> float:
        """Length of the diagonal."""
        return math.hypot(*(high - low for low, high in zip(self.lower, self.upper, strict=True)))

    @property
    def largest_norm(self) -> float:
        """Norm of the corner that is farthest from the origin."""
        return math.hypot(*(max(-low, high) for low, high in zip(self.lower, self.upper, strict=True)))

    def project(self, w: Array, *, overwrite: bool = False) -> Array:
        """Coordinates cut off at the ends."""
        _check_batch(w, self.dimension)
        xp = namespace(w)
        lower, upper = self._ends
        return xp.minimum(xp.maximum(w, like(lower, w)), like(upper, w))

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """Whether lower - tolerance <= w <= upper + tolerance in every coordinate."""
        _check_batch(w, self.dimension)
        check_not_negative("tolerance", tolerance)
        inside = (w >= like(self.lower, w) - tolerance) & (w <= like(self.upper, w) + tolerance)
        return namespace(w).all(inside, axis=-1)

    def gauge(self, w: Array) -> Array:
        """Largest |w_i - center_i| over half the width of side i."""
        _check_batch(w, self.dimension)
        xp = namespace(w)
        relative = xp.abs(w - like(self.center(), w)) / like(self._half_widths, w)
        return xp.max(relative, axis=-1)

    def center(self) -> Vector:
        """The middle of every side."""
        return 0.5 * np.array(self.lower) + 0.5 * np.array(self.upper)

    def minimize_linear(self, g: Array) -> Array:
        """The corner against the signs of g."""
        _check_batch(g, self.dimension)
        return namespace(g).where(g > 0.0, like(self.lower, g), like(self.upper, g))

    def support(self, g: Array) -> Array:
        """Sum of max(g_i lower_i, g_i upper_i)."""
        _check_batch(g, self.dimension)
        return row_sums(namespace(g).maximum(g * like(self.lower, g), g * like(self.upper, g)))

    def cvxpy_constraints(self, variable: Any) -> list[Any]:
        """Two vector inequalities."""
        return [variable >= np.array(self.lower), variable <= np.array(self.upper)]

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
        check_integer("dimension", self.dimension)
        check_real("scale", self.scale, above=0.0)

    @property
    def diameter(self) -> float:
        """The side length, scale times the square root of 2; 0 in one dimension."""
        return self.scale * math.sqrt(2.0) if self.dimension > 1 else 0.0

    @property
    def largest_norm(self) -> float:
        """The scale, at the corners."""
        return self.scale

    def project(self, w: Array, *, overwrite: bool = False) -> Array:
        """Closest points: max(w - theta, 0) with theta = max over k of (sum of the k largest - scale) / k.

        Held, Wolfe, Crowder, Validation of subgradient optimization (1974), with the threshold in closed
        form.
        """
        _check_batch(w, self.dimension)
        xp = namespace(w)
        # Subtracting the largest coordinate changes nothing but keeps the sums small.
        shifted = w - xp.max(w, axis=-1, keepdims=True)
        descending = xp.sort(shifted, axis=-1, descending=True)
        counts = like(np.arange(1, self.dimension + 1), w)
        thresholds = (xp.cumulative_sum(descending, axis=-1) - self.scale) / counts
        shifted -= xp.max(thresholds, axis=-1, keepdims=True)
        return at_least(shifted, 0.0)

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """Whether every w_i >= -tolerance and |sum w_i - scale| <= tolerance."""
        _check_batch(w, self.dimension)
        xp = namespace(w)
        check_not_negative("tolerance", tolerance)
        return xp.all(w >= -tolerance, axis=-1) & (xp.abs(xp.sum(w, axis=-1) - self.scale) <= tolerance)

    def gauge(self, w: Array) -> Array:
        """Largest of 0 and 1 - d w_i / scale on the plane sum w_i = scale, infinite off it."""
        _check_batch(w, self.dimension)
        xp = namespace(w)
        thickness = (self.dimension + 8) * xp.finfo(w.dtype).eps * (self.scale + xp.sum(xp.abs(w), axis=-1))
        on_plane = xp.abs(xp.sum(w, axis=-1) - self.scale) <= thickness
        gauge = at_least(1.0 - xp.min(w, axis=-1) * (self.dimension / self.scale), 0.0)
        return xp.where(on_plane, gauge, xp.full_like(gauge, math.inf))

    def center(self) -> Vector:
        """The point with scale / d in every coordinate."""
        return np.full(self.dimension, self.scale / self.dimension)

    def minimize_linear(self, g: Array) -> Array:
        """The corner of the smallest g_i."""
        _check_batch(g, self.dimension)
        xp = namespace(g)
        chosen = xp.argmin(g, axis=-1, keepdims=True)
        coordinates = xp.arange(self.dimension, device=chosen.device, dtype=chosen.dtype)
        return self.scale * xp.astype(coordinates[None, :] == chosen, g.dtype)

    def support(self, g: Array) -> Array:
        """The largest g_i, times scale."""
        _check_batch(g, self.dimension)
        return self.scale * namespace(g).max(g, axis=-1)

    def cvxpy_constraints(self, variable: Any) -> list[Any]:
        """One vector inequality and one equation."""
        import cvxpy

        return [variable >= 0.0, cvxpy.sum(variable) == self.scale]


@dataclass(frozen=True)
class AllSpace:
    """R^dimension: no constraint.

    Raises:
        InvalidArgumentError: if `dimension` is not a positive integer.
    """

    dimension: int

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension)

    @property
    def diameter(self) -> float:
        """Infinite."""
        return math.inf

    @property
    def largest_norm(self) -> float:
        """Infinite."""
        return math.inf

    def project(self, w: Array, *, overwrite: bool = False) -> Array:
        """`w` itself."""
        _check_batch(w, self.dimension)
        return w

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """True for points without NaN."""
        _check_batch(w, self.dimension)
        check_not_negative("tolerance", tolerance)
        return namespace(w).all(w == w, axis=-1)

    def gauge(self, w: Array) -> Array:
        """0 everywhere."""
        _check_batch(w, self.dimension)
        xp = namespace(w)
        return xp.zeros_like(xp.sum(w, axis=-1))

    def center(self) -> Vector:
        """The origin."""
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
        """0 where g = 0, else infinite."""
        _check_batch(g, self.dimension)
        xp = namespace(g)
        zeros = xp.zeros_like(xp.sum(g, axis=-1))
        return xp.where(xp.all(g == 0.0, axis=-1), zeros, xp.full_like(zeros, math.inf))

    def cvxpy_constraints(self, variable: Any) -> list[Any]:
        """None."""
        return []


def _check_batch(w: Array, dimension: int) -> None:
    if w.ndim != 2 or w.shape[1] != dimension:
        raise InvalidArgumentError("w", tuple(w.shape), f"points of shape (runs, {dimension})")


def _numbers(argument: str, values: object, count: int | None) -> tuple[float, ...]:
    """Return `values` as a tuple of `count` finite floats (of any positive number if None)."""
    allowed = "at least one finite number" if count is None else f"{count} finite numbers"
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidArgumentError(argument, values, allowed) from None
    if array.ndim != 1 or array.size == 0 or (count is not None and array.size != count):
        raise InvalidArgumentError(argument, values, allowed)
    if not np.all(np.isfinite(array)):
        raise InvalidArgumentError(argument, values, allowed)
    return tuple(array.tolist())
