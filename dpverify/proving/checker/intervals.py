"""The checker's intervals: two integers, in units of 2^-p, rounded outward; what may be undefined is refused."""

from fractions import Fraction as Q
from functools import lru_cache
from math import isqrt
from typing import Any

from mpmath.libmp import from_man_exp, mpf_exp, mpf_log, mpf_pi, to_fixed

from dpverify.proving.checker.terms import BELL, demand, minus, number, read


@lru_cache(10**5)
def bounds(head: str, n: int, p: int) -> Any:
    """Bounds of exp or log at n / 2^p, from mpmath's with 60 bits more, the last of which are not trusted."""
    more = 60 + max(0, 2 * n >> p) * (head == "exp")
    demand(more < 10**4 and (head == "exp" or n > 0), f"{head} is undefined, or of too large a number")
    found = to_fixed({"exp": mpf_exp, "log": mpf_log}[head](from_man_exp(n, -p), p + more), p)
    return (found, found) if n == (head == "log") << p else (found - 1, found + 2)


@lru_cache(10**3)
def peak(p: int) -> Any:
    """Bounds of the density at 0."""
    return value(BELL, {}, p, {})


@lru_cache(10**5)
def phi(n: int, p: int) -> Any:
    """Bounds of phi at q = n / 2^p, 1/2 + density(q) * q * (sum of q^2k / (1 * 3 * ... * (2 k + 1)))."""
    if 5 * n * n > 7 * p << 2 * p:  # then phi(-|q|) < exp(-q^2 / 2) / 2 < 2^-p
        return ((1 << p) - 1, 1 << p) if n > 0 else (0, 1)
    w, k = p + 30 + (n * n >> 2 * p), 1  # the product loses log2 exp(q^2 / 2) bits
    low = high = down = up = 1 << w
    square, twice = n * n, 2 * p
    least = 2 * square >> twice
    while up > 1 or least >= k + 2:  # then terms at least halve, and sum to less than the last
        k += 2
        down, up = (down * square >> twice) // k, -((-up * square >> twice) // k)
        low, high = low + down, high + up
    x, half = (n << w - p,) * 2, (1 << w - 1,) * 2
    bell = apply("exp", w, apply("mul", w, x, (-x[0],) * 2, half))
    a, b = apply("mul", w, peak(w), bell, x, (low, high + up))
    return (1 << p - 1) + (a >> w - p), (1 << p - 1) - (-b >> w - p)


def value(e: Any, box: Any, p: int, seen: Any) -> Any:
    """The interval of a term where names lie between the exact numbers of a box; `seen` has those of terms by id."""
    if (found := seen.get(id(e))) is not None:
        return found[0]
    head, us = e[0], e[1:]
    if head == "sum":
        first, last = (value(end, box, p, seen) for end in e[3:])
        i, j = first[0] >> p, last[0] >> p
        demand((first, last) == ((i << p,) * 2, (j << p,) * 2) and i <= j < i + 999, "the ends of a sum")
        head, us = "add", [value(e[1], box | {e[2]: (Q(k), Q(k))}, p, {}) for k in range(i, j + 1)]
    elif head == "sym":
        us = box[e[1]]
    elif head != "num":
        us = [value(a, box, p, seen) if type(a) is tuple else a for a in us]
    found = seen[id(e)] = (
        apply(head, p, *us),
        e,
    )  # the term itself stays there, so that no other one gets its id
    return found[0]


def apply(head: str, p: int, *us: Any) -> Any:
    """A function of intervals."""
    if head == "mul":
        (a, b), *more = us
        for c, d in more:
            ends = a * c, a * d, b * c, b * d
            a, b = min(ends) >> p, -(-max(ends) >> p)
        return a, b
    if head == "add":
        return sum([a for a, _ in us]), sum([b for _, b in us])
    match head, *us:
        case "num" | "sym", low, *_:
            return (low.numerator << p) // low.denominator, -((-us[-1].numerator << p) // us[-1].denominator)
        case "pow", (a, b), q if q.denominator == 2 and a >= 0:
            return apply("pow", p, (isqrt(a << p), b and 1 + isqrt((b << p) - 1)), q * 2)
        case "pow", (a, b), q if q < 0 and (a > 0 or b < 0):
            return apply("pow", p, ((1 << 2 * p) // b, -((-1 << 2 * p) // a)), -q)
        case "pow", (a, b), q if q.denominator == 1 and q >= 0:
            ends = a**q.numerator, b**q.numerator, *[0] * (q % 2 == 0 and a < 0 < b)
            return (min(ends) << p) >> p * q.numerator, -((-max(ends) << p) >> p * q.numerator)
        case "max", (a, b), (c, d):
            return max(a, c), max(b, d)
        case "step", (a, b):
            return (a > 0) << p, (b >= 0) << p
        case "phi", (a, b):
            return phi(a, p)[0], phi(b, p)[1]
        case "exp" | "log", (a, b):
            return bounds(head, a, p)[0], bounds(head, b, p)[1]
        case ("pi",):
            return (found := to_fixed(mpf_pi(p + 60), p)) - 1, found + 2
    raise ValueError(f"{head} may be undefined, or is beyond this checker")


def inside(v: Any, q: Q) -> bool:
    """Whether a number lies in a variable's domain."""
    ends = [(v[end], v[end + "_open"], s) for end, s in (("lower", 1), ("upper", -1)) if v[end] is not None]
    held = all((g := s * (q - number(end))) > 0 or (g == 0 and opened is False) for end, opened, s in ends)
    return held and {"real": True, "integer": q % 1 == 0}[v["kind"]]


def compare(f: Any, box: Any) -> int:
    """1 where a comparison is true all over a box, -1 where it is false, else 0."""
    low, high = value(minus(*map(read, f[:0:-1])), box, 1024, {})
    zero, other = low == high == 0, low > 0 or high < 0
    table = {"<=": (low >= 0, high < 0), "<": (low > 0, high <= 0), "==": (zero, other), "!=": (other, zero)}
    return int(table[f[0]][0]) - int(table[f[0]][1])
