"""One stream of random numbers per block of runs, owned by the mechanism that is run.

Blocks have a fixed size, and the stream of a block depends on nothing but the seed and the block's number.
So the bits of a run do not depend on how blocks are grouped into chunks, on which worker computes them, or
on whether the job was interrupted in between.
"""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.checks import require, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.running.normal_numbers import fill

BLOCK = 10_000
"""Runs in a block, and so part of what a seed means: changing it changes every result.

Arrays of a block then stay within a core's cache for the dimensions of the shipped data sets, and one call
into NumPy costs below one percent of the work it starts. It is no power of two on purpose: rows of 2^k
numbers land on the same cache sets, which costs five percent.
"""

SEED_BITS = 128  # seeds fill the four words that a seed sequence keeps apart from its spawn key
_WORD = 2**32 - 1

_LARGE_POOL = 8  # words of the pool for blocks from 2^32 on; NumPy's own has 4

Array = Any
"""An array of the namespace in use; the array API standard names no type for it."""

Seed = int | Sequence[int]


def seed_sequence(seed: Seed, block: int) -> np.random.SeedSequence:
    """Where the stream of one block begins, counted from 0; no two of seed, labels and block share one."""
    words = normalized_seed(seed)
    number = whole_number("block", block, at_least=0)
    if number <= _WORD:
        # words of 32 bits each, so that no two tuples give the same words
        return np.random.SeedSequence(words[0], spawn_key=(*words[1:], number))
    # NumPy would read such a number as two labels; a pool of another size has streams of its own, in which every
    # number comes after its length
    key = [part for number in (*words[1:], number) for part in _with_length(number)]
    return np.random.SeedSequence(words[0], spawn_key=key, pool_size=_LARGE_POOL)


def _with_length(number: int) -> list[int]:
    parts = [number >> shift & _WORD for shift in range(0, number.bit_length(), 32)]
    return [len(parts), *parts]


def normalized_seed(seed: Seed) -> tuple[int, ...]:
    """A seed as a tuple: an integer in [0, 2^128), then labels in [0, 2^32) that tell streams of one seed apart."""
    words = tuple(seed) if isinstance(seed, Sequence) and not isinstance(seed, (str, bytes)) else (seed,)
    require(words, "seed", seed, "an integer in [0, 2^128), labels may follow it")
    first = whole_number("seed", words[0], at_least=0, at_most=2**SEED_BITS - 1)
    labels = (whole_number("seed label", word, at_least=0, at_most=2**32 - 1) for word in words[1:])
    return (first, *labels)


class Randomness:
    """Named random draws for one block of runs, in any array namespace.

    Numbers are drawn in NumPy and handed over to the namespace, so that every namespace gets the same bits.
    The bit generator is SFC64: on the machines measured it fills normals at 7.6 ns each, against 9.9 ns for
    PCG64DXSM, 9.8 ns for PCG64 and 11.8 ns for Philox; with Numba, the same ones at 1.8 ns (`normal_numbers`).
    It passes PractRand and BigCrush, and a seed sequence spreads every seed and block over its whole state, so
    that streams do not overlap in practice.

    Attributes:
        counts: how many numbers were drawn under each name.
        device: where steps are taken with numbers of their own, and then no others may hide a record; None with NumPy.
    """

    device: Any = None

    def __init__(self, seed: Seed, block: int = 0, xp: types.ModuleType | Any = np) -> None:
        self._generator = np.random.Generator(np.random.SFC64(seed_sequence(seed, block)))
        self._foreign = xp is not np
        self.xp = xp
        self.counts: Counter[str] = Counter()

    @property
    def generator(self) -> np.random.Generator:
        """The stream itself, for callables that want a NumPy generator; its draws are not counted."""
        return self._generator

    def _record(self, drawn: NDArray[Any], name: str) -> Array:
        if self.device is not None and drawn.dtype.kind == "f":
            allowed = f"None here, as {name!r} is drawn outside of the steps that a device takes"
            raise InvalidArgumentError("device", self.device.device, allowed)
        self.counts[name] += drawn.size
        return self.xp.asarray(drawn) if self._foreign else drawn

    def normal(self, shape: tuple[int, ...], name: str, *, out: NDArray[np.float64] | None = None) -> Array:
        """Independent standard normal numbers (dimensionless, float64).

        Args:
            shape: how many.
            name: of the draw.
            out: a C-contiguous NumPy array of the shape to draw into; it is what is returned with NumPy.
        """
        place = np.empty(shape) if out is None else out
        if not (place.flags.c_contiguous and place.shape == shape and fill(self._generator, place)):
            place = self._generator.standard_normal(shape, out=place)
        return self._record(place, name)

    def uniform(self, shape: tuple[int, ...], name: str) -> Array:
        """Independent numbers uniform on [0, 1), float64."""
        return self._record(self._generator.random(shape), name)

    def gamma(self, shape_parameter: float, shape: tuple[int, ...], name: str) -> Array:
        """Independent numbers of the Gamma law with the given shape parameter and scale 1, float64.

        Raises:
            InvalidArgumentError: if the shape parameter is not above 0.
        """
        if not 0 < shape_parameter < float("inf"):
            raise InvalidArgumentError("shape_parameter", shape_parameter, "a finite number above 0")
        return self._record(self._generator.standard_gamma(shape_parameter, shape), name)

    def integers(self, low: int, high: int | NDArray[np.int64], shape: tuple[int, ...], name: str) -> Array:
        """Independent integers uniform on {low, ..., high - 1}, without modulo bias, int64.

        Of several ends, an array that broadcasts to the shape, the numbers are those of a call for each in turn.

        Raises:
            InvalidArgumentError: if there is no integer between low and high.
        """
        if not (low < high if isinstance(high, int) else np.all(low < high)):
            raise InvalidArgumentError("high", high, f"an integer above low, which is {low}")
        return self._record(self._generator.integers(low, high, shape, dtype=np.int64), name)

    def permutation(self, size: int, name: str) -> Array:
        """A uniformly random order of {0, ..., size - 1}, int64."""
        return self._record(self._generator.permutation(np.arange(size, dtype=np.int64)), name)
