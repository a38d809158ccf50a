"""The checker's quantiles: a letter takes the place of phi_inverse, and what it is of becomes phi of that letter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dpverify.proving.checker import follow, settle
from dpverify.proving.checker.reading import Theorem, items, read, text
from dpverify.proving.checker.terms import (
    BINDING,
    Term,
    Unknown,
    demand,
    minus,
    names,
    negative,
    number,
    symbol,
    term,
)  # fmt: skip


def named(e: Term, quantiles: Mapping[Term, Term]) -> Term:
    """A term or formula with a letter for quantiles, but for those within a scope."""
    if e in quantiles or e.head in BINDING:
        return quantiles.get(e, e)
    return e.of(*(named(part, quantiles) for part in e.parts))


def without(problem: Theorem, x: str, new: str, of: Term, value: Term) -> Theorem:
    """A problem with a letter for phi_inverse(of), and with a value of that letter's phi in place of x.

    The value, written with the letter for its phi, is x where the letter's phi is what phi_inverse is of.
    """
    (old,) = [v for v in problem.variables if v.name == x]
    taken = frozenset[str]().union(*map(names, (problem.claim, *problem.assuming)))
    demand(old.kind == "real" and new not in taken | {v.name for v in problem.variables}, "no new letter")
    inside = term("<", number(0), of), term("<", of, number(1))
    follow(replace(problem, claim=term("and", *inside, term("==", symbol(x), value.put({new: of})))))
    demand(x not in names(value), "a value in terms of itself")
    letter, one = symbol(new), number(1)
    quantiles = {term("phi_inverse", of): letter, term("phi_inverse", minus(one, of)): negative(letter)}
    match of:
        case Term("add", (Term("num"), Term("mul", (Term("num"), other)))) if of is minus(one, other):
            quantiles[term("phi_inverse", other)] = negative(letter)
    place = {x: value.put({new: term("phi", letter)})}
    claim, *given = (
        named(f, quantiles).put(place) for f in (problem.claim, *problem.assuming, *old.domain())
    )
    over = (*(v for v in problem.variables if v is not old), Unknown(new, "real"))
    return Theorem(over, tuple(given), claim)


def show(problem: Theorem, proof: dict[str, object], _: object) -> str:
    """Proved, if it is once letters stand for quantiles."""
    for x, new, of, value in map(items, items(proof["letters"])):
        problem = without(problem, text(x), text(new), read(of), read(value))
    demand(settle(problem, proof["then"], proof["witness"]) == "proved", "not shown everywhere")
    return "proved"
