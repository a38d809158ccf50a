"""Losses and constraint sets written down once more, as CVXPY expressions."""

from __future__ import annotations

from typing import Any

import cvxpy
import numpy as np

from dpverify.problems import AllSpace, Ball, Box, Logistic, Simplex, Squared
from dpverify.problems.further_losses import HuberizedPositivePart, PositivePart
from dpverify.problems.per_run.local_problems import LocalBalls


def link(loss: Any, z: Any, y: Any) -> Any:
    """A generalized linear loss at inner products z and labels y, elementwise."""
    match loss:
        case Logistic():
            return cvxpy.logistic(cvxpy.multiply(-y, z))
        case Squared():
            return 0.5 * cvxpy.square(z - y)
        case HuberizedPositivePart(h):
            return 0.5 * (y - z) + cvxpy.huber(y - z, h) / (4 * h) + h / 4
        case PositivePart():
            return cvxpy.pos(y - z)
    raise NotImplementedError(loss)


def inside(constraint: Any, w: Any) -> list[Any]:
    """That a point is in the set."""
    match constraint:
        case AllSpace():
            return []
        case Ball():
            return [cvxpy.norm(w - constraint.center(), 2) <= constraint.radius]
        case Box():
            return [w >= np.array(constraint.lower), w <= np.array(constraint.upper)]
        case Simplex():
            return [w >= 0.0, cvxpy.sum(w) == constraint.scale]
        case LocalBalls():
            (middle,) = np.asarray(constraint.centers)
            return [
                cvxpy.norm(w, 2) <= constraint.radius,
                cvxpy.norm(w + middle, 2) <= constraint.outer_radius,
            ]
    raise NotImplementedError(constraint)
