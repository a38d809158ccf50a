"""The checker's inner products: what is claimed to be >= 0 is a sum of what is not negative, in every dimension.

Polynomials are {monomial: number}, monomials ((atom, power), ...), atoms ("sym", x), ("dot", x, y), ("norm", i).
"""

from contextlib import suppress
from fractions import Fraction as Q
from functools import reduce
from math import isqrt
from operator import eq, ge, gt, ne
from typing import Any

from dpverify.proving.checker.questions import contradict

RELATIONS: Any = {"<=": ge, "<": gt, "==": eq, "!=": ne}  # of right minus left and 0


def demand(holds: Any, *why: Any) -> None:
    """Refuse unless something holds."""
    if not holds:
        raise ValueError(*why)


def number(q: Any) -> Q:
    """An exact number from JSON."""
    demand(type(q) is str and len(q) < 900 and {*q} <= {*"-/.0123456789"}, f"no number: {str(q)[:60]}")
    return Q(q)


def fixed(q: Q) -> Any:
    """A number as a polynomial."""
    return {(): q} if q else {}


def plus(p: Any, q: Any) -> Any:
    """The sum of polynomials."""
    return {m: c for m in {**p, **q} if (c := p.get(m, 0) + q.get(m, 0))}


def join(m: Any, k: Any) -> Any:
    """The product of monomials."""
    one, other = dict(m), dict(k)
    powers = ((a, one.get(a, 0) + other.get(a, 0)) for a in {**one, **other})
    return tuple(sorted((power for power in powers if power[1]), key=repr))


