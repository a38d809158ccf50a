"""Audit plans for bst14's efficient sampling: the grid walk on a cube, and Algorithms 5, 6 and 7.

On cubes the proved number of steps is taken, so that privacy, law, risk and queries are audited as claimed. On other
sets it is out of reach, and only what a shorter walk shows is measured. Risks are sums over the records.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.evidence import Interval
from dpverify.privacy import Adjacency
from dpverify.problems import Ball, Box, Dataset, Logistic, Problem, Squared, load, opposite_linear
from dpverify.running import Runs
from dpverify.statements.audit_parts import EXPONENT, REAL_DATA, UniformOn, real_neighbors
from dpverify.statements.plans import (
    AsPrinted,
    ComplexityCase,
    ComplexityPlan,
    ConstantCase,
    ConstantPlan,
    Corrected,
    MeanCase,
    MeanPlan,
    Plan,
    PrivacyCase,
    PrivacyPlan,
    Profile,
    RiskCase,
    RiskPlan,
    SamplingCase,
    SamplingPlan,
)

EPSILON = 2.0
NODES = 20_001
"""Of the quadrature that the law in one dimension is compared with."""


def _on_cube(name: str, n: int, d: int) -> tuple[Problem, Dataset]:
    """Logistic regression or least squares on the cube inside the unit ball."""
    loss = Logistic() if name == "breast-cancer" else Squared(radius=1.0)
    return Problem(loss, Box.cube(d, 1 / math.sqrt(d))), load(name, n=n, d=d)


def _mechanism(kind: type, problem: Problem) -> Any:
    """For epsilon-DP; Algorithm 6 with the parameters that Algorithm 7 gives it."""
    if kind is GridWalk:
        return GridWalk.for_privacy(problem, epsilon=EPSILON)
    if kind is EfficientExponentialSampling:
        return EfficientExponentialSampling(problem, EPSILON)
    size = problem.loss.lipschitz_constant * problem.constraint.diameter
    return kind(problem, EPSILON / (6 * size), EPSILON / 3)


def _privacy(kind: type, data_name: str, n: int, d: int, profile: Profile) -> PrivacyCase:
    problem, data = _on_cube(data_name, n, d)
    pair = real_neighbors(problem, data, n)
    mechanism = _mechanism(kind, problem)
    claim = mechanism.guarantees(n)[0]
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.REPLACE_ONE,
        claim.guarantee,
        pair.description,
        profile.runs(10_000),
        origin=AsPrinted(claim.sources[0], f"{claim.guarantee}", "every epsilon, as many steps as proved"),
        weakened=mechanism.weakened,
        fault=EXPONENT,
    )


def _worst(profile: Profile) -> PrivacyCase:
    n = 4
    pair = opposite_linear(n, 1, n)
    mechanism = EfficientExponentialSampling(Problem(pair.loss, Box.cube(1, 1.0)), EPSILON)
    claim = mechanism.guarantees(n)[0]
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.REPLACE_ONE,
        claim.guarantee,
        pair.description,
        profile.runs(10_000),
        origin=AsPrinted(claim.sources[0], f"{claim.guarantee}", "every epsilon, as many steps as proved"),
        weakened=mechanism.weakened,
        fault=EXPONENT,
    )


def _first(points: Any) -> Any:
    """The first coordinate."""
    return points[:, 0]


def _law(kind: type, data_name: str, n: int, profile: Profile) -> SamplingCase:
    """One dimension, against exp(-scale * risk) by quadrature."""
    problem, data = _on_cube(data_name, n, 1)
    # steep enough for a sampler that ignores the data to be far away, where that is affordable
    steep = kind in (GridWalk, SamplingInConvexSet)
    mechanism: Any = kind(problem, 0.5, 0.5) if steep else _mechanism(kind, problem)
    scale = mechanism.boosted.scale if kind is EfficientExponentialSampling else mechanism.scale
    nodes = np.linspace(-1.0, 1.0, NODES)
    density = np.exp(-scale * problem.total_risk(nodes[:, None], data))
    summed = np.concatenate(([0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))))
    stated = mechanism.sampling_error(n)
    return SamplingCase(
        mechanism=mechanism,
        dataset=data,
        statistic=_first,
        reference=partial(np.interp, xp=nodes, fp=summed / summed[-1]),
        # a log-density with slope below 10 on panels of 1e-4: each panel's mass, and where it lies in the panel
        reference_error=1e-3,
        distance=stated.distance,
        bound=stated.bound,
        claim="log-density within epsilon~ of exp(-scale * risk)",
        origin=Corrected(
            stated.sources[0],
            "log-density within epsilon~, after O( ) steps",
            "the number of steps is the one that is proved, with its constant",
            "every n",
        ),
        blind=UniformOn(problem.constraint),
        statistic_name="the point",
        data=f"{data_name}, {n} records, d = 1",
        runs=profile.runs(20_000),
    )


def _risk(data_name: str, profile: Profile) -> tuple[RiskCase, ...]:
    """Theorem 3.4 (2) with the constant that a convex risk gives."""
    cases = []
    for n in (2, 8, 32):
        problem, data = _on_cube(data_name, n, 1)
        mechanism = EfficientExponentialSampling(problem, EPSILON)
        stated = mechanism.risk_bound(n)
        assert stated is not None
        cases.append(
            RiskCase(
                mechanism=mechanism,
                problem=problem,
                dataset=data,
                bound=stated.bound,
                claim="exp(epsilon/3) 6 p L ||C|| / epsilon",
                origin=Corrected(
                    "bst14.thm3.4.2",
                    "O(p L ||C|| / epsilon)",
                    "the constant 6 exp(epsilon/3) is proved for every convex loss",
                    "every n and epsilon",
                ),
                data=f"{data_name}, n records, d = 1",
                runs=profile.runs(10_000),
                total=True,
                size=float(n),
            )
        )
    return tuple(cases)


def _queries(kind: type, n: int, d: int, profile: Profile) -> ComplexityCase:
    """Taken step by step, so that evaluations are counted where they are made."""
    problem, data = _on_cube("breast-cancer", n, d)
    mechanism = _mechanism(kind, problem)
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
    return ComplexityCase(
        stepped,
        data,
        int(stated.count),
        f"n (T + 1), T = {steps}",
        data.name,
        exact=False,
        oracle="value",
        origin=Corrected(
            "bst14.lem6.1", "O( ) steps", "the number of steps that is proved, with its constant", "every n"
        ),
    )


def _in_ball(runs: Runs) -> NDArray[np.float64]:
    """Whether each point is in the unit ball."""
    inside: NDArray[np.float64] = (np.linalg.norm(runs.points, axis=1) <= 1.0).astype(np.float64)
    return inside


def _inside(data_name: str, profile: Profile) -> tuple[MeanCase, ...]:
    """Lemma 6.4 on a disk, where the proved number of steps is out of reach: a coarser and shorter walk."""
    loss = Logistic() if data_name == "breast-cancer" else Squared(radius=1.0)
    problem, data = Problem(loss, Ball(2, 1.0)), load(data_name, n=5, d=2)
    mechanism = SamplingInConvexSet(problem, 0.5, 0.5, cells=16, steps=20_000, withdraw_guarantee=True)
    return (
        MeanCase(
            mechanism=mechanism,
            dataset=data,
            values=_in_ball,
            lower=0.0,
            upper=1.0,
            bound=0.5,
            quantity="P[the point is in C]",
            claim="at least 1/2",
            origin=AsPrinted("bst14.lem6.4", "at least 1/2", "as many steps as proved; fewer are taken here"),
            data=f"{data_name}, 5 records, d = 2; 16 cells a side, 20,000 steps, fewer than proved",
            runs=profile.runs(10_000),
            at_least=True,
        ),
    )


def _never_left(profile: Profile) -> tuple[MeanCase, ...]:
    """Algorithm 6 on a disk with a shorter walk: all points are in C."""
    problem, data = Problem(Logistic(), Ball(2, 1.0)), load("breast-cancer", n=5, d=2)
    mechanism = BoostedSampling(problem, 0.5, 0.5, cells=16, steps=20_000, withdraw_guarantee=True)
    return (
        MeanCase(
            mechanism=mechanism,
            dataset=data,
            values=_in_ball,
            lower=0.0,
            upper=1.0,
            bound=1.0,
            quantity="P[the point is in C]",
            claim="1",
            origin=AsPrinted("bst14.lem6.5", "the output is in C", "every number of steps"),
            data="breast-cancer, 5 records, d = 2; 16 cells a side, 20,000 steps, fewer than proved",
            runs=profile.runs(5_000),
            at_least=True,
        ),
    )


def _growth(dimension: int, profile: Profile) -> ConstantCase:
    """The constant hidden in Lemma 6.1's running time: the largest over n of proved steps over the printed rate."""
    worst, at = 0.0, 0
    for n in (10, 100, 1000, 10_000):
        walk = GridWalk.for_privacy(Problem(Logistic(), Box.cube(dimension, 1.0)), epsilon=1.0)
        plan = walk.plan(n)
        eta_tau = plan.lipschitz * plan.edge
        rate = (eta_tau / plan.distance) ** 2 * dimension**3
        # the print has eta tau for the logarithm of F's range; the Euclidean norm needs sqrt(p) times that
        rate *= max(dimension * math.log(eta_tau * dimension / plan.distance), eta_tau * math.sqrt(dimension))
        if plan.steps / rate > worst:
            worst, at = plan.steps / rate, n
    return ConstantCase(
        formula="T = c (eta tau / epsilon~)^2 p^3 max(p ln(eta tau p / epsilon~), eta tau sqrt(p))",
        latex=r"T=c\,\frac{\eta^2\tau^2}{\tilde\varepsilon^2}\,p^3\max\left(p\ln\frac{\eta\tau p}"
        r"{\tilde\varepsilon},\,\eta\tau\sqrt p\right)",
        provable=Interval(lower=worst, upper=worst),
        extreme="smallest",
        printed=None,
        parameters={"p": str(dimension), "epsilon": "1", "n": f"10 to 10,000, worst at {at}"},
        range_fixed_by="floating-point evaluation of the bound",
        method="the proved number of steps, from a bound on the conductance",
        origin=Corrected(
            "bst14.lem6.1", "O( ) steps", "the hidden constant is computed", "these n, dimension and epsilon"
        ),
    )


