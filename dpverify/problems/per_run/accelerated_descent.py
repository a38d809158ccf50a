"""Minimizers of an empirical risk with a pull toward a point of each run, certified run by run.

Accelerated projected gradient descent with constant momentum (Nesterov 2004; Beck 2017, Section 10.7.7). For
F(w) = risk(w) + lambda ||w - c||^2 with L-Lipschitz beta-smooth losses, M = beta + 2 lambda, m = 2 lambda, and
started at c in the set:

- the step x = Proj(y - grad F(y) / M) has F(x) - min F <= ||M (y - x)||^2 (1/m - 1/M) / 2, which is the
  certificate;
- k steps have F - min F <= (1 - sqrt(m/M))^k (F(c) - min F + lambda r^2), r = ||c - argmin F||, which bounds the
  number of steps. The last factor is at most L min{B, L / (2 lambda)}, B being the set's diameter: the risk changes by
  at most L r, so that F(c) - min F <= L r - lambda r^2, and it is at least lambda r^2, so that r <= L / (2 lambda).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpverify.problems import Dataset, Problem
from dpverify.problems.arrays import Array, namespace, row_sums


@dataclass(frozen=True)
class RegularizedRisk:
    """The mean risk plus pull ||w - center||^2, each run having a center of its own."""

    problem: Problem  # a smooth Lipschitz loss on a constraint set
    pull: float  # lambda, in loss over length^2, above 0

    @property
    def smoothness(self) -> float:
        """The number M = beta + 2 lambda, in loss over length^2."""
        return self.problem.constants.smoothness + 2 * self.pull

    @property
    def convexity(self) -> float:
        """The number m = 2 lambda, in loss over length^2."""
        return 2 * self.pull

    def step_certificate(self, before: Array, after: Array) -> np.ndarray[Any, Any]:
        """Bounds on F(x) - min F, shape (runs,), for y = before and x = after = Proj(y - grad F(y) / M)."""
        scale = 0.5 * self.smoothness**2 * (1 / self.convexity - 1 / self.smoothness)
        return np.asarray(scale * row_sums((before - after) ** 2))

    def gradient(self, w: Array, center: Array, data: Dataset) -> Array:
        """At each point, shape (runs, d)."""
        slope = self.problem.mean_gradient(w, data)
        slope += self.convexity * (w - center)
        return slope

    def value(self, w: Array, center: Array, data: Dataset) -> Array:
        """At each point, shape (runs,)."""
        return self.problem.mean_risk(w, data) + self.pull * row_sums((w - center) ** 2)


@dataclass(frozen=True, eq=False)
class CertifiedPoints:
    """What the solver found; a run that took the most steps has the asked gap by the rate, whatever is certified."""

    points: Array  # shape (runs, d)
    gradients: np.ndarray[Any, Any]  # how many each run took, each of a single record, shape (runs,)
    projections: np.ndarray[Any, Any]  # how many each run made, shape (runs,)
    gaps: np.ndarray[Any, Any]  # certified bounds, in units of the loss, shape (runs,)


def most_steps(risk: RegularizedRisk, gap: float) -> int:
    """After how many steps, at the latest, the gap is at most `gap`, by the rate of convergence."""
    lipschitz = risk.problem.constants.lipschitz_constant
    first = lipschitz * min(risk.problem.constraint.diameter, lipschitz / (2 * risk.pull))
    if first <= gap:
        return 1
    condition = risk.smoothness / risk.convexity
    if condition == 1.0:
        return 1
    return max(1, math.ceil(math.log(first / gap) / -math.log1p(-1 / math.sqrt(condition))))


def minimize_regularized(risk: RegularizedRisk, data: Dataset, center: Array, gap: float) -> CertifiedPoints:
    """Points of the set with a risk within `gap` of the smallest; each run's search starts at its center, (runs, d)."""
    xp = namespace(center)
    runs = int(center.shape[0])
    root = math.sqrt(risk.smoothness / risk.convexity)
    momentum = (root - 1) / (root + 1)
    result = np.asarray(center).copy()
    steps, gaps = np.zeros(runs, dtype=np.int64), np.full(runs, math.inf)
    # runs that are still searching, and their own rows
    searching, home = np.arange(runs), center
    last, ahead = center, center
    limit = most_steps(risk, gap)
    for step in range(1, limit + 1):
        moved = ahead - risk.gradient(ahead, home, data) / risk.smoothness
        new = risk.problem.constraint.project(moved, overwrite=True)
        certified = risk.step_certificate(ahead, new)
        ahead = new + momentum * (new - last)
        last = new
        done = (certified <= gap) | (step == limit)
        if np.any(done):
            places = searching[done]
            result[places] = np.asarray(new)[done]
            steps[places], gaps[places] = step, certified[done]
            left = xp.asarray(np.flatnonzero(~done))
            searching = searching[~done]
            if searching.size == 0:
                break
            last, ahead, home = (xp.take(rows, left, axis=0) for rows in (last, ahead, home))
    return CertifiedPoints(xp.asarray(result), data.n * steps, steps, gaps)
