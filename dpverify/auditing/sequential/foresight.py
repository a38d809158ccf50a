"""What a sequential audit of a claim can find within a number of runs, said before the first run."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpverify.auditing.detection import Noise
from dpverify.auditing.sequential.gamblers import Gamblers, Lines, rounds
from dpverify.auditing.sequential.partitions import learn_plainly

Array = NDArray[np.float64]

_GOLDEN = (math.sqrt(5) - 1) / 2
_BISECTIONS = 7


def log_needed(level: float) -> float:
    """Natural logarithm of the capital that refutes a claim, with an allowance for rounding."""
    return math.log(1 / level) + 1e-9


def least_runs(total_variation: float, level: float) -> int | None:
    """Runs of a side that any bet needs: none multiplies capital by more than (2 / (1 + total_variation))^2.

    `total_variation` is what the claim allows, its delta at epsilon 0. Outputs that never occur on both sides give that
    factor: the nearest allowed pair has error (1 - total_variation) / 2 on both sides. None where it is 1, which allows
    everything, or rounds to it, when more than 1e15 runs would be needed.
    """
    if not total_variation < 1:
        return None
    # -log((1 + v) / 2), which keeps its digits where v is close to 1
    growth = -2 * math.log1p(-(1 - total_variation) / 2)
    return math.ceil(log_needed(level) / growth) if growth > 0 else None


Pair = Callable[[Array, Array], tuple[Array, Array]]


def runs_to_refute(lines: Lines, level: float, most: int, pair: Pair) -> int | None:
    """Runs of a side after which this auditor refutes a claim, on evenly spread outputs of a pair of laws.

    `pair` maps two sequences that are evenly spread over (0, 1), (runs,), to outputs on the left and on the right.
    None if `most` runs do not suffice.
    """
    gamblers = Gamblers([lines], np.random.default_rng(0), learner=learn_plainly)
    for size in rounds(most):
        places: Array = np.arange(gamblers.runs + 1, gamblers.runs + size + 1, dtype=np.float64)
        left, right = pair((places * _GOLDEN) % 1, (places * _GOLDEN + 0.5) % 1)
        gamblers.see(left[:, None], right[:, None])
        if gamblers.highest[0] >= log_needed(level):
            return gamblers.runs
    return None


def giveaway(left: Array, right: Array) -> tuple[Array, Array]:
    """Outputs that give the data set away in every run."""
    return np.zeros(left.size), np.ones(right.size)


@lru_cache(maxsize=64)  # audits of one claim ask the same
def smallest_violation(lines: Lines, level: float, runs: int, delta: float, *, above: float) -> float | None:
    """Smallest epsilon of an (epsilon, delta) randomized response that is refuted in so many runs of a side.

    On evenly spread outputs, so with random ones about half the time. The search starts at `above`, nats.
    """

    def found(epsilon: float) -> bool:
        truth = delta + (1 - delta) * float(expit(epsilon))

        def response(left: Array, right: Array) -> tuple[Array, Array]:
            # below delta the output betrays the side
            on_left = np.where(left < delta, 2.0, np.where(left < truth, 0.0, 1.0))
            return on_left, np.where(right < delta, 3.0, np.where(right < truth, 1.0, 0.0))

        return runs_to_refute(lines, level, runs, response) is not None

    return _smallest(found, above)


@lru_cache(maxsize=64)
def smallest_shift(lines: Lines, level: float, runs: int, noise: Noise) -> float | None:
    """Smallest shift of noise of scale 1 that is refuted in so many runs, mu for the normal distribution; as above."""

    def found(shift: float) -> bool:
        def shifted(left: Array, right: Array) -> tuple[Array, Array]:
            return noise.at(left), noise.at(right) + shift

        return runs_to_refute(lines, level, runs, shifted) is not None

    return _smallest(found, 0.0)


def _smallest(found: Callable[[float], bool], low: float) -> float | None:
    """Upper end of a bisection, to a relative 1 % or so, of what is found at some size below `low` + 40."""
    step = 0.25
    while not found(low + step):
        step *= 2
        if step > 40:
            return None
    high = low + step
    low = low + step / 2 if step > 0.25 else low
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high
