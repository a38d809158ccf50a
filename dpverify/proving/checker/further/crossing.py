"""The checker's crossings: where a continuous function changes its sign it is 0, at what need not be a fraction."""

from __future__ import annotations

from dpverify.proving.checker.points import placed, truth
from dpverify.proving.checker.reading import Theorem, exact, fields, items, text
from dpverify.proving.checker.terms import conjuncts, demand, heads, minus, term
from dpverify.proving.checker.values import PRECISIONS, ValueRange, Values

CONTINUOUS = {
    "num",
    "sym",
    "pi",
    "add",
    "mul",
    "pow",
    "exp",
    "log",
    "phi",
    "erfc",
    "phi_inverse",
    "max",
    "min",
    "abs",
}


def show(problem: Theorem, proof: dict[str, object], _: object) -> str:
    """Refuted: between two numbers an equation holds, all that is assumed does, and the claim does not."""
    x, point = text(proof["letter"]), fields(proof["point"])
    low, high = map(exact, items(proof["ends"]))
    (variable,) = [v for v in problem.variables if v.name == x]
    demand(variable.kind == "real" and low < high, "no numbers between")
    given, which = conjuncts(*problem.assuming), proof["which"]
    if isinstance(which, int):
        equation, left = given[which], [*given[:which], *given[which + 1 :], term("not", problem.claim)]
        demand(which >= 0 and equation.head == "==", "no equation")
    else:
        equation, left = problem.claim, given
        demand(equation.head == "!=", "no equation")
    places = [placed(problem, {**point, x: str(end)}) for end in (low, high)]
    between = {**places[0], x: ValueRange(low, high)}
    demand(heads(equation) - {equation.head} <= CONTINUOUS, "an equation with a function that may jump")
    Values(between, PRECISIONS[0]).interval(minus(*equation.parts))  # it is defined
    first, second = (term("<", *sides) for sides in (equation.parts, equation.parts[::-1]))
    signs = [tuple(truth(f, place) for f in (first, second)) for place in places]
    demand(sorted(signs) == [(-1, 1), (1, -1)], "the same sign at both ends")
    demand(all(truth(f, between) == 1 for f in left), "an assumption that may fail, or a claim that may hold")
    return "refuted"
