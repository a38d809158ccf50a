"""Adaptive composition: of guarantees of one kind in closed form, of any by privacy loss distributions.

All of it is about mechanisms run one after another on the same data under one adjacency, each seeing the
earlier outputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from dp_accounting.pld import privacy_loss_distribution
from numpy.typing import NDArray

from dpverify.errors import InvalidArgumentError
from dpverify.privacy import checks, conversions, renyi
from dpverify.privacy.checks import FloatArray
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

PrivacyLossDistribution: TypeAlias = privacy_loss_distribution.PrivacyLossDistribution

_LARGEST_GRID = 4_000_000
_TAIL_MASS = 1e-15
_LARGEST_LOSS = 690.0  # exp overflows at 709.8
_STEP = 1e-4
_USUAL_GRID = 100_000
_ROUNDING = 2.0**-52  # of a composition by Fourier transform in floats, on delta


def compose(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Compose guarantees of one kind, in closed form.

    Pure and approximate DP add up (basic composition), GDP adds mu^2 (Dong, Roth and Su 2022), zCDP adds
    rho, tCDP adds rho up to the smallest omega, and any mixture of the last three with RDP curves, or of
    zCDP with tCDP, adds Renyi curves; GDP counts there as mu^2/2-zCDP.

    Raises:
        InvalidArgumentError: for no guarantees, or kinds that do not add up; `compose_profiles` takes any.
    """
    parts = _listed(guarantees)
    if all(isinstance(part, PureDP) for part in parts):
        return PureDP(math.fsum(part.epsilon for part in parts if isinstance(part, PureDP)))
    if all(isinstance(part, (PureDP, ApproxDP)) for part in parts):
        epsilon = math.fsum(part.epsilon for part in parts if isinstance(part, (PureDP, ApproxDP)))
        delta = math.fsum(part.delta for part in parts if isinstance(part, ApproxDP))
        if not delta < 1:
            raise InvalidArgumentError("guarantees", parts, "guarantees whose deltas add up to less than 1")
        return ApproxDP(epsilon, delta)
    if all(isinstance(part, GDP) for part in parts):
        return GDP(math.hypot(*(part.mu for part in parts if isinstance(part, GDP))))
    if all(isinstance(part, zCDP) for part in parts):
        return zCDP(math.fsum(part.rho for part in parts if isinstance(part, zCDP)))
    if all(isinstance(part, tCDP) for part in parts):
        tcdp = [part for part in parts if isinstance(part, tCDP)]
        return tCDP(math.fsum(part.rho for part in tcdp), min(part.omega for part in tcdp))
    if all(isinstance(part, (GDP, _RenyiBounded)) for part in parts):
        return _composed_curves(parts)
    raise InvalidArgumentError("guarantees", parts, "guarantees of one kind; compose_profiles takes any")


def _composed_curves(parts: Sequence[Guarantee]) -> RDP:
    curves: list[renyi.RenyiCurve] = []
    orders: set[float] | None = None
    for part in parts:
        if isinstance(part, GDP):
            curves.append(renyi.LinearCurve(part.mu**2 / 2))
        elif isinstance(part, _RenyiBounded):
            curve, allowed = part._renyi()
            curves.append(curve)
            if allowed is not None:
                orders = set(allowed) if orders is None else orders & set(allowed)
    if orders is not None and not orders:
        raise InvalidArgumentError("guarantees", parts, "RDP curves with at least one order in common")
    lines = [curve for curve in curves if isinstance(curve, renyi.LinearCurve)]
    if len(lines) == len(curves):
        slope = math.fsum(line.slope for line in lines)
        total: renyi.RenyiCurve = renyi.LinearCurve(slope, min(line.highest_order for line in lines))
    else:
        total = renyi.SumCurve(tuple(curves))
    return RDP(total, None if orders is None else tuple(sorted(orders)))


def _listed(guarantees: Iterable[Guarantee]) -> list[Guarantee]:
    try:
        parts = list(guarantees)
    except TypeError:
        raise InvalidArgumentError("guarantees", guarantees, "a list of guarantees") from None
    if not parts or not all(isinstance(part, Guarantee) for part in parts):
        raise InvalidArgumentError("guarantees", parts, "at least one guarantee, and nothing else")
    return parts


def for_group(guarantee: Guarantee, size: int) -> Guarantee:
    """The guarantee for data sets that differ in `size` records, for kinds with a closed form.

    Pure DP: size * epsilon. Approximate DP: size * epsilon, delta * (e^(size eps) - 1) / (e^eps - 1).
    GDP: size * mu (Dong, Roth and Su 2022, Theorem 2.14). zCDP: size^2 * rho (Bun and Steinke 2016,
    Proposition 1.9).

    Raises:
        InvalidArgumentError: for a size below 1, another kind, or a delta that reaches 1.
    """
    size = checks.whole_number("size", size, at_least=1)
    if isinstance(guarantee, PureDP):
        return PureDP(size * guarantee.epsilon)
    if isinstance(guarantee, GDP):
        return GDP(size * guarantee.mu)
    if isinstance(guarantee, zCDP):
        return zCDP(size**2 * guarantee.rho)
    if isinstance(guarantee, ApproxDP):
        delta = guarantee.delta * math.fsum(math.exp(min(k * guarantee.epsilon, 700.0)) for k in range(size))
        if not delta < 1:
            raise InvalidArgumentError("size", size, "a size at which delta stays below 1")
        return ApproxDP(size * guarantee.epsilon, delta)
    raise InvalidArgumentError("guarantee", guarantee, "pure, approximate or Gaussian DP, or zCDP")


