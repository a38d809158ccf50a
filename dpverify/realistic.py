"""A counterexample at sizes that people have: what the ledger keeps of it, and how it is said."""

from __future__ import annotations

from fractions import Fraction

from pydantic import BaseModel, ConfigDict


class RealisticPoint(BaseModel):
    """A second counterexample, at which every letter has a size met in practice, or how many points were tried in vain.

    It is chosen to be easy to read, and among such points to fail by much: it is no typical case.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    """Where nothing was tried: what is never of its size in practice."""

    def at(self) -> str:
        """The point, in numbers as people write them."""
        return ", ".join(
            f"{self._letter(x)} = {number_text(value)}" for x, value in (self.point or {}).items()
        )

    def _letter(self, name: str) -> str:
        """A letter, with what it is the logarithm of."""
        what = self.sizes.get(name, "").rpartition(", ")[0]
        return f"{name} = {what}" if what.startswith(("log", "ln")) else name

    def says(self, excess: str = "", sides: tuple[str | None, str | None] | None = None) -> str:
        """All of it in a line, to follow `At a realistic size:`.

        Args:
            excess: by how much it fails, in the direction that is printed; as recorded if it is empty.
            sides: both sides in the order that is printed; as recorded if there are none.
        """
        if self.point is None:
            return f"not found ({self.tried:,} points tried)" if self.tried else f"none: {self.because}"
        left, right = sides or (self.left, self.right)
        by = excess or self.exceeds
        if not by and left is not None and right is not None:
            by = f"the sides are {_shorter(left)} and {_shorter(right)}"
        doubt = "" if self.confirmed_by_checker else " (not confirmed by the checker)"
        return f"{self.at()}{f': {by}' if by else ''}{doubt}"


def _shorter(side: str) -> str:
    try:
        value = Fraction(side)
    except (ValueError, ZeroDivisionError):
        return side
    return side if len(side) <= 8 else f"{float(value):.4g}"


def number_text(number: Fraction | str) -> str:
    """A number as people write it, exactly: 10,000; 1e-6; 0.05; 1/3; coordinates of a vector as they are.

    Examples:
        >>> from dpverify.realistic import number_text
        >>> [number_text(x) for x in ("10000", "1/1000000", "1/20", "1/3", "-5/2", "(1, 0)")]
        ['10,000', '1e-6', '0.05', '1/3', '-2.5', '(1, 0)']
    """
    try:
        value = Fraction(number)
    except ValueError:
        return str(number)
    if value.denominator == 1:
        return f"{value.numerator:,}"
    for decimals in range(1, 16):
        shifted = value * 10**decimals
        if shifted.denominator != 1:
            continue
        digits = str(abs(shifted.numerator))
        if decimals > 3 and len(digits) <= 2:
            sign = "-" if value < 0 else ""
            mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1]}"
            return f"{sign}{mantissa}e-{decimals - len(digits) + 1}"
        whole = digits.rjust(decimals + 1, "0")
        return f"{'-' if value < 0 else ''}{whole[:-decimals]}.{whole[-decimals:]}"
    return str(value)
