"""Restricted Gaussians have their law: against closed forms, quadrature and plain rejection.

Every test at a fixed seed rejects a correct sampler with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from dpverify.algorithms.samplers.restricted_gaussian import RestrictedGaussian, truncated_normal
from dpverify.errors import InvalidArgumentError
from dpverify.problems import AllSpace, Ball, Box, Simplex
from dpverify.running import Randomness

FALSE_ALARM = 1e-6
RUNS = 20_000
Array = NDArray[np.float64]


def draw(constraint: Any, mean: Any, stddev: float, *, runs: int = RUNS, seed: int = 1) -> Array:
    means = np.tile(np.asarray(mean, dtype=np.float64), (runs, 1))
    return np.asarray(RestrictedGaussian(constraint, stddev).sample(means, Randomness(seed)))


def plain(constraint: Any, mean: Any, stddev: float, count: int = RUNS) -> Array:
    """The definition: a Gaussian (on the simplex's plane, where there is one) until it falls into the set."""
    rng, kept, found = np.random.default_rng(7), [], 0
    while found < count:
        points = np.asarray(mean) + stddev * rng.normal(size=(100_000, constraint.dimension))
        if isinstance(constraint, Simplex):
            points -= ((points.sum(axis=1) - constraint.scale) / constraint.dimension)[:, None]
            points = points[np.all(points >= 0, axis=1)]
        else:
            points = points[constraint.contains(points, 0.0)]
        kept.append(points)
        found += len(points)
    return np.concatenate(kept)[:count]


def ball_reference(d: int, radius: float, distance: float, stddev: float) -> Any:
    """Distribution function of the coordinate along the mean: a normal density times a chi-square probability."""
    grid = np.linspace(-radius, radius, 40_001)
    log_density = -((grid - distance) ** 2) / (2 * stddev**2)
    log_density += stats.chi2(d - 1).logcdf((radius**2 - grid**2) / stddev**2)
    density = np.exp(log_density - log_density.max())
    total = integrate.cumulative_trapezoid(density, grid, initial=0.0)
    return lambda x: np.interp(x, grid, total / total[-1])


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (-1.0, 2.0),
        (0.0, 0.5),
        (3.0, math.inf),
        (3.0, 3.1),
        (-math.inf, -8.0),
        (-5.0, -4.9),
        (-math.inf, math.inf),
        (20.0, 25.0),
        (0.0, math.inf),
        (-0.3, 6.0),
    ],
)
def test_truncated_normals(lower: float, upper: float) -> None:
    values = truncated_normal(np.full(RUNS, lower), np.full(RUNS, upper), Randomness(3))
    assert np.all((values >= lower) & (values <= upper))
    assert stats.kstest(values, stats.truncnorm(lower, upper).cdf).pvalue > FALSE_ALARM
    # a shift of a tenth of the spread is seen
    wrong = stats.truncnorm(lower, upper)
    assert stats.kstest(values + 0.1 * wrong.std(), wrong.cdf).pvalue < FALSE_ALARM


@pytest.mark.parametrize(
    ("mean", "stddev"), [((0.1, -0.2), 0.3), ((2.0, 0.0), 0.2), ((-4.0, 9.0), 0.5), ((0.3, 0.3), 50.0)]
)
def test_boxes(mean: tuple[float, float], stddev: float) -> None:
    box = Box((-1.0, 0.0), (0.5, 0.25))
    points = draw(box, mean, stddev)
    assert np.all(box.contains(points, 0.0))
    for i, (low, high) in enumerate(zip(box.lower, box.upper, strict=True)):
        law = stats.truncnorm((low - mean[i]) / stddev, (high - mean[i]) / stddev, mean[i], stddev)
        assert stats.kstest(points[:, i], law.cdf).pvalue > FALSE_ALARM / 2
    assert abs(stats.spearmanr(points).statistic) < 5 / math.sqrt(RUNS)


@pytest.mark.parametrize(
    ("d", "distance", "stddev"),
    [
        (2, 0.3, 0.2),
        (2, 1.5, 0.3),
        (2, 0.2, 5.0),
        (2, 3.0, 2.0),
        (3, 0.0, 1.0),
        (3, 1.2, 0.1),
        (5, 0.9, 0.4),
        (10, 3.0, 0.05),
        (20, 0.5, 0.5),
        (50, 1.0, 10.0),
    ],
)
def test_balls_along_the_mean(d: int, distance: float, stddev: float) -> None:
    radius = 0.9
    midpoint = np.linspace(-0.4, 0.7, d)
    direction = np.random.default_rng(d).normal(size=d)
    direction /= np.linalg.norm(direction)
    ball = Ball(d, radius, tuple(midpoint))
    points = draw(ball, midpoint + distance * direction, stddev)
    assert np.all(ball.contains(points))
    along = (points - midpoint) @ direction
    reference = ball_reference(d, radius, distance, stddev)
    assert stats.kstest(along, reference).pvalue > FALSE_ALARM
    # across the mean the law is symmetric, in every direction alike
    across = points - midpoint - along[:, None] * direction
    other = np.random.default_rng(d + 1).normal(size=d)
    other -= (other @ direction) * direction
    side = across @ other
    assert stats.binomtest(int(np.sum(side > 0)), RUNS).pvalue > FALSE_ALARM
    # no more than a few proposals a run, whatever the mean
    rng = Randomness(2)
    far = np.tile(midpoint + distance * direction, (2000, 1))
    RestrictedGaussian(ball, stddev).sample(far, rng)
    assert rng.counts["ball accepted"] < 6 * 2000