def loss_distribution(
    profile: conversions.Profile, *, discretization: float, largest_loss: float
) -> PrivacyLossDistribution:
    """A dominating pair for everything that a symmetric profile bounds, as dp-accounting's distribution.

    The profile is sampled at multiples of `discretization` and replaced by the largest admissible one
    below the samples: convex in e^eps, and for eps < 0 the reversal 1 - e^eps + e^eps H(-eps). Admissible
    profiles have dominating pairs (Zhu, Dong and Wang 2022), and each true profile under the
    samples lies under this one, joined by straight lines in e^eps ("connect the dots"). Losses beyond
    `largest_loss` count as infinite.

    Args:
        profile: upper bound on the hockey-stick divergence in both directions, epsilon >= 0 in nats.
        discretization: step of the loss grid, nats, above 0.
        largest_loss: last grid point, nats, above 0.

    Raises:
        InvalidArgumentError: for values outside these ranges, or more than 4 million grid points.
        InvalidDataError: if the profile's values are not in [0, 1].
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
    distribution: PrivacyLossDistribution = PrivacyLossDistribution.create_from_rounded_probability(
        masses, infinite, step
    )
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


def deltas_of(distribution: PrivacyLossDistribution, epsilons: FloatArray) -> FloatArray:
    """Hockey-stick divergences of a distribution at rising epsilons (nats; infinity is allowed), shape (k,).

    dp-accounting's sweep over many epsilons multiplies by e^epsilon, which overflows to NaN, so the far ones are
    asked one by one.
    """
    near = epsilons <= _LARGEST_LOSS
    deltas = np.empty(epsilons.shape)
    deltas[near] = distribution.get_delta_for_epsilon(epsilons[near])
    deltas[~near] = [distribution.get_delta_for_epsilon(e) for e in epsilons[~near].tolist()]
    return deltas


def profile_of(distribution: PrivacyLossDistribution, *, rounding: float, label: str) -> ProfileDP:
    """The profile of a privacy loss distribution, both directions, as a guarantee; `rounding` is added to it."""

    def profile(epsilon: FloatArray) -> FloatArray:
        order, inverse = np.unique(epsilon.ravel(), return_inverse=True)
        deltas = [distribution.get_delta_for_epsilon(float(e)) if e < np.inf else 0.0 for e in order]
        if order.size and order[-1] == np.inf:
            # the largest finite float stands for infinity: beyond every finite loss
            deltas[-1] = distribution.get_delta_for_epsilon(1e300)
        # errors of the Fourier transform, of either sign, must not make the profile increase or negative
        safe = np.minimum(np.clip(deltas, 0.0, 1.0) + rounding, 1.0)
        falling: FloatArray = np.maximum.accumulate(safe[::-1])[::-1]
        return falling[inverse].reshape(epsilon.shape)

    return ProfileDP(profile, label)


def _last_useful_loss(part: Guarantee, mass: float) -> float:
    """Where the profile comes within `mass` of what is left of it at infinity.

    Raises:
        InvalidArgumentError: if it does so only beyond the losses whose exponentials are floats.
    """
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
    guarantees: Iterable[Guarantee],
    *,
    discretization: float | None = None,
    largest_loss: float | None = None,
) -> ProfileDP:
    """Adaptive composition of any guarantees through privacy loss distributions (dp-accounting).

    Each guarantee is replaced by a discrete dominating pair (`loss_distribution`), so the result is an upper
    bound; for the rounding of fast Fourier transforms in floats 2^-52 a composition is added to delta.

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
    mass = max(_TAIL_MASS / len(parts), _ROUNDING)
    ends = [_last_useful_loss(part, mass) if largest_loss is None else largest_loss for part in counts]
    if discretization is None:
        discretization = _STEP if largest_loss is not None else max(_STEP, max(ends) / _USUAL_GRID)
    total: PrivacyLossDistribution | None = None
    for (part, count), useful in zip(counts.items(), ends, strict=True):
        end = max(useful, 10 * discretization) if largest_loss is None else useful
        single = loss_distribution(part._profile, discretization=discretization, largest_loss=end)
        powered = repeated(single, count)
        total = powered if total is None else total.compose(powered, _TAIL_MASS)
    return profile_of(total, rounding=len(parts) * _ROUNDING, label="composed privacy profile")
