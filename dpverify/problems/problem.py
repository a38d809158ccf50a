"""A loss on a constraint set: its empirical risk on a data set, and its answers where its constants hold.

A guarantee is computed from constants that a loss declares for some points, for records of norm at most 1 and for some
labels. Whoever hands a loss's gradients to somebody else does it through a `GuardedOracle`: it answers at points where
the constants hold and refuses all others, by a rule that does not look at the records.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dpverify.checks import of_kind, require
from dpverify.errors import InvalidArgumentError
from dpverify.privacy.stated import Condition, ConditionKind
from dpverify.problems.arrays import Array, like, namespace, quiet, row_norms, row_sums
from dpverify.problems.constraint_sets import Ball, ConstraintSet
from dpverify.problems.datasets import Dataset
from dpverify.problems.declared import DeclaredConstants, declared_only
from dpverify.problems.losses import GeneralizedLinear, Loss, Ridge

_NUMBERS_AT_ONCE = 1 << 20
_EVERYWHERE = 1e100
"""Norms up to which inner products with records are finite numbers in all that is computed from them."""
_ROUNDING = 1e-9
"""Relative excess over a set that is put down to rounding; such points are projected before they are used. So much of
the gradient sensitivity may be rounding, where gradients grow with their points and that of the record is lost."""


@dataclass(frozen=True)
class Problem:
    """Minimize the average of `loss` over a data set's records, on `constraint`.

    Raises:
        InvalidArgumentError: if `loss` or `constraint` lacks what it should offer, if a constant is no number of at
            least 0, or if the constants of the loss are declared for a smaller radius than the constraint set has.

    Examples:
        >>> import numpy as np
        >>> from dpverify.problems import Ball, Logistic, Problem, load
        >>> problem, data = Problem(Logistic(), Ball(5, 1.0)), load("breast-cancer", d=5)
        >>> points = np.zeros((3, 5))
        >>> problem.mean_risk(points, data).round(3).tolist()  # ln 2, for each of the three points
        [0.693, 0.693, 0.693]
        >>> problem.mean_gradient(points, data).shape
        (3, 5)
    """

    loss: Loss
    constraint: ConstraintSet

    def __post_init__(self) -> None:
        of_kind("loss", self.loss, Loss, "an object with the members of dpverify.problems.Loss")
        of_kind(
            "constraint",
            self.constraint,
            ConstraintSet,
            "an object with the members of dpverify.problems.ConstraintSet",
        )
        # no field: it follows from the loss, as it was when the problem was made
        known, base = DeclaredConstants.of(self.loss), without_ridge(self.loss)[0]
        object.__setattr__(self, "_constants", known)
        object.__setattr__(
            self, "_base_constants", known if base is self.loss else DeclaredConstants.of(base)
        )
        loss: Any = self.loss
        while loss is not None:
            radius = getattr(loss, "radius", None)
            if radius is not None and not radius >= self.constraint.largest_norm * (1.0 - 1e-12):
                raise InvalidArgumentError(
                    "loss.radius", radius, f"at least the constraint set's, {self.constraint.largest_norm:g}"
                )
            loss = getattr(loss, "base", None)

    @property
    def constants(self) -> DeclaredConstants:
        """What the loss declared when the problem was made; all guarantees and all noise rest on these."""
        found: DeclaredConstants = self._constants  # type: ignore[attr-defined]
        return found

    @property
    def base_constants(self) -> DeclaredConstants:
        """The same of the loss without its ridge."""
        found: DeclaredConstants = self._base_constants  # type: ignore[attr-defined]
        return found

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What guarantees on this problem take on trust; nothing where loss and set are this package's own."""
        told = declared_only(self.loss, self.constraint, self.constants)
        return tuple(Condition(ConditionKind.AS_DECLARED, words) for words in told)

    def mean_risk(self, w: Array, data: Dataset) -> Array:
        """Average loss over the records at each point, in units of the loss.

        Args:
            w: points, shape (runs, d).
            data: n records; they are brought to the library, dtype and device of `w`.

        Returns:
            Shape (runs,).

        Raises:
            InvalidArgumentError: if the shapes do not fit.
        """
        return self.total_risk(w, data) / data.n

    def total_risk(self, w: Array, data: Dataset) -> Array:
        """Sum of the losses over the records, shape (runs,); the rest as for `mean_risk`."""
        xp = namespace(w)
        features, labels = self._records(w, data)
        loss, ridge = without_ridge(self.loss)
        if isinstance(loss, GeneralizedLinear):
            parts = [
                xp.sum(loss.link(w[part, :] @ xp.matrix_transpose(features), labels), axis=-1)
                for part in slices(w.shape[0], data.n)
            ]
            total = xp.concat(parts) if parts else xp.zeros_like(w[:, 0])
        else:
            total = xp.zeros_like(w[:, 0])
            for i in range(data.n):
                total += loss.value(w, features[i, :], labels[i])
        return total + (0.5 * ridge * data.n) * row_sums(w * w) if ridge else total

    def mean_gradient(self, w: Array, data: Dataset) -> Array:
        """Average (sub)gradient over the records at each point, shape (runs, d), otherwise as `mean_risk`."""
        xp = namespace(w)
        features, labels = self._records(w, data)
        loss, ridge = without_ridge(self.loss)
        gradient = xp.zeros_like(w)
        if isinstance(loss, GeneralizedLinear):
            for part in slices(w.shape[0], data.n):
                slopes = loss.link_slope(w[part, :] @ xp.matrix_transpose(features), labels)
                gradient[part, :] = slopes @ features
        else:
            for i in range(data.n):
                gradient += loss.gradient(w, features[i, :], labels[i])
        gradient /= data.n
        if ridge:
            gradient += ridge * w
        return gradient

    def _records(self, w: Array, data: Dataset) -> tuple[Array, Array]:
        data.check_features(self.constraint.dimension)
        if w.ndim != 2 or w.shape[1] != data.d:
            raise InvalidArgumentError("w", tuple(w.shape), f"points of shape (runs, {data.d})")
        return like(data.features, w), like(data.labels, w)


