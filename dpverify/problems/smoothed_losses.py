"""Losses convolved with a Gaussian (fmtt18, Section 5.5 and Appendix C), with exact gradients.

Theorem 33 takes a convex L-Lipschitz loss f on a set, extends it to all space as a convex L-Lipschitz function h,
and convolves: f^(w) = E h(w + width Z), Z standard normal. The proof uses nothing of h but that it is convex,
L-Lipschitz and equal to f on the set. The losses here are L-Lipschitz on all space as they stand, so they are
their own extension, for every set at once; h(w) = min over v of f(v) + L ||w - v||, which the paper writes down,
would differ for every set and has no closed form.

- A generalized linear loss link(<w, x>, y) is convolved in its one argument, as Section 5.5 proposes: that is
  convex and L-Lipschitz, and its bias does not grow with the dimension. Closed forms for the hinge and the absolute
  error, quadrature for the logistic loss.
- The Euclidean distance is convolved in all d coordinates, in closed form.

A mean over finitely many draws of Z, a Monte Carlo gradient, is no substitute: of a loss with a kink it has as many
kinks as draws, and is not smooth at all. A quadrature rule with positive weights is such a mean too, so it is used
only where the loss itself is smooth: what it gives is then exactly the gradient of a convex, L-Lipschitz loss that
is as smooth as the original, and its error is one of bias alone.

The true constants are below the printed ones: the smoothness is at most sqrt(2/pi) L / width (printed: L / width),
as E |Z| = sqrt(2/pi) for one coordinate of Z; the bias is at most L width E ||Z||, which the proof's last line
takes for L width sqrt(d) although it is smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from dpverify import checks
from dpverify.errors import InvalidArgumentError
from dpverify.problems import EuclideanDistance, Hinge, Logistic, Loss, label_range
from dpverify.problems.arrays import Array, check_record_shape, like, namespace, row_norms
from dpverify.problems.conic import Affine, ConicProgram, Vector
from dpverify.problems.losses import LinkLoss, UnitSlope

DENSITY_AT_0 = 1 / math.sqrt(2 * math.pi)  # of the standard normal law; half of E |Z|
_QUADRATURE_ERROR = 1e-15
_MOST_NODES = 4000
_NODES = 60
_DECAY = 6.5
_FAR = 1e9  # centers, over sqrt(d), at which the spread of Z no longer shows in a double
_REACH = 8.5  # the normal law has 2e-17 beyond


@dataclass(frozen=True)
class AbsoluteError(UnitSlope):
    """|<w, x> - y|, whose minimizer is a median regression; the subgradient at the kink is 0."""

    smoothness: ClassVar[float] = math.inf

    def link(self, z: Array, y: Array) -> Array:
        return namespace(z).abs(z - y)

    def link_slope(self, z: Array, y: Array) -> Array:
        return namespace(z).sign(z - y)

    def link_conjugate(self, a: Array, y: Array) -> Array:
        xp = namespace(a)
        return xp.where(xp.abs(a) <= 1.0, a * y, xp.full_like(a, math.inf))

    def nearest_dual(self, a: Array, y: Array) -> Array:
        xp = namespace(a)
        return xp.minimum(xp.maximum(a, like(-1.0, a)), like(1.0, a)) + 0.0 * y

    def conic_link(self, program: ConicProgram, z: Affine, y: Vector) -> None:
        program.cost_of_largest(z - y, -z + y)


@dataclass(frozen=True)
class SmoothedGeneralizedLinear(LinkLoss):
    """link^(<w, x>, y) with link^(z, y) = E link(z + width Z, y), Z standard normal in one dimension.

    Convex, and as Lipschitz as the base loss; never below it, and above it by at most `largest_bias`.
    """

    base: Loss  # Hinge(), AbsoluteError() or Logistic()
    width: float  # standard deviation of the kernel (the paper's lambda), in units of <w, x>

    strong_convexity: ClassVar[float] = 0.0
    sensitivity_radius: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        if type(self.base) not in (Hinge, AbsoluteError, Logistic):
            raise InvalidArgumentError(
                "base", self.base, "Hinge(), AbsoluteError() or Logistic(), whose convolutions are known"
            )
        checks.number("width", self.width, above=0.0)
        if type(self.base) is Logistic:
            quadrature(self.width)

    @property
    def lipschitz_constant(self) -> float:
        return self.base.lipschitz_constant

    @property
    def labels(self) -> tuple[float, float]:
        return label_range(self.base)

    @property
    def smoothness(self) -> float:
        """The largest second derivative of the link, for the logistic loss a bound on it.

        The slope of the hinge has one jump of 1, that of the absolute error one of 2; a jump's convolution is as
        steep as the kernel is high.
        """
        jump = 2.0 if type(self.base) is AbsoluteError else 1.0
        return min(self.base.smoothness, jump * DENSITY_AT_0 / self.width)

    @property
    def largest_bias(self) -> float:
        """Bound on the loss's distance from the base loss; attained at the kink. In units of the loss."""
        if type(self.base) is Logistic:
            # half the curvature times the variance; or that of its slope's total change, which is 1
            return min(self.width**2 * self.base.smoothness / 2, self.width * DENSITY_AT_0)
        return (2.0 if type(self.base) is AbsoluteError else 1.0) * self.width * DENSITY_AT_0

    def link(self, z: Array, y: Array) -> Array:
        """The convolved link, elementwise."""
        if isinstance(self.base, Logistic):
            return self._mean(self.base.link, z, y)
        if type(self.base) is Hinge:
            t = (1.0 - y * z) / self.width
            return self.width * (t * _normal_cdf(t) + _normal_density(t))
        t = (z - y) / self.width
        return self.width * (
            t * special_function(scipy.special.erf, t * math.sqrt(0.5)) + 2.0 * _normal_density(t)
        )

    def link_slope(self, z: Array, y: Array) -> Array:
        """Its derivative, elementwise."""
        if isinstance(self.base, Logistic):
            return self._mean(self.base.link_slope, z, y)
        if type(self.base) is Hinge:
            return -y * _normal_cdf((1.0 - y * z) / self.width)
        return special_function(scipy.special.erf, (z - y) * (math.sqrt(0.5) / self.width))

    def _mean(self, function: Callable[[Array, Array], Array], z: Array, y: Array) -> Array:
        total = namespace(z).zeros_like(z)
        for node, weight in zip(*quadrature(self.width), strict=True):
            total += weight * function(z + self.width * node, y)
        return total


