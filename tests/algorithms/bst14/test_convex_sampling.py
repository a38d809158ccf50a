"""Algorithms 5 to 7 and their parts: gauges and extensions by definition, laws and probabilities by quadrature.

Every test at a fixed seed rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    LocalizedSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.grid_walk import boosted
from dpverify.algorithms.samplers.cell_walks import Cells, law_after
from dpverify.algorithms.samplers.cube_sampling import CubeDensity, repeats
from dpverify.algorithms.samplers.lipschitz_extension import Extended, extended
from dpverify.algorithms.samplers.sampling_regions import fixed_region, is_cube, local_balls, local_cubes
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    ConstraintSet,
    Dataset,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Ridge,
    Simplex,
    Squared,
)
from dpverify.problems.per_run.ball_intersections import BallIntersections
from dpverify.running import Randomness, run

FALSE_ALARM = 1e-6
Array = NDArray[np.float64]
SETS: list[ConstraintSet] = [
    Ball(2, 1.0),
    Ball(3, 0.7, (0.1, -0.2, 0.3)),
    Box((-1.0, -1.0), (1.0, 0.5)),
    Box.cube(2, 0.8),
    Box((-0.5,), (1.5,)),
]


def data_set(n: int, p: int, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, p))
    features /= np.maximum(1.0, np.linalg.norm(features, axis=1))[:, None]
    return Dataset(features, np.sign(rng.normal(size=n)))


def gauge_by_definition(contains: Callable[[Array], Any], middle: Array, points: Array) -> Array:
    """The smallest r with middle + (point - middle) / r in the set, among a fine geometric list."""
    factors = np.exp(np.linspace(math.log(0.02), math.log(60.0), 4000))
    found = np.full(len(points), np.inf)
    for r in factors[::-1]:
        inside = np.asarray(contains(middle + (points - middle) / r))
        found = np.where(inside, r, found)
    return found


@pytest.mark.parametrize("constraint", SETS, ids=str)
def test_gauges_have_their_definition(constraint: ConstraintSet) -> None:
    region = fixed_region(constraint)
    rng = np.random.default_rng(1)
    points = region.middle + rng.uniform(-1, 1, (200, constraint.dimension)) * region.edge
    expected = gauge_by_definition(lambda w: constraint.contains(w, 0.0), np.asarray(region.middle), points)
    listed = expected > 0.03
    assert np.asarray(region.gauge(points))[listed] == pytest.approx(expected[listed], rel=3e-3)
    # 1 / r bounds the slope, and is attained somewhere for an inner ball that is the largest
    others = points + rng.normal(size=points.shape) * 0.1
    slopes = np.abs(region.gauge(points) - region.gauge(others)) / np.linalg.norm(points - others, axis=1)
    assert slopes.max() <= 1 / region.inner_radius + 1e-9
    assert np.all(np.linalg.norm(points - region.middle, axis=1)[region.contains(points)] <= region.diameter)


@pytest.mark.parametrize("constraint", SETS, ids=str)
def test_the_cube_holds_the_set(constraint: ConstraintSet) -> None:
    region = fixed_region(constraint)
    axes = np.eye(constraint.dimension)
    assert np.all(region.lower <= -constraint.support(-axes) + 1e-12)
    assert np.all(region.lower + region.edge >= constraint.support(axes) - 1e-12)
    assert region.edge == pytest.approx(np.max(constraint.support(axes) + constraint.support(-axes)))
    inner = region.uniform_in_inner_ball(Randomness(1), 2000)
    assert np.all(constraint.contains(inner))
    # uniform in a ball: the distance to the power p is uniform
    levels = (np.linalg.norm(inner - region.middle, axis=1) / region.inner_radius) ** constraint.dimension
    assert stats.kstest(levels, "uniform").pvalue > FALSE_ALARM


def extension_of(
    problem: Problem, data: Dataset, lipschitz: float, tolerance: float, best_effort: bool = False
) -> Callable[[Array], Extended]:
    return lambda points: extended(
        points,
        lambda w: problem.total_risk(w, data),
        lambda w: data.n * problem.mean_gradient(w, data),
        problem.constraint.project,
        eta=lipschitz,
        diameter=problem.constraint.diameter,
        tolerance=tolerance,
        best_effort=best_effort,
    )


def boundary(constraint: ConstraintSet, count: int = 20_000) -> Array:
    angles = np.linspace(0, 2 * math.pi, count, endpoint=False)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    middle = np.asarray(constraint.center())
    rim: Array = middle + directions / np.asarray(constraint.gauge(middle + directions))[:, None]
    return rim


SMOOTH = [Logistic(), Squared(2.0), Ridge(Logistic(), 0.5, 1.6)]


@pytest.mark.parametrize("constraint", [Ball(2, 1.0), Box((-1.0, -1.0), (1.0, 0.5))], ids=str)
@pytest.mark.parametrize("loss", SMOOTH, ids=str)
def test_the_extension_is_the_minimum(constraint: ConstraintSet, loss: Any) -> None:
    """Against the minimum over 20,000 points of the border, where it is attained since f is eta-Lipschitz."""
    problem, data = Problem(loss, constraint), data_set(6, 2)
    eta, tolerance = 6 * loss.lipschitz_constant, 1e-4
    extension = extension_of(problem, data, eta, tolerance)
    points = np.random.default_rng(2).uniform(-1.2, 1.2, (300, 2))
    found = extension(points)
    assert np.all(found.errors <= tolerance)
    outside = np.asarray(constraint.gauge(points)) > 1
    rim = boundary(constraint)
    values = problem.total_risk(rim, data)
    direct = np.array([np.min(values + eta * np.linalg.norm(x - rim, axis=1)) for x in points[outside]])
    assert np.all(found.values[outside] <= direct + found.errors[outside])
    assert np.all(found.values[outside] >= direct - eta * 2 * math.pi / 20_000)
    assert found.values[~outside] == pytest.approx(problem.total_risk(points[~outside], data), rel=1e-12)
    assert np.median(found.trials[outside]) < 200


@pytest.mark.parametrize("constraint", [Ball(2, 1.0), Box((-1.0, -1.0), (1.0, 0.5))], ids=str)
def test_the_extension_is_convex_and_lipschitz(constraint: ConstraintSet) -> None:
    problem, data = Problem(Logistic(), constraint), data_set(6, 2)
    extension = extension_of(problem, data, 6.0, 1e-6)
    rng = np.random.default_rng(3)
    left, right = rng.uniform(-1.5, 1.5, (2, 400, 2))
    values = [extension(w).values for w in (left, right, 0.5 * (left + right))]
    assert np.all(values[2] <= 0.5 * (values[0] + values[1]) + 2e-6)
    assert np.all(np.abs(values[0] - values[1]) <= 6.0 * np.linalg.norm(left - right, axis=1) + 2e-6)


def test_the_value_at_the_projection_plus_the_distance_is_no_extension() -> None:
    """The obvious shortcut f(P(x)) + eta dist(x, C) is not convex, and so would leave log F not concave."""
    problem, data = Problem(Linear(), Ball(2, 1.0)), Dataset(np.array([[1.0, 0.0]]), np.ones(1))

    def shortcut(w: Array) -> Array:
        nearest = problem.constraint.project(w)
        values: Array = problem.total_risk(nearest, data) + 1.0 * np.linalg.norm(w - nearest, axis=1)
        return values

    rng = np.random.default_rng(4)
    left, right = rng.uniform(-2, 2, (2, 2000, 2))
    assert np.max(shortcut(0.5 * (left + right)) - 0.5 * (shortcut(left) + shortcut(right))) > 1e-2
    exact = extension_of(problem, data, 1.0, 1e-3, best_effort=True)
    assert np.max(shortcut(left) - exact(left).values) > 0.1


def test_one_dimension_needs_one_projection() -> None:
    problem, data = Problem(Hinge(), Box((-1.0,), (1.0,))), data_set(3, 1)
    found = extension_of(problem, data, 3.0, 1e-9)(np.array([[-2.0], [0.3], [1.5]]))
    ends = problem.total_risk(np.array([[-1.0], [0.3], [1.0]]), data)
    assert found.values == pytest.approx(ends + np.array([3.0, 0.0, 1.5]), rel=1e-12)
    assert np.all(found.trials == 1)


def test_an_extension_that_is_not_proved_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpverify.algorithms.samplers import lipschitz_extension

    monkeypatch.setattr(lipschitz_extension, "_LONGEST", 3)
    problem, data = Problem(Logistic(), Ball(2, 1.0)), data_set(4, 2)
    points = np.array([[1.5, 0.7]])
    with pytest.raises(NotGuaranteedError, match="loss smooth"):
        extension_of(problem, data, 4.0, 1e-9)(points)
    assert extension_of(problem, data, 4.0, 1e-9, best_effort=True)(points).errors[0] > 1e-9


BALL = Problem(Logistic(), Ball(2, 1.0))


def fine_weights(mechanism: Any, data: Dataset, k: int) -> tuple[Array, Any]:
    """Log F on a grid of k cells a side, and which centers are in C."""
    tuning = mechanism.tuning(data.n)
    weights, _ = CubeDensity(mechanism.problem, data, tuning).table(Cells(2, k))
    points = tuning.region.at(np, Cells(2, k).indices(), k, 0.5)
    return weights, np.asarray(mechanism.problem.constraint.contains(points, 0.0))


@pytest.mark.parametrize("problem", [BALL, Problem(Logistic(), Box((-1.0, -1.0), (1.0, 0.3)))], ids=str)
@pytest.mark.parametrize(("scale", "distance"), [(0.2, 0.5), (2.0, 0.1)])
def test_the_gauge_keeps_enough_mass_inside(problem: Problem, scale: float, distance: float) -> None:
    """(8) by quadrature: the mass of F outside of C is at most exp(-2 epsilon~) of that inside."""
    data = data_set(3, 2)
    mechanism = SamplingInConvexSet(problem, scale, distance)
    weights, inside = fine_weights(mechanism, data, 120)
    masses = np.exp(weights - weights.max())
    assert masses[~inside].sum() <= math.exp(-2 * distance) * masses[inside].sum()
    # log F is as steep as the walk was told, at most
    grid = weights.reshape(120, 120)
    steepest = max(np.abs(np.diff(grid, axis=0)).max(), np.abs(np.diff(grid, axis=1)).max())
    spacing = mechanism.plan(3).edge / 120
    slack = 2 * mechanism.plan(3).evaluation_error
    assert (
        0.5 * mechanism.plan(3).lipschitz
        < steepest / spacing
        <= mechanism.plan(3).lipschitz + slack / spacing
    )


def test_the_quadrature_sees_a_missing_penalty() -> None:
    thin = Problem(Logistic(), Box((-1.0, -1.0), (1.0, -0.6)))
    mechanism = SamplingInConvexSet(thin, 0.01, 0.1, alpha=0.0, withdraw_guarantee=True)
    weights, inside = fine_weights(mechanism, data_set(3, 2), 120)
    masses = np.exp(weights - weights.max())
    assert masses[~inside].sum() > masses[inside].sum()
    assert "keeps half" in mechanism.withdrawn(3)[0]
    with pytest.raises(NotGuaranteedError, match="alpha"):
        dataclasses.replace(mechanism, withdraw_guarantee=False)(data_set(3, 2), rng=Randomness(1), runs=2)


COARSE: dict[str, Any] = {"cells": 16, "steps": 40_000, "withdraw_guarantee": True}


def rejected(weights: Array, k: int, contains: Callable[[Array], Any], runs: int) -> Array:
    """An independent sampler of what the walk converges to: cells by their weights, uniform points, rejection."""
    rng = np.random.default_rng(5)
    masses = np.exp(weights - weights.max())
    found: list[Array] = []
    while sum(map(len, found)) < runs:
        cells = rng.choice(masses.size, runs, p=masses / masses.sum())
        places = np.stack(np.unravel_index(cells, (k, k)), axis=1)
        points = -1.0 + 2.0 / k * (places + rng.uniform(size=(runs, 2)))
        found.append(points[np.asarray(contains(points))])
    sample: Array = np.concatenate(found)[:runs]
    return sample


@pytest.mark.parametrize("extension", ["projection", "loss"])
def test_the_boosted_sampler_agrees_with_rejection(extension: Any) -> None:
    data = data_set(5, 2)
    mechanism = BoostedSampling(BALL, 1.5, 1.0, extension=extension, **COARSE)
    points = run(mechanism, data, runs=20_000, seed=6).points
    assert np.linalg.norm(points, axis=1).max() <= 1.0
    tuning = mechanism.tuning(5)
    weights, _ = CubeDensity(BALL, data, tuning).table(Cells(2, 16))
    other = rejected(weights, 16, lambda w: np.linalg.norm(w, axis=1) <= 1, 20_000)
    flat = rejected(0.5 * weights, 16, lambda w: np.linalg.norm(w, axis=1) <= 1, 20_000)
    faults = []
    for statistic in (lambda w: w[:, 0], lambda w: w[:, 1], lambda w: np.linalg.norm(w, axis=1)):
        assert stats.ks_2samp(statistic(points), statistic(other)).pvalue > FALSE_ALARM
        faults.append(stats.ks_2samp(statistic(points), statistic(flat)).pvalue)
    assert min(faults) < FALSE_ALARM


def test_step_by_step_and_by_law_agree() -> None:
    """Algorithm 5 on a ball, every way: steps on a table, steps without one, and the law."""
    data = data_set(4, 2)
    base = SamplingInConvexSet(BALL, 1.0, 1.0, cells=8, steps=60, withdraw_guarantee=True)
    stepped = run(dataclasses.replace(base, simulation="steps"), data, runs=10_000, seed=1)
    by_law = run(dataclasses.replace(base, simulation="law"), data, runs=10_000, seed=2)
    for axis in range(2):
        assert stats.ks_2samp(stepped.points[:, axis], by_law.points[:, axis]).pvalue > FALSE_ALARM
    for name in ("value_queries", "gradient_queries", "projections"):
        assert np.all(getattr(stepped, name) <= by_law.value_queries.max())
    # gradients are only asked for outside of C, and each with a projection
    assert np.array_equal(stepped.gradient_queries, 4 * stepped.projections)
    # fewer evaluations than cells: no table is made, and nothing changes
    few = dataclasses.replace(base, cells=60, steps=10, simulation="steps")
    free = few(data, rng=Randomness(3), runs=5)
    assert np.all(free.points >= -1)
    assert np.all(np.asarray(free.value_queries) <= 4 * 11)


def test_the_fallback_is_uniform_and_comes_after_all_walks() -> None:
    region = fixed_region(Ball(2, 1.0))

    class NeverInside:
        walks = 0

        def draw(self, rng: Randomness, region: Any, runs: int) -> tuple[Array, Any]:
            self.walks += 1
            return np.full((runs, 2), 0.9), np.tile([0, 3, 0], (runs, 1))

    sampler: Any = NeverInside()
    output = boosted(sampler, region, 7, Randomness(1), 4000)
    assert sampler.walks == 7
    assert np.all(np.asarray(output.value_queries) == 21)
    assert stats.kstest(np.linalg.norm(output.points, axis=1) ** 2, "uniform").pvalue > FALSE_ALARM


def fallback_share(m: float, eta: float, diameter: float, radius: float, p: int, distance: float) -> bool:
    """Lemma 6.5's conditions on 2^-m: the fallback's density over the right one, and what is left for the walks."""
    log_ratio = -m * math.log(2) + eta * diameter + p * math.log(diameter / radius)
    small = log_ratio <= math.log(math.exp(distance) - math.exp(distance / 4))
    return small and 1 - 2.0**-m >= math.exp(-3 * distance / 4)


def test_the_number_of_walks_is_enough_in_base_two_only() -> None:
    natural_fails = False
    for p in (2, 5, 20):
        region = fixed_region(Ball(p, 1.0))
        for eta in (0.01, 1.0, 10.0):
            for distance in (0.01, 0.3, 2.0):
                m = repeats(region, eta, distance)
                assert fallback_share(m, eta, 2.0, 1.0, p, distance)
                natural = math.ceil(4 * eta * 2 + p * math.log(2) - math.log(-math.expm1(-distance / 4)))
                natural_fails |= not fallback_share(natural, eta, 2.0, 1.0, p, distance)
    assert natural_fails
    assert repeats(fixed_region(Box.cube(2, 1.0)), 1.0, 0.1) == 1


@pytest.mark.parametrize(("p", "n"), [(1, 2), (1, 6), (2, 1)])
def test_algorithm_7_is_private_exactly(p: int, n: int) -> None:
    """The densities of both outputs, exactly, on the pair of neighbors that are farthest apart; epsilon = 2."""
    epsilon = 2.0
    mechanism = EfficientExponentialSampling(Problem(Linear(), Box.cube(p, 1.0)), epsilon)
    cells = Cells(p, mechanism.plan(n).cells_per_side)
    laws = []
    for sign in (1.0, -1.0):
        features = np.full((n, p), 1 / math.sqrt(p))
        features[0] *= sign
        density = CubeDensity(mechanism.problem, Dataset(features, np.ones(n)), mechanism.tuning(n))
        weights, _ = density.table(cells)
        laws.append(law_after(cells, weights, mechanism.step_count(n)))
    largest = np.max(np.abs(np.log(laws[0] / laws[1])))
    # a third of epsilon is the exact mechanism's; of the rest, little is used
    assert epsilon / 10 < largest <= epsilon
    (stated,) = mechanism.guarantees(n)
    assert str(stated.guarantee) == "2-DP"


def test_algorithm_7_is_within_its_distance_exactly() -> None:
    """Against the closed form of the density exp(-scale n w) on an interval, at the ends of all cells."""
    epsilon, n = 3.0, 4
    mechanism = EfficientExponentialSampling(Problem(Linear(), Box.cube(1, 1.0)), epsilon)
    data = Dataset(np.ones((n, 1)), np.ones(n))
    cells = Cells(1, mechanism.plan(n).cells_per_side)
    weights, _ = CubeDensity(mechanism.problem, data, mechanism.tuning(n)).table(cells)
    law = law_after(cells, weights, mechanism.step_count(n)) / mechanism.plan(n).spacing
    rate = mechanism.scale * n
    assert rate == pytest.approx(epsilon * n / (6 * 2))
    edges = np.linspace(-1, 1, cells.count + 1)
    exact = rate * np.exp(-rate * edges) / (2 * math.sinh(rate))
    errors = np.abs(np.log(np.stack([law / exact[:-1], law / exact[1:]])))
    stated = mechanism.sampling_error(n)
    assert stated is not None
    assert stated.bound == epsilon / 3
    assert errors.max() <= mechanism.plan(n).distance <= stated.bound / 8 + 1e-12


def test_a_walk_on_a_cube_has_a_risk_and_one_that_may_leave_the_set_has_none() -> None:
    cube, ball = (Problem(Logistic(), kind) for kind in (Box.cube(2, 1.0), Ball(2, 1.0)))
    stated = SamplingInConvexSet(cube, 0.5, 0.25, extension="loss").risk_bound(5)
    assert stated == BoostedSampling(cube, 0.5, 0.25, extension="loss").risk_bound(5)
    assert stated is not None
    assert stated.theorem == pytest.approx(math.exp(0.25) * 2 / 0.5)
    assert SamplingInConvexSet(ball, 0.5, 0.25, extension="loss").risk_bound(5) is None


def test_algorithm_7_keeps_its_risk_bound() -> None:
    data = data_set(5, 1)
    mechanism = EfficientExponentialSampling(Problem(Logistic(), Box.cube(1, 1.0)), 3.0)
    risks = mechanism.problem.total_risk(run(mechanism, data, runs=20_000, seed=1).points, data)
    least = mechanism.problem.total_risk(np.linspace(-1, 1, 20_001)[:, None], data).min()
    stated = mechanism.risk_bound(5)
    assert stated is not None
    assert stated.theorem == pytest.approx(math.exp(1) * 6 * 1 * 2 / 3)
    assert risks.mean() - least <= stated.bound


@pytest.mark.parametrize("p", [1, 2])
def test_localized_cubes_are_inside_and_hold_the_ball(p: int) -> None:
    constraint = Box.cube(p, 1.0)
    rng = np.random.default_rng(1)
    middle = rng.uniform(-1, 1, (500, p))
    region = local_cubes(constraint, middle, 0.3)
    near = middle + rng.normal(size=(500, p)) * 0.2
    held = constraint.contains(near, 0.0) & (np.linalg.norm(near - middle, axis=1) <= 0.3)
    assert np.all(region.gauge(near)[held] <= 1 + 1e-9)
    corners = np.concatenate([region.lower, region.lower + region.edges])
    assert np.all(constraint.contains(corners))
    assert np.all(region.edges <= region.edge + 1e-15)


@pytest.mark.parametrize("constraint", [Ball(2, 1.0), Box((-1.0, -1.0), (1.0, 0.5))], ids=str)
def test_localized_balls_have_the_gauge_by_definition(constraint: ConstraintSet) -> None:
    rng = np.random.default_rng(1)
    middle = constraint.project(rng.uniform(-1, 1, (40, 2)))
    region = local_balls(constraint, middle, 0.3, 0.7)
    cut = BallIntersections(constraint, middle, 0.3)
    assert np.all(cut.contains(region.uniform_in_inner_ball(Randomness(2), 40)))
    points = region.lower + region.edges * rng.uniform(size=(40, 2))
    expected = gauge_by_definition(lambda w: cut.contains(w, 0.0), np.asarray(region.middle), points)
    above = expected > 0.6
    assert np.asarray(region.gauge(points))[above] == pytest.approx(expected[above], rel=3e-3)
    assert np.array_equal(region.gauge(points) <= 1, cut.contains(points, 0.0))


def test_localized_sampling_has_the_right_law() -> None:
    """One dimension, linear loss: the exponential density truncated to each run's interval, in closed form."""
    n, epsilon = 3, 4.0
    problem, data = Problem(Linear(), Box.cube(1, 1.0)), Dataset(np.ones((n, 1)), np.ones(n))
    sampler = LocalizedSampling(problem, epsilon=epsilon, radius=0.4)
    assert isinstance(sampler, LocalizedSampling)
    runs = 4000
    centers = np.random.default_rng(7).uniform(-1, 1, (runs, 1))
    low, high = np.maximum(centers - 0.4, -1)[:, 0], np.minimum(centers + 0.4, 1)[:, 0]

    def levels(points: Array, rate: float) -> Array:
        """The exact distribution function at each run's point."""
        found: Array = np.expm1(-rate * (points[:, 0] - low)) / np.expm1(-rate * (high - low))
        return found

    output = sampler(data, centers, rng=Randomness(8), runs=runs)
    rate = epsilon / (6 * 0.8) * n
    # at most distance / 4 = 1/3 / 4 off in log-density: far less in fact, which the test's power confirms
    assert stats.kstest(levels(output.points, rate), "uniform").pvalue > FALSE_ALARM
    assert stats.kstest(levels(output.points, 3 * rate), "uniform").pvalue < FALSE_ALARM
    assert np.all(np.asarray(output.value_queries) <= n * (sampler.step_count(n) + 1))
    (stated,) = sampler.guarantees(n)
    assert str(stated.guarantee) == "4-DP"
    stepped = LocalizedSampling(problem, epsilon=4.0, radius=0.4, simulation="steps")
    other = stepped(data, centers[:400], rng=Randomness(9), runs=400)
    low, high = low[:400], high[:400]
    assert stats.kstest(levels(other.points, rate), "uniform").pvalue > FALSE_ALARM


