"""Noisy steps that each use one of n records, drawn uniformly: bst14 Algorithm 1.

Two data sets that differ in one replaced record give, in each step, the same mixture of Gaussians except for
the component of weight q = 1/n that belongs to that record: (1 - q) R + q A against (1 - q) R + q B, where any
two components are at most the replace-one sensitivity apart. Advanced joint convexity (Balle, Barthe and
Gaboardi 2018) bounds the step's hockey-stick divergence, in both directions and for epsilon >= 0, by
q delta(log(1 + (e^epsilon - 1)/q)), delta being the profile of the plain Gaussian mechanism; R = B attains it. The
reversal of this curve bounds epsilon < 0. The pair that has both as its profile therefore dominates the step,
and dominating pairs compose adaptively (Zhu, Dong and Wang 2022, who give the same pair for replace-one and
sampling without replacement).

Not used here: dp-accounting's REPLACE adjacency, in which the record's component moves around a common
component in the middle. With one of n sampled the other records may all sit at one end, which is worse in a
single step. Lebeda, Regehr, Kamath and Steinke 2024 collect such traps.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.extras import require_module
from dpverify.privacy import composition, quantities
from dpverify.privacy.gaussian import gaussian_hockey_stick_from_above
from dpverify.privacy.guarantees import GDP
from dpverify.privacy.renyi import delta_from_renyi

_STEPS_PER_STDDEV = 20  # grid points in one standard deviation of a step's privacy loss
_LARGEST_GRID = 100_000
_MANY = 10_000  # steps from which on the square root of them is composed first, then that on a coarser grid
_STEPS_PER_BLOCK = 60  # the same of the loss of such a block
_ORDERS = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 24.0, 32.0, 40.0, 48.0, 64.0)
_TAIL_MASS = 1e-18
_DECISIVE = 20  # times the allowance for rounding: below that the Renyi bound is asked too
_MOST = 2**53  # of records and of steps: up to here, floats hold every whole number
_LEAST_NOISE = 0.05
_MOST_NOISE = 1e7
_FEW = 64  # points evaluated one by one; more are, in one sweep over the loss grid
_SEARCH_TOLERANCE = 1e-6  # relative, of the noise


@dataclass(frozen=True)
class SampledGaussian(composition.ComposedReleases):
    """Adaptive Gaussian steps, each on one record drawn uniformly from n; all outputs may be released.

    Guarantee: adjacency replace-one. The smaller of two bounds: the composed privacy loss distribution
    (dp-accounting's Fourier transform) plus `rounding`; and, where that allowance is not small beside it,
    dp-accounting's Renyi accountant for sampling without replacement (Wang, Balle and Kasiviswanathan 2019,
    Theorem 27). The distribution of many steps is composed of blocks of the square root of their number, each
    bounded on a grid of its own, which is as fine for a block as the first grid is for a step.

    Attributes:
        n: records, at least 2.
        steps: T, at least 1.
        noise_multiplier: standard deviation of each coordinate of the noise over the L2 distance by which a
            step's value can change when the sampled record is replaced (2 n L in bst14); at least 0.05.

    Raises:
        InvalidArgumentError: for anything outside these ranges; below 0.05 losses leave the range of floats.
    """

    n: int
    steps: int
    noise_multiplier: float

    _NODES: ClassVar[int] = 8193

    def __post_init__(self) -> None:
        checks.whole_field(self, "n", at_least=2, at_most=_MOST)
        checks.whole_field(self, "steps", at_most=_MOST)
        allowed = f"a finite real number of at least {_LEAST_NOISE}"
        checks.number_field(self, "noise_multiplier", at_least=_LEAST_NOISE, allowed=allowed)

    def __str__(self) -> str:
        return f"{self.steps} steps on 1 of {self.n} records at noise multiplier {self.noise_multiplier:g}"

    @property
    def releases(self) -> int:
        return self.steps

    def epsilon_at(self, delta: float) -> float:
        # in floats the profile underflows to 0, but it is 0 nowhere
        return math.inf if quantities.delta(delta) == 0 else super().epsilon_at(delta)

    def step_profile(self, epsilon: FloatArray) -> FloatArray:
        """Upper bound on one step's hockey-stick divergence, both directions."""
        # rounded down, and with it the divergence up
        inner = np.log1p(np.minimum(np.expm1(np.minimum(epsilon, 700.0)) * self.n, 1e300)) * (1 - 2.0**-50)
        mu = math.nextafter(1 / self.noise_multiplier, math.inf)
        return np.nextafter(gaussian_hockey_stick_from_above(inner, mu) / self.n, 1.0)

    @cached_property
    def distribution(self) -> composition.PrivacyLossDistribution:
        """Privacy loss distribution of all steps."""
        mu = 1 / self.noise_multiplier
        # mass beyond counts as infinite loss, T times over
        last = GDP(mu).epsilon_at(min(0.5, _TAIL_MASS * self.n / self.steps))
        largest = min(max(_sampled(last, self.n), 1e-12), 690.0)
        step = max(mu / self.n / _STEPS_PER_STDDEV, largest / _LARGEST_GRID)
        single = composition.loss_distribution(
            self.step_profile, discretization=step, largest_loss=max(largest, 2 * step)
        )
        if self.steps < _MANY:
            return composition.repeated(single, self.steps)
        size = math.isqrt(self.steps)
        count, rest = divmod(self.steps, size)
        coarse = mu / self.n * math.sqrt(size) / _STEPS_PER_BLOCK

        def block(steps: int) -> composition.PrivacyLossDistribution:
            composed = composition.repeated(single, steps)
            return composition.coarsened(composed, releases=steps, discretization=coarse)

        blocks = composition.repeated(block(size), count)
        return blocks.compose(block(rest)) if rest else blocks

    @cached_property
    def rounding(self) -> float:
        left = self.steps if self.steps < _MANY else math.isqrt(self.steps) + 3
        return composition.allowance(self.distribution, left)

    @cached_property
    def renyi_curve(self) -> tuple[float, ...]:
        """Renyi divergences of all steps at `_ORDERS`, nats."""
        require_module("Composition of Renyi curves under sampling", "dp_accounting")
        import dp_accounting
        from dp_accounting.rdp import RdpAccountant

        accountant = RdpAccountant(_ORDERS, dp_accounting.NeighboringRelation.REPLACE_ONE)
        # with less noise the divergences are larger, and with more dp-accounting takes the logarithm of 0
        gaussian = dp_accounting.GaussianDpEvent(min(self.noise_multiplier, _MOST_NOISE))
        accountant.compose(dp_accounting.SampledWithoutReplacementDpEvent(self.n, 1, gaussian), self.steps)
        # a divergence of 0 or below can only be rounding
        return tuple(max(float(value), sys.float_info.min) for value in accountant._rdp)

    def by_renyi(self, epsilons: ArrayLike) -> FloatArray:
        """What the Renyi divergences alone prove."""
        known = dict(zip(_ORDERS, self.renyi_curve, strict=True))
        return delta_from_renyi(known.__getitem__, epsilons, orders=_ORDERS)

    def _bounds(self, composed: FloatArray, epsilons: ArrayLike) -> FloatArray:
        bounds: FloatArray = np.minimum(np.maximum(composed, 0.0) + self.rounding, 1.0)
        # blocks hold the allowance for their steps
        small = bounds < _DECISIVE * composition.allowance(self.distribution, self.steps)
        if small.any():
            bounds[small] = np.minimum(bounds[small], self.by_renyi(np.asarray(epsilons)[small]))
        # rounding must not make the profile increase
        return quantities.falling(bounds)

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        order, inverse = np.unique(epsilon.ravel(), return_inverse=True)
        if order.size <= _FEW:
            finite = order[order < math.inf]
            composed = [self.distribution.get_delta_for_epsilon(e) for e in finite.tolist()]
            deltas = np.zeros(order.size)
            deltas[: finite.size] = self._bounds(np.array(composed), finite)
        else:
            deltas = self._bounds(composition.deltas_of(self.distribution, order), order)
        return quantities.falling(deltas)[inverse].reshape(epsilon.shape)


