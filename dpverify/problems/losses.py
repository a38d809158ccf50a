"""Convex losses f(w; x, y) of one record (x, y), for whole batches of points w.

Every constant is in the Euclidean norm and holds for records with ||x|| <= 1 and labels between the loss's
`labels`. A loss is measured in its own unit ("loss"); w and x are lengths.

Two families cover the built-in losses. A `GeneralizedLinear` loss depends on w only through <w, x>, so a
gradient is a multiple of the record, `slope * x`, and one number a run describes it. A `Displacement` loss
depends on w - x. `Ridge` adds (weight / 2) ||w||^2 to either.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, runtime_checkable

from dpverify import checks
from dpverify.errors import InvalidArgumentError
from dpverify.problems.arrays import Array, at_least, at_most, dot, namespace, outer, row_sums
from dpverify.problems.conic import Affine, ConicProgram, Vector
from dpverify.problems.constraint_sets import ConstraintSet


@runtime_checkable
class Loss(Protocol):
    """What every loss offers; any object with these members is a loss, a frozen dataclass for instance.

    The constants hold at all points of the constraint set, for records in the unit ball. Five more members are read
    where they are there: `radius`, the largest norm of a point for which the constants are declared; `labels`, the
    smallest and the largest admissible label (else -1 and 1); `gradient_sensitivity`, `sensitivity_radius` and
    `curvatures` (see the functions of these names). What a loss declares is read once, when it becomes part of a
    `Problem`. Of a loss that is not one of this package's, guarantees carry the condition that it is true.
    """

    @property
    def lipschitz_constant(self) -> float:
        """Largest norm of a (sub)gradient; `math.inf` if there is none."""

    @property
    def smoothness(self) -> float:
        """Lipschitz constant of the gradient in w; `math.inf` if there is none."""

    @property
    def strong_convexity(self) -> float:
        """Largest m for which the loss minus (m / 2) ||w||^2 is convex; 0 if it is only convex."""

    def value(self, w: Array, x: Array, y: Array) -> Array:
        """Losses at `w`, shape (runs,).

        Args:
            w: points, shape (runs, d).
            x: one record for all runs, shape (d,), or one for each, shape (runs, d).
            y: its label, shape () or (runs,).
        """

    def gradient(self, w: Array, x: Array, y: Array) -> Array:
        """A (sub)gradient in w at each point, a new array of shape (runs, d). Arguments as for `value`."""


def gradient_sensitivity(loss: Loss) -> float:
    """Bound on ||gradient(w; record) - gradient(w; other record)|| over points and pairs of records.

    Twice the Lipschitz constant, unless the loss knows better: a term that all records share cancels.
    In units of loss over length; for replace-one adjacency (and for one given index).
    """
    checks.with_attribute("loss", loss, "lipschitz_constant")
    known = getattr(loss, "gradient_sensitivity", None)
    return 2.0 * loss.lipschitz_constant if known is None else float(known)


def sensitivity_radius(loss: Loss) -> float | None:
    """Largest norm of a point at which the gradient sensitivity holds; None: on the constraint set only.

    Infinite for most of the losses here. A loss that does not say it is taken to know nothing beyond the set.
    """
    known = getattr(loss, "sensitivity_radius", None)
    if known is None:
        return None
    return checks.number("loss.sensitivity_radius", known, above=0.0, finite=False)


def curvatures(loss: Loss, x: Array, y: Array) -> tuple[float, float]:
    """Strong convexity and smoothness of one record's loss: those of all records, unless the loss knows better."""
    known = getattr(loss, "curvatures", None)
    if known is None:
        return loss.strong_convexity, loss.smoothness
    low, high = known(x, y)
    return float(low), float(high)


def check_not_flat(argument: str, value: object, loss: Loss) -> None:
    """Refuse a loss that no point or no record can change: there is nothing to minimize, or nothing to protect."""
    if not (loss.lipschitz_constant > 0.0 and gradient_sensitivity(loss) > 0.0):
        allowed = (
            "a loss with a Lipschitz constant and a gradient sensitivity above 0: one that data can change"
        )
        raise InvalidArgumentError(argument, value, allowed)


def label_range(loss: Loss) -> tuple[float, float]:
    """The smallest and the largest label for which the loss's constants are declared."""
    lowest, highest = getattr(loss, "labels", (-1.0, 1.0))
    return float(lowest), float(highest)


