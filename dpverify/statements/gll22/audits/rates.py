"""What gll22 hides in O( ) and Theta( ): steps and values that are proved to be enough, and Remark 6.10's risk."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
import scipy

from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler, schedule
from dpverify.algorithms.gll22.linear_hard_family import LinearHardFamily
from dpverify.algorithms.gll22.regularized_density import RegularizedDensity
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.algorithms.gll22.rejection_inner_step import QUERIES_A_ROUND, InnerKernel, inner_queries
from dpverify.auditing.confidence import betting_interval
from dpverify.problems import Ball, Dataset, Linear, Logistic, Problem
from dpverify.running import Randomness
from dpverify.statements.bst14.audits.rates import cone_excess
from dpverify.statements.hidden_constants import LEVEL, RateAt, Rates, bound_of, counted, size


def sampler_steps() -> Iterator[RateAt]:
    """Of Theorem 5.6 on a unit ball, with mu and G of the density, where G^2 >= mu."""
    for d in (1, 10, 1000):
        for temperature in (1.0, 10.0, 1000.0):
            for regularization in (0.01, 0.1, 1.0):
                density = RegularizedDensity(Problem(Logistic(), Ball(d, 1.0)), temperature, regularization)
                slope, curvature = density.lipschitz_constant, density.strong_convexity
                for accuracy in (1e-2, 1e-6):
                    spread = slope**2 * (d / curvature + density.mode_distance**2) / accuracy
                    rate = slope**2 / curvature * math.log(spread) ** 2
                    if slope**2 >= curvature:
                        at = {"d": d, "k": temperature, "mu": regularization, "delta": accuracy}
                        yield size(rate, schedule(density, accuracy).steps, **at)


def values_a_step() -> Iterator[RateAt]:
    """In expectation, of the whole sampler over its steps; counted on linear losses in seeded runs."""
    delta = 0.1
    sampler = AlternatingSampler(Problem(Linear(), Ball(2, 1.0)), 2.0, 1.0, accuracy=delta)
    (stated,), steps = sampler.queries(5), sampler.schedule.steps
    yield size(1.0, stated.count / steps, _counted(sampler, 5, 2, 200) / steps, delta=delta)


def samples_a_step() -> Iterator[RateAt]:
    """Two an attempt, in expectation; attempts from the set's center are counted on linear losses."""
    delta, runs = 0.1, 20_000
    sampler = AlternatingSampler(Problem(Linear(), Ball(2, 1.0)), 2.0, 1.0, accuracy=delta)
    chosen = sampler.schedule
    kernel = InnerKernel(
        sampler.density, chosen.step_size, Dataset(np.tile(np.eye(1, 2), (5, 1)), np.ones(5)), np
    )
    # in every fourth turn all proposals are in the set
    _, accepted, _ = kernel.attempt(np.zeros((runs, 2)), 3, Randomness(0))
    often = betting_interval(np.asarray(accepted, dtype=np.float64), 0.0, 1.0, LEVEL).upper
    proved = inner_queries(chosen.truncation / chosen.steps) / QUERIES_A_ROUND * 2
    yield size(1.0, proved, 2 / often, delta=delta)


def inner_steps() -> Iterator[RateAt]:
    """The step that is chosen, over 1 / (G^2 log(T / delta))."""
    for d in (1, 10, 1000):
        for temperature in (10.0, 1000.0):
            density = RegularizedDensity(Problem(Logistic(), Ball(d, 1.0)), temperature, 0.1)
            for delta in (1e-6, 1e-2):
                chosen, slope = schedule(density, delta), density.lipschitz_constant
                rate = 1 / (slope**2 * math.log(chosen.steps / delta))
                yield counted(rate, chosen.step_size, d=d, k=temperature, delta=delta)


def mechanism_queries(tuning: Literal["erm", "sco"], *, least: bool, with_epsilon: bool) -> Iterator[RateAt]:
    """Without the expansion of the losses; epsilon <= ln(1/delta). Values are counted in seeded runs on few records."""
    some = itertools.product((100, 10_000), (3, 100), (0.1, 1.0), (1e-6, 1e-3))
    for n, d, epsilon, delta in ((30, 3, 0.1, 1e-3), *some):
        mechanism = RegularizedExponentialMechanism(
            Problem(Logistic(), Ball(d, 1.0)), epsilon, delta, sampler="alternating", tuning=tuning
        )
        sampler = replace(mechanism.alternating_sampler(n), expanded=False)
        (stated,) = sampler.queries(n)
        whole = (epsilon * n) ** 2 / math.log(1 / delta)
        logarithm = math.log(n * d * (epsilon if with_epsilon else 1.0) / delta)
        rate = (min(whole, n * d) if least else whole) * logarithm**2
        made = _counted(sampler, n, d, 200) if n < 100 else None
        yield size(rate, stated.count, made, n=n, d=d, epsilon=epsilon, delta=delta)


def _counted(sampler: AlternatingSampler, n: int, d: int, runs: int) -> float:
    """A low end for the mean number of values of a run on equal records; more than twice the bound counts as that."""
    data = Dataset(np.tile(np.eye(1, d), (n, 1)), np.ones(n))
    values = np.asarray(sampler(data, rng=Randomness(0), runs=runs).value_queries)
    (stated,) = sampler.queries(n)
    most = 2 * float(stated.count)
    return betting_interval(np.minimum(values, most), 0.0, most, LEVEL).lower


