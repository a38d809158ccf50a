"""The checker's trees of boxes, replayed with its intervals; a claim is read as f = right - left >= 0 or > 0."""

from contextlib import suppress
from fractions import Fraction as Q
from math import ceil, floor
from typing import Any

from dpverify.proving.checker.intervals import compare, inside, value
from dpverify.proving.checker.terms import MINUS, ZERO, demand, minus, number, read, slope


def lower(f: Any, box: Any) -> Any:
    """A lower bound of a term on a box, from its interval or its mean-value form."""
    low = value(f, box, seen := dict[Any, Any]()).a
    if low < 0:
        form = value(f, {x: (sum(ends) / 2,) * 2 for x, ends in box.items()}, {})
        for x, ends in box.items():
            form += value(("mul", slope(f, x), minus(("sym", x), ("num", sum(ends) / 2))), box, seen)
        low = max(low, form.a)
    return low


def replay(f: Any, strict: bool, box: Any, tree: Any, given: Any, integers: Any) -> None:
    """Refuse unless a tree shows f >= 0 (> 0) on a box; a name along which an edge was left is no integer there."""
    match tree:
        case ["0" | "+" | "m" | "n", *more]:  # with a letter more for each time that it is split here
            with suppress(ValueError):
                low = lower(f, box)
                if low > 0 or (low == 0 and not strict):
                    return
            wide = [x for x, (a, b) in box.items() if a < b]
            demand(len(more) < 6 and wide, "not shown, or perhaps undefined, on a box")
            x, part = wide[len(more) % len(wide)], [*tree, "+"]
            replay(f, strict, box, ["s", x, str(sum(box[x]) / 2), part, part], given, integers)
        case ["-"]:
            demand(any(compare(g, box) < 0 for g in given), "all assumptions may hold")
        case ["s", x, at, below, above]:
            (low, high), cut = box[x], number(at)
            demand(low <= cut <= high, "a split that is not in its box")
            top, bottom = (Q(floor(cut)), Q(floor(cut) + 1)) if x in integers else (cut, cut)
            for part, a, b in ((below, low, top), (above, bottom, high)):
                if a <= b:
                    replay(f, strict, box | {x: (a, b)}, part, given, integers)
        case ["e", x, "lower" | "upper" as end, edge, rise]:
            given, integers = [g for g in given if repr(x) not in str(g)], integers - {x}
            replay(f, strict, box | {x: (box[x][end == "upper"],) * 2}, edge, given, integers)
            d = slope(f, x) if end == "lower" else ("mul", MINUS, slope(f, x))
            replay(minus(d, ("mul", ZERO, f)), False, box, rise, given, integers)  # undefined where f is
        case _:
            raise ValueError(f"not understood: {str(tree)[:60]}")


def show(problem: Any, proof: Any, witness: Any) -> str:
    """The verdict of a tree of boxes, where a witness lies in domain and box."""
    (relation, left, right), box, given, whole = problem["claim"], dict[str, Any](), problem["assuming"], True
    integers, at = {v["name"] for v in problem["variables"] if v["kind"] == "integer"}, dict[str, Any]()
    for v in problem["variables"]:
        x, (low, high), q = v["name"], map(number, proof["box"][v["name"]]), number(witness[v["name"]])
        demand(low <= q <= high and inside(v, q), "no witness")
        bottom, top = (v[end] and number(v[end]) for end in ("lower", "upper"))
        whole = whole and None not in (bottom, top) and low <= bottom and top <= high
        box[x], at[x] = (Q(ceil(low)), Q(floor(high))) if x in integers else (low, high), (q, q)
    demand(relation in ("<=", "<") and len(box) == len(problem["variables"]), "no inequality, or name twice")
    demand(all(compare(g, at) > 0 for g in given), "no witness of the assumptions")
    replay(minus(read(right), read(left)), relation == "<", box, proof["tree"], given, integers)
    return "proved" if whole else "certified"
