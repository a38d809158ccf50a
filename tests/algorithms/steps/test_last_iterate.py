"""What is proved of points of projected stochastic gradient descent, against certificates and descents."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import digamma, zeta

from dpverify.algorithms.steps.last_iterate import (
    StepRates,
    constant_rates,
    falling_rates,
    strongly_convex_rates,
)
from dpverify.algorithms.steps.power_sums import power_sums, terms

NORM, FACTOR, DISTANCE = 3.0, 0.7, 2.0


def one_by_one(schedule: StepRates) -> tuple[np.ndarray, np.ndarray]:
    """All rates, and all squares of the noise."""
    t = np.arange(1.0, schedule.points + 1)
    return t**-schedule.power, t**-schedule.noise


def certified(rates: np.ndarray, squares: np.ndarray, window: int) -> tuple[float, float]:
    """The weights v_t as they come, with all c_t looked at: the factors of ||w_1 - w*||^2 and of G^2."""
    points, first = len(rates), len(rates) - window
    weights = np.ones(points + 1)  # v_0, ..., v_T
    sums = np.cumsum(rates[::-1])[::-1].copy()  # S_t, right in the window
    whole = sums[first]
    for t in range(first - 1, -1, -1):
        weights[t + 1] = whole / sums[t + 1]
        sums[t] = sums[t + 1] + rates[t] * weights[t + 1]
    weights[0] = whole / sums[0]
    kept = rates * weights[1:] ** 2 - np.diff(weights) * sums
    assert np.allclose(kept[:first], 0.0, atol=1e-12)
    assert np.allclose(kept[first:], rates[first:], atol=1e-12)
    assert np.all(np.diff(weights) >= -1e-15)
    return weights[0] ** 2 / (2 * whole), float(squares @ weights[1:] ** 2) / (2 * whole)


@pytest.mark.parametrize("points", [1, 2, 3, 10, 200])
def test_windows_are_no_less_than_their_certificates_and_little_more(points: int) -> None:
    for schedule in (falling_rates(points), constant_rates(points), StepRates(points, 0.25, 0.5)):
        for window in {1, 2, points // 2, points} & set(range(1, points + 1)):
            found = schedule.window(window)
            exact = certified(*one_by_one(schedule), window)
            assert np.all(np.asarray(exact) <= np.multiply(found, 1 + 1e-12))
            assert np.all(np.asarray(found) <= np.multiply(exact, 1.6))
    assert constant_rates(points).window(points) == pytest.approx((0.5 / points, 0.5))


def window_by_arrays(schedule: StepRates, window: int) -> list[float]:
    """The window's two factors, and the two of what the point moves by, from arrays of all steps."""
    rates, squares = one_by_one(schedule)
    first, steps = schedule.points - window, rates if schedule.near else squares
    left = np.cumsum(rates[::-1])[::-1]
    whole = left[first]
    noise = squares[first:].sum() + squares[:first] @ (whole / (2 * left[1 : first + 1] - whole))
    weights = rates[first:] / whole
    later = [np.append(np.cumsum(steps[first:-1][::-1] ** k)[::-1], 0.0) for k in (1, 2)]
    return [schedule.near / (2 * (2 * left[0] - whole)), noise / (2 * whole),
            weights @ later[0], weights @ np.sqrt(later[1])]  # fmt: skip


@pytest.mark.parametrize("points", [1, 2, 33, 65, 97, 1000, 40_000])
def test_few_terms_sum_to_what_all_steps_do(points: int) -> None:
    for schedule in (falling_rates(points), constant_rates(points), strongly_convex_rates(points)):
        sizes = sorted({min(4**k, points) for k in range(points.bit_length())})
        expected = [window_by_arrays(schedule, size) for size in sizes]
        assert schedule._windows == pytest.approx(np.array(expected), rel=1e-12, abs=1e-300)


def test_sums_of_more_steps_than_memory_holds() -> None:
    """Odd numbers' inverses up to 2e12 are a digamma function; tails of zeta functions sum to any end."""
    points = 10**12
    odd = (digamma(points - 0.5) - digamma(0.5)) / 2
    assert constant_rates(points).window(1) == pytest.approx(
        (0.5 / (2 * points - 1), (1 + odd) / 2), rel=1e-12
    )
    start = np.array([1, 2, 31, 32, 33, 1000, points - 1])
    found = [power_sums(start, points + 1 - start, power) for power in (0, 1, 2)]
    assert found[0] == pytest.approx(points + 1.0 - start, rel=1e-14)
    assert found[1][:6] == pytest.approx(digamma(points + 1) - digamma(start[:6]), rel=1e-13)
    assert found[2][:6] == pytest.approx(zeta(2, start[:6]) - zeta(2, points + 1), rel=1e-13)
    assert found[1][6] == pytest.approx(1 / points + 1 / (points - 1), rel=1e-15)
    chosen = terms(points)
    assert len(chosen.counts) < 2000
    assert chosen.counts.sum() == pytest.approx(points, rel=1e-14)
    assert chosen.counts @ chosen.before**7 == pytest.approx(
        points**8 / 8, rel=1e-11
    )  # a sum without its last term


