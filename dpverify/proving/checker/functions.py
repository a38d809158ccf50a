"""The checker's functions: values are letters of which little is known, or what the rules of exp and log give."""

from fractions import Fraction as Q
from functools import partial, reduce
from typing import Any

from mpmath.libmp import from_rational, mpf_exp, mpf_log, mpf_pi, to_fixed

from dpverify.proving.checker.quotients import ONE, number, primes
from dpverify.proving.checker.reals import Reals
from dpverify.proving.checker.terms import demand, slope

CONSTANTS = {"exp": mpf_exp, "log": mpf_log, "pi": lambda _, p: mpf_pi(p)}
UNIT, MINUS = number(1), number(-1)


class Functions(Reals):
    """Terms at one place; `whole` has the names of integers."""

    def __init__(self, work: list[int], whole: Any = ()) -> None:
        super().__init__(work)
        self.whole, self.assuming = {*whole}, False  # whether a comparison is being read that is given
        self.sums = list[Any]()  # those in what is given, which therefore are defined, with their letters

    def value(self, head: str, *us: Any) -> Any:
        """The value that a function has been found to have at the same arguments, or None."""
        for h, vs, t in self.values:
            if h == head and all(u == v or self.ratio(u, v) == 1 for u, v in zip(us, vs, strict=True)):
                return t
        return None

    def named(self, head: str, sign: str, *us: Any) -> Any:
        """A new letter for a function's value; that exp, log and phi grow is told for the second attempt."""
        t = self.letter(head, sign)
        for h, vs, s in self.values:
            if h == head in ("exp", "log", "phi") and s[1] == ONE and len(s[0]) == 1:
                self.orders += [
                    partial(self.alike, us[0], vs[0], t, s),
                    partial(self.alike, vs[0], us[0], s, t),
                ]
        self.values.append((head, us, t))
        return t

    def alike(self, u: Any, v: Any, t: Any, s: Any) -> Any:
        """That v <= u just where s <= t."""
        return "same", self.formula("<=", self.total(u, v, -1)), self.formula("<=", self.total(t, s, -1))

    def less(self, u: Any, v: Any) -> Any:
        """That u <= v."""
        return self.formula("<=", self.total(v, u, -1))

    def constant(self, head: str, q: Q) -> Any:
        """Exp of a number, the log of a prime number, or pi, to 18 digits."""
        if (t := self.value(head, number(q))) is None:
            demand(abs(q) < 99 or head == "log", "a large constant")
            k = to_fixed(CONSTANTS[head](from_rational(*q.as_integer_ratio(), 300), 300), 64)
            self.values.append((head, (number(q),), t := self.letter(head)))
            {"log": self.logs, "exp": self.exps}.get(head, {}).update({x: number(q) for ((x, _),) in t[0]})
            self.learn("<", self.total(t, number(Q(k - 2, 2**64)), -1))
            self.learn("<", self.total(number(Q(k + 2, 2**64)), t, -1))
        return t

    def exp(self, u: Any) -> Any:
        """The value of exp, a product over the terms of a sum."""
        n, d = u
        if len(n) == 1 and d == ONE:
            ((m, c),) = n.items()
            p, q = c.as_integer_ratio()
            if m == ():
                return (
                    self.power(self.constant("exp", Q(1, q)), Q(p))
                    if abs(p) < 20
                    else self.constant("exp", c)
                )
            if len(m) == 1 and m[0][1] == 1 and m[0][0] in self.logs:
                return self.power(self.logs[m[0][0]], c)
        for head, vs, t in self.values:
            r: Any = self.ratio(u, vs[0]) if head == "exp" else 0
            if r and r.denominator < 9 and abs(r.numerator) < 40:
                return self.power(t, r)
        if len(n) != 1:
            t = reduce(self.product, (self.exp(self.quotient({m: c}, d)) for m, c in n.items()), UNIT)
            self.values.append(("exp", (u,), t))
            return t
        ((m, c),) = n.items()
        u = self.quotient({m: Q(1, c.denominator)}, d)
        t = self.named("exp", "<", u)
        self.exps |= {x: u for ((x, _),) in t[0]}
        self.lemmas.append(lambda: self.less(self.total(u, UNIT), t))  # 1 + u <= exp u, and so for -u
        self.lemmas.append(lambda: self.less(self.product(t, self.total(UNIT, u, -1)), UNIT))
        return self.power(t, Q(c.numerator))

    def log(self, u: Any) -> Any:
        """The value of log, a sum over factors that are positive."""
        self.need("<", u)
        n, d = u
        c, m, rest = self.factors(n)
        out = [self.product(number(e), self.constant("log", Q(p))) for p, e in primes(c)]
        out += [self.product(number(e), self.log_of(({((x, 1),): Q(1)}, ONE))) for x, e in m]
        if d != ONE and rest != ONE and self.shows("<", (d, ONE)):
            out += [self.log_of((rest, ONE)), self.product(MINUS, self.log_of((d, ONE)))]
        elif rest == ONE != d:
            out.append(self.product(MINUS, self.log_of((d, ONE))))
        elif (rest, d) != UNIT:
            out.append(self.log_of((rest, d)))
        return reduce(self.total, out, number(0))

    def log_of(self, u: Any) -> Any:
        """The value of log at what is positive, and no product."""
        for head, vs, t in self.values:
            if head == "exp" and t == u:
                return vs[0]
        for x, (k, base) in self.roots.items():
            if u == ({((x, 1),): Q(1)}, ONE):
                return self.product(number(Q(1, k)), self.log((base, ONE)))
        if (t := self.value("log", u)) is None:
            t = self.named("log", "", u)
            (((x, _),),) = t[0]
            self.logs[x] = u
            self.lemmas.append(lambda: self.less(t, self.total(u, UNIT, -1)))  # 1 - 1 / u <= log u <= u - 1
            self.lemmas.append(lambda: self.less(self.total(u, UNIT, -1), self.product(u, t)))
        return t

    def phi(self, u: Any) -> Any:
        """The value of phi, or 1 less that at -u."""
        if (t := self.value("phi", u)) is None and (
            t := self.value("phi", self.product(MINUS, u))
        ) is not None:
            return self.total(UNIT, t, -1)
        if t is None:
            t = self.named("phi", "<", u)
            self.learn("<", self.total(UNIT, t, -1))
            self.lemmas += [partial(self.tail, u, t, number(s)) for s in (1, -1)]
        return t

    def tail(self, u: Any, t: Any, s: Any) -> Any:
        """That 1/2 <= t and 2 u^2 (1 - t) <= 1 where 0 <= u; and so for -u and 1 - t."""
        v = self.product(s, self.total(self.product(number(2), t), UNIT, -1))
        near = self.less(self.product(u, u, self.total(UNIT, v, -1)), UNIT)
        return "implies", self.formula("<=", self.product(s, u)), ("and", self.formula("<=", v), near)

    def other(self, head: str, *us: Any) -> Any:
        """The value of another function, of which it is known where it lies."""
        if (t := self.value(head, *us)) is not None:
            return t
        u, one = us[0] if us else UNIT, UNIT
        match head:
            case "floor" | "ceiling":
                t, s = self.named(head, "", *us), 1 if head == "floor" else -1
                gap = self.product(number(s), self.total(u, t, -1))
                self.learn("<=", gap)
                self.learn("<", self.total(one, gap, -1))
            case "gamma":
                self.need("<", u)
                q = u[0].get((), Q(0)) if u[1] == ONE and {*u[0]} == {()} else Q(0)
                if 2 * q in range(1, 200):  # from gamma(1) = 1 and gamma(1/2) = root of pi
                    less = reduce(
                        self.product,
                        (number(q - k) for k in range(1, -(-q.numerator // q.denominator))),
                        UNIT,
                    )
                    return self.product(less, self.power(self.constant("pi", Q(1)), Q(q.denominator - 1, 2)))
                t = self.named(head, "<", *us)
            case "phi_inverse":
                self.need("<", u)
                self.need("<", self.total(one, u, -1))
                t = self.named(head, "", *us)
            case "factorial" | "binomial":
                for v in us:
                    letters = {(x, e > 0) for m in v[0] for x, e in m} <= {(x, True) for x in self.whole}
                    whole = letters and v[1] == ONE and all(c.denominator == 1 for c in v[0].values())
                    demand(whole, f"{head} of what may be no integer")
                    self.need("<=", v)
                t = self.named(head, "<" if head == "factorial" else "<=", *us)
            case _:
                raise ValueError(f"{head} is beyond this checker")
        return t

    def largest(self, u: Any, v: Any) -> Any:
        """The larger value."""
        d = self.times(u[1], v[1])
        p, q = self.times(u[0], v[1]), self.times(v[0], u[1])
        if not self.surely("<", (d, ONE)):
            p, q, d = (self.times(w, d) for w in (p, q, d))
        for head, known, t in self.values:
            if head == "max" and known == (p, q):
                return self.product(t, self.quotient(ONE, d))
        low = {x: max(0, *(-e for k in (*p, *q) for y, e in k if y == x)) for m in (*p, *q) for x, _ in m}
        up = {tuple(sorted((x, e + e % 2 * (self.signs.get(x) != "<")) for x, e in low.items() if e)): Q(1)}
        x = f"max!{len(self.letters)}"
        scaled = [self.times(w, up) for w in (p, q)]
        whole = all(e > 0 for w in scaled for m in w for _, e in m)  # else, each would be scaled by its own
        demand(whole, "a maximum of roots of quotients")
        self.letters.add(x)
        self.cases[x] = tuple(map(self.whole_powers, scaled))
        t = self.quotient({((x, 1),): Q(1)}, up)
        self.values.append(("max", (p, q), t))
        return self.product(t, self.quotient(ONE, d))

    def term(self, e: Any, env: Any) -> Any:
        """The quotient of a term, with all that makes it defined shown; `env` gives those of names."""
        match e:
            case "num", q:
                return number(q)
            case "sym", x:
                return env[x]
            case "at", f, x, v if x not in self.whole:
                return self.term(f, env | {x: self.term(v, env)})
            case "diff", f, x, order if order in range(9) and "max" not in str(f):
                self.term(f, env)  # it must be defined
                return self.term(reduce(lambda g, _: slope(g, x), range(order), f), env)
            case "sum", f, x, ("num", a), ("num", b) if a % 1 == b % 1 == 0 and a <= b < a + 99:
                us = [self.term(f, env | {x: number(a + i)}) for i in range(int(b - a) + 1)]
                return reduce(self.total, us)
            case "log", ("pow", u, q) if self.shows("<", v := self.term(u, env)):
                return self.product(number(q), self.log(v))
            case "log", ("mul", *fs) if self.shows("<", *(vs := [self.term(f, env) for f in fs])):
                return reduce(self.total, map(self.log, vs))
            case "pow", ("pow", u, p), q if q % 1 and self.shows("<", v := self.term(u, env)):
                return self.power(v, p * q)
            case "pow", ("mul", *fs), q if q % 1 and self.shows(
                "<", *(vs := [self.term(f, env) for f in fs])
            ):
                return self.product(*(self.power(v, q) for v in vs))
            case "sum", *_ if found := [t for *s, t in self.sums if s == [e, env]]:
                return found[0]
            case "sum", *_ if self.assuming:
                self.sums.append((e, env, self.letter("sum")))
                return self.sums[-1][2]
            case "sum" | "product" | "integral" | "at" | "diff" as head, *_:
                raise ValueError(f"{head} is beyond this checker")
        us = [self.term(a, env) if isinstance(a, tuple) else a for a in e[1:]]
        match e[0], *us:
            case "add", *_:
                return reduce(self.total, us)
            case "mul", *_:
                return self.product(*us)
            case "pow", u, q:
                return self.power(u, q)
            case "max", u, v:
                return self.largest(u, v)
            case "erfc", u:
                v = self.product(MINUS, self.power(number(2), Q(1, 2)), u)
                return self.product(number(2), self.phi(v))
            case ("pi",):
                return self.constant("pi", Q(1))
            case "exp" | "log" | "phi" as head, u:
                return {"exp": self.exp, "log": self.log, "phi": self.phi}[head](u)
        return self.other(e[0], *us)
