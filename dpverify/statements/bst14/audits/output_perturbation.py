"""Audits of output perturbation (bst14, Algorithm 3).

Risks are sums over the records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy

from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.auditing import Bound, ConstantQuestion, LawQuestion
from dpverify.auditing.subjects import LawOf, ValuesOf
from dpverify.problems import AllSpace, Dataset, HalfSquaredDistance, Problem, load
from dpverify.running import Output, Randomness, Runs
from dpverify.statements.audit_parts import REAL_DATA, mean_neighbors, sign_change
from dpverify.statements.bst14.audits.perturbation_cases import (
    DIMENSION,
    EPSILON,
    SIZE,
    private_case,
    ridge,
    risk_case,
)
from dpverify.statements.plans import (
    CONSTANT,
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
    along,
)


def _output_real(data_name: str, profile: Profile) -> Audit:
    """The mean of a few real records in one dimension."""
    pair = mean_neighbors(data_name, n=8, d=1)
    mechanism = OutputPerturbation(Problem(HalfSquaredDistance(math.inf), AllSpace(1)), EPSILON)
    return private_case(mechanism, (pair.left, pair.right), pair.description, profile.runs(50_000))


def _output_worst(profile: Profile) -> Audit:
    """Means at distance 2/n in one dimension: two Laplace laws."""
    n = 8
    left = Dataset(np.ones((n, 1)), np.ones(n), "equal records", "by construction")
    mechanism = OutputPerturbation(Problem(HalfSquaredDistance(math.inf), AllSpace(1)), EPSILON)
    return private_case(
        mechanism,
        (left, left.replace(n, [-1.0], 1.0)),
        "the mean of n equal records, one of them replaced by its opposite",
        profile.runs(50_000),
    )


def _output_risk(data_name: str, profile: Profile) -> Cases:
    cases = []
    for n in (50, 100, 200):
        problem, data = ridge(data_name, n)
        mechanism = OutputPerturbation(problem, EPSILON)
        claim = "n L (p scale + the minimizer's error), scale = 2 L / (n Delta epsilon)"
        cases.append(risk_case(mechanism, data, data_name, claim, profile.runs(2000)))
    return tuple(cases)


@dataclass(frozen=True)
class _Outside:
    """Whether a run's point is farther from a point than a radius."""

    point: tuple[float, ...]
    radius: float

    def __call__(self, runs: Runs) -> Any:
        return (np.linalg.norm(runs.points - np.array(self.point), axis=1) > self.radius).astype(np.float64)


def _ball(data_name: str, profile: Profile) -> Cases:
    """theta* is outside of C_0 with no more than the exact probability for the noise's norm."""
    cases = []
    for zeta in (2.0, 1.1):
        problem, data = ridge(data_name)
        mechanism = OutputPerturbation(problem, EPSILON, zeta=zeta)
        found = mechanism.minimum(data)
        cases.append(
            (
                Bound(
                    bound=mechanism.failure_probability(data.n),
                    claim="P[Gamma(p) > zeta p]",
                    data=f"{data_name}, n = {data.n}, p = {DIMENSION}, zeta on the axis",
                    runs=profile.runs(20_000),
                    size=zeta,
                    origin=Corrected(
                        "bst14.lem4.2",
                        f"exp(-zeta) = {mechanism.printed_failure_probability(data.n):.4g}",
                        "exact probability of the noise's norm; the printed one is too small for zeta near 1 "
                        "from p = 2 on",
                        "every zeta > 1",
                    ),
                ),
                ValuesOf(
                    mechanism,
                    data,
                    _Outside(tuple(found.point.tolist()), mechanism.ball_radius(data.n) + found.distance),
                    0.0,
                    1.0,
                    "probability that theta* is outside of C_0",
                ),
            )
        )
    return tuple(cases)


