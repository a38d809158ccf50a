"""What the stream of a block is, and that every draw has its law."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from dpverify.checks import LARGEST_COUNT
from dpverify.errors import InvalidArgumentError
from dpverify.running import Randomness
from dpverify.running.randomness import seed_sequence

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
    with pytest.raises(InvalidArgumentError, match="high"):
        Randomness(1).integers(3, np.array([4, 3]), (2,), "i")


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


@pytest.mark.parametrize("seed", [2026, (2026, 1), (0, 0, 2**32 - 1), (2**128 - 1, 7)])
@pytest.mark.parametrize("block", [0, 4, 2**32 - 1])
def test_ordinary_streams_are_those_of_spawn_keys(seed: int | tuple[int, ...], block: int) -> None:
    first, *labels = seed if isinstance(seed, tuple) else (seed,)
    plain = np.random.SeedSequence(first, spawn_key=(*labels, block))
    assert state(seed, block) == plain.generate_state(8).tobytes()


def state(seed: int | tuple[int, ...], block: int) -> bytes:
    return seed_sequence(seed, block).generate_state(8).tobytes()


# sizes at which a number starts to fill another word are what an encoding gets wrong
EDGES = st.sampled_from([k * 2**bits + d for bits in (32, 64, 96) for k in (1, 3) for d in (-1, 0, 1)])
SEEDS = st.integers(0, 2**128 - 1) | EDGES | st.integers(0, 3)
LABELS = st.lists(st.integers(0, 3) | st.sampled_from([2**32 - 1]) | st.integers(0, 2**32 - 1), max_size=5)
BLOCKS = st.integers(0, 3) | EDGES | st.integers(0, 2**200) | st.sampled_from([2**128, LARGEST_COUNT])
STREAM = st.tuples(SEEDS, LABELS.map(tuple), BLOCKS)


@settings(max_examples=300, deadline=None)
@given(STREAM, STREAM)
@example((5, (), 2**32), (5, (0,), 1))
@example((5, (1,), 2**32 + 3), (5, (1, 3), 1))
@example((5, (), 2**64), (5, (0, 0), 1))
@example((5, (1, 0), 2**32), (5, (1,), 2**64))
@example((5, (0,), 0), (5, (), 0))
@example((0, (), 0), (0, (0, 0, 0, 0), 0))
def test_no_two_of_seed_labels_and_block_share_a_stream(
    one: tuple[int, tuple[int, ...], int], other: tuple[int, tuple[int, ...], int]
) -> None:
    """Two different hashes of 256 bits are equal with a probability below 1e-70 in all of these pairs together."""
    states = [state((seed, *labels), block) for seed, labels, block in (one, other)]
    assert (states[0] == states[1]) == (one == other)


@pytest.mark.parametrize(
    ("seed", "block"), [(-1, 0), ((3, -1), 0), (3, -1), (2**128, 0), ((3, 2**32), 0), (3, 0.5)]
)
def test_what_is_no_stream_is_refused(seed: int | tuple[int, ...], block: int) -> None:
    with pytest.raises(InvalidArgumentError):
        seed_sequence(seed, block)
