"""Algorithms 1 and 2 of gll22: laws, queries and proven errors, against quadrature, closed forms and a slow twin.

Every test at a fixed seed rejects a correct sampler with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
import pickle
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from dpverify.algorithms.gll22.alternating_sampler import (
    AlternatingSampler,
    mixing_error,
    schedule,
    steps_needed,
)
from dpverify.algorithms.gll22.regularized_density import RegularizedDensity, farthest
from dpverify.algorithms.gll22.rejection_inner_step import (
    QUERIES_A_ROUND,
    RejectionInnerStep,
    largest_spread,
    product_estimate,
    truncation_error,
)
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Ridge,
    Simplex,
    Squared,
)
from dpverify.running import Randomness

FALSE_ALARM = 1e-6
Z = float(-stats.norm.ppf(FALSE_ALARM / 2))
Array = NDArray[np.float64]


def make_data(n: int = 5, d: int = 2, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    features /= np.linalg.norm(features, axis=1)[:, None]
    return Dataset(features, np.where(rng.uniform(size=n) < 0.7, 1.0, -1.0))


def interval_cdf(log_density: Any, low: float, high: float) -> Any:
    grid = np.linspace(low, high, 20_001)
    values = log_density(grid)
    total = integrate.cumulative_trapezoid(np.exp(values - values.max()), grid, initial=0.0)
    return lambda x: np.interp(x, grid, total / total[-1])


def mean_loss(problem: Problem, data: Dataset, grid: Array) -> Array:
    return np.asarray(problem.mean_risk(grid[:, None], data))


def ks_with_slack(values: Array, reference: Any, slack: float) -> bool:
    """Whether the Kolmogorov distance is within the slack of what the DKW inequality allows."""
    allowed = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * len(values)))
    return bool(stats.kstest(values, reference).statistic <= allowed + slack)


# ------------------------------------------------------------------------------------------ the estimator


class OneRecord(Randomness):
    """The planted fault: all factors of a product are about the same record."""

    passes = 0

    def integers(self, low: int, high: int, shape: tuple[int, ...], name: str) -> Any:
        # the first call is about products of one factor, the second of two, and so on
        self.passes += 1
        drawn = super().integers(low, high, shape, name)
        return np.repeat(drawn[:: self.passes], self.passes)


class EarlyStop(Randomness):
    """The planted fault: the loop always breaks after one product."""

    def uniform(self, shape: tuple[int, ...], name: str) -> Any:
        drawn = super().uniform(shape, name)
        return drawn * 0 + 0.999 if name == "another product" else drawn


class AlwaysAccept(Randomness):
    """The planted fault: the losses are ignored."""

    def uniform(self, shape: tuple[int, ...], name: str) -> Any:
        drawn = super().uniform(shape, name)
        return 0 * drawn - 100.0 if name == "accepted" else drawn


def estimates(rng: Randomness, m: int = 400_000) -> tuple[Array, Array, float]:
    data, scale = make_data(), 1.3
    problem = Problem(Logistic(), AllSpace(2))
    x, z = np.array([0.5, -0.3]), np.array([-0.6, 0.5])
    risks = problem.mean_risk(np.stack([x, z]), data)
    rho, queries = product_estimate(
        problem.loss, scale, data.features, data.labels, np.tile(x, (m, 1)), np.tile(z, (m, 1)), rng
    )
    return rho, queries, math.exp(scale * (risks[1] - risks[0]))


def test_the_estimate_is_unbiased() -> None:
    rho, queries, exact = estimates(Randomness(1))
    error = np.std(rho) / math.sqrt(len(rho))
    assert abs(exact - 1) > 0.1
    assert abs(np.mean(rho) - exact) < Z * error
    spread = np.std(queries) / math.sqrt(len(queries))
    assert abs(np.mean(queries) - QUERIES_A_ROUND) < Z * spread
    # a (a + 1) queries for a passes, and a passes with probability a / (a + 1)!
    passes = (np.sqrt(4 * queries + 1) - 1) / 2
    counts = np.bincount(passes.astype(int))[1:6]
    expected = np.array([a / math.factorial(a + 1) for a in range(1, 6)]) * len(queries)
    assert np.all(np.abs(counts - expected) < Z * np.sqrt(expected) + 3)


@pytest.mark.parametrize("fault", [OneRecord, EarlyStop])
def test_a_biased_estimate_is_seen(fault: type[Randomness]) -> None:
    """Powers of one record's difference have another mean, and so has a loop that always stops at once."""
    rho, _, exact = estimates(fault(1))
    assert abs(np.mean(rho) - exact) > Z * np.std(rho) / math.sqrt(len(rho))


