"""A problem, data, and a solver that promises what it is told, for reductions that call solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpverify.algorithms.promises import StatedRisk
from dpverify.privacy import Adjacency, StatedGuarantee
from dpverify.problems import Ball, Dataset, Logistic, Problem
from dpverify.running import Output, Randomness

BALL = Ball(3, 1.0)
LOGISTIC = Problem(Logistic(), BALL)


def data_in_ball(n: int, seed: int = 1) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 3))
    features /= np.maximum(1.0, np.linalg.norm(features, axis=1))[:, None]
    return Dataset(features, np.where(features[:, 0] > 0, 1.0, -1.0))


@dataclass(frozen=True)
class FixedSolver:
    """A solver that returns a fixed step from the middle, and promises what it is told."""

    problem: Problem
    promise: Any = None
    step: float = 0.0
    risk: StatedRisk | None = None

    hands_over: ClassVar[str] = "all runs"

    def guarantees(self, n: int) -> tuple[StatedGuarantee, ...]:
        return () if self.promise is None else (StatedGuarantee(self.promise, Adjacency.REPLACE_ONE),)

    def gradient_query_count(self, n: int) -> int:
        return 3 * n

    def risk_bound(self, n: int) -> StatedRisk | None:
        return self.risk

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        xp = rng.xp
        points = xp.full((runs, data.d), self.step, dtype=xp.float64)
        return Output(self.problem.constraint.project(points), gradient_queries=3 * data.n)
