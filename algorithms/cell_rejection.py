"""Exact samples of a strongly log-concave density in one or two dimensions, by certified rejection from cells.

The negative log-density V is kappa-strongly convex, so at any point c of the set and with any subgradient g there,
V(x) >= V(c) + <g, x - c> + (kappa / 2) ||x - c||^2 for every x of the set. A grid cuts the plane into cells, each with
its own c; in a cell the bound is a Gaussian restricted to an interval or rectangle, which is sampled exactly.
Nothing depends on how well the grid fits but the number of rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpverify.algorithms.regularized_density import RegularizedDensity
from dpverify.algorithms.restricted_gaussian import truncated_normal
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems import Ball, Box, Dataset
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array

Matrix = NDArray[np.float64]

_HALF_CELLS = {1: 40, 2: 20}
"""Cells on each side of the mode along an axis."""

_DESCENT_STEPS = 200
_MOST_ROUNDS = 100_000


@dataclass(frozen=True, eq=False)
class Cells:
    """The envelope on one data set.

    Attributes:
        lower: corners of the cells, (m, d).
        upper: opposite corners, (m, d).
        at: the points c, (m, d).
        values: V at them, (m,).
        slopes: subgradients of V at them, (m, d).
        cumulative: distribution function of the cells under the envelope, (m,).
    """

    lower: Matrix
    upper: Matrix
    at: Matrix
    values: Matrix
    slopes: Matrix
    cumulative: Matrix


def check_cells(density: RegularizedDensity) -> None:
    """Refuse sets that are not cut into cells.

    Raises:
        InvalidArgumentError: if the set is not a ball or box of at most two dimensions.
    """
    constraint = density.problem.constraint
    if type(constraint) not in (Ball, Box) or constraint.dimension not in _HALF_CELLS:
        raise InvalidArgumentError(
            "problem", density.problem, "a ball or box of one or two dimensions, for sampling by rejection"
        )


def sample_by_cells(density: RegularizedDensity, data: Dataset, rng: Randomness, runs: int) -> Output:
    """Exact samples, (runs, d), with the queries of each run: finding the cells is part of every run.

    Raises:
        InvalidDataError: if a run is not accepted within a hundred thousand rounds.
    """
    xp = rng.xp
    numpy_data = data.as_namespace(np)
    cells, gradient_queries, value_queries = find_cells(density, numpy_data)
    kappa = density.strong_convexity
    tables = [xp.asarray(table) for table in (cells.lower, cells.upper, cells.at, cells.slopes)]
    values, cumulative = xp.asarray(cells.values), xp.asarray(cells.cumulative)
    anchor = xp.asarray(density.anchor_point, dtype=xp.float64)
    constraint = density.problem.constraint
    d = constraint.dimension
    points = xp.zeros((runs, d), dtype=xp.float64)
    asked = xp.full(runs, value_queries, dtype=xp.int64)
    pending = xp.ones(runs, dtype=xp.bool)
    for _ in range(_MOST_ROUNDS):
        active = int(xp.sum(xp.astype(pending, xp.int64)))
        if not active:
            return Output(points, gradient_queries=gradient_queries, value_queries=asked)
        chosen = xp.searchsorted(cumulative, rng.uniform((active,), "cell"), side="right")
        lower, upper, at, slope = (xp.take(table, chosen, axis=0) for table in tables)
        center = at - slope / kappa
        scale = math.sqrt(kappa)
        first, last = (xp.reshape((end - center) * scale, (-1,)) for end in (lower, upper))
        x = center + xp.reshape(truncated_normal(first, last, rng), (active, d)) / scale
        inside = constraint.contains(x, 0.0)
        offset = x - at
        bound = xp.take(values, chosen, axis=0) + xp.sum(slope * offset, axis=1)
        bound = bound + 0.5 * kappa * xp.sum(offset * offset, axis=1)
        excess = potential(density, x, data, anchor) - bound
        accepted = inside & (rng.uniform((active,), "cell accepted") < xp.exp(-excess))
        asked[pending] = asked[pending] + data.n
        done = pending & False
        done[pending] = accepted
        points[done] = x[accepted]
        pending = pending & ~done
    raise InvalidDataError(f"{int(xp.sum(pending))} runs were not accepted within {_MOST_ROUNDS} rounds.")


def potential(density: RegularizedDensity, x: Array, data: Dataset, anchor: Array) -> Array:
    """V at points (m, d), shape (m,), dimensionless."""
    offset = x - anchor
    squared = (offset * offset) @ (0.0 * anchor + 1.0)
    risk = density.problem.mean_risk(x, data)
    return density.inverse_temperature * (risk + 0.5 * density.regularization * squared)


def find_cells(density: RegularizedDensity, data: Dataset) -> tuple[Cells, int, int]:
    """The envelope on a data set of NumPy arrays, and how many gradients and values were asked for."""
    constraint = density.problem.constraint
    d = constraint.dimension
    k, mu, kappa = density.inverse_temperature, density.regularization, density.strong_convexity
    anchor = np.asarray(density.anchor_point)

    def slopes_at(points: Matrix) -> Matrix:
        gradient = np.asarray(density.problem.mean_gradient(points, data))
        return np.asarray(k * (gradient + mu * (points - anchor)))

    point = _near_mode(density, slopes_at)
    if isinstance(constraint, Ball):
        ends = np.stack([constraint.center() - constraint.radius, constraint.center() + constraint.radius])
    else:
        assert isinstance(constraint, Box)
        ends = np.stack([np.asarray(constraint.lower), np.asarray(constraint.upper)])
    tried = 0
    best: Cells | None = None
    smallest = math.inf
    for finest in _finest(density):
        edges = [_edges(point[0, i], ends[0, i], ends[1, i], finest, _HALF_CELLS[d]) for i in range(d)]
        lower = np.stack([m.ravel() for m in np.meshgrid(*(e[:-1] for e in edges), indexing="ij")], axis=1)
        upper = np.stack([m.ravel() for m in np.meshgrid(*(e[1:] for e in edges), indexing="ij")], axis=1)
        middle = (lower + upper) / 2
        at = np.array(constraint.project(middle.copy()))
        radius = np.linalg.norm(upper - lower, axis=1) / 2
        touching = np.linalg.norm(at - middle, axis=1) <= radius * (1 + 1e-9)
        lower, upper, at = lower[touching], upper[touching], at[touching]
        values, slopes = np.asarray(potential(density, at, data, anchor)), slopes_at(at)
        tried += int(at.shape[0])
        center, scale = at - slopes / kappa, math.sqrt(kappa)
        log_mass = _log_interval_mass((lower - center) * scale, (upper - center) * scale).sum(axis=1)
        log_weights = -values + np.sum(slopes**2, axis=1) / (2 * kappa) + log_mass
        largest = float(log_weights.max())
        weights = np.exp(log_weights - largest)
        # the mass under the envelope, to which the acceptance rate is inversely proportional
        mass = largest + math.log(float(weights.sum()))
        if mass < smallest:
            smallest = mass
            cumulative = np.cumsum(weights / weights.sum())
            cumulative[-1] = 1.0
            best = Cells(lower, upper, at, values, slopes, cumulative)
    assert best is not None
    return best, data.n * (_DESCENT_STEPS + tried), data.n * tried


def _finest(density: RegularizedDensity) -> list[float]:
    """Widths of the finest cells that are tried, lengths; the one with the lowest envelope is used."""
    smoothness = density.problem.loss.smoothness
    if math.isfinite(smoothness):
        return [0.3 / math.sqrt(density.inverse_temperature * (smoothness + density.regularization))]
    widest = 0.3 / math.sqrt(density.strong_convexity)
    return [widest / 4**i for i in range(5)]


def _near_mode(density: RegularizedDensity, slopes_at: object) -> Matrix:
    """A point near the mode, (1, d), by projected (sub)gradient steps; how near only matters for speed."""
    assert callable(slopes_at)
    constraint = density.problem.constraint
    point = np.asarray(density.anchor_point)[None, :]
    steepest = density.inverse_temperature * (density.problem.loss.smoothness + density.regularization)
    mean = np.zeros_like(point)
    for t in range(1, _DESCENT_STEPS + 1):
        rate = 1 / steepest if math.isfinite(steepest) else 2 / (density.strong_convexity * (t + 1))
        point = np.asarray(constraint.project(point - rate * slopes_at(point)))
        mean += 2 * t / (_DESCENT_STEPS * (_DESCENT_STEPS + 1)) * point
    return point if math.isfinite(steepest) else mean


def _edges(middle: float, lowest: float, highest: float, fine: float, count: int) -> Matrix:
    """Ends of cells from `lowest` to `highest`, about `fine` wide near the middle and growing outward."""

    def outward(length: float) -> Matrix:
        if length <= 0:
            return np.zeros(0)
        if count * fine >= length:
            return np.linspace(0, length, max(2, math.ceil(length / fine) + 1))[1:]
        # (growth^count - 1) / (growth - 1) = length / fine
        low, high = 1.0, 1 + length / fine
        for _ in range(100):
            growth = (low + high) / 2
            total = math.expm1(count * math.log(growth)) / (growth - 1) if growth > 1 else count
            low, high = (low, growth) if total * fine > length else (growth, high)
        steps = fine * high ** np.arange(count)
        return np.asarray(np.cumsum(steps) * (length / steps.sum()))

    left, right = outward(middle - lowest), outward(highest - middle)
    edges = np.concatenate([middle - left[::-1], [middle], middle + right])
    edges[0], edges[-1] = lowest, highest
    return np.unique(edges)


def _log_interval_mass(lower: Matrix, upper: Matrix) -> Matrix:
    """ln(Phi(upper) - Phi(lower)) for lower < upper, without cancellation in either tail."""
    flip = lower + upper > 0
    a, b = np.where(flip, -upper, lower), np.where(flip, -lower, upper)
    log_b, log_a = special.log_ndtr(b), special.log_ndtr(a)
    return np.asarray(log_b + np.log(-np.expm1(np.minimum(log_a - log_b, -1e-300))))
