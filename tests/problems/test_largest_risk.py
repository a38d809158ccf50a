"""The largest risk on a set: exhibited by a point, and bounded from above, against dense searches."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    ConstraintSet,
    Dataset,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Loss,
    Problem,
    Ridge,
    Simplex,
    Squared,
    largest_risk,
    load,
)

SETS = (Ball(2, 1.0), Ball(3, 0.7, (0.1, 0.0, -0.2)), Box((-1.0, 0.0), (0.5, 1.0)), Simplex(3), Ball(1, 2.0))


def _inside(constraint: ConstraintSet, rng: np.random.Generator) -> np.ndarray:
    """Many points of the set, most of them on its boundary."""
    spread = 5 * rng.normal(size=(20_000, constraint.dimension))
    return np.asarray(constraint.project(spread))


@pytest.mark.parametrize("constraint", SETS)
@pytest.mark.parametrize("loss", [Logistic(), Hinge(), Squared(radius=3.0), EuclideanDistance(), Linear()])
def test_no_point_is_worse_and_the_exhibited_one_is_as_bad(constraint: ConstraintSet, loss: Loss) -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(30, constraint.dimension))
    features /= np.maximum(1.0, np.linalg.norm(features, axis=1, keepdims=True))
    data = Dataset(features, rng.choice([-1.0, 1.0], 30))
    problem = Problem(loss, constraint)
    found = largest_risk(problem, data)
    worst = float(np.max(problem.mean_risk(_inside(constraint, rng), data)))
    assert worst <= found.upper
    # the search is dense in up to three dimensions, so that the ascent must have found as much
    assert found.lower >= worst - 1e-3 * (abs(worst) + 1)
    if isinstance(loss, Linear):
        assert found.upper - found.lower <= 1e-8


def test_a_linear_loss_is_exact_in_many_dimensions() -> None:
    data = load("breast-cancer")
    problem = Problem(Linear(labeled=True), Ball(data.d, 2.0))
    found = largest_risk(problem, data)
    slope = np.linalg.norm((np.asarray(data.features) * np.asarray(data.labels)[:, None]).mean(axis=0))
    assert found.lower == pytest.approx(2.0 * float(slope), rel=1e-9)
    assert found.upper == pytest.approx(2.0 * float(slope), rel=1e-8)


def test_a_ridge_is_counted() -> None:
    data = Dataset(np.array([[0.0, 0.0]]), np.ones(1))
    found = largest_risk(Problem(Ridge.on(Ball(2, 2.0), Logistic(), 3.0), Ball(2, 2.0)), data)
    assert found.lower == pytest.approx(math.log(2) + 6.0)
    assert found.upper == pytest.approx(math.log(2) + 6.0, rel=1e-3)


def test_all_of_space_has_no_largest_risk() -> None:
    data = Dataset(np.array([[1.0]]), np.ones(1))
    found = largest_risk(Problem(HalfSquaredDistance(math.inf), AllSpace(1)), data)
    assert found.upper == math.inf
    assert found.lower > 1e10
