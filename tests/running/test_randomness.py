"""What the stream of a block is, and that every draw has its law."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from scipy import stats

from dpverify.errors import InvalidArgumentError
from dpverify.running import Randomness

# Kolmogorov-Smirnov tests at fixed seeds; each rejects a correct law with probability 1e-6.
FALSE_ALARM = 1e-6


def test_normal_draws_are_standard_normal() -> None:
    drawn = Randomness(1, 3).normal((200, 100), "noise").ravel()
    assert stats.kstest(drawn, "norm").pvalue > FALSE_ALARM
    assert stats.kstest(1.1 * drawn, "norm").pvalue < FALSE_ALARM


def test_uniform_draws_are_uniform() -> None:
    drawn = Randomness(1, 3).uniform((20000,), "u")
    assert stats.kstest(drawn, "uniform").pvalue > FALSE_ALARM
    assert stats.kstest(drawn**1.1, "uniform").pvalue < FALSE_ALARM


def test_integers_are_uniform_with_both_ends_right() -> None:
    drawn = Randomness(1, 3).integers(2, 7, (20000,), "i")
    counts = np.bincount(drawn, minlength=8)
    assert set(np.flatnonzero(counts)) == {2, 3, 4, 5, 6}
    assert stats.chisquare(counts[2:7]).pvalue > FALSE_ALARM
    with pytest.raises(InvalidArgumentError, match="high"):
        Randomness(1).integers(3, 3, (1,), "i")


def test_permutations_are_uniform() -> None:
    rng = Randomness(1)
    seen = [tuple(rng.permutation(3, "order").tolist()) for _ in range(6000)]
    counts = [seen.count(order) for order in sorted(set(seen))]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


def test_every_draw_is_counted_under_its_name() -> None:
    rng = Randomness(1)
    rng.normal((3, 4), "noise")
    rng.normal((2,), "noise")
    rng.integers(0, 5, (7,), "records")
    rng.permutation(4, "order")
    assert rng.counts == {"noise": 14, "records": 7, "order": 4}


def test_namespaces_get_the_same_bits() -> None:
    ours, theirs = Randomness(8, 2), Randomness(8, 2, array_api_strict)
    for draw in ("normal", "uniform"):
        left, right = (getattr(rng, draw)((4, 3), "x") for rng in (ours, theirs))
        assert isinstance(right, type(array_api_strict.zeros(1)))
        assert np.array_equal(left, np.asarray(right))


def test_drawing_into_an_array_changes_no_bit() -> None:
    place = np.empty((4, 3))
    drawn = Randomness(8).normal((4, 3), "x", out=place)
    assert drawn is place
    assert np.array_equal(drawn, Randomness(8).normal((4, 3), "x"))


def test_the_stream_is_pinned() -> None:
    """A change of the streams changes every published number, so it must be made on purpose."""
    drawn = Randomness((2026, 1), 4).normal((2,), "noise")
    expected = np.random.Generator(
        np.random.SFC64(np.random.SeedSequence(2026, spawn_key=(1, 4)))
    ).standard_normal(2)
    assert np.array_equal(drawn, expected)
    assert drawn.tolist() == pytest.approx(PINNED, rel=0, abs=0)


PINNED = [-1.2913202675471103, 0.9263248540871335]
