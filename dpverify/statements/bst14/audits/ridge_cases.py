"""What the audits of localization and boosting share: strongly convex problems and composed guarantees.

Risks are sums over the records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing import PrivacyQuestion
from dpverify.auditing.subjects import OnPair
from dpverify.problems import (
    Ball,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Logistic,
    NeighborPair,
    Problem,
    Ridge,
    Squared,
    load,
    opposite_linear,
)
from dpverify.statements.audit_parts import BOTH, NOISE
from dpverify.statements.plans import AsPrinted, Audit, Corrected, Origin, Profile

EPSILON, RISK_EPSILON, DELTA = 4.0, 8.0, 1e-5
SIZE, DIMENSION = 20, 5
"""Records and features kept of a real data set, for n^2 steps."""

RIDGE = 0.5


def ridge_problem(name: str, n: int, d: int = DIMENSION) -> tuple[Problem, Dataset]:
    """Ridge regression, logistic on breast cancer and least squares on diabetes, on the unit ball."""
    data = load(name, n=n, d=d)
    ball = Ball(data.d, 1.0)
    base = Logistic() if name == "breast-cancer" else Squared(radius=1.0)
    return Problem(Ridge.on(ball, base, RIDGE), ball), data


COMPOSED: dict[str, Origin] = {
    "bst14.lem4.1": AsPrinted("bst14.lem4.1", "epsilon-DP", "every epsilon > 0"),
    "bst14.thmC.1": Corrected(
        "bst14.thmC.1",
        "(epsilon, delta)-DP with c = 4 in the noise of output perturbation",
        "c is the smallest proven constant; the printed one is too small",
        "every epsilon > 0, delta in (0, 1)",
    ),
    "bst14.appD": Corrected(
        "bst14.appD",
        "(epsilon, delta)-DP with all of epsilon in the k runs",
        "half of epsilon, or the stated share, is reserved for the selection",
        "every epsilon > 0",
    ),
}


def composed_case(mechanism: Any, pair: NeighborPair, source: str, runs: int, fault: str = NOISE) -> Audit:
    """A mechanism with its theorem's claim on neighbors."""
    return Audit(
        PrivacyQuestion(
            mechanism.guarantees(pair.left.n).headline,
            pair.description,
            runs,
            origin=COMPOSED[source],
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=fault),
    )


def worst_case(make: Any, source: str, n: int, runs: int, profile: Profile) -> Audit:
    """The last of n records points one way, or the opposite one; a line."""
    return composed_case(make(n), opposite_linear(n, 1, n), source, profile.runs(runs), BOTH)


def steep_line(n: int) -> Problem:
    """Linear losses with a ridge just strong enough to have minimizers on a line that one record moves."""
    ball = Ball(1, 1.0)
    return Problem(Ridge.on(ball, Linear(), 0.3), ball)


def stated_risk(mechanism: Any, n: int) -> tuple[float, tuple[str, ...]]:
    stated = mechanism.risk_bound(n)
    if stated is None or not stated.total:
        raise AssertionError("a plan audits a risk that is not stated")
    return stated.bound, stated.sources


def mean_of_records(n: int, d: int) -> tuple[Problem, Dataset]:
    data, ball = load("breast-cancer", n=n, d=d), Ball(d, 1.0)
    return Problem(HalfSquaredDistance.on(ball), ball), data


def first_coordinate(points: Any) -> NDArray[np.float64]:
    return np.asarray(points)[:, 0]
