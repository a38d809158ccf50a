"""The arguments of guarantees: epsilon, delta and alpha, checked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from dpverify.checks import FloatArray, number, numbers

_BLOCK = 4096  # points at a time, where each needs a row of a few hundred numbers


def epsilons(value: ArrayLike) -> FloatArray:
    """Values of epsilon in nats, at least 0; infinity is allowed."""
    return numbers("epsilon", value, at_least=0, finite=False, allowed="real numbers of at least 0")


def levels(value: ArrayLike) -> FloatArray:
    """Type I errors alpha, in [0, 1]."""
    return numbers("alpha", value, at_least=0, at_most=1, allowed="real numbers in [0, 1]")


def delta(value: object) -> float:
    """A delta in [0, 1)."""
    return number("delta", value, at_least=0, below=1, allowed="a real number in [0, 1)")


def epsilon(value: object) -> float:
    """One finite epsilon of at least 0, in nats."""
    return number("epsilon", value, at_least=0, allowed="a finite real number of at least 0")


def falling(values: FloatArray) -> FloatArray:
    """The lowest non-increasing curve that is nowhere below these values, shape (k,)."""
    return np.asarray(np.maximum.accumulate(values[::-1])[::-1])


def in_blocks(function: Callable[[FloatArray], FloatArray], points: FloatArray) -> FloatArray:
    """Apply a function of shape (k,) arrays to an array of any shape, a bounded number of points at a time."""
    flat = points.ravel()
    blocks = [function(flat[k : k + _BLOCK]) for k in range(0, flat.size, _BLOCK)]
    whole: FloatArray = np.concatenate(blocks) if blocks else np.zeros(0)
    return whole.reshape(points.shape)
