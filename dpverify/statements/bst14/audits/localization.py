"""Audits of localization, pure (bst14, Algorithm 4) and approximate (Appendix C).

Risks are sums over the records.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy
from flint import arb
from numpy.typing import NDArray

from dpverify.algorithms.bst14.gaussian_output_perturbation import (
    PRINTED_CONSTANT,
    GaussianOutputPerturbation,
)
from dpverify.algorithms.bst14.localization import ApproximateLocalization, Localization
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.auditing import Bound, ConstantQuestion, CountQuestion, LawQuestion
from dpverify.auditing.subjects import CountedRuns, LawOf, RiskOf, ValuesOf
from dpverify.problems import Ball, Dataset, NeighborPair, Problem, minimize, opposite_neighbor
from dpverify.running import Runs
from dpverify.statements.audit_parts import (
    BOTH,
    REAL_DATA,
    UniformOn,
    gaussian_delta,
    mean_neighbors,
    mean_problem,
    sign_change,
)
from dpverify.statements.bst14.audits.ridge_cases import (
    DELTA,
    EPSILON,
    RISK_EPSILON,
    SIZE,
    composed_case,
    first_coordinate,
    mean_of_records,
    ridge_problem,
    stated_risk,
)
from dpverify.statements.plans import (
    CONSTANT,
    COUNT,
    LAW,
    MEAN,
    PRIVACY,
    RISK,
    AsPrinted,
    Audit,
    Cases,
    Corrected,
    Plan,
    Profile,
    Unstated,
    along,
)


def _mean_real(kind: Any, data_name: str, runs: int, profile: Profile) -> Audit:
    """The mean of two real records in one dimension."""
    pair = mean_neighbors(data_name, n=2, d=1)
    return _mean_case(kind, pair, profile.runs(runs))


def _mean_worst(kind: Any, runs: int, profile: Profile) -> Audit:
    """The mean of two equal records, one of which is replaced by its opposite."""
    left = Dataset(np.ones((2, 1)), np.ones(2), "two equal records", "by construction")
    pair = opposite_neighbor(mean_problem(1, 1.0).loss, left, 2)
    return _mean_case(kind, pair, profile.runs(runs))


def _mean_case(kind: Any, pair: NeighborPair, runs: int) -> Audit:
    if kind is ApproximateLocalization:
        mechanism = ApproximateLocalization(mean_problem(1, 1.0), 3.0, 0.05)
        return composed_case(mechanism, pair, "bst14.thmC.1", runs)
    return composed_case(kind(mean_problem(1, 1.0)), pair, "bst14.lem4.1", runs, BOTH)


_RISKS = {
    "bst14.thm4.3": Corrected(
        "bst14.thm4.3",
        "O(p^2 L^2 ln n / (n Delta epsilon^2))",
        "every constant is written out, for the ball and the noise in use",
        "every n >= 2",
    ),
    "bst14.thmC.2": Corrected(
        "bst14.thmC.2",
        "O(p L^2 / (n Delta epsilon^2)), logarithms aside",
        "every constant is written out, for the ball and the noise in use",
        "every n >= 2",
    ),
}


def _risk(make: Any, claim: str, source: str, sizes: tuple[int, ...], runs: int, profile: Profile) -> Any:
    cases = []
    for n in sizes:
        problem, data, mechanism = make(n)
        cases.append(
            (
                Bound(
                    bound=stated_risk(mechanism, n)[0],
                    claim=claim,
                    data=f"mean of n records of {data.name}, d = {data.d}, epsilon = {mechanism.epsilon:g}",
                    runs=profile.runs(runs),
                    size=float(n),
                    origin=_RISKS[source],
                ),
                RiskOf(mechanism, problem, data, total=True),
            )
        )
    return tuple(cases)


@dataclass(frozen=True)
class _Farther:
    """Whether each run's point is farther from a point than a radius."""

    point: tuple[float, ...]
    radius: float

    def __call__(self, runs: Runs) -> NDArray[np.float64]:
        away = np.linalg.norm(runs.points - np.array(self.point), axis=1)
        return np.where(away > self.radius, 1.0, 0.0)


