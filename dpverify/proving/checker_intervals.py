"""The checker's intervals: mpmath's, rounded outward once more, with bounds of erfc made here.

Whatever may be undefined somewhere in an interval is refused with a ValueError. It shares no code with the provers.
"""

from fractions import Fraction as Q
from functools import lru_cache, reduce
from itertools import count
from operator import add, mul
from typing import Any

from mpmath.ctx_iv import MPIntervalContext

from dpverify.proving.checker_terms import HALF, ZERO, demand, parts, slope, work

iv = MPIntervalContext()


@lru_cache(10**4)
def erfc(q: Q, p: int) -> Any:
    """Bounds at p bits of erfc: 1 - 2 q exp(-q^2) / sqrt(pi) * (sum of (2 q^2)^n / (1 * 3 * ... * (2 n + 1)))."""
    demand(abs(q) < 99, "erfc of a large number")
    top, bottom = (2 * q * q).as_integer_ratio()
    w = p + 30 + 3 * top // (4 * bottom)  # the difference loses log2 exp(q^2) < 3/4 * 2 q^2 bits
    low = high = down = up = 1 << w
    for n in count(1):
        below = bottom * (2 * n + 1)
        down, up = down * top // below, -(-up * top // below)
        low, high = low + down, high + up
        if up <= 1 and 2 * top < below:  # what is left out is less than the last term
            break
    factor = ("mul", ("num", -2 * q), ("pow", ("pi",), -HALF), ("exp", ("num", -q * q)))
    result = 1 + work(factor, intervals(w, {}), {}) * iv.mpf([iv.mpf(low), iv.mpf(high + up)]) / 2**w
    iv.prec = p
    return +result


@lru_cache(10**5)
def constant(q: Q, p: int) -> Any:
    """A fraction at p bits, which must be the precision set."""
    return iv.mpf(q.numerator) / q.denominator


def intervals(p: int, box: Any) -> Any:
    """The functions of intervals at p bits, rounded outward, with symbols in a box of exact pairs."""
    iv.prec = p
    margin = iv.mpf([2**p - 256, 2**p + 256]) / 2**p  # 2^(8 - p) of a value; mpmath's error is far less

    def power(u: Any, q: Q) -> Any:
        if q % HALF:
            return iv.exp(log(u) * table["num"](q)) * margin
        demand(u.a > 0 or ((q >= 0 or 0 not in u) and (q % 1 == 0 or u.a >= 0)), "a power may be undefined")
        return (iv.sqrt(u) if q % 1 else u) ** q.numerator * margin

    def log(u: Any) -> Any:
        demand(u.a > 0, "a logarithm may be undefined")
        return iv.log(u) * margin

    def bound(u: Any) -> Any:
        sign, man, exponent, _ = u._mpi_[0]
        return erfc(Q((-1) ** sign * int(man)) * Q(2) ** exponent, p)

    table: dict[str, Any] = {
        "num": lambda q: constant(q, p),
        "sym": lambda x: iv.mpf([table["num"](box[x][0]).a, table["num"](box[x][1]).b]),
        "pi": lambda: iv.pi * margin,
        "add": lambda *us: reduce(add, us),
        "mul": lambda *us: reduce(mul, us),
        "pow": power,
        "exp": lambda u: iv.exp(u) * margin,
        "log": log,
        "erfc": lambda u: iv.mpf([bound(u.b).a, bound(u.a).b]),
        "abs": abs,
        "max": lambda *us: iv.mpf([max(u.a for u in us), max(u.b for u in us)]),
        "flat": lambda u: demand(0 not in u, "a kink") or iv.mpf(0),
        "step": lambda u: iv.mpf([int(u.a > 0), int(u.b >= 0)]),
    }
    return table


@lru_cache(64)
def program(f: Any, names: Any, kind: str) -> Any:
    """Steps (head, arguments) that work a term out, integers among the arguments being earlier steps.

    A step `mean` cuts an earlier one to its mean-value form: of every part of f for kind n, of f alone for m.
    """
    steps, places = list[Any](), dict[Any, int]()
    tight = parts(f) if kind == "n" else {f} if kind == "m" else set[Any]()

    def place(e: Any) -> int:
        if e not in places:
            args = [place(a) if isinstance(a, tuple) else a for a in e[1:]]
            i = places[e] = len(steps)
            steps.append((e[0], args))
            if e in tight and e[0] not in ("num", "sym", "pi"):
                slopes = [(x, place(d)) for x in names if (d := slope(e, x)) != ZERO]
                steps.append(("mean", (i, program(f, names, "+")[1][e], slopes)))
        return places[e]

    place(f)
    return steps, places


def run(f: Any, box: Any, p: int, kind: str = "+") -> Any:
    """The intervals of all steps of a term's program on a box."""
    steps, values, table = program(f, tuple(box), kind)[0], list[Any](), intervals(p, box)
    center = {x: (sum(ends) / 2,) * 2 for x, ends in box.items()}
    middle, there = (run(f, center, p), intervals(p, center)) if kind != "+" else ([], {})
    for head, args in steps:
        if head == "mean":
            i, j, slopes = args
            form = sum((values[k] * (table["sym"](x) - there["sym"](x)) for x, k in slopes), start=middle[j])
            values[i] = iv.mpf([max(values[i].a, form.a), min(values[i].b, form.b)])
        demand(head in table or head == "mean", f"no interval of {head}")
        values.append(
            None if head == "mean" else table[head](*(values[a] if type(a) is int else a for a in args))
        )
    return values


def enclose(f: Any, box: Any, p: int, kind: str) -> Any:
    """The interval of a term on a box."""
    return run(f, box, p, kind)[program(f, tuple(box), kind)[1][f]]


def show(f: Any, strict: bool, box: Any, p: int, kinds: str, splits: int) -> None:
    """Refuse unless f >= 0 (> 0) on a box by programs of some kinds, splitting it at most so many times over."""
    for kind in kinds:
        try:
            low = enclose(f, box, p, kind).a
            if low > 0 or (low >= 0 and not strict):
                return
        except ValueError:
            continue
    wide = [x for x, ends in box.items() if ends[0] < ends[1]]
    demand(splits and wide, "not confirmed on a box")
    x = wide[splits % len(wide)]
    for ends in ((box[x][0], sum(box[x]) / 2), (sum(box[x]) / 2, box[x][1])):
        show(f, strict, box | {x: ends}, p, kinds, splits - 1)
