"""The computed power, against a definitional twin and against the audit's own rule."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpverify.auditing import clopper_pearson_lower, clopper_pearson_upper, detection
from dpverify.auditing.detection import (
    EventTest,
    Noise,
    _last_likely,
    runs_needed,
    smallest_epsilon,
    smallest_shift,
)


def _pure(runs: int, level: float, epsilon: float) -> EventTest:
    grid = np.union1d(np.linspace(0.0, epsilon, 20), np.linspace(epsilon, epsilon + 2, 5))
    truth = 1 / (1 + math.exp(-epsilon))
    claimed = np.where(grid < epsilon, truth - np.exp(grid) * (1 - truth), 0.0)
    return EventTest(runs, level, tuple(zip(grid.tolist(), claimed.tolist(), strict=True)))


def _power_by_definition(test: EventTest, more: float, less: float) -> float:
    """Sum over all pairs of counts."""
    counts = np.arange(test.runs + 1)
    lower = clopper_pearson_lower(counts, test.runs, test.bound_failure)
    upper = clopper_pearson_upper(counts, test.runs, test.bound_failure)
    total = 0.0
    for k, a in zip(counts, lower, strict=True):
        for j, b in zip(counts, upper, strict=True):
            if any(a - math.exp(epsilon) * b > delta for epsilon, delta in test.points):
                total += binom.pmf(k, test.runs, more) * binom.pmf(j, test.runs, less)
    return float(total)


@pytest.mark.parametrize(("more", "less"), [(0.9, 0.1), (0.7, 0.2), (1.0, 0.0), (0.5, 0.5), (0.3, 0.01)])
def test_power_is_the_double_sum(more: float, less: float) -> None:
    test = _pure(runs=60, level=0.02, epsilon=0.8)
    assert test.power(more, less) == pytest.approx(_power_by_definition(test, more, less), abs=1e-9)


@pytest.mark.parametrize("runs", [1, 60, 10**6])
def test_probabilities_beyond_0_and_1_by_rounding(runs: int) -> None:
    """Sums of probabilities of cells are, and an event far below the claim as well as one far above gets its power."""
    for epsilon in (0.0, 1.0, 800.0):
        test = EventTest(runs, 0.025, ((epsilon, 0.0),))
        for beyond, end in ((1 + 2.3e-16, 1.0), (-1e-17, 0.0)):
            for other in (0.0, 1e-300, 1e-5, 0.5, 1.0):
                assert test.power(beyond, other) == test.power(end, other)
                assert test.power(other, beyond) == test.power(other, end)
                assert 0 <= test.power(other, end) <= 1
    assert EventTest(60, 0.025, ((1.0, 0.0),)).power(1e-5, 0.9) == 0


def test_blocks_of_counts_err_to_the_low_side_and_little() -> None:
    fine, runs = _pure(runs=200_000, level=1e-4, epsilon=1.0), 200_000
    power = fine.power(0.7258, 0.262)
    rng = np.random.default_rng(1)
    k, j = rng.binomial(runs, 0.7258, 4000), rng.binomial(runs, 0.262, 4000)
    lower, upper = clopper_pearson_lower(k, runs, 1e-4), clopper_pearson_upper(j, runs, 1e-4)
    simulated = np.mean(lower > math.exp(1.0) * upper)
    assert 0.05 < power < 0.95
    assert abs(power - simulated) < 0.045  # 4000 draws: 5.7 standard errors, chance 1e-8


@pytest.mark.parametrize("blocks", [3, 30, 300])
def test_blocks_never_add_power(blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    test = _pure(runs=3000, level=1e-3, epsilon=1.0)
    monkeypatch.setattr(detection, "_BLOCKS", 10**6)  # a block for each count
    exact = test.power(0.76, 0.24)
    monkeypatch.setattr(detection, "_BLOCKS", blocks)
    assert 0.1 < exact < 0.9
    assert test.power(0.76, 0.24) < exact


def test_smallest_epsilon_has_power_one_half() -> None:
    test = _pure(runs=5000, level=1e-3, epsilon=1.0)
    epsilon = smallest_epsilon(test, 0.0)
    assert epsilon is not None

    def power(e: float) -> float:
        return test.power(1 / (1 + math.exp(-e)), 1 / (1 + math.exp(e)))

    assert power(epsilon) >= 0.5 > power(epsilon * (1 - 3e-4))
    assert epsilon > 1


def test_more_runs_find_smaller_violations() -> None:
    found = [smallest_epsilon(_pure(runs, 1e-3, 1.0), 0.0) for runs in (300, 3000, 30_000, 300_000)]
    assert None not in found
    assert all(a > b > 1 for a, b in pairwise(found))  # type: ignore[operator]


def test_smallest_shift_exceeds_the_claimed_one_and_shrinks() -> None:
    grid = np.linspace(0.0, 5.0, 200)
    claimed = norm.sf(grid - 0.5) - np.exp(grid) * norm.sf(grid + 0.5)  # mu = 1
    found = [
        smallest_shift(
            EventTest(runs, 1e-4, tuple(zip(grid.tolist(), claimed.tolist(), strict=True))), Noise.NORMAL
        )
        for runs in (1000, 10_000, 100_000)
    ]
    assert None not in found
    assert all(a > b > 1 for a, b in pairwise(found))  # type: ignore[operator]
    assert found[-1] is not None
    assert found[-1] < 1.05


def test_runs_needed_is_where_it_becomes_possible() -> None:
    test = _pure(runs=10, level=1e-3, epsilon=5.0)
    assert smallest_epsilon(test, 0.0) is None
    needed = runs_needed(test)
    assert needed is not None

    def best(runs: int) -> float:
        lower = float(clopper_pearson_lower(runs, runs, 1e-3))
        return lower - math.exp(5.0) * float(clopper_pearson_upper(0, runs, 1e-3))

    assert best(needed) > 0 > best(int(needed * 0.99) - 1)


@pytest.mark.parametrize("level", [0.3, 1e-6, 1e-12, 1e-15 / 16, 1e-22])
@pytest.mark.parametrize("runs", [1, 7, 100, 900])
def test_the_last_likely_count_by_definition(level: float, runs: int) -> None:
    probability = np.append(np.random.default_rng(2).random(20), [0.0, 1e-9, 1.0])
    found = _last_likely(level, runs, probability)
    for count, p in zip(found.tolist(), probability.tolist(), strict=True):
        unlikely = np.flatnonzero(binom.sf(np.arange(runs + 1), runs, p) <= level)
        assert count == unlikely[0]


@pytest.mark.parametrize("level", [1e-3, 1e-9, 1e-12 / 16, 1e-15 / 4, 1e-15 / 16, 1e-18])
def test_something_is_found_just_if_there_are_as_many_runs_as_needed(level: float) -> None:
    needed = runs_needed(_pure(1, level, 1.0))
    assert needed is not None
    for runs in (needed - 1, needed, 2 * needed, 10 * needed, 100 * needed):
        found = smallest_epsilon(_pure(runs, level, 1.0), 0.0)
        assert (found is not None) == (runs >= needed)
