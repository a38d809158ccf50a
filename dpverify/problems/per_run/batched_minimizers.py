"""Minimizers of strongly convex objectives that differ from run to run by a linear term, with certificates.

The objective of one run is the sum of the losses over the records, plus (ridge / 2) ||w||^2, plus <tilt, w>, on
a closed convex set. Whatever the steps were that led to a point w of the set, a vector v that is normal to the
set at w certifies it: with g the objective's gradient at w, m the strong convexity and w* the minimizer,

    m ||w - w*||^2 <= <g, w - w*> <= <g + v, w - w*>,   so   ||w - w*|| <= ||g + v|| / m.

The first inequality is strong convexity with optimality of w*, the second is what normal means. A projection
delivers such vectors: u - Proj(u) is normal at Proj(u). Rounding is allowed for, as in `problems.minimizers`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.checks import number, positive, require
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems import AllSpace, Ball, Dataset, GeneralizedLinear, Problem, minimize
from dpverify.problems.arrays import Array, at_least, at_most, like, namespace, row_sums
from dpverify.problems.problem import slices, without_ridge

NEWTON_STEPS, LINE_STEPS, INNER_STEPS, GRADIENT_STEPS = 40, 12, 400, 20_000
"""Most steps of each kind; a run that is not done then is refused."""


@dataclass(frozen=True, eq=False)
class BatchedMinimum:
    """One point a run, and how far it can be from that run's minimizer."""

    points: Array  # in the constraint set, shape (runs, d)
    distances: Array  # certified upper bounds on the distance to the minimizer, a length, shape (runs,)
    gradient_queries: Array  # of single records, shape (runs,)


def minimize_tilted(
    problem: Problem, data: Dataset, tilts: Array, *, ridge: float = 0.0, accuracy: float
) -> BatchedMinimum:
    """Minimize total loss + (ridge / 2) ||w||^2 + <tilt, w> on the constraint set, for every tilt.

    A generalized linear loss is minimized by Newton steps, with curvatures from differences of slopes; what they
    leave, and every other loss, by accelerated projected gradient steps. Only the certificate is relied upon.
    Tilts have shape (runs, d), in loss over length; a run whose certified distance from the minimizer exceeds
    `accuracy` (a length) is refused.
    """
    number("ridge", ridge, at_least=0, allowed="a finite number of at least 0")
    positive("accuracy", accuracy)
    if tilts.ndim != 2 or tilts.shape[1] != problem.constraint.dimension:
        raise InvalidArgumentError(
            "tilts", tuple(tilts.shape), f"numbers of shape (runs, {problem.constraint.dimension})"
        )
    objective = _Objective(problem, data, ridge, tilts)
    xp = namespace(tilts)
    parts = []
    for part in slices(tilts.shape[0], objective.numbers_a_run):
        state = _State(objective, tilts[part, :], accuracy)
        if objective.generalized_linear:
            _newton(state)
        _accelerated(state)
        worst = float(xp.max(state.best_distance))
        if not worst <= accuracy:
            raise InvalidDataError(
                f"A minimizer on {data.name} is known only up to a distance of {worst:.3g}; allowed: "
                f"{accuracy:.3g}: ask for less accuracy."
            )
        parts.append((state.best, state.best_distance, state.evaluations * data.n))
    if not parts:
        empty = xp.zeros_like(tilts)
        return BatchedMinimum(empty, row_sums(empty), xp.astype(row_sums(empty), xp.int64))
    points, distances, queries = (xp.concat(each, axis=0) for each in zip(*parts, strict=True))
    return BatchedMinimum(points, distances, queries)


UNCERTIFIED = "a minimizer that is not certified accurately enough is refused"
"""What guarantees say that rest on `minimize_tilted` or `minimizer_of`: whether they refuse depends on the records."""


@dataclass(frozen=True, eq=False)
class DataMinimum:
    """A data set's minimizer, up to a certified distance; queries are of single records."""

    point: NDArray[np.float64]  # shape (d,), in the constraint set
    distance: float  # upper bound on the distance to the minimizer, a length
    gradient_queries: int
    value_queries: int = 0


