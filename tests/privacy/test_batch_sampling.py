"""Random batches: against integrals, against the accountant for single records, and with faults planted."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from dpverify.errors import InvalidArgumentError
from dpverify.privacy import gaussian_hockey_stick, subsampled_gaussian
from dpverify.privacy.batch_sampling import SampledBatch, SampledBatches, sampled_batches

EPSILONS = (0.0, 0.05, 0.3, 1.0, 2.0)


def mixture_divergence(weights: list[float], means: list[float], epsilon: float, other: float = 0.0) -> float:
    """Hockey-stick divergence of a mixture of N(mean, 1) from N(other, 1), by sums on a fine grid."""
    x = np.linspace(-12, 12 + max(means), 200_001)
    left = sum(w * stats.norm.pdf(x, m) for w, m in zip(weights, means, strict=True))
    positive = np.maximum(left - math.exp(epsilon) * stats.norm.pdf(x, other), 0.0)
    return float(np.sum(positive) * (x[1] - x[0]))


def instance(n: int, batch: int, mu: float, epsilon: float) -> float:
    """Where all other records are alike: k mu with binomial k against 0, by the root of the rising density ratio."""
    law = stats.binom(batch, 1 / n)
    copies = np.arange(batch + 1)
    mass = law.pmf(copies)

    def ratio(x: float) -> float:
        return float(np.sum(mass * np.exp(copies * mu * x - (copies * mu) ** 2 / 2))) - math.exp(epsilon)

    root = optimize.brentq(ratio, -40.0, 40.0, xtol=1e-13)
    gained = math.fsum(mass * stats.norm.sf(root - copies * mu))
    return gained - math.exp(epsilon) * float(stats.norm.sf(root))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_without_replacement_is_attained_where_all_other_records_are_alike(epsilon: float) -> None:
    n, batch, mu = 5, 2, 1.3
    bound = float(SampledBatch(n, batch, mu).privacy_profile(epsilon))
    exact = mixture_divergence([1 - batch / n, batch / n], [0.0, mu], epsilon)
    assert bound == pytest.approx(exact, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("n", "batch"), [(2, 3), (4, 4), (10, 25)])
def test_with_replacement_bounds_the_exact_mixture(n: int, batch: int, epsilon: float) -> None:
    mu = 0.7
    exact = instance(n, batch, mu, epsilon)
    bound = float(SampledBatch(n, batch, mu, replacement=True).privacy_profile(epsilon))
    assert exact <= bound
    assert bound <= 1.2 * exact


@pytest.mark.parametrize(("n", "batch", "mu"), [(2, 3, 0.7), (3, 3, 1.5), (4, 3, 3.0), (3, 4, 0.2)])
def test_with_replacement_bounds_every_batch_that_can_be_drawn(n: int, batch: int, mu: float) -> None:
    """All n^m draws of records on a line, an interval of length mu: both ends replaced, the others anywhere on it."""
    rng = np.random.default_rng(n * 100 + batch)
    release = SampledBatch(n, batch, mu, replacement=True)
    x = np.linspace(-9, 9 + batch * mu, 6001)
    epsilons = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0)
    bounds = release.privacy_profile(np.array(epsilons))
    for others in (np.zeros(n - 1), np.full(n - 1, mu), np.full(n - 1, mu / 2), rng.uniform(0, mu, n - 1)):
        laws = []
        for record in (mu, 0.0):
            values = np.append(others, record)
            sums, counts = np.unique(
                [math.fsum(values[list(draw)]) for draw in itertools.product(range(n), repeat=batch)],
                return_counts=True,
            )
            laws.append(stats.norm.pdf(x[:, None], sums) @ (counts / counts.sum()))
        for left, right in (laws, laws[::-1]):
            for epsilon, bound in zip(epsilons, bounds, strict=True):
                exact = np.trapezoid(np.maximum(left - math.exp(epsilon) * right, 0), x)
                assert exact <= bound * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize(
    ("n", "batch", "mu", "epsilon"),
    [
        (100, 10, 0.25, 0.05),
        (100, 10, 0.25, 0.12),
        (100, 10, 1.0, 1.0),
        (100, 10, 1.0, 2.778),
        (4, 4, 0.7, 1.0),
    ],
)
def test_with_replacement_is_attained_where_all_numbers_of_copies_get_a_share(
    n: int, batch: int, mu: float, epsilon: float
) -> None:
    """Shares in proportion to how likely each number is gave ten of 100 records at noise 4 epsilon .217 at 1e-5."""
    bound = float(SampledBatch(n, batch, mu, replacement=True).privacy_profile(epsilon))
    exact = instance(n, batch, mu, epsilon)
    assert exact <= bound <= exact * (1 + 1e-9)


@pytest.mark.parametrize(("n", "batch", "mu"), [(100, 10, 1.0), (5, 8, 0.3), (2, 3, 0.7), (1000, 3, 4.0)])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
def test_no_other_shares_are_better(n: int, batch: int, mu: float, epsilon: float) -> None:
    """Neither shares in proportion to m_k (Theorem 10), nor random ones, nor the best ones a little changed."""
    release, rng = SampledBatch(n, batch, mu, replacement=True), np.random.default_rng(3)
    bound = float(release._profile(np.array([epsilon]))[0])
    copies, mass = map(np.array, zip(*release._copies, strict=True))
    there_is = math.expm1(epsilon) * (1 - release.probability)
    best = mass * (np.exp(np.ravel(release._of_copies(np.array([epsilon])))) - math.exp(epsilon))
    assert math.fsum(best) == pytest.approx(there_is, rel=1e-9)
    assert math.fsum(best) <= there_is * (1 + 1e-12)
    others = [mass / math.fsum(mass), *rng.dirichlet(np.ones(len(mass)), 20)]
    others += [best / math.fsum(best) * rng.uniform(0.5, 1.5, len(mass)) for _ in range(20)]
    for share in others:
        inner = np.log(math.exp(epsilon) + there_is * share / math.fsum(share) / mass)
        divergences = [float(gaussian_hockey_stick(e, k * mu)) for e, k in zip(inner, copies, strict=True)]
        assert math.fsum(mass * divergences) >= bound * (1 - 1e-9)


def test_shares_of_more_than_there_is_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: what batches without the record have on the neighbor's side, e^epsilon, instead of e^epsilon - 1."""
    release = SampledBatch(100, 10, 1.0, replacement=True)
    epsilon = np.array([2.0])
    right = float(release._profile(epsilon)[0])
    shares = release._of_copies(np.log1p(np.exp(epsilon)))
    monkeypatch.setattr(SampledBatch, "_of_copies", lambda *_: shares)
    assert float(release._profile(epsilon)[0]) < instance(100, 10, 1.0, 2.0) <= right


