"""One suite for all constraint sets, and what is particular to one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Literal

import array_api_strict
import cvxpy
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from dpverify.errors import InvalidArgumentError
from dpverify.problems import AllSpace, Ball, Box, ConstraintSet, Simplex

from .. import in_cvxpy

D = 4

# Constraint sets are immutable, so one may serve all examples of a test.
property_test = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
batches = st_numpy.arrays(np.float64, (3, D), elements=st.floats(-1e6, 1e6, allow_subnormal=False))


def spread(rng: np.random.Generator, runs: int = 40) -> np.ndarray:
    """Points near and far."""
    return np.array(rng.standard_normal((runs, D)) * 10.0 ** rng.uniform(-2, 2, (runs, 1)))


class TestEverySet:
    def test_is_a_constraint_set(self, constraint: ConstraintSet) -> None:
        assert isinstance(constraint, ConstraintSet)
        assert constraint.dimension == D

    def test_equal_sets_are_equal_and_hashable(self) -> None:
        assert Ball(2, 1.0, [0.0, 1.0]) == Ball(2, 1.0, (0.0, 1.0))
        assert hash(Box([0.0], [1.0])) == hash(Box((0.0,), (1.0,)))

    def test_projection_against_cvxpy(self, constraint: ConstraintSet, rng: np.random.Generator) -> None:
        w = 2.0 * rng.standard_normal((6, D))
        projected = constraint.project(w)
        for i in range(len(w)):
            variable = cvxpy.Variable(D)
            distance = cvxpy.sum_squares(variable - w[i])
            cvxpy.Problem(cvxpy.Minimize(distance), in_cvxpy.inside(constraint, variable)).solve(
                solver=cvxpy.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
            )
            # A solver that is off by t in the squared distance is off by at most sqrt(t) in w.
            np.testing.assert_allclose(projected[i], variable.value, atol=2e-5)

    def test_projection_satisfies_the_variational_inequality(
        self, constraint: ConstraintSet, rng: np.random.Generator
    ) -> None:
        # <w - P(w), v - P(w)> <= 0 for all v in the set characterizes the projection.
        w, v = spread(rng), constraint.project(spread(rng))
        p = constraint.project(w)
        excess = (w - p) @ v.T - np.sum((w - p) * p, axis=1)[:, None]
        assert np.all(excess <= 1e-12 * (1.0 + np.sum(w * w, axis=1)[:, None]))

    @given(w=batches)
    @property_test
    def test_projected_points_are_inside_and_stay(self, constraint: ConstraintSet, w: np.ndarray) -> None:
        once = constraint.project(w)
        assert np.all(constraint.contains(once))
        np.testing.assert_allclose(constraint.project(once), once, rtol=1e-14, atol=1e-14)
        assert np.all(constraint.gauge(once) <= 1.0 + 1e-12)

    @given(w=batches, v=batches)
    @property_test
    def test_projection_never_increases_distances(
        self, constraint: ConstraintSet, w: np.ndarray, v: np.ndarray
    ) -> None:
        before = np.linalg.norm(w - v, axis=1)
        after = np.linalg.norm(constraint.project(w) - constraint.project(v), axis=1)
        rounding = 1e-14 * (np.linalg.norm(w, axis=1) + np.linalg.norm(v, axis=1) + 3.0)
        assert np.all(after <= before * (1 + 1e-14) + rounding)

    def test_projection_of_a_batch_equals_the_loop(
        self, constraint: ConstraintSet, rng: np.random.Generator
    ) -> None:
        w = spread(rng)
        together = constraint.project(w)
        for i in range(len(w)):
            np.testing.assert_allclose(
                constraint.project(w[i : i + 1])[0], together[i], rtol=1e-15, atol=1e-15
            )

    def test_projection_leaves_its_argument_alone_unless_told(
        self, constraint: ConstraintSet, rng: np.random.Generator
    ) -> None:
        w = spread(rng)
        before = w.copy()
        expected = constraint.project(w)
        assert np.array_equal(w, before)
        np.testing.assert_array_equal(constraint.project(w, overwrite=True), expected)

    @pytest.mark.parametrize("layout", ["C", "F"])
    def test_memory_layout_does_not_matter(
        self, constraint: ConstraintSet, rng: np.random.Generator, layout: Literal["C", "F"]
    ) -> None:
        w = spread(rng)
        np.testing.assert_allclose(
            constraint.project(np.array(w, order=layout)), constraint.project(w), rtol=1e-14
        )

    def test_no_runs(self, constraint: ConstraintSet) -> None:
        assert constraint.project(np.empty((0, D))).shape == (0, D)

    def test_agrees_with_the_array_standard(
        self, constraint: ConstraintSet, rng: np.random.Generator
    ) -> None:
        w = np.concatenate([spread(rng, 6), constraint.project(spread(rng, 3))])
        there = array_api_strict.asarray(w)
        for method in ("project", "gauge", "support", "contains"):
            np.testing.assert_allclose(
                np.asarray(getattr(constraint, method)(there)),
                getattr(constraint, method)(w),
                rtol=1e-13,
                atol=1e-15,
            )
        if math.isfinite(constraint.diameter):
            np.testing.assert_allclose(
                np.asarray(constraint.minimize_linear(there)), constraint.minimize_linear(w), rtol=1e-13
            )

    def test_keeps_single_precision(self, constraint: ConstraintSet, rng: np.random.Generator) -> None:
        w = spread(rng).astype(np.float32)
        for method in (constraint.project, constraint.gauge, constraint.support):
            assert method(w).dtype == np.float32

    def test_gauge_says_where_the_boundary_is(
        self, constraint: ConstraintSet, rng: np.random.Generator
    ) -> None:
        # Scaling w about the center by 1 / gauge(w) must land on the boundary.
        center = constraint.center()
        direction = rng.standard_normal((50, D))
        if isinstance(constraint, Simplex):
            direction -= np.mean(direction, axis=1, keepdims=True)
        gauge = constraint.gauge(center + direction)
        if isinstance(constraint, AllSpace):
            assert np.all(gauge == 0.0)
            return
        assert np.all(gauge > 0.0)
        assert np.all(constraint.contains(center + direction / gauge[:, None], 1e-12))
        assert not np.any(constraint.contains(center + 1.001 * direction / gauge[:, None], 1e-9))
        # Positively homogeneous about the center.
        np.testing.assert_allclose(constraint.gauge(center + 3.0 * direction), 3.0 * gauge, rtol=1e-12)

    def test_center_is_inside(self, constraint: ConstraintSet) -> None:
        center = constraint.center()
        assert center.shape == (D,)
        assert bool(constraint.contains(center[None, :], 1e-12)[0])
        assert float(constraint.gauge(center[None, :])[0]) == pytest.approx(0.0, abs=1e-15)

    def test_linear_minimization_is_the_support_function(
        self, constraint: ConstraintSet, rng: np.random.Generator
    ) -> None:
        g = spread(rng)
        if isinstance(constraint, AllSpace):
            assert np.all(np.isinf(constraint.support(g)))
            assert constraint.support(np.zeros((1, D)))[0] == 0.0
            with pytest.raises(InvalidArgumentError, match="bounded"):
                constraint.minimize_linear(g)
            return
        best = constraint.minimize_linear(g)
        assert np.all(constraint.contains(best, 1e-12))
        np.testing.assert_allclose(np.sum(g * best, axis=1), -constraint.support(-g), rtol=1e-12, atol=1e-13)
        others = constraint.project(spread(rng, 400))
        assert np.all(
            g @ others.T >= np.sum(g * best, axis=1)[:, None] - 1e-11 * (1 + np.abs(g).sum(1))[:, None]
        )

    def test_diameter_and_largest_norm_bound_all_points_and_are_attained(
        self, constraint: ConstraintSet, rng: np.random.Generator
    ) -> None:
        if math.isinf(constraint.diameter):
            assert math.isinf(constraint.largest_norm)
            return
        # Extreme points in random and in diagonal directions.
        g = np.concatenate([spread(rng, 300), np.array(list(itertools.product([-1.0, 1.0], repeat=D)))])
        if isinstance(constraint, Ball):
            g = np.concatenate([g, constraint.center()[None, :], -constraint.center()[None, :]])
        extreme = constraint.minimize_linear(g)
        distances = np.linalg.norm(extreme[:, None, :] - extreme[None, :, :], axis=2)
        norms = np.linalg.norm(extreme, axis=1)
        assert constraint.diameter * 0.999 <= np.max(distances) <= constraint.diameter * (1 + 1e-12)
        assert constraint.largest_norm * 0.999 <= np.max(norms) <= constraint.largest_norm * (1 + 1e-12)

    @pytest.mark.parametrize("shape", [(D,), (2, D + 1), (2, 2, D), ()])
    def test_refuses_other_shapes(self, constraint: ConstraintSet, shape: tuple[int, ...]) -> None:
        methods: list[Callable[[np.ndarray], object]] = [
            constraint.project,
            constraint.contains,
            constraint.gauge,
            constraint.support,
            constraint.minimize_linear,
        ]
        for method in methods:
            with pytest.raises(InvalidArgumentError, match="shape"):
                method(np.zeros(shape))

    @pytest.mark.parametrize("tolerance", [-1e-9, math.nan, math.inf, True, "0"])
    def test_refuses_bad_tolerance(self, constraint: ConstraintSet, tolerance: float) -> None:
        with pytest.raises(InvalidArgumentError, match="tolerance"):
            constraint.contains(np.zeros((1, D)), tolerance)


def test_ball_returns_the_batch_itself_when_all_points_are_inside(rng: np.random.Generator) -> None:
    w = 0.01 * rng.standard_normal((10, 3))
    assert Ball(3, 1.0).project(w) is w


def test_ball_moves_no_point_that_is_inside_when_another_is_outside() -> None:
    w = np.array([[0.3, 0.4], [3.0, 4.0]])
    projected = Ball(2, 1.0).project(w)
    assert projected[0].tolist() == [0.3, 0.4]
    np.testing.assert_allclose(projected[1], [0.6, 0.8], rtol=1e-15)


@given(
    w=st_numpy.arrays(np.float64, (2, 3), elements=st.floats(-2.0, 2.0, allow_subnormal=False)),
    radius=st.floats(1e-3, 10.0),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_ball_leaves_inside_points_bit_for_bit_in_any_company(w: np.ndarray, radius: float) -> None:
    projected = Ball(3, radius).project(np.concatenate([w, [[1e3, 0.0, 0.0]]]))[:2]
    inside = np.linalg.norm(w, axis=1) <= radius * (1.0 - 1e-14)
    np.testing.assert_array_equal(projected[inside], w[inside])


def test_simplex_projection_in_closed_form() -> None:
    simplex = Simplex(3, 1.0)
    w = np.array([[0.2, 0.3, 0.5], [5.0, 0.0, 0.0], [1e12 + 1.0, 1e12, 1e12 - 5.0], [0.5, 0.5, 0.5]])
    expected = [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]]
    np.testing.assert_allclose(simplex.project(w), expected, atol=1e-15)


def test_simplex_projection_against_bisection(rng: np.random.Generator) -> None:
    """The threshold theta solves sum max(w_i - theta, 0) = scale; bisection finds it without sorting."""
    w, scale = 3.0 * rng.standard_normal((200, 9)), 2.5
    low, high = np.min(w, axis=1, keepdims=True) - scale, np.max(w, axis=1, keepdims=True)
    for _ in range(100):
        middle = 0.5 * (low + high)
        above = np.sum(np.maximum(w - middle, 0.0), axis=1, keepdims=True) > scale
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    np.testing.assert_allclose(Simplex(9, scale).project(w), np.maximum(w - low, 0.0), atol=1e-14)


def test_simplex_gauge_is_infinite_off_its_plane() -> None:
    gauge = Simplex(2, 1.0).gauge(np.array([[0.5, 0.5], [1.0, 0.0], [2.0, -1.0], [0.5, 0.6]]))
    assert gauge.tolist() == [0.0, 1.0, 3.0, math.inf]


def test_simplex_in_one_dimension_is_a_point() -> None:
    simplex = Simplex(1, 2.0)
    assert simplex.diameter == 0.0
    assert simplex.project(np.array([[-3.0], [7.0]])).tolist() == [[2.0], [2.0]]


def test_single_numbers_and_vectors_as_ends_of_a_box_agree(rng: np.random.Generator) -> None:
    w = spread(rng)
    np.testing.assert_array_equal(Box.cube(D, 0.4).project(w), np.clip(w, -0.4, 0.4))


@pytest.mark.parametrize("bad", [0, -1, 1.0, True, math.nan, "3", None])
def test_bad_dimension(bad: int) -> None:
    for make in (
        lambda: Ball(bad, 1.0),
        lambda: Simplex(bad),
        lambda: AllSpace(bad),
        lambda: Box.cube(bad, 1.0),
    ):
        with pytest.raises(InvalidArgumentError, match="dimension"):
            make()


@pytest.mark.parametrize("bad", [0.0, -0.0, -1.0, math.nan, math.inf, True, "1", None, [1.0]])
def test_bad_size(bad: float) -> None:
    for argument, make in (
        ("radius", lambda: Ball(2, bad)),
        ("scale", lambda: Simplex(2, bad)),
        ("half_width", lambda: Box.cube(2, bad)),
    ):
        with pytest.raises(InvalidArgumentError, match=argument):
            make()


@pytest.mark.parametrize(
    "bad", [(1.0,), (1.0, math.nan), (1.0, math.inf), "ab", ((1.0, 2.0),), None, 1.0, (1j, 0)]
)
def test_bad_vectors(bad: tuple[float, ...]) -> None:
    if bad is not None:
        with pytest.raises(InvalidArgumentError, match="midpoint"):
            Ball(2, 1.0, bad)
    with pytest.raises(InvalidArgumentError, match="upper"):
        Box((0.0, 0.0), bad)
    with pytest.raises(InvalidArgumentError, match="upper"):
        Box((0.0, 0.0), (1.0, 0.0))
    with pytest.raises(InvalidArgumentError, match="lower"):
        Box((), ())
