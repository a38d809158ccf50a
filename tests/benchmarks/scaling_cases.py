"""What the table of costs is measured on: every algorithm at growing sizes, with what its paper states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpverify.algorithms import PNMSGD, PNSGD, NoisyGradientDescent, SkipPNSGD, StopPNSGD
from dpverify.problems import Ball, Dataset, Logistic, Problem


@dataclass(frozen=True)
class Case:
    """One algorithm at growing sizes."""

    id: str
    build: Callable[[int, int], tuple[Any, Any]]
    """From n and d to a mechanism and its data."""
    n: tuple[int, ...]
    d: tuple[int, ...]
    printed_n: str = "–"
    """Exponent of the oracle calls in n that the paper states."""
    printed_d: str = "–"
    runs: int = 500
    """Runs whose counts and times are averaged for the exponents."""
    batch: int = 10_000
    note: str = ""


def records(n: int, d: int) -> Dataset:
    """N records on the unit sphere with random labels."""
    rng = np.random.default_rng(n * 1000 + d)
    features = rng.standard_normal((n, d))
    return Dataset(features / np.linalg.norm(features, axis=1)[:, None], rng.choice([-1.0, 1.0], n))


def logistic(d: int) -> Problem:
    """Logistic regression on the unit ball."""
    return Problem(Logistic(), Ball(d, 1.0))


def _one_pass(kind: Any) -> Callable[[int, int], tuple[Any, Any]]:
    return lambda n, d: (
        kind.for_privacy(logistic(d), n=n, epsilon=1.0, delta=1e-5),
        records(n, d),
    )


CASES: tuple[Case, ...] = (
    Case(
        "bst14.alg1",
        lambda n, d: (NoisyGradientDescent(logistic(d), 1.0, 1e-5), records(n, d)),
        (8, 16, 32),
        (5, 10, 20, 40),
        printed_n="2",
        printed_d="0",
    ),
    Case("fmtt18.alg1", _one_pass(PNSGD), (25, 50, 100, 200), (5, 10, 20, 40), printed_n="1", printed_d="0"),
    Case(
        "fmtt18.skip", _one_pass(SkipPNSGD), (25, 50, 100, 200), (5, 10, 20, 40), printed_n="1", printed_d="0"
    ),
    Case(
        "fmtt18.stop", _one_pass(StopPNSGD), (25, 50, 100, 200), (5, 10, 20, 40), printed_n="1", printed_d="0"
    ),
    Case(
        "fmtt18.alg2",
        lambda n, d: (PNMSGD.for_privacy(logistic(d), rate=0.1, epsilon=1.0, delta=1e-5), records(n, d)),
        (8, 16, 32),
        (5, 10, 20, 40),
        printed_n="2",
        printed_d="0",
    ),
)
