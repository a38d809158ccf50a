"""The checker's facts about functions at arguments that certificates name, each an instance of one of four laws."""

from typing import Any

from dpverify.proving.checker import check

ZERO, ONE = ["num", "0"], ["num", "1"]


def same_order(u: Any, v: Any, fu: Any, fv: Any) -> Any:
    """A growing function's values are in the order of its arguments, and only then."""
    pairs = [(["<=", u, v], ["<=", fu, fv]), (["<=", v, u], ["<=", fv, fu])]
    return ["and", *(["implies", a, b] for pair in pairs for a, b in (pair, pair[::-1]))]


def where(condition: Any, f: Any) -> Any:
    """A formula under conditions."""
    return ["implies", ["and", *condition], f]


def instance(law: str, head: str, *at: Any) -> Any:
    """What a law says of a function at some arguments."""
    match law, head, *at:
        case "order", "exp" | "phi", u, v:
            return same_order(u, v, [head, u], [head, v])
        case "order", "log", u, v:
            return where([["<", ZERO, u], ["<", ZERO, v]], same_order(u, v, [head, u], [head, v]))
        case "order", "pow", u, v, p:
            positive = [["<", ZERO, x] for x in (u, v, p)]
            return where(positive, same_order(u, v, [head, u, p], [head, v, p]))
        case "reflection", "phi", u, v:
            return same_order(["add", u, v], ZERO, ["add", [head, u], [head, v]], ONE)
        case "tangent", "exp", u:
            return ["<=", ["add", ONE, u], [head, u]]
        case "tangent", "log", u:
            below = ["add", ONE, ["mul", ["num", "-1"], ["pow", u, ["num", "-1"]]]]
            above = ["add", u, ["num", "-1"]]
            return where([["<", ZERO, u]], ["and", ["<=", below, [head, u]], ["<=", [head, u], above]])
        case "value", "exp" | "log" | "phi", c, low, high if {c[0], low[0], high[0]} == {"num"}:
            return ["and", ["<=", low, [head, c]], ["<=", [head, c], high]]
    raise ValueError(f"no law: {law} of {head}")


def found(problem: Any, verdict: str, proof: Any, witness: Any) -> None:
    """Refuse unless a certificate is confirmed along its own route."""
    done = check({"version": 1, "problem": problem, "verdict": verdict, "proof": proof, "witness": witness})
    if not done.confirmed:
        raise ValueError(f"inside: {done.says}")


def show(problem: Any, proof: Any, witness: Any) -> str:
    """Proved, if the claim follows by algebra from what is assumed and the facts, where all in these is defined."""
    known = [instance(*f) for f in proof["facts"]]
    for f, (law, *_) in zip(known, proof["facts"], strict=True):
        if law == "value":
            nothing = {"variables": [], "assuming": [], "claim": ["not", f]}
            found(nothing, "refuted", {"method": "counterexample", "point": {}}, {})
    claim = where(known, problem["claim"]) if known else problem["claim"]
    found({**problem, "claim": claim}, "proved", {"method": "smt"}, witness)
    return "proved"
