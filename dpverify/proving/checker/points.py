"""The checker's points: witnesses and counterexamples, in intervals, and where these do not decide, in algebra."""

from operator import neg
from typing import Any

from dpverify.proving.checker import part
from dpverify.proving.checker.intervals import compare, inside
from dpverify.proving.checker.terms import demand, number


def truth(f: Any, box: Any) -> int:
    """1 where a formula is true at a point, -1 where it is false, else 0."""
    head, *parts = f
    if head in ("<=", "<", "==", "!="):
        return compare(f, box)
    demand(head in ("and", "or", "not", "implies"), f"{head} is beyond intervals")
    found = [truth(g, box) for g in parts]
    if head in ("and", "or"):
        return min(found, default=1) if head == "and" else max(found, default=-1)
    return neg(*found) if head == "not" else max(-found[0], found[1])


def decide(f: Any, variables: Any, point: Any) -> int:
    """The same, by either way."""
    try:
        found = truth(f, {x: (q, q) for x, q in point.items()})
    except (ValueError, KeyError):  # KeyError: a bound letter
        found = 0
    return found or int(part("algebra").decide(f, variables, point))


def meet(problem: Any, at: Any, refuted: bool) -> None:
    """Refuse unless a point lies in the domain and all that is assumed holds there (and the claim does not)."""
    variables, asked = problem["variables"], [(f, 1) for f in problem["assuming"]]
    point = {v["name"]: number(at[v["name"]]) for v in variables}
    demand(len(point) == len(variables), "a name twice")
    demand(all(inside(v, point[v["name"]]) for v in variables), "a point that is not in the domain")
    for f, wanted in [*asked, *[(problem["claim"], -1)] * refuted]:
        found = decide(f, variables, point)
        demand(found == wanted, f"not certainly {wanted > 0} at the point: {str(f)[:80]}")
