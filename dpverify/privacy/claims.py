"""Claims as people type them: `eps=1,delta=1e-5`."""

from __future__ import annotations

import re
from collections.abc import Callable

from dpverify.errors import InvalidArgumentError
from dpverify.privacy.forms.approximate import ApproxGDP, ApproxzCDP, BoundedRange, renyi_points
from dpverify.privacy.forms.numbers import out_of_floats, read_number
from dpverify.privacy.forms.tables import read_table
from dpverify.privacy.guarantees import GDP, RDP, ApproxDP, Guarantee, PureDP, tCDP, zCDP

_FORMS = (
    "eps=, eps=,delta=, delta=, tv=, mu=, mu=,delta=, rho=, rho=,delta=, rho=,omega=, order=,rdp=, rdp=ORDER:RDP;..., "
    "bounded-range=, profile=FILE, pld=FILE or tradeoff=FILE, such as eps=1,delta=1e-5"
)


def _no_epsilon(delta: float) -> ApproxDP:
    """(0, delta)-DP, which says that the total variation distance of neighbors' outputs is at most delta."""
    return ApproxDP(0.0, delta)


_CLAIMS: tuple[tuple[str, tuple[str, ...], Callable[..., Guarantee]], ...] = (
    ("dp", ("eps",), PureDP),
    ("dp", ("eps", "delta"), ApproxDP),
    ("", ("delta",), _no_epsilon),
    ("", ("tv",), lambda tv: _no_epsilon(tv)),
    ("gdp", ("mu",), GDP),
    ("gdp", ("mu", "delta"), ApproxGDP),
    ("zcdp", ("rho",), zCDP),
    ("zcdp", ("rho", "delta"), ApproxzCDP),
    ("tcdp", ("rho", "omega"), tCDP),
    ("rdp", ("order", "rdp"), RDP.point),
    ("", ("bounded-range",), lambda **values: BoundedRange(values["bounded-range"])),
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


def parse_claim(text: str) -> Guarantee:
    """Read a claim.

    - `eps=1` or `epsilon=1` (pure DP), `eps=1,delta=1e-5`;
    - `delta=0.1` alone is (0, 0.1)-DP, and so is `tv=0.1`, a total variation distance;
    - `mu=1` (GDP), `mu=1,delta=1e-6` (GDP up to delta, `ApproxGDP`);
    - `rho=0.5` (zCDP), `rho=0.5,delta=1e-6` (approximate zCDP), `rho=0.5,omega=10` (tCDP);
    - `order=8,rdp=0.3` (one point of a Renyi curve), `rdp=2:0.1;4:0.3` (several, each an order and its divergence);
    - `bounded-range=1` (privacy losses in an interval of that length: the exponential mechanism);
    - `profile=FILE.json` (points of a privacy profile, `ProfilePoints`), `pld=FILE.json` (a privacy loss distribution,
      `LossDistribution`), `tradeoff=FILE.json` (points of a trade-off function, straight between them, `FDP`).

    Epsilon, divergences and ranges are in nats. Numbers may be fractions, products, ln, sqrt and exp: `eps=ln(3)`,
    `eps=1/2`. Order and spaces do not matter. So are guarantees as they print themselves: `(1, 1e-05)-DP`, `0.2-GDP`,
    `(8, 0.3)-RDP`. A number that a float would turn into 0 or infinity is refused.

    Raises:
        InvalidArgumentError: for anything else, in one sentence that says what is allowed.

    Examples:
        >>> from dpverify.privacy import parse_claim
        >>> str(parse_claim("eps=ln(3)")), str(parse_claim("mu=1/2,delta=1e-6"))
        ('1.0986122886681098-DP', '(0.5, 1e-06)-GDP')
    """
    if not isinstance(text, str):
        raise InvalidArgumentError("claim", text, _FORMS)
    if table := re.fullmatch(r"\s*(profile|pld|tradeoff)\s*=\s*(.*?)\s*", text, re.IGNORECASE):
        return read_table(table[1].lower(), table[2])
    values: dict[str, float] = {}
    try:
        if several := re.fullmatch(r"\s*rdp\s*=(.*:.*)", text, re.IGNORECASE):
            return renyi_points([_point(text, part) for part in several[1].split(";")])
        for part in _typed(text).split(","):
            name, separator, number = part.partition("=")
            key = _NAMES.get(name.strip().lower())
            if not separator or key is None:
                raise InvalidArgumentError("claim", text, _FORMS)
            if key in values:
                raise InvalidArgumentError(
                    "claim", text, f"each of its parts once, but {key} stands there twice"
                )
            values[key] = _number(text, number, name.strip(), key)
        builder = next(
            (make for _, names, make in _CLAIMS if {_NAMES[n] for n in names} == values.keys()), None
        )
        if builder is None:
            raise InvalidArgumentError("claim", text, _FORMS)
        return builder(**values)
    except InvalidArgumentError as error:
        if error.argument == "claim":
            raise
        raise InvalidArgumentError("claim", text, f"{error.argument} as {error.allowed}") from None


def _point(text: str, part: str) -> tuple[float, float]:
    """The order and the divergence of one point of a Renyi curve."""
    order, separator, rdp = part.partition(":")
    if not separator:
        raise InvalidArgumentError("claim", text, "points ORDER:RDP with semicolons between them after rdp=")
    return _number(text, order, "rdp", "order"), _number(text, rdp, "rdp", "rdp")


def _number(text: str, number: str, name: str, key: str) -> float:
    try:
        return read_number(number)
    except ValueError:
        raise InvalidArgumentError("claim", text, f"a number after {name}=") from None
    except ArithmeticError as error:
        raise InvalidArgumentError("claim", text, f"{key} as {out_of_floats(error)}") from None