def _zeta(profile: Profile) -> Audit:
    """From which zeta on the printed tail of the noise's norm is true, in the worst dimension."""
    smallest = float(
        scipy.optimize.brentq(
            lambda zeta: scipy.special.gammaincc(2, 2 * zeta) - math.exp(-zeta), 1.1, 2.0, xtol=1e-12
        )
    )
    return Audit(
        ConstantQuestion(
            formula="P[Gamma(p) <= zeta p] >= 1 - exp(-zeta) for zeta >= c",
            latex=r"\Pr[\Gamma(p)\le\zeta p]\ge1-e^{-\zeta}\text{ for }\zeta\ge c",
            provable=sign_change(smallest, lambda z: (1 + 2 * z) * (-2 * z).exp() - (-z).exp()),
            extreme="smallest",
            printed=1.0,
            parameters={"p": "2"},
            range_fixed_by="closed form for p = 2; larger dimensions were compared on a grid and need less",
            method="root of (1 + 2 zeta) exp(-2 zeta) = exp(-zeta)",
            decisive=True,
            origin=AsPrinted("bst14.lem4.2", "zeta > 1", "every p"),
        )
    )


@dataclass(frozen=True)
class _DistanceTo:
    """Distance of points to a point."""

    point: tuple[float, ...]

    def __call__(self, points: Any) -> Any:
        return np.linalg.norm(np.asarray(points) - np.array(self.point), axis=1)


@dataclass(frozen=True)
class _FromNowhere:
    """A point that looks at no record: the noise of n records about the origin."""

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Points of shape (runs, d)."""
        nowhere = Dataset(np.zeros((data.n, data.d)), np.ones(data.n), "nothing", "by construction")
        problem = Problem(HalfSquaredDistance(math.inf), AllSpace(data.d))
        output: Output = OutputPerturbation(problem, EPSILON)(nowhere, rng=rng, runs=runs)
        return output


def _output_law(profile: Profile) -> Audit:
    """The noise's norm, on the mean of real records."""
    data = load("breast-cancer", n=SIZE, d=DIMENSION)
    mechanism = OutputPerturbation(Problem(HalfSquaredDistance(math.inf), AllSpace(DIMENSION)), EPSILON)
    return Audit(
        LawQuestion(
            reference=scipy.stats.gamma(DIMENSION, scale=mechanism.scale(data.n)).cdf,
            reference_error=1e-8,
            distance="multiplicative",
            bound=0.0,
            claim="||b|| has the law Gamma(p, scale)",
            statistic_name="||theta_0 - mean||",
            data=f"mean of {data.name}, n = {data.n}, d = {DIMENSION}",
            runs=profile.runs(20_000),
            origin=AsPrinted(
                "bst14.alg3", "density proportional to exp(-n Delta epsilon ||b|| / (2 L))", "every n"
            ),
        ),
        LawOf(
            mechanism,
            data,
            _DistanceTo(tuple(np.mean(np.asarray(data.features), axis=0).tolist())),
            blind=_FromNowhere(),
        ),
    )


PLANS: tuple[Plan, ...] = (
    *(
        Plan(
            f"bst14.alg3/{name}",
            "bst14.alg3",
            f"Output perturbation on {name}",
            PRIVACY,
            partial(_output_real, name),
        )
        for name in REAL_DATA
    ),
    Plan("bst14.alg3/worst-case", "bst14.alg3", "Output perturbation of a mean", PRIVACY, _output_worst),
    *(
        Plan(
            f"bst14.alg3/{name}/risk",
            "bst14.alg3",
            f"Risk of output perturbation on {name}",
            RISK,
            along(partial(_output_risk, name), over="n"),
        )
        for name in REAL_DATA
    ),
    Plan(
        "bst14.alg3/ball",
        "bst14.alg3",
        "How often output perturbation's ball misses the minimizer",
        MEAN,
        along(partial(_ball, "breast-cancer"), over="zeta"),
    ),
    Plan(
        "bst14.alg3/zeta",
        "bst14.alg3",
        "From which zeta the ball's printed probability holds",
        CONSTANT,
        _zeta,
    ),
    Plan("bst14.alg3/law", "bst14.alg3", "The norm of output perturbation's noise", LAW, _output_law),
)
