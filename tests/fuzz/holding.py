"""A verdict held against what its formula is at many points."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .points import points
from .pointwise import COARSE, FALSE, TRUE, holds_at, inside, precise, truth

Json = Any
POINTS = 48


def admitted(problem: Json, point: Mapping[str, Any]) -> bool:
    """Whether all assumptions are surely true at a point of the domain."""
    return all(truth(f, point) == {TRUE} for f in problem["assuming"])


def broken(problem: Json, *, box: Any = None, count: int = POINTS) -> dict[str, Fraction] | None:
    """A point at which all assumptions are surely true and the claim surely is not, if one is found."""
    precise(COARSE)
    for point in points(problem, count, box):
        if admitted(problem, point) and TRUE not in truth(problem["claim"], point):
            return point
    return None


def doubts(problem: Json, point: Mapping[str, str], *, claim: str | None) -> list[str]:
    """Why a point is none of the domain and assumptions, or the claim is not (`claim`, where given) there."""
    try:
        place = {v["name"]: Fraction(point[v["name"]]) for v in problem["variables"]}
    except (KeyError, ValueError) as error:
        return [f"the point {dict(point)} has no number for {error}"]
    found = [
        f"{v['name']} is not in its domain" for v in problem["variables"] if not inside(v, place[v["name"]])
    ]
    wanted = [(f, TRUE) for f in problem["assuming"]] + ([(problem["claim"], claim)] if claim else [])
    for formula, value in wanted:
        seen = holds_at(formula, place)
        if value not in seen:
            found.append(f"{formula} is {'/'.join(seen)} at {dict(point)}, not {value}")
        elif len(seen) > 1 and not open_to_doubt(formula):
            found.append(f"{formula} may be {'/'.join(sorted(seen))} at {dict(point)}")
    return found


def open_to_doubt(f: Json) -> bool:
    """Whether a formula has parts that the evaluator does not always decide, at whatever precision."""
    return any(f"'{head}'" in str(f) for head in ("forall", "integral", "diff", "sum"))


def point_of(proof: Json) -> Json | None:
    """The point of a counterexample, below whatever it was reduced to."""
    while proof.get("method") != "counterexample":
        if "then" not in proof:
            return None
        proof = proof["then"]
    return proof["point"]


def faults(certificate: Json) -> list[str]:
    """What contradicts a certificate's verdict, or its point; nothing, where all is well."""
    problem, verdict, proof = certificate["problem"], certificate["verdict"], certificate["proof"]
    if verdict == "refuted":
        point = point_of(proof)
        return ["refuted without a point"] if point is None else doubts(problem, point, claim=FALSE)
    found = []
    if "witness" in certificate:
        found += doubts(problem, certificate["witness"], claim=None)
    box = _box(proof) if verdict == "certified" else None
    if (point := broken(problem, box=box)) is not None:
        found.append(f"{verdict}, but {'/'.join(holds_at(problem['claim'], point))} at "
                     f"{ {name: str(value) for name, value in point.items()} }")  # fmt: skip
    return found


def _box(proof: Json) -> Json:
    """The box of a certified proof; of several parts, the part of all boxes that they share."""
    boxes = [proof["box"]] if "box" in proof else []
    for part in [*proof.get("parts", ()), *([proof["then"]] if "then" in proof else [])]:
        inner = _box(part)
        boxes += [inner] if inner else []
    result: dict[str, tuple[str, str]] = {}
    for box in boxes:
        for name, (low, high) in box.items():
            old = result.get(name, (low, high))
            result[name] = max(old[0], low, key=Fraction), min(old[1], high, key=Fraction)
    return result
