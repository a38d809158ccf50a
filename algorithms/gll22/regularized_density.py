"""The density exp(-k (F(x) + (mu / 2) ||x - c||^2)) on a constraint set, F the mean loss of a data set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpverify.algorithms.conditions import normalized_start
from dpverify.algorithms.gll22.expansions import Expansion, expansion_of
from dpverify.algorithms.parameters import NotNegative, Positive, check_parameters
from dpverify.errors import InvalidArgumentError
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    ConstraintSet,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Problem,
    Simplex,
)
from dpverify.problems.displacements import ContractOrDrift
from dpverify.problems.problem import without_ridge


@dataclass(frozen=True)
class RegularizedDensity:
    """What gll22 (8) samples from, with its constants; nothing here depends on the data but where it says so.

    Attributes:
        problem: convex losses on a closed convex set K.
        inverse_temperature: k, one over loss.
        regularization: mu, loss over length^2; with the losses' own strong convexity it must be above 0.
        anchor: c in K, d numbers; the set's center if None. The paper has c = 0, which its risk bound (the term
            mu D^2 / 2) needs to be a point of K.
        expanded: whether what `expansions` takes out of the losses is sampled with the Gaussian. The density is the
            same; `lipschitz_constant` is that of what is left to estimate.
    """

    problem: Problem
    inverse_temperature: Positive
    regularization: NotNegative
    anchor: Sequence[float] | None = None
    expanded: bool = False

    def __post_init__(self) -> None:
        """Refuse a density of which nothing is strongly convex."""
        check_parameters(self)
        if not self.regularization + self.problem.constants.strong_convexity > 0:
            raise InvalidArgumentError(
                "regularization",
                self.regularization,
                "a number above 0, since the loss is not strongly convex",
            )
        object.__setattr__(self, "anchor", checked_anchor(self.anchor, self.problem.constraint))
        if not farthest(self.problem.constraint, self.anchor_point) > 0:
            raise InvalidArgumentError("problem", self.problem, "a set of more than one point")

    @property
    def strong_convexity(self) -> float:
        """Of the negative log-density, 1 over length^2: k times (mu plus the losses' own)."""
        return self.inverse_temperature * (self.regularization + self.problem.constants.strong_convexity)

    @property
    def quadratic_weight(self) -> float:
        """Curvature of what the losses have in common: k times (mu plus the ridge of the loss), 1 over length^2."""
        return self.inverse_temperature * (self.regularization + without_ridge(self.problem.loss)[1])

    @property
    def lipschitz_constant(self) -> float:
        """Of k times what is estimated of a record's loss: all but its ridge, and its expansion if that is taken out.

        1 over length, on K and for records in the unit ball.
        """
        expansion = self.expansion
        own = self.problem.base_constants.lipschitz_constant
        return self.inverse_temperature * (own if expansion is None else expansion.lipschitz_constant)

    @property
    def expansion(self) -> Expansion | None:
        """What is taken out of every record's loss; None if nothing is."""
        return expansion_of(self.problem) if self.expanded else None

    @property
    def mode_distance(self) -> float:
        """Bound on ||c - mode||, a length, for every data set.

        At the mode x, strong convexity gives kappa ||x - c||^2 <= <grad V(c), c - x> with grad V(c) = k grad F(c).
        """
        slope = self.inverse_temperature * self.problem.constants.lipschitz_constant
        return min(farthest(self.problem.constraint, self.anchor_point), slope / self.strong_convexity)

    @property
    def root_mean_square_distance(self) -> float:
        """Bound on sqrt(E ||x - c||^2) under the density, a length, for every data set.

        E ||x - mode||^2 <= d / kappa for a kappa-strongly log-concave law on a convex set (integrate by parts).
        """
        spread = math.sqrt(self.problem.constraint.dimension / self.strong_convexity)
        return min(farthest(self.problem.constraint, self.anchor_point), spread + self.mode_distance)

    @property
    def anchor_point(self) -> tuple[float, ...]:
        """The anchor c as a tuple."""
        assert self.anchor is not None
        return tuple(self.anchor)

    def gaussian(self, data: Dataset) -> tuple[tuple[float, ...], float] | None:
        """Mean and standard deviation of the Gaussian whose restriction this density is on a data set.

        None if the loss is not a multiple of ||x||^2 plus something linear. One gradient of each record is used.
        """
        curvature = quadratic_curvature(self.problem, data)
        if curvature is None:
            return None
        origin = np.zeros((1, data.d))
        gradient = np.asarray(self.problem.mean_gradient(origin, data.as_namespace(np)))[0]
        total = curvature + self.regularization
        mean = (self.regularization * np.asarray(self.anchor_point) - gradient) / total
        return tuple(mean.tolist()), 1 / math.sqrt(self.inverse_temperature * total)


def quadratic_curvature(problem: Problem, data: Dataset | None = None) -> float | None:
    """a, if the mean loss is (a / 2) ||x||^2 plus something linear, for every data set; None otherwise.

    Where a depends on the data (`ContractOrDrift`), it is that of `data`, and NaN without data.
    """
    loss, ridge = without_ridge(problem.loss)
    if type(loss) is Linear:
        return ridge
    if type(loss) is HalfSquaredDistance:
        return 1.0 + ridge
    if type(loss) is ContractOrDrift:
        return math.nan if data is None else float(np.mean(np.asarray(data.labels))) + ridge
    return None


def checked_anchor(anchor: Sequence[float] | None, constraint: ConstraintSet) -> tuple[float, ...]:
    """The anchor as a tuple; the set's center if None.

    Raises:
        InvalidArgumentError: if it is not in the set.
    """
    try:
        return normalized_start(anchor, constraint)
    except InvalidArgumentError as error:
        allowed = f"{constraint.dimension} finite numbers, a point of the constraint set"
        raise InvalidArgumentError("anchor", anchor, allowed) from error


def farthest(constraint: ConstraintSet, point: Sequence[float]) -> float:
    """Bound on the largest distance from a point of the set to another; exact on a ball, box or simplex."""
    center = np.asarray(point, dtype=np.float64)
    if type(constraint) is Ball:
        return constraint.radius + float(np.linalg.norm(center - constraint.center()))
    if type(constraint) is Box:
        ends = np.stack([np.asarray(constraint.lower), np.asarray(constraint.upper)])
        return float(np.linalg.norm(np.max(np.abs(ends - center), axis=0)))
    if type(constraint) is Simplex:
        corners = constraint.scale * np.eye(constraint.dimension)
        return float(np.max(np.linalg.norm(corners - center, axis=1)))
    if type(constraint) is AllSpace:
        return math.inf
    return min(constraint.diameter, constraint.largest_norm + float(np.linalg.norm(center)))
