"""The checker's lemmas and cases: what is shown first is given from then on; what holds in both cases holds."""

from __future__ import annotations

from dataclasses import replace

from dpverify.proving.checker import follow, settle
from dpverify.proving.checker.closed import replaced
from dpverify.proving.checker.reading import Theorem, fields, items, read
from dpverify.proving.checker.terms import COMPARISONS, demand, negative, number, term


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


def show(problem: Theorem, proof: dict[str, object], witness: object) -> str:
    """The verdict once facts are known, or in both cases."""
    return cases(problem, proof) if proof["method"] == "cases" else known(problem, proof, witness)
