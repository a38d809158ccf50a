"""Profiles and epsilons of every guarantee, out to where floats overflow, underflow and cancel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpverify.errors import InvalidArgumentError
from dpverify.privacy import (
    FDP,
    GDP,
    RDP,
    ApproxDP,
    Guarantee,
    NoisyIteration,
    ProfileDP,
    PureDP,
    SampledGaussian,
    compose,
    compose_profiles,
    gaussian_hockey_stick,
    gaussian_tradeoff,
    tCDP,
    tradeoff_to_profile,
    zCDP,
)
from dpverify.privacy.batch_sampling import SampledBatch, SampledBatches
from dpverify.privacy.forms.approximate import ApproxGDP, ApproxzCDP, BoundedRange
from dpverify.privacy.forms.tables import LossDistribution, ProfilePoints
from dpverify.privacy.gaussian import gaussian_hockey_stick_from_above
from dpverify.privacy.renyi import LinearCurve, delta_from_renyi, epsilon_from_renyi

EPSILONS = np.array([0.0, 1.0, 50.0, 700.0, 800.0, 1e4, math.inf])
MANY = np.append(np.linspace(0.0, 1e4, 101), math.inf)
DELTAS = (0.0, 1e-300, 1e-30, 1e-5, 0.5, 0.999)
ROUNDING = 1e-12
"""By how much rounding may make a computed profile rise; what is stated for each class is less."""


def gaussian_fdp(mu: float) -> FDP:
    return FDP(lambda alpha: gaussian_tradeoff(alpha, mu), f"f-DP of a Gaussian with mu = {mu:g}")


def from_profile(guarantee: Guarantee) -> ProfileDP:
    return ProfileDP(guarantee.privacy_profile, f"profile of {guarantee}")


epsilons = st.one_of(st.floats(0, 10), st.floats(0, 1e6), st.just(1e308))
deltas = st.one_of(st.floats(0, 0.999), st.sampled_from([0.0, 1e-300, 1e-5]))
mus = st.one_of(st.floats(0, 10), st.floats(0, 100), st.sampled_from([0.0, 1e-300, 1e-9, 1e5, 1e200]))
slopes = st.one_of(st.floats(0, 10), st.sampled_from([0.0, 1e-300, 1e-20, 1e4, 1e300]))
orders = st.one_of(st.floats(1.001, 100), st.sampled_from([1.0001, 1e6]))
batches = st.builds(
    lambda n, part, mu, replacement: SampledBatch(n, max(1, round(part * n)), mu, replacement),
    st.integers(1, 1000),
    st.floats(0, 1),
    st.one_of(st.floats(0, 3), st.sampled_from([0.0, 1e-300, 1e-9, 39.0])),
    st.booleans(),
)
closed_forms = st.one_of(
    st.builds(PureDP, epsilons),
    st.builds(ApproxDP, epsilons, deltas),
    st.builds(GDP, mus),
    st.builds(zCDP, slopes),
    st.builds(tCDP, slopes, orders),
    st.builds(RDP.linear, slopes),
    st.builds(RDP.point, orders, st.one_of(st.floats(0, 10), st.just(1e6))),
    st.builds(lambda slope: RDP(LinearCurve(slope), orders=(1.0, 1.5, 4.0)), slopes),
    st.builds(gaussian_fdp, st.floats(0, 30)),
)
guarantees = st.one_of(
    closed_forms,
    closed_forms.map(from_profile),
    batches,
    st.builds(
        SampledGaussian,
        st.one_of(st.integers(2, 100), st.just(10**6)),
        st.integers(1, 100),
        st.one_of(st.floats(0.05, 10), st.sampled_from([0.05, 1e3, 1e10])),
    ),
    st.builds(lambda part, count: SampledBatches(((part, count),)), batches, st.integers(1, 20)),
    st.builds(lambda mu, rho: compose([GDP(mu), zCDP(rho), RDP.point(8, 0.3)]), st.floats(0, 30), slopes),
    st.builds(
        lambda mu, pair: compose_profiles([GDP(mu), pair], discretization=0.05),
        st.floats(0, 25),
        st.builds(ApproxDP, st.floats(0, 100), deltas),
    ),
    st.builds(
        lambda distance: NoisyIteration(np.zeros(5), 1.0, initial_distance=distance).gdp(), st.floats(0, 100)
    ),
)
EXAMPLES: tuple[Guarantee | str, ...] = (
    PureDP(800.0),
    ApproxDP(900.0, 1e-300),
    GDP(20.0),
    GDP(1e200),
    zCDP(1e-20),
    ApproxGDP(1.0, 1e-6),
    ApproxGDP(1e200, 1e-300),
    ApproxzCDP(1e-20, 1e-6),
    BoundedRange(800.0),
    BoundedRange(1e-300),
    ProfilePoints(((0.0, 0.5), (1.0, 1e-5))),
    ProfilePoints(((700.0, 0.0),)),
    LossDistribution((((-1.0, 0.5, 800.0), (0.5, 0.4, 0.05), 0.05),)),
    tCDP(0.5, 1.000001),
    RDP.linear(1e300),
    RDP(LinearCurve(0.5), orders=(1.0,)),
    gaussian_fdp(1.0),
    gaussian_fdp(20.0),
    FDP(lambda alpha: 1 - alpha),
    FDP(lambda alpha: 0 * alpha),
    from_profile(GDP(1.0)),
    SampledGaussian(10, 5, 1.0),
    SampledGaussian(2, 3, 0.05),
    SampledGaussian(10**6, 3, 100.0),
    SampledGaussian(2, 1, 1e10),
    SampledGaussian(10**6, 1, 1e10),
    SampledBatch(10, 3, 1.0),
    SampledBatch(1, 3, 39.0, replacement=True),
    SampledBatches(((SampledBatch(10, 3, 1.0), 4), (SampledBatch(10, 3, 1.0, replacement=True), 2))),
    "composed",
)


@cache
def made(listed: Guarantee | str) -> Guarantee:
    """An example; what is composed is so when it is asked for, not whenever tests are collected."""
    if isinstance(listed, str):
        return compose_profiles([SampledGaussian(10, 5, 1.0), PureDP(1.0)], discretization=0.01)
    return listed


def everywhere_sound(guarantee: Guarantee) -> None:
    """What every guarantee owes at every epsilon and delta."""
    for points in (EPSILONS, MANY):
        profile = np.asarray(guarantee.privacy_profile(points))
        # NaN fails this too
        assert np.all((profile >= 0) & (profile <= 1))
        assert np.all(np.diff(profile) <= ROUNDING)
    for epsilon in EPSILONS.tolist():
        assert 0 <= guarantee.privacy_profile(epsilon) <= 1
    last = math.inf
    for delta in DELTAS:
        found = guarantee.epsilon_at(delta)
        assert 0 <= found <= last
        last = found
        if found < math.inf:
            assert guarantee.privacy_profile(found) <= delta * (1 + 1e-9)


def classes(parent: type[Any]) -> Iterator[type[Any]]:
    for child in parent.__subclasses__():
        if child.__module__.startswith("dpverify.privacy."):
            yield child
            yield from classes(child)


def test_no_class_of_guarantees_is_left_out() -> None:
    every = {child for child in classes(Guarantee) if not getattr(child, "__abstractmethods__", None)}
    assert every == {type(made(listed)) for listed in EXAMPLES}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("listed", EXAMPLES, ids=str)
def test_examples_at_every_epsilon_and_delta(listed: Guarantee | str) -> None:
    everywhere_sound(made(listed))


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(guarantee=guarantees)
def test_every_guarantee_at_every_epsilon_and_delta(guarantee: Guarantee) -> None:
    everywhere_sound(guarantee)


@pytest.mark.parametrize(
    "guarantee",
    [
        GDP(1e-3),
        gaussian_fdp(1.0),
        SampledGaussian(10, 5, 1.0),
        SampledGaussian(10**6, 1, 1e3),
        SampledBatch(10, 3, 1.0),
        SampledBatch(10, 3, 1.0, replacement=True),
    ],
    ids=str,
)
def test_gaussian_noise_never_proves_delta_zero(guarantee: Guarantee) -> None:
    assert guarantee.epsilon_at(0.0) == math.inf
    assert guarantee.epsilon_at(1e-5) < math.inf


def test_no_noise_needed_at_delta_zero_where_nothing_is_released() -> None:
    assert SampledBatch(10, 3, 0.0).epsilon_at(0.0) == 0
    assert RDP.linear(0.0).epsilon_at(0.0) == RDP.linear(0.0).epsilon_at(1e-300) == 0


@pytest.mark.parametrize("mu", [0.01, 1.0, 5.0, 20.0])
def test_a_tradeoff_function_proves_no_smaller_epsilon_than_the_exact_profile(mu: float) -> None:
    exact, found = GDP(mu), gaussian_fdp(mu)
    for delta in (0.0, 1e-300, 1e-30, 1e-18, 1e-16, 1e-15, 1e-14, 3e-14, 1e-13, 1e-9, 1e-5, 0.5, 0.999):
        assert found.epsilon_at(delta) >= exact.epsilon_at(delta) * (1 - 1e-12)
    # and not much larger ones, once delta is above the allowance of 1.6e-14
    for delta in (1e-12, 1e-9, 1e-5):
        assert found.epsilon_at(delta) == pytest.approx(exact.epsilon_at(delta), rel=1e-3, abs=1e-6)
    assert found.epsilon_at(1e-15) == math.inf


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(mu=st.floats(0.001, 30), quantile=st.floats(-8, 38), reverse=st.booleans())
def test_a_tradeoff_function_never_proves_a_smaller_delta(mu: float, quantile: float, reverse: bool) -> None:
    # most of the epsilons lie where the exact delta is far below the rounding of 1
    epsilon = max(0.0, mu * (quantile + mu / 2))
    profile = tradeoff_to_profile(lambda alpha: gaussian_tradeoff(alpha, mu), reverse=reverse)
    exact = gaussian_hockey_stick(epsilon, mu)
    assert exact <= float(profile(epsilon)) <= exact * (1 + 1e-6) + 1e-13


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(claimed=st.floats(0, 40), delta=st.one_of(st.just(0.0), st.floats(0, 0.9)), part=st.floats(0, 2))
def test_a_tradeoff_function_with_corners_never_proves_a_smaller_delta(
    claimed: float, delta: float, part: float
) -> None:
    pair = ApproxDP(claimed, delta)
    for reverse in (False, True):
        profile = tradeoff_to_profile(pair.tradeoff_function, reverse=reverse)
        assert float(profile(part * claimed)) >= pair.privacy_profile(part * claimed)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(mu=st.one_of(st.floats(0, 40), st.floats(0, 1e5)), quantile=st.floats(-8, 37))
@example(mu=39_000.0, quantile=0.0)
@example(mu=39_000.0, quantile=30.0)
def test_plain_floats_stay_above_the_exact_divergence(mu: float, quantile: float) -> None:
    epsilon = max(0.0, mu * (quantile + mu / 2))
    found = float(gaussian_hockey_stick_from_above(np.array(epsilon), mu))
    assert found >= gaussian_hockey_stick(epsilon, mu)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(
    slope=st.one_of(st.floats(1e-9, 10), st.floats(10, 1e6)),
    delta=st.floats(-300, -1e-3).map(lambda exponent: 10**exponent),
)
def test_renyi_epsilons_are_rounded_up(slope: float, delta: float) -> None:
    curve = LinearCurve(slope)
    epsilon = epsilon_from_renyi(curve, delta)
    assert float(delta_from_renyi(curve, epsilon)) <= delta * (1 + 1e-12)


def test_a_composition_of_gaussians_with_large_losses_is_close_to_the_exact_one() -> None:
    exact, found = GDP(20.0), compose_profiles([GDP(20.0)], discretization=0.01)
    # losses up to 350 nats cost 3e-13 of delta for rounding
    for delta in (1e-8, 1e-5, 0.5, 0.999):
        epsilon = found.epsilon_at(delta)
        assert exact.epsilon_at(delta) <= epsilon <= exact.epsilon_at(delta) * (1 + 1e-5)
    at = np.array([0.0, 100.0, 200.0, 300.0, 340.0])
    assert np.all(np.asarray(found.privacy_profile(at)) >= np.asarray(exact.privacy_profile(at)))


def test_the_step_of_the_loss_grid_grows_with_the_losses() -> None:
    # equal parts, since one grid of 100,000 losses takes seconds
    exact, found = GDP(8.0), compose_profiles([GDP(4 * math.sqrt(2))] * 2)
    for delta in (1e-10, 0.5):
        epsilon = found.epsilon_at(delta)
        assert exact.epsilon_at(delta) <= epsilon <= exact.epsilon_at(delta) * (1 + 1e-5)


@pytest.mark.parametrize("part", [GDP(60.0), GDP(33.0), PureDP(800.0), RDP.point(1.02, 0.3)], ids=str)
def test_losses_beyond_the_floats_are_refused_unless_they_are_given_up(part: Guarantee) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^guarantees was .* unless largest_loss says") as caught:
        compose_profiles([part])
    assert "\n" not in str(caught.value)
    # the user's own limit is taken, and what lies beyond counts as an infinite loss
    cut = compose_profiles([part], discretization=0.5, largest_loss=600.0)
    assert cut.privacy_profile(math.inf) == pytest.approx(part.privacy_profile(600.0), rel=1e-9)


def test_what_is_left_at_infinity_is_not_taken_for_truncation() -> None:
    found = compose_profiles([ApproxDP(60.0, 0.3)], discretization=0.01)
    assert found.privacy_profile(math.inf) == pytest.approx(0.3, rel=1e-12)
    assert found.epsilon_at(0.5) == pytest.approx(ApproxDP(60.0, 0.3).epsilon_at(0.5), rel=1e-6)


def test_sampled_steps_compose_with_others() -> None:
    steps = SampledGaussian(10, 5, 1.0)
    found = compose_profiles([steps], discretization=1e-3)
    for epsilon in (0.0, 0.5, 2.0, 5.0):
        exact: Any = steps.privacy_profile(epsilon)
        assert exact <= found.privacy_profile(epsilon) <= exact * (1 + 1e-4) + 1e-13
