"""Privacy rows drawn at random: claims and what the pair's true laws allow, by closed forms and quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from .by_hand import gaussian, gaussian_epsilon, largest_mu, records, row

CONTRACTED = 2 / 1.2 * math.sqrt(0.75) * (1 - 2.0**-10) / math.sqrt(1 - 2.0**-20)
"""Ten steps that halve distances, shifts of 1 and noise of 1.2 against a shift."""


@pytest.mark.parametrize(
    ("name", "runs", "size", "delta", "claimed"),
    [
        ("bst14.alg-cube/breast-cancer", 40_000, (2, 1), 0.0, 2.0),
        ("bst14.alg-cube/diabetes", 40_000, (2, 1), 0.0, 2.0),
        ("bst14.alg8/worst-case", 40_000, (2, 1), 0.0, 4.0),
        ("bst14.alg4/walk/breast-cancer", 6_000, (2, 1), 0.0, 3.0),
        # half of the way in each step, one public step of the same noise after the last private one
        ("fmtt18.public/breast-cancer", 40_000, (4, 2), 1e-5, gaussian_epsilon(1 / math.sqrt(1.25))),
        ("fmtt18.cni/diabetes/white-box", 20_000, (8, 2), 1e-5, gaussian_epsilon(CONTRACTED)),
        ("gll22.rem/worst-case", 100_000, (8, 1), 1e-5, gaussian_epsilon(largest_mu(1.0, 1e-3))),
        ("mn25.erm-to-sco/worst-case", 40_000, (8, 1), math.e * 1e-5, 1.0),
    ],
)
def test_what_is_claimed(name: str, runs: int, size: tuple[int, int], delta: float, claimed: float) -> None:
    found = row(name)
    assert (found.runs, found.size) == (runs, size)
    assert found.delta == pytest.approx(delta, rel=1e-12)
    assert found.epsilon_claimed == pytest.approx(claimed, rel=1e-9)


def _stopped(epsilon: float) -> float:
    """After one step N(1, 1) or N(-1, 1); after two, which is as likely, the same with twice the variance."""

    def density(x: float, at: float) -> float:
        return float((norm.pdf(x, at) + norm.pdf(x, at, math.sqrt(2))) / 2)

    def above(x: float) -> float:
        return max(density(x, 1) - math.exp(epsilon) * density(x, -1), 0.0)

    return quad(above, -15, 25, points=[0, 2, 4, 6], limit=400, epsabs=1e-13)[0]


def _uniform_and_exponential() -> float:
    """exp(-2 w) against uniform on [-1, 1], where the first is smallest."""
    return math.log(math.sinh(2) * math.exp(2) / 2)


def _of_real_record() -> float:
    """The gradients' distance is that of the records, one of them the longest of all, the other 1 long."""
    longest = np.linalg.norm(records("diabetes", None, 2)[0], axis=1).max()
    return gaussian_epsilon(CONTRACTED * (1 + longest) / 2)


@pytest.mark.parametrize(
    ("name", "truth", "share"),
    [
        ("bst14.alg8/worst-case", _uniform_and_exponential, 0.8),
        ("fmtt18.skip/worst-case-6-of-6/white-box", lambda: gaussian_epsilon(2.0), 0.99),
        ("fmtt18.cni/diabetes/white-box", _of_real_record, 0.95),
        (
            "fmtt18.stop/worst-case-1-of-2/white-box",
            lambda: float(brentq(lambda e: _stopped(e) - 1e-5, 1, 10)),
            0.8,
        ),
        (
            "fmtt18.stop/worst-case-1-of-2",
            lambda: float(brentq(lambda e: _stopped(e) - 1e-5, 1, 10)),
            0.4,
        ),
        ("gll22.rem/worst-case", lambda: gaussian_epsilon(largest_mu(1.0, 1e-3)), 0.5),
    ],
)
def test_lower_bounds_are_below_the_truth_and_not_far(
    name: str, truth: Callable[[], float], share: float
) -> None:
    found, true = row(name), truth()
    assert share * true <= found.epsilon_lower <= true
    if found.epsilon_exact is not None:
        assert found.epsilon_exact.lower <= true * (1 + 1e-12)
        assert true * (1 - 1e-12) <= found.epsilon_exact.upper


@pytest.mark.parametrize("name", ["breast-cancer", "diabetes"])
def test_the_exact_epsilon_of_a_walk_on_two_real_records(name: str) -> None:
    (every, _), (few, _) = records(name, None, 1), records(name, 2, 1)
    left = float(few[0, 0] + every[np.argmax(np.abs(every[:, 0])), 0])
    right = float(few[0, 0] - math.copysign(1, every[np.argmax(np.abs(every[:, 0])), 0]))
    # cells no wider than distance / (2 scale n L), and their centers
    scale, cells = (2 - 2 * 0.1) / 4, 2 * math.ceil(2 * 2 * 0.45 * 2 / 0.1 / 2)
    centers = -1 + (np.arange(cells) + 0.5) * 2 / cells
    logs = [-scale * slope * centers for slope in (left, right)]
    ratio = np.subtract(*(log - np.log(np.exp(log).sum()) for log in logs))
    found = row(f"bst14.alg-cube/{name}")
    assert found.epsilon_exact.upper == pytest.approx(np.abs(ratio).max(), rel=1e-6)
    assert found.epsilon_lower < found.epsilon_exact.upper


def test_best_known_profiles() -> None:
    assert row("fmtt18.skip/worst-case-6-of-6/white-box").epsilon_proved == pytest.approx(
        gaussian_epsilon(2.0)
    )
    assert row("fmtt18.alg1/diabetes").epsilon_proved == pytest.approx(gaussian_epsilon(2.0))
    mixture = brentq(lambda e: (gaussian(e, 2.0) + gaussian(e, math.sqrt(2))) / 2 - 1e-5, 1, 20)
    assert row("fmtt18.stop/worst-case-1-of-2/white-box").epsilon_proved == pytest.approx(mixture)


@pytest.mark.parametrize(
    ("name", "mu"),
    [
        ("fmtt18.public/breast-cancer", 1 / math.sqrt(1.25)),
        ("fmtt18.cni/diabetes/white-box", CONTRACTED),
        ("gll22.rem/worst-case", largest_mu(1.0, 1e-3)),
    ],
)
def test_whole_profiles(name: str, mu: float) -> None:
    for point in row(name).profile:
        assert point.delta_claimed == pytest.approx(gaussian(point.epsilon, mu), rel=1e-6, abs=1e-12)
        assert point.delta_lower <= max(point.delta_claimed, 1e-5) * (1 + 1e-9)
