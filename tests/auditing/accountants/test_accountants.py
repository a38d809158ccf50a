"""Claimed epsilons against exact and two-sided values: too little is caught down to the last float."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dpverify.auditing.accountants import (
    DrawnBatches,
    HiddenIterates,
    NoisyReleases,
    Passes,
    Reference,
    audit_epsilon,
)
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.privacy import Adjacency, gaussian_hockey_stick

from ...benchmarks.looseness import ROWS, measured

GAUSSIAN = NoisyReleases("gaussian", 1.0)


def test_gaussian_epsilon_is_known_to_the_float() -> None:
    smallest = GAUSSIAN.smallest_epsilon(1e-5)
    assert smallest.rigorous
    assert smallest.upper == math.nextafter(smallest.lower, math.inf)
    assert gaussian_hockey_stick(smallest.upper, 1.0) == pytest.approx(1e-5, rel=1e-13)
    # 4 releases with twice the noise are one release
    assert NoisyReleases("gaussian", 2.0, 4).smallest_epsilon(1e-5) == smallest


def test_under_reporting_by_one_float_is_said() -> None:
    smallest = GAUSSIAN.smallest_epsilon(1e-5)
    right = audit_epsilon(smallest.upper, GAUSSIAN, delta=1e-5)
    assert (right.verdict, right.ulps) == (Verdict.SUPPORTED, None)
    below = audit_epsilon(smallest.lower, GAUSSIAN, delta=1e-5)
    assert (below.verdict, below.ulps) == (Verdict.VIOLATED, 1)
    assert "by 1 unit in the last place" in below.reason
    two = audit_epsilon(math.nextafter(smallest.lower, 0), GAUSSIAN, delta=1e-5)
    assert "by 2 units in the last place" in two.reason
    far = audit_epsilon(1.0, GAUSSIAN, delta=1e-5)
    assert (far.verdict, far.ulps) == (Verdict.VIOLATED, None)


def test_laplace() -> None:
    smallest = NoisyReleases("laplace", 0.5).smallest_epsilon(0.0)
    assert smallest.upper == 2
    assert audit_epsilon(2.0, NoisyReleases("laplace", 0.5), delta=0.0).verdict is Verdict.SUPPORTED
    one_less = audit_epsilon(math.nextafter(2, 0), NoisyReleases("laplace", 0.5), delta=0.0)
    assert (one_less.verdict, one_less.ulps) == (Verdict.VIOLATED, 1)
    assert NoisyReleases("laplace", 0.5).smallest_epsilon(0.9).upper == 0
    assert NoisyReleases("laplace", 0.5).smallest_epsilon(0.1).upper == pytest.approx(2 + 2 * math.log(0.9))
    sampled = NoisyReleases("laplace", 1.0, 3, 0.01).smallest_epsilon(0.0)
    assert sampled.upper == pytest.approx(3 * math.log1p(0.01 * (math.e - 1)))


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_sampled_releases_are_two_sided(noise: str) -> None:
    releases = NoisyReleases(noise, 4.0, 5, 0.5, cells=2**11)  # type: ignore[arg-type]
    smallest = releases.smallest_epsilon(1e-5)
    assert smallest.rigorous is (noise == "gaussian")
    assert smallest.lower < smallest.upper < 1.005 * smallest.lower
    below, between, above = (
        audit_epsilon(claimed, releases, delta=1e-5)
        for claimed in (0.99 * smallest.lower, (smallest.lower + smallest.upper) / 2, smallest.upper)
    )
    assert (below.verdict, between.verdict, above.verdict) == ("violated", "undecided", "supported")
    assert (below.ulps, between.gap, above.gap) == (None, Gap.NOT_RIGOROUS, None)


def test_sampled_releases_hold_the_closed_form() -> None:
    """Sampling that leaves out next to nothing, where the closed form is known."""
    exact = NoisyReleases("gaussian", 4.0, 20).smallest_epsilon(1e-5)
    near = NoisyReleases("gaussian", 4.0, 20, 1 - 1e-12, cells=2**11).smallest_epsilon(1e-5)
    assert near.lower <= exact.upper
    assert near.upper >= exact.lower * (1 - 1e-9)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "an instance" not in str(row.releases)], ids=lambda row: row.name
)
def test_our_bounds_are_not_below_the_references(row: object) -> None:
    ours, smallest = measured(row)  # type: ignore[arg-type]
    assert ours >= smallest.lower * (1 - 1e-12)


@pytest.mark.parametrize(
    "releases", [Passes(0.7, 50, 3), HiddenIterates(1.0, 20, 5, 0.9), HiddenIterates(1.0, 8)], ids=str
)
def test_other_closed_forms_are_known_to_the_float(releases: Reference) -> None:
    smallest = releases.smallest_epsilon(1e-5)
    assert smallest.upper == math.nextafter(smallest.lower, math.inf)
    assert audit_epsilon(smallest.upper, releases, delta=1e-5).verdict is Verdict.SUPPORTED
    found = audit_epsilon(smallest.lower, releases, delta=1e-5)
    assert (found.verdict, found.ulps) == (Verdict.VIOLATED, 1)


def test_hidden_iterates_are_a_gaussian() -> None:
    mu = 0.9**15 / math.sqrt(sum(0.81**k for k in range(20)))
    smallest = HiddenIterates(1.0, 20, 5, 0.9).smallest_epsilon(1e-5)
    assert gaussian_hockey_stick(smallest.upper, mu) == pytest.approx(1e-5, rel=1e-9)
    # half of the noise forgotten
    assert (
        audit_epsilon(smallest.upper, HiddenIterates(0.5, 20, 5, 0.9), delta=1e-5).verdict is Verdict.VIOLATED
    )


@pytest.mark.parametrize("replacement", [False, True])
def test_drawn_batches_are_between_an_instance_and_the_dominating_pair(replacement: bool) -> None:
    releases = DrawnBatches(2.0, 5, 2, 1, replacement)
    smallest = releases.smallest_epsilon(1e-3)
    instance = releases.instance().smallest_epsilon(1e-3)
    assert 0 < smallest.lower == instance.lower < instance.upper < 1.1 * instance.lower
    # one release is exact, up to the instance's grid
    assert instance.lower < smallest.upper
    assert smallest.upper == pytest.approx(instance.upper, rel=1e-3)
    assert audit_epsilon(0.99 * smallest.lower, releases, delta=1e-3).verdict is Verdict.VIOLATED
    assert audit_epsilon(smallest.upper, releases, delta=1e-3).verdict is Verdict.SUPPORTED
    # all records drawn: a plain release
    whole = DrawnBatches(2.0, 3, 3).smallest_epsilon(1e-3)
    plain = NoisyReleases("gaussian", 2.0).smallest_epsilon(1e-3)
    assert whole.lower <= plain.upper
    assert whole.upper >= plain.lower


def test_a_shuffled_pass_is_between_its_event_and_the_fixed_order() -> None:
    smallest = Passes(1.0, 10, shuffled=True).smallest_epsilon(1e-3)
    fixed = Passes(1.0, 10).smallest_epsilon(1e-3)
    assert smallest.rigorous
    assert 0 < smallest.lower < smallest.upper == fixed.upper
    # the event by simulation: 40,000 draws, 5 standard errors, a false alarm in 3e-7
    rng = np.random.default_rng(3)
    threshold, epsilon, draws = 2.0, 0.5, 40_000
    noise = rng.normal(size=(draws, 10))
    moved = noise.copy()
    moved[np.arange(draws), rng.integers(10, size=draws)] += 1
    p, q = ((x.max(axis=1) > threshold).mean() for x in (moved, noise))
    exact = float(Passes(1.0, 10, shuffled=True)._excess(threshold, 1e-3, epsilon)) + 1e-3
    assert p - math.exp(epsilon) * q == pytest.approx(exact, abs=5 * 2 * 0.5 / math.sqrt(draws))
    # one record has no order
    alone = Passes(1.0, 1, shuffled=True).smallest_epsilon(1e-3)
    assert alone.lower > 0.95 * alone.upper
    # a claim in between is undecided, though both ends are rigorous
    assert (
        audit_epsilon(smallest.lower * 1.01, Passes(1.0, 10, shuffled=True), delta=1e-3).verdict
        == "undecided"
    )


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: DrawnBatches(0.0, 10, 1), "noise_multiplier was 0.0"),
        (lambda: DrawnBatches(1.0, 10, 11), "batch was 11"),
        (lambda: DrawnBatches(1.0, 10, 1, 0), "steps was 0"),
        (lambda: Passes(1.0, 10, 2, shuffled=True), "passes was 2"),
        (lambda: HiddenIterates(1.0, 3, 4), "used was 4"),
        (lambda: HiddenIterates(1.0, 3, 1, 1.5), "contraction was 1.5"),
        (lambda: Passes(1.0, 10).smallest_epsilon(0.0), "delta was 0.0"),
    ],
)
def test_bad_orders(make: Callable[[], object], says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        make()


def test_the_page_has_every_row() -> None:
    page = (Path(__file__).parents[3] / "docs" / "accounting.md").read_text()
    for row in ROWS:
        assert f"| {row.name} | {row.releases}" in page


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"noise": "uniform"}, "noise was 'uniform'"),
        ({"noise_multiplier": 0.0}, "noise_multiplier was 0.0"),
        ({"noise_multiplier": math.nan}, "noise_multiplier was nan"),
        ({"steps": 0}, "steps was 0"),
        ({"steps": 1.5}, "steps was 1.5"),
        ({"sampling_probability": 0.0}, "sampling_probability was 0.0"),
        ({"sampling_probability": 0.5, "adjacency": Adjacency.REPLACE_ONE}, "adjacency was 'replace-one'"),
        ({"adjacency": "index"}, "adjacency was 'index'"),
    ],
)
def test_bad_releases(change: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        NoisyReleases(**{"noise": "gaussian", "noise_multiplier": 1.0, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("claimed", "delta", "says"),
    [
        (-1.0, 1e-5, "claimed was -1.0"),
        (math.nan, 1e-5, "claimed"),
        (1.0, 1.0, "delta was 1.0"),
        (1.0, 0.0, "delta was 0.0"),
    ],
)
def test_bad_claims(claimed: float, delta: float, says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        audit_epsilon(claimed, GAUSSIAN, delta=delta)


@pytest.mark.parametrize("releases", [
    NoisyReleases("gaussian", 10.0, 1000, 0.05), NoisyReleases("gaussian", 2.0, 4), NoisyReleases("laplace", 3.0),
    NoisyReleases("laplace", 2.0, 10, 0.2),
], ids=str)  # fmt: skip
def test_the_whole_profile_bounds_the_smallest_epsilon(releases: NoisyReleases) -> None:
    found = releases.guarantee().epsilon_at(1e-5)
    smallest = releases.smallest_epsilon(1e-5)
    assert smallest.lower <= found <= smallest.upper * (1 + 1e-4)
