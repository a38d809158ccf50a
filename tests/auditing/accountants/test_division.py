"""Division by the actual size of a batch: the bound of its profile against a quadrature and draws of a right program.

An audit of that program against the accounting of expected sizes finds it; one of the program that divides by the
expected size does not, but with probability 1e-6.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpverify import Adjacency, ApproxDP, audit_samples
from dpverify.auditing.accountants import DividedByBatchSize, NoisyReleases, audit_epsilon
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.verdicts import Verdict

from ...packaging.page_blocks import DOCS, blocks

RATE, OTHERS, NOISE = 0.25, 40, 1.0


def release(
    data: FloatArray, rng: np.random.Generator, runs: int, expected: float | None = None
) -> FloatArray:
    """The noisy sum over a Poisson batch, divided by its size, or by the expected one; clipping norm 1."""
    batch = rng.random((runs, len(data))) < RATE
    noisy = batch @ np.clip(data[:, 0], -1, 1) + NOISE * rng.normal(size=runs)
    found: FloatArray = noisy / (np.maximum(batch.sum(axis=1), 1) if expected is None else expected)
    return found


WITHOUT = -np.ones((OTHERS, 1))
JOINED = np.concatenate([WITHOUT, [[1.0]]])


def by_quadrature(epsilon: float, *, seen: bool) -> float:
    """The larger of both directions, from densities as the derivation states them; rows are sizes of the batch."""
    k = np.arange(OTHERS + 1.0)[:, None]
    x = np.linspace(-8, 8, 8001)
    mass = stats.binom(OTHERS, RATE).pmf(k)
    q = np.pad(mass * stats.norm.pdf(x, k == 0, NOISE / np.maximum(k, 1)), ((0, 1), (0, 0)))
    joined = np.pad(mass * stats.norm.pdf(x, 2 / (k + 1), NOISE / (k + 1)), ((1, 0), (0, 0)))
    p = (1 - RATE) * q + RATE * joined
    for law in (p, q):  # an empty batch is divided by 1
        law[1] += law[0]
        law[0] = 0
    p, q = (law if seen else law.sum(axis=0, keepdims=True) for law in (p, q))
    e = math.exp(epsilon)
    return float(max(np.trapezoid(np.maximum(a - e * b, 0), x).sum() for a, b in ((p, q), (q, p))))


@pytest.mark.parametrize(
    ("epsilon", "seen"), [(0.0, False), (0.5, False), (1.0, False), (0.5, True), (2.0, True)]
)
def test_the_bound_is_what_a_quadrature_gives(epsilon: float, seen: bool) -> None:
    found = DividedByBatchSize(NOISE, RATE, OTHERS, size_shown=seen).smallest_delta(epsilon)
    assert found.rigorous
    assert found.upper == 1
    right = by_quadrature(epsilon, seen=seen)
    assert right * 0.997 < found.lower < right * (1 + 1e-6)


def test_the_bound_is_what_a_right_program_shows() -> None:
    """An event that half of the draws choose, counted in the others; off by five standard deviations with 1e-6."""
    rng, draws, factor = np.random.default_rng(0), 200_000, math.exp(0.5)

    def shares(data: FloatArray) -> FloatArray:
        return np.histogram(release(data, rng, draws), bins=150, range=(-3, 3))[0] / draws

    event = shares(JOINED) > factor * shares(WITHOUT)
    p, q = (float(shares(data)[event].sum()) for data in (JOINED, WITHOUT))
    deviation = math.sqrt((p * (1 - p) + factor**2 * q * (1 - q)) / draws)
    bound = DividedByBatchSize(NOISE, RATE, OTHERS).smallest_delta(0.5).lower
    assert bound == pytest.approx(p - factor * q, abs=5 * deviation)


def test_several_releases_and_sizes_that_are_seen() -> None:
    one = DividedByBatchSize(NOISE, RATE, OTHERS, cells=128)
    seen = DividedByBatchSize(NOISE, RATE, OTHERS, size_shown=True, cells=128)
    many = DividedByBatchSize(NOISE, RATE, OTHERS, 50, cells=128)
    ends = [each.smallest_epsilon(1e-5).lower for each in (one, seen, many)]
    assert ends[0] < ends[1] < ends[2]
    # a record that moves each average twice as far is not hidden better than by half of the noise
    half = NoisyReleases("gaussian", NOISE / 2, 1, RATE, cells=1024).smallest_epsilon(1e-5)
    assert ends[1] == pytest.approx(half.upper, rel=0.05)


def test_an_accountant_of_expected_sizes_claims_too_little() -> None:
    accounted = NoisyReleases("gaussian", NOISE, 20, RATE, cells=1024).smallest_epsilon(1e-5).upper
    found = audit_epsilon(
        accounted, actual := DividedByBatchSize(NOISE, RATE, OTHERS, 20, cells=128), delta=1e-5
    )
    assert found.verdict is Verdict.VIOLATED
    assert "divided by the actual size of the batch, 40 other records (an instance)" in found.reason
    assert audit_epsilon(1e6, actual, delta=1e-5).verdict is Verdict.UNDECIDED


def test_an_audit_of_a_right_program() -> None:
    accounted = NoisyReleases("gaussian", NOISE, 1, RATE).guarantee()
    claim = ApproxDP(0.5, float(accounted.privacy_profile(0.5)))
    rng = np.random.default_rng(1)
    for expected, verdict in ((None, "violated"), (RATE * OTHERS, "supported")):
        joined, without = (release(data, rng, 10_000, expected) for data in (JOINED, WITHOUT))
        assert audit_samples(joined, without, claim, adjacency=Adjacency.ADD_REMOVE_ONE).verdict == verdict


def test_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks(DOCS / "batch-division.md", "python")
    exec(compile(block, "page", "exec"), {})
    assert capsys.readouterr().out == "violated\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"noise_multiplier": 0.0}, "noise_multiplier was 0.0"),
        ({"sampling_probability": 1.0}, "sampling_probability was 1.0"),
        ({"others": 0}, "others was 0"),
        ({"steps": 0}, "steps was 0"),
        ({"cells": 1}, "cells was 1"),
        ({"size_shown": 1}, "size_shown was 1"),
    ],
)
def test_bad_arguments(arguments: dict[str, float], said: str) -> None:
    good = {"noise_multiplier": 1.0, "sampling_probability": 0.1, "others": 10}
    with pytest.raises(InvalidArgumentError, match=said):
        DividedByBatchSize(**good | arguments)  # type: ignore[arg-type]
    for ask in (DividedByBatchSize(**good).smallest_epsilon, DividedByBatchSize(**good).smallest_delta):  # type: ignore[arg-type]
        with pytest.raises(InvalidArgumentError, match="was -1"):
            ask(-1)