def test_localized_balls_are_kept() -> None:
    problem, data = Problem(Logistic(), Ball(2, 1.0)), data_set(3, 2)
    centers = problem.constraint.project(np.random.default_rng(3).uniform(-1, 1, (50, 2)))
    sampler = LocalizedSampling(
        problem, epsilon=1.0, radius=0.2, shape="ball", steps=50, withdraw_guarantee=True
    )
    assert not sampler.guarantees(3)
    assert sampler.risk_bound(3) is None
    points = sampler(data, centers, rng=Randomness(1), runs=50).points
    assert np.all(BallIntersections(problem.constraint, centers, 0.2).contains(points))
    with pytest.raises(NotGuaranteedError, match="fewer"):
        dataclasses.replace(sampler, withdraw_guarantee=False)(data, centers, rng=Randomness(1), runs=50)
    with pytest.raises(InvalidArgumentError, match="centers"):
        sampler(data, centers[:3], rng=Randomness(1), runs=50)
    with pytest.raises(InvalidArgumentError, match="centers"):
        sampler(data, centers + 3, rng=Randomness(1), runs=50)


@pytest.mark.parametrize("problem", [BALL, Problem(Logistic(), Box.cube(2, 1.0))], ids=str)
@pytest.mark.parametrize("simulation", ["steps", "law"])
def test_strict_arrays_get_the_same_points(problem: Problem, simulation: Any) -> None:
    data = data_set(3, 2)
    mechanism = EfficientExponentialSampling(
        problem, 2.0, steps=20, cells=6, simulation=simulation, withdraw_guarantee=True
    )
    plain = mechanism(data, rng=Randomness(1), runs=20)
    strict = mechanism(data, rng=Randomness(1, xp=array_api_strict), runs=20)
    assert np.asarray(strict.points) == pytest.approx(plain.points, abs=1e-9)
    assert np.array_equal(np.asarray(strict.value_queries), np.asarray(plain.value_queries))
    centers = np.zeros((20, 2)) + 0.1
    shape: Any = "cube" if is_cube(problem.constraint) else "ball"
    local = LocalizedSampling(
        problem, epsilon=1.0, radius=0.3, shape=shape, steps=5, simulation="steps", withdraw_guarantee=True
    )
    here = local(data, centers, rng=Randomness(1), runs=20)
    there = local(data, array_api_strict.asarray(centers), rng=Randomness(1, xp=array_api_strict), runs=20)
    assert np.asarray(there.points) == pytest.approx(here.points, abs=1e-9)


