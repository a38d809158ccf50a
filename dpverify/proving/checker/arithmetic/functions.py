"""The checker's functions: values are letters of which little is known, or what the rules of exp and log give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce

from mpmath.libmp import from_rational, mpf_exp, mpf_log, mpf_pi, to_fixed

from dpverify.proving.checker.arithmetic.questions import Formula, Largest, Polynomial
from dpverify.proving.checker.arithmetic.quotients import (
    MINUS,
    ONE,
    UNIT,
    Rational,
    alone,
    constant,
    letter,
    primes,
)
from dpverify.proving.checker.arithmetic.reals import Reals
from dpverify.proving.checker.terms import Term, demand, derivative

CONSTANTS = {"exp": mpf_exp, "log": mpf_log, "pi": lambda _, digits: mpf_pi(digits)}
Names = Mapping[str, Rational]


@dataclass(frozen=True)
class KnownValue:
    """What a function has been found to be."""

    function: str
    arguments: tuple[Rational, ...]
    result: Rational


class FunctionTerms(Reals):
    """Terms at one place; `whole` has the names of integers."""

    def __init__(self, whole: Iterable[str]) -> None:
        super().__init__()
        self.whole = {*whole}
        self.names = dict[str, Rational]()  # what the names of variables stand for
        self.values, self.sums = list[KnownValue](), dict[Term, Rational]()
        self.logs = dict[str, Rational]()  # of what letters are logarithms

    def value(self, function: str, *at: Rational) -> Rational | None:
        """The value that a function has been found to have at the same arguments."""
        for known in self.values:
            if known.function == function and all(
                u == v or self.ratio(u, v) == 1 for u, v in zip(at, known.arguments, strict=True)
            ):
                return known.result
        return None

    def named(self, function: str, sign: str, *at: Rational) -> Rational:
        """A new letter for a function's value; that exp, log and phi grow is told for the second attempt."""
        name = self.fresh(function, sign)
        found = alone(name)
        {"log": self.logs, "exp": self.exponents}.get(function, {})[name] = at[0]
        for known in self.values:
            if known.function == function in ("exp", "log", "phi", "arctan") and len(known.result.top) == 1:
                self.orders.append(partial(self.alike, at[0], known.arguments[0], found, known.result))
                self.orders.append(partial(self.alike, known.arguments[0], at[0], known.result, found))
        self.values.append(KnownValue(function, at, found))
        return found

    def alike(self, u: Rational, v: Rational, at_u: Rational, at_v: Rational) -> Formula:
        """That v <= u just where at_v <= at_u."""
        return Formula("same", (self.less(v, u), self.less(at_v, at_u)))

    def less(self, u: Rational, v: Rational) -> Formula:
        """That u <= v."""
        return self.formula("<=", self.total(v, u, -1))

    def constant(self, function: str, at: Fraction) -> Rational:
        """Exp of a number, the log of a prime number, or pi, to 18 digits."""
        found = self.value(function, constant(at))
        if found is None:
            demand(abs(at) < 99 or function == "log", "a large constant")
            units = to_fixed(CONSTANTS[function](from_rational(*at.as_integer_ratio(), 300), 300), 64)
            found = self.named(function, "", constant(at))
            self.learn("<", self.total(found, constant(Fraction(units - 2, 2**64)), -1))
            self.learn("<", self.total(constant(Fraction(units + 2, 2**64)), found, -1))
        return found

    def exp(self, u: Rational) -> Rational:
        """The value of exp, a product over the terms of a sum."""
        if len(u.top) == 1 and u.bottom == ONE:
            ((m, times),) = u.top.items()
            if m == ():
                whole = abs(times.numerator) < 20
                unit = Fraction(1, times.denominator) if whole else times
                return self.power(self.constant("exp", unit), times / unit)
            if len(m) == 1 and m[0][1] == 1 and m[0][0] in self.logs:
                return self.power(self.logs[m[0][0]], times)
        for known in self.values:
            times = self.ratio(u, known.arguments[0]) if known.function == "exp" else Fraction(0)
            if times and times.denominator < 9 and abs(times.numerator) < 40:
                return self.power(known.result, times)
        if len(u.top) != 1:
            parts = (self.exp(self.quotient({m: value}, u.bottom)) for m, value in u.top.items())
            found = reduce(self.product, parts, UNIT)
            self.values.append(KnownValue("exp", (u,), found))
            return found
        ((m, times),) = u.top.items()
        at = self.quotient({m: Fraction(1, times.denominator)}, u.bottom)
        found = self.named("exp", "<", at)
        self.lemmas.append(lambda: self.less(self.total(at, UNIT), found))  # 1 + u <= exp u, and so for -u
        self.lemmas.append(lambda: self.less(self.product(found, self.total(UNIT, at, -1)), UNIT))
        return self.power(found, Fraction(times.numerator))

    def log(self, u: Rational) -> Rational:
        """The value of log, a sum over factors that are positive."""
        self.need("<", u)
        top, below = ({m: -value for m, value in p.items()} for p in (u.top, u.bottom))
        if self.surely("<", Rational(top, ONE)):  # so that both are negative
            u = Rational(top, below)
        size, common, rest = self.factors(u.top)
        bottom = Rational(u.bottom, ONE)
        logs = [(self.constant("log", Fraction(prime)), power) for prime, power in primes(size)]
        logs += [(self.log_of(alone(x)), power) for x, power in common]
        out = [self.product(constant(power), found) for found, power in logs]
        if u.bottom != ONE and rest != ONE and self.shows("<", bottom):
            out += [self.log_of(Rational(rest, ONE)), self.product(MINUS, self.log_of(bottom))]
        elif rest == ONE != u.bottom:
            out.append(self.product(MINUS, self.log_of(bottom)))
        elif Rational(rest, u.bottom) != UNIT:
            out.append(self.log_of(Rational(rest, u.bottom)))
        return reduce(self.total, out, constant(0))

    def log_of(self, u: Rational) -> Rational:
        """The value of log at what is positive, and no product."""
        for known in self.values:
            if known.function == "exp" and known.result == u:
                return known.arguments[0]
        for x, root in self.roots.items():
            if u == alone(x):
                return self.product(constant(Fraction(1, root.order)), self.log(Rational(root.base, ONE)))
        if (known_value := self.value("log", u)) is not None:
            return known_value
        found = self.named("log", "", u)
        self.exponents |= {x: found for x in self.letters if u == alone(x)}  # x is exp log x
        self.lemmas.append(lambda: self.less(found, self.total(u, UNIT, -1)))  # 1 - 1 / u <= log u <= u - 1
        self.lemmas.append(lambda: self.less(self.total(u, UNIT, -1), self.product(u, found)))
        return found

    def phi(self, u: Rational) -> Rational:
        """The value of phi, or 1 less that at -u."""
        if (known := self.value("phi", u)) is not None:
            return known
        if (known := self.value("phi", self.product(MINUS, u))) is not None:
            return self.total(UNIT, known, -1)
        found = self.named("phi", "<", u)
        self.learn("<", self.total(UNIT, found, -1))
        self.lemmas += [partial(self.tail, u, found, constant(sign)) for sign in (1, -1)]
        return found

    def tail(self, u: Rational, at_u: Rational, sign: Rational) -> Formula:
        """That 1/2 <= phi(u) and 2 u^2 (1 - phi(u)) <= 1 where 0 <= u; and so for -u and 1 - phi(u)."""
        double = self.product(sign, self.total(self.product(constant(2), at_u), UNIT, -1))  # 2 phi(u) - 1
        near = self.less(self.product(u, u, self.total(UNIT, double, -1)), UNIT)
        above = self.formula("<=", self.product(sign, u))
        return Formula("implies", (above, Formula("and", (self.formula("<=", double), near))))

    def other(self, function: str, *at: Rational) -> Rational:
        """The value of another function, of which it is known where it lies."""
        if (known := self.value(function, *at)) is not None:
            return known
        u, *_ = at
        match function:
            case "floor" | "ceiling":
                found = self.named(function, "", u)
                gap = self.product(UNIT if function == "floor" else MINUS, self.total(u, found, -1))
                self.learn("<=", gap)
                self.learn("<", self.total(UNIT, gap, -1))
                return found
            case "gamma":
                self.need("<", u)
                q = u.top[()] if {*u.top} == {()} and u.bottom == ONE else Fraction(0)
                if 2 * q in range(1, 200):  # from gamma(1) = 1 and gamma(1/2) = root of pi
                    below = (constant(q - k) for k in range(1, int(q + Fraction(1, 2))))
                    start = self.power(self.constant("pi", Fraction(1)), Fraction(q.denominator - 1, 2))
                    return self.product(start, *below)
                return self.named(function, "<", u)
            case "phi_inverse":
                self.need("<", u)
                self.need("<", self.total(UNIT, u, -1))
                return self.named(function, "", u)
            case "sin" | "cos" | "arctan":
                return self.named(function, "", u)
            case "factorial" | "binomial":
                for v in at:
                    letters = all(x in self.whole and power > 0 for m in v.top for x, power in m)
                    numbers = v.bottom == ONE and all(value % 1 == 0 for value in v.top.values())
                    demand(letters and numbers, f"{function} of what may be no integer")
                    self.need("<=", v)
                return self.named(function, "<" if function == "factorial" else "<=", *at)
        raise ValueError(f"{function} is beyond this checker")

    def largest(self, u: Rational, v: Rational) -> Rational:
        """The larger value."""
        bottom = self.times(u.bottom, v.bottom)
        tops = [self.times(u.top, v.bottom), self.times(v.top, u.bottom)]
        if not self.surely("<", Rational(bottom, ONE)):
            *tops, bottom = (self.times(p, bottom) for p in (*tops, bottom))
        arguments = tuple(Rational(top, ONE) for top in tops)
        found = self.value("max", *arguments)
        if found is None:
            scale: Polynomial = {self.lifting(*tops): Fraction(1)}
            scaled = [self.times(top, scale) for top in tops]
            whole = all(power > 0 for p in scaled for m in p for _, power in m)
            demand(whole, "a maximum of roots of quotients")  # each would be scaled by its own
            name = self.fresh("max")
            self.cases[name] = Largest(*map(self.whole_powers, scaled))
            found = self.quotient(letter(name), scale)
            self.values.append(KnownValue("max", arguments, found))
        return self.product(found, self.quotient(ONE, bottom))

    def term(self, e: Term, names: Names) -> Rational:
        """The quotient of a plain term, with all that makes it defined shown."""
        match e:
            case Term("num"):
                return constant(e.number)
            case Term("sym"):
                return names[e.name]
            case Term("at", (body, value)) if e.name not in self.whole:
                return self.term(body, {**names, e.name: self.term(value, names)})
            case Term("diff", (body,)):
                self.term(body, names)  # it must be defined
                return self.term(derivative(e, body), names)
            case Term("sum", (body, Term("num", (), _, first), Term("num", (), _, last))) if (
                first % 1 == last % 1 == 0 and first <= last < first + 99
            ):
                indices = [constant(first + i) for i in range(int(last - first) + 1)]
                return reduce(self.total, [self.term(body, {**names, e.name: k}) for k in indices])
            case Term("sum"):  # one that is given is defined
                demand(
                    names is self.names and (self.assuming or e in self.sums), "sum is beyond this checker"
                )
                self.sums.setdefault(e, alone(self.fresh("sum")))
                return self.sums[e]
            case Term("log" | "power", (inner,)) if e.head == "log" or e.number % 1:
                factors = inner.parts if inner.head in ("mul", "power") else ()
                exponent = inner.number if inner.head == "power" else Fraction(1)
                if factors and self.shows("<", *(values := [self.term(u, names) for u in factors])):
                    if e.head == "log":
                        return self.product(constant(exponent), reduce(self.total, map(self.log, values)))
                    return self.product(*(self.power(u, exponent * e.number) for u in values))
            case Term("product" | "integral" | "at"):
                raise ValueError(f"{e.head} is beyond this checker")
        return self.applied(e, *(self.term(part, names) for part in e.parts))

    def applied(self, e: Term, *at: Rational) -> Rational:
        """The quotient of a term from those of its parts."""
        match e.head:
            case "add":
                return reduce(self.total, at)
            case "mul":
                return self.product(*at)
            case "power":
                return self.power(at[0], e.number)
            case "pi":
                return self.constant("pi", Fraction(1))
            case "max":
                return self.largest(at[0], at[1])
        own = {"exp": self.exp, "log": self.log, "phi": self.phi}
        return own[e.head](at[0]) if e.head in own else self.other(e.head, *at)
