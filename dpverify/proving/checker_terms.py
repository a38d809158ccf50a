"""The checker's expressions: terms, derivatives, units. It shares no code with the provers.

A term is a nested tuple: ("num", Fraction), ("sym", name), ("pow", term, Fraction), ("add", term, ...), and so on with
the heads of docs/certificates.md. Whatever may be undefined is refused with a ValueError.
"""

from collections.abc import Callable
from fractions import Fraction as Q
from functools import lru_cache, reduce
from math import prod
from typing import Any

HALF, ZERO, MINUS = Q(1, 2), ("num", Q(0)), ("num", Q(-1))
HEADS = {"inf", "pi", "add", "mul", "pow", "exp", "log", "erfc", "max", "abs", "floor"}


def demand(holds: Any, why: str) -> Any:
    """Refuse unless something holds."""
    if not holds:
        raise ValueError(why)
    return None


def number(q: Any) -> Q:
    """An exact number from JSON."""
    demand(
        isinstance(q, str) and len(q) < 900 and set(q) <= set("-/.0123456789"), f"not a number: {str(q)[:60]}"
    )
    return Q(q)


def exact(e: Any) -> Any:
    """The value of a sum or product of numbers, else None."""
    inner = [exact(a) for a in e[1:]] if e[0] in ("add", "mul") else [e[1] if e[0] == "num" else None]
    return None if None in inner else prod(inner) if e[0] == "mul" else sum(inner)


def put(e: Any, x: str, value: Any) -> Any:
    """A term with a symbol replaced."""
    if e[0] == "sum":
        return summed(put(e[1], x, value), e[2], *(put(end, x, value) for end in e[3:]))
    return value if e == ("sym", x) else tuple(put(a, x, value) if isinstance(a, tuple) else a for a in e)


def summed(body: Any, index: Any, first: Any, last: Any) -> Any:
    """A sum, written out where its ends are numbers."""
    a, b = exact(first), exact(last)
    if a is None or b is None:
        return "sum", body, index, first, last
    demand(a % 1 == b % 1 == 0 <= b - a < 2000, f"a sum from {a} to {b}")
    return "add", *(put(body, index[1], ("num", Q(i))) for i in range(int(a), int(b) + 1))


def pairwise(us: Any) -> Any:
    """The largest of some terms, two by two."""
    return us[0] if len(us) == 1 else ("max", us[0], pairwise(us[1:]))


def minus(a: Any, b: Any) -> Any:
    """The term a - b."""
    return "add", a, ("mul", MINUS, b)


def read(e: Any, env: Any) -> Any:
    """A term from JSON, `env` giving each name its term; `diff`, `at` and sums between numbers are worked out."""
    head, *args = e
    if head in ("num", "sym"):
        return ("num", number(args[0])) if head == "num" else env[args[0]]
    if head == "at":
        return read(args[0], env | {args[1]: read(args[2], env)})
    own = f"{args[1] if len(args) > 1 else ''}#{len(env)}"  # a name of its own for what is bound
    if head == "diff":
        demand(args[2] in range(9), "the order of a derivative")
        inner = read(args[0], env | {args[1]: ("sym", own), own: ()})
        result = reduce(lambda f, _: slope(f, own), range(args[2]), inner)
        return put(("add", result, ("mul", ZERO, inner)), own, env[args[1]])  # undefined where the inside is
    if head in ("sum", "integral"):
        body = read(args[0], env | {args[1]: ("sym", own), own: ()})
        first, last = (read(end, env) for end in args[2:])
        demand(head == "sum" or args[1] in env, "an integral over what has no unit")
        return (
            summed(body, ("sym", own), first, last)
            if head == "sum"
            else (head, body, ("sym", own), first, last)
        )
    us = [read(a, env) for a in args if head != "inf"]
    if head == "phi":
        return "mul", ("num", HALF), ("erfc", ("mul", MINUS, ("pow", ("num", Q(2)), -HALF), *us))
    if head == "min":
        return "mul", MINUS, pairwise([("mul", MINUS, u) for u in us])
    if head == "max":
        return pairwise(us)
    if head == "pow":
        q = exact(us[1])
        return ("exp", ("mul", us[1], ("log", us[0]))) if q is None else ("pow", us[0], Q(q))
    demand(head in HEADS, f"not understood: {str(e)[:60]}")
    return head, *us