class LinkLoss(ABC):
    """A loss link(<w, x>, y) and its gradients; a `GeneralizedLinear` one knows its conjugate, too."""

    generalized_linear: ClassVar[bool] = True
    ridge: ClassVar[float] = 0.0

    @abstractmethod
    def link(self, z: Array, y: Array) -> Array:
        """Loss as a function of z = <w, x>; elementwise, shapes broadcast."""

    @abstractmethod
    def link_slope(self, z: Array, y: Array) -> Array:
        """A (sub)derivative of `link` in z, elementwise."""

    def value(self, w: Array, x: Array, y: Array) -> Array:
        """Losses, shape (runs,); arguments as for `Loss.value`."""
        return self.link(dot(w, x), y)

    def slope(self, w: Array, x: Array, y: Array) -> Array:
        """The factors of the records in the gradients, shape (runs,); arguments as for `Loss.value`."""
        return self.link_slope(dot(w, x), y)

    def gradient(self, w: Array, x: Array, y: Array) -> Array:
        """(Sub)gradients, a new array of shape (runs, d); arguments as for `Loss.value`."""
        return outer(self.slope(w, x, y), x)


class GeneralizedLinear(LinkLoss):
    """A loss link(<w, x>, y) + (ridge / 2) ||w||^2, `link` being convex in its first argument.

    `gradient(w, x, y)` equals `slope(w, x, y)[:, None] * x + ridge * w`. When the (runs, d) gradients are not
    needed for themselves, the slopes save building them.
    """

    @abstractmethod
    def link_conjugate(self, a: Array, y: Array) -> Array:
        """Convex conjugate sup_z (a z - link(z, y)), elementwise, infinite outside its domain."""

    @abstractmethod
    def nearest_dual(self, a: Array, y: Array) -> Array:
        """The point closest to `a` in the closed domain of `link_conjugate(., y)`, elementwise."""

    def conic_link(self, program: ConicProgram, z: Affine, y: Vector) -> None:
        """Add the sum of link(z_i, y_i) to a program's cost; z has n rows, y is a NumPy array of shape (n,).

        Without it, a minimizer is sought by gradient descent, which needs a smooth loss.
        """
        raise NotImplementedError

    @property
    def has_conic_link(self) -> bool:
        return type(self).conic_link is not GeneralizedLinear.conic_link


class UnitSlope(GeneralizedLinear):
    """The constants of links with slopes in [-1, 1] whatever w is."""

    lipschitz_constant: ClassVar[float] = 1.0
    strong_convexity: ClassVar[float] = 0.0
    sensitivity_radius: ClassVar[float] = math.inf


@dataclass(frozen=True)
class WithinRadius:
    """The constants of losses for ||w|| <= radius whose gradients are at most 1 longer than w."""

    radius: float

    def __post_init__(self) -> None:
        checks.number("radius", self.radius, above=0.0, finite=False)

    @classmethod
    def on(cls, constraint: ConstraintSet) -> Self:
        """The loss with the radius that `constraint` has."""
        return cls(constraint.largest_norm)

    @property
    def lipschitz_constant(self) -> float:
        """The radius, plus 1."""
        return self.radius + 1.0

    @property
    def sensitivity_radius(self) -> float:
        return self.radius


class OfAnother(ABC):
    """The constants of a loss that is another one, and a term that all records share."""

    @property
    @abstractmethod
    def _parts(self) -> tuple[Loss, float, float]:
        """The other loss, and the largest slope and the curvature of the term."""

    @property
    def lipschitz_constant(self) -> float:
        """The other loss's, plus the slope of the term."""
        loss, slope, _ = self._parts
        return loss.lipschitz_constant + slope

    @property
    def smoothness(self) -> float:
        """The other loss's, plus the curvature of the term."""
        loss, _, curvature = self._parts
        return loss.smoothness + curvature

    @property
    def strong_convexity(self) -> float:
        """The other loss's, plus the curvature of the term."""
        loss, _, curvature = self._parts
        return loss.strong_convexity + curvature

    @property
    def gradient_sensitivity(self) -> float:
        """The other loss's: what all records share cancels."""
        return gradient_sensitivity(self._parts[0])

    @property
    def sensitivity_radius(self) -> float | None:
        """The other loss's, for the same reason."""
        return sensitivity_radius(self._parts[0])

    @property
    def labels(self) -> tuple[float, float]:
        """The other loss's."""
        return label_range(self._parts[0])


