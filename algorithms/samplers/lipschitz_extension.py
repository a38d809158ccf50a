"""A convex Lipschitz function on a convex set, extended to all space (Bassily, Smith, Thakurta, 2014, Lemma 6.3).

f^(x) = min over u in C of f(u) + eta ||x - u||. It agrees with f on C, is convex and eta-Lipschitz. The minimum is
found with values, gradients and projections alone, and each value comes with a proved bound on its error.
"""

from __future__ import annotations

from collections.abc import Callable
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


def extended(
    points: Array,
    value: Callable[[Array], Array],
    gradient: Callable[[Array], Array],
    project: Callable[[Array], Array],
    *,
    eta: float,
    diameter: float,
    tolerance: float,
    best_effort: bool = False,
) -> Extended:
    """f^ at points, shape (m, p); f, its gradient and the projection onto C each map such arrays, row by row.

    A trial is a projected gradient step of length s for h(u) = f(u) + eta ||x - u||. It is kept if h(u+) is at most
    its quadratic majorant h(u) + <h'(u), u+ - u> + ||u+ - u||^2 / (2 s), else s is halved. For a kept step convexity
    gives h(u+) - h(v) <= <u - u+, u - v> / s - ||u - u+||^2 / (2 s) for every v in C, so ||u - u+|| diameter / s
    bounds the error. f^(x) is also within 2 eta dist(x, C) below h at the projection, since f^ is Lipschitz.
    A larger error than the tolerance is refused, which happens where f is not smooth, unless `best_effort` accepts it.
    """
    xp = namespace(points)
    here = project(points)
    away = _distance(xp, points, here)
    values = value(here) + eta * away
    if points.shape[1] == 1:
        # f + eta |x - u| does not rise as u moves towards x
        return Extended(values, xp.zeros_like(values), xp.ones_like(values, dtype=xp.int64))
    errors = 2 * eta * away
    trials = xp.ones_like(values, dtype=xp.int64)
    length = xp.maximum(away / eta, xp.full_like(away, 1e-300))
    active = errors > tolerance
    for _ in range(_LONGEST):
        if not bool(xp.any(active)):
            break
        offset = here - points
        away = xp.sqrt(row_sums(offset * offset))
        slope = gradient(here) + eta * offset / xp.where(away > 0, away, xp.ones_like(away))[:, None]
        there = project(here - length[:, None] * slope)
        move = there - here
        squared = row_sums(move * move)
        new = value(there) + eta * _distance(xp, points, there)
        room = 1e-14 * (1 + xp.abs(values))
        keep = active & (new <= values + row_sums(slope * move) + squared / (2 * length) + room) & (away > 0)
        proved = xp.sqrt(squared) * diameter / length + room
        trials = trials + xp.astype(active, xp.int64)
        here = xp.where(keep[:, None], there, here)
        values = xp.where(keep, new, values)
        errors = xp.where(keep, xp.minimum(proved, errors), errors)
        length = xp.where(keep, 1.5 * length, xp.where(active, 0.5 * length, length))
        active = active & (errors > tolerance)
    if not best_effort and bool(xp.any(active)):
        raise NotGuaranteedError(
            f"The Lipschitz extension could not be proved to within {tolerance:g} at some point of the "
            'cube; is the loss smooth? If it is convex and Lipschitz on all of the cube, pass extension="loss".'
        )
    return Extended(values, errors, trials)


def _distance(xp: Any, left: Array, right: Array) -> Array:
    difference = left - right
    return xp.sqrt(row_sums(difference * difference))
