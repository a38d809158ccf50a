"""Minimizers of an empirical risk with a pull toward a point of each run, certified run by run.

Accelerated projected gradient descent with constant momentum (Nesterov 2004; Beck 2017, Section 10.7.7). For
F(w) = risk(w) + lambda ||w - c||^2 with L-Lipschitz beta-smooth losses, M = beta + 2 lambda, m = 2 lambda, and
started at c in the set:

- the step x = Proj(y - grad F(y) / M) has F(x) - min F <= ||M (y - x)||^2 (1/m - 1/M) / 2, which is the
  certificate;
- k steps have F - min F <= (1 - sqrt(m/M))^k L^2 / (2 lambda), because both F(c) - min F and
  (m/2) ||c - argmin F||^2 are at most L^2 / (4 lambda), which bounds the number of steps.
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
    """The mean risk plus pull ||w - center||^2, each run having a center of its own.

    Attributes:
        problem: a smooth Lipschitz loss on a constraint set.
        pull: lambda, in loss over length^2, above 0.
    """

    problem: Problem
    pull: float

    @property
    def smoothness(self) -> float:
        """The number M = beta + 2 lambda, in loss over length^2."""
        return self.problem.loss.smoothness + 2 * self.pull

    @property
    def convexity(self) -> float:
        """The number m = 2 lambda, in loss over length^2."""
        return 2 * self.pull

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
    """What the solver found.

    Attributes:
        points: shape (runs, d).
        steps: how many each run took, one gradient of the mean risk and one projection each; shape (runs,).
        gaps: certified bound on the gap of each run, in units of the loss, shape (runs,); runs that took the
            largest number of steps have the asked gap by the rate of convergence, whatever stands here.
    """

    points: Array
    steps: np.ndarray[Any, Any]
    gaps: np.ndarray[Any, Any]


def most_steps(risk: RegularizedRisk, gap: float) -> int:
    """After how many steps, at the latest, the gap is at most `gap`, by the rate of convergence."""
    first = risk.problem.loss.lipschitz_constant**2 / (2 * risk.pull)
    if first <= gap:
        return 1
    condition = risk.smoothness / risk.convexity
    if condition == 1.0:
        return 1
    return max(1, math.ceil(math.log(first / gap) / -math.log1p(-1 / math.sqrt(condition))))


def minimize_regularized(risk: RegularizedRisk, data: Dataset, center: Array, gap: float) -> CertifiedPoints:
    """Points of the set whose regularized risk is within `gap` of the smallest.

    Args:
        risk: what to minimize.
        data: n records.
        center: points of the set, one for each run, shape (runs, d); the search starts there.
        gap: in units of the loss, above 0.
    """
    xp = namespace(center)
    runs = int(center.shape[0])
    root = math.sqrt(risk.smoothness / risk.convexity)
    momentum = (root - 1) / (root + 1)
    scale = 0.5 * risk.smoothness**2 * (1 / risk.convexity - 1 / risk.smoothness)
    result = np.asarray(center).copy()
    steps, gaps = np.zeros(runs, dtype=np.int64), np.full(runs, math.inf)
    # runs that are still searching, and their own rows
    searching, home = np.arange(runs), center
    last, ahead = center, center
    limit = most_steps(risk, gap)
    for step in range(1, limit + 1):
        moved = ahead - risk.gradient(ahead, home, data) / risk.smoothness
        new = risk.problem.constraint.project(moved, overwrite=True)
        certified = scale * np.asarray(row_sums((ahead - new) ** 2))
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
    return CertifiedPoints(xp.asarray(result), steps, gaps)
