"""Guarantees with an additive delta, of bounded range, and Renyi DP at several orders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import quantities
from dpverify.privacy.forms.numbers import shown
from dpverify.privacy.guarantees import GDP, RDP, Guarantee, zCDP

_UP = 1 + 2.0**-50  # more than a few roundings


@dataclass(frozen=True)
class ApproxGDP(Guarantee):
    """mu-GDP up to delta: the privacy profile is at most that of mu-GDP plus delta.

    This is f-DP with the trade-off function max(0, G_mu - delta) of Dong, Roth and Su 2022, by their Proposition 6, and
    it also covers a mechanism that is mu-GDP outside of events of probability delta.

    Examples:
        >>> from dpverify.privacy.forms.approximate import ApproxGDP
        >>> str(ApproxGDP(1.0, 1e-6))
        '(1, 1e-06)-GDP'
    """

    mu: float
    delta: float

    def __post_init__(self) -> None:
        checks.number_field(self, "mu", at_least=0, allowed="a real number of at least 0")
        object.__setattr__(self, "delta", quantities.delta(self.delta))

    def __str__(self) -> str:
        return f"({shown(self.mu)}, {shown(self.delta)})-GDP"

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        core = np.asarray(GDP(self.mu).privacy_profile(epsilon))
        return np.where(core > 0, np.minimum((core + self.delta) * _UP, 1.0), self.delta)


@dataclass(frozen=True)
class ApproxzCDP(Guarantee):
    """delta-approximate rho-zCDP (Bun and Steinke 2016, Definition 8.1).

    The profile is delta + (1 - delta) times that of rho-zCDP. With P = (1 - delta_1) P' + delta_1 P'' and Q likewise,
    P - e^eps Q is at most (1 - delta)(P' - e^eps Q') + delta on every event, where delta is the larger of the two.
    """

    rho: float
    delta: float

    def __post_init__(self) -> None:
        checks.number_field(self, "rho", at_least=0, allowed="a real number of at least 0")
        object.__setattr__(self, "delta", quantities.delta(self.delta))

    def __str__(self) -> str:
        return f"({shown(self.rho)}, {shown(self.delta)})-zCDP"

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        core = np.asarray(zCDP(self.rho).privacy_profile(epsilon))
        whole = np.minimum((self.delta + (1 - self.delta) * core) * _UP, 1.0)
        return np.where(core > 0, whole, self.delta)


@dataclass(frozen=True)
class BoundedRange(Guarantee):
    """Range-bounded privacy loss, in nats: the exponential mechanism (Durfee and Rogers 2019).

    On every neighboring pair the privacy loss lies in an interval [t - range, t]. It has mean weight e^-loss equal to
    1, so for one t the profile is largest with the two ends of the interval as the only losses: (e^r - e^t)(1 -
    e^(eps - t)) / (e^r - 1). The best t is (r + eps) / 2, which gives (1 - e^-(r - eps)/2)^2 / (1 - e^-r), attained.

    Examples:
        >>> import math
        >>> from dpverify.privacy.forms.approximate import BoundedRange
        >>> math.isclose(BoundedRange(1.0).privacy_profile(0.0), math.tanh(1 / 4))
        True
    """

    range: float

    def __post_init__(self) -> None:
        checks.number_field(self, "range", at_least=0, allowed="a finite real number of at least 0")

    def __str__(self) -> str:
        return f"bounded-range={shown(self.range)}"

    def epsilon_at(self, delta: float) -> float:
        # with a delta of 0 the search in floats would end where the profile underflows
        return self.range if quantities.delta(delta) == 0 else super().epsilon_at(delta)

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        if self.range == 0:
            return np.zeros(epsilon.shape)
        gap = -np.expm1(np.minimum(epsilon - self.range, 0.0) / 2)
        # the square of a gap could underflow to 0, where the profile is not
        square = np.where(gap > 0, np.maximum(gap * gap, math.ulp(0.0)), 0.0)
        return np.minimum(square / -math.expm1(-self.range) * _UP, 1.0)


@dataclass(frozen=True)
class PointsCurve:
    """Several known points of a Renyi curve: at each order the least of those at this order and above."""

    points: tuple[tuple[float, float], ...]
    """Order and divergence (nats), orders above 1 and ascending."""

    def __call__(self, order: float) -> float:
        return min((rdp for known, rdp in self.points if order <= known), default=math.inf)


def renyi_points(points: Sequence[tuple[float, float]]) -> RDP:
    """Renyi DP at several orders at once, each with its divergence in nats; every order bounds all lower ones.

    Raises:
        InvalidArgumentError: unless orders are finite, above 1 and different, and divergences finite and at least 0.
    """
    for order, rdp in points:
        checks.number("order", order, above=1, allowed="a finite real number above 1")
        checks.number("rdp", rdp, at_least=0, allowed="a finite real number of at least 0")
    known = tuple(sorted((float(order), float(rdp)) for order, rdp in points))
    orders = tuple(order for order, _ in known)
    if not known or len(set(orders)) < len(orders):
        raise InvalidArgumentError("order", orders, "at least one order, and each of them once")
    label = "rdp=" + ";".join(f"{shown(order)}:{shown(rdp)}" for order, rdp in known)
    return RDP(PointsCurve(known), orders, label)
