"""bst14's Algorithm 1: its noise, its rates, and how it draws records.

Every test at a fixed seed rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from twins import Recorder, one_step

from dpverify.algorithms.bst14 import NoisyGradientDescent, noisy_gradient_descent
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import ApproxDP
from dpverify.problems import (
    AllSpace,
    Ball,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Logistic,
    Loss,
    Problem,
    Ridge,
)
from dpverify.running import Randomness, run

D = 3
BALL = Ball(D, 1.0)
LOGISTIC = Problem(Logistic(), BALL)


class TestNoisyGradientDescent:
    """bst14's Algorithm 1."""

    def test_the_default_constant_is_the_smallest_that_is_proved(self) -> None:
        algorithm = NoisyGradientDescent(LOGISTIC, 1.0, 1e-5)
        stated = algorithm.guarantees(20)
        theorem, profile = stated.headline, stated.sharpest
        assert theorem.guarantee == ApproxDP(1.0, 1e-5)
        assert 0.9e-5 <= profile.guarantee.privacy_profile(1.0) <= 1e-5
        constant = algorithm.provable_constant(20)
        expected = constant * 20**2 * math.log(20e5) * math.log(1e5)
        assert algorithm.noise_stddev(20) ** 2 == pytest.approx(expected, rel=1e-12)
        same = dataclasses.replace(algorithm, noise_constant=constant)
        assert same.guarantees(20)

    def test_the_constant_does_not_depend_on_the_unit_of_the_loss(self) -> None:
        wide = Ball(D, 4.0)
        small = NoisyGradientDescent(LOGISTIC, 1.0, 1e-5)
        large = NoisyGradientDescent(Problem(HalfSquaredDistance(4.0), wide), 1.0, 1e-5)
        assert large.provable_constant(20) == pytest.approx(small.provable_constant(20), rel=1e-12)
        assert large.noise_stddev(20) == pytest.approx(5 * small.noise_stddev(20), rel=1e-12)

    def test_less_noise_is_refused_when_n_is_known(self) -> None:
        algorithm = NoisyGradientDescent(LOGISTIC, 1.0, 1e-5)
        less = dataclasses.replace(algorithm, noise_constant=0.99 * algorithm.provable_constant(3))
        data = Dataset(np.eye(D), np.ones(D))
        assert not less.guarantees(3)
        assert less.guarantee_at(3, 1) is None
        with pytest.raises(NotGuaranteedError, match=r"below .*, the smallest that is proved"):
            less(data, rng=Randomness(0), runs=2)
        run(dataclasses.replace(less, withdraw_guarantee=True), data, runs=2, seed=1)

    def test_rates_as_printed(self) -> None:
        algorithm = NoisyGradientDescent(LOGISTIC, 1.0, 1e-5, noise_constant=1.0)
        variance = 10**2 * math.log(10e5) * math.log(1e5)
        assert algorithm.rate(10, 7) == pytest.approx(2 / math.sqrt(7 * (100 + D * variance)), rel=1e-12)
        ridge = Problem(Ridge.on(BALL, Logistic(), 0.25), BALL)
        strong = NoisyGradientDescent(ridge, 1.0, 1e-5, step_size="strongly-convex", noise_constant=1.0)
        assert strong.rate(10, 7) == pytest.approx(1 / (0.25 * 10 * 7), rel=1e-12)

    def test_fewer_steps_need_less_noise(self) -> None:
        few = NoisyGradientDescent(LOGISTIC, 1.0, 1e-5, steps=50)
        assert few.provable_constant(20) < NoisyGradientDescent(LOGISTIC, 1.0, 1e-5).provable_constant(20)
        assert few.gradient_query_count(20) == 50

    @pytest.mark.parametrize(
        ("argument", "value"),
        [
            *(
                (name, value)
                for name in ("epsilon", "delta")
                for value in (0.0, -1.0, math.nan, math.inf, True)
            ),
            ("delta", 1.0),
            ("noise_constant", -1.0),
            ("noise_constant", math.nan),
            ("steps", 0),
            ("steps", 1.5),
            ("step_size", "constant"),
            ("start", (5.0, 0.0, 0.0)),
            ("problem", Problem(Logistic(), AllSpace(D))),
            ("problem", Problem(HalfSquaredDistance(math.inf), AllSpace(D))),
            ("withdraw_guarantee", None),
        ],
    )
    def test_bad_parameters(self, argument: str, value: object) -> None:
        good = {"problem": LOGISTIC, "epsilon": 1.0, "delta": 1e-5}
        with pytest.raises(InvalidArgumentError, match=argument):
            NoisyGradientDescent(**{**good, argument: value})  # type: ignore[arg-type]

    def test_the_strongly_convex_rule_needs_a_strongly_convex_loss(self) -> None:
        with pytest.raises(InvalidArgumentError, match="strongly convex"):
            NoisyGradientDescent(LOGISTIC, 1.0, 1e-5, step_size="strongly-convex")


FALSE_ALARM = 1e-6


def test_records_are_drawn_uniformly_with_replacement() -> None:
    """Linear losses and zero noise: theta is minus the weighted sum of n times the records drawn."""
    data = Dataset(np.eye(4), np.ones(4))
    problem = Problem(Linear(), Ball(4, 1e6))
    algorithm = NoisyGradientDescent(problem, 1.0, 1e-5, noise_constant=0.0, steps=1, withdraw_guarantee=True)
    points = run(algorithm, data, runs=20_000, seed=8).points
    counts = np.bincount(np.argmin(points, axis=1), minlength=4)
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


