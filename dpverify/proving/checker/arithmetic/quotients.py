"""The checker's quotients of polynomials in letters; those with powers below 0 are not 0.

Powers of letters that are roots are worked out.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from dpverify.proving.checker.arithmetic.questions import Monomial, Polynomial
from dpverify.proving.checker.terms import demand

ONE: Polynomial = {(): Fraction(1)}


@dataclass(frozen=True)
class Rational:
    """A polynomial over another one, which is not 0."""

    top: Polynomial
    bottom: Polynomial


@dataclass(frozen=True)
class Root:
    """What a letter is: a root of a polynomial."""

    order: int
    base: Polynomial


def plus(one: Polynomial, other: Polynomial, times: int = 1) -> Polynomial:
    """The polynomial one + times * other."""
    return {
        m: value for m in {**one, **other} if (value := one.get(m, Fraction(0)) + times * other.get(m, 0))
    }


def join(one: Monomial, other: Monomial) -> Monomial:
    """The product of monomials."""
    powers = dict(one)
    for letter, power in other:
        powers[letter] = powers.get(letter, 0) + power
    return tuple(sorted((letter, power) for letter, power in powers.items() if power))


def inverse(monomial: Monomial) -> Monomial:
    """1 over a monomial."""
    return tuple((letter, -power) for letter, power in monomial)


def letter(name: str) -> Polynomial:
    """A letter as a polynomial."""
    return {((name, 1),): Fraction(1)}


def alone(name: str) -> Rational:
    """A letter as a quotient."""
    return Rational(letter(name), ONE)


def constant(value: Fraction | int) -> Rational:
    """A number as a quotient."""
    return Rational({(): Fraction(value)} if value else {}, ONE)


UNIT, MINUS = constant(1), constant(-1)


def primes(value: Fraction) -> list[tuple[int, int]]:
    """Numbers and powers, of which the product is a positive value; what has no small divisor stays whole."""
    found = []
    for rest, sign in ((value.numerator, 1), (value.denominator, -1)):
        for prime in range(2, min(1000, rest + 1)):
            power = 0
            while rest % prime == 0:
                rest, power = rest // prime, power + sign
            found += [(prime, power)] * (power != 0)
        found += [(rest, sign)] * (rest > 1)
    return found


class Quotients:
    """Arithmetic, where the signs of letters are known ("<": positive), and some are roots of a polynomial."""

    def __init__(self) -> None:
        self.signs, self.roots = dict[str, str](), dict[str, Root]()

    def times(self, *factors: Polynomial) -> Polynomial:
        """The product of polynomials, with the powers of roots worked out."""
        out = ONE
        for factor in factors:
            demand(len(factor) * len(out) < 10**5, "a product with many terms")
            terms, out = [(join(m, k), a * b) for m, a in out.items() for k, b in factor.items()], {}
            for m, value in terms:
                out[m] = out.get(m, Fraction(0)) + value
        out = {m: value for m, value in out.items() if value}
        for m, value in out.items():
            for x, power in m:
                root = self.roots.get(x)
                if root and (power >= root.order or (power < 0 and len(root.base) == 1)):
                    base = root.base if power > 0 else {inverse(k): 1 / a for k, a in root.base.items()}
                    rest = {join(m, ((x, power % root.order - power),)): value}
                    worked_out = self.times(rest, *[base] * abs(power // root.order))
                    return self.times(plus(plus(out, {m: -value}), worked_out))
        return out

    def factors(self, p: Polynomial, every: bool = False) -> tuple[Fraction, Monomial, Polynomial]:
        """A positive number, a monomial of positive letters (of every letter), and the rest of a polynomial."""
        numerators, denominators = zip(*(value.as_integer_ratio() for value in p.values()), strict=True)
        size = Fraction(gcd(*numerators), lcm(*denominators))
        names = {x for m in p for x, _ in m if every or self.signs.get(x) == "<"}
        least = ((x, min(dict(m).get(x, 0) for m in p)) for x in sorted(names))
        common = tuple((x, power) for x, power in least if power)
        return size, common, {join(m, inverse(common)): value / size for m, value in p.items()}

    def quotient(self, top: Polynomial, bottom: Polynomial) -> Rational:
        """The quotient by what is not 0, from which factors that are numbers or letters are taken."""
        if top == bottom or not top:
            return Rational(ONE if top else {}, ONE)
        if bottom == ONE:
            return Rational(top, bottom)
        size, common, rest = self.factors(bottom, every=True)
        sign = 1 if rest[max(rest)] > 0 else -1
        scaled = self.times(top, {inverse(common): sign / size})
        return Rational(scaled, {m: sign * value for m, value in rest.items()})

    def product(self, *us: Rational) -> Rational:
        """The product of quotients."""
        tops, bottoms = [u.top for u in us], [u.bottom for u in us if u.bottom != ONE]
        for bottom in [*bottoms]:
            if bottom in tops:
                tops.remove(bottom)
                bottoms.remove(bottom)
        return self.quotient(self.times(*tops), self.times(*bottoms))

    def total(self, u: Rational, v: Rational, times: int = 1) -> Rational:
        """The quotient u + times * v."""
        if u.bottom == v.bottom:
            return self.quotient(plus(u.top, v.top, times), u.bottom)
        top = plus(self.times(u.top, v.bottom), self.times(v.top, u.bottom), times)
        return self.quotient(top, self.times(u.bottom, v.bottom))

    def ratio(self, u: Rational, v: Rational) -> Fraction:
        """The number q with u = q v, if there is one other than 0."""
        a, b = self.times(u.top, v.bottom), self.times(v.top, u.bottom)
        if not a or a.keys() != b.keys():
            return Fraction(0)
        first = next(iter(a))
        found = a[first] / b[first]
        return found if all(a[m] == found * b[m] for m in a) else Fraction(0)
