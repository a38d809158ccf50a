"""Losses f(w; x, y) of the displacement w - x: distances, half squared distances, and one that contracts or drifts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dpverify.problems.arrays import (
    Array,
    at_least,
    check_record_shape,
    dot,
    namespace,
    outer,
    row_norms,
    row_sums,
    unit_rows,
)
from dpverify.problems.conic import Affine, ConicProgram
from dpverify.problems.losses import WithinRadius


class Displacement(ABC):
    """A loss that depends on w and x only through w - x; labels are not used."""

    @abstractmethod
    def conjugate(self, a: Array, x: Array) -> Array:
        """Convex conjugate in w of each record's loss: a and x of shape (n, d) give shape (n,)."""

    @abstractmethod
    def nearest_dual(self, a: Array) -> Array:
        """Rows of `a`, shape (n, d), brought into the closed domain of `conjugate`."""

    @abstractmethod
    def conic_sum(self, program: ConicProgram, displacements: Affine, count: int) -> None:
        """Add the sum of the losses to a program's cost; the coordinates of the `count` w - x_i follow one another."""


@dataclass(frozen=True)
class EuclideanDistance(Displacement):
    """||w - x||, whose minimizer is the 1-median (geometric median); the subgradient at w = x is 0."""

    lipschitz_constant: ClassVar[float] = 1.0
    smoothness: ClassVar[float] = math.inf
    strong_convexity: ClassVar[float] = 0.0
    sensitivity_radius: ClassVar[float] = math.inf

    def value(self, w: Array, x: Array, y: Array) -> Array:
        """Distances, shape (runs,); arguments as for `Loss.value`, labels are not used."""
        check_record_shape(w, x)
        return row_norms(w - x)

    def gradient(self, w: Array, x: Array, y: Array) -> Array:
        """Unit vectors (w - x) / ||w - x||, a new array of shape (runs, d)."""
        check_record_shape(w, x)
        return unit_rows(w - x)

    def conjugate(self, a: Array, x: Array) -> Array:
        """<a, x> for ||a|| <= 1."""
        xp = namespace(a)
        # A unit vector's computed norm may exceed 1 by rounding.
        outside = row_sums(a * a) > 1.0 + (a.shape[1] + 8) * xp.finfo(a.dtype).eps
        inner = row_sums(a * x)
        return xp.where(outside, xp.full_like(inner, math.inf), inner)

    def nearest_dual(self, a: Array) -> Array:
        return a / at_least(row_norms(a), 1.0)[:, None]

    def conic_sum(self, program: ConicProgram, displacements: Affine, count: int) -> None:
        norms = program.variables(count)
        program.cost(norms)
        program.second_order(norms, displacements)


@dataclass(frozen=True)
class HalfSquaredDistance(WithinRadius, Displacement):
    """||w - x||^2 / 2 for ||w|| <= radius; the mean minimizes it. A gradient step of size 1 lands on x.

    The Lipschitz constant is radius + 1, but gradients of two records differ by at most 2, whatever the
    radius.

    Raises:
        InvalidArgumentError: if `radius` is not positive (infinity is allowed).
    """

    smoothness: ClassVar[float] = 1.0
    strong_convexity: ClassVar[float] = 1.0
    gradient_sensitivity: ClassVar[float] = 2.0
    sensitivity_radius: ClassVar[float] = math.inf

    def value(self, w: Array, x: Array, y: Array) -> Array:
        """Half squared distances, shape (runs,); arguments as for `Loss.value`, labels are not used."""
        check_record_shape(w, x)
        difference = w - x
        difference *= difference
        return 0.5 * row_sums(difference)

    def gradient(self, w: Array, x: Array, y: Array) -> Array:
        """The displacement w - x, a new array of shape (runs, d)."""
        check_record_shape(w, x)
        return w - x

    def conjugate(self, a: Array, x: Array) -> Array:
        return row_sums(0.5 * a * a + a * x)

    def nearest_dual(self, a: Array) -> Array:
        return a

    def conic_sum(self, program: ConicProgram, displacements: Affine, count: int) -> None:
        program.half_squares(displacements)


@dataclass(frozen=True)
class ContractOrDrift(WithinRadius):
    """y ||w - x||^2 / 2 + (1 - y) <w, x> for labels in [0, 1] and ||w|| <= radius.

    With label 1 a gradient step of size 1 forgets w and lands on x; with label 0 it moves every w by the same
    -x. It serves to build worst cases for per-index guarantees (`neighbors.contract_then_reveal`).

    Raises:
        InvalidArgumentError: if `radius` is not positive (infinity is allowed).
    """

    labels: ClassVar[tuple[float, float]] = (0.0, 1.0)
    smoothness: ClassVar[float] = 1.0
    strong_convexity: ClassVar[float] = 0.0

    @property
    def gradient_sensitivity(self) -> float:
        """The radius, plus 2; attained between the labels 0 and 1; 2 between records with the same label."""
        return self.radius + 2.0

    def curvatures(self, x: Array, y: Array) -> tuple[float, float]:
        """The label, twice: all curvature of a record's loss is that of y ||w - x||^2 / 2."""
        return float(y), float(y)

    def value(self, w: Array, x: Array, y: Array) -> Array:
        """Losses, shape (runs,); arguments as for `Loss.value`."""
        check_record_shape(w, x)
        difference = w - x
        difference *= difference
        return 0.5 * y * row_sums(difference) + (1.0 - y) * dot(w, x)

    def gradient(self, w: Array, x: Array, y: Array) -> Array:
        """The vectors y w + (1 - 2 y) x, a new array of shape (runs, d)."""
        check_record_shape(w, x)
        y = y + namespace(w).zeros_like(w[:, 0])
        return y[:, None] * w + outer(1.0 - 2.0 * y, x)
