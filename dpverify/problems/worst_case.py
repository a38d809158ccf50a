"""Neighboring data sets on which an algorithm loses the most privacy, or close to it.

In each pair the two data sets differ in record `index`, counted from 1 (replace-one adjacency).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpverify import checks
from dpverify.errors import InvalidArgumentError
from dpverify.problems.datasets import Dataset
from dpverify.problems.displacements import ContractOrDrift
from dpverify.problems.losses import Linear, Loss, label_range

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NeighborPair:
    """Two data sets that differ in record `index`, and the loss that they are meant for.

    `gradient_distance` is the largest ||gradient at the left record - gradient at the right one|| over all
    points (over the searched one for `opposite_neighbor`), in units of loss over length.

    Examples:
        >>> from dpverify.problems import opposite_linear
        >>> pair = opposite_linear(n=3, d=2, index=2)
        >>> (pair.left.features - pair.right.features).tolist()  # in record 2 only
        [[0.0, 0.0], [2.0, 0.0], [0.0, 0.0]]
        >>> pair.index, pair.gradient_distance
        (2, 2.0)
    """

    left: Dataset
    right: Dataset
    index: int
    loss: Loss
    gradient_distance: float
    description: str


def opposite_linear(n: int, d: int, index: int) -> NeighborPair:
    """Linear losses: e_1 against -e_1 at `index`, zero gradients elsewhere.

    Noisy gradient descent without projection then moves by the same steps on both sides but for one, so every
    step's noise hides it: with n steps of size eta and noise of standard deviation s in each, the outputs are
    Gaussians at distance 2 eta with variance n s^2, whatever the index.

    Raises:
        InvalidArgumentError: unless n and d are positive integers and `index` is from 1 to n.

    Examples:
        >>> from dpverify.problems import opposite_linear
        >>> pair = opposite_linear(n=10, d=2, index=4)
        >>> pair.left.features[3].tolist(), pair.right.features[3].tolist()
        ([1.0, 0.0], [-1.0, 0.0])
        >>> pair.gradient_distance  # at every point
        2.0
    """
    checks.whole_number("n", n)
    checks.whole_number("d", d)
    checks.whole_number("index", index, at_most=n)
    left, right = np.zeros((n, d)), np.zeros((n, d))
    left[index - 1, 0], right[index - 1, 0] = 1.0, -1.0
    labels = np.ones(n)
    return NeighborPair(
        Dataset(left, labels, "opposite linear losses, left", "by construction"),
        Dataset(right, labels, "opposite linear losses, right", "by construction"),
        index,
        Linear(),
        2.0,
        f"linear losses with opposite unit gradients at record {index} of {n}, zero gradients elsewhere",
    )


def contract_then_reveal(n: int, index: int, *, d: int = 1, radius: float = math.inf) -> NeighborPair:
    """Steps up to `index` contract all space to a point, later ones move nothing, so only later noise counts.

    The loss is `ContractOrDrift`. With step size 1, one pass in order, no projection that binds, and noise of
    standard deviation s added in each step, step `index` forgets the past and lands on e_1 or -e_1; its own
    noise and that of later steps are added. The outputs are Gaussians at distance 2 with variance (n - index
    + 1) s^2, so their trade-off function is that of GDP with mu = 2 / (s sqrt(n - index + 1)), exactly.

    Args:
        n: number of records, and of steps.
        index: where the data sets differ, from 1.
        d: dimension.
        radius: largest norm in the constraint set, for the loss's constants; the pair is exact as long as the
            projection does not move points.

    Raises:
        InvalidArgumentError: unless n and d are positive integers, `index` is from 1 to n and `radius` is
            positive.

    Examples:
        >>> from dpverify.problems import contract_then_reveal
        >>> pair = contract_then_reveal(n=3, index=2)
        >>> pair.left.features.tolist(), pair.right.features.tolist()
        ([[0.0], [1.0], [0.0]], [[0.0], [-1.0], [0.0]])
        >>> pair.left.labels.tolist()  # label 1 contracts to the record, label 0 does not
        [1.0, 1.0, 0.0]
    """
    checks.whole_number("n", n)
    checks.whole_number("d", d)
    checks.whole_number("index", index, at_most=n)
    loss = ContractOrDrift(radius)
    left, right = np.zeros((n, d)), np.zeros((n, d))
    left[index - 1, 0], right[index - 1, 0] = 1.0, -1.0
    labels = np.where(np.arange(1, n + 1) <= index, 1.0, 0.0)
    return NeighborPair(
        Dataset(left, labels, "contract, then reveal, left", "by construction"),
        Dataset(right, labels, "contract, then reveal, right", "by construction"),
        index,
        loss,
        2.0,
        f"steps up to record {index} of {n} contract to a point, later ones are identity maps",
    )


def opposite_neighbor(
    loss: Loss, data: Dataset, index: int, *, at: npt.ArrayLike | None = None
) -> NeighborPair:
    """A real data set, and its neighbor with the record whose gradient at one point differs most.

    Candidates are the unit vectors along the record, its gradient and the point, in both directions, with the
    smallest and the largest admissible label. For a generalized linear loss at w = 0 the best of them is the
    best of all: the gradient is a multiple of the record there, and a longer opposite record makes a larger
    opposite gradient.

    Args:
        loss: the loss.
        data: at least `index` records, in the unit ball.
        index: the record to replace, from 1.
        at: the point to compare gradients at, shape (d,); the origin if None.

    Raises:
        InvalidArgumentError: if `index` or the shape of `at` does not fit.
        InvalidDataError: if a record lies outside the unit ball.

    Examples:
        >>> from dpverify.problems import Logistic, load, opposite_neighbor
        >>> pair = opposite_neighbor(Logistic(), load("breast-cancer", n=20, d=3), index=5)
        >>> (pair.left.features != pair.right.features).any(axis=1).nonzero()[0].tolist()  # counted from 0
        [4]
        >>> 0.5 < pair.gradient_distance <= 1.0  # at the origin, where no two gradients are farther apart than 1
        True
    """
    checks.whole_number("index", index, at_most=data.n)
    data = data.as_namespace(np)
    data.require_unit_ball()
    point = np.zeros(data.d) if at is None else np.asarray(at, dtype=np.float64)
    if point.shape != (data.d,) or not np.all(np.isfinite(point)):
        raise InvalidArgumentError("at", at, f"{data.d} finite numbers")
    x, y = data.features[index - 1], data.labels[index - 1]
    here = loss.gradient(point[None, :], x, y)[0]
    best: tuple[float, Vector, float] = (-1.0, x, float(y))
    for direction in (x, here, point, np.eye(data.d)[0]):
        length = float(np.linalg.norm(direction))
        for sign in (1.0, -1.0) if length > 0.0 else ():
            # A hair inside the ball, so that rounding cannot push the record out.
            record = direction * (sign * (1.0 - 1e-15) / length)
            for label in label_range(loss):
                there = loss.gradient(point[None, :], record, np.float64(label))[0]
                distance = float(np.linalg.norm(there - here))
                if distance > best[0]:
                    best = (distance, record, label)
    distance, record, label = best
    return NeighborPair(
        data,
        data.replace(index, record, label),
        index,
        loss,
        distance,
        f"{data.name} and its neighbor with record {index} replaced by one with an opposite gradient",
    )
