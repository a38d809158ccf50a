"""Many steps of a single run do what one plain step after the other does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.steps import single_run
from dpverify.algorithms.steps.projected_steps import Iterates
from dpverify.problems import (
    Ball,
    Box,
    Dataset,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Ridge,
    Simplex,
    Squared,
)
from dpverify.problems.per_run.local_problems import LocalBalls, LocalLoss
from dpverify.running import Randomness

D, N, STEPS = 3, 8, 50
BALL = Ball(D, 0.7)
PROBLEMS = {
    "logistic": Problem(Logistic(), BALL),
    "hinge": Problem(Hinge(), BALL),
    "squared": Problem(Squared.on(BALL), BALL),
    "linear": Problem(Linear(), BALL),
    "ridge": Problem(Ridge.on(BALL, Logistic(), 0.3), BALL),
    "box": Problem(Logistic(), Box((-0.2,) * D, (0.5,) * D)),
    "simplex": Problem(Logistic(), Simplex(D)),
    "tiny ball": Problem(Logistic(), Ball(D, 1e-170)),
    "no generalized linear loss": Problem(HalfSquaredDistance(1.0), BALL),
}


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(N, D))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return features, np.where(rng.random(N) < 0.5, 1.0, -1.0), rng.integers(0, N, STEPS)


def plain(problem: Problem, rates: np.ndarray, order: np.ndarray, stddev: float, scale: float) -> np.ndarray:
    """The definition, step by step, with the noise of the same stream."""
    features, labels, _ = data()
    rng = Randomness(5)
    w = np.zeros((1, D)) + problem.constraint.center()
    for rate, index in zip(rates, order, strict=True):
        gradient: Any = problem.loss.gradient(w, features[index], labels[index])
        noise = rng.normal((1, D), "noise")
        w = problem.constraint.project(w - rate * (scale * gradient + stddev * noise))
    return w[0]


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_walk_takes_the_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = PROBLEMS[name]
    features, labels, order = data()
    rates = 0.3 / np.sqrt(np.arange(1, STEPS + 1))
    monkeypatch.setattr(single_run, "_NUMBERS_TOGETHER", 7 * D)  # several rounds, the last one shorter
    rng = Randomness(5)
    iterates = Iterates(problem, np.asarray(problem.constraint.center()), 1, rng)
    iterates.walk(features, labels, order, rates=rates, noise_stddev=0.4, scale=2.0)
    expected = plain(problem, rates, order, 0.4, 2.0)
    found = iterates.output()
    assert np.allclose(found.points[0], expected, rtol=1e-11, atol=1e-11 * problem.constraint.diameter)
    assert list(found.gradient_queries) == [STEPS] == list(found.projections)
    assert rng.counts == {"noise": STEPS * D}
    # the comparison sees a step that is left out, another noise and another scale
    for wrong in (
        plain(problem, rates[:-1], order[:-1], 0.4, 2.0),
        plain(problem, rates, order, 0.5, 2.0),
        plain(problem, rates, order, 0.4, 1.0),
    ):
        assert not np.allclose(found.points[0], wrong, rtol=1e-6, atol=1e-6 * problem.constraint.diameter)


@pytest.mark.parametrize("stddev", [0.05, 0.4, 5.0])
@pytest.mark.parametrize("d", [1, 2, 5, 30])
@pytest.mark.parametrize("name", ["logistic", "hinge", "ridge", "distance"])
def test_a_local_walk_takes_the_same_steps_bit_for_bit(name: str, d: int, stddev: float) -> None:
    """Within both balls, on either sphere, and where both meet."""
    original: Any = {
        "logistic": Logistic(),
        "hinge": Hinge(),
        "ridge": Ridge.on(Ball(d, 1.0), Logistic(), 0.3),
        "distance": HalfSquaredDistance(2.0),
    }[name]
    rng = np.random.default_rng(d)
    features = rng.normal(size=(N, d)) / math.sqrt(d)
    labels, order = np.where(rng.random(N) < 0.5, 1.0, -1.0), rng.integers(0, N, STEPS)
    offsets, anchors = rng.normal(size=(2, 1, d))
    offsets *= 0.9 / np.linalg.norm(
        offsets
    )  # the border of the outer ball is nearer than that of the inner one
    local = Problem(LocalLoss(original, offsets, 0.8, anchors, 2.0), LocalBalls(0.6, 1.0, offsets))
    rates = 0.1 / np.sqrt(np.arange(1, STEPS + 1))
    walked, stepped = (Iterates(local, np.zeros(d), 1, Randomness(5)) for _ in range(2))
    walked.walk(features, labels, order, rates=rates, noise_stddev=stddev, scale=2.0)
    for index, rate in zip(order, rates, strict=True):
        stepped.step(features[index], labels[index], rate=float(rate), noise_stddev=stddev, scale=2.0)
    found, expected = walked.output(), stepped.output()
    assert np.array_equal(found.points, expected.points)
    assert np.any(found.points != 0.0)
    assert list(found.gradient_queries) == [STEPS] == list(found.projections)


def test_slopes_of_one_number_are_those_of_many() -> None:
    for loss in (Logistic(), Hinge(), Squared.on(BALL), Linear()):
        slope = single_run.slope_of(loss)
        for z in (-1e300, -750.0, -1.0, 0.0, 0.3, 1.0, 750.0, 1e300):
            for y in (1.0, -1.0, 0.0):
                theirs = float(loss.link_slope(np.array([z]), np.array([y]))[0])
                assert math.isclose(slope(z, y), theirs, rel_tol=1e-14, abs_tol=1e-300)


@pytest.mark.parametrize("radius", [1e-170, 0.7, 1e170])
def test_one_point_is_projected_as_many_are(radius: float) -> None:
    ball = Ball(D, radius)
    project = single_run.projection(ball, radius)
    for length in (0.0, 1e-200, 0.5, 1e3, 1e200):
        point = length * np.array([0.6, 0.0, -0.8])
        expected = ball.project(point[None, :].copy())[0]
        with np.errstate(over="ignore"):
            project(point)
        assert np.allclose(point, expected, rtol=1e-14, atol=0.0)


def test_rounds_hold_few_numbers_and_at_least_one_step() -> None:
    assert single_run.steps_together(1) == 4096
    assert single_run.steps_together(2**10) == 2**10
    assert single_run.steps_together(10**9) == 1


def test_a_run_of_its_own_has_the_law_of_many() -> None:
    """Two means of 400 runs a side, 5 standard errors apart: a false alarm with probability below 1e-5."""
    features, labels, _ = data()
    mechanism = NoisyGradientDescent(PROBLEMS["logistic"], 1.0, 1e-3, steps=20)
    records = Dataset(features, labels)
    alone = np.stack([mechanism(records, rng=Randomness((7, i)), runs=1).points[0] for i in range(400)])
    together = mechanism(records, rng=Randomness(8), runs=400).points
    for a, b in zip(alone.T, together.T, strict=True):
        assert abs(a.mean() - b.mean()) <= 5 * math.sqrt((a.var() + b.var()) / 400)
        assert abs(a.var() - b.var()) <= 5 * math.sqrt(2 / 400) * (a.var() + b.var())
