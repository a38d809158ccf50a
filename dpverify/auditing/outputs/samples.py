"""Sample sets of a mechanism's outputs, and how they are checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify.errors import InvalidDataError

MINIMUM_RUNS = 100
"""Fewer runs than this cannot be divided into learning and judging parts that say anything."""

_CHANCE = 12 * math.log(10)
"""One in so many, as a logarithm: below, the same order on both sides may be chance."""

Samples = NDArray[Any]
"""Floats, or integers where floats would not be exact."""


def check_samples(samples: ArrayLike, name: str) -> Samples:
    """Return samples as exact numbers, (runs,) or (runs, d), not copied if they are.

    They become floats, except for integers and long floats of which a float would lose a digit.

    Raises:
        InvalidDataError: for anything but finite real numbers of that shape, and for fewer than `MINIMUM_RUNS` runs.

    Examples:
        >>> from dpverify.auditing import check_samples
        >>> check_samples([1, 2] * 50, "left").dtype.name
        'float64'
        >>> check_samples([0.5, float("nan")] * 50, "left")
        Traceback (most recent call last):
            ...
        dpverify.errors.InvalidDataError: left has NaN or infinity in run 2; allowed: finite numbers.
    """
    raw = _checked(samples, name)
    with np.errstate(over="ignore"):
        converted = raw.astype(np.float64, copy=False)
    return converted if not _remainder(raw, converted).any() else raw


def check_pair(left: ArrayLike, right: ArrayLike) -> tuple[Samples, Samples]:
    """Return both sample sets as (runs, d) floats; raise `InvalidDataError` if their shapes differ.

    Different outputs stay different. Where a column would lose digits, the digits lost follow in a column of their
    own: the map from outputs to rows of floats is the same for all runs, and one to one.

    Examples:
        >>> import numpy as np
        >>> from dpverify.auditing import check_pair
        >>> left, right = check_pair(np.zeros(100), np.ones(100))
        >>> left.shape, right.shape
        ((100, 1), (100, 1))
        >>> wide, _ = check_pair([2**60, 2**60 + 1] * 50, [0, 1] * 50)
        >>> wide.shape, len(np.unique(wide, axis=0))  # no float holds these two apart
        ((100, 2), 2)
    """
    p, q = _checked(left, "left"), _checked(right, "right")
    if p.shape != q.shape:
        raise InvalidDataError(
            f"left has shape {p.shape} and right has shape {q.shape}; allowed: equal shapes, "
            "the same number of runs on both data sets."
        )
    raw = [part.reshape(part.shape[0], -1) for part in (p, q)]
    floats = [part.astype(np.float64, copy=False) for part in raw]
    lost = [_remainder(part, rounded) for part, rounded in zip(raw, floats, strict=True)]
    columns = np.any(lost[0] != 0, axis=0) | np.any(lost[1] != 0, axis=0)
    if columns.any():
        floats = [
            np.concatenate([rounded, rest[:, columns]], axis=1)
            for rounded, rest in zip(floats, lost, strict=True)
        ]
    return floats[0], floats[1]


def check_drawn_apart(left: Samples, right: Samples, names: tuple[str, str]) -> None:
    """Refuse outputs that are as many on both sides and the same run by run, in an order that is no chance.

    That is one sample used twice, or a program that was run twice on the same data with the same seed: nothing would
    be tested. Given which outputs came on both sides, independent runs have all their orders with the same
    probability, so that sides drawn apart are refused with probability 1e-12 at most. Outputs that hardly ever vary
    have few orders, and are left alone.

    Args:
        left: outputs, a run each along the first axis, of any type.
        right: likewise.
        names: of the sides, for the message.

    Raises:
        InvalidDataError: for these, and for sides of different lengths.

    Examples:
        >>> import numpy as np
        >>> from dpverify.auditing.outputs.samples import check_drawn_apart
        >>> check_drawn_apart(np.arange(100), np.arange(100), ("p.npy", "q.npy"))
        Traceback (most recent call last):
            ...
        dpverify.errors.InvalidDataError: p.npy and q.npy hold the same outputs, run by run, so nothing ...
    """
    if len(left) != len(right):
        raise InvalidDataError(
            f"{names[0]} has {len(left)} runs and {names[1]} has {len(right)}; allowed: as many on both sides."
        )
    if left.shape == right.shape and alike(left, right) and _log_orders(left) > _CHANCE:
        raise InvalidDataError(
            f"{names[0]} and {names[1]} hold the same outputs, run by run, so nothing would be tested; allowed: "
            "outputs drawn on two data sets, each with randomness of its own."
        )


def _log_orders(samples: Samples) -> float:
    """Logarithm of the number of orders in which these outputs may come, or of fewer where those are many."""
    count, found = len(samples), 0.0
    kinds = np.zeros(count, dtype=np.int64)
    columns = samples[:, None] if samples.ndim == 1 else samples.reshape(count, -1)
    for column in columns.T:
        # values are compared, not bytes: NaN is itself, -0.0 is 0.0, and long floats are padded with anything
        values, places = np.unique(column, return_inverse=True)
        kinds = np.unique(kinds * len(values) + places, return_inverse=True)[1]
        repeats = np.bincount(kinds)
        found = math.lgamma(count + 1) - sum(math.lgamma(n + 1) for n in repeats[repeats > 1].tolist())
        if found > _CHANCE:
            break
    return found


def alike(some: Samples, others: Samples) -> bool:
    """Whether all outputs are equal, NaN to itself."""
    return bool(np.all((some == others) | ((some != some) & (others != others))))


def as_floats(samples: ArrayLike, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return any number of runs as (runs, d) floats, and what they lost by rounding, likewise.

    Raises `InvalidDataError` for what cannot be used.
    """
    raw = _checked(samples, name, least=1)
    flat = raw.reshape(raw.shape[0], -1)
    rounded = flat.astype(np.float64, copy=False)
    return rounded, _remainder(flat, rounded)


