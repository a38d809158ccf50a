"""Checks of single arguments, in the positive form, so that NaN fails them; one sentence says what is allowed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.quoting import quoted

FloatArray = NDArray[np.float64]

LEAST_FAILURE_PROBABILITY = 1e-15
"""Least failure probability of one audit: far below any use, and above the levels at which floats give out."""

LARGEST_COUNT = 10**100
"""Largest number of records, steps, coordinates and the like: their squares and cubes are floats, too."""


def require(holds: object, argument: str, value: object, allowed: str) -> None:
    """Refuse an argument of which a condition does not hold."""
    if not holds:
        raise InvalidArgumentError(argument, value, allowed)


def number(
    argument: str,
    value: object,
    *,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    above: float = -math.inf,
    below: float = math.inf,
    finite: bool = True,
    allowed: str = "",
) -> float:
    """One real number in a range; NaN, bools, text and arrays are refused.

    `above` and `below` are limits that are themselves left out, infinite ones excepted; `finite` refuses infinities;
    `allowed` says the range in other words than the limits do.
    """
    said = allowed or _range(at_least, at_most, above, below, finite=finite)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise InvalidArgumentError(argument, value, said)
    try:
        real = float(value)
    except OverflowError:
        raise InvalidArgumentError(argument, value, said) from None
    inside = at_least <= real <= at_most
    # an infinite limit excludes nothing; only `finite` excludes the infinities
    inside = inside and (above == -math.inf or real > above) and (below == math.inf or real < below)
    require(inside and (math.isfinite(real) or not finite), argument, value, said)
    return real


def number_field(owner: object, name: str, **limits: Any) -> None:
    """Check a field of a frozen dataclass as `number` does, and keep it as a float."""
    object.__setattr__(owner, name, number(name, getattr(owner, name), **limits))


def whole_field(owner: object, name: str, **limits: Any) -> None:
    """Check a field of a frozen dataclass as `whole_number` does, and keep it as an int."""
    object.__setattr__(owner, name, whole_number(name, getattr(owner, name), **limits))


def _range(at_least: float, at_most: float, above: float, below: float, *, finite: bool) -> str:
    limits = (
        ("of at least", at_least, -math.inf),
        ("greater than", above, -math.inf),
        ("of at most", at_most, math.inf),
        ("less than", below, math.inf),
    )
    said = " and ".join(f"{words} {limit:g}" for words, limit, nothing in limits if limit != nothing)
    return f"a {'finite number' if finite else 'number or infinity'}{f' {said}' if said else ''}"


def not_negative(argument: str, value: object) -> float:
    """A finite number of at least 0."""
    return number(argument, value, at_least=0.0)


def budget(argument: str, value: object, *, at_least: float = 1e-100) -> float:
    """An epsilon that an algorithm is asked for, in nats: up to 1e10, and no smaller than its formulas allow."""
    return number(
        argument, value, at_least=at_least, at_most=1e10, allowed=f"a number from {at_least:g} to 1e+10"
    )


def positive(argument: str, value: object) -> float:
    """A finite number above 0."""
    return number(argument, value, above=0.0, allowed="a finite number above 0")


def probability(argument: str, value: object) -> float:
    """A probability, strictly between 0 and 1."""
    return number(argument, value, above=0.0, below=1.0, allowed="a number strictly between 0 and 1")


def failure_probability(
    argument: str, value: object, *, at_least: float = LEAST_FAILURE_PROBABILITY, reason: str = ""
) -> float:
    """A failure probability in [at_least, 1); `reason` is put behind what is allowed."""
    allowed = f"a number from {at_least:g} to below 1{reason}"
    return number(argument, value, at_least=at_least, below=1.0, allowed=allowed)


def whole_number(
    argument: str, value: object, *, at_least: int = 1, at_most: int | None = LARGEST_COUNT
) -> int:
    """One integer in a range; bools and floats are refused, and more than anybody counts, unless `at_most` is None."""
    allowed = f"an integer of at least {at_least}"
    found = None if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) else int(value)
    # a limit that nobody comes near is said to those who do
    if at_most is not None and (at_most != LARGEST_COUNT or (found or 0) > at_most):
        allowed += f" and at most {at_most}"
    if found is None or not found >= at_least or (at_most is not None and not found <= at_most):
        raise InvalidArgumentError(argument, value, allowed)
    return found


def checked_seed(value: object) -> int:
    """The argument `seed`: an integer of at least 0, as large as it may be."""
    return whole_number("seed", value, at_least=0, at_most=None)


def of_kind(argument: str, value: object, kind: type | tuple[type, ...], allowed: str = "") -> None:
    """Refuse what is no object of a class, or of one of several; for these, `allowed` says what is."""
    if not isinstance(value, kind):
        name = kind.__name__ if isinstance(kind, type) else ""
        said = "True or False" if kind is bool else f"an object of the class {name}"
        raise InvalidArgumentError(argument, value, allowed or said)


def one_of(argument: str, value: object, known: Iterable[str]) -> None:
    """Refuse what is none of these names."""
    names = tuple(known)
    require(isinstance(value, str) and value in names, argument, value, ", ".join(names))


def with_attribute(argument: str, value: object, name: str) -> None:
    """Refuse what lacks an attribute or a method."""
    require(hasattr(value, name), argument, value, f"an object with `{name}`")


def items(argument: str, value: object, kind: Any, allowed: str, *, least: int = 1) -> None:
    """Refuse what is no tuple, list or other sequence, text excepted, of at least so many objects of a class."""
    found = value if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else None
    if found is None or len(found) < least or not all(isinstance(one, kind) for one in found):
        raise InvalidArgumentError(argument, value, allowed)


def function(argument: str, value: object) -> None:
    """Refuse what cannot be called."""
    require(callable(value), argument, value, "a function")


def numbers(
    argument: str,
    value: ArrayLike,
    *,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    finite: bool = True,
    allowed: str,
) -> FloatArray:
    """An array of real numbers in a range, any shape, as float64; NaN, bools and objects are refused."""
    try:
        raw = np.asarray(value)
    except ValueError:
        raise InvalidArgumentError(argument, value, allowed) from None
    require(raw.dtype.kind in "iuf", argument, value, allowed)
    array = raw.astype(np.float64)
    if not np.all((array >= at_least) & (array <= at_most)) or (finite and not np.all(np.isfinite(array))):
        raise InvalidArgumentError(argument, value, allowed)
    return array


def returned(name: str, value: object) -> FloatArray:
    """What a user's function returned, as float64 of any shape, also NaN and infinity; no text or object."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidDataError(f"`{name}` returned {quoted(repr(value), 80)}; allowed: numbers.") from None


def returned_number(name: str, value: object) -> float:
    """The same for a function that returns one number."""
    found = returned(name, value)
    if found.size != 1:
        raise InvalidDataError(f"`{name}` returned {quoted(repr(value), 80)}; allowed: one number.")
    return float(found.item())
