"""How many guesses can be correct if a claim is true: against exact laws, a linear program, and the papers' bounds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom, norm

from dpverify.auditing.one_run.tails import (
    ClaimedPoints,
    Guesses,
    corner_points,
    gaussian_points,
    is_too_many,
    too_many_from,
)
from dpverify.privacy import GDP, PureDP, zCDP

from .published import mahloujifar_refutes, steinke_tail


def tail_bound(points: ClaimedPoints, guesses: Guesses, correct: int) -> float:
    """The smaller of both bounds of P(C >= correct), to a relative 1e-4; 0 below 1e-18."""
    low, high = -18.0, 0.0
    if not is_too_many(points, guesses, correct, 1.0 - 1e-12):
        return 1.0
    while high - low > 2e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if is_too_many(points, guesses, correct, 10.0**middle) else (middle, high)
    return 10.0**high if low > -18.0 else 0.0


@pytest.mark.parametrize(("epsilon", "count", "correct"), [(1.0, 100, 85), (0.1, 500, 280), (3.0, 60, 60)])
def test_pure_claims_have_the_binomial_tail(epsilon: float, count: int, correct: int) -> None:
    found = tail_bound(ClaimedPoints.of(PureDP(epsilon)), Guesses(1000, count), correct)
    # randomized response attains it
    exact = float(binom.sf(correct - 1, count, 1 / (1 + math.exp(-epsilon))))
    assert exact <= found <= exact * 1.001


def test_a_mechanism_that_reveals_all_attains_the_bound() -> None:
    canaries, count, delta = 50, 20, 1e-3
    # with probability 50 delta / 20, the coins of 20 random canaries; else nothing: each coin with probability delta
    revealed = canaries * delta / count
    exact = revealed + (1 - revealed) * 0.5**count
    found = tail_bound(corner_points(0.0, delta), Guesses(canaries, count), count)
    assert exact <= found <= exact * 1.001


def _most(points: ClaimedPoints, guesses: Guesses, correct: int) -> float:
    """The largest P(C >= correct) under what the claim says of all sets of counts, as a linear program."""
    m, k, half = guesses.canaries, guesses.count, guesses.sides / 2
    rows, limits = [], []
    for epsilon, delta in zip(points.epsilons, points.deltas, strict=True):
        for chosen in itertools.product((0, 1), repeat=k):
            right, wrong = np.zeros(k + 1), np.zeros(k + 1)
            for j in np.flatnonzero(chosen):
                right[j + 1] += (j + 1) / m
                wrong[j] += (k - j) / m
            # the event, and its complement
            rows += [right - math.exp(epsilon) * wrong, math.exp(epsilon) * right - wrong]
            limits += [half * delta, half * (delta + math.exp(epsilon) - 1)]
    tail = -(np.arange(k + 1) >= correct).astype(float)
    found = linprog(tail, A_ub=rows, b_ub=limits, A_eq=np.ones((1, k + 1)), b_eq=[1.0])
    assert found.status == 0
    return float(-found.fun)


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("claim", [GDP(0.5), GDP(1.5), zCDP(0.2)], ids=str)
def test_no_law_that_keeps_to_the_claim_has_more(claim: object, sides: int) -> None:
    every = ClaimedPoints.of(claim)  # type: ignore[arg-type]
    chosen = [0, 10, 30, 70]
    points = ClaimedPoints(tuple(every.epsilons[chosen]), tuple(every.deltas[chosen]))
    gaps = []
    for canaries, count in ((8, 6), (40, 6)):
        for correct in range(4, count + 1):
            most = _most(points, Guesses(canaries, count, sides), correct)
            bound = tail_bound(points, Guesses(canaries, count, sides), correct)
            assert most <= bound * (1 + 1e-6)
            gaps.append(bound / most)
    assert np.median(gaps) < 1.25


def test_independent_gaussian_coordinates_keep_to_it() -> None:
    rng = np.random.default_rng(5)
    canaries, count, mu, runs = 200, 40, 1.0, 4000
    members = rng.random((runs, canaries)) < 0.5
    order = np.argsort(rng.normal(size=(runs, canaries)) + mu * members, axis=1)
    coins = np.take_along_axis(members, order, axis=1)
    correct = coins[:, -count // 2 :].sum(axis=1) + (~coins[:, : count // 2]).sum(axis=1)
    for count_correct in range(30, count + 1):
        seen = int((correct >= count_correct).sum())
        bound = tail_bound(gaussian_points(mu), Guesses(canaries, count), count_correct)
        # a true bound fails one of 11 checks with probability at most 1.1e-8
        assert binom.sf(seen - 1, runs, min(bound, 1.0)) > 1e-9


def test_sharper_than_the_papers_bounds() -> None:
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(300):
        canaries = int(rng.integers(5, 2000))
        count = int(rng.integers(1, canaries + 1))
        correct = int(rng.integers(count // 2 + 1, count + 1))
        epsilon, delta = rng.uniform(0, 5), 10 ** rng.uniform(-8, -1)
        theirs = steinke_tail(epsilon, delta, Guesses(canaries, count), correct)
        if 1e-17 < theirs < 0.9:
            ours = tail_bound(corner_points(epsilon, delta), Guesses(canaries, count), correct)
            ratios.append(ours / theirs)
    assert len(ratios) > 50
    assert max(ratios) <= 1.0001
    assert np.median(ratios) < 0.5
    guesses, points = Guesses(1000, 100), gaussian_points(1.0)
    assert is_too_many(points, guesses, 93, 0.47)
    assert not mahloujifar_refutes(points, guesses, 93, 0.52)


def test_the_printed_bound_of_one_guess() -> None:
    # by hand: P(B >= 1) = q, and P(1 > B >= 0) = 1 - q
    q = 1 / (1 + math.exp(-0.7))
    assert steinke_tail(0.7, 0.01, Guesses(5, 1), 1) == pytest.approx(q + 2 * 5 * 0.01 * (1 - q))


def test_more_privacy_allows_less() -> None:
    guesses = Guesses(2000, 150)
    bounds = [tail_bound(gaussian_points(mu), guesses, 140) for mu in (0.2, 0.5, 1.0, 2.0)]
    assert bounds == sorted(bounds)
    needed = [too_many_from(gaussian_points(mu), guesses, 0.05) for mu in (0.2, 0.5, 1.0)]
    assert needed == sorted(needed)  # type: ignore[type-var]
    assert too_many_from(gaussian_points(5.0), guesses, 0.05) is None


def test_the_smallest_probability_is_the_gaussian_one() -> None:
    points = gaussian_points(1.0)
    for probability in (1e-9, 1e-4, 0.1, 0.5, 0.9):
        exact = float(norm.cdf(norm.ppf(probability) - 1.0))
        assert exact * 0.98 <= points.least(probability) <= exact * (1 + 1e-6)


@pytest.mark.parametrize("claim", [PureDP(0.0), PureDP(900.0), GDP(1e-6), GDP(50.0)], ids=str)
def test_extreme_claims(claim: object) -> None:
    points = ClaimedPoints.of(claim)  # type: ignore[arg-type]
    for count, correct in ((100, 100), (1, 1), (10_000, 5_001)):
        bound = tail_bound(points, Guesses(10_000, count), correct)
        assert 0 <= bound <= 1
    allowed = tail_bound(points, Guesses(10_000, 100), 100)
    assert allowed == 1.0 if str(claim) in ("900-DP", "50-GDP") else allowed < 1e-4
