"""Bounds for mixtures over a random number of steps, against quadrature and their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from dpverify.privacy import gaussian_hockey_stick
from dpverify.privacy.mixtures import (
    GaussianMixtureProfile,
    WeakConvexityCurve,
    gaussian_noise_multiplier,
)


def test_the_mixture_bounds_the_exact_divergences_of_a_mixture() -> None:
    """Two mixtures of three Gaussians, by quadrature (absolute error below 1e-9)."""
    weights, mus = (0.2, 0.5), (1.5, 0.4)
    bound = GaussianMixtureProfile(weights, mus)
    places = [0.0, 3.0, -2.0]  # where the parts sit; the third is common to both

    def p(x: float) -> float:
        return sum(w * stats.norm.pdf(x - c) for w, c in zip((*weights, 0.3), places, strict=True))

    def q(x: float) -> float:
        shifts = (*mus, 0.0)
        return sum(
            w * stats.norm.pdf(x - c - s) for w, c, s in zip((*weights, 0.3), places, shifts, strict=True)
        )

    for epsilon in (0.0, 0.3, 1.0):
        for f, g in ((p, q), (q, p)):
            exact = integrate.quad(
                lambda x, f=f, g=g, e=epsilon: max(0.0, f(x) - math.exp(e) * g(x)), -12, 14, limit=400
            )[0]
            assert exact <= float(bound(epsilon)) + 1e-9
    for order in (1.0001, 2.0, 5.0):
        exact = integrate.quad(lambda x, a=order: p(x) ** a * q(x) ** (1 - a), -14, 16, limit=400)[0]
        assert math.log(exact) / (order - 1) <= bound.renyi(order) + 1e-9


def test_the_mixtures_renyi_curve_is_its_definition() -> None:
    bound = GaussianMixtureProfile((0.25, 0.25, 0.25), (2.0, 1.0, 0.01))
    for order in (1.5, 3.0, 15.0):
        parts = [math.exp((order - 1) * order * mu**2 / 2) for mu in bound.mus]
        expected = math.log(0.25 * sum(parts) + 0.25) / (order - 1)
        assert bound.renyi(order) == pytest.approx(expected, rel=1e-12)
    assert bound.renyi(1.0) == pytest.approx(0.125 * (4 + 1 + 1e-4))
    assert bound.renyi(1 + 1e-9) == pytest.approx(bound.renyi(1.0), rel=1e-6)
    assert bound.renyi(1e6) == pytest.approx(1e6 * 2, rel=1e-5)  # no overflow
    assert WeakConvexityCurve(6.0, 1)(1.0) == pytest.approx(4 / 36)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 20.0, 100.0])
@pytest.mark.parametrize("delta", [1e-8, 1e-5, 0.1, 0.9])
def test_the_noise_of_lemma_27_is_enough_for_every_epsilon(epsilon: float, delta: float) -> None:
    multiplier = gaussian_noise_multiplier(epsilon, delta)
    assert float(np.asarray(gaussian_hockey_stick(epsilon, 1 / multiplier))) <= delta
    printed = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    assert multiplier >= printed
    if epsilon <= 1 and delta <= 1e-2:
        assert multiplier == printed
    if multiplier > printed:  # then it is the smallest that is enough
        assert float(np.asarray(gaussian_hockey_stick(epsilon, 1 / (multiplier * (1 - 1e-9))))) > delta
