"""Audits of efficient sampling on convex sets (bst14, Algorithms 5, 6 and 7).

On cubes the proved number of steps is taken, so that privacy, law, risk and queries are audited as claimed. On other
sets it is out of reach, and only what a shorter walk shows is measured. Risks are sums over the records.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    SamplingInConvexSet,
)
from dpverify.auditing import Bound
from dpverify.auditing.subjects import RiskOf, ValuesOf
from dpverify.problems import Ball, Box, Logistic, Problem, Squared, load, opposite_linear
from dpverify.running import Runs
from dpverify.statements.audit_parts import REAL_DATA
from dpverify.statements.bst14.audits.walk_cases import (
    EPSILON,
    law_plan,
    on_cube,
    private_case,
    query_case,
    walk_case,
)
from dpverify.statements.plans import (
    COUNT,
    MEAN,
    PRIVACY,
    RISK,
    AsPrinted,
    Audit,
    Cases,
    Corrected,
    Plan,
    Profile,
    along,
)


def _worst(profile: Profile) -> Audit:
    n = 4
    pair = opposite_linear(n, 1, n)
    mechanism = EfficientExponentialSampling(Problem(pair.loss, Box.cube(1, 1.0)), EPSILON)
    return walk_case(mechanism, pair, profile.runs(10_000))


def _risk(data_name: str, profile: Profile) -> Cases:
    """Theorem 3.4 (2) with the constant that a convex risk gives."""
    cases = []
    for n in (2, 8, 32):
        problem, data = on_cube(data_name, n, 1)
        mechanism = EfficientExponentialSampling(problem, EPSILON)
        stated = mechanism.risk_bound(n)
        assert stated is not None
        cases.append(
            (
                Bound(
                    bound=stated.bound,
                    claim="exp(epsilon/3) 6 p L ||C|| / epsilon",
                    data=f"{data_name}, n records, d = 1",
                    runs=profile.runs(10_000),
                    size=float(n),
                    origin=Corrected(
                        "bst14.thm3.4.2",
                        "O(p L ||C|| / epsilon)",
                        "the constant 6 exp(epsilon/3) is proved for every convex loss",
                        "every n and epsilon",
                    ),
                ),
                RiskOf(mechanism, problem, data, total=True),
            )
        )
    return tuple(cases)


def _in_ball(runs: Runs) -> NDArray[np.float64]:
    """Whether each point is in the unit ball."""
    inside: NDArray[np.float64] = (np.linalg.norm(runs.points, axis=1) <= 1.0).astype(np.float64)
    return inside


def _inside(data_name: str, profile: Profile) -> Cases:
    """Lemma 6.4 on a disk, where the proved number of steps is out of reach: a coarser and shorter walk."""
    loss = Logistic() if data_name == "breast-cancer" else Squared(radius=1.0)
    problem, data = Problem(loss, Ball(2, 1.0)), load(data_name, n=5, d=2)
    mechanism = SamplingInConvexSet(problem, 0.5, 0.5, cells=16, steps=20_000, withdraw_guarantee=True)
    return (
        (
            Bound(
                bound=0.5,
                claim="at least 1/2",
                data=f"{data_name}, 5 records, d = 2; 16 cells per side, 20,000 steps, fewer than the proven number",
                runs=profile.runs(10_000),
                at_least=True,
                origin=AsPrinted(
                    "bst14.lem6.4", "at least 1/2", "the proven number of steps; fewer are taken here"
                ),
            ),
            ValuesOf(
                mechanism,
                data,
                _in_ball,
                0.0,
                1.0,
                "P[the point is in C]",
            ),
        ),
    )


def _never_left(profile: Profile) -> Cases:
    """Algorithm 6 on a disk with a shorter walk: all points are in C."""
    problem, data = Problem(Logistic(), Ball(2, 1.0)), load("breast-cancer", n=5, d=2)
    mechanism = BoostedSampling(problem, 0.5, 0.5, cells=16, steps=20_000, withdraw_guarantee=True)
    return (
        (
            Bound(
                bound=1.0,
                claim="1",
                data="breast-cancer, 5 records, d = 2; 16 cells per side, 20,000 steps, fewer than the proven number",
                runs=profile.runs(5_000),
                at_least=True,
                origin=AsPrinted("bst14.lem6.5", "the output is in C", "every number of steps"),
            ),
            ValuesOf(
                mechanism,
                data,
                _in_ball,
                0.0,
                1.0,
                "P[the point is in C]",
            ),
        ),
    )


PLANS: tuple[Plan, ...] = (
    *(
        Plan(
            f"bst14.alg5/{name}",
            "bst14.alg5",
            f"Algorithm 5 stays in a disk half of the time, {name}",
            MEAN,
            along(partial(_inside, name)),
        )
        for name in REAL_DATA
    ),
    law_plan(SamplingInConvexSet, "breast-cancer", 60),
    Plan(
        "bst14.alg6/breast-cancer",
        "bst14.alg6",
        "The boosted sampler on breast-cancer",
        PRIVACY,
        partial(private_case, BoostedSampling, "breast-cancer"),
    ),
    law_plan(BoostedSampling, "diabetes", 12),
    Plan("bst14.alg6/inside", "bst14.alg6", "Algorithm 6 never leaves a disk", MEAN, along(_never_left)),
    *(
        Plan(
            f"bst14.alg7/{name}",
            "bst14.alg7",
            f"Efficient exponential sampling on {name}",
            PRIVACY,
            partial(private_case, EfficientExponentialSampling, name),
        )
        for name in REAL_DATA
    ),
    Plan(
        "bst14.alg7/worst-case",
        "bst14.alg7",
        "Efficient exponential sampling on opposite records",
        PRIVACY,
        _worst,
    ),
    law_plan(EfficientExponentialSampling, "breast-cancer", 12),
    *(
        Plan(
            f"bst14.alg7/risk-{name}",
            "bst14.alg7",
            f"Excess risk of efficient exponential sampling on {name}",
            RISK,
            along(partial(_risk, name), over="n"),
        )
        for name in REAL_DATA
    ),
    Plan(
        "bst14.alg7/queries",
        "bst14.alg7",
        "Value queries of efficient exponential sampling",
        COUNT,
        partial(query_case, EfficientExponentialSampling, 2, 1),
    ),
)