# ------------------------------------------------------------------------------------------ Algorithm 4


def _pure(data_name: str) -> tuple[Problem, Dataset, Localization]:
    problem, data = ridge_problem(data_name, SIZE, 2)
    return problem, data, Localization(problem, EPSILON)


def _sampled(problem: Problem) -> Localization:
    """With Algorithm 2; in a small ball, where twice the budget would be seen, whichever step took it."""
    return Localization(problem, 3.0, zeta=1.1)


def _walked(problem: Problem) -> Localization:
    """With Algorithm 7, likewise."""
    return Localization(problem, 3.0, solver="efficient-exponential-sampling", zeta=1.1)


def _pure_mean(n: int) -> tuple[Problem, Dataset, Localization]:
    problem, data = mean_of_records(n, 2)
    return problem, data, Localization(problem, RISK_EPSILON)


def _outside_ball(
    profile: Profile,
    localize: Callable[[Problem], OutputPerturbation | GaussianOutputPerturbation],
    statement: str,
    choice: str,
    given: str,
) -> Cases:
    """How often the minimizer is outside of the ball, at sizes where that can be seen."""
    cases = []
    for n in (4, 8, 16):
        problem, data = ridge_problem("breast-cancer", n, 2)
        localizer = localize(problem)
        minimum = minimize(problem, data).point
        cases.append(
            (
                Bound(
                    bound=n**-3.0,
                    claim=f"1/n^3, by {choice}",
                    data=f"{data.name}, n records, d = 2, {given}",
                    runs=profile.runs(20_000),
                    size=float(n),
                    origin=AsPrinted(statement, f"1/n^3 = {n**-3.0:.4g}", choice),
                ),
                ValuesOf(
                    localizer,
                    data,
                    _Farther(tuple(minimum.tolist()), localizer.ball_radius(n)),
                    0.0,
                    1.0,
                    "probability that the minimizer is outside of C0, dimensionless",
                ),
            )
        )
    return tuple(cases)


def _gamma_ball(profile: Profile) -> Cases:
    return _outside_ball(
        profile,
        lambda problem: OutputPerturbation(problem, 200.0),
        "bst14.lem4.2",
        "zeta = 3 ln n",
        "epsilon/2 = 200",
    )


@dataclass(frozen=True)
class _LocalizedNormal:
    """Distribution function of Algorithm 4's output on [-1, 1] for half squared distances, by quadrature.

    theta_0 is the mean record plus Laplace noise, cut to [-1, 1]; given that, theta is normal about the mean record,
    cut to the interval of the radius about theta_0 within [-1, 1].
    """

    mean: float
    noise_scale: float
    radius: float
    stddev: float

    def __call__(self, x: Any) -> NDArray[np.float64]:
        edges = np.linspace(-1.0, 1.0, 2001)
        below = scipy.stats.laplace.cdf(edges, self.mean, self.noise_scale)
        masses = np.concatenate([np.diff(below), [below[0], 1.0 - below[-1]]])
        middles = np.concatenate([(edges[1:] + edges[:-1]) / 2, [-1.0, 1.0]])
        low = (np.maximum(-1.0, middles - self.radius) - self.mean) / self.stddev
        high = (np.minimum(1.0, middles + self.radius) - self.mean) / self.stddev
        grid = np.linspace(-1.0, 1.0, 2001)
        cut = np.clip((grid[:, None] - self.mean) / self.stddev, low, high)
        values = (_between(low, cut) / _between(low, high)) @ masses
        return np.asarray(np.clip(np.interp(np.asarray(x), grid, values), 0.0, 1.0))


