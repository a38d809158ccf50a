"""Audits of the huberized hinge (bst14, Appendix B).

Risks are sums over the records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpverify.algorithms.bst14.huberized_hinge import (
    HuberizedObjectivePerturbation,
    first_bad_data,
    first_bad_risk,
    second_bad_data,
    second_bad_risk,
)
from dpverify.auditing import Bound
from dpverify.auditing.subjects import ValuesOf
from dpverify.problems import Box, Dataset, Problem
from dpverify.running import Runs
from dpverify.statements.audit_parts import longest_record_at, real_neighbors
from dpverify.statements.bst14.audits.perturbation_cases import EPSILON, NOISES, private_case
from dpverify.statements.plans import MEAN, PRIVACY, Audit, Cases, Corrected, Plan, Profile, along


def _huber_real(delta: float, profile: Profile) -> Audit:
    """One real record in one dimension, with ends of the set that are never reached."""
    data = longest_record_at("breast-cancer", 1, n=1, d=1)
    mechanism = HuberizedObjectivePerturbation(
        0.5, EPSILON, 0.1 if delta else 0.0, Box((-1000.0,), (1000.0,))
    )
    pair = real_neighbors(mechanism.smoothed, data, 1)
    return private_case(mechanism, (pair.left, pair.right), pair.description, profile.runs(50_000))


@dataclass(frozen=True)
class _Excess:
    """A run's excess total risk over that at a known minimizer."""

    problem: Problem
    data: Dataset
    minimizer: float

    def __call__(self, runs: Runs) -> Any:
        return self.at(runs.points)

    def at(self, points: Any) -> Any:
        lowest = self.problem.total_risk(np.array([[self.minimizer]]), self.data)[0]
        return np.maximum(self.problem.total_risk(points, self.data) - lowest, 0.0)


def _bad(which: int, printed: bool, profile: Profile) -> Cases:
    """The bad data sets, for h = 1/sqrt(n), where both lower bounds are of the order sqrt(n / epsilon)."""
    cases = []
    for n in (75, 300, 1200):
        width, epsilon = 1 / math.sqrt(n), 0.5
        mechanism = HuberizedObjectivePerturbation(
            width, epsilon, float(n) ** -4, printed=printed, withdraw_guarantee=printed
        )
        regularization = mechanism.perturbation.regularization_at(n)
        if which == 1:
            data, minimizer, bound = first_bad_data(n), -1.0, first_bad_risk(n, width=width)
        else:
            data, minimizer = second_bad_data(n, regularization=regularization), 1.0
            bound = second_bad_risk(n, width=width, regularization=regularization)
        excess = _Excess(mechanism.problem, data, minimizer)
        cases.append(
            (
                Bound(
                    bound=bound,
                    claim="n min(1, h/3) / 6" if which == 1 else "3/8 of the slope min(n, Delta / 4)",
                    data=f"{data.name}, h = 1/sqrt(n), epsilon = {epsilon:g}, delta = n^-4"
                    + (", parameters as printed" if printed else ""),
                    runs=profile.runs(2000),
                    at_least=True,
                    size=float(n),
                    origin=Corrected(
                        f"bst14.lemB.{which + 1}",
                        "Omega(min(n, n h))" if which == 1 else "Omega(min(n, 1 / (epsilon h)))",
                        "the constant of the lower bound is written out",
                        "every n that is a multiple of 3" if which == 1 else "h <= 3/4",
                    ),
                ),
                ValuesOf(
                    mechanism,
                    data,
                    excess,
                    0.0,
                    float(np.max(excess.at(np.array([[-2.0], [2.0]])))),
                    "expected excess risk (sum over records)",
                ),
            )
        )
    return tuple(cases)


PLANS: tuple[Plan, ...] = (
    *(
        Plan(
            f"bst14.alg-huber/breast-cancer/{noise}",
            "bst14.alg-huber",
            f"Huberized hinge on breast-cancer, {noise} noise",
            PRIVACY,
            partial(_huber_real, delta),
        )
        for noise, delta in NOISES
    ),
    *(
        Plan(
            f"bst14.alg-huber/bad-{which}{'/printed' if printed else ''}",
            "bst14.alg-huber",
            f"Huberized hinge on bad data set {which}{', as printed' if printed else ''}",
            MEAN,
            along(partial(_bad, which, printed), over="n"),
        )
        for which in (1, 2)
        for printed in (True, False)
    ),
)
