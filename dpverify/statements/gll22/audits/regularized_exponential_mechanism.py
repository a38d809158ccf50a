"""Audits of the regularized exponential mechanism (gll22, (8)).

Risks are means over the records.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.auditing import Bound, ConstantQuestion, CountQuestion, LawQuestion, PrivacyQuestion
from dpverify.auditing.subjects import CountedRuns, LawOf, OnPair, RiskOf
from dpverify.ledger.records import Interval
from dpverify.problems import AllSpace, Ball, Linear, Logistic, NeighborPair, Problem, load, opposite_linear
from dpverify.statements.audit_parts import (
    EXPONENT,
    REAL_DATA,
    GaussianPair,
    OnFreshSamples,
    UniformOn,
    linear_neighbors,
    real_problem,
)
from dpverify.statements.gll22.audits.cases import SIZE, Coordinate, plane_law
from dpverify.statements.plans import (
    CONSTANT,
    COUNT,
    LAW,
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

EPSILON, DELTA = 1.0, 1e-3


# ------------------------------------------------------------------------------------------ the mechanism


_PROFILE_ORIGIN = AsPrinted(
    "gll22.thm6.2",
    "the profile of two Gaussians with variance 1, G sqrt(k) / (n sqrt(mu)) apart",
    "every epsilon >= 0, G-Lipschitz differences of mu-strongly convex regularized losses",
)


def _gaussian_case(pair: NeighborPair, runs: int) -> Audit:
    """Linear losses on all space: two Gaussians, for which Theorem 2.1 is tight."""
    mechanism = RegularizedExponentialMechanism(
        Problem(pair.loss, AllSpace(pair.left.d)), EPSILON, DELTA, regularization=1.0
    )
    tuned = mechanism.tuned(pair.left.n)
    spread = math.sqrt(tuned.inverse_temperature / tuned.regularization)
    exact = GaussianPair(pair.gradient_distance * spread / pair.left.n)
    return Audit(
        PrivacyQuestion(
            mechanism.guarantees(pair.left.n).headline,
            f"{pair.description}; on all space",
            runs,
            origin=_PROFILE_ORIGIN,
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=EXPONENT, exact=exact),
    )


def _real(data_name: str, profile: Profile) -> Audit:
    return _gaussian_case(linear_neighbors(data_name, n=4, d=2), profile.runs(50_000))


def _worst(profile: Profile) -> Audit:
    return _gaussian_case(opposite_linear(SIZE, 1, SIZE), profile.runs(100_000))


def _sampled(profile: Profile) -> Audit:
    """The density sampled by Algorithm 1, its total variation paid for in delta.

    A Gaussian far inside the set, of which the two data sets have nearly all that Theorem 6.2 allows. Of linear losses
    nothing is left to estimate, so that what is seen is the alternation and its Gaussians.
    """
    epsilon, delta = 0.7, 0.05
    pair = linear_neighbors("breast-cancer", n=1, d=1)
    mechanism = RegularizedExponentialMechanism(
        Problem(pair.loss, Ball(1, 1.0)), epsilon, delta, regularization=12.0, sampler="alternating"
    )
    return Audit(
        PrivacyQuestion(
            mechanism.guarantees(pair.left.n).headline,
            f"{pair.description}; alternating sampler, which of linear losses has nothing left to estimate",
            profile.runs(3_000),
            origin=Corrected(
                "gll22.thm6.4",
                f"({epsilon:g}, {delta:g})-DP, a third of delta paid for the sampler",
                "total variation tau costs (1 + e^epsilon) tau, more than is printed for it",
                "epsilon below 100",
            ),
            delta=delta,
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=EXPONENT),
    )


def _risk(data_name: str, profile: Profile) -> Cases:
    cases = []
    for n in (SIZE, 4 * SIZE, 16 * SIZE):
        problem, data = real_problem(data_name, n=n, d=2)
        mechanism = RegularizedExponentialMechanism(problem, EPSILON, DELTA)
        stated = mechanism.risk_bound(n)
        assert stated is not None
        cases.append(
            (
                Bound(
                    bound=stated.bound,
                    claim="d / k + mu D^2 / 2, k and mu tuned by the exact Gaussian profile",
                    data=f"{data_name}, n records, d = 2",
                    runs=profile.runs(4_000),
                    size=float(n),
                    origin=Corrected(
                        "gll22.thm6.2",
                        "d / k + mu D^2 / 2",
                        "D is the largest distance from the regularizer's center, which lies in the set",
                        "every k and mu",
                    ),
                ),
                RiskOf(mechanism, problem, data, total=False),
            )
        )
    return tuple(cases)


def _population_risk(profile: Profile) -> Cases:
    """Theorem 6.8 with a data set as the population."""
    data = load("breast-cancer", d=5)
    problem = Problem(Linear(labeled=True), Ball(5, 1.0))
    cases = []
    for n in (SIZE, 4 * SIZE, 16 * SIZE):
        mechanism = RegularizedExponentialMechanism(problem, EPSILON, DELTA, tuning="sco")
        stated = mechanism.risk_bound(n)
        assert stated is not None
        cases.append(
            (
                Bound(
                    bound=stated.bound,
                    claim="G^2 / (n mu) + d / k + mu D^2 / 2",
                    data=f"{data.name} as the population, samples of n records, linear losses, d = 5",
                    runs=profile.runs(8_000),
                    size=float(n),
                    origin=Corrected(
                        "gll22.thm6.8",
                        "G / (n mu) + d / k + mu D^2 / 2",
                        "Theorem 6.7, on which it rests, gives G^2 / (n mu)",
                        "independent records",
                    ),
                ),
                RiskOf(OnFreshSamples(mechanism, n), problem, data, total=False, runs_a_sample=20),
            )
        )
    return tuple(cases)


def _mechanism_law(data_name: str, profile: Profile) -> Audit:
    problem, data = real_problem(data_name, n=4 * SIZE, d=2)
    mechanism = RegularizedExponentialMechanism(problem, 2 * EPSILON, DELTA)
    return Audit(
        LawQuestion(
            reference=plane_law(mechanism.density(data.n), data),
            reference_error=1e-3,
            distance="total variation",
            bound=0.0,
            claim="the density exp(-k (F + mu ||x||^2 / 2)) on the ball, exactly",
            statistic_name="first coordinate of two",
            data=f"{data_name}, n = {data.n}",
            runs=profile.runs(20_000),
            origin=AsPrinted(
                "gll22.thm6.2", "density proportional to exp(-k (F + mu ||x||^2 / 2))", "every data set"
            ),
        ),
        LawOf(mechanism, data, Coordinate(0), blind=UniformOn(problem.constraint)),
    )


def _mechanism_queries(profile: Profile) -> Audit:
    data = load("diabetes", n=SIZE)
    mechanism = RegularizedExponentialMechanism(
        Problem(Linear(), Ball(data.d, 1.0)), EPSILON, DELTA, tuning="erm"
    )
    return Audit(
        CountQuestion(
            SIZE,
            "n, where the density is a Gaussian on the ball",
            data.name,
            origin=Unstated("the paper counts no queries where the density is a Gaussian"),
        ),
        CountedRuns(mechanism, data),
    )


def _queries_constant(profile: Profile) -> Audit:
    """Theorem 6.4's queries against eps^2 n^2 / ln(1/delta) ln^2(n d eps / delta), eps <= ln(1/delta)."""
    worst = 0.0
    for d in (3, 100):
        problem = Problem(Logistic(), Ball(d, 1.0))
        for epsilon in (0.1, 1.0):
            for delta in (1e-3, 1e-6):
                for n in (100, 10_000):
                    mechanism = RegularizedExponentialMechanism(
                        problem, epsilon, delta, sampler="alternating"
                    )
                    # as the theorem has it, without the expansion of the losses
                    printed = replace(mechanism.alternating_sampler(n), expanded=False)
                    (stated,) = printed.queries(n)
                    logarithms = math.log(n * d * epsilon / delta) ** 2 / math.log(1 / delta)
                    worst = max(worst, stated.count / ((epsilon * n) ** 2 * logarithms))
    return Audit(
        ConstantQuestion(
            formula="c eps^2 n^2 / ln(1/delta) ln^2(n d eps / delta)",
            latex=r"c\,\frac{\varepsilon^2n^2}{\log(1/\delta)}\log^2\!\left(\frac{nd\varepsilon}{\delta}\right)",
            provable=Interval(lower=worst, upper=worst),
            extreme="smallest",
            printed=None,
            parameters={"d": "3, 100", "n": "100, 10000", "epsilon": "0.1, 1", "delta": "1e-6, 1e-3"},
            range_fixed_by="a grid of parameters, in floating point",
            method="largest ratio over a grid of the expected queries that the explicit bounds prove; logistic losses",
            origin=Corrected(
                "gll22.thm6.4", "Theta( ), no constant", "the hidden constant is computed", "this grid"
            ),
        )
    )


