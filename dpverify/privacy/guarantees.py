"""What can be claimed about a mechanism's privacy, and what each claim implies.

Every guarantee holds for both orders of a pair of neighboring data sets, so one curve bounds both
directions. Epsilon and Renyi divergences are in nats; delta, mu, alpha and orders are dimensionless.
The adjacency is not part of a guarantee: `StatedGuarantee` adds it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import conversions, quantities, renyi
from dpverify.privacy.forms.numbers import shown
from dpverify.privacy.gaussian import gaussian_hockey_stick, gaussian_tradeoff

_FEW_UNITS = 2.0**-50  # more than four operations in floats are off by
_AT_LEAST_ZERO = "a real number of at least 0"


class Guarantee(ABC):
    """A bound on the privacy profile of a mechanism, in both directions of every neighboring pair."""

    @overload
    def privacy_profile(self, epsilon: float) -> float: ...
    @overload
    def privacy_profile(self, epsilon: ArrayLike) -> float | FloatArray: ...
    def privacy_profile(self, epsilon: ArrayLike) -> float | FloatArray:
        """Upper bound on the hockey-stick divergence.

        Args:
            epsilon: nats, at least 0, any shape; infinity is allowed.

        Returns:
            delta in [0, 1], a float for a scalar, otherwise the shape of `epsilon`.

        Raises:
            InvalidArgumentError: for anything else.
        """
        values = self._profile(quantities.epsilons(epsilon))
        return float(values) if values.ndim == 0 else values

    @overload
    def tradeoff_function(self, alpha: float) -> float: ...
    @overload
    def tradeoff_function(self, alpha: ArrayLike) -> float | FloatArray: ...
    def tradeoff_function(self, alpha: ArrayLike) -> float | FloatArray:
        """Lower bound on the type II error of every test between neighbors whose type I error is alpha.

        Args:
            alpha: in [0, 1], any shape.

        Returns:
            Errors in [0, 1], a float for a scalar, otherwise the shape of `alpha`.

        Raises:
            InvalidArgumentError: for anything else.
        """
        values = self._tradeoff(quantities.levels(alpha))
        return float(values) if values.ndim == 0 else values

    def epsilon_at(self, delta: float) -> float:
        """Smallest epsilon (nats) at which the profile is at most delta in [0, 1); infinity if there is none.

        Raises:
            InvalidArgumentError: for a delta outside [0, 1), NaN included.
        """
        return conversions.smallest_epsilon(self._profile, delta)

    @abstractmethod
    def _profile(self, epsilon: FloatArray) -> FloatArray:
        """The profile at checked epsilons."""

    def _tradeoff(self, alpha: FloatArray) -> FloatArray:
        """The trade-off function at checked levels; by default the dual of the profile."""
        return conversions.profile_to_tradeoff(self._profile)(alpha)


class _Pair(Guarantee):
    """Shared by pure and approximate DP: the dominating pair of Kairouz, Oh and Viswanath 2015."""

    @abstractmethod
    def _claimed(self) -> tuple[float, float]:
        """Epsilon and delta."""

    def epsilon_at(self, delta: float) -> float:
        claimed, least = self._claimed()
        if not quantities.delta(delta) >= least:
            return math.inf
        if delta == least:
            return claimed
        # from the first branch of `_profile`, solved for epsilon
        excess = (delta - least) / (1 - least) * (1 + math.exp(-claimed))
        found = max(0.0, claimed + (math.log1p(-excess) if excess < 1 else -math.inf))
        # rounding may leave the closed form a few units too low
        while found < claimed and float(self._profile(np.array(found))) > delta:
            found = min(claimed, found + max(math.ulp(found), 1e-16 * (1 + claimed)))
        return found

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        """The profile delta + (1 - delta) (e^claimed - e^eps) / (e^claimed + 1), which ends at delta."""
        claimed, delta = self._claimed()
        gap = -np.expm1(np.minimum(epsilon - claimed, 0.0)) / (1 + math.exp(-claimed)) * (1 + _FEW_UNITS)
        # rounded up, and exactly delta from the claimed epsilon on
        return np.where(gap > 0, np.minimum(np.nextafter(delta + (1 - delta) * gap, 1.0), 1.0), delta)

    def _tradeoff(self, alpha: FloatArray) -> FloatArray:
        """Wasserman and Zhou 2010: max(0, 1 - delta - e^eps alpha, e^-eps (1 - delta - alpha))."""
        claimed, delta = self._claimed()
        # beyond 700 the first line leaves 0 only for levels below the floats' range
        first = (
            1 - delta - math.exp(claimed) * alpha if claimed <= 700 else np.where(alpha == 0, 1 - delta, 0.0)
        )
        second = math.exp(-claimed) * (1 - delta - alpha)
        return np.maximum(0.0, np.maximum(first, second))


@dataclass(frozen=True)
class PureDP(_Pair):
    """epsilon-DP. The profile is that of randomized response, which dominates every epsilon-DP mechanism.

    Examples:
        >>> from dpverify.privacy import PureDP
        >>> round(PureDP(1.0).tradeoff_function(0.1), 4)
        0.7282
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", quantities.epsilon(self.epsilon))

    def __str__(self) -> str:
        return f"{shown(self.epsilon)}-DP"

    def _claimed(self) -> tuple[float, float]:
        return self.epsilon, 0.0