def _checked(samples: ArrayLike, name: str, *, least: int = MINIMUM_RUNS) -> NDArray[Any]:
    """Samples as they are, if they can be used."""
    try:
        raw = np.asarray(samples)
    except ValueError as error:
        raise InvalidDataError(f"{name} is not an array; allowed: shape (runs,) or (runs, d).") from error
    if raw.dtype.kind not in "biuf":
        raise InvalidDataError(
            f"{name} has elements of type {raw.dtype}; allowed: booleans, integers and real floats."
        )
    if raw.ndim not in (1, 2):
        raise InvalidDataError(
            f"{name} has shape {raw.shape}; allowed: (runs,) or (runs, d), one row per run."
        )
    if raw.shape[0] < least:
        raise InvalidDataError(f"{name} has {raw.shape[0]} runs; allowed: at least {least}.")
    if raw.ndim == 2 and raw.shape[1] == 0:
        raise InvalidDataError(f"{name} has shape {raw.shape}; allowed: at least one number per run.")
    with np.errstate(over="ignore"):  # a long double may not fit; the next check finds it
        finite = np.isfinite(raw.astype(np.float64, copy=False))
    if not np.all(finite):
        row = int(np.argmin(finite.reshape(raw.shape[0], -1).all(axis=1)))
        raise InvalidDataError(f"{name} has NaN or infinity in run {row + 1}; allowed: finite numbers.")
    return raw


def _remainder(raw: NDArray[Any], rounded: NDArray[np.float64]) -> NDArray[np.float64]:
    """What rounding to float64 took away, which a float holds exactly."""
    if raw.dtype.kind == "b" or raw.dtype.itemsize < 8 or raw.dtype == np.float64:
        return np.zeros(raw.shape)
    if raw.dtype.kind == "f":
        return (raw - rounded).astype(np.float64)
    # the float next to the largest integers is beyond their type; one below is as good
    largest = np.nextafter(float(2 ** (64 if raw.dtype.kind == "u" else 63)), 0.0)
    back = np.minimum(rounded, largest).astype(raw.dtype)
    up = np.where(raw >= back, raw - back, 0).astype(np.float64)
    down = np.where(raw < back, back - raw, 0).astype(np.float64)
    return up - down
