"""Balls of real numbers around the losses, conjugates and support functions of the built-in losses and sets.

Everything here is evaluated with python-flint's `arb`: midpoints of `PRECISION` bits, radii rounded up. What is asked
of an enclosure is that it holds the exact value for the given doubles; it is wide where the problem is ill-conditioned.

Only the very types of this package are known, not their subclasses: those may compute something else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb, arb_mat

from dpverify.problems.constraint_sets import AllSpace, Ball, Box, ConstraintSet, Simplex
from dpverify.problems.datasets import Dataset
from dpverify.problems.displacements import ContractOrDrift, EuclideanDistance, HalfSquaredDistance
from dpverify.problems.losses import Hinge, Linear, Logistic, Loss, Squared

Vector = npt.NDArray[np.float64]

PRECISION = 256  # bits of a ball's midpoint: room for cancellation by a factor of 1e60 beyond that of doubles
_FLAT = 1e4  # exp(-m) is enclosed by [0, exp(-_FLAT)] for larger m


def below(value: arb) -> float:
    """The largest double that is certainly not above a ball; -inf for what is not a number."""
    return 0.0 - above(-value)


def above(value: arb) -> float:
    """The smallest double that is certainly not below a ball; inf for what is not a number."""
    if value.is_nan():
        return math.inf
    end = value.upper()
    number = float(end)
    if math.isnan(number):
        return math.inf
    while not arb(number) >= end:
        following = math.nextafter(number, math.inf)
        if following == number:
            return math.inf
        number = following
    return number


def balls(numbers: Iterable[float]) -> list[arb]:
    """Exact balls of doubles."""
    return [arb(float(number)) for number in numbers]


def inner(left: Sequence[arb], right: Sequence[arb]) -> arb:
    return sum((a * b for a, b in zip(left, right, strict=True)), arb(0))


def norm(vector: Sequence[arb]) -> arb:
    return _root(inner(vector, vector))


def matrix(rows: npt.NDArray[np.float64]) -> arb_mat:
    """An exact matrix of doubles."""
    return arb_mat(rows.shape[0], rows.shape[1], [float(v) for v in rows.ravel().tolist()])


def column(vector: Sequence[arb]) -> arb_mat:
    return arb_mat(len(vector), 1, list(vector))


def knows_loss(loss: Loss) -> bool:
    """Whether `mean_risk` encloses this loss (the base loss of a ridge)."""
    return type(loss) in (
        Logistic,
        Hinge,
        Squared,
        Linear,
        EuclideanDistance,
        HalfSquaredDistance,
        ContractOrDrift,
    )


def knows_set(constraint: ConstraintSet) -> bool:
    """Whether `feasible` and `smallest_linear` enclose what belongs to this set."""
    return type(constraint) in (Ball, Box, Simplex, AllSpace)


def mean_risk(loss: Loss, ridge: float, point: Sequence[arb], data: Dataset) -> arb:
    """The mean risk of a known loss with (ridge / 2) ||w||^2 at one point."""
    total = arb(0)
    labels = balls(data.labels.tolist())
    if isinstance(loss, Logistic | Hinge | Squared | Linear):
        values = (matrix(data.features) * column(point)).entries()
        for z, y in zip(values, labels, strict=True):
            total += _link(loss, z, y)
    else:
        for row, y in zip(data.features.tolist(), labels, strict=True):
            record = balls(row)
            difference = [w - x for w, x in zip(point, record, strict=True)]
            if isinstance(loss, EuclideanDistance):
                total += norm(difference)
            elif isinstance(loss, HalfSquaredDistance):
                total += inner(difference, difference) / 2
            else:
                total += y * inner(difference, difference) / 2 + (1 - y) * inner(point, record)
    return total / data.n + arb(ridge) * inner(point, point) / 2


def mean_gradient_of_drift(point: Sequence[arb], data: Dataset) -> list[arb]:
    """Mean gradient y w + (1 - 2 y) x of `ContractOrDrift`."""
    labels = balls(data.labels.tolist())
    share = sum(labels, arb(0)) / data.n
    drift = (matrix(data.features).transpose() * column([1 - 2 * y for y in labels])).entries()
    return [share * w + x / data.n for w, x in zip(point, drift, strict=True)]


def link_conjugate_sum(loss: Any, dual: Sequence[arb], labels: Sequence[arb]) -> arb | None:
    """An upper bound on the sum of the conjugates of a known link; None unless all are certainly in the domain."""
    total = arb(0)
    for a, y in zip(dual, labels, strict=True):
        if isinstance(loss, Squared):
            total += a * a / 2 + a * y
        elif isinstance(loss, Linear):
            slope = y if loss.labeled else arb(1)
            if not (a - slope).is_zero():
                return None
        else:
            s = -y * a
            if not (s >= 0 and s <= 1):
                return None
            total += -s if isinstance(loss, Hinge) else _x_log_x(s) + _x_log_x(1 - s)
    return total


def displacement_conjugate_sum(loss: Any, dual: Sequence[Sequence[arb]], data: Dataset) -> arb | None:
    """The same for a known displacement loss; rows must be in the domain of `EuclideanDistance` for other reasons."""
    total = arb(0)
    for a, x in zip(dual, data.features.tolist(), strict=True):
        total += inner(a, balls(x))
        if isinstance(loss, HalfSquaredDistance):
            total += inner(a, a) / 2
    return total


def feasible(constraint: ConstraintSet, point: Vector) -> list[arb]:
    """Balls around the coordinates of a point of a known set, exactly inside of it and close to a projected one."""
    w = balls(point.tolist())
    if type(constraint) is Ball:
        midpoint = balls(constraint.center().tolist())
        offset = [a - b for a, b in zip(w, midpoint, strict=True)]
        length = norm(offset)
        if length <= arb(constraint.radius):
            return w
        share = (arb(constraint.radius) / length).min(arb(1))
        return [m + share * o for m, o in zip(midpoint, offset, strict=True)]
    if type(constraint) is Simplex:
        w = [a.max(arb(0)) for a in w]
        total = sum(w, arb(0))
        if not total > 0:
            return [arb(constraint.scale) / constraint.dimension] * constraint.dimension
        return [arb(constraint.scale) * a / total for a in w]
    if type(constraint) is Box:
        lower, upper = balls(constraint.lower), balls(constraint.upper)
        return [a.max(low).min(high) for a, low, high in zip(w, lower, upper, strict=True)]
    return w


def smallest_linear(constraint: ConstraintSet, slope: Sequence[arb]) -> arb:
    """The smallest <slope, w> on a known set; on all space minus infinity unless the slope is exactly 0."""
    if type(constraint) is Ball:
        return inner(slope, balls(constraint.center().tolist())) - arb(constraint.radius) * norm(slope)
    if type(constraint) is Simplex:
        least = slope[0]
        for g in slope[1:]:
            least = least.min(g)
        return arb(constraint.scale) * least
    if type(constraint) is Box:
        ends = zip(slope, constraint.lower, constraint.upper, strict=True)
        return sum(((g * arb(low)).min(g * arb(high)) for g, low, high in ends), arb(0))
    return arb(0) if all(g.is_zero() for g in slope) else arb.neg_inf()


def smallest_quadratic(
    constraint: ConstraintSet, slope: Sequence[arb], curvature: float, near: Vector
) -> float:
    """A lower bound on <slope, w> + (curvature / 2) ||w||^2 over a known set; sharp if its minimizer is `near`."""
    # the better of the minimum over all space, and of the tangent at `near` minimized over the set
    r, p = arb(curvature), balls(near.tolist())
    tangent = [v + r * w for v, w in zip(slope, p, strict=True)]
    # <slope, p> + (r / 2) ||p||^2 - <tangent, p>
    on_set = smallest_linear(constraint, tangent) - r * inner(p, p) / 2
    everywhere = -inner(slope, slope) / (2 * r)
    return max(below(on_set), below(everywhere))


def _link(loss: Loss, z: arb, y: arb) -> arb:
    if isinstance(loss, Squared):
        return (z - y) ** 2 / 2
    if isinstance(loss, Linear):
        return y * z if loss.labeled else z
    margin = y * z
    if isinstance(loss, Hinge):
        return (1 - margin).max(arb(0))
    return (-margin).max(arb(0)) + _decay(abs(margin)).log1p()


def _decay(margin: arb) -> arb:
    """exp(-margin) for a margin of at least 0."""
    if margin < _FLAT:
        return (-margin).exp()
    return arb(0).union((-arb(_FLAT)).exp()) if margin > _FLAT else arb(0).union(arb(1))


def _x_log_x(s: arb) -> arb:
    """An upper bound on s log s, for s certainly in [0, 1] but for rounding; 0 where s may be 0."""
    return s * s.log() if s > 0 else arb(0)


def _root(square: arb) -> arb:
    """The root of a ball that holds a number of at least 0."""
    if square >= 0:
        root = square.sqrt()
        if not root.is_nan():
            return root
    return arb(0).union(square.abs_upper().sqrt())
