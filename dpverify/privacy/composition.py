"""Adaptive composition: of guarantees of one kind in closed form, of any by privacy loss distributions.

All of it is about mechanisms run one after another on the same data under one adjacency, each seeing the
earlier outputs.
"""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike, NDArray

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.extras import require_module
from dpverify.privacy import conversions, quantities, renyi, rounding
from dpverify.privacy.guarantees import (
    GDP,
    RDP,
    ApproxDP,
    Guarantee,
    ProfileDP,
    PureDP,
    _RenyiBounded,
    tCDP,
    zCDP,
)

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution as PrivacyLossDistribution

_LARGEST_GRID = 4_000_000
_TAIL_MASS = 1e-15
_LARGEST_LOSS = 690.0  # exp overflows at 709.8
_STEP = 1e-4
_USUAL_GRID = 100_000
_UNIT = 2.0**-52  # spacing of floats at 1


def compose(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Compose guarantees of one kind, in closed form.

    Pure and approximate DP add up (basic composition), GDP adds mu^2 (Dong, Roth and Su 2022), zCDP adds
    rho, tCDP adds rho up to the smallest omega, and any mixture of the last three with RDP curves, or of
    zCDP with tCDP, adds Renyi curves; GDP counts there as mu^2/2-zCDP.

    Raises:
        InvalidArgumentError: for no guarantees, or kinds that do not add up; `compose_profiles` takes any.
    """
    parts = _listed(guarantees)

    def all_are(*kinds: type) -> bool:
        return all(isinstance(part, kinds) for part in parts)

    if all_are(PureDP):
        return PureDP(_sum(parts, "epsilon"))
    if all_are(PureDP, ApproxDP):
        delta = rounding.total(getattr(part, "delta", 0.0) for part in parts)
        checks.require(delta < 1, "guarantees", parts, "guarantees whose deltas add up to less than 1")
        return ApproxDP(_sum(parts, "epsilon"), delta)
    if all_are(GDP):
        return GDP(_finite(parts, rounding.length(_each(parts, "mu"))))
    if all_are(zCDP):
        return zCDP(_sum(parts, "rho"))
    if all_are(tCDP):
        return tCDP(_sum(parts, "rho"), min(_each(parts, "omega")))
    if all_are(GDP, _RenyiBounded):
        return _composed_curves(parts)
    raise InvalidArgumentError("guarantees", parts, "guarantees of one kind; compose_profiles takes any")


def _composed_curves(parts: Sequence[Guarantee]) -> RDP:
    curves: list[renyi.RenyiCurve] = []
    orders: set[float] | None = None
    for part in parts:
        if isinstance(part, GDP):
            square = _finite(parts, rounding.product(part.mu, part.mu))
            curves.append(renyi.LinearCurve(rounding.product(square, 0.5)))
        elif isinstance(part, _RenyiBounded):
            curve, allowed = part._renyi()
            curves.append(curve)
            if allowed is not None:
                orders = set(allowed) if orders is None else orders & set(allowed)
    if orders is not None and not orders:
        raise InvalidArgumentError("guarantees", parts, "RDP curves with at least one order in common")
    lines = [curve for curve in curves if isinstance(curve, renyi.LinearCurve)]
    if len(lines) == len(curves):
        slope = _finite(parts, rounding.total(line.slope for line in lines))
        total: renyi.RenyiCurve = renyi.LinearCurve(slope, min(line.highest_order for line in lines))
    else:
        total = renyi.SumCurve(tuple(curves))
    return RDP(total, None if orders is None else tuple(sorted(orders)))


def _finite(parts: Sequence[Guarantee], parameter: float) -> float:
    """The parameter of a composition, refused where it exceeds the floats."""
    if parameter == math.inf:
        raise InvalidArgumentError("guarantees", parts, "guarantees whose composition has a finite parameter")
    return parameter


def _sum(parts: Sequence[Guarantee], parameter: str) -> float:
    return _finite(parts, rounding.total(_each(parts, parameter)))


def _each(parts: Sequence[Guarantee], parameter: str) -> list[float]:
    return [getattr(part, parameter) for part in parts]


def _listed(guarantees: Iterable[Guarantee]) -> list[Guarantee]:
    checks.with_attribute("guarantees", guarantees, "__iter__")
    parts = list(guarantees)
    checks.items("guarantees", parts, Guarantee, "at least one guarantee, and nothing else")
    return parts


def for_group(guarantee: Guarantee, size: int) -> Guarantee:
    """The guarantee for data sets that differ in `size` records, for kinds with a closed form.

    Pure DP: size * epsilon. Approximate DP: size * epsilon, delta * (e^(size eps) - 1) / (e^eps - 1).
    GDP: size * mu (Dong, Roth and Su 2022, Theorem 2.14). zCDP: size^2 * rho (Bun and Steinke 2016,
    Proposition 1.9).

    Raises:
        InvalidArgumentError: for a size below 1, another kind, a delta that reaches 1, or a parameter beyond the
            floats.

    Examples:
        >>> from dpverify.privacy import zCDP, for_group
        >>> for_group(zCDP(0.5), 3)
        zCDP(rho=4.5)
    """
    size = checks.whole_number("size", size)
    if isinstance(guarantee, PureDP):
        return PureDP(_multiple(size, guarantee.epsilon, size))
    if isinstance(guarantee, GDP):
        return GDP(_multiple(size, guarantee.mu, size))
    if isinstance(guarantee, zCDP):
        return zCDP(_multiple(size**2, guarantee.rho, size))
    if isinstance(guarantee, ApproxDP):
        delta = _group_delta(guarantee, size)
        checks.require(delta < 1, "size", size, "a size at which delta stays below 1")
        return ApproxDP(_multiple(size, guarantee.epsilon, size), delta)
    raise InvalidArgumentError("guarantee", guarantee, "pure, approximate or Gaussian DP, or zCDP")


def _multiple(factor: int, parameter: float, size: int) -> float:
    """The smallest float that is at least factor * parameter."""
    exact = factor * Fraction(parameter)
    if exact > Fraction(sys.float_info.max):
        raise InvalidArgumentError(
            "size", size, "a size at which the guarantee's parameters are finite floats"
        )
    found = float(exact)
    return math.nextafter(found, math.inf) if Fraction(found) < exact else found


def _group_delta(guarantee: ApproxDP, size: int) -> float:
    """The sum over k < size of delta e^(k epsilon), rounded up; infinity where it exceeds the floats."""
    if guarantee.delta == 0:
        return 0.0
    with ctx.workprec(128):
        if guarantee.epsilon == 0:
            return rounding.ball(arb(size) * arb(guarantee.delta))
        epsilon = arb(guarantee.epsilon)
        return rounding.ball(arb(guarantee.delta) * (epsilon * size).expm1() / epsilon.expm1())


def loss_distribution(
    profile: conversions.Profile, *, discretization: float, largest_loss: float
) -> PrivacyLossDistribution:
    """A dominating pair for everything that a symmetric profile bounds, as dp-accounting's distribution.

    The profile is sampled at multiples of `discretization` and replaced by the largest admissible one
    below the samples: convex in e^eps, and for eps < 0 the reversal 1 - e^eps + e^eps H(-eps). Admissible
    profiles have dominating pairs (Zhu, Dong and Wang 2022), and each true profile under the
    samples lies under this one, joined by straight lines in e^eps ("connect the dots"). Losses beyond
    `largest_loss`, in (0, 700) nats, count as infinite.
    """
    allowed = "a finite real number above 0"
    step = checks.number("discretization", discretization, above=0, allowed=allowed)
    largest = checks.number(
        "largest_loss", largest_loss, above=0, below=700, allowed="a real number in (0, 700)"
    )
    if not largest / step <= _LARGEST_GRID:
        raise InvalidArgumentError(
            "discretization", discretization, f"at least largest_loss / {_LARGEST_GRID}"
        )
    count = max(2, math.ceil(largest / step))
    losses: FloatArray = step * np.arange(count + 1, dtype=np.float64)
    heights = conversions.evaluate(profile, losses, name="privacy profile")
    excess = np.expm1(losses)
    kept = _lower_hull(excess, heights)
    ratio, height = np.exp(losses[kept]), heights[kept]
    # slopes of the hull, with -0 to the right of the last point, where the rest is an infinite loss
    slopes = np.append(np.diff(height) / np.diff(excess[kept]), 0.0)
    positive = kept > 0
    # the lower distribution's mass is the change of slope; the upper one's is e^loss times that
    before = np.concatenate([[slopes[0] if positive[0] else -np.inf], slopes[:-1]])
    if positive[0]:
        # the hull runs straight from (-1, 1) to its first point
        before[0] = (height[0] - 1) / (ratio[0] + 1)
    lower_mass = np.maximum(slopes - before, 0.0)[positive]
    upper_mass = lower_mass * ratio[positive]
    infinite = float(height[-1])
    places = kept[positive]
    mass = np.zeros(2 * int(places[-1]) + 1 if places.size else 1)
    middle = mass.size // 2
    mass[middle + places] = upper_mass
    mass[middle - places] = lower_mass
    mass[middle] = max(0.0, 1 - infinite - float(np.sum(mass)))
    masses = {k - middle: float(mass[k]) for k in np.flatnonzero(mass).tolist()}
    require_module("Composition of privacy loss distributions", "dp_accounting")
    from dp_accounting.pld import privacy_loss_distribution

    made = privacy_loss_distribution.PrivacyLossDistribution
    distribution: PrivacyLossDistribution = made.create_from_rounded_probability(masses, infinite, step)
    return distribution


def _lower_hull(excess: FloatArray, height: FloatArray) -> NDArray[np.int64]:
    """Indices of the vertices of the lower convex hull of (-2, 1) and the points (excess, height).

    The excess is e^loss - 1, which tells apart losses too small for e^loss. The point (-2, 1) stands for
    symmetry: a convex curve on excess >= 0 continues convexly to its own reversal exactly if it does so to
    that point. It is a vertex and not among the indices.
    """
    x, y = excess.tolist(), height.tolist()
    hull = [-1]
    slopes = [-math.inf]
    for k in range(len(x)):
        while True:
            j = hull[-1]
            from_x, from_y = (-2.0, 1.0) if j < 0 else (x[j], y[j])
            slope = (y[k] - from_y) / (x[k] - from_x)
            if slope > slopes[-1]:
                break
            hull.pop()
            slopes.pop()
        hull.append(k)
        slopes.append(slope)
    return np.array(hull[1:], dtype=np.int64)


def repeated(single: PrivacyLossDistribution, count: int) -> PrivacyLossDistribution:
    """The distribution of `count` mechanisms run one after another; the tails cut off, 1e-15, count as infinite."""
    if count == 1:
        return single
    # tail bounds that overflow are infinite, and dp-accounting takes the smallest of many
    with np.errstate(over="ignore"):
        composed: PrivacyLossDistribution = single.self_compose(count, _TAIL_MASS)
    return composed


def coarsened(
    distribution: PrivacyLossDistribution, *, releases: int, discretization: float
) -> PrivacyLossDistribution:
    """A dominating pair on a coarser grid, for a distribution of so many releases that are private both ways.

    It bounds their profile and the `allowance` for rounding. Compositions of many releases cost a fraction when the
    grid grows with the standard deviation of the loss.
    """
    added = allowance(distribution, releases)

    def profile(epsilon: FloatArray) -> FloatArray:
        found = np.clip(deltas_of(distribution, np.ravel(epsilon)), 0.0, 1.0) + added
        return quantities.falling(np.minimum(found, 1.0)).reshape(np.shape(epsilon))

    largest = min(max(_largest_finite_loss(distribution), 2 * discretization), _LARGEST_LOSS)
    return loss_distribution(profile, discretization=discretization, largest_loss=largest)


def deltas_of(distribution: PrivacyLossDistribution, epsilons: FloatArray) -> FloatArray:
    """Hockey-stick divergences of a distribution at rising epsilons (nats; infinity is allowed), shape (k,).

    dp-accounting's sweep over many epsilons multiplies by e^epsilon, which overflows to NaN, so the far ones are
    asked one by one.
    """
    near = epsilons <= _LARGEST_LOSS
    deltas = np.empty(epsilons.shape)
    pmfs = (
        (distribution._pmf_remove,)
        if distribution._symmetric
        else (distribution._pmf_remove, distribution._pmf_add)
    )
    deltas[near] = np.max([_swept(pmf.to_dense_pmf(), epsilons[near]) for pmf in pmfs], axis=0)
    deltas[~near] = [distribution.get_delta_for_epsilon(e) for e in epsilons[~near].tolist()]
    return deltas


def _swept(pmf: Any, epsilons: FloatArray) -> FloatArray:
    """dp-accounting's sweep, which sums masses from the largest loss down; its loop takes 50 times as long."""
    losses = (np.arange(pmf.size) + pmf._lower_loss) * pmf._discretization
    beyond = losses.size - np.searchsorted(losses, epsilons, side="right")
    most = int(beyond.max(initial=0))
    falling, mass = losses[::-1][:most], pmf._probs[::-1][:most]
    upper = np.cumsum(np.concatenate([[pmf._infinity_mass], mass]))[beyond]
    lower = np.cumsum(np.concatenate([[0.0], mass * np.exp(-falling)]))[beyond]
    swept: FloatArray = upper - np.exp(epsilons) * lower
    return swept


def allowance(distribution: PrivacyLossDistribution, releases: int) -> float:
    """Allowance on delta for the rounding of a composition in floats.

    A Fourier transform to the power T takes coefficients of modulus at most 1, each off by a few units in the last
    place, to T times that: measured against one in 80-bit floats, at most a third of 2^-52 T. A mass at loss l and
    its part in a divergence are e^l times something, of which l's own rounding takes 2^-53 l each, for every loss up
    to the largest finite one.
    """
    return _UNIT * (releases + 2 * _largest_finite_loss(distribution))


def _largest_finite_loss(distribution: PrivacyLossDistribution) -> float:
    from dp_accounting.pld.pld_pmf import SparsePLDPmf

    largest = 0.0
    for pmf in (distribution._pmf_remove, distribution._pmf_add):
        if isinstance(pmf, SparsePLDPmf):
            last = max(map(abs, pmf._loss_probs), default=0)
        else:
            last = max(abs(pmf._lower_loss), abs(pmf._lower_loss + pmf.size - 1))
        largest = max(largest, last * pmf._discretization)
    return largest


def profile_of(distribution: PrivacyLossDistribution, *, releases: int, label: str) -> ProfileDP:
    """The profile of a privacy loss distribution, both directions, as a guarantee; `allowance` is added to it."""
    added = allowance(distribution, releases)

    def profile(epsilon: FloatArray) -> FloatArray:
        order, inverse = np.unique(epsilon.ravel(), return_inverse=True)
        deltas = [distribution.get_delta_for_epsilon(float(e)) if e < np.inf else 0.0 for e in order]
        if order.size and order[-1] == np.inf:
            # the largest finite float stands for infinity: beyond every finite loss
            deltas[-1] = distribution.get_delta_for_epsilon(1e300)
        # errors of the Fourier transform, of either sign, must not make the profile increase or negative
        safe = np.minimum(np.clip(deltas, 0.0, 1.0) + added, 1.0)
        return quantities.falling(safe)[inverse].reshape(epsilon.shape)

    return ProfileDP(profile, label)


class ComposedReleases(Guarantee):
    """What the composed privacy loss distribution of adaptive releases gives, plus `rounding`."""

    _NODES: ClassVar[int]
    _SHORTEST: ClassVar[float] = 1e-12
    _LONGEST: ClassVar[float] = _LARGEST_LOSS

    @property
    @abstractmethod
    def releases(self) -> int:
        """How many there are in all."""

    @cached_property
    @abstractmethod
    def distribution(self) -> PrivacyLossDistribution:
        """Privacy loss distribution of all releases."""

    @cached_property
    def rounding(self) -> float:
        """Allowance on delta for rounding: see `allowance`."""
        return allowance(self.distribution, self.releases)

    def at(self, epsilon: float) -> float:
        """The bound at one epsilon of at least 0, nats."""
        if epsilon == math.inf:
            return 0.0
        return float(self._bounds(np.array([self.distribution.get_delta_for_epsilon(epsilon)]), [epsilon])[0])

    def _bounds(self, composed: FloatArray, epsilons: ArrayLike) -> FloatArray:
        """What is proved if the composed distribution gives `composed` at rising epsilons, shape (k,) both."""
        bounds: FloatArray = np.minimum(np.maximum(composed, 0.0) + self.rounding, 1.0)
        # rounding must not make the profile increase
        return quantities.falling(bounds)

    @cached_property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """Epsilons from 0 (nats), rising, and the bound there."""
        last = self.distribution.get_epsilon_for_delta(max(self.rounding, 1e-14))
        nodes: FloatArray = np.linspace(0.0, min(max(last, self._SHORTEST), self._LONGEST), self._NODES)
        return nodes, self._bounds(deltas_of(self.distribution, nodes), nodes)

    def _profile_from_table(self, epsilon: FloatArray) -> FloatArray:
        """A quick and slightly higher profile: it is convex in e^epsilon, so it lies below its chords."""
        nodes, at_nodes = self._table
        inside = np.interp(np.exp(np.minimum(epsilon, nodes[-1])), np.exp(nodes), at_nodes)
        return np.asarray(inside, dtype=np.float64)

    def _tradeoff(self, alpha: FloatArray) -> FloatArray:
        return conversions.profile_to_tradeoff(self._profile_from_table)(alpha)


def _last_useful_loss(part: Guarantee, mass: float) -> float:
    """Where the profile comes within `mass` of what is left of it at infinity."""
    rest = part.privacy_profile(_LARGEST_LOSS)
    if not rest - part.privacy_profile(math.inf) <= mass:
        raise InvalidArgumentError(
            "guarantees",
            part,
            f"guarantees whose profile comes within {mass:g} of its limit by epsilon = {_LARGEST_LOSS:g}, unless "
            "largest_loss says beyond which losses count as infinite",
        )
    return min(_LARGEST_LOSS, conversions.smallest_epsilon(part._profile, min(rest + mass, 0.999)))


def compose_profiles(
    guarantees: Iterable[Guarantee], *, discretization: float | None = None, largest_loss: float | None = None
) -> ProfileDP:
    """Adaptive composition of any guarantees through privacy loss distributions (dp-accounting).

    Each guarantee is replaced by a discrete dominating pair (`loss_distribution`), so the result is an upper
    bound; for rounding in floats `allowance` is added to delta: 2^-52 a composition, 2^-51 a nat of the largest loss.

    Args:
        guarantees: at least one; equal ones are composed at once.
        discretization: step of the loss grid, nats; the error shrinks with its square. By default 1e-4, or
            the 100,000th part of the largest loss if that is more.
        largest_loss: losses beyond count as infinite, nats, below 700. By default where the profile of each
            guarantee comes within 1e-15, divided by their number, of its limit (or within 2^-52, if that is
            more).

    Raises:
        InvalidArgumentError: for an empty list, a bad grid, or, without `largest_loss`, a guarantee that has
            losses beyond 690: GDP(60), for instance, which is about (1800, 0.5)-DP.
    """
    parts = _listed(guarantees)
    counts: dict[Guarantee, int] = {}
    for part in parts:
        counts[part] = counts.get(part, 0) + 1
    # as much as that is added for rounding below, so that cutting off less would gain nothing
    mass = max(_TAIL_MASS / len(parts), _UNIT)
    ends = [_last_useful_loss(part, mass) if largest_loss is None else largest_loss for part in counts]
    if discretization is None:
        discretization = _STEP if largest_loss is not None else max(_STEP, max(ends) / _USUAL_GRID)
    total: PrivacyLossDistribution | None = None
    for (part, count), useful in zip(counts.items(), ends, strict=True):
        end = max(useful, 10 * discretization) if largest_loss is None else useful
        single = loss_distribution(part._profile, discretization=discretization, largest_loss=end)
        powered = repeated(single, count)
        total = powered if total is None else total.compose(powered, _TAIL_MASS)
    return profile_of(total, releases=len(parts), label="composed privacy profile")
