"""Checks of gradients, accountants, guarantees: the project's own objects pass, planted faults are found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dpverify.auditing.accountants import NoisyReleases
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import (
    FDP,
    GDP,
    ApproxDP,
    Guarantee,
    PureDP,
    for_group,
    gaussian_hockey_stick,
    tCDP,
    zCDP,
)
from dpverify.problems import (
    Ball,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Loss,
    Ridge,
    Squared,
)
from dpverify.properties import (
    check_accountant,
    check_duality,
    check_gradient,
    check_group_privacy,
    check_scaling,
)

# ------------------------------------------------------------------------------------------- gradients

BALL = Ball(3, 5.0)
LOSSES: list[Loss] = [
    Linear(), Logistic(), Hinge(), Squared.on(BALL), EuclideanDistance(), HalfSquaredDistance.on(BALL),
    Ridge.on(BALL, Logistic(), 0.3),
]  # fmt: skip
X, Y = np.array([0.6, -0.5, 0.3]), np.asarray(1.0)


def of_one_point(loss: Loss) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    return lambda w: loss.value(w[None], X, Y)[0], lambda w: loss.gradient(w[None], X, Y)[0]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_the_projects_own_gradients_are_those_of_their_losses(loss: Loss) -> None:
    check_gradient(*of_one_point(loss), dimension=3, points=100)


@pytest.mark.parametrize("fault", [0.999, -1.0, 0.5, 1.001])
def test_a_gradient_off_by_a_factor_is_found(fault: float) -> None:
    value, gradient = of_one_point(Logistic())
    with pytest.raises(AssertionError, match="not that of the function"):
        check_gradient(value, lambda w: fault * gradient(w), dimension=3)


def test_gradients_of_what_is_not_convex() -> None:
    def waves(w: Any) -> float:
        return float(np.sin(w).sum())

    check_gradient(waves, np.cos, dimension=3, convex=False)
    with pytest.raises(AssertionError, match="central differences"):
        check_gradient(waves, lambda w: np.cos(w) * 1.01, dimension=3, convex=False)
    with pytest.raises(AssertionError, match="promises"):  # said to be convex
        check_gradient(waves, np.cos, dimension=3)
    with pytest.raises(AssertionError, match="finite"):
        check_gradient(waves, lambda w: np.cos(w)[:2], dimension=3)


# ------------------------------------------------------------------------------------------- accountants


def exact_gaussian(releases: NoisyReleases, delta: float) -> float:
    return GDP(math.sqrt(releases.steps) / releases.noise_multiplier).epsilon_at(delta)


def concentrated(releases: NoisyReleases, delta: float) -> float:
    return zCDP(releases.steps / releases.noise_multiplier**2 / 2).epsilon_at(delta)


FEW = [NoisyReleases("gaussian", 1.0, 2)]


def test_the_projects_own_accounting_keeps_the_laws() -> None:
    check_accountant(exact_gaussian)
    check_accountant(concentrated, FEW, deltas=(1e-5,))


@pytest.mark.parametrize(
    ("fault", "law"),
    [
        (lambda r, delta: exact_gaussian(r, delta) * 0.999, "less than the releases cost"),
        (lambda r, delta: exact_gaussian(r, 2 * delta), "less than the releases cost"),
        (lambda r, delta: exact_gaussian(r, delta) * (1 + r.steps**2), "subadditive"),
        (lambda r, delta: exact_gaussian(r, 1e-9) + delta, "fall as delta grows"),
        (lambda r, delta: 100 + r.noise_multiplier, "fall as the noise grows"),
        (lambda r, delta: exact_gaussian(r, delta) + 100 / r.steps, "rise with the number"),
        (lambda r, delta: math.nan, "reports epsilon nan"),
    ],
)
def test_a_wrong_accountant_is_found(fault: Any, law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_accountant(fault, FEW)


def test_an_accountant_must_not_ignore_how_often_records_are_sampled() -> None:
    sampled = [NoisyReleases("gaussian", 2.0, 1, 0.3)]
    with pytest.raises(AssertionError, match="rise with the sampling probability"):
        check_accountant(lambda r, delta: exact_gaussian(r, delta) / r.sampling_probability, sampled)


# ------------------------------------------------------------------------------------------- duality


@pytest.mark.parametrize(
    ("guarantee", "points"),
    [
        (PureDP(1.0), 33),
        (ApproxDP(0.5, 1e-3), 33),
        (GDP(1.0), 33),
        (FDP(lambda alpha: GDP(0.5).tradeoff_function(alpha)), 5),
        (zCDP(0.5), 5),
        (tCDP(0.1, 8.0), 5),
    ],
    ids=str,
)
def test_the_projects_own_guarantees_are_dual(guarantee: Guarantee, points: int) -> None:
    check_duality(guarantee, points=points)


@dataclass(frozen=True)
class Two:
    """A profile and a trade-off function that need not belong together."""

    privacy_profile: Any
    tradeoff_function: Any


def two(profile: Guarantee, tradeoff: Any) -> Any:
    return Two(profile.privacy_profile, tradeoff)


@pytest.mark.parametrize(
    ("wrong", "law"),
    [
        (two(GDP(1.0), GDP(0.999).tradeoff_function), "claims more"),
        (two(GDP(1.0), GDP(1.001).tradeoff_function), "weaker"),
        (two(GDP(1.0), lambda a: 1.1 - a), "between 0 and 1 - alpha"),
        (two(GDP(1.0), lambda a: np.where(a < 0.5, 0.0, 0.3 * (1 - a))), "not rise"),
        (two(GDP(1.0), lambda a: np.where(a < 0.5, 0.5, 0.5 * (1 - a))), "be convex"),
        (two(PureDP(1.0), GDP(1.0).tradeoff_function), "claims more|weaker"),
    ],
)
def test_a_trade_off_function_that_is_not_the_dual_is_found(wrong: Any, law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_duality(wrong)


# ------------------------------------------------------------------------------------------- groups, scaling


def gaussian(mu: float) -> Any:
    return lambda epsilon: gaussian_hockey_stick(epsilon, mu)


GROUPS: list[tuple[Guarantee, Any]] = [
    (PureDP(0.5), lambda k: PureDP(0.5 * k).privacy_profile),
    (ApproxDP(0.5, 1e-3), None),
    (GDP(0.7), lambda k: gaussian(0.7 * k)),
    (zCDP(0.18), lambda k: gaussian(0.6 * k)),
]


@pytest.mark.parametrize(("guarantee", "exact"), GROUPS, ids=lambda value: str(value)[:12])
def test_the_projects_own_guarantees_for_groups(guarantee: Guarantee, exact: Any) -> None:
    check_group_privacy(guarantee, exact=exact)


@pytest.mark.parametrize(
    ("fault", "law"),
    [
        (lambda g, k: zCDP(k * g.rho), "cover a mechanism"),  # composition in place of a group
        (lambda g, k: zCDP(2 * k**2 * g.rho), "guarantee itself"),
        (lambda g, k: zCDP(g.rho * (k**2 if k < 3 else 1)), "not fall"),
        (lambda g, k: zCDP(g.rho * (k**2 + (k > 3))), "groups of 2 in groups of 2"),
    ],
)
def test_a_wrong_guarantee_for_groups_is_found(fault: Any, law: str) -> None:
    guarantee, exact = GROUPS[-1]
    with pytest.raises(AssertionError, match=law):
        check_group_privacy(guarantee, group=fault, exact=exact)
    assert for_group(guarantee, 2) == zCDP(0.72)


def test_scaling_laws_hold_and_faults_break_them() -> None:
    check_scaling(lambda sensitivity, noise: GDP(sensitivity / noise))
    check_scaling(lambda sensitivity, noise: PureDP(sensitivity / noise))
    for fault, law in (
        (lambda s, n: GDP(s**2 / n), "stay the same in a unit"),
        (lambda s, n: GDP(s * n), "fall as the noise grows"),
        (lambda s, n: GDP(1 / (s * n)), "rise with the sensitivity"),
        (lambda s, n: PureDP(s / n + 0.01), None),
        (lambda s, n: PureDP(s / (n + 1)), "stay the same in a unit"),
    ):
        if law is None:
            check_scaling(fault)  # an additive constant without a unit breaks none of them
            continue
        with pytest.raises(AssertionError, match=law):
            check_scaling(fault)


def test_bad_arguments_are_refused() -> None:
    for call in (
        lambda: check_gradient(np.sum, np.cos, dimension=0),
        lambda: check_accountant(exact_gaussian, ["gaussian"]),  # type: ignore[list-item]
        lambda: check_accountant(exact_gaussian, deltas=(0.0,)),
        lambda: check_duality("eps=1"),  # type: ignore[arg-type]
        lambda: check_duality(GDP(1.0), within=0.0),
        lambda: check_group_privacy(GDP(1.0), largest=1),
        lambda: check_scaling(lambda s, n: GDP(1.0), noises=(0.0,)),
    ):
        with pytest.raises(InvalidArgumentError):
            call()
