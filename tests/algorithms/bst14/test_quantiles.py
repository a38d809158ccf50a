"""Risks with a probability: who states them, the laws behind them, and that runs keep to them.

Every test at a fixed seed rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from every_algorithm import ALGORITHMS, EVERY, N
from scipy import stats

from dpverify.algorithms.bst14 import ExponentialSampling, NoisyGradientDescent
from dpverify.algorithms.bst14.boosting import Boosting
from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.bst14.huberized_hinge import HuberizedObjectivePerturbation, first_bad_data
from dpverify.algorithms.bst14.localization import Localization
from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.algorithms.mn25.dp_sgd import DPSGD
from dpverify.algorithms.mn25.phased import PhasedERM
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Ball, Box, Dataset, HalfSquaredDistance, Linear, Logistic, Problem, minimize
from dpverify.running import Randomness, run

FALSE_ALARM = 1e-6
BALL = Ball(2, 1.0)
MEAN = Problem(HalfSquaredDistance.on(BALL), BALL)
INTERVAL = Box.cube(1, 1.0)
SAMPLERS = {"bst14.alg-cube", "bst14.alg2", "bst14.alg5", "bst14.alg6", "bst14.alg7", "bst14.alg8"}
NOISY = {"bst14.alg3", "bst14.alg4", "bst14.alg-objpert", "bst14.alg-huber"}
DIRECT = SAMPLERS | NOISY


def test_all_analyses_of_bst14_but_algorithm_1_s_give_a_probability() -> None:
    """As Appendix D says; of the other papers those that sample a density, or add up what noise does."""
    stated = {id_: EVERY[id_]().risk_quantile(N, 0.75) for id_ in ALGORITHMS}
    others = {id_ for id_ in stated if stated[id_] is not None} - {"bst14.alg-boost"} - DIRECT
    assert others == {"gll22.rem", "gll22.alg2", "mn25.alg3", "mn25.alg5"}
    assert all(stated[id_] is not None for id_ in DIRECT | {"bst14.alg-boost"})
    for id_ in DIRECT:
        low, high = (EVERY[id_]().risk_quantile(N, probability) for probability in (0.75, 0.9))
        assert low.bound < high.bound < math.inf, id_
        assert (low.probability, high.probability) == (0.75, 0.9), id_
        assert all((low.total, low.formula, low.origin)), id_


@pytest.mark.parametrize("probability", [0.0, 1.0, -1.0, math.nan, True, "0.5", None])
def test_what_is_no_probability_is_refused(probability: Any) -> None:
    for id_ in ("bst14.alg1", *DIRECT, "bst14.alg-boost"):
        with pytest.raises(InvalidArgumentError, match="probability"):
            EVERY[id_]().risk_quantile(N, probability)


@pytest.mark.parametrize(
    ("mechanism", "share"),
    [
        (ExponentialSampling(MEAN, 2.0), 0.35),
        (OutputPerturbation(MEAN, 8.0), 0.004),  # these losses bend, and the minimizer is inside
        (Localization(MEAN, 8.0, zeta=3.0), 0.12),
        (ObjectivePerturbation(MEAN, 4.0), 0.8),
        (ObjectivePerturbation(Problem(Logistic(), BALL), 4.0, 1e-3), 0.07),
        (NetMechanism(Problem(Linear(), BALL), 4.0), 0.12),
        (GridWalk.for_privacy(Problem(Linear(), INTERVAL), epsilon=3.0), 0.5),
        (SamplingInConvexSet(Problem(Linear(), INTERVAL), 0.3, 0.5), 0.65),
        (BoostedSampling(Problem(Linear(), INTERVAL), 0.3, 0.5), 0.65),
        (EfficientExponentialSampling(Problem(Linear(), INTERVAL), 3.0), 0.5),
        (HuberizedObjectivePerturbation(0.5, 0.5), 0.18),
        (Boosting(ExponentialSampling(MEAN, 40.0), 0.2), 0.1),
        (RegularizedExponentialMechanism(MEAN, 1.0, 1e-3), 0.3),
        (
            DPSGD(
                Problem(Linear(), BALL),
                4.0,
                1e-3,
                noise_stddev=1.0,
                steps=30,
                rate=0.1,
                withdraw_guarantee=True,
            ),
            0.1,
        ),
        (PhasedERM(Problem(Logistic(), BALL), 8.0, 1e-2), 0.05),
    ],
    ids=lambda one: one if isinstance(one, float) else one.id,
)
def test_runs_are_above_them_as_seldom_as_that(mechanism: Any, share: float) -> None:
    """And the check would see a bound that is so much smaller."""
    n, runs, beta = 30, 2000, 0.2
    features = np.random.default_rng(0).normal(size=(n, 2))
    data = Dataset(
        features / np.linalg.norm(features, axis=1)[:, None], np.where(features[:, 0] > 0, 1.0, -1.0)
    )
    if mechanism.problem.constraint.dimension == 1:
        data = first_bad_data(n)
    least = n * minimize(mechanism.problem, data).value.lower
    points = run(mechanism, data, runs=runs, seed=1).points
    excess = np.asarray(mechanism.problem.total_risk(points, data)) - least
    stated = mechanism.risk_quantile(n, 1 - beta)
    bound = stated.bound * (1 if stated.total else n)
    right, wrong = (
        stats.binomtest(int(np.sum(excess > part * bound)), runs, beta, alternative="greater").pvalue
        for part in (1.0, share)
    )
    assert wrong < FALSE_ALARM < right


@pytest.mark.parametrize(("beta", "records"), [(0.5, 1), (0.1, 8), (1e-3, 8)])
def test_the_quantile_of_a_net_is_above_its_exact_one_and_not_far(beta: float, records: int) -> None:
    """On linear losses by the probabilities of all points; with a bound that forgot beta some would be above."""
    mechanism = NetMechanism(
        Problem(Linear(), Box.cube(1, 1.0)), 1.0, cover_radius=1 / 64, withdraw_guarantee=True
    )
    data = Dataset(np.ones((records, 1)), np.ones(records))
    risks = np.asarray(mechanism.problem.total_risk(mechanism.net_for(records).points, data)) + records
    law, stated = mechanism.probabilities(data), replace(mechanism, withdraw_guarantee=False)
    found = stated.risk_quantile(records, 1 - beta)
    assert found is not None
    assert float(law[risks > found.bound].sum()) <= beta
    expected = stated.risk_bound(records)
    assert expected is not None
    assert found.bound - expected.bound == pytest.approx(-math.log(beta) / mechanism.scale)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_the_noise_of_objective_perturbation_keeps_below_its_quantile(delta: float) -> None:
    """The norm that the bound stands for is exceeded in 0.99 beta of all draws, and no less often."""
    n, beta, runs = 30, 0.2, 40_000
    algorithm = ObjectivePerturbation(Problem(Logistic(), BALL), 4.0, delta)
    found = algorithm.risk_quantile(n, 1 - beta)
    assert found is not None
    norms = np.linalg.norm(algorithm.noise_scale_at(n) * algorithm._noise(Randomness(3), runs), axis=1)
    hidden = stats.gamma.isf(0.01 * beta, 2)
    none, one = (algorithm._risk_at(n, square, hidden) for square in (0.0, 1.0))
    pushed = algorithm.regularization_at(n) + norms  # a minimizer of norm 1
    exceeding = int(np.sum(none + (one - none) * pushed**2 > found.bound))
    assert stats.binomtest(exceeding, runs, 0.99 * beta).pvalue > FALSE_ALARM


def test_a_walk_may_miss_by_its_distance() -> None:
    """The worst law within it: e^distance times the exact one's probability, where the excess is largest."""
    problem, distance, beta = Problem(Linear(), Box.cube(3, 1.0)), 0.4, 0.05
    found = GridWalk(problem, 2.0, distance).risk_quantile(N, 1 - beta)
    assert found is not None
    assert math.exp(distance) * stats.gamma.sf(2.0 * found.bound, 3) == pytest.approx(beta, rel=1e-9)


def test_localization_loses_what_its_ball_misses() -> None:
    algorithm = Localization(MEAN, 8.0, zeta=1.5)
    miss = algorithm.miss_probability(30)
    assert 0.1 < miss < 0.3
    assert algorithm.risk_quantile(30, 1 - 0.9 * miss) is None
    found = algorithm.risk_quantile(30, 1 - 2 * miss)
    assert found is not None
    rate = 4.0 / (2 * MEAN.constants.lipschitz_constant * algorithm.local_diameter(30))
    assert stats.gamma.sf(rate * found.bound, 2) == pytest.approx(miss, rel=1e-9)


def test_boosting_is_how_algorithm_1_comes_to_one() -> None:
    boosted = Boosting(NoisyGradientDescent(MEAN, 400.0, 1e-3, step_size="strongly-convex"), 0.05)
    most = 30 * MEAN.constants.lipschitz_constant * BALL.diameter
    printed = boosted.risk_bound(30)
    assert printed is not None
    bounds = [found.bound for p in (0.8, 0.95, 0.99) if (found := boosted.risk_quantile(30, p))]
    assert bounds == sorted(set(bounds))
    assert bounds[1] == pytest.approx(printed.bound, rel=1e-12)
    assert bounds[-1] < 0.5 * most
