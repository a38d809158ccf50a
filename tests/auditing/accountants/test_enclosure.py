"""Poisson-sampled Gaussian releases between two proven bounds, beside closed forms, dp-accounting and simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from flint import fmpz_poly

from dpverify.auditing.accountants import NoisyReleases, audit_epsilon, enclosure
from dpverify.auditing.accountants.enclosure import Lattice, SampledGaussianReleases
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import gaussian_hockey_stick

CELLS = 2**10


def one_release(noise: float, q: float, epsilon: float) -> float:
    """Delta of one release, by advanced joint convexity, which is exact here; in the direction that is worse."""
    return q * float(gaussian_hockey_stick(math.log1p(math.expm1(epsilon) / q), 1 / noise))


@pytest.mark.parametrize(
    ("noise", "steps", "delta"),
    [(1.0, 1, 1e-5), (1.0, 20, 1e-5), (0.01, 1, 1e-5), (3.0, 7, 0.3), (50.0, 3, 1e-12), (1e6, 10, 1e-9)],
)
def test_all_records_have_the_closed_form(noise: float, steps: int, delta: float) -> None:
    exact = NoisyReleases("gaussian", noise, steps).smallest_epsilon(delta)
    found = SampledGaussianReleases(noise, 1.0, steps, CELLS).smallest_epsilon(delta)
    assert found.rigorous
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper <= exact.upper * 1.005


@pytest.mark.parametrize(
    ("noise", "q", "epsilon"),
    [
        (1.0, 0.01, 0.1),
        (1.0, 0.01, 0.0),
        (0.5, 0.3, 1.0),
        (5.0, 0.5, 0.05),
        (0.05, 1e-7, 3.0),
        (0.2, 0.9, 4.0),
    ],
)
def test_one_release_has_the_closed_form(noise: float, q: float, epsilon: float) -> None:
    found = SampledGaussianReleases(noise, q, 1, 2**11).smallest_delta(epsilon)
    exact = one_release(noise, q, epsilon)
    assert found.lower <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= found.upper <= exact * 1.01
    assert found.lower >= exact * 0.95


def test_both_directions_count() -> None:
    """Here removal is the worse one."""
    releases = SampledGaussianReleases(1.0, 0.5, 3, CELLS)
    remove, add = (enclosure._bounds(releases, side, 1e-3).epsilon(1e-3) for side in ("remove", "add"))  # type: ignore[arg-type]
    assert add.upper < remove.lower
    assert releases.smallest_epsilon(1e-3).upper == remove.upper
    # addition has no loss above -T log(1 - q)
    assert add.upper <= 3 * math.log(2)


def test_more_cells_narrow_it() -> None:
    coarse, fine = (
        SampledGaussianReleases(2.0, 0.1, 30, cells).smallest_epsilon(1e-5) for cells in (2**9, 2**11)
    )
    assert coarse.lower <= fine.lower <= fine.upper <= coarse.upper
    assert fine.upper - fine.lower < 0.1 * (coarse.upper - coarse.lower)


def test_simulation_agrees() -> None:
    """E (1 - e^(epsilon - loss))+ by 200,000 runs; six standard errors, a false alarm in 1e-8."""
    noise, q, steps, epsilon, runs = 1.0, 0.2, 5, 0.5, 200_000
    rng = np.random.default_rng(7)
    loss = np.zeros(runs)
    for _ in range(steps):
        x = noise * rng.normal(size=runs) + (rng.random(runs) < q)
        loss += np.log1p(q * np.expm1((2 * x - 1) / (2 * noise**2)))
    terms = np.maximum(0.0, -np.expm1(epsilon - loss))
    found = SampledGaussianReleases(noise, q, steps, CELLS).smallest_delta(epsilon)
    error = 6 * float(terms.std()) / math.sqrt(runs)
    assert found.lower - error <= float(terms.mean()) <= found.upper + error
    assert found.upper - found.lower < error


@pytest.mark.parametrize(("noise", "q", "steps", "delta"), [(1.0, 0.01, 1000, 1e-5), (4.0, 0.5, 50, 1e-9)])
def test_beside_dp_accounting(noise: float, q: float, steps: int, delta: float) -> None:
    from dp_accounting.pld import privacy_loss_distribution as pld

    single = pld.from_gaussian_mechanism(noise, sampling_prob=q, use_connect_dots=True)
    theirs = float(single.self_compose(steps).get_epsilon_for_delta(delta))
    found = SampledGaussianReleases(noise, q, steps, 2**11).smallest_epsilon(delta)
    assert found.lower < theirs
    assert theirs == pytest.approx(found.upper, rel=2e-3)


def test_dp_accounting_is_enough_and_a_little_less_is_not() -> None:
    """Audits that were undecided before: dp-accounting's own number, and the same with 1% less."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    # with a coarse grid, so that few cells show it
    single = pld.from_gaussian_mechanism(
        1.0, sampling_prob=0.1, use_connect_dots=True, value_discretization_interval=1e-2
    )
    claimed = float(single.self_compose(20).get_epsilon_for_delta(1e-5))
    releases = NoisyReleases("gaussian", 1.0, 20, 0.1, cells=2**11)
    assert audit_epsilon(claimed, releases, delta=1e-5).verdict is Verdict.SUPPORTED
    assert audit_epsilon(0.99 * claimed, releases, delta=1e-5).verdict is Verdict.VIOLATED
    # an accountant that forgets a step of twenty
    fewer = replace(releases, steps=19).smallest_epsilon(1e-5)
    assert audit_epsilon(fewer.upper, releases, delta=1e-5).verdict is Verdict.VIOLATED


