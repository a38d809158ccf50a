"""The checker's counterexamples with functions other than powers, by its intervals."""

from operator import neg
from typing import Any

from dpverify.proving.checker.intervals import compare, inside
from dpverify.proving.checker.terms import demand, number


def decide(f: Any, box: Any) -> int:
    """1 where a formula is true at a point, -1 where it is false, else 0."""
    head, *parts = f
    if head in ("<=", "<", "==", "!="):
        return compare(f, box)
    demand(head in ("and", "or", "not", "implies"), f"{head} is beyond this checker")
    found = [decide(g, box) for g in parts]
    if head in ("and", "or"):
        return min(found, default=1) if head == "and" else max(found, default=-1)
    return neg(*found) if head == "not" else max(-found[0], found[1])


def show(problem: Any, proof: Any, _: Any) -> str:
    """Refuted, if the domains and the assumptions hold at a point and the claim does not."""
    point = {v["name"]: number(proof["point"][v["name"]]) for v in problem["variables"]}
    demand(len(point) == len(problem["variables"]), "a name twice")
    demand(all(inside(v, point[v["name"]]) for v in problem["variables"]), "a point off the domain")
    for f, wanted in [*((f, 1) for f in problem["assuming"]), (problem["claim"], -1)]:
        found = decide(f, {x: (q, q) for x, q in point.items()})
        demand(found == wanted, f"not certainly {wanted > 0} at the point: {str(f)[:80]}")
    return "refuted"
