"""Confidence bounds: exactness where there is a closed form, coverage, and width."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import binom, norm

from dpverify.auditing import (
    betting_interval,
    clopper_pearson_lower,
    clopper_pearson_upper,
)
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.records import Interval

Method = Callable[..., Interval]
METHODS: list[Method] = [betting_interval]


def _upper_tail(successes: int, trials: int, probability: float) -> mpmath.mpf:
    """P(Binomial >= successes), in 50 digits, by the regularized incomplete beta function."""
    with mpmath.workdps(50):
        return mpmath.betainc(successes, trials - successes + 1, 0, mpmath.mpf(probability), regularized=True)


@pytest.mark.parametrize("level", [0.05, 1e-3, 1e-9])
@pytest.mark.parametrize(("successes", "trials"), [(1, 10), (9, 10), (10, 10), (37, 1000), (500, 1000)])
def test_clopper_pearson_solves_its_defining_equation(successes: int, trials: int, level: float) -> None:
    lower = float(clopper_pearson_lower(successes, trials, level))
    assert float(_upper_tail(successes, trials, lower)) == pytest.approx(level, rel=1e-6)
    assert _upper_tail(successes, trials, lower) <= level  # rounded to the safe side
    upper = float(clopper_pearson_upper(trials - successes, trials, level))
    assert upper == pytest.approx(1 - lower, rel=1e-8)  # the same bound, mirrored


@pytest.mark.parametrize("level", [0.05, 1e-5, 1e-15])
@pytest.mark.parametrize(
    ("successes", "trials"), [(2, 3), (15, 16), (141, 225), (6, 4_947_008), (33_943, 453_896)]
)
def test_clopper_pearson_is_rounded_to_the_safe_side(successes: int, trials: int, level: float) -> None:
    """Against Arb, where SciPy's inverses are off by a relative 1e-10, or by a float next to 1."""
    before, ctx.prec = ctx.prec, 200
    try:
        lower = arb(float(clopper_pearson_lower(successes, trials, level)))
        assert lower.beta_lower(arb(successes), arb(trials - successes + 1), regularized=True) <= arb(level)
        upper = arb(float(clopper_pearson_upper(successes, trials, level)))
        assert 1 - upper.beta_lower(arb(successes + 1), arb(trials - successes), regularized=True) <= arb(
            level
        )
    finally:
        ctx.prec = before


@pytest.mark.parametrize("trials", [1, 100, 10**6])
def test_clopper_pearson_ends_in_closed_form(trials: int) -> None:
    assert clopper_pearson_lower(0, trials, 1e-3) == 0
    assert clopper_pearson_upper(trials, trials, 1e-3) == 1
    assert float(clopper_pearson_lower(trials, trials, 1e-3)) == pytest.approx(1e-3 ** (1 / trials), rel=2e-9)
    at_zero = -math.expm1(math.log(1e-3) / trials)
    assert float(clopper_pearson_upper(0, trials, 1e-3)) == pytest.approx(at_zero, rel=2e-9)


def test_clopper_pearson_upper_keeps_tiny_levels() -> None:
    # 1 - 1e-30 is 1 in floats; the bound must not turn into 1 with it.
    assert float(clopper_pearson_upper(0, 1000, 1e-30)) == pytest.approx(1 - 1e-30 ** (1 / 1000), rel=2e-9)


@pytest.mark.parametrize("probability", [0.001, 0.03, 0.5, 0.97])
@pytest.mark.parametrize("level", [0.2, 0.01])
def test_clopper_pearson_coverage_exactly(probability: float, level: float) -> None:
    """Summed over the whole binomial distribution, so nothing here is random."""
    counts, trials = np.arange(201), 200
    mass = binom.pmf(counts, trials, probability)
    assert mass[clopper_pearson_lower(counts, trials, level) > probability].sum() <= level * (1 + 1e-9)
    assert mass[clopper_pearson_upper(counts, trials, level) < probability].sum() <= level * (1 + 1e-9)
    # The planted fault, a normal approximation, misses this for rare events.
    p = counts / trials
    wald = p + norm.isf(level) * np.sqrt(p * (1 - p) / trials)
    if probability == 0.001:
        assert mass[wald < probability].sum() > level


def test_clopper_pearson_is_vectorized_and_monotone() -> None:
    counts = np.arange(101)
    lower, upper = clopper_pearson_lower(counts, 100, 0.01), clopper_pearson_upper(counts, 100, 0.01)
    assert lower.shape == upper.shape == (101,)
    assert np.all(np.diff(lower) > 0)
    assert np.all(np.diff(upper) > 0)
    assert np.all((lower <= counts / 100) & (counts / 100 <= upper))
    one_by_one = [float(clopper_pearson_lower(int(k), 100, 0.01)) for k in counts]
    assert np.array_equal(lower, one_by_one)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("shape", "mean"), [("bernoulli", 0.05), ("bernoulli", 0.5), ("beta", 0.2), ("bernoulli", 0.002)]
)
def test_mean_intervals_cover(method: Method, shape: str, mean: float) -> None:
    """800 intervals at level 0.1.

    A valid method misses in at most binom.isf(1e-7, 800, 0.1) = 126 of them but for a chance of 1e-7.
    """
    rng = np.random.default_rng(20_000)
    level, missed = 0.1, 0
    for _ in range(800):
        x = rng.beta(2.0, 8.0, 300) if shape == "beta" else (rng.random(300) < mean).astype(float)
        # On [-1, 3], so that the change of range is tested as well.
        interval = method(4 * x - 1, -1.0, 3.0, level)
        missed += not interval.lower <= 4 * mean - 1 <= interval.upper
    assert missed <= binom.isf(1e-7, 800, level)


