"""Composition in closed form and through privacy loss distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.errors import InvalidArgumentError
from dpverify.privacy import (
    FDP,
    GDP,
    RDP,
    ApproxDP,
    Guarantee,
    ProfileDP,
    PureDP,
    compose,
    compose_profiles,
    for_group,
    gaussian_tradeoff,
    hockey_stick_divergence,
    tCDP,
    zCDP,
)
from dpverify.privacy.composition import loss_distribution

EPSILONS = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 4.0])


@pytest.mark.parametrize(
    ("parts", "total"),
    [
        ([PureDP(1), PureDP(0.5)], PureDP(1.5)),
        ([PureDP(1), ApproxDP(0.5, 1e-5)], ApproxDP(1.5, 1e-5)),
        ([GDP(3), GDP(4)], GDP(5)),
        ([zCDP(0.5), zCDP(0.25)], zCDP(0.75)),
        ([tCDP(0.5, 4), tCDP(0.25, 8)], tCDP(0.75, 4)),
        ([RDP.linear(0.5), RDP.linear(0.25)], RDP.linear(0.75)),
        ([GDP(1), zCDP(0.5), RDP.linear(1)], RDP.linear(2)),
    ],
)
def test_closed_forms(parts: list[Guarantee], total: Guarantee) -> None:
    assert compose(parts) == total
    assert compose(reversed(parts)) == total


def test_renyi_curves_add_up_pointwise() -> None:
    total = compose([RDP.point(8, 0.3), RDP.linear(0.1), tCDP(0.1, 4)])
    assert isinstance(total, RDP)
    assert total.curve(3.0) == pytest.approx(0.3 + 0.3 + 0.3)
    assert total.curve(5.0) == math.inf
    assert total.privacy_profile(2.0) < 0.5
    shared = compose([RDP(lambda order: order, (2.0, 3.0)), RDP(lambda order: order, (3.0, 4.0))])
    assert isinstance(shared, RDP)
    assert shared.orders == (3.0,)


def test_gaussians_compose_to_a_gaussian_through_loss_distributions() -> None:
    exact = np.asarray(GDP(1.0).privacy_profile(EPSILONS))
    found = np.asarray(compose_profiles([GDP(0.1)] * 100).privacy_profile(EPSILONS))
    assert np.all(found >= exact)
    assert found == pytest.approx(exact, rel=1e-5)
    # the planted fault: ninety-nine of them
    fewer = np.asarray(compose_profiles([GDP(0.1)] * 99).privacy_profile(EPSILONS))
    assert np.all(fewer[1:] < exact[1:])


def test_randomized_response_composes_to_the_binomial() -> None:
    k, bound = 10, 0.25  # a multiple of the grid's step, so that nothing is rounded
    truth = math.exp(bound) / (1 + math.exp(bound))
    p = [math.comb(k, j) * truth**j * (1 - truth) ** (k - j) for j in range(k + 1)]
    found = compose_profiles([PureDP(bound)] * k, discretization=2.0**-12)
    for epsilon in EPSILONS.tolist():
        exact = hockey_stick_divergence(p, p[::-1], epsilon=epsilon)
        assert found.privacy_profile(epsilon) == pytest.approx(exact, abs=1e-12)


def test_one_part_stays_itself_up_to_the_grid() -> None:
    for part in (
        PureDP(1.0),
        ApproxDP(0.5, 1e-3),
        GDP(2.0),
        FDP(lambda level: gaussian_tradeoff(level, 1.0)),
    ):
        exact = np.asarray(part.privacy_profile(EPSILONS))
        found = np.asarray(compose_profiles([part], discretization=1e-3).privacy_profile(EPSILONS))
        assert np.all(found >= exact - 1e-14)
        assert found == pytest.approx(exact, abs=2e-6)


def test_unlike_parts() -> None:
    total = compose_profiles([ApproxDP(1.0, 1e-5), GDP(1.0), zCDP(0.02)], discretization=1e-3)
    deltas = np.asarray(total.privacy_profile(EPSILONS))
    for part in (GDP(1.0), ApproxDP(1.0, 1e-5)):
        assert np.all(deltas >= np.asarray(part.privacy_profile(EPSILONS)))
    # basic composition of what each proves at its own share of delta
    share = 1e-6
    basic = 1.0 + GDP(1.0).epsilon_at(share) + zCDP(0.02).epsilon_at(share)
    assert total.privacy_profile(basic) <= 1e-5 + 2 * share


def test_a_profile_that_is_not_convex_is_corrected_downwards() -> None:
    # the smaller of two bounds is a bound, but not convex
    def profile(epsilon: Any) -> Any:
        return np.minimum(np.asarray(PureDP(2.0).privacy_profile(epsilon)), 0.5)

    found = compose_profiles([ProfileDP(profile)], discretization=1e-3)
    deltas = np.asarray(found.privacy_profile(EPSILONS))
    assert np.all(deltas <= profile(EPSILONS) + 1e-9)
    # the straight line in e^epsilon from (0, 0.5) to where the pure bound ends
    line = 0.5 * (math.exp(2) - np.exp(EPSILONS)) / (math.exp(2) - 1)
    assert deltas == pytest.approx(np.maximum(line, 0), abs=1e-5)


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(masses=st.lists(st.floats(0.01, 1), min_size=2, max_size=5), seed=st.integers(0, 100))
def test_every_symmetric_finite_pair_lies_under_its_loss_distribution(masses: list[float], seed: int) -> None:
    p = np.array(masses) / sum(masses)
    q = np.random.default_rng(seed).permutation(p)

    def worst(epsilon: Any) -> Any:
        values = [
            max(hockey_stick_divergence(p, q, epsilon=e), hockey_stick_divergence(q, p, epsilon=e))
            for e in epsilon.ravel().tolist()
        ]
        return np.array(values).reshape(epsilon.shape)

    single = loss_distribution(worst, discretization=0.01, largest_loss=6.0)
    twice = single.self_compose(2)
    pp, qq = np.outer(p, p).ravel(), np.outer(q, q).ravel()
    for epsilon in (0.0, 0.013, 0.4, 1.1):
        assert single.get_delta_for_epsilon(epsilon) >= float(worst(np.array(epsilon))) - 1e-12
        assert (
            twice.get_delta_for_epsilon(epsilon) >= hockey_stick_divergence(pp, qq, epsilon=epsilon) - 1e-12
        )


def test_group_privacy() -> None:
    assert for_group(PureDP(0.5), 3) == PureDP(1.5)
    assert for_group(GDP(0.5), 3) == GDP(1.5)
    assert for_group(zCDP(0.5), 3) == zCDP(4.5)
    group = for_group(ApproxDP(0.5, 1e-5), 2)
    assert group.epsilon == 1.0
    assert 0 <= group.delta / (1e-5 * (1 + math.exp(0.5))) - 1 < 1e-15
    # Gaussian noise: two records move the mean twice as far, and the general rule is looser
    rule = for_group(ApproxDP(0.5, float(GDP(0.2).privacy_profile(0.5))), 2)
    assert GDP(0.4).privacy_profile(1.0) <= rule.privacy_profile(1.0)


@pytest.mark.parametrize(
    "parts",
    [
        [],
        None,
        1.0,
        [1.0],
        [PureDP(1), 0.5],
        [PureDP(1), GDP(1)],
        [FDP(lambda level: 1 - level)],
        [ApproxDP(1, 0.6), ApproxDP(1, 0.6)],
        [RDP(lambda order: order, (2.0,)), RDP(lambda order: order, (3.0,))],
    ],
)
def test_bad_lists(parts: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        compose(parts)


@pytest.mark.parametrize(
    "options",
    [
        {"discretization": 0.0},
        {"discretization": math.nan},
        {"discretization": True},
        {"discretization": 1e-9},
        {"largest_loss": 0.0},
        {"largest_loss": math.inf},
        {"guarantees": []},
    ],
)
def test_bad_grids(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        compose_profiles(**{"guarantees": [PureDP(1.0)], "largest_loss": 10.0, **options})


@pytest.mark.parametrize("size", [0, -1, 1.5, True, math.nan, "2"])
def test_bad_groups(size: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        for_group(PureDP(1), size)


def test_groups_without_a_closed_form() -> None:
    with pytest.raises(InvalidArgumentError):
        for_group(RDP.linear(1), 2)
    with pytest.raises(InvalidArgumentError):
        for_group(ApproxDP(1, 0.3), 3)