def _law_plan(kind: type, name: str, n: int) -> SamplingPlan:
    return SamplingPlan(
        f"{kind.id}/law-{name}",  # type: ignore[attr-defined]
        kind.id,  # type: ignore[attr-defined]
        f"The law in one dimension on {name}",
        partial(_law, kind, name, n),
    )


PLANS: tuple[Plan, ...] = (
    *(
        PrivacyPlan(
            f"bst14.alg-cube/{name}",
            "bst14.alg-cube",
            f"The grid walk on {name}",
            partial(_privacy, GridWalk, name, 20, 2),
        )
        for name in REAL_DATA
    ),
    *(_law_plan(GridWalk, name, 60) for name in REAL_DATA),
    ComplexityPlan(
        "bst14.alg-cube/queries",
        "bst14.alg-cube",
        "Value queries of the grid walk",
        partial(_queries, GridWalk, 8, 2),
    ),
    *(
        ConstantPlan(
            f"bst14.alg-cube/steps-{p}",
            "bst14.alg-cube",
            f"The constant in the grid walk's number of steps, p = {p}",
            partial(_growth, p),
        )
        for p in (1, 2, 3)
    ),
    *(
        MeanPlan(
            f"bst14.alg5/{name}",
            "bst14.alg5",
            f"Algorithm 5 stays in a disk half of the time, {name}",
            partial(_inside, name),
        )
        for name in REAL_DATA
    ),
    _law_plan(SamplingInConvexSet, "breast-cancer", 60),
    PrivacyPlan(
        "bst14.alg6/breast-cancer",
        "bst14.alg6",
        "The boosted sampler on breast-cancer",
        partial(_privacy, BoostedSampling, "breast-cancer", 12, 1),
    ),
    _law_plan(BoostedSampling, "diabetes", 12),
    MeanPlan("bst14.alg6/inside", "bst14.alg6", "Algorithm 6 never leaves a disk", _never_left),
    *(
        PrivacyPlan(
            f"bst14.alg7/{name}",
            "bst14.alg7",
            f"Efficient exponential sampling on {name}",
            partial(_privacy, EfficientExponentialSampling, name, 2, 2),
        )
        for name in REAL_DATA
    ),
    PrivacyPlan(
        "bst14.alg7/worst-case", "bst14.alg7", "Efficient exponential sampling on opposite records", _worst
    ),
    _law_plan(EfficientExponentialSampling, "breast-cancer", 12),
    *(
        RiskPlan(
            f"bst14.alg7/risk-{name}",
            "bst14.alg7",
            f"Excess risk of efficient exponential sampling on {name}",
            partial(_risk, name),
            "n",
        )
        for name in REAL_DATA
    ),
    ComplexityPlan(
        "bst14.alg7/queries",
        "bst14.alg7",
        "Value queries of efficient exponential sampling",
        partial(_queries, EfficientExponentialSampling, 2, 1),
    ),
)
