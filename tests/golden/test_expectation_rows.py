"""Rows about risks and other expectations, drawn at random: bounds in closed form, minima by SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize

from dpverify.algorithms.conditions import noise_distance
from dpverify.problems import Ball

from .by_hand import largest_mu, records, row, rows

LOG = math.log(1.25e5)


def _stop(n: float) -> float:
    """L = 2 for least squares, d = 2, epsilon = 1, from the middle of the unit ball."""
    return _of_some(n, n, 2 * math.sqrt(1 + 8 * 2 * LOG), 2.0, 2.0)


def _of_some(n: float, iterates: float, norm: float, factor: float, lipschitz: float = 1.0) -> float:
    """One of the last of n + 1 points on the unit ball, from its middle, at factor / (G sqrt(n)); losses of <w, x>."""
    rate, before = factor / (norm * math.sqrt(n)), int(n + 1 - iterates)
    steps = np.arange(before, n + 1)
    harmonic = sum(1 / (iterates + 2 * j) for j in range(before))
    return min(
        2 / (rate * iterates) + rate * norm**2 / 2,
        1 / (2 * rate * (iterates + 2 * before)) + rate * norm**2 / 2 * (1 + harmonic),
        lipschitz * np.mean(np.minimum(2, np.sqrt(1 + rate**2 * norm**2 * steps))),
        rate * lipschitz**2 / 2 * (1 + before**2 / iterates) + lipschitz,
    )


def _smoothed(n: float) -> float:
    """Corollary 34 with d = 5 and epsilon = 8, and the bias of a convolved hinge."""
    width = 8 / (2 * math.sqrt(n * math.log(1e5)))
    # enough noise for an epsilon at which the printed formula may have too little
    sigma = max(2 / largest_mu(8.0, 1e-5), 2 * math.sqrt(2 * LOG) / 8)
    norm = math.sqrt(1 + 5 * sigma**2)
    return _of_some(n, n // 2 + 1, norm, math.sqrt(8)) + width / math.sqrt(2 * math.pi)


def _phased(_: float) -> float:
    """Theorem 7 with B = L = 2, d = 5, alpha = B L / 120: four phases, the first from the middle."""
    steps, distance, bound = 120**2, 1.0, 0.0
    for r in range(1, 5):
        rate = 4 / (4 / 120 * steps) / 4**r
        travel = rate * math.ceil(steps / 2**r)
        share = min(1.0, 2 * travel / distance)  # of the way to the last phase's point
        bound += (share * distance) ** 2 / (2 * travel) + (1 - share) * 2 * distance + rate * 4 / 2
        distance = noise_distance(8 / math.sqrt(5) / 4**r, Ball(5, 1.0))
    return bound + 2 * distance


@pytest.mark.parametrize(
    ("name", "sizes", "runs", "bound"),
    [
        ("bst14.alg2/breast-cancer/risk", (32, 128, 400), 10_000, lambda n: 2 * 3 * 2 / 2),
        ("fmtt18.stop/diabetes/risk", (100, 200, 400), None, _stop),
        ("fmtt18.smoothing/breast-cancer/risk", (100, 200, 400), None, _smoothed),
        (
            "gll22.rem/breast-cancer/risk",
            (8, 32, 128),
            4_000,
            lambda n: 0.75 * math.sqrt(2 * 2) * 2 / (largest_mu(1.0, 1e-3) * n),  # d / k, and half as much
        ),
        ("mn25.alg4/diabetes/risk", (), None, _phased),
        (
            "mn25.erm-to-sco/breast-cancer/risk",
            (100, 200, 400),
            None,
            lambda n: _of_some(n, n, math.sqrt(1 + 2 * 8 * LOG / 64), 2.0),
        ),
        ("bst14.alg-local-approx/ball", (4, 8, 16), 20_000, lambda n: n**-3.0),
        # 3/8 of the largest slope of n's parity that is at most sqrt(n) / 8
        (
            "bst14.alg-huber/bad-2/printed",
            (75, 300, 1200),
            2_000,
            lambda n: 0.375 * {75: 1, 300: 2, 1200: 4}[n],
        ),
        ("mn25.hard-instance/random/risk", (8, 15), 1_000, lambda _: 1 / math.sqrt(16)),
    ],
)
def test_bounds(name: str, sizes: tuple[int, ...], runs: int | None, bound: Callable[[float], float]) -> None:
    found = row(name)
    assert tuple(x for x, *_ in found.curve) == sizes
    assert runs in (None, found.runs)
    for size, lower, upper, stated in found.curve or [
        (0.0, found.measured.lower, found.measured.upper, found.bound)
    ]:
        assert stated == pytest.approx(bound(size), rel=1e-6)
        assert lower <= upper


@pytest.mark.parametrize(
    ("name", "n", "d", "total"),
    [
        ("bst14.alg1/breast-cancer/risk", 32, 5, True),
        ("bst14.alg2/breast-cancer/risk", 400, 3, True),
        ("bst14.alg8/breast-cancer/risk", 128, 2, True),
        ("gll22.rem/breast-cancer/risk", 128, 2, False),
        ("mn25.erm-to-sco/breast-cancer/risk", 400, 2, False),
        ("fmtt18.stop/diabetes/risk", None, 2, False),
        ("mn25.alg4/diabetes/risk", None, 5, False),
    ],
)
def test_minima(name: str, n: int | None, d: int, total: bool) -> None:
    """Of logistic or least-squares risks on the unit ball."""
    logistic = "breast-cancer" in name
    x, y = records("breast-cancer" if logistic else "diabetes", n, d)

    def risk(w: np.ndarray) -> float:
        losses = np.logaddexp(0, -y * (x @ w)) if logistic else (x @ w - y) ** 2 / 2
        return float(losses.sum() if total else losses.mean())

    inside = {"type": "ineq", "fun": lambda w: 1 - w @ w}
    least = minimize(risk, np.zeros(d), method="SLSQP", constraints=inside, options={"ftol": 1e-12}).fun
    found = row(name)
    assert found.minimum.lower * (1 - 1e-6) <= least <= found.minimum.upper * (1 + 1e-5)
    # of a population, samples of 400 records are run on
    assert found.size == (400 if "fmtt18" in name else len(x), d)


def test_the_net_of_a_disk_has_a_size_between_area_and_squares() -> None:
    for n, *_, bound in row("bst14.alg8/breast-cancer/risk").curve:
        radius = 2 * 2 / (2 * n)
        assert 2 * 2 * math.log(1 / radius**2) / 2 < bound
        assert bound <= n * radius + 2 * math.log((2 / (math.sqrt(2) * radius) + 2) ** 2)


def test_several_tasks() -> None:
    harmonic = sum(1 / k for k in range(1, 301))
    log = math.log(1 / 0.4)
    sigma = 4 * math.sqrt(max(6 * harmonic / 300, 2 * log) * log) / 0.99
    found = row("fmtt18.multitask/digits/risk")
    assert found.bound == pytest.approx(_of_some(300, 300, math.sqrt(1 + 2 * sigma**2), 4.0), rel=1e-6)
    assert found.runs == 800


def test_a_rate_is_a_slope_of_logarithms() -> None:
    _, rate = rows("bst14.alg1/strongly-convex/risk")
    n, low, high = np.array(rate.points).T
    slope = np.polyfit(np.log(n), np.log((low + high) / 2), 1)[0]
    assert n.tolist() == [8, 16, 32, 64]
    assert rate.exponent.lower <= slope <= rate.exponent.upper
    assert rate.exponent_claimed == -1


def test_a_bound_that_holds_for_records_as_large() -> None:
    x, _ = records("breast-cancer", None, 5)
    size = math.sqrt((x**2).sum(axis=1).mean())
    found = row("gll22.lower-instance/breast-cancer/mean")
    assert found.claim.endswith(f"{2 * size / (16 * math.sqrt(1 + 4 * 32)):.4g}")
    assert tuple(n for n, *_ in found.curve) == (2, 8, 32)
    assert found.runs == 500
