"""Methods of mn25 on a line, with the laws of their outputs, on pairs that nearly give away what is proved."""

from __future__ import annotations

import math
from functools import partial
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
from dpverify.ledger.origins import Corrected
from dpverify.problems import AllSpace, Ball, Dataset, Linear, Problem
from dpverify.statements import real_size
from dpverify.statements.audit_laws import averaged_draws, normal_mixture, sum_of_draws
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
    features = np.where(np.arange(n) % 2, 1.0, -1.0)[:, None]
    words = f"{n} linear losses, half of them of either sign, on one data set one more of slope -1"

    def law(data: Dataset, factor: float) -> StatedLaw:
        return _minimizers(mechanism, n, np.asarray(data.features), np.ones(1), factor)

    return On(mechanism, one_turned(made(features, "slopes"), n, words), "sharpest", law=law)


def _minimizers(mechanism: PhasedERM, n: int, records: Any, unit: Any, factor: float) -> StatedLaw:
    """Phased ERM on linear losses whose minimizers are far inside the set, along a unit vector."""
    schedule = mechanism.schedule(n)
    # minimizers are that far from the exact ones
    missed = sum(math.sqrt(phase.gap / phase.pull) for phase in schedule)
    stddev = math.hypot(*(phase.noise_stddev for phase in schedule)) / factor
    center = -float(np.mean(records @ unit)) * sum(1 / (2 * phase.pull) for phase in schedule)
    return normal_mixture(1.0, center, stddev, error=missed / stddev, statistic=lambda w: w @ unit)


def _one_run(n: int, d: int, steps: int) -> tuple[PopulationToEmpirical, float, float, float]:
    """One phase on one ball, which is one run of bst14's Algorithm 1 for a mean; with a ridge, in a large ball.

    Beside it: the noise of a step, by how much the ridge shortens records, and the ball's radius.
    """
    radius, ridge = 50.0, 0.01
    solver = NoisyGradientDescent(mean_problem(d, radius), 1600.0, DELTA, "strongly-convex", steps=steps)
    mechanism = PopulationToEmpirical(
        solver, 1.0, phases=1, boosts=1, balls=1, minibatch=n, regularization=ridge
    )
    bent = 1 + mechanism.added_convexity(1, ridge)
    local: Any = mechanism._local_solver(1, 0, ridge)
    return mechanism, local.noise_stddev(n) / (n * bent), bent, radius


def split() -> On:
    """Eight steps of the solver: a mean of drawn records and of noises."""
    n, steps = 2, 8
    mechanism, noise, bent, radius = _one_run(n, 1, steps)

    def law(data: Dataset, factor: float) -> StatedLaw:
        return averaged_draws(1 / bent, -1 / bent, _share(data), steps, noise / factor, radius)

    known = mechanism.guarantees(n).sharpest.guarantee
    return On(mechanism, _equal(n, 1.0), "sharpest", known, law=law)


def resampled() -> On:
    """The Gaussian mechanism on two records that are drawn from two with replacement."""
    n, stddev = 2, 2 / 3
    oracle = GaussianOracle(stddev)
    solver = PrivateOracleMethod(Problem(Linear(), AllSpace(1)), oracle, CyclicDescent(1, n, 1.0))
    mechanism = EmpiricalToPopulation(solver)
    origin = Corrected(
        "mn25.d2",
        "(6 epsilon, e delta)-DP for a solver that is (epsilon, delta)-DP with epsilon <= 1/6",
        "the mixture over how often a record was drawn, of a solver that is GDP",
        "every number of records",
    )

    def law(data: Dataset, factor: float) -> StatedLaw:
        often = np.arange(n + 1)
        weights = scipy.stats.binom.pmf(often, n, _share(data))
        return normal_mixture(weights, 1 - 2 * often / n, stddev / factor)

    return On(mechanism, _equal(n), "sharpest", origin=origin, law=law)


# ------------------------------------------------------------------------------------------ real size


def _space() -> Problem:
    return Problem(Linear(), AllSpace(real_size.DIMENSION))


def one_batch_at_size() -> On:
    """One message about all records: the Gaussian mechanism itself."""
    n = real_size.SIZE
    mechanism = PrivateOracleMethod(_space(), GaussianOracle(1.2 / n), CyclicDescent(1, n, 1.0))

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        center = -float(np.mean(records @ unit))
        return normal_mixture(1.0, center, 1.2 / (n * factor), statistic=lambda w: w @ unit)

    return real_size.known(mechanism, law)


def descent_at_size() -> On:
    """DP-SGD with all records in each batch, in so large a set that it is never left."""
    n, steps, stddev = real_size.SIZE, 3, 2 / real_size.SIZE
    problem = Problem(Linear(), Ball(real_size.DIMENSION, 1000.0))
    mechanism = DPSGD(problem, 40.0, 0.01, batch_size=n, steps=steps, noise_stddev=stddev, rate=1.0)
    weights = np.arange(steps - 1, 0, -1) / steps

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        center = -float(np.mean(records @ unit)) * weights.sum()
        noise = stddev / factor * math.sqrt(weights @ weights)
        return normal_mixture(1.0, center, noise, statistic=lambda w: w @ unit)

    return real_size.known(mechanism, law)


def phased_sgd_at_size() -> On:
    """One phase of two steps: the first drawn record moves the average by half a step."""
    rate = 0.02
    problem = Problem(Linear(), Ball(real_size.DIMENSION, 10.0))
    mechanism = PhasedSGD(
        problem, 40.0, 0.01, accuracy=5.0, noise_factor=0.0008, phases=1, steps=4.0, rate=4 * rate
    )
    (phase,) = mechanism.schedule(real_size.SIZE)

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        places = -rate / 2 * (records @ unit)
        noise = phase.noise_stddev / factor
        return normal_mixture(1 / len(places), places, noise, statistic=lambda w: w @ unit)

    return real_size.known(mechanism, law)


def phased_erm_at_size() -> On:
    """Two phases, whose minimizers are far inside the set."""
    problem = Problem(Linear(), Ball(real_size.DIMENSION, 1.0))
    mechanism = PhasedERM(problem, 40.0, 0.01, accuracy=1.9, noise_factor=0.0025, phases=2, gap_factor=1e-18)
    return real_size.known(mechanism, partial(_minimizers, mechanism, real_size.SIZE))


def split_at_size() -> On:
    """One run of bst14's Algorithm 1 with one step: a drawn record and noise."""
    mechanism, noise, bent, radius = _one_run(real_size.SIZE, real_size.DIMENSION, 1)

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        stddev = noise / factor
        # a normal vector's length: the steps end in a ball of that radius
        left = float(scipy.stats.chi.sf((radius - 1) / stddev, records.shape[1]))
        places = records @ unit / bent
        return normal_mixture(1 / len(places), places, stddev, error=left, statistic=lambda w: w @ unit)

    return real_size.known(mechanism, law)


def resampled_at_size() -> On:
    """The Gaussian mechanism on as many records, drawn with replacement: noise far below that of the draws."""
    n, stddev = real_size.SIZE, 0.05
    solver = PrivateOracleMethod(_space(), GaussianOracle(stddev), CyclicDescent(1, n, 1.0))
    mechanism = EmpiricalToPopulation(solver)

    def law(records: Any, unit: Any, factor: float) -> StatedLaw:
        return sum_of_draws(-(records @ unit) / n, n, stddev / factor, statistic=lambda w: w @ unit)

    return real_size.known(mechanism, law)
