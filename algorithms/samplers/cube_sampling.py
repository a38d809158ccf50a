"""Samples from exp(-scale * risk - penalty) on a cube by the grid walk: what the algorithms of one paper share.

bst14: Lemma 6.1's walk, with the weight function that Algorithm 5 gives it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.samplers.cell_walks import (
    COUNTED,
    Cells,
    draw_cells,
    law_after,
    rounding,
    step_freely,
    step_on_table,
)
from dpverify.algorithms.samplers.grid_steps import GridPlan
from dpverify.algorithms.samplers.lipschitz_extension import LipschitzExtension
from dpverify.algorithms.samplers.sampling_regions import Region
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Dataset, Problem
from dpverify.problems.arrays import Array, namespace
from dpverify.running import Output, Randomness
from dpverify.running.foresight import foresee

Simulation = Literal["auto", "steps", "law"]

TABLE = 1 << 21
"""Moves (4 p a cell) that are tabulated at most, which takes some 200 MB."""
MOST_CELLS = 1 << 13
"""Cells whose transition matrix is computed at most, which takes 512 MB."""
_CHEAP = 1.2e10
"""Multiplications of matrix entries that cost some seconds."""
_NUMBERS_AT_ONCE = 1 << 22
_ROUNDING = 1e-3
"""Share of the distance that the law's rounding may reach."""


@dataclass(frozen=True, eq=False)
class CubeDensity:
    """F = exp(-scale * extended risk - alpha * max(0, gauge - 1)) on the cube of a region.

    Attributes:
        problem: whose total risk counts.
        data: n records.
        region: C and its cube.
        scale: inverse temperature, 1 over loss.
        alpha: of the gauge penalty, dimensionless.
        lipschitz: eta of scale * risk, 1 over a length.
        tolerance: of the extension, dimensionless; 0 takes the loss itself outside of C.
        best_effort: see `LipschitzExtension`.
    """

    problem: Problem
    data: Dataset
    region: Region
    scale: float
    alpha: float
    lipschitz: float
    tolerance: float
    best_effort: bool = False

    def evaluate(self, points: Array, region: Region) -> tuple[Array, Array]:
        """The logarithm of F at points (m, p), and the oracle calls (m, COUNTED) that took."""
        xp = namespace(points)
        n = self.data.n
        value_only = xp.asarray([0, n, 0], dtype=xp.int64)
        calls = xp.broadcast_to(value_only, (points.shape[0], COUNTED))
        if region.is_cube:
            return -self.scale * self.problem.total_risk(points, self.data), calls
        outside = region.gauge(points) - 1.0
        penalty = self.alpha * xp.maximum(outside, xp.zeros_like(outside))
        if self.tolerance == 0.0 or not bool(xp.any(outside > 0.0)):
            return -self.scale * self.problem.total_risk(points, self.data) - penalty, calls
        extended = LipschitzExtension(
            lambda w: self.scale * self.problem.total_risk(w, self.data),
            lambda w: (self.scale * n) * self.problem.mean_gradient(w, self.data),
            region.project,
            self.lipschitz,
            region.diameter,
            self.tolerance,
            self.best_effort,
        )(points)
        # a trial is a gradient at the old point, a projection, and a value at the new one
        per_trial = xp.asarray([n, n, 1], dtype=xp.int64)
        more = xp.where(
            (outside > 0.0)[:, None], extended.trials[:, None] * per_trial[None, :], value_only[None, :]
        )
        return -extended.values - penalty, more

    def table(self, cells: Cells) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The logarithm of F at the centers of all cells, (k^p,), and the oracle calls each takes, (k^p, COUNTED)."""
        weights = np.empty(cells.count)
        calls = np.empty((cells.count, COUNTED), dtype=np.int64)
        for part in _slices(cells.count, max(1, _NUMBERS_AT_ONCE // (self.data.n + 8 * cells.dimension))):
            places = cells.places(np, np.arange(part.start, part.stop))
            points = self.region.at(np, places, cells.per_side, 0.5)
            inside = np.asarray(self.region.contains(points))
            for chosen in (inside, ~inside):
                if np.any(chosen):
                    found = self.evaluate(points[chosen], self.region)
                    weights[part][chosen], calls[part][chosen] = found
        return weights, calls

    def tables_of_runs(
        self, xp: Any, cells: Cells, region: Region, runs: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Log-weights of every run's own cells, (runs, k^p), and the calls of each run's dearest evaluation."""
        columns = []
        dearest = np.zeros((runs, COUNTED), dtype=np.int64)
        for cell in range(cells.count):
            places = xp.asarray(np.repeat(cells.places(np, np.array([cell])), runs, axis=0))
            weights, calls = self.evaluate(region.at(xp, places, cells.per_side, 0.5), region)
            columns.append(np.asarray(weights))
            dearest = np.maximum(dearest, np.asarray(calls))
        return np.stack(columns, axis=1), dearest


