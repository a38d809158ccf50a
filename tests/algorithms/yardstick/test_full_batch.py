"""Noisy gradient descent on all records: its noise, its steps, its bound, and an audit that finds half of the noise.

Every test at a fixed seed rejects a correct implementation with probability at most 1e-6.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
from twins import Recorder

from dpverify.algorithms.yardstick import FullBatchDescent
from dpverify.auditing import ErrorShare
from dpverify.auditing.contract import Label
from dpverify.auditing.pairs import PrivacyQuestion
from dpverify.auditing.subjects import OnPair, Runner
from dpverify.auditing.white_box import WhiteBoxAuditor
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import GDP, compose
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    Hinge,
    Linear,
    Logistic,
    Loss,
    Problem,
    minimize,
    opposite_neighbor,
)
from dpverify.problems.further_losses import LogisticOnBall
from dpverify.running import Randomness, run

D, N = 3, 8
BALL = Ball(D, 1.0)
LOGISTIC = Problem(Logistic(), BALL)
HINGE = Problem(Hinge(), BALL)


def records(n: int = N) -> Dataset:
    features = np.random.default_rng(2).normal(size=(n, D))
    features /= np.linalg.norm(features, axis=1)[:, None]
    return Dataset(features, np.where(np.arange(n) % 3, 1.0, -1.0))


def test_all_steps_together_are_the_least_noise_that_is_private() -> None:
    descent = FullBatchDescent(LOGISTIC, 0.7, 1e-6, steps=9)
    # a step's gradient moves by s / n
    mu = 2.0 / N / descent.noise_stddev(N)
    together = compose([GDP(mu)] * 9)
    assert descent.guarantees(N).sharpest.guarantee.privacy_profile(0.7) <= 1e-6
    assert together.privacy_profile(0.7) == pytest.approx(1e-6, rel=1e-6)
    less = dataclasses.replace(descent, noise_multiplier=0.999 * descent.least_multiplier)
    assert not less.guarantees(N)
    with pytest.raises(NotGuaranteedError, match="the smallest that is proved"):
        less(records(), rng=Randomness(0), runs=1)


@pytest.mark.parametrize(
    "loss", [Logistic(), Hinge(), LogisticOnBall(1.0)], ids=lambda one: type(one).__name__
)
def test_a_slow_twin(loss: Loss) -> None:
    """One run and one record at a time, with the same draws."""
    problem, data, steps = Problem(loss, BALL), records(), 6
    descent = FullBatchDescent(problem, 2.0, 1e-3, steps=steps)
    rng = Recorder(5)
    points = descent(data, rng=rng, runs=4).points
    rates = descent.rates(N)
    assert np.diff(rates, 2) == pytest.approx(np.zeros(steps - 2), abs=1e-12)
    for r in range(4):
        w = np.zeros(D)
        for t in range(steps):
            slope = sum(
                np.asarray(loss.gradient(w[None, :], data.features[i], data.labels[i]))[0] for i in range(N)
            )
            w = w - rates[t] * (slope / N + descent.noise_stddev(N) * rng.drawn["noise"][t][r])
            w /= max(1.0, float(np.linalg.norm(w)))
        assert np.max(np.abs(points[r] - w)) <= 1e-12
    strict = run(descent, data, runs=4, seed=3, xp=array_api_strict)
    assert np.allclose(np.asarray(strict.points), run(descent, data, runs=4, seed=3).points, atol=1e-12)


def bound_by_weights(descent: FullBatchDescent, n: int, moments: Any) -> float:
    """The bound from the weights v_t of the proof, with all coefficients of earlier points checked to be 0."""
    rates = descent.rates(n)
    steps = len(rates)
    v = np.empty(steps + 1)
    v[steps] = 1 / math.sqrt(rates[-1])
    rest = v[steps] * rates[-1]  # the sum of eta_t v_t over the later steps
    for t in range(steps - 1, 0, -1):
        # (v_(t+1) - v_t) rest = eta_t v_t^2, for the point between
        v[t] = (math.sqrt(rest**2 + 4 * rates[t - 1] * rest * v[t + 1]) - rest) / (2 * rates[t - 1])
        rest += rates[t - 1] * v[t]
    v[0] = v[1]
    for s in range(2, steps + 1):
        left = rates[s - 2] * v[s - 1] ** 2 - (v[s] - v[s - 1]) * float(rates[s - 1 :] @ v[s:])
        assert abs(left) <= 1e-9 * v[-1] ** 2
    assert rates[-1] * v[steps] ** 2 == pytest.approx(1.0)
    return float(v[0] ** 2 / 2 + np.sum(rates**2 * v[1:] ** 2 * moments(rates)) / 2)


def test_the_bound_is_that_of_its_proof() -> None:
    """Recomputed from the weights, whose equations are solved otherwise; the set's radius is 1."""
    smooth = FullBatchDescent(LOGISTIC, 1.0, 1e-5, steps=7)
    noise = D * smooth.noise_stddev(30) ** 2
    for descent, moments in (
        (smooth, lambda rates: np.minimum(noise / (1 - rates / 4), (2 + math.sqrt(noise)) ** 2)),
        (FullBatchDescent(HINGE, 1.0, 1e-5, steps=7), lambda rates: (2 + math.sqrt(noise)) ** 2),
    ):
        assert descent.risk_bound(30).bound == pytest.approx(bound_by_weights(descent, 30, moments), rel=1e-9)


