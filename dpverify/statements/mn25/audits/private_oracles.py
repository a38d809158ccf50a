"""Audits of the interaction protocol with a private oracle (mn25, Algorithms 1 and 2)."""

from __future__ import annotations

from functools import partial

from dpverify.algorithms.mn25.private_oracles import CyclicDescent, GaussianOracle, PrivateOracleMethod
from dpverify.problems import AllSpace, NeighborPair, Problem, opposite_linear
from dpverify.statements.audit_parts import REAL_DATA, linear_neighbors
from dpverify.statements.mn25.audits.cases import few_records, private_case, query_case
from dpverify.statements.plans import COUNT, PRIVACY, Audit, Plan, Profile

SUBJECT = "mn25.alg1"
NAME = "Private oracle method"
SOURCE = "mn25.prelim"


def _private(pair: NeighborPair, runs: int) -> Audit:
    """One batch of all records: the message is the Gaussian mechanism itself."""
    n, d = pair.left.n, pair.left.d
    mechanism = PrivateOracleMethod(
        Problem(pair.loss, AllSpace(d)), GaussianOracle(1.2 / n), CyclicDescent(1, n, 1.0)
    )
    printed = "each message rho-zCDP with respect to one gradient, composed"
    return private_case(mechanism, pair, runs, source=SOURCE, printed=printed)


def _real(data_name: str, profile: Profile) -> Audit:
    return _private(linear_neighbors(data_name, n=4, d=2), profile.runs(20_000))


def _worst(profile: Profile) -> Audit:
    """Linear losses, whose gradients at the replaced record are opposite unit vectors."""
    return _private(opposite_linear(4, 1, 4), profile.runs(40_000))


def _queries(profile: Profile) -> Audit:
    """Two passes over the records in batches of 8, messages of noise multiplier 1."""
    problem, data = few_records()
    lipschitz = problem.loss.lipschitz_constant
    size = min(8, data.n)
    rate = problem.constraint.diameter / (8 * lipschitz)
    mechanism = PrivateOracleMethod(
        problem, GaussianOracle(2 * lipschitz / size), CyclicDescent(max(1, 2 * data.n // size), size, rate)
    )
    return query_case(mechanism, data, mechanism.gradient_query_count(data.n), "T m", source=SOURCE)


PLANS: tuple[Plan, ...] = (
    *(
        Plan(f"{SUBJECT}/{name}", SUBJECT, f"{NAME} on {name}", PRIVACY, partial(_real, name))
        for name in REAL_DATA
    ),
    Plan(f"{SUBJECT}/worst-case", SUBJECT, f"{NAME}, worst case", PRIVACY, _worst),
    Plan(f"{SUBJECT}/queries", SUBJECT, f"Gradient queries of {NAME}", COUNT, _queries),
)