@lru_cache(10**4)
def slope(e: Any, x: str) -> Any:
    """The derivative in x, rule by rule; `step` is 1 above 0 and 0 below, `flat` is its derivative."""
    head, *args = e
    inner = [slope(a, x) if isinstance(a, tuple) else ZERO for a in args]
    used = [i for i, d in enumerate(inner) if d != ZERO]
    if head == "sym" or not used:
        return "num", Q(e == ("sym", x))
    if head in ("add", "mul"):
        return "add", *(("mul", inner[i], *(args[:i] + args[i + 1 :]) * (head == "mul")) for i in used)
    if head in ("max", "abs"):
        other, d = (
            (args[1], inner[1]) if head == "max" else (("mul", MINUS, args[0]), ("mul", MINUS, inner[0]))
        )
        above, below = ("step", minus(args[0], other)), ("step", minus(other, args[0]))
        return "add", ("mul", above, inner[0]), ("mul", below, d)
    if head == "step":
        return "mul", inner[0], ("flat", args[0])
    bell = ("exp", ("mul", MINUS, ("pow", args[0], Q(2))))
    outer = {
        "exp": [e],
        "log": [("pow", args[0], Q(-1))],
        "erfc": [("num", Q(-2)), ("pow", ("pi",), -HALF), bell],
    }
    outer["pow"] = [("num", args[-1]), ("pow", args[0], args[-1] - 1)] if head == "pow" else []
    demand(head in outer, f"no derivative of {head}")
    return "mul", inner[0], *outer[head]


def work(e: Any, table: Any, seen: Any) -> Any:
    """The value of a term by a table of functions."""
    if e not in seen:
        demand(e[0] in table, f"no rule for {e[0]}")
        seen[e] = table[e[0]](*(work(a, table, seen) if isinstance(a, tuple) else a for a in e[1:]))
    return seen[e]


def names(e: Any) -> Any:
    """The symbols in a formula."""
    return {e[1]} if e[0] == "sym" else set[Any]().union(*(names(a) for a in e if isinstance(a, list)))


def parts(e: Any) -> Any:
    """A term and the terms in it."""
    return {e}.union(*(parts(a) for a in e if isinstance(a, tuple)))


def alike(*us: Any) -> Any:
    """The unit that all share: powers of loss and length, and a number's value; 0 has any unit."""
    real = [u for u in us if u[2] != 0] or [(Q(0), Q(0), 0)]
    for u in real:
        if u[:2] != real[0][:2]:
            raise ValueError("units differ", {u[:2], real[0][:2]})
    return (*real[0][:2], sum(u[2] for u in us) if None not in [u[2] for u in us] else None)


def pure(*us: Any) -> Any:
    """The unit of what must be a number and is not known to be 0."""
    return alike(*us, (Q(0), Q(0), None))


UNITS: dict[str, Callable[..., Any]] = dict.fromkeys(["pi", "exp", "log", "erfc", "floor"], pure) | {
    "num": lambda q: (Q(0), Q(0), q),
    "inf": lambda: (Q(0), Q(0), 0),
    "add": alike,
    "max": alike,
    "abs": lambda u: u,
    "mul": lambda *us: (sum(u[0] for u in us), sum(u[1] for u in us), 0 if 0 in [u[2] for u in us] else None),
    "pow": lambda u, q: (u[0] * q, u[1] * q, 0 if u[2] == 0 < q else None),
    "sum": lambda u, *ends: pure(*ends) and u,
}
UNITS["integral"] = lambda u, *ends: UNITS["mul"](u, alike(*ends))


def mixed(sides: Any, powers: Any) -> Any:
    """The first two units that meet in the sum of some terms and differ, or None."""
    try:
        work(
            ("add", *sides), UNITS | {"sym": lambda x: (*powers.get(x.split("#")[0], (Q(0), Q(0))), None)}, {}
        )
    except ValueError as clash:
        if clash.args[0] == "units differ":
            return clash.args[1]
        raise
    return None