def minimizer_of(problem: Problem, data: Dataset, *, accuracy: float) -> DataMinimum:
    """The minimizer of the empirical risk of a strongly convex loss, certified to be at most `accuracy` off.

    A smooth loss is minimized by `minimize_tilted`. For others a solver's point is taken, whose certified
    duality gap bounds the distance by sqrt(2 gap / m), gap being the mean risk's and m the loss's strong
    convexity; what the solver does inside is not counted, the certificate's queries are.
    """
    positive("accuracy", accuracy)
    convexity = problem.constants.strong_convexity
    require(convexity > 0, "problem", problem, "a strongly convex loss")
    data = data.as_namespace(np)
    if math.isfinite(problem.constants.smoothness):
        found = minimize_tilted(problem, data, np.zeros((1, data.d)), accuracy=accuracy)
        return DataMinimum(found.points[0], float(found.distances[0]), int(found.gradient_queries[0]))
    minimum = minimize(problem, data)
    distance = math.sqrt(2 * minimum.duality_gap / convexity)
    if not distance <= accuracy:
        raise InvalidDataError(
            f"The minimizer on {data.name} is known only up to a distance of {distance:.3g}; allowed: "
            f"{accuracy:.3g}: allow a larger distance, or use a smooth loss."
        )
    # two candidates' risks, the upper bound and two first-order bounds; two gradients and the dual slopes
    return DataMinimum(minimum.point, distance, 3 * data.n, 5 * data.n)