def of_means(rates: np.ndarray, squares: np.ndarray, first: float) -> float:
    """f_T by Shamir and Zhang's sums: the mean of all points, then each tail against its first."""
    points = len(rates)
    found = first / (2 * points) + squares.sum() / (2 * points)
    for k in range(1, points):
        found += squares[points - 1 - k :].sum() / (2 * k * (k + 1))
    return float(found / rates[-1])


@pytest.mark.parametrize("points", [1, 2, 3, 10, 200])
def test_nothing_is_lost_to_the_usual_sums(points: int) -> None:
    sizes: dict[str, float] = {"distance": DISTANCE, "diameter": math.inf, "norm": NORM, "lipschitz": NORM}
    for schedule in (falling_rates(points), constant_rates(points), strongly_convex_rates(points)):
        rates, squares = one_by_one(schedule)
        usual = of_means(FACTOR * rates, FACTOR**2 * NORM**2 * squares, schedule.near * DISTANCE**2)
        assert schedule.last(FACTOR, **sizes) <= usual * (1 + 1e-12)
        noisy = schedule.last(FACTOR, **{**sizes, "lipschitz": 0.1})
        assert noisy <= min(
            schedule.last(FACTOR, **sizes), 0.1 * math.hypot(DISTANCE, NORM * FACTOR * points)
        )


def test_the_best_factor_is_the_best() -> None:
    sizes: dict[str, float] = {"distance": DISTANCE, "norm": NORM, "lipschitz": 0.5}
    best = falling_rates(5000).best_factor(**sizes)
    found = [falling_rates(5000).last(best * by, diameter=math.inf, **sizes) for by in (0.97, 1, 1.03)]
    assert min(found) == found[1]


def test_descents_keep_to_them() -> None:
    """Exact gradients of |w|, of which one point attains the bound; a strongly convex loss with noise."""
    worst = 0.0
    for points in (1, 2, 5, 40):
        for start in np.linspace(0.1, 1.0, 40):
            for factor in (0.05, 0.3, 1.0):
                w = start
                for t in range(1, points):
                    w = min(max(w - factor / math.sqrt(t) * np.sign(w), -1.0), 1.0)
                bound = falling_rates(points).last(
                    factor, distance=start, diameter=2.0, norm=1.0, lipschitz=1.0
                )
                worst = max(worst, abs(w) / bound)
    assert 0.99 < worst <= 1.0
    rng, runs, convexity = np.random.default_rng(0), 4000, 1.0
    w = np.full(runs, 1.0)
    for t in range(1, 30):  # F(w) = w^2 / 2, |w| <= 1, noise of variance 1: G^2 <= 2
        w = np.clip(w - (w + rng.normal(size=runs)) / t, -1.0, 1.0)
    sizes: dict[str, float] = {"distance": 1.0, "diameter": 2.0, "norm": math.sqrt(2.0), "lipschitz": 1.0}
    bound = strongly_convex_rates(30).last(1 / convexity, **sizes)
    assert 0.05 * bound < np.mean(w**2) / 2 < bound


@pytest.mark.parametrize("one_direction", [False, True])
def test_noise_that_crosses_the_set_is_no_worse_than_a_walk_by_it(one_direction: bool) -> None:
    """A distance to a point of the unit sphere, and a linear loss, in 30 dimensions: 5 % less would be seen."""
    rng, runs, dimension, points = np.random.default_rng(0), 400, 30, 60
    rate, stddev = (0.0004, 60.0) if one_direction else (0.01, 4.0)
    best = np.eye(1, dimension)
    w, total = np.zeros((runs, dimension)), np.zeros(runs)
    for _ in range(points):
        away = best * (w[:, :1] - 1) if one_direction else w - best
        length = np.linalg.norm(away, axis=1, keepdims=True)
        total += length[:, 0] / points
        w = w - rate * (away / np.maximum(length, 1e-12) + stddev * rng.normal(size=w.shape))
        w /= np.maximum(np.linalg.norm(w, axis=1, keepdims=True), 1.0)
    sizes: dict[str, float] = {"distance": 1.0, "diameter": 2.0, "lipschitz": 1.0}
    norm, kind = math.sqrt(1 + dimension * stddev**2), {"symmetric": True, "one_direction": one_direction}
    bound = constant_rates(points).mean(points, rate, norm=norm, **kind, **sizes)
    assert (0.95 if one_direction else 0.75) * bound < np.mean(total) < bound
    assert bound < 0.95 * constant_rates(points).mean(points, rate, norm=norm, **sizes)
