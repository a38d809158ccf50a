"""Samplers, mechanisms and solvers of gll22 on data, which the table's rows audit. Risks are means over the records."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNSGD
from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler
from dpverify.algorithms.gll22.linear_hard_family import HardFamilyTrial, LinearHardFamily, MeanMinimizer
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.algorithms.gll22.rejection_inner_step import RejectionInnerStep
from dpverify.ledger.origins import Corrected, Unstated
from dpverify.problems import AllSpace, Ball, Dataset, Linear, Problem, load
from dpverify.running import Runs
from dpverify.statements import real_size
from dpverify.statements.audit_parts import (
    GaussianPair,
    PointCoordinate,
    UniformOn,
    linear_neighbors,
    linear_pair,
    made,
    real_problem,
)
from dpverify.statements.audit_rows import (
    Expectation,
    Law,
    On,
    Risk,
)
from dpverify.statements.gll22.audits.laws import GaussianFromNowhere, line_law, plane_law

SIZE, ACCURACY = 8, 0.01
EPSILON, DELTA = 1.0, 1e-3


# ------------------------------------------------------------------------------------------ the samplers


@dataclass(frozen=True)
class CountedValues:
    """Value queries of each run, cut off at a highest number so that they are bounded by proof.

    Cutting off only lowers the expectation, so an upper bound on it stays one.
    """

    highest: float

    def __call__(self, found: Any) -> Any:
        """From runs to numbers (runs,)."""
        return np.minimum(np.asarray(found.value_queries, dtype=np.float64), self.highest)


def counted_values(mechanism: Any, data: Dataset, said: str, cut: float) -> Iterator[Expectation]:
    (stated,) = mechanism.queries(data.n)
    highest = cut * stated.count
    quantity = f"value queries per run, cut off at {cut:g} times the bound"
    counted = (CountedValues(highest), 0.0, highest, quantity)
    yield Expectation(mechanism, data, *counted, stated.count, stated.formula, stated.origin, said)


def sampler_law(name: str) -> Law:
    d = {"breast-cancer": 2, "diabetes": 1}[name]
    problem, data = real_problem(name, n=SIZE, d=d)
    sampler = AlternatingSampler(problem, 1.0 if name == "breast-cancer" else 0.5, 1.0, ACCURACY)
    reference = line_law(sampler.density, data) if d == 1 else plane_law(sampler.density, data)
    words, said, blind = f"first coordinate of {d}", f"{name}, n = {SIZE}", UniformOn(problem.constraint)
    return Law(sampler, data, PointCoordinate(0), words, reference, 1e-3, said, blind)


def gaussian_law() -> Law:
    """Linear losses on all space in ten dimensions: the target is a Gaussian with known mean and variance."""
    data = load("diabetes", n=SIZE)
    sampler = AlternatingSampler(Problem(Linear(), AllSpace(data.d)), 1.0, 1.0, ACCURACY)
    found = sampler.density.gaussian(data)
    assert found is not None
    mean, stddev = found
    words, said = f"first coordinate of {data.d}", f"{data.name}, n = {SIZE}, linear losses"
    reference = scipy.stats.norm(mean[0], stddev).cdf
    return Law(sampler, data, PointCoordinate(0), words, reference, 0.0, said, GaussianFromNowhere(stddev))


def sampler_queries() -> Iterator[Expectation]:
    problem, data = real_problem("breast-cancer", n=SIZE, d=10)
    return counted_values(
        AlternatingSampler(problem, 4.0, 10.0, ACCURACY), data, "breast-cancer, d = 10", 2.0
    )


def inner_step(name: str, d: int, *point: Any) -> tuple[RejectionInnerStep, Dataset]:
    problem, data = real_problem(name, n=SIZE, d=d)
    return RejectionInnerStep(problem, 2.0 if name == "breast-cancer" else 1.0, 1.0, 0.005, *point), data


def step_queries(name: str) -> Iterator[Expectation]:
    return counted_values(*inner_step(name, 10), f"{name}, d = 10", 10.0)


def step_law(name: str) -> Law:
    step, data = inner_step(name, 1, (0.9,))
    reference, blind = (
        line_law(step.density, data, 1 / step.step_size, 0.9),
        UniformOn(step.problem.constraint),
    )
    said = f"{name}, n = {SIZE}"
    return Law(step, data, PointCoordinate(0), "the only coordinate", reference, 1e-6, said, blind)


# ------------------------------------------------------------------------------------------ the mechanism


def gaussian_mechanism(n: int, d: int, name: str) -> On:
    """Linear losses on all space: two Gaussians, for which Theorem 2.1 is tight."""
    pair = linear_pair(name, n, d)
    problem = Problem(pair.loss, AllSpace(d))
    mechanism = RegularizedExponentialMechanism(problem, EPSILON, DELTA, regularization=1.0)
    tuned = mechanism.tuned(n)
    spread = math.sqrt(tuned.inverse_temperature / tuned.regularization)
    return On(mechanism, pair, said="; on all space", exact=GaussianPair(pair.gradient_distance * spread / n))


def sampled_mechanism() -> On:
    """The density sampled by Algorithm 1, its total variation paid for in delta.

    A Gaussian far inside the set, of which the two data sets have nearly all that Theorem 6.2 allows. Of linear losses
    nothing is left to estimate, so that what is seen is the alternation and its Gaussians.
    """
    epsilon, delta = 0.7, 0.05
    pair = linear_neighbors("breast-cancer", n=1, d=1)
    problem = Problem(pair.loss, Ball(1, 1.0))
    mechanism = RegularizedExponentialMechanism(
        problem, epsilon, delta, regularization=12.0, sampler="alternating"
    )
    said = "; alternating sampler, which of linear losses has nothing left to estimate"
    return On(mechanism, pair, said=said, delta=delta)


def mechanism_risk(name: str) -> Iterator[Risk]:
    for n in (SIZE, 4 * SIZE, 16 * SIZE):
        problem, data = real_problem(name, n=n, d=2)
        mechanism = RegularizedExponentialMechanism(problem, EPSILON, DELTA)
        yield Risk(mechanism, data, f"{name}, n records, d = 2", float(n))


def population_risk() -> Iterator[Risk]:
    """Theorem 6.8 with a data set as the population."""
    data, problem = load("breast-cancer", d=5), Problem(Linear(labeled=True), Ball(5, 1.0))
    said = f"{data.name} as the population, samples of n records, linear losses, d = 5"
    for n in (SIZE, 4 * SIZE, 16 * SIZE):
        mechanism = RegularizedExponentialMechanism(problem, EPSILON, DELTA, tuning="sco")
        yield Risk(mechanism, data, said, float(n), n)


def mechanism_law(name: str) -> Law:
    problem, data = real_problem(name, n=4 * SIZE, d=2)
    mechanism = RegularizedExponentialMechanism(problem, 2 * EPSILON, DELTA)
    reference, blind = plane_law(mechanism.density(data.n), data), UniformOn(problem.constraint)
    said = f"{name}, n = {data.n}"
    return Law(mechanism, data, PointCoordinate(0), "first coordinate of two", reference, 1e-3, said, blind)


def gaussian_on_ball() -> tuple[RegularizedExponentialMechanism, Dataset]:
    data = load("diabetes", n=SIZE)
    problem = Problem(Linear(), Ball(data.d, 1.0))
    return RegularizedExponentialMechanism(problem, EPSILON, DELTA, tuning="erm"), data


# ------------------------------------------------------------------------------------------ the hard family

FAMILY = "gll22.lower-instance"
FEATURES, TRIED = 5, (2, 8, 32)
"""Features, and records in an instance; an algorithm that reads them whole sees d values of each."""
SOLVERS = {
    "mean": "the exact minimizer of the empirical risk",
    "private-mean": "the minimizer from a noisy mean",
    "pnsgd": "PNSGD",
}
LOWER = Corrected(
    "gll22.thm7.1",
    "Omega(G D sqrt(min(1, d / k)))",
    "the constant 1/16 and the form of the root are what the proof gives",
    "every k and d",
)


def _solver(name: str, family: LinearHardFamily, n: int) -> tuple[Any, float]:
    """A solver, and the norm to which it needs records to be shortened."""
    radius, delta = family.diameter / 2, 1e-5
    if name == "mean":
        return MeanMinimizer(radius, math.inf, 0.0, withdraw_guarantee=True), math.inf
    if name == "private-mean":
        return MeanMinimizer.for_privacy(n=n, epsilon=1.0, delta=delta, radius=radius, clip=1.0), math.inf
    return PNSGD.for_privacy(family.problem, n=n, epsilon=1.0, delta=delta), 1.0


def excesses(runs: Runs) -> Any:
    """Excess risks, one an instance; rounding may have taken them below 0."""
    return np.maximum(np.asarray(runs.points), 0.0)


def _instances(name: str, n: int, d: int, said: str) -> Expectation:
    """The family whose separation fits the number of values that the solver sees."""
    family = LinearHardFamily(d, n * d)
    solver, clip = _solver(name, family, n)
    trial = HardFamilyTrial(family, solver, n, clip=clip)
    return Expectation(
        trial,
        made(np.zeros((1, d)), "none: Gaussian records"),
        excesses,
        0.0,
        trial.largest_excess,
        "expected excess population risk, over the family",
        family.lower_bound,
        "at least G D / (16 sqrt(1 + 4 k / d)), as the proof gives, k = n d",
        LOWER,
        said,
        at_least=True,
        block_size=1,
        size=float(n),
    )


def tried(name: str) -> Iterator[Expectation]:
    for n in TRIED:
        yield _instances(name, n, FEATURES, f"Gaussian records about random signs, {SOLVERS[name]}")


def tried_on_data(data_name: str, name: str) -> Iterator[Expectation]:
    """The same solvers where the population is a data set with random signs; no bound is proved there."""
    data = load(data_name, d=FEATURES)
    features = np.asarray(data.features)
    size = float(np.sqrt(np.mean(np.sum(features**2, axis=1))))
    for n in TRIED:
        family = LinearHardFamily(FEATURES, n * FEATURES, size)
        solver, clip = _solver(name, family, n)
        yield Expectation(
            HardFamilyTrial(family, solver, n, "data", clip),
            data,
            excesses,
            0.0,
            family.diameter * float(np.linalg.norm(features.mean(axis=0))),
            "expected excess population risk",
            -math.inf,
            f"none is proved; the Gaussian family with records as large has at least {family.lower_bound:.4g}",
            Unstated("no bound is proved on such a population"),
            f"{data.name} as the population, with random signs, {SOLVERS[name]}",
            at_least=True,
            block_size=1,
            size=float(n),
        )


def noisy_mean(name: str) -> On:
    solver = MeanMinimizer.for_privacy(n=2, epsilon=2.0, delta=1e-3, radius=1.0, clip=1.0)
    return On(solver, linear_neighbors(name, n=2, d=2))


def seen() -> tuple[HardFamilyTrial, Dataset]:
    case = _instances("mean", TRIED[-1], FEATURES, "")
    return case.mechanism, case.data


# ------------------------------------------------------------------------------------------ real size

N, D = real_size.SIZE, real_size.DIMENSION
WHERE = f"breast-cancer, {N} records of {D} features"


def sampler_at_size() -> Iterator[Expectation]:
    return counted_values(
        AlternatingSampler(real_size.logistic(), 4.0, 10.0, 0.05), real_size.whole(), WHERE, 2.0
    )


def step_at_size() -> Iterator[Expectation]:
    return counted_values(
        RejectionInnerStep(real_size.logistic(), 4.0, 1.0, 0.001), real_size.whole(), WHERE, 10.0
    )


def family_at_size() -> Iterator[Expectation]:
    """The minimizer of the sampled risk, on as many records of as many features, once an instance."""
    said = f"{N} Gaussian records about {D} random signs, the minimizer of the sampled risk"
    yield replace(_instances("mean", N, D, said), size=0.0)


def mechanism_at_size() -> RegularizedExponentialMechanism:
    return RegularizedExponentialMechanism(real_size.logistic(), 1.0, 1e-2, sampler="alternating")