# ------------------------------------------------------------------------------------------ proven errors


@pytest.mark.parametrize("spread", [0.15, 0.3, 0.7, 1.5])
def test_truncation_error_against_quadrature(spread: float) -> None:
    total = 0.0
    for m in range(1, 26):
        powers = np.arange(1, m + 1)

        def excess(z: float, powers: Any = powers) -> float:
            return max(0.0, float(np.sum((spread * z) ** powers)) - 1) * 2 * stats.norm.pdf(z)

        least = 0.4 / spread
        part = integrate.quad(excess, least, least + 12, points=[1 / spread, 0.5 / spread], limit=400)[0]
        total += m / math.factorial(m + 1) * part
    assert truncation_error(spread) == pytest.approx(total, rel=1e-4)


def test_truncation_error_bounds_what_is_cut_off() -> None:
    """One linear record: every difference is one and the same normal variable, the case of the bound."""
    spread, runs = 0.6, 400_000
    rng = np.random.default_rng(1)
    x = rng.normal(size=(runs, 1)) * spread / math.sqrt(2)
    z = rng.normal(size=(runs, 1)) * spread / math.sqrt(2)
    rho, _ = product_estimate(Linear(), 1.0, np.ones((1, 1)), np.ones(1), x, z, Randomness(2))
    cut = np.maximum(rho - 2, 0) + np.maximum(-rho, 0)
    measured, error = cut.mean(), Z * cut.std() / math.sqrt(runs)
    assert measured - error < truncation_error(spread)
    # differences are negative half of the time, so the bound is within a factor of about two
    assert measured + error > 0.4 * truncation_error(spread)


def test_the_paper_s_step_size_is_much_shorter() -> None:
    # (13) and (15) ask for eta <= 2^-8 / (G^2 L) with at least L = log(1/delta) terms, so spread^2 <= 2^-7 / L
    for error in (1e-3, 1e-6):
        printed = math.sqrt(2**-7 / math.log(1 / error))
        assert truncation_error(printed) < 1e-12 * error
        assert largest_spread(error) > 4 * printed
        assert truncation_error(largest_spread(error)) <= error


def test_mixing_error_bounds_the_exact_chain() -> None:
    """A linear loss on all space: every law of the chain is a Gaussian, known in closed form."""
    data = Dataset(np.array([[1.0]]), np.ones(1))
    for k, mu, eta in ((4.0, 1.0, 0.01), (20.0, 0.3, 0.1), (2.0, 5.0, 1.0)):
        density = RegularizedDensity(Problem(Linear(), AllSpace(1)), k, mu)
        mean, stddev = density.gaussian(data) or ((math.nan,), math.nan)
        precision = k * mu + 1 / eta
        m, v = 0.0, 0.0
        for steps in range(1, 60):
            # y ~ N(m, v + eta); x given y is N((k mu mean + y / eta) / precision, 1 / precision)
            m = (k * mu * mean[0] + m / eta) / precision
            v = 1 / precision + (v + eta) / (eta * precision) ** 2
            grid = np.linspace(mean[0] - 9 * stddev, mean[0] + 9 * stddev, 20_001)
            gap = np.abs(stats.norm.pdf(grid, m, math.sqrt(v)) - stats.norm.pdf(grid, mean[0], stddev))
            distance = integrate.trapezoid(gap, grid) / 2
            assert distance <= mixing_error(density, eta, steps) + 1e-9
    assert mixing_error(density, eta, steps_needed(density, eta, 1e-3)) <= 1e-3
    assert mixing_error(density, eta, steps_needed(density, eta, 1e-3) - 1) > 1e-3


