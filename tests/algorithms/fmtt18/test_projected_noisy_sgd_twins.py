"""Every batched variant does, run by run, what its slow twin does with the same noise."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest
from twins import Recorder, pnsgd

from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
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
