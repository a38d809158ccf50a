"""Positive-form checks of the numbers and arrays that users hand to this floor."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify.errors import InvalidArgumentError

FloatArray = NDArray[np.float64]

_BLOCK = 4096  # points at a time, where each needs a row of a few hundred numbers


def number(
    argument: str,
    value: object,
    *,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    above: float = -math.inf,
    below: float = math.inf,
    finite: bool = True,
    allowed: str,
) -> float:
    """One real number in a range; NaN, bools, strings and arrays are refused.

    Raises:
        InvalidArgumentError: with the name, the value and what is allowed.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise InvalidArgumentError(argument, value, allowed)
    try:
        real = float(value)
    except OverflowError:
        raise InvalidArgumentError(argument, value, allowed) from None
    inside = at_least <= real <= at_most
    # an infinite limit excludes nothing; only `finite` excludes the infinities
    inside = inside and (above == -math.inf or real > above) and (below == math.inf or real < below)
    if not inside or (finite and not math.isfinite(real)):
        raise InvalidArgumentError(argument, value, allowed)
    return real


def whole_number(argument: str, value: object, *, at_least: int, at_most: int | None = None) -> int:
    """One integer in a range; bools and floats are refused.

    Raises:
        InvalidArgumentError: with the name, the value and what is allowed.
    """
    allowed = f"an integer of at least {at_least}" + ("" if at_most is None else f" and at most {at_most}")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise InvalidArgumentError(argument, value, allowed)
    whole = int(value)
    if not whole >= at_least or (at_most is not None and not whole <= at_most):
        raise InvalidArgumentError(argument, value, allowed)
    return whole


def numbers(
    argument: str,
    value: ArrayLike,
    *,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    finite: bool = True,
    allowed: str,
) -> FloatArray:
    """An array of real numbers in a range, any shape, as float64; NaN, bools and objects are refused.

    Raises:
        InvalidArgumentError: with the name, the value and what is allowed.
    """
    try:
        raw = np.asarray(value)
    except ValueError:
        raise InvalidArgumentError(argument, value, allowed) from None
    if raw.dtype.kind not in "iuf":
        raise InvalidArgumentError(argument, value, allowed)
    array = raw.astype(np.float64)
    if not np.all((array >= at_least) & (array <= at_most)) or (finite and not np.all(np.isfinite(array))):
        raise InvalidArgumentError(argument, value, allowed)
    return array


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


def in_blocks(function: Callable[[FloatArray], FloatArray], points: FloatArray) -> FloatArray:
    """Apply a function of shape (k,) arrays to an array of any shape, a bounded number of points at a time."""
    flat = points.ravel()
    blocks = [function(flat[k : k + _BLOCK]) for k in range(0, flat.size, _BLOCK)]
    whole: FloatArray = np.concatenate(blocks) if blocks else np.zeros(0)
    return whole.reshape(points.shape)
