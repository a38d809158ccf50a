"""Audits of noisy stochastic gradient descent (bst14, Algorithm 1).

Risks are sums over the records.
"""

from __future__ import annotations

import math
from functools import partial

from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.auditing import Bound, ConstantQuestion, CountQuestion, PrivacyQuestion
from dpverify.auditing.subjects import CountedRuns, OnPair, RiskOf
from dpverify.ledger.records import Interval
from dpverify.problems import Ball, HalfSquaredDistance, NeighborPair, Problem, load, opposite_linear
from dpverify.statements.audit_parts import NOISE, REAL_DATA, linear_neighbors, real_problem
from dpverify.statements.plans import (
    CONSTANT,
    COUNT,
    PRIVACY,
    RISK,
    AsPrinted,
    Audit,
    Cases,
    ClaimedRate,
    Corrected,
    Plan,
    Profile,
    along,
    white_box,
)

EPSILON, RISK_EPSILON, DELTA = 2.0, 8.0, 1e-5
PRIVACY_EPSILON, PRIVACY_DELTA = 2.0, 0.01
SIZE, DIMENSION = 32, 5
"""Records and features kept of a real data set, for n^2 steps."""


def _private(pair: NeighborPair, runs: int) -> Audit:
    """A few steps on two records: the accountant's whole profile is claimed, which shows more than one point of it."""
    n = pair.left.n
    mechanism = NoisyGradientDescent(
        Problem(pair.loss, Ball(pair.left.d, 1.0)), PRIVACY_EPSILON, PRIVACY_DELTA
    )
    stated = mechanism.guarantees(n)
    return Audit(
        PrivacyQuestion(
            stated.sharpest,
            pair.description,
            runs,
            origin=Corrected(
                "bst14.thm2.1",
                f"{stated.headline.guarantee} for sigma^2 = O(L^2 n^2 ln(n/delta) ln(1/delta) / epsilon^2)",
                "the O( ) has the smallest proven constant, and the claim is the whole profile through that point",
                "every epsilon >= 0",
            ),
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=NOISE),
    )


def _real(data_name: str, profile: Profile) -> Audit:
    return _private(linear_neighbors(data_name, n=2, d=4), profile.runs(40_000))


def _worst(profile: Profile) -> Audit:
    return _private(opposite_linear(2, 4, 2), profile.runs(40_000))


def _lipschitz_risk(data_name: str, profile: Profile) -> Cases:
    """Theorem 2.4 (1) through Lemma 2.5, with the constant that its source proves."""
    cases = []
    for n in (8, 16, 32):
        problem, data = real_problem(data_name, n=n, d=DIMENSION)
        # at the epsilon of the privacy audits, the bound is above every risk on the set
        mechanism = NoisyGradientDescent(problem, RISK_EPSILON, DELTA)
        steps = n * n
        second_moment = (n * problem.loss.lipschitz_constant) ** 2 + DIMENSION * mechanism.noise_stddev(
            n
        ) ** 2
        bound = 2 * problem.constraint.diameter * math.sqrt(second_moment / steps) * (2 + math.log(steps))
        cases.append(
            (
                Bound(
                    bound=bound,
                    claim="2 ||C|| G (2 + ln T) / sqrt(T), T = n^2, G^2 = n^2 L^2 + p sigma^2",
                    data=f"{data_name}, n records, d = {DIMENSION}, epsilon = {RISK_EPSILON:g}",
                    runs=profile.runs(1_000),
                    size=float(n),
                    origin=Corrected(
                        "bst14.thm2.4.1",
                        "O(L ||C|| ln^(3/2)(n/delta) sqrt(p ln(1/delta)) / epsilon)",
                        "the constants of Lemma 2.5 and of the noise are written out",
                        "every n >= 2, Lipschitz convex losses",
                    ),
                ),
                RiskOf(mechanism, problem, data, total=True),
            )
        )
    return tuple(cases)


