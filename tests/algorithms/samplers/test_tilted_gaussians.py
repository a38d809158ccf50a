"""Gaussian-like densities on the lens of two balls: by quadrature, against plain rejection, with faults planted.

Every statistical test has a fixed seed and rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from dpverify.algorithms.samplers import tilted_gaussians
from dpverify.algorithms.samplers.quadratic_sampling import AxialSampler
from dpverify.algorithms.samplers.tilted_gaussians import LensSampler
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Ball
from dpverify.running import Randomness

FALSE_ALARM = 1e-6
RUNS = 6000
Array = NDArray[np.float64]


def deviation(levels: Array) -> float:
    """Kolmogorov distance from uniform, in units of what a test at level FALSE_ALARM rejects (DKW)."""
    found = float(stats.kstest(levels, "uniform").statistic)
    return found / math.sqrt(math.log(2 / FALSE_ALARM) / (2 * levels.size))


def spherical(
    d: int, center: float, radius: float, mean: tuple[float, float], stddev: float, runs: int = RUNS
) -> LensSampler:
    """N(mean, stddev^2 I) on the unit ball about (0.2, ..., 0.2) and a ball whose center is on the first axis."""
    midpoint = np.full(d, 0.2)
    at = midpoint.copy()
    at[: min(d, 2)] += mean[: min(d, 2)]
    centers = np.tile(midpoint, (runs, 1))
    centers[:, 0] += center
    precision = np.eye(d) / stddev**2
    return LensSampler(Ball(d, 1.0, tuple(midpoint)), precision, -precision @ at, centers, radius)


def levels_of(points: Array, center: float, radius: float, mean: tuple[float, float], stddev: float) -> Any:
    """Where points are in the law's distribution function along the axis, and off the axis given that.

    At t on the axis the lens is a ball of d - 1 dimensions of radius rho(t), in which the squared distance from the
    axis over the variance has a noncentral chi-square law, cut at rho(t)^2.
    """
    d = points.shape[1]
    offset = points - 0.2
    t = offset[:, 0]
    low, high = max(-1.0, center - radius), min(1.0, center + radius)
    grid = np.linspace(low, high, 20_001)
    rho2 = np.minimum(1 - grid**2, radius**2 - (grid - center) ** 2).clip(0)

    def inside(squared: Array) -> Array:
        if d == 1:
            return np.ones(squared.shape)
        return np.asarray(stats.ncx2.cdf(squared / stddev**2, d - 1, mean[1] ** 2 / stddev**2))

    log_density = -0.5 * ((grid - mean[0]) / stddev) ** 2
    density = np.exp(log_density - np.max(log_density)) * inside(rho2)
    below = integrate.cumulative_trapezoid(density, grid, initial=0.0)
    along = np.interp(t, grid, below / below[-1])
    if d == 1:
        return along, None
    away = np.sum(offset[:, 1:] ** 2, axis=1)
    edge = np.minimum(1 - t**2, radius**2 - (t - center) ** 2)
    return along, inside(away) / inside(edge)


CASES = {
    "inside": (0.3, 0.5, (0.25, 0.1), 0.2),
    "both spheres": (0.9, 0.7, (0.8, 0.6), 0.3),
    "flat boundary": (1.0, 0.05, (1.5, 0.4), 0.3),
    "nearly uniform": (0.6, 0.8, (0.5, 1.0), 2.0),
    "steep inward": (0.9, 0.4, (-0.6, 0.3), 0.15),
    "all of the ball": (0.0, 5.0, (0.7, 0.9), 0.4),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("d", [1, 2, 3, 12])
def test_the_law_by_quadrature(case: str, d: int) -> None:
    """In 1 to 3 dimensions, and in 12 by the same symmetry; two tests each, at half the level."""
    center, radius, mean, stddev = CASES[case]
    sampler = spherical(d, center, radius, mean, stddev)
    points = np.asarray(sampler.draw(Randomness(11)))
    for levels in levels_of(points, center, radius, mean, stddev):
        assert levels is None or deviation(levels) < 1


@pytest.mark.parametrize("fault", ["tilt", "outer ball", "half-space", "center"])
def test_faults_are_seen_by_quadrature(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    center, radius, mean, stddev = CASES["nearly uniform" if fault == "tilt" else "both spheres"]
    sampler = spherical(12 if fault == "tilt" else 3, center, radius, mean, stddev)
    draw, support = tilted_gaussians._Proposals.draw, tilted_gaussians._Lenses._support

    def accepts_all(self: Any, *others: Any) -> Any:
        points, log_accept = draw(self, *others)
        return points, np.where(np.isfinite(log_accept), 0.0, -np.inf)

    def ignores_outer(self: Any, *others: Any) -> Any:
        points, log_accept = draw(self, *others)
        return points, np.where(np.sum(points**2, axis=1) <= 1, np.maximum(log_accept, -1.0), -np.inf)

    if fault == "tilt":
        monkeypatch.setattr(tilted_gaussians._Proposals, "draw", accepts_all)
    elif fault == "outer ball":
        monkeypatch.setattr(tilted_gaussians._Proposals, "draw", ignores_outer)
    elif fault == "half-space":
        monkeypatch.setattr(tilted_gaussians._Lenses, "_support", lambda self, u: support(self, u) - 0.2)
    else:
        sampler = spherical(3, center - 0.1, radius, mean, stddev)
    points = np.asarray(sampler.draw(Randomness(11)))
    with np.errstate(all="ignore"):  # points outside of the lens have no level
        found = levels_of(points, center, radius, mean, stddev)
    assert max(deviation(np.nan_to_num(levels, nan=1.0, posinf=1.0)) for levels in found) > 1


def plain_rejection(sampler: LensSampler, runs: int) -> Array:
    """The same law by proposing from the whole Gaussian; all centers must be equal."""
    rng = np.random.default_rng(5)
    covariance = np.linalg.inv(sampler.hessian)
    found: list[Array] = []
    while sum(map(len, found)) < runs:
        points = rng.multivariate_normal(-covariance @ sampler.slope, covariance, size=100_000)
        near = np.linalg.norm(points - sampler.centers[0], axis=1) <= sampler.radius
        inside = np.linalg.norm(points - sampler.ball.center(), axis=1) <= sampler.ball.radius
        found.append(points[near & inside])
    return np.concatenate(found)[:runs]


def general(d: int) -> LensSampler:
    """Unequal curvatures along skew axes, a center on the boundary, a mean outside."""
    rng = np.random.default_rng(3)
    axes = np.linalg.qr(rng.normal(size=(d, d)))[0]
    hessian = axes @ np.diag(np.linspace(2.0, 40.0, d)) @ axes.T
    center = rng.normal(size=d)
    center /= np.linalg.norm(center)
    mean = center + 0.5 * rng.normal(size=d) / math.sqrt(d)
    return LensSampler(Ball(d, 1.0), hessian, -hessian @ mean, np.tile(center, (RUNS, 1)), 0.9)


def directions(sampler: LensSampler, points: Array) -> list[Array]:
    """Numbers by which laws on the lens are told apart."""
    center, axes = sampler.centers[0], np.linalg.eigh(sampler.hessian)[1]
    potential = 0.5 * np.sum((points @ sampler.hessian) * points, axis=1) + points @ sampler.slope
    norms = [np.linalg.norm(points, axis=1), np.linalg.norm(points - center, axis=1)]
    return [points @ center, points @ axes[:, 0], points @ axes[:, -1], potential, *norms]


@pytest.mark.parametrize(("factor", "same"), [(1.0, True), (1.2, False)])
def test_a_general_quadratic_in_seven_dimensions_against_plain_rejection(factor: float, same: bool) -> None:
    """Six two-sample Kolmogorov tests at a sixth of the level; with the potential times 1.2 one rejects."""
    sampler = general(7)
    other = LensSampler(
        sampler.ball, factor * sampler.hessian, factor * sampler.slope, sampler.centers, sampler.radius
    )
    ours = directions(sampler, np.asarray(other.draw(Randomness(2))))
    theirs = directions(sampler, plain_rejection(sampler, 20 * RUNS))
    smallest = min(stats.ks_2samp(a, b).pvalue for a, b in zip(ours, theirs, strict=True))
    assert bool(6 * smallest > FALSE_ALARM) is same


def test_with_all_of_the_ball_it_is_the_sampler_about_the_axis() -> None:
    """In 30 dimensions, and for a linear potential; nothing but the ball is shared."""
    for alpha, pull in ((0.0, 40.0), (30.0, 50.0)):
        slope = np.zeros(30)
        slope[3] = pull
        ball = Ball(30, 1.0)
        lenses = LensSampler(ball, alpha * np.eye(30), slope, np.zeros((RUNS, 30)), 2.0)
        ours = np.asarray(lenses.draw(Randomness(1)))
        theirs = np.asarray(AxialSampler(ball, alpha, slope).draw(Randomness(2), 4 * RUNS))
        for of in (lambda points: points[:, 3], lambda points: np.sum(points**2, axis=1)):
            assert stats.ks_2samp(of(ours), of(theirs)).pvalue > FALSE_ALARM / 4


@pytest.mark.parametrize("d", [1, 2, 30])
@pytest.mark.parametrize("radius", [1e-9, 0.2, 1e9])
def test_points_are_in_the_lens_in_every_array_library(d: int, radius: float) -> None:
    rng = np.random.default_rng(4)
    centers = rng.normal(size=(50, d))
    centers /= np.maximum(1.0, np.linalg.norm(centers, axis=1))[:, None]
    # as steep as 1000 records and epsilon = 1 allow
    hessian = np.eye(d) * 250 / min(radius, 2.0)
    sampler = LensSampler(Ball(d, 1.0), hessian, -hessian @ np.full(d, 0.5), centers, radius)
    points = np.asarray(sampler.draw(Randomness(3)))
    assert np.all(np.linalg.norm(points, axis=1) <= 1 + 1e-12)
    assert np.all(np.linalg.norm(points - centers, axis=1) <= radius * (1 + 1e-6))
    # a small ball's points differ from its center
    assert np.all(np.linalg.norm(points - centers, axis=1) > 0)
    strict = sampler.draw(Randomness(3, xp=array_api_strict))
    assert np.array_equal(np.asarray(strict), points)


@pytest.mark.parametrize("d", [2, 10, 30])
def test_about_one_proposal_in_as_many_as_there_are_dimensions_is_accepted(d: int) -> None:
    """At least 1 in 4 d + 40 at each of 16 centers, while the potential varies by up to 100; means over 300 proposals.

    The seed is fixed, so that it is no test of chance.
    """
    turns, depths = np.meshgrid([0.0, 0.5, 1.5, 3.1], [0.0, 0.5, 0.9, 1.0])
    centers = np.zeros((16, d))
    centers[:, 0], centers[:, 1] = (depths * np.cos(turns)).ravel(), (depths * np.sin(turns)).ravel()
    for radius in (1e-3, 0.1, 0.5, 1.0):
        steep = 100 / (2 * min(2 * radius, 2.0))
        for curvature in (1e-3, 1.0, 10.0):
            hessian = np.eye(d) * curvature * steep
            mean = np.zeros(d)
            mean[0] = 1 / curvature
            sampler = LensSampler(Ball(d, 1.0), hessian, -hessian @ mean, centers, radius)
            assert np.all(np.mean(sampler.acceptance(Randomness(6), 300), axis=0) > 1 / (4 * d + 40))


def test_a_radius_that_doubles_cannot_hold_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="radius"):
        LensSampler(Ball(2, 1.0), np.eye(2), np.zeros(2), np.zeros((3, 2)), 1e-120)


@pytest.mark.parametrize(
    ("bend", "pull"), [(1.0, 1e14), (1.0, 1e300), (math.nan, 0.0), (1.0, math.inf)], ids=str
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_pull_that_rounding_would_show_in_ends_in_a_sentence(bend: float, pull: float) -> None:
    """Not in proposals that are refused for ever."""
    sampler = LensSampler(Ball(2, 1.0), bend * np.eye(2), np.array([pull, 0.0]), np.zeros((3, 2)), 0.5)
    with pytest.raises(InvalidArgumentError, match="hessian and slope"):
        sampler.draw(Randomness(1))


@pytest.mark.parametrize(
    ("bend", "pull"), [(1e308, 0.0), (1e100, 1e50), (1.0, 1e11), (1e-300, 1e11)], ids=str
)
def test_narrow_laws_within_that_are_drawn(bend: float, pull: float) -> None:
    sampler = LensSampler(Ball(2, 1.0), bend * np.eye(2), np.array([pull, 0.0]), np.zeros((3, 2)), 0.5)
    drawn = sampler.draw(Randomness(1))
    assert np.all(np.abs(drawn - [-min(pull / bend, 0.5), 0.0]) < 1e-4)
