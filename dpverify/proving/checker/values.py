"""The checker's values of terms: exact where they are seen to be fractions, else intervals.

What has no value, or is beyond these rules, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb, factorial
from operator import mul
from statistics import NormalDist

from dpverify.proving.checker import intervals
from dpverify.proving.checker.intervals import Enclosure, between, increasing
from dpverify.proving.checker.terms import Term, demand, derivative, minus, plain

LONGEST = 10**4  # numbers of terms, and numbers of which a factorial is taken
BITS = 10**6  # of numbers that are written out
STEPS = 60_000  # parts of terms that are worked out for one comparison; long numbers count more
PRECISIONS = (1024, 8192)
Vector = tuple[Fraction, ...]


@dataclass
class WorkLeft:
    """What is left of a limit that counts work."""

    left: int

    def spend(self, amount: int = 1) -> None:
        """Refuse once all is spent."""
        self.left -= amount
        demand(self.left > 0, "more work than is allowed")


@dataclass(frozen=True)
class ValueRange:
    """All numbers from one to another."""

    low: Fraction
    high: Fraction


def natural(value: Fraction) -> int:
    """An integer of moderate size that is not negative."""
    demand(value.denominator == 1 and 0 <= value <= LONGEST, f"no integer from 0 to {LONGEST}")
    return value.numerator


def root_of(value: int, order: int) -> int:
    """The largest integer with a power that is not above a value."""
    low, high = 0, 1 << value.bit_length() // order + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**order <= value else (low, middle)
    return low


def power_of(base: Fraction, exponent: Fraction) -> Fraction | None:
    """A power, if it is a fraction that can be written out; 0^0 is 1, and a root of 0 is 0."""
    times, order = exponent.as_integer_ratio()
    demand(base >= 0 or order == 1, "a root of what is negative")
    demand(base or times >= 0, "0 to a negative power")
    if order > 1:
        roots = [root_of(part, order) if order < 99 else 0 for part in base.as_integer_ratio()]
        if tuple(root**order for root in roots) != base.as_integer_ratio():
            return None
        base = Fraction(*roots)
    digits = max(part.bit_length() for part in base.as_integer_ratio()) * abs(times)
    return base**times if digits < BITS else None


@dataclass
class Values:
    """The values of terms where names stand for numbers, ranges of numbers, or vectors."""

    place: Mapping[str, ValueRange | Vector]
    precision: int
    work: WorkLeft = field(default_factory=lambda: WorkLeft(STEPS))
    known: dict[Term, Fraction | None] = field(default_factory=dict)
    seen: dict[Term, Enclosure] = field(default_factory=dict)

    def where(self, name: str, value: Fraction) -> Values:
        """The values with another number for a name."""
        return Values({**self.place, name: ValueRange(value, value)}, self.precision, self.work)

    def each(self, e: Term) -> Iterator[Values]:
        """The places of the terms of a sum or product."""
        first, last = map(self.fixed, e.parts[1:])
        demand(first % 1 == last % 1 == 0, f"an end of a {e.head} that is no integer")
        demand(first <= last <= first + LONGEST, f"a {e.head} of no terms, or of many")
        return (self.where(e.name, first + i) for i in range(int(last - first) + 1))

    def derivative(self, e: Term) -> Term:
        """The derivative of a term that has a value."""
        body = plain(e.parts[0])
        self.interval(body)
        return derivative(e, body)

    # ------------------------------------------------------------------------------------------- fractions

    def fixed(self, e: Term) -> Fraction:
        """The value of what must be a fraction."""
        value = self.exact(e)
        if value is None:
            raise ValueError(f"a value of {e.head} that is not seen to be a fraction")
        return value

    def exact(self, e: Term) -> Fraction | None:
        """The value, if it is seen to be a fraction."""
        if e not in self.known:
            self.work.spend()
            value = self.bound(e)
            self.known[e] = None if value is None else self.small(value)
        return self.known[e]

    def small(self, value: Fraction) -> Fraction:
        """A number that can be written out."""
        digits = value.numerator.bit_length() + value.denominator.bit_length()
        self.work.spend(digits >> 8)
        demand(digits < BITS, "a number of many digits")
        return value

    def combined(self, head: str, parts: Iterable[Fraction | None]) -> Fraction | None:
        """A sum or product, up to the first part that is not seen to be a fraction."""
        found = Fraction(head in ("mul", "product"))
        for part in parts:
            if part is None:
                return None
            found = self.small(found * part if head in ("mul", "product") else found + part)
        return found

    def bound(self, e: Term) -> Fraction | None:
        """The fraction for a name, and for what binds or rounds; else that of a function of fractions."""
        match e:
            case Term("sym"):
                found = self.place.get(e.name)
                return found.low if isinstance(found, ValueRange) and found.low == found.high else None
            case Term("sum" | "product", (body, _, _)):
                return self.combined(e.head, (there.exact(body) for there in self.each(e)))
            case Term("at", (body, value)):
                return self.where(e.name, self.fixed(value)).exact(body)
            case Term("diff"):
                return self.exact(self.derivative(e))
            case Term("floor" | "ceiling", (u,)):
                return self.rounded(u, 1 if e.head == "floor" else -1)
            case Term("inner", (u, v)):
                return self.inner(u, v)
            case Term("norm", (u,)):
                return power_of(self.inner(u, u), Fraction(1, 2))
        parts = [self.exact(part) for part in e.parts]
        if e.head in ("add", "mul"):
            return self.combined(e.head, parts)
        known = [part for part in parts if part is not None]
        return self.function(e, *known) if len(known) == len(parts) else None

    def function(self, e: Term, *at: Fraction) -> Fraction | None:
        """The fraction for a function of fractions."""
        match e.head:
            case "num":
                return e.number
            case "pow":
                return power_of(at[0], at[1])
            case "power":
                return power_of(at[0], e.number)
            case "max" | "min":
                return max(at) if e.head == "max" else min(at)
            case "abs":
                return abs(at[0])
            case "factorial":
                return Fraction(factorial(natural(at[0])))
            case "binomial":
                return Fraction(comb(natural(at[0]), natural(at[1])))
            case "gamma" if at[0] % 1 == 0:
                return Fraction(factorial(natural(at[0] - 1)))
            case "exp" if at[0] == 0:
                return Fraction(1)
            case "log" if at[0] == 1:
                return Fraction(0)
        return None

    def rounded(self, u: Term, sign: int) -> Fraction:
        """The floor, or with sign -1 the ceiling."""
        value = self.exact(u)
        ends = [value] if value is not None else [Fraction(n, 1 << self.precision) for n in self.interval(u)]
        low, *high = {sign * (sign * end // 1) for end in ends}
        demand(not high, "a number too close to an integer")
        return Fraction(low)

    def vector(self, e: Term) -> Vector:
        """The coordinates of a vector."""
        found = self.place.get(e.name) if e.head == "sym" else None
        if isinstance(found, tuple):
            return found
        demand(e.head in ("add", "mul"), "no vector")
        if e.head == "add":
            columns = zip(*map(self.vector, e.parts), strict=True)
            return tuple(sum(column, Fraction(0)) for column in columns)
        (which,) = [part for part in e.parts if self.is_vector(part)]
        times = self.combined("mul", [self.fixed(part) for part in e.parts if part is not which])
        return tuple(x * (times or 0) for x in self.vector(which))

    def is_vector(self, e: Term) -> bool:
        """Whether a term is a vector."""
        below = e.head in ("add", "mul") and any(map(self.is_vector, e.parts))
        return below or (e.head == "sym" and isinstance(self.place.get(e.name), tuple))

    def inner(self, u: Term, v: Term) -> Fraction:
        """The inner product of vectors."""
        return sum(map(mul, self.vector(u), self.vector(v)), Fraction(0))

    # ------------------------------------------------------------------------------------------- intervals

    def interval(self, e: Term) -> Enclosure:
        """The interval of a term."""
        if e not in self.seen:
            self.work.spend()
            self.seen[e] = self.enclosed(e)
        return self.seen[e]

    def enclosed(self, e: Term) -> Enclosure:
        """The interval of a term from those of its parts."""
        precision, parts = self.precision, e.parts
        match e.head:
            case "num":
                return between(e.number, e.number, precision)
            case "sym":
                found = self.place.get(e.name)
                if isinstance(found, ValueRange):
                    return between(found.low, found.high, precision)
                raise ValueError(f"no number: {e.name}")
            case "power":
                return self.power(self.interval(parts[0]), e.number, between(e.number, e.number, precision))
            case "pow":
                return self.power(self.interval(parts[0]), self.exact(parts[1]), self.interval(parts[1]))
            case "sum" | "product":
                terms = [there.interval(parts[0]) for there in self.each(e)]
                return intervals.total(*terms) if e.head == "sum" else intervals.product(precision, *terms)
            case "at":
                return self.where(e.name, self.fixed(parts[1])).interval(parts[0])
            case "diff":
                return self.interval(self.derivative(e))
            case "erfc":
                return self.interval(plain(e))
            case "norm":
                square = self.inner(parts[0], parts[0])
                return intervals.power(between(square, square, precision), Fraction(1, 2), precision)
            case "gamma" if (q := self.fixed(parts[0])).denominator == 2 and q > 0:
                n = natural(q - Fraction(1, 2))  # gamma(n + 1/2) = (2 n)! / (4^n n!) root(pi)
                times = Fraction(factorial(2 * n), 4**n * factorial(n))
                root = intervals.power(intervals.pi(precision), Fraction(1, 2), precision)
                return intervals.product(precision, between(times, times, precision), root)
            case "floor" | "ceiling" | "factorial" | "binomial" | "inner" | "gamma":
                value = self.fixed(e)
                return between(value, value, precision)
        return self.applied(e.head, *map(self.interval, parts))

    def applied(self, head: str, *at: Enclosure) -> Enclosure:
        """A function of intervals."""
        precision = self.precision
        match head:
            case "add":
                return intervals.total(*at)
            case "mul":
                return intervals.product(precision, *at)
            case "max" | "min":
                choose = max if head == "max" else min
                return Enclosure(choose(u.low for u in at), choose(u.high for u in at))
            case "abs":
                return Enclosure(max(0, at[0].low, -at[0].high), max(-at[0].low, at[0].high))
            case "step":
                return Enclosure((at[0].low > 0) << precision, (at[0].high >= 0) << precision)
            case "exp" | "log" | "phi" | "arctan":
                return increasing(head, at[0], precision)
            case "sin" | "cos":
                return (intervals.sine if head == "sin" else intervals.cosine)(at[0], precision)
            case "pi":
                return intervals.pi(precision)
            case "phi_inverse":
                return self.quantile(at[0])
        raise ValueError(f"{head} may be undefined, or is beyond this checker")

    def quantile(self, at: Enclosure) -> Enclosure:
        """An interval that is shown to contain phi_inverse; a guess says where to look."""
        demand(at.low > 0 and at.high < 1 << self.precision, "phi_inverse may be undefined")
        one, sign = 1 << self.precision, 1 if 2 * at.low < 1 << self.precision else -1
        guesses = [sign * NormalDist().inv_cdf((end if sign > 0 else one - end) / one) for end in at]
        shifted = [round(guess * 2**30) + shift for guess, shift in zip(guesses, (-9, 9), strict=True)]
        low, high = (end << self.precision - 30 for end in shifted)
        above, below = intervals.phi(low, self.precision).high, intervals.phi(high, self.precision).low
        demand(above <= at.low and at.high <= below, "no bounds of phi_inverse")
        return Enclosure(low, high)

    def power(self, base: Enclosure, exponent: Fraction | None, times: Enclosure) -> Enclosure:
        """A power, where the exponent is a fraction or lies in an interval; that of what is negative is an integer."""
        if exponent is not None and exponent.denominator <= 2 and abs(exponent) < 200:
            return intervals.power(base, exponent, self.precision)
        if exponent is not None and exponent > 0 and base == (0, 0):
            return base
        negative = base.high < 0 and exponent is not None and exponent.denominator == 1
        size = Enclosure(-base.high, -base.low) if negative else base
        logarithm = intervals.product(self.precision, times, increasing("log", size, self.precision))
        found = increasing("exp", logarithm, self.precision)
        return Enclosure(-found.high, -found.low) if negative and exponent and exponent % 2 else found


def compare(f: Term, place: Mapping[str, ValueRange | Vector]) -> int:
    """1 where a comparison is true all over a place, -1 where it is false, else 0."""
    with suppress(ValueError):
        for precision in PRECISIONS:
            values = Values(place, precision)
            left, right = map(values.exact, f.parts)
            if left is None or right is None:
                low, high = values.interval(minus(f.parts[1], f.parts[0]))
            else:
                low = high = (right > left) - (right < left)
            zero, other = low == high == 0, low > 0 or high < 0
            table = {
                "<=": (low >= 0, high < 0),
                "<": (low > 0, high <= 0),
                "==": (zero, other),
                "!=": (other, zero),
            }
            if any(table[f.head]):
                return 1 if table[f.head][0] else -1
    return 0