def _sampled(epsilon: float, n: int) -> float:
    """log(1 + (e^epsilon - 1) / n), where sampling takes a loss."""
    if epsilon > 600:
        return epsilon - math.log(n)
    return math.log1p(math.expm1(epsilon) / n)


@lru_cache(maxsize=32)
def _sampled_gaussian(n: int, steps: int, noise_multiplier: float) -> SampledGaussian:
    return SampledGaussian(n, steps, noise_multiplier)


def subsampled_gaussian(n: int, steps: int, noise_multiplier: float) -> SampledGaussian:
    """`SampledGaussian`, cached because composing the steps takes a fraction of a second.

    Args:
        n: number of records, at least 2.
        steps: T, at least 1; n^2 - 1 in bst14 Algorithm 1.
        noise_multiplier: noise standard deviation over the replace-one L2 sensitivity, 2 n L in bst14.

    Raises:
        InvalidArgumentError: for values that `SampledGaussian` refuses.
    """
    checked = SampledGaussian(n, steps, noise_multiplier)
    return _sampled_gaussian(checked.n, checked.steps, checked.noise_multiplier)


def _smallest_noise(needed: Callable[[float], float], guess: float, delta: float) -> float:
    """Smallest noise multiplier at which `needed(noise)` <= delta, to `_SEARCH_TOLERANCE`, from above."""

    @cache  # the search comes back to its ends
    def excess(log_noise: float) -> float:
        return math.log(max(needed(math.exp(log_noise)), 1e-300)) - math.log(delta)

    low = high = math.log(guess)
    if excess(low) > 0:
        while excess(high) > 0:
            low, high = high, high + 0.2
            if high > math.log(guess) + 12:
                allowed = "a delta large enough for the accountant's rounding"
                raise InvalidArgumentError("delta", delta, allowed)
    else:
        while excess(low) <= 0:
            low, high = low - 0.2, low
            if low < math.log(_LEAST_NOISE):
                return math.exp(high)
    from scipy.optimize import brentq

    found = float(brentq(excess, low, high, xtol=_SEARCH_TOLERANCE, rtol=1e-12))
    while excess(found) > 0:
        found += _SEARCH_TOLERANCE
    return math.exp(found)


