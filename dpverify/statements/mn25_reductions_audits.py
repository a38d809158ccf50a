"""Audit plans for mn25's reductions between population risk and empirical risk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.fmtt18.projected_noisy_sgd import StopPNSGD
from dpverify.algorithms.mn25.empirical_to_population import EmpiricalToPopulation
from dpverify.algorithms.mn25.population_to_empirical import PopulationToEmpirical
from dpverify.evidence import Interval
from dpverify.privacy import Adjacency
from dpverify.problems import Ball, Dataset, Problem, opposite_linear
from dpverify.running import Output
from dpverify.statements.audit_parts import (
    BOTH,
    NOISE,
    REAL_DATA,
    OnFreshSamples,
    linear_neighbors,
    real_neighbors,
    real_problem,
)
from dpverify.statements.plans import (
    AsPrinted,
    ComplexityCase,
    ComplexityPlan,
    ConstantCase,
    ConstantPlan,
    Corrected,
    Origin,
    Plan,
    PrivacyCase,
    PrivacyPlan,
    Profile,
    RiskCase,
    RiskPlan,
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


def _by_erm_privacy(data_name: str, profile: Profile) -> PrivacyCase:
    problem, data = real_problem(data_name, n=REDUCED_SIZE, d=REDUCED_FEATURES)
    mechanism = _by_erm(problem, data.n, REDUCED_EPSILON)
    pair = real_neighbors(problem, data, data.n)
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.REPLACE_ONE,
        mechanism.guarantees(data.n)[0].guarantee,
        pair.description,
        profile.runs(1_000),
        origin=Corrected(
            "mn25.thm8",
            "(epsilon, delta)-DP, solvers and selections without their shares",
            "epsilon is split over the solver's runs and the selections of a phase",
            "every n >= 2",
        ),
        weakened=mechanism.weakened,
        fault=BOTH,
    )


def _by_erm_worst(profile: Profile) -> PrivacyCase:
    n = 8
    pair = opposite_linear(n, 1, n)
    mechanism = _by_erm(Problem(pair.loss, Ball(1, 1.0)), n, REDUCED_EPSILON)
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.REPLACE_ONE,
        mechanism.guarantees(n)[0].guarantee,
        pair.description,
        profile.runs(2_000),
        origin=Corrected(
            "mn25.thm8",
            "(epsilon, delta)-DP, solvers and selections without their shares",
            "epsilon is split over the solver's runs and the selections of a phase",
            "every n >= 2",
        ),
        weakened=mechanism.weakened,
        fault=BOTH,
    )


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


def _by_erm_risk(data_name: str, profile: Profile) -> tuple[RiskCase, ...]:
    """Without privacy, so that the bound says something at these sizes; it is the same for any solver."""
    problem, data = real_problem(data_name, d=5)
    solver = ExactDescent(problem)
    cases = []
    for n in (100, 400):
        mechanism = PopulationToEmpirical(
            solver, 500.0, accuracy=ExactDescent.accuracy, minibatch=n, boosts=1, withdraw_guarantee=True
        )
        cases.append(
            RiskCase(
                mechanism=OnFreshSamples(mechanism, n),
                problem=problem,
                dataset=data,
                bound=mechanism.risk_bound(n).bound,
                claim="L m_T + lambda_0 (P/2)^2 + sum_t lambda_t m_t^2; a solver with accuracy 1e-4, no privacy",
                origin=Corrected(
                    "mn25.thm8",
                    "O~(alpha + B L / sqrt(n) + B L / (n epsilon))",
                    "the proof's recursion with every constant; a solver without privacy",
                    "independent records",
                ),
                data=f"{data.name} as the population, samples of n records",
                runs=profile.runs(40 * RUNS_A_SAMPLE),
                total=False,
                size=float(n),
                runs_a_sample=RUNS_A_SAMPLE,
            )
        )
    return tuple(cases)


def _by_erm_queries(oracle: Literal["gradient", "value"], profile: Profile) -> ComplexityCase:
    problem, data = real_problem("breast-cancer", n=REDUCED_SIZE, d=REDUCED_FEATURES)
    mechanism = _by_erm(problem, data.n, REDUCED_EPSILON)
    gradients = oracle == "gradient"
    claimed = mechanism.gradient_query_count(data.n) if gradients else mechanism.value_query_count(data.n)
    words = "T K (R + 1) runs of the solver" if gradients else "T b (K + 1) (R + 1) losses, b = n'"
    return ComplexityCase(
        mechanism,
        data,
        claimed,
        words,
        data.name,
        oracle=oracle,
        origin=AsPrinted("mn25.thm8", words, "every n"),
    )


def _hidden_factor(exponent: int, profile: Profile) -> ConstantCase:
    """What the tilde of Theorem 8's risk hides, for a solver with accuracy 1 / sqrt(n) and epsilon = 1."""
    n = 10**exponent
    problem, _ = real_problem("breast-cancer", d=5)
    solver = NoisyGradientDescent(problem, 1.0, DELTA)
    accuracy = 1 / math.sqrt(n)
    reduction = PopulationToEmpirical(solver, 1.0, accuracy=accuracy)
    printed = accuracy + 1 / math.sqrt(n) + 1 / n
    length = problem.constraint.diameter * problem.loss.lipschitz_constant
    return ConstantCase(
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


# ------------------------------------------------------------------------------------------ ERM by SCO


def _by_sco_privacy(data_name: str, epsilon: float, profile: Profile) -> PrivacyCase:
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
        claim, origin = stated[0].guarantee, AsPrinted("mn25.d2", printed, "epsilon <= 1/6")
    else:
        claim = stated[-1].guarantee
        origin = Corrected(
            "mn25.lem6",
            f"(6 epsilon, 4 e^(6 epsilon) delta)-DP = ({6 * epsilon:g}, {4 * math.exp(6 * epsilon) * delta:.3g})-DP",
            "the mixture over how often a record is drawn, which holds for every epsilon",
            "every epsilon >= 0; the printed form for epsilon <= 1/6",
        )
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.REPLACE_ONE,
        claim,
        pair.description,
        profile.runs(5_000 if epsilon <= 1 / 6 else 40_000),
        stated[-1].guarantee,
        origin=origin,
        weakened=mechanism.weakened,
        fault=NOISE,
    )


