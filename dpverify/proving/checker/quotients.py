"""The checker's quotients of polynomials in letters; those with powers below 0 are not 0.

A polynomial is {monomial: number}, a monomial ((letter, power), ...). Powers of roots are worked out.
"""

from fractions import Fraction as Q
from math import gcd, lcm
from typing import Any

from dpverify.proving.checker.terms import demand

ONE: Any = {(): Q(1)}


def plus(p: Any, q: Any, times: int = 1) -> Any:
    """The polynomial p + times * q."""
    return {m: c for m in {**p, **q} if (c := p.get(m, 0) + times * q.get(m, 0))}


def join(m: Any, k: Any) -> Any:
    """The product of monomials."""
    powers = dict(m)
    for x, e in k:
        powers[x] = powers.get(x, 0) + e
    return tuple(sorted((x, e) for x, e in powers.items() if e))


def inverse(m: Any) -> Any:
    """1 over a monomial."""
    return tuple((x, -e) for x, e in m)


def number(q: Any) -> Any:
    """A number as a quotient."""
    return {(): Q(q)} if q else {}, ONE


def primes(q: Q) -> Any:
    """Numbers and powers, of which the product is a positive q; what has no small divisor stays whole."""
    found = []
    for n, sign in ((q.numerator, 1), (q.denominator, -1)):
        for p in range(2, 1000):
            e = 0
            while n % p == 0:
                n, e = n // p, e + sign
            found += [(p, e)] * (e != 0)
        found += [(n, sign)] * (n > 1)
    return found


class Quotients:
    """Arithmetic, where the signs of letters are known ("<": positive), and some are roots of a polynomial."""

    def __init__(self) -> None:
        self.signs, self.roots = dict[str, str](), dict[str, Any]()

    def times(self, *ps: Any) -> Any:
        """The product of polynomials, with the powers of roots worked out."""
        out: Any = ONE
        for p in ps:
            demand(len(p) * len(out) < 10**5, "a product with many terms")
            terms, out = [(join(m, k), c * d) for m, c in out.items() for k, d in p.items()], {}
            for m, c in terms:
                out[m] = out.get(m, 0) + c
        out = {m: c for m, c in out.items() if c}
        for m, c in out.items():
            for x, e in m:
                k, base = self.roots.get(x, (0, {}))
                if k and (e >= k or (e < 0 and len(base) == 1)):
                    b = base if e > 0 else {inverse(n): 1 / q for n, q in base.items()}
                    rest = self.times({join(m, ((x, e % k - e),)): c}, *[b] * abs(e // k))
                    return self.times(plus(plus(out, {m: -c}), rest))
        return out

    def factors(self, p: Any, every: bool = False) -> Any:
        """A positive number, a monomial of positive letters (of every letter), and the rest of a polynomial."""
        c = Q(gcd(*(a.numerator for a in p.values())), lcm(*(a.denominator for a in p.values())))
        names = {x for m in p for x, _ in m if every or self.signs.get(x) == "<"}
        least = ((x, min(dict(m).get(x, 0) for m in p)) for x in sorted(names))
        m = tuple((x, e) for x, e in least if e)
        return c, m, {join(k, inverse(m)): a / c for k, a in p.items()}

    def quotient(self, n: Any, d: Any) -> Any:
        """The quotient n / d in which d, which is not 0, is without factors that are numbers or letters."""
        if n == d or not n:
            return (ONE if n else {}), ONE
        if d == ONE:
            return n, d
        c, m, rest = self.factors(d, every=True)
        sign = 1 if rest[max(rest)] > 0 else -1
        return self.times(n, {inverse(m): sign / c}), {k: sign * a for k, a in rest.items()}

    def product(self, *us: Any) -> Any:
        """The product of quotients."""
        tops, bottoms = [n for n, _ in us], [d for _, d in us if d != ONE]
        for d in [d for d in bottoms if d in tops]:
            tops.remove(d)
            bottoms.remove(d)
        return self.quotient(self.times(*tops), self.times(*bottoms))

    def total(self, u: Any, v: Any, times: int = 1) -> Any:
        """The quotient u + times * v."""
        if u[1] == v[1]:
            return self.quotient(plus(u[0], v[0], times), u[1])
        n = plus(self.times(u[0], v[1]), self.times(v[0], u[1]), times)
        return self.quotient(n, self.times(u[1], v[1]))

    def ratio(self, u: Any, v: Any) -> Any:
        """The number q with u = q v, if there is one other than 0."""
        a, b = self.times(u[0], v[1]), self.times(v[0], u[1])
        q = a[m] / b[m] if a.keys() == b.keys() and (m := next(iter(a), None)) is not None else 0
        return q if q and all(a[k] == q * b[k] for k in a) else 0
