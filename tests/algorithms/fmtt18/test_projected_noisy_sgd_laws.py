"""Outputs have their exact laws where these are known, and planted faults are seen.

Every test at a fixed seed rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.algorithms.steps.projected_steps import Iterates
from dpverify.problems import AllSpace, Ball, Dataset, HalfSquaredDistance, Linear, Logistic, Problem
from dpverify.running import Randomness, run

FALSE_ALARM = 1e-6
D, N = 3, 12
Array = NDArray[np.float64]


def make_data(n: int = N, d: int = D, seed: int = 1) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    return Dataset(features / np.linalg.norm(features, axis=1)[:, None], np.sign(rng.normal(size=n)))


def gaussian_pvalue(points: Array, mean: Array, stddev: float) -> float:
    """Of the hypothesis that rows are independent N(mean, stddev^2 I): every coordinate and their correlation.

    Kolmogorov-Smirnov on all standardized coordinates together, chi-square on their squared sum, and a z-test of
    the sum of products of neighboring coordinates; the smallest of the three p-values, times three.
    """
    z = (points - mean) / stddev
    ks = stats.kstest(z.ravel(), "norm").pvalue
    total, count = float(np.sum(z**2)), z.size
    chi = 2 * min(stats.chi2.cdf(total, count), stats.chi2.sf(total, count))
    products = z[:, :-1] * z[:, 1:]
    correlated = 2 * stats.norm.sf(abs(np.sum(products)) / math.sqrt(max(1, products.size)))
    return float(min(1.0, 3 * min(ks, chi, correlated)))


def linear_law(algorithm_runs: int = 20_000) -> float:
    """PNSGD with linear losses on all space: w_n = w_0 - eta sum x_t + N(0, n (eta sigma)^2 I)."""
    data, start = make_data(), (0.5, -0.2, 0.1)
    algorithm = PNSGD(Problem(Linear(), AllSpace(D)), 0.3, 0.8, start=start)
    points = run(algorithm, data, runs=algorithm_runs, seed=3).points
    return gaussian_pvalue(points, start - 0.3 * data.features.sum(axis=0), 0.3 * 0.8 * math.sqrt(N))


def autoregression_law() -> float:
    """Half squared distances on all space: w_t = (1 - eta) w_(t-1) + eta x_t - eta sigma Z."""
    data, start, rate, sigma = make_data(), np.array([0.5, -0.2, 0.1]), 0.3, 0.8
    algorithm = PNSGD(Problem(HalfSquaredDistance(math.inf), AllSpace(D)), rate, sigma, start=tuple(start))
    points = run(algorithm, data, runs=20_000, seed=3).points
    decay = (1 - rate) ** np.arange(N - 1, -1, -1)
    mean = (1 - rate) ** N * start + rate * decay @ data.features
    return gaussian_pvalue(points, mean, rate * sigma * math.sqrt(np.sum(decay**2)))


def epochs_law() -> float:
    """PNMSGD with linear losses: 4 epochs of 12 records."""
    data = make_data()
    algorithm = PNMSGD(Problem(Linear(), AllSpace(D)), 0.3, 0.8, epochs=4)
    points = run(algorithm, data, runs=20_000, seed=3).points
    return gaussian_pvalue(points, -1.2 * data.features.sum(axis=0), 0.3 * 0.8 * math.sqrt(4 * N))


def stopping_law() -> float:
    """StopPNSGD with one linear loss: given T = k, N(-eta k x, k (eta sigma)^2 I); T is read off the queries."""
    data = Dataset(np.tile([1.0, 0.0, 0.0], (N, 1)), np.ones(N))
    runs = run(StopPNSGD(Problem(Linear(), AllSpace(D)), 0.3, 0.8), data, runs=20_000, seed=3)
    steps = runs.gradient_queries[:, None]
    standardized = (runs.points + 0.3 * steps * np.array([1.0, 0.0, 0.0])) / (0.3 * 0.8 * np.sqrt(steps))
    uniform = stats.chisquare(np.bincount(runs.gradient_queries, minlength=N + 1)[1:]).pvalue
    return min(1.0, 2 * gaussian_pvalue(standardized, np.zeros(D), 1.0), 2 * uniform)


def projection_law() -> float:
    """After the last step nothing is outside the ball, and what was projected lies on its boundary.

    One step from the center with linear losses in one dimension: w = clip(N(-eta x, (eta sigma)^2), -R, R).
    """
    data = Dataset([[0.5]], [1.0])
    algorithm = PNSGD(Problem(Linear(), Ball(1, 0.3)), 0.5, 1.0)
    points = run(algorithm, data, runs=20_000, seed=3).points[:, 0]
    if np.any(np.abs(points) > 0.3 * (1 + 1e-12)):
        return 0.0
    inside = points[np.abs(points) < 0.3 * (1 - 1e-12)]
    law = stats.norm(-0.25, 0.5)
    expected = float(law.cdf(0.3) - law.cdf(-0.3))
    share = stats.binomtest(len(inside), len(points), expected).pvalue
    within = stats.kstest(inside, lambda x: (law.cdf(x) - law.cdf(-0.3)) / expected).pvalue
    return float(min(1.0, 2 * share, 2 * within))


LAWS: dict[str, Callable[[], float]] = {
    "linear": linear_law,
    "autoregression": autoregression_law,
    "epochs": epochs_law,
    "stopping": stopping_law,
    "projection": projection_law,
}


@pytest.mark.parametrize("law", LAWS)
def test_outputs_have_their_law(law: str) -> None:
    assert LAWS[law]() > FALSE_ALARM


def half_the_noise(step: Any) -> Any:
    def faulty(self: Iterates, *args: Any, noise_stddev: float, **options: Any) -> None:
        step(self, *args, noise_stddev=noise_stddev / 2, **options)

    return faulty


def reused_noise(step: Any) -> Any:
    def faulty(self: Iterates, *args: Any, **options: Any) -> None:
        self._rng._generator = np.random.Generator(np.random.SFC64(7))
        step(self, *args, **options)

    return faulty


def shared_noise(step: Any) -> Any:
    """One noise vector for all coordinates of a run."""

    def faulty(self: Iterates, *args: Any, **options: Any) -> None:
        draw = self._rng.normal

        def one(shape: tuple[int, ...], name: str, out: Any = None) -> Any:
            return np.ascontiguousarray(np.broadcast_to(draw((1, shape[1]), name), shape))

        self._rng.normal = one  # type: ignore[method-assign]
        step(self, *args, **options)
        del self._rng.normal

    return faulty


def no_gradient(step: Any) -> Any:
    def faulty(self: Iterates, *args: Any, **options: Any) -> None:
        step(self, *args, **{**options, "scale": 0.0})

    return faulty


def slightly_small_noise(step: Any) -> Any:
    def faulty(self: Iterates, *args: Any, noise_stddev: float, **options: Any) -> None:
        step(self, *args, noise_stddev=0.97 * noise_stddev, **options)

    return faulty


def skipped_projection(step: Any) -> Any:
    def faulty(self: Iterates, *args: Any, **options: Any) -> None:
        self._constraint = AllSpace(self._dimension)
        self._radius = None
        step(self, *args, **options)

    return faulty


FAULTS = [
    *(
        (fault, law)
        for fault in (half_the_noise, reused_noise)
        for law in ("linear", "autoregression", "epochs")
    ),
    (half_the_noise, "stopping"),
    (half_the_noise, "projection"),
    (shared_noise, "linear"),
    (slightly_small_noise, "linear"),
    (no_gradient, "linear"),
    (no_gradient, "stopping"),
    (skipped_projection, "projection"),
]


@pytest.mark.parametrize(("fault", "law"), FAULTS)
def test_planted_faults_are_seen(fault: Any, law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Iterates, "step", fault(Iterates.step))
    assert LAWS[law]() < FALSE_ALARM


def one_run_each(algorithm: Any, seed: int, samples: int = 3000) -> Array:
    """Runs on data sets that are drawn anew, and so exchangeable; the sum of the coordinates of each output."""
    sums = []
    for sample in range(samples):
        drawn = make_data(n=7, seed=10_000 * seed + sample)
        data = Dataset(np.abs(drawn.features), np.ones(7))
        sums.append(algorithm(data, rng=Randomness(seed, sample), runs=1).points.sum())
    return np.array(sums)


def test_skipping_and_stopping_have_one_law_on_exchangeable_data() -> None:
    problem = Problem(Logistic(), Ball(D, 5.0))
    skip = one_run_each(SkipPNSGD(problem, 1.0, 0.3), 1)
    stop = one_run_each(StopPNSGD(problem, 1.0, 0.3, second_half=True), 2)
    assert stats.ks_2samp(skip, stop).pvalue > FALSE_ALARM
    # stopping at any time takes fewer steps, so it goes less far
    anywhere = one_run_each(StopPNSGD(problem, 1.0, 0.3), 3)
    assert stats.ks_2samp(skip, anywhere).pvalue < FALSE_ALARM


def test_skipped_records_are_uniform() -> None:
    runs = run(SkipPNSGD(Problem(Linear(), AllSpace(D)), 0.3, 0.8), make_data(9), runs=20_000, seed=3)
    counts = np.bincount(runs.gradient_queries, minlength=10)
    assert set(np.flatnonzero(counts)) == {5, 6, 7, 8, 9}
    assert stats.chisquare(counts[5:]).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    "algorithm",
    [
        PNSGD(Problem(Logistic(), Ball(D, 5.0)), 0.5, 0.05),
        SkipPNSGD(Problem(Logistic(), Ball(D, 5.0)), 0.5, 0.05),
        StopPNSGD(Problem(Logistic(), Ball(D, 5.0)), 0.5, 0.05),
        PNMSGD(Problem(Logistic(), Ball(D, 5.0)), 0.5, 0.05, epochs=3),
        NoisyGradientDescent(
            Problem(Logistic(), Ball(D, 5.0)), 1.0, 1e-5, noise_constant=1e-6, withdraw_guarantee=True
        ),
    ],
    ids=lambda algorithm: algorithm.id,
)
def test_the_risk_falls_where_noise_is_small(algorithm: Any) -> None:
    rng = np.random.default_rng(5)
    features = rng.normal(size=(40, D))
    features /= np.linalg.norm(features, axis=1)[:, None]
    data = Dataset(features, np.sign(features @ np.array([1.0, -1.0, 0.5])))
    points = run(algorithm, data, runs=200, seed=9).points
    problem = algorithm.problem
    before = float(problem.mean_risk(np.zeros((1, D)), data)[0])
    assert float(np.mean(problem.mean_risk(points, data))) < 0.85 * before
