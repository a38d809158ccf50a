"""Exact numbers as text: how ledgers write them, how people do, and back."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

_DIGITS = 10_000
_LONGEST = 1000
"""Bits of a number that people write."""


def number_of(text: str) -> Fraction:
    """A number as it is written; ValueError where it has so many digits that no one compares it."""
    if abs(int(text.lower().partition("e")[2] or 0)) > _DIGITS:
        raise ValueError
    return Fraction(text)


def short_number(number: Fraction, digits: int = 4) -> str:
    """A number with a few digits, also one that is too large or too small for a float."""
    try:
        rounded = float(number)
    except OverflowError:
        rounded = 0.0
    if number and not rounded:
        return f"{Decimal(number.numerator) / number.denominator:.{digits}g}"
    return f"{rounded:.{digits}g}"


def shorter(side: str) -> str:
    """A number with a few digits where it is written with many; other text as it is."""
    try:
        return side if len(side) <= 8 else short_number(number_of(side))
    except (ValueError, ZeroDivisionError):
        return side


def at_least(value: float, digits: int = 4) -> str:
    """A float rounded down to a few digits, so that a lower bound stays one."""
    return f"{float(rounded(value, digits, ROUND_FLOOR)):.{digits}g}"


def at_most(value: float, digits: int = 4) -> str:
    """The same rounded up, so that an upper bound stays one."""
    return f"{float(rounded(value, digits, ROUND_CEILING)):.{digits}g}"


def rounded(value: float, digits: int, rounding: str) -> Decimal:
    """A float to a few digits, from the shortest decimal that reads back as it, where that is no longer.

    0.1 is not one tenth in binary; rounding its exact value up would give 0.1001.
    """
    shortest = Decimal(repr(float(value)))
    short = not shortest.is_finite() or len(shortest.normalize().as_tuple().digits) <= digits
    return Context(prec=digits, rounding=rounding).plus(shortest if short else Decimal(float(value)))


def number_text(number: Fraction | str) -> str:
    """A number as people write it: 10,000; 1e-6; 0.05; 1/3; as it is where it is long, or coordinates of a vector."""
    try:
        value = number_of(number) if isinstance(number, str) else number
    except (ValueError, ZeroDivisionError):
        return str(number)
    if value.numerator.bit_length() + value.denominator.bit_length() > _LONGEST:
        return number if isinstance(number, str) else short_number(number)
    if value.denominator == 1:
        return f"{value.numerator:,}"
    for decimals in range(1, 16):
        shifted = value * 10**decimals
        if shifted.denominator != 1:
            continue
        digits = str(abs(shifted.numerator))
        if abs(value) < Fraction(1, 1000) and len(digits) <= 2:
            sign = "-" if value < 0 else ""
            mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1]}"
            return f"{sign}{mantissa}e-{decimals - len(digits) + 1}"
        whole = digits.rjust(decimals + 1, "0")
        return f"{'-' if value < 0 else ''}{whole[:-decimals]}.{whole[-decimals:]}"
    return str(value)


def coordinates_text(value: object) -> str:
    """A value in print: a number, or a vector's coordinates as `(1, -1/2)`."""
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)


def coordinates_of(text: str) -> Any:
    """The number or the coordinates that `coordinates_text` has written."""
    if text.startswith("("):
        return tuple(number_of(part) for part in text.strip("()").split(","))
    return number_of(text)
