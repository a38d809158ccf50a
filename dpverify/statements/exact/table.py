"""What is claimed, proved and true of single records, as a page: `python -m dpverify.statements.exact.table FILE`.

The text of the file around the table is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, PublicRecordsLast, SkipPNSGD, SmoothedPNSGD, StopPNSGD
from dpverify.files import write_table
from dpverify.ledger.records import Interval
from dpverify.privacy.stated import StatedGuarantee
from dpverify.problems import Ball, Dataset, HalfSquaredDistance, Hinge, Logistic, Loss, Problem
from dpverify.problems.smoothed_losses import AbsoluteError
from dpverify.statements.exact.chains import Algorithm, index_profiles

EPSILON, DELTA = 1.0, 1e-5
_ACCURACY = 0.02
_LIMIT = 4e9
_COMPARED = 1e-3
"""Epsilon from which an interval is as narrow as asked for; nats."""


@dataclass(frozen=True)
class ChosenRecords:
    """An algorithm and some of its records.

    Attributes:
        name: id, and what is special.
        algorithm: makes it.
        n: how many records.
        indices: whose replacement is looked at.
    """

    name: str
    algorithm: Callable[[int], Algorithm]
    n: int
    indices: tuple[int, ...]


def _logistic() -> Problem:
    return Problem(Logistic(), Ball(1, 1.0))


def _attracted(n: int) -> PNSGD:
    ball = Ball(1, 20.0)
    return PNSGD(Problem(HalfSquaredDistance.on(ball), ball), rate=0.1, noise_stddev=10.0)


def _rows(n: int) -> Iterator[ChosenRecords]:
    wanted = {"epsilon": EPSILON, "delta": DELTA}
    every = (1, n // 2, n)
    yield ChosenRecords("fmtt18.alg1", lambda n: PNSGD.for_privacy(_logistic(), n=n, **wanted), n, every)
    yield ChosenRecords("fmtt18.skip", lambda n: SkipPNSGD.for_privacy(_logistic(), n=n, **wanted), n, every)
    yield ChosenRecords("fmtt18.stop", lambda n: StopPNSGD.for_privacy(_logistic(), n=n, **wanted), n, every)
    yield ChosenRecords(
        "fmtt18.public, half public",
        lambda n: PublicRecordsLast.for_privacy(
            _logistic(), n=n, public=n // 2, epsilon=EPSILON, delta=DELTA
        ),
        n,
        (1, n // 2),
    )
    yield ChosenRecords(
        "fmtt18.smoothing, hinge",
        lambda n: SmoothedPNSGD.for_privacy(Problem(Hinge(), Ball(1, 1.0)), n=n, **wanted),
        n,
        every,
    )
    yield ChosenRecords("fmtt18.alg1, attracted", _attracted, n, every)
    if n <= 20:
        yield ChosenRecords(
            "fmtt18.alg2", lambda n: PNMSGD.for_privacy(_logistic(), rate=0.2, **wanted), n, every
        )
        yield ChosenRecords("bst14.alg1", lambda n: _descent(Logistic()), n, (1,))
        yield ChosenRecords("bst14.alg1, hinge", lambda n: _descent(Hinge()), n, (1,))
        yield ChosenRecords("bst14.alg1, absolute error", lambda n: _descent(AbsoluteError()), n, (1,))


def _descent(loss: Loss) -> NoisyGradientDescent:
    return NoisyGradientDescent(Problem(loss, Ball(1, 1.0)), EPSILON, DELTA)


def measured(row: ChosenRecords) -> Iterator[tuple[int, float | None, float, Interval]]:
    """For each index the epsilon that is printed and the one that is proved, and where the pair's lies; nats."""
    n = row.n
    algorithm = row.algorithm(n)
    data = Dataset(np.ones((n, 1)), np.ones(n), "all records (1, 1)")
    found = index_profiles(
        algorithm,
        data,
        record=([-1.0], 1.0),
        indices=row.indices,
        delta=DELTA,
        accuracy=_ACCURACY,
        most_node_steps=_LIMIT,
    )
    for index, enclosure in found.items():
        if isinstance(algorithm, NoisyGradientDescent):
            printed: float | None = algorithm.epsilon
            stated: StatedGuarantee | None = algorithm.guarantees(n).sharpest
        else:
            theorem = algorithm.rdp_at(n, index)
            printed = None if theorem is None else theorem.guarantee.epsilon_at(DELTA)
            stated = algorithm.guarantee_at(n, index)
        assert stated is not None
        yield index, printed, stated.guarantee.epsilon_at(DELTA), enclosure.epsilon(DELTA)


def table(sizes: tuple[int, ...] = (20, 200)) -> Iterator[str]:
    """The lines of the table."""
    yield "| algorithm | n | record | printed | proved | this pair | proved / pair, at least |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for n in sizes:
        for row in _rows(n):
            for index, printed, proved, interval in measured(row):
                low, high = interval.lower, interval.upper
                said = "none" if printed is None else f"{printed:.4g}"
                ratio = f"{proved / high:.3g}" if high >= _COMPARED else ""
                yield (
                    f"| {row.name} | {n} | {index} | {said} | {proved:.4g} | {low:.4g} to {high:.4g} | {ratio} |"
                )


if __name__ == "__main__":
    write_table(Path(sys.argv[1]), table())