@dataclass(frozen=True)
class SmoothedDistance:
    """E ||w + width Z - x||, Z standard normal in d dimensions: the Euclidean distance, convolved.

    A mean of the noncentral chi law, in terms of the confluent hypergeometric function 1F1: with r = ||w - x||, s =
    r^2 / (2 width^2) and c = sqrt(2) Gamma((d + 1)/2) / Gamma(d/2), which is E ||Z||,

        loss = width c 1F1(-1/2, d/2, -s),    gradient = (c / (d width)) 1F1(1/2, d/2 + 1, -s) (w - x).

    The second factor decreases in s, so the gradient is the steepest at w = x, by the smoothness c / (d width). Both
    are computed as integrals of positive functions, `noncentral_chi_mean` and `noncentral_chi_slope`.
    """

    width: float  # standard deviation of each coordinate of the kernel (the paper's lambda), a length
    dimension: int

    lipschitz_constant: ClassVar[float] = 1.0
    strong_convexity: ClassVar[float] = 0.0
    sensitivity_radius: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        checks.number("width", self.width, above=0.0)
        checks.whole_number("dimension", self.dimension)

    @property
    def smoothness(self) -> float:
        """E ||Z|| / (d width), at w = x; at most sqrt(2 / pi) / width."""
        return mean_norm(self.dimension) / (self.dimension * self.width)

    @property
    def largest_bias(self) -> float:
        """The width times E ||Z||, at w = x, a length; at most width sqrt(d)."""
        return self.width * mean_norm(self.dimension)

    def value(self, w: Array, x: Array, y: Array) -> Array:
        """Losses, shape (runs,); arguments as for `Loss.value`, labels are not used."""
        distance = row_norms(self._difference(w, x))
        return special_function(
            lambda r: self.width * noncentral_chi_mean(r / self.width, self.dimension), distance
        )

    def gradient(self, w: Array, x: Array, y: Array) -> Array:
        """Gradients, a new array of shape (runs, d); arguments as for `Loss.value`, labels are not used."""
        difference = self._difference(w, x)
        distance = row_norms(difference)
        factors = special_function(
            lambda r: noncentral_chi_slope(r / self.width, self.dimension) / self.width, distance
        )
        difference *= factors[:, None]
        return difference

    def _difference(self, w: Array, x: Array) -> Array:
        check_record_shape(w, x)
        if w.shape[1] != self.dimension:
            raise InvalidArgumentError("w", tuple(w.shape), f"points of shape (runs, {self.dimension})")
        return w - x


SmoothedLoss = SmoothedGeneralizedLinear | SmoothedDistance


def smoothed(loss: Loss, width: float, dimension: int) -> SmoothedLoss:
    """The loss convolved with a Gaussian of a width (the paper's lambda, a length), where exact gradients are known."""
    if type(loss) is EuclideanDistance:
        return SmoothedDistance(width, dimension)
    allowed = (
        "Hinge(), AbsoluteError(), Logistic() or EuclideanDistance(), whose convolutions are known; "
        "a loss that is smooth already is used as it is, and a ridge is added after smoothing"
    )
    checks.require(type(loss) in (Hinge, AbsoluteError, Logistic), "loss", loss, allowed)
    return SmoothedGeneralizedLinear(loss, width)


