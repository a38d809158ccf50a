"""The joint test: its level is exact for every null, however the two runs of a pair depend on one another."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import binom

from dpverify.auditing import audit_privacy
from dpverify.auditing.black_box import joint
from dpverify.auditing.black_box.focus import _BOUND_WEIGHT, Test
from dpverify.auditing.black_box.joint import PairCounts, p_values, typical_bound, typical_rate
from dpverify.auditing.confidence import clopper_pearson_upper
from dpverify.privacy import ApproxDP, PureDP

PAIRS = 300
AUDITS = 4000


def _law(p: float, q: float, coupling: str) -> list[float]:
    """Probabilities of the cells both, first, second, neither, for given margins."""
    both = {"independent": p * q, "equal": min(p, q), "opposite": max(0.0, p + q - 1)}[coupling]
    return [both, p - both, q - both, 1 - p - q + both]


NULLS = [
    (epsilon, delta, q)
    for epsilon, delta in ((1.0, 0.0), (1.0, 0.1), (0.3, 0.02), (3.0, 1e-3), (0.0, 0.0))
    for q in (0.01, 0.2, 0.45)
    if math.exp(epsilon) * q + delta <= 1
]


def _rejections(epsilon: float, delta: float, q: float, coupling: str, level: float, seed: int) -> int:
    """How often the test rejects a pair that attains the claim exactly."""
    rng = np.random.default_rng(np.random.SeedSequence(41, spawn_key=(seed,)))
    cells = rng.multinomial(PAIRS, _law(math.exp(epsilon) * q + delta, q, coupling), size=AUDITS)
    values = p_values(PairCounts(*cells.T), epsilon, delta, tuple(rng.random((3, AUDITS))))
    return int(np.count_nonzero(values <= level))


@pytest.mark.parametrize("coupling", ["independent", "equal", "opposite"])
def test_the_level_is_kept_at_every_null(coupling: str) -> None:
    """4000 exact nulls each at level 0.1, 14 of them: more than binom.isf(1e-8, 4000, 0.1) = 509 have chance 1.4e-7."""
    for number, (epsilon, delta, q) in enumerate(NULLS):
        found = _rejections(epsilon, delta, q, coupling, 0.1, number)
        assert found <= binom.isf(1e-8, AUDITS, 0.1), (epsilon, delta, q)


def test_without_a_delta_the_level_is_nearly_used_up() -> None:
    """At epsilon 0 the sign test of 300 pairs at level 0.1; fewer than 240 of 4000 would have a chance below 1e-10."""
    assert _rejections(0.0, 0.0, 0.45, "independent", 0.1, 99) > 240


@pytest.mark.parametrize("fault", ["delta is left out", "pairs on both sides count for the first"])
def test_planted_faults(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either step left out makes exact nulls alarm far more often than 10 %."""
    if fault == "delta is left out":
        monkeypatch.setattr(joint, "_added", lambda eps, delta, at_most: np.zeros(np.shape(eps)))
        found = _rejections(1.0, 0.1, 0.2, "independent", 0.1, 1)
    else:
        monkeypatch.setattr(joint, "expit", lambda x: np.where(x < 0, 1.0, 1 / (1 + np.exp(-x))))
        found = _rejections(1.0, 0.0, 0.2, "equal", 0.1, 1)
    assert found > 1000


def _rejections_given_a_bound(
    epsilon: float,
    delta: float,
    q: float,
    coupling: str,
    level: float,
    seed: int,
    planted: float | None = None,
) -> int:
    """The same where the less likely side is bounded from the same pairs, or by a planted number."""
    rng = np.random.default_rng(np.random.SeedSequence(43, spawn_key=(seed,)))
    cells = rng.multinomial(PAIRS, _law(math.exp(epsilon) * q + delta, q, coupling), size=AUDITS)
    bounding = _BOUND_WEIGHT * level
    at_most = clopper_pearson_upper(cells[:, 0] + cells[:, 2], PAIRS, bounding)
    most = at_most if planted is None else np.full(AUDITS, planted)
    values = p_values(PairCounts(*cells.T), epsilon, delta, tuple(rng.random((3, AUDITS))), at_most=most)
    return int(np.count_nonzero(values <= level - bounding))


