"""Projections at every magnitude that a dtype holds, against rational arithmetic and mpmath."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import array_api_strict
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpverify.errors import InvalidArgumentError
from dpverify.problems import AllSpace, Ball, Box, ConstraintSet, Simplex
from dpverify.problems.per_run.ball_intersections import BallIntersections

try:
    import torch
except ImportError:
    torch = None

Points = NDArray[Any]
LIBRARIES: list[Any] = [np, array_api_strict, *([torch] if torch is not None else [])]

property_test = settings(max_examples=150, deadline=None, derandomize=True)


@st.composite
def magnitudes(draw: st.DrawFn, largest: int) -> float:
    return draw(st.floats(1.0, 9.99)) * 10.0 ** draw(st.integers(-largest, largest))


@st.composite
def cases(draw: st.DrawFn, dtype: type = np.float64) -> tuple[ConstraintSet, Points]:
    """A set and five points: inside, near the border, at the set's magnitude, and at any magnitude."""
    largest = 300 if dtype is np.float64 else 30
    d = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(magnitudes(largest))
    middle = rng.normal(size=d) * draw(magnitudes(largest)) if draw(st.booleans()) else None
    shape = draw(st.sampled_from(["ball", "box", "simplex"]))
    constraint: ConstraintSet
    if shape == "ball":
        constraint = Ball(d, size, middle)
        center = constraint.center()
    elif shape == "box":
        center = np.zeros(d) if middle is None else middle
        widths = size * rng.uniform(0.5, 1.0, d)
        low, high = center - widths, np.maximum(center + widths, np.nextafter(center, math.inf))
        constraint = Box(np.minimum(low, np.nextafter(center, -math.inf)), high)
    else:
        constraint = Simplex(d, size)
        center = constraint.center()
    direction = rng.normal(size=(5, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    far = draw(magnitudes(largest))
    w = center + direction * np.array([0.0, 0.3 * size, size, 2.0 * size, far])[:, None]
    return constraint, w.astype(dtype)


def distance(left: Points, right: Points) -> float:
    """In half the unit, so that no difference overflows."""
    return math.hypot(*(0.5 * float(a) - 0.5 * float(b) for a, b in zip(left, right, strict=True)))


def projected(constraint: Any, w: Points, xp: Any = np) -> Points:
    there = xp.asarray(w.copy())
    assert bool(xp.all(constraint.contains(constraint.project(there))))
    found: Points = np.asarray(constraint.project(there))
    return found


def check_laws(constraint: Any, w: Points, size: float, xp: Any = np) -> None:
    once = projected(constraint, w, xp)
    assert np.all(np.isfinite(once))
    np.testing.assert_array_equal(projected(constraint, once, xp), once)
    inside = np.asarray(constraint.contains(xp.asarray(w.copy()), 0.0))
    np.testing.assert_array_equal(once[inside], w[inside])
    rounding = 64.0 * float(np.finfo(w.dtype).eps) * size
    for i in range(len(w)):
        for j in range(i):
            assert distance(once[i], once[j]) <= distance(w[i], w[j]) * (1 + 1e-14) + rounding


@given(case=cases())
@property_test
def test_projections_of_doubles(case: tuple[ConstraintSet, Points]) -> None:
    constraint, w = case
    for xp in LIBRARIES:
        check_laws(constraint, w, constraint.largest_norm, xp)
    together = constraint.project(w)
    rounding = 16.0 * float(np.finfo(np.float64).eps) * constraint.largest_norm
    for i in range(len(w)):
        alone = constraint.project(w[i : i + 1])
        assert distance(alone[0], together[i]) <= rounding
        if bool(constraint.contains(w[i : i + 1], 0.0)[0]):
            np.testing.assert_array_equal(alone[0], together[i])


@given(case=cases(np.float32))
@property_test
def test_projections_of_single_precision(case: tuple[ConstraintSet, Points]) -> None:
    constraint, w = case
    assert constraint.project(w).dtype == np.float32
    for xp in LIBRARIES:
        check_laws(constraint, w, constraint.largest_norm, xp)


@given(case=cases(), radius=magnitudes(300))
@property_test
def test_intersections_with_balls(case: tuple[ConstraintSet, Points], radius: float) -> None:
    constraint, w = case
    centers = constraint.project(np.roll(w, 2, axis=0))
    for outer in (constraint, AllSpace(w.shape[1])):
        sets = BallIntersections(outer, centers, radius)
        once = sets.project(w)
        assert np.all(np.isfinite(once))
        assert np.all(sets.contains(once))
        np.testing.assert_array_equal(sets.project(once), once)
        inside = sets.contains(w, 0.0)
        np.testing.assert_array_equal(once[inside], w[inside])


@given(case=cases())
@property_test
def test_projections_against_exact_ones(case: tuple[ConstraintSet, Points]) -> None:
    constraint, w = case
    once = constraint.project(w)
    rounding = 16.0 * float(np.finfo(np.float64).eps) * constraint.largest_norm
    for point, found in zip(w.tolist(), once.tolist(), strict=True):
        with mpmath.workdps(700):
            exact = exact_projection(constraint, [mpmath.mpf(v) for v in point])
            off = mpmath.norm([a - b for a, b in zip(exact, found, strict=True)], 2)
            assert off <= rounding


def exact_projection(constraint: ConstraintSet, w: list[Any]) -> list[Any]:
    """By definition, in many digits."""
    if isinstance(constraint, Ball):
        middle = [mpmath.mpf(v) for v in constraint.center().tolist()]
        length = mpmath.norm([a - b for a, b in zip(w, middle, strict=True)], 2)
        share = min(mpmath.mpf(1), constraint.radius / length) if length else mpmath.mpf(1)
        return [b + share * (a - b) for a, b in zip(w, middle, strict=True)]
    if isinstance(constraint, Box):
        return [
            min(max(a, mpmath.mpf(low)), mpmath.mpf(high))
            for a, low, high in zip(w, constraint.lower, constraint.upper, strict=True)
        ]
    assert isinstance(constraint, Simplex)
    # the threshold is the one for which the positive parts add up to the scale: try every number of positive ones
    for count in range(1, len(w) + 1):
        top = sorted(w, reverse=True)[:count]
        theta = (mpmath.fsum(top) - constraint.scale) / count
        if top[-1] > theta and all(a <= theta for a in sorted(w, reverse=True)[count:]):
            return [max(a - theta, mpmath.mpf(0)) for a in w]
    raise AssertionError("no threshold fits")


def test_edges_of_balls() -> None:
    tiny = Ball(2, 1e-170).project(np.array([[3.0, 4.0], [0.0, 0.0], [1e-171, 0.0]]))
    np.testing.assert_allclose(tiny, [[6e-171, 8e-171], [0.0, 0.0], [1e-171, 0.0]], rtol=1e-15)
    huge = Ball(2, 1e160).project(np.array([[3.0, 4.0], [3e200, 4e200], [1.7e308, 0.0]]))
    np.testing.assert_allclose(huge, [[3.0, 4.0], [6e159, 8e159], [1e160, 0.0]], rtol=1e-15)
    single = Ball(2, 1.0).project(np.array([[3e20, 4e20], [0.3, 0.4]], dtype=np.float32))
    np.testing.assert_allclose(single, np.array([[0.6, 0.8], [0.3, 0.4]], dtype=np.float32), rtol=1e-6)
    shifted = Ball(1, 3.0, (1e16,))
    np.testing.assert_array_equal(shifted.project(np.array([[1e16 + 2], [5e16]]))[0], [1e16 + 2])
    opposite = Ball(1, 1e307, (-1.7e308,))
    np.testing.assert_allclose(opposite.project(np.array([[1.7e308]])), [[-1.6e308]], rtol=1e-15)
    for radius in (1e7, 1e9, 1e12):
        rng = np.random.default_rng(0)
        for constraint in (Ball(3, radius), Ball(3, radius, (radius,) * 3), Simplex(3, radius)):
            assert np.all(constraint.contains(constraint.project(1e15 * rng.normal(size=(200, 3)))))
    # a point outside by more than rounding is not contained, at any magnitude
    for radius in (1e-200, 1e-9, 1.0, 1e9, 1e200):
        assert not Ball(2, radius).contains(np.array([[1.001 * radius, 0.0]]))[0]
        assert not Simplex(2, radius).contains(np.array([[1.001 * radius, 0.0]]))[0]
        assert not Box.cube(2, radius).contains(np.array([[1.001 * radius, 0.0]]))[0]


@pytest.mark.parametrize("exponent", [-300, -160, -20, 0, 20, 160, 300])
def test_gauges_and_support_functions_at_every_magnitude(exponent: int) -> None:
    size = 10.0**exponent
    w = np.array([[3.0, 4.0], [0.1, -0.2]]) * size
    np.testing.assert_allclose(Ball(2, 2.0 * size).gauge(w), [2.5, math.hypot(0.05, 0.1)], rtol=1e-15)
    np.testing.assert_allclose(Ball(2, 1.0).support(w), [5 * size, math.hypot(0.1, 0.2) * size], rtol=1e-15)
    np.testing.assert_allclose(Ball(2, 5.0).minimize_linear(w)[0], [-3.0, -4.0], rtol=1e-15)
    np.testing.assert_allclose(Box.cube(2, size).gauge(w), [4.0, 0.2], rtol=1e-15)
    assert Ball(2, size).diameter == 2 * size


@pytest.mark.parametrize(
    "bad", [10**400, -(10**400), Fraction(10) ** 400], ids=["large", "small", "fraction"]
)
def test_numbers_beyond_doubles_are_refused(bad: Any) -> None:
    for make in (lambda: Ball(2, bad), lambda: Simplex(2, bad), lambda: Box.cube(2, bad)):
        with pytest.raises(InvalidArgumentError):
            make()
    with pytest.raises(InvalidArgumentError, match="tolerance"):
        Ball(2, 1.0).contains(np.zeros((1, 2)), bad)
