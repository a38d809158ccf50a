"""What every guarantee promises: bounds on the right side, laws of profiles, readable names."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from dp_accounting import gaussian_mechanism
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.privacy import (
    FDP,
    GDP,
    RDP,
    Adjacency,
    ApproxDP,
    Condition,
    ConditionKind,
    Guarantee,
    ProfileDP,
    ProtectedRecords,
    PureDP,
    StatedGuarantee,
    gaussian_tradeoff,
    tCDP,
    zCDP,
)
from dpverify.privacy.renyi import LinearCurve


def gaussian_curve(alpha: np.ndarray[Any, Any]) -> Any:
    return gaussian_tradeoff(alpha, 1.0)


EVERY: list[Guarantee] = [
    PureDP(0.0),
    PureDP(1.0),
    PureDP(30.0),
    ApproxDP(1.0, 1e-5),
    ApproxDP(0.0, 0.3),
    GDP(0.0),
    GDP(1.0),
    GDP(7.0),
    RDP.linear(0.0),
    RDP.linear(0.5),
    RDP.linear(1e-12),
    RDP.point(8.0, 0.3),
    RDP(lambda order: 0.5 * order, label="user's curve"),
    RDP(LinearCurve(0.5), orders=(1.5, 2.0, 4.0, 8.0)),
    zCDP(0.5),
    tCDP(0.5, 3.0),
    FDP(gaussian_curve),
    ProfileDP(GDP(1.0).privacy_profile),
]
EPSILONS = np.array([0.0, 1e-9, 0.01, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 40.0])
LEVELS = np.array([0.0, 1e-9, 0.01, 0.2, 0.5, 0.9, 1.0])

each = pytest.mark.parametrize("guarantee", EVERY, ids=str)


@each
def test_a_profile_falls_and_is_a_delta(guarantee: Guarantee) -> None:
    deltas = guarantee.privacy_profile(EPSILONS)
    assert isinstance(deltas, np.ndarray)
    assert np.all((deltas >= 0) & (deltas <= 1))
    assert np.all(np.diff(deltas) <= 1e-12)
    assert guarantee.privacy_profile(1.0) == pytest.approx(float(deltas[4]), rel=1e-12)
    assert isinstance(guarantee.privacy_profile(1), float)
    assert guarantee.privacy_profile(math.inf) <= float(deltas[-1])
    assert guarantee.privacy_profile(EPSILONS.reshape(2, 5)).shape == (2, 5)  # type: ignore[union-attr]
    assert guarantee.privacy_profile([]).shape == (0,)  # type: ignore[union-attr]


@each
def test_a_tradeoff_function_is_one(guarantee: Guarantee) -> None:
    errors = guarantee.tradeoff_function(LEVELS)
    assert isinstance(errors, np.ndarray)
    assert np.all((errors >= 0) & (errors <= 1 - LEVELS + 1e-15))
    assert np.all(np.diff(errors) <= 1e-12)
    assert isinstance(guarantee.tradeoff_function(0.5), float)


@each
def test_weak_duality(guarantee: Guarantee) -> None:
    # for every eps and alpha: f(alpha) >= 1 - delta(eps) - e^eps alpha, on both curves of one guarantee
    deltas, errors = guarantee.privacy_profile(EPSILONS), guarantee.tradeoff_function(LEVELS)
    line = 1 - np.asarray(deltas)[:, None] - np.exp(EPSILONS)[:, None] * LEVELS
    assert np.all(np.asarray(errors) >= line - 1e-9)


@pytest.mark.parametrize("guarantee", [g for g in EVERY if not isinstance(g, (RDP, zCDP, tCDP))], ids=str)
def test_exact_profiles_are_convex_in_the_ratio(guarantee: Guarantee) -> None:
    # a bound minimized over Renyi orders need not be convex, so those are left out
    ratio = np.linspace(1, 30, 200)
    deltas = np.asarray(guarantee.privacy_profile(np.log(ratio)))
    assert np.all(np.diff(deltas, 2) >= -1e-12)


@pytest.mark.one_in(3)
@each
@pytest.mark.parametrize("delta", [0.0, 1e-12, 1e-5, 0.1, 0.7])
def test_epsilon_at_inverts_the_profile(guarantee: Guarantee, delta: float) -> None:
    epsilon = guarantee.epsilon_at(delta)
    assert epsilon >= 0
    if epsilon < math.inf:
        assert guarantee.privacy_profile(epsilon) <= delta * (1 + 1e-6) + 1e-300
    if 0 < epsilon < math.inf:
        assert guarantee.privacy_profile(epsilon * (1 - 1e-5)) > delta * (1 - 1e-9)
    if epsilon == math.inf and delta > 0:
        assert guarantee.privacy_profile(1e6) > delta


def test_epsilon_at_of_the_gaussian_is_dp_accountings() -> None:
    for mu in (0.1, 1.0, 5.0):
        for delta in (1e-12, 1e-5, 0.1):
            theirs = gaussian_mechanism.get_epsilon_gaussian(1 / mu, delta)
            assert GDP(mu).epsilon_at(delta) == pytest.approx(theirs, rel=1e-9, abs=1e-11)


def laplace_divergence(epsilon: float, scale: float) -> float:
    """Hockey-stick divergence of Laplace noise at sensitivity 1, by quadrature."""
    p, q = stats.laplace(0, scale), stats.laplace(1, scale)
    crossing = (1 - scale * epsilon) / 2
    return float(
        integrate.quad(
            lambda x: max(0.0, p.pdf(x) - math.exp(epsilon) * q.pdf(x)), -60, 2, points=[0, crossing, 1]
        )[0]
    )


@pytest.mark.parametrize("claimed", [0.5, 1.0, 2.0])
def test_laplace_noise_respects_pure_dp_and_half_the_noise_does_not(claimed: float) -> None:
    guarantee = PureDP(claimed)
    for epsilon in (0.0, 0.3 * claimed, claimed):
        bound = guarantee.privacy_profile(epsilon)
        assert laplace_divergence(epsilon, 1 / claimed) <= bound + 1e-7
    # the planted fault: half the scale
    assert laplace_divergence(claimed, 0.5 / claimed) > guarantee.privacy_profile(claimed) + 0.05


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
def test_renyi_bounds_lie_above_the_exact_gaussian_profile_and_root_two_below(mu: float) -> None:
    exact = np.asarray(GDP(mu).privacy_profile(EPSILONS))
    bounds = [RDP.linear(mu**2 / 2), zCDP(mu**2 / 2), tCDP(mu**2 / 2, 5.0), RDP.point(4.0, 2 * mu**2)]
    for guarantee in bounds:
        assert np.all(np.asarray(guarantee.privacy_profile(EPSILONS)) >= exact)
        assert np.all(
            np.asarray(guarantee.tradeoff_function(LEVELS)) <= gaussian_tradeoff(LEVELS, mu) + 1e-12
        )
    # the planted fault: slope mu^2 / 4, as if the noise were root two larger
    assert np.any(np.asarray(RDP.linear(mu**2 / 4).privacy_profile(EPSILONS)) < exact)


def test_the_continuous_search_beats_a_fine_grid_of_orders() -> None:
    orders = (1 + np.geomspace(0.02, 1e4, 4000)).tolist()
    rdp = [0.5 * order for order in orders]
    for epsilon in (0.0, 0.1, 1.0, 5.0, 20.0):
        theirs, _ = rdp_privacy_accountant.compute_delta([1.0, *orders], [0.5, *rdp], epsilon)
        assert RDP.linear(0.5).privacy_profile(epsilon) <= theirs * (1 + 1e-9)
        # theirs leaves out what the event's complement says, which counts where delta is large
        if epsilon >= 5:
            assert RDP.linear(0.5).privacy_profile(epsilon) == pytest.approx(theirs, rel=1e-4)
        else:
            assert RDP.linear(0.5).privacy_profile(epsilon) < 0.999 * theirs
    for delta in (1e-10, 1e-5, 0.1):
        eps, _ = rdp_privacy_accountant.compute_epsilon(orders, rdp, delta)
        loose = 0.2 if delta == 0.1 else 1e-4
        assert eps * (1 - loose) <= RDP.linear(0.5).epsilon_at(delta) <= eps * (1 + 1e-9)


def test_stronger_claims_have_lower_profiles() -> None:
    chains: list[list[Guarantee]] = [
        [PureDP(0.5), PureDP(1.0), ApproxDP(1.0, 1e-5), ApproxDP(1.0, 1e-3)],
        [GDP(0.5), GDP(1.0), zCDP(0.5), tCDP(0.5, 4.0), tCDP(0.5, 2.0)],
        [RDP.point(16.0, 0.3), RDP.point(8.0, 0.3), RDP.point(8.0, 0.4)],
    ]
    for chain in chains:
        for stronger, weaker in itertools.pairwise(chain):
            below = np.asarray(stronger.privacy_profile(EPSILONS))
            assert np.all(below <= np.asarray(weaker.privacy_profile(EPSILONS)) * (1 + 1e-9))


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(claimed=st.floats(0, 20), delta=st.floats(0, 0.999), target=st.floats(0, 0.999))
def test_approximate_dp_inverts_exactly(claimed: float, delta: float, target: float) -> None:
    guarantee = ApproxDP(claimed, delta)
    epsilon = guarantee.epsilon_at(target)
    if target < delta:
        assert epsilon == math.inf
    else:
        assert epsilon <= claimed
        assert guarantee.privacy_profile(epsilon) <= target


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(mu=st.floats(0.01, 8), flip=st.floats(0, 1))
def test_post_processing_only_helps(mu: float, flip: float) -> None:
    # a threshold test of the Gaussian pair, its answer then flipped with a probability
    level = 0.2
    p = np.array([level, 1 - level])
    q = np.array([1 - gaussian_tradeoff(level, mu), gaussian_tradeoff(level, mu)])
    channel = np.array([[1 - flip, flip], [flip, 1 - flip]])
    for epsilon in (0.0, 0.5, 2.0):
        for first, second in ((p, q), (q, p)):
            out = np.maximum(0, first @ channel - math.exp(epsilon) * (second @ channel)).sum()
            assert out <= GDP(mu).privacy_profile(epsilon) + 1e-12


@pytest.mark.parametrize(
    ("guarantee", "shown"),
    [
        (PureDP(1), "1-DP"),
        (ApproxDP(1, 1e-5), "(1, 1e-05)-DP"),
        (GDP(0.5), "0.5-GDP"),
        (RDP.linear(0.5), "(order, 0.5*order)-RDP"),
        (RDP.point(8, 0.3), "(8, 0.3)-RDP"),
        (RDP(lambda order: order), "RDP curve"),
        (zCDP(0.5), "0.5-zCDP"),
        (tCDP(0.5, 10), "(0.5, 10)-tCDP"),
        (FDP(gaussian_curve), "f-DP"),
        (FDP(gaussian_curve, "mine"), "mine"),
        (ProfileDP(GDP(1.0).privacy_profile, "composed"), "composed"),
        (StatedGuarantee(PureDP(1), Adjacency.REPLACE_ONE), "1-DP (replace-one)"),
        (StatedGuarantee(GDP(1), Adjacency.INDEX, index=3, local=True), "1-GDP (record 3, local)"),
        (
            StatedGuarantee(PureDP(1), Adjacency.REPLACE_ONE, protected=ProtectedRecords(public_last=2)),
            "1-DP (replace-one, all records but the last 2)",
        ),
        (
            StatedGuarantee(
                PureDP(1),
                Adjacency.REPLACE_ONE,
                conditions=(Condition(ConditionKind.NEVER_REFUSED, "one without a certificate is"),),
            ),
            "1-DP (replace-one, if no run is refused)",
        ),
    ],
)
def test_names(guarantee: Guarantee, shown: str) -> None:
    assert str(guarantee) == shown


def test_guarantees_are_values() -> None:
    assert PureDP(1) == PureDP(1.0)
    assert {GDP(1), GDP(1.0)} == {GDP(1)}
    assert RDP.linear(0.5) == RDP.linear(0.5) != RDP.linear(0.6)
    assert pickle.loads(pickle.dumps(RDP.point(8, 0.3))) == RDP.point(8, 0.3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        GDP(1).mu = 2  # type: ignore[misc]


BAD_NUMBERS: list[Any] = [
    -1.0,
    -1e-300,
    math.nan,
    -math.inf,
    True,
    "1",
    None,
    1j,
    [1.0],
    np.array([1.0]),
    10**400,
]


@pytest.mark.parametrize("bad", [*BAD_NUMBERS, math.inf], ids=repr)
@pytest.mark.parametrize(
    "build",
    [
        PureDP,
        GDP,
        zCDP,
        RDP.linear,
        lambda x: ApproxDP(x, 1e-5),
        lambda x: tCDP(x, 2.0),
        lambda x: RDP.point(2.0, x),
    ],
)
def test_bad_parameters(build: Any, bad: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        build(bad)
    build(0.0)
    build(-0.0)
    build(np.float32(1.0))


@pytest.mark.parametrize("bad", [*BAD_NUMBERS, math.inf, 1.0, 2.0], ids=repr)
def test_bad_deltas(bad: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        ApproxDP(1.0, bad)
    for guarantee in (
        PureDP(1.0),
        ApproxDP(1.0, 0.1),
        GDP(1.0),
        zCDP(1.0),
        ProfileDP(GDP(1).privacy_profile),
    ):
        with pytest.raises(InvalidArgumentError):
            guarantee.epsilon_at(bad)


@pytest.mark.parametrize("bad", [*BAD_NUMBERS, math.inf, 1.0, 0.5], ids=repr)
def test_bad_orders(bad: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        tCDP(1.0, bad)
    with pytest.raises(InvalidArgumentError):
        RDP.point(bad, 1.0)


@pytest.mark.parametrize(
    "bad", [-1.0, math.nan, [0.5, math.nan], True, "1", None, [[1.0], [1.0, 2.0]]], ids=repr
)
@each
def test_bad_arguments_of_curves(guarantee: Guarantee, bad: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        guarantee.privacy_profile(bad)
    with pytest.raises(InvalidArgumentError):
        guarantee.tradeoff_function(bad)
    with pytest.raises(InvalidArgumentError):
        guarantee.tradeoff_function(1.5)


@pytest.mark.parametrize(
    "build",
    [
        lambda: RDP(1.0),  # type: ignore[arg-type]
        lambda: RDP(lambda order: order, orders=()),
        lambda: RDP(lambda order: order, orders=(0.5,)),
        lambda: RDP(lambda order: order, orders=(math.nan,)),
        lambda: FDP(0.5),  # type: ignore[arg-type]
        lambda: FDP(lambda alpha: alpha),
        lambda: FDP(lambda alpha: 1 - alpha**2),
        lambda: FDP(lambda alpha: (1 - alpha) * (alpha < 0.5)),
        lambda: ProfileDP(0.5),  # type: ignore[arg-type]
        lambda: ProfileDP(lambda epsilon: epsilon / 10),
        lambda: StatedGuarantee(1.0, Adjacency.REPLACE_ONE),  # type: ignore[arg-type]
        lambda: StatedGuarantee(GDP(1), "replace-one"),  # type: ignore[arg-type]
        lambda: StatedGuarantee(GDP(1), Adjacency.INDEX),
        lambda: StatedGuarantee(GDP(1), Adjacency.REPLACE_ONE, index=1),
        lambda: StatedGuarantee(GDP(1), Adjacency.INDEX, index=0),
        lambda: StatedGuarantee(GDP(1), Adjacency.INDEX, index=True),
        lambda: StatedGuarantee(GDP(1), Adjacency.REPLACE_ONE, local=1),  # type: ignore[arg-type]
        lambda: StatedGuarantee(GDP(1), Adjacency.REPLACE_ONE, sources="fmtt18.thm23"),  # type: ignore[arg-type]
        lambda: StatedGuarantee(GDP(1), Adjacency.REPLACE_ONE, conditions=None),  # type: ignore[arg-type]
        lambda: StatedGuarantee(GDP(1), Adjacency.REPLACE_ONE, conditions=("given",)),  # type: ignore[arg-type]
        lambda: StatedGuarantee(GDP(1), Adjacency.REPLACE_ONE, protected="all"),  # type: ignore[arg-type]
        lambda: StatedGuarantee(GDP(1), Adjacency.REPLACE_ONE, protected=ProtectedRecords(only=1)),
        lambda: StatedGuarantee(GDP(1), Adjacency.INDEX, index=1, protected=ProtectedRecords(only=2)),
        lambda: StatedGuarantee(GDP(1), Adjacency.INDEX, index=1, protected=ProtectedRecords(1)),
        lambda: StatedGuarantee(GDP(1), Adjacency.ADD_REMOVE_ONE, protected=ProtectedRecords(1)),
        lambda: Condition("no run is refused"),  # type: ignore[arg-type]
        lambda: Condition(ConditionKind.NEVER_REFUSED, None),  # type: ignore[arg-type]
        lambda: ProtectedRecords(-1),
        lambda: ProtectedRecords(0, 1.5),  # type: ignore[arg-type]
        lambda: ProtectedRecords(only=0),
        lambda: ProtectedRecords(1, only=2),
        lambda: ProtectedRecords().includes(4, 3),
        lambda: ProtectedRecords().includes(0, 3),
    ],
)
def test_bad_guarantees(build: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        build()


@pytest.mark.parametrize(
    "curve", [lambda order: -1.0, lambda order: math.nan, lambda order: "1", lambda order: True]
)
def test_curves_that_are_not_curves(curve: Any) -> None:
    with pytest.raises(InvalidDataError):
        RDP(curve).privacy_profile(1.0)


def test_protected_records_by_place() -> None:
    n = 5
    cases = {
        ProtectedRecords(): [1, 2, 3, 4, 5],
        ProtectedRecords(public_last=2): [1, 2, 3],
        ProtectedRecords(public_first=1, public_last=1): [2, 3, 4],
        ProtectedRecords(public_first=9): [],
        ProtectedRecords(only=4): [4],
    }
    for protected, expected in cases.items():
        assert [k for k in range(1, n + 1) if protected.includes(k, n)] == expected
        stated = (
            None if protected.only else StatedGuarantee(PureDP(1), Adjacency.REPLACE_ONE, protected=protected)
        )
        if stated is not None:
            assert [k for k in range(1, n + 1) if stated.at(k, n) is not None] == expected
            assert protected.is_everyone == (len(expected) == n)


def test_a_guarantee_said_of_one_record_keeps_its_conditions() -> None:
    conditions = (Condition(ConditionKind.NEVER_REFUSED, "x"), Condition(ConditionKind.GIVEN_INPUT))
    stated = StatedGuarantee(
        GDP(1), Adjacency.REPLACE_ONE, local=True, sources=("fmtt18.lem27",), conditions=conditions
    )
    found = stated.at(2, 3)
    assert found == StatedGuarantee(
        GDP(1), Adjacency.INDEX, index=2, local=True, sources=("fmtt18.lem27",), conditions=conditions
    )
    assert found.at(2, 3) == found
    assert found.at(1, 3) is None
    assert StatedGuarantee(GDP(1), Adjacency.ADD_REMOVE_ONE).at(1, 3) is None
