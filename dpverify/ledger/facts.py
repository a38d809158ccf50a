"""Facts about a formula's letters and sides, as fields: where a letter ranges, its size in practice, by how much."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Literal

from dpverify.ledger.records import Record
from dpverify.ledger.written_numbers import number_of, number_text, short_number


class LetterDomain(Record):
    """Where a letter ranges: an interval of reals or integers, or all vectors."""

    kind: Literal["real", "integer", "vector"] = "real"
    lower: str | None = None
    """Exact number; None if there is no bound."""
    lower_open: bool = False
    """Whether `lower` itself is left out."""
    upper: str | None = None
    upper_open: bool = False

    def is_within(self, low: str, high: str) -> bool:
        """Whether all of it lies between two numbers; False where an end is unbounded or no number."""
        if self.lower is None or self.upper is None:
            return False
        try:
            return Fraction(low) <= Fraction(self.lower) and Fraction(self.upper) <= Fraction(high)
        except (ValueError, ZeroDivisionError):
            return False

    def text(self) -> str:
        """Such as `integers in [1, ∞)`."""
        if self.kind == "vector":
            return "vectors"
        left = "(" if self.lower is None or self.lower_open else "["
        right = ")" if self.upper is None or self.upper_open else "]"
        ends = f"{left}{'−∞' if self.lower is None else self.lower}, {self.upper or '∞'}{right}"
        return f"integers in {ends}" if self.kind == "integer" else ends


class PracticalSize(Record):
    """What a letter is, and its range in practice."""

    what: str
    low: str | None
    """Exact number; None if the assumptions bound the letter, not a range."""
    high: str | None
    log_of: tuple[str, ...] = ()
    """For a logarithm, the letters that it is taken of."""

    def range_text(self) -> str:
        """Such as `100 to 1,000,000`."""
        if self.low is None or self.high is None:
            return "as the assumptions bound it"
        return f"{number_text(self.low)} to {number_text(self.high)}"

    def text(self) -> str:
        """With what it is."""
        return f"{self.what}, {self.range_text()}"


class FailureMargin(Record):
    """By how much an inequality fails at least: numbers of a few digits, as text, since some are beyond floats.

    The larger side and the factor are rounded down, the smaller side is rounded up.
    """

    found: str
    """The first side, as printed."""
    bound: str
    """The second side."""
    at_least: bool
    """Whether the first side should be at least the second, instead of at most."""
    factor: str | None
    """How many times too large, or too small, the first side is; None if it is no factor that shows."""

    @classmethod
    def of(cls, relation: str, left: str | None, right: str | None) -> FailureMargin | None:
        """By how much it fails, by the printed relation of its sides; None unless these are numbers in order."""
        if relation not in ("<=", "<", ">=", ">"):
            return None
        at_least = relation in (">=", ">")
        try:
            shown, bound = number_of(left or ""), number_of(right or "")
            low, high = (bound, shown) if at_least else (shown, bound)
            if low <= high or high < 0:
                return None
            times = short_number(low / high, rounding=ROUND_FLOOR) if high else ""
            down, up = "", ""
            for digits in (5, 8, 12, 40):
                down, up = short_number(low, digits, ROUND_FLOOR), short_number(high, digits, ROUND_CEILING)
                if number_of(down) > number_of(up):
                    break
            found, limit = (up, down) if at_least else (down, up)
        except (ValueError, ZeroDivisionError, OverflowError):
            return None
        factor = None if times in ("", "1") else times
        return cls(found=found, bound=limit, at_least=at_least, factor=factor)

    def text(self) -> str:
        """Such as `4 instead of at most 2, 2 times as much`."""
        said = f"{self.found} instead of at {'least' if self.at_least else 'most'} {self.bound}"
        if self.factor is None:
            return said
        more = f"too small by a factor of {self.factor}" if self.at_least else f"{self.factor} times as much"
        return f"{said}, {more}"