@pytest.mark.parametrize("kind", [SamplingInConvexSet, BoostedSampling, EfficientExponentialSampling])
def test_steps_are_refused_and_guarantees_withdrawn(kind: Any) -> None:
    problem, data = Problem(Logistic(), Box.cube(1, 1.0)), data_set(3, 1)
    first: tuple[Any, ...] = (1.0,) if kind is EfficientExponentialSampling else (0.2, 0.4)
    full = kind(problem, *first)
    proved = full.step_count(3)
    assert full.withdrawn(3) == ()
    assert full.sampling_error(3) is not None
    assert (full.guarantee_at(3, 1) is None) == (kind is SamplingInConvexSet)
    few = kind(problem, *first, steps=proved - 1)
    with pytest.raises(NotGuaranteedError, match="fewer"):
        few(data, rng=Randomness(1), runs=2)
    withdrawn = kind(problem, *first, steps=3, withdraw_guarantee=True)
    assert not withdrawn.guarantees(3)
    assert withdrawn.sampling_error(3) is None
    assert withdrawn.risk_bound(3) is None
    assert withdrawn(data, rng=Randomness(1), runs=2).points.shape == (2, 1)
    assert pickle.loads(pickle.dumps(withdrawn)) == withdrawn
    (stated,) = full.queries(3)
    assert stated.count == 3 * (proved + 1)
    assert full.gradient_query_count(3) == 0


