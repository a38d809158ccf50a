"""The parts of a step in place do what the plain ones do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpverify.algorithms.steps import in_place
from dpverify.algorithms.steps.projected_steps import Iterates, by_column
from dpverify.errors import InvalidArgumentError
from dpverify.problems import (
    Ball,
    Logistic,
    Problem,
    Ridge,
)
from dpverify.running import Randomness

D, N, RUNS = 4, 9, 23


BALL = Ball(D, 0.7)


def in_place_columns(points: np.ndarray) -> in_place.Columns:
    columns = in_place.Columns(*points.shape)
    columns.points[...] = points
    return columns


def test_in_place_forms_are_what_they_stand_in_for() -> None:
    rng = np.random.default_rng(1)
    points = 10.0 ** rng.uniform(-3, 3, size=(1, 500)) * rng.normal(size=(D, 500))
    norms = np.linalg.norm(points, axis=0)
    x = rng.normal(size=D)
    for y in (np.array(1.0), np.array(-1.0), np.array(0.0)):
        for near in (math.inf, 10.0):
            here = points[:, norms <= near]
            columns = in_place_columns(here)
            theirs = Logistic().slope(here.T, x, y)
            for largest in {near, float(np.max(norms))}:
                columns.slope(x, y, largest)
                assert np.allclose(columns.numbers, theirs, rtol=1e-12, atol=1e-300)
            assert np.array_equal(columns.points, here)
    columns = in_place_columns(points)
    in_place.shorten(columns.points, BALL.radius, columns.numbers)
    assert np.max(np.abs(columns.points - BALL.project(points.T.copy()).T)) <= 1e-15
    assert not in_place.has_fast_slope(Ridge.on(BALL, Logistic(), 0.3))


def test_in_place_additions_are_those_of_numpy() -> None:
    rng = np.random.default_rng(2)
    for d, runs in ((1, 1), (1, 7), (D, 1), (D, 501), (3, 0)):
        points, noise, x, numbers = (rng.normal(size=shape) for shape in ((d, runs), (d, runs), 2 * d, runs))
        columns = in_place_columns(points)
        columns.noise[...], columns.numbers[...] = noise, numbers
        columns.add_outer(-0.3, x[::2])
        columns.add_noise(0.7)
        expected = points - 0.3 * x[::2, None] * numbers[None, :] + 0.7 * noise
        assert np.allclose(columns.points, expected, rtol=0.0, atol=1e-14)
        assert np.array_equal(columns.noise, noise)
        assert np.array_equal(columns.numbers, numbers)
    with pytest.raises(ValueError, match="does not fit"):
        columns.add_outer(1.0, np.ones(2))
    with pytest.raises(InvalidArgumentError, match="smaller block size"):
        in_place.Columns(2, 2**30)


@pytest.mark.parametrize("radius", [1e-150, 0.7, 1e150])
def test_points_far_away_are_projected_onto_the_boundary(radius: float) -> None:
    directions = np.random.default_rng(3).normal(size=(D, 6))
    points = directions * np.array([0.0, 1e-200, 1e-3, 1e3, 1e200, 1e305])
    columns = in_place_columns(points)
    in_place.shorten(columns.points, radius, columns.numbers)
    expected = Ball(D, radius).project(points.T.copy()).T
    assert np.allclose(columns.points, expected, rtol=1e-14, atol=0.0)


def test_a_step_on_a_tiny_ball_stays_a_number() -> None:
    ball = Ball(D, 1e-170)
    iterates = Iterates(Problem(Logistic(), ball), np.zeros(D), RUNS, Randomness(1))
    iterates.step(np.eye(D)[0], np.array(1.0), rate=0.1, noise_stddev=1.0)
    points = iterates.output().points
    assert np.all(np.isfinite(points))
    assert np.all(ball.contains(points))


def test_columns_are_gathered_without_a_copy_of_all() -> None:
    """In memory they stand one coordinate after the other, which NumPy asks for."""
    features = np.arange(12.0).reshape(4, 3)
    columns = by_column(features, np)
    assert columns.flags.c_contiguous
    assert not np.shares_memory(columns, features)
    assert np.array_equal(columns, features.T)