@dataclass(frozen=True)
class Logistic(UnitSlope):
    """log(1 + exp(-y <w, x>)) for labels -1 and 1; in nats. Stable for margins of any size.

    Examples:
        >>> import numpy as np
        >>> from dpverify.problems import Logistic
        >>> loss, x, y = Logistic(), np.array([0.6, 0.8]), np.array(1.0)
        >>> points = np.array([[0.0, 0.0], [3.0, 4.0]])  # two runs' points, and one record for both
        >>> loss.value(points, x, y).round(3).tolist()
        [0.693, 0.007]
        >>> loss.gradient(points, x, y).round(3).tolist()
        [[-0.3, -0.4], [-0.004, -0.005]]
        >>> loss.lipschitz_constant, loss.smoothness
        (1.0, 0.25)
    """

    smoothness: ClassVar[float] = 0.25
    binary: ClassVar[bool] = True

    def link(self, z: Array, y: Array) -> Array:
        xp = namespace(z)
        margin = -y * z
        return xp.logaddexp(margin, xp.zeros_like(margin))

    def link_slope(self, z: Array, y: Array) -> Array:
        """-y / (1 + exp(y z)), with the exponent capped where the result has long been subnormal."""
        xp = namespace(z)
        margin = xp.exp(at_most(y * z, math.log(xp.finfo(z.dtype).max) - 1.0))
        margin += 1.0
        return -y / margin

    def link_conjugate(self, a: Array, y: Array) -> Array:
        """Binary entropy, negated: s log s + (1 - s) log(1 - s) with s = -y a in [0, 1]."""
        xp = namespace(a)
        s = -y * a
        inside = (s >= 0.0) & (s <= 1.0)
        s = xp.where(inside, s, xp.zeros_like(s))
        return xp.where(inside, _x_log_x(s) + _x_log_x(1.0 - s), xp.full_like(s, math.inf))

    def nearest_dual(self, a: Array, y: Array) -> Array:
        return -y * at_most(at_least(-y * a, 0.0), 1.0)

    def conic_link(self, program: ConicProgram, z: Affine, y: Vector) -> None:
        """The least t with exp(-y z - t) + exp(-t) at most 1."""
        t, one, other = (program.variables(len(z)) for _ in range(3))
        program.cost(t)
        program.nonnegative(1.0 - one - other)
        ones = program.constants(1.0, len(z))
        program.exponential(z * -y - t, ones, one)
        program.exponential(-t, ones, other)


@dataclass(frozen=True)
class Hinge(UnitSlope):
    """max(0, 1 - y <w, x>) for labels -1 and 1; the subgradient at the kink is 0.

    Examples:
        >>> import numpy as np
        >>> from dpverify.problems import Hinge
        >>> loss, x, y = Hinge(), np.array([0.6, 0.8]), np.array(-1.0)
        >>> loss.value(np.array([[0.0, 0.0], [-3.0, -4.0]]), x, y).tolist()
        [1.0, 0.0]
        >>> loss.lipschitz_constant, loss.smoothness  # it has a kink
        (1.0, inf)
    """

    smoothness: ClassVar[float] = math.inf
    binary: ClassVar[bool] = True

    def link(self, z: Array, y: Array) -> Array:
        return at_least(1.0 - y * z, 0.0)

    def link_slope(self, z: Array, y: Array) -> Array:
        margin = y * z
        return -y * namespace(z).astype(margin < 1.0, margin.dtype)

    def link_conjugate(self, a: Array, y: Array) -> Array:
        xp = namespace(a)
        s = y * a
        return xp.where((s >= -1.0) & (s <= 0.0), s, xp.full_like(s, math.inf))

    def nearest_dual(self, a: Array, y: Array) -> Array:
        return -y * at_most(at_least(-y * a, 0.0), 1.0)

    def conic_link(self, program: ConicProgram, z: Affine, y: Vector) -> None:
        program.cost_of_largest(program.constants(0.0, len(z)), 1.0 - z * y)


