"""The checker's intervals: integers in units of 2^-precision, rounded outward; what may have no value is refused."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import NamedTuple

from mpmath.libmp import from_man_exp, mpf_atan, mpf_cos, mpf_exp, mpf_log, mpf_pi, to_fixed

from dpverify.proving.checker.terms import demand

FUNCTIONS = {"exp": mpf_exp, "log": mpf_log, "cos": mpf_cos, "arctan": mpf_atan}


class Enclosure(NamedTuple):
    """All numbers between two, in units of 2^-precision."""

    low: int
    high: int


def between(low: Fraction, high: Fraction, precision: int) -> Enclosure:
    """The interval between two exact numbers."""
    top, bottom = low.numerator << precision, -high.numerator << precision
    return Enclosure(top // low.denominator, -(bottom // high.denominator))


@lru_cache(10**5)
def bounds(function: str, units: int, precision: int) -> Enclosure:
    """Bounds of exp, log, cos or arctan at a number, from mpmath's with 60 bits more, the last not trusted."""
    more = 60 + max(0, 2 * units >> precision) * (function == "exp")
    demand(more < 10**4 and (function != "log" or units > 0), f"{function} is undefined, or too large")
    at = from_man_exp(units, -precision)
    found = to_fixed(FUNCTIONS[function](at, precision + more), precision)
    plain = units == (function == "log") << precision  # exp(0) = cos(0) = 1, log(1) = arctan(0) = 0
    return Enclosure(found, found) if plain else Enclosure(found - 1, found + 2)


def pi(precision: int) -> Enclosure:
    """Bounds of pi."""
    found = to_fixed(mpf_pi(precision + 60), precision)
    return Enclosure(found - 1, found + 2)


@lru_cache(10**3)
def peak(precision: int) -> Enclosure:
    """Bounds of the Gaussian density at 0, 1 / root(2 pi)."""
    two = Enclosure(2 << precision, 2 << precision)
    return power(product(precision, two, pi(precision)), Fraction(-1, 2), precision)


@lru_cache(10**5)
def phi(units: int, precision: int) -> Enclosure:
    """Bounds of phi at q, 1/2 + density(q) * q * (sum of q^2k / (1 * 3 * ... * (2 k + 1)))."""
    if 5 * units * units > 7 * precision << 2 * precision:
        one = 1 << precision  # phi(-|q|) < exp(-q^2 / 2) / 2 < 2^-precision
        return Enclosure(one - 1, one) if units > 0 else Enclosure(0, 1)
    fine = precision + 30 + (units * units >> 2 * precision)  # the product loses log2 exp(q^2 / 2) bits
    low = high = down = up = 1 << fine
    square, twice, odd = units * units, 2 * precision, 1
    while up > 1 or 2 * square >> twice >= odd + 2:
        odd += 2  # in the end, terms at least halve, and sum to less than the last
        down, up = (down * square >> twice) // odd, -((-up * square >> twice) // odd)
        low, high = low + down, high + up
    at, half = Enclosure(*(units << fine - precision,) * 2), Enclosure(*(1 << fine - 1,) * 2)
    bell = increasing("exp", product(fine, at, Enclosure(-at.low, -at.low), half), fine)
    found = product(fine, peak(fine), bell, at, Enclosure(low, high + up))
    middle, shift = 1 << precision - 1, fine - precision
    return Enclosure(middle + (found.low >> shift), middle - (-found.high >> shift))


def total(*parts: Enclosure) -> Enclosure:
    """The sum."""
    return Enclosure(sum(part.low for part in parts), sum(part.high for part in parts))


def product(precision: int, *parts: Enclosure) -> Enclosure:
    """The product."""
    low, high = parts[0]
    for a, b in parts[1:]:
        ends = low * a, low * b, high * a, high * b
        low, high = min(ends) >> precision, -(-max(ends) >> precision)
    return Enclosure(low, high)


def power(base: Enclosure, exponent: Fraction, precision: int) -> Enclosure:
    """A power with an integer or half an integer as its exponent."""
    low, high = base
    if exponent.denominator == 2 and low >= 0:
        root = Enclosure(isqrt(low << precision), high and 1 + isqrt((high << precision) - 1))
        return power(root, exponent * 2, precision)
    demand(exponent.denominator == 1, f"a power with exponent {exponent} that may be undefined")
    if exponent < 0:
        demand(low > 0 or high < 0, "the inverse of what may be 0 may be undefined")
        inverse = Enclosure((1 << 2 * precision) // high, -((-1 << 2 * precision) // low))
        return power(inverse, -exponent, precision)
    times = exponent.numerator
    ends = low**times, high**times, *[0] * (times % 2 == 0 and low < 0 < high)
    shift = precision * times
    return Enclosure((min(ends) << precision) >> shift, -((-max(ends) << precision) >> shift))


def cosine(at: Enclosure, precision: int) -> Enclosure:
    """The values of cos: between those at the ends, and at multiples of pi between these."""
    one = 1 << precision
    least, most = pi(precision)
    if at.high - at.low >= least or max(map(abs, at)) >= most << 20:
        return Enclosure(-one, one)
    ends = [bounds("cos", end, precision) for end in at]
    low, high = max(-one, min(end.low for end in ends)), min(one, max(end.high for end in ends))
    for k in range(at.low // least - 1, at.high // least + 2):
        first, last = sorted((k * least, k * most))
        if first <= at.high and at.low <= last:
            low, high = (low, one) if k % 2 == 0 else (-one, high)
    return Enclosure(low, high)


def sine(at: Enclosure, precision: int) -> Enclosure:
    """The values of sin: cos(u - pi/2)."""
    least, most = pi(precision + 1)
    return cosine(Enclosure(at.low - (most + 3 >> 2), at.high - (least >> 2)), precision)


def increasing(function: str, at: Enclosure, precision: int) -> Enclosure:
    """The values of exp, log, arctan or phi."""
    if function == "phi":
        return Enclosure(phi(at.low, precision).low, phi(at.high, precision).high)
    return Enclosure(bounds(function, at.low, precision).low, bounds(function, at.high, precision).high)
