"""What is taken out of the losses before they are estimated: how steep the rest is, and that the law stays.

Every statistical test has a fixed seed and rejects a correct sampler with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from dpverify.algorithms.gll22 import rejection_inner_step
from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler
from dpverify.algorithms.gll22.regularized_density import Expansion, expansion_of
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.algorithms.gll22.rejection_inner_step import InnerKernel
from dpverify.algorithms.samplers.restricted_gaussian import RestrictedGaussian
from dpverify.algorithms.samplers.tilted_gaussians import SkewGaussian
from dpverify.errors import InvalidArgumentError
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    EuclideanDistance,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Ridge,
    Simplex,
    Squared,
)
from dpverify.problems.further_losses import HuberizedPositivePart
from dpverify.running import Randomness

FALSE_ALARM = 1e-6
Array = NDArray[np.float64]


@pytest.mark.parametrize("largest", [1e-3, 0.1, 1.0, 5.0, 60.0])
@pytest.mark.parametrize("loss", [Logistic(), HuberizedPositivePart(0.5), Squared(60.0), Linear()], ids=str)
@pytest.mark.parametrize("kind", [Ball, Box.cube])
def test_how_steep_the_rest_is_on_a_grid(loss: Any, largest: float, kind: Any) -> None:
    """A bound on the slopes of the rest for all labels; for logistic losses, the largest of them."""
    constraint = kind(1, largest)
    found = expansion_of(Problem(loss, constraint))
    if found is None:
        # of the box's own smooth losses, those that are steeper without their slope at 0
        assert loss.smoothness * largest >= loss.lipschitz_constant
        return
    margins = np.linspace(-largest, largest, 40_001)
    slopes = [
        loss.link_slope(margins, np.full(margins.shape, label))
        - loss.link_slope(np.zeros(1), np.full(1, label))
        - found.curvatures(np.full(margins.shape, label)) * margins
        for label in (-1.0, -0.3, 0.0, 0.6, 1.0)
    ]
    steepest = float(np.max(np.abs(slopes)))
    assert steepest <= found.lipschitz_constant + 1e-13
    assert found.lipschitz_constant < loss.lipschitz_constant
    if isinstance(loss, Logistic):
        assert steepest == pytest.approx(found.lipschitz_constant, rel=1e-3, abs=1e-12)
    if isinstance(loss, Logistic) and isinstance(constraint, Ball):
        other = [
            np.max(np.abs(0.5 * np.tanh(margins / 2) - c * found.curvature * margins)) for c in (0.99, 1.01)
        ]
        assert min(other) > steepest


def test_what_has_no_expansion() -> None:
    assert expansion_of(Problem(Hinge(), Ball(2, 1.0))) is None
    assert expansion_of(Problem(EuclideanDistance(), Ball(2, 1.0))) is None
    assert expansion_of(Problem(HuberizedPositivePart(0.1), Ball(2, 10.0))) is None
    assert expansion_of(Problem(Logistic(), AllSpace(2))) == Expansion(0.0, 0.5 + 1e-14)
    simplex = expansion_of(Problem(Logistic(), Simplex(3)))
    assert simplex is not None
    assert simplex.curvature == 0
    ridge = Problem(Ridge.on(Ball(2, 1.0), Logistic(), 0.3), Ball(2, 1.0))
    assert expansion_of(ridge) == expansion_of(Problem(Logistic(), Ball(2, 1.0)))


# ------------------------------------------------------------------------------------------ the law


def make_data(n: int, d: int) -> Dataset:
    rng = np.random.default_rng(7)
    features = rng.normal(size=(n, d))
    features /= np.linalg.norm(features, axis=1)[:, None]
    return Dataset(features, np.where(features[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0))


def first_coordinate_law(sampler: AlternatingSampler, data: Dataset) -> Any:
    """Distribution function of the first coordinate, by quadrature over the others."""
    constraint, d = sampler.problem.constraint, data.d
    edge = (
        1.0
        if isinstance(constraint, AllSpace)
        else float(constraint.diameter) / 2 / math.sqrt(1 if isinstance(constraint, Ball) else d)
    )
    reach = 6.0 if isinstance(constraint, AllSpace) else edge
    grid = np.linspace(-reach, reach, 4001 if d == 1 else 401)
    points = np.stack(np.meshgrid(*[grid] * d, indexing="ij"), axis=-1).reshape(-1, d)
    k, mu = sampler.inverse_temperature, sampler.regularization
    potential = k * (np.asarray(sampler.problem.mean_risk(points, data)) + mu / 2 * np.sum(points**2, axis=1))
    inside = np.asarray(constraint.contains(points, 1e-12))
    weights = np.where(inside, np.exp(-(potential - potential[inside].min())), 0.0)
    density = weights.reshape(grid.size, -1).sum(axis=1)
    below = integrate.cumulative_trapezoid(density, grid, initial=0.0)
    return lambda x: np.interp(x, grid, below / below[-1])


def deviation(sampler: AlternatingSampler, data: Dataset, runs: int = 3000) -> float:
    """Kolmogorov distance less the sampling error and the grid's, in units of what DKW rejects at FALSE_ALARM."""
    points = np.asarray(sampler(data, rng=Randomness(5), runs=runs).points)
    found = stats.kstest(points[:, 0], first_coordinate_law(sampler, data)).statistic
    return float((found - sampler.accuracy - 2e-3) / math.sqrt(math.log(2 / FALSE_ALARM) / (2 * runs)))


