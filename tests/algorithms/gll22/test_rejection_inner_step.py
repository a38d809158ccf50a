"""Algorithm 2 of gll22: its estimates and its law, against quadrature and a slow twin.

Every test at a fixed seed rejects a correct sampler with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sampler_laws import FALSE_ALARM, Array, Z, interval_cdf, ks_with_slack, make_data, mean_loss
from scipy import integrate, stats

from dpverify.algorithms.gll22.regularized_density import RegularizedDensity
from dpverify.algorithms.gll22.rejection_inner_step import (
    QUERIES_A_ROUND,
    RejectionInnerStep,
    product_estimate,
    truncation_error,
)
from dpverify.errors import InvalidArgumentError
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


def excess_on_ball(
    k: float, mu: float, d: int, *, slope: float = 1.0, bent: bool, above: float | None = None
) -> float:
    """Expected excess, under exp(-k (F + mu |x|^2 / 2)) on the unit ball, of slope <e, x> or |x + e|, by quadrature.

    Or the probability that it is above a number.
    """
    r, angle = np.linspace(0.0, 1.0, 801)[1:, None], np.linspace(0.0, np.pi, 801)[None, 1:-1]
    f = slope * (
        np.sqrt(np.maximum(r**2 + 2 * r * np.cos(angle) + 1, 0.0)) if bent else 1 + r * np.cos(angle)
    )
    logs = -k * (f + mu * r**2 / 2) + (d - 1) * np.log(r) + (d - 2) * np.log(np.sin(angle))
    weights = np.exp(logs - logs.max())
    return float(np.sum(weights * (f if above is None else f > above)) / np.sum(weights))


@pytest.mark.parametrize(("k", "mu"), [(4.0, 10.0), (4.0, 251.0), (100.0, 0.5), (1000.0, 0.1), (40.0, 2.0)])
def test_the_risk_bound_is_above_the_worst_losses_and_not_far(k: float, mu: float) -> None:
    bound = RegularizedDensity(Problem(Linear(), Ball(30, 1.0)), k, mu).excess_risk
    worst = max(
        excess_on_ball(k, mu, 30, slope=slope, bent=bent)
        for bent in (False, True)
        for slope in (1.0, 0.3, 0.1, 0.05)
    )
    assert worst < bound < 1.5 * worst
    assert bound - math.sqrt(30 / (k * mu)) < worst or k > 30  # the spread cannot be left out


@pytest.mark.parametrize(("k", "mu"), [(4.0, 251.0), (100.0, 0.5), (1e4, 0.1), (40.0, 2.0)])
def test_no_excess_is_above_its_quantile_more_often(k: float, mu: float) -> None:
    """Nor below by a half: that would be exceeded."""
    density, beta = RegularizedDensity(Problem(Linear(), Ball(30, 1.0)), k, mu), 0.01
    found = [
        max(
            excess_on_ball(k, mu, 30, slope=slope, bent=bent, above=part * density.excess_quantile(beta))
            for bent in (False, True)
            for slope in (1.0, 0.3, 0.05)
        )
        for part in (1.0, 0.5)
    ]
    assert found[0] <= beta < found[1]


def test_the_bound_by_parts_is_nearly_attained() -> None:
    """By a distance whose slope is half of what the regularizer pulls with: 6 % less would be broken."""
    bound = RegularizedDensity(Problem(Linear(), Ball(30, 1.0)), 1e4, 0.1).excess_risk
    assert 0.94 * bound < excess_on_ball(1e4, 0.1, 30, slope=0.05, bent=True) < bound


def test_a_step_has_the_risk_of_the_density_with_its_point_and_of_its_distance_from_it() -> None:
    problem = Problem(Linear(), Ball(30, 1.0))
    # a step of this length from the middle adds to mu: half of it comes from there
    step = RejectionInnerStep(problem, 4.0, 5.0, 1 / 20, accuracy=0.5, withdraw_guarantee=True)
    target = step._target
    assert target == RegularizedDensity(problem, 4.0, 10.0, (0.0,) * 30)
    short = RejectionInnerStep(problem, 4.0, 5.0, 1e-9)
    stated = short.risk_bound(5)
    assert stated is not None
    assert step.risk_bound(5) is None, step.withdrawn(5)
    assert stated.bound == pytest.approx(1.0, abs=0.01)  # where it starts
    assert replace(short, point=(1.001,) + (0.0,) * 29).risk_bound(5) is None


def test_a_point_of_the_set_has_a_risk_bound_whatever_the_rounding() -> None:
    problem, rng = Problem(Logistic(), Simplex(4, 1.0)), np.random.default_rng(0)
    for point in rng.dirichlet(np.ones(4), size=50):
        stated = RejectionInnerStep(problem, 2.0, 1.0, 1e-4, tuple(point)).risk_bound(5)
        assert stated is not None
        moved = RejectionInnerStep(
            problem, 2.0, 1.0, 1e-4, tuple(point + 1e-9)
        )  # a slope of 1e-5 in its place
        assert moved.risk_bound(5) is None
