"""A search for points at which a loss breaks the constants that it declares.

It cannot prove a constant, only refute one: an evolutionary search looks for the largest gradients, gradient
differences and violations of convexity over points of the constraint set and records in the unit ball.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpverify import checks
from dpverify.errors import InvalidArgumentError
from dpverify.problems.constraint_sets import ConstraintSet
from dpverify.problems.datasets import Dataset
from dpverify.problems.losses import Loss, gradient_sensitivity, label_range

Matrix = npt.NDArray[np.float64]

_ROUNDING = 1e-9  # relative excess that is put down to rounding
_RESTARTS = 256  # searches that run side by side


@dataclass(frozen=True)
class ConstantsCheck:
    """The largest (smallest) values that were found; none breaks what the loss declares.

    Attributes:
        gradient_norm: largest norm of a gradient, to set beside `lipschitz_constant`.
        gradient_ratio: largest ||gradient(w) - gradient(w')|| / ||w - w'||, beside `smoothness`; for a loss without
            smoothness it only says how close the search came to a kink.
        curvature: smallest <gradient(w) - gradient(w'), w - w'> / ||w - w'||^2, beside `strong_convexity`.
        gradient_difference: largest ||gradient(record) - gradient(other record)||, beside
            `gradient_sensitivity`.
        evaluations: number of gradients computed.
    """

    gradient_norm: float
    gradient_ratio: float
    curvature: float
    gradient_difference: float
    evaluations: int


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Two points and two records a row."""

    w: Matrix
    v: Matrix
    x: Matrix
    y: Matrix
    other_x: Matrix
    other_y: Matrix

    def better_of(self, other: _Candidates, chosen: npt.NDArray[np.bool_]) -> _Candidates:
        """Rows of `other` where `chosen`, else own rows."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return _Candidates(*(np.where(chosen.reshape((-1,) + (1,) * (a.ndim - 1)), b, a) for a, b in pairs))


def check_constants(
    loss: Loss,
    constraint: ConstraintSet,
    data: Dataset | None = None,
    *,
    rng: np.random.Generator,
    rounds: int = 60,
) -> ConstantsCheck:
    """Try to refute the constants that a loss declares.

    Args:
        loss: any loss; it is evaluated with one record a run.
        constraint: where w may be.
        data: records to search from, besides random ones; they must be in the unit ball.
        rng: for the search.
        rounds: steps of each search.

    Raises:
        InvalidArgumentError: naming the constant, the value found and the point, if a declared constant is
            too small (strong convexity: too large), if values and gradients do not fit together or are not
            convex, or if they are not finite.
        InvalidDataError: if a record of `data` lies outside the unit ball.

    Examples:
        >>> import numpy as np
        >>> from dpverify.problems import Ball, Logistic, check_constants
        >>> found = check_constants(Logistic(), Ball(2, 1.0), rng=np.random.default_rng(0), rounds=10)
        >>> found.gradient_norm <= Logistic().lipschitz_constant, found.gradient_ratio <= Logistic().smoothness
        (True, True)
    """
    checks.whole_number("rounds", rounds)
    checks.with_attribute("loss", loss, "lipschitz_constant")
    checks.of_kind("constraint", constraint, ConstraintSet)
    if data is not None:
        checks.of_kind("data", data, Dataset)
    checks.of_kind("rng", rng, np.random.Generator)
    for constant in ("lipschitz_constant", "smoothness", "strong_convexity"):
        declared = getattr(loss, constant)
        if isinstance(declared, bool) or not declared >= 0.0:
            raise InvalidArgumentError(constant, declared, "a number of at least 0")
    search = _ConstantsSearch(loss, constraint, data, rng, rounds)
    norm = search.largest("lipschitz_constant", _gradient_norm, loss.lipschitz_constant, "gradient's norm")
    search.largest("lipschitz_constant", _value_ratio, loss.lipschitz_constant, "slope of the values")
    ratio = search.largest("smoothness", _gradient_ratio, loss.smoothness, "gradient's change over distance")
    curvature = -search.largest(
        "strong_convexity", _negative_curvature, -loss.strong_convexity, "negated curvature of the gradient"
    )
    difference = search.largest(
        "gradient_sensitivity", _record_difference, gradient_sensitivity(loss), "difference of two gradients"
    )
    search.largest("gradient", _first_order_violation, 0.0, "relative excess of the tangent over the values")
    return ConstantsCheck(norm, ratio, curvature, difference, search.evaluations)


Objective = Callable[[Loss, _Candidates], Matrix]


def _gradient_norm(loss: Loss, c: _Candidates) -> Matrix:
    return np.asarray(np.linalg.norm(loss.gradient(c.w, c.x, c.y), axis=1))


def _value_ratio(loss: Loss, c: _Candidates) -> Matrix:
    return _over_distance(np.abs(loss.value(c.w, c.x, c.y) - loss.value(c.v, c.x, c.y)), c, 1)


def _gradient_ratio(loss: Loss, c: _Candidates) -> Matrix:
    change = loss.gradient(c.w, c.x, c.y) - loss.gradient(c.v, c.x, c.y)
    return _over_distance(np.linalg.norm(change, axis=1), c, 1)


def _negative_curvature(loss: Loss, c: _Candidates) -> Matrix:
    change = loss.gradient(c.w, c.x, c.y) - loss.gradient(c.v, c.x, c.y)
    return _over_distance(-np.sum(change * (c.w - c.v), axis=1), c, 2)


def _record_difference(loss: Loss, c: _Candidates) -> Matrix:
    change = loss.gradient(c.w, c.x, c.y) - loss.gradient(c.w, c.other_x, c.other_y)
    return np.asarray(np.linalg.norm(change, axis=1))


def _first_order_violation(loss: Loss, c: _Candidates) -> Matrix:
    """Excess of f(w) + <gradient(w), v - w> + (m / 2) ||v - w||^2 over f(v), relative to the terms."""
    here, there = loss.value(c.w, c.x, c.y), loss.value(c.v, c.x, c.y)
    linear = np.sum(loss.gradient(c.w, c.x, c.y) * (c.v - c.w), axis=1)
    quadratic = 0.5 * loss.strong_convexity * np.sum((c.v - c.w) ** 2, axis=1)
    size = np.abs(here) + np.abs(there) + np.abs(linear) + quadratic + 1e-3
    return np.asarray((here + linear + quadratic - there) / size)


def _over_distance(change: Matrix, c: _Candidates, power: int) -> Matrix:
    """Change over distance^power; pairs too close for their difference to mean something count as nothing."""
    distance = np.linalg.norm(c.w - c.v, axis=1)
    apart = distance > 1e-4 * (1.0 + np.linalg.norm(c.w, axis=1))
    return np.where(apart, change / np.where(apart, distance, 1.0) ** power, -math.inf)


class _ConstantsSearch:
    """Random restarts, each followed by mutations of which the better are kept."""

    def __init__(
        self,
        loss: Loss,
        constraint: ConstraintSet,
        data: Dataset | None,
        rng: np.random.Generator,
        rounds: int,
    ) -> None:
        self.loss, self.constraint, self.rng, self.rounds = loss, constraint, rng, rounds
        self.evaluations = 0
        self.scale = min(constraint.diameter, 10.0) or 1.0
        self.labels = np.array(label_range(loss))
        self.records: Matrix | None = None
        if data is not None:
            data = data.as_namespace(np).in_unit_ball()
            data.check_features(constraint.dimension)
            self.records, self.labels = data.features, np.concatenate([self.labels, data.labels])

    def largest(self, argument: str, objective: Objective, declared: float, what: str) -> float:
        """The largest value found; refuses one above `declared`."""
        best = self._start()
        score = self._score(objective, best)
        for step in range(self.rounds):
            candidates = self._mutate(best, 10.0 ** (-4.0 * step / self.rounds))
            new = self._score(objective, candidates)
            better = new > score
            best, score = best.better_of(candidates, better), np.where(better, new, score)
        winner = int(np.argmax(score))
        found = float(score[winner])
        if found > declared + _ROUNDING * (1.0 + abs(declared)):
            where = f"w = {_row(best.w, winner)}, x = {_row(best.x, winner)}, y = {best.y[winner]:g}"
            if objective is _record_difference:
                where += f", against x = {_row(best.other_x, winner)}, y = {best.other_y[winner]:g}"
            elif objective is not _gradient_norm:
                where += f", against w = {_row(best.v, winner)}"
            if argument == "gradient":
                raise InvalidArgumentError(
                    "gradient",
                    self.loss,
                    f"the (sub)gradient of a convex loss; {what} {found:.3g} at {where}",
                )
            bound = f"at most {-found!r}" if argument == "strong_convexity" else f"at least {found!r}"
            value = getattr(self.loss, argument, declared)
            raise InvalidArgumentError(argument, value, f"{bound}, the {what} at {where}")
        return found

    def _score(self, objective: Objective, candidates: _Candidates) -> Matrix:
        self.evaluations += 2 * len(candidates.w)
        score = objective(self.loss, candidates)
        if np.any(np.isnan(score)) or np.any(score == math.inf):
            bad = int(np.argmax(np.isnan(score) | (score == math.inf)))
            raise InvalidArgumentError(
                "loss",
                self.loss,
                f"finite values and gradients; not so at w = {_row(candidates.w, bad)}, "
                f"x = {_row(candidates.x, bad)}, y = {candidates.y[bad]:g}",
            )
        return score

    def _start(self) -> _Candidates:
        x, y = self._records()
        other_x, other_y = self._records()
        # Opposite records make the largest difference for most losses.
        other_x = np.where(self.rng.random((len(x), 1)) < 0.5, -x, other_x)
        d = self.constraint.dimension
        reach = self.scale * 10.0 ** self.rng.uniform(-2.0, 1.0, (len(x), 1))
        # Most losses are extreme along a record.
        along = self.rng.standard_normal((len(x), 1)) * x
        direction = np.where(self.rng.random((len(x), 1)) < 0.5, along, self.rng.standard_normal((len(x), d)))
        w = self._inside(self.constraint.center() + reach * direction)
        step = self.scale * 10.0 ** self.rng.uniform(-3.0, 0.0, (len(x), 1))
        towards = np.where(self.rng.random((len(x), 1)) < 0.5, x, self.rng.standard_normal((len(x), d)))
        return _Candidates(w, self._inside(w + step * towards), x, y, other_x, other_y)

    def _mutate(self, c: _Candidates, size: float) -> _Candidates:
        def moved(points: Matrix, scale: float) -> Matrix:
            return points + scale * size * self.rng.standard_normal(points.shape)

        def shortened(records: Matrix) -> Matrix:
            return np.asarray(records / np.maximum(1.0, np.linalg.norm(records, axis=1, keepdims=True)))

        fresh = self.rng.random(len(c.w)) < 0.1
        return _Candidates(
            self._inside(moved(c.w, self.scale)),
            self._inside(moved(c.v, self.scale)),
            shortened(moved(c.x, 1.0)),
            np.where(fresh, self.rng.choice(self.labels, len(c.y)), c.y),
            shortened(moved(c.other_x, 1.0)),
            np.where(fresh, self.rng.choice(self.labels, len(c.y)), c.other_y),
        )

    def _records(self) -> tuple[Matrix, Matrix]:
        x = self.rng.standard_normal((_RESTARTS, self.constraint.dimension))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        if self.records is not None:
            real = self.rng.random(len(x)) < 0.5
            x[real] = self.records[self.rng.integers(len(self.records), size=int(np.sum(real)))]
        return x, self.rng.choice(self.labels, len(x))

    def _inside(self, points: Matrix) -> Matrix:
        return np.asarray(self.constraint.project(points))


def _row(rows: Matrix, index: int) -> str:
    return np.array2string(rows[index], precision=6, separator=", ", threshold=12)
