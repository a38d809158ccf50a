"""Noisy sums divided by the actual size of a Poisson batch, beside what is accounted for: docs/batch-division.md.

make division        # writes the table of docs/batch-division.md; takes about two minutes
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

from dpverify.auditing.accountants import DividedByBatchSize, NoisyReleases
from dpverify.files import write_table
from dpverify.views.number_text import at_least, at_most

DELTA = 1e-5
NOISES, SAMPLED, STEPS = (0.6, 1.0, 2.0), ((0.1, 100), (0.01, 1000), (0.1, 1000), (0.01, 10_000)), (1, 100)


def table() -> Iterator[str]:
    """The lines of the table."""
    yield "| noise | q | other records | expected size | T | accounted | actual size, at least | size seen, at least |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for noise, (q, others), steps in itertools.product(NOISES, SAMPLED, STEPS):
        accounted = NoisyReleases("gaussian", noise, steps, q).smallest_epsilon(DELTA).upper
        cells = [f"{noise:g}", f"{q:g}", others, round(q * others), steps, at_most(accounted)]
        for seen in (False, True):
            least = DividedByBatchSize(noise, q, others, steps, seen).smallest_epsilon(DELTA).lower
            more = f" ({least / accounted:.1f} times)" if least > accounted else ""
            cells.append(f"{at_least(least)}{more}")
        yield f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    write_table(Path(sys.argv[1]), table())
