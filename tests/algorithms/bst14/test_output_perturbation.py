"""Output perturbation: its law, its sensitivity, its ball, and the certified minimizers that it rests on.

Every statistical test at a fixed seed rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
import pickle
from typing import Any

import array_api_strict
import cvxpy
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn.linear_model import LogisticRegression

from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation, gamma_norm_noise
from dpverify.errors import InvalidArgumentError, InvalidDataError, NotGuaranteedError
from dpverify.privacy import PureDP
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    ConstraintSet,
    Dataset,
    HalfSquaredDistance,
    Hinge,
    Logistic,
    Loss,
    Problem,
    Ridge,
    Simplex,
    Squared,
    load,
)
from dpverify.problems.per_run.batched_minimizers import minimize_tilted, minimizer_of
from dpverify.running import Randomness, run

from ... import in_cvxpy

FALSE_ALARM = 1e-6
Array = NDArray[np.float64]


def distances(d: int) -> Problem:
    """Half squared distances on all space: the minimizer is the mean, gradients are at most 2 apart."""
    return Problem(HalfSquaredDistance(math.inf), AllSpace(d))


def records(n: int, d: int, seed: int = 1) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    return Dataset(features / np.linalg.norm(features, axis=1)[:, None], np.sign(rng.normal(size=n)))


def gamma_norm_pvalue(vectors: Array, scale: float) -> float:
    """Of density proportional to exp(-||b|| / scale) in three dimensions.

    The norm is Gamma(3, scale); every coordinate of a uniform direction in three dimensions is uniform on [-1, 1]
    (Archimedes), and independent of the norm: the direction's law is tested for small and large norms apart.
    """
    norms = np.linalg.norm(vectors, axis=1)
    pvalues = [stats.kstest(norms, stats.gamma(3, scale=scale).cdf).pvalue]
    small = norms < np.median(norms)
    for half in (small, ~small):
        pvalues += [
            stats.kstest(vectors[half, i] / norms[half], stats.uniform(-1, 2).cdf).pvalue for i in range(3)
        ]
    return float(min(1.0, len(pvalues) * min(pvalues)))


def law_pvalue(factor: float = 1.0) -> float:
    data = records(10, 3)
    algorithm = OutputPerturbation(distances(3), 2.0)
    points = run(algorithm, data, runs=20_000, seed=5).points
    return gamma_norm_pvalue(points - data.features.mean(axis=0), factor * 1.01 * 2 / 10 / 2.0)


def test_the_norm_of_the_noise_is_gamma_and_its_direction_uniform() -> None:
    assert law_pvalue() > FALSE_ALARM


def test_a_wrong_scale_is_seen() -> None:
    assert law_pvalue(1.1) < FALSE_ALARM


def test_gaussian_directions_of_a_gaussian_norm_are_seen() -> None:
    gaussian = np.random.default_rng(0).normal(size=(20_000, 3)) * math.sqrt(12 / 3)
    assert gamma_norm_pvalue(gaussian, 1.0) < FALSE_ALARM


def test_in_one_dimension_the_noise_is_laplace_and_the_profile_closed() -> None:
    """Opposite records: Laplace laws at distance 2 / n, so delta(e) = 1 - exp((e - a) / 2), a = distance / scale."""
    n, epsilon = 5, 1.5
    algorithm = OutputPerturbation(distances(1), epsilon)
    left = Dataset(np.ones((n, 1)), np.ones(n))
    right = left.replace(n, [-1.0], 1.0)
    apart = algorithm.minimum(left).point - algorithm.minimum(right).point
    assert apart == pytest.approx([2 / n], abs=2 * algorithm.distance_allowed(n))
    assert algorithm.sensitivity(n) == pytest.approx(2 / n, rel=1e-12)
    for data, center in ((left, 1.0), (right, 1 - 2 / n)):
        points = run(algorithm, data, runs=20_000, seed=3).points[:, 0]
        law = stats.laplace(center, algorithm.scale(n))
        assert stats.kstest(points, law.cdf).pvalue > FALSE_ALARM
    lost = 2 / n / algorithm.scale(n)
    assert lost == pytest.approx(epsilon / 1.01, rel=1e-12)
    at = np.linspace(0, 2, 9)
    exact = np.maximum(0.0, 1 - np.exp((at - lost) / 2))
    assert np.all(exact <= PureDP(epsilon).privacy_profile(at))


def test_half_the_noise_breaks_the_claim() -> None:
    """The exact profile, with a scale that is withdrawn, is above the claim; with the least scale it is not."""
    n, epsilon = 5, 1.5
    whole = OutputPerturbation(distances(1), epsilon)
    halved = OutputPerturbation(
        distances(1), epsilon, noise_scale=whole.least_scale(n) / 2, withdraw_guarantee=True
    )
    for algorithm, broken in ((whole, False), (halved, True)):
        lost = 2 / n / algorithm.scale(n)
        exact = max(0.0, 1 - math.exp((epsilon - lost) / 2))
        assert (exact > PureDP(epsilon).privacy_profile(epsilon)) == broken
        assert bool(algorithm.withdrawn(n)) == broken
        assert (not algorithm.guarantees(n)) == broken


@pytest.mark.parametrize(
    "problem",
    [
        Problem(Ridge.on(Ball(3, 1.0), Logistic(), 0.3), Ball(3, 1.0)),
        Problem(Ridge.on(Box.cube(3, 0.1), Squared(1.0), 0.3), Box.cube(3, 0.1)),
        Problem(HalfSquaredDistance(0.2), Ball(3, 0.2)),
    ],
)
def test_minimizers_of_neighbors_are_no_farther_apart_than_stated(problem: Problem) -> None:
    algorithm = OutputPerturbation(problem, 1.0)
    data = records(6, 3)
    rng = np.random.default_rng(2)
    farthest = 0.0
    for _ in range(20):
        other = rng.normal(size=3)
        neighbor = data.replace(3, other / np.linalg.norm(other), float(rng.choice([-1.0, 1.0])))
        apart = algorithm.minimum(data).point - algorithm.minimum(neighbor).point
        farthest = max(farthest, float(np.linalg.norm(apart)))
    assert 0.01 * algorithm.sensitivity(6) < farthest <= (1 + algorithm.slack) * algorithm.sensitivity(6)


def test_the_minimizer_is_that_of_scikit_learn() -> None:
    data = load("breast-cancer", n=200, d=6)
    problem = Problem(Ridge(Logistic(), 0.05, 100.0), Ball(6, 100.0))
    found = minimizer_of(problem, data, accuracy=1e-9)
    theirs = LogisticRegression(C=1 / (200 * 0.05), fit_intercept=False, tol=1e-12, max_iter=10_000)
    theirs.fit(data.features, data.labels)
    assert found.point == pytest.approx(theirs.coef_[0], abs=1e-5)


def test_a_loss_that_is_not_smooth_is_minimized_and_certified() -> None:
    data = load("breast-cancer", n=60, d=3)
    problem = Problem(Ridge.on(Ball(3, 1.0), Hinge(), 0.5), Ball(3, 1.0))
    found = minimizer_of(problem, data, accuracy=0.01)
    # the optimality that strong convexity promises, at points around: the risk grows quadratically
    around = found.point + 0.1 * np.random.default_rng(0).normal(size=(500, 3))
    around = problem.constraint.project(around)
    growth = problem.mean_risk(around, data) - problem.mean_risk(found.point[None, :], data)
    least = 0.25 * np.maximum(np.linalg.norm(around - found.point, axis=1) - found.distance, 0) ** 2
    assert np.all(growth >= least - 1e-6)
    with pytest.raises(InvalidDataError, match="smooth loss"):
        minimizer_of(problem, data, accuracy=1e-12)
    points = run(OutputPerturbation(problem, 1.0, slack=0.1), data, runs=10, seed=1)
    assert np.all(points.value_queries == 5 * 60)


# what cvxpy calls inaccurate depends on the processor; the points are compared below with a tolerance of their own
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")
@pytest.mark.parametrize(
    "constraint",
    [Ball(3, 0.5), Ball(3, 0.4, midpoint=(0.3, 0.0, 0.1)), Box.cube(3, 0.3), Simplex(3), AllSpace(3)],
)
@pytest.mark.parametrize("loss", [Logistic(), Squared(math.inf), Ridge(Logistic(), 0.1, math.inf)])
def test_tilted_minimizers_are_those_of_a_convex_solver(constraint: ConstraintSet, loss: Loss) -> None:
    data = load("breast-cancer", n=40, d=3)
    problem = Problem(loss, constraint)
    tilts = 6 * np.random.default_rng(4).normal(size=(300, 3))
    found = minimize_tilted(problem, data, tilts, ridge=0.7, accuracy=1e-9)
    assert np.all(found.distances <= 1e-9)
    assert np.all(constraint.contains(found.points))
    base: Any = getattr(loss, "base", loss)
    weight = 0.7 + 40 * getattr(loss, "weight", 0.0)
    for tilt, point in list(zip(tilts, found.points, strict=True))[:4]:
        variable = cvxpy.Variable(3)
        objective = cvxpy.sum(in_cvxpy.link(base, data.features @ variable, data.labels))
        objective += weight / 2 * cvxpy.sum_squares(variable) + tilt @ variable
        cvxpy.Problem(cvxpy.Minimize(objective), in_cvxpy.inside(constraint, variable)).solve(
            solver=cvxpy.CLARABEL
        )
        assert point == pytest.approx(variable.value, abs=2e-4)


def test_certificates_are_true_and_not_idle() -> None:
    """Half squared distances in closed form: ((sum of records) - tilt) / (n + ridge); far points certify nothing."""
    data, tilts = records(7, 4), np.random.default_rng(4).normal(size=(50, 4))
    found = minimize_tilted(distances(4), data, tilts, ridge=2.0, accuracy=1e-10)
    exact = (data.features.sum(axis=0) - tilts) / 9.0
    off = np.linalg.norm(found.points - exact, axis=1)
    assert np.all(off <= found.distances)
    assert np.all(found.distances <= 1e-10)
    rough = minimize_tilted(Problem(Logistic(), Ball(4, 1.0)), data, tilts, ridge=2.0, accuracy=0.1)
    fine = minimize_tilted(Problem(Logistic(), Ball(4, 1.0)), data, tilts, ridge=2.0, accuracy=1e-11)
    assert np.all(np.linalg.norm(rough.points - fine.points, axis=1) <= rough.distances + fine.distances)
    assert np.all(rough.gradient_queries <= fine.gradient_queries)
    with pytest.raises(InvalidDataError, match="less accuracy"):
        minimize_tilted(Problem(Logistic(), Ball(4, 1.0)), data, tilts, ridge=2.0, accuracy=1e-18)


def test_the_gradient_steps_that_newton_leaves_to_arrive_at_the_same_points() -> None:
    """A smooth loss that hides that it is generalized linear is minimized by gradient steps alone."""

    class Plain:
        lipschitz_constant, smoothness, strong_convexity = 1.0, 0.25, 0.0

        def value(self, w: Array, x: Array, y: Array) -> Any:
            return Logistic().value(w, x, y)

        def gradient(self, w: Array, x: Array, y: Array) -> Any:
            return Logistic().gradient(w, x, y)

    data, tilts = records(5, 2), 2 * np.random.default_rng(4).normal(size=(40, 2))
    for constraint in (Ball(2, 0.5), Box.cube(2, 0.5)):
        slow = minimize_tilted(Problem(Plain(), constraint), data, tilts, ridge=1.0, accuracy=1e-9)
        quick = minimize_tilted(Problem(Logistic(), constraint), data, tilts, ridge=1.0, accuracy=1e-9)
        assert np.max(np.abs(slow.points - quick.points)) <= 2e-9


def test_the_ball_contains_the_minimizer_as_often_as_stated() -> None:
    data = records(4, 2)
    algorithm = OutputPerturbation(distances(2), 1.0, zeta=1.1)
    points = run(algorithm, data, runs=40_000, seed=11).points
    outside = np.linalg.norm(points - data.features.mean(axis=0), axis=1) > algorithm.ball_radius(4)
    exact = algorithm.failure_probability(4)
    assert exact == pytest.approx(3.2 * math.exp(-2.2), rel=1e-12)
    # the radius is larger than zeta p scales by the minimizer's error, so a one-sided comparison
    assert stats.binomtest(int(outside.sum()), 40_000, exact, "greater").pvalue > FALSE_ALARM
    printed = algorithm.printed_failure_probability(4)
    assert printed == pytest.approx(math.exp(-1.1), rel=1e-12)
    assert stats.binomtest(int(outside.sum()), 40_000, printed, "greater").pvalue < FALSE_ALARM


@pytest.mark.parametrize("p", [1, 2, 3, 10, 100])
def test_the_printed_probability_holds_from_zeta_1_26_on(p: int) -> None:
    for zeta in (1.26, 1.5, 3 * math.log(2), 4.0, 20.0):
        algorithm = OutputPerturbation(distances(p), 1.0, zeta=zeta)
        assert algorithm.failure_probability(5) <= algorithm.printed_failure_probability(5) * (1 + 1e-9)
    close = OutputPerturbation(distances(p), 1.0, zeta=1.02)
    assert (close.failure_probability(5) > close.printed_failure_probability(5) * (1 + 1e-9)) == (p > 1)


def test_the_radius_is_that_of_lemma_4_2() -> None:
    problem = Problem(Ridge.on(Ball(3, 1.0), Logistic(), 0.5), Ball(3, 1.0))
    algorithm = OutputPerturbation(problem, 0.7)
    # 2 L p zeta / (Delta epsilon n) for the loss's own 2 L = 2: the ridge cancels
    printed = 3 * math.log(50) * 2 * 3 / (0.5 * 0.7 * 50)
    assert printed < algorithm.ball_radius(50) <= 1.02 * printed
    assert algorithm.failure_probability(50) <= 50**-3


def test_the_expected_risk_is_within_the_bound() -> None:
    problem = Problem(Ridge.on(Ball(3, 1.0), Logistic(), 0.5), Ball(3, 1.0))
    data = load("breast-cancer", n=50, d=3)
    algorithm = OutputPerturbation(problem, 1.0)
    runs = run(algorithm, data, runs=5000, seed=2)
    excess = problem.total_risk(runs.points, data) - problem.total_risk(
        algorithm.minimum(data).point[None, :], data
    )
    bound = algorithm.risk_bound(50)
    assert bound is not None
    assert bound.total
    assert 0 < excess.mean() + 6 * excess.std() / math.sqrt(5000) < bound.bound
    assert OutputPerturbation(distances(3), 1.0).risk_bound(50) is None


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(("epsilon", bad) for bad in (0, -1.0, math.nan, math.inf, True, "1", None)),
        *(("zeta", bad) for bad in (1, 0.5, math.nan, math.inf, True)),
        *(("slack", bad) for bad in (0, 1.5, math.nan, True, None)),
        *(("noise_scale", bad) for bad in (-1.0, math.nan, math.inf, False)),
        *(("problem", bad) for bad in (None, Problem(Logistic(), Ball(2, 1.0)), Logistic())),
        ("withdraw_guarantee", 1),
    ],
)
def test_bad_input_is_refused(argument: str, value: object) -> None:
    arguments: dict[str, Any] = {"problem": distances(2), "epsilon": 1.0, argument: value}
    with pytest.raises(InvalidArgumentError) as error:
        OutputPerturbation(**arguments)
    assert argument in str(error.value)


@pytest.mark.parametrize(
    ("argument", "value"), [("accuracy", 0), ("accuracy", math.nan), ("ridge", -1), ("ridge", math.inf)]
)
def test_bad_input_of_the_minimizer_is_refused(argument: str, value: float) -> None:
    arguments: dict[str, Any] = {"ridge": 1.0, "accuracy": 0.1, argument: value}
    with pytest.raises(InvalidArgumentError, match=argument):
        minimize_tilted(distances(2), records(3, 2), np.zeros((4, 2)), **arguments)


def test_what_does_not_fit_the_minimizer_is_refused() -> None:
    zeros = np.zeros((4, 2))
    with pytest.raises(InvalidArgumentError, match="tilts"):
        minimize_tilted(distances(2), records(3, 2), np.zeros((4, 3)), accuracy=0.1)
    with pytest.raises(InvalidArgumentError, match="features"):
        minimize_tilted(distances(2), records(3, 3), zeros, accuracy=0.1)
    with pytest.raises(InvalidArgumentError, match="smoothness"):
        minimize_tilted(Problem(Hinge(), Ball(2, 1.0)), records(3, 2), zeros, ridge=1.0, accuracy=0.1)
    with pytest.raises(InvalidArgumentError, match="strongly convex"):
        minimize_tilted(Problem(Logistic(), Ball(2, 1.0)), records(3, 2), zeros, accuracy=0.1)
    with pytest.raises(InvalidArgumentError, match="strongly convex"):
        minimizer_of(Problem(Logistic(), Ball(2, 1.0)), records(3, 2), accuracy=0.1)
    assert minimize_tilted(distances(2), records(3, 2), zeros[:0], accuracy=0.1).points.shape == (0, 2)


def test_refusals() -> None:
    small = OutputPerturbation(distances(2), 1.0, noise_scale=0.01)
    with pytest.raises(NotGuaranteedError, match="scale"):
        small(records(3, 2), rng=Randomness(0), runs=3)
    assert small.guarantee_at(3, 1) is None
    outside = Dataset([[2.0, 0.0]], [1.0])
    with pytest.raises(InvalidDataError, match="norm"):
        OutputPerturbation(distances(2), 1.0)(outside, rng=Randomness(0), runs=3)
    with pytest.raises(InvalidArgumentError, match="at least 2"):
        OutputPerturbation(distances(2), 1.0).ball_radius(1)
    with pytest.raises(InvalidArgumentError, match="index"):
        OutputPerturbation(distances(2), 1.0).guarantee_at(3, 4)


def test_the_same_in_another_array_library_and_after_pickling() -> None:
    problem = Problem(Ridge.on(Ball(3, 1.0), Logistic(), 0.5), Ball(3, 1.0))
    data = load("breast-cancer", n=20, d=3)
    algorithm = pickle.loads(pickle.dumps(OutputPerturbation(problem, 1.0)))
    ours = algorithm(data, rng=Randomness(4), runs=30)
    theirs = algorithm(data, rng=Randomness(4, xp=array_api_strict), runs=30)
    assert np.asarray(theirs.points) == pytest.approx(np.asarray(ours.points), abs=1e-12)
    tilts = np.random.default_rng(0).normal(size=(9, 3)) * 5
    for constraint in (Ball(3, 0.3), Box.cube(3, 0.3), AllSpace(3)):
        tilted = Problem(Logistic(), constraint)
        here = minimize_tilted(tilted, data, tilts, ridge=1.0, accuracy=1e-9)
        there = minimize_tilted(
            tilted,
            data.as_namespace(array_api_strict),
            array_api_strict.asarray(tilts),
            ridge=1.0,
            accuracy=1e-9,
        )
        assert np.asarray(there.points) == pytest.approx(here.points, abs=1e-11)
    noise = gamma_norm_noise(Randomness(1), 5, 3, "noise")
    assert noise.shape == (5, 3)
