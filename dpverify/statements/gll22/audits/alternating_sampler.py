"""Audits of the alternating sampler (gll22, Algorithm 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import scipy

from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler, schedule
from dpverify.algorithms.gll22.regularized_density import RegularizedDensity
from dpverify.auditing import ConstantQuestion, LawQuestion
from dpverify.auditing.subjects import LawOf
from dpverify.ledger.records import Interval
from dpverify.problems import AllSpace, Ball, Dataset, Linear, Logistic, Problem, load
from dpverify.running import Output, Randomness
from dpverify.statements.audit_parts import UniformOn, real_problem
from dpverify.statements.gll22.audits.cases import SIZE, Coordinate, expected_queries, line_law, plane_law
from dpverify.statements.plans import CONSTANT, LAW, MEAN, Audit, Cases, Corrected, Plan, Profile, along

ACCURACY = 0.01


# ------------------------------------------------------------------------------------------ the samplers


@dataclass(frozen=True)
class _GaussianFromNowhere:
    """The target without its losses: normal points about the origin, which look at no record."""

    stddev: float

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Points of shape (runs, d)."""
        return Output(self.stddev * rng.normal((runs, data.d), "blind point"))


def _gaussian_law(profile: Profile) -> Audit:
    """Linear losses on all space in ten dimensions: the target is a Gaussian with known mean and variance."""
    data = load("diabetes", n=SIZE)
    sampler = AlternatingSampler(Problem(Linear(), AllSpace(data.d)), 1.0, 1.0, ACCURACY)
    found = sampler.density.gaussian(data)
    assert found is not None
    mean, stddev = found
    return Audit(
        LawQuestion(
            reference=scipy.stats.norm(mean[0], stddev).cdf,
            reference_error=0.0,
            distance="total variation",
            bound=sampler.schedule.total_variation,
            claim=f"total variation at most {ACCURACY:g} after T steps with explicit constants",
            statistic_name=f"first coordinate of {data.d}",
            data=f"{data.name}, n = {SIZE}, linear losses",
            runs=profile.runs(500),
            origin=Corrected(
                "gll22.thm5.6",
                "total variation at most delta after Theta(G^2 / mu log^2(G^2 (d / mu + D^2) / delta)) steps",
                "the number of steps is the proven one, with its constants",
                "every accuracy in (0, 1)",
            ),
        ),
        LawOf(sampler, data, Coordinate(0), blind=_GaussianFromNowhere(stddev)),
    )


def _sampler_law(data_name: str, d: int, profile: Profile) -> Audit:
    problem, data = real_problem(data_name, n=SIZE, d=d)
    temperature = 1.0 if data_name == "breast-cancer" else 0.5
    sampler = AlternatingSampler(problem, temperature, 1.0, ACCURACY)
    law = line_law(sampler.density, data) if d == 1 else plane_law(sampler.density, data)
    return Audit(
        LawQuestion(
            reference=law,
            reference_error=1e-3,
            distance="total variation",
            bound=sampler.schedule.total_variation,
            claim=f"total variation at most {ACCURACY:g} after T steps with explicit constants",
            statistic_name=f"first coordinate of {d}",
            data=f"{data_name}, n = {SIZE}",
            runs=profile.runs(500),
            origin=Corrected(
                "gll22.thm5.6",
                "total variation at most delta after Theta(G^2 / mu log^2(G^2 (d / mu + D^2) / delta)) steps",
                "the number of steps is the proven one, with its constants",
                "every accuracy in (0, 1)",
            ),
        ),
        LawOf(sampler, data, Coordinate(0), blind=UniformOn(problem.constraint)),
    )


def _sampler_queries(profile: Profile) -> Cases:
    problem, data = real_problem("breast-cancer", n=SIZE, d=10)
    sampler = AlternatingSampler(problem, 4.0, 10.0, ACCURACY)
    claim = f"T = {sampler.schedule.steps} steps, each at most 4 e / (1 - error) values in expectation"
    where = "breast-cancer, d = 10"
    return expected_queries(sampler, data, where, "gll22.thm5.6", claim, profile.runs(400), 2.0)


def _steps_constant(profile: Profile) -> Audit:
    """Theorem 5.6's T against G^2 / mu log^2(G^2 (d/mu + D^2) / delta), for a unit ball; mu and G as printed."""
    worst = 0.0
    for d in (1, 10, 1000):
        for temperature in (1.0, 10.0, 1000.0):
            for regularization in (0.01, 0.1, 1.0):
                density = RegularizedDensity(Problem(Logistic(), Ball(d, 1.0)), temperature, regularization)
                slope, curvature = density.lipschitz_constant, density.strong_convexity
                for accuracy in (1e-2, 1e-6):
                    size = slope**2 * (d / curvature + density.mode_distance**2) / accuracy
                    printed = slope**2 / curvature * math.log(size) ** 2
                    if slope**2 >= curvature:
                        worst = max(worst, schedule(density, accuracy).steps / printed)
    return Audit(
        ConstantQuestion(
            formula="T = c G^2/mu ln^2(G^2 (d/mu + D^2) / delta)",
            latex=r"T=c\,\frac{G^2}{\mu}\log^2\!\left(\frac{G^2(d/\mu+D^2)}{\delta}\right)",
            provable=Interval(lower=worst, upper=worst),
            extreme="smallest",
            printed=None,
            parameters={"d": "1 to 1000", "G^2/mu": "1 to 1e5", "delta": "1e-6 to 1e-2"},
            range_fixed_by="a grid of parameters, in floating point",
            method="largest ratio over a grid of the steps that the explicit bounds prove",
            origin=Corrected(
                "gll22.thm5.6", "Theta( ), no constant", "the hidden constant is computed", "this grid"
            ),
        )
    )


SUBJECT = "gll22.alg1"

PLANS: tuple[Plan, ...] = (
    *(
        Plan(
            f"{SUBJECT}/{name}/law",
            SUBJECT,
            f"Law of the alternating sampler on {name}",
            LAW,
            partial(_sampler_law, name, d),
        )
        for name, d in (("breast-cancer", 2), ("diabetes", 1))
    ),
    Plan(f"{SUBJECT}/gaussian/law", SUBJECT, "Alternating sampler, a Gaussian in d = 10", LAW, _gaussian_law),
    Plan(
        f"{SUBJECT}/queries",
        SUBJECT,
        "Value queries of the alternating sampler",
        MEAN,
        along(_sampler_queries),
    ),
    Plan(
        f"{SUBJECT}/steps", "gll22.thm5.6", "The constant in the number of steps", CONSTANT, _steps_constant
    ),
)