def slices(runs: int, numbers_a_run: int) -> Iterator[slice]:
    """Slices of runs whose tables stay small."""
    step = max(1, _NUMBERS_AT_ONCE // numbers_a_run)
    for start in range(0, runs, step):
        yield slice(start, min(start + step, runs))


def without_ridge(loss: Loss) -> tuple[Loss, float]:
    """The loss without its ridge, and the ridge's weight (0 if there is none)."""
    return (loss.base, loss.weight) if isinstance(loss, Ridge) else (loss, 0.0)


class GuardedOracle:
    """A problem's gradients and losses, at points where the constants hold that were declared when it was made."""

    def __init__(self, problem: Problem) -> None:
        self._loss = problem.loss
        constants = problem.constants
        radius, sensitivity = constants.sensitivity_radius, constants.gradient_sensitivity
        if radius is not None and constants.strong_convexity > 0 < sensitivity:
            radius = min(
                radius, _ROUNDING * sensitivity / (constants.strong_convexity * sys.float_info.epsilon)
            )
        # points of the set alone are sure to be covered where the loss names no radius of its own
        self._region: Any = problem.constraint
        self._where = "points of the constraint set"
        if radius is not None:
            self._region = Ball(problem.constraint.dimension, radius) if radius < _EVERYWHERE else None
            self._where = f"points of norm at most {radius:g}"

    def admitted(self, points: Array) -> Array:
        """The points (runs, d), once it is sure that the constants hold there; one outside by rounding is projected.

        Refused are those outside, not finite, or of a norm above 1e100, where an answer that is not a number could tell
        records apart.
        """
        xp = namespace(points)
        with quiet():
            if not bool(xp.all(row_norms(points) <= _EVERYWHERE)):
                raise InvalidArgumentError(
                    "points", points, f"finite numbers, with norms up to {_EVERYWHERE:g}"
                )
            if self._region is None:
                return points
            allowed = f"{self._where}, where the constants of {type(self._loss).__name__} hold"
            require(bool(xp.all(self._region.contains(points, _ROUNDING))), "points", points, allowed)
            return self._region.project(points)

    def gradient(self, points: Array, x: Array, y: Array) -> Array:
        """(Sub)gradients at admitted points, a new array of shape (runs, d); arguments as for `Loss.gradient`."""
        return self._loss.gradient(points, x, y)

    def value(self, points: Array, x: Array, y: Array) -> Array:
        """Losses at admitted points, shape (runs,); arguments as for `Loss.value`."""
        return self._loss.value(points, x, y)