def _strongly_convex_risk(profile: Profile) -> Cases:
    """Theorem 2.4 (2) through Lemma 2.6, for the mean of n records, as n grows."""
    constraint = Ball(2, 1.0)
    problem = Problem(HalfSquaredDistance.on(constraint), constraint)
    cases = []
    for n in (8, 16, 32, 64):
        data = load("breast-cancer", n=n, d=2)
        mechanism = NoisyGradientDescent(problem, RISK_EPSILON, DELTA, step_size="strongly-convex")
        steps = n * n
        second_moment = (n * problem.loss.lipschitz_constant) ** 2 + 2 * mechanism.noise_stddev(n) ** 2
        bound = 17 * second_moment * (1 + math.log(steps)) / (n * problem.loss.strong_convexity * steps)
        cases.append(
            (
                Bound(
                    bound=bound,
                    claim="17 G^2 (1 + ln T) / (n Delta T), T = n^2, G^2 = n^2 L^2 + p sigma^2",
                    data=f"mean of n records of breast-cancer, d = 2, epsilon = {RISK_EPSILON:g}",
                    runs=profile.runs(20_000),
                    size=float(n),
                    origin=Corrected(
                        "bst14.thm2.4.2",
                        "O(L^2 ln^2(n/delta) p ln(1/delta) / (n Delta epsilon^2)), logarithms aside",
                        "the constants of Lemma 2.6 and of the noise are written out",
                        "every n >= 2, Delta-strongly convex losses",
                    ),
                ),
                RiskOf(mechanism, problem, data, total=True),
            )
        )
    return tuple(cases)


def _queries(profile: Profile) -> Audit:
    problem, data = real_problem("breast-cancer", n=SIZE, d=DIMENSION)
    mechanism = NoisyGradientDescent(problem, EPSILON, DELTA)
    return Audit(
        CountQuestion(
            SIZE**2 - 1,
            "n^2 - 1, t = 1, ..., n^2 - 1",
            data.name,
            origin=AsPrinted("bst14.alg1", f"t = 1, ..., n^2 - 1: {SIZE**2 - 1}", "every n >= 2"),
        ),
        CountedRuns(mechanism, data),
    )


def _constant(n: int, epsilon: float, profile: Profile) -> Audit:
    """The constant hidden in Algorithm 1's noise variance."""
    problem, _ = real_problem("breast-cancer", n=SIZE, d=DIMENSION)
    smallest = NoisyGradientDescent(problem, epsilon, DELTA).provable_constant(n)
    return Audit(
        ConstantQuestion(
            formula="sigma^2 = c L^2 n^2 ln(n/delta) ln(1/delta) / epsilon^2",
            latex=r"\sigma^2=c\,\frac{L^2n^2\ln(n/\delta)\ln(1/\delta)}{\varepsilon^2}",
            provable=Interval(lower=smallest, upper=smallest),
            extreme="smallest",
            printed=None,
            parameters={"n": str(n), "epsilon": f"{epsilon:g}", "delta": f"{DELTA:g}", "steps": "n^2 - 1"},
            range_fixed_by=f"accounting at n = {n}, epsilon = {epsilon:g} and delta = {DELTA:g}",
            method="accounting for one of n records per step, replace-one neighbors, n^2 - 1 steps",
            origin=Corrected(
                "bst14.alg1",
                "sigma^2 = O( ), no constant",
                "the hidden constant is computed",
                "this n, epsilon and delta",
            ),
        )
    )


_OUTPUTS_ALONE: tuple[Plan, ...] = (
    *(
        Plan(
            f"bst14.alg1/{name}",
            "bst14.alg1",
            f"Noisy gradient descent on {name}",
            PRIVACY,
            partial(_real, name),
        )
        for name in REAL_DATA
    ),
    Plan(
        "bst14.alg1/worst-case",
        "bst14.alg1",
        "Noisy gradient descent, opposite linear losses",
        PRIVACY,
        _worst,
    ),
    *(
        Plan(
            f"bst14.alg1/{name}/risk",
            "bst14.alg1",
            f"Risk of noisy gradient descent on {name}",
            RISK,
            along(partial(_lipschitz_risk, name), over="n"),
        )
        for name in REAL_DATA
    ),
    Plan(
        "bst14.alg1/strongly-convex/risk",
        "bst14.alg1",
        "Risk of noisy gradient descent, strongly convex",
        RISK,
        along(
            _strongly_convex_risk,
            over="n",
            rate=ClaimedRate(
                -1.0,
                AsPrinted(
                    "bst14.thm2.4.2", "1 / n, logarithms aside", "n to infinity, epsilon and delta fixed"
                ),
            ),
        ),
    ),
    Plan("bst14.alg1/queries", "bst14.alg1", "Gradient queries of noisy gradient descent", COUNT, _queries),
    *(
        Plan(
            f"bst14.alg1/constant-{n}",
            "bst14.alg1",
            f"The constant in Algorithm 1's noise variance, n = {n}",
            CONSTANT,
            partial(_constant, n, 1.0),
        )
        for n in (32, 128, 512)
    ),
)

PLANS = (*_OUTPUTS_ALONE, *white_box(_OUTPUTS_ALONE))