def large_epsilon() -> Iterator[RateAt]:
    """The printed bound over its order for epsilon >= ln(1/delta), where both are formulas."""
    for delta in (1e-9, 1e-5, 0.1):
        for factor in (1.0, 10.0, 1e6):
            logarithm = math.log(1 / delta)
            epsilon = factor * logarithm
            printed = 1 / (math.sqrt(logarithm + epsilon) - math.sqrt(logarithm))
            yield counted(1 / math.sqrt(epsilon), printed, delta=delta, epsilon=epsilon)


def population_risk() -> Iterator[RateAt]:
    """Remark 6.10, D the radius. Of L times a distance to the center, by its law; the set's center is the anchor."""
    for n in (100, 1000, 10_000):
        for d in (1, 10, 100):
            problem, epsilon, delta = Problem(Linear(), Ball(d, 1.0)), 1.0, 1e-5
            mechanism = RegularizedExponentialMechanism(problem, epsilon, delta, tuning="sco")
            stated, (k, mu, _) = bound_of(mechanism.risk_bound(n)), mechanism.tuned(n)
            logarithm = math.log(1 / delta)
            private = math.sqrt(d) / n / (math.sqrt(logarithm + epsilon) - math.sqrt(logarithm))
            # exp(-k (r + mu r^2 / 2)) r^(d - 1) on [0, 1] is no closer to 0 than with the slope 1 + mu
            attained = cone_excess(k * (1 + mu), d, 1.0)
            yield size(private + 1 / math.sqrt(n), stated, attained, n=n, d=d, epsilon=epsilon)


_HARD = ((100, 1), (1000, 10), (10_000, 100))


def allowed_values() -> Iterator[RateAt]:
    """The number that is taken below."""
    for n, d in _HARD:
        most = min(n**2 / math.log(1e5), n * d)
        yield counted(most, math.floor(most), n=n, d=d, epsilon=1.0)


def population_lower_bound() -> Iterator[RateAt]:
    """Theorem 7.1's family, given that records are no longer than r, of which G is r.

    A record is longer with probability q. The values are of k records at most; but for k q times the largest excess,
    the mean excess is that of the family. Along v the mean of short records is less by the root of q times the second
    moment, at most. What is attained: the minimizer on floor(k / d) records, read whole, or the set's center.
    """
    for n, d in _HARD:
        values = math.floor(min(n**2 / math.log(1e5), n * d))
        family = LinearHardFamily(d, values)
        stddev, along, proved = family.record_stddev, family.separation * math.sqrt(d), 0.0
        for length in np.sqrt(1 + np.geomspace(0.1, 100, 200) / d):
            q = float(scipy.stats.ncx2.sf((length / stddev) ** 2, d, (along / stddev) ** 2))
            short = family.lower_bound - values * q * 2 * -family.minimum
            share = 1 - math.sqrt(q * (along**2 + stddev**2)) / along
            proved = max(proved, short * share / float(length) if min(short, share) > 0 else 0.0)
        rate = (
            2 / math.sqrt(1 + math.log(n) / d) * min(math.sqrt(math.log(1e5) * d) / n + 1 / math.sqrt(n), 1)
        )
        yield size(rate, proved, min(1.0, 2 / math.sqrt(max(values // d, 1))), n=n, d=d, epsilon=1.0)


RATES: Rates = {
    ("gll22.thm1.2", "statement, inline 5"): partial(
        mechanism_queries, "erm", least=False, with_epsilon=False
    ),
    ("gll22.thm1.3", "statement, inline 5"): partial(
        mechanism_queries, "sco", least=True, with_epsilon=False
    ),
    ("gll22.thm5.6", "Theorem 2.3, 1st display"): sampler_steps,
    ("gll22.thm5.6", "statement, 1st display"): sampler_steps,
    ("gll22.thm5.6", "Theorem 2.3, inline 5"): values_a_step,
    ("gll22.thm5.6", "statement, inline 6"): values_a_step,
    ("gll22.lem5.5", "statement, inline 3"): values_a_step,
    ("gll22.thm5.6", "Theorem 2.3, inline 6"): samples_a_step,
    ("gll22.thm5.6", "statement, inline 7"): samples_a_step,
    ("gll22.lem5.5", "statement, inline 4"): samples_a_step,
    ("gll22.thm5.6", "Theorem 2.3, inline 7"): inner_steps,
    ("gll22.thm6.4", "statement, inline 8"): large_epsilon,
    ("gll22.thm6.4", "statement, 1st display"): partial(
        mechanism_queries, "erm", least=False, with_epsilon=True
    ),
    ("gll22.thm6.9", "statement, 2nd display"): partial(
        mechanism_queries, "sco", least=True, with_epsilon=True
    ),
    ("gll22.rem6.10", "statement, inline 2"): population_risk,
    ("gll22.cor7.6", "statement, inline 1"): allowed_values,
    ("gll22.cor7.6", "statement, 1st display"): population_lower_bound,
}
