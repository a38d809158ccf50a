"""The checker's laws of families (normal, Laplace, exponential, uniform): linear functions, moments, intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from math import factorial

from dpverify.proving.checker import follow
from dpverify.proving.checker.reading import Theorem
from dpverify.proving.checker.terms import COMPARISONS, Term, Unknown, demand, names, number, symbol, term
from dpverify.proving.checker.theorems.numbers import (
    FALSE,
    NO,
    ONE,
    TRUE,
    compared,
    demand_true,
    difference,
    made,
)

PIECES = 16  # linear functions that the sides of a comparison are made of
HIGHEST = 64  # the degree of a polynomial


@dataclass(frozen=True)
class Line:
    """A law of a family: location and scale; a normal law's is its standard deviation, a uniform one's its length."""

    family: str
    at: Term
    scale: Term

    def below(self, end: Term) -> Term:
        """The chance of what is below a number."""
        gap = difference(end, self.at)
        scaled = made("mul", gap, made("pow", self.scale, number(-1)))
        if self.family == "normal":
            return made("phi", scaled)
        if self.family == "uniform":
            return made("max", NO, made("min", ONE, made("add", half(ONE), scaled)))
        part = ONE if self.family == "exponential" else half(ONE)
        if compared("<=", scaled, NO) is TRUE:
            return NO if part is ONE else half(made("exp", scaled))
        demand_true(compared("<", NO, scaled), "a number on an unknown side of a location")
        return difference(ONE, made("mul", part, made("exp", made("mul", number(-1), scaled))))


def half(value: Term) -> Term:
    """Half of a number."""
    return made("mul", number(Fraction(1, 2)), value)


def again(e: Term) -> Term:
    """A term, worked out anew."""
    return made(e.head, *map(again, e.parts)) if e.parts else e


def at(value: Term, x: str, place: Term) -> Term:
    """A function of x at a place."""
    return again(value.put({x: place}))


def plane(value: Term, letters: tuple[str, ...]) -> tuple[list[Term], Term]:
    """A linear function of letters: its slopes, and its value at 0; refused unless it is one for all numbers."""
    places = [{x: ONE if x == one else NO for x in letters} for one in (None, *letters)]
    start, *ends = (again(value.put(place)) for place in places)
    slopes = [difference(end, start) for end in ends]
    products = (term("mul", slope, symbol(x)) for slope, x in zip(slopes, letters, strict=True))
    same = term("==", value, term("add", start, *products))
    demand(names(same) <= {*letters}, "further letters")
    if names(same):
        follow(Theorem(tuple(Unknown(x, "real") for x in letters), (), same))
    return slopes, start


def linear(value: Term, x: str) -> tuple[Term, Term]:
    """A linear function of x: its slope, and its value at 0."""
    (slope,), start = plane(value, (x,))
    return slope, start


def shifted(law: Line, x: str, value: Term) -> Line:
    """The law of a linear function of x, where x has a law of a family."""
    slope, start = linear(value, x)
    turned = law.family == "exponential"
    demand_true(compared("<" if turned else "!=", NO, slope), "a law of one number, or of one turned around")
    place = made("add", start, made("mul", slope, law.at))
    return Line(law.family, place, made("mul", made("abs", slope), law.scale))


def moment(family: str, power: int) -> Fraction:
    """The mean of a power of the distance from the location, of a law of scale 1."""
    if power % 2 and family != "exponential":
        return Fraction(0)
    if family == "uniform":
        return Fraction(1, (power + 1) * 2**power)
    return Fraction(factorial(power), 2 ** (power // 2) * factorial(power // 2) if family == "normal" else 1)


def degree(value: Term, x: str) -> int:
    """The degree of a polynomial in x, or more where terms cancel; refused for what is not written as one."""
    if x not in names(value):
        return 0
    head, (*parts, last) = value.head, value.parts or (value,)
    if head == "pow" and last.head == "num" and last.number >= 0 and last.number % 1 == 0:
        base = parts[0].parts[0] if parts[0].head == "abs" and last.number % 2 == 0 else parts[0]
        found = int(last.number) * degree(base, x)
    else:
        demand(head in ("sym", "add", "mul"), "the mean of what is no polynomial")
        found = (sum if head == "mul" else max)(degree(part, x) for part in value.parts) if value.parts else 1
    demand(found <= HIGHEST, "the mean of a polynomial of a high degree")
    return found


def mean(law: Line, x: str, value: Term) -> Term:
    """The expectation of a polynomial p, z = x - location: the sum of k-th differences at 0 times E[binom(z, k)]."""
    values = [at(value, x, made("add", law.at, number(k))) for k in range(degree(value, x) + 1)]
    row, found = [Fraction(1)], list[Term]()
    for k in range(len(values)):
        known = ((c * moment(law.family, j), j) for j, c in enumerate(row))
        chosen = made("add", *(made("mul", number(c), *[law.scale] * j) for c, j in known if c))
        found += [made("mul", chosen, values[0])] if chosen is not NO else []
        values = [difference(high, low) for low, high in pairwise(values)]
        row = [
            (low - k * one) / (k + 1)
            for low, one in zip([Fraction(0), *row], [*row, Fraction(0)], strict=True)
        ]
    return made("add", *found)


def pieces(value: Term) -> list[Term]:
    """Functions of which a function takes, at each number, one's value: absolute values and maxima are split."""
    found: list[list[Term]] = [[]]
    for part in value.parts:
        found = [[*row, one] for row in found for one in pieces(part)]
        demand(len(found) <= PIECES, "many pieces")
    if value.head == "abs":
        return [made("mul", number(sign), one) for (one,) in found for sign in (1, -1)]
    if value.head in ("max", "min"):
        return [one for row in found for one in row]
    return [made(value.head, *row) for row in found] if value.parts else [value]


