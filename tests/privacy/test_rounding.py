"""Sums and products are rounded up, and parameters beyond the floats are refused in one sentence."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.errors import InvalidArgumentError
from dpverify.privacy import (
    GDP,
    RDP,
    ApproxDP,
    PureDP,
    compose,
    compose_profiles,
    for_group,
    gaussian_hockey_stick,
    hockey_stick_divergence,
    rounding,
    zCDP,
)
from dpverify.privacy.batch_sampling import SampledBatch

positive = st.floats(0, allow_infinity=False, allow_nan=False)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(left=positive, right=positive)
def test_products_are_the_least_float_above(left: float, right: float) -> None:
    found, exact = rounding.product(left, right), Fraction(left) * Fraction(right)
    assert found == math.inf or Fraction(found) >= exact
    assert exact == 0 or found == 0 or Fraction(math.nextafter(found, 0.0)) < exact


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(values=st.lists(positive, max_size=8))
def test_sums_are_the_least_float_above(values: list[float]) -> None:
    found, exact = rounding.total(values), sum(map(Fraction, values))
    assert found == math.inf or Fraction(found) >= exact
    assert exact == 0 or Fraction(math.nextafter(found, 0.0)) < exact


def test_balls_are_rounded_up() -> None:
    third = arb(1) / 3
    assert Fraction(rounding.ball(third)) > Fraction(1, 3)
    assert rounding.ball(arb(0.5)) == 0.5
    assert rounding.ball(arb("1e400")) == math.inf
    assert rounding.ball(arb("nan")) == math.inf


@pytest.mark.parametrize(
    ("build", "argument"),
    [
        (lambda: compose([PureDP(1e308)] * 2), "guarantees"),
        (lambda: compose([ApproxDP(1e308, 0.1)] * 2), "guarantees"),
        (lambda: compose([GDP(1e308)] * 4), "guarantees"),
        (lambda: compose([GDP(1e200), zCDP(1.0)]), "guarantees"),
        (lambda: compose([zCDP(1e308)] * 2), "guarantees"),
        (lambda: for_group(zCDP(1.0), 10**200), "size"),
        (lambda: for_group(GDP(1.0), 10**400), "size"),
        (lambda: for_group(PureDP(1e300), 10**10), "size"),
        (lambda: for_group(ApproxDP(400.0, 1e-310), 3), "size"),
    ],
)
def test_beyond_the_floats(build: Any, argument: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        build()
    assert caught.value.argument == argument
    assert "\n" not in str(caught.value)


def test_a_tiny_shift_is_not_pure_privacy() -> None:
    assert compose([GDP(1e-200), zCDP(0.0)]).epsilon_at(0.0) == math.inf
    assert compose([GDP(5e-324), GDP(5e-324)]).mu > 5e-324  # type: ignore[attr-defined]


def test_an_exponential_beyond_the_floats_times_a_small_probability() -> None:
    # 1 - e^700 1e-305
    exact = 1 - math.exp(700 - 305 * math.log(10))
    assert hockey_stick_divergence([1.0, 0.0], [1e-305, 1.0], epsilon=700.0) == pytest.approx(
        exact, rel=1e-12
    )
    assert hockey_stick_divergence([1.0, 0.0], [0.0, 1.0], epsilon=1e300) == 1.0


def test_two_randomized_responses_with_large_losses() -> None:
    # near the sum of both, delta is (1 - e^(epsilon - sum)) times nearly 1
    found = compose_profiles([PureDP(200.0), PureDP(150.3)])
    for epsilon in np.linspace(340.0, 350.3, 200).tolist():
        assert found.privacy_profile(epsilon) >= -math.expm1(epsilon - 350.3)


def test_sampling_one_of_very_many_is_monotone() -> None:
    profile = np.asarray(SampledBatch(10**50, 1, 39.0).privacy_profile(np.linspace(0.0, 2000.0, 4001)))
    assert np.all(np.diff(profile) <= 0)
    assert profile[1200] > 0


def test_gaussians_far_apart_end() -> None:
    # Phi(0) less the other term, density(0) / mu
    assert gaussian_hockey_stick(5e15, 1e8) == pytest.approx(0.5 - 1e-8 / math.sqrt(2 * math.pi), rel=1e-15)


def test_a_users_curve_is_not_asked_for_order_one() -> None:
    asked: list[float] = []

    def curve(order: float) -> float:
        asked.append(order)
        return min(1.0, order / 2) / (order - 1) * (order - 1)

    RDP(curve).privacy_profile(0.5)
    RDP(curve).epsilon_at(1e-5)
    assert min(asked) > 1


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(left=positive, right=positive.filter(bool))
def test_quotients_are_the_least_float_above(left: float, right: float) -> None:
    found, exact = rounding.quotient(left, right), Fraction(left) / Fraction(right)
    assert found == math.inf or Fraction(found) >= exact
    assert exact == 0 or Fraction(math.nextafter(found, 0.0)) < exact
