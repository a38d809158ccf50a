"""The algorithms in the harness: same bits on every executor, one fingerprint, queries counted a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.problems import Ball, Dataset, Logistic, Problem
from dpverify.running import Executor, fingerprint, run

PROBLEM = Problem(Logistic(), Ball(4, 1.0))
ALGORITHMS = [
    PNSGD(PROBLEM, 0.5, 0.7),
    SkipPNSGD(PROBLEM, 0.5, 0.7),
    StopPNSGD(PROBLEM, 0.5, 0.7),
    PNMSGD(PROBLEM, 0.5, 0.7, epochs=2),
    NoisyGradientDescent(PROBLEM, 1.0, 1e-5, noise_constant=0.5),
]
DATA = Dataset(np.vstack([np.eye(4), -0.5 * np.eye(4)]), np.array([1.0, -1.0] * 4))


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.id)
def test_same_bits_everywhere(algorithm: Any) -> None:
    serial = run(algorithm, DATA, runs=250, seed=2, block_size=40)
    for executor, memory_limit in (("threads=2", 2**29), ("processes=2", 2**29), ("processes=2", 1)):
        other = run(
            algorithm,
            DATA,
            runs=250,
            seed=2,
            block_size=40,
            executor=Executor.parse(executor),
            memory_limit=memory_limit,
        )
        assert other.points.tobytes() == serial.points.tobytes()
        assert np.array_equal(other.gradient_queries, serial.gradient_queries)
    assert np.all(serial.gradient_queries <= algorithm.gradient_query_count(DATA.n))
    assert np.all(PROBLEM.constraint.contains(serial.points, 1e-12))


def test_every_algorithm_has_a_fingerprint_of_its_own() -> None:
    changed = [
        PNSGD(PROBLEM, 0.5, 0.8),
        PNSGD(PROBLEM, 0.5, 0.7, start=(0.1, 0.0, 0.0, 0.0)),
        PNSGD(Problem(Logistic(), Ball(4, 1.0, (0.1, 0.0, 0.0, 0.0))), 0.5, 0.7),
    ]
    prints = [fingerprint(algorithm) for algorithm in (*ALGORITHMS, *changed)]
    assert len(set(prints)) == len(prints)
    assert fingerprint(DATA) != fingerprint(DATA.replace(1, np.zeros(4), 1.0))


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.id)
def test_every_algorithm_says_what_it_is(algorithm: Any) -> None:
    assert algorithm.id.partition(".")[0] in ("bst14", "fmtt18")
    assert all(source.partition(".")[0] in ("bst14", "fmtt18") for source in algorithm.statements)
    for stated in (*algorithm.guarantees(8), algorithm.guarantee_at(8, 3)):
        assert stated.sources
        assert 0 < stated.guarantee.privacy_profile(0.1) < 1
