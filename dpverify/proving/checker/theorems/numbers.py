"""The checker's numbers and formulas without letters, as models of theorems need them: worked out, or not known."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from itertools import islice, product

from dpverify.proving.checker import follow
from dpverify.proving.checker.points import Place, truth
from dpverify.proving.checker.reading import Theorem
from dpverify.proving.checker.terms import Term, Unknown, demand, make, names, number, term
from dpverify.proving.checker.values import PRECISIONS, ValueRange, Values, compare

TRUE, FALSE, UNKNOWN = term("and"), term("or"), term("unknown")
NO, ONE = number(0), number(1)
TRIED = [Fraction(n, 2) for n in (0, 2, -2, 1, 4, -1, 6, 20, -20)]
"""Numbers at which a claim for all numbers may be false."""


def defined(e: Term) -> bool:
    """Whether a term without letters is seen to have a value."""
    with suppress(ValueError):
        Values({}, PRECISIONS[0]).interval(e)
        return True
    return False


def folded(e: Term) -> Term:
    """A term without letters as a number, if it is seen to be a fraction."""
    with suppress(ValueError):
        value = Values({}, PRECISIONS[0]).exact(e)
        return e if value is None else number(value)
    return e


def exponential(u: Term) -> Term:
    """The exponential of a number; that of a multiple of a logarithm is a power."""
    found = list[Term]()
    for piece in u.parts if u.head == "add" else (u,):
        factors = piece.parts if piece.head == "mul" else (piece,)
        logs = [f for f in factors if f.head == "log"]
        if len(logs) == 1 and compared("<", NO, logs[0].parts[0]) is TRUE:
            times = [f for f in factors if f is not logs[0]]
            found.append(made("pow", logs[0].parts[0], made("mul", *times)))
        else:
            found.append(term("exp", piece) if piece is not NO else ONE)
    return made("mul", *found)


@lru_cache(10**5)
def made(head: str, *parts: Term) -> Term:
    """A term; a number, if it is seen to be a fraction."""
    if head == "exp":
        return exponential(*parts)
    if head in ("add", "mul"):
        kept = tuple(part for part in parts if part is not (NO if head == "add" else ONE))
        if len(kept) == 1:
            return kept[0]
        parts = kept
    if head == "pow" and parts[1] is ONE:
        return parts[0]
    found = term(head, *parts)
    return folded(found) if all(part.head == "num" for part in parts) else found


def difference(left: Term, right: Term) -> Term:
    """The term left - right."""
    return made("add", left, made("mul", number(-1), right))


@lru_cache(10**5)
def compared(head: str, left: Term, right: Term) -> Term:
    """A comparison; true or false, where that is seen."""
    f = term(head, left, right)
    if names(f):
        return f
    if left is right and defined(left):
        return TRUE if head in ("<=", "==") else FALSE
    found = compare(f, {})
    for known, g in ((1, f), (-1, term("not", f))) if found == 0 else ():
        with suppress(ValueError):
            follow(Theorem((), (), g))
            return TRUE if known == 1 else FALSE
    return {1: TRUE, -1: FALSE}.get(found, f)


def demand_true(f: Term, why: str) -> None:
    """Refuse unless a formula is seen to be true."""
    demand(f is TRUE, why)


def logic(head: str, *parts: Term) -> Term:
    """Formulas put together."""
    if head == "implies":
        return logic("or", logic("not", parts[0]), parts[1])
    if head == "not":
        return {TRUE: FALSE, FALSE: TRUE}.get(parts[0], term("not", *parts))
    ends, idle = (FALSE, TRUE) if head == "and" else (TRUE, FALSE)
    kept = [part for part in parts if part is not idle]
    if ends in kept:
        return ends
    return kept[0] if len(kept) == 1 else term(head, *kept)


@lru_cache(10**4)
def follows(facts: tuple[Term, ...], claim: Term) -> bool:
    """Whether a claim about numbers is seen to follow from facts."""
    used = sorted(frozenset().union(*map(names, (*facts, claim))))
    with suppress(ValueError):
        follow(Theorem(tuple(Unknown(name, "real") for name in used), facts, claim))
        return True
    return False


def for_numbers(letters: list[Unknown], given: list[Term], claim: Term, outer: list[str]) -> Term:
    """Whether a claim holds for all numbers for which all that is assumed holds; outer letters may occur, too."""
    whole = logic("implies", logic("and", *given), claim)
    if whole in (TRUE, FALSE) or not letters:
        return whole
    if names(whole) & {*outer}:
        demand(all(letter.kind == "real" for letter in letters), "whole numbers within numbers")
        for letter in letters:
            whole = make("forall", (whole,), letter.name, over=letter)
        return whole
    with suppress(ValueError):
        follow(Theorem((*letters,), tuple(f for f in given if f is not UNKNOWN), claim))
        return TRUE
    for row in islice(product(TRIED, repeat=len(letters)), 100):
        place: Place = {v.name: ValueRange(q, q) for v, q in zip(letters, row, strict=True)}
        inside = all(v.kind == "real" or q % 1 == 0 for v, q in zip(letters, row, strict=True))
        if inside and truth(whole, place) == -1:
            return FALSE
    return UNKNOWN
