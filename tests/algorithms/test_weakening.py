"""Weakened versions: a factor-th of the noise or the exponent times the factor, the same draws, and no guarantee.

The noise of additive algorithms is compared exactly: on linear losses without projections their output is affine in
the noise, so with one seed three versions lie on a line. The laws of samplers are compared with quadrature: the
largest deviation of 20,000 runs' distribution function is above 0.024 with probability at most 2e-10 (Massart's
inequality), so all of this file's laws together fail a right one with probability below 1e-8.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from every_algorithm import ALGORITHMS

from dpverify.algorithms.bst14.boosting import Boosting, ForPrivacy
from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.bst14.huberized_hinge import HuberizedObjectivePerturbation
from dpverify.algorithms.bst14.localization import ApproximateLocalization, Localization
from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import GaussianOutputPerturbation, OutputPerturbation
from dpverify.algorithms.fmtt18.iteration import ContractiveNoisyIteration, GaussianNoise
from dpverify.algorithms.fmtt18.multitask import MultitaskStopPNSGD
from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast
from dpverify.algorithms.fmtt18.smoothing import SmoothedPNSGD
from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler
from dpverify.algorithms.gll22.linear_hard_family import MeanMinimizer
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.algorithms.gll22.rejection_inner_step import RejectionInnerStep
from dpverify.algorithms.mn25.dp_sgd import DPSGD
from dpverify.algorithms.mn25.empirical_to_population import EmpiricalToPopulation
from dpverify.algorithms.mn25.fingerprinting import Fingerprinting
from dpverify.algorithms.mn25.limited_oracle import GaussianChannel, LimitedOracleSGD
from dpverify.algorithms.mn25.phased import PhasedERM, PhasedSGD
from dpverify.algorithms.mn25.population_to_empirical import PopulationToEmpirical
from dpverify.algorithms.mn25.private_oracles import CyclicDescent, GaussianOracle, PrivateOracleMethod
from dpverify.algorithms.mn25.private_selection import select
from dpverify.algorithms.weakening import QuietRandomness, Weakenable, Weakened
from dpverify.errors import InvalidArgumentError
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Problem,
)
from dpverify.running import Randomness, run
from dpverify.statements.paper import loaded
from tests.algorithms.fmtt18.laplace_noise import LaplaceNoise

N = 4
FEATURES = np.array([[1.0, 0.0], [0.3, -0.4], [-0.2, 0.5], [0.0, 0.1]])
PLANE = Dataset(FEATURES, np.ones(N), "four records", "by construction")
LINE = Dataset(FEATURES[:, :1], np.ones(N), "four records on a line", "by construction")
SPACE, HUGE = Problem(Linear(), AllSpace(2)), Problem(Linear(), Ball(2, 1e9))
SQUARES = HalfSquaredDistance.on(Ball(2, 1e6))
MEAN = Problem(HalfSquaredDistance(np.inf), AllSpace(2))


def _identity(points: Any, data: Any) -> Any:
    return points


ADDITIVE: dict[str, Any] = {
    "cni": ContractiveNoisyIteration((_identity,) * 3, GaussianNoise(0.5), np.zeros(2)),
    "cni, Laplace": ContractiveNoisyIteration((_identity,) * 3, LaplaceNoise(0.5), np.zeros(2)),
    "PNSGD": PNSGD(SPACE, 0.3, 1.0),
    "skip": SkipPNSGD(SPACE, 0.3, 1.0),
    "stop": StopPNSGD(SPACE, 0.3, 1.0),
    "PNMSGD": PNMSGD(SPACE, 0.3, 1.0),
    "public": PublicRecordsLast(SPACE, 0.3, 1.0, public=1),
    "multitask": MultitaskStopPNSGD((Linear(), Linear()), AllSpace(2), 0.3, 1.0),
    "noisy gradient descent": NoisyGradientDescent(Problem(Linear(), Ball(2, 1.0)), 2.0, 1e-3, steps=3),
    "output perturbation": OutputPerturbation(MEAN, 1.0),
    "Gaussian output perturbation": GaussianOutputPerturbation(
        Problem(SQUARES, Ball(2, 1e6)), 1.0, 1e-3, noise_constant=1e-9, withdraw_guarantee=True
    ),
    "objective perturbation, Gamma": ObjectivePerturbation(HUGE, 1.0, regularization=5.0),
    "objective perturbation, Gaussian": ObjectivePerturbation(HUGE, 1.0, 1e-3, regularization=5.0),
    "oracle method": PrivateOracleMethod(SPACE, GaussianOracle(0.7), CyclicDescent(3, 2, 0.3)),
    "limited oracle": LimitedOracleSGD(HUGE, GaussianChannel(0.5), 1e9, steps=5, rate=0.1),
    "DP-SGD": DPSGD(HUGE, 2.0, 1e-3, noise_stddev=0.5, steps=5, rate=0.1, withdraw_guarantee=True),
    "phased SGD": PhasedSGD(
        HUGE,
        2.0,
        1e-3,
        accuracy=1e8,
        steps=4.0,
        rate=1e-9,
        phases=1,
        noise_factor=1e-9,
        withdraw_guarantee=True,
    ),
    "phased ERM": PhasedERM(
        HUGE, 2.0, 1e-3, accuracy=1e8, phases=1, noise_factor=1e-9, withdraw_guarantee=True
    ),
    "empirical to population": EmpiricalToPopulation(PNSGD(SPACE, 0.3, 1.0)),
    "for privacy": ForPrivacy(PNSGD, Problem(Linear(), Ball(2, 1.0)), 8.0, 1e-3),
}


@pytest.mark.parametrize(
    "name", [name for name in ADDITIVE if name not in ("noisy gradient descent", "for privacy")]
)
def test_the_noise_is_divided_and_nothing_else_changes(name: str) -> None:
    algorithm = ADDITIVE[name]
    full = run(algorithm, PLANE, runs=40, seed=3)
    half, quarter = (run(algorithm.weakened(k), PLANE, runs=40, seed=3) for k in (2.0, 4.0))
    moved, rest = full.points - half.points, half.points - quarter.points
    size = np.max(np.abs(moved))
    assert size > 0
    # affine in the noise: full - half is half of the noise, half - quarter is a quarter of it
    np.testing.assert_allclose(moved, 2 * rest, atol=1e-6 * size, rtol=1e-6)
    for counter in ("gradient_queries", "projections", "value_queries"):
        np.testing.assert_array_equal(getattr(full, counter), getattr(quarter, counter))


INTERVAL, SEGMENT = Problem(Linear(), Box.cube(1, 1.0)), Problem(Linear(), Ball(1, 1.0))
STRONG = Problem(HalfSquaredDistance.on(Ball(1, 1.0)), Ball(1, 1.0))
SEGMENT_LOSS = Problem(Hinge(), Ball(1, 1.0))
DEVIATION, LAW_RUNS = 0.024, 20_000

LAWS: dict[str, tuple[Any, Callable[[Any], float], float]] = {
    # an algorithm on the line, the factor of the total risk in its exponent, and how far its law may be from that
    "exponential sampling": (ExponentialSampling(SEGMENT, 4.0), lambda a: a.scale, 0.0),
    "exponential sampling, own exponent": (
        ExponentialSampling(SEGMENT, 4.0, exponent_scale=0.7),
        lambda a: a.scale,
        0.0,
    ),
    "net": (NetMechanism(SEGMENT, 4.0, cover_radius=0.005), lambda a: a.scale, 0.01),
    "regularized": (
        RegularizedExponentialMechanism(
            SEGMENT, 1.0, 1e-3, inverse_temperature=8.0, regularization=1e-9, withdraw_guarantee=True
        ),
        lambda a: a.inverse_temperature / N,
        0.0,
    ),
}


def _distribution(risk: Callable[[Any], Any], factor: float) -> tuple[Any, Any]:
    grid = np.linspace(-1.0, 1.0, 4001)
    density = np.exp(-factor * risk(grid))
    sums = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    return grid, sums / sums[-1]


def _away(points: Any, grid: Any, expected: Any) -> float:
    """Largest difference of distribution functions, at least; a ladder of 400 places."""
    places = np.linspace(-1.0, 1.0, 401)
    found = np.searchsorted(np.sort(points), places, side="right") / points.size
    return float(np.max(np.abs(found - np.interp(places, grid, expected))))


@pytest.mark.parametrize(
    "name", [name for name in LAWS if name not in ("algorithm 7", "alternating sampler")]
)
def test_the_exponent_is_multiplied(name: str) -> None:
    algorithm, exponent, allowed = LAWS[name]
    points = run(algorithm.weakened(4.0), LINE, runs=LAW_RUNS, seed=7).points[:, 0]

    def risk(w: Any) -> Any:
        return INTERVAL.total_risk(w[:, None], LINE)

    assert _away(points, *_distribution(risk, 4 * exponent(algorithm))) <= DEVIATION + allowed
    assert _away(points, *_distribution(risk, exponent(algorithm))) > 2 * (DEVIATION + allowed)


@pytest.mark.parametrize("kind", [GridWalk, SamplingInConvexSet, BoostedSampling])
def test_walks_get_a_steeper_density(kind: Any) -> None:
    walk = kind(INTERVAL, 0.5, 1.0)
    weaker = walk.sharpened(N, 4.0)
    assert weaker == dataclasses.replace(walk, scale=2.0, distance=4.0)
    full, half = (run(a, LINE, runs=4_000, seed=3).points for a in (walk, walk.weakened(4.0)))
    # towards the lower end, where the risk is least
    assert np.mean(half) < np.mean(full) - 0.2


def test_other_samplers_get_larger_epsilons_and_temperatures() -> None:
    algorithm = EfficientExponentialSampling(INTERVAL, 4.0)
    assert algorithm.sharpened(N, 4.0) == dataclasses.replace(algorithm, epsilon=16.0)
    sampler = AlternatingSampler(SEGMENT, 2.0, 0.2, 0.02)
    assert sampler.sharpened(N, 4.0).inverse_temperature == 8.0


def test_the_inner_step_is_drawn_to_its_density() -> None:
    step = RejectionInnerStep(SEGMENT, 0.5, 0.1, 0.005, (0.9,))
    points = run(step.weakened(4.0), LINE, runs=LAW_RUNS, seed=7).points[:, 0]
    quadratic = 1 / (2 * step.step_size)

    def law(factor: float) -> tuple[Any, Any]:
        def risk(w: Any) -> Any:
            mean = INTERVAL.mean_risk(w[:, None], LINE)
            return factor * step.inverse_temperature * (mean + 0.05 * w**2) + quadratic * (w - 0.9) ** 2

        return _distribution(risk, 1.0)

    assert _away(points, *law(4.0)) <= DEVIATION


def test_localization_keeps_its_ball_and_sharpens_its_sampler() -> None:
    algorithm = Localization(STRONG, 8.0)
    weaker = algorithm.sharpened(N, 4.0)
    assert weaker.radius(N) == algorithm.radius(N)
    assert weaker.solver_at(N).mechanism.epsilon == 4 * algorithm.solver_at(N).mechanism.epsilon
    full, half = (run(a, LINE, runs=4_000, seed=3).points for a in (algorithm, algorithm.weakened(4.0)))
    assert np.std(half) < 0.9 * np.std(full)


def test_the_pick_of_boosting_is_an_exponential_mechanism_with_more_epsilon() -> None:
    """Four candidates at costs 0 to 3: a race whose logarithms are divided by k picks by k times the costs."""
    scores = np.broadcast_to(np.arange(4.0), (LAW_RUNS, 4))
    for factor in (2.0, 4.0):
        quiet = QuietRandomness(Randomness(5), factor)
        picked = select(scores, sensitivity=1.0, epsilon=1.0, rng=quiet)
        weights = np.exp(-0.5 * factor * np.arange(4.0))
        shares = np.bincount(picked, minlength=4) / LAW_RUNS
        # Hoeffding: 0.024 with probability at most 2e-10 each
        np.testing.assert_allclose(shares, weights / weights.sum(), atol=DEVIATION)


def test_wrappers_weaken_what_they_wrap() -> None:
    inner = OutputPerturbation(STRONG, 2.0)
    boosted = Boosting(inner, 0.5, repeats=2)
    full, half = (run(a, LINE, runs=4_000, seed=3).points for a in (boosted, boosted.weakened(8.0)))
    assert np.std(half) < 0.5 * np.std(full)
    sampled = Boosting(ExponentialSampling(SEGMENT, 2.0), 0.5, repeats=2)
    single = sampled.sharpened(N, 4.0).single
    assert isinstance(single, ExponentialSampling)
    assert single.epsilon == 4 * sampled.single.epsilon  # type: ignore[attr-defined]
    reduction = PopulationToEmpirical(
        NoisyGradientDescent(SEGMENT, 40.0, 1e-2, steps=2), 1.0, minibatch=2, boosts=1, phases=2
    )
    full, half = (run(a, LINE, runs=2_000, seed=3).points for a in (reduction, reduction.weakened(1e6)))
    # without noise only the order of the records is left
    assert np.unique(np.round(half, 4)).size < 50 < np.unique(np.round(full, 4)).size


def test_other_noise_is_divided() -> None:
    approximate = ApproximateLocalization(STRONG, 8.0, 1e-3)
    descent = ADDITIVE["noisy gradient descent"]
    hinge = HuberizedObjectivePerturbation(0.5, 1.0)
    smoothed = SmoothedPNSGD.for_privacy(SEGMENT_LOSS, n=N, epsilon=8.0, delta=1e-3)
    mean = MeanMinimizer.for_privacy(n=N, epsilon=8.0, delta=1e-3, radius=1.0, clip=1.0)
    for algorithm, data in (
        (approximate, LINE),
        (descent, PLANE),
        (hinge, LINE),
        (smoothed, LINE),
        (mean, PLANE),
        (Fingerprinting(members=2, dimension=4, epsilon=0.5, delta=1e-5), PLANE),
    ):
        full = run(algorithm, data, runs=500, seed=3).points
        again, quiet = (run(algorithm.weakened(k), data, runs=500, seed=3).points for k in (1.0000001, 1e5))
        # the same draws: hardly weakened it is hardly moved, and without noise it is
        assert np.mean(np.abs(full - again)) < 1e-3 < np.mean(np.abs(full - quiet)), algorithm


def test_weakened_algorithms_state_no_guarantee_and_cannot_be_wrapped() -> None:
    weaker = OutputPerturbation(STRONG, 2.0).weakened(2.0)
    assert not weaker.guarantees(N)
    assert weaker.guarantee_at(N, 1) is None  # type: ignore[func-returns-value]
    assert "on purpose" in weaker.withdrawn(N)[0]
    for wrapper in (Boosting, EmpiricalToPopulation, lambda a: PopulationToEmpirical(a, 1.0)):
        with pytest.raises(InvalidArgumentError):
            wrapper(weaker)  # type: ignore[operator]


@pytest.mark.parametrize("factor", [1.0, 0.5, -2.0, np.nan, np.inf, "2", None, True])
def test_bad_factors(factor: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="factor"):
        OutputPerturbation(STRONG, 2.0).weakened(factor)


def test_what_cannot_be_weakened_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="algorithm"):
        Weakened(lambda data: data, 2.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("id_", ALGORITHMS)
def test_every_algorithm_has_a_weaker_version_or_a_reason(id_: str) -> None:
    kind = loaded(ALGORITHMS[id_])
    assert issubclass(kind, Weakenable) != ("weaker version" in kind.unstated)