CASES = [
    (Logistic(), Ball(1, 1.0), 60.0, 0.1),
    (Logistic(), Ball(2, 1.0), 60.0, 0.05),
    (Logistic(), Ball(2, 3.0), 30.0, 0.3),
    (Logistic(), Box.cube(1, 0.5), 6.0, 0.4),
    (Ridge.on(Ball(2, 1.0), Logistic(), 0.2), Ball(2, 1.0), 40.0, 0.05),
    (Squared.on(Ball(2, 1.0)), Ball(2, 1.0), 60.0, 0.05),
    (Squared.on(Box.cube(2, 0.2)), Box.cube(2, 0.2), 3.0, 1.0),
    (HuberizedPositivePart(0.5), Ball(1, 0.3), 8.0, 0.5),
    (Linear(), AllSpace(1), 9.0, 0.8),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("loss", "constraint", "k", "mu"), CASES, ids=str)
def test_the_law_by_quadrature(loss: Any, constraint: Any, k: float, mu: float) -> None:
    sampler = AlternatingSampler(Problem(loss, constraint), k, mu, 0.01, expanded=True)
    assert sampler.schedule.steps < AlternatingSampler(Problem(loss, constraint), k, mu, 0.01).schedule.steps
    assert deviation(sampler, make_data(9, constraint.dimension)) < 1


def test_the_law_for_labels_between_the_two() -> None:
    """Logistic losses are allowed any label in [-1, 1], and bend less there."""
    whole = make_data(9, 2)
    data = Dataset(whole.features, np.linspace(-1.0, 1.0, 9))
    sampler = AlternatingSampler(Problem(Logistic(), Ball(2, 1.0)), 60.0, 0.05, 0.01, expanded=True)
    assert deviation(sampler, data) < 1


@pytest.mark.parametrize("fault", ["gradient", "curvature", "estimate"])
def test_faults_are_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Gaussian without the gradient, one with half of the curvature, an estimate of the whole loss."""
    k = 5.0 if fault == "estimate" else 60.0
    sampler = AlternatingSampler(Problem(Logistic(), Ball(2, 1.0)), k, 0.05, 0.01, expanded=True)
    data = Dataset(np.tile([[0.6, -0.8]], (9, 1)), np.ones(9))
    assert deviation(sampler, data) < 1
    if fault == "gradient":
        monkeypatch.setattr(InnerKernel, "_slope_at_0", np.zeros(2))
    elif fault == "curvature":
        skew = SkewGaussian
        less = lambda constraint, matrix: skew(constraint, matrix + 6.0 * np.eye(2))  # noqa: E731
        monkeypatch.setattr(rejection_inner_step, "SkewGaussian", type("Skew", (skew,), {}))
        monkeypatch.setattr(rejection_inner_step.SkewGaussian, "__new__", lambda cls, *a: less(*a))
    else:
        estimate = rejection_inner_step.product_estimate
        monkeypatch.setattr(
            rejection_inner_step, "product_estimate", lambda *arguments: estimate(*arguments[:-1])
        )
    assert deviation(sampler, data) > 1


def test_array_libraries_agree() -> None:
    data = make_data(6, 3)
    for constraint in (Ball(3, 0.3), Box.cube(3, 0.2), AllSpace(3)):
        sampler = AlternatingSampler(
            Problem(Logistic(), constraint),
            3.0,
            1.0,
            steps=20,
            step_size=0.01,
            withdraw_guarantee=True,
            expanded=True,
        )
        ours = sampler(data, rng=Randomness(4), runs=20)
        strict = sampler(data.as_namespace(array_api_strict), rng=Randomness(4, 0, array_api_strict), runs=20)
        assert np.max(np.abs(np.asarray(strict.points) - ours.points)) <= 1e-12
        assert np.array_equal(np.asarray(strict.value_queries), ours.value_queries)


def test_a_skew_gaussian_without_skew() -> None:
    """The restricted Gaussian, whose proposals are others; means far outside, so that plain ones would not do."""
    ball = Ball(8, 1.0, (0.5,) * 8)
    mean = np.tile(np.linspace(-1.0, 2.0, 8), (4000, 1))
    ours = np.asarray(SkewGaussian(ball, 25.0 * np.eye(8)).sample(mean, Randomness(1)))
    theirs = np.asarray(RestrictedGaussian(ball, 0.2).sample(mean, Randomness(2)))
    other = np.asarray(RestrictedGaussian(ball, 0.24).sample(mean, Randomness(2)))
    direction = mean[0] - 0.5
    assert stats.ks_2samp(ours @ direction, theirs @ direction).pvalue > FALSE_ALARM
    assert stats.ks_2samp(ours @ direction, other @ direction).pvalue < FALSE_ALARM
    with pytest.raises(InvalidArgumentError, match="Ball or AllSpace"):
        SkewGaussian(Box.cube(2, 1.0), np.eye(2))


# ------------------------------------------------------------------------------------------ what it saves


@pytest.mark.parametrize(("n", "saved"), [(50, 1e5), (569, 1e5), (10_000, 1e5)])
def test_value_queries_are_fewer_by_orders_of_magnitude(n: int, saved: float) -> None:
    """Logistic losses on the unit ball in 30 dimensions; the same accuracy, paid for with the same delta."""
    mechanism = RegularizedExponentialMechanism(Problem(Logistic(), Ball(30, 1.0)), 1.0, 0.01)
    sampler = mechanism.alternating_sampler(n)
    values, gradients = sampler.queries(n)
    (before,) = replace(sampler, expanded=False).queries(n)
    assert before.count > saved * values.count
    assert (gradients.oracle, gradients.count) == ("gradient", n)
    assert sampler.schedule.total_variation <= sampler.accuracy
    output = sampler(make_data(5, 30), rng=Randomness(1), runs=2) if n == 50 else None
    if output is not None:
        assert np.all(np.asarray(output.gradient_queries) == 5)
