"""Samplers, mechanisms and solvers of gll22 on data, which the table's rows audit. Risks are means over the records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy

from dpverify.algorithms.fmtt18 import PNSGD
from dpverify.algorithms.gll22 import (
    AlternatingSampler,
    LinearHardFamily,
    RegularizedExponentialMechanism,
    RejectionInnerStep,
)
from dpverify.algorithms.gll22.linear_hard_family import HardFamilyTrial, MeanMinimizer
from dpverify.algorithms.gll22.regularized_density import RegularizedDensity
from dpverify.ledger.origins import Corrected, Origin, Unstated
from dpverify.problems import AllSpace, Ball, Dataset, Linear, Problem, load
from dpverify.running import Output, Randomness, Runs
from dpverify.statements import real_size
from dpverify.statements.audit_parts import (
    GaussianPair,
    by_trapezoids,
    first_coordinate,
    linear_pair,
    made,
    real_problem,
)
from dpverify.statements.audit_rows import Expectation, Law, On, OnLinear, ReadOff, Risks

SIZE, ACCURACY = 8, 0.01
EPSILON, DELTA = 1.0, 1e-3


# ------------------------------------------------------------------------------------------ reference laws


@dataclass(frozen=True)
class GaussianFromNowhere:
    """A Gaussian target without its losses: normal points about the origin, which look at no record."""

    stddev: float

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Points of shape (runs, d)."""
        return Output(self.stddev * rng.normal((runs, data.d), "blind point"))


def line_law(
    density: RegularizedDensity, data: Dataset, quadratic: float = 0.0, about: float = 0.0
) -> Callable[[Any], Any]:
    """The density's distribution function on the interval [-1, 1], with another quadratic term if there is one.

    Trapezoids on 20 001 points, error below 1e-6.
    """
    grid = np.linspace(-1.0, 1.0, 20_001)
    risk = np.asarray(density.problem.mean_risk(grid[:, None], data))
    pull = density.regularization / 2 * (grid - density.anchor_point[0]) ** 2
    values = -(density.inverse_temperature * (risk + pull)) - quadratic / 2 * (grid - about) ** 2
    return by_trapezoids(grid, np.exp(values - values.max()))


