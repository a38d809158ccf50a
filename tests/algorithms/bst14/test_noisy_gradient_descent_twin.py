"""Algorithm 1 of bst14 does, run by run, what its slow twin does with the same noise."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest
from twins import Recorder, one_step

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Logistic,
    Problem,
    Ridge,
    Simplex,
    Squared,
)

D, N, RUNS = 4, 9, 23
TOLERANCE = 1e-12  # absolute, for points of norm about 1; rounding is near 1e-15 after a few dozen steps


def make_data(seed: int = 0, n: int = N) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, D))
    features /= np.linalg.norm(features, axis=1)[:, None]
    return Dataset(features, np.sign(rng.normal(size=n)))


BALL = Ball(D, 0.7)
PROBLEMS = {
    "logistic on a ball": Problem(Logistic(), BALL),
    "logistic on a ball elsewhere": Problem(Logistic(), Ball(D, 0.5, (0.3, 0.0, 0.1, -0.2))),
    "logistic on a box": Problem(Logistic(), Box.cube(D, 0.3)),
    "logistic on all space": Problem(Logistic(), AllSpace(D)),
    "hinge on a simplex": Problem(Hinge(), Simplex(D)),
    "squared on a ball": Problem(Squared(0.7), BALL),
    "ridge on a ball": Problem(Ridge.on(BALL, Logistic(), 0.3), BALL),
    "half squared distance on a ball": Problem(HalfSquaredDistance(0.7), BALL),
    "median on a ball": Problem(EuclideanDistance(), BALL),
}
NAMESPACES = [np, array_api_strict]


def run(algorithm: Any, data: Dataset, xp: Any) -> tuple[Any, Recorder]:
    rng = Recorder(11, 2, xp)
    return algorithm(data.as_namespace(xp), rng=rng, runs=RUNS), rng


def assert_close(output: Any, expected: list[Any]) -> None:
    points = np.asarray(output.points)
    assert points.shape == (RUNS, D)
    assert np.max(np.abs(points - np.stack(expected))) <= TOLERANCE


@pytest.mark.parametrize("xp", NAMESPACES)
@pytest.mark.parametrize("constant", [0.0, 1e-3])
@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("lipschitz", "logistic on a ball"),
        ("lipschitz", "hinge on a simplex"),
        ("lipschitz", "half squared distance on a ball"),
        ("strongly-convex", "ridge on a ball"),
        ("strongly-convex", "half squared distance on a ball"),
    ],
)
def test_noisy_gradient_descent(rule: Any, name: str, constant: float, xp: Any) -> None:
    problem, data = PROBLEMS[name], make_data()
    loss = problem.loss
    epsilon, delta = 1.0, 1e-5
    algorithm = NoisyGradientDescent(
        problem, epsilon, delta, step_size=rule, noise_constant=constant, withdraw_guarantee=True
    )
    output, rng = run(algorithm, data, xp)
    lipschitz = loss.lipschitz_constant
    variance = constant * lipschitz**2 * N**2 * np.log(N / delta) * np.log(1 / delta) / epsilon**2
    expected = []
    for r in range(RUNS):
        theta = np.array(algorithm.start)
        for t in range(1, N**2):  # the loop as printed: t = 1, ..., n^2 - 1
            record = rng.drawn["records"][t - 1][0, r]
            if rule == "lipschitz":
                rate = problem.constraint.diameter / np.sqrt(t * (N**2 * lipschitz**2 + D * variance))
            else:
                rate = 1 / (loss.strong_convexity * N * t)
            theta = one_step(
                problem,
                theta,
                data.features[record],
                data.labels[record],
                rate=rate,
                stddev=np.sqrt(variance),
                z=rng.drawn["noise"][t - 1][:, r],
                scale=N,
            )
        expected.append(theta)
    assert_close(output, expected)
    assert np.all(np.asarray(output.gradient_queries) == N**2 - 1)
    assert len(rng.drawn["records"]) == N**2 - 1
    assert algorithm.gradient_query_count(N) == N**2 - 1
