"""What the rates of fmtt18's Table 1 hide: bounds over L R, with every constant, at delta = 1e-5."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from dpverify.algorithms.fmtt18 import MultitaskStopPNSGD, SkipPNSGD, StopPNSGD
from dpverify.problems import Ball, Linear, Problem
from dpverify.statements.bst14.audits.rates import equal_records, measured
from dpverify.statements.hidden_constants import RateAt, Rates, size

DELTA, EPSILON, TASKS = 1e-5, 0.5, 4


def _table(
    make: Callable[[Problem, int], Any], *, run: bool = True, tasks: int = 1
) -> Callable[[], Iterator[RateAt]]:
    """The risk of linear losses on the unit ball, where it is below the largest there is."""

    def sizes() -> Iterator[RateAt]:
        for n, d in ((10_000, 1), (10_000, 30), (100_000, 1), (100_000, 30)):
            algorithm = make(Problem(Linear(), Ball(d, 1.0)), n)
            attained = (
                measured(algorithm, equal_records(n, d), -float(n)) / n if run and n * d == 10_000 else None
            )
            rate = math.sqrt(d * tasks / n) / EPSILON
            yield size(rate, algorithm.risk_bound(n).bound, attained, n=n, d=d, epsilon=EPSILON)

    return sizes


def _for_tasks(problem: Problem, n: int) -> StopPNSGD:
    """Noisy SGD for one of the tasks: noise of sqrt(TASKS) times the size, with which all are as private as one was."""
    stddev = math.sqrt(TASKS) * StopPNSGD.for_privacy(problem, n=n, epsilon=EPSILON, delta=DELTA).noise_stddev
    rate = 2 / math.sqrt(n * (1 + problem.constraint.dimension * stddev**2))
    return StopPNSGD(problem, rate, stddev, claim="local")


RATES: Rates = {
    ("fmtt18.table1", "table, inline 1"): _table(
        lambda p, n: StopPNSGD.for_privacy(p, n=n, epsilon=EPSILON, delta=DELTA)
    ),
    ("fmtt18.table1", "table, inline 2"): _table(_for_tasks, tasks=TASKS),
    ("fmtt18.table1", "table, inline 5"): _table(
        lambda p, n: SkipPNSGD.for_privacy(p, n=n, epsilon=EPSILON, delta=DELTA)
    ),
    ("fmtt18.table1", "table, inline 6"): _table(
        lambda p, n: MultitaskStopPNSGD.for_privacy(
            (p.loss,) * TASKS, p.constraint, n=n, epsilon=EPSILON, delta=DELTA
        ),
        run=False,
    ),
}