@pytest.mark.parametrize("coupling", ["independent", "equal", "opposite"])
def test_the_level_is_kept_where_the_less_likely_side_is_bounded(coupling: str) -> None:
    """4000 exact nulls each at level 0.1, 14 of them: more than binom.isf(1e-8, 4000, 0.1) = 509 have chance 1.4e-7."""
    for number, (epsilon, delta, q) in enumerate(NULLS):
        found = _rejections_given_a_bound(epsilon, delta, q, coupling, 0.1, number)
        assert found <= binom.isf(1e-8, AUDITS, 0.1), (epsilon, delta, q)


def test_a_bound_that_does_not_hold_makes_exact_nulls_alarm() -> None:
    assert _rejections_given_a_bound(0.3, 0.3, 0.45, "independent", 0.1, 1) <= binom.isf(1e-8, AUDITS, 0.1)
    assert _rejections_given_a_bound(0.3, 0.3, 0.45, "independent", 0.1, 1, planted=0.0) > 1000


def test_what_is_added_is_just_enough_for_every_probability_up_to_the_bound() -> None:
    for epsilon, delta in ((0.0, 0.1), (0.3, 0.02), (2.3, 1e-2), (5.0, 1e-5)):
        for most in (0.0, 0.01, 0.3, 1.0):
            added = float(joint._added(np.float64(epsilon), np.float64(delta), np.float64(most)))
            # beyond the second number the claim allows everything
            q = np.linspace(0, min(most, (1 - delta) * math.exp(-epsilon)), 101)
            excess = math.exp(epsilon) * (1 - q) * added - delta
            assert np.all(excess >= -1e-15)
            assert excess.min() <= 1e-15


def test_p_values_fall_with_the_bound_and_are_those_without_one_at_1() -> None:
    counts, uniforms = PairCounts(20, 900, 60, 9020), (0.3, 0.6, 0.45)
    epsilons = np.linspace(0.5, 3.0, 11)
    found = [p_values(counts, epsilons, 1e-2, uniforms, at_most=most) for most in (0.01, 0.05, 0.3, 1.0)]
    assert all(np.all(low <= high) for low, high in itertools.pairwise(found))
    assert np.all(found[0][3:6] < found[-1][3:6])
    assert np.array_equal(found[-1], p_values(counts, epsilons, 1e-2, uniforms))


def test_a_bound_is_taken_where_it_promises_more_and_shows_more() -> None:
    """N(0, 1) and N(1, 1) at delta 1e-2, true epsilon 2.318: on the counts at hand 0.01 more; seeded."""
    gained = []
    for seed in range(6):
        rng = np.random.default_rng((seed, 77))
        left, right = rng.normal(1, 1, 100_000), rng.normal(0, 1, 100_000)
        found = audit_privacy(
            left, right, ApproxDP(2.318, 1e-2), adjacency="as drawn", failure_probability=0.05, seed=seed
        )
        (judged,) = found.focuses
        assert judged.focus.test is Test.BOUNDED
        free = p_values(judged.counts, np.linspace(1.5, 2.5, 2001), 1e-2, (0.5, 0.5, 0.5)) > 0.05 * 0.95
        gained.append(found.epsilon_lower - (1.5 + 0.0005 * int(free.argmax())))
    assert np.median(gained) > 0.01
    left, right = np.random.default_rng(1).laplace([[1.0], [0.0]], 1.0, (2, 20_000))
    pure = audit_privacy(left, right, PureDP(1.0), adjacency="as drawn", failure_probability=0.05, seed=1)
    assert pure.focuses[0].focus.test is not Test.BOUNDED


