"""Projections onto a set cut with balls: against a convex solver, optimality conditions, and a line's closed form."""

from __future__ import annotations

import math
import warnings
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray

from dpverify.errors import InvalidArgumentError
from dpverify.problems import AllSpace, Ball, Box, Simplex
from dpverify.problems.per_run.ball_intersections import BallIntersections

from ... import in_cvxpy

D, RUNS = 4, 300
SETS: dict[str, Any] = {
    "all space": AllSpace(D),
    "ball": Ball(D, 0.7),
    "ball elsewhere": Ball(D, 0.5, (0.3, 0.0, 0.1, -0.2)),
    "box": Box.cube(D, 0.3),
    "simplex": Simplex(D),
}
RADII = [0.05, 0.3, 1.0, 5.0]


def make(name: str, radius: float, seed: int = 0) -> tuple[BallIntersections, NDArray[np.float64]]:
    """Centers in the set, many of them on its border, and points from near to far."""
    rng = np.random.default_rng(seed)
    centers = np.asarray(SETS[name].project(0.6 * rng.normal(size=(RUNS, D))))
    reach = rng.choice([0.01, 0.3, 3.0], size=(RUNS, 1))
    return BallIntersections(SETS[name], centers, radius), centers + reach * rng.normal(size=(RUNS, D))


def worst_angle(sets: BallIntersections, w: NDArray[np.float64], points: NDArray[np.float64]) -> float:
    """Largest <w - p, q - p> over many q of the set: at most 0 if and only if p is the closest point."""
    rng = np.random.default_rng(9)
    worst = -math.inf
    for reach in (0.01, 0.1, 1.0):
        for around in (points, np.asarray(sets.centers), w):
            q = alternating(sets, around + reach * rng.normal(size=points.shape), 400)
            # what is left of infeasibility is taken off: q is drawn towards the center, which is inside
            q = np.where(sets.contains(q, 1e-12)[:, None], q, np.asarray(sets.centers))
            worst = max(worst, float(np.max(np.sum((w - points) * (q - points), axis=1))))
    return worst


def alternating(sets: BallIntersections, w: NDArray[np.float64], rounds: int) -> NDArray[np.float64]:
    """Projections in turn onto the ball and the set: feasible in the limit, but not the closest point."""
    centers = np.asarray(sets.centers)
    for _ in range(rounds):
        offset = w - centers
        length = np.maximum(np.linalg.norm(offset, axis=1), sets.radius)[:, None]
        w = np.asarray(sets.constraint.project(centers + offset * (sets.radius / length)))
    return w


@pytest.mark.one_in(4)
@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("name", SETS)
def test_points_are_inside_and_closest(name: str, radius: float) -> None:
    sets, w = make(name, radius)
    before = w.copy()
    points = np.asarray(sets.project(w))
    assert np.array_equal(w, before)
    assert np.all(sets.contains(points, 1e-12))
    assert worst_angle(sets, w, points) <= 1e-10
    assert np.max(np.abs(sets.project(points) - points)) <= 1e-12


@pytest.mark.parametrize("name", ["ball elsewhere", "box", "simplex"])
def test_alternating_projections_are_not_closest(name: str) -> None:
    """The check above sees a feasible point that is not the closest one."""
    sets, w = make(name, 0.3)
    assert worst_angle(sets, w, alternating(sets, w, 400)) > 1e-3


@pytest.mark.parametrize("name", ["ball", "ball elsewhere", "box", "simplex"])
def test_against_a_convex_solver(name: str) -> None:
    import cvxpy

    sets, w = make(name, 0.3, seed=2)
    points = np.asarray(sets.project(w))
    for i in range(0, RUNS, 30):
        x = cvxpy.Variable(D)
        near = cvxpy.norm(x - sets.centers[i], 2) <= 0.3
        program = cvxpy.Problem(
            cvxpy.Minimize(cvxpy.norm(x - w[i], 2)), [near, *in_cvxpy.inside(SETS[name], x)]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program.solve(solver=cvxpy.CLARABEL)
        # the solver is accurate to about 1e-8 in the distance, so to about its root in the point
        assert np.linalg.norm(points[i] - w[i]) == pytest.approx(program.value, abs=1e-6)
        assert np.max(np.abs(points[i] - x.value)) <= 1e-3


def test_a_line() -> None:
    """In one dimension the sets are intervals."""
    rng = np.random.default_rng(3)
    for constraint in (Ball(1, 0.5, (0.2,)), Box((-0.3,), (0.7,))):
        centers = rng.uniform(-0.3, 0.7, size=(500, 1))
        w = rng.normal(size=(500, 1))
        points = BallIntersections(constraint, centers, 0.2).project(w)
        exact = np.clip(w, np.maximum(-0.3, centers - 0.2), np.minimum(0.7, centers + 0.2))
        assert np.max(np.abs(points - exact)) <= 1e-15


def test_one_ball_within_the_other() -> None:
    inner = BallIntersections(Ball(2, 1.0), np.zeros((3, 2)), 0.25)
    w = np.array([[3.0, 4.0], [0.1, 0.0], [0.0, -0.25]])
    assert np.asarray(inner.project(w)) == pytest.approx(np.array([[0.15, 0.2], [0.1, 0.0], [0.0, -0.25]]))
    outer = BallIntersections(Ball(2, 1.0), np.zeros((3, 2)), 10.0)
    assert outer.diameter == 2.0
    assert inner.diameter == 0.5
    assert np.asarray(outer.project(w))[0] == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("name", SETS)
def test_array_api_strict(name: str) -> None:
    sets, w = make(name, 0.3)
    strict = BallIntersections(SETS[name], array_api_strict.asarray(np.array(sets.centers)), 0.3)
    theirs = np.asarray(strict.project(array_api_strict.asarray(w)))
    assert np.max(np.abs(theirs - np.asarray(sets.project(w)))) <= 1e-12


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("constraint", {"constraint": 1}),
        ("centers", {"centers": np.zeros((3, 2))}),
        ("centers", {"centers": np.zeros(4)}),
        ("centers", {"centers": 0.0}),
        ("radius", {"radius": 0.0}),
        ("radius", {"radius": math.nan}),
        ("radius", {"radius": math.inf}),
        ("radius", {"radius": True}),
    ],
)
def test_bad_parameters(argument: str, options: dict[str, Any]) -> None:
    good: dict[str, Any] = {"constraint": Ball(4, 1.0), "centers": np.zeros((3, 4)), "radius": 0.1}
    with pytest.raises(InvalidArgumentError, match=argument):
        BallIntersections(**{**good, **options})


def test_points_of_other_runs_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="w"):
        BallIntersections(Ball(4, 1.0), np.zeros((3, 4)), 0.1).project(np.zeros((2, 4)))
