"""Problems, stated bounds and counts that several audits of fmtt18 share."""

from __future__ import annotations

from typing import Any

from dpverify.auditing import Bound, CountQuestion
from dpverify.auditing.subjects import CountedRuns, RiskOf
from dpverify.problems import Dataset, Problem
from dpverify.statements.audit_parts import OnFreshSamples
from dpverify.statements.plans import AsPrinted, Audit, Case, Origin, Profile

EPSILON, DELTA = 8.0, 1e-5
"""Asked of the one-pass algorithms on real data, locally, as Theorems 29 and 30 set their parameters."""

SIZE, DIMENSION = 40, 5
"""Records and features kept of a real data set: few enough that a single record can be seen in the output."""

PAIR_ONLY = "the claim is stated for this pair, whose gradients are at distance 2 L with L = 1"
"""Said of worst cases whose loss has no Lipschitz constant on all space."""


RUNS_A_SAMPLE = 20
"""Runs that share one sample of the population."""

POPULATION = "as the population, samples of n records"


def population_case(
    mechanism: Any, problem: Problem, data: Dataset, n: int, claim: str, origin: Origin, profile: Profile
) -> Case:
    stated = mechanism.risk_bound(n)
    return (
        Bound(
            bound=stated.bound,
            claim=claim,
            data=f"{data.name} {POPULATION}",
            runs=profile.runs(2_000),
            size=float(n),
            origin=origin,
        ),
        RiskOf(OnFreshSamples(mechanism, n), problem, data, total=False, runs_a_sample=RUNS_A_SAMPLE),
    )


def query_case(
    mechanism: Any, data: Dataset, subject: str, claimed: int, words: str, *, exact: bool = False
) -> Audit:
    """A stated number of gradient queries, one a step."""
    origin = AsPrinted(subject, f"{words} = {claimed}: one gradient per step", "every n")
    return Audit(
        CountQuestion(claimed, words, data.name, exact=exact, origin=origin), CountedRuns(mechanism, data)
    )
