"""Audits of boosting to high probability (bst14, Appendix D).

Risks are sums over the records.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from dpverify.algorithms.bst14.boosting import Boosting, ForPrivacy
from dpverify.algorithms.bst14.gaussian_output_perturbation import GaussianOutputPerturbation
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNSGD
from dpverify.auditing import Bound, CountQuestion, LawQuestion
from dpverify.auditing.subjects import CountedRuns, LawOf, ValuesOf
from dpverify.problems import Ball, Dataset, Linear, Problem, minimize
from dpverify.running import Runs
from dpverify.statements.audit_parts import (
    BOTH,
    REAL_DATA,
    UniformOn,
    mean_neighbors,
    mean_problem,
    real_problem,
)
from dpverify.statements.bst14.audits.ridge_cases import (
    DELTA,
    DIMENSION,
    EPSILON,
    composed_case,
    first_coordinate,
    mean_of_records,
    ridge_problem,
    stated_risk,
    steep_line,
    worst_case,
)
from dpverify.statements.plans import (
    COUNT,
    LAW,
    MEAN,
    PRIVACY,
    Audit,
    Cases,
    Corrected,
    Plan,
    Profile,
    Unstated,
    along,
)

FAILURE = 0.1
"""rho, the failure probability that boosting is asked for."""


@dataclass(frozen=True)
class RiskAbove:
    """Whether each run's excess total risk is above a bound for certain."""

    problem: Problem
    data: Dataset
    bound: float
    least: float

    def __call__(self, runs: Runs) -> NDArray[np.float64]:
        total = np.asarray(self.problem.total_risk(runs.points, self.data))
        return np.where(total - self.least > self.bound, 1.0, 0.0)


def _boosted(data_name: str) -> tuple[Problem, Dataset, Boosting]:
    """Algorithm 1 on breast cancer, one pass of noisy SGD on diabetes."""
    if data_name == "breast-cancer":
        problem, data = real_problem(data_name, n=12, d=DIMENSION)
        return problem, data, Boosting(NoisyGradientDescent(problem, EPSILON, DELTA), FAILURE)
    problem, data = real_problem(data_name, n=40, d=DIMENSION)
    return problem, data, Boosting(ForPrivacy(PNSGD, problem, EPSILON, DELTA), FAILURE)


def _boosted_mean(epsilon: float) -> Boosting:
    """Output perturbation for a mean, run twice; a fifth of epsilon is for the pick."""
    return Boosting(
        OutputPerturbation(mean_problem(1, 1.0), epsilon), FAILURE, repeats=2, selection_share=0.2
    )


def _boosted_real(data_name: str, profile: Profile) -> Audit:
    """The mean of four real records in one dimension."""
    pair = mean_neighbors(data_name, n=4, d=1)
    return composed_case(_boosted_mean(2.0), pair, "bst14.appD", profile.runs(60_000), BOTH)


def _boosted_line(n: int) -> Boosting:
    """A delta at which little noise is enough, so that some thousand runs show what one step gives away."""
    single = NoisyGradientDescent(Problem(Linear(), Ball(1, 1.0)), 2.0, 0.01)
    return Boosting(single, FAILURE, repeats=2, selection_share=0.2)


def _boosted_pure_line(n: int) -> Boosting:
    return Boosting(OutputPerturbation(steep_line(n), 2.0), FAILURE, repeats=2, selection_share=0.2)


def _boosted_probability(data_name: str, profile: Profile) -> Cases:
    """With probability at least 1 - rho the risk is below the bound."""
    cases = []
    for n in (16, 32, 64):
        problem, data = ridge_problem(data_name, n, 2)
        mechanism = Boosting(OutputPerturbation(problem, 40.0), FAILURE)
        bound = stated_risk(mechanism, n)[0]
        least = n * minimize(problem, data).value.upper
        cases.append(
            (
                Bound(
                    bound=FAILURE,
                    claim=f"rho = {FAILURE:g}, for (2/rho)^(1/k) F + (4 L ||C|| / epsilon) ln(2 k / rho) = {bound:.4g}",
                    data=f"{data.name}, n records, d = 2, output perturbation, epsilon = 40",
                    runs=profile.runs(10_000),
                    size=float(n),
                    origin=Corrected(
                        "bst14.appD",
                        "risk at most poly log(1/rho) times the expected one",
                        "the proof's steps with their constants: Markov's inequality for k runs, and the "
                        "selection's loss",
                        "every rho in (0, 1)",
                    ),
                ),
                ValuesOf(
                    mechanism,
                    data,
                    RiskAbove(problem, data, bound, least),
                    0.0,
                    1.0,
                    "probability that the excess total risk is above the bound, dimensionless",
                ),
            )
        )
    return tuple(cases)


