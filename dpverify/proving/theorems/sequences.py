"""Types of sequences of numbers in models: which types may be such, and what their letters are.

Noises that are independent are a type W with a letter that reads one of them and a letter that replaces one. A model
has sequences for W, and for its law that of independent numbers. A letter that chooses among points or whole numbers,
as a winner is chosen, is the first one of which all is true that premises say of what it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, TypeAlias

from dpverify.proving.checker.theorems.language import Node, free, inner, named, parts_of, put
from dpverify.proving.checker.theorems.steps import Clause
from dpverify.proving.theorems.derivation import json_of

Json: TypeAlias = Any
ZERO: Node = ("num", "0")
LINES: tuple[Node, ...] = (
    ("laplace", ZERO, ("num", "1")),
    ("exponential", ("num", "1")),
    ("normal", ZERO, ("num", "1")),
    ("laplace", ZERO, ("num", "2")),
    ("uniform", ZERO, ("num", "1")),
)
"""Laws of numbers that are tried, beside those that a clause names."""


def letters_of(clause: Clause) -> list[tuple[str, tuple[Node, ...], Node]]:
    """Names of a clause's letters, the types of their arguments, and of what they are with these."""
    found = map(parts_of, parts_of(parts_of(clause.body)[1]))
    return [(named(name), parts_of(kinds), kind) for name, kinds, kind in found]


def sequence_types(clause: Clause) -> dict[str, str]:
    """Types of which one letter is a number for each place, and one has another number at a place; and the places."""
    kinds = {(kinds, kind) for _, kinds, kind in letters_of(clause)}
    return {
        name: str(known[1])
        for name, kind in clause.types
        for known, result in kinds
        if kind == "any" and result == "real" and len(known) == 2 and known[0] == name
        if ((*known, "real"), name) in kinds and isinstance(known[1], str)
    }


def mentions(kind: Node, types: dict[str, str]) -> bool:
    """Whether a type is made of some types."""
    return kind in types if isinstance(kind, str) else any(mentions(part, types) for part in kind)


def subterms(node: Node) -> Iterator[tuple[Node, ...]]:
    """All terms within a term."""
    term = parts_of(node)
    yield term
    for part, _ in inner(term):
        yield from subterms(part)


def numbers_in(node: Node) -> set[Fraction]:
    """The numbers that are written in a term."""
    return {Fraction(named(term[1])) for term in subterms(node) if term[0] == "num"}


def laws_of_one(clause: Clause, types: dict[str, str]) -> list[Node]:
    """Laws with which a clause draws the number that is written into a sequence; any, if it draws none."""
    writers = {name for name, kinds, kind in letters_of(clause) if kind in types and kinds[-1:] == ("real",)}
    own = frozenset(name for name, _, _ in letters_of(clause))
    found = list[Node]()
    for term in subterms(clause.body):
        if term[0] in ("mean", "chance") and free(term[2]) <= own:
            drawn = named(parts_of(term[1])[0])
            put_in = (t for t in subterms(term[3]) if t[0] == "of" and t[1] in writers)
            found += [term[2] for t in put_in if t[-1] == ("sym", drawn)]
    return [*dict.fromkeys(found)] or [*LINES]


def choice(clause: Clause, letter: str) -> Json | None:
    """The first point or whole number of which all is true that premises say of a letter's values, or nothing."""
    for of_claims in (False, True):
        found = [
            f for premise in parts_of(parts_of(clause.body)[2]) for f in said(premise, letter, of_claims)
        ]
        if found:
            params = [f"a{k}" for k in range(found[0][0])]
            return {"params": params, "first": "value", "where": json_of(("and", *(f for _, f in found)))}
    return None


def said(premise: Node, letter: str, of_claims: bool) -> Iterator[tuple[int, Node]]:
    """What a premise says of a letter's value, where it assumes or claims what it is; first, how many arguments."""
    if premise[0] != "all":
        return
    _, letters, given, claim = parts_of(premise)
    parts = [part for f in parts_of(given) for part in flat(f)]
    bound = {named(parts_of(one)[0]) for one in parts_of(letters)}
    for k, f in enumerate([claim] if of_claims else parts):
        head, *sides = parts_of(f)
        for one, value in (sides, sides[::-1]) if head == "==" else ():
            names = [*value[1:], *(parts_of(arg)[-1] for arg in parts_of(one)[2:])]
            plain = all(parts_of(part)[0] == "sym" for part in (value, *parts_of(one)[2:]))
            if parts_of(one)[:2] != ("of", letter) or not plain or len({*names} & bound) != len(names):
                continue
            rest = parts if of_claims else [*parts[:k], *parts[k + 1 :]]
            others = tuple(other for other in parts_of(letters) if parts_of(other)[0] not in names)
            what: Node = ("and", *rest) if of_claims else claim
            if others and not of_claims:
                what = ("all", others, tuple(rest), claim)
            elif rest and not of_claims:
                what = ("implies", ("and", *rest), claim)
            if others and of_claims:
                continue
            new = ["value", *(f"a{j}" for j in range(len(names) - 1))]
            values = {named(old): ((), ("sym", n)) for old, n in zip(names, new, strict=True)}
            yield len(names) - 1, put(what, values)


def flat(f: Node) -> list[Node]:
    """The parts of conjunctions."""
    return [one for part in f[1:] for one in flat(part)] if f[0] == "and" else [f]