def plane_law(density: RegularizedDensity, data: Dataset) -> Callable[[Any], Any]:
    """Distribution function of the first coordinate on the unit disc: Gauss-Legendre across, trapezoids along."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    first = np.linspace(-1.0, 1.0, 401)
    half = np.sqrt(np.maximum(1 - first**2, 0.0))
    pairs = np.stack([np.repeat(first, nodes.size), np.outer(half, nodes).ravel()], axis=1)
    risk = np.asarray(density.problem.mean_risk(pairs, data))
    pull = density.regularization / 2 * np.sum((pairs - np.asarray(density.anchor_point)) ** 2, axis=1)
    values = -density.inverse_temperature * (risk + pull)
    inner = np.exp(values - values.max()).reshape(first.size, nodes.size) @ weights * half
    return by_trapezoids(first, inner)


# ------------------------------------------------------------------------------------------ the samplers


def counted_values(mechanism: Any, data: Dataset, said: str, cut: float) -> Iterator[Expectation]:
    """Value queries of each run, cut off at a highest number so that they are bounded by proof.

    Cutting off only lowers the expectation, so an upper bound on it stays one.
    """
    (stated,) = mechanism.queries(data.n)
    highest = cut * stated.count

    def counted(runs: Runs) -> Any:
        return np.minimum(np.asarray(runs.value_queries, dtype=np.float64), highest)

    reading = ReadOff(counted, 0.0, highest, f"value queries per run, cut off at {cut:g} times the bound")
    yield Expectation(mechanism, data, reading, stated.count, stated.formula, stated.origin, said)


def sampler_law(name: str) -> Law:
    d = {"breast-cancer": 2, "diabetes": 1}[name]
    problem, data = real_problem(name, n=SIZE, d=d)
    sampler = AlternatingSampler(problem, 1.0 if name == "breast-cancer" else 0.5, 1.0, ACCURACY)
    reference = line_law(sampler.density, data) if d == 1 else plane_law(sampler.density, data)
    words, said = f"first coordinate of {d}", f"{name}, n = {SIZE}"
    return Law(sampler, data, first_coordinate, words, reference, 1e-3, said)


def gaussian_law() -> Law:
    """Linear losses on all space in ten dimensions: the target is a Gaussian with known mean and variance."""
    data = load("diabetes", n=SIZE)
    sampler = AlternatingSampler(Problem(Linear(), AllSpace(data.d)), 1.0, 1.0, ACCURACY)
    found = sampler.density.gaussian(data)
    assert found is not None
    mean, stddev = found
    words, said = f"first coordinate of {data.d}", f"{data.name}, n = {SIZE}, linear losses"
    reference, blind = scipy.stats.norm(mean[0], stddev).cdf, GaussianFromNowhere(stddev)
    return Law(sampler, data, first_coordinate, words, reference, 0.0, said, blind)


def sampler_queries() -> Iterator[Expectation]:
    problem, data = real_problem("breast-cancer", n=SIZE, d=10)
    sampler = AlternatingSampler(problem, 4.0, 10.0, ACCURACY)
    return counted_values(sampler, data, "breast-cancer, d = 10", 2.0)


def inner_step(name: str, d: int, *point: Any) -> tuple[RejectionInnerStep, Dataset]:
    problem, data = real_problem(name, n=SIZE, d=d)
    return RejectionInnerStep(problem, 2.0 if name == "breast-cancer" else 1.0, 1.0, 0.005, *point), data


def step_queries(name: str) -> Iterator[Expectation]:
    return counted_values(*inner_step(name, 10), f"{name}, d = 10", 10.0)


def step_law(name: str) -> Law:
    step, data = inner_step(name, 1, (0.9,))
    reference = line_law(step.density, data, 1 / step.step_size, 0.9)
    said = f"{name}, n = {SIZE}"
    return Law(step, data, first_coordinate, "the only coordinate", reference, 1e-6, said)


# ------------------------------------------------------------------------------------------ the mechanism


def _gaussian_mechanism(n: int, d: int, name: str) -> On:
    """Linear losses on all space: two Gaussians, for which Theorem 2.1 is tight."""
    pair = linear_pair(name, n, d)
    problem = Problem(pair.loss, AllSpace(d))
    mechanism = RegularizedExponentialMechanism(problem, EPSILON, DELTA, regularization=1.0)
    tuned = mechanism.tuned(n)
    spread = math.sqrt(tuned.inverse_temperature / tuned.regularization)
    return On(mechanism, pair, said="; on all space", exact=GaussianPair(pair.gradient_distance * spread / n))


mechanism = partial(_gaussian_mechanism, 4, 2)
worst_mechanism = partial(_gaussian_mechanism, SIZE, 1)


def sampled_mechanism() -> On:
    """The density sampled by Algorithm 1, its total variation paid for in delta.

    A Gaussian far inside the set, of which the two data sets have nearly all that Theorem 6.2 allows. Of linear losses
    nothing is left to estimate, so that what is seen is the alternation and its Gaussians.
    """
    epsilon, delta = 0.7, 0.05
    pair = linear_pair("breast-cancer", 1)
    mechanism = RegularizedExponentialMechanism(
        Problem(pair.loss, Ball(1, 1.0)), epsilon, delta, regularization=12.0, sampler="alternating"
    )
    said = "; alternating sampler, which of linear losses has nothing left to estimate"
    return On(mechanism, pair, said=said, delta=delta)


def labeled_linear(name: str, *, n: int | None, d: int) -> tuple[Problem, Dataset]:
    """Linear losses on the unit ball."""
    return Problem(Linear(labeled=True), Ball(d, 1.0)), load(name, n=n, d=d)


mechanism_risk = Risks(
    lambda p, n: RegularizedExponentialMechanism(p, EPSILON, DELTA), (SIZE, 4 * SIZE, 16 * SIZE), 2
)
# Theorem 6.8 with a data set as the population
population_risk = Risks(
    lambda p, n: RegularizedExponentialMechanism(p, EPSILON, DELTA, tuning="sco"),
    (SIZE, 4 * SIZE, 16 * SIZE),
    5,
    on=labeled_linear,
    samples=", linear losses, d = 5",
)


def mechanism_queries() -> tuple[RegularizedExponentialMechanism, Dataset]:
    data = load("diabetes", n=SIZE)
    problem = Problem(Linear(), Ball(data.d, 1.0))
    return RegularizedExponentialMechanism(problem, EPSILON, DELTA, tuning="erm"), data


def mechanism_law(name: str) -> Law:
    problem, data = real_problem(name, n=4 * SIZE, d=2)
    mechanism = RegularizedExponentialMechanism(problem, 2 * EPSILON, DELTA)
    reference, said = plane_law(mechanism.density(data.n), data), f"{name}, n = {data.n}"
    return Law(mechanism, data, first_coordinate, "first coordinate of two", reference, 1e-3, said)


# ------------------------------------------------------------------------------------------ the hard family

FEATURES, TRIED = 5, (2, 8, 32)
"""Features, and records in an instance; an algorithm that reads them whole sees d values of each."""
SOLVERS = {
    "mean": "the exact minimizer of the empirical risk",
    "private-mean": "the minimizer from a noisy mean",
    "pnsgd": "PNSGD",
}


def _tried(
    name: str, family: LinearHardFamily, n: int, said: str, population: Dataset | None = None
) -> Expectation:
    """A solver on the family, or where the population is a data set with random signs: no bound is proved there."""
    radius, delta, shortened = family.diameter / 2, 1e-5, math.inf
    if name == "mean":
        solver: Any = MeanMinimizer(radius, math.inf, 0.0, withdraw_guarantee=True)
    elif name == "private-mean":
        solver = MeanMinimizer.for_privacy(n=n, epsilon=1.0, delta=delta, radius=radius, clip=1.0)
    else:
        solver, shortened = PNSGD.for_privacy(family.problem, n=n, epsilon=1.0, delta=delta), 1.0
    trial = HardFamilyTrial(family, solver, n, "data" if population else "gaussian", shortened)
    data = population or made(np.zeros((1, family.dimension)), "none: Gaussian records")
    largest, quantity = trial.largest_excess, "expected excess population risk, over the family"
    bound, claim = family.lower_bound, "at least G D / (16 sqrt(1 + 4 k / d)), as the proof gives, k = n d"
    origin: Origin = Corrected(
        "gll22.thm7.1",
        "Omega(G D sqrt(min(1, d / k)))",
        "the constant 1/16 and the form of the root are what the proof gives",
        "every k and d",
    )
    if population:
        largest = family.diameter * float(np.linalg.norm(np.asarray(population.features).mean(axis=0)))
        quantity = "expected excess population risk"
        claim = f"none is proved; the Gaussian family with records as large has at least {bound:.4g}"
        bound, origin = -math.inf, Unstated("no bound is proved on such a population")

    def excesses(runs: Runs) -> Any:
        """One an instance; rounding may have taken them below 0."""
        return np.maximum(np.asarray(runs.points), 0.0)

    reading = ReadOff(excesses, 0.0, largest, quantity, block_size=1)
    return Expectation(trial, data, reading, bound, claim, origin, said, float(n), at_least=True)


def _instances(name: str, n: int, d: int, said: str) -> Expectation:
    """The family whose separation fits the number of values that the solver sees."""
    return _tried(name, LinearHardFamily(d, n * d), n, said)


def tried(name: str) -> Iterator[Expectation]:
    for n in TRIED:
        yield _instances(name, n, FEATURES, f"Gaussian records about random signs, {SOLVERS[name]}")


def tried_on_data(data_name: str, name: str) -> Iterator[Expectation]:
    """The same solvers where the population is a data set with random signs."""
    data = load(data_name, d=FEATURES)
    size = float(np.sqrt(np.mean(np.sum(np.asarray(data.features) ** 2, axis=1))))
    said = f"{data.name} as the population, with random signs, {SOLVERS[name]}"
    for n in TRIED:
        yield _tried(name, LinearHardFamily(FEATURES, n * FEATURES, size), n, said, data)


noisy_mean = OnLinear(
    lambda p, n: MeanMinimizer.for_privacy(n=n, epsilon=2.0, delta=1e-3, radius=1.0, clip=1.0),
    2,
    2,
    "headline",
)


def seen() -> tuple[HardFamilyTrial, Dataset]:
    case = _instances("mean", TRIED[-1], FEATURES, "")
    return case.mechanism, case.data


# ------------------------------------------------------------------------------------------ real size

N, D = real_size.SIZE, real_size.DIMENSION
WHERE = f"breast-cancer, {N} records of {D} features"


mechanism_at_size = real_size.risk(
    lambda: RegularizedExponentialMechanism(real_size.logistic(), 1.0, 1e-2, sampler="alternating")
)


def _sampler_of_size(problem: Problem) -> AlternatingSampler:
    return AlternatingSampler(problem, 4.0, 10.0, 0.05)


def _step_of_size(problem: Problem) -> RejectionInnerStep:
    return RejectionInnerStep(problem, 4.0, 1.0, 0.001)


sampler_risk_at_size = real_size.risk(lambda: _sampler_of_size(real_size.linear()), real_size.equal)
step_risk_at_size = real_size.risk(lambda: _step_of_size(real_size.linear()), real_size.equal)


def sampler_at_size() -> Iterator[Expectation]:
    return counted_values(_sampler_of_size(real_size.logistic()), real_size.whole(), WHERE, 2.0)


def step_at_size() -> Iterator[Expectation]:
    return counted_values(_step_of_size(real_size.logistic()), real_size.whole(), WHERE, 10.0)


def family_at_size() -> Iterator[Expectation]:
    """The minimizer of the sampled risk, on as many records of as many features, once an instance."""
    said = f"{N} Gaussian records about {D} random signs, the minimizer of the sampled risk"
    yield replace(_instances("mean", N, D, said), size=0.0)
