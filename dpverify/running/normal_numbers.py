"""NumPy's normal numbers from an SFC64 stream, in a third of the time where Numba is installed; the same bits.

NumPy's ziggurat asks its bit generator for each number through a pointer. Here generator and ziggurat are one compiled
loop. Its tables are read off NumPy: a state of the generator is made to give any 64 bits first, and what NumPy makes of
them shows the factor of each layer, and where the layer ends.

G. Marsaglia, W. W. Tsang, The ziggurat method for generating random variables (2000), with 256 layers and 52 bits.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpverify.extras import Compiled

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

_FEWEST = 1024
"""For fewer numbers in a call the generator's state is not worth moving."""
_SAVED = 4.5e-9
"""Seconds a number."""
_LAYERS, _BITS, _SIGN = 256, 52, 9  # in a word: 8 bits of the layer, the sign, then the number
_TAIL, _INVERSE = 3.6541528853610088, 0.27366123732975828  # where the lowest layer's tail begins
_UNIT = 2.0**-53
_ROUNDING = 4  # of the last of the 52 bits, by which a layer's end may be off


class _Tables(NamedTuple):
    """Of each layer: the factor of its numbers, those that are inside for sure, and the density at its end."""

    factors: Floats
    inside: Words
    density: Floats


def fill(generator: np.random.Generator, out: Floats) -> bool:
    """Fill a C-contiguous array as `generator.standard_normal(out=out)` would; False if that is left to NumPy."""
    bits = generator.bit_generator
    if out.size < _FEWEST or type(bits) is not np.random.SFC64:
        return False
    compiled = _KERNEL(out.size * _SAVED)
    if compiled is None or not _same_bits():
        return False
    _move(bits, out, compiled)
    return True


def _move(bits: np.random.SFC64, out: Floats, compiled: Any) -> None:
    state: Any = bits.state
    compiled(out.reshape(-1), state["state"]["state"], *_tables())
    bits.state = state


@cache
def _same_bits() -> bool:
    """Whether it gives NumPy's numbers here; another NumPy may make them otherwise."""
    ours, theirs = np.random.SFC64(0), np.random.Generator(np.random.SFC64(0))
    found = np.empty(20_000)
    _move(ours, found, _KERNEL(0.0))
    return np.array_equal(found, theirs.standard_normal(found.size))


@cache
def _tables() -> _Tables:
    bits = np.random.SFC64(0)
    state: Any = bits.state
    generator, words = np.random.Generator(bits), state["state"]["state"]

    def first(layer: int, number: int) -> tuple[float, bool]:
        """What NumPy makes of a word, and whether it needs no other one."""
        words[:] = layer + (number << _SIGN), 0, 0, 0
        bits.state = state
        found = generator.standard_normal()
        after: Any = bits.state
        return found, int(after["state"]["state"][3]) == 1

    power = _BITS - 8
    factors = np.array([math.ldexp(first(layer, 1 << power)[0], -power) for layer in range(_LAYERS)])
    ends = np.ldexp(factors, _BITS)
    ends[0] = _TAIL
    # the uppermost layer has none
    inside = np.zeros(_LAYERS, dtype=np.uint64)
    for layer in (0, *range(2, _LAYERS)):
        end = _TAIL / math.ldexp(factors[0], _BITS) if layer == 0 else ends[layer - 1] / ends[layer]
        about = int(math.ldexp(end, _BITS))
        near = range(about - _ROUNDING, about + _ROUNDING)
        inside[layer] = next((number for number in near if not first(layer, number)[1]), 0)
    density = np.exp(-0.5 * ends * ends)
    density[0] = 1.0
    return _Tables(factors, inside, density)


def _ziggurat(out: Floats, state: Words, factors: Floats, inside: Words, density: Floats) -> None:
    a, b, c, count = state[0], state[1], state[2], state[3]
    for i in range(out.size):
        while True:
            word = a + b + count
            a, b, c, count = _next(b, c, word, count)
            layer = word & np.uint64(255)
            number = (word >> np.uint64(9)) & np.uint64(0xFFFFFFFFFFFFF)
            x = number * factors[layer]
            if word & np.uint64(256):
                x = -x
            if number < inside[layer]:
                break
            if layer == 0:
                beyond = 0.0
                while True:
                    word = a + b + count
                    a, b, c, count = _next(b, c, word, count)
                    beyond = -_INVERSE * math.log1p(-((word >> np.uint64(11)) * _UNIT))
                    word = a + b + count
                    a, b, c, count = _next(b, c, word, count)
                    height = -math.log1p(-((word >> np.uint64(11)) * _UNIT))
                    if height + height > beyond * beyond:
                        break
                x = _TAIL + beyond
                if (number >> np.uint64(8)) & np.uint64(1):
                    x = -x
                break
            word = a + b + count
            a, b, c, count = _next(b, c, word, count)
            above = density[layer - np.uint64(1)]
            share = (word >> np.uint64(11)) * _UNIT
            if (above - density[layer]) * share + density[layer] < math.exp(-0.5 * x * x):
                break
        out[i] = x
    state[0], state[1], state[2], state[3] = a, b, c, count


def _next(b: Any, c: Any, word: Any, count: Any) -> Any:
    """SFC64's state after it gave a word."""
    turned = (c << np.uint64(24)) | (c >> np.uint64(40))
    return b ^ (b >> np.uint64(11)), c + (c << np.uint64(3)), turned + word, count + np.uint64(1)


_KERNEL = Compiled(_ziggurat, _next)
