"""Audits of the hard instance (mn25, Section 3.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy

from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.mn25.hard_instance import HardInstance, OnHardInstance
from dpverify.auditing import Bound, CountQuestion, LawQuestion
from dpverify.auditing.subjects import CountedRuns, LawOf, ValuesOf
from dpverify.problems import Ball, Dataset, Linear, Problem, load
from dpverify.statements.mn25.audits.cases import Column
from dpverify.statements.plans import (
    COUNT,
    LAW,
    MEAN,
    AsPrinted,
    Audit,
    Cases,
    Plan,
    Profile,
    Unstated,
    along,
)

DELTA = 1e-5

# ------------------------------------------------------------------------------------------ hard instance

HIDDEN, DIMENSION = 16, 64
"""K and d: the digits have 64 features, so that their records can be the hidden directions."""

LARGEST_LOSS = 2.0
"""On the unit ball |<w, X_k> - C_1 alpha| is at most 1 + C_1 alpha <= 2, and 2 ||Pi_V w|| at most 2."""


def _instance(source: Literal["uniform", "records"]) -> HardInstance:
    return HardInstance.with_directions(DIMENSION, HIDDEN, directions_from=source)


def _unseen(source: Literal["uniform", "records"], profile: Profile) -> Cases:
    """Fewer true answers than directions: the excess risk stays at C_1 alpha, whatever the rate."""
    cases = []
    for queries in (8, HIDDEN - 1):
        mechanism = OnHardInstance(_instance(source), steps=queries)
        cases.append(
            (
                Bound(
                    bound=mechanism.least_excess_risk(queries),
                    claim="at least C_1 alpha = 1 / sqrt(K) after fewer than K true answers",
                    data=f"digits as directions, K = {HIDDEN}"
                    if source == "records"
                    else f"random, K = {HIDDEN}",
                    runs=profile.runs(1_000),
                    at_least=True,
                    size=float(queries),
                    origin=AsPrinted(
                        "mn25.instance-facts",
                        "excess risk at least C_1 alpha = 1 / sqrt(K)",
                        "every K <= d / 2",
                    ),
                ),
                ValuesOf(
                    mechanism,
                    load("digits"),
                    Column(0),
                    0.0,
                    LARGEST_LOSS,
                    "excess risk of the subgradient method, L = 2, B = 1",
                    block_size=500,
                ),
            )
        )
    return tuple(cases)


def _found(profile: Profile) -> Cases:
    """A true answer shows one direction at most."""
    return tuple(
        (
            Bound(
                bound=float(queries),
                claim="at most one per query",
                data=f"digits as directions, K = {HIDDEN}",
                runs=profile.runs(200),
                size=float(queries),
                origin=AsPrinted(
                    "mn25.instance-facts", "one direction for each query at most", "every K <= d / 2"
                ),
            ),
            ValuesOf(
                OnHardInstance(_instance("records"), steps=queries),
                load("digits"),
                Column(1),
                0.0,
                float(HIDDEN),
                "directions found",
                block_size=200,
            ),
        )
        for queries in (6, 12)
    )


def _private_on_instance(profile: Profile) -> Cases:
    """bst14's Algorithm 1 on the instance: a measurement, since Theorem 1 is about far larger dimensions."""
    n, dimension, directions = 16, 16, 4
    problem = Problem(Linear(), Ball(dimension, 1.0))
    return tuple(
        (
            Bound(
                bound=math.inf,
                claim="none: Theorem 1 is about dimensions of at least C_2 / alpha^2",
                data=f"random hard instances, d = {dimension}, K = {directions}, n = {n}",
                runs=profile.runs(200),
                size=epsilon,
                origin=Unstated("the paper says nothing about it"),
            ),
            ValuesOf(
                OnHardInstance(
                    HardInstance.with_directions(dimension, directions),
                    NoisyGradientDescent(problem, epsilon, DELTA, steps=64),
                ),
                Dataset(np.zeros((n, dimension)), np.ones(n), f"{n} copies", "all losses are equal"),
                Column(0),
                0.0,
                LARGEST_LOSS,
                "excess risk of a private algorithm, L = 2, B = 1",
                block_size=200,
            ),
        )
        for epsilon in (2.0, 16.0)
    )


@dataclass(frozen=True)
class SquaredPart:
    """Squared length of the first axis' projection onto the span of some of the hidden vectors."""

    first: int
    last: int

    def __call__(self, points: Any) -> Any:
        """Shape (runs,)."""
        return np.sum(points[:, self.first : self.last, 0] ** 2, axis=1)


def _law(part: str, profile: Profile) -> Audit:
    """Uniform subspaces: the squared length of a unit vector's projection onto m of d dimensions is a Beta."""
    dimension, directions = 8, 3
    instance = HardInstance.with_directions(dimension, directions)
    first, last = {"direction": (1, 2), "subspace": (directions, directions + dimension // 2)}[part]
    size = last - first
    return Audit(
        LawQuestion(
            reference=scipy.stats.beta(size / 2, (dimension - size) / 2).cdf,
            reference_error=1e-12,
            distance="total variation",
            bound=0.0,
            claim="uniformly random, orthogonal to the others",
            statistic_name="||Pi e_1||^2 for the second direction"
            if part == "direction"
            else "||Pi_V e_1||^2",
            data=f"drawn, d = {dimension}, K = {directions}",
            runs=profile.runs(5_000),
            origin=AsPrinted(
                "mn25.instance-facts",
                "uniformly random orthonormal directions and subspace",
                "every K <= d / 2",
            ),
        ),
        LawOf(
            instance,
            load("digits"),
            SquaredPart(first, last),
        ),
    )


def _instance_queries(profile: Profile) -> Audit:
    return Audit(
        CountQuestion(
            40,
            "one a step",
            "digits as directions",
            origin=AsPrinted("mn25.prelim", "one query per step", "every step"),
        ),
        CountedRuns(OnHardInstance(_instance("records"), steps=40), load("digits")),
    )


def _plans() -> tuple[Plan, ...]:
    hard = "mn25.hard-instance"
    sources: tuple[tuple[Literal["uniform", "records"], str], ...] = (
        ("uniform", "random"),
        ("records", "digits"),
    )
    found: list[Plan] = []
    for source, name in sources:
        title = f"Excess risk on the hard instance after few queries, {name} directions"
        unseen = partial(_unseen, source)
        found.append(Plan(f"{hard}/{name}/risk", hard, title, MEAN, along(unseen, over="queries")))
    found.append(
        Plan(
            f"{hard}/digits/found",
            hard,
            "Directions found on the hard instance",
            MEAN,
            along(_found, over="queries"),
        )
    )
    title = "Excess risk of a private algorithm on the hard instance"
    found.append(Plan(f"{hard}/private-risk", hard, title, MEAN, along(_private_on_instance, over="epsilon")))
    for part in ("direction", "subspace"):
        title = f"Law of the hard instance, {part}"
        found.append(Plan(f"{hard}/law-{part}", hard, title, LAW, partial(_law, part)))
    found.append(Plan(f"{hard}/queries", hard, "Queries on the hard instance", COUNT, _instance_queries))
    return tuple(found)


PLANS = _plans()