def test_the_bound_is_near_its_least_and_grows_with_the_distance_from_the_start() -> None:
    """The closed form D s sqrt(p) / (n mu), times (1.5 + 1 / 1.5) / 2, is what the bound comes down to."""
    descent = FullBatchDescent(Problem(Logistic(), Ball(30, 1.0)), 1.0, 1e-5)
    limit = 2 * math.sqrt(30) * descent.multiplier / 569
    assert 1 < descent.risk_bound(569).bound / limit / ((1.5 + 1 / 1.5) / 2) < 1.03
    # further from the minimizer than any point of the set can be from the center
    off = dataclasses.replace(descent, start=(1.0, *[0.0] * 29))
    assert off.risk_bound(569).bound == pytest.approx(2 * descent.risk_bound(569).bound, rel=0.05)
    boxed = FullBatchDescent(Problem(Logistic(), Box.cube(30, 1 / math.sqrt(30))), 1.0, 1e-5)
    assert boxed.risk_bound(569).bound == pytest.approx(descent.risk_bound(569).bound, rel=0.05)


@pytest.mark.parametrize(
    ("loss", "epsilon", "stretch", "size", "least"),
    [
        (Linear(), 0.5, 0.5, 1.0, 0.74), (Linear(), 5.0, 0.5, 0.1, 0.67), (Hinge(), 0.5, 0.5, 1.0, 0.66),
        (Logistic(), 5.0, 1.0, 0.2, 0.5),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Loss) else str(one),
)  # fmt: skip
def test_the_bound_holds_and_is_nearly_attained(
    loss: Loss, epsilon: float, stretch: float, size: float, least: float
) -> None:
    """Equal records in one dimension; the mean of 1000 runs has a standard error of a hundredth of the bound."""
    problem, data = Problem(loss, Ball(1, 1.0)), Dataset(np.full((20, 1), size), np.ones(20))
    descent = FullBatchDescent(problem, epsilon, 1e-3, stretch=stretch, steps=64)
    found = problem.mean_risk(run(descent, data, runs=1000, seed=1).points, data)
    excess = float(np.mean(found)) - minimize(problem, data).value.lower
    assert least <= excess / descent.risk_bound(data.n).bound <= 0.87


def test_the_audit_finds_half_of_the_noise() -> None:
    problem = Problem(Linear(), Ball(2, 1.0))
    data = Dataset(np.array([[0.6, 0.8], [0.0, 1.0], [1.0, 0.0]]), np.ones(3))
    pair = opposite_neighbor(problem.loss, data, 2)
    descent = FullBatchDescent(problem, 1.0, 1e-3, steps=4)
    question = PrivacyQuestion(
        descent.guarantees(3).sharpest, "three records", 4000, label=Label("yardstick", seed=1), delta=1e-3
    )
    right = OnPair(descent, pair.left, pair.right, weakened=descent.weakened, fault=descent.fault)
    kept = WhiteBoxAuditor().audit(question, right.on(Runner((0,))), ErrorShare(1e-6))
    assert kept.verdict is Verdict.SUPPORTED
    assert kept.smallest_fault == 2.0
    planted = OnPair(descent.weakened(2.0), pair.left, pair.right)
    broken = WhiteBoxAuditor().audit(question, planted.on(Runner((0,))), ErrorShare(1e-6))
    assert broken.verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("epsilon", 0.0), ("delta", 1.0), ("steps", 0), ("stretch", 0.0), ("noise_multiplier", -1.0),
        ("start", (5.0, 0.0, 0.0)), ("problem", Problem(Logistic(), AllSpace(D))), ("withdraw_guarantee", None),
    ],
)  # fmt: skip
def test_bad_parameters(argument: str, value: object) -> None:
    good = {"problem": LOGISTIC, "epsilon": 1.0, "delta": 1e-5}
    with pytest.raises(InvalidArgumentError, match=argument):
        FullBatchDescent(**{**good, argument: value})  # type: ignore[arg-type]


def test_a_logistic_loss_on_a_ball_has_the_slopes_that_it_declares() -> None:
    loss, rng = LogisticOnBall(2.0), np.random.default_rng(4)
    points = np.asarray(Ball(D, 2.0).project(3 * rng.normal(size=(4000, D))))
    lengths = np.linalg.norm(loss.gradient(points, -points[0] / 2, np.float64(1.0)), axis=1)
    assert 0.999 * loss.lipschitz_constant < lengths.max() <= loss.lipschitz_constant
    assert loss.lipschitz_constant == pytest.approx(1 / (1 + math.exp(-2)), rel=1e-11)
    with pytest.raises(InvalidArgumentError, match="radius"):
        Problem(loss, Ball(D, 3.0))