def crossings(one: Term, other: Term) -> Iterator[Term]:
    """Differences such that, where it changes which of two numbers is the smaller, one of them is 0.

    A number rounded down is below c, at most c or equal to c up to, or from, one of two whole numbers.
    """
    if names(other) and not names(one):
        one, other = other, one
    if one.head == "floor" and not names(other):
        for n in (0, 1):
            yield difference(one.parts[0], made("add", made("floor", other), number(n)))
    elif one.head == "exp" and not names(other) and compared("<", NO, other) is TRUE:
        yield difference(one.parts[0], made("log", other))
    else:
        yield difference(one, other)


def ends(f: Term, x: str) -> Iterator[Term]:
    """The numbers between which a formula in x is true or false throughout: zeros of linear pieces."""
    if f.head in ("and", "or", "not"):
        for part in f.parts:
            yield from ends(part, x)
        return
    demand(f.head in COMPARISONS, "no formula of half lines")
    for piece in (one for gap in crossings(*f.parts) for one in pieces(gap)):
        slope, start = linear(piece, x)
        if compared("==", slope, NO) is TRUE:
            demand_true(compared("!=", start, NO), "sides that may be equal throughout")
        else:
            demand_true(compared("!=", slope, NO), "a slope that may be 0")
            yield made("mul", number(-1), start, made("pow", slope, number(-1)))


def order(one: Term, other: Term) -> int:
    """-1, 0 or 1 for numbers that are below one another, equal, or above."""
    for sign, head, sides in ((0, "==", (one, other)), (-1, "<", (one, other)), (1, "<", (other, one))):
        if compared(head, *sides) is TRUE:
            return sign
    raise ValueError("numbers in an unknown order")


def chance(law: Line, x: str, f: Term, true_at: Callable[[Term], bool]) -> Term:
    """The chance of a formula in x, which is tried between its ends."""
    cuts = list[Term]()
    for end in sorted(ends(f, x) if f not in (TRUE, FALSE) else (), key=cmp_to_key(order)):
        if not cuts or order(cuts[-1], end):
            cuts.append(end)
    if not cuts:
        return ONE if true_at(NO) else NO
    middles = [half(made("add", *pair)) for pair in pairwise(cuts)]
    places = [difference(cuts[0], ONE), *middles, made("add", cuts[-1], ONE)]
    reached = [NO, *map(law.below, cuts), ONE]
    gaps = zip(places, pairwise(reached), strict=True)
    return made("add", *(difference(high, low) for place, (low, high) in gaps if true_at(place)))


def integrable(value: Term) -> bool:
    """Whether a function of a number is defined everywhere, and below a polynomial."""
    if value.head == "pow":
        exponent = value.parts[1]
        whole = exponent.head == "num" and exponent.number >= 0 and exponent.number % 1 == 0
        return whole and integrable(value.parts[0])
    plain = value.head in ("add", "mul", "abs", "max", "min", "num", "sym", "phi")
    return plain and all(map(integrable, value.parts))
