"""The reduction from population risk to empirical risk: twins, exact privacy, printed claims, risks, planted faults."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pickle
from dataclasses import dataclass
from typing import Any, ClassVar

import array_api_strict
import numpy as np
import pytest
from fixed_solver import BALL, LOGISTIC, FixedSolver, data_in_ball
from scipy import optimize

from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.mn25.empirical_to_population import (
    EmpiricalToPopulation,
)
from dpverify.algorithms.mn25.population_to_empirical import PopulationToEmpirical
from dpverify.algorithms.promises import StatedRisk
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import GDP, Adjacency, ApproxDP, PureDP, StatedGuarantee, compose, zCDP
from dpverify.problems import Ball, Box, Dataset, HalfSquaredDistance, Logistic, Problem, load
from dpverify.running import Output, Randomness, run


@dataclass(frozen=True)
class MeanOfLocal:
    """Exact ERM of half the squared distance on a local problem, whose minimizer is a projected weighted mean."""

    problem: Problem

    hands_over: ClassVar[str] = "all runs"

    def guarantees(self, n: int) -> tuple[StatedGuarantee, ...]:
        return ()

    def gradient_query_count(self, n: int) -> int:
        return n

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        loss: Any = self.problem.loss
        best = (np.mean(data.features, axis=0) + loss.weight * loss.anchors) / (1 + loss.weight)
        # the objective is a multiple of the squared distance to `best`
        return Output(self.problem.constraint.project(best - loss.offsets), gradient_queries=data.n)


# ------------------------------------------------------------------------------------------ SCO by ERM


def test_sizes() -> None:
    reduction = PopulationToEmpirical(FixedSolver(LOGISTIC), 1.0, accuracy=0.1)
    sizes = reduction.sizes(1024)
    assert (sizes.phases, sizes.part, sizes.boosts, sizes.balls) == (5, 204, 8, 4)
    assert sizes.solver_calls == 32
    assert sizes.selections == 5
    assert reduction.batch_size(1024) == 100
    assert reduction.gradient_query_count(1024) == 5 * 32 * 3 * 204
    assert reduction.value_query_count(1024) == 5 * (32 + 4) * 100
    single = dataclasses.replace(reduction, boosts=1, balls=1, phases=1)
    assert single.sizes(10).selections == 0
    assert single.value_query_count(10) == 0


def test_counts_of_a_run_are_what_is_stated() -> None:
    for options in (
        {},
        {"boosts": 1},
        {"balls": 1},
        {"minibatch": 3},
        {"phases": 1, "boosts": 2, "balls": 2},
    ):
        reduction = PopulationToEmpirical(
            FixedSolver(LOGISTIC, PureDP(0.5)), 1.0, accuracy=0.5, regularization=0.1, **options
        )
        found = run(reduction, data_in_ball(33), runs=4, seed=1)
        gradients, values = reduction.queries(33)
        assert np.all(found.gradient_queries == gradients.count)
        assert np.all(found.value_queries == values.count)


@pytest.mark.parametrize(
    ("promise", "total"),
    [
        (PureDP(0.1), PureDP(8 * 3 * 0.1 + 4 * 0.7)),
        (ApproxDP(0.1, 1e-6), ApproxDP(8 * 3 * 0.1 + 4 * 0.7, 24e-6)),
        (zCDP(0.01), compose([zCDP(0.24), zCDP(4 * 0.7**2 / 2)])),
        (GDP(0.1), None),
    ],
)
def test_the_guarantee_is_that_of_one_phase(promise: Any, total: Any) -> None:
    reduction = PopulationToEmpirical(
        FixedSolver(LOGISTIC, promise), 0.7, accuracy=0.5, regularization=0.1, boosts=8, balls=3, phases=4
    )
    (stated,) = reduction.guarantees(100)
    assert stated.adjacency is Adjacency.REPLACE_ONE
    if total is None:  # mu^2/2-zCDP, 24 times, and the selections
        total = compose([zCDP(24 * 0.1**2 / 2), zCDP(4 * 0.7**2 / 2)])
        assert stated.guarantee.epsilon_at(1e-6) == pytest.approx(total.epsilon_at(1e-6), rel=1e-6)
    else:
        assert stated.guarantee.privacy_profile(2.0) == pytest.approx(total.privacy_profile(2.0), rel=1e-9)
    at = reduction.guarantee_at(100, 7)
    assert at is not None
    assert (at.index, at.guarantee) == (7, stated.guarantee)


def test_for_privacy_spends_what_is_asked() -> None:
    reduction = PopulationToEmpirical.for_privacy(LOGISTIC, n=24, epsilon=3.0, delta=1e-4)
    (stated,) = reduction.guarantees(24)
    assert isinstance(stated.guarantee, ApproxDP)
    assert stated.guarantee.epsilon == pytest.approx(3.0)
    assert stated.guarantee.delta == pytest.approx(1e-4)
    assert stated.sources == ("mn25.thm8",)
    pickle.loads(pickle.dumps(reduction))


def test_no_solver_guarantee_no_guarantee() -> None:
    reduction = PopulationToEmpirical(FixedSolver(LOGISTIC), 1.0, accuracy=0.5)
    assert not reduction.guarantees(40)
    assert reduction.guarantee_at(40, 1) is None
    with pytest.raises(NotGuaranteedError, match="guarantees nothing"):
        reduction(data_in_ball(40), rng=Randomness(1), runs=2)
    withdrawn = dataclasses.replace(reduction, withdraw_guarantee=True)
    assert withdrawn(data_in_ball(40), rng=Randomness(1), runs=2).points.shape == (2, 3)


def test_records_after_the_last_phase_are_not_used() -> None:
    """33 records, 3 phases of 11; 35 leave two over: the output does not depend on them, but on all others."""
    solver = NoisyGradientDescent(LOGISTIC, 1.0, 1e-5, noise_constant=0.0, steps=15, withdraw_guarantee=True)
    reduction = PopulationToEmpirical(
        solver, 2.0, accuracy=1.0, phases=3, boosts=2, balls=2, minibatch=11, withdraw_guarantee=True
    )
    data = data_in_ball(35)
    points = run(reduction, data, runs=5, seed=2).points
    for index, same in ((35, True), (34, True), (33, False), (1, False)):
        other = data.replace(index, np.array([0.0, 0.0, 1.0]), -1.0)
        assert np.array_equal(run(reduction, other, runs=5, seed=2).points, points) is same


def test_one_phase_is_one_regularized_minimum() -> None:
    """T = K = R + 1 = 1: the exact ridge solution, in closed form."""
    data, weight = data_in_ball(30), 0.3
    problem = Problem(HalfSquaredDistance.on(BALL), BALL)
    reduction = PopulationToEmpirical(
        MeanOfLocal(problem),
        1.0,
        accuracy=1e-9,
        phases=1,
        boosts=1,
        balls=1,
        regularization=weight,
        withdraw_guarantee=True,
    )
    points = run(reduction, data, runs=3, seed=1).points
    # 2 lambda ||w||^2 is a ridge of weight 4 lambda
    np.testing.assert_allclose(points, [np.mean(data.features, axis=0) / (1 + 4 * weight)] * 3, rtol=1e-12)


def test_recursive_regularization_by_hand() -> None:
    """Three phases of one ball and one boost against the same three minima computed by a solver."""
    data, weight = data_in_ball(30), 0.05
    problem = Problem(HalfSquaredDistance.on(BALL), BALL)
    reduction = PopulationToEmpirical(
        MeanOfLocal(problem),
        1.0,
        accuracy=1e-9,
        phases=3,
        boosts=1,
        balls=1,
        regularization=weight,
        withdraw_guarantee=True,
    )
    visited = [np.zeros(3)]
    for phase in range(3):
        part = data.features[10 * phase : 10 * phase + 10]

        def objective(w: Any, part: Any = part) -> float:
            terms = sum(2.0 ** (s + 1) * weight * np.sum((w - v) ** 2) for s, v in enumerate(visited))
            return float(np.mean(0.5 * np.sum((w - part) ** 2, axis=1)) + terms)

        visited.append(optimize.minimize(objective, visited[-1], tol=1e-14).x)
    np.testing.assert_allclose(run(reduction, data, runs=2, seed=1).points[0], visited[-1], atol=1e-6)


@pytest.mark.parametrize("selection", ["relative", "printed"])
@pytest.mark.parametrize("minibatch", [1000, 20])
def test_the_risk_bound_holds(selection: Any, minibatch: int) -> None:
    """Mean estimation with an exact solver: the excess population risk is ||w - mean||^2 / 2."""
    data = load("breast-cancer", d=3)
    problem = Problem(HalfSquaredDistance.on(BALL), BALL)
    reduction = PopulationToEmpirical(
        MeanOfLocal(problem),
        20.0,
        accuracy=1e-9,
        selection=selection,
        minibatch=minibatch,
        withdraw_guarantee=True,
    )
    population = np.mean(data.features, axis=0)
    risks, n = [], 400
    for seed in range(12):
        drawn = np.random.default_rng(seed).integers(0, data.n, n)
        sample = Dataset(data.features[drawn], data.labels[drawn])
        points = run(reduction, sample, runs=4, seed=seed).points
        risks.append(float(np.mean(0.5 * np.sum((points - population) ** 2, axis=1))))
    bound = reduction.risk_bound(n)
    assert bound.population
    assert not bound.total
    assert np.mean(risks) <= bound.bound <= 2 * 2.0
    if minibatch > n:
        assert bound.bound < 2.5


def test_the_theorem_is_the_recursion_with_the_solver_s_own_theorem() -> None:
    """At the parameters in use: as if the solver stated its theorem alone."""
    fixed: dict[str, Any] = {"boosts": 1, "balls": 1, "phases": 4, "regularization": 1e-3}

    def found(bound: float, theorem: float | None = None) -> StatedRisk:
        solver = FixedSolver(LOGISTIC, risk=StatedRisk(bound, total=False, theorem=theorem))
        return PopulationToEmpirical(solver, 1.0, **fixed).risk_bound(10**9)

    both, less, more = found(1e-6, 1e-4), found(1e-6), found(1e-4)
    assert both.bound == less.bound < more.bound < 2.0
    assert (both.theorem, less.theorem, more.theorem) == (more.bound, less.bound, more.bound)
    assert "by the theorem's own proof" in str(both)


def test_the_bound_falls_like_the_theorem_says() -> None:
    """With alpha = n^-0.4 and losses from 1/alpha^2 records the bound follows alpha, up to a logarithm.

    With the printed choice between balls it does not: what does not shrink with D ends up under a root.
    """
    factors, ratios = [], []
    for n in (10**16, 10**20, 10**24):
        reduction = PopulationToEmpirical(FixedSolver(LOGISTIC), 1.0, accuracy=n**-0.4)
        bound = reduction.risk_bound(n).bound
        factors.append(bound * n**0.4 / math.log(n))
        printed = dataclasses.replace(reduction, selection="printed")
        ratios.append(printed.risk_bound(n).bound / bound)
    assert max(factors) == factors[0] < 5
    assert ratios[0] > 2
    assert all(later > 1.5 * earlier for earlier, later in itertools.pairwise(ratios))


def test_accuracy_from_the_solver() -> None:
    stated = StatedRisk(0.3, total=False)
    reduction = PopulationToEmpirical(FixedSolver(LOGISTIC, risk=stated), 1.0, balls=1, phases=1)
    # L = 1, diameter 2, lambda = 1/2: Lambda = 2, G = 1 + 2 * 2; excess 0.3 on the ball that counts as radius 2
    assert reduction.relative_accuracy(50) == pytest.approx(0.3 / 2 / 5)
    assert reduction.solver_error(50, 1, 0.5) == pytest.approx(0.15)
    for useless in (
        None,
        StatedRisk(0.3, total=False, population=True),
        StatedRisk(0.3, False, probability=0.9),
    ):
        other = dataclasses.replace(reduction, solver=FixedSolver(LOGISTIC, risk=useless))
        with pytest.raises(NotGuaranteedError, match="accuracy"):
            other.risk_bound(50)


def test_a_solver_without_privacy_noise_is_seen_in_the_selection() -> None:
    """A planted fault: a selection that takes the best always. Its choice flips with one record, at the same seed."""
    data = data_in_ball(16)
    problem = LOGISTIC
    options: dict[str, Any] = {
        "accuracy": 1.0,
        "phases": 1,
        "boosts": 1,
        "balls": 4,
        "minibatch": 16,
        "regularization": 0.01,
        "withdraw_guarantee": True,
    }
    private = PopulationToEmpirical(FixedSolver(problem, step=5.0), 0.5, **options)
    greedy = PopulationToEmpirical(FixedSolver(problem, step=5.0), 1e6, **options)
    spread = {len(np.unique(run(r, data, runs=200, seed=1).points[:, 0].round(9))) for r in (greedy,)}
    assert spread == {1}
    assert len(np.unique(run(private, data, runs=200, seed=1).points[:, 0].round(9))) > 1


def test_points_stay_in_the_set() -> None:
    shifted = Problem(Logistic(), Ball(3, 0.5, (0.3, 0.0, 0.1)))
    reduction = PopulationToEmpirical.for_privacy(shifted, n=24, epsilon=3.0, delta=1e-4)
    points = run(reduction, data_in_ball(24), runs=30, seed=1).points
    assert np.all(shifted.constraint.contains(points))


# ------------------------------------------------------------------------------------------ both


def test_array_api_strict() -> None:
    data = data_in_ball(24)
    inner = NoisyGradientDescent(LOGISTIC, 1.0, 1e-5, steps=5)
    for mechanism in (
        EmpiricalToPopulation(inner),
        PopulationToEmpirical(inner, 1.0, accuracy=0.5, boosts=2, balls=2, regularization=0.1),
        PopulationToEmpirical(inner, 1.0, accuracy=0.5, boosts=2, balls=2, regularization=0.1, minibatch=3),
    ):
        plain = run(mechanism, data, runs=6, seed=4)
        strict = run(mechanism, data, runs=6, seed=4, xp=array_api_strict)
        np.testing.assert_allclose(strict.points, plain.points, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(strict.value_queries, plain.value_queries)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("solver", None),
        ("solver", FixedSolver),
        ("solver", Logistic()),
        ("solver", FixedSolver(Problem(Logistic(), Box((0.0,) * 3, (1.0,) * 3)))),
        *(
            (name, value)
            for name in ("selection_epsilon", "accuracy", "regularization")
            for value in (0.0, -1.0, math.nan, math.inf, True)
        ),
        *((name, value) for name in ("boosts", "balls", "phases", "minibatch") for value in (0, 1.5, True)),
        ("selection", "best"),
        ("withdraw_guarantee", 1),
    ],
)
def test_bad_parameters_of_the_sco_solver(argument: str, value: object) -> None:
    good: dict[str, Any] = {"solver": FixedSolver(LOGISTIC), "selection_epsilon": 1.0}
    with pytest.raises(InvalidArgumentError, match=argument):
        PopulationToEmpirical(**{**good, argument: value})


def test_too_few_records() -> None:
    reduction = PopulationToEmpirical(FixedSolver(LOGISTIC), 1.0, accuracy=0.5, phases=4)
    for n in (7, 0, True, 8.0):
        with pytest.raises(InvalidArgumentError):
            reduction.sizes(n)  # type: ignore[arg-type]
    for epsilon, delta in ((0.0, 1e-5), (math.nan, 1e-5), (1.0, 0.0), (1.0, 1.0)):
        with pytest.raises(InvalidArgumentError):
            PopulationToEmpirical.for_privacy(LOGISTIC, n=24, epsilon=epsilon, delta=delta)
