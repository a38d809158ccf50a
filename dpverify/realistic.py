"""A counterexample at sizes that people have: what the ledger keeps of it, and how it is said."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from pydantic import BaseModel, ConfigDict


class RealisticPoint(BaseModel):
    """A second counterexample, at which every letter has a size met in practice, or how many points were tried in vain.

    It is chosen to be easy to read, and among such points to fail by much: it is no typical case.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    sizes: dict[str, str]
    """What each letter is and its range in practice: by its domain, where its declaration does not say its size."""
    tried: int
    """Points that were looked at."""
    point: dict[str, str] | None = None
    """Symbol to exact fraction; None where no counterexample was found at such sizes."""
    left: str | None = None
    right: str | None = None
    """The two sides there."""
    exceeds: str = ""
    """By how much an inequality fails there, where both sides are numbers."""
    confirmed_by_checker: bool = False
    """Whether the checker confirms the row's problem refuted by this point."""
    because: str = ""
    """Where nothing was tried, what is never of its size in practice; or why what was tried shows nothing."""

    def at(self) -> str:
        """The point, in numbers as people write them; a logarithm of other letters there is rounded."""
        return ", ".join(f"{self._letter(x)} {number_text(value)}" for x, value in (self.point or {}).items())

    def _letter(self, name: str) -> str:
        """A letter with what it is the logarithm of, and the sign that its number follows."""
        what = self.sizes.get(name, "").rpartition(", ")[0]
        if not what.startswith(("log", "ln")):
            return f"{name} ="
        letters = set(re.findall(r"[A-Za-z]\w*", what)) - {"log", "ln"}
        return f"{name} = {what} {'≈' if letters <= {*(self.point or {})} else '='}"

    def says(self, excess: str = "", sides: tuple[str | None, str | None] | None = None) -> str:
        """All of it in a line, to follow `At a realistic size:`.

        Args:
            excess: by how much it fails, in the direction that is printed; as recorded if it is empty.
            sides: both sides in the order that is printed; as recorded if there are none.
        """
        if self.point is None:
            tried = f"{self.tried:,} point{'' if self.tried == 1 else 's'} tried"
            but = f"; {self.because}" if self.because else ""
            return f"not found ({tried}{but})" if self.tried else f"none: {self.because}"
        left, right = sides or (self.left, self.right)
        by = excess or self.exceeds
        if not by and left is not None and right is not None:
            by = f"the sides are {_shorter(left)} and {_shorter(right)}"
        doubt = "" if self.confirmed_by_checker else " (not confirmed by the checker)"
        return f"{self.at()}{f': {by}' if by else ''}{doubt}"


def _shorter(side: str) -> str:
    try:
        return side if len(side) <= 8 else short_number(number_of(side))
    except (ValueError, ZeroDivisionError):
        return side


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


def number_text(number: Fraction | str) -> str:
    """A number as people write it: 10,000; 1e-6; 0.05; 1/3; as it is where it is long, or coordinates of a vector.

    Examples:
        >>> from dpverify.realistic import number_text
        >>> [number_text(x) for x in ("10000", "1/1000000", "1/20", "1/3", "-5/2", "(1, 0)")]
        ['10,000', '1e-6', '0.05', '1/3', '-2.5', '(1, 0)']
    """
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