def test_coverage_test_can_fail() -> None:
    """The planted fault: every run counted four times, as if copies were independent."""
    rng = np.random.default_rng(5)
    missed = 0
    for _ in range(300):
        interval = betting_interval(np.repeat(rng.beta(2.0, 8.0, 300), 4), 0.0, 1.0, 0.1)
        missed += not interval.lower <= 0.2 <= interval.upper
    assert missed > binom.isf(1e-7, 300, 0.1)


def _widths(x: np.ndarray, level: float) -> tuple[float, float, float]:
    """Of Hoeffding's interval, of Maurer and Pontil's (Theorem 4, on both sides), and of ours, on [0, 1]."""
    hoeffding = 2 * math.sqrt(math.log(2 / level) / (2 * x.size))
    term = math.log(4 / level)
    half = math.sqrt(2 * float(x.var(ddof=1)) * term / x.size) + 7 * term / (3 * (x.size - 1))
    betting = betting_interval(x, 0.0, 1.0, level)
    return hoeffding, 2 * half, betting.upper - betting.lower


def test_betting_is_sharper_than_bernstein_and_hoeffding_at_low_variance() -> None:
    hoeffding, bernstein, betting = _widths(np.random.default_rng(6).beta(1.0, 19.0, 2000), 1e-3)
    assert betting < bernstein < hoeffding


def test_betting_is_not_worse_than_hoeffding_at_high_variance() -> None:
    x = (np.random.default_rng(7).random(5000) < 0.5).astype(float)
    hoeffding, _, betting = _widths(x, 1e-3)
    assert betting < 1.05 * hoeffding


def test_betting_capital_by_definition() -> None:
    """The lower end against a slow loop over runs: the capital there just reaches 2 / level."""
    x = np.random.default_rng(8).random(50)
    level = 0.05
    lower = betting_interval(x, 0, 1, level).lower

    def largest_capital(mean: float) -> float:
        capital = best = 1.0
        total, variance_sum = 0.5, 0.25
        for t, value in enumerate(x, start=1):
            variance = variance_sum / t
            bet = min(math.sqrt(2 * math.log(2 / level) / (x.size * variance)), 0.75 / mean)
            capital *= 1 + bet * (value - mean)
            best = max(best, capital)
            total += value
            variance_sum += (value - total / (t + 1)) ** 2
        return best

    assert largest_capital(lower - 1e-9) >= 2 / level > largest_capital(lower + 1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [0.0, 1.0, 0.3])
def test_constant_values_are_covered(method: Method, value: float) -> None:
    interval = method(np.full(500, value), 0.0, 1.0, 1e-3)
    assert 0 <= interval.lower <= value <= interval.upper <= 1
    assert not interval.rigorous


@pytest.mark.parametrize("method", METHODS)
def test_one_value_says_little(method: Method) -> None:
    assert method([0.5], 0.0, 1.0, 1e-3) == Interval(lower=0.0, upper=1.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "values", [[], [[0.5]], 0.5, [math.nan], [math.inf], [1.1], [-1e-9], ["a"], [1j], [None]]
)
def test_bad_values(method: Method, values: object) -> None:
    with pytest.raises(InvalidDataError):
        method(values, 0.0, 1.0, 0.1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("lower", "upper", "level"),
    [(1, 0, 0.1), (0, 0, 0.1), (math.nan, 1, 0.1), (0, math.inf, 0.1), (True, 2, 0.1), (0, 1, 0), (0, 1, 1),
     (0, 1, math.nan), (0, 1, True), (-1.7e308, 1.7e308, 0.1)],
)  # fmt: skip
def test_bad_arguments(method: Method, lower: float, upper: float, level: float) -> None:
    with pytest.raises(InvalidArgumentError):
        method([0.5], lower, upper, level)


@pytest.mark.parametrize(
    ("successes", "trials", "level"),
    [
        (-1, 10, 0.1), (11, 10, 0.1), (0.5, 10, 0.1), (True, 10, 0.1), (0, 0, 0.1), (1, 10, 0.0),
        (1, 10, math.nan),
    ],
)  # fmt: skip
def test_bad_counts(successes: object, trials: object, level: float) -> None:
    for bound in (clopper_pearson_lower, clopper_pearson_upper):
        with pytest.raises(InvalidArgumentError):
            bound(successes, trials, level)  # type: ignore[arg-type]
