"""Sparse polynomials with rational exponents; what divides them and their factors are found by FLINT, within limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint

from dpverify.formulas.expressions import TooLargeError
from dpverify.proving.reasoning.effort import spend

Monomial = tuple[tuple[int, Fraction], ...]
"""Atom number and its exponent, sorted by atom, no zero exponents."""
Polynomial = dict[Monomial, Fraction]
MAX_TERMS = 20_000
MAX_EXPONENT = 200
LARGEST_EXPONENT = 10_000
"""Exponents that FLINT is given, whole ones."""

MAX_FACTORED = 2_000
"""Terms of the longest polynomial of which divisors or factors are looked for."""
MAX_SIZE = 20_000
"""The same for its terms times its degree."""
_LARGEST_FACTORED = 64
"""Bits of the largest number that is always taken apart into primes."""

ONE: Polynomial = {(): Fraction(1)}


def times(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    powers = dict(a)
    for atom, exponent in b:
        powers[atom] = powers.get(atom, Fraction(0)) + exponent
    return tuple(sorted((atom, e) for atom, e in powers.items() if e))


def add(a: Polynomial, b: Polynomial, scale: Fraction = Fraction(1)) -> Polynomial:
    """A + scale * b."""
    result = dict(a)
    for monomial, c in b.items():
        total = result.get(monomial, Fraction(0)) + scale * c
        if total:
            result[monomial] = total
        else:
            result.pop(monomial, None)
    return result


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    """A * b; `OutOfScopeError` above MAX_TERMS terms."""
    if len(a) * len(b) > 100 * MAX_TERMS:
        raise TooLargeError("a polynomial has too many terms")
    spend(1 + len(a) * len(b))
    result: Polynomial = {}
    for m, c in a.items():
        for n, d in b.items():
            key = times(m, n)
            result[key] = result.get(key, Fraction(0)) + c * d
    result = {m: c for m, c in result.items() if c}
    if len(result) > MAX_TERMS:
        raise TooLargeError("a polynomial has too many terms")
    return result


def power(a: Polynomial, n: int) -> Polynomial:
    """A to the n-th, n >= 0."""
    if n > MAX_EXPONENT and len(a) > 1:
        raise TooLargeError(f"exponent {n} is too large to expand")
    result, square = ONE, a
    while n:
        if n & 1:
            result = multiply(result, square)
        n >>= 1
        if n:
            square = multiply(square, square)
    return result


def monomial_power(m: Monomial, exponent: Fraction) -> Monomial:
    """The monomial to a rational power."""
    return tuple((atom, e * exponent) for atom, e in m) if exponent else ()


def content(p: Polynomial) -> Monomial:
    """The greatest monomial that divides every term (least exponents, absent atoms counting as zero)."""
    if not p:
        return ()
    atoms = {atom for m in p for atom, _ in m}
    least = ((atom, min(dict(m).get(atom, Fraction(0)) for m in p)) for atom in atoms)
    return tuple(sorted((atom, e) for atom, e in least if e))


def degree(p: Polynomial) -> int:
    """The largest total degree of a term, counting exponents by their size, rounded up."""
    return max((math.ceil(sum(abs(e) for _, e in m)) for m in p), default=0)


def shift(p: Polynomial, m: Monomial) -> Polynomial:
    """The polynomial times a monomial."""
    return {times(n, m): c for n, c in p.items()}


def _to_flint(polynomials: list[Polynomial]) -> tuple[list[Any], Callable[[Any], Polynomial]]:
    """The polynomials, free of negative exponents, in FLINT with whole ones in a unit for each letter; and back."""
    letters = sorted({a for p in polynomials for m in p for a, _ in m})
    powers: dict[int, set[Fraction]] = {a: set() for a in letters}
    for p in polynomials:
        for m in p:
            for a, e in m:
                powers[a].add(e)
    units = {a: _unit(exponents) for a, exponents in powers.items()}
    context = flint.fmpq_mpoly_ctx.get([f"x{a}" for a in letters])

    def there(p: Polynomial) -> Any:
        terms = {}
        for m, c in p.items():
            own = dict(m)
            exponents = tuple(int(own.get(a, Fraction(0)) / units[a]) for a in letters)
            terms[exponents] = flint.fmpq(c.numerator, c.denominator)
        return context.from_dict(terms)

    def back(p: Any) -> Polynomial:
        return {
            tuple((a, int(e) * units[a]) for a, e in zip(letters, exponents, strict=True) if e):
            Fraction(int(c.p), int(c.q))
            for exponents, c in p.to_dict().items()
        }  # fmt: skip

    return [there(p) for p in polynomials], back


def _unit(exponents: set[Fraction]) -> Fraction:
    """What exponents of one letter are counted in: one over their denominator, or their divisor if they are large then.

    FLINT is only given exponents up to `LARGEST_EXPONENT`, in a power of the letter if need be: what is equal then is
    equal, what divides divides, and a factor may be a product of factors.
    """
    denominator = math.lcm(*(e.denominator for e in exponents))
    whole = [abs(int(e * denominator)) for e in exponents]
    divisor = math.gcd(*whole) or 1
    if max(whole) <= LARGEST_EXPONENT:
        divisor = 1
    if max(whole) > LARGEST_EXPONENT * divisor:
        raise TooLargeError("exponents are too large, or too far from one another")
    return Fraction(divisor, denominator)


def _without_content(p: Polynomial) -> tuple[Polynomial, Monomial]:
    common = content(p)
    return shift(p, monomial_power(common, Fraction(-1))), common


def cancelled(numerator: Polynomial, denominator: Polynomial) -> tuple[Polynomial, Polynomial]:
    terms = len(numerator) + len(denominator)
    if terms > MAX_FACTORED or terms * max(degree(numerator), degree(denominator)) > 10 * MAX_SIZE:
        raise TooLargeError("a fraction is too long to be cancelled")
    spend(terms * (1 + max(degree(numerator), degree(denominator))))
    top, top_content = _without_content(numerator)
    bottom, bottom_content = _without_content(denominator)
    (a, b), back = _to_flint([top, bottom])
    common = a.gcd(b)
    over = times(top_content, monomial_power(bottom_content, Fraction(-1)))
    if common.is_one():
        return shift(top, over), bottom
    return shift(back(a / common), over), back(b / common)


def divided(numerator: Polynomial, denominator: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Whole part and remainder of a quotient; with a constant denominator there is no remainder."""
    if denominator == ONE:
        return numerator, {}
    if any(e < 0 for m in numerator for _, e in m):
        return {}, numerator
    (a, b), back = _to_flint([numerator, denominator])
    whole, remainder = divmod(a, b)
    return back(whole), back(remainder)


