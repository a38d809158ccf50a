"""Why the yardstick steps on all records: what Poisson batches would need at the least, and the page's table of it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

from dpverify.algorithms.yardstick import FullBatchDescent
from dpverify.problems import Ball, Problem
from dpverify.problems.further_losses import LogisticOnBall

from ..benchmarks.batches import DELTA, N, bound_ratio, noise_ratio, row

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "fit.md"
DESCENT = FullBatchDescent(Problem(LogisticOnBall(1.0), Ball(30, 1.0)), 1.0, DELTA)


def test_the_noise_is_what_the_pair_needs() -> None:
    """A batch of all records is no batch; and one step's hockey-stick divergence is an integral."""
    assert noise_ratio(DESCENT, 1.0, 64) == pytest.approx(1.0, abs=2e-4)
    rate = 0.1
    noise = 2 * noise_ratio(DESCENT, rate, 1) * DESCENT.least_multiplier * rate

    def law(x: float, at: float) -> float:
        parts = (
            (1 - rate) * math.exp(-((x / noise) ** 2) / 2),
            rate * math.exp(-(((x - at) / noise) ** 2) / 2),
        )
        return sum(parts) / (noise * math.sqrt(2 * math.pi))

    delta = quad(lambda x: max(law(x, 1.0) - math.e * law(x, -1.0), 0.0), -9, 9, limit=500, epsabs=1e-9)[0]
    assert delta == pytest.approx(DELTA, rel=2e-3)


def test_batches_have_no_smaller_bound() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert row(1.0, 0.1) in lines, "run make pages"
    rows = [line.split("|") for line in lines if line.count("|") == 8 and line[2:3].isdigit()]
    bounds = np.array([[float(cells[5]), float(cells[7])] for cells in rows])
    assert bounds.shape == (9, 2)
    assert np.all(bounds >= 1)


def test_a_bound_with_too_little_noise_would_be_seen() -> None:
    own = DESCENT.step_count(N)
    assert bound_ratio(DESCENT, 1.0, own, 1.0) == pytest.approx(1.0, rel=1e-12)
    assert bound_ratio(DESCENT, 1.0, own, 0.9) < 0.95
    assert bound_ratio(DESCENT, 0.5, own, 1.0) > 1