class CubeSampler:
    """Draws points of the cube: a cell by the walk, then a uniform point of it.

    Args:
        density: F.
        plan: the grid; how many steps are proved enough is not looked at here.
        steps: how many the walk takes.
        simulation: `steps` takes them one by one; `law` draws from the law that they have, by squaring the
            transition matrix; `auto` does that for few cells.
        runs: about how many samples will be drawn.

    Raises:
        InvalidArgumentError: for `law` with more than `MOST_CELLS` cells.
        TooCostlyError: if the walk would take more steps than `running.call_limit` allows calls.
    """

    def __init__(
        self, density: CubeDensity, plan: GridPlan, steps: int, simulation: Simulation, runs: int
    ) -> None:
        self.density = density
        self.cells = Cells(plan.dimension, plan.cells_per_side)
        self.steps = steps
        if simulation == "law" and self.cells.count > MOST_CELLS:
            allowed = (
                f'"steps" or "auto": a law is computed for at most {MOST_CELLS} cells, and the grid has '
                f"{plan.cells_per_side}^{plan.dimension}"
            )
            raise InvalidArgumentError("simulation", simulation, allowed)
        shared = density.region.shared
        laws = 1 if shared else runs
        self.by_law = simulation == "law" or (simulation == "auto" and law_is_cheap(plan, steps, laws))
        if not self.by_law:
            foresee(steps, "The walk on the grid", "steps")
        small = 4 * plan.dimension * self.cells.count <= TABLE
        # a table is no use where it has more cells than all runs evaluate
        tabulated = self.by_law or (small and self.cells.count <= 4 + steps * runs)
        self._table = density.table(self.cells) if shared and tabulated else None
        self._law: NDArray[np.float64] | None = None

    def draw(self, rng: Randomness, region: Region, runs: int) -> tuple[Array, Array]:
        """Points (runs, p) of the cube, and oracle calls (runs, COUNTED); by law the calls are upper bounds."""
        xp = rng.xp
        if self.by_law:
            numbers, calls = self._draw_by_law(rng, region, runs)
            places = self.cells.places(xp, numbers)
        elif self._table is not None:
            numbers, calls = step_on_table(rng, self.cells, *self._table, self.steps, runs)
            places = self.cells.places(xp, numbers)
        else:
            places, calls = step_freely(
                rng,
                self.cells,
                lambda cells: self.density.evaluate(region.at(xp, cells, self.cells.per_side, 0.5), region),
                self.steps,
                runs,
            )
        within = rng.uniform((runs, self.cells.dimension), "points of the cells")
        return region.at(xp, places, self.cells.per_side, within), calls

    def _draw_by_law(self, rng: Randomness, region: Region, runs: int) -> tuple[Array, Array]:
        xp = rng.xp
        evaluations = self.steps + 1
        if self._table is not None:
            weights, calls = self._table
            if self._law is None:
                self._law = law_after(self.cells, weights, self.steps)
            most = xp.asarray(np.max(calls, axis=0) * evaluations)
            return draw_cells(rng, self._law, runs), xp.broadcast_to(most, (runs, COUNTED))
        weights, dearest = self.density.tables_of_runs(xp, self.cells, region, runs)
        law = np.empty_like(weights)
        for part in _slices(runs, max(1, _NUMBERS_AT_ONCE // self.cells.count**2)):
            law[part] = law_after(self.cells, weights[part], self.steps)
        return draw_cells(rng, law, runs), xp.asarray(dearest * evaluations)


def law_is_cheap(plan: GridPlan, steps: float, laws: int) -> bool:
    """Whether so many laws of the walk can be computed at once, each to a small share of the distance."""
    cells = Cells(plan.dimension, plan.cells_per_side)
    if cells.count > MOST_CELLS:
        return False
    work = laws * cells.count**3 * math.log2(2 + steps)
    return work <= _CHEAP and rounding(cells, steps) <= _ROUNDING * plan.distance


def counted(points: Array, calls: Array) -> Output:
    """Points with their oracle calls."""
    return Output(points, gradient_queries=calls[:, 0], value_queries=calls[:, 1], projections=calls[:, 2])


def _slices(count: int, size: int) -> Iterator[slice]:
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))