def test_the_start_is_as_close_as_claimed() -> None:
    data = make_data(d=1)
    for k, mu, box in ((3.0, 0.5, Box.cube(1, 4.0)), (50.0, 0.1, Box((0.0,), (1.0,)))):
        density = RegularizedDensity(Problem(Hinge(), box), k, mu)
        grid = np.linspace(box.lower[0], box.upper[0], 20_001)
        anchor = density.anchor_point[0]
        v = k * (mean_loss(density.problem, data, grid) + mu / 2 * (grid - anchor) ** 2)
        weights = np.exp(-(v - v.min()))
        root = math.sqrt(np.sum(weights * (grid - anchor) ** 2) / weights.sum())
        assert root <= density.root_mean_square_distance
        assert abs(grid[np.argmin(v)] - anchor) <= density.mode_distance + 1e-3


def test_farthest_points() -> None:
    assert farthest(Ball(2, 1.0, (3.0, 0.0)), (3.0, 0.5)) == 1.5
    assert farthest(Box((0.0, 0.0), (3.0, 4.0)), (0.0, 0.0)) == 5.0
    assert farthest(Simplex(2), (0.5, 0.5)) == pytest.approx(math.sqrt(0.5))
    assert farthest(AllSpace(2), (0.0, 0.0)) == math.inf


# ------------------------------------------------------------------------------------------ the inner step


def inner_reference(step: RejectionInnerStep, data: Dataset) -> Any:
    box: Any = step.problem.constraint
    anchor, y = step.density.anchor_point[0], (step.point or (math.nan,))[0]

    def log_density(grid: Array) -> Array:
        pull = step.regularization / 2 * (grid - anchor) ** 2
        return np.asarray(
            -step.inverse_temperature * (mean_loss(step.problem, data, grid) + pull)
            - (grid - y) ** 2 / (2 * step.step_size)
        )

    return interval_cdf(log_density, box.lower[0], box.upper[0])


@pytest.mark.parametrize("loss", [Logistic(), Hinge(), Squared(1.0), Ridge(Logistic(), 0.7, 1.0)], ids=str)
@pytest.mark.parametrize("point", [0.4, 0.95])
def test_the_inner_step_against_quadrature(loss: Any, point: float) -> None:
    data = make_data(d=1)
    k = 1.0 if isinstance(loss, Squared) else 2.0
    step = RejectionInnerStep(Problem(loss, Box((-1.0,), (0.9,))), k, 0.5, 0.005, (point,))
    runs = 60_000
    output = step(data, rng=Randomness(3), runs=runs)
    values = output.points[:, 0]
    assert ks_with_slack(values, inner_reference(step, data), step.total_variation)
    (stated,) = step.queries(data.n)
    queries = np.asarray(output.value_queries, dtype=np.float64)
    error = Z * queries.std() / math.sqrt(runs)
    assert queries.mean() - error <= stated.count
    assert queries.mean() > 0.9 * stated.count


def test_an_inner_step_that_ignores_the_losses_is_seen() -> None:
    data = Dataset(np.ones((3, 1)), np.ones(3))
    step = RejectionInnerStep(Problem(Hinge(), Box((-1.0,), (0.9,))), 2.0, 0.5, 0.005, (0.4,))
    values = {
        source: step(data, rng=source(3), runs=60_000).points[:, 0] for source in (Randomness, AlwaysAccept)
    }
    reference = inner_reference(step, data)
    assert ks_with_slack(values[Randomness], reference, step.total_variation)
    assert not ks_with_slack(values[AlwaysAccept], reference, step.total_variation)


