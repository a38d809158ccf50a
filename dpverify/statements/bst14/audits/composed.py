"""Localization and boosting of bst14 on pairs and data, which the table's rows audit. Risks are sums over records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.bst14.boosting import Boosting
from dpverify.algorithms.bst14.localization import ApproximateLocalization, Localization
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.bst14.output_perturbation import GaussianOutputPerturbation, OutputPerturbation
from dpverify.ledger.origins import AsPrinted
from dpverify.problems import (
    Ball,
    Dataset,
    Linear,
    Problem,
    Ridge,
    load,
    minimize,
    opposite_linear,
    opposite_neighbor,
)
from dpverify.running import Runs
from dpverify.statements import real_size
from dpverify.statements.audit_parts import (
    made,
    mean_neighbors,
    mean_problem,
    real_problem,
)
from dpverify.statements.audit_rows import Expectation, On, Risk
from dpverify.statements.bst14.audits.cases import Farther, ridge
from dpverify.statements.bst14.audits.laws import DELTA

# ------------------------------------------------------------------------------------------ localization


def sampled_locally(problem: Problem) -> Localization:
    """With Algorithm 2; in a small ball, where twice the budget would be seen, whichever step took it."""
    return Localization(problem, 3.0, zeta=1.1)


def walked_locally(problem: Problem) -> Localization:
    """With Algorithm 7, likewise."""
    return Localization(problem, 3.0, solver="efficient-exponential-sampling", zeta=1.1)


def descended_locally(problem: Problem) -> ApproximateLocalization:
    """With Algorithm 1."""
    return ApproximateLocalization(problem, 3.0, 0.05)


def mean_of_two(make: Callable[[Problem], Any], name: str) -> On:
    """The mean of two real records in one dimension; in the worst case of two equal ones, one of them replaced."""
    if name != "worst-case":
        return On(make(mean_problem(1, 1.0)), mean_neighbors(name, n=2, d=1))
    problem = mean_problem(1, 1.0)
    return On(make(problem), opposite_neighbor(problem.loss, made(np.ones((2, 1)), "two equal records"), 2))


def mean_risk(make: Callable[[Problem], Any], sizes: tuple[int, ...]) -> Iterator[Risk]:
    """Of the mean of n records."""
    for n in sizes:
        mechanism, data = make(mean_problem(2, 1.0)), load("breast-cancer", n=n, d=2)
        said = f"mean of n records of {data.name}, d = {data.d}, epsilon = {mechanism.epsilon:g}"
        yield Risk(mechanism, data, said, float(n))


def outside_ball(
    localize: Callable[[Problem], OutputPerturbation | GaussianOutputPerturbation],
    statement: str,
    choice: str,
    given: str,
) -> Iterator[Expectation]:
    """How often the minimizer is outside of the ball, at sizes where that can be seen."""
    for n in (4, 8, 16):
        problem, data = ridge("breast-cancer", n, 2, 0.5)
        localizer, minimum = localize(problem), minimize(problem, data).point
        yield Expectation(
            localizer,
            data,
            Farther(tuple(minimum.tolist()), localizer.ball_radius(n)),
            0.0,
            1.0,
            "probability that the minimizer is outside of C0, dimensionless",
            n**-3.0,
            f"1/n^3, by {choice}",
            AsPrinted(statement, f"1/n^3 = {n**-3.0:.4g}", choice),
            f"{data.name}, n records, d = 2, {given}",
            size=float(n),
        )


def gamma_ball() -> Iterator[Expectation]:
    """Of output perturbation."""
    make = partial(OutputPerturbation, epsilon=200.0)
    return outside_ball(make, "bst14.lem4.2", "zeta = 3 ln n", "epsilon/2 = 200")


def gaussian_ball() -> Iterator[Expectation]:
    """Of Gaussian output perturbation."""
    make = partial(GaussianOutputPerturbation, epsilon=200.0, delta=DELTA)
    return outside_ball(make, "bst14.thmC.2", "zeta = sqrt(3 ln n) for p >= 2", "epsilon = 200")


def localized_projections() -> tuple[Localization, Dataset]:
    """With Algorithm 2."""
    problem, data = ridge("breast-cancer", 20, 2, 0.5)
    return Localization(problem, 4.0), data


def descended_projections() -> tuple[ApproximateLocalization, Dataset]:
    """With Algorithm 1."""
    problem, data = ridge("breast-cancer", 16, 5, 0.5)
    return ApproximateLocalization(problem, 4.0, DELTA), data


# ------------------------------------------------------------------------------------------ boosting

FAILURE = 0.1
"""rho, the failure probability that boosting is asked for."""


def _twice(single: Any) -> Boosting:
    """Run twice; a fifth of epsilon is for the pick."""
    return Boosting(single, FAILURE, repeats=2, selection_share=0.2)


def boosted_mean(name: str) -> On:
    """Output perturbation for the mean of four real records in one dimension."""
    return On(_twice(OutputPerturbation(mean_problem(1, 1.0), 2.0)), mean_neighbors(name, n=4, d=1))


def boosted_line() -> On:
    """A delta at which little noise is enough, so that some thousand runs show what one step gives away."""
    single = NoisyGradientDescent(Problem(Linear(), Ball(1, 1.0)), 2.0, 0.01)
    return On(_twice(single), opposite_linear(2, 1, 2))


def boosted_pure_line() -> On:
    """Linear losses with a ridge just strong enough to have minimizers on a line that one record moves."""
    ball = Ball(1, 1.0)
    single = OutputPerturbation(Problem(Ridge.on(ball, Linear(), 0.3), ball), 2.0)
    return On(_twice(single), opposite_linear(4, 1, 4))


def boosted_descent() -> tuple[Boosting, Dataset]:
    """Algorithm 1, boosted."""
    problem, data = real_problem("breast-cancer", n=12, d=5)
    return Boosting(NoisyGradientDescent(problem, 4.0, DELTA), FAILURE), data


@dataclass(frozen=True)
class RiskAbove:
    """Whether each run's excess total risk is above a bound for certain."""

    problem: Problem
    data: Dataset
    bound: float
    least: float

    def __call__(self, runs: Runs) -> NDArray[np.float64]:
        """Shape (runs,)."""
        total = np.asarray(self.problem.total_risk(runs.points, self.data))
        return np.where(total - self.least > self.bound, 1.0, 0.0)


