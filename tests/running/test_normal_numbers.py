"""Compiled normal numbers are NumPy's, bit for bit."""

from __future__ import annotations

import math
from importlib.util import find_spec

import numpy as np
import pytest

from dpverify import extras
from dpverify.extras import Compiled
from dpverify.running import Randomness, normal_numbers

pytestmark = pytest.mark.skipif(find_spec("numba") is None, reason="Numba is not installed")


def generator() -> np.random.Generator:
    """A stream with half a word of 64 bits kept for the next integer of 32."""
    found = np.random.Generator(np.random.SFC64(11))
    found.integers(0, 5, 3, dtype=np.int32)
    return found


def test_the_numbers_and_what_comes_after_are_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four million numbers have some 1000 of the tail and 50,000 that are decided by the density."""
    monkeypatch.setattr(Compiled, "_lost", math.inf)
    ours, theirs = generator(), generator()
    found = np.empty((4000, 1000))
    assert normal_numbers.fill(ours, found)
    expected = theirs.standard_normal(found.shape)
    assert np.array_equal(found, expected)
    assert np.max(np.abs(found)) > normal_numbers._TAIL
    assert np.array_equal(ours.integers(0, 9, 5, dtype=np.int32), theirs.integers(0, 9, 5, dtype=np.int32))
    # a table that is off in the last place of one layer is noticed before it is used
    tables = normal_numbers._tables()
    off = tables._replace(factors=np.nextafter(tables.factors, 1.0))
    normal_numbers._same_bits.cache_clear()
    monkeypatch.setattr(normal_numbers, "_tables", lambda: off)
    assert not normal_numbers.fill(ours, found)
    normal_numbers._same_bits.cache_clear()


def test_without_numba_all_is_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Compiled, "_lost", 0.0)
    kernel = Compiled(normal_numbers._ziggurat, normal_numbers._next)
    assert kernel(0.3) is None  # not worth it yet
    assert kernel(0.3) is None
    assert kernel(0.0) is not None
    monkeypatch.setattr(extras, "_is_there", lambda name: False)
    monkeypatch.setattr(normal_numbers, "_KERNEL", Compiled(normal_numbers._ziggurat))
    assert not normal_numbers.fill(generator(), np.empty(5000))


@pytest.mark.parametrize("shape", [(3,), (2000,), (50, 40)])
def test_a_block_draws_the_same_with_and_without(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    for lost in (-math.inf, math.inf):
        monkeypatch.setattr(Compiled, "_lost", lost)
        rng = Randomness((4, 2))
        drawn.append(
            [rng.normal(shape, "a"), rng.normal(shape, "b", out=np.empty(shape)), rng.uniform((2,), "c")]
        )
        assert rng.counts == {"a": math.prod(shape), "b": math.prod(shape), "c": 2}
    for with_numpy, compiled in zip(*drawn, strict=True):
        assert np.array_equal(with_numpy, compiled)
