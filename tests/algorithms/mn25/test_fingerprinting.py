"""Tests of the tracing attack: the fingerprinting identity by enumeration, bounds, power and planted faults."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import array_api_strict
import numpy as np
import pytest
from scipy import stats

from dpverify.algorithms.mn25.fingerprinting import (
    LEMMA_BOUND,
    Fingerprinting,
    binarized,
    tracing_advantage,
)
from dpverify.auditing import audit_mean
from dpverify.errors import InvalidArgumentError, InvalidDataError, NotGuaranteedError
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import GDP, ApproxDP, gaussian_hockey_stick
from dpverify.problems import Dataset, load
from dpverify.running import Randomness, run

UNUSED = Dataset(np.ones((1, 1)), np.ones(1))
NODES, WEIGHTS = np.polynomial.legendre.leggauss(30)
WEIGHTS = WEIGHTS / 2  # theta is uniform on [-1, 1]
SHARP_BOUND = 2 / 3 - 2 * (1 / 6) / math.sqrt(3)  # see LEMMA_BOUND


def _correlation(estimator: dict[tuple[int, ...], float], n: int) -> float:
    """E A(S) sum (X_i - theta) for one coordinate, by enumerating data sets and integrating over theta exactly."""
    total = 0.0
    for theta, weight in zip(NODES, WEIGHTS, strict=True):
        for sample in itertools.product((-1, 1), repeat=n):
            probability = math.prod((1 + x * theta) / 2 for x in sample)
            total += weight * probability * estimator[sample] * (sum(sample) - n * theta)
    return total


def _answer(estimator: dict[tuple[int, ...], float], theta: float) -> float:
    return sum(math.prod((1 + x * theta) / 2 for x in sample) * a for sample, a in estimator.items())


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_identity_behind_the_lemma(n: int) -> None:
    """E A sum (X_i - theta) = 2 E theta E[A | theta], for any estimator whatever."""
    rng = np.random.default_rng(n)
    for _ in range(5):
        estimator = {s: float(rng.normal()) for s in itertools.product((-1, 1), repeat=n)}
        right = sum(2 * w * t * _answer(estimator, t) for t, w in zip(NODES, WEIGHTS, strict=True))
        assert _correlation(estimator, n) == pytest.approx(right, abs=1e-12)


def test_the_mean_has_two_thirds() -> None:
    for n in (1, 2, 3):
        mean = {s: sum(s) / n for s in itertools.product((-1, 1), repeat=n)}
        assert _correlation(mean, n) == pytest.approx(2 / 3, abs=1e-12)
    assert Fingerprinting(3, 5).accurate_sum(UNUSED) == 2 / 3


def test_lemma_15_holds_and_its_proof_shows_half_of_it() -> None:
    """Estimators with the largest allowed bias stay above the sharp bound, which is above the printed 1/3."""
    printed_chain = 2 / 3 - 1 / 6 - 1 / 3
    assert printed_chain == pytest.approx(1 / 6)
    assert printed_chain < LEMMA_BOUND < SHARP_BOUND < 0.475
    # n = 3, bias of size 1/6 wherever it hurts most: shrink the mean, as far as |E A - theta| <= 1/6 allows
    shrunk = {s: 5 / 6 * sum(s) / 3 for s in itertools.product((-1, 1), repeat=3)}
    assert max(abs(_answer(shrunk, t) - t) for t in np.linspace(-1, 1, 101)) <= 1 / 6 + 1e-12
    assert _correlation(shrunk, 3) >= SHARP_BOUND
    # and an estimator outside of the lemma's condition goes below
    useless = dict.fromkeys(itertools.product((-1, 1), repeat=3), 0.0)
    assert _correlation(useless, 3) < SHARP_BOUND


def test_the_sharp_bound_is_nearly_attained() -> None:
    """G = theta - bias theta / ||theta|| has 2 E <theta, g> = 2/3 - 2 bias E ||theta||, in the scale of the module."""
    theta = np.random.default_rng(1).uniform(-1, 1, (20_000, 400)) / 20
    value = np.mean(2 * (np.sum(theta**2, axis=1) - np.sqrt(np.sum(theta**2, axis=1)) / 6))
    assert value == pytest.approx(SHARP_BOUND, abs=1e-3)


def test_the_printed_threshold_of_lemma_14_does_not_work() -> None:
    """exp(epsilon - tau^2/(8 d)) + delta <= 2 delta fails at tau^2 = 3 d ln(1/delta) even for epsilon = 0."""
    for delta in (1e-2, 1e-5, 1e-9):
        logarithm = math.log(1 / delta)
        assert math.exp(-3 * logarithm / 8) > delta
        # the corrected threshold, with Hoeffding's own constant, at the largest epsilon allowed
        assert math.exp(logarithm - 4 * logarithm / 2) <= delta * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_the_private_bound_against_randomized_response(epsilon: float) -> None:
    """One record, d = 1: reporting it with the truth's odds e^epsilon has E Z = tanh(epsilon/2) E (1 - theta^2)."""
    exact = math.tanh(epsilon / 2) * 2 / 3
    attack = Fingerprinting(1, 1)
    assert exact <= attack.private_sum(UNUSED, epsilon, 1e-9)
    # the bound is of the right order: without sinh it would fail
    assert exact > 0.2 * min(1.0, epsilon)


