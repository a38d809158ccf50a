"""The checker's inner products: what is claimed to be >= 0 is a sum of what is not negative, in every dimension.

An inner product of two vectors is a letter, and so is the norm of a vector, which is a root of an inner product.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from itertools import product

from dpverify.proving.checker.arithmetic.quotients import MINUS, ONE, UNIT, Rational, Root, alone, constant
from dpverify.proving.checker.arithmetic.reals import Reals
from dpverify.proving.checker.reading import Theorem, items, read
from dpverify.proving.checker.terms import COMPARISONS, Term, conjuncts, demand

Vector = dict[str, Rational]  # of which the terms are vector variables with numbers


@dataclass(frozen=True)
class GivenRelation:
    """That 0 relation a quotient."""

    relation: str
    value: Rational


@dataclass(frozen=True)
class Norm:
    """The letter for a vector's norm."""

    vector: Vector
    value: Rational


class Products(Reals):
    """What is known of inner products and numbers."""

    def __init__(self, problem: Theorem) -> None:
        super().__init__()
        self.norms = list[Norm]()
        self.vectors = {v.name for v in problem.variables if v.kind == "vector"}
        self.numbers = {
            v.name: self.variable(v.name) for v in problem.variables if v.name not in self.vectors
        }
        self.given = conjuncts(*problem.assuming)
        self.assuming = True  # what is true has a value
        for f in (*(f for v in problem.variables for f in v.domain()), *self.given):
            with suppress(ValueError):  # what is no comparison of numbers says nothing here
                gap = self.gap(f)
                demand({x for m in gap.top for x, _ in m} <= self.numbers.keys(), "an inner product")
                self.learn(f.head, gap)
        self.assuming = False

    def is_vector(self, e: Term) -> bool:
        """Whether a term is a vector."""
        return e.name in self.vectors or (e.head in ("add", "mul") and any(map(self.is_vector, e.parts)))

    def vector(self, e: Term) -> Vector:
        """A vector, multiplied out."""
        match e:
            case Term("sym") if e.name in self.vectors:
                return {e.name: UNIT}
            case Term("add", parts):
                return reduce(self.plus, map(self.vector, parts))
            case Term("mul", parts):
                (which,) = filter(self.is_vector, parts)
                times = self.product(*(self.term(part) for part in parts if part is not which))
                return {x: self.product(times, value) for x, value in self.vector(which).items()}
        raise ValueError(f"no vector: {e.head}")

    def plus(self, u: Vector, v: Vector) -> Vector:
        """The sum of vectors."""
        zero = constant(0)
        return {x: self.total(u.get(x, zero), v.get(x, zero)) for x in {**u, **v}}

    def inner(self, u: Vector, v: Vector) -> Rational:
        """The inner product, which is bilinear and symmetric."""
        found = constant(0)
        for x, y in product(u, v):
            name = f"dot!{min(x, y)}!{max(x, y)}"
            self.letters.setdefault(name)
            found = self.total(found, self.product(u[x], v[y], alone(name)))
        return found

    def norm(self, u: Vector) -> Rational:
        """The norm, a letter for u and -u."""
        for known, sign in product(self.norms, (UNIT, MINUS)):
            rest = self.plus(u, {x: self.product(sign, value) for x, value in known.vector.items()})
            if not any(value.top for value in rest.values()):
                return known.value
        square = self.inner(u, u)
        demand(square.bottom == ONE, "a norm of quotients")
        name = self.fresh("norm", "<=")
        self.roots[name] = Root(2, square.top)
        self.norms.append(Norm(u, alone(name)))
        return self.norms[-1].value

    def term(self, e: Term) -> Rational:
        """The quotient of a number's term, with all that makes it defined shown."""
        match e:
            case Term("num"):
                return constant(e.number)
            case Term("sym") if e.name in self.numbers:
                return self.numbers[e.name]
            case Term("add", parts):
                return reduce(self.total, map(self.term, parts))
            case Term("mul", parts):
                return self.product(*map(self.term, parts))
            case Term("pow", (base, Term("num") as exponent)):
                return self.power(self.term(base), exponent.number)
            case Term("inner", (u, v)):
                return self.inner(self.vector(u), self.vector(v))
            case Term("norm", (u,)):
                return self.norm(self.vector(u))
        raise ValueError(f"{e.head} is beyond this checker")

    def gap(self, f: Term) -> Rational:
        """Right minus left of a comparison."""
        demand(f.head in COMPARISONS, "no comparison")
        left, right = f.parts
        return self.total(self.term(right), self.term(left), -1)

    def fact(self, written: object) -> GivenRelation:
        """A part of a sum."""
        match written:
            case ["assumption", int(i)] if self.given[i].head in ("<=", "<", "=="):
                return GivenRelation(self.given[i].head, self.gap(self.given[i]))
            case ["norm", v]:
                return GivenRelation("<=", self.norm(self.vector(read(v))))
            case ["inner", u, v] if read(u) is read(v):
                return GivenRelation("<=", self.inner(*[self.vector(read(v))] * 2))
            case ["cauchy", u, v]:
                one, other = self.vector(read(u)), self.vector(read(v))
                norms = self.product(self.norm(one), self.norm(other))
                return GivenRelation("<=", self.total(norms, self.inner(one, other), -1))
        raise ValueError(f"no fact: {str(written)[:60]}")

    def sum(self, terms: object, relation: str) -> Rational:
        """A sum of products, of which the multipliers are shown to have the signs that a relation with 0 needs."""
        found, positive = constant(0), False
        for multiplier, *written in map(items, items(terms)):
            facts, times = [self.fact(one) for one in written], self.term(read(multiplier))
            relations = [fact.relation for fact in facts]
            demand("==" in relations or relation != "==", "an equality follows from equalities alone")
            strict = relation == "<" and not positive and all(one == "<" for one in relations)
            right = "==" in relations or self.shows("<" if strict else "<=", times)
            demand(right, "cvc5 found no proof of a multiplier's sign")
            positive = positive or strict
            found = self.total(found, self.product(times, *(fact.value for fact in facts)))
        demand(positive or relation != "<", "nothing is positive")
        return found

    def same(self, u: Rational, v: Rational) -> bool:
        """Whether two quotients are one."""
        return self.surely("==", self.total(u, v, -1))


def show(problem: Theorem, proof: dict[str, object], _: object) -> str:
    """Proved by a sum for the difference of the sides, or of their squares, where the right one is not negative."""
    claim, products = problem.claim, Products(problem)
    demand(claim.head in ("<=", "<", "=="), "no inequality, and no equality")
    gap = products.gap(claim)
    if "base" in proof:
        left, right = map(products.term, claim.parts)
        base = products.sum(proof["base"], "<=")
        demand(claim.head != "==" and products.same(base, right), "the base is another")
        gap = products.total(products.product(right, right), products.product(left, left), -1)
    demand(products.same(products.sum(proof["sum"], claim.head), gap), "the sum is another")
    return "proved"