def risk_above(mechanism: Boosting, data: Dataset, said: str, size: float = 0.0) -> Expectation:
    """With probability at least 1 - rho the risk is below the bound."""
    problem, stated = mechanism.problem, mechanism.risk_bound(data.n)
    if stated is None or stated.probability is None:
        raise AssertionError("boosting bounds the risk with high probability")
    least = data.n * minimize(problem, data).value.upper
    return Expectation(
        mechanism,
        data,
        RiskAbove(problem, data, stated.bound, least),
        0.0,
        1.0,
        "probability that the excess total risk is above the bound, dimensionless",
        mechanism.failure_probability,
        f"rho = {mechanism.failure_probability:g}, for {stated.formula} = {stated.bound:.4g}",
        stated.origin,
        said,
        size=size,
    )


def boosted_probability(name: str) -> Iterator[Expectation]:
    """On a ridge regression."""
    for n in (16, 32, 64):
        problem, data = ridge(name, n, 2, 0.5)
        mechanism = Boosting(OutputPerturbation(problem, 40.0), FAILURE)
        said = f"{data.name}, n records, d = 2, output perturbation, epsilon = 40"
        yield risk_above(mechanism, data, said, float(n))


# ------------------------------------------------------------------------------------------ real size


def boosted_at_size() -> Iterator[Expectation]:
    """At an epsilon at which the bound is below the largest risk."""
    data = real_size.whole()
    mechanism = Boosting(OutputPerturbation(real_size.mean(), 40.0), FAILURE)
    yield risk_above(
        mechanism, data, f"{data.name}, {data.n} records of {data.d} features, output perturbation"
    )
