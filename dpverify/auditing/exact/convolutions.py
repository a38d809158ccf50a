"""Gaussian noise along one axis of a grid: masses convolved with the normal law, rounded to the grid in closed form."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import fft

from dpverify.checks import FloatArray

_UNIT = 2.0**-53
_PER_LEVEL = 24.0
"""Units in the last place, relative in the Euclidean norm, by level of the Fourier transforms that a convolution takes;
three transforms of about 6 a level each, and the product."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_NUMBERS_AT_ONCE = 1 << 22


def _kernel(ratio: float, length: int) -> FloatArray:
    """Mass at 0, 1, ..., length grid points of a normal number of standard deviation `ratio`, rounded to the grid.

    The mass at j is the integral of the density times the hat of width 1 around j. Gauss's rule on both sides of j is
    exact to rounding as long as the standard deviation is at least 2.
    """
    places = (_NODES + 1) / 2
    weights = _WEIGHTS / 2 * (1 - places) / (math.sqrt(2 * math.pi) * ratio)
    j = np.arange(length + 1)[:, None]
    masses: FloatArray = (
        np.exp(-(((j + places) / ratio) ** 2) / 2) + np.exp(-(((j - places) / ratio) ** 2) / 2)
    ) @ weights
    return masses


def convolved(masses: FloatArray, ratio: float, margin: int, reach: int) -> FloatArray:
    """Add noise along the last axis, which has `margin` more points at each end than the grid has; the result has one.

    What goes beyond that point is put there.
    """
    wide = masses.shape[-1]
    length = wide - 2 * margin + 2
    first = margin - 1
    kernel = _kernel(ratio, max(reach, wide) + 1)
    # at the ends: all mass that goes there or beyond; tails[j] is that of j, j + 1, ...
    tails = np.cumsum(kernel[::-1])[::-1]
    places = np.arange(wide)
    to_low = np.where(places >= first, tails[np.abs(places - first)], 1 - tails[np.abs(places - first) + 1])
    to_high = to_low[::-1]
    # lags that are looked at: below `wide`; longer ones may wrap into the margins, which are not
    size = fft.next_fast_len(2 * wide, real=True)
    around = np.zeros(size)
    around[:wide], around[-wide + 1 :] = kernel[:wide], kernel[wide - 1 : 0 : -1]
    transform = fft.rfft(around)
    out = np.empty((*masses.shape[:-1], length))
    flat, target = masses.reshape(-1, wide), out.reshape(-1, length)
    for part in _parts(len(flat), size):
        there = fft.irfft(fft.rfft(flat[part], size) * transform, size)
        np.maximum(there[:, first : first + length], 0.0, out=target[part])
    target[:, 0], target[:, -1] = flat @ to_low, flat @ to_high
    return out


def _parts(rows: int, size: int) -> Iterator[slice]:
    step = max(1, _NUMBERS_AT_ONCE // size)
    for begin in range(0, rows, step):
        yield slice(begin, min(begin + step, rows))


def float_allowance(masses: FloatArray, ratio: float) -> FloatArray:
    """What a convolution along the last axis may be off by in each row, summed over all points.

    A Fourier transform is off by a few units a level in the Euclidean norm, relative to what it transforms; the sum
    over a line is at most the root of its length times that.
    """
    length = masses.shape[-1]
    lines = masses.reshape(len(masses), -1, length)
    kernel = math.sqrt(1 / (2 * math.sqrt(math.pi) * ratio))
    norms = np.sqrt((lines**2).sum(axis=2)).sum(axis=1) + kernel * lines.sum(axis=(1, 2))
    return np.asarray(_PER_LEVEL * _UNIT * math.log2(4 * length) * math.sqrt(2 * length) * norms)
