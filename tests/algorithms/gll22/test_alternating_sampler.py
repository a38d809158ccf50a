"""Algorithm 1 of gll22: laws, queries and proven errors, against quadrature and closed forms.

Every test at a fixed seed rejects a correct sampler with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
import pickle
from typing import Any

import array_api_strict
import numpy as np
import pytest
from sampler_laws import Array, Z, interval_cdf, ks_with_slack, make_data, mean_loss
from scipy import integrate, stats

from dpverify.algorithms.gll22.alternating_sampler import (
    AlternatingSampler,
    mixing_error,
    schedule,
    steps_needed,
)
from dpverify.algorithms.gll22.regularized_density import RegularizedDensity
from dpverify.algorithms.gll22.rejection_inner_step import (
    RejectionInnerStep,
    largest_spread,
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


class AlwaysAccept(Randomness):
    """The planted fault: the losses are ignored."""

    def uniform(self, shape: tuple[int, ...], name: str) -> Any:
        drawn = super().uniform(shape, name)
        return 0 * drawn - 100.0 if name == "accepted" else drawn


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
    assert not sampler.guarantees(7)


def test_too_few_steps_are_refused() -> None:
    problem = Problem(Logistic(), Ball(3, 1.0))
    proven = AlternatingSampler(problem, 2.0, 1.0).schedule
    for overrides in ({"steps": proven.steps // 2}, {"step_size": 10 * proven.step_size}):
        with pytest.raises(NotGuaranteedError, match=r"gll22\.alg1"):
            AlternatingSampler(problem, 2.0, 1.0, **overrides)  # type: ignore[arg-type]
        loose = AlternatingSampler(problem, 2.0, 1.0, withdraw_guarantee=True, **overrides)  # type: ignore[arg-type]
        assert loose.withdrawn(5)
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


def test_a_set_of_one_point_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="more than one point"):
        AlternatingSampler(Problem(Logistic(), Simplex(1)), 1.0, 1.0)


def test_losses_must_be_lipschitz() -> None:
    with pytest.raises(InvalidArgumentError, match="Lipschitz"):
        AlternatingSampler(Problem(Squared(math.inf), AllSpace(2)), 1.0, 1.0)
