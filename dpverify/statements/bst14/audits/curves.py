"""Risks along sizes, counted queries and audits at real size of bst14's algorithms. Risks are sums over the records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from dpverify.algorithms.bst14 import (
    ApproximateLocalization,
    BoostedSampling,
    Boosting,
    EfficientExponentialSampling,
    ExponentialSampling,
    GridWalk,
    HuberizedObjectivePerturbation,
    Localization,
    NetMechanism,
    NoisyGradientDescent,
    ObjectivePerturbation,
    OutputPerturbation,
    SamplingInConvexSet,
)
from dpverify.auditing import RateQuestion
from dpverify.ledger.origins import AsPrinted
from dpverify.problems import Ball, load
from dpverify.statements import real_size
from dpverify.statements.audit_parts import mean_of, real_problem
from dpverify.statements.audit_rows import Law, Made, Risk, Risks
from dpverify.statements.bst14.audits import laws
from dpverify.statements.bst14.audits.cases import (
    EPSILON,
    FAILURE,
    FEATURES,
    by_steps,
    linear_on_cube,
    ridge,
    sampling,
)
from dpverify.statements.bst14.audits.laws import DELTA, NOISES, WALK_EPSILON, on_cube, walk_on_line

SAID = "{name}, n records, d = {data.d}, epsilon = {mechanism.epsilon:g}"
MEAN = "mean of n records of {data.name}, d = {data.d}, epsilon = {mechanism.epsilon:g}"
_weak_ridge = partial(ridge, weight=0.1)


def _as_one_over(statement: str, printed: str = "1 / n") -> RateQuestion:
    return RateQuestion(-1.0, AsPrinted(statement, printed, "n to infinity, epsilon and delta fixed"))


# at the epsilon of the privacy audits, the bound is above every risk on the set
descent = Risks(lambda p, n: NoisyGradientDescent(p, 8.0, DELTA), (8, 16, 32), 5, SAID)
convex_descent = Risks(
    lambda p, n: NoisyGradientDescent(p, 8.0, DELTA, step_size="strongly-convex"),
    (8, 16, 32, 64),
    2,
    f"mean of n records of {SAID.replace(', n records', '')}",
    mean_of,
    rate=_as_one_over("bst14.thm2.4.2", "1 / n, logarithms aside"),
)
sampled = Risks(sampling, (32, 128, 400), 3, SAID)
sampled_digits = Risks(sampling, (32, 128, 400), None, SAID, mean_of)
sampled_corner = Risks(
    sampling,
    (64, 256, 569),
    3,
    "{name}, n records, d = 3, linear losses on a cube, epsilon = {mechanism.epsilon:g}",
    linear_on_cube,
)
# what follows for a population, by how stable minimizers are
output_population = Risks(
    lambda p, n: OutputPerturbation(p, 1.0), (50, 200), FEATURES, on=mean_of, samples=", epsilon = 1"
)
output = Risks(lambda p, n: OutputPerturbation(p, 1.0), (50, 100, 200), FEATURES, SAID, _weak_ridge)
localized = Risks(lambda p, n: Localization(p, 8.0), (10, 20, 40), 2, MEAN, mean_of)
localized_approx = Risks(lambda p, n: ApproximateLocalization(p, 8.0, DELTA), (16, 32), 2, MEAN, mean_of)
# Theorem 3.4 (2) with the constant that a convex risk gives
efficient = Risks(lambda p, n: EfficientExponentialSampling(p, WALK_EPSILON), (2, 8, 32), 1, on=on_cube)
net = Risks(lambda p, n: NetMechanism(p, EPSILON), (16, 64, 128), 2, SAID)


def _objective(noise: str, on: Any) -> Risks:
    return Risks(
        lambda p, n: ObjectivePerturbation(p, 1.0, NOISES[noise]), (50, 100, 200), FEATURES, SAID, on
    )


def objective(noise: str, name: str) -> Any:
    """Theorem E.1 on breast cancer, E.2 on a ridge regression of diabetes."""
    return _objective(noise, real_problem if name == "breast-cancer" else _weak_ridge)(name)


def _objective_mean(noise: str, epsilon: float, statement: str) -> Risks:
    """Theorem E.2 on the mean of real records, whose bound is attained where no end of the set is reached.

    With such an epsilon less than one run in a thousand reaches the end of the set, which would flatten the rate.
    """
    return Risks(
        lambda p, n: ObjectivePerturbation(p, epsilon, NOISES[noise]),
        (12, 24, 48),
        FEATURES,
        f"mean of {SAID}",
        mean_of,
        rate=_as_one_over(statement),
    )


objective_population = replace(_objective("gaussian", real_problem), samples=", epsilon = 1")
objective_mean_gamma = _objective_mean("gamma", 3.0, "bst14.thmE.2.1")
objective_mean_gaussian = _objective_mean("gaussian", 9.0, "bst14.thmE.2.2")

# ------------------------------------------------------------------------------------------ counted

descent_queries = Made(lambda p, n: NoisyGradientDescent(p, 2.0, DELTA), 32, 5)
quadratic_queries = Made(sampling, 200, None, "digits", mean_of)
cell_queries = Made(sampling, 100, 2)
local_projections = Made(lambda p, n: Localization(p, 4.0), 20, 2, on=ridge)
local_approx_projections = Made(lambda p, n: ApproximateLocalization(p, 4.0, DELTA), 16, 5, on=ridge)
walk_values = Made(by_steps(GridWalk), 8, 2, on=on_cube)
efficient_values = Made(by_steps(EfficientExponentialSampling), 2, 1, on=on_cube)
net_values = Made(lambda p, n: NetMechanism(p, EPSILON), 64, 2, "diabetes")
boosted_descent = Made(lambda p, n: Boosting(NoisyGradientDescent(p, 4.0, DELTA), FAILURE), 12, 5)

# ------------------------------------------------------------------------------------------ real size

STRONGER = 4.0
"""The epsilon at which the bounds of what uses n^2 noisy steps are below the largest risk on the set."""

descent_at_size = real_size.risk(
    lambda: NoisyGradientDescent(real_size.mean(), STRONGER, DELTA, step_size="strongly-convex")
)
sampled_at_size = real_size.risk(lambda: ExponentialSampling(real_size.mean(), 1.0))
sampled_pair_at_size = real_size.privacy(lambda: ExponentialSampling(real_size.linear(), 1.0))
output_at_size = real_size.risk(lambda: OutputPerturbation(real_size.mean(), 1.0))
output_pair_at_size = real_size.privacy(lambda: OutputPerturbation(real_size.mean(), 1.0))
local_at_size = real_size.risk(lambda: Localization(real_size.mean(), STRONGER))
local_approx_at_size = real_size.risk(lambda: ApproximateLocalization(real_size.mean(), STRONGER, DELTA))
boosted_pair_at_size = real_size.privacy(lambda: Boosting(OutputPerturbation(real_size.mean(), 1.0), 0.1))
objective_at_size = real_size.risk(lambda: ObjectivePerturbation(real_size.logistic(), 1.0))
huberized_at_size = real_size.risk(
    lambda: HuberizedObjectivePerturbation(0.5, 1.0, constraint=Ball(real_size.DIMENSION, 1.0))
)


def _walk_at(kind: type, n: int, d: int) -> Any:
    return walk_on_line(kind, on_cube(real_size.DATA, n=n, d=d)[0])


def _net_at(n: int, d: int) -> NetMechanism:
    return NetMechanism(real_size.logistic(d), EPSILON)


REFUSED: dict[str, Callable[[int, int], Any]] = {
    **{
        kind.id: partial(_walk_at, kind)
        for kind in (GridWalk, SamplingInConvexSet, BoostedSampling, EfficientExponentialSampling)
    },
    NetMechanism.id: _net_at,
}
"""What is too costly on all records and features, as its costs grow by n^3 and faster, or exponentially with the

dimension: from n and d to the mechanism. It is audited with one or two features, on as many records as are not refused.
"""


def _law_at_size(kind: Any) -> Law:
    """The law in one dimension, on the most records that are not refused."""
    return laws.walk(kind, real_size.largest(REFUSED[kind.id]), real_size.DATA)


walk_at_size = partial(_law_at_size, GridWalk)
in_set_at_size = partial(_law_at_size, SamplingInConvexSet)
boosted_walk_at_size = partial(_law_at_size, BoostedSampling)
efficient_at_size = partial(_law_at_size, EfficientExponentialSampling)


def net_at_size() -> tuple[Risk, ...]:
    """All records, with as many features as have a net of at most so many points."""
    d = 1
    while real_size.refusal(_net_at, real_size.SIZE, d + 1) is None:
        d += 1
    return real_size.risk(partial(_net_at, real_size.SIZE, d), partial(load, real_size.DATA, d=d))()