def _by_sco_risk(data_name: str, profile: Profile) -> tuple[RiskCase, ...]:
    """With fmtt18's Stop-PNSGD inside, whose Theorem 29 bounds the population risk."""
    cases, epsilon = [], 8.0
    for n in (100, 200, 400):
        problem, data = real_problem(data_name, n=n, d=2)
        solver = StopPNSGD.for_privacy(problem, n=n, epsilon=epsilon, delta=DELTA)
        radius, lipschitz = problem.constraint.largest_norm, problem.loss.lipschitz_constant
        second_moment = lipschitz**2 + data.d * solver.noise_stddev**2
        cases.append(
            RiskCase(
                mechanism=EmpiricalToPopulation(solver),
                problem=problem,
                dataset=data,
                bound=4 * radius * math.sqrt(second_moment / n),
                claim="the solver's population risk, 4 R sqrt((L^2 + d sigma^2) / n), epsilon = 8",
                origin=Corrected(
                    "mn25.d2",
                    "the SCO solver's excess population risk",
                    "with Theorem 29 of fmtt18 for the solver, and its noise in use",
                    "every n",
                ),
                data=f"{data_name}, n records, d = 2",
                runs=profile.runs(2_000),
                total=False,
                size=float(n),
            )
        )
    return tuple(cases)


def _by_sco_queries(profile: Profile) -> ComplexityCase:
    problem, data = real_problem("breast-cancer", n=32, d=5)
    mechanism = EmpiricalToPopulation(NoisyGradientDescent(problem, 1.0, DELTA))
    return ComplexityCase(
        mechanism,
        data,
        32**2 - 1,
        "the solver's for n records, n^2 - 1",
        data.name,
        origin=AsPrinted("mn25.d2", "the solver's queries", "every n"),
    )


def _plans() -> tuple[Plan, ...]:
    by_erm, by_sco = "mn25.sco-to-erm", "mn25.erm-to-sco"
    found: list[Plan] = []
    for name in REAL_DATA:
        found += [
            PrivacyPlan(f"{by_erm}/{name}", by_erm, f"SCO by ERM on {name}", partial(_by_erm_privacy, name)),
            RiskPlan(
                f"{by_erm}/{name}/risk",
                by_erm,
                f"Population risk of SCO by ERM on {name}",
                partial(_by_erm_risk, name),
                curve_over="n",
            ),
            PrivacyPlan(
                f"{by_sco}/{name}", by_sco, f"ERM by SCO on {name}", partial(_by_sco_privacy, name, 2.0)
            ),
            RiskPlan(
                f"{by_sco}/{name}/risk",
                by_sco,
                f"Empirical risk of ERM by SCO on {name}",
                partial(_by_sco_risk, name),
                curve_over="n",
            ),
        ]
    found.append(
        PrivacyPlan(f"{by_erm}/worst-case", by_erm, "SCO by ERM, opposite linear losses", _by_erm_worst)
    )
    for epsilon, name in ((1 / 6, "worst-case"), (2.0, "worst-case-epsilon-2")):
        worst = partial(_by_sco_privacy, "worst-case", epsilon)
        found.append(PrivacyPlan(f"{by_sco}/{name}", by_sco, f"ERM by SCO, opposite losses, {name}", worst))
    oracles: tuple[Literal["gradient", "value"], ...] = ("gradient", "value")
    for oracle in oracles:
        title = f"{oracle.capitalize()} queries of SCO by ERM"
        found.append(
            ComplexityPlan(f"{by_erm}/{oracle}-queries", by_erm, title, partial(_by_erm_queries, oracle))
        )
    found.append(
        ComplexityPlan(f"{by_sco}/queries", by_sco, "Gradient queries of ERM by SCO", _by_sco_queries)
    )
    for exponent in (4, 8, 12):
        title = f"The factor in Theorem 8's risk, n = 1e{exponent}"
        found.append(
            ConstantPlan(f"{by_erm}/factor-{exponent}", by_erm, title, partial(_hidden_factor, exponent))
        )
    return tuple(found)


PLANS = _plans()
