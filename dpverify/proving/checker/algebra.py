"""The checker's algebra: what a claim follows from, by its certificate, is left to logic and arithmetic."""

from __future__ import annotations

from dataclasses import replace

from dpverify.proving.checker import follow
from dpverify.proving.checker.reading import Theorem, exact, read, text
from dpverify.proving.checker.terms import Term, demand, minus, number, term


def goals(problem: Theorem, proof: dict[str, object]) -> tuple[Term, ...]:
    """The claim; or what it follows from, with the root and rest of a square, or the order of arguments."""
    claim = problem.claim
    if proof["method"] == "square" and claim.head == "<=":
        root, rest = read(proof["root"]), read(proof["rest"])
        return term("==", minus(*claim.parts[::-1]), term("mul", root, root, rest)), term(
            "<=", number(0), rest
        )
    if proof["method"] == "monotone":
        function, times = text(proof["function"]), exact(proof["times"])
        larger, smaller = read(proof["larger"]), read(proof["smaller"])
        grows = claim.head in ("<=", "<") and times > 0 and function in ("exp", "log")
        demand(grows, "a function that may not grow")
        rise = term("mul", number(times), minus(term(function, larger), term(function, smaller)))
        return term("==", minus(*claim.parts[::-1]), rise), term(claim.head, smaller, larger)
    return (claim,)


def show(problem: Theorem, proof: dict[str, object], _: object) -> str:
    """Proved, where cvc5 shows all of the goals."""
    for goal in goals(problem, proof):
        follow(replace(problem, claim=goal))
    return "proved"
