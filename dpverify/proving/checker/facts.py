"""The checker's facts about functions at arguments that certificates name, each an instance of one of seven laws."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

from dpverify.proving.checker import settle
from dpverify.proving.checker.reading import Theorem, items, read, text
from dpverify.proving.checker.terms import Term, demand, minus, number, term

ZERO, ONE = number(0), number(1)


def at_most(u: Term, v: Term) -> Term:
    """That u <= v."""
    return term("<=", u, v)


def same_order(u: Term, v: Term, at_u: Term, at_v: Term) -> Term:
    """A growing function's values are in the order of its arguments, and only then."""
    pairs = (at_most(u, v), at_most(at_u, at_v)), (at_most(v, u), at_most(at_v, at_u))
    return term("and", *(term("implies", *sides) for pair in pairs for sides in permutations(pair)))


def where(positive: tuple[Term, ...], f: Term) -> Term:
    """A formula where terms are positive."""
    return term("implies", term("and", *(term("<", ZERO, e) for e in positive)), f)


def instance(law: str, function: str, *at: Term) -> Term:
    """What a law says of a function at some arguments."""
    u, v, *more = *at, ZERO
    match law, function, len(at):
        case "order", "exp" | "phi" | "arctan", 2:
            return same_order(u, v, term(function, u), term(function, v))
        case "order", "log", 2:
            return where((u, v), same_order(u, v, term("log", u), term("log", v)))
        case "order", "pow", 3:
            powers = term("pow", u, more[0]), term("pow", v, more[0])
            return where((u, v, more[0]), same_order(u, v, *powers))
        case "reflection", "phi", 2:
            return same_order(term("add", u, v), ZERO, term("add", term("phi", u), term("phi", v)), ONE)
        case "tangent", "exp", 1:
            return at_most(term("add", ONE, u), term("exp", u))
        case "tangent", "log", 1:
            below, above = minus(ONE, term("pow", u, number(-1))), term("add", u, number(-1))
            both = term("and", at_most(below, term("log", u)), at_most(term("log", u), above))
            return where((u,), both)
        case "range", "sin" | "cos", 1:
            return term("and", at_most(number(-1), term(function, u)), at_most(term(function, u), ONE))
        case "range", "arctan", 1:  # arctan(0) = 0, arctan(1) = pi/4
            quarter = term("mul", number(Fraction(1, 4)), term("pi"))
            ends = (ZERO, ZERO), (ONE, quarter)
            return term("and", *(same_order(u, end, term(function, u), value) for end, value in ends))
        case "same", "sin" | "cos", 2:
            return term("implies", term("==", u, v), term("==", term(function, u), term(function, v)))
        case "arc", "sin", 1:
            inside = term("and", at_most(ZERO, u), at_most(u, term("pi")))
            return term("implies", inside, at_most(ZERO, term("sin", u)))
        case "value", "exp" | "log" | "phi", 3:
            demand({e.head for e in at} == {"num"}, "a value that is no number")
            return term("and", at_most(v, term(function, u)), at_most(term(function, u), more[0]))
    raise ValueError(f"no law: {law} of {function}")


def show(problem: Theorem, proof: dict[str, object], witness: object) -> str:
    """Proved, if the claim follows by algebra from what is assumed and the facts, where all in these is defined."""
    known = list[Term]()
    for law, function, *at in map(items, items(proof["facts"])):
        known.append(instance(text(law), text(function), *map(read, at)))
        if law == "value":
            nothing = Theorem((), (), term("not", known[-1]))
            settle(nothing, {"method": "counterexample", "point": {}}, None)
    claim = term("implies", term("and", *known), problem.claim) if known else problem.claim
    return settle(replace(problem, claim=claim), {"method": "smt"}, witness)
