"""Sums, products and balls rounded up to floats: rounding down would void an upper bound."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import arb


def product(left: float, right: float) -> float:
    """The smallest float that is at least left * right, both at least 0; infinity beyond the floats."""
    found = left * right
    if found == math.inf or left == 0 or right == 0:
        return found
    if Fraction(found) < Fraction(left) * Fraction(right):
        return math.nextafter(found, math.inf)
    return found


def quotient(left: float, right: float) -> float:
    """The smallest float that is at least left / right, for left at least 0 and right above 0; infinity beyond."""
    found = left / right
    if found == math.inf or left == 0:
        return found
    if Fraction(found) * Fraction(right) < Fraction(left):
        return math.nextafter(found, math.inf)
    return found


def total(values: Iterable[float]) -> float:
    """The smallest float that is at least the sum of finite numbers of at least 0; infinity beyond the floats."""
    terms = list(values)
    try:
        found = math.fsum(terms)
    except OverflowError:
        return math.inf
    # both sums are rounded once, so the sign of the difference is right
    if math.fsum([*terms, -found]) > 0:
        return math.nextafter(found, math.inf)
    return found


def length(values: Iterable[float]) -> float:
    """A float that is at least the Euclidean norm of finite numbers of at least 0; infinity beyond the floats."""
    terms = [value for value in values if value != 0]
    found = math.hypot(*terms)
    if found == math.inf:
        return found
    square = sum((Fraction(term) ** 2 for term in terms), Fraction(0))
    while found < math.inf and Fraction(found) ** 2 < square:
        found = math.nextafter(found, math.inf)
    return found


def ball(value: arb) -> float:
    """A float that is at least every number of a ball; infinity beyond the floats."""
    from flint import arb

    upper = value.upper()
    found = float(upper)
    if math.isnan(found):
        return math.inf
    if found < math.inf and arb(found) < upper:
        return math.nextafter(found, math.inf)
    return found
