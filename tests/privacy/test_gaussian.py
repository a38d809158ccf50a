"""The Gaussian pair against mpmath at high precision, over the whole promised range."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from dpverify.privacy import gaussian_hockey_stick, gaussian_tradeoff

TOLERANCE = 1e-12


def exact_hockey_stick(epsilon: float, mu: float) -> mpmath.mpf:
    """gll22 (9) in 120 digits; the terms cancel by fewer than 20 over the tested range."""
    with mpmath.workdps(120):
        eps, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        root2 = mpmath.sqrt(2)
        upper = mpmath.erfc((eps / m - m / 2) / root2)
        return (upper - mpmath.exp(eps) * mpmath.erfc((eps / m + m / 2) / root2)) / 2


def points() -> list[tuple[float, float]]:
    """A grid, its corners, and points chosen so that delta reaches down to 1e-300."""
    grid = [
        (e, m)
        for e in (0.0, 1e-9, 1e-3, 0.5, 1.0, 7.0, 50.0)
        for m in (1e-3, 0.02, 0.5, 1.0, 3.0, 12.0, 50.0)
    ]
    rng = np.random.default_rng(3)
    for _ in range(400):
        mu = float(10 ** rng.uniform(-3, math.log10(50)))
        epsilon = float(mu * (rng.uniform(-3, 37) + mu / 2))
        if 0 <= epsilon <= 50:
            grid.append((epsilon, mu))
    return grid


def worst_error(candidate: Callable[[float, float], float]) -> float:
    """Largest relative error where the exact value is at least 1e-300."""
    worst = 0.0
    for epsilon, mu in points():
        exact = exact_hockey_stick(epsilon, mu)
        if exact >= mpmath.mpf("1e-300"):
            worst = max(worst, float(abs(mpmath.mpf(candidate(epsilon, mu)) - exact) / exact))
    return worst


def test_agrees_with_mpmath_to_twelve_digits() -> None:
    assert worst_error(gaussian_hockey_stick) <= TOLERANCE
    deltas = [float(exact_hockey_stick(e, m)) for e, m in points()]
    assert min(d for d in deltas if d > 0) < 1e-290
    assert max(deltas) > 0.99


def planted_root2(epsilon: float, mu: float) -> float:
    return gaussian_hockey_stick(epsilon, mu / math.sqrt(2))


def planted_sign(epsilon: float, mu: float) -> float:
    return gaussian_hockey_stick(epsilon + 1e-9, mu)


def planted_floats(epsilon: float, mu: float) -> float:
    def phi(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    return phi(-epsilon / mu + mu / 2) - math.exp(epsilon) * phi(-epsilon / mu - mu / 2)


@pytest.mark.parametrize("fault", [planted_root2, planted_sign, planted_floats])
def test_the_comparison_catches_a_planted_fault(fault: Callable[[float, float], float]) -> None:
    assert worst_error(fault) > TOLERANCE


@pytest.mark.parametrize(
    ("epsilon", "mu", "expected"),
    [
        (0.0, 0.0, 0.0),
        (1.0, 0.0, 0.0),
        (math.inf, 1.0, 0.0),
        (0.0, math.inf, 1.0),
        (1e308, math.inf, 1.0),
        (1.0, 1e10, 1.0),
        (50.0, 1e-3, 0.0),
        (-0.0, 1.0, math.erf(0.5 / math.sqrt(2))),
    ],
)
def test_limits(epsilon: float, mu: float, expected: float) -> None:
    assert gaussian_hockey_stick(epsilon, mu) == pytest.approx(expected, rel=1e-15, abs=0)


def test_at_epsilon_zero_it_is_the_total_variation_even_for_tiny_mu() -> None:
    for mu in (1e-300, 1e-12, 1e-3):
        assert gaussian_hockey_stick(0.0, mu) == pytest.approx(mu / math.sqrt(2 * math.pi), rel=1e-6)


def test_shapes_broadcast() -> None:
    table = gaussian_hockey_stick(np.linspace(0, 3, 4)[:, None], np.array([[0.5, 1.0]]))
    assert isinstance(table, np.ndarray)
    assert table.shape == (4, 2)
    assert table[2, 1] == gaussian_hockey_stick(2.0, 1.0)
    assert isinstance(gaussian_hockey_stick(1, 1), float)


def test_tradeoff_agrees_with_mpmath() -> None:
    with mpmath.workdps(50):
        for alpha in (1e-300, 1e-20, 1e-3, 0.3, 0.5, 0.9):
            for mu in (0.0, 1e-3, 1.0, 6.0):
                # Phi^-1(1 - alpha) by bisection on erfc
                low, high = mpmath.mpf(-10), mpmath.mpf(40)
                for _ in range(200):
                    middle = (low + high) / 2
                    above = mpmath.erfc(middle / mpmath.sqrt(2)) / 2 > mpmath.mpf(alpha)
                    low, high = (middle, high) if above else (low, middle)
                exact = mpmath.erfc(-(low - mu) / mpmath.sqrt(2)) / 2
                assert gaussian_tradeoff(alpha, mu) == pytest.approx(float(exact), rel=1e-12)


def test_tradeoff_limits() -> None:
    assert gaussian_tradeoff([0.0, 1.0], 2.0).tolist() == [1.0, 0.0]  # type: ignore[union-attr]
    assert gaussian_tradeoff(0.3, 0.0) == pytest.approx(0.7, rel=1e-15)
    assert gaussian_tradeoff(0.0, math.inf) == 0.0
