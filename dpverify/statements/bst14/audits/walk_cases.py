"""What the audits of the grid walk and of the samplers built on it share.

Risks are sums over the records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.samplers.cell_walks import Cells, law_after, rounding
from dpverify.auditing import CountQuestion, LawQuestion, PrivacyQuestion
from dpverify.auditing.subjects import CountedRuns, LawOf, OnPair
from dpverify.ledger.records import Interval
from dpverify.problems import Box, Dataset, Logistic, NeighborPair, Problem, Squared, load
from dpverify.statements.audit_parts import EXPONENT, UniformOn, linear_neighbors
from dpverify.statements.plans import LAW, AsPrinted, Audit, Corrected, Plan, Profile

EPSILON = 2.0
NODES = 20_001
"""Of the quadrature that the law in one dimension is compared with."""


def on_cube(name: str, n: int, d: int) -> tuple[Problem, Dataset]:
    """Logistic regression or least squares on the cube inside the unit ball."""
    loss = Logistic() if name == "breast-cancer" else Squared(radius=1.0)
    return Problem(loss, Box.cube(d, 1 / math.sqrt(d))), load(name, n=n, d=d)


def walked(kind: type, problem: Problem, distance: float = EPSILON / 3) -> Any:
    """For epsilon-DP; a part `distance` of it, twice, is for the walk's error. Algorithm 7 has shares of its own."""
    if kind is EfficientExponentialSampling:
        return EfficientExponentialSampling(problem, EPSILON)
    size = problem.loss.lipschitz_constant * problem.constraint.diameter
    return kind(problem, (EPSILON - 2 * distance) / (2 * size), distance)


_WALK_ERROR: dict[type, float] = {GridWalk: 0.1, BoostedSampling: 0.2}
"""The distance where privacy is audited: walks come nearer than is proved, so what they are given is never seen."""


@dataclass(frozen=True)
class CellLaws:
    """Smallest epsilon of a grid walk on an interval, on two neighbors, by the laws of the cell after all steps.

    Given the cell, a point is uniform in it on both sides. At delta 0 the largest log-ratio of the two laws, up to
    rounding; at other deltas an upper bound.
    """

    mechanism: Any
    left: Dataset
    right: Dataset

    def __call__(self, delta: float) -> Interval:
        """Enclose it, in nats."""
        sampler = getattr(self.mechanism, "boosted", self.mechanism)
        n = self.left.n
        plan, steps = sampler.plan(n), sampler.step_count(n)
        cells = Cells(plan.dimension, plan.cells_per_side)
        box = sampler.problem.constraint
        centers = box.lower[0] + plan.spacing * (np.arange(cells.count)[:, None] + 0.5)
        left, right = (
            law_after(cells, -sampler.scale * sampler.problem.total_risk(centers, data), steps)
            for data in (self.left, self.right)
        )
        largest = float(np.max(np.abs(np.log(left) - np.log(right))))
        error = 4 * rounding(cells, steps)
        return Interval(lower=max(largest - error, 0.0) if delta == 0 else 0.0, upper=largest + error)

    def weakened(self, factor: float, delta: float) -> Interval:
        """Of the same with its exponent times a factor."""
        return replace(self, mechanism=self.mechanism.sharpened(self.left.n, factor))(delta)


def walk_case(mechanism: Any, pair: NeighborPair, runs: int) -> Audit:
    """A sampler on an interval, on a pair with linear losses."""
    claim = mechanism.guarantees(pair.left.n).headline
    laws = CellLaws(mechanism, pair.left, pair.right)
    return Audit(
        PrivacyQuestion(
            claim,
            pair.description,
            runs,
            origin=AsPrinted(
                claim.sources[0], f"{claim.guarantee}", "every epsilon, with the proven number of steps"
            ),
        ),
        OnPair(
            mechanism,
            pair.left,
            pair.right,
            weakened=mechanism.weakened,
            fault=EXPONENT,
            exact=laws,
            exact_weakened=laws.weakened,
        ),
    )


def private_case(kind: type, data_name: str, profile: Profile) -> Audit:
    """Two records with linear losses, and nearly all of epsilon for the exponent where that is free to choose."""
    pair = linear_neighbors(data_name, n=2, d=1)
    problem = Problem(pair.loss, Box.cube(1, 1.0))
    return walk_case(walked(kind, problem, _WALK_ERROR.get(kind, 0.0)), pair, profile.runs(40_000))


def first_coordinate(points: Any) -> Any:
    """The first coordinate."""
    return points[:, 0]


def law_case(kind: type, data_name: str, n: int, profile: Profile) -> Audit:
    """One dimension, against exp(-scale * risk) by quadrature."""
    problem, data = on_cube(data_name, n, 1)
    # steep enough for a sampler that ignores the data to be far away, where that is affordable
    steep = kind in (GridWalk, SamplingInConvexSet)
    mechanism: Any = kind(problem, 0.5, 0.5) if steep else walked(kind, problem)
    scale = mechanism.boosted.scale if kind is EfficientExponentialSampling else mechanism.scale
    nodes = np.linspace(-1.0, 1.0, NODES)
    density = np.exp(-scale * problem.total_risk(nodes[:, None], data))
    summed = np.concatenate(([0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))))
    stated = mechanism.sampling_error(n)
    return Audit(
        LawQuestion(
            reference=partial(np.interp, xp=nodes, fp=summed / summed[-1]),
            reference_error=1e-3,
            distance=stated.distance,
            bound=stated.bound,
            claim="log-density within epsilon~ of exp(-scale * risk)",
            statistic_name="the point",
            data=f"{data_name}, {n} records, d = 1",
            runs=profile.runs(20_000),
            origin=Corrected(
                stated.sources[0],
                "log-density within epsilon~, after O( ) steps",
                "the number of steps is the proven one, with its constant",
                "every n",
            ),
        ),
        LawOf(mechanism, data, first_coordinate, blind=UniformOn(problem.constraint)),
    )


def query_case(kind: type, n: int, d: int, profile: Profile) -> Audit:
    """Taken step by step, so that evaluations are counted where they are made."""
    problem, data = on_cube("breast-cancer", n, d)
    mechanism = walked(kind, problem)
    first = (
        (EPSILON,)
        if kind is EfficientExponentialSampling
        else (
            mechanism.scale,
            mechanism.distance,
        )
    )
    stepped = kind(problem, *first, simulation="steps")
    (stated,) = stepped.queries(n)
    steps = f"{stepped.step_count(n):,} steps"
    return Audit(
        CountQuestion(
            int(stated.count),
            f"n (T + 1), T = {steps}",
            data.name,
            exact=False,
            oracle="value",
            origin=Corrected(
                "bst14.lem6.1", "O( ) steps", "the proven number of steps, with its constant", "every n"
            ),
        ),
        CountedRuns(stepped, data),
    )


def law_plan(kind: Any, name: str, n: int) -> Plan:
    return Plan(
        f"{kind.id}/law-{name}",
        kind.id,
        f"The law in one dimension on {name}",
        LAW,
        partial(law_case, kind, name, n),
    )
