"""Audits of the reduction from empirical risk to population risk (mn25, Appendix D.2)."""

from __future__ import annotations

import math
from functools import partial

from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.fmtt18.projected_noisy_sgd import StopPNSGD
from dpverify.algorithms.mn25.empirical_to_population import EmpiricalToPopulation
from dpverify.auditing import Bound, CountQuestion, PrivacyQuestion
from dpverify.auditing.subjects import CountedRuns, OnPair, RiskOf
from dpverify.problems import Ball, Problem, opposite_linear
from dpverify.statements.audit_parts import NOISE, REAL_DATA, linear_neighbors, real_problem
from dpverify.statements.plans import (
    COUNT,
    PRIVACY,
    RISK,
    AsPrinted,
    Audit,
    Cases,
    Corrected,
    Origin,
    Plan,
    Profile,
    along,
)

DELTA = 1e-5


# ------------------------------------------------------------------------------------------ ERM by SCO


def _by_sco_privacy(data_name: str, epsilon: float, profile: Profile) -> Audit:
    """With epsilon = 1/6 the printed claim at its largest; with 2 the mixture over how often a record is drawn."""
    if data_name == "worst-case":
        n = 8 if epsilon <= 1 / 6 else 2
        pair = opposite_linear(n, 1, n)
    else:
        pair = linear_neighbors(data_name, n=2, d=1)
    n = pair.left.n
    problem = Problem(pair.loss, Ball(1, 1.0))
    delta = DELTA if epsilon <= 1 / 6 else 0.01
    mechanism = EmpiricalToPopulation(NoisyGradientDescent(problem, epsilon, delta, steps=2 * n))
    stated = mechanism.guarantees(n)
    origin: Origin
    if epsilon <= 1 / 6:
        printed = f"(6 epsilon, e delta)-DP = ({6 * epsilon:g}, {math.e * delta:.3g})-DP"
        claim, origin = stated.headline, AsPrinted("mn25.d2", printed, "epsilon <= 1/6")
    else:
        claim = stated.sharpest
        origin = Corrected(
            "mn25.lem6",
            f"(6 epsilon, 4 e^(6 epsilon) delta)-DP = ({6 * epsilon:g}, {4 * math.exp(6 * epsilon) * delta:.3g})-DP",
            "the mixture over how often a record is drawn, which holds for every epsilon",
            "every epsilon >= 0; the printed form for epsilon <= 1/6",
        )
    return Audit(
        PrivacyQuestion(
            claim,
            pair.description,
            profile.runs(5_000 if epsilon <= 1 / 6 else 40_000),
            best_known=stated.sharpest.guarantee,
            origin=origin,
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=NOISE),
    )


def _by_sco_risk(data_name: str, profile: Profile) -> Cases:
    """With fmtt18's Stop-PNSGD inside, whose Theorem 29 bounds the population risk."""
    cases, epsilon = [], 8.0
    for n in (100, 200, 400):
        problem, data = real_problem(data_name, n=n, d=2)
        solver = StopPNSGD.for_privacy(problem, n=n, epsilon=epsilon, delta=DELTA)
        radius, lipschitz = problem.constraint.largest_norm, problem.loss.lipschitz_constant
        second_moment = lipschitz**2 + data.d * solver.noise_stddev**2
        cases.append(
            (
                Bound(
                    bound=4 * radius * math.sqrt(second_moment / n),
                    claim="the solver's population risk, 4 R sqrt((L^2 + d sigma^2) / n), epsilon = 8",
                    data=f"{data_name}, n records, d = 2",
                    runs=profile.runs(2_000),
                    size=float(n),
                    origin=Corrected(
                        "mn25.d2",
                        "the SCO solver's excess population risk",
                        "with Theorem 29 of fmtt18 for the solver, and its noise in use",
                        "every n",
                    ),
                ),
                RiskOf(EmpiricalToPopulation(solver), problem, data, total=False),
            )
        )
    return tuple(cases)


def _by_sco_queries(profile: Profile) -> Audit:
    problem, data = real_problem("breast-cancer", n=32, d=5)
    mechanism = EmpiricalToPopulation(NoisyGradientDescent(problem, 1.0, DELTA))
    return Audit(
        CountQuestion(
            32**2 - 1,
            "the solver's for n records, n^2 - 1",
            data.name,
            origin=AsPrinted("mn25.d2", "the solver's queries", "every n"),
        ),
        CountedRuns(mechanism, data),
    )


SUBJECT = "mn25.erm-to-sco"

PLANS: tuple[Plan, ...] = (
    *(
        Plan(
            f"{SUBJECT}/{name}",
            SUBJECT,
            f"ERM by SCO on {name}",
            PRIVACY,
            partial(_by_sco_privacy, name, 2.0),
        )
        for name in REAL_DATA
    ),
    *(
        Plan(
            f"{SUBJECT}/{name}/risk",
            SUBJECT,
            f"Empirical risk of ERM by SCO on {name}",
            RISK,
            along(partial(_by_sco_risk, name), over="n"),
        )
        for name in REAL_DATA
    ),
    *(
        Plan(
            f"{SUBJECT}/{name}",
            SUBJECT,
            f"ERM by SCO, opposite losses, {name}",
            PRIVACY,
            partial(_by_sco_privacy, "worst-case", epsilon),
        )
        for epsilon, name in ((1 / 6, "worst-case"), (2.0, "worst-case-epsilon-2"))
    ),
    Plan(f"{SUBJECT}/queries", SUBJECT, "Gradient queries of ERM by SCO", COUNT, _by_sco_queries),
)
