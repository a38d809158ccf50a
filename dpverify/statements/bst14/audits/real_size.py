"""Audits of bst14's algorithms at the sizes that people have.

Algorithms 5 to 8 and the grid walk are refused there: their costs grow by n^3 and faster, or exponentially with the
dimension. They are audited with one or two features, on as many records as are not refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dpverify.algorithms.bst14.boosting import Boosting
from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.bst14.huberized_hinge import HuberizedObjectivePerturbation
from dpverify.algorithms.bst14.localization import ApproximateLocalization, Localization
from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.auditing import Bound
from dpverify.auditing.subjects import ValuesOf
from dpverify.problems import Ball, Logistic, Problem, load, minimize
from dpverify.statements.audit_parts import EXPONENT
from dpverify.statements.bst14.audits.boosting import RiskAbove
from dpverify.statements.bst14.audits.walk_cases import law_case, on_cube, walked
from dpverify.statements.plans import (
    LAW,
    MEAN,
    RISK,
    AsPrinted,
    Audit,
    Cases,
    Corrected,
    Plan,
    Profile,
    along,
)
from dpverify.statements.real_size import (
    DATA,
    DELTA,
    DIMENSION,
    EPSILON,
    SIZE,
    StatedRiskCases,
    largest,
    linear,
    mean,
    privacy,
    refusal,
    risk,
    whole,
)

_STRONGER = 4.0
"""The epsilon at which the bounds of what uses n^2 noisy steps are below the largest risk on the set."""


def _logistic(d: int = DIMENSION) -> Problem:
    return Problem(Logistic(), Ball(d, 1.0))


def _walk(kind: type, n: int, d: int) -> Any:
    """What `law_case` runs, at any size."""
    problem, _ = on_cube(DATA, n, d)
    return kind(problem, 0.5, 0.5) if kind in (GridWalk, SamplingInConvexSet) else walked(kind, problem)


def _net(n: int, d: int) -> Any:
    return NetMechanism(_logistic(d), 2 * EPSILON)


REFUSED: dict[str, Callable[[int, int], Any]] = {
    "bst14.alg-cube": partial(_walk, GridWalk),
    "bst14.alg5": partial(_walk, SamplingInConvexSet),
    "bst14.alg6": partial(_walk, BoostedSampling),
    "bst14.alg7": partial(_walk, EfficientExponentialSampling),
    "bst14.alg8": _net,
}
"""What is too costly on all records and features: from n and d to the mechanism."""


def _largest_law(kind: Any, profile: Profile) -> Audit:
    """The law in one dimension, on as many records as can be walked on."""
    return law_case(kind, DATA, largest(partial(_walk, kind)), profile)


def _net_risk(profile: Profile) -> Cases:
    """All records, with as many features as have a net of at most so many points."""
    d = 1
    while refusal(_net, SIZE, d + 1) is None:
        d += 1
    return StatedRiskCases(partial(_net, SIZE, d), partial(load, DATA, d=d), 2_000)(profile)


def _boosted_probability(profile: Profile) -> Cases:
    """With probability at least 1 - rho the risk is below the bound, which is below the largest."""
    problem, data, rho = mean(), whole(), 0.1
    mechanism = Boosting(OutputPerturbation(problem, 10 * _STRONGER), rho)
    stated = mechanism.risk_bound(SIZE)
    if stated is None or stated.probability is None:
        raise AssertionError("boosting bounds the risk with high probability")
    least = SIZE * minimize(problem, data).value.upper
    bound = Bound(
        bound=1 - stated.probability,
        claim=f"rho = {rho:g}: {stated}",
        data=f"{data.name}, {SIZE} records of {DIMENSION} features, output perturbation",
        runs=profile.runs(200),
        origin=Corrected(
            "bst14.appD",
            "risk at most poly log(1/rho) times the expected one",
            "the proof's steps with their constants: Markov's inequality for k runs, and the selection's loss",
            "every rho in (0, 1)",
        ),
    )
    above = RiskAbove(problem, data, stated.bound, least)
    quantity = "probability that the excess total risk is above the bound, dimensionless"
    return ((bound, ValuesOf(mechanism, data, above, 0.0, 1.0, quantity)),)


PLANS: tuple[Plan, ...] = (
    risk(
        "bst14.alg1",
        "noisy gradient descent",
        lambda: NoisyGradientDescent(mean(), _STRONGER, DELTA, step_size="strongly-convex"),
        runs=60,
    ),
    risk("bst14.alg2", "exponential sampling", lambda: ExponentialSampling(mean(), EPSILON), runs=2_000),
    privacy(
        "bst14.alg2",
        "Exponential sampling",
        lambda: ExponentialSampling(linear(), EPSILON),
        runs=40_000,
        fault=EXPONENT,
        origin=AsPrinted("bst14.thm3.1", "epsilon-DP", "every epsilon > 0"),
    ),
    risk("bst14.alg3", "output perturbation", lambda: OutputPerturbation(mean(), EPSILON), runs=2_000),
    privacy(
        "bst14.alg3",
        "Output perturbation",
        lambda: OutputPerturbation(mean(), EPSILON),
        runs=40_000,
        origin=AsPrinted("bst14.lem4.1", "epsilon-DP", "every epsilon > 0, Delta-strongly convex losses"),
    ),
    risk("bst14.alg4", "localization", lambda: Localization(mean(), _STRONGER), runs=500),
    risk(
        "bst14.alg-local-approx",
        "approximate localization",
        lambda: ApproximateLocalization(mean(), _STRONGER, DELTA),
        runs=60,
    ),
    privacy(
        "bst14.alg-boost",
        "Boosting of output perturbation",
        lambda: Boosting(OutputPerturbation(mean(), EPSILON), 0.1),
        runs=10_000,
        origin=Corrected(
            "bst14.appD",
            "epsilon-DP, with epsilon / k for each of the k runs and epsilon for the selection",
            "these are 2 epsilon together: the runs and the selection share epsilon",
            "every epsilon > 0",
        ),
    ),
    Plan(
        "bst14.alg-boost/real-size/probability",
        "bst14.alg-boost",
        f"Probability that boosting's risk is above its bound at real size, {SIZE} records of {DIMENSION} features",
        MEAN,
        along(_boosted_probability),
        Profile.FULL,
    ),
    risk(
        "bst14.alg-objpert",
        "objective perturbation",
        lambda: ObjectivePerturbation(_logistic(), EPSILON),
        runs=500,
    ),
    risk(
        "bst14.alg-huber",
        "huberized objective perturbation",
        lambda: HuberizedObjectivePerturbation(0.5, EPSILON, constraint=Ball(DIMENSION, 1.0)),
        runs=500,
    ),
    *(
        Plan(
            f"{kind.id}/real-size/law",
            kind.id,
            "The law in one dimension on the most records that are not refused",
            LAW,
            partial(_largest_law, kind),
            Profile.FULL,
        )
        for kind in (GridWalk, SamplingInConvexSet, BoostedSampling, EfficientExponentialSampling)
    ),
    Plan(
        "bst14.alg8/real-size/risk",
        "bst14.alg8",
        "Risk of the exponential mechanism on a net, all records and the most features that are not refused",
        RISK,
        along(_net_risk),
        Profile.FULL,
    ),
)
