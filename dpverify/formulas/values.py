"""Values at a point: exact fractions while all is rational, else Arb balls at the working precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint

from dpverify.formulas.expressions import MAX_BITS

Ball = Any
"""A flint.arb; python-flint's types carry no annotations."""
Value = Any
"""Fraction or flint.arb."""
NOT_A_NUMBER = flint.arb.nan()


class UndefinedError(Exception):
    """The expression has no value at this point."""


class UnclearError(Exception):
    """The balls do not decide, at this precision or at all."""


def ball(value: Value) -> Ball:
    """A ball around a value, at the working precision."""
    if isinstance(value, Fraction):
        return flint.arb(flint.fmpq(value.numerator, value.denominator))
    return value


def sign(value: Value) -> int:
    """-1, 0 or 1; `UnclearError` where a ball straddles zero."""
    if isinstance(value, Fraction):
        return (value > 0) - (value < 0)
    if value.is_zero():
        return 0
    if value > 0:
        return 1
    if value < 0:
        return -1
    raise UnclearError


def held(value: Value) -> Value:
    """A value that is neither too long nor unknown; `UnclearError` for the latter."""
    if isinstance(value, Fraction):
        long = max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS
        return ball(value) if long else value
    if not value.is_finite():
        raise UnclearError
    return value


def plus(x: Value, y: Value) -> Value:
    """The sum."""
    return held(x + y if type(x) is type(y) else ball(x) + ball(y))


def times(x: Value, y: Value) -> Value:
    """The product; of what has a value and 0 it is 0."""
    return held(x * y if type(x) is type(y) else ball(x) * ball(y))


def power(base: Value, exponent: Value, *, inside: bool = False) -> Value:
    """The power as docs/certificates.md has it; `inside` a derivative, a root of 0 has no value."""
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        n = exponent.numerator
        if n < 0 and isinstance(base, Fraction) and not base:
            raise UndefinedError("division by zero")
        if isinstance(base, Fraction):
            if abs(n) * max(base.numerator.bit_length(), base.denominator.bit_length()) <= MAX_BITS:
                return base**n
            base = ball(base)
        if n < 0:
            sign(base)  # straddling zero is unclear
        return held(base ** flint.fmpz(n))
    s = sign(base)
    if s == 0 and not inside and sign(exponent) > 0:
        return Fraction(0)
    if s <= 0:
        raise UndefinedError("a root of a nonpositive number")
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        exact = _exact_root(base, exponent.denominator)
        if exact is not None:
            return power(exact, Fraction(exponent.numerator))
    return held(ball(base) ** ball(exponent))


def _exact_root(base: Fraction, n: int) -> Fraction | None:
    if n > 64:
        return None
    parts = []
    for part in (base.numerator, base.denominator):
        root = int(flint.fmpz(part).root(n))
        if root**n != part:
            return None
        parts.append(root)
    return Fraction(parts[0], parts[1])


def monotone(f: Callable[[Ball], Ball]) -> Callable[[Ball], Ball]:
    """The same monotone function, on wide balls taken from its values at the two ends."""

    def evaluate(x: Ball) -> Ball:
        if x.rel_accuracy_bits() > _THIN or not x.is_finite():
            return f(x)
        return f(x.lower()).union(f(x.upper()))

    return evaluate


_THIN = 25
"""Relative accuracy in bits from which a ball is evaluated in one piece rather than at both ends."""


def largest(*values: Value) -> Value:
    """The largest."""
    if all(isinstance(v, Fraction) for v in values):
        return max(values)
    result = ball(values[0])
    for v in values[1:]:
        result = result.max(ball(v))
    return held(result)


def smallest(*values: Value) -> Value:
    """The smallest."""
    return -largest(*(-v for v in values))


def whole(value: Value) -> int:
    """The integer that a value is; `UndefinedError` for other exact numbers, `UnclearError` for balls."""
    if not isinstance(value, Fraction):
        raise UnclearError("a ball is not known to be an integer")
    if value.denominator != 1:
        raise UndefinedError("an integer is needed")
    return value.numerator


def floor_of(x: Value) -> Value:
    """The largest integer that is not above."""
    if isinstance(x, Fraction):
        return Fraction(math.floor(x))
    found = x.floor().unique_fmpz()
    if found is None:
        raise UnclearError("a floor of a ball with an integer inside")
    return Fraction(int(found))


def inner_value(left: tuple[Value, ...], right: tuple[Value, ...], *, inside: bool = False) -> Value:
    """The inner product of two vectors' coordinates."""
    found: Value = Fraction(0)
    for a, b in zip(left, right, strict=True):
        found = plus(found, times(a, b))
    return found


def norm_value(of: tuple[Value, ...], *, inside: bool = False) -> Value:
    """The Euclidean norm of a vector's coordinates: exact where it is rational."""
    return power(inner_value(of, of), Fraction(1, 2), inside=inside)
