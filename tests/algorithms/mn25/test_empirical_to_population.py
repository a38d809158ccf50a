"""The reduction from empirical risk to population risk: twins, exact privacy, printed claims, risks, planted faults."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from fixed_solver import BALL, LOGISTIC, FixedSolver, data_in_ball
from scipy import integrate, stats

from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNSGD, StopPNSGD
from dpverify.algorithms.mn25.empirical_to_population import (
    EmpiricalToPopulation,
    ResampledProfile,
    resampled,
)
from dpverify.algorithms.mn25.phased import PhasedSGD
from dpverify.algorithms.promises import StatedRisk
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import GDP, ApproxDP, PureDP
from dpverify.problems import Ball, Dataset, Linear, Logistic, Problem, minimize
from dpverify.running import Randomness, run

# ------------------------------------------------------------------------------------------ ERM by SCO


@pytest.mark.parametrize("kind", [PNSGD, StopPNSGD, NoisyGradientDescent])
def test_resampling_against_a_loop_over_runs(kind: Any) -> None:
    """Without noise each run is its solver on its own resample: the same solver, one run and one data set at a time."""
    data, runs, n = data_in_ball(9), 5, 9
    if kind is NoisyGradientDescent:
        solver: Any = kind(LOGISTIC, 1.0, 1e-5, noise_constant=0.0, steps=20, withdraw_guarantee=True)
    else:
        solver = kind(LOGISTIC, 0.5, 0.0, withdraw_guarantee=True)
    reduction = EmpiricalToPopulation(solver, withdraw_guarantee=True)
    points = run(reduction, data, runs=runs, seed=3).points
    rng = Randomness(3)
    drawn = np.asarray(rng.integers(0, n, (runs, n), "resampled records"))
    if kind is PNSGD:
        samples = [Dataset(data.features[d], data.labels[d]) for d in drawn]
        alone = np.array([run(solver, sample, runs=1, seed=3).points[0] for sample in samples])
        np.testing.assert_allclose(points, alone, atol=1e-12)
        # a planted fault: everyone on the data set itself
        assert not np.allclose(points, run(solver, data, runs=runs, seed=3).points, atol=1e-3)
        return
    # random stops or records: repeat the wrapped algorithm's own draws, which follow those of the resample
    if kind is StopPNSGD:
        stops = np.asarray(rng.integers(1, n + 1, (runs,), "stop"))
        order = np.argsort(-stops, kind="stable")
        for place, r in enumerate(order):
            sample = drawn[place][: stops[r]]
            w = np.zeros((1, 3))
            for k in sample:
                w = BALL.project(w - 0.5 * Logistic().gradient(w, data.features[k], data.labels[k]))
            np.testing.assert_allclose(points[r], w[0], atol=1e-12)
        return
    w = np.zeros((runs, 3))
    which = np.asarray(rng.integers(0, n, (20, runs), "records"))
    for t in range(1, 21):
        for r in range(runs):
            k = drawn[r, which[t - 1, r]]
            gradient = Logistic().gradient(w[r : r + 1], data.features[k], data.labels[k])
            w[r] = BALL.project(w[r : r + 1] - solver.rate(n, t) * n * gradient)[0]
    np.testing.assert_allclose(points, w, atol=1e-12)


def _mixture_profile(n: int, m: int, shift: float, epsilon: float) -> float:
    """Exact: a record of value +-1 counts k ~ Bin(m, 1/n) times in a sum with Gaussian noise; others are 0."""
    chances = stats.binom(m, 1 / n).pmf(np.arange(m + 1))
    places = shift / 2 * np.arange(m + 1)

    def density(x: float, sign: float) -> float:
        return float(np.sum(chances * stats.norm.pdf(x - sign * places)))

    found = integrate.quad(
        lambda x: max(0.0, density(x, 1) - math.exp(epsilon) * density(x, -1)), -10, 10 + shift * m, limit=400
    )
    return float(found[0])


@pytest.mark.parametrize(
    ("n", "m", "shift"), [(1, 1, 1.0), (2, 2, 0.8), (6, 6, 1.0), (6, 12, 0.5), (20, 20, 2.0)]
)
def test_the_mixture_profile_covers_a_sum_with_noise(n: int, m: int, shift: float) -> None:
    profile = ResampledProfile(GDP(shift), n, m)
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        exact = _mixture_profile(n, m, shift, epsilon)
        bound = float(profile(np.array(epsilon)))
        assert exact <= bound + 1e-9
        if epsilon == 0:
            assert bound == pytest.approx(exact, rel=1e-6)  # nothing is lost there


def test_a_profile_that_counts_a_record_once_is_caught() -> None:
    """A planted fault: the record is taken to be drawn at most once."""

    @dataclass(frozen=True)
    class Once(ResampledProfile):
        def _group(self, size: int, epsilon: Any) -> Any:
            return super()._group(1, epsilon)

    n, shift, epsilon = 20, 1.0, 2.0
    assert float(Once(GDP(shift), n, n)(np.array(epsilon))) < _mixture_profile(n, n, shift, epsilon)


def test_lemma_6_against_its_sums() -> None:
    """The closed forms against the sums over multiplicities that the proof starts from."""
    for n, m, epsilon in ((3, 3, 0.5), (10, 25, 0.1), (50, 10, 1.0)):
        chances = stats.binom(m, 1 / n).pmf(np.arange(m + 1))
        k = np.arange(m + 1)
        up = float(chances @ np.exp(k * epsilon))
        down = float(chances @ np.exp(-k * epsilon))
        group_up = float(chances @ np.expm1(k * epsilon)) / math.expm1(epsilon)
        group_down = float(chances @ -np.expm1(-k * epsilon)) / math.expm1(epsilon)
        found = resampled(ApproxDP(epsilon, 1e-6), n, m)
        assert found.epsilon == pytest.approx(math.log(up / down), rel=1e-10)
        assert found.delta == pytest.approx(1e-6 * (up / down * group_down + group_up), rel=1e-10)
    assert resampled(PureDP(0.5), 10, 10).delta == 0
    assert resampled(ApproxDP(0.0, 1e-6), 10, 10) == ApproxDP(0.0, 2e-6)


def test_lemma_6_covers_a_sum_with_noise() -> None:
    for n, shift in ((2, 0.2), (6, 0.1), (20, 0.5)):
        for inner in (0.05, 0.2, 0.5):
            delta = float(GDP(shift).privacy_profile(inner))
            found = resampled(ApproxDP(inner, delta), n, n)
            assert _mixture_profile(n, n, shift, found.epsilon) <= found.delta + 1e-12


def test_the_printed_claim_of_appendix_d2() -> None:
    """(6 epsilon, e delta) for epsilon <= 1/6 is true for every n; Lemma 6 as printed has 4 e^(6 epsilon) delta."""
    largest = 0.0
    for n in (1, 2, 3, 5, 10, 100, 10_000, 10**8):
        for epsilon in (1e-6, 0.05, 0.1, 1 / 6):
            found = resampled(ApproxDP(epsilon, 1e-6), n, n)
            assert found.epsilon <= 6 * epsilon
            largest = max(largest, found.delta / 1e-6)
            lemma = 4 * math.exp(6 * epsilon)
            assert lemma > math.e  # so that the claim does not follow from it
    assert 2.1 < largest <= math.e
    # the proof would carry e delta to epsilon = 1/3, and no farther than 1/2
    assert resampled(ApproxDP(1 / 3, 1e-6), 10**6, 10**6).delta < math.e * 1e-6
    assert resampled(ApproxDP(1 / 2, 1e-6), 10**6, 10**6).delta > math.e * 1e-6


def test_guarantees_of_the_resampled_solver() -> None:
    small = EmpiricalToPopulation(FixedSolver(LOGISTIC, ApproxDP(0.1, 1e-6)))
    printed, lemma, mixture = (stated.guarantee for stated in small.guarantees(50))
    assert printed == ApproxDP(0.6000000000000001, math.e * 1e-6)
    assert lemma.epsilon_at(3e-6) < 0.25
    assert 0 < mixture.privacy_profile(0.0) < 0.2
    larger = EmpiricalToPopulation(FixedSolver(LOGISTIC, ApproxDP(0.5, 1e-6)))
    assert len(larger.guarantees(50)) == 2
    assert len(EmpiricalToPopulation(FixedSolver(LOGISTIC, ApproxDP(0.1, 1e-6)), 20).guarantees(50)) == 2
    assert len(EmpiricalToPopulation(FixedSolver(LOGISTIC, GDP(0.5))).guarantees(50)) == 1
    at = small.guarantee_at(50, 3)
    assert at is not None
    assert at.guarantee == printed
    nothing = EmpiricalToPopulation(FixedSolver(LOGISTIC))
    assert not nothing.guarantees(50)
    assert nothing.guarantee_at(50, 3) is None
    with pytest.raises(NotGuaranteedError, match="guarantees nothing"):
        nothing(data_in_ball(5), rng=Randomness(1), runs=2)


@pytest.mark.parametrize("epsilon", [8.0, 50.0, 800.0, 1e9])
def test_guarantees_at_epsilons_whose_exponentials_leave_the_floats(epsilon: float) -> None:
    problem = Problem(Logistic(), Ball(2, 1.0))
    solver = PhasedSGD(problem, epsilon, 1e-5)
    for n in (4, 569):
        for one in EmpiricalToPopulation(solver).guarantees(n):
            assert one.guarantee.epsilon_at(0.5) >= 0
    with pytest.raises(InvalidArgumentError):
        resampled(ApproxDP(8.0, 1e-5), 569, 569)
    assert resampled(PureDP(8.0), 569, 569).delta == 0


def test_any_profile_has_a_group_profile() -> None:
    """A guarantee without a closed form for groups: the geometric row, checked against approximate DP's own."""
    general = ResampledProfile(_like(ApproxDP(0.2, 1e-5)), 30, 30)
    special = ResampledProfile(ApproxDP(0.2, 1e-5), 30, 30)
    epsilon = np.array([0.0, 0.5, 2.0, 50.0, 5000.0, np.inf])
    assert np.all(general(epsilon) >= special(epsilon) - 1e-15)
    assert np.all(np.diff(general(epsilon)) <= 1e-15)
    assert np.all((general(epsilon) >= 0) & (general(epsilon) <= 1))