def test_sets_that_are_no_use_are_refused() -> None:
    for constraint in (AllSpace(2), Simplex(3)):
        with pytest.raises(InvalidArgumentError):
            EfficientExponentialSampling(Problem(Logistic(), constraint), 1.0)
    with pytest.raises(InvalidArgumentError, match="with interior"):  # whatever ball is claimed to be inside
        EfficientExponentialSampling(Problem(Logistic(), Simplex(3)), 1.0, inner_radius=0.1)
    with pytest.raises(InvalidArgumentError):
        EfficientExponentialSampling(Problem(Logistic(), Ball(2, 1.0)), 1.0, inner_radius=1.5)
    with pytest.raises(InvalidArgumentError, match="extension"):
        BoostedSampling(Problem(Squared(1.0), Ball(2, 1.0)), 1.0, 1.0, extension="loss")
    with pytest.raises(InvalidArgumentError):
        LocalizedSampling(BALL, epsilon=1.0, radius=0.1, shape="cube")


@pytest.mark.parametrize("kind", [SamplingInConvexSet, BoostedSampling, EfficientExponentialSampling])
@pytest.mark.parametrize(
    ("name", "bad"),
    [
        *(("first", bad) for bad in (0.0, -1.0, math.nan, math.inf, True, "1")),
        *(("steps", bad) for bad in (-1, 1.5, True)),
        *(("cells", bad) for bad in (0, 1.5, True)),
        ("extension", "none"),
        ("simulation", "guess"),
        ("withdraw_guarantee", 1),
        ("problem", None),
    ],
)
def test_bad_input(kind: Any, name: str, bad: Any) -> None:
    first = "epsilon" if kind is EfficientExponentialSampling else "distance"
    good: dict[str, Any] = {"problem": BALL, first: 1.0}
    if first == "distance":
        good["scale"] = 1.0
    kind(**good)
    with pytest.raises(InvalidArgumentError):
        kind(**{**good, first if name == "first" else name: bad})


