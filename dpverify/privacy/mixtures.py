"""Bounds for variants of noisy SGD: mixtures over a random number of steps, and the noise that is enough."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify.checks import number, positive
from dpverify.privacy import gaussian_hockey_stick


@dataclass(frozen=True)
class GaussianMixtureProfile:
    """Bounds for two mixtures whose parts are as far apart as unit Gaussians; of the rest, both have the same law."""

    weights: tuple[float, ...]  # of the parts, at most 1 in sum
    mus: tuple[float, ...]  # distance of each part's Gaussians, in standard deviations

    def __call__(self, epsilon: ArrayLike) -> NDArray[np.float64]:
        """Largest hockey-stick divergence at each epsilon (nats), by its joint convexity."""
        points = np.asarray(epsilon, dtype=np.float64)
        parts = (
            weight * np.asarray(gaussian_hockey_stick(points, mu))
            for weight, mu in zip(self.weights, self.mus, strict=True)
        )
        return np.asarray(sum(parts, start=np.zeros(points.shape)))

    def renyi(self, order: float) -> float:
        """Largest Renyi divergence (nats), order at least 1: ln(E exp((order - 1) D_i)) / (order - 1).

        D_i = order mu_i^2 / 2; this is the fourth line of the proof of Lemma 25, before it is bounded
        further.
        """
        weights, divergences = np.asarray(self.weights), order * np.square(self.mus) / 2
        mean = float(weights @ divergences)
        if order == 1 or mean == 0:
            return mean
        exponents = (order - 1) * divergences
        largest = float(exponents.max())
        if largest < 1:
            # ln(1 + E(e^x - 1)) keeps all digits where divergences are small
            return math.log1p(float(weights @ np.expm1(exponents))) / (order - 1)
        same = max(0.0, 1 - math.fsum(self.weights))
        total = float(weights @ np.exp(exponents - largest)) + same * math.exp(-largest)
        return (largest + math.log(total)) / (order - 1)


@dataclass(frozen=True)
class WeakConvexityCurve:
    """The corrected Theorem 26: 4 order L^2 H / (terms sigma^2), infinite where its condition on sigma fails."""

    noise_multiplier: float  # sigma / L, or twice sigma over the gradient sensitivity
    terms: int  # how many stopping times there are; H is the harmonic number of it

    def __call__(self, order: float) -> float:
        """Renyi divergence (nats) at an order of at least 1."""
        if not 2 * order * (order - 1) <= self.noise_multiplier**2:
            return math.inf
        return 4 * order * harmonic(self.terms) / (self.terms * self.noise_multiplier**2)


@cache
def harmonic(terms: int) -> float:
    """1 + 1/2 + ... + 1/terms."""
    return math.fsum(1 / k for k in range(1, terms + 1))


def gaussian_noise_multiplier(epsilon: float, delta: float) -> float:
    """Noise over L2 sensitivity: sqrt(2 ln(1.25/delta)) / epsilon, or more where that is not enough."""
    positive("epsilon", epsilon)
    number("delta", delta, above=0, below=1, allowed="a number in (0, 1)")

    printed = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    return (
        printed if _private(epsilon, delta, printed) else smallest_noise_multiplier(epsilon, delta, printed)
    )


def smallest_noise_multiplier(epsilon: float, delta: float, above: float = 0.0) -> float:
    """The least noise over L2 sensitivity that is enough, by bisection to 1e-12 from above; `above` is not enough."""
    low, high = above, 2 * above or 1.0
    while not _private(epsilon, delta, high):
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _private(epsilon, delta, middle) else (middle, high)
    return high


def _private(epsilon: float, delta: float, multiplier: float) -> bool:
    return bool(np.asarray(gaussian_hockey_stick(epsilon, 1 / multiplier)) <= delta)
