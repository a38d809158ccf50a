"""The checker's terms: tuples ("num", Fraction), ("sym", name), ("pow", term, Fraction), ("add", term, ...)."""

from fractions import Fraction as Q
from functools import lru_cache, reduce
from typing import Any

ZERO, MINUS, LESS = ("num", Q(0)), ("num", Q(-1)), ("num", Q(-1, 2))
BELL = "pow", ("mul", ("num", Q(2)), ("pi",)), Q(-1, 2)  # 1 / root(2 pi)
same = lru_cache(10**4)(lambda e: e)  # makes equal terms one


def demand(holds: Any, *why: Any) -> None:
    """Refuse unless something holds."""
    if not holds:
        raise ValueError(*why)


def number(q: Any) -> Q:
    """An exact number from JSON."""
    demand(type(q) is str and len(q) < 900 and {*q} <= {*"-/.0123456789"}, f"no number: {str(q)[:60]}")
    return Q(q)


def read(e: Any) -> Any:
    """A term from JSON."""
    head, *us = (same(read(a)) if isinstance(a, list) else a for a in e)
    if head == "num":
        return head, number(*us)
    if head == "abs":
        return "max", *us, ("mul", MINUS, *us)
    if head == "min":
        opposites: list[Any] = [("mul", MINUS, u) for u in us]
        return "mul", MINUS, reduce(lambda u, v: ("max", u, v), opposites)
    if head == "pow" and us[1][0] == "num":
        demand(max(map(abs, us[1][1].as_integer_ratio())) < 200, "a large power")
        return head, us[0], us[1][1]
    if head == "pow":
        return "exp", ("mul", us[1], ("log", us[0]))
    return reduce(lambda u, v: (head, u, v), us) if head == "max" else (head, *us)


def minus(u: Any, v: Any) -> Any:
    """The term u - v."""
    return "add", u, ("mul", MINUS, v)


@lru_cache(10**4)
def slope(e: Any, x: str) -> Any:
    """The derivative in x, rule by rule; `step` is 1 above 0 and 0 below."""
    head, *args = e
    inner = [slope(a, x) if isinstance(a, tuple) else ZERO for a in args]
    used = [i for i, d in enumerate(inner) if d != ZERO]
    if head == "sym" or not used:
        return "num", Q(e == ("sym", x))
    if head in ("add", "mul"):
        return "add", *(("mul", inner[i], *(args[:i] + args[i + 1 :]) * (head == "mul")) for i in used)
    if head == "max":
        above, below = (("step", minus(*sides)) for sides in (args, args[::-1]))
        return "add", ("mul", above, inner[0]), ("mul", below, inner[1])
    if head == "pow":
        not_at_0 = [args[0], ("pow", args[0], Q(-1))] if args[1] % 1 and args[1] > 1 else []
        return "mul", inner[0], ("num", args[1]), ("pow", args[0], args[1] - 1), *not_at_0
    rest = {"exp": [e], "log": [("pow", *args, Q(-1))], "phi": [BELL, ("exp", ("mul", LESS, *args, *args))]}
    demand(head in rest, f"a derivative of {head} is beyond this checker")
    return "mul", inner[0], *rest[head]
