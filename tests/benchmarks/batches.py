"""Noisy gradient descent on Poisson batches beside all records: what its noise and its bound would be at the least.

make pages          # writes the table of docs/how-to/fit.md among others
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dp_accounting import NeighboringRelation
from dp_accounting.pld import privacy_loss_distribution
from scipy.optimize import brentq

from dpverify.algorithms.yardstick import FullBatchDescent
from dpverify.files import write_table
from dpverify.problems import Ball, Problem
from dpverify.problems.further_losses import LogisticOnBall

DELTA, N, DIMENSION = 1e-5, 569, 30


def noise_ratio(descent: FullBatchDescent, rate: float, steps: int) -> float:
    """The noise on a mean gradient that steps on Poisson batches need at least, over that of as many on all records.

    It is what dp-accounting says of one pair, whose record has the gradient L or -L if it is drawn, with probability
    `rate`. The sum over a batch, of n rate records in the mean, is divided by that many.
    """

    def excess(ratio: float) -> float:
        noise = 2 * ratio * descent.least_multiplier * math.sqrt(steps) * rate  # of the sum, over L
        one = privacy_loss_distribution.from_gaussian_mechanism(
            noise,
            value_discretization_interval=rate / noise / 50,
            sampling_prob=rate,
            neighboring_relation=NeighboringRelation.REPLACE_ONE,
        )
        delta = one.self_compose(steps).get_delta_for_epsilon(descent.epsilon)
        return math.log(max(delta, 1e-300) / descent.delta)

    return float(brentq(excess, 0.9, 10.0, xtol=1e-4))


def bound_ratio(descent: FullBatchDescent, rate: float, steps: int, noise: float) -> float:
    """The bound on the risk with that noise, and with the variance of a batch's gradients, over that on all records.

    Each of n records adds at most (1 - q) L^2 / (n^2 q) of variance to the mean.
    """
    known = descent.problem.constants
    drawn = known.lipschitz_constant * math.sqrt((1 - rate) / (N * rate))
    alone = replace(descent, steps=steps).noise_stddev(N)
    multiplier = descent.multiplier * math.hypot(noise, drawn / alone)
    batched = replace(descent, steps=steps, noise_multiplier=multiplier, withdraw_guarantee=True)
    return batched.risk_bound(N).bound / descent.risk_bound(N).bound


def row(epsilon: float, rate: float) -> str:
    """Of as many steps as on all records, and of as many gradients, which are 1 / q times the steps."""
    descent = FullBatchDescent(Problem(LogisticOnBall(1.0), Ball(DIMENSION, 1.0)), epsilon, DELTA)
    own = descent.step_count(N)
    cells = [f"{epsilon:g}", f"{own}", f"{rate:g}"]
    for steps in (own, round(own / rate)):
        noise = noise_ratio(descent, rate, steps)
        cells += [f"{noise:.3f}", f"{bound_ratio(descent, rate, steps, noise):.3f}"]
    return f"| {' | '.join(cells)} |"


def table() -> Iterator[str]:
    """The lines of the table."""
    yield "| epsilon | T | q | noise, T steps | bound, T steps | noise, T / q steps | bound, T / q steps |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    yield from itertools.starmap(row, itertools.product((0.1, 1.0, 10.0), (0.01, 0.1, 0.5)))


if __name__ == "__main__":
    write_table(Path(sys.argv[1]), table())
