"""Audits of the reduction from empirical risk to population risk (mn25, Appendix D.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

from scipy.special import ndtr

from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.fmtt18.projected_noisy_sgd import StopPNSGD
from dpverify.algorithms.mn25.empirical_to_population import EmpiricalToPopulation
from dpverify.auditing import Bound, CountQuestion, PrivacyQuestion
from dpverify.auditing.subjects import CountedRuns, OnPair, RiskOf
from dpverify.ledger.records import Interval
from dpverify.problems import Ball, NeighborPair, Problem, opposite_linear
from dpverify.statements.audit_parts import NOISE, REAL_DATA, linear_neighbors, real_problem
from dpverify.statements.plans import (
    COUNT,
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

DELTA = 1e-5
_ROUNDING = 1e-9


# ------------------------------------------------------------------------------------------ ERM by SCO


@dataclass(frozen=True)
class OneStep:
    """Smallest epsilon of one step of Algorithm 1 on a drawn record, on opposite linear losses on [-1, 1].

    A drawn record of n drawn records is a record drawn from all. So the point before projection is a mixture of normal
    numbers about 0 and, with probability 1/n, about a step to either side. The likelihood ratio grows along the line,
    so the event of the largest loss is the end of the interval, where all points beyond it end up. It has probability
    p on one data set and q on the other: it needs ln((p - delta) / q), and nothing needs more than ln(p / q).

    Attributes:
        solver: with one step.
        n: records.
        factor: the noise is divided by it.
    """

    solver: NoisyGradientDescent
    n: int
    factor: float = 1.0

    def __call__(self, delta: float) -> Interval:
        """Enclose it, in nats."""
        rate = self.solver.rate(self.n, 1)
        spread, step = rate * self.solver.noise_stddev(self.n) / self.factor, rate * self.n
        still = (1 - 1 / self.n) * ndtr(-1 / spread)
        p, q = (float(still + ndtr((sign * step - 1) / spread) / self.n) for sign in (1, -1))
        least = math.log((p - delta) / q) if p - delta > q else 0.0
        return Interval(lower=least * (1 - _ROUNDING), upper=math.log(p / q) * (1 + _ROUNDING))

    def weakened(self, factor: float, delta: float) -> Interval:
        """Of the same with its noise divided by a factor."""
        return replace(self, factor=factor)(delta)


def _as_printed(profile: Profile) -> Audit:
    """The printed claim at the largest epsilon that it is made for, where all of it can be known: one step."""
    n, epsilon = 8, 1 / 6
    pair = opposite_linear(n, 1, n)
    solver = NoisyGradientDescent(Problem(pair.loss, Ball(1, 1.0)), epsilon, DELTA, steps=1)
    mechanism = EmpiricalToPopulation(solver)
    stated = mechanism.guarantees(n)
    printed = f"(6 epsilon, e delta)-DP = ({6 * epsilon:g}, {math.e * DELTA:.3g})-DP"
    exact = OneStep(solver, n)
    return Audit(
        PrivacyQuestion(
            stated.headline,
            pair.description,
            profile.runs(40_000),
            best_known=stated.sharpest.guarantee,
            origin=AsPrinted("mn25.d2", printed, "epsilon <= 1/6"),
        ),
        OnPair(
            mechanism,
            pair.left,
            pair.right,
            weakened=mechanism.weakened,
            fault=NOISE,
            exact=exact,
            exact_weakened=exact.weakened,
        ),
    )


def _mixed(pair: NeighborPair, profile: Profile) -> Audit:
    """The mixture over how often a record is drawn, at a delta at which little noise is enough."""
    n, epsilon, delta = pair.left.n, 2.0, 0.01
    printed = f"({6 * epsilon:g}, {4 * math.exp(6 * epsilon) * delta:.3g})-DP"
    problem = Problem(pair.loss, Ball(1, 1.0))
    mechanism = EmpiricalToPopulation(NoisyGradientDescent(problem, epsilon, delta, steps=2 * n))
    claim = mechanism.guarantees(n).sharpest
    return Audit(
        PrivacyQuestion(
            claim,
            pair.description,
            profile.runs(40_000),
            origin=Corrected(
                "mn25.lem6",
                f"(6 epsilon, 4 e^(6 epsilon) delta)-DP = {printed}",
                "the mixture over how often a record is drawn, which holds for every epsilon",
                "every epsilon >= 0; the printed form for epsilon <= 1/6",
            ),
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=NOISE),
    )


def _mixed_real(data_name: str, profile: Profile) -> Audit:
    return _mixed(linear_neighbors(data_name, n=2, d=1), profile)


def _mixed_worst(profile: Profile) -> Audit:
    return _mixed(opposite_linear(2, 1, 2), profile)


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
            partial(_mixed_real, name),
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
    Plan(
        f"{SUBJECT}/worst-case",
        SUBJECT,
        "ERM by SCO, opposite losses, the printed claim",
        PRIVACY,
        _as_printed,
    ),
    Plan(
        f"{SUBJECT}/worst-case-epsilon-2",
        SUBJECT,
        "ERM by SCO, opposite losses, worst-case-epsilon-2",
        PRIVACY,
        _mixed_worst,
    ),
    Plan(f"{SUBJECT}/queries", SUBJECT, "Gradient queries of ERM by SCO", COUNT, _by_sco_queries),
)