def test_without_delta_and_without_pairs_on_both_sides_it_is_the_sign_test() -> None:
    share = 1 / (1 + math.exp(-1.5))
    value = float(p_values(PairCounts(0, 40, 5, 1000), 1.5, 0.0, (0.1, 0.2, 0.3)))
    assert value == pytest.approx(binom.sf(39, 45, share) * (1 + 1e-9), rel=1e-12)


def test_uniforms_give_binomial_numbers() -> None:
    """The quantiles against SciPy's, over all sizes."""
    for trials in (0, 1, 7, 1000, 10**6):
        for probability in (0.0, 1e-9, 1e-3, 0.3, 0.999, 1.0):
            for uniform in (1e-9, 0.2, 0.5, 0.97, 1 - 1e-9):
                drawn = joint._binomial(uniform, np.array([trials]), np.array([probability]))[0]
                assert drawn == (binom.ppf(uniform, trials, probability) if trials else 0), (
                    trials, probability, uniform,
                )  # fmt: skip


def test_counts_of_pairs() -> None:
    first, second = np.array([1, 1, 1, 0, 0, 0], dtype=bool), np.array([1, 0, 0, 1, 0, 0], dtype=bool)
    counts = PairCounts.of(first, second)
    assert counts == PairCounts(1, 2, 1, 2)
    assert counts.swapped() == PairCounts.of(second, first)
    assert counts.complement() == PairCounts.of(~first, ~second)


def test_what_is_typical_is_what_expected_counts_give() -> None:
    """At counts of a few hundred, within two percent: it chooses events, and no verdict rests on it."""
    pairs, p, q, level = 100_000, 0.05, 0.004, 0.05
    bound = float(typical_bound(np.array([p]), np.array([q]), pairs, 0.0, 1.3529)[0])
    counts = PairCounts(*(round(pairs * share) for share in _law(p, q, "independent")))
    grid = np.linspace(0.5, 1.2, 2001) * bound
    rejected = p_values(counts, grid, 0.0, (0.5, 0.5, 0.5)) <= level
    assert grid[int((~rejected).argmax())] == pytest.approx(bound, rel=0.02)
    assert typical_rate(np.array([0.1]), np.array([0.2]), pairs, 0.0, 0.0) == 0


@pytest.mark.parametrize("pairs", [30, 3_000, 4_000_000])
def test_p_values_are_rounded_up(pairs: int) -> None:
    """Against Arb, over tails down to 1e-16, by a relative 1e-9 and little more."""
    rng, before = np.random.default_rng(7), ctx.prec
    ctx.prec = 200
    try:
        for _ in range(20):
            epsilon = float(10 ** rng.uniform(-4, 0.7))
            share = 1 / (1 + (-arb(epsilon)).exp())
            about = float(share)
            first = round(pairs * about + rng.uniform(0, 8) * math.sqrt(pairs * about * (1 - about)))
            first = min(max(first, 1), pairs)
            exact = share.beta_lower(arb(first), arb(pairs - first + 1), regularized=True)
            counts = PairCounts(0, first, pairs - first, 0)
            value = float(p_values(counts, epsilon, 0.0, (0.5, 0.5, 0.5)))
            assert arb(value) >= exact or value == 1.0
            assert arb(value) <= exact * (1 + arb(3e-9))
    finally:
        ctx.prec = before


def test_no_epsilon_overflows() -> None:
    """Beyond 700 exp is no float: such a claim is not rejected, whatever was seen."""
    seen = PairCounts(0, 10**6, 0, 0)
    for delta in (0.0, 1e-300, 1e-5, 0.5):
        values = p_values(seen, [50.0, 700.0, 800.0, 1e300], delta, (0.5, 0.5, 0.5))
        assert np.array_equal(values, np.ones(4))
        assert np.all(np.isfinite(typical_rate(np.array([1.0, 0.5]), np.zeros(2), 100, 1e300, delta)))
