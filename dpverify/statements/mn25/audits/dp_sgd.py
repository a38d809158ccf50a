"""Audits of DP-SGD with its tuning (mn25, Algorithm 3)."""

from __future__ import annotations

import math
from functools import partial

from dpverify.algorithms.mn25.dp_sgd import DPSGD
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
from dpverify.statements.plans import CONSTANT, COUNT, PRIVACY, RISK, Audit, Cases, Plan, Profile, along

SUBJECT = "mn25.alg3"
NAME = "DP-SGD"
SOURCE = "mn25.thm2"


def _private(pair: NeighborPair, runs: int) -> Audit:
    mechanism = DPSGD(Problem(pair.loss, Ball(pair.left.d, 1.0)), 4.0, 0.01)
    printed = "(epsilon, delta)-DP for alpha >= 26 B L sqrt(d ln(1/delta)) / (n epsilon)"
    return private_case(mechanism, pair, runs, source=SOURCE, printed=printed)


def _real(data_name: str, profile: Profile) -> Audit:
    return _private(linear_neighbors(data_name, n=4, d=1), profile.runs(20_000))


def _worst(profile: Profile) -> Audit:
    """Linear losses, whose gradients at the replaced record are opposite unit vectors."""
    return _private(opposite_linear(4, 1, 4), profile.runs(40_000))


def _risk(data_name: str, profile: Profile) -> Cases:
    problem, data = real_problem(data_name, d=DIMENSION)
    mechanisms = (
        DPSGD(problem, EPSILON, DELTA, accuracy=share * trivial(problem)) for share in (0.2, 0.1, 0.05)
    )
    return tuple(
        risk_case(
            mechanism,
            data,
            profile.runs(400),
            claim="B^2 / (2 eta T) + eta (L^2 + d sigma^2) / 2, at most 2 alpha",
            source="mn25.lem11",
            printed="2 alpha",
            size=float(mechanism.accuracy or 0.0),
        )
        for mechanism in mechanisms
    )


def _queries(profile: Profile) -> Audit:
    problem, data = few_records()
    mechanism = DPSGD(problem, EPSILON, DELTA)
    ratio = trivial(problem) / mechanism.parameters(data.n).accuracy
    claimed = math.ceil(ratio**2 * (1 - 1e-12)) * math.ceil(math.sqrt(DIMENSION / mechanism.rho))
    words = "T m, T = (B L / alpha)^2 and m = sqrt(d / rho), both rounded up"
    return query_case(mechanism, data, claimed, words, source=SOURCE)


def _constant(n: int, profile: Profile) -> Audit:
    mechanism = DPSGD(few_records()[0], 1.0, DELTA)
    return constant_case(
        mechanism,
        n,
        mechanism.parameters(n).accuracy,
        constant=26.0,
        printed="26",
        source=SOURCE,
        method="accounting for m of n records per step, drawn without replacement, all messages released",
    )


PLANS: tuple[Plan, ...] = (
    *(
        Plan(f"{SUBJECT}/{name}", SUBJECT, f"{NAME} on {name}", PRIVACY, partial(_real, name))
        for name in REAL_DATA
    ),
    *(
        Plan(
            f"{SUBJECT}/{name}/risk",
            SUBJECT,
            f"Risk of {NAME} on {name}",
            RISK,
            along(partial(_risk, name), over="alpha"),
        )
        for name in REAL_DATA
    ),
    Plan(f"{SUBJECT}/worst-case", SUBJECT, f"{NAME}, worst case", PRIVACY, _worst),
    Plan(f"{SUBJECT}/queries", SUBJECT, f"Gradient queries of {NAME}", COUNT, _queries),
    *(
        Plan(
            f"{SUBJECT}/constant-{n}",
            SUBJECT,
            f"The constant in {NAME}'s accuracy, n = {n}",
            CONSTANT,
            partial(_constant, n),
        )
        for n in (200, 1000)
    ),
)
