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
from dpverify.problems import Ball, Dataset, Linear, Problem, load
from dpverify.statements.mn25.audits.cases import Column
from dpverify.statements.plans import (
    AsPrinted,
    ComplexityCase,
    ComplexityPlan,
    MeanCase,
    MeanPlan,
    Plan,
    Profile,
    SamplingCase,
    SamplingPlan,
    Unstated,
)

DELTA = 1e-5

# ------------------------------------------------------------------------------------------ hard instance

HIDDEN, DIMENSION = 16, 64
"""K and d: the digits have 64 features, so that their records can be the hidden directions."""

LARGEST_LOSS = 2.0
"""On the unit ball |<w, X_k> - C_1 alpha| is at most 1 + C_1 alpha <= 2, and 2 ||Pi_V w|| at most 2."""


def _instance(source: Literal["uniform", "records"]) -> HardInstance:
    return HardInstance.with_directions(DIMENSION, HIDDEN, directions_from=source)


def _unseen(source: Literal["uniform", "records"], profile: Profile) -> tuple[MeanCase, ...]:
    """Fewer true answers than directions: the excess risk stays at C_1 alpha, whatever the rate."""
    cases = []
    for queries in (8, HIDDEN - 1):
        mechanism = OnHardInstance(_instance(source), steps=queries)
        cases.append(
            MeanCase(
                mechanism=mechanism,
                dataset=load("digits"),
                values=Column(0),
                lower=0.0,
                upper=LARGEST_LOSS,
                bound=mechanism.least_excess_risk(queries),
                quantity="excess risk of the subgradient method, L = 2, B = 1",
                claim="at least C_1 alpha = 1 / sqrt(K) after fewer than K true answers",
                origin=AsPrinted(
                    "mn25.instance-facts", "excess risk at least C_1 alpha = 1 / sqrt(K)", "every K <= d / 2"
                ),
                data=f"digits as directions, K = {HIDDEN}"
                if source == "records"
                else f"random, K = {HIDDEN}",
                runs=profile.runs(1_000),
                at_least=True,
                size=float(queries),
                block_size=500,
            )
        )
    return tuple(cases)


def _found(profile: Profile) -> tuple[MeanCase, ...]:
    """A true answer shows one direction at most."""
    return tuple(
        MeanCase(
            mechanism=OnHardInstance(_instance("records"), steps=queries),
            dataset=load("digits"),
            values=Column(1),
            lower=0.0,
            upper=float(HIDDEN),
            bound=float(queries),
            quantity="directions found",
            claim="at most one per query",
            origin=AsPrinted(
                "mn25.instance-facts", "one direction for each query at most", "every K <= d / 2"
            ),
            data=f"digits as directions, K = {HIDDEN}",
            runs=profile.runs(200),
            size=float(queries),
            block_size=200,
        )
        for queries in (6, 12)
    )


def _private_on_instance(profile: Profile) -> tuple[MeanCase, ...]:
    """bst14's Algorithm 1 on the instance: a measurement, since Theorem 1 is about far larger dimensions."""
    n, dimension, directions = 16, 16, 4
    problem = Problem(Linear(), Ball(dimension, 1.0))
    return tuple(
        MeanCase(
            mechanism=OnHardInstance(
                HardInstance.with_directions(dimension, directions),
                NoisyGradientDescent(problem, epsilon, DELTA, steps=64),
            ),
            dataset=Dataset(np.zeros((n, dimension)), np.ones(n), f"{n} copies", "all losses are equal"),
            values=Column(0),
            lower=0.0,
            upper=LARGEST_LOSS,
            bound=math.inf,
            quantity="excess risk of a private algorithm, L = 2, B = 1",
            claim="none: Theorem 1 is about dimensions of at least C_2 / alpha^2",
            origin=Unstated("the paper says nothing about it"),
            data=f"random hard instances, d = {dimension}, K = {directions}, n = {n}",
            runs=profile.runs(200),
            size=epsilon,
            block_size=200,
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


def _law(part: str, profile: Profile) -> SamplingCase:
    """Uniform subspaces: the squared length of a unit vector's projection onto m of d dimensions is a Beta."""
    dimension, directions = 8, 3
    instance = HardInstance.with_directions(dimension, directions)
    first, last = {"direction": (1, 2), "subspace": (directions, directions + dimension // 2)}[part]
    size = last - first
    return SamplingCase(
        mechanism=instance,
        dataset=load("digits"),
        statistic=SquaredPart(first, last),
        reference=scipy.stats.beta(size / 2, (dimension - size) / 2).cdf,
        reference_error=1e-12,
        distance="total variation",
        bound=0.0,
        claim="uniformly random, orthogonal to the others",
        origin=AsPrinted(
            "mn25.instance-facts", "uniformly random orthonormal directions and subspace", "every K <= d / 2"
        ),
        statistic_name="||Pi e_1||^2 for the second direction" if part == "direction" else "||Pi_V e_1||^2",
        data=f"drawn, d = {dimension}, K = {directions}",
        runs=profile.runs(5_000),
    )


def _instance_queries(profile: Profile) -> ComplexityCase:
    return ComplexityCase(
        OnHardInstance(_instance("records"), steps=40),
        load("digits"),
        40,
        "one a step",
        "digits as directions",
        origin=AsPrinted("mn25.prelim", "one query per step", "every step"),
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
        found.append(MeanPlan(f"{hard}/{name}/risk", hard, title, unseen, curve_over="queries"))
    found.append(
        MeanPlan(f"{hard}/digits/found", hard, "Directions found on the hard instance", _found, "queries")
    )
    title = "Excess risk of a private algorithm on the hard instance"
    found.append(MeanPlan(f"{hard}/private-risk", hard, title, _private_on_instance, curve_over="epsilon"))
    for part in ("direction", "subspace"):
        title = f"Law of the hard instance, {part}"
        found.append(SamplingPlan(f"{hard}/law-{part}", hard, title, partial(_law, part)))
    found.append(ComplexityPlan(f"{hard}/queries", hard, "Queries on the hard instance", _instance_queries))
    return tuple(found)


PLANS = _plans()
