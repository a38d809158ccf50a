"""Localization: laws on a line by quadrature, slow twins, exact privacy, the tail of the noise, planted faults.

Every statistical test has a fixed seed and rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from twins import Recorder

from dpverify.algorithms.bst14.localization import ApproximateLocalization
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.bst14.output_perturbation import (
    PRINTED_CONSTANT,
    GaussianOutputPerturbation,
)
from dpverify.algorithms.steps.last_iterate import falling_rates, strongly_convex_rates
from dpverify.errors import InvalidArgumentError, InvalidDataError, NotGuaranteedError
from dpverify.privacy import GDP, Adjacency, ApproxDP, gaussian_hockey_stick
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Logistic,
    Problem,
    Ridge,
    certify,
    load,
    minimize,
)
from dpverify.problems.per_run.ball_intersections import BallIntersections
from dpverify.problems.per_run.batched_minimizers import minimizer_of
from dpverify.running import Randomness, run

FALSE_ALARM = 1e-6
RUNS = 20_000
MULTIPLIER = 1.9938  # least noise over sensitivity for (2, 1e-5)-DP, by the exact Gaussian profile
Array = NDArray[np.float64]


def mean_problem(d: int, radius: float = 1.0) -> Problem:
    ball = Ball(d, radius)
    return Problem(HalfSquaredDistance.on(ball), ball)


def make_data(n: int, d: int, seed: int = 1) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    features /= np.maximum(1.0, np.linalg.norm(features, axis=1))[:, None]
    return Dataset(features, np.sign(rng.normal(size=n)))


# ------------------------------------------------------------------------------------------ Gaussian noise


def output_pvalue(algorithm: GaussianOutputPerturbation, stddev: float, data: Dataset) -> float:
    """Of the hypothesis that the points are the mean plus N(0, stddev^2 I), far inside of the set."""
    z = (run(algorithm, data, runs=RUNS, seed=2).points - data.features.mean(axis=0)) / stddev
    total = float(np.sum(z**2))
    chi = 2 * min(stats.chi2.cdf(total, z.size), stats.chi2.sf(total, z.size))
    return float(min(1.0, 2 * stats.kstest(z.ravel(), "norm").pvalue, 2 * chi))


def test_the_minimizer_gets_gaussian_noise() -> None:
    data, problem = make_data(400, 3), mean_problem(3)
    algorithm = GaussianOutputPerturbation(problem, 2.0, 1e-5)
    # 2 / (n Delta) = 1 / 200, times the least noise multiplier for (2, 1e-5), and 1% for the minimizer's error
    stddev = algorithm.noise_stddev(400)
    assert stddev == pytest.approx(1.01 / 200 * MULTIPLIER, rel=1e-3)
    assert output_pvalue(algorithm, stddev, data) > FALSE_ALARM
    assert output_pvalue(algorithm, stddev / 2, data) < FALSE_ALARM
    assert output_pvalue(algorithm, 1.05 * stddev, data) < FALSE_ALARM


def test_points_are_projected_onto_the_set() -> None:
    points = run(
        GaussianOutputPerturbation(mean_problem(2), 0.1, 1e-5), make_data(10, 2), runs=2000, seed=1
    ).points
    norms = np.linalg.norm(points, axis=1)
    assert np.all(norms <= 1 + 1e-12)
    assert np.mean(norms > 1 - 1e-12) > 0.5


def test_the_noise_is_the_smallest_that_is_private() -> None:
    algorithm = GaussianOutputPerturbation(mean_problem(2), 1.0, 1e-5)
    mu = 1.01 * algorithm.sensitivity(50) / algorithm.noise_stddev(50)
    assert 1e-5 * (1 - 1e-6) < gaussian_hockey_stick(1.0, mu) <= 1e-5
    stated = algorithm.guarantees(50)
    theorem, exact = stated.headline, stated.sharpest
    assert theorem.guarantee == ApproxDP(1.0, 1e-5)
    assert theorem.adjacency is Adjacency.REPLACE_ONE
    # gradients of half squared distances on the unit ball differ by 2, not by 2 L = 4
    assert algorithm.sensitivity(50) == pytest.approx(2 / 50)
    assert isinstance(exact.guarantee, GDP)
    assert exact.guarantee.mu == pytest.approx(mu)


def test_the_printed_noise_is_not_private() -> None:
    """Two data sets whose minimizers are 2 L / (n Delta) apart, to 1/1000: the outputs are Gaussians so far apart."""
    n, weight = 1000, 1.0
    interval = Ball(1, 2 / n)
    problem = Problem(Ridge.on(interval, Linear(), weight), interval)
    records = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)[:, None]
    left = Dataset(records, np.ones(n))
    right = left.replace(n, np.array([1.0]), 1.0)
    printed = GaussianOutputPerturbation(
        problem, 1.0, 1e-5, noise_constant=PRINTED_CONSTANT, slack=1e-4, withdraw_guarantee=True
    )
    stddev = 2 * problem.loss.lipschitz_constant * math.sqrt(math.log(1e5)) / (weight * n * 1.0)
    # L is 1 + 2/n here, and half of the gradients' largest distance 1
    assert printed.noise_stddev(n) == pytest.approx(stddev, rel=3e-3)
    # <theta, x> + theta^2 / 2 on average is smallest at minus the mean record: 0 and the interval's end
    apart = abs(float(left.features.mean() - right.features.mean()))
    assert apart == pytest.approx(2 / n, rel=1e-12)
    for data in (left, right):
        point = -np.mean(data.features, axis=0)
        assert certify(problem, data, point).duality_gap < 1e-12
    # before the projection, which the theorem's proof does not use
    assert gaussian_hockey_stick(1.0, apart / stddev) > 4e-5
    assert not printed.guarantees(n)
    with pytest.raises(NotGuaranteedError, match="smallest that is proved"):
        GaussianOutputPerturbation(problem, 1.0, 1e-5, noise_constant=PRINTED_CONSTANT)


def test_the_minimizers_error_is_paid_for() -> None:
    """More slack means more noise and a larger ball; a minimizer that cannot be certified so well is refused."""
    exact, loose = (
        GaussianOutputPerturbation(mean_problem(2), 1.0, 1e-5, slack=slack) for slack in (1e-3, 0.5)
    )
    assert loose.noise_stddev(50) / exact.noise_stddev(50) == pytest.approx(1.5 / 1.001)
    # minimizers of neighbors, each found to within half of the slack, are apart by the enlarged sensitivity at most
    assert loose.sensitivity(50) + 2 * loose.distance_allowed(50) == pytest.approx(1.5 * 2 / 50)
    noise = loose.zeta_at(50) * loose.noise_stddev(50) * math.sqrt(2)
    assert loose.ball_radius(50) - noise == pytest.approx(loose.distance_allowed(50))
    with pytest.raises(InvalidDataError, match="known"):
        run(
            GaussianOutputPerturbation(mean_problem(2), 1.0, 1e-5, slack=1e-17),
            make_data(9, 2),
            runs=3,
            seed=1,
        )


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("zeta", [1.0, 1.7])
def test_the_ball_misses_as_often_as_said(zeta: float, d: int) -> None:
    data = make_data(400, d)
    algorithm = GaussianOutputPerturbation(mean_problem(d), 2.0, 1e-5, zeta=zeta)
    away = np.linalg.norm(run(algorithm, data, runs=RUNS, seed=3).points - data.features.mean(axis=0), axis=1)
    missed = int(np.sum(away > algorithm.ball_radius(400)))
    # the radius has room for the minimizer's error, well below what this test can see
    assert stats.binomtest(missed, RUNS, algorithm.failure_probability(400)).pvalue > FALSE_ALARM


def test_the_printed_radius_is_too_small_on_a_line() -> None:
    """erfc(sqrt(1.5 ln n)) against 1/n^3; from two dimensions on sqrt(3 ln n) is enough."""
    for n in (2, 10, 1000):
        printed = math.sqrt(3 * math.log(n))
        for d in (1, 2, 3, 10, 100):
            problem = mean_problem(d)
            as_printed = GaussianOutputPerturbation(problem, 1.0, 1e-5, zeta=printed)
            assert (as_printed.failure_probability(n) > n**-3 * (1 + 1e-9)) == (d == 1)
            ours = GaussianOutputPerturbation(problem, 1.0, 1e-5)
            assert ours.failure_probability(n) <= n**-3 * (1 + 1e-9)
            assert ours.zeta_at(n) == pytest.approx(printed) or d == 1
        line = GaussianOutputPerturbation(mean_problem(1), 1.0, 1e-5, zeta=printed)
        assert line.failure_probability(n) == pytest.approx(math.erfc(math.sqrt(1.5 * math.log(n))), rel=1e-9)


# ------------------------------------------------------------------------------------------ Appendix C


def one_step_law(algorithm: ApproximateLocalization, data: Dataset, x: Array) -> Array:
    """Distribution function after one step on a line, by quadrature over theta_0 and all records.

    theta_1 = clip(theta_0 - eta (n (theta_0 - x_i) + sigma Z)) to C and the ball about theta_0.
    """
    n, edge = data.n, algorithm.problem.constraint.largest_norm
    half = algorithm.epsilon / 2, algorithm.delta / 2
    noise = GaussianOutputPerturbation(algorithm.problem, *half)
    inner = NoisyGradientDescent(algorithm.problem, *half, steps=1)
    radius, sigma = noise.ball_radius(n), inner.noise_stddev(n)
    second_moment = (n * algorithm.problem.loss.lipschitz_constant) ** 2 + sigma**2
    eta = min(2 * radius, 2 * edge) / math.sqrt(second_moment)
    nodes, weights = np.polynomial.legendre.leggauss(400)
    mean, stddev = float(data.features.mean()), noise.noise_stddev(n)
    # the part of theta_0's law inside of C, and its two ends
    low, high = max(-edge, mean - 9 * stddev), min(edge, mean + 9 * stddev)
    centers = (low + high) / 2 + (high - low) / 2 * nodes
    masses = (high - low) / 2 * weights * stats.norm.pdf(centers, mean, stddev)
    centers = np.concatenate([centers, [-edge, edge]])
    masses = np.concatenate(
        [masses, [stats.norm.cdf(-edge, mean, stddev), stats.norm.sf(edge, mean, stddev)]]
    )
    result = np.zeros_like(x)
    for center, mass in zip(centers, masses, strict=True):
        lowest, highest = max(-edge, center - radius), min(edge, center + radius)
        moved = center - eta * n * (center - data.features[:, 0])
        inside = stats.norm.cdf(x[:, None], moved[None, :], eta * sigma).mean(axis=1)
        result += mass * np.where(x < lowest, 0.0, np.where(x >= highest, 1.0, inside))
    return result


def line_distance(algorithm: ApproximateLocalization) -> float:
    """Kolmogorov distance from the law on a line, in units of what a test at level FALSE_ALARM rejects (DKW)."""
    data = make_data(12, 1)
    asked = ApproximateLocalization(mean_problem(1), 8.0, 1e-3, steps=1)
    points = np.sort(run(algorithm, data, runs=RUNS, seed=5).points[:, 0])
    places = points[:: RUNS // 500]
    law = one_step_law(asked, data, places)
    below, at = (np.searchsorted(points, places, side=side) / RUNS for side in ("left", "right"))  # type: ignore[call-overload]
    distance = float(np.max(np.maximum(below - law, law - at)))
    return distance / math.sqrt(math.log(2 / FALSE_ALARM) / (2 * RUNS))


def test_the_law_of_a_step_on_a_line() -> None:
    assert line_distance(ApproximateLocalization(mean_problem(1), 8.0, 1e-3, steps=1)) < 1


@pytest.mark.parametrize(
    "faulty",
    [
        ApproximateLocalization(mean_problem(1), 8.0, 1e-3, steps=1, localization_share=0.99),
        ApproximateLocalization(mean_problem(1), 8.0, 1e-3, steps=1, zeta=1.0),
        ApproximateLocalization(mean_problem(1), 16.0, 1e-3, steps=1),
    ],
    ids=["split", "radius", "epsilon for both"],
)
def test_other_laws_are_seen(faulty: ApproximateLocalization) -> None:
    assert line_distance(faulty) > 1


def test_nothing_to_localize() -> None:
    """With no noise on theta* and a ball about all of C, it is Algorithm 1 started at theta*."""
    data, problem = make_data(12, 2), mean_problem(2)
    local = ApproximateLocalization(
        problem, 8.0, 1e-3, localization_constant=1e-20, zeta=1e12, steps=20, withdraw_guarantee=True
    )
    assert local.local_diameter(12) == 2.0
    start = tuple(minimize(problem, data).point.tolist())
    plain = NoisyGradientDescent(problem, 4.0, 5e-4, steps=20, start=start)
    ours = run(local, data, runs=RUNS, seed=6).points
    theirs = run(plain, data, runs=RUNS, seed=7).points
    pvalues = [stats.ks_2samp(ours[:, i], theirs[:, i]).pvalue for i in range(2)]
    assert min(pvalues) * 2 > FALSE_ALARM
    other = run(
        NoisyGradientDescent(problem, 4.0, 5e-4, steps=3, start=start), data, runs=RUNS, seed=8
    ).points
    assert min(stats.ks_2samp(ours[:, i], other[:, i]).pvalue for i in range(2)) * 2 < FALSE_ALARM


@pytest.mark.parametrize("xp", [np, array_api_strict])
@pytest.mark.parametrize("constraint", [Ball(3, 1.0), Box.cube(3, 0.4)], ids=["ball", "box"])
def test_a_slow_twin(constraint: Any, xp: Any) -> None:
    """One run at a time with the same draws: Algorithm 1 as printed, on C within the ball."""
    problem = Problem(Ridge.on(constraint, Logistic(), 0.5), constraint)
    n, steps, runs = 8, 12, 15
    data = make_data(n, 3)
    algorithm = ApproximateLocalization(problem, 4.0, 1e-3, zeta=0.3, steps=steps)
    rng = Recorder(4, 0, xp)
    output = algorithm(data.as_namespace(xp), rng=rng, runs=runs)
    localizer = GaussianOutputPerturbation(problem, 2.0, 5e-4, zeta=0.3)
    inner = NoisyGradientDescent(problem, 2.0, 5e-4, steps=steps)
    radius, sigma = localizer.ball_radius(n), inner.noise_stddev(n)
    diameter = min(2 * radius, constraint.diameter)
    lipschitz = problem.loss.lipschitz_constant
    theta_star = minimizer_of(problem, data, accuracy=localizer.distance_allowed(n)).point
    (shifts,) = rng.drawn["output noise"]
    records, noise = rng.records(), rng.noise()
    for r in range(runs):
        center = np.asarray(constraint.project((theta_star + localizer.noise_stddev(n) * shifts[r])[None, :]))
        sets = BallIntersections(constraint, center, radius)
        theta = center
        for t in range(1, steps + 1):
            i = int(records[t - 1][r])
            noisy = n * problem.loss.gradient(theta, data.features[i], data.labels[i])
            noisy = noisy + sigma * noise[t - 1][:, r]
            eta = diameter / math.sqrt(t * ((n * lipschitz) ** 2 + 3 * sigma**2))
            theta = np.asarray(sets.project(theta - eta * noisy))
        assert np.max(np.abs(np.asarray(output.points)[r] - theta[0])) <= 1e-11
        assert np.linalg.norm(theta - center) <= radius * (1 + 1e-12)
    assert np.all(np.asarray(output.projections) == steps + 1)
    found = minimizer_of(problem, data, accuracy=localizer.distance_allowed(n))
    assert np.all(np.asarray(output.gradient_queries) == found.gradient_queries + steps)
    assert {one.oracle: one.count for one in algorithm.queries(n)} == {"projection": steps + 1}


def test_the_budget_is_split() -> None:
    algorithm = ApproximateLocalization(mean_problem(2), 2.0, 1e-4)
    assert algorithm.localizer.epsilon == algorithm.solver_at(9).mechanism.epsilon == 1.0
    assert algorithm.localizer.delta == algorithm.solver_at(9).mechanism.delta == 5e-5
    (stated,) = algorithm.guarantees(9)
    assert (stated.guarantee, stated.adjacency) == (ApproxDP(2.0, 1e-4), Adjacency.REPLACE_ONE)
    at = algorithm.guarantee_at(9, 3)
    assert at is not None
    assert at.index == 3


@pytest.mark.parametrize("part", ["localizer", "_descent"])
def test_all_of_epsilon_for_one_step_voids_the_guarantee(part: str) -> None:
    # gradients of two records differ by up to 2, and L is hardly more than 1: there is no slack to hide in
    problem = Problem(Ridge.on(Ball(2, 1.0), Logistic(), 0.05), Ball(2, 1.0))
    algorithm = ApproximateLocalization(problem, 2.0, 1e-4)
    assert algorithm.guarantees(9)
    other = ApproximateLocalization(problem, 4.0, 2e-4)
    algorithm.__dict__[part] = getattr(other, part)
    assert not algorithm.guarantees(9)
    with pytest.raises(NotGuaranteedError, match="does not claim"):
        algorithm(make_data(9, 2), rng=Randomness(0), runs=2)


def test_too_little_noise_is_refused_or_withdrawn() -> None:
    with pytest.raises(NotGuaranteedError):
        ApproximateLocalization(mean_problem(2), 2.0, 1e-4, localization_constant=PRINTED_CONSTANT)
    algorithm = ApproximateLocalization(mean_problem(2), 2.0, 1e-4, solver_constant=0.01)
    with pytest.raises(NotGuaranteedError, match="the solver"):
        algorithm(make_data(9, 2), rng=Randomness(0), runs=2)
    withdrawn = ApproximateLocalization(
        mean_problem(2), 2.0, 1e-4, solver_constant=0.01, withdraw_guarantee=True
    )
    assert withdrawn(make_data(9, 2), rng=Randomness(0), runs=2).points.shape == (2, 2)
    assert not withdrawn.guarantees(9)


def test_the_risk_is_below_its_bound_and_the_ball_helps() -> None:
    n = 40
    data, problem = load("breast-cancer", n=n, d=2), mean_problem(2)
    least = n * minimize(problem, data).value.lower
    risks = []
    for algorithm in (ApproximateLocalization(problem, 8.0, 1e-3), NoisyGradientDescent(problem, 8.0, 1e-3)):
        points = run(algorithm, data, runs=300, seed=9).points
        risks.append(float(np.mean(np.asarray(problem.total_risk(points, data)))) - least)
        stated = algorithm.risk_bound(n)
        assert stated is not None
        assert stated.total
        assert risks[-1] < stated.bound
    assert risks[0] < 0.7 * risks[1]


def test_the_risk_bound_is_the_proofs() -> None:
    n = 16
    algorithm = ApproximateLocalization(mean_problem(2), 8.0, 1e-5)
    inner = NoisyGradientDescent(mean_problem(2), 4.0, 5e-6)
    second_moment = (2 * n) ** 2 + 2 * inner.noise_stddev(n) ** 2
    diameter = 2 * GaussianOutputPerturbation(mean_problem(2), 4.0, 5e-6).ball_radius(n)
    norm = math.sqrt(second_moment)
    sizes: dict[str, float] = {"distance": diameter, "diameter": diameter, "norm": norm, "lipschitz": 2 * n}
    expected = falling_rates(n**2).last(diameter / norm, **sizes)
    stated = algorithm.risk_bound(n)
    assert stated is not None
    missed = n * 2 * 2 * n**-3
    assert stated.bound == pytest.approx(expected + missed, rel=1e-9)
    printed = 2 * diameter * math.sqrt(second_moment) * (2 + math.log(n**2)) / n
    assert stated.theorem == pytest.approx(printed + missed, rel=1e-9)


def test_the_risk_bound_of_algorithm_1_for_strongly_convex_losses() -> None:
    """With n Delta for Lemma 2.6's lambda, and the number of points visited."""
    algorithm = NoisyGradientDescent(mean_problem(2), 4.0, 1e-5, step_size="strongly-convex", steps=99)
    second_moment = (2 * 16) ** 2 + 2 * algorithm.noise_stddev(16) ** 2
    stated = algorithm.risk_bound(16)
    norm = math.sqrt(second_moment)
    expected = strongly_convex_rates(100).last(1 / 16, distance=1.0, diameter=2.0, norm=norm, lipschitz=32)
    assert stated.bound == pytest.approx(expected, rel=1e-12)
    assert stated.bound < 0.6 * second_moment / 32 * (1 + 2 * sum(1 / t for t in range(1, 100))) / 100
    assert stated.theorem == pytest.approx(17 * second_moment * (1 + math.log(100)) / (16 * 100), rel=1e-12)
    assert [(one.oracle, one.count) for one in algorithm.queries(16)] == [
        ("gradient", 99),
        ("projection", 99),
    ]


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("problem", {"problem": 1}),
        ("problem", {"problem": Problem(Logistic(), Ball(2, 1.0))}),
        ("problem", {"problem": Problem(HalfSquaredDistance(math.inf), AllSpace(2))}),
        ("epsilon", {"epsilon": 0.0}),
        ("epsilon", {"epsilon": math.nan}),
        ("delta", {"delta": 0.0}),
        ("delta", {"delta": 1.0}),
        ("zeta", {"zeta": 0.0}),
        ("zeta", {"zeta": True}),
        ("slack", {"slack": 0.0}),
        ("withdraw_guarantee", {"withdraw_guarantee": "no"}),
    ],
)
@pytest.mark.parametrize("kind", [GaussianOutputPerturbation, ApproximateLocalization])
def test_bad_parameters(kind: Any, argument: str, options: dict[str, Any]) -> None:
    good: dict[str, Any] = {"problem": mean_problem(2), "epsilon": 1.0, "delta": 1e-5}
    with pytest.raises(InvalidArgumentError, match=argument):
        kind(**{**good, **options})


@pytest.mark.parametrize("share", [0.0, 1.0, math.nan, True])
def test_bad_shares(share: object) -> None:
    with pytest.raises(InvalidArgumentError, match="localization_share"):
        ApproximateLocalization(mean_problem(2), 1.0, 1e-5, localization_share=share)  # type: ignore[arg-type]
