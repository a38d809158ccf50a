"""What the audits of exponential sampling and of its form on a net share.

Risks are sums over the records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.auditing import Bound, PrivacyQuestion
from dpverify.auditing.subjects import OnPair, RiskOf
from dpverify.problems import Ball, Dataset, Logistic, Problem, Squared, load
from dpverify.statements.audit_parts import EXPONENT
from dpverify.statements.plans import AsPrinted, Audit, Case, Corrected, Unstated

Vector = NDArray[np.float64]
Mechanism = ExponentialSampling | NetMechanism

EPSILON = 2.0
WORST_RECORDS = 2
"""More records push the largest log-ratio nearer to epsilon, but to where hardly any run goes."""


def few_features(name: str, n: int, d: int) -> tuple[Problem, Dataset]:
    """A problem of few dimensions, of which any convex loss is sampled exactly."""
    data = load(name, n=n, d=d)
    loss = Logistic() if name == "breast-cancer" else Squared(radius=1.0)
    return Problem(loss, Ball(d, 1.0)), data


def private_case(
    mechanism: Mechanism, left: Dataset, right: Dataset, data: str, runs: int, source: str
) -> Audit:
    stated = mechanism.guarantees(left.n)
    return Audit(
        PrivacyQuestion(
            stated.headline,
            data,
            runs,
            best_known=None if stated.sharpest is stated.headline else stated.sharpest.guarantee,
            origin=AsPrinted(source, f"epsilon-DP: {mechanism.epsilon:g}", "every epsilon > 0"),
        ),
        OnPair(mechanism, left, right, weakened=mechanism.weakened, fault=EXPONENT),
    )


def one_sided() -> tuple[Dataset, Dataset, str]:
    """Linear losses, all on one side but for one record on the other data set."""
    n = WORST_RECORDS
    left = Dataset(np.ones((n, 1)), np.ones(n), "linear losses of one sign", "by construction")
    right = left.replace(n, np.array([-1.0]), 1.0)
    return left, right, f"{n} linear losses with slope 1, on one data set the last one has slope -1"


RISK_ORIGINS = {
    "bst14.thm3.2": Corrected(
        "bst14.thm3.2",
        "O(p L ||C|| / epsilon)",
        "the constant 2 is proved for every loss",
        "every n and epsilon",
    ),
    "bst14.thmA.1": Corrected(
        "bst14.thmA.1",
        "O(p L ||C|| / epsilon ln(epsilon n / p))",
        "the size of the net and its covering radius are computed, not estimated",
        "every n and epsilon",
    ),
}


def risk_case(mechanism: Mechanism, data: Dataset, words: str, claim: str, source: str, runs: int) -> Case:
    stated = mechanism.risk_bound(data.n)
    assert stated is not None
    return (
        Bound(
            bound=stated.bound,
            claim=claim,
            data=words,
            runs=runs,
            size=float(data.n),
            origin=RISK_ORIGINS[source],
        ),
        RiskOf(mechanism, mechanism.problem, data, total=True),
    )


@dataclass(frozen=True)
class Coordinate:
    """A linear statistic of points, <w, direction>."""

    direction: tuple[float, ...]

    def __call__(self, points: Any) -> Vector:
        return np.asarray(np.asarray(points) @ np.array(self.direction))


UNCOUNTED = Unstated("the paper counts no queries of exact sampling; the number is the implementation's")