def test_a_ball_in_one_dimension_is_an_interval() -> None:
    points = draw(Ball(1, 0.5, (0.2,)), (1.4,), 0.3)[:, 0]
    law = stats.truncnorm((-0.3 - 1.4) / 0.3, (0.7 - 1.4) / 0.3, 1.4, 0.3)
    assert stats.kstest(points, law.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("constraint", "mean", "stddev"),
    [
        (Ball(2, 1.0), (0.8, 0.7), 0.5),
        (Ball(3, 1.0), (1.0, 0.4, -0.2), 0.6),
        (Ball(4, 1.0), (0.0, 0.0, 0.0, 0.0), 0.7),
        (Simplex(2), (0.9, 0.2), 0.4),
        (Simplex(3), (1.2, 0.3, 0.2), 0.5),
        (Simplex(3, 2.0), (0.0, 0.0, 0.0), 3.0),
        (Simplex(5), (0.5, 0.4, -0.3, 0.2, 0.1), 0.2),
    ],
    ids=str,
)
def test_against_plain_rejection(constraint: Any, mean: tuple[float, ...], stddev: float) -> None:
    ours, theirs = draw(constraint, mean, stddev), plain(constraint, mean, stddev)
    assert np.all(constraint.contains(ours))
    slanted = np.random.default_rng(4).normal(size=(3, constraint.dimension))
    directions = [*np.eye(constraint.dimension), *slanted]
    pvalues = [stats.ks_2samp(ours @ v, theirs @ v).pvalue for v in directions]
    radii = [np.linalg.norm(points - np.asarray(mean), axis=1) for points in (ours, theirs)]
    pvalues.append(stats.ks_2samp(*radii).pvalue)
    assert min(pvalues) * len(pvalues) > FALSE_ALARM
    # the planted fault: projecting instead of restricting
    projected = constraint.project(
        np.asarray(mean) + stddev * np.random.default_rng(5).normal(size=ours.shape)
    )
    assert min(stats.ks_2samp(projected @ v, theirs @ v).pvalue for v in directions) < FALSE_ALARM


def test_simplex_far_outside_stays_quick() -> None:
    mean = np.random.default_rng(1).normal(size=(1000, 50))
    rng = Randomness(3)
    points = RestrictedGaussian(Simplex(50), 0.01).sample(mean, rng)
    assert np.all(Simplex(50).contains(points))
    assert rng.counts["simplex accepted"] < 20 * 1000


def test_all_space_is_a_plain_gaussian() -> None:
    points = draw(AllSpace(3), (1.0, 2.0, 3.0), 0.5)
    assert stats.kstest(((points - [1, 2, 3]) / 0.5).ravel(), "norm").pvalue > FALSE_ALARM


def test_simplex_of_one_point() -> None:
    assert np.max(np.abs(draw(Simplex(1, 0.7), (3.0,), 0.1, runs=50) - 0.7)) < 1e-15


@pytest.mark.parametrize(
    "constraint",
    [Ball(3, 0.4), Ball(2, 0.4), Box.cube(3, 0.2), Simplex(3), AllSpace(3), Ball(1, 0.2)],
    ids=str,
)
def test_array_libraries_agree(constraint: Any) -> None:
    means = np.random.default_rng(0).normal(size=(200, constraint.dimension))
    ours = RestrictedGaussian(constraint, 0.3).sample(means, Randomness(4))
    strict = RestrictedGaussian(constraint, 0.3).sample(
        array_api_strict.asarray(means), Randomness(4, 0, array_api_strict)
    )
    assert np.max(np.abs(np.asarray(strict) - ours)) <= 1e-12


@pytest.mark.parametrize("stddev", [0.0, -1.0, math.nan, math.inf, True, "1"])
def test_bad_deviations(stddev: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="stddev"):
        RestrictedGaussian(Ball(2, 1.0), stddev)


def test_bad_sets_and_means() -> None:
    with pytest.raises(InvalidArgumentError, match="constraint"):
        RestrictedGaussian("ball", 1.0)  # type: ignore[arg-type]
    gaussian = RestrictedGaussian(Ball(2, 1.0), 1.0)
    for mean in (np.zeros((3, 3)), np.zeros(2), np.full((1, 2), math.nan), np.full((1, 2), math.inf)):
        with pytest.raises(InvalidArgumentError, match="mean"):
            gaussian.sample(mean, Randomness(0))
