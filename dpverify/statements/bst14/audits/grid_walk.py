"""Audits of the grid walk on a cube (bst14, Lemma 6.1).

On cubes the proved number of steps is taken, so that privacy, law and queries are audited as claimed. Risks are sums
over the records.
"""

from __future__ import annotations

import math
from functools import partial

from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.auditing import ConstantQuestion
from dpverify.ledger.records import Interval
from dpverify.problems import Box, Logistic, Problem
from dpverify.statements.audit_parts import REAL_DATA
from dpverify.statements.bst14.audits.walk_cases import law_plan, private_case, query_case
from dpverify.statements.plans import CONSTANT, COUNT, PRIVACY, Audit, Corrected, Plan, Profile


def _growth(dimension: int, profile: Profile) -> Audit:
    """The constant hidden in Lemma 6.1's running time: the largest over n of proved steps over the printed rate."""
    worst, at = 0.0, 0
    for n in (10, 100, 1000, 10_000):
        walk = GridWalk.for_privacy(Problem(Logistic(), Box.cube(dimension, 1.0)), epsilon=1.0)
        plan = walk.plan(n)
        eta_tau = plan.lipschitz * plan.edge
        rate = (eta_tau / plan.distance) ** 2 * dimension**3
        # the paper has eta tau for the logarithm of F's range; the Euclidean norm needs sqrt(p) times that
        rate *= max(dimension * math.log(eta_tau * dimension / plan.distance), eta_tau * math.sqrt(dimension))
        if plan.steps / rate > worst:
            worst, at = plan.steps / rate, n
    return Audit(
        ConstantQuestion(
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
                "bst14.lem6.1",
                "O( ) steps",
                "the hidden constant is computed",
                "these n, dimension and epsilon",
            ),
        )
    )


PLANS: tuple[Plan, ...] = (
    *(
        Plan(
            f"bst14.alg-cube/{name}",
            "bst14.alg-cube",
            f"The grid walk on {name}",
            PRIVACY,
            partial(private_case, GridWalk, name),
        )
        for name in REAL_DATA
    ),
    *(law_plan(GridWalk, name, 60) for name in REAL_DATA),
    Plan(
        "bst14.alg-cube/queries",
        "bst14.alg-cube",
        "Value queries of the grid walk",
        COUNT,
        partial(query_case, GridWalk, 8, 2),
    ),
    *(
        Plan(
            f"bst14.alg-cube/steps-{p}",
            "bst14.alg-cube",
            f"The constant in the grid walk's number of steps, p = {p}",
            CONSTANT,
            partial(_growth, p),
        )
        for p in (1, 2, 3)
    ),
)