def _slow(n: int, d: int, sigma: float, runs: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """One data set after another, each statistic by its definition."""
    found = []
    for _ in range(runs):
        theta = rng.uniform(-1, 1, d)
        people = np.where(rng.random((n + 1, d)) < (1 + theta) / 2, 1.0, -1.0) / math.sqrt(d)
        answer = people[:n].mean(axis=0) + sigma * rng.normal(size=d)
        answer /= max(1.0, float(np.linalg.norm(answer)))
        z = [float(answer @ (x - theta / math.sqrt(d))) for x in people]
        found.append((sum(z[:n]), z[0], z[n]))
    return np.array(found)


@pytest.mark.parametrize("sigma", [0.0, 0.3])
def test_a_slow_twin_has_the_same_law(sigma: float) -> None:
    """Kolmogorov-Smirnov at 1e-6 for each of the three numbers, 6 tests: false alarm below 1e-5."""
    attack = Fingerprinting(3, 6, noise_stddev=sigma)
    fast = run(attack, UNUSED, runs=4_000, seed=5).points
    slow = _slow(3, 6, sigma, 4_000, np.random.default_rng(6))
    for k in range(3):
        assert stats.ks_2samp(fast[:, k], slow[:, k]).pvalue > 1e-6


def test_the_twin_notices_a_wrong_statistic() -> None:
    """A planted fault: a statistic that forgets to subtract theta."""
    slow = _slow(3, 6, 0.0, 4_000, np.random.default_rng(6))
    attack = Fingerprinting(3, 6)
    fast = run(attack, UNUSED, runs=4_000, seed=5).points
    forgetful = fast[:, 2] + 0.5 / math.sqrt(6)
    assert stats.ks_2samp(forgetful, slow[:, 2]).pvalue < 1e-6


def test_members_that_are_not_looked_at_add_nothing() -> None:
    all_seen = run(Fingerprinting(8, 50), UNUSED, runs=4_000, seed=1).points
    two_seen = run(Fingerprinting(8, 50, accessed=2), UNUSED, runs=4_000, seed=1).points
    # both sums have the expectation 2/3, the second from two members only; 6 standard errors
    for points in (all_seen, two_seen):
        error = 6 * points[:, 0].std() / math.sqrt(4_000)
        assert points[:, 0].mean() == pytest.approx(2 / 3, abs=error)
    assert two_seen[:, 1].mean() > 3 * all_seen[:, 1].mean()


def _audited_advantage(attack: Fingerprinting, threshold: float) -> Verdict:
    epsilon, delta = 1.0, 1e-5
    points = run(attack, UNUSED, runs=4_000, seed=7).points
    values = tracing_advantage(points, threshold, epsilon)
    found = audit_mean(values, bound=delta, lower=-math.e, upper=1.0, failure_probability=1e-6)
    return found.verdict


def test_the_attack_works_without_privacy_and_fails_with_it() -> None:
    threshold = 2 / math.sqrt(500)
    private = Fingerprinting(8, 500, epsilon=1.0)
    assert _audited_advantage(Fingerprinting(8, 500), threshold) is Verdict.VIOLATED
    assert _audited_advantage(private, threshold) is Verdict.SUPPORTED
    # a planted fault: a tenth of the noise
    broken = dataclasses.replace(private, noise_stddev=private.sigma / 10, withdraw_guarantee=True)
    assert _audited_advantage(broken, threshold) is Verdict.VIOLATED


def test_the_noise_is_the_smallest_that_is_private() -> None:
    attack = Fingerprinting(8, 20, epsilon=0.7, delta=1e-4, accessed=4)
    assert gaussian_hockey_stick(0.7, 0.5 / attack.sigma) <= 1e-4
    assert gaussian_hockey_stick(0.7, 0.5 / (attack.sigma * (1 - 1e-6))) > 1e-4
    claim, mu = attack.estimator_guarantees()
    assert claim.guarantee == ApproxDP(0.7, 1e-4)
    assert mu.guarantee == GDP(0.5 / attack.sigma)
    assert not attack.guarantees(8)
    assert attack.guarantee_at(8, 1) is None
    assert Fingerprinting(8, 20).estimator_guarantees() == ()


def test_less_noise_is_refused_or_withdrawn() -> None:
    with pytest.raises(NotGuaranteedError, match="is below"):
        Fingerprinting(8, 20, epsilon=1.0, noise_stddev=0.01)
    withdrawn = Fingerprinting(8, 20, epsilon=1.0, noise_stddev=0.01, withdraw_guarantee=True)
    assert withdrawn.withdrawn(8)
    assert withdrawn.estimator_guarantees() == ()
    assert Fingerprinting(8, 20, epsilon=1.0, noise_stddev=10.0).estimator_guarantees()


@pytest.mark.parametrize("name", ["digits", "breast-cancer"])
def test_a_real_population(name: str) -> None:
    """The exact sum is tr Cov, against the population's own covariance and against runs (6 standard errors)."""
    data = binarized(load(name))
    np.testing.assert_allclose(np.abs(data.features), 1 / math.sqrt(data.d))
    attack = Fingerprinting(3)
    exact = float(np.trace(np.cov(data.features.T, bias=True)))
    assert attack.accurate_sum(data) == pytest.approx(exact, rel=1e-10)
    points = run(attack, data, runs=5_000, seed=2).points
    assert points[:, 0].mean() == pytest.approx(exact, abs=6 * points[:, 0].std() / math.sqrt(5_000))
    assert abs(points[:, 2].mean()) <= 6 * points[:, 2].std() / math.sqrt(5_000)
    worst = max(float(v @ np.cov(data.features.T, bias=True) @ v) for v in np.eye(data.d))
    assert worst <= attack.largest_variance(data) <= 1.0


def test_a_population_of_other_numbers_is_refused() -> None:
    with pytest.raises(InvalidDataError, match="binarized"):
        Fingerprinting(3)(load("digits"), rng=Randomness(1), runs=2)


def test_array_api_strict() -> None:
    data = binarized(load("digits"))
    for attack in (Fingerprinting(3, 7, epsilon=1.0), Fingerprinting(3, epsilon=1.0, accessed=2)):
        plain = run(attack, data, runs=20, seed=4).points
        strict = run(attack, data, runs=20, seed=4, xp=array_api_strict).points
        np.testing.assert_allclose(strict, plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("members", 0),
        ("members", 2.0),
        ("members", True),
        ("dimension", 0),
        ("dimension", 1.5),
        *((name, value) for name in ("epsilon", "delta") for value in (0.0, -1.0, math.nan, math.inf, True)),
        ("delta", 1.0),
        ("noise_stddev", -1.0),
        ("noise_stddev", math.nan),
        ("noise_stddev", math.inf),
        ("accessed", 0),
        ("accessed", 5),
        ("withdraw_guarantee", 1),
    ],
)
def test_bad_parameters(argument: str, value: object) -> None:
    good: dict[str, Any] = {"members": 4, "dimension": 3}
    with pytest.raises(InvalidArgumentError, match=argument):
        Fingerprinting(**{**good, argument: value})


def test_bad_arguments() -> None:
    with pytest.raises(InvalidArgumentError, match="statistics"):
        tracing_advantage(np.zeros((3, 2)), 0.1, 1.0)
    with pytest.raises(InvalidArgumentError, match="epsilon"):
        Fingerprinting(4, 3).private_sum(UNUSED, math.inf, 1e-5)
    with pytest.raises(InvalidArgumentError, match="delta"):
        Fingerprinting(4, 3).private_sum(UNUSED, 1.0, 0.0)
