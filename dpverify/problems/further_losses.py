"""Further generalized linear losses: the logistic one on a ball, the hinge's positive part, one label of several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpverify.checks import number, positive
from dpverify.errors import InvalidArgumentError
from dpverify.problems import GeneralizedLinear, Logistic, Loss
from dpverify.problems.arrays import Array, at_least, at_most, namespace
from dpverify.problems.conic import Affine, ConicProgram, Vector
from dpverify.problems.losses import OfAnother, UnitSlope, WithinRadius


@dataclass(frozen=True)
class LogisticOnBall(WithinRadius, Logistic):  # type: ignore[override]
    """The logistic loss with the constants that it has for ||w|| <= radius: its steepest slope is 1 / (1 + e^-radius).

    At radius 1 that is .73 in place of 1, and so is the noise that hides a gradient.
    """

    def __post_init__(self) -> None:
        number("radius", self.radius, above=0)

    @property
    def lipschitz_constant(self) -> float:  # type: ignore[override]
        """The slope where the margin is -radius, rounded up."""
        return min(1.0, (1 + 1e-12) / (1 + math.exp(-self.radius)))


@dataclass(frozen=True)
class PositivePart(UnitSlope):
    """(y - <w, x>)_+ for labels in [-1, 1], slope 0 at the kink; the hinge (1 - y <w, x>)_+ is that of (y x, 1)."""

    smoothness: ClassVar[float] = math.inf

    def link(self, z: Array, y: Array) -> Array:
        return at_least(y - z, 0.0)

    def link_slope(self, z: Array, y: Array) -> Array:
        excess = y - z
        return -namespace(z).astype(excess > 0.0, excess.dtype)

    def link_conjugate(self, a: Array, y: Array) -> Array:
        xp = namespace(a)
        return xp.where((a <= 0.0) & (a >= -1.0), a * y, xp.full_like(a * y, math.inf))

    def nearest_dual(self, a: Array, y: Array) -> Array:
        return -at_most(at_least(-a, 0.0), 1.0) + 0.0 * y

    def conic_link(self, program: ConicProgram, z: Affine, y: Vector) -> None:
        program.cost_of_largest(program.constants(0.0, len(z)), -z + y)


@dataclass(frozen=True)
class HuberizedPositivePart(PositivePart):
    """f(y - <w, x>) with f(v) = v_+ for |v| > h and v^2 / (4 h) + v / 2 + h / 4 in between, for labels in [-1, 1].

    The paper says that f is twice continuously differentiable; its second derivative jumps by 1 / (2 h) at both
    ends (bst14.huber-smooth). It is once so, with a slope that is 1 / (2 h)-Lipschitz.
    """

    width: float  # h, above 0, in the unit of the labels

    def __post_init__(self) -> None:
        positive("width", self.width)

    @property
    def smoothness(self) -> float:  # type: ignore[override]
        return 1 / (2 * self.width)

    def link(self, z: Array, y: Array) -> Array:
        excess = y - z
        inside = at_most(at_least(excess, -self.width), self.width) + self.width
        # above h the quadratic ends at h, and the rest is linear
        return inside * inside / (4 * self.width) + at_least(excess - self.width, 0.0)

    def link_slope(self, z: Array, y: Array) -> Array:
        """Minus f' = (v + h) / (2 h), cut off at 0 and 1."""
        return -at_most(at_least(((y - z) + self.width) / (2 * self.width), 0.0), 1.0)

    def link_conjugate(self, a: Array, y: Array) -> Array:
        """The value a y + h s (s - 1) with s = -a in [0, 1]."""
        xp = namespace(a)
        inside = (a <= 0.0) & (a >= -1.0)
        return xp.where(inside, a * y + self.width * a * (a + 1.0), xp.full_like(a * y, math.inf))

    def conic_link(self, program: ConicProgram, z: Affine, y: Vector) -> None:
        """f(v) with v = y - z, up to the constant h / 4: v / 2, and the least a^2 / (4 h) + |v - a| / 2 of all a."""
        v, near = -z + y, program.variables(len(z))
        program.cost(0.5 * v)
        program.half_squares(near * math.sqrt(1 / (2 * self.width)))
        program.cost_of_largest(0.5 * (v - near), 0.5 * (near - v))


@dataclass(frozen=True)
class OneVersusRest(OfAnother, GeneralizedLinear):
    """A two-class loss that tells one label from all others: tasks of one data set with several classes."""

    base: GeneralizedLinear  # for labels -1 and 1
    positive: float  # the label that counts as 1; every other one counts as -1
    labels: tuple[float, float] = (0.0, 9.0)  # the smallest and the largest that there is

    def __post_init__(self) -> None:
        if not (isinstance(self.base, GeneralizedLinear) and isinstance(self.base, Loss)):
            raise InvalidArgumentError("base", self.base, "a generalized linear loss, such as Logistic()")
        number("positive", self.positive)
        ends: Any = np.asarray(self.labels)
        if ends.shape != (2,) or ends.dtype.kind not in "iuf" or not ends[0] <= ends[1]:
            raise InvalidArgumentError("labels", self.labels, "the smallest and the largest label")
        object.__setattr__(self, "labels", (float(ends[0]), float(ends[1])))

    @property
    def _parts(self) -> tuple[Loss, float, float]:
        assert isinstance(self.base, Loss)
        return self.base, 0.0, 0.0

    def _sign(self, y: Array, example: Array) -> Array:
        """1 where the label is the positive one, else -1, in the number type of an example."""
        xp = namespace(example)
        return 2.0 * xp.astype(xp.asarray(y == self.positive), example.dtype) - 1.0

    def link(self, z: Array, y: Array) -> Array:
        return self.base.link(z, self._sign(y, z))

    def link_slope(self, z: Array, y: Array) -> Array:
        return self.base.link_slope(z, self._sign(y, z))

    def link_conjugate(self, a: Array, y: Array) -> Array:
        return self.base.link_conjugate(a, self._sign(y, a))

    def nearest_dual(self, a: Array, y: Array) -> Array:
        return self.base.nearest_dual(a, self._sign(y, a))

    def conic_link(self, program: ConicProgram, z: Affine, y: Vector) -> None:
        self.base.conic_link(program, z, self._sign(y, np.asarray(y)))

    @property
    def has_conic_link(self) -> bool:
        return self.base.has_conic_link
