"""Numbers as people type them in claims, `ln(3)` and `1/2` too, and as claims print them."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping

_DECIMAL = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_FACTOR = re.compile(
    rf"\s*(?:(ln|log|sqrt|exp)\s*\(\s*({_DECIMAL})\s*(?:/\s*({_DECIMAL})\s*)?\)|({_DECIMAL}))\s*", re.I
)
_ROUNDING = 1e-14
_FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "ln": math.log, "log": math.log, "sqrt": math.sqrt, "exp": math.exp,
}  # fmt: skip


def read_number(text: str) -> float:
    """A decimal, or factors with * and / between them, each a decimal or ln, sqrt or exp of one or of a fraction.

    `log` is the natural logarithm, as `ln`. Each operation is rounded to the nearest float. Nothing is evaluated but
    these. `inf` and `nan` are read as they are.

    Raises:
        ValueError: for any other text, for a division by 0 and the logarithm of a number that is not positive.
        OverflowError: for a number that floats turn into infinity.
        ArithmeticError: for one that they turn into 0.

    Examples:
        >>> from dpverify.privacy.forms.numbers import read_number
        >>> read_number("1/2"), read_number("2*ln(3)") == 2 * 1.0986122886681098
        (0.5, True)
    """
    # int and float know underscores and other scripts' digits, which a claim should not
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    if re.fullmatch(r"\s*[+-]?(?:inf|infinity|nan)\s*", text, re.IGNORECASE):
        return float(text)
    result, place, operator = 1.0, 0, "*"
    while True:
        found = _FACTOR.match(text, place)
        if found is None:
            raise ValueError(text)
        factor = _factor(*found.groups())
        if operator == "/" and factor == 0:
            raise ValueError(text)
        before, result = result, result * factor if operator == "*" else result / factor
        if result == 0 and before != 0 and factor != 0:
            raise ArithmeticError(text)
        if math.isinf(result):
            raise OverflowError(text)
        place = found.end()
        if place == len(text):
            return result
        operator, place = text[place], place + 1
        if operator not in "*/":
            raise ValueError(text)


def _factor(function: str | None, over: str | None, under: str | None, alone: str | None) -> float:
    if function is None or over is None:
        return _decimal(str(alone))
    argument = _decimal(over) if under is None else _ratio(_decimal(over), _decimal(under))
    return _FUNCTIONS[function.lower()](argument)


def _ratio(over: float, under: float) -> float:
    if under == 0:
        raise ValueError(under)
    return over / under


def _decimal(text: str) -> float:
    value = float(text)
    if value == 0 and any(digit in "123456789" for digit in text.lower().partition("e")[0]):
        raise ArithmeticError(text)
    if math.isinf(value):
        raise OverflowError(text)
    return value


def out_of_floats(error: ArithmeticError) -> str:
    """What is allowed instead of a number that floats turn into infinity or 0."""
    if isinstance(error, OverflowError):
        return f"a number that a float can hold, at most {sys.float_info.max:g}"
    return f"0 or a number that a float can hold, at least {math.ulp(0.0):g}"


def shown(value: float) -> str:
    """A number in six digits where these differ by rounding alone, else in the fewest that are read back as it is."""
    short = f"{value:g}"
    return short if math.isclose(float(short), value, rel_tol=_ROUNDING) else repr(float(value))