def slow_inner_step(step: RejectionInnerStep, data: Dataset, rng: Any) -> tuple[Array, int]:
    """Algorithm 2 line by line, with plain rejection for the restricted Gaussian."""
    k, mu, eta = step.inverse_temperature, step.regularization, step.step_size
    precision = k * mu + 1 / eta
    mean = (k * mu * np.asarray(step.density.anchor_point) + np.asarray(step.point) / eta) / precision
    d, queries = len(mean), 0

    def restricted() -> Array:
        while True:
            x = mean + rng.normal(size=d) / math.sqrt(precision)
            if bool(step.problem.constraint.contains(x[None, :], 0.0)[0]):
                return np.asarray(x)

    while True:
        x, z = restricted(), restricted()
        rho, alpha = 1.0, 0
        while True:
            alpha += 1
            product = 1.0
            for _ in range(alpha):
                j = rng.integers(data.n)
                f = [step.problem.loss.value(w[None, :], data.features[j], data.labels[j])[0] for w in (z, x)]
                product *= k * (f[0] - f[1])
                queries += 2
            rho += product
            if rng.uniform() < alpha / (1 + alpha):
                break
        if rng.uniform() <= rho / 2:
            return x, queries


def test_the_inner_step_against_its_slow_twin() -> None:
    data = make_data(d=2)
    step = RejectionInnerStep(
        Problem(Logistic(), Ball(2, 1.0)), 3.0, 0.5, 0.3, (0.9, 0.5), withdraw_guarantee=True
    )
    rng = np.random.default_rng(5)
    slow = [slow_inner_step(step, data, rng) for _ in range(3000)]
    output = step(data, rng=Randomness(6), runs=20_000)
    points = np.stack([x for x, _ in slow])
    for v in ((1.0, 0.0), (0.0, 1.0), (0.7, -0.7)):
        assert stats.ks_2samp(points @ v, output.points @ v).pvalue > FALSE_ALARM
    queries = np.array([q for _, q in slow], dtype=np.float64)
    ours = np.asarray(output.value_queries, dtype=np.float64)
    error = math.hypot(queries.std() / math.sqrt(len(queries)), ours.std() / math.sqrt(len(ours)))
    assert abs(queries.mean() - ours.mean()) < Z * error


# ------------------------------------------------------------------------------------------ the sampler


def linear_sampler(d: int) -> AlternatingSampler:
    return AlternatingSampler(Problem(Linear(), AllSpace(d)), 1.0, 1.0, 0.02)


def linear_law_holds(rng: Randomness, d: int = 10, runs: int = 1000) -> bool:
    """The exact Gaussian case: every coordinate and a slanted direction, and the squared norm."""
    data, sampler = make_data(d=d), linear_sampler(d)
    mean, stddev = sampler.density.gaussian(data) or ((), math.nan)
    points = sampler(data, rng=rng, runs=runs).points
    standard = (points - np.asarray(mean)) / stddev
    slanted = np.ones(d) / math.sqrt(d)
    laws = [ks_with_slack(standard @ v, stats.norm.cdf, 0.02) for v in (*np.eye(d), slanted)]
    return all(laws) and ks_with_slack(np.sum(standard**2, axis=1), stats.chi2(d).cdf, 0.02)


def test_a_gaussian_in_ten_dimensions() -> None:
    assert linear_law_holds(Randomness(1))


class HalfNoise(Randomness):
    """The planted fault: half the forward noise."""

    def normal(self, shape: tuple[int, ...], name: str, *, out: Any = None) -> Any:
        drawn = super().normal(shape, name, out=out)
        return drawn * (0.5 if name == "forward noise" else 1.0)


@pytest.mark.parametrize("fault", [HalfNoise, AlwaysAccept])
def test_planted_faults_are_seen(fault: type[Randomness]) -> None:
    assert not linear_law_holds(fault(1), d=2)