def _between(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability that a standard normal number is between, from the side where no digits cancel."""
    right = scipy.special.ndtr(-low) - scipy.special.ndtr(-high)
    return np.asarray(np.where(low > 0, right, scipy.special.ndtr(high) - scipy.special.ndtr(low)))


def _pure_law(profile: Profile) -> Audit:
    """Algorithm 4 with Algorithm 2 inside, on a line, where its law is an integral."""
    n, zeta = 12, 1.2
    problem, data = mean_of_records(n, 1)
    mechanism = Localization(problem, RISK_EPSILON, zeta=zeta)
    localizer = mechanism.localizer
    rate = RISK_EPSILON / 2 / (2 * problem.loss.lipschitz_constant * mechanism.local_diameter(n))
    reference = _LocalizedNormal(
        float(np.mean(np.asarray(data.features))),
        localizer.scale(n),
        mechanism.radius(n),
        1 / math.sqrt(rate * n),
    )
    return Audit(
        LawQuestion(
            reference=reference,
            reference_error=1e-3,
            distance="total variation",
            bound=0.0,
            claim="density proportional to exp(-(epsilon/2) L(theta; D) / (2 L ||C0||)) on C0",
            statistic_name="the point",
            data=f"mean of {n} records of {data.name}, d = 1, epsilon = {RISK_EPSILON:g}, zeta = {zeta:g}",
            runs=profile.runs(20_000),
            origin=AsPrinted("bst14.alg4", "Algorithm 2 on C0 with epsilon / 2", "every data set"),
        ),
        LawOf(mechanism, data, first_coordinate, blind=UniformOn(Ball(1, 1.0))),
    )


_PROJECTIONS = Unstated(
    "the paper counts no projections here; the number follows from the steps that it takes"
)


def _pure_queries(profile: Profile) -> Audit:
    _, data, mechanism = _pure("breast-cancer")
    (claimed,) = mechanism.queries(data.n)
    words = "1, that of output perturbation"
    return Audit(
        CountQuestion(int(claimed.count), words, data.name, oracle="projection", origin=_PROJECTIONS),
        CountedRuns(mechanism, data),
    )


# ------------------------------------------------------------------------------------------ Appendix C


def _approximate(data_name: str) -> tuple[Problem, Dataset, ApproximateLocalization]:
    problem, data = ridge_problem(data_name, 16)
    return problem, data, ApproximateLocalization(problem, EPSILON, DELTA)


def _approximate_mean(n: int) -> tuple[Problem, Dataset, ApproximateLocalization]:
    problem, data = mean_of_records(n, 2)
    return problem, data, ApproximateLocalization(problem, RISK_EPSILON, DELTA)


def _gaussian_ball(profile: Profile) -> Cases:
    return _outside_ball(
        profile,
        lambda problem: GaussianOutputPerturbation(problem, 200.0, DELTA),
        "bst14.thmC.2",
        "zeta = sqrt(3 ln n) for p >= 2",
        "epsilon = 200",
    )


def _noise_constant(profile: Profile) -> Audit:
    """The constant in the noise of Gaussian output perturbation, against the printed 4."""
    problem, _ = mean_of_records(4, 2)
    epsilon = 1.0
    smallest = GaussianOutputPerturbation(problem, epsilon, DELTA).provable_constant()

    def excess(c: arb) -> arb:
        noise = (c / 4 * (arb(10) ** 5).log()).sqrt()
        return gaussian_delta(epsilon, epsilon / noise) - arb(10) ** -5

    return Audit(
        ConstantQuestion(
            formula="sigma_0^2 = c L^2 ln(1/delta) / (Delta n epsilon)^2",
            latex=r"\sigma_0^2=c\,\frac{L^2\ln(1/\delta)}{\Delta^2n^2\varepsilon^2}",
            provable=sign_change(smallest, excess),
            extreme="smallest",
            printed=PRINTED_CONSTANT,
            parameters={"epsilon": f"{epsilon:g}", "delta": f"{DELTA:g}"},
            range_fixed_by=f"closed form at epsilon = {epsilon:g} and delta = {DELTA:g}",
            method="exact Gaussian profile at L2 sensitivity 2 L / (n Delta), which is attained in the limit",
            decisive=True,
            origin=AsPrinted("bst14.thmC.1", "c = 4", "every epsilon and delta"),
        )
    )


def _approximate_queries(profile: Profile) -> Audit:
    _, data, mechanism = _approximate("breast-cancer")
    (claimed,) = mechanism.queries(data.n)
    words = "n^2: n^2 - 1 of Algorithm 1, and one of output perturbation"
    return Audit(
        CountQuestion(int(claimed.count), words, data.name, oracle="projection", origin=_PROJECTIONS),
        CountedRuns(mechanism, data),
    )


PLANS: tuple[Plan, ...] = (
    *(
        Plan(
            f"bst14.alg4/{name}",
            "bst14.alg4",
            f"Localization with Algorithm 2 on {name}",
            PRIVACY,
            partial(_mean_real, _sampled, name, 40_000),
        )
        for name in REAL_DATA
    ),
    Plan(
        "bst14.alg4/worst-case",
        "bst14.alg4",
        "Localization with Algorithm 2, opposite records",
        PRIVACY,
        partial(_mean_worst, _sampled, 100_000),
    ),
    Plan(
        "bst14.alg4/walk/breast-cancer",
        "bst14.alg4",
        "Localization with Algorithm 7 on breast-cancer",
        PRIVACY,
        partial(_mean_real, _walked, "breast-cancer", 6_000),
    ),
    Plan(
        "bst14.alg4/walk/worst-case",
        "bst14.alg4",
        "Localization with Algorithm 7, opposite records",
        PRIVACY,
        partial(_mean_worst, _walked, 6_000),
    ),
    Plan(
        "bst14.alg4/risk",
        "bst14.alg4",
        "Risk of localization with Algorithm 2",
        RISK,
        along(
            partial(
                _risk,
                _pure_mean,
                "4 p L ||C0|| / epsilon + n L ||C|| P[miss], at most about 96 p^2 L^2 ln n / (n Delta epsilon^2)",
                "bst14.thm4.3",
                (10, 20, 40),
                20_000,
            ),
            over="n",
        ),
    ),
    Plan(
        "bst14.alg4/ball",
        "bst14.alg4",
        "How often the minimizer is outside of the ball of output perturbation",
        MEAN,
        along(_gamma_ball, over="n"),
    ),
    Plan("bst14.alg4/law", "bst14.alg4", "Law of localization with Algorithm 2 on a line", LAW, _pure_law),
    Plan("bst14.alg4/queries", "bst14.alg4", "Projections of localization", COUNT, _pure_queries),
    *(
        Plan(
            f"bst14.alg-local-approx/{name}",
            "bst14.alg-local-approx",
            f"Localization under (epsilon, delta) on {name}",
            PRIVACY,
            partial(_mean_real, ApproximateLocalization, name, 40_000),
        )
        for name in REAL_DATA
    ),
    Plan(
        "bst14.alg-local-approx/worst-case",
        "bst14.alg-local-approx",
        "Localization under (epsilon, delta), opposite records",
        PRIVACY,
        partial(_mean_worst, ApproximateLocalization, 40_000),
    ),
    Plan(
        "bst14.alg-local-approx/risk",
        "bst14.alg-local-approx",
        "Risk of localization under (epsilon, delta)",
        RISK,
        along(
            partial(
                _risk,
                _approximate_mean,
                "F(2 zeta sigma_0 sqrt(p)) + n L ||C|| P[theta* outside of C0], F by Lemma 2.5",
                "bst14.thmC.2",
                (16, 32),
                400,
            ),
            over="n",
        ),
    ),
    Plan(
        "bst14.alg-local-approx/ball",
        "bst14.alg-local-approx",
        "How often Gaussian output perturbation's ball misses the minimizer",
        MEAN,
        along(_gaussian_ball, over="n"),
    ),
    Plan(
        "bst14.alg-local-approx/queries",
        "bst14.alg-local-approx",
        "Projections of localization under (epsilon, delta)",
        COUNT,
        _approximate_queries,
    ),
    Plan(
        "bst14.alg-local-approx/constant",
        "bst14.alg-local-approx",
        "The constant in the noise of Gaussian output perturbation",
        CONSTANT,
        _noise_constant,
    ),
)
