"""Methods of mn25 on a line, with the laws of their outputs, on pairs that nearly give away what is proved."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import scipy

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.mn25 import (
    DPSGD,
    EmpiricalToPopulation,
    PhasedERM,
    PhasedSGD,
    PopulationToEmpirical,
    PrivateOracleMethod,
)
from dpverify.algorithms.mn25.private_oracles import CyclicDescent, GaussianOracle
from dpverify.auditing.white_box import StatedLaw
from dpverify.problems import AllSpace, Ball, Dataset, Linear, Problem
from dpverify.statements.audit_laws import averaged_draws, normal_mixture
from dpverify.statements.audit_parts import Constructed, made, mean_problem, one_turned
from dpverify.statements.audit_rows import On
from dpverify.statements.mn25.audits.cases import DELTA


def _equal(n: int, record: float = -1.0) -> Constructed:
    """Equal records, and one of them turned: what it does is seen at the left end."""
    words = f"{n} equal records, on one data set the last one is opposite"
    return one_turned(made(np.full((n, 1), record), "equal records"), n, words)


def _share(data: Dataset) -> float:
    """Of the records that were turned."""
    features = np.asarray(data.features)
    return float(np.mean(features != features[0]))


def _drawn_or_not(parts: Any, probability: float) -> tuple[Any, Any]:
    """Sums of the parts that are drawn, each by itself with a probability: weights and sums, (2^k,) both."""
    sets = np.array(list(product((0, 1), repeat=len(parts))))
    return np.prod(np.where(sets, probability, 1 - probability), axis=1), sets @ parts


def descent() -> On:
    """DP-SGD on linear losses in so large a set that it is never left: the mean of its points.

    A message about the record counts the more the earlier it is, and the last one not at all.
    """
    n, size, steps = 8, 2, 8
    problem = Problem(Linear(), Ball(1, 1000.0))
    mechanism = DPSGD(problem, 40.0, 0.01, batch_size=size, steps=steps, noise_stddev=1.5, rate=1.0)
    weights = np.arange(steps - 1, 0, -1) / steps

    def law(data: Dataset, factor: float) -> StatedLaw:
        drawn, sums = _drawn_or_not(weights, size / n if _share(data) else 0.0)
        noise = 1.5 / factor * math.sqrt(weights @ weights)
        return normal_mixture(drawn, weights.sum() - 2 * sums / size, noise)

    return On(mechanism, _equal(n), "sharpest", law=law)


def phased_sgd() -> On:
    """One phase of two steps on linear losses: the first of the two drawn records moves the average by half a step."""
    n, rate = 16, 0.02
    problem = Problem(Linear(), Ball(1, 1.0))
    mechanism = PhasedSGD(
        problem, 40.0, 0.01, accuracy=0.5, noise_factor=0.005, phases=1, steps=4.0, rate=4 * rate
    )
    (phase,) = mechanism.schedule(n)

    def law(data: Dataset, factor: float) -> StatedLaw:
        share = _share(data)
        places = rate / 2 * np.array([1.0, -1.0])
        return normal_mixture([1 - share, share], places, phase.noise_stddev / factor)

    return On(mechanism, _equal(n), "sharpest", law=law)


def phased_erm() -> On:
    """Two phases on linear losses, whose minimizers are far inside the set: shifts and noises of both add up."""
    n = 100
    problem = Problem(Linear(), Ball(1, 1.0))
    mechanism = PhasedERM(problem, 40.0, 0.01, accuracy=1.0, noise_factor=0.005, phases=2, gap_factor=1e-18)
    schedule = mechanism.schedule(n)
    # minimizers are that far from the exact ones
    missed = sum(math.sqrt(phase.gap / phase.pull) for phase in schedule)
    features = np.where(np.arange(n) % 2, 1.0, -1.0)[:, None]
    words = f"{n} linear losses, half of them of either sign, on one data set one more of slope -1"

    def law(data: Dataset, factor: float) -> StatedLaw:
        slope = float(np.mean(np.asarray(data.features)))
        stddev = math.hypot(*(phase.noise_stddev for phase in schedule)) / factor
        center = -sum(slope / (2 * phase.pull) for phase in schedule)
        return normal_mixture(1.0, center, stddev, error=missed / stddev)

    return On(mechanism, one_turned(made(features, "slopes"), n, words), "sharpest", law=law)


def split() -> On:
    """One phase on one ball, which is one run of bst14's Algorithm 1: a mean of eight drawn records and noises."""
    n, steps, radius = 2, 8, 50.0
    mechanism = PopulationToEmpirical(
        NoisyGradientDescent(mean_problem(1, radius), 1600.0, DELTA, "strongly-convex", steps=steps),
        1.0,
        phases=1,
        boosts=1,
        balls=1,
        minibatch=n,
        regularization=0.01,
    )
    known = mechanism.guarantees(n).sharpest.guarantee
    bent = 1 + mechanism.added_convexity(1, 0.01)
    local: Any = mechanism._local_solver(1, 0, 0.01)

    def law(data: Dataset, factor: float) -> StatedLaw:
        noise = local.noise_stddev(n) / (n * bent * factor)
        return averaged_draws(1 / bent, -1 / bent, _share(data), steps, noise, radius)

    return On(mechanism, _equal(n, 1.0), "sharpest", known, law=law)


def resampled() -> On:
    """The Gaussian mechanism on two records that are drawn from two with replacement."""
    n, stddev = 2, 2 / 3
    oracle = GaussianOracle(stddev)
    solver = PrivateOracleMethod(Problem(Linear(), AllSpace(1)), oracle, CyclicDescent(1, n, 1.0))
    mechanism = EmpiricalToPopulation(solver)
    known = mechanism.guarantees(n).sharpest.guarantee

    def law(data: Dataset, factor: float) -> StatedLaw:
        often = np.arange(n + 1)
        weights = scipy.stats.binom.pmf(often, n, _share(data))
        return normal_mixture(weights, 1 - 2 * often / n, stddev / factor)

    return On(mechanism, _equal(n), "sharpest", known, law=law)
