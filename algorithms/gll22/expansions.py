"""What can be taken out of every record's loss before the product of Algorithm 2 estimates the rest.

A generalized linear loss link(<x_i, w>, y_i) is its expansion at w = 0, a point that depends on no data, link'(0,
y_i) <x_i, w> + (b_i / 2) <x_i, w>^2, plus a rest, where b_i is one number for all records, or for logistic losses,
which bend as the square of the label, a number times y_i^2: any label in [-1, 1] is allowed there. The expansion's
mean is linear plus quadratic and so belongs to psi, with which the inner step's Gaussian is made; only the rest is
estimated. The density is the same, and so is every bound on the distance from it, in which the rest's Lipschitz
constant stands in place of the loss's: what they need of the Gaussian is a variance of at most v in every direction,
and curvature only lowers it. The rest need not be convex; F and psi are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from dpverify.problems import AllSpace, Ball, Logistic, Problem, Squared
from dpverify.problems.arrays import Array
from dpverify.problems.losses import GeneralizedLinear
from dpverify.problems.problem import without_ridge

_ROUNDING = 1e-14
_HALVINGS = 60


@dataclass(frozen=True)
class Expansion:
    """The same for all records and data sets.

    Attributes:
        curvature: b, loss over margin^2, at least 0.
        lipschitz_constant: of what is left of a record's loss on the set, loss over length: the largest
            |link'(z, y) - link'(0, y) - b_i z| for margins z of records in the unit ball, whatever the label.
        by_label: whether b_i is b times the squared label.
    """

    curvature: float
    lipschitz_constant: float
    by_label: bool = False

    def curvatures(self, labels: Array) -> Array:
        """The b_i of records with these labels, of their shape."""
        return self.curvature * (labels * labels if self.by_label else labels * 0.0 + 1.0)


def expansion_of(problem: Problem) -> Expansion | None:
    """The expansion that leaves least, the ridge of the loss aside; None if it leaves no less than there was.

    Quadratic parts are taken only on balls and all space, where a Gaussian with any covariance can be sampled.
    """
    loss, _ = without_ridge(problem.loss)
    if not isinstance(loss, GeneralizedLinear):
        return None
    largest = problem.constraint.largest_norm
    skew = type(problem.constraint) in (Ball, AllSpace)
    # a subclass may have changed its link
    kind: type = type(loss)
    if kind is Logistic:
        found = _logistic(largest) if skew and math.isfinite(largest) else _linear_part_of_logistic(largest)
    elif kind is Squared and skew:
        found = Expansion(1.0, 0.0)
    else:
        # link' rises by 0 to smoothness times the margin
        smoothness = problem.base_constants.smoothness
        steepest = smoothness * largest if smoothness > 0 else 0.0
        found = Expansion(smoothness / 2, steepest / 2) if skew else Expansion(0.0, steepest)
    return found if found.lipschitz_constant < problem.base_constants.lipschitz_constant else None


def _linear_part_of_logistic(largest: float) -> Expansion:
    """The slope less that at 0 is y tanh(y z / 2) / 2, at its steepest for labels -1 and 1."""
    return Expansion(0.0, 0.5 * math.tanh(largest / 2) + _ROUNDING)


@cache
def _logistic(largest: float) -> Expansion:
    """The b for which |tanh(z / 2) / 2 - b z| is least at its largest on [0, largest], near enough.

    With a label y in [-1, 1] the slope less that at 0 and less b y^2 z is y (tanh(y z / 2) / 2 - b y z), which is no
    larger.

    The difference rises to z = 2 arccosh(1 / (2 sqrt(b))) and falls from there, so its largest absolute value is
    at that point or at the end, for every b.
    """

    def rest(b: float, z: float) -> float:
        return 0.5 * math.tanh(z / 2) - b * z

    def top(b: float) -> float:
        return rest(b, min(largest, 2 * math.acosh(max(1.0, 0.5 / math.sqrt(b)))))

    low, high = rest(0.0, largest) / largest, 0.25
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if top(middle) + rest(middle, largest) > 0 else (low, middle)
    steepest = max(top(low), abs(rest(low, largest))) + _ROUNDING * (1 + largest)
    return Expansion(low, steepest, by_label=True)
