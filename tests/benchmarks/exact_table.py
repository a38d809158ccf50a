"""What is claimed, proved and true of single records, as a page: `python tests/benchmarks/exact_table.py FILE`.

The text of the file around the table is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, PublicRecordsLast, SkipPNSGD, SmoothedPNSGD, StopPNSGD
from dpverify.files import write_table
from dpverify.ledger.records import Interval
from dpverify.privacy.stated import StatedGuarantee
from dpverify.problems import Ball, Dataset, HalfSquaredDistance, Hinge, Logistic, Problem
from dpverify.problems.smoothed_losses import AbsoluteError
from dpverify.statements.exact.index_chains import Algorithm, index_profiles

EPSILON, DELTA = 1.0, 1e-5
_ACCURACY = 0.02
_LIMIT = 4e9
_COMPARED = 1e-3
"""Epsilon from which an interval is as narrow as asked for; nats."""


def _rows(n: int) -> Iterator[tuple[str, Algorithm, tuple[int, ...]]]:
    """Algorithms, by id and what is special, and the indices of the records whose replacement is looked at."""
    line, far = Ball(1, 1.0), Ball(1, 20.0)
    logistic, every = Problem(Logistic(), line), (1, n // 2, n)
    wanted: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA}
    yield "fmtt18.alg1", PNSGD.for_privacy(logistic, n=n, **wanted), every
    yield "fmtt18.skip", SkipPNSGD.for_privacy(logistic, n=n, **wanted), every
    yield "fmtt18.stop", StopPNSGD.for_privacy(logistic, n=n, **wanted), every
    half = PublicRecordsLast.for_privacy(logistic, n=n, public=n // 2, **wanted)
    yield "fmtt18.public, half public", half, (1, n // 2)
    yield "fmtt18.smoothing, hinge", SmoothedPNSGD.for_privacy(Problem(Hinge(), line), n=n, **wanted), every
    attracted = PNSGD(Problem(HalfSquaredDistance.on(far), far), rate=0.1, noise_stddev=10.0)
    yield "fmtt18.alg1, attracted", attracted, every
    if n <= 20:
        yield "fmtt18.alg2", PNMSGD.for_privacy(logistic, rate=0.2, **wanted), every
        for loss, said in ((Logistic(), ""), (Hinge(), ", hinge"), (AbsoluteError(), ", absolute error")):
            yield f"bst14.alg1{said}", NoisyGradientDescent(Problem(loss, line), **wanted), (1,)


def measured(
    algorithm: Algorithm, n: int, indices: tuple[int, ...]
) -> Iterator[tuple[int, float | None, float, Interval]]:
    """For each index the epsilon that is printed and the one that is proved, and where the pair's lies; nats."""
    found = index_profiles(
        algorithm,
        Dataset(np.ones((n, 1)), np.ones(n), "all records (1, 1)"),
        record=([-1.0], 1.0),
        indices=indices,
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
        for name, algorithm, indices in _rows(n):
            for index, printed, proved, interval in measured(algorithm, n, indices):
                low, high = interval.lower, interval.upper
                said = "none" if printed is None else f"{printed:.4g}"
                ratio = f"{proved / high:.3g}" if high >= _COMPARED else ""
                yield (
                    f"| {name} | {n} | {index} | {said} | {proved:.4g} | {low:.4g} to {high:.4g} | {ratio} |"
                )


if __name__ == "__main__":
    write_table(Path(sys.argv[1]), table())
