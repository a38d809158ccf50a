"""Problems that differ from run to run: balls about own centers, local and resampled losses."""

from __future__ import annotations

import cvxpy
import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.problems import ConstraintSet, Logistic, Loss, Squared
from dpverify.problems.conic import ConicProgram
from dpverify.problems.per_run.local_problems import LocalBalls, LocalLoss, ResampledLoss

from ... import in_cvxpy

# ------------------------------------------------------------------------------------------ local problems


def _balls(runs: int = 40, d: int = 3, radius: float = 0.7) -> LocalBalls:
    centers = np.random.default_rng(4).normal(size=(runs, d))
    centers *= (np.linspace(0, 1, runs) / np.linalg.norm(centers, axis=1))[:, None]
    return LocalBalls(radius, 1.0, centers)


@pytest.mark.parametrize("radius", [0.1, 0.7, 1.5, 3.0])
@pytest.mark.parametrize("d", [1, 3])
def test_projections_by_a_solver(radius: float, d: int) -> None:
    """Center in the middle, on the border, and between; projections and linear minima."""
    balls = _balls(radius=radius, d=d)
    assert isinstance(balls, ConstraintSet)
    w = 2 * np.random.default_rng(5).normal(size=(40, d))
    projected, lowest = balls.project(w), balls.minimize_linear(w)
    assert np.all(balls.contains(projected))
    assert np.all(balls.contains(lowest))
    np.testing.assert_allclose(balls.support(-w), -np.sum(lowest * w, axis=1), rtol=1e-12)
    for i in range(0, 40, 13):
        u = cvxpy.Variable(d)
        one = LocalBalls(radius, 1.0, balls.centers[i : i + 1])
        inside = in_cvxpy.inside(one, u)
        cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(u - w[i])), inside).solve(solver=cvxpy.CLARABEL)
        np.testing.assert_allclose(projected[i], u.value, atol=2e-4)
        smallest = cvxpy.Problem(cvxpy.Minimize(w[i] @ u), inside).solve(solver=cvxpy.CLARABEL)
        assert smallest == pytest.approx(float(w[i] @ lowest[i]), abs=1e-5)


def test_projection_is_the_identity_inside() -> None:
    balls = _balls()
    inside = balls.project(np.random.default_rng(6).normal(size=(40, 3)))
    again = balls.project(inside)
    np.testing.assert_allclose(again, inside, atol=1e-12)
    assert np.all(balls.contains(np.zeros((1, 3))))


def test_a_center_that_rounding_moved_out_is_inside() -> None:
    """Whether the last digit of a norm is above the radius depends on the machine; `contains` agrees with `project`."""
    centers = np.array([[1.0 + 2.0**-50, 0.0], [0.5, 0.5], [1.0 + 1e-13, 0.0]])
    balls, origin = LocalBalls(0.7, 1.0, centers), np.zeros((3, 2))
    assert balls.contains(origin, 0.0).tolist() == [True, True, False]
    assert np.array_equal(balls.project(origin)[:2], origin[:2])


def test_gauges() -> None:
    balls = _balls()
    w = np.random.default_rng(7).normal(size=(40, 3))
    gauge = balls.gauge(w)
    finite = gauge < 1e9  # the last center is on the border, up to rounding
    assert np.sum(finite) >= 39
    on = w / np.where(finite, gauge, 1.0)[:, None]
    assert np.all(balls.contains(on, 1e-9)[finite])
    assert not np.any(balls.contains(on * 1.001, 1e-9)[finite])


def test_local_losses() -> None:
    rng = np.random.default_rng(8)
    offsets, anchors, u = (rng.normal(size=(6, 3)) for _ in range(3))
    x, y = np.array([0.3, -0.5, 0.2]), np.asarray(1.0)
    loss = LocalLoss(Logistic(), offsets, 0.8, anchors, 2.0)
    assert isinstance(loss, Loss)
    assert (loss.lipschitz_constant, loss.smoothness, loss.strong_convexity) == pytest.approx(
        (2.6, 1.05, 0.8)
    )
    assert (loss.gradient_sensitivity, loss.labels) == (2.0, (-1.0, 1.0))
    w = u + offsets
    expected = np.log1p(np.exp(-(w @ x))) + 0.4 * np.sum((w - anchors) ** 2, axis=1)
    np.testing.assert_allclose(loss.value(u, x, y), expected, rtol=1e-12)
    gradient = loss.gradient(u, x, y)
    for j in range(3):
        step = 1e-6 * np.eye(3)[j]
        slope = (loss.value(u + step, x, y) - loss.value(u - step, x, y)) / 2e-6
        np.testing.assert_allclose(gradient[:, j], slope, atol=1e-8)


def test_resampled_losses() -> None:
    rng = np.random.default_rng(9)
    features, labels = 0.3 * rng.normal(size=(5, 3)), rng.uniform(-1, 1, 5)
    drawn, w = rng.integers(0, 5, (4, 6)), rng.normal(size=(4, 3))
    loss = ResampledLoss(Squared(5.0), features, labels, drawn)
    assert isinstance(loss, Loss)
    for place in range(6):
        value = loss.value(w, np.zeros(3), np.asarray(float(place)))
        slow = [0.5 * (w[r] @ features[k] - labels[k]) ** 2 for r, k in enumerate(drawn[:, place])]
        np.testing.assert_allclose(value, slow, rtol=1e-12)
    places = np.array([0.0, 5.0, 2.0, 2.0])
    gradient = loss.gradient(w, np.zeros((4, 3)), places)
    for r in range(4):
        k = drawn[r, int(places[r])]
        np.testing.assert_allclose(gradient[r], (w[r] @ features[k] - labels[k]) * features[k], rtol=1e-12)


def test_points_without_an_owner_are_refused() -> None:
    loss = LocalLoss(Logistic(), np.zeros((4, 3)), 0.1, np.zeros((4, 3)), 1.0)
    resampled = ResampledLoss(Logistic(), np.zeros((5, 3)), np.ones(5), np.zeros((4, 6), dtype=int))
    x, y = np.zeros(3), np.asarray(1.0)
    for call in (loss.value, loss.gradient, resampled.value, resampled.gradient):
        with pytest.raises(InvalidArgumentError, match="all 4 runs"):
            call(np.zeros((3, 3)), x, y)
    with pytest.raises(InvalidArgumentError, match="all 40 runs"):
        _balls().project(np.zeros((3, 3)))
    prefix = ResampledLoss(Logistic(), np.zeros((5, 3)), np.ones(5), np.zeros((4, 6), dtype=int), True)
    assert prefix.value(np.zeros((3, 3)), x, y).shape == (3,)
    program = ConicProgram()
    with pytest.raises(InvalidArgumentError, match="one run"):
        _balls().conic_rows(program, program.variables(3))
