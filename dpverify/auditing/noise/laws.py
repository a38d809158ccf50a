"""The laws that noise is said to have, about 0, in their own scales; and how numbers are written.

Noise of few values is held against the law rounded to as many digits. Numbers of a continuous law hardly ever repeat;
rounded to a format they do, and how often is bounded: a value has at most the probability of the numbers that are
rounded to it. Noise made of b bits takes 2^b values, so that n numbers repeat about n^2 / 2^(b+1) times, whatever its
scale is and wherever its grid lies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

from dpverify.auditing.black_box.low_bits import last_decimals, lowest_bits
from dpverify.checks import FloatArray

Law = Literal["normal", "laplace"]
"""In standard deviations, or in the scale b of exp(-|x| / b) / 2b."""

LAWS: tuple[Law, ...] = ("normal", "laplace")


def beyond(law: Law, x: FloatArray) -> FloatArray:
    """P(X > x); any shape."""
    if law == "normal":
        return np.asarray(ndtr(-x))
    small = np.exp(-np.abs(x)) / 2
    return np.asarray(np.where(x > 0, small, 1 - small))


def beyond_at(law: Law, probability: float) -> float:
    """The x >= 0 with P(X > x) = `probability`, in (0, 1/2]."""
    return float(-ndtri(probability)) if law == "normal" else -math.log(2 * probability)


def density(law: Law, x: FloatArray) -> FloatArray:
    """At x; any shape."""
    if law == "normal":
        return np.asarray(np.exp(-(np.minimum(np.abs(x), 50.0) ** 2) / 2) / math.sqrt(2 * math.pi))
    return np.asarray(np.exp(-np.abs(x)) / 2)


_DOUBLE, _SINGLE = 53, 24
_MOST_DECIMALS = 12


@dataclass(frozen=True)
class Written:
    """The coarsest format that holds all of some numbers: significant bits, at most 53, and a step that divides them.

    The step is 0 where none coarser than their bits is seen.
    """

    bits: int
    step: float

    @classmethod
    def of(cls, values: FloatArray) -> Written:
        """The format of numbers, any shape."""
        some = values[values != 0]
        if not some.size:
            return cls(1, 0.0)
        lowest, exponents = lowest_bits(some), np.frexp(some)[1]
        decimals = int(last_decimals(some).max()) // 10
        step = max(2.0 ** int(lowest.min()), 10.0**-decimals if decimals <= _MOST_DECIMALS else 0.0)
        return cls(int((exponents - lowest).max()), step)

    def spacing(self, values: FloatArray) -> FloatArray:
        """The distance of a number of this format from the next, at most; any shape."""
        relative = np.ldexp(1.0, np.frexp(np.abs(values))[1] - self.bits)
        return np.asarray(np.maximum(relative, self.step))

    def largest_probability(self, law: Law, scale: float) -> float:
        """Of one value, at most, where the law is rounded to this format."""
        edges = np.ldexp(1.0, np.arange(-1060, 1000))
        near = np.append(edges / scale, 0.0)
        cells = np.append(self.spacing(edges), self.step) / scale
        return float(min(1.0, 1.01 * np.max(cells * density(law, np.maximum(near - cells, 0.0)))))

    def summary(self) -> str:
        """In words; empty for what 64 bits hold and nothing shorter."""
        if self.bits >= _DOUBLE and self.step < 1e-12:
            return ""
        if self.step >= 1e-12 and self.step >= 2.0**-self.bits:
            return f"the numbers are multiples of {self.step:.3g}"
        kind = ", as 32-bit floats have" if self.bits == _SINGLE else ""
        return f"the numbers have {self.bits} significant bits{kind}"
