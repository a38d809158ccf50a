"""Claims as people type them: `eps=1,delta=1e-5`."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable

from dpverify.errors import InvalidArgumentError
from dpverify.privacy.guarantees import GDP, RDP, ApproxDP, Guarantee, PureDP, tCDP, zCDP

_FORMS = "eps=, eps=,delta=, mu=, rho=, rho=,omega= or order=,rdp=, such as eps=1,delta=1e-5"
_CLAIMS: tuple[tuple[str, tuple[str, ...], Callable[..., Guarantee]], ...] = (
    ("dp", ("eps",), PureDP),
    ("dp", ("eps", "delta"), ApproxDP),
    ("gdp", ("mu",), GDP),
    ("zcdp", ("rho",), zCDP),
    ("tcdp", ("rho", "omega"), tCDP),
    ("rdp", ("order", "rdp"), RDP.point),
)
"""The kind of a printed guarantee, such as (1, 1e-05)-DP, what its numbers are, and what makes it of them."""
_NAMES = {name: name for _, names, _ in _CLAIMS for name in names} | {"eps": "epsilon", "epsilon": "epsilon"}


def _typed(text: str) -> str:
    """A printed guarantee as it would be typed; any other text as it is."""
    found = re.fullmatch(r"\s*(\(?)([^()]*)(\)?)-\s*([A-Za-z]+)\s*", text)
    if found is None or bool(found[1]) != bool(found[3]):
        return text
    numbers = found[2].split(",")
    printed = found[4].lower(), len(numbers)
    names = next((names for kind, names, _ in _CLAIMS if (kind, len(names)) == printed), None)
    if names is None or (len(numbers) > 1) != bool(found[1]):
        return text
    return ",".join(f"{name}={number.strip()}" for name, number in zip(names, numbers, strict=True))


def _digits(number: str) -> str:
    """The digits of a decimal number before its exponent."""
    return "".join(filter(str.isdigit, number.lower().partition("e")[0]))


def parse_claim(text: str) -> Guarantee:
    """Read a claim.

    `eps=1` or `epsilon=1` (pure DP), `eps=1,delta=1e-5`, `mu=1` (GDP), `rho=0.5` (zCDP), `rho=0.5,omega=10`
    (tCDP), `order=8,rdp=0.3` (one point of a Renyi curve). Order and spaces do not matter. So are guarantees as they
    print themselves: `(1, 1e-05)-DP`, `0.2-GDP`, `(8, 0.3)-RDP`. A number that a float would turn into 0 or infinity is
    refused.

    Raises:
        InvalidArgumentError: for anything else, in one sentence that says what is allowed.
    """
    if not isinstance(text, str):
        raise InvalidArgumentError("claim", text, _FORMS)
    values: dict[str, float] = {}
    for part in _typed(text).split(","):
        name, separator, number = part.partition("=")
        key = _NAMES.get(name.strip().lower())
        if not separator or key is None:
            raise InvalidArgumentError("claim", text, _FORMS)
        if key in values:
            raise InvalidArgumentError("claim", text, f"each of its parts once, but {key} stands there twice")
        try:
            # int and float know underscores and other scripts' digits, which a claim should not
            if "_" in number or not number.isascii():
                raise ValueError
            values[key] = float(number)
        except ValueError:
            raise InvalidArgumentError("claim", text, f"a number after {name.strip()}=") from None
        if values[key] == 0 and _digits(number).strip("0"):
            raise InvalidArgumentError(
                "claim", text, f"{key} as 0 or a number that a float can hold, at least {math.ulp(0.0):g}"
            )
        if math.isinf(values[key]) and _digits(number):
            raise InvalidArgumentError(
                "claim", text, f"{key} as a number that a float can hold, at most {sys.float_info.max:g}"
            )
    builder = next((make for _, names, make in _CLAIMS if {_NAMES[n] for n in names} == values.keys()), None)
    if builder is None:
        raise InvalidArgumentError("claim", text, _FORMS)
    try:
        return builder(**values)
    except InvalidArgumentError as error:
        raise InvalidArgumentError("claim", text, f"{error.argument} as {error.allowed}") from None