@pytest.mark.parametrize(
    ("loss", "constraint", "k", "mu"),
    [
        (Logistic(), Box((-1.0,), (0.5,)), 1.5, 1.0),
        (Hinge(), Ball(1, 1.0), 1.0, 1.0),
        (Ridge(Hinge(), 0.5, 1.0), Ball(1, 1.0), 1.0, 0.5),
    ],
    ids=str,
)
def test_one_dimension_against_quadrature(loss: Any, constraint: Any, k: float, mu: float) -> None:
    data = make_data(d=1)
    sampler = AlternatingSampler(Problem(loss, constraint), k, mu, 0.02)
    output = sampler(data, rng=Randomness(2), runs=1000)
    anchor = sampler.density.anchor_point[0]
    low = constraint.lower[0] if isinstance(constraint, Box) else -1.0
    high = constraint.upper[0] if isinstance(constraint, Box) else 1.0
    reference = interval_cdf(
        lambda grid: -k * (mean_loss(sampler.problem, data, grid) + mu / 2 * (grid - anchor) ** 2), low, high
    )
    assert ks_with_slack(output.points[:, 0], reference, 0.02)
    queries = np.asarray(output.value_queries, dtype=np.float64)
    (stated,) = sampler.queries(data.n)
    error = Z * queries.std() / math.sqrt(len(queries))
    assert 0.9 * stated.count < queries.mean() - error < stated.count


def test_a_simplex_against_quadrature() -> None:
    data = make_data(d=2)
    sampler = AlternatingSampler(Problem(Logistic(), Simplex(2)), 1.5, 1.0, 0.02)
    points = sampler(data, rng=Randomness(2), runs=500).points
    assert np.allclose(points.sum(axis=1), 1.0)

    def log_density(first: Array) -> Array:
        w = np.stack([first, 1 - first], axis=1)
        square = np.sum((w - 0.5) ** 2, axis=1)
        return np.asarray(-1.5 * (sampler.problem.mean_risk(w, data) + square / 2))

    assert ks_with_slack(points[:, 0], interval_cdf(log_density, 0.0, 1.0), 0.02)


def test_a_steep_regularizer_needs_one_step() -> None:
    """Where psi alone makes the losses nearly constant, the sampler is plain rejection from the prior."""
    sampler = AlternatingSampler(Problem(Logistic(), Ball(1, 1.0)), 0.01, 1000.0, 0.01)
    assert sampler.schedule.steps <= 2
    assert sampler.schedule.total_variation <= 0.01


def test_schedules_keep_the_accuracy() -> None:
    for k, mu, accuracy in ((1.0, 1.0, 1e-2), (30.0, 0.1, 1e-6), (5.0, 2.0, 0.5)):
        density = RegularizedDensity(Problem(Logistic(), Ball(4, 1.0)), k, mu)
        found = schedule(density, accuracy)
        assert found.total_variation <= accuracy
        assert found.truncation <= accuracy / 2
    sampler = AlternatingSampler(Problem(Logistic(), Ball(4, 1.0)), 2.0, 1.0, 1e-2)
    assert sampler.sampling_error(7) is not None
    assert sampler.guarantees(7) == ()