@pytest.mark.parametrize(
    ("n", "batch", "mu"), [(100, 10, 1e-9), (5, 8, 0.3), (2, 30, 39.0), (2, 1, 0.0), (7, 7, 1e-4)]
)
def test_extremes_stay_numbers_and_fall(n: int, batch: int, mu: float) -> None:
    release = SampledBatch(n, batch, mu, replacement=True)
    found = release.privacy_profile(np.array([0.0, 1e-300, 1e-12, 1e-3, 1.0, 30.0, 700.0, 1e6, math.inf]))
    assert np.all(np.isfinite(found))
    assert np.all(np.diff(found) <= 1e-15)
    assert found[0] <= 1


def test_forgetting_that_a_record_may_come_twice_is_seen() -> None:
    n, batch, mu, epsilon = 4, 4, 0.7, 1.0
    exact = instance(n, batch, mu, epsilon)
    p = 1 - (1 - 1 / n) ** batch
    once = p * float(gaussian_hockey_stick(math.log1p(math.expm1(epsilon) / p), mu))
    assert once < exact


@pytest.mark.parametrize(("n", "steps", "noise"), [(50, 2499, 5.0), (20, 1, 1.0), (20, 399, 1.0)])
def test_batches_of_one_agree_with_single_records(n: int, steps: int, noise: float) -> None:
    ours = sampled_batches((SampledBatch(n, 1, 1 / noise), steps))
    theirs = subsampled_gaussian(n, steps, noise)
    for epsilon in (0.0, 0.5, 1.0):
        expected = float(theirs.privacy_profile(epsilon))
        assert ours.at(epsilon) == pytest.approx(expected, rel=1e-2)
        assert float(ours.privacy_profile(epsilon)) >= ours.at(epsilon) * (1 - 1e-9)
        assert float(ours.privacy_profile(epsilon)) == pytest.approx(expected, rel=1e-2)


def test_two_releases_against_quadrature_in_the_plane() -> None:
    """Both releases are (1 - q) N(0, 1) + q N(mu, 1) against N(0, 1), which the single bound attains."""
    n, batch, mu, epsilon = 4, 2, 1.0, 0.5
    axis = np.linspace(-9, 11, 1601)
    q = batch / n
    left = (1 - q) * stats.norm.pdf(axis) + q * stats.norm.pdf(axis, mu)
    right = stats.norm.pdf(axis)
    product = np.maximum(np.outer(left, left) - math.exp(epsilon) * np.outer(right, right), 0.0)
    exact = float(np.sum(product)) * (axis[1] - axis[0]) ** 2
    bound = sampled_batches((SampledBatch(n, batch, mu), 2)).at(epsilon)
    # the bound covers both directions with one pair, which costs something in composition
    assert exact <= bound <= 1.1 * exact


def test_different_releases_add_up() -> None:
    parts = ((SampledBatch(30, 9, 0.4, replacement=True), 1), (SampledBatch(30, 5, 0.4, replacement=True), 2))
    both = SampledBatches(parts)
    assert both.releases == 3
    assert both.at(0.5) > SampledBatches(parts[1:]).at(0.5) > 0
    profile = np.asarray(both.privacy_profile(np.linspace(0, 5, 200)))
    assert np.all(np.diff(profile) <= 0)
    assert float(both.privacy_profile(math.inf)) <= 1e-12
    assert str(both).count("times") == 2


GOOD: dict[str, Any] = {"n": 5, "batch": 2, "mu": 1.0, "replacement": False}
BAD = [
    *(("n", value) for value in (0, -1, 2.0, True, math.nan, "5")),
    *(("batch", value) for value in (0, 6, 1.5, True, None)),
    *(("mu", value) for value in (-0.1, math.nan, math.inf, 40.0, True, "1")),
    *(("replacement", value) for value in (1, None, "yes")),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_arguments(name: str, value: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        SampledBatch(**{**GOOD, name: value})


@pytest.mark.parametrize(
    "parts", [(), [], ((1, 2),), ((SampledBatch(5, 2, 1.0), 0),), (SampledBatch(5, 2, 1.0),)]
)
def test_bad_parts(parts: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        SampledBatches(parts)