def _plans() -> tuple[Plan, ...]:
    subject, name = "gll22.rem", "Regularized exponential mechanism"
    found: list[Plan] = []
    for data_name in REAL_DATA:
        where = f"{subject}/{data_name}"
        found += [
            Plan(where, subject, f"{name} on {data_name}", PRIVACY, partial(_real, data_name)),
            Plan(
                f"{where}/risk",
                subject,
                f"Risk of the {name.lower()} on {data_name}",
                RISK,
                along(partial(_risk, data_name), over="n"),
            ),
            Plan(
                f"{where}/law",
                subject,
                f"Law of the {name.lower()} on {data_name}",
                LAW,
                partial(_mechanism_law, data_name),
            ),
        ]
    found += [
        Plan(f"{subject}/worst-case", subject, f"{name}, worst case", PRIVACY, _worst),
        Plan(f"{subject}/sampled", subject, f"{name} by the alternating sampler", PRIVACY, _sampled),
        Plan(
            f"{subject}/population-risk",
            subject,
            f"Population risk of the {name.lower()}",
            RISK,
            along(_population_risk, over="n"),
        ),
        Plan(
            f"{subject}/queries",
            subject,
            f"Gradient queries of the {name.lower()}",
            COUNT,
            _mechanism_queries,
        ),
        Plan(
            f"{subject}/queries-constant",
            "gll22.thm6.4",
            "The constant in the number of value queries",
            CONSTANT,
            _queries_constant,
        ),
    ]
    return tuple(found)


PLANS = _plans()
