"""Runs that flag a false claim of epsilon = 1, beside those that the best event needs if it is known in advance.

`python tests/benchmarks/sequential_power.py [--seeds N] [--only NAME]`: Laplace noise at half the scale, the Sparse
Vector variants of Lyu, Su and Li, and the cube of audit_power.py, which holds 3 of 100 outputs in five coordinates. A
row: all runs, on both data sets, that 9 of 10 seeds take at 95 % confidence, and the same for exact binomial bounds on
the best event, in a fixed number of runs.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "auditing" / "sequential"))
from audit_power import cube
from scipy.special import ndtr
from sparse_vector import best_events, laplace_pair_event, telling_pair

from dpverify.auditing.detection import EventTest
from dpverify.auditing.sequential.foresight import log_needed
from dpverify.auditing.sequential.gamblers import Gamblers, Lines, rounds

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Array]
_LEVEL, _EPSILON, _MOST = 0.05, 1.0, 100_000


def ideal_runs(more: float, less: float, power: float = 0.9) -> float:
    """Runs of both sides in all after which exact bounds flag this event with the given probability."""
    if not more > 1.001 * math.exp(_EPSILON) * less or more < 1e-6:
        return math.inf
    low, high = 1, 16

    def enough(runs: int) -> bool:
        return EventTest(runs, _LEVEL / 2, ((_EPSILON, 0.0),)).power(more, less) >= power

    while not enough(high):
        low, high = high, 2 * high
        if high > 10**6:
            return math.inf
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return 2 * high


def ideal_of_laws(left: Array, right: Array) -> float:
    """The same for the best of the events that a likelihood ratio cuts out, in either direction."""
    best = math.inf
    for one, other in ((left, right), (right, left)):
        more, less = best_events(one / one.sum(), other / other.sum())
        spread = np.sqrt(
            np.abs(more * (1 - more)) + math.exp(2 * _EPSILON) * np.abs(less * (1 - less)) + 1e-9
        )
        at = int(((more - math.exp(_EPSILON) * less) / spread).argmax())
        for place in {at, at // 2, min(3 * at // 2 + 1, more.size - 1)}:
            best = min(best, ideal_runs(float(more[place]), float(less[place])))
    return best


def runs_taken(left: Draw, right: Draw, seed: int) -> float:
    """Runs of both sides in all until the claim is refuted; infinity if `_MOST` of a side are not enough."""
    gamblers = Gamblers(
        [Lines(np.array([[_EPSILON]]), np.zeros((1, 1)))], np.random.default_rng(seed), exact=(0,)
    )
    streams = [np.random.default_rng((seed, side)) for side in (1, 2)]
    for size in rounds(_MOST):
        gamblers.see(left(streams[0], size), right(streams[1], size))
        if gamblers.highest[0] >= log_needed(_LEVEL):
            return 2 * gamblers.runs
    return math.inf


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    print(
        "| mechanism | best event known | median | 9 of 10 seeds | ratio |\n| --- | --- | --- | --- | --- |"
    )
    for name in ("laplace", "svt3", "svt4", "svt5", "svt6", "cube"):
        if arguments.only not in ("", name):
            continue
        if name == "laplace":
            ideal = ideal_runs(*laplace_pair_event(0.5))
            draws: list[Draw] = [
                lambda rng, runs, at=at: at + rng.laplace(scale=0.5, size=(runs, 1)) for at in (0, 1)
            ]
        elif name == "cube":
            less = float(ndtr(1.3) - ndtr(0.7)) ** 5
            ideal = ideal_runs(0.03 + 0.97 * less, less)
            draws = [lambda rng, runs, side=side: cube().draw(rng, runs)[side] for side in (0, 1)]
        else:
            pair = telling_pair(int(name[3]))
            ideal = ideal_of_laws(*(one.law() for one in pair))
            draws = [one.draw for one in pair]
        taken = np.sort([runs_taken(draws[0], draws[1], seed) for seed in range(arguments.seeds)])
        most = taken[math.ceil(0.9 * arguments.seeds) - 1]
        print(f"| {name} | {ideal:g} | {np.median(taken):g} | {most:g} | {most / ideal:.2f} |", flush=True)


if __name__ == "__main__":
    main()
