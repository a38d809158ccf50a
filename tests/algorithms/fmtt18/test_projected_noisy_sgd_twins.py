"""Every batched variant does, run by run, what its slow twin does with the same noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from twin_runs import NAMESPACES, PROBLEMS, RUNS, D, N, assert_close, make_data, run
from twins import pnsgd

from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD


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
