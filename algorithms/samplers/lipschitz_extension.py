"""A convex Lipschitz function on a convex set, extended to all space (Bassily, Smith, Thakurta, 2014, Lemma 6.3).

f^(x) = min over u in C of f(u) + eta ||x - u||. It agrees with f on C, is convex and eta-Lipschitz. The minimum is
found with values, gradients and projections alone, and each value comes with a proved bound on its error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from dpverify.errors import NotGuaranteedError
from dpverify.problems.arrays import namespace, row_sums
from dpverify.running.randomness import Array

_LONGEST = 20_000
"""Projections a point before the search is given up; smooth losses need some tens."""


class Extended(NamedTuple):
    """At each point, (m,): a value, at least the true minimum; how much above it at most; how many trials that took."""

    values: Array
    errors: Array
    trials: Array


@dataclass(frozen=True, eq=False)
class LipschitzExtension:
    """f^ for points in a batch; f, its gradient and the projection each map (m, p) arrays, row by row.

    A trial is a projected gradient step of length s for h(u) = f(u) + eta ||x - u||. It is kept if h(u+) is at most
    its quadratic majorant h(u) + <h'(u), u+ - u> + ||u+ - u||^2 / (2 s), else s is halved. For a kept step convexity
    gives h(u+) - h(v) <= <u - u+, u - v> / s - ||u - u+||^2 / (2 s) for every v in C, so ||u - u+|| diameter / s
    bounds the error. f^(x) is also within 2 eta dist(x, C) below h at the projection, since f^ is Lipschitz.
    A larger error than the tolerance is refused, which happens where f is not smooth, unless `best_effort` accepts it.
    """

    value: Callable[[Array], Array]
    gradient: Callable[[Array], Array]
    project: Callable[[Array], Array]
    lipschitz: float
    diameter: float
    tolerance: float
    best_effort: bool = False

    def __call__(self, points: Array) -> Extended:
        """Extend to `points`, shape (m, p)."""
        xp = namespace(points)
        eta = self.lipschitz
        here = self.project(points)
        away = _distance(xp, points, here)
        values = self.value(here) + eta * away
        if points.shape[1] == 1:
            # f + eta |x - u| does not rise as u moves towards x
            return Extended(values, xp.zeros_like(values), xp.ones_like(values, dtype=xp.int64))
        errors = 2 * eta * away
        trials = xp.ones_like(values, dtype=xp.int64)
        length = xp.maximum(away / eta, xp.full_like(away, 1e-300))
        active = errors > self.tolerance
        for _ in range(_LONGEST):
            if not bool(xp.any(active)):
                break
            offset = here - points
            away = xp.sqrt(row_sums(offset * offset))
            slope = self.gradient(here) + eta * offset / xp.where(away > 0, away, xp.ones_like(away))[:, None]
            there = self.project(here - length[:, None] * slope)
            move = there - here
            squared = row_sums(move * move)
            new = self.value(there) + eta * _distance(xp, points, there)
            room = 1e-14 * (1 + xp.abs(values))
            keep = (
                active & (new <= values + row_sums(slope * move) + squared / (2 * length) + room) & (away > 0)
            )
            proved = xp.sqrt(squared) * self.diameter / length + room
            trials = trials + xp.astype(active, xp.int64)
            here = xp.where(keep[:, None], there, here)
            values = xp.where(keep, new, values)
            errors = xp.where(keep, xp.minimum(proved, errors), errors)
            length = xp.where(keep, 1.5 * length, xp.where(active, 0.5 * length, length))
            active = active & (errors > self.tolerance)
        if not self.best_effort and bool(xp.any(active)):
            raise NotGuaranteedError(
                f"The Lipschitz extension could not be proved to within {self.tolerance:g} at some point of the "
                'cube; is the loss smooth? If it is convex and Lipschitz on all of the cube, pass extension="loss".'
            )
        return Extended(values, errors, trials)


def _distance(xp: Any, left: Array, right: Array) -> Array:
    difference = left - right
    return xp.sqrt(row_sums(difference * difference))
