"""Audits of the reduction from population risk to empirical risk (mn25, Appendix D.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.mn25.population_to_empirical import PopulationToEmpirical
from dpverify.auditing import Bound, ConstantQuestion, CountQuestion, PrivacyQuestion
from dpverify.auditing.subjects import CountedRuns, OnPair, RiskOf
from dpverify.ledger.records import Interval
from dpverify.problems import Ball, Dataset, NeighborPair, Problem, opposite_linear
from dpverify.running import Output
from dpverify.statements.audit_parts import BOTH, REAL_DATA, OnFreshSamples, linear_neighbors, real_problem
from dpverify.statements.plans import (
    CONSTANT,
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

# ------------------------------------------------------------------------------------------ SCO by ERM

RUNS_A_SAMPLE = 10

REDUCED_SIZE, REDUCED_FEATURES = 24, 3
"""Records and features: a phase has 8 records, 2 balls and 3 boosts."""

REDUCED_EPSILON = 2.0
"""Small enough that some thousand runs could refute it."""


def _by_erm(problem: Problem, n: int, epsilon: float) -> PopulationToEmpirical:
    return PopulationToEmpirical.for_privacy(problem, n=n, epsilon=epsilon, delta=DELTA, minibatch=n)


def _by_erm_privacy(
    pair: NeighborPair, phases: int, boosts: int, balls: int, selection: float, profile: Profile
) -> Audit:
    """Few calls of the solver, which share what the selections leave of epsilon, and a ridge that adds little.

    The solver's noise covers the ridge's slope too, which no record moves.
    """
    n, calls = pair.left.n, boosts * balls
    single = (REDUCED_EPSILON - selection) / calls
    solver = NoisyGradientDescent(Problem(pair.loss, Ball(1, 1.0)), single, 0.01 / calls, steps=4)
    mechanism = PopulationToEmpirical(
        solver,
        selection or single,
        phases=phases,
        boosts=boosts,
        balls=balls,
        minibatch=n,
        regularization=0.01,
    )
    sizes = f"{phases} phases of {boosts} runs on {balls} balls"
    return Audit(
        PrivacyQuestion(
            mechanism.guarantees(n).headline,
            f"{pair.description}; {sizes}",
            profile.runs(20_000),
            origin=Corrected(
                "mn25.thm8",
                "(epsilon, delta)-DP, the shares of solvers and selections not stated",
                "epsilon is split over the solver's runs and the selections of a phase",
                "every n >= 2",
            ),
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=BOTH),
    )


def _two_balls(profile: Profile) -> Audit:
    return _by_erm_privacy(linear_neighbors("breast-cancer", n=2, d=1), 1, 1, 2, 0.2, profile)


def _two_phases(profile: Profile) -> Audit:
    return _by_erm_privacy(linear_neighbors("diabetes", n=4, d=1), 2, 1, 1, 0.0, profile)


def _two_runs(profile: Profile) -> Audit:
    return _by_erm_privacy(opposite_linear(2, 1, 2), 1, 2, 1, 0.2, profile)


@dataclass(frozen=True)
class ExactDescent:
    """An ERM solver without privacy: gradient descent on a smooth, strongly convex local problem, to 1e-4 G r.

    A step of 1 / beta shrinks the distance to the minimizer by 1 - m / beta, so that after T steps the excess is at
    most (beta / 2) (2 r)^2 exp(-2 T m / beta), with the constants that the local loss declares.
    """

    problem: Problem

    accuracy: ClassVar[float] = 1e-4
    hands_over: ClassVar[str] = "all runs"

    def guarantees(self, n: int) -> tuple[Any, ...]:
        """None."""
        return ()

    def steps(self) -> int:
        """Enough for the accuracy, relative to G r."""
        loss, radius = self.problem.loss, self.problem.constraint.diameter / 2
        allowed = self.accuracy * loss.lipschitz_constant * radius
        ratio = max(1.0, 2 * loss.smoothness * radius**2 / allowed)
        return math.ceil(0.5 * loss.smoothness / loss.strong_convexity * math.log(ratio)) + 1

    def gradient_query_count(self, n: int) -> int:
        """The records, n of them, in every step."""
        return n * self.steps()

    def __call__(self, data: Dataset, *, rng: Any, runs: int) -> Output:
        """Descend from 0, the middle of the local problem, in every run."""
        local: Any = self.problem.loss
        original = Problem(local.original, Ball(data.d, 1.0))
        points = np.zeros((runs, data.d))
        for _ in range(self.steps()):
            here = points + local.offsets
            gradient = original.mean_gradient(here, data) + local.weight * (here - local.anchors)
            points = self.problem.constraint.project(points - gradient / local.smoothness)
        return Output(points, gradient_queries=self.gradient_query_count(data.n), projections=self.steps())


def _by_erm_risk(data_name: str, profile: Profile) -> Cases:
    """Without privacy, so that the bound says something at these sizes; it is the same for any solver."""
    problem, data = real_problem(data_name, d=5)
    solver = ExactDescent(problem)
    cases = []
    for n in (100, 400):
        mechanism = PopulationToEmpirical(
            solver, 500.0, accuracy=ExactDescent.accuracy, minibatch=n, boosts=1, withdraw_guarantee=True
        )
        cases.append(
            (
                Bound(
                    bound=mechanism.risk_bound(n).bound,
                    claim="L m_T + lambda_0 (P/2)^2 + sum_t lambda_t m_t^2; a solver with accuracy 1e-4, no privacy",
                    data=f"{data.name} as the population, samples of n records",
                    runs=profile.runs(40 * RUNS_A_SAMPLE),
                    size=float(n),
                    origin=Corrected(
                        "mn25.thm8",
                        "O~(alpha + B L / sqrt(n) + B L / (n epsilon))",
                        "the proof's recursion with every constant; a solver without privacy",
                        "independent records",
                    ),
                ),
                RiskOf(OnFreshSamples(mechanism, n), problem, data, total=False, runs_a_sample=RUNS_A_SAMPLE),
            )
        )
    return tuple(cases)


def _by_erm_queries(oracle: Literal["gradient", "value"], profile: Profile) -> Audit:
    problem, data = real_problem("breast-cancer", n=REDUCED_SIZE, d=REDUCED_FEATURES)
    mechanism = _by_erm(problem, data.n, REDUCED_EPSILON)
    gradients = oracle == "gradient"
    claimed = mechanism.gradient_query_count(data.n) if gradients else mechanism.value_query_count(data.n)
    words = "T K (R + 1) runs of the solver" if gradients else "T b (K + 1) (R + 1) losses, b = n'"
    return Audit(
        CountQuestion(
            claimed, words, data.name, oracle=oracle, origin=AsPrinted("mn25.thm8", words, "every n")
        ),
        CountedRuns(mechanism, data),
    )


def _hidden_factor(exponent: int, profile: Profile) -> Audit:
    """What the tilde of Theorem 8's risk hides, for a solver with accuracy 1 / sqrt(n) and epsilon = 1."""
    n = 10**exponent
    problem, _ = real_problem("breast-cancer", d=5)
    solver = NoisyGradientDescent(problem, 1.0, DELTA)
    accuracy = 1 / math.sqrt(n)
    reduction = PopulationToEmpirical(solver, 1.0, accuracy=accuracy)
    printed = accuracy + 1 / math.sqrt(n) + 1 / n
    length = problem.constraint.diameter * problem.loss.lipschitz_constant
    return Audit(
        ConstantQuestion(
            formula="excess population risk <= c (alpha + B L / sqrt(n) + B L / (n epsilon))",
            latex=r"c\left(\alpha+\frac{BL}{\sqrt n}+\frac{BL}{n\varepsilon}\right)",
            provable=Interval(
                lower=reduction.risk_bound(n).bound / (length * printed),
                upper=reduction.risk_bound(n).bound / (length * printed),
            ),
            extreme="smallest",
            printed=None,
            parameters={
                "n": f"1e{exponent}",
                "alpha": "B L / sqrt(n)",
                "epsilon": "1 a selection",
                "B": "diameter",
            },
            range_fixed_by="floating-point evaluation of a proved bound",
            method="the explicit bound of the implementation, regularization chosen for the smallest value",
            origin=Corrected(
                "mn25.thm8", "O~( ), no constant", "the hidden factor is computed", "this n and epsilon"
            ),
        )
    )


