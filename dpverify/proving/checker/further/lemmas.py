"""The checker's lemmas and cases: what is shown first is given from then on; what holds in both cases holds."""

from __future__ import annotations

from dataclasses import replace

from dpverify.proving.checker import follow, meet, settle
from dpverify.proving.checker.closed import replaced
from dpverify.proving.checker.reading import Theorem, fields, items, read, text
from dpverify.proving.checker.terms import (
    COMPARISONS,
    conjuncts,
    demand,
    names,
    negative,
    number,
    symbol,
    term,
)


def known(problem: Theorem, proof: dict[str, object], witness: object) -> str:
    """The verdict of a proof that uses comparisons which are shown first, each with those before it."""
    for part in map(fields, items(proof["facts"])):
        fact = read(part["fact"])
        shown = settle(replace(problem, claim=fact), part["proof"], witness)
        demand(fact.head in COMPARISONS and shown == "proved", "a fact that is not shown")
        problem = replace(problem, assuming=(*problem.assuming, fact))
    return settle(problem, proof["then"], witness)


def cases(problem: Theorem, proof: dict[str, object]) -> str:
    """The weaker verdict of both cases, in each of which one term of the claim is another one."""
    split, old = read(proof["split"]), read(proof["old"])
    follow(replace(problem, claim=term("==", split, split)))  # it is defined, so that there is no third case
    verdicts = set[str]()
    for sign, part in zip((split, negative(split)), map(fields, items(proof["cases"])), strict=True):
        here = replace(problem, assuming=(*problem.assuming, term("<=", number(0), sign)))
        new = read(part["new"])
        follow(replace(here, claim=term("==", old, new)))
        claim = replaced(problem.claim, old, new)
        verdicts.add(settle(replace(here, claim=claim), part["proof"], part["witness"]))
    demand(verdicts <= {"proved", "certified"}, "a case that is refuted")
    return min(verdicts)


def substitution(problem: Theorem, proof: dict[str, object]) -> str:
    """The verdict of what is left with a value in the place of a letter, where an assumption says that it is that."""
    x, value = text(proof["letter"]), read(proof["value"])
    (letter,) = [v for v in problem.variables if v.name == x]
    demand(letter.kind == "real" and x not in names(value), "no value of a real number")
    sides = symbol(x), value
    given, equations = conjuncts(*problem.assuming), [term("==", *sides), term("==", *sides[::-1])]
    demand(any(f in equations for f in given), "no assumption says so")
    left = tuple(f for f in given if f not in equations)
    over = tuple(v for v in problem.variables if v is not letter)
    follow(
        Theorem(over, tuple(f for f in left if x not in names(f)), term("==", value, value))
    )  # it is defined
    there = tuple(f.put({x: value}) for f in (*left, *letter.domain()))
    return settle(Theorem(over, there, problem.claim.put({x: value})), proof["then"], proof["witness"])


def show(problem: Theorem, proof: dict[str, object], witness: object) -> str:
    """The verdict once facts are known, in both cases, or with a value in place."""
    if proof["method"] == "substitution":
        return substitution(problem, proof)
    demand(witness is not None, "no witness")
    meet(problem, witness)
    return cases(problem, proof) if proof["method"] == "cases" else known(problem, proof, witness)
