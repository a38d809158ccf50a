"""The checker's real numbers: quotients in letters for variables and functions' values, and what is known of them.

What is asked of letters goes to cvc5, unless their signs show it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from itertools import accumulate

from dpverify.proving.checker.arithmetic.questions import (
    Formula,
    Largest,
    Monomial,
    Polynomial,
    contradict,
    opposite,
)
from dpverify.proving.checker.arithmetic.quotients import (
    ONE,
    Quotients,
    Rational,
    Root,
    alone,
    constant,
    join,
    letter,
    plus,
    primes,
)  # fmt: skip
from dpverify.proving.checker.terms import demand

Later = Callable[[], Formula]  # a fact that is made when it is tried


class Reals(Quotients):
    """What is known at one place, and the letters there."""

    def __init__(self) -> None:
        super().__init__()
        self.known, self.work = list[Formula](), 4_000_000  # for cvc5, by its own count
        self.orders, self.lemmas = list[Later](), list[Later]()  # what is tried next, and last
        self.letters = dict[str, None]()
        self.cases = dict[str, Largest]()
        self.exponents = dict[str, Rational]()  # of what letters are exponentials
        self.assuming = False  # whether what is read is true, and therefore defined

    def lifting(self, *ps: Polynomial) -> Monomial:
        """What is positive, and times which no power in polynomials is below 0."""
        low = dict[str, int]()
        for x, power in (factor for p in ps for m in p for factor in m):
            low[x] = max(low.get(x, 0), -power)
        even = {x: power + power % 2 * (self.signs.get(x) != "<") for x, power in sorted(low.items())}
        return tuple((x, power) for x, power in even.items() if power)

    def whole_powers(self, p: Polynomial) -> Polynomial:
        """A polynomial times what is positive, so that no power is below 0."""
        up = self.lifting(p)
        return {join(m, up): value for m, value in p.items()}

    def formula(self, relation: str, u: Rational) -> Formula:
        """The formula 0 relation u."""
        plain = relation in ("==", "!=") or u.bottom == ONE or self.surely("<", Rational(u.bottom, ONE))
        return Formula(relation, (), self.whole_powers(u.top if plain else self.times(u.top, u.bottom)))

    def vanishes(self, p: Polynomial) -> bool:
        """Whether a polynomial is 0 once what has the same exponent, as a quotient, is added up."""
        exponents, rests = list[Rational](), list[Polynomial]()
        for m, value in p.items():
            inside = [factor for factor in m if factor[0] in self.exponents]
            parts = [self.product(constant(power), self.exponents[x]) for x, power in inside]
            exponent = reduce(self.total, parts, constant(0))
            rest = {tuple(factor for factor in m if factor not in inside): value}
            for i, known in enumerate(exponents):
                if known == exponent or not self.total(known, exponent, -1).top:
                    rests[i] = plus(rests[i], rest)
                    break
            else:
                exponents.append(exponent)
                rests.append(rest)
        return not any(rests)

    def surely(self, relation: str, u: Rational) -> bool:
        """Whether 0 relation u is clear from the signs of letters."""
        top, bottom = u.top, u.bottom
        if relation == "==" or not top:
            return relation in ("==", "<=") and self.vanishes(top)
        if bottom != ONE and not self.surely("<", Rational(bottom, ONE)):
            return False
        squares = all(x in self.signs or power % 2 == 0 for m in top for x, power in m)
        held = squares and all(value > 0 for value in top.values())
        strict = any(all(self.signs.get(x) == "<" for x, _ in m) for m in top)
        return held and (relation == "<=" or strict)

    def learn(self, relation: str, u: Rational) -> None:
        """From now on, 0 relation u."""
        self.known.append(self.formula(relation, u))
        low, above = -u.top.get((), Fraction(0)), {m: value for m, value in u.top.items() if m}
        if relation in ("<", "<=") and u.bottom == ONE and len(above) == 1 and low >= 0:
            ((m, value),) = above.items()
            if value > 0 and len(m) == 1 and m[0][1] == 1:
                x = m[0][0]
                self.signs[x] = "<" if low > 0 else min(relation, self.signs.get(x, "<="))

    def follows(self, goal: Formula) -> bool:
        """Whether cvc5 finds, by a part of the work that is left, that a goal is true wherever what is known is."""
        for more in dict.fromkeys(accumulate(((), (*self.orders,), (*self.lemmas,)), tuple.__add__)):
            asked = *self.known, *(fact() for fact in more), opposite(goal)
            # lemmas of nl-ext cost far more than they help
            found = contradict(asked, max(self.work // 4, 1), self.cases, self.letters, nl_ext="none")
            self.work -= found.work
            if found.contradiction:
                return True
        return False

    def shows(self, relation: str, *us: Rational) -> bool:
        """Whether 0 relation u, for each u."""
        return all(self.surely(relation, u) or self.follows(self.formula(relation, u)) for u in us)

    def need(self, relation: str, u: Rational) -> None:
        """Show what makes a term defined."""
        demand(self.assuming or self.shows(relation, u), "perhaps undefined")
        self.learn(relation, u)

    def variable(self, name: str) -> Rational:
        """A variable's own letter; those of functions have a mark in their names."""
        demand(name.replace("'", "").isidentifier() and name not in self.letters, f"a bad variable: {name}")
        self.letters[name] = None
        return alone(name)

    def fresh(self, function: str, sign: str = "") -> str:
        """A new letter, for the value of a function."""
        name = f"{function}!{len(self.letters)}"
        self.letters[name] = None
        if sign:
            self.learn(sign, alone(name))
        return name

    def power(self, u: Rational, exponent: Fraction) -> Rational:
        """The power of a quotient."""
        times, order = exponent.as_integer_ratio()
        demand(abs(times) < 200 and order < 99, "a large power")
        if order > 1:
            strict = self.shows("<", u)
            self.need("<" if strict else "<=", u)
            u = self.root(u, order, strict)
        if times < 0:
            self.need("!=", u)
            u = self.quotient(u.bottom, u.top)
        return self.quotient(*(self.times(*[part] * abs(times)) for part in (u.top, u.bottom)))

    def root(self, u: Rational, order: int, strict: bool) -> Rational:
        """A root of what is not negative: that of numbers, of positive letters, and of the rest."""
        top, bottom = u.top, u.bottom
        if bottom != ONE and not self.shows("<", Rational(bottom, ONE)):
            top, bottom = ({m: -value for m, value in p.items()} for p in (top, bottom))
            demand(self.shows("<", Rational(bottom, ONE)), "a root of a quotient by what has no known sign")
        if not top:
            return u
        size, common, rest = self.factors(self.times(top, *[bottom] * (order - 1 if bottom != ONE else 0)))
        roots = [self.root_power({(): Fraction(prime)}, power, order, "<") for prime, power in primes(size)]
        roots += [self.root_power(letter(x), power, order, "<") for x, power in common]
        if rest != ONE:
            roots.append(self.root_power(rest, 1, order, "<" if strict else "<="))
        return self.product(Rational(ONE, bottom), *roots)

    def root_power(self, base: Polynomial, power: int, order: int, sign: str) -> Rational:
        """A power of a root, of which no more than the rest is left under the root."""
        whole = self.times(*[base] * abs(power // order))
        found = self.quotient(whole, ONE) if power >= 0 else self.quotient(ONE, whole)
        return self.product(found, *[self.root_of(base, order, sign) for _ in range(power % order)])

    def root_of(self, base: Polynomial, order: int, sign: str) -> Rational:
        """The letter for a root of a polynomial that has the sign."""
        for name, root in self.roots.items():
            if base == letter(name):
                base, order = root.base, root.order * order
                break
        for name, root in self.roots.items():
            if root == Root(order, base):
                return alone(name)
        name = self.fresh(f"root{order}", sign)
        self.known.append(self.formula("==", Rational(plus({((name, order),): Fraction(1)}, base, -1), ONE)))
        self.roots[name] = Root(order, base)
        return alone(name)