SUBJECT = "mn25.sco-to-erm"
_ORACLES: tuple[Literal["gradient", "value"], ...] = ("gradient", "value")

PLANS: tuple[Plan, ...] = (
    Plan(f"{SUBJECT}/breast-cancer", SUBJECT, "SCO by ERM on breast-cancer, two balls", PRIVACY, _two_balls),
    Plan(f"{SUBJECT}/diabetes", SUBJECT, "SCO by ERM on diabetes, two phases", PRIVACY, _two_phases),
    *(
        Plan(
            f"{SUBJECT}/{name}/risk",
            SUBJECT,
            f"Population risk of SCO by ERM on {name}",
            RISK,
            along(partial(_by_erm_risk, name), over="n"),
        )
        for name in REAL_DATA
    ),
    Plan(f"{SUBJECT}/worst-case", SUBJECT, "SCO by ERM, opposite linear losses", PRIVACY, _two_runs),
    *(
        Plan(
            f"{SUBJECT}/{oracle}-queries",
            SUBJECT,
            f"{oracle.capitalize()} queries of SCO by ERM",
            COUNT,
            partial(_by_erm_queries, oracle),
        )
        for oracle in _ORACLES
    ),
    *(
        Plan(
            f"{SUBJECT}/factor-{exponent}",
            SUBJECT,
            f"The factor in Theorem 8's risk, n = 1e{exponent}",
            CONSTANT,
            partial(_hidden_factor, exponent),
        )
        for exponent in (4, 8, 12)
    ),
)
