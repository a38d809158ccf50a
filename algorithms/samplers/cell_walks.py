"""The walk of Applegate and Kannan on the cells of a cube, for batches of runs.

Three ways to the same law of the cell after T steps from the central one. `step_on_table` takes every step, on
log-weights tabulated for all cells. `step_freely` takes every step and evaluates the proposals as they come, which
needs no table and lets every run have a density of its own. `law_after` squares the transition matrix until it has
the law of T steps, from which cells can be drawn at once.

Cells are numbered in row-major order where all of them are tabulated; log-weights of a run, or shared by all, have
shape (runs, k^p) or (k^p,). Where they are not, k^p may be beyond any integer type, and a cell is known by its p
places along the axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.running import Randomness
from dpverify.running.randomness import Array

_DRAWS_AT_ONCE = 1 << 19
COUNTED = 3
"""Oracle calls are triples: gradients of records, values of records, projections."""

Evaluate = Callable[[Array], tuple[Array, Array]]
"""From a batch, shape (m, p), to log-weights (m,) and oracle calls (m, COUNTED)."""


@dataclass(frozen=True)
class Cells:
    """The k^p cells of a cube of dimension p, k on each side."""

    dimension: int
    per_side: int

    @property
    def count(self) -> int:
        """k^p."""
        return int(self.per_side**self.dimension)

    @property
    def start(self) -> int:
        """Number of the central cell."""
        return sum(self.per_side // 2 * self.per_side**j for j in range(self.dimension))

    def indices(self) -> NDArray[np.int64]:
        """Every cell's place along every axis, shape (k^p, p)."""
        grids = np.unravel_index(np.arange(self.count), (self.per_side,) * self.dimension)
        return np.stack(grids, axis=1).astype(np.int64)

    def places(self, xp: Any, cells: Array) -> Array:
        """Places along the axes of numbered cells, shape (m, p); for no more cells than a table can hold."""
        return xp.stack([cells // stride % self.per_side for stride in self._strides], axis=1)

    @property
    def _strides(self) -> list[int]:
        """How far apart neighboring cells' numbers are, by axis."""
        return [self.per_side ** (self.dimension - 1 - axis) for axis in range(self.dimension)]

    def neighbors(self) -> NDArray[np.int64]:
        """For each cell its 2 p neighbors, -1 where there is none; shape (k^p, 2 p)."""
        places = self.indices()
        columns = []
        for axis, stride in enumerate(self._strides):
            for sign in (-1, 1):
                moved = places[:, axis] + sign
                inside = (moved >= 0) & (moved < self.per_side)
                columns.append(np.where(inside, np.arange(self.count) + sign * stride, -1))
        return np.stack(columns, axis=1)


def step_on_table(
    rng: Randomness, cells: Cells, log_weights: Array, calls: Array, steps: int, runs: int
) -> tuple[Array, Array]:
    """Take all steps in every run, with shared log-weights (k^p,) and oracle calls per evaluation (k^p, COUNTED).

    Returns the cells' numbers, (runs,), and the calls that each run's evaluations need, (runs, COUNTED).
    """
    xp = rng.xp
    moves = 4 * cells.dimension
    neighbors = cells.neighbors()
    own = np.arange(cells.count)[:, None]
    exists = neighbors >= 0
    towards = np.where(exists, neighbors, own)
    weights, spent = np.asarray(log_weights), np.asarray(calls)
    accepted = np.where(exists, np.exp(np.minimum(weights[towards] - weights[:, None], 0.0)), 0.0)
    # the second half of the moves stays where it is, and so does a proposal outside of the cube
    targets = xp.asarray(_with_lazy(towards, np.broadcast_to(own, towards.shape)))
    ratios = xp.asarray(_with_lazy(accepted, np.zeros_like(accepted)))
    proposed = xp.asarray(_with_lazy(exists, np.zeros_like(exists)).astype(np.int64))
    # counting proposals is enough where all evaluations cost the same
    same = bool(np.all(spent == spent[0]))
    costs = (
        np.where(exists[..., None], spent[towards], 0) if not same else np.zeros((1, 0, COUNTED), np.int64)
    )
    table = xp.asarray(np.concatenate([costs, np.zeros_like(costs)], axis=1).reshape(-1, COUNTED))
    state = xp.full((runs,), cells.start, dtype=xp.int64)
    evaluated = xp.zeros((runs,), dtype=xp.int64)
    total = xp.zeros((runs, COUNTED), dtype=xp.int64)
    for taken in _parts(steps, runs):
        drawn = rng.integers(0, moves, (taken, runs), "moves")
        levels = rng.uniform((taken, runs), "acceptances")
        for t in range(taken):
            place = state * moves + drawn[t, :]
            state = xp.where(levels[t, :] < xp.take(ratios, place), xp.take(targets, place), state)
            if same:
                evaluated += xp.take(proposed, place)
            else:
                total += xp.take(table, place, axis=0)
    each = xp.asarray(spent)
    if same:
        total = evaluated[:, None] * each[:1, :]
    return state, total + each[cells.start, :][None, :]


def step_freely(
    rng: Randomness, cells: Cells, evaluate: Evaluate, steps: int, runs: int
) -> tuple[Array, Array]:
    """Take all steps in every run; `evaluate` gets the places (runs, p) of one cell a run, in the order of the runs.

    Returns the cells' places, (runs, p), and the calls that each run's evaluations need, (runs, COUNTED).
    """
    xp = rng.xp
    moves = 4 * cells.dimension
    axes = xp.arange(cells.dimension, dtype=xp.int64)
    place = xp.full((runs, cells.dimension), cells.per_side // 2, dtype=xp.int64)
    weight, total = evaluate(place)
    for taken in _parts(steps, runs):
        drawn = rng.integers(0, moves, (taken, runs), "moves")
        levels = rng.uniform((taken, runs), "acceptances")
        for t in range(taken):
            move = drawn[t, :]
            sign = 2 * (move % 2) - 1
            shift = xp.where(axes[None, :] == (move // 2)[:, None], sign[:, None], 0)
            proposed = place + shift
            inside = xp.all((proposed >= 0) & (proposed < cells.per_side), axis=1)
            tried = inside & (move < 2 * cells.dimension)
            proposed = xp.where(tried[:, None], proposed, place)
            new, calls = evaluate(proposed)
            total = total + xp.where(tried[:, None], calls, 0)
            ratio = xp.exp(xp.minimum(new - weight, xp.zeros_like(new)))
            moved = tried & (levels[t, :] < ratio)
            place = xp.where(moved[:, None], proposed, place)
            weight = xp.where(moved, new, weight)
    return place, total


def transition_matrix(cells: Cells, log_weights: Array) -> NDArray[np.float64]:
    """P(here, there) of the walk, shape (..., k^p, k^p), for log-weights (..., k^p)."""
    weights = np.asarray(log_weights, dtype=np.float64)
    count = cells.count
    matrix = np.zeros((*weights.shape[:-1], count, count))
    neighbors = cells.neighbors()
    own = np.arange(count)
    for column in neighbors.T:
        here = own[column >= 0]
        there = column[column >= 0]
        ratio = np.exp(np.minimum(weights[..., there] - weights[..., here], 0.0))
        matrix[..., here, there] = ratio / (4 * cells.dimension)
    # at least 1/2, so that no relative accuracy is lost
    matrix[..., own, own] = 1.0 - np.sum(matrix, axis=-1)
    return matrix


def law_after(cells: Cells, log_weights: Array, steps: int) -> NDArray[np.float64]:
    """The distribution of the cell after a number of steps, shape (..., k^p), for log-weights (..., k^p).

    All terms are positive, so every probability has a relative rounding error of at most `rounding(cells, steps)`.
    """
    matrix = transition_matrix(cells, log_weights)
    law = np.zeros((*matrix.shape[:-2], 1, cells.count))
    law[..., cells.start] = 1.0
    left = steps
    while left:
        if left % 2:
            law = law @ matrix
        left //= 2
        if left:
            matrix = matrix @ matrix
    law /= np.sum(law, axis=-1, keepdims=True)
    return law[..., 0, :]


def rounding(cells: Cells, steps: float) -> float:
    """Largest relative rounding error of `law_after`: a product of `steps` matrices, each with k^p + 8 roundings.

    For no more cells than a table can hold.
    """
    return steps * (cells.count + 8) * 2.0**-52


def draw_cells(rng: Randomness, law: NDArray[np.float64], runs: int) -> Array:
    """One cell a run from a shared law (k^p,), or from each run's own (runs, k^p)."""
    xp = rng.xp
    levels = np.asarray(rng.uniform((runs,), "cells"))
    summed = np.cumsum(law, axis=-1)
    levels = levels * (summed[..., -1])
    if law.ndim == 1:
        drawn = np.searchsorted(summed, levels, side="right")
    else:
        drawn = np.sum(summed <= levels[:, None], axis=1)
    return xp.asarray(np.minimum(drawn, law.shape[-1] - 1).astype(np.int64))


def _with_lazy(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([first, second], axis=1).ravel()


def _parts(steps: int, runs: int) -> Iterator[int]:
    """Numbers of steps that are drawn at once, which bounds the memory."""
    size = max(1, _DRAWS_AT_ONCE // max(1, runs))
    for start in range(0, steps, size):
        yield min(size, steps - start)
