"""The checker's intervals: mpmath's at 128 bits, rounded outward once more; what may be undefined is refused."""

from fractions import Fraction as Q
from functools import lru_cache, reduce
from operator import add, mul
from typing import Any

from mpmath.ctx_iv import MPIntervalContext
from mpmath.libmp import to_rational

from dpverify.proving.checker.terms import demand, minus, number, read

iv, P = MPIntervalContext(), 128
iv.prec = P
MARGIN = iv.mpf([2**P - 256, 2**P + 256]) / 2**P  # mpmath's exp, log and pi are far closer than this factor


@lru_cache(10**5)
def phi(end: Any) -> Any:
    """Bounds of the normal distribution function, 1/2 + density(q) * q * (sum of q^2n / (1 * 3 * ... * (2 n + 1)))."""
    q, n = Q(*to_rational(end)), 1
    top, bottom = (q * q).as_integer_ratio()
    demand((end[1] or not end[2]) and top < 3600 * bottom, "phi of a large number is beyond this checker")
    w = iv.prec = P + 30 + top // bottom  # the difference loses log2 exp(q^2 / 2) bits where q < 0
    low = high = down = up = 1 << w
    while up > 1 or 2 * top > bottom * (n + 2):  # then terms at least halve, and sum to less than the last
        n += 2
        down, up = down * top // (bottom * n), -(-up * top // (bottom * n))
        low, high = low + down, high + up
    x, series = iv.mpf(q.numerator) / q.denominator, iv.mpf([low, high + up]) / 2**w
    result = iv.mpf(1) / 2 + iv.exp(-x * x / 2) / iv.sqrt(2 * iv.pi) * x * series
    iv.prec = P
    return result * (MARGIN if q else 1)


def value(e: Any, box: Any, seen: Any) -> Any:
    """The interval of a term where names lie between the exact numbers of a box; `seen` are the values of terms."""
    if e not in seen and e[0] == "sum":
        first, last = (value(end, box, seen) for end in e[3:])
        places = range(int(first.a), int(last.b) + 1)
        demand(0 < len(places) < 999 and first == places[0] and last == places[-1], "the ends of a sum")
        seen[e] = reduce(add, (value(e[1], box | {e[2]: (Q(i), Q(i))}, {}) for i in places))
    elif e not in seen:
        us = (value(a, box, seen) if isinstance(a, tuple) else a for a in e[1:])
        seen[e] = apply("sym", *box[e[1]]) if e[0] == "sym" else apply(e[0], *us)
    return seen[e]


def apply(head: str, *us: Any) -> Any:
    """A function of intervals."""
    match head, *us:
        case "num", q:
            return iv.mpf(q.numerator) / q.denominator
        case "sym", low, high:
            return iv.mpf([apply("num", low).a, apply("num", high).b])
        case "add" | "mul", *_:
            return reduce(add if head == "add" else mul, us)
        case "pow", u, q:
            defined = u.a > 0 or ((q >= 0 or 0 not in u) and (q % 1 == 0 or u.a >= 0))
            demand(defined and q.denominator < 3, "a power may be undefined, or is beyond this checker")
            return (iv.sqrt(u) if q % 1 else u) ** q.numerator
        case "phi", u:
            low, high = map(phi, u._mpi_)
            return iv.mpf([low.a, high.b])
        case "max", u, v:
            return iv.mpf([max(u.a, v.a), max(u.b, v.b)])
        case "step", u:
            return iv.mpf([int(u.a > 0), int(u.b >= 0)])
        case "exp", u:
            return iv.exp(u) * (1 if u == 0 else MARGIN)
    defined = not us if head == "pi" else head == "log" and len(us) == 1 and us[0].a > 0
    demand(defined, f"{head} may be undefined, or is beyond this checker")
    return (iv.log(*us) if us else iv.pi) * MARGIN


def inside(v: Any, q: Q) -> bool:
    """Whether a number lies in a variable's domain."""
    ends = [(v[end], v[end + "_open"], s) for end, s in (("lower", 1), ("upper", -1)) if v[end] is not None]
    held = all((g := s * (q - number(end))) > 0 or (g == 0 and opened is False) for end, opened, s in ends)
    return held and {"real": True, "integer": q % 1 == 0}[v["kind"]]


def compare(f: Any, box: Any) -> int:
    """1 where a comparison is true all over a box, -1 where it is false, else 0."""
    d = value(minus(*map(read, f[:0:-1])), box, {})
    zero, other = d == 0, 0 not in d
    table = {"<=": (d.a >= 0, d.b < 0), "<": (d.a > 0, d.b <= 0), "==": (zero, other), "!=": (other, zero)}
    return int(table[f[0]][0]) - int(table[f[0]][1])