class _Objective:
    """The objectives of all runs: what they share."""

    def __init__(self, problem: Problem, data: Dataset, ridge: float, example: Array) -> None:
        data.check_features(problem.constraint.dimension)
        if not math.isfinite(problem.constants.smoothness):
            raise InvalidArgumentError("problem", problem, "a loss with finite smoothness")
        # a ridge of the loss's own is curvature that all records share
        self.base, own = without_ridge(problem.loss)
        self.ridge = ridge + data.n * own
        self.convexity = self.ridge + data.n * problem.base_constants.strong_convexity
        require(self.convexity > 0, "ridge", ridge, "above 0, for a loss that is not strongly convex")
        self.constraint, self.data = problem.constraint, data
        self.features, self.labels = like(data.features, example), like(data.labels, example)
        largest = max(1.0, data.largest_norm) if isinstance(self.base, GeneralizedLinear) else 1.0
        self.smoothness = self.ridge + data.n * problem.base_constants.smoothness * largest**2
        self.generalized_linear = isinstance(self.base, GeneralizedLinear)
        self.numbers_a_run = max(data.n, data.d**2) if self.generalized_linear else data.d

    def start(self, tilts: Array) -> Array:
        """The set's center in every run."""
        return 0.0 * tilts + like(self.constraint.center(), tilts)

    def gradient(self, w: Array, tilts: Array) -> tuple[Array, Array]:
        """Gradients, shape (runs, d), and how much of their norm may be rounding, shape (runs,)."""
        xp = namespace(w)
        if isinstance(self.base, GeneralizedLinear):
            slopes = self.base.link_slope(w @ self.features.T, self.labels)
            total = slopes @ self.features
            sizes = xp.sum(xp.abs(slopes), axis=-1)
        else:
            total, sizes = xp.zeros_like(w), row_sums(xp.zeros_like(w))
            for i in range(self.data.n):
                gradient = self.base.gradient(w, self.features[i, :], self.labels[i])
                total += gradient
                sizes += _norms(gradient)
        total = total + self.ridge * w + tilts
        sizes = sizes + self.ridge * _norms(w) + _norms(tilts)
        return total, (4.0 * (self.data.n + self.data.d + 16) * _EPS) * sizes

    def hessians(self, w: Array) -> Array:
        """Curvatures by differences of slopes, shape (runs, d, d); the queries are two gradients."""
        xp, d = namespace(w), self.data.d
        base: Any = self.base
        z, step = w @ self.features.T, 1e-5
        curvatures = (base.link_slope(z + step, self.labels) - base.link_slope(z - step, self.labels)) / (
            2 * step
        )
        total = self.ridge * xp.reshape(like(np.eye(d), w), (1, d * d))
        rows = max(1, _PRODUCTS // (d * d))
        for first in range(0, self.data.n, rows):
            last = min(first + rows, self.data.n)
            part = self.features[first:last, :]
            products = xp.reshape(part[:, :, None] * part[:, None, :], (part.shape[0], d * d))
            total = curvatures[:, first:last] @ products + total
        return xp.reshape(total, (w.shape[0], d, d))

    def certified(self, w: Array, gradient: Array, rounding: Array, normal: Array) -> Array:
        """The bound ||g + v|| / m for v normal at w, with room for rounding in g, v and w."""
        blurred = 64 * _EPS * (_norms(normal) + self.smoothness * _norms(w))
        return (_norms(gradient + normal) + rounding + blurred) / self.convexity


_EPS = float(np.finfo(np.float64).eps)
_PRODUCTS = 2**24
"""Products of coordinates that are held at once, over some of the records."""


class _State:
    """The runs of one part: their best certified points, and what is still to be done."""

    def __init__(self, objective: _Objective, tilts: Array, accuracy: float) -> None:
        xp = namespace(tilts)
        self.objective, self.tilts, self.accuracy = objective, tilts, accuracy
        self.best = objective.start(tilts)
        gradient, rounding = objective.gradient(self.best, tilts)
        self.best_distance = objective.certified(self.best, gradient, rounding, xp.zeros_like(gradient))
        self.evaluations = xp.ones(tilts.shape[0], dtype=xp.int64)

    def todo(self) -> Array:
        """Which runs are not accurate enough, shape (runs,)."""
        return ~(self.best_distance <= self.accuracy)

    def keep(self, rows: Array, points: Array, distances: Array, evaluations: int) -> None:
        """For the runs of a mask, in order: keep the better point, count gradient evaluations."""
        xp = namespace(points)
        candidates, found = scatter(rows, points, self.best), scatter(rows, distances, self.best_distance)
        better = rows & (found < self.best_distance)
        self.best = xp.where(better[:, None], candidates, self.best)
        self.best_distance = xp.where(better, found, self.best_distance)
        self.evaluations = self.evaluations + evaluations * xp.astype(rows, xp.int64)


def scatter(rows: Array, values: Array, into: Array) -> Array:
    """`into` with the rows of a mask replaced by `values`, in order."""
    xp = namespace(into)
    if values.shape[0] == into.shape[0]:
        return values
    places = xp.cumulative_sum(xp.astype(rows, xp.int64)) - 1
    spread = xp.take(values, xp.maximum(places, xp.zeros_like(places)), axis=0)
    return xp.where(rows if into.ndim == 1 else rows[:, None], spread, into)


def _select(rows: Array, *arrays: Array) -> tuple[Array, ...]:
    """The rows of a mask of each array."""
    xp = namespace(rows)
    numbers = xp.nonzero(rows)[0]
    return tuple(xp.take(array, numbers, axis=0) for array in arrays)


def _newton(state: _State) -> None:
    """Newton steps on the constraint set, shortened where a full one overshoots."""
    objective, xp = state.objective, namespace(state.tilts)
    current = state.best
    for _ in range(NEWTON_STEPS):
        rows = state.todo()
        if not bool(xp.any(rows)):
            return
        w, tilts = _select(rows, current, state.tilts)
        gradient, _ = objective.gradient(w, tilts)
        target, normal = _quadratic_minimizer(objective.constraint, w, gradient, objective.hessians(w))
        step = target - w
        descent = row_sums(gradient * step)
        # slopes below this are rounding
        noise = 64 * _EPS * (_norms(gradient) + objective.smoothness * _norms(w)) * (_norms(w) + _norms(step))
        steepness = xp.abs(descent)
        low, share, high = xp.zeros_like(descent), xp.ones_like(descent), xp.ones_like(descent)
        low_slope, high_slope = -steepness, xp.zeros_like(descent)
        evaluations = 4  # the gradient, the curvatures, and the gradient at the target
        reached = target
        there, rounding = objective.gradient(reached, tilts)
        for _ in range(LINE_STEPS):
            slope = row_sums(there * step)
            over = slope > 0.5 * steepness + noise
            under = (share < 1.0) & (slope < -0.5 * steepness - noise)
            wrong = over | under
            if not bool(xp.any(wrong)):
                break
            high, high_slope = xp.where(over, share, high), xp.where(over, slope, high_slope)
            low, low_slope = xp.where(under, share, low), xp.where(under, slope, low_slope)
            # where the slope along the step vanishes if it is linear in between, not too close to either end
            rise = xp.where(wrong, high_slope - low_slope, xp.ones_like(slope))
            cut = at_most(at_least(-low_slope / rise, 0.1), 0.9)
            share = xp.where(wrong, low + cut * (high - low), share)
            reached = w + share[:, None] * step
            there, rounding = objective.gradient(reached, tilts)
            evaluations += 1
        normal = xp.where((share == 1.0)[:, None], normal, xp.zeros_like(normal))
        state.keep(rows, reached, objective.certified(reached, there, rounding, normal), evaluations)
        current = scatter(rows, reached, current)


def _quadratic_minimizer(constraint: Any, w: Array, gradient: Array, hessians: Array) -> tuple[Array, Array]:
    """Minimize <g, u - w> + (u - w) H (u - w) / 2 on the set: the minimizers and vectors normal there."""
    xp = namespace(w)
    if isinstance(constraint, AllSpace):
        return w - _times(xp.linalg.inv(hessians), gradient), xp.zeros_like(w)
    if isinstance(constraint, Ball):
        return _on_ball(constraint, w, gradient, hessians)
    free = w - _times(xp.linalg.inv(hessians), gradient)
    bound = xp.max(xp.sum(xp.abs(hessians), axis=-1), axis=-1)[:, None]
    point = constraint.project(free)
    ahead, normal, momentum = point, (free - point) * bound, 1.0
    for _ in range(INNER_STEPS):
        aim = ahead - (gradient + _times(hessians, ahead - w)) / bound
        new = constraint.project(aim)
        normal = (aim - new) * bound
        if float(xp.max(xp.abs(new - point))) <= 1e-15 * (1.0 + float(xp.max(xp.abs(new)))):
            point = new
            break
        uphill = row_sums((ahead - new) * (new - point)) > 0
        following = 0.5 + math.sqrt(0.25 + momentum**2)
        push = xp.where(uphill, xp.zeros_like(uphill, dtype=w.dtype), (momentum - 1) / following)
        ahead = new + push[:, None] * (new - point)
        point, momentum = new, following
    return point, normal


def _on_ball(ball: Ball, w: Array, gradient: Array, hessians: Array) -> tuple[Array, Array]:
    """The same on a ball, by the multiplier of its radius: Newton's method on 1/||u|| (More, Sorensen 1983)."""
    xp = namespace(w)
    middle = like(ball.center(), w)
    values, vectors = xp.linalg.eigh(hessians)
    slope = _times(xp.matrix_transpose(vectors), gradient - _times(hessians, w - middle))
    multiplier = xp.zeros_like(values[:, 0])
    for _ in range(60):
        shifted = values + multiplier[:, None]
        along = -slope / shifted
        squared = row_sums(along * along)
        length = xp.sqrt(squared)
        outside = length > ball.radius * (1 + 4 * _EPS)
        if not bool(xp.any(outside)):
            break
        curvature = row_sums(along * along / shifted)
        change = squared / xp.where(outside, curvature, xp.ones_like(curvature)) * (length / ball.radius - 1)
        multiplier = xp.where(outside, multiplier + change, multiplier)
    offset = _times(vectors, along)
    length = _norms(offset)
    scale = ball.radius / xp.where(length > ball.radius, length, xp.full_like(length, ball.radius))
    offset = offset * scale[:, None]
    # normal at the offset only if it is on the boundary, which a positive multiplier makes it
    return middle + offset, multiplier[:, None] * offset


def _accelerated(state: _State) -> None:
    """Projected gradient steps with momentum and restarts (Nesterov 1983) for runs that are left."""
    objective, xp = state.objective, namespace(state.tilts)
    rows = state.todo()
    rate = 1 / objective.smoothness
    point = ahead = state.best
    momentum = xp.ones_like(state.best_distance)
    known = math.inf
    for done in range(GRADIENT_STEPS):
        if not bool(xp.any(rows)):
            return
        if done % 500 == 0:
            worst = float(xp.max(state.best_distance))
            if done and not worst < 0.9 * known:
                return  # nothing but rounding is left
            known = worst
        here, before, tilts, inertia = _select(rows, ahead, point, state.tilts, momentum)
        gradient, rounding = objective.gradient(here, tilts)
        new = objective.constraint.project(here - rate * gradient)
        # g(new) + v is at most ||g(new) - g(here)|| + ||here - new|| / rate away from 0
        blurred = 64 * _EPS * objective.smoothness * (_norms(here) + _norms(new))
        distance = (2 * objective.smoothness * _norms(here - new) + rounding + blurred) / objective.convexity
        state.keep(rows, new, distance, 1)
        inertia = xp.where(row_sums((here - new) * (new - before)) > 0, xp.ones_like(inertia), inertia)
        following = 0.5 + xp.sqrt(0.25 + inertia * inertia)
        ahead = scatter(rows, new + ((inertia - 1) / following)[:, None] * (new - before), ahead)
        point, momentum = scatter(rows, new, point), scatter(rows, following, momentum)
        rows = state.todo()


def _times(matrices: Array, vectors: Array) -> Array:
    """One matrix times one vector a run."""
    return (matrices @ vectors[:, :, None])[:, :, 0]


def _norms(vectors: Array) -> Array:
    """Euclidean norms, shape (runs,)."""
    return namespace(vectors).sqrt(row_sums(vectors * vectors))
