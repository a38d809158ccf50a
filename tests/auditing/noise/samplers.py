"""Samplers as libraries write them, down to the bits that they take from their generators."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Array = NDArray[np.floating]
Generator = np.random.Generator


def box_muller(
    rng: Generator, size: int, *, bits: int = 24, lag: int = 1, dtype: type = np.float32, first: float = 1.0
) -> Array:
    """Box and Muller's method; the two numbers of one radius lie `lag` apart in blocks of twice that.

    With 24 bits, 32-bit floats and a lag of 8 this is what PyTorch fills tensors of 16 numbers and more with on a
    processor: u = 1 - k / 2^24, and the angle from the other half of each block of 16.
    """
    blocks = size // (2 * lag)
    k, angles = (rng.integers(0, 2**bits, (blocks, lag)) for _ in range(2))
    u = ((k + first) * 2.0**-bits).astype(dtype)
    radius = np.sqrt(dtype(-2) * np.log(u))
    theta = dtype(2 * np.pi) * (angles * 2.0**-bits).astype(dtype)
    return np.stack([radius * np.cos(theta), radius * np.sin(theta)], axis=1).ravel()


def inverted_error_function(rng: Generator, size: int) -> Array:
    """What JAX calls normal in 32 bits: the inverse error function (Giles 2010) of a uniform number of 23 bits."""
    single = np.float32
    bits = rng.integers(0, 2**32, size, dtype=np.uint32)
    unit = ((bits >> np.uint32(9)) | np.uint32(0x3F800000)).view(single) - single(1)
    low = np.nextafter(single(-1), single(0))
    u = np.maximum(low, unit * (single(1) - low) + low)
    return np.asarray(single(np.sqrt(2)) * _giles(u))


_CENTER = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
           -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip
_TAIL = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
         0.00943887047, 1.00167406, 2.83297682)  # fmt: skip


def _giles(x: Array) -> Array:
    single = np.float32
    w = -np.log1p(-x * x)
    central = w < 5
    w = np.where(central, w - single(2.5), np.sqrt(w) - single(3))
    found = np.where(central, single(_CENTER[0]), single(_TAIL[0]))
    for center, tail in zip(_CENTER[1:], _TAIL[1:], strict=True):
        found = np.where(central, single(center), single(tail)) + found * w
    return found * x


def inversion(rng: Generator, size: int, *, bits: int, dtype: type = np.float64) -> Array:
    """The normal law's inverse, of the middles of 2^bits cells."""
    return ndtri((rng.integers(0, 2**bits, size) + 0.5) * 2.0**-bits).astype(dtype)


def inverted_laplace(rng: Generator, size: int, *, bits: int, dtype: type = np.float64) -> Array:
    """A sign, and the logarithm of a uniform number of so many bits."""
    u = (rng.integers(0, 2**bits, size) + 1) * 2.0**-bits
    return (rng.choice([-1.0, 1.0], size) * np.log(u)).astype(dtype)


def polar(rng: Generator, size: int) -> Array:
    """Marsaglia's polar method in 64 bits."""
    kept: list[Array] = []
    while sum(map(len, kept)) < size:
        v = rng.uniform(-1, 1, (size, 2))
        s = np.sum(v * v, axis=1)
        v, s = v[(s > 0) & (s < 1)], s[(s > 0) & (s < 1)]
        kept.append((v * np.sqrt(-2 * np.log(s) / s)[:, None]).ravel())
    return np.concatenate(kept)[:size]