def mean_norm(dimension: int) -> float:
    """E ||Z|| for Z standard normal: sqrt(2) Gamma((d + 1)/2) / Gamma(d/2), below sqrt(d)."""
    return float(noncentral_chi_mean(0.0, dimension))


def noncentral_chi_mean(center: Any, dimension: int) -> Any:
    """E ||z + Z|| for ||z|| = center and Z standard normal in d dimensions, elementwise.

    With s = center^2 / 2 and the integral I_k of exp(-s sin^2) cos^k over [0, pi/2], it is
    sqrt(8/pi) ((d - 1)/2 I_(d-2) + s I_d): from c 1F1(-1/2, d/2, -s), the recurrence 1F1(-1/2, b, -s) = 1F1(1/2, b, -s)
    + (s/b) 1F1(1/2, b + 1, -s) and Poisson's integral for 1F1(1/2, b, -s). Everything is positive, so nothing cancels.
    """
    r = np.asarray(center, dtype=np.float64)
    far = r > _FAR * math.sqrt(dimension)
    s = 0.5 * np.where(far, 0.0, r) ** 2
    if dimension == 1:
        # the limit of (d - 1)/2 I_(d-2) is exp(-s) / 2
        near = math.sqrt(8 / math.pi) * (0.5 * np.exp(-s) + s * _poisson_integral(s, 1, 1.0, 0.0))
    else:
        near = math.sqrt(8 / math.pi) * _poisson_integral(s, dimension - 2, 0.5 * (dimension - 1), s)
    return np.where(far, r, near)


def noncentral_chi_slope(center: Any, dimension: int) -> Any:
    """Derivative of `noncentral_chi_mean`, divided by the center, elementwise: sqrt(2/pi) I_d, with I_d as there."""
    r = np.asarray(center, dtype=np.float64)
    far = r > _FAR * math.sqrt(dimension)
    safe = np.where(far, r, 1.0)
    near = math.sqrt(2 / math.pi) * _poisson_integral(0.5 * np.where(far, 0.0, r) ** 2, dimension, 1.0, 0.0)
    return np.where(far, 1.0 / safe, near)


def _poisson_integral(
    s: NDArray[np.float64], power: int, constant: float, squared: Any
) -> NDArray[np.float64]:
    """Integral of exp(-s sin^2) cos^power (constant + squared cos^2) over [0, pi/2], elementwise in s.

    The integrand is analytic and at most exp(-(s + power/2) sin^2); beyond an angle at which that is exp(-42) nothing
    is left, and up to there Gauss's rule with 60 nodes is exact to rounding.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    width = np.arcsin(np.minimum(1.0, _DECAY / np.sqrt(np.maximum(s + 0.5 * power, _DECAY**2))))
    total = np.zeros_like(s)
    for node, weight in zip(0.5 * (nodes + 1.0), 0.5 * weights, strict=True):
        sine = np.sin(width * node) ** 2
        total += (
            weight * np.exp(-s * sine + (0.5 * power) * np.log1p(-sine)) * (constant + squared * (1.0 - sine))
        )
    return np.asarray(total * width)


@cache
def quadrature(width: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Nodes and weights of the trapezoidal rule for E slope(z + width Z), slope being the logistic loss's.

    The integrand is analytic for |Im Z| < pi / width and, up to half of that, at most the normal density times
    exp(Im^2 / 2) in modulus, so a step h has an error of at most 2 exp(a^2 / 2) / (exp(2 pi a / h) - 1) for every a
    up to pi / (2 width). The largest step with an error below 1e-15 is taken; what lies beyond 8.5 is less. The
    weights are positive and sum to 1.
    """
    step = 1.0
    while discretization_error(width, step) > _QUADRATURE_ERROR:
        step *= 0.98
        if 2 * _REACH / step > _MOST_NODES:
            raise InvalidArgumentError("width", width, "a smaller number: the quadrature would take too long")
    half = math.ceil(_REACH / step)
    nodes = step * np.arange(-half, half + 1)
    weights = np.exp(-0.5 * nodes**2)
    weights /= weights.sum()
    return tuple(nodes.tolist()), tuple(weights.tolist())


def discretization_error(width: float, step: float) -> float:
    """Bound on the error of the trapezoidal rule's slope, dimensionless."""
    strip = min(math.pi / (2 * width), 2 * math.pi / step)
    exponent = 2 * math.pi * strip / step
    return 2 * math.exp(strip**2 / 2 - exponent) / -math.expm1(-exponent)


def _normal_cdf(t: Array) -> Array:
    return special_function(scipy.special.ndtr, t)


def _normal_density(t: Array) -> Array:
    return namespace(t).exp(-0.5 * t * t) * DENSITY_AT_0


def special_function(function: Callable[[Any], Any], t: Array) -> Array:
    """A function that the array API standard lacks, through NumPy for other libraries' arrays in host memory."""
    return function(t) if isinstance(t, np.ndarray | np.generic) else like(function(np.asarray(t)), t)
