"""The laws that noise is said to have, about 0, in their own scales."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

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
