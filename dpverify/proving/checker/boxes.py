"""The checker's trees of boxes, replayed with its intervals; a claim is read as f = right - left >= 0 or > 0."""

from contextlib import suppress
from typing import Any

from dpverify.proving.checker.intervals import apply, compare, value
from dpverify.proving.checker.terms import MINUS, ZERO, demand, minus, number, read, slope


def lower(f: Any, box: Any, p: int) -> int:
    """A lower bound of a term on a box, in units of 2^-p, from its interval or its mean-value form."""
    low, _ = value(f, box, p, seen := dict[int, Any]())
    if low < 0:
        away = {x: apply("sym", p, (a - b) / 2, (b - a) / 2) for x, (a, b) in box.items()}
        rises = [apply("mul", p, value(slope(f, x), box, p, seen), u)[0] for x, u in away.items()]
        low = max(low, sum(rises, value(f, {x: ((a + b) / 2,) * 2 for x, (a, b) in box.items()}, p, {})[0]))
    return int(low)


def replay(f: Any, strict: bool, box: Any, tree: Any, given: Any, integers: Any) -> None:
    """Refuse unless a tree shows f >= 0 (> 0) on a box; a name along which an edge was left is no integer there."""
    match tree:
        case ["0" | "+" | "m" | "n", *more]:  # with a letter more for each time that it is split here
            wide = [x for x, (a, b) in box.items() if a < b]
            with suppress(ValueError):
                if lower(f, box, 96 if wide and len(more) < 5 else 1024) >= strict:
                    return
            demand(len(more) < 6 and wide, "not shown, or perhaps undefined, on a box")
            x, part = wide[len(more) % len(wide)], [*tree, "+"]
            replay(f, strict, box, ["s", x, str(sum(box[x]) / 2), part, part], given, integers)
        case ["-"]:
            demand(any(compare(g, box) < 0 for g in given), "all assumptions may hold")
        case ["s", x, at, below, above]:
            (low, high), cut = box[x], number(at)
            demand(low <= cut <= high, "a split that is not in its box")
            top, bottom = (cut - cut % 1, cut - cut % 1 + 1) if x in integers else (cut, cut)
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
    integers = {v["name"] for v in problem["variables"] if v["kind"] == "integer"}
    for v in problem["variables"]:
        x, (low, high), q = v["name"], map(number, proof["box"][v["name"]]), number(witness[v["name"]])
        demand(low <= q <= high, "a witness that is not in the box")
        whole &= bool(v["lower"] and v["upper"] and low <= number(v["lower"]) and number(v["upper"]) <= high)
        box[x] = (low + -low % 1, high - high % 1) if x in integers else (low, high)
    demand(relation in ("<=", "<") and len(box) == len(problem["variables"]), "no inequality, or name twice")
    replay(minus(read(right), read(left)), relation == "<", box, proof["tree"], given, integers)
    return "proved" if whole else "certified"
