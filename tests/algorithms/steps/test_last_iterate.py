"""What is proved of the last point of projected stochastic gradient descent: against its sums, and against descents."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpverify.algorithms.steps.last_iterate import best_factor, falling_rates_risk, strongly_convex_risk

NORM, FACTOR, DISTANCE = 3.0, 0.7, 2.0


def summed(rates: np.ndarray, squares: np.ndarray, first: float) -> float:
    """eta_T f_T by the sums as they come, not exchanged: the mean of all points, then each tail against its first."""
    points = len(rates)
    found = first + squares.sum() / (2 * points)
    for k in range(1, points):
        found += squares[points - 1 - k :].sum() / (2 * k * (k + 1))
    return found


@pytest.mark.parametrize("points", [1, 2, 3, 10, 200])
def test_closed_forms_are_the_sums(points):
    t = np.arange(1, points + 1)
    rates = FACTOR / (NORM * np.sqrt(t))
    falling = summed(rates, (rates * NORM) ** 2, DISTANCE**2 / (2 * points)) / rates[-1]
    found = falling_rates_risk(points, distance=DISTANCE, norm=NORM, factor=FACTOR)
    assert found == pytest.approx(falling, rel=1e-12)
    # without eta_t, and with all of the first distance taken by the first step
    convex = summed(np.ones(points), NORM**2 / (1.5 * t), 0.0)
    assert strongly_convex_risk(points, norm=NORM, strong_convexity=1.5) == pytest.approx(convex, rel=1e-12)


def test_the_best_factor_is_the_best():
    best = best_factor(100, DISTANCE)
    found = [
        falling_rates_risk(100, distance=DISTANCE, norm=NORM, factor=best * by) for by in (0.99, 1, 1.01)
    ]
    assert (
        min(found)
        == found[1]
        == pytest.approx(DISTANCE * NORM / 10 * math.sqrt(1 + 2 * sum(1 / np.arange(1, 100))))
    )


def test_descents_keep_to_them():
    """Exact gradients of |w|, of which one point attains the bound; a strongly convex loss with noise."""
    worst = 0.0
    for points in (1, 2, 5, 40):
        for start in np.linspace(0.1, 1.0, 40):
            for factor in (0.05, 0.3, 1.0):
                w = start
                for t in range(1, points):
                    w = min(max(w - factor / math.sqrt(t) * np.sign(w), -1.0), 1.0)
                bound = falling_rates_risk(points, distance=start, norm=1.0, factor=factor)
                worst = max(worst, abs(w) / bound)
    assert 0.99 < worst <= 1.0
    rng, runs, convexity = np.random.default_rng(0), 4000, 1.0
    w = np.full(runs, 1.0)
    for t in range(1, 30):  # F(w) = w^2 / 2, |w| <= 1, noise of variance 1: G^2 <= 2
        w = np.clip(w - (w + rng.normal(size=runs)) / t, -1.0, 1.0)
    bound = strongly_convex_risk(30, norm=math.sqrt(2.0), strong_convexity=convexity)
    assert 0.05 * bound < np.mean(w**2) / 2 < bound  # at most bound / 2: a false alarm is 30 deviations away
