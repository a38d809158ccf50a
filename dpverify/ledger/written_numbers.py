"""Exact numbers as text: how ledgers write them, how people do, and back."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

_DIGITS = 10_000
_LONGEST = 1000
"""Bits of a number that people write."""


def number_of(text: str) -> Fraction:
    """A number as it is written; ValueError where it has so many digits that no one compares it."""
    if abs(int(text.lower().partition("e")[2] or 0)) > _DIGITS:
        raise ValueError
    return Fraction(text)


def short_number(number: Fraction, digits: int = 5, rounding: str = ROUND_HALF_EVEN) -> str:
    """A number with a few digits, also one that is too large or too small for a float."""
    exact = Context(prec=digits, rounding=rounding).divide(
        Decimal(number.numerator), Decimal(number.denominator)
    )
    found = float(exact)
    as_it_is = not math.isfinite(found) or (exact != 0 and not found)
    return f"{exact.normalize() if as_it_is else found:.{digits}g}"


def few_digits(number: str) -> str:
    """The same number; where it takes more than ten digits, with five, or as many as tell it from an integer."""
    try:
        value = number_of(number)
    except (ValueError, ZeroDivisionError):
        return number
    if sum(map(str.isdigit, number)) <= 10 or "e" in number:
        return number
    found = [short_number(value, digits) for digits in (5, 8, 12)]
    return next((x for x in found if value.denominator == 1 or Fraction(x).denominator != 1), number)


def short_sides(left: str | None, right: str | None) -> tuple[str, str]:
    """Two sides, those that are written with many digits with as few as tell them apart; other text as it is."""

    def short(side: str | None, digits: int) -> str:
        try:
            return short_number(number_of(side), digits) if side and len(side) > 8 else side or ""
        except (ValueError, ZeroDivisionError):
            return side or ""

    found = [(short(left, digits), short(right, digits)) for digits in (5, 8, 12)]
    return next((pair for pair in found if pair[0] != pair[1]), (left or "", right or ""))


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


class WrittenNumber(NamedTuple):
    """A number as people write it, for writers of text and of LaTeX."""

    negative: bool
    whole: str
    """Digits before the point, in groups of three from the point on; or a numerator."""
    decimals: str = ""
    exponent: int = 0
    """Of ten, if there is a power of it."""
    under: str = ""
    """A denominator."""

    @classmethod
    def of(cls, number: Fraction | str) -> WrittenNumber | None:
        """10,000; 1e-6; 0.05; 1/3; what is written with an exponent keeps it; None where it is long, or no number."""
        try:
            value = number_of(number) if isinstance(number, str) else number
        except (ValueError, ZeroDivisionError):
            return None
        if isinstance(number, str) and "e" in number:
            mantissa, _, exponent = number.removeprefix("-").partition("e")
            whole, _, decimals = mantissa.partition(".")
            return cls(value < 0, whole, decimals, int(exponent))
        if value.numerator.bit_length() + value.denominator.bit_length() > _LONGEST:
            return None
        if value.denominator == 1:
            return cls(value < 0, f"{abs(value.numerator):,}")
        for places in range(1, 16):
            shifted = value * 10**places
            if shifted.denominator != 1:
                continue
            digits = str(abs(shifted.numerator))
            if abs(value) < Fraction(1, 1000) and len(digits) <= 2:
                return cls(value < 0, digits[0], digits[1:], len(digits) - 1 - places)
            digits = digits.rjust(places + 1, "0")
            return cls(value < 0, digits[:-places], digits[-places:])
        return cls(value < 0, str(abs(value.numerator)), under=str(value.denominator))

    def text(self) -> str:
        """In plain characters."""
        end = f"e{self.exponent}" if self.exponent else f"/{self.under}" if self.under else ""
        return f"{'-' * self.negative}{self.whole}{'.' * bool(self.decimals)}{self.decimals}{end}"

    def latex(self) -> str:
        """In LaTeX."""
        sign, digits = "-" * self.negative, f"{self.whole}{'.' * bool(self.decimals)}{self.decimals}"
        if self.under:
            return rf"{sign}\frac{{{self.whole}}}{{{self.under}}}"
        if not self.exponent:
            return sign + digits.replace(",", "{,}")
        factor = "" if digits == "1" else rf"{digits}\cdot"
        return f"{sign}{factor}10^{{{self.exponent}}}"


def number_text(number: Fraction | str) -> str:
    """A number as people write it: 10,000; 1e-6; 0.05; 1/3; as it is where it is long, or coordinates of a vector."""
    written = WrittenNumber.of(number)
    if written is not None:
        return written.text()
    return number if isinstance(number, str) else short_number(number)


def number_latex(number: str) -> str:
    """The same in LaTeX."""
    written = WrittenNumber.of(number)
    return number if written is None else written.latex()


def coordinates_text(value: object) -> str:
    """A value in print: a number, or a vector's coordinates as `(1, -1/2)`."""
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)


def coordinates_of(text: str) -> Any:
    """The number or the coordinates that `coordinates_text` has written."""
    if text.startswith("("):
        return tuple(number_of(part) for part in text.strip("()").split(","))
    return number_of(text)
