"""How loose our own upper bounds are, as a page: `python tests/benchmarks/looseness.py FILE`.

Each row asks `dpverify.privacy` for the epsilon of some releases and puts it beside the reference. The text of the file
around the table is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpverify.auditing.accountants.audit import Reference
from dpverify.auditing.accountants.orders import DrawnBatches, HiddenIterates
from dpverify.auditing.accountants.references import NoisyReleases
from dpverify.files import write_table
from dpverify.ledger.records import Interval
from dpverify.privacy import (
    GDP,
    RDP,
    Guarantee,
    NoisyIteration,
    PureDP,
    SampledGaussian,
    compose,
    compose_profiles,
    zCDP,
)
from dpverify.privacy.batch_sampling import SampledBatch, sampled_batches

_DELTA = 1e-5


@dataclass(frozen=True)
class Row:
    """One of our bounds, and the releases for which the reference is computed.

    Where they are only an instance of what the bound covers, which they say, the reference shows no bound to be loose,
    only how much of the excess it may be.
    """

    name: str
    bound: Callable[[], Guarantee]
    releases: Reference


ROWS: tuple[Row, ...] = (
    Row("`GDP(1)`", lambda: GDP(1.0), NoisyReleases("gaussian", 1.0)),
    Row("`compose` of 10 `GDP(1/4)`", lambda: compose([GDP(0.25)] * 10), NoisyReleases("gaussian", 4.0, 10)),
    Row("`zCDP(1/2)`", lambda: zCDP(0.5), NoisyReleases("gaussian", 1.0)),
    Row("`RDP.point(8, 4)`", lambda: RDP.point(8.0, 4.0), NoisyReleases("gaussian", 1.0)),
    Row("`PureDP(1)`", lambda: PureDP(1.0), NoisyReleases("laplace", 1.0)),
    Row(
        "`compose` of 10 `PureDP(1/4)`",
        lambda: compose([PureDP(0.25)] * 10),
        NoisyReleases("laplace", 4.0, 10),
    ),
    Row(
        "`compose_profiles` of 10 `PureDP(1/4)`",
        lambda: compose_profiles([PureDP(0.25)] * 10),
        NoisyReleases("laplace", 4.0, 10),
    ),
    Row(
        "`SampledGaussian(100, 1, 0.5)`",
        lambda: SampledGaussian(100, 1, 0.5),
        DrawnBatches(0.5, 100, 1).instance(),
    ),
    Row(
        "`SampledGaussian(100, 100, 1)`",
        lambda: SampledGaussian(100, 100, 1.0),
        DrawnBatches(1.0, 100, 1, 100).instance(),
    ),
    Row(
        "`SampledBatch(100, 10, 1)`",
        lambda: SampledBatch(100, 10, 1.0),
        DrawnBatches(1.0, 100, 10).instance(),
    ),
    Row(
        "20 of `SampledBatch(100, 10, 1)`",
        lambda: sampled_batches((SampledBatch(100, 10, 1.0), 20)),
        DrawnBatches(1.0, 100, 10, 20).instance(),
    ),
    Row(
        "`SampledBatch(100, 10, 1/4, True)`",
        lambda: SampledBatch(100, 10, 0.25, replacement=True),
        DrawnBatches(4.0, 100, 10, 1, replacement=True).instance(),
    ),
    Row(
        "20 of `SampledBatch(100, 10, 1/4, True)`",
        lambda: sampled_batches((SampledBatch(100, 10, 0.25, replacement=True), 20)),
        DrawnBatches(4.0, 100, 10, 20, replacement=True).instance(),
    ),
    Row(
        "`SampledBatch(100, 10, 1, True)`",
        lambda: SampledBatch(100, 10, 1.0, replacement=True),
        DrawnBatches(1.0, 100, 10, 1, replacement=True).instance(),
    ),
    Row("`NoisyIteration`", lambda: _iteration(5), HiddenIterates(1.0, 20, 5, 0.9)),
)


def _iteration(used: int) -> Guarantee:
    """Twenty steps that contract by 0.9, of which one moves by 1."""
    shifts = np.zeros(20)
    shifts[used - 1] = 1.0
    return NoisyIteration(shifts, np.ones(20), np.full(20, 0.9)).gdp()


def measured(row: Row, delta: float = _DELTA) -> tuple[float, Interval]:
    """Our epsilon, and the reference."""
    return row.bound().epsilon_at(delta), row.releases.smallest_epsilon(delta)


def table() -> Iterator[str]:
    """The lines of the table."""
    yield "| our bound | compared with | ours | smallest epsilon | ratio |"
    yield "| --- | --- | --- | --- | --- |"
    for row in ROWS:
        ours, smallest = measured(row)
        low, high = f"{smallest.lower:.6g}", f"{smallest.upper:.6g}"
        between = low if low == high else f"{low} to {high}"
        yield f"| {row.name} | {row.releases} | {ours:.6g} | {between} | {ours / smallest.upper:.4f} |"


if __name__ == "__main__":
    write_table(Path(sys.argv[1]), table())
