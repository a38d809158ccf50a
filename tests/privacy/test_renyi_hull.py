"""Profiles of Renyi curves are convex in e^epsilon, as every privacy profile is, and chords never go too low."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpverify.privacy import GDP, RDP, Guarantee, tCDP, zCDP
from dpverify.privacy import renyi as renyi_curves
from dpverify.privacy.joint_range import _corner, _log_exponential_over, _log_sinh_over
from dpverify.properties import check_guarantee


def jumping(order: float) -> float:
    return 0.5 * order + (0.3 if order > 3 else 0.0)


def bent(order: float) -> float:
    return min(2 * order, 5.0)


FEW = RDP(lambda order: 0.5 * order, orders=(1.5, 2.0, 4.0, 8.0, 32.0))
KINKED = [FEW, RDP(lambda order: 0.02 * order, orders=(2.0, 4.0, 16.0, 64.0))]


@pytest.mark.parametrize("guarantee", [*KINKED, zCDP(0.01), zCDP(0.5), tCDP(2.0, 10.0)], ids=str)
@pytest.mark.parametrize("points", [97, 257])
def test_they_are_convex(guarantee: Guarantee, points: int) -> None:
    check_guarantee(guarantee, largest_epsilon=min(guarantee.epsilon_at(1e-9), 20.0), points=points)


def least(guarantee: Guarantee, epsilons: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """What single orders prove, one epsilon at a time."""
    curve, orders = guarantee._renyi()  # type: ignore[attr-defined]
    found = [renyi_curves._least(curve, np.array([epsilon]), orders)[0] for epsilon in epsilons]
    return np.array(found)


def test_one_epsilon_at_a_time_they_are_the_dual_of_the_trade_off_function() -> None:
    """The largest 1 - T(alpha) - e^epsilon alpha, with the bounds of the trade-off function T on a fine grid.

    The largest of convex functions is convex, so no chord is needed there; the grid makes the maximum a little less.
    """
    alphas = np.concatenate([[0.0], np.geomspace(1e-11, 1, 12_000)])
    errors = np.asarray(FEW.tradeoff_function(alphas))
    gained = 0
    for epsilon in (*np.linspace(0.2, 5.4, 27), 1.06, 2.2, 5.29):
        dual = float(np.max(1 - errors - math.exp(epsilon) * alphas))
        found = FEW.privacy_profile(float(epsilon))
        assert dual * (1 - 1e-6) <= found <= dual * (1 + 1e-3)
        gained += found < least(FEW, np.array([epsilon]))[0] * (1 - 1e-3)
    assert gained >= 3


@pytest.mark.parametrize("guarantee", [FEW, RDP(jumping)], ids=["orders", "jump"])
def test_chords_are_above_a_mechanism_that_has_these_divergences(guarantee: Guarantee) -> None:
    """N(0, 1) and N(1, 1): Renyi divergences order / 2."""
    epsilons = np.linspace(0.0, 7.0, 141)
    together = np.asarray(guarantee.privacy_profile(epsilons))
    assert np.all(together >= np.asarray(GDP(1.0).privacy_profile(epsilons)))
    for epsilon in epsilons[::10]:
        assert guarantee.privacy_profile(float(epsilon)) >= GDP(1.0).privacy_profile(float(epsilon))


def test_epsilon_follows_the_chord() -> None:
    inside = 1.06
    delta = FEW.privacy_profile(inside)
    assert delta < least(FEW, np.array([inside]))[0] * (1 - 1e-3)
    assert FEW.epsilon_at(delta) == pytest.approx(inside, rel=1e-9)
    assert FEW.privacy_profile(FEW.epsilon_at(delta)) <= delta


def test_a_chord_is_rounded_up() -> None:
    chord = renyi_curves._Chord(1.0, 2.0, 0.5, 0.25)
    middle = math.log((math.e + math.e**2) / 2)
    assert 0.375 <= float(chord.at(np.array(middle))) < 0.375 * (1 + 1e-14)
    assert chord.at(np.array([1.0, 2.0, 0.9, 2.1])).tolist() == pytest.approx([0.5, 0.25, 1.0, 1.0])
    assert chord.epsilon_at(0.375) == pytest.approx(middle)
    assert chord.epsilon_at(0.2) == math.inf
    assert renyi_curves._Chord(0.0, 1e-9, 0.5, 0.5).epsilon_at(0.5) == math.inf


def test_a_curve_without_a_hash() -> None:
    class Curve:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, order: float) -> float:
            return bent(order)

    assert RDP(Curve()).privacy_profile(4.5) == RDP(bent).privacy_profile(4.5)


def test_corners_against_bisection() -> None:
    """Over all magnitudes, from above and to a few units: a corner that is off makes the order nearest to it win."""
    rng = np.random.default_rng(0)
    c, r = np.exp(rng.uniform(-14, 8, 5000)), np.exp(rng.uniform(-12, 4, 5000))
    order = 1 + c
    c = order - 1
    with np.errstate(all="ignore"):
        most = np.minimum((r + np.hypot(r, np.sqrt(8 * r))) / 2, r + np.log(2.0) / c) * (1 + 1e-9)
        found = _corner(order, c, r, most)
        low, high = r.copy(), most.copy()
        for _ in range(60):
            x = low + (high - low) / 2
            left = _log_sinh_over(np.ones_like(x), order * x / 2) + _log_sinh_over(c, x / 2)
            below = left + 2 * np.log(2.0) - x / 2 - np.log1p(np.exp(-x)) < _log_exponential_over(c, r)
            low, high = np.where(below, x, low), np.where(below, high, x)
    assert np.all(found >= low * (1 - 1e-15))
    assert np.all(found <= high * (1 + 1e-11))
