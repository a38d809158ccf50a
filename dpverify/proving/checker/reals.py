"""The checker's real numbers: a term is a quotient of polynomials in letters, for variables and for functions' values.

A polynomial is {monomial: number}, a monomial ((letter, power), ...); letters with powers below 0 are not 0. A function
has one letter for arguments that are equal as quotients. What is asked of letters goes to cvc5, unless signs show it.
"""

from fractions import Fraction as Q
from functools import reduce
from math import gcd, lcm, prod
from typing import Any

import cvc5.pythonic as smt
from mpmath.libmp import from_rational, mpf_exp, mpf_log, mpf_pi, to_fixed

from dpverify.proving.checker.terms import demand

ONE: Any = {(): Q(1)}
CONSTANTS = {"exp": mpf_exp, "log": mpf_log, "pi": lambda _, p: mpf_pi(p)}
RELATIONS: Any = {"==": lambda t: t == 0, "!=": lambda t: t != 0, "<=": lambda t: t >= 0, "<": lambda t: t > 0}


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


class Reals:
    """What is known at one place, and the letters there."""

    def __init__(self, work: list[int]) -> None:
        self.known, self.lemmas, self.work = list[Any](), list[Any](), work  # for cvc5, by its own count
        self.letters, self.signs, self.roots = dict[str, Any](), dict[str, str](), dict[str, Any]()
        self.values, self.logs, self.exps = list[Any](), dict[str, Any](), dict[str, Any]()  # of functions; of letters

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
        """A positive number, a monomial of letters that are positive (of every letter), and the rest of a polynomial."""
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

    def smt(self, p: Any) -> Any:
        """A polynomial for cvc5, times what is positive, so that no power is below 0."""
        low = {x: max(-f for k in p for y, f in (*k, (x, 0)) if y == x) for m in p for x, _ in m}
        up = [(x, e + e % 2 * (self.signs.get(x) != "<")) for x, e in low.items()]
        parts = [(smt.Q(*c.as_integer_ratio()), join(m, up)) for m, c in p.items()]
        values = (prod((self.letters[x] for x, e in m for _ in range(e)), start=c) for c, m in parts)
        return sum(values, start=smt.RealVal(0))

    def formula(self, relation: str, u: Any) -> Any:
        """The formula 0 relation u."""
        n, d = u
        plain = relation in ("==", "!=") or d == ONE or self.surely("<", (d, ONE))
        return RELATIONS[relation](self.smt(n if plain else self.times(n, d)))

    def vanishes(self, p: Any) -> bool:
        """Whether a polynomial is 0 once what has the same exponent, as a quotient, is added up."""
        groups = list[Any]()
        for m, c in p.items():
            parts = [self.product(number(e), self.exps[x]) for x, e in m if x in self.exps]
            exponent = reduce(self.total, parts, number(0))
            term = {tuple((x, e) for x, e in m if x not in self.exps): c}
            found = [i for i, (v, _) in enumerate(groups) if v == exponent or not self.total(v, exponent, -1)[0]]
            v, others = groups.pop(found[0]) if found else (exponent, {})
            groups.append((v, plus(others, term)))
        return not any(q for _, q in groups)

    def surely(self, relation: str, u: Any) -> bool:
        """Whether 0 relation u is seen by the signs of letters."""
        n, d = u
        if relation == "==" or not n:
            return relation in ("==", "<=") and self.vanishes(n)
        if d != ONE and not self.surely("<", (d, ONE)):
            return False
        held = all(c > 0 and all(x in self.signs or e % 2 == 0 for x, e in m) for m, c in n.items())
        return held and (relation == "<=" or any(all(self.signs.get(x) == "<" for x, _ in m) for m in n))

    def learn(self, relation: str, u: Any) -> None:
        """From now on, 0 relation u."""
        self.known.append(self.formula(relation, u))
        low, above = -u[0].get((), Q(0)), {m: c for m, c in u[0].items() if m}
        if relation in ("<", "<=") and u[1] == ONE and len(above) == 1 and low >= 0:
            ((m, c),) = above.items()
            if c > 0 and len(m) == 1 and m[0][1] == 1:
                self.signs[m[0][0]] = "<" if low > 0 else min(relation, self.signs.get(m[0][0], "<="))

    def follows(self, goal: Any) -> bool:
        """Whether cvc5 finds, by a part of the work that is left, that a goal is true wherever what is known is."""
        for again in (False, True)[: 1 + bool(self.lemmas)]:
            facts, solver = [lemma() for lemma in self.lemmas * again], smt.Solver()
            for option, value in ("nl-cov", True), ("nl-ext", "light"), ("rlimit", str(max(self.work[0] // 4, 1))):
                solver.setOption(option, value)
            solver.add(*self.known, *facts, smt.Not(goal))
            found = solver.check()
            self.work[0] -= solver.statistics()["resource::resourceUnitsUsed"]["value"]
            if found == smt.unsat:
                return True
        return False

    def shows(self, relation: str, *us: Any) -> bool:
        """Whether 0 relation u, for each u."""
        return all(self.surely(relation, u) or self.follows(self.formula(relation, u)) for u in us)

    def need(self, relation: str, u: Any) -> None:
        """Show what makes a term defined."""
        demand(self.shows(relation, u), "perhaps undefined")
        self.learn(relation, u)

    def letter(self, head: str, sign: str = "") -> Any:
        """A new letter, as a quotient."""
        x = f"{head}!{len(self.letters)}"
        self.letters[x], t = smt.Real(x), ({((x, 1),): Q(1)}, ONE)
        if sign:
            self.learn(sign, t)
        return t

    def variable(self, x: str) -> Any:
        """A variable's own letter; those of functions have a mark in their names."""
        demand(x.replace("'", "").isidentifier() and x not in self.letters, f"a bad variable: {x}")
        self.letters[x] = smt.Real(x)
        return {((x, 1),): Q(1)}, ONE

    def power(self, u: Any, q: Q) -> Any:
        """The power of a quotient."""
        p, k = q.as_integer_ratio()
        demand(abs(p) < 200 and k < 99, "a large power")
        if k > 1:
            strict = self.shows("<", u)
            self.need("<" if strict else "<=", u)
            u = self.root(u, k, strict)
        if p < 0:
            self.need("!=", u)
            u = self.quotient(u[1], u[0])
        return self.quotient(*(self.times(*[part] * abs(p)) for part in u))

    def root(self, u: Any, k: int, strict: bool) -> Any:
        """A root of what is not negative: that of numbers, of positive letters, and of the rest."""
        n, d = u
        if d != ONE and not self.shows("<", (d, ONE)):
            n, d = ({m: -c for m, c in p.items()} for p in u)
            self.need("<", (d, ONE))
        if not n:
            return u
        c, m, rest = self.factors(self.times(n, *[d] * (k - 1 if d != ONE else 0)))
        parts = [({(): Q(p)}, e, "<") for p, e in primes(c)] + [({((x, 1),): Q(1)}, e, "<") for x, e in m]
        out = ONE, d
        for p, e, sign in parts + [(rest, 1, "<" if strict else "<=")] * (rest != ONE):
            whole = self.times(*[p] * abs(e // k)), ONE
            out = self.product(out, self.quotient(*whole[:: 1 if e >= 0 else -1]))
            out = self.product(out, *[self.root_of(p, k, sign) for _ in range(e % k)])
        return out

    def root_of(self, base: Any, k: int, sign: str) -> Any:
        """The letter for a root of a polynomial that has the sign."""
        for x, (j, b) in [*self.roots.items()]:
            if base == {((x, 1),): Q(1)}:
                base, k = b, j * k
        for x, known in self.roots.items():
            if known == (k, base):
                return {((x, 1),): Q(1)}, ONE
        t = self.letter(f"root{k}", sign)
        (((x, _),),) = t[0]
        self.known.append(self.formula("==", (plus({((x, k),): Q(1)}, base, -1), ONE)))
        self.roots[x] = k, base
        return t
