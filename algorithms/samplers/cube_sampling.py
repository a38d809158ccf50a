"""Samples from exp(-scale * risk - penalty) on a cube by the grid walk, and the parameters that this takes.

bst14: Lemma 6.1's walk, with the weight function that Algorithm 5 gives it, and Algorithm 6's number of walks.
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
from dpverify.algorithms.samplers.lipschitz_extension import extended
from dpverify.algorithms.samplers.sampling_regions import Region
from dpverify.checks import require
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


EXTENSION_SHARE = 1 / 16
"""Share of the walk's distance that each value of the extension may err by."""


@dataclass(frozen=True)
class Tuning:
    """What n records are walked with: Algorithm 5's parameters; the walk gets half of its distance epsilon~."""

    region: Region
    scale: float
    """Inverse temperature, 1 over loss."""
    distance: float
    lipschitz: float
    """eta of scale * risk, 1 over a length."""
    alpha: float
    """Of the gauge penalty, dimensionless; 0 where C is the cube."""
    plan: GridPlan


@dataclass(frozen=True, eq=False)
class CubeDensity:
    """F = exp(-scale * extended risk - alpha * max(0, gauge - 1)) on the cube of a region.

    If the plan has no evaluation error, the loss itself is taken outside of C. `best_effort` is the extension's.
    """

    problem: Problem
    data: Dataset
    tuning: Tuning
    best_effort: bool = False

    def evaluate(self, points: Array, region: Region) -> tuple[Array, Array]:
        """The logarithm of F at points (m, p), and the oracle calls (m, COUNTED) that took."""
        xp, n, tuning = namespace(points), self.data.n, self.tuning
        value_only = xp.asarray([0, n, 0], dtype=xp.int64)
        calls = xp.broadcast_to(value_only, (points.shape[0], COUNTED))
        if region.is_cube:
            return -tuning.scale * self.problem.total_risk(points, self.data), calls
        outside = region.gauge(points) - 1.0
        penalty = tuning.alpha * xp.maximum(outside, xp.zeros_like(outside))
        tolerance = tuning.plan.evaluation_error
        if tolerance == 0.0 or not bool(xp.any(outside > 0.0)):
            return -tuning.scale * self.problem.total_risk(points, self.data) - penalty, calls
        values, _, trials = extended(
            points,
            lambda w: tuning.scale * self.problem.total_risk(w, self.data),
            lambda w: (tuning.scale * n) * self.problem.mean_gradient(w, self.data),
            region.project,
            eta=tuning.lipschitz,
            diameter=region.diameter,
            tolerance=tolerance,
            best_effort=self.best_effort,
        )
        # a trial is a gradient at the old point, a projection, and a value at the new one
        per_trial = xp.asarray([n, n, 1], dtype=xp.int64)
        counted_there = trials[:, None] * per_trial[None, :]
        more = xp.where((outside > 0.0)[:, None], counted_there, value_only[None, :])
        return -values - penalty, more

    def table(self, cells: Cells) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The logarithm of F at the centers of all cells, (k^p,), and the oracle calls each takes, (k^p, COUNTED)."""
        weights = np.empty(cells.count)
        calls = np.empty((cells.count, COUNTED), dtype=np.int64)
        for part in _slices(cells.count, max(1, _NUMBERS_AT_ONCE // (self.data.n + 8 * cells.dimension))):
            places = cells.places(np, np.arange(part.start, part.stop))
            points = self.tuning.region.at(np, places, cells.per_side, 0.5)
            inside = np.asarray(self.tuning.region.contains(points))
            for chosen in (inside, ~inside):
                if np.any(chosen):
                    found = self.evaluate(points[chosen], self.tuning.region)
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
    """Draws points of the cube, about `runs` in all: a cell by the walk, then a uniform point of it.

    How many steps are proved enough is not looked at here. `steps` takes them one by one; `law` draws from the law that
    they have, by squaring the transition matrix; `auto` does that for few cells. A law of more than `MOST_CELLS` cells
    is refused, and so are more steps than `running.call_limit` allows calls.
    """

    def __init__(self, density: CubeDensity, steps: int, simulation: Simulation, runs: int) -> None:
        self.density = density
        plan = density.tuning.plan
        self.cells = Cells(plan.dimension, plan.cells_per_side)
        self.steps = steps
        if simulation == "law" and self.cells.count > MOST_CELLS:
            allowed = (
                f'"steps" or "auto": a law is computed for at most {MOST_CELLS} cells, and the grid has '
                f"{plan.cells_per_side}^{plan.dimension}"
            )
            raise InvalidArgumentError("simulation", simulation, allowed)
        shared = density.tuning.region.shared
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


def tune(
    problem: Problem,
    region: Region,
    n: int,
    scale: float,
    distance: float,
    *,
    alpha: float | None = None,
    cells: int | None = None,
    extension: Literal["projection", "loss"] = "projection",
) -> Tuning:
    """Algorithm 5's parameters: the printed alpha, and the walk on log F, which is (eta + alpha / r)-Lipschitz.

    Where C is the cube, log F is -scale * risk itself: no penalty, no extension.
    """
    eta = scale * n * problem.constants.lipschitz_constant
    penalty, error = 0.0, 0.0
    if not region.is_cube:
        penalty = printed_alpha(region, eta, distance) if alpha is None else alpha
        error = EXTENSION_SHARE * distance / 2 if extension == "projection" else 0.0
    steepest = eta + penalty / region.inner_radius
    plan = GridPlan(region.dimension, region.edge, steepest, distance / 2, error, cells)
    return Tuning(region, scale, distance, eta, penalty, plan)


_FARTHEST = 300.0


def printed_alpha(region: Region, eta: float, distance: float) -> float:
    """3 exp(2 distance) (eta ||C|| + p), dimensionless; refused where it is no number."""
    require(distance <= _FARTHEST, "distance", distance, f"at most {_FARTHEST:g}, for the printed alpha")
    return 3 * math.exp(2 * distance) * (eta * region.diameter + region.dimension)


def repeats(region: Region, eta: float, distance: float) -> int:
    """Algorithm 6's m = ceil(4 eta ||C|| + p log2(||C|| / r) + log2(1 / (1 - exp(-distance / 4)))).

    The logarithms have base 2, which the paper leaves open: Lemma 6.5 needs 2^-m to be small against the smallest
    density on C times the volume of the ball of the fallback. r is 1 in the paper. Where C is the cube the first
    sample is always inside.
    """
    if region.is_cube:
        return 1
    volumes = region.dimension * math.log2(region.diameter / region.inner_radius)
    return math.ceil(4 * eta * region.diameter + volumes - math.log2(-math.expm1(-distance / 4)))


def check_extension(problem: Problem, region: Region, extension: object) -> None:
    """Refuse an unknown extension, or the loss itself where its constants are not declared on all of the cube."""
    require(extension in ("projection", "loss"), "extension", extension, '"projection" or "loss"')
    if extension == "projection" or region.is_cube:
        return
    corner = np.abs(np.asarray(region.lower)), np.abs(np.asarray(region.lower) + region.edge)
    farthest = float(np.linalg.norm(np.maximum(*corner)))
    for loss in (problem.loss, getattr(problem.loss, "base", None)):
        if getattr(loss, "radius", math.inf) < farthest * (1 - 1e-12) or getattr(loss, "weight", 0.0) > 0:
            raise InvalidArgumentError(
                "extension", extension, '"projection": the loss\'s constants do not hold on all of the cube'
            )