@dataclass(frozen=True)
class Squared(WithinRadius, GeneralizedLinear):
    """(<w, x> - y)^2 / 2 for labels in [-1, 1] and ||w|| <= radius; its Lipschitz constant is radius + 1.

    Raises:
        InvalidArgumentError: if `radius` is not positive; infinity is allowed, and then no Lipschitz constant
            is finite.
    """

    smoothness: ClassVar[float] = 1.0
    strong_convexity: ClassVar[float] = 0.0

    def link(self, z: Array, y: Array) -> Array:
        residual = z - y
        return 0.5 * residual * residual

    def link_slope(self, z: Array, y: Array) -> Array:
        return z - y

    def link_conjugate(self, a: Array, y: Array) -> Array:
        return 0.5 * a * a + a * y

    def nearest_dual(self, a: Array, y: Array) -> Array:
        return a + 0.0 * y

    def conic_link(self, program: ConicProgram, z: Affine, y: Vector) -> None:
        program.half_squares(z - y)


@dataclass(frozen=True)
class Linear(UnitSlope):
    """<w, x>, or y <w, x> if `labeled`."""

    labeled: bool = False
    smoothness: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        checks.require(isinstance(self.labeled, bool), "labeled", self.labeled, "True or False")

    def _factor(self, z: Array, y: Array) -> Array:
        return (y if self.labeled else 1.0) + namespace(z).zeros_like(z)

    def link(self, z: Array, y: Array) -> Array:
        return self._factor(z, y) * z

    def link_slope(self, z: Array, y: Array) -> Array:
        return self._factor(z, y)

    def link_conjugate(self, a: Array, y: Array) -> Array:
        xp = namespace(a)
        return xp.where(a == self._factor(a, y), xp.zeros_like(a), xp.full_like(a, math.inf))

    def nearest_dual(self, a: Array, y: Array) -> Array:
        return self._factor(a, y)

    def conic_link(self, program: ConicProgram, z: Affine, y: Vector) -> None:
        program.cost(z * y if self.labeled else z)


@dataclass(frozen=True)
class Ridge(OfAnother):
    """base(w; x, y) + (weight / 2) ||w||^2 for ||w|| <= radius, strongly convex with constant `weight`.

    Of a generalized linear base it is generalized linear too: the gradient is `slope * x + ridge * w`.

    Raises:
        InvalidArgumentError: if `base` is no loss or is a `Ridge` itself, if `weight` is not positive and
            finite, if `radius` is not positive (infinity is allowed).
    """

    base: Loss
    weight: float
    radius: float

    def __post_init__(self) -> None:
        if not isinstance(self.base, Loss) or isinstance(self.base, Ridge):
            raise InvalidArgumentError("base", self.base, "a loss without its own ridge")
        checks.number("weight", self.weight, above=0.0)
        checks.number("radius", self.radius, above=0.0, finite=False)

    @classmethod
    def on(cls, constraint: ConstraintSet, base: Loss, weight: float) -> Ridge:
        """The loss with the radius that `constraint` has."""
        return cls(base, weight, constraint.largest_norm)

    @property
    def generalized_linear(self) -> bool:
        return is_generalized_linear(self.base)

    @property
    def ridge(self) -> float:
        """Factor of ||w||^2 / 2, the weight."""
        return self.weight

    @property
    def _parts(self) -> tuple[Loss, float, float]:
        return self.base, self.weight * self.radius, self.weight

    def value(self, w: Array, x: Array, y: Array) -> Array:
        """Losses, shape (runs,); arguments as for `Loss.value`."""
        return self.base.value(w, x, y) + (0.5 * self.weight) * row_sums(w * w)

    def slope(self, w: Array, x: Array, y: Array) -> Array:
        """The base loss's slopes, shape (runs,); the ridge is not in them.

        Raises:
            InvalidArgumentError: if the base loss is not generalized linear.
        """
        if not isinstance(self.base, GeneralizedLinear):
            raise InvalidArgumentError("base", self.base, "a generalized linear loss, for slopes")
        return self.base.slope(w, x, y)

    def gradient(self, w: Array, x: Array, y: Array) -> Array:
        """The base loss's gradients plus weight times w, a new array of shape (runs, d)."""
        gradients = self.weight * w
        gradients += self.base.gradient(w, x, y)
        return gradients


def is_generalized_linear(loss: Loss) -> bool:
    """True if the loss has `slope` and `ridge`, so that its gradient is `slope[:, None] * x + ridge * w`."""
    return bool(getattr(loss, "generalized_linear", False))


def _x_log_x(s: Array) -> Array:
    xp = namespace(s)
    return s * xp.log(xp.where(s > 0.0, s, xp.ones_like(s)))
