"""Sample sets of a mechanism's outputs, and how they are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify.checks import of_kind
from dpverify.errors import InvalidDataError

MINIMUM_RUNS = 100
"""Fewer runs than this cannot be divided into learning and judging parts that say anything."""

Samples = NDArray[Any]
"""Floats, or integers where floats would not be exact."""


def check_samples(samples: ArrayLike, name: str) -> Samples:
    """Return samples as exact numbers, (runs,) or (runs, d), not copied if they are.

    They become floats, except for integers and long floats of which a float would lose a digit. Raises
    `InvalidDataError` for anything but finite real numbers of that shape, and for fewer than `MINIMUM_RUNS` runs.

    Examples:
        >>> from dpverify.auditing import check_samples
        >>> check_samples([1, 2] * 50, "left").dtype.name
        'float64'
        >>> check_samples([0.5, float("nan")] * 50, "left")
        Traceback (most recent call last):
            ...
        dpverify.errors.InvalidDataError: left has NaN or infinity in run 2; allowed: finite numbers.
    """
    of_kind("name", name, str)
    raw = _checked(samples, name)
    with np.errstate(over="ignore"):
        converted = raw.astype(np.float64, copy=False)
    return converted if not remainder(raw, converted).any() else raw


def check_equal_shapes(left: Samples, right: Samples) -> None:
    """Refuse samples (`InvalidDataError`) of other shapes on one data set than on the other."""
    if left.shape != right.shape:
        raise InvalidDataError(
            f"left has shape {left.shape} and right has shape {right.shape}; allowed: equal shapes, "
            "the same number of runs on both data sets."
        )


def check_pair(left: ArrayLike, right: ArrayLike) -> tuple[Samples, Samples]:
    """Return both sample sets as (runs, d) floats; raise `InvalidDataError` if their shapes differ.

    Different outputs stay different. Where a column would lose digits, the digits lost follow in a column of their
    own, and where it has -0.0, so does whether it is that: the map from outputs to rows of floats is the same for all
    runs, and one to one on their bits.

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
    check_equal_shapes(p, q)
    raw = [part.reshape(part.shape[0], -1) for part in (p, q)]
    floats = [part.astype(np.float64, copy=False) for part in raw]
    lost = [remainder(part, rounded) for part, rounded in zip(raw, floats, strict=True)]
    signs = [is_minus_zero(rounded) for rounded in floats]
    for rest in (lost, signs):
        columns = np.any(rest[0], axis=0) | np.any(rest[1], axis=0)
        if columns.any():
            floats = [
                np.concatenate([rounded, more[:, columns]], axis=1)
                for rounded, more in zip(floats, rest, strict=True)
            ]
    return floats[0], floats[1]


def is_minus_zero(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where numbers are -0.0; any shape."""
    zero = np.asarray(values == 0)
    return zero & np.signbit(values) if zero.any() else zero


def check_as_many(left: Samples, right: Samples, names: tuple[str, str]) -> None:
    """Refuse sides of different lengths."""
    for side, name in zip((left, right), names, strict=True):
        if np.ndim(side) == 0:
            raise InvalidDataError(
                f"{name} is a single value; allowed: one run an entry, along the first axis."
            )
    if len(left) != len(right):
        raise InvalidDataError(
            f"{names[0]} has {len(left)} runs and {names[1]} has {len(right)}; allowed: as many on both sides."
        )


def as_floats(samples: ArrayLike, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return any number of runs as (runs, d) floats, and what they lost by rounding, likewise.

    Raises `InvalidDataError` for what cannot be used.
    """
    raw = _checked(samples, name, least=1)
    flat = raw.reshape(raw.shape[0], -1)
    rounded = flat.astype(np.float64, copy=False)
    return rounded, remainder(flat, rounded)


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


def remainder(raw: NDArray[Any], rounded: NDArray[np.float64]) -> NDArray[np.float64]:
    """What rounding to float64 took away, which a float holds exactly; any shape."""
    if raw.dtype.kind == "b" or raw.dtype.itemsize < 8 or raw.dtype == np.float64:
        return np.broadcast_to(np.float64(0), raw.shape)
    if raw.dtype.kind == "f":
        return (raw - rounded).astype(np.float64)
    # the float next to the largest integers is beyond their type; one below is as good
    largest = np.nextafter(float(2 ** (64 if raw.dtype.kind == "u" else 63)), 0.0)
    back = np.minimum(rounded, largest).astype(raw.dtype)
    up = np.where(raw >= back, raw - back, 0).astype(np.float64)
    down = np.where(raw < back, back - raw, 0).astype(np.float64)
    return up - down
