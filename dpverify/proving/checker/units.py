"""The checker's units: whether all that is added or compared is homogeneous."""

from fractions import Fraction as Q
from typing import Any

from dpverify.proving.checker.terms import demand, number

PURE = (Q(0), Q(0))
KEEPING = ("add", "max", "min", "abs", "norm")
NUMBERS = (
    "pi", "exp", "log", "erfc", "phi", "phi_inverse", "floor", "ceiling", "gamma", "factorial", "binomial",
)  # fmt: skip


def alike(*units: Any) -> Any:
    """The unit, powers of loss and length, that all share; None, of 0 and infinity, is any unit."""
    known = [u for u in units if u is not None] or [None]
    for u in known:
        demand(u == known[0], "units differ", {u, known[0]})
    return known[0]


def powers(named: Any) -> Any:
    """The powers of loss and length in a unit from JSON."""
    return tuple(number(named[quantity]) for quantity in ("loss", "length"))


def unit(e: Any, names: Any) -> Any:
    """The unit of an expression; `names` gives those of names."""
    head, *args = e
    if head == "num":
        return PURE if number(args[0]) else None
    if head in ("sym", "inf"):
        return names[args[0]] if head == "sym" else None
    if head in ("sum", "integral", "diff", "at"):
        ends = [unit(end, names) for end in args[2:] if head != "diff"]
        # what is bound, and declared nowhere, is measured as what it is put at
        x = PURE if head == "sum" else names[args[1]] if args[1] in names or not ends else alike(*ends)
        alike(x, *ends)
        demand(x or head == "at", f"no unit of {args[1]}")
        inner, times = unit(args[0], names | {args[1]: x}), -args[2] if head == "diff" else head == "integral"
        return inner and tuple(p + times * q for p, q in zip(inner, x or PURE, strict=True))
    units = [unit(a, names) for a in args]
    if head == "pow":
        alike(PURE, units[1])
        return units[0] and (PURE if units[0] == PURE else tuple(p * number(args[1][1]) for p in units[0]))
    if head in ("mul", "inner"):
        return None if None in units else tuple(map(sum, zip(*units, strict=True)))
    demand(head in (*KEEPING, *NUMBERS), f"no unit of {head}")
    return alike(*units) if head in KEEPING else alike(PURE, *units)


def walk(f: Any, names: Any) -> None:
    """Refuse a formula that mixes units."""
    head, *parts = f
    if head in ("<=", "<", "==", "!="):
        alike(*(unit(e, names) for e in parts))
    elif head in ("forall", "exists"):
        walk(parts[1], names | {parts[0]["name"]: powers(parts[0]["unit"])})
    else:
        demand(head in ("and", "or", "not", "implies"), f"no formula: {head}")
        for g in parts:
            walk(g, names)


def show(problem: Any, proof: Any, _: Any) -> str:
    """Proved if no formula mixes units; refuted if the first that does mixes the two that the proof names."""
    names = {v["name"]: powers(v["unit"]) for v in problem["variables"]}
    demand(len(names) == len(problem["variables"]), "a name twice")
    said = {
        x: powers(u) for x, u in proof.get("bound", {}).items() if "left" not in proof
    }  # of what is bound
    try:
        walk(["and", problem["claim"], *problem["assuming"]], said | names)
    except ValueError as clash:
        demand(clash.args[0] == "units differ" and "bound" not in proof, *clash.args)
        demand(clash.args[1] == {powers(proof["left"]), powers(proof["right"])}, "other units are mixed")
        return "refuted"
    return "proved"