def test_groups_give_each_cell_away_once() -> None:
    """Shares of sum 1, whatever their size, and points that lie on the lattice but for the last."""
    rng = np.random.default_rng(5)
    places = np.sort(rng.uniform(-3, 40, size=60))
    weights = 1 / (1 + (places - 15) ** 2)
    groups = list(enclosure._groups(places, weights, 0.01, 0.25))
    shares = np.zeros(60)
    for group in groups:
        for k, share in group:
            assert 0 < share <= 1
            shares[k] += share
    np.testing.assert_array_equal(shares, 1)
    # at the top there may be nothing left that lifts the last ones
    for group in groups[:-3]:
        cells, parts = (np.array(column) for column in zip(*group, strict=True))
        mass = parts * weights[cells]
        point = -np.log(mass @ np.exp(-0.01 * places[cells]) / mass.sum()) / 0.01
        assert point - 0.25 == pytest.approx(round(point - 0.25), abs=0.02)


def test_products_are_rounded_outward() -> None:
    law = Lattice(fmpz_poly([3, 0, 5]), -1, 1)
    up, down = (law.times(law, 2, upward=way) for way in (True, False))
    # an infinite loss of either, with 9 and 8 quarters of the other
    assert (up.masses.coeffs(), up.first, up.infinite) == ([3, 1, 8, 1, 7], -2, 5)
    assert (down.masses.coeffs(), down.first) == ([2, 0, 7, 0, 6], -2)
    cut = Lattice(fmpz_poly([1, 2, 9, 1]), 0).trimmed(3, upward=True)
    assert (cut.masses.coeffs(), cut.first, cut.infinite) == ([12], 2, 1)
    lost = Lattice(fmpz_poly([1, 2, 9, 1]), 0).trimmed(3, upward=False)
    assert (lost.masses.coeffs(), lost.first, lost.infinite) == ([9], 2, 0)


@pytest.mark.parametrize(
    ("noise", "q", "steps", "delta"),
    [
        (0.01, 0.5, 10**6, 1e-5),
        (0.01, 1e-9, 10**6, 1e-5),
        (1e6, 1e-9, 10**6, 1e-5),
        (1.0, 0.01, 100, 1e-300),
        (1.0, 0.01, 100, 0.999),
        (1.0, 1 - 2**-53, 3, 1e-5),
    ],
)
def test_extremes(noise: float, q: float, steps: int, delta: float) -> None:
    found = SampledGaussianReleases(noise, q, steps, 64).smallest_epsilon(delta)
    assert 0 <= found.lower <= found.upper


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: SampledGaussianReleases(0.0, 0.1), "noise_multiplier was 0.0"),
        (lambda: SampledGaussianReleases(math.nan, 0.1), "noise_multiplier was nan"),
        (lambda: SampledGaussianReleases(1.0, 0.0), "sampling_probability was 0.0"),
        (lambda: SampledGaussianReleases(1.0, 0.1, 0), "steps was 0"),
        (lambda: SampledGaussianReleases(1.0, 0.1, 1, 10), "cells was 10"),
        (lambda: NoisyReleases("gaussian", 1.0, 1, 0.1, cells=10), "cells was 10"),
        (lambda: SampledGaussianReleases(1.0, 0.1).smallest_epsilon(0.0), "delta was 0.0"),
        (lambda: SampledGaussianReleases(1.0, 0.1).smallest_epsilon(1.0), "delta was 1.0"),
        (lambda: SampledGaussianReleases(1.0, 0.1).smallest_delta(-1.0), "epsilon was -1.0"),
        (lambda: SampledGaussianReleases(1.0, 0.1).smallest_delta(1.0, least=0.0), "least was 0.0"),
    ],
)
def test_bad_arguments(make: Callable[[], object], says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        make()