@dataclass(frozen=True)
class ApproxDP(_Pair):
    """(epsilon, delta)-DP. The profile is that of the dominating pair of Kairouz, Oh and Viswanath 2015.

    Examples:
        >>> from dpverify.privacy import ApproxDP
        >>> ApproxDP(1.0, 1e-5).privacy_profile(1.0)
        1e-05
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", quantities.epsilon(self.epsilon))
        object.__setattr__(self, "delta", quantities.delta(self.delta))

    def __str__(self) -> str:
        return f"({shown(self.epsilon)}, {shown(self.delta)})-DP"

    def _claimed(self) -> tuple[float, float]:
        return self.epsilon, self.delta


@dataclass(frozen=True)
class GDP(Guarantee):
    """mu-Gaussian DP (Dong, Roth and Su 2022): no easier to test than N(0, 1) against N(mu, 1).

    Examples:
        >>> from dpverify.privacy import GDP
        >>> round(GDP(1.0).epsilon_at(1e-5), 3)
        4.377
    """

    mu: float

    def __post_init__(self) -> None:
        checks.number_field(self, "mu", at_least=0, allowed=_AT_LEAST_ZERO)

    def __str__(self) -> str:
        return f"{shown(self.mu)}-GDP"

    def epsilon_at(self, delta: float) -> float:
        # in floats the profile underflows to 0, but it is 0 nowhere
        if quantities.delta(delta) == 0 and self.mu > 0:
            return math.inf
        return super().epsilon_at(delta)

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        return np.asarray(gaussian_hockey_stick(epsilon, self.mu))

    def _tradeoff(self, alpha: FloatArray) -> FloatArray:
        return np.asarray(gaussian_tradeoff(alpha, self.mu))


class _RenyiBounded(Guarantee):
    """Shared by the guarantees that bound a Renyi curve."""

    @abstractmethod
    def _renyi(self) -> tuple[renyi.RenyiCurve, tuple[float, ...] | None]:
        """The curve, and the only orders to use or None for all."""

    def epsilon_at(self, delta: float) -> float:
        """Smallest epsilon that the curve proves at delta; see the base class."""
        curve, orders = self._renyi()
        return renyi.epsilon_from_renyi(curve, delta, orders=orders)

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        curve, orders = self._renyi()
        return renyi.delta_from_renyi(curve, epsilon, orders=orders)

    def _tradeoff(self, alpha: FloatArray) -> FloatArray:
        curve, orders = self._renyi()
        return renyi.tradeoff_from_renyi(curve, alpha, orders=orders)


@dataclass(frozen=True)
class RDP(_RenyiBounded):
    """Renyi DP (Mironov 2017): `curve(order)` bounds the Renyi divergence of every order it is asked for.

    `orders` restricts which orders are asked for; by default all above 1 are searched, so `curve` should be
    cheap. `curve(order)` is a float in [0, inf], nats, non-decreasing in the order.
    """

    curve: renyi.RenyiCurve
    orders: tuple[float, ...] | None = None
    label: str = ""

    def __post_init__(self) -> None:
        checks.require(callable(self.curve), "curve", self.curve, "a function of the Renyi order")
        if self.orders is not None:
            allowed = "at least one finite order, all of at least 1"
            orders = checks.numbers("orders", self.orders, at_least=1, allowed=allowed)
            checks.require(orders.ndim == 1 and orders.size > 0, "orders", self.orders, allowed)
            object.__setattr__(self, "orders", tuple(orders.tolist()))

    @classmethod
    def linear(cls, slope: float) -> RDP:
        """The Gaussian curve epsilon(order) = slope * order for all orders of at least 1.

        Raises:
            InvalidArgumentError: unless `slope` is finite and at least 0 (nats).
        """
        return cls(renyi.LinearCurve(slope))

    @classmethod
    def point(cls, order: float, rdp: float) -> RDP:
        """(order, rdp)-RDP: one point, which bounds all lower orders too.

        Raises:
            InvalidArgumentError: unless `order` is finite and above 1, `rdp` finite and at least 0 (nats).
        """
        return cls(renyi.PointCurve(order, rdp))

    def __str__(self) -> str:
        if self.label:
            return self.label
        if isinstance(self.curve, renyi.PointCurve):
            return f"({shown(self.curve.order)}, {shown(self.curve.rdp)})-RDP"
        if isinstance(self.curve, renyi.LinearCurve) and self.curve.highest_order == math.inf:
            return f"(order, {self.curve.slope:g}*order)-RDP"
        return "RDP curve"

    def _renyi(self) -> tuple[renyi.RenyiCurve, tuple[float, ...] | None]:
        return self.curve, self.orders


@dataclass(frozen=True)
class zCDP(_RenyiBounded):  # noqa: N801  the name that the field uses
    """rho-zero-concentrated DP (Bun and Steinke 2016): Renyi divergences at most rho * order, all orders.

    Examples:
        >>> from dpverify.privacy import zCDP
        >>> round(zCDP(0.5).epsilon_at(1e-5), 3)
        4.728
    """

    rho: float

    def __post_init__(self) -> None:
        checks.number_field(self, "rho", at_least=0, allowed=_AT_LEAST_ZERO)

    @property
    def curve(self) -> renyi.RenyiCurve:
        return renyi.LinearCurve(self.rho)

    def __str__(self) -> str:
        return f"{shown(self.rho)}-zCDP"

    def _renyi(self) -> tuple[renyi.RenyiCurve, tuple[float, ...] | None]:
        return self.curve, None


@dataclass(frozen=True)
class tCDP(_RenyiBounded):  # noqa: N801  the name that the field uses
    """(rho, omega)-truncated CDP (Bun et al. 2018): Renyi divergences <= rho * order below order omega."""

    rho: float
    omega: float

    def __post_init__(self) -> None:
        checks.number_field(self, "rho", at_least=0, allowed=_AT_LEAST_ZERO)
        checks.number_field(self, "omega", above=1, allowed="a finite real number above 1")

    @property
    def curve(self) -> renyi.RenyiCurve:
        """The line rho * order up to omega itself: Renyi divergences are continuous from the left."""
        return renyi.LinearCurve(self.rho, self.omega)

    def __str__(self) -> str:
        return f"({shown(self.rho)}, {shown(self.omega)})-tCDP"

    def _renyi(self) -> tuple[renyi.RenyiCurve, tuple[float, ...] | None]:
        return self.curve, None


@dataclass(frozen=True)
class FDP(Guarantee):
    """f-DP for any trade-off function: vectorized on [0, 1], convex, non-increasing, at most 1 - alpha."""

    tradeoff: Callable[[FloatArray], ArrayLike]
    label: str = "f-DP"

    def __post_init__(self) -> None:
        checks.require(callable(self.tradeoff), "tradeoff", self.tradeoff, "a function of the type I error")
        grid = np.linspace(0, 1, 257)
        errors = conversions.evaluate(self.tradeoff, grid, name="trade-off function")
        slack = 1e-9  # far above the rounding of a reasonable curve, far below a wrong one
        shape = np.all(np.diff(errors) <= slack) and np.all(np.diff(errors, 2) >= -slack)
        allowed = "a convex non-increasing function of the type I error alpha, at most 1 - alpha"
        checks.require(shape and np.all(errors <= 1 - grid + slack), "tradeoff", self.tradeoff, allowed)

    def __str__(self) -> str:
        return self.label

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        return conversions.tradeoff_to_profile(self.tradeoff)(epsilon)

    def _tradeoff(self, alpha: FloatArray) -> FloatArray:
        return conversions.evaluate(self.tradeoff, alpha, name="trade-off function")


@dataclass(frozen=True)
class ProfileDP(Guarantee):
    """Any privacy profile: vectorized in epsilon >= 0 (nats), non-increasing, values in [0, 1]."""

    profile: Callable[[FloatArray], ArrayLike]
    label: str = "privacy profile"

    def __post_init__(self) -> None:
        checks.require(callable(self.profile), "profile", self.profile, "a function of epsilon")
        grid = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0])
        deltas = conversions.evaluate(self.profile, grid, name="privacy profile")
        if not np.all(np.diff(deltas) <= 1e-12):
            raise InvalidArgumentError(
                "profile", self.profile, "a function that does not increase with epsilon"
            )

    def __str__(self) -> str:
        return self.label

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        return conversions.evaluate(self.profile, epsilon, name="privacy profile")