def factored(p: Polynomial) -> tuple[Fraction, Monomial, list[tuple[Polynomial, int]]]:
    """Constant, monomial and irreducible factors with multiplicities."""
    if len(p) > MAX_FACTORED or len(p) * degree(p) > MAX_SIZE:
        raise TooLargeError("a polynomial is too long to be factored")
    spend(len(p) * (1 + degree(p)))
    primitive, monomial = _without_content(p)
    (a,), back = _to_flint([primitive])
    unit, factors = a.factor()
    constant = Fraction(int(unit.p), int(unit.q))
    others: list[tuple[Polynomial, int]] = []
    for f, multiplicity in factors:
        g = back(f)
        # primitive over the integers, so that numeric factors are seen as such
        denominator = math.lcm(*(c.denominator for c in g.values()))
        numerator = math.gcd(*(int(c * denominator) for c in g.values()))
        size = Fraction(numerator, denominator)
        if g[max(g)] < 0 and all(c < 0 for c in g.values()):
            size = -size
        others.append(({m: c / size for m, c in g.items()}, int(multiplicity)))
        constant *= size ** int(multiplicity)
    return constant, monomial, others


def prime_factors(value: Fraction) -> list[tuple[int, int]]:
    result = []
    for n, sign in ((abs(value.numerator), 1), (value.denominator, -1)):
        p = 2
        while n.bit_length() > _LARGEST_FACTORED and p < 1000:
            multiplicity = 0
            while n % p == 0:
                n, multiplicity = n // p, multiplicity + 1
            if multiplicity:
                result.append((p, sign * multiplicity))
            p += 1
        if n.bit_length() > _LARGEST_FACTORED:
            result.append((n, sign))  # perhaps no prime; it stays in one piece
        elif n > 1:
            result += [(int(q), sign * int(k)) for q, k in flint.fmpz(n).factor()]
    return result
