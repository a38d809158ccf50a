"""Algorithm 1 of bst14 does, run by run, what its slow twin does with the same noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from twin_runs import NAMESPACES, PROBLEMS, RUNS, D, N, assert_close, make_data, run
from twins import one_step

from dpverify.algorithms.bst14 import NoisyGradientDescent


@pytest.mark.one_in(2)
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
    records, noise = rng.records(), rng.noise()
    for r in range(RUNS):
        theta = np.array(algorithm.start)
        for t in range(1, N**2):  # the loop as printed: t = 1, ..., n^2 - 1
            record = records[t - 1][r]
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
                z=noise[t - 1][:, r],
                scale=N,
            )
        expected.append(theta)
    assert_close(output, expected)
    assert np.all(np.asarray(output.gradient_queries) == N**2 - 1)
    assert len(records) == N**2 - 1
    assert algorithm.gradient_query_count(N) == N**2 - 1
