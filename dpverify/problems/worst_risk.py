"""How large the risk can get on a constraint set: what a bound on it has to be below to say anything.

A convex risk is largest at an extreme point. From below, points are exhibited: each step of the ascent moves to the
extreme point where the linearization at the last one is largest, which never lowers a convex risk. From above, it is
bounded by what each record alone allows, by the Lipschitz constant, or exactly, at the vertices of a polytope that
contains the set. Both ends are evaluated in double precision; the upper one has an allowance for rounding.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt

from dpverify import checks
from dpverify.ledger.records import Interval
from dpverify.problems.constraint_sets import Ball, Box
from dpverify.problems.datasets import Dataset
from dpverify.problems.losses import GeneralizedLinear, Linear
from dpverify.problems.problem import Problem, without_ridge

Matrix = npt.NDArray[np.float64]

_STEPS = 100
_RECORDS = 64  # records whose directions the ascent starts from; as many random directions are added
_MOST_VERTICES = 12  # dimensions up to which all vertices of a box are tried
_SIDES = 720  # of the polygon around a disk
_ALLOWANCE = 1e-10


def largest_risk(problem: Problem, data: Dataset) -> Interval:
    """Around the largest mean risk on the constraint set, in units of the loss.

    The lower end is attained by a point of the set, the upper end is certified; they meet where the loss is linear,
    or the set a box or a ball of few dimensions. On an unbounded set the upper end is infinite, and the lower one is
    what far points have.

    Raises:
        InvalidArgumentError: if the shapes of data and constraint set do not fit.
    """
    checks.of_kind("problem", problem, Problem)
    checks.of_kind("data", data, Dataset)
    data = data.as_namespace(np)
    candidates = _vertices(problem)
    if candidates is None:
        candidates = _ascent(problem, data)
    exhibited = float(np.max(problem.mean_risk(candidates, data)))
    upper = min(_upper_bounds(problem, data))
    return Interval(lower=exhibited, upper=max(exhibited, upper + _ALLOWANCE * (abs(upper) + 1.0)))


def _vertices(problem: Problem) -> Matrix | None:
    """Those of a box of few dimensions; None for any other set."""
    box = problem.constraint
    if not isinstance(box, Box) or box.dimension > _MOST_VERTICES:
        return None
    return np.array(list(itertools.product(*zip(box.lower, box.upper, strict=True))), dtype=np.float64)


def _ascent(problem: Problem, data: Dataset) -> Matrix:
    """Points of the set at which the risk is large."""
    constraint, center = problem.constraint, np.asarray(problem.constraint.center())
    rng = np.random.default_rng(0)  # any starts will do; these are the same every time
    records = np.asarray(data.features, dtype=np.float64)[:_RECORDS]
    slope = problem.mean_gradient(center[None, :], data)
    directions = np.concatenate(
        [slope, -slope, records, -records, rng.normal(size=(_RECORDS, center.size)), np.eye(center.size)]
    )
    if not math.isfinite(constraint.diameter):
        lengths = np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-300)
        return np.asarray(constraint.project(center + 1e9 * directions / lengths))
    points = np.asarray(constraint.minimize_linear(-directions))
    risks = problem.mean_risk(points, data)
    for _ in range(_STEPS):
        moved = np.asarray(constraint.minimize_linear(-problem.mean_gradient(points, data)))
        found = problem.mean_risk(moved, data)
        better = found > risks
        if not better.any():
            break
        points, risks = np.where(better[:, None], moved, points), np.where(better, found, risks)
    return points


def _upper_bounds(problem: Problem, data: Dataset) -> list[float]:
    constraint = problem.constraint
    if not math.isfinite(constraint.diameter):
        return [math.inf]
    loss, ridge = without_ridge(problem.loss)
    center = np.asarray(constraint.center())
    bounds = []
    if (vertices := _vertices(problem)) is not None:
        bounds.append(float(np.max(problem.mean_risk(vertices, data))))
    elif isinstance(constraint, Ball) and constraint.dimension <= 2:
        bounds.append(float(np.max(problem.mean_risk(_around(constraint), data))))
    at_center = float(problem.mean_risk(center[None, :], data)[0])
    reach = constraint.diameter / 2 if isinstance(constraint, Ball | Box) else constraint.diameter
    bounds.append(at_center + problem.constants.lipschitz_constant * reach)
    largest_ridge = 0.5 * ridge * constraint.largest_norm**2
    if isinstance(loss, Linear):
        base = Problem(loss, constraint)
        slope = base.mean_gradient(center[None, :], data)
        there = float(base.mean_risk(center[None, :], data)[0]) - float(slope[0] @ center)
        bounds.append(there + float(constraint.support(slope)[0]) + largest_ridge)
    if isinstance(loss, GeneralizedLinear):
        records, labels = np.asarray(data.features, dtype=np.float64), np.asarray(data.labels)
        # a convex function of <w, x> is largest at an end of what <w, x> can be
        ends = [np.asarray(constraint.support(records)), -np.asarray(constraint.support(-records))]
        each = np.maximum(*(loss.link(end, labels) for end in ends))
        bounds.append(float(np.mean(each)) + largest_ridge)
    return [bound for bound in bounds if not math.isnan(bound)]


def _around(ball: Ball) -> Matrix:
    """The ends of an interval, or the vertices of a polygon whose sides touch the disk."""
    center = np.asarray(ball.center())
    if ball.dimension == 1:
        return np.asarray(center + np.array([[-ball.radius], [ball.radius]]))
    angles = 2 * math.pi * np.arange(_SIDES) / _SIDES
    reach = ball.radius / math.cos(math.pi / _SIDES)
    return np.asarray(center + reach * np.stack([np.cos(angles), np.sin(angles)], axis=1))