@pytest.mark.parametrize("loss", [Logistic(), HalfSquaredDistance.on(BALL)], ids=["logistic", "distance"])
@pytest.mark.parametrize("runs", [1, 3, 33])
def test_a_slow_twin(loss: Loss, runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run at a time with the same draws; few runs draw their records some steps ahead."""
    monkeypatch.setattr(noisy_gradient_descent, "_DRAWN_TOGETHER", 5)
    problem, steps, n = Problem(loss, BALL), 12, 7
    features = np.random.default_rng(3).normal(size=(n, D))
    data = Dataset(
        features / np.linalg.norm(features, axis=1)[:, None], np.where(np.arange(n) % 2, 1.0, -1.0)
    )
    algorithm = NoisyGradientDescent(problem, 4.0, 1e-3, steps=steps)
    rng = Recorder(4)
    points = algorithm(data, rng=rng, runs=runs).points
    records, noise = np.stack(rng.records()), np.stack(rng.noise())
    assert records.shape == (steps, runs)
    assert len(rng.drawn["records"]) == (3 if runs <= 32 else steps)
    for r in range(runs):
        w = np.zeros(D)
        for t in range(1, steps + 1):
            i = int(records[t - 1, r])
            w = one_step(
                problem, w, data.features[i], data.labels[i], rate=algorithm.rate(n, t), scale=n,
                stddev=algorithm.noise_stddev(n), z=noise[t - 1, :, r],
            )  # fmt: skip
        assert np.max(np.abs(points[r] - w)) <= 1e-11


def as_formulated(algorithm: NoisyGradientDescent, n: int) -> list[float]:
    """The terms of the formulas of bst14.alg1's risks, from the middle of a ball, in their order."""
    points, problem, lipschitz = (
        algorithm.step_count(n) + 1,
        algorithm.problem,
        algorithm.problem.constants.lipschitz_constant,
    )
    steps = [algorithm.rate(n, t) for t in range(1, points + 1)]
    noise = math.sqrt(D) * algorithm.noise_stddev(n)
    square, diameter = (n * lipschitz) ** 2 + noise**2, problem.constraint.diameter
    near, rates, squares = (diameter / 2) ** 2, steps, [step**2 for step in steps]
    if algorithm.step_size == "strongly-convex":
        near, rates, squares = 0.0, [steps[0]] * points, [steps[0] ** 2 / t for t in range(1, points + 1)]
    left = [sum(rates[t:]) for t in range(points)]
    walked = sum(step**2 for step in steps[:-1])
    found = [n * lipschitz * diameter, n * lipschitz * math.sqrt((diameter / 2) ** 2 + square * walked)]
    for m in {points, *(4**k for k in range(20) if 4**k <= points)}:
        first, whole = points - m, left[points - m]
        total = sum(squares[first:]) + sum(
            squares[t] * whole / (2 * left[t + 1] - whole) for t in range(first)
        )
        moved = sum(
            rates[t]
            * (n * lipschitz * sum(steps[t:-1]) + noise * math.sqrt(sum(step**2 for step in steps[t:-1])))
            for t in range(first, points)
        )
        found.append(
            near / (4 * left[0] - 2 * whole) + square / (2 * whole) * total + n * lipschitz * moved / whole
        )
    return found


@pytest.mark.parametrize(("rule", "order"), [("lipschitz", 1), ("strongly-convex", 2)])
def test_a_million_records_have_risk_bounds_too(rule: Any, order: int) -> None:
    """Of 10^12 steps, whose rates no memory holds; the empirical bound falls as n^-order but for logarithms."""
    descent = NoisyGradientDescent(
        Problem(Ridge.on(BALL, Logistic(), 0.25), BALL), 1.0, 1e-5, rule, noise_constant=1.0
    )
    empirical = [descent.risk_bound(n).bound / n for n in (10**4, 10**6)]
    assert 1 < empirical[1] / empirical[0] * 100**order < 2.5
    population = [descent.population_risk_bound(n) for n in (10**4, 10**6)]
    assert population[0] is not None
    assert population[1] is not None
    assert empirical[1] < population[1].bound < population[0].bound


def test_the_risk_bound_is_its_formula_and_never_above_the_largest_risk() -> None:
    ridge = Problem(Ridge.on(BALL, Logistic(), 0.25), BALL)
    best = set()
    for problem, rule, n, epsilon, factor in (
        (LOGISTIC, "lipschitz", 5, 1.0, 1.0),
        (LOGISTIC, "lipschitz", 5, 1.0, 1e-3),
        (LOGISTIC, "lipschitz", 12, 200.0, 1.0),
        (ridge, "strongly-convex", 5, 1.0, 1.0),
        (ridge, "strongly-convex", 12, 200.0, 1.0),
    ):
        algorithm = NoisyGradientDescent(problem, epsilon, 1e-5, rule, rate_factor=factor)  # type: ignore[arg-type]
        terms = as_formulated(algorithm, n)
        assert algorithm.risk_bound(n).bound == pytest.approx(min(terms), rel=1e-12)
        best.add((rule, min(2, terms.index(min(terms)))))
    assert best == {
        ("lipschitz", 0),
        ("lipschitz", 1),
        ("lipschitz", 2),
        ("strongly-convex", 0),
        ("strongly-convex", 2),
    }
