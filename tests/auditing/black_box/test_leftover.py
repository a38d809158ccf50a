"""Scorers that take long are fitted where a linear score leaves something, and only there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dpverify.auditing import DEFAULT_SCORERS, audit_privacy
from dpverify.auditing import privacy as privacy_module
from dpverify.auditing.black_box.boosting import GradientBoosting
from dpverify.auditing.black_box.leftover import leaves_something
from dpverify.auditing.black_box.scores import BestCoordinate
from dpverify.privacy import ApproxDP

Sides = tuple[np.ndarray, np.ndarray]
RUNS = 3000


def _normal(rng: np.random.Generator, d: int) -> Sides:
    left, right = rng.normal(size=(2, RUNS, d))
    return left, right


def _shifted(rng: np.random.Generator, d: int) -> Sides:
    left, right = _normal(rng, d)
    return left + 1 / np.sqrt(d), right


def _scaled(rng: np.random.Generator, d: int) -> Sides:
    """Each coordinate a little wider."""
    left, right = _normal(rng, d)
    return left, 1.15 * right


def _together(rng: np.random.Generator, d: int, correlation: float = 0.6) -> Sides:
    left, right = _normal(rng, d)
    right[:, 1] = correlation * right[:, 0] + np.sqrt(1 - correlation**2) * right[:, 1]
    return left, right


def _signs(rng: np.random.Generator, d: int) -> Sides:
    """The product of three coordinates is positive more often."""
    left, right = _normal(rng, d)
    flip = (right[:, :3].prod(axis=1) > 0) & (rng.random(RUNS) < 0.5)
    right[flip, 0] *= -1
    return left, right


def _region(rng: np.random.Generator, d: int) -> Sides:
    """3 of 100 outputs are in a cube of side 0.6 of five coordinates."""
    left, right = _normal(rng, d)
    inside = rng.random(RUNS) < 0.03
    left[inside, :5] = 0.7 + 0.6 * rng.random((int(inside.sum()), 5))
    return left, right


def _outliers(rng: np.random.Generator, d: int) -> Sides:
    """2 of 100 outputs are far out in one coordinate, on either side."""
    left, right = _normal(rng, d)
    far = rng.random(RUNS) < 0.02
    left[far, 3] = rng.choice([-6.0, 6.0], int(far.sum()))
    return left, right


@pytest.mark.parametrize("d", [5, 20])
@pytest.mark.parametrize("sides", [_scaled, _together, _signs, _region, _outliers])
def test_what_a_linear_score_leaves_is_noticed(sides: Callable[..., Sides], d: int) -> None:
    """Sums of 6 standard deviations and more; seeds are fixed."""
    assert leaves_something(*sides(np.random.default_rng(1), d))


@pytest.mark.parametrize("sides", [_normal, _shifted])
def test_where_nothing_is_left_little_is_fitted(sides: Callable[..., Sides]) -> None:
    """Seven tests at 0.02: 8 of 20 would be flagged with a probability below 1e-3, and fixed seeds are not."""
    flagged = sum(leaves_something(*sides(np.random.default_rng(seed), 8)) for seed in range(20))
    assert flagged < 8


def test_scorers_are_left_out_only_beside_a_linear_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a test that never notices anything keeps the audit from epsilon 4.5, which others find."""
    rng = np.random.default_rng(2)
    left, right = _together(rng, 6, 0.95)

    def epsilon(scorers: tuple[object, ...]) -> float:
        return audit_privacy(
            left, right, ApproxDP(0.2, 0.01),
            adjacency="two laws", failure_probability=0.05, seed=1, scorers=scorers,  # type: ignore[arg-type]
        ).epsilon_lower  # fmt: skip

    assert epsilon(DEFAULT_SCORERS) > 1
    monkeypatch.setattr(privacy_module, "leaves_something", lambda left, right: False)
    assert epsilon(DEFAULT_SCORERS) < 0.5
    assert epsilon((BestCoordinate(), GradientBoosting())) > 1
