"""Numbers as text: four significant digits, rounded to the side that keeps a bound a bound."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from dpverify.ledger.written_numbers import rounded

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def nearest(value: float, digits: int = 4) -> str:
    """The number to `digits` significant digits, rounded to nearest."""
    return _text(value, digits, ROUND_HALF_EVEN)


def at_least(value: float, digits: int = 4) -> str:
    """The number rounded down, so that a lower bound stays one."""
    return _text(value, digits, ROUND_FLOOR)


def at_most(value: float, digits: int = 4) -> str:
    """The number rounded up, so that an upper bound stays one."""
    return _text(value, digits, ROUND_CEILING)


def span(lower: float, upper: float) -> str:
    """`lower to upper`, rounded outward."""
    return f"{at_least(lower)} to {at_most(upper)}"


def count(value: int) -> str:
    """An integer with thousands separated by commas."""
    return f"{value:,}"


def plural(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count(number)} {noun}" + ("" if number == 1 else "s")


def duration(seconds: float) -> str:
    """A time span as a reader would say it."""
    if not seconds >= 0:
        return "unknown"
    if seconds < 60:
        return f"{nearest(seconds, 2)} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def moment(created: str) -> str:
    """An ISO 8601 time as a reader would write it; text that is none stays as it is."""
    try:
        time = datetime.fromisoformat(created)
    except ValueError:
        return created
    if time.tzinfo is None:
        return time.strftime("%Y-%m-%d %H:%M")
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def power_of_ten(exponent: int) -> str:
    """A tick label such as 10⁻³."""
    return "1" if exponent == 0 else "10" + str(exponent).translate(_RAISED)


def _text(value: float, digits: int, rounding: str) -> str:
    value = float(value)  # NumPy prints its own floats differently
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    exact = Decimal(value)
    if exact == 0:
        return "0"
    if exact == exact.to_integral_value() and abs(exact) < 1_000_000:
        return f"{int(exact):,}".replace("-", "−")
    short = rounded(value, digits, rounding)
    exponent = short.adjusted()
    plain = -4 <= exponent < 6
    text = f"{short:,f}" if plain else f"{short.scaleb(-exponent):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    text += "" if plain else f"×10{str(exponent).translate(_RAISED)}"
    return text.replace("-", "−")
