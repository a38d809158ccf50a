"""The checker's real numbers: quotients in letters for variables and functions' values, and what is known of them.

What is asked of letters goes to cvc5, unless their signs show it.
"""

from abc import ABC, abstractmethod
from fractions import Fraction as Q
from functools import reduce
from typing import Any

from dpverify.proving.checker.questions import contradict
from dpverify.proving.checker.quotients import ONE, Quotients, join, number, plus, primes
from dpverify.proving.checker.terms import demand


class Reals(Quotients, ABC):
    """What is known at one place, and the letters there."""

    def __init__(self, work: list[int]) -> None:
        super().__init__()
        self.known, self.work = list[Any](), work  # for cvc5, by its own count
        self.orders, self.lemmas = list[Any](), list[Any]()  # what is tried next, and last
        self.letters, self.values = set[str](), list[Any]()  # names; values of functions
        self.cases = dict[str, Any]()  # pairs, of which letters are the larger one
        self.logs, self.exps = (
            dict[str, Any](),
            dict[str, Any](),
        )  # of what letters are logarithms, or exponentials

    def whole_powers(self, p: Any) -> Any:
        """A polynomial for cvc5, times what is positive, so that no power is below 0."""
        low = {x: max(-f for k in p for y, f in (*k, (x, 0)) if y == x) for m in p for x, _ in m}
        up = [(x, e + e % 2 * (self.signs.get(x) != "<")) for x, e in low.items()]
        return tuple((*c.as_integer_ratio(), join(m, up)) for m, c in p.items())

    def formula(self, relation: str, u: Any) -> Any:
        """The formula 0 relation u."""
        n, d = u
        plain = relation in ("==", "!=") or d == ONE or self.surely("<", (d, ONE))
        return relation, self.whole_powers(n if plain else self.times(n, d))

    def vanishes(self, p: Any) -> bool:
        """Whether a polynomial is 0 once what has the same exponent, as a quotient, is added up."""
        groups = list[Any]()
        for m, c in p.items():
            parts = [self.product(number(e), self.exps[x]) for x, e in m if x in self.exps]
            exponent = reduce(self.total, parts, number(0))
            term = {tuple((x, e) for x, e in m if x not in self.exps): c}
            found = [
                i for i, (v, _) in enumerate(groups) if v == exponent or not self.total(v, exponent, -1)[0]
            ]
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

    def given(self, facts: Any) -> None:
        """From now on, all of these; what makes one of them defined may stand behind it."""
        while facts:
            later, why = list[Any](), "perhaps undefined"
            for f in facts:
                try:
                    self.tell(f)
                except ValueError as error:
                    later.append(f)
                    why = str(error)
            demand(len(later) < len(facts), why)
            facts = later

    @abstractmethod
    def tell(self, fact: Any) -> None:
        """From now on, a fact as it is written."""

    def follows(self, goal: Any) -> bool:
        """Whether cvc5 finds, by a part of the work that is left, that a goal is true wherever what is known is."""
        for more in dict.fromkeys(((), (*self.orders,), (*self.orders, *self.lemmas))):
            facts, allowed = [lemma() for lemma in more], max(self.work[0] // 4, 1)
            # lemmas of nl-ext cost far more than they help
            asked = *self.known, *facts, ("not", goal)
            found, used = contradict(asked, allowed, self.cases, nl_ext="none")
            self.work[0] -= used
            if found:
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
        t = {((x, 1),): Q(1)}, ONE
        self.letters.add(x)
        if sign:
            self.learn(sign, t)
        return t

    def variable(self, x: str) -> Any:
        """A variable's own letter; those of functions have a mark in their names."""
        demand(x.replace("'", "").isidentifier() and x not in self.letters, f"a bad variable: {x}")
        self.letters.add(x)
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
            demand(self.shows("<", (d, ONE)), "a root of a quotient by what has no known sign")
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
