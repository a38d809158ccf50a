"""Audits of Phased SGD and Phased ERM (mn25, Algorithms 4 and 5)."""

from __future__ import annotations

import math
from functools import partial

from dpverify.algorithms.mn25.phased import PhasedERM, PhasedSGD
from dpverify.problems import Ball, NeighborPair, Problem, opposite_linear
from dpverify.statements.audit_parts import REAL_DATA, linear_neighbors, real_problem
from dpverify.statements.mn25.audits.cases import (
    DELTA,
    DIMENSION,
    EPSILON,
    constant_case,
    few_records,
    private_case,
    query_case,
    risk_case,
    trivial,
)
from dpverify.statements.plans import (
    CONSTANT,
    COUNT,
    PRIVACY,
    RISK,
    Audit,
    Cases,
    Plan,
    Profile,
    along,
    white_box,
)

SGD, ERM = "mn25.alg4", "mn25.alg5"
NAMES = {SGD: "Phased SGD", ERM: "Phased ERM"}
SOURCES = {SGD: "mn25.thm7", ERM: "mn25.lem16"}


def _private(subject: str, pair: NeighborPair, runs: int) -> Audit:
    problem = Problem(pair.loss, Ball(pair.left.d, 1.0))
    if subject == SGD:
        sgd = PhasedSGD(problem, 4.0, 0.01, accuracy=0.15 * trivial(problem))
        printed = "(epsilon, delta)-DP for alpha >= 6 B L sqrt(d ln(1/delta)) / (n epsilon)"
        return private_case(sgd, pair, runs, source=SOURCES[SGD], printed=printed)
    erm = PhasedERM(problem, 4.0, 0.01, gap_factor=1e-6)
    printed = "(epsilon, delta)-DP for alpha of the order B L sqrt(d ln(1/delta)) / (n epsilon)"
    return private_case(erm, pair, runs, source=SOURCES[ERM], printed=printed)


def _real(subject: str, data_name: str, profile: Profile) -> Audit:
    n = 2 if subject == SGD else 4
    return _private(subject, linear_neighbors(data_name, n=n, d=1), profile.runs(20_000))


def _worst(subject: str, profile: Profile) -> Audit:
    """Linear losses, whose gradients at the replaced record are opposite unit vectors."""
    n = 2 if subject == SGD else 4
    return _private(subject, opposite_linear(n, 1, n), profile.runs(40_000))


def _sgd_risk(data_name: str, profile: Profile) -> Cases:
    problem, data = real_problem(data_name, d=DIMENSION)
    mechanism = PhasedSGD(problem, EPSILON, DELTA, accuracy=trivial(problem) / 120)
    case = risk_case(
        mechanism,
        data,
        profile.runs(100),
        claim="L sigma_R sqrt(d) + sum of D_r^2 / (2 eta_r T_r) + eta_r L^2 / 2",
        source="mn25.thm7",
        printed="O(alpha)",
        size=float(mechanism.accuracy or 0.0),
    )
    return (case,)


def _erm_risk(data_name: str, profile: Profile) -> Cases:
    problem, data = real_problem(data_name, d=DIMENSION)
    return tuple(
        risk_case(
            PhasedERM(problem, epsilon, DELTA),
            data,
            profile.runs(400),
            claim="L sigma_R sqrt(d) + sum of g_r + lambda_r D_r^2",
            source="mn25.lem16",
            printed="O(alpha)",
            size=epsilon,
        )
        for epsilon in (4.0, 8.0)
    )


def _sgd_queries(profile: Profile) -> Audit:
    """At an accuracy close to the smallest that is proved at 40 records."""
    problem, data = few_records()
    mechanism = PhasedSGD(problem, EPSILON, DELTA, accuracy=0.06 * trivial(problem))
    words = "sum of 2^-r T, T = max{B L sqrt(d ln(n/delta)) / alpha, (B L / alpha)^2}, each rounded up"
    return query_case(mechanism, data, mechanism.gradient_query_count(data.n), words, source=SOURCES[SGD])


def _erm_queries(profile: Profile) -> Audit:
    problem, data = few_records()
    mechanism = PhasedERM(problem, EPSILON, DELTA)
    words = "at most what the inner solvers may need, by the rate of convergence of accelerated descent"
    claimed = mechanism.gradient_query_count(data.n)
    return query_case(mechanism, data, claimed, words, source=SOURCES[ERM], exact=False)


def _sgd_constant(n: int, profile: Profile) -> Audit:
    """At larger epsilon the smallest accuracy is above the B L / sqrt(n) at which its default stops."""
    mechanism = PhasedSGD(few_records()[0], 0.1, DELTA)
    return constant_case(
        mechanism,
        n,
        mechanism.accuracy_in_use(n),
        constant=6.0,
        printed="6",
        source=SOURCES[SGD],
        method="accounting for records drawn with replacement, all phases released",
    )


def _erm_constant(n: int, profile: Profile) -> Audit:
    mechanism = PhasedERM(few_records()[0], 1.0, DELTA)
    return constant_case(
        mechanism,
        n,
        mechanism.accuracy_in_use(n),
        constant=math.log(n),
        printed="ln n, in O( )",
        source=SOURCES[ERM],
        method="Gaussian composition over the phases, inexact minimizers accounted for",
    )


def _plans() -> tuple[Plan, ...]:
    found: list[Plan] = []
    for subject, risk, curve_over, queries, constant in (
        (SGD, _sgd_risk, "", _sgd_queries, _sgd_constant),
        (ERM, _erm_risk, "epsilon", _erm_queries, _erm_constant),
    ):
        name = NAMES[subject]
        for data_name in REAL_DATA:
            found += [
                Plan(
                    f"{subject}/{data_name}",
                    subject,
                    f"{name} on {data_name}",
                    PRIVACY,
                    partial(_real, subject, data_name),
                ),
                Plan(
                    f"{subject}/{data_name}/risk",
                    subject,
                    f"Risk of {name} on {data_name}",
                    RISK,
                    along(partial(risk, data_name), over=curve_over),
                ),
            ]
        found += [
            Plan(f"{subject}/worst-case", subject, f"{name}, worst case", PRIVACY, partial(_worst, subject)),
            Plan(f"{subject}/queries", subject, f"Gradient queries of {name}", COUNT, queries),
            *(
                Plan(
                    f"{subject}/constant-{n}",
                    subject,
                    f"The constant in {name}'s accuracy, n = {n}",
                    CONSTANT,
                    partial(constant, n),
                )
                for n in (200, 1000)
            ),
        ]
    return (*found, *white_box(found))


PLANS = _plans()