@pytest.mark.parametrize("algorithm", [SamplingInConvexSet, BoostedSampling, EfficientExponentialSampling])
def test_more_cells_than_an_integer_counts(algorithm: Any) -> None:
    """On a cube every axis has an exact law of its own; on a ball the walk ends, and inside of the cube."""
    p, k, steps, runs, slope = 21, 9, 1200, 200, 2.0
    scale = slope * k / 2 * math.sqrt(p)
    data = Dataset(-np.ones((1, p)) / math.sqrt(p), [1.0])

    def points(constraint: ConstraintSet, steps: int) -> Array:
        problem = Problem(Linear(), constraint)
        parameters = (
            (6 * scale * constraint.diameter,) if algorithm is EfficientExponentialSampling else (scale, 1.0)
        )
        made = algorithm(
            problem, *parameters, steps=steps, cells=k, extension="loss", withdraw_guarantee=True
        )
        return np.asarray(made(data, rng=Randomness(8), runs=runs).points)

    places = np.floor((points(Box.cube(p, 1.0), steps) + 1.0) * (k / 2)).astype(int)
    matrix = np.zeros((k, k))
    for i in range(k):
        for j in (i - 1, i + 1):
            if 0 <= j < k:
                matrix[i, j] = min(1.0, math.exp(slope * (j - i))) / (4 * p)
        matrix[i, i] = 1.0 - matrix[i].sum()
    law = np.linalg.matrix_power(matrix, steps)[k // 2]
    top = law[-2:].sum()
    for axis in range(p):
        seen = int(np.sum(places[:, axis] >= k - 2))
        assert stats.binomtest(seen, runs, top).pvalue > FALSE_ALARM / p
    assert np.all(np.abs(points(Ball(p, 1.0), 20)) <= 1.0)
