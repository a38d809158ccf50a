"""Checks of single arguments, in the positive form so that NaN fails them."""

from __future__ import annotations

import math
import numbers

from dpverify.errors import InvalidArgumentError

LEAST_FAILURE_PROBABILITY = 1e-15
"""Least failure probability of one audit: far below any use, and above the levels at which floats give out."""


def check_number(argument: str, value: object) -> float:
    """Return a finite real number as a float; booleans, arrays and text are refused."""
    number = _as_float(value)
    if not math.isfinite(number):
        raise InvalidArgumentError(argument, value, "a finite number")
    return number


def check_probability(argument: str, value: object) -> float:
    """Return a failure probability, strictly between 0 and 1."""
    number = _as_float(value)
    if not 0 < number < 1:
        raise InvalidArgumentError(argument, value, "a number strictly between 0 and 1")
    return number


def check_failure_probability(
    argument: str, value: object, *, at_least: float = LEAST_FAILURE_PROBABILITY, reason: str = ""
) -> float:
    """Return a failure probability in [at_least, 1); `reason` is put behind what is allowed."""
    number = _as_float(value)
    if not at_least <= number < 1:
        raise InvalidArgumentError(argument, value, f"a number from {at_least:g} to below 1{reason}")
    return number


def check_integer(argument: str, value: object, *, at_least: int) -> int:
    """Return an integer that is not below `at_least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not int(value) >= at_least:
        raise InvalidArgumentError(argument, value, f"an integer, at least {at_least}")
    return int(value)


def _as_float(value: object) -> float:
    """NaN for whatever is not a real number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