def test_too_few_steps_are_refused() -> None:
    problem = Problem(Logistic(), Ball(3, 1.0))
    proven = AlternatingSampler(problem, 2.0, 1.0).schedule
    for overrides in ({"steps": proven.steps // 2}, {"step_size": 10 * proven.step_size}):
        with pytest.raises(NotGuaranteedError, match=r"gll22\.alg1"):
            AlternatingSampler(problem, 2.0, 1.0, **overrides)  # type: ignore[arg-type]
        loose = AlternatingSampler(problem, 2.0, 1.0, withdraw_guarantee=True, **overrides)  # type: ignore[arg-type]
        assert loose.withdrawn
        assert loose.sampling_error(5) is None
    more = AlternatingSampler(problem, 2.0, 1.0, steps=2 * proven.steps, step_size=proven.step_size / 1.5)
    assert more.schedule.total_variation < 1e-3
    with pytest.raises(NotGuaranteedError, match=r"gll22\.alg2"):
        RejectionInnerStep(problem, 2.0, 1.0, 1.0)


@pytest.mark.parametrize("constraint", [Ball(2, 0.3), Box.cube(2, 0.2), Simplex(2), AllSpace(2)], ids=str)
def test_array_libraries_agree(constraint: Any) -> None:
    data = make_data()
    sampler = AlternatingSampler(
        Problem(Logistic(), constraint), 2.0, 1.0, steps=20, step_size=0.01, withdraw_guarantee=True
    )
    ours = sampler(data, rng=Randomness(4), runs=30)
    strict = sampler(data.as_namespace(array_api_strict), rng=Randomness(4, 0, array_api_strict), runs=30)
    assert np.max(np.abs(np.asarray(strict.points) - ours.points)) <= 1e-12
    assert np.array_equal(np.asarray(strict.value_queries), ours.value_queries)
    step = RejectionInnerStep(Problem(Logistic(), constraint), 2.0, 1.0, 0.003)
    first = step(data, rng=Randomness(4), runs=30).points
    second = step(data.as_namespace(array_api_strict), rng=Randomness(4, 0, array_api_strict), runs=30).points
    assert np.max(np.abs(np.asarray(second) - first)) <= 1e-12


def test_samplers_travel_between_processes() -> None:
    sampler = AlternatingSampler(Problem(Logistic(), Ball(2, 1.0)), 2.0, 1.0)
    assert pickle.loads(pickle.dumps(sampler)) == sampler
    assert sampler.schedule == pickle.loads(pickle.dumps(sampler)).schedule


BAD = [
    ("problem", 1),
    ("inverse_temperature", 0.0),
    ("inverse_temperature", math.nan),
    ("inverse_temperature", math.inf),
    ("inverse_temperature", True),
    ("regularization", -1.0),
    ("regularization", 0.0),
    ("regularization", math.nan),
    ("accuracy", 0.0),
    ("accuracy", 1.0),
    ("accuracy", math.nan),
    ("accuracy", False),
    ("anchor", (0.0,)),
    ("anchor", (2.0, 0.0)),
    ("anchor", (math.nan, 0.0)),
    ("step_size", 0.0),
    ("step_size", math.inf),
    ("withdraw_guarantee", 1),
]


@pytest.mark.parametrize(("argument", "value"), [*BAD, ("steps", 0), ("steps", 2.0), ("steps", True)])
def test_bad_parameters_of_the_sampler(argument: str, value: Any) -> None:
    good: dict[str, Any] = {
        "problem": Problem(Logistic(), Ball(2, 1.0)),
        "inverse_temperature": 1.0,
        "regularization": 1.0,
    }
    with pytest.raises(InvalidArgumentError, match=argument):
        AlternatingSampler(**{**good, argument: value})


@pytest.mark.parametrize(
    ("argument", "value"), [*BAD, ("point", (0.0,)), ("point", (math.nan, 0.0)), ("point", ("a", "b"))]
)
def test_bad_parameters_of_the_inner_step(argument: str, value: Any) -> None:
    good: dict[str, Any] = {
        "problem": Problem(Logistic(), Ball(2, 1.0)),
        "inverse_temperature": 1.0,
        "regularization": 1.0,
        "step_size": 0.01,
    }
    with pytest.raises(InvalidArgumentError, match=argument):
        RejectionInnerStep(**{**good, argument: value})


def test_a_set_of_one_point_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="more than one point"):
        AlternatingSampler(Problem(Logistic(), Simplex(1)), 1.0, 1.0)


def test_losses_must_be_lipschitz() -> None:
    with pytest.raises(InvalidArgumentError, match="Lipschitz"):
        AlternatingSampler(Problem(Squared(math.inf), AllSpace(2)), 1.0, 1.0)