def _checked(n: int, epsilon: float, delta: float) -> tuple[int, float, float]:
    n = checks.whole_number("n", n, at_least=2, at_most=_MOST)
    epsilon = checks.number("epsilon", epsilon, above=0, allowed="a finite real number above 0")
    delta = checks.number("delta", delta, above=0, below=1, allowed="a real number in (0, 1)")
    return n, epsilon, delta


@lru_cache(maxsize=128)
def _provable_noise(n: int, steps: int, epsilon: float, delta: float) -> float:
    least = _least_delta(n, steps, epsilon, delta)
    if delta < least:
        allowed = f"at least {least:.2g} at this epsilon: the accountant's rounding hides what is smaller"
        raise InvalidArgumentError("delta", delta, allowed)
    guess = _guess(n, steps, epsilon, delta)
    return _smallest_noise(lambda noise: SampledGaussian(n, steps, noise).at(epsilon), guess, delta)


def _least_delta(n: int, steps: int, epsilon: float, delta: float) -> float:
    """A number below which no noise brings the accountant's bound; 0 where that is not worth asking for this delta."""
    # the allowance for rounding is at least that, whatever the noise
    rounding = steps * sys.float_info.epsilon / 2
    if delta >= rounding:
        return 0.0
    by_renyi = float(SampledGaussian(n, steps, _MOST_NOISE).by_renyi(epsilon))
    # half of it, as rounding may have moved the divergences
    return min(rounding, by_renyi / 2)


