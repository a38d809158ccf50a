"""Every batched algorithm does, run by run, what its slow twin does with the same noise."""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
from twins import Recorder, one_step, pnsgd

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.algorithms.steps import in_place
from dpverify.errors import InvalidArgumentError
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
@pytest.mark.parametrize("name", PROBLEMS)
def test_pnsgd(name: str, xp: Any) -> None:
    problem, data = PROBLEMS[name], make_data()
    algorithm = PNSGD(problem, 0.4, 0.6, withdraw_guarantee=True)
    output, rng = run(algorithm, data, xp)
    start = np.array(algorithm.start)
    noise = rng.drawn["noise"]
    expected = [
        pnsgd(
            problem,
            data,
            start,
            rate=0.4,
            stddev=0.6,
            records=list(range(N)),
            z=[step[:, r] for step in noise],
        )
        for r in range(RUNS)
    ]
    assert_close(output, expected)
    assert np.all(np.asarray(output.gradient_queries) == N)
    assert np.all(np.asarray(output.projections) == N)


@pytest.mark.parametrize("xp", NAMESPACES)
@pytest.mark.parametrize("epochs", [None, 1, 3])
@pytest.mark.parametrize("name", ["logistic on a ball", "median on a ball"])
def test_pnmsgd(name: str, epochs: int | None, xp: Any) -> None:
    problem, data = PROBLEMS[name], make_data()
    algorithm = PNMSGD(problem, 0.4, 0.6, epochs=epochs, withdraw_guarantee=True)
    output, rng = run(algorithm, data, xp)
    noise, passes = rng.drawn["noise"], N if epochs is None else epochs
    expected = [
        pnsgd(
            problem,
            data,
            np.array(algorithm.start),
            rate=0.4,
            stddev=0.6,
            records=list(range(N)) * passes,
            z=[step[:, r] for step in noise],
        )
        for r in range(RUNS)
    ]
    assert_close(output, expected)
    assert np.all(np.asarray(output.gradient_queries) == N * passes)
    assert algorithm.gradient_query_count(N) == N * passes


@pytest.mark.parametrize("xp", NAMESPACES)
@pytest.mark.parametrize("name", ["logistic on a ball", "ridge on a ball", "median on a ball"])
@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_skip(n: int, name: str, xp: Any) -> None:
    problem, data = PROBLEMS[name], make_data(n=n)
    algorithm = SkipPNSGD(problem, 0.4, 0.6, withdraw_guarantee=True)
    output, rng = run(algorithm, data, xp)
    skipped, noise = rng.drawn["skipped records"][0], list(rng.drawn["noise"])
    while len(noise) < n:
        noise.insert(0, np.empty((D, 0)))  # no run used the first records
    # the runs that skip least come first, and each step's noise goes to the first so many of them
    place = np.empty(RUNS, dtype=int)
    place[np.argsort(skipped, kind="stable")] = np.arange(RUNS)
    expected = [
        pnsgd(
            problem,
            data,
            np.array(algorithm.start),
            rate=0.4,
            stddev=0.6,
            records=list(range(skipped[r], n)),
            z=[noise[t][:, place[r]] for t in range(skipped[r], n)],
        )
        for r in range(RUNS)
    ]
    assert_close(output, expected)
    assert np.array_equal(np.asarray(output.gradient_queries), n - skipped)
    assert set(skipped) == set(range(n // 2 + 1))
    assert rng.counts["noise"] == D * np.sum(n - skipped)


@pytest.mark.parametrize("xp", NAMESPACES)
@pytest.mark.parametrize("name", ["logistic on a ball", "ridge on a ball", "median on a ball"])
@pytest.mark.parametrize(("n", "second_half"), [(1, False), (5, False), (1, True), (6, True), (7, True)])
def test_stop(n: int, second_half: bool, name: str, xp: Any) -> None:
    problem, data = PROBLEMS[name], make_data(n=n)
    algorithm = StopPNSGD(problem, 0.4, 0.6, second_half=second_half, withdraw_guarantee=True)
    output, rng = run(algorithm, data, xp)
    steps, noise = rng.drawn["stopping time"][0], rng.drawn["noise"]
    place = np.empty(RUNS, dtype=int)
    place[np.argsort(-steps, kind="stable")] = np.arange(RUNS)
    expected = [
        pnsgd(
            problem,
            data,
            np.array(algorithm.start),
            rate=0.4,
            stddev=0.6,
            records=list(range(steps[r])),
            z=[noise[t][:, place[r]] for t in range(steps[r])],
        )
        for r in range(RUNS)
    ]
    assert_close(output, expected)
    assert np.array_equal(np.asarray(output.gradient_queries), steps)
    first = -(-n // 2) if second_half else 1
    assert set(steps) == set(range(first, n + 1))


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
            record = rng.drawn["records"][t - 1][r]
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


def in_place_columns(points: np.ndarray) -> in_place.Columns:
    columns = in_place.Columns(*points.shape)
    columns.points[...] = points
    return columns


def test_in_place_forms_are_what_they_stand_in_for() -> None:
    rng = np.random.default_rng(1)
    points = 10.0 ** rng.uniform(-3, 3, size=(1, 500)) * rng.normal(size=(D, 500))
    norms = np.linalg.norm(points, axis=0)
    x = rng.normal(size=D)
    for y in (np.array(1.0), np.array(-1.0), np.array(0.0)):
        for near in (math.inf, 10.0):
            here = points[:, norms <= near]
            columns = in_place_columns(here)
            theirs = Logistic().slope(here.T, x, y)
            for largest in {near, float(np.max(norms))}:
                columns.slope(x, y, largest)
                assert np.allclose(columns.numbers, theirs, rtol=1e-12, atol=1e-300)
            assert np.array_equal(columns.points, here)
    columns = in_place_columns(points)
    columns.shorten(BALL.radius)
    assert np.max(np.abs(columns.points - BALL.project(points.T.copy()).T)) <= 1e-15
    assert not in_place.has_fast_slope(Ridge.on(BALL, Logistic(), 0.3))


def test_in_place_additions_are_those_of_numpy() -> None:
    rng = np.random.default_rng(2)
    for d, runs in ((1, 1), (1, 7), (D, 1), (D, 501), (3, 0)):
        points, noise, x, numbers = (rng.normal(size=shape) for shape in ((d, runs), (d, runs), 2 * d, runs))
        columns = in_place_columns(points)
        columns.noise[...], columns.numbers[...] = noise, numbers
        columns.add_outer(-0.3, x[::2])
        columns.add_noise(0.7)
        expected = points - 0.3 * x[::2, None] * numbers[None, :] + 0.7 * noise
        assert np.allclose(columns.points, expected, rtol=0.0, atol=1e-14)
        assert np.array_equal(columns.noise, noise)
        assert np.array_equal(columns.numbers, numbers)
    with pytest.raises(ValueError, match="does not fit"):
        columns.add_outer(1.0, np.ones(2))
    with pytest.raises(InvalidArgumentError, match="smaller block size"):
        in_place.Columns(2, 2**30)
