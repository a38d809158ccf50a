"""Noise that depends on earlier noise is found at any distance and between any two streams; other noise is not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dpverify.auditing.noise import audit_independence
from dpverify.auditing.noise.dependence import _log_halves, _log_matches, _log_tail
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.verdicts import Verdict

Array = NDArray[np.float64]
RUNS = 50_000


def noise(seed: int = 0, size: int | tuple[int, int] = RUNS) -> Array:
    return np.random.default_rng(seed).normal(size=size)


def with_lag(lag: int, part: float) -> Array:
    made = noise()
    made[lag:] += part * noise()[: made.size - lag]
    return made


def reused(first: int, later: int, count: int, factor: float = 1.0) -> Array:
    made = noise()
    made[later : later + count] = factor * made[first : first + count]
    return made


# --------------------------------------------------------------------------------------------- planted faults


@pytest.mark.parametrize("lag", [1, 2, 7, 64, 65, 1000, RUNS // 2])
@pytest.mark.parametrize("part", [0.2, -0.2])
def test_numbers_that_lean_on_earlier_ones(lag: int, part: float) -> None:
    found = audit_independence(with_lag(lag, part))
    assert found.verdict is Verdict.VIOLATED
    assert (found.found[0].relation, found.found[0].lag) == ("sides", lag)
    assert f"{lag} apart" in found.reason


@pytest.mark.parametrize(("factor", "relation"), [(1.0, "equal"), (-1.0, "opposite")])
@pytest.mark.parametrize(("first", "later"), [(0, 4), (17, 30_000), (0, RUNS - 4)])
def test_four_numbers_that_are_used_again(first: int, later: int, factor: float, relation: str) -> None:
    """At any distance, with their sign or without."""
    found = audit_independence(reused(first, later, 4, factor))
    assert found.verdict is Verdict.VIOLATED
    assert [(one.relation, one.lag, one.count) for one in found.found] == [(relation, later - first, 4)]


def test_floats_of_32_bits_repeat_and_noise_that_is_used_again_shows() -> None:
    made = noise().astype(np.float32)
    assert audit_independence(made).verdict is Verdict.SUPPORTED
    made[40_000:40_012] = made[:12]
    (found,) = audit_independence(made).found
    assert (found.relation, found.lag, found.count) == ("equal", 40_000, 12)


def test_sizes_that_come_in_clusters_and_signs_that_are_drawn_anew() -> None:
    made = noise() * np.repeat(np.exp(0.5 * noise(1, RUNS // 100)), 100)
    assert audit_independence(made).found[0].relation == "sizes"
    signs = np.random.default_rng(2).choice([-1.0, 1.0], RUNS)
    again = np.concatenate([noise()[: RUNS // 2], 1.0001 * noise()[: RUNS // 2]]) * signs
    assert audit_independence(again).found[0].lag == RUNS // 2


@pytest.mark.parametrize("lag", [0, 1, 300, -300])
@pytest.mark.parametrize("factor", [1.0, -1.0, 2.5])
def test_streams_that_overlap(lag: int, factor: float) -> None:
    """A scaled copy shows by sides and sizes alone."""
    streams = noise(3, (4000, 5))
    streams[:, 4] = factor * np.roll(streams[:, 1], lag)
    found = audit_independence(streams)
    assert found.verdict is Verdict.VIOLATED
    assert {one.streams for one in found.found} == {(2, 5)}
    assert {one.lag for one in found.found} == {lag}
    kinds = {one.relation for one in found.found}
    assert kinds == {"sides", "sizes"} | (
        {"equal"} if factor == 1 else {"opposite"} if factor == -1 else set()
    )


# --------------------------------------------------------------------------------------------- what is right


@pytest.mark.parametrize(
    "made",
    [
        noise(),
        np.exp(3 * noise(1)),
        np.round(noise(2), 1),
        np.random.default_rng(3).integers(0, 2, RUNS),
        np.zeros(1000),
        noise(4, (2000, 20)),
        noise(5, 100),
        noise(6, 1001),
    ],
)
def test_independent_numbers_of_any_law(made: Array) -> None:
    """At 1e-6 each, so that this fails by chance with probability at most 8e-6."""
    found = audit_independence(made)
    assert found.verdict is Verdict.SUPPORTED
    assert "would show half of the time" in found.reason


def test_alarms_are_rare() -> None:
    """200 looks at 0.3 at independent numbers that repeat a lot: more than 95 alarms have probability below 1e-6."""
    alarms = 0
    for seed in range(200):
        made = np.round(noise(seed, (120, 2)), 2)
        alarms += audit_independence(made, failure_probability=0.3, seed=seed).verdict is Verdict.VIOLATED
    assert alarms <= 95


# --------------------------------------------------------------------------------------------- parts


def test_the_bound_on_matches_holds_for_all_orders() -> None:
    """Beside 20,000 random orders of numbers of which some are equal; a rate below a bound of 0.2 is off by 0.02."""
    values = np.repeat(np.arange(12), [5, 4, 3, 3, 2, 1, 1, 1, 1, 1, 1, 1])
    total = sum(math.comb(k, 2) for k in (5, 4, 3, 3, 2))
    orders = np.random.default_rng(0).permuted(np.tile(values, (20_000, 1)), axis=1)
    matches = (orders[:, 0:12] == orders[:, 12:24]).sum(axis=1)
    for count in range(1, 7):
        bound = math.exp(_log_matches(count, 12, total, 24))
        assert np.mean(matches >= count) <= bound + 0.02
    assert _log_matches(3, 12, total, 24) < 0


def test_the_bound_on_agreements_is_above_the_exact_probability() -> None:
    coins = [math.comb(40, k) * 2.0**-40 for k in range(41)]
    for agree in range(20, 41):
        exact = sum(coins[agree:])
        bound = math.exp(float(_log_tail(np.asarray(2.0 * agree - 40), np.asarray(40))))
        assert exact <= bound * (1 + 1e-12)
    assert math.exp(_log_halves(40)) == pytest.approx(coins[20])


def test_bad_numbers() -> None:
    for bad in (
        noise(size=99),
        noise(size=(100, 65)),
        [["a"]] * 100,
        np.full(100, np.nan),
        np.zeros((100, 1, 1)),
    ):
        with pytest.raises(InvalidDataError, match="allowed: finite numbers"):
            audit_independence(bad)
    with pytest.raises(InvalidDataError, match="too many to compare"):
        audit_independence(np.zeros((2**19, 64)))
    for more in ({"most_lag": 0}, {"most_lag": 100}, {"failure_probability": 0.0}):
        with pytest.raises(InvalidArgumentError):
            audit_independence(noise(size=100), **more)  # type: ignore[arg-type]