def _guess(n: int, steps: int, epsilon: float, delta: float) -> float:
    """Noise multiplier at which the central limit, q sqrt(T) / noise - GDP, is (epsilon, delta)-DP."""
    from scipy.optimize import brentq

    mu = brentq(lambda x: GDP(math.exp(x)).epsilon_at(delta) - epsilon, -30, 10, xtol=1e-3)
    return max(math.sqrt(steps) / n / math.exp(float(mu)), 0.1)


def subsampled_gaussian_noise(n: int, steps: int, epsilon: float, delta: float) -> float:
    """Smallest noise multiplier at which `subsampled_gaussian` proves (epsilon, delta)-DP.

    Rounded up: the search stops within 1e-6 of where the accountant's bound crosses delta. Never below 0.05.

    Args:
        n: number of records, at least 2.
        steps: T, at least 1.
        epsilon: nats, above 0.
        delta: in (0, 1).

    Raises:
        InvalidArgumentError: for anything outside these ranges, or a delta below the accountant's rounding.
    """
    n, epsilon, delta = _checked(n, epsilon, delta)
    return _provable_noise(n, checks.whole_number("steps", steps, at_most=_MOST), epsilon, delta)


@dataclass(frozen=True)
class NoiseConstant:
    """The constant hidden in bst14's noise variance, between two numbers.

    Attributes:
        smallest: the smallest that the accountant can prove; dimensionless.
        attained: what one instance needs if all iterates are released (n - 1 equal linear losses and one
            opposite), from dp-accounting's distribution for that pair, accurate to about 1e-3. No
            composition of steps can prove less; an analysis of the last iterate alone still might.
    """

    smallest: float
    attained: float


def noise_constant(n: int, epsilon: float, delta: float) -> float:
    """Smallest provable c in sigma^2 = c L^2 n^2 log(n/delta) log(1/delta) / epsilon^2: bst14 Algorithm 1.

    The algorithm makes n^2 - 1 steps of replace-one sensitivity 2 n L with noise N(0, sigma^2 I), so that
    the noise multiplier is sigma / (2 n L). Accuracy: the bound is an upper one apart from rounding in
    floats, for which `SampledGaussian.rounding` is added; the loss grid costs at most about 1e-3 of c.

    Args:
        n: number of records, at least 2.
        epsilon: nats, above 0.
        delta: in (0, 1).

    Raises:
        InvalidArgumentError: for anything outside these ranges, or a delta below the accountant's rounding.
    """
    n, epsilon, delta = _checked(n, epsilon, delta)
    return _constant(_provable_noise(n, n * n - 1, epsilon, delta), n, epsilon, delta)


def noise_constant_interval(n: int, epsilon: float, delta: float) -> NoiseConstant:
    """`noise_constant`, and the constant below which no composition of the steps can go.

    Raises:
        InvalidArgumentError: as `noise_constant`.
    """
    n, epsilon, delta = _checked(n, epsilon, delta)
    steps = n * n - 1

    def needed(noise: float) -> float:
        require_module("Composition under sampling", "dp_accounting")
        from dp_accounting.pld import privacy_loss_distribution

        # P = (1 - q) N(0, 1) + q N(mu, 1) against N(0, 1), both directions
        single = privacy_loss_distribution.from_gaussian_mechanism(
            noise, value_discretization_interval=1 / noise / n / _STEPS_PER_STDDEV, sampling_prob=1 / n
        )
        return float(single.self_compose(steps).get_delta_for_epsilon(epsilon))

    smallest = _provable_noise(n, steps, epsilon, delta)
    attained = _smallest_noise(needed, smallest, delta)
    return NoiseConstant(_constant(smallest, n, epsilon, delta), _constant(attained, n, epsilon, delta))


def _constant(noise_multiplier: float, n: int, epsilon: float, delta: float) -> float:
    """The constant c, from sigma = 2 n L noise_multiplier."""
    return 4 * noise_multiplier**2 * epsilon**2 / (math.log(n / delta) * math.log(1 / delta))
