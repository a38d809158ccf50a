"""The checker's induction: a claim at the first integers, and from each integer to the next.

In the step, letters stand for what has a rule for the next integer: powers, factorials, binomials, sums and products.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb, factorial

from dpverify.proving.checker import follow, settle
from dpverify.proving.checker.exists import folded
from dpverify.proving.checker.reading import Theorem, fields, items, read, text
from dpverify.proving.checker.terms import (
    BINDING,
    COMPARISONS,
    Term,
    Unknown,
    conjuncts,
    demand,
    minus,
    names,
    number,
    symbol,
    term,
)  # fmt: skip

Sum = dict[str, int]
FEW = 9
ZERO, ONE = number(0), number(1)


def short(e: Term) -> Term:
    """A term or formula in which sums of few terms, factorials and binomials of small numbers are worked out."""
    e = folded(e)
    match e.head, [part.number for part in e.parts[e.head in BINDING :] if part.head == "num"]:
        case (("sum" | "product"), [first, last]) if (
            first % 1 == last % 1 == 0 and first <= last < first + FEW
        ):
            places = (number(first + i) for i in range(int(last - first) + 1))
            terms = [short(e.parts[0].put({e.name: k})) for k in places]
            return term("add" if e.head == "sum" else "mul", *terms)
        case "factorial", [n] if n in range(FEW):
            return number(factorial(n.numerator))
        case "binomial", [n, k] if n in range(FEW) and k in range(FEW):
            return number(comb(n.numerator, k.numerator))
    return e if e.head in BINDING else e.of(*map(short, e.parts))


def linear(e: Term, integers: frozenset[str]) -> Sum:
    """The integers by which integers are multiplied in a sum, and under no name what is left."""
    match e:
        case Term("num") if e.number % 1 == 0:
            return {"": int(e.number)}
        case Term("sym") if e.name in integers:
            return {e.name: 1}
        case Term("mul", (Term("num") as times, u)) if times.number % 1 == 0:
            return {x: int(times.number) * value for x, value in linear(u, integers).items()}
        case Term("add"):
            parts = [linear(part, integers) for part in e.parts]
            return {x: sum(part.get(x, 0) for part in parts) for x in {*()}.union(*parts)}
    raise ValueError("what may be no integer")


@dataclass(frozen=True)
class Named:
    """A letter, what it stands for, and how to go on from there."""

    letter: Term
    what: Term
    integers: frozenset[str]
    inverse: bool = False  # whether the base of a power is not 0
    rising: bool = False  # whether its exponent is not negative

    def ahead(self, e: Term, i: int) -> int:
        """How far a part of another term is ahead of the same part of this one."""
        here, there = (linear(u.parts[i], self.integers) for u in (self.what, e))
        gaps = {x: there.get(x, 0) - here.get(x, 0) for x in {*here, *there}}
        demand(not any(gap for x, gap in gaps.items() if x), "another term")
        return gaps.get("", 0)

    def at(self, e: Term, i: int, k: int) -> Term:
        """A part of the term, k further."""
        return term("add", e.parts[i], number(k))

    def reached(self, e: Term) -> Term:
        """The same as another term of the same kind, from the letter; refused where there is no way."""
        what, letter = self.what, self.letter
        demand(e.head == what.head and e.name == what.name, "another term")
        match e.head:
            case "pow":
                steps = self.ahead(e, 1)
                demand(e.parts[0] is what.parts[0] and (steps >= 0 or self.inverse), "another base")
                base = e.parts[0] if steps >= 0 else term("pow", e.parts[0], number(-1))
                return term("mul", letter, *[base] * abs(steps))
            case "factorial":
                steps = self.ahead(e, 0)
                demand(steps >= 0, "a factorial of less")
                return term("mul", letter, *(self.at(what, 0, k + 1) for k in range(steps)))
            case "binomial":
                of, chosen = self.ahead(e, 0), self.ahead(e, 1)
                demand(0 <= chosen <= of, "a binomial of less")
                for k in range(of):  # (m + 1 over j) = (m over j) (m + 1) / (m + 1 - j)
                    above = self.at(what, 0, k + 1)
                    below = term("pow", minus(above, what.parts[1]), number(-1))
                    letter = term("mul", letter, above, below)
                for k in range(chosen):  # (m over j + 1) = (m over j) (m - j) / (j + 1)
                    above = minus(e.parts[0], self.at(what, 1, k))
                    letter = term("mul", letter, above, term("pow", self.at(what, 1, k + 1), number(-1)))
                return letter
            case "sum" | "product":
                steps = self.ahead(e, 2)
                demand(e.parts[:2] == what.parts[:2] and steps >= 0, "another sum")
                more = [e.parts[0].put({e.name: self.at(what, 2, k + 1)}) for k in range(steps)]
                return term("add" if e.head == "sum" else "mul", letter, *more)
        raise ValueError(f"no rule for the next {e.head}")

    def facts(self) -> tuple[Term, ...]:
        """What is known of the letter."""
        if self.what.head == "pow":
            base = self.what.parts[0]
            low, high = term("<=", ZERO, base), term("<=", base, ONE)
            more = (
                term("implies", term("and", low, high), term("<=", self.letter, ONE)),
                term("implies", term("<=", ONE, base), term("<=", ONE, self.letter)),
            )
            return (
                term("implies", low, term("<=", ZERO, self.letter)),
                term("implies", term("<", ZERO, base), term("<", ZERO, self.letter)),
                *(more if self.rising else ()),
            )
        return (term("<=", ONE, self.letter),) if self.what.head in ("factorial", "binomial") else ()


def written(e: Term, known: list[Named]) -> Term:
    """A term or formula in letters, but for what stands within a scope."""
    for one in known:
        try:
            found = one.reached(e)
        except ValueError:
            continue
        return found if found.parts == () else found.of(*(written(part, known) for part in found.parts))
    return e if e.head in BINDING else e.of(*(written(part, known) for part in e.parts))


@dataclass(frozen=True)
class OverIntegers:
    """A claim for all integers from the first one on."""

    n: Unknown
    rest: Theorem
    first: Term

    def named(self, name: str, what: Term) -> Named:
        """A letter in the step, once what it stands for is shown to be defined."""
        n, integers = self.n.name, frozenset({v.name for v in self.rest.variables if v.kind == "integer"})
        found = Named(symbol(name), what, integers | {n})
        over = (*self.rest.variables, replace(self.n, lower=None, upper=None))
        here = (*self.rest.assuming, term("<=", self.first, symbol(n)))

        def shown(*claims: Term) -> bool:
            try:
                follow(Theorem(over, here, term("and", *claims)))
            except ValueError:
                return False
            return True

        match what:
            case Term("pow", (base, exponent)):
                linear(exponent, found.integers)
                demand(n not in names(base), "a base that changes")
                rising = shown(term("==", base, base), term("<=", ZERO, exponent))
                found = replace(found, inverse=shown(term("!=", base, ZERO)), rising=rising)
                demand(found.inverse or found.rising, "a power that may be undefined")
            case Term("factorial", (of,)):
                linear(of, found.integers)
                demand(shown(term("<=", ZERO, of)), "a factorial that may be undefined")
            case Term("binomial", (of, chosen)):
                linear(term("add", of, chosen), found.integers)
                inside = shown(term("<=", ZERO, chosen), term("<=", chosen, of))
                demand(inside, "a binomial that may be undefined, or 0")
            case Term("sum" | "product", (body, start, last)):
                linear(term("add", start, last), found.integers)
                demand(what.name != n and n not in names(body) | names(start), "terms that change")
                demand(shown(term("<=", start, last)), "a sum of no terms")
            case _:
                raise ValueError(f"no rule for the next {what.head}")
        return found

    def step(self, known: list[Named]) -> Theorem:
        """From an integer to the next, in letters."""
        n, claim = symbol(self.n.name), self.rest.claim
        taken = frozenset[str]().union(
            *map(names, (claim, *self.rest.assuming, *(one.what for one in known)))
        )
        letters = [Unknown(one.letter.name, "real") for one in known]
        demand(not taken & {v.name for v in letters}, "a letter that is not new")
        later = claim.put({n.name: term("add", n, ONE)})
        given = (*self.rest.assuming, *(f for one in known for f in one.facts()), written(claim, known))
        over = (*self.rest.variables, *letters)
        if self.first.head == "num":
            whole = replace(self.n, lower=self.first.number, lower_open=False, upper=None)
        else:
            whole, given = replace(self.n, lower=None, upper=None), (*given, term("<=", self.first, n))
        return Theorem((*over, whole), given, written(later, known))


def show(problem: Theorem, proof: dict[str, object], _: object) -> str:
    """Proved, where the claim is shown at the first integers, and at each later one from that before."""
    name, first = text(proof["letter"]), read(proof["first"])
    (n,) = [v for v in problem.variables if v.name == name]
    demand(n.kind == "integer" and problem.claim.head in COMPARISONS, "no comparison for integers")
    rest = tuple(v for v in problem.variables if v.name != name)
    demand(name not in names(first), "a first integer that is none")
    linear(first, frozenset({v.name for v in rest if v.kind == "integer"}))
    follow(replace(problem, claim=term("<=", first, symbol(name))))
    given = tuple(f for f in conjuncts(*problem.assuming) if name not in names(f))
    parts = [*map(fields, items(proof["bases"])), fields(proof["step"])]
    places = [folded(term("add", first, number(k))) for k in range(len(parts) - 1)]
    over = OverIntegers(n, Theorem(rest, given, problem.claim), places[-1])
    known = [over.named(text(letter), read(what)) for letter, what in map(items, items(proof["letters"]))]
    theorems = [Theorem(rest, given, short(problem.claim.put({name: place}))) for place in places]
    for one, part in zip((*theorems, over.step(known)), parts, strict=True):
        demand(settle(one, part["proof"], part["witness"]) == "proved", "not shown everywhere")
    return "proved"
