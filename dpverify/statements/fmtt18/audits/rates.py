"""What the rates of fmtt18's Table 1 hide: bounds over L R, with every constant, at delta = 1e-5."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from dpverify.algorithms.fmtt18 import MultitaskStopPNSGD, SkipPNSGD, StopPNSGD
from dpverify.problems import Ball, Linear, Problem
from dpverify.statements.bst14.audits.rates import equal_records, measured
from dpverify.statements.hidden_constants import RateAt, Rates, size

DELTA, EPSILON = 1e-5, 0.5


def _table(make: Callable[[Problem, int], Any], *, run: bool = True) -> Callable[[], Iterator[RateAt]]:
    """The risk of linear losses on the unit ball, where it is below the largest there is."""

    def sizes() -> Iterator[RateAt]:
        for n, d in ((10_000, 1), (10_000, 30), (100_000, 1), (100_000, 30)):
            algorithm = make(Problem(Linear(), Ball(d, 1.0)), n)
            attained = (
                measured(algorithm, equal_records(n, d), -float(n)) / n if run and n * d == 10_000 else None
            )
            rate = math.sqrt(d / n) / EPSILON
            yield size(rate, algorithm.risk_bound(n).bound, attained, n=n, d=d, epsilon=EPSILON)

    return sizes


RATES: Rates = {
    ("fmtt18.table1", "table, inline 1"): _table(
        lambda p, n: StopPNSGD.for_privacy(p, n=n, epsilon=EPSILON, delta=DELTA)
    ),
    ("fmtt18.table1", "table, inline 5"): _table(
        lambda p, n: SkipPNSGD.for_privacy(p, n=n, epsilon=EPSILON, delta=DELTA)
    ),
    ("fmtt18.table1", "table, inline 6"): _table(
        lambda p, n: MultitaskStopPNSGD.for_privacy(
            (p.loss,) * 4, p.constraint, n=n, epsilon=EPSILON, delta=DELTA
        ),
        run=False,
    ),
}
