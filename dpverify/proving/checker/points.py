"""The checker's points: witnesses and counterexamples, by values, and where these do not decide, by algebra."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

from dpverify.proving.checker import follow
from dpverify.proving.checker.reading import Theorem, exact, fields, text
from dpverify.proving.checker.terms import COMPARISONS, Term, Unknown, demand, number, term
from dpverify.proving.checker.values import ValueRange, Vector, compare

Place = dict[str, ValueRange | Vector]


def inside(variable: Unknown, value: Fraction) -> bool:
    """Whether a number lies in a variable's domain."""
    low, high = variable.lower, variable.upper
    above = low is None or low < value or (low == value and not variable.lower_open)
    below = high is None or value < high or (value == high and not variable.upper_open)
    return above and below and (variable.kind == "real" or value % 1 == 0)


def placed(problem: Theorem, point: dict[str, object]) -> Place:
    """The values of all variables, in their domains; all vectors are in one space."""
    place = Place()
    for variable in problem.variables:
        written = text(point[variable.name])
        if variable.kind == "vector":
            demand(written[:1] + written[-1:] == "()", f"no vector for {variable.name}")
            place[variable.name] = tuple(map(exact, written[1:-1].split(", ")))
        else:
            value = exact(written)
            demand(inside(variable, value), "a point that is not in the domain")
            place[variable.name] = ValueRange(value, value)
    demand(
        len({len(found) for found in place.values() if isinstance(found, tuple)}) < 2,
        "vectors of two dimensions",
    )
    return place


def truth(f: Term, place: Place) -> int:
    """1 where a formula is true at a point, -1 where it is false, else 0."""
    match f:
        case Term("and", parts):
            return min((truth(part, place) for part in parts), default=1)
        case Term("or", parts):
            return max((truth(part, place) for part in parts), default=-1)
        case Term("not", (part,)):
            return -truth(part, place)
        case Term("implies", (premise, part)):
            return max(-truth(premise, place), truth(part, place))
    return compare(f, place) if f.head in COMPARISONS else 0


def decide(f: Term, place: Place, wanted: bool) -> None:
    """Refuse unless a formula is true, or false, at a point."""
    found = truth(f, place)
    if found == 0:
        values = {x: number(value.low) for x, value in place.items() if isinstance(value, ValueRange)}
        with suppress(ValueError):
            follow(Theorem((), (), (f if wanted else term("not", f)).put(values)))
            return
    if found != (1 if wanted else -1):
        raise ValueError(f"not certainly {wanted} at the point: {f.head}")


def meet(problem: Theorem, point: object) -> Place:
    """The point; refused unless it lies in the domain and all that is assumed holds there."""
    place = placed(problem, fields(point))
    for f in problem.assuming:
        decide(f, place, True)
    return place


def show(problem: Theorem, proof: dict[str, object], _: object) -> str:
    """Refuted by a point at which all that is assumed holds and the claim is false."""
    decide(problem.claim, meet(problem, proof["point"]), False)
    return "refuted"
