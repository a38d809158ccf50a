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


def true_at(variables: Any, f: Any, point: Any) -> None:
    """Refuse unless a formula is true at a point of the domain."""
    problem = {"variables": variables, "assuming": [], "claim": ["not", spelled(f)]}
    found(problem, "refuted", {"method": "counterexample", "point": point}, point)


def spelled(e: Any) -> Any:
    """The same with exponentials in place of powers with exponents that are no numbers."""
    if not isinstance(e, list):
        return e
    head, *parts = map(spelled, e)
    power = head == "pow" and parts[1][0] != "num"
    return ["exp", ["mul", parts[1], ["log", parts[0]]]] if power else [head, *parts]


def algebraic(e: Any) -> bool:
    """Whether a term or formula has no functions but roots and rational powers."""
    if not isinstance(e, list):
        return True
    return e[0] not in ("exp", "log", "phi") and all(map(algebraic, e))


def show(problem: Any, proof: Any, witness: Any) -> str:
    """Proved, if the claim follows by algebra from the facts and from what is assumed, which is true at the witness.

    What is assumed of functions goes into the claim, as the facts do: at the witness algebra knows no function's value.
    """
    known = [instance(*f) for f in proof["facts"]]
    for f, (law, *_) in zip(known, proof["facts"], strict=True):
        if law == "value":
            true_at([], f, {})
    given, functions = (
        [f for f in problem["assuming"] if algebraic(spelled(f)) is kind] for kind in (True, False)
    )
    for f in functions:
        true_at(problem["variables"], f, witness)
    premises = [*functions, *known]
    claim = where(premises, problem["claim"]) if premises else problem["claim"]
    found({**problem, "assuming": given, "claim": claim}, "proved", {"method": "smt"}, witness)
    return "proved"