def _like(guarantee: ApproxDP) -> Any:
    from dpverify.privacy import ProfileDP

    return ProfileDP(lambda epsilon: np.asarray(guarantee.privacy_profile(epsilon)), "as given")


def test_risk_and_queries_come_from_the_solver() -> None:
    stated = StatedRisk(0.3, total=False, population=True, sources=("here",))
    reduction = EmpiricalToPopulation(FixedSolver(LOGISTIC, PureDP(1.0), risk=stated), 20)
    found = reduction.risk_bound(50)
    assert found is not None
    assert (found.bound, found.population, found.total) == (0.3, False, False)
    assert found.sources == ("here", "mn25.d2")
    assert reduction.gradient_query_count(50) == 60
    assert reduction.queries(50)[0].count == 60
    empirical = FixedSolver(LOGISTIC, PureDP(1.0), risk=StatedRisk(0.3, total=False))
    assert EmpiricalToPopulation(empirical).risk_bound(50) is None


def test_a_stable_solver_has_a_risk_for_the_population() -> None:
    """Linear losses without an edge of the set in the way: one record moves the point by all that the bound allows."""
    n, solver = 6, NoisyGradientDescent(Problem(Linear(), Ball(1, 1e4)), 8.0, 1e-2, rate_factor=1e-6)
    features = np.ones((n, 1))
    other = features.copy()
    other[0] = -1.0
    left, right = (
        solver(Dataset(x, np.ones(n)), rng=Randomness(3), runs=4000).points for x in (features, other)
    )
    moved = np.mean(np.abs(left - right))
    stated, own = solver.population_risk_bound(n), solver.risk_bound(n)
    assert stated is not None
    assert moved == pytest.approx(solver.stability(n), rel=0.05)
    assert stated.bound == own.bound / n + solver.stability(n)
    assert stated.population
    found = EmpiricalToPopulation(solver).risk_bound(n)
    assert found is not None
    assert (found.bound, found.population) == (stated.bound, False)
    steep = NoisyGradientDescent(Problem(Logistic(), Ball(1, 1.0)), 8.0, 1e-2, rate_factor=1e4)
    assert steep.stability(n) is None


def test_the_resampled_solver_minimizes_the_empirical_risk() -> None:
    data = data_in_ball(60)
    solver = NoisyGradientDescent(LOGISTIC, 1.0, 1e-5, noise_constant=0.0, withdraw_guarantee=True)
    reduction = EmpiricalToPopulation(solver, withdraw_guarantee=True)
    points = run(reduction, data, runs=40, seed=1).points
    risk = LOGISTIC.mean_risk(points, data) - minimize(LOGISTIC, data).value.lower
    assert np.mean(risk) < 0.1 * (math.log(2) - minimize(LOGISTIC, data).value.lower)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("solver", None),
        ("solver", FixedSolver),
        ("resamples", 0),
        ("resamples", 2.0),
        ("withdraw_guarantee", None),
    ],
)
def test_bad_parameters_of_the_erm_solver(argument: str, value: object) -> None:
    good: dict[str, Any] = {"solver": FixedSolver(LOGISTIC)}
    with pytest.raises(InvalidArgumentError, match=argument):
        EmpiricalToPopulation(**{**good, argument: value})
