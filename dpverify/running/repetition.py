"""Whether outputs repeat under the same seed, which is what a line that reproduces a verdict promises."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.errors import DpverifyError
from dpverify.running.batches import run
from dpverify.running.outputs import Mechanism
from dpverify.running.randomness import BLOCK, Seed
from dpverify.running.subjects.texts import as_texts, is_texts

_SINGLE_RUNS = 100
"""Runs that are done again of a function that is called once a run."""


def repeats(
    mechanism: Mechanism, data: Any, points: NDArray[Any], *, seed: Seed, block_size: int = BLOCK
) -> bool:
    """Run the first block again, here, and compare its bits with those of the outputs `points` (runs, ...).

    A mechanism that draws randomness from elsewhere than `rng`, or that keeps something from one call to the next,
    does not repeat; where its outputs take few values, they may agree by chance. One that fails now does not either.
    """
    first = min(block_size, len(points))
    if getattr(mechanism, "batched", True) is False:
        first = min(
            first, _SINGLE_RUNS
        )  # its runs are drawn one by one, so that fewer are a part of the block
    try:
        again = run(mechanism, data, runs=first, seed=seed, block_size=block_size).points
    except DpverifyError:
        return False
    if is_texts(points):
        # numbers in this block, where others are none
        return bool(np.array_equal(as_texts(again), points[:first]))
    # compared as bytes: 0.0 and -0.0 are different bits
    return again.dtype == points.dtype and again.tobytes() == np.ascontiguousarray(points[:first]).tobytes()