class Products:
    """Polynomials of terms, with the symbols that are divided by, and what is known of symbols."""

    def __init__(self, problem: Any) -> None:
        self.kinds = {v["name"]: v["kind"] for v in problem["variables"]}
        demand(len(self.kinds) == len(problem["variables"]), "a name twice")
        self.norms, self.divisors, self.known = list[Any](), set[str](), list[Any]()
        self.at: Any = {}  # the point that is looked at, if any
        self.domain = [
            ["<=" if v[f"{end}_open"] is False else "<", *[["num", v[end]], ["sym", v["name"]]][::way]]
            for v in problem["variables"]
            for end, way in (("lower", 1), ("upper", -1))
            if v[end] is not None
        ]
        self.given = [f for g in problem["assuming"] for f in (g[1:] if g[0] == "and" else [g])]
        for f in (*self.domain, *self.given):
            with suppress(ValueError, KeyError):  # what is no comparison of numbers says nothing here
                demand(f[0] in RELATIONS)
                self.known.append((f[0], self.whole_powers(self.gap(f))))
                self.known += map(self.divisible, self.divisors)  # since what is true has a value
            self.divisors.clear()

    def divisible(self, x: str) -> Any:
        """That a symbol is not 0, for cvc5."""
        return "!=", self.whole_powers({((("sym", x), 1),): Q(1)})

    def whole_powers(self, p: Any) -> Any:
        """A polynomial of symbols for cvc5, times squares of what is divided by."""
        demand(all(a[0] == "sym" for m in p for a, _ in m), "vectors in what is asked of numbers")
        shift = {a: max(e % 2 - e for m in p for b, e in (*m, (a, 0)) if a == b) for m in p for a, _ in m}
        named = ((c, join(m, shift)) for m, c in p.items())
        return tuple((*c.as_integer_ratio(), tuple((a[1], e) for a, e in m)) for c, m in named)

    def show(self, *goals: Any) -> None:
        """Refuse unless cvc5 shows something of symbols, and that nothing was divided by 0."""
        for goal in (*goals, *map(self.divisible, sorted(self.divisors))):
            found, _ = contradict((*self.known, ("not", goal)), 1_000_000, {})
            demand(found, f"cvc5 found no proof of {str(goal)[:80]}")
        self.divisors.clear()

    def times(self, *ps: Any) -> Any:
        """The product; the square of a norm is an inner product."""
        out: Any = {(): Q(1)}
        for p in ps:
            demand(len(p) * len(out) < 10**4, "a product with many terms")
            out = reduce(plus, ({join(m, k): c * d} for m, c in out.items() for k, d in p.items()), {})
        for m, c in out.items():
            for a, e in m:
                if a[0] == "norm" and e > 1:
                    square = self.term(["inner", self.norms[a[1]], self.norms[a[1]]])
                    return self.times(plus(plus(out, {m: -c}), self.times({join(m, [(a, -2)]): c}, square)))
        return out

    def is_vector(self, e: Any) -> bool:
        """Whether a term is a vector."""
        below = e[0] in ("add", "mul") and any(map(self.is_vector, e[1:]))
        return below or (e[0] == "sym" and self.kinds[e[1]] == "vector")

    def term(self, e: Any) -> Any:
        """The polynomial of a number's term."""
        match e:
            case ["num", q]:
                return fixed(number(q))
            case ["sym", x] if not self.is_vector(e):
                return fixed(self.at[x]) if self.at else {((("sym", x), 1),): Q(1)}
            case ["add", *us]:
                return reduce(plus, map(self.term, us))
            case ["mul", *us]:
                return self.times(*map(self.term, us))
            case ["pow", u, ["num", q]] if number(q) in range(-8, 9):
                p = self.term(u)
                if number(q) < 0:
                    ((m, c),) = p.items()  # one term, of symbols
                    demand(all(a[0] == "sym" for a, _ in m), "division beyond this checker")
                    self.divisors |= {a[1] for a, _ in m}
                    p = {tuple((a, -e) for a, e in m): 1 / c}
                return self.times(*[p] * abs(int(number(q))))
            case ["inner", ["add", *us], v]:
                return reduce(plus, (self.term(["inner", u, v]) for u in us))
            case ["inner", ["mul", *us], v]:
                (u,) = (w for w in us if self.is_vector(w))
                return self.times(*(self.term(["inner", u, v] if w is u else w) for w in us))
            case ["inner", ["sym", x] as u, ["sym", y] as v] if self.is_vector(u) and self.is_vector(v):
                if self.at:
                    return fixed(
                        sum((a * b for a, b in zip(self.at[x], self.at[y], strict=True)), start=Q(0))
                    )
                return {((("dot", *sorted((x, y))), 1),): Q(1)}
            case ["norm", u] if self.at:
                square = self.term(["inner", u, u]).get((), Q(0))
                root = Q(*map(isqrt, square.as_integer_ratio()))
                demand(root * root == square, "a norm at a point that is no fraction")
                return fixed(root)
            case ["inner", ["sym", _] as u, ["add" | "mul", *_] as v]:
                return self.term(["inner", v, u])
            case ["norm", u]:
                for i, v in enumerate(self.norms):
                    if any(
                        not self.term(["inner", w, w])
                        for w in (["add", u, v], ["add", u, ["mul", ["num", "-1"], v]])
                    ):
                        return {((("norm", i), 1),): Q(1)}
                self.norms.append(u)
                return self.term(e)
        raise ValueError(f"beyond this checker: {str(e)[:60]}")

    def gap(self, f: Any) -> Any:
        """Right minus left of a comparison."""
        return plus(self.term(f[2]), self.times(fixed(Q(-1)), self.term(f[1])))

    def fact(self, f: Any) -> tuple[Any, str]:
        """What a part of a sum is, and how it compares with 0."""
        match f:
            case ["assumption", int(i)] if self.given[i][0] in ("<=", "<", "=="):
                return self.gap(self.given[i]), self.given[i][0]
            case ["norm", _] | ["inner", _, _] if f[1] == f[-1]:
                return self.term(f), "<="
            case ["cauchy", u, v]:
                return self.gap(["<=", ["inner", u, v], ["mul", ["norm", u], ["norm", v]]]), "<="
        raise ValueError(f"no fact: {str(f)[:60]}")

    def total(self, terms: Any, relation: str) -> Any:
        """A sum of products, of which the multipliers are shown to have the signs that a relation with 0 needs."""
        out, positive = dict[Any, Any](), False
        for multiplier, *facts in terms:
            found = [self.fact(f) for f in facts]
            times, signs = self.term(multiplier), [sign for _, sign in found]
            demand("==" in signs or relation != "==", "an equality follows from equalities alone")
            strict = relation == "<" and not positive and all(sign == "<" for sign in signs)
            self.show(*([] if "==" in signs else [("<" if strict else "<=", self.whole_powers(times))]))
            positive = positive or strict
            out = plus(out, self.times(times, *(p for p, _ in found)))
        demand(positive or relation != "<", "nothing is positive")
        return out

    def holds(self, f: Any) -> bool:
        """Whether a formula is true at the point, and all in it has a value."""
        if f[0] in ("and", "or"):
            return (all if f[0] == "and" else any)(map(self.holds, f[1:]))
        return bool(RELATIONS[f[0]](self.gap(f).get((), 0), 0))

    def prove(self, claim: Any, proof: Any) -> None:
        """Refuse unless a claim follows."""
        if proof["method"] == "conjunction" and claim[0] == "and":
            for part, steps in zip(claim[1:], proof["parts"], strict=True):
                self.prove(part, steps)
            return
        demand(proof["method"] == "gram" and claim[0] in ("<=", "<", "=="), "a method beyond this checker")
        gap, (left, right) = self.gap(claim), map(self.term, claim[1:])
        self.show()
        if "base" in proof:  # the right side is not negative, and the squares of both compare
            demand(self.total(proof["base"], "<=") == right and claim[0] != "==", "the base is another")
            gap = plus(self.times(right, right), self.times(fixed(Q(-1)), left, left))
        demand(self.total(proof["sum"], claim[0]) == gap, "the sum is another")


def show(problem: Any, proof: Any, witness: Any) -> str:
    """Proved by a sum and a witness, or refuted by vectors."""
    products, refuted = Products(problem), proof["method"] == "counterexample"
    for x, kind in products.kinds.items():
        given = (proof["point"] if refuted else witness)[x]
        q: Any = [*map(number, given[1:-1].split(", "))] if given[0] == "(" else number(given)
        products.at[x] = q
        found = "vector" if type(q) is list else "integer" if kind == "integer" and q % 1 == 0 else "real"
        demand(kind == found, "a value of another kind")
    sizes = {len(q) for q in products.at.values() if type(q) is list}
    meets = all(products.holds(f) for f in (*products.domain, *products.given))
    demand(len(sizes) == 1 and meets, "a point of two dimensions, not in the domain, or not as assumed")
    if refuted:
        demand(not products.holds(problem["claim"]), "the claim holds at the point")
        return "refuted"
    products.at = {}
    products.prove(problem["claim"], proof)
    return "proved"