@dataclass(frozen=True)
class _BestOfTwoNormals:
    """Distribution function of the pick from two independent normal numbers, by quadrature on a grid.

    The density is 2 f(x) times the mean of w(x) / (w(x) + w(Y)) over Y, w(x) = exp(-rate (x - mean)^2 / 2).
    """

    mean: float
    stddev: float
    rate: float

    def __call__(self, x: Any) -> NDArray[np.float64]:
        grid = np.linspace(-9, 9, 1801)
        normal = scipy.stats.norm.pdf(grid)
        energy = self.rate * (self.stddev * grid) ** 2 / 2
        ahead = 1 / (1 + np.exp(energy[:, None] - energy[None, :]))
        step = grid[1] - grid[0]
        density = 2 * normal * (ahead @ normal) * step
        # the trapezoidal rule, and its cubic correction within a cell, by interpolation of a smooth function
        below = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2 * step)))
        return np.clip(np.interp((np.asarray(x) - self.mean) / self.stddev, grid, below), 0.0, 1.0)


def _pick_law(profile: Profile) -> Audit:
    """Output perturbation on a line, run twice: the selection must have the law of Algorithm 2 on two points."""
    n = 200
    problem, data = mean_of_records(n, 1)
    # 2 L n x^2 / 2 at rate epsilon' / (2 L ||C||): large enough an epsilon for the pick to matter
    mechanism = Boosting(
        GaussianOutputPerturbation(problem, 40.0, DELTA), 0.5, repeats=2, selection_share=0.95
    )
    single: Any = mechanism.single
    reference = _BestOfTwoNormals(
        float(np.mean(np.asarray(data.features))), single.noise_stddev(n), n * mechanism.selection_rate
    )
    return Audit(
        LawQuestion(
            reference=reference,
            reference_error=1e-4,
            distance="total variation",
            bound=0.0,
            claim="the pick of two has probability proportional to exp(-epsilon' L(theta; D) / (2 L ||C||))",
            statistic_name="the point",
            data=f"mean of {n} records of {data.name}, d = 1",
            runs=profile.runs(20_000),
            origin=Corrected(
                "bst14.appD",
                "the exponential mechanism, with its share of epsilon not stated",
                "the share is 0.95 of epsilon here, so the pick matters",
                "every data set",
            ),
        ),
        LawOf(mechanism, data, first_coordinate, blind=UniformOn(Ball(1, 1.0))),
    )


def _boost_queries(oracle: Any, profile: Profile) -> Audit:
    _, data, mechanism = _boosted("breast-cancer")
    (claimed,) = (one for one in mechanism.queries(data.n) if one.oracle == oracle)
    words = {"value": "k n, for the selection", "gradient": "k (n^2 - 1), for k runs of Algorithm 1"}[oracle]
    return Audit(
        CountQuestion(
            int(claimed.count),
            words,
            data.name,
            oracle=oracle,
            origin=Unstated("the paper counts no queries of this step"),
        ),
        CountedRuns(mechanism, data),
    )


PLANS: tuple[Plan, ...] = (
    *(
        Plan(
            f"bst14.alg-boost/{name}",
            "bst14.alg-boost",
            f"Boosting on {name}",
            PRIVACY,
            partial(_boosted_real, name),
        )
        for name in REAL_DATA
    ),
    Plan(
        "bst14.alg-boost/worst-case",
        "bst14.alg-boost",
        "Boosting, opposite linear losses",
        PRIVACY,
        partial(worst_case, _boosted_line, "bst14.appD", 2, 40_000),
    ),
    Plan(
        "bst14.alg-boost/pure-worst-case",
        "bst14.alg-boost",
        "Boosting of output perturbation, opposite linear losses with a ridge",
        PRIVACY,
        partial(worst_case, _boosted_pure_line, "bst14.appD", 4, 60_000),
    ),
    *(
        Plan(
            f"bst14.alg-boost/{name}/probability",
            "bst14.alg-boost",
            f"Probability that boosting's risk is above its bound on {name}",
            MEAN,
            along(partial(_boosted_probability, name), over="n"),
        )
        for name in REAL_DATA
    ),
    Plan("bst14.alg-boost/law", "bst14.alg-boost", "Law of the pick from two runs", LAW, _pick_law),
    *(
        Plan(
            f"bst14.alg-boost/{oracle}-queries",
            "bst14.alg-boost",
            f"{oracle.capitalize()} queries of boosting",
            COUNT,
            partial(_boost_queries, oracle),
        )
        for oracle in ("value", "gradient")
    ),
)
