"""What a formula of docs/certificates.md is at a point: true, false or undefined, as far as it can be told.

This is a second reading of that page, for tests. It shares nothing with the provers or the checker: numbers are
fractions as long as all is rational and mpmath's intervals, widened, after that. What a term is at a point is an
enclosure and whether it surely is defined; what a formula is there is the set of the values that it may have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import mpmath
from mpmath.ctx_iv import MPIntervalContext

Json = Any
Point = Mapping[str, Any]

iv = MPIntervalContext()
mp = mpmath.MPContext()
COARSE, FINE = 120, 700
EVERYTHING = iv.mpf(["-inf", "inf"])
BITS = 12_000
"""Fractions longer than this are enclosed."""
TERMS = 200
PIECES = 16
HUGE = 10**12


class Value(NamedTuple):
    """An enclosure of what a term is where it is defined, and whether it surely is."""

    number: Any
    surely: bool


UNKNOWN = Value(EVERYTHING, False)
UNDEFINED = None
"""Surely without a value."""


def precise(bits: int) -> None:
    """Set the precision of what follows."""
    iv.prec, mp.prec = bits, bits + 80


def wide(x: Any) -> Any:
    """A number as an interval."""
    return iv.mpf(x.numerator) / iv.mpf(x.denominator) if isinstance(x, Fraction) else x


def _held(x: Any, surely: bool) -> Value:
    if isinstance(x, Fraction):
        long = x.numerator.bit_length() + x.denominator.bit_length() > BITS
        return Value(wide(x) if long else x, surely)
    if tuple(_bounds(x)) == (0, 0):
        return Value(Fraction(0), surely)  # something times 0
    return Value(x if _finite(*_bounds(x)) else EVERYTHING, surely)


def _loose(x: Any) -> Any:
    """An interval widened by far more than the error of a function's last digits."""
    return x * iv.mpf([2**iv.prec - 2**20, 2**iv.prec + 2**20]) / 2**iv.prec


def _bounds(x: Any) -> tuple[Any, Any]:
    return (x, x) if isinstance(x, Fraction) else tuple(map(mp.make_mpf, x._mpi_))


def _finite(*ends: Any) -> bool:
    return all(mp.isfinite(end) for end in ends)


def _positive(x: Any) -> bool:
    return bool(_bounds(x)[0] > 0)


def _negative(x: Any) -> bool:
    return bool(_bounds(x)[1] < 0)


# ---------------------------------------------------------------------------------------------- terms


def term(e: Json, point: Point) -> Value | None:
    """A term at a point."""
    head = e[0]
    match head:
        case "num":
            return Value(Fraction(e[1]), True)
        case "sym":
            return Value(point[e[1]], True)
        case "pi":
            return Value(_loose(iv.pi), True)
        case "inf":
            return UNDEFINED
        case "sum" | "product":
            return _sum(e, point)
        case "integral":
            return _integral(e, point)
        case "diff":
            return _derivative(e, point)
        case "at":
            value = term(e[3], point)
            if value is None:
                return None
            inner = term(e[1], {**point, e[2]: value.number})
            return inner and Value(inner.number, inner.surely and value.surely)
        case "branch":
            return _branch(e, point)
        case "inner":
            return _inner(e[1], e[2], point)
        case "norm":
            square = _inner(e[1], e[1], point)
            root = square and _power(square.number, Fraction(1, 2))
            return root and Value(root.number, root.surely and square is not None and square.surely)
    found = [term(part, point) for part in e[1:]]
    if any(value is None for value in found):
        return UNDEFINED
    values = [value for value in found if value is not None]
    surely = all(value.surely for value in values)
    result = _FUNCTIONS[head](*(value.number for value in values))
    return result and Value(result.number, result.surely and surely)


def _inner(u: Json, v: Json, point: Point) -> Value | None:
    """The inner product of vectors: their expressions are linear, so that coordinates stand in for the letters."""
    (size,) = {len(q) for q in point.values() if isinstance(q, tuple)}
    places = [{x: q[i] if isinstance(q, tuple) else q for x, q in point.items()} for i in range(size)]
    pairs = [(term(u, place), term(v, place)) for place in places]
    if any(a is None or b is None for a, b in pairs):
        return UNDEFINED
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    total: Any = Fraction(0)
    for a, b in known:
        part = _times(a.number, b.number)
        exact = isinstance(total, Fraction) and isinstance(part, Fraction)
        total = total + part if exact else wide(total) + wide(part)
    return _held(total, all(a.surely and b.surely for a, b in known))


def _plain(operation: Any) -> Any:
    def fold(*numbers: Any) -> Value:
        result = Value(numbers[0], True)
        for number in numbers[1:]:
            exact = isinstance(result.number, Fraction) and isinstance(number, Fraction)
            pair = (result.number, number) if exact else (wide(result.number), wide(number))
            result = _held(operation(*pair), True)
        return result

    return fold


def _power(base: Any, exponent: Any) -> Value | None:
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        return _whole_power(base, exponent.numerator)
    low, high = _bounds(base)
    if low > 0:
        root = _root(base, exponent)
        return Value(root, True) if root is not None else _exp(_times(exponent, _log_of(base)))
    if isinstance(base, Fraction) and base == 0:
        if _positive(exponent):
            return Value(Fraction(0), True)
        return UNDEFINED if _negative(exponent) else UNKNOWN
    if not isinstance(exponent, Fraction):
        return UNKNOWN  # it may be an integer
    if high < 0:
        return UNDEFINED
    if exponent < 0 or not _finite(high):
        return UNKNOWN
    top = wide(_exp(_times(exponent, _log_of(iv.mpf(high)))).number) if high > 0 else iv.mpf(0)
    return _held(iv.mpf([0, _bounds(top)[1]]), bool(low >= 0))


def _whole_power(base: Any, n: int) -> Value | None:
    if n == 0:
        return Value(Fraction(1), True)
    if isinstance(base, Fraction):
        if base == 0:
            return UNDEFINED if n < 0 else Value(base, True)
        if abs(n) * max(base.numerator.bit_length(), base.denominator.bit_length()) <= BITS:
            return Value(base**n, True)
        base = wide(base)
    if n < 0 and not (_positive(base) or _negative(base)):
        return UNKNOWN
    if abs(n) <= 64:
        return _held(base**n if n > 0 else 1 / base ** (-n), True)
    if not (_positive(base) or _negative(base)):
        return UNKNOWN
    size = _exp(_times(Fraction(n), _log_of(abs(base)))).number
    return _held(-wide(size) if _negative(base) and n % 2 else wide(size), True)


def _root(base: Any, exponent: Any) -> Fraction | None:
    """The exact power where there is one."""
    if not (isinstance(base, Fraction) and isinstance(exponent, Fraction)):
        return None
    k = exponent.denominator
    if k > 8 or base.numerator.bit_length() + base.denominator.bit_length() > 400 or abs(exponent) > 40:
        return None
    parts = []
    for part in (base.numerator, base.denominator):
        guess = round(part ** (1 / k)) if part < 2**50 else math.isqrt(part) if k == 2 else 0
        near = next((g for g in (guess, guess + 1, guess - 1) if g >= 0 and g**k == part), None)
        if near is None:
            return None
        parts.append(near)
    return Fraction(parts[0], parts[1]) ** exponent.numerator


def _times(a: Any, b: Any) -> Any:
    return a * b if isinstance(a, Fraction) and isinstance(b, Fraction) else wide(a) * wide(b)


def _log_of(x: Any) -> Any:
    if isinstance(x, Fraction) and x == 1:
        return Fraction(0)
    x = wide(x)
    return _loose(iv.log(x)) + iv.mpf([-1, 1]) * iv.mpf(2) ** (20 - iv.prec)


def _exp(x: Any) -> Value:
    if isinstance(x, Fraction) and x == 0:
        return Value(Fraction(1), True)
    low, high = _bounds(wide(x))
    if low > HUGE:
        bottom = mp.ldexp(1, HUGE)
    elif low < -HUGE:
        bottom = mp.ldexp(1, 2 * int(mp.floor(low))) if _finite(low) and low > -(10**60) else 0
    else:
        bottom = _bounds(_loose(iv.exp(iv.mpf(low))))[0]
    top = "inf" if high > HUGE else _bounds(_loose(iv.exp(iv.mpf(max(high, -HUGE)))))[1]
    if low < -HUGE or high > HUGE:
        return Value(iv.mpf([bottom, top]), True)
    return Value(_loose(iv.exp(wide(x))), True)


def _log(x: Any) -> Value | None:
    low, high = _bounds(x)
    if low > 0:
        return _held(_log_of(x), True)
    return UNDEFINED if high <= 0 else UNKNOWN


def _erfc(x: Any) -> Value:
    if isinstance(x, Fraction) and x == 0:
        return Value(Fraction(1), True)
    low, high = _bounds(wide(x))
    if low >= 10**4 and high < 10**1000:
        # exp(-x^2) / (4 x) < erfc(x) < exp(-x^2) for x >= 1
        below, above = (iv.exp(-(iv.mpf(end) ** 2)) for end in (high, low))
        return Value(iv.mpf([_bounds(below / (4 * iv.mpf(high)))[0], _bounds(above)[1]]), True)
    if low > -(10**1000) and high <= -(10**4):
        return Value(2 - _erfc(-wide(x)).number, True)
    if not max(abs(low), abs(high)) < 10**4:
        return Value(iv.mpf([1 if high <= 0 else 0, 1 if low >= 0 else 2]), True)
    ends = [_bounds(_loose(iv.mpf(mp.erfc(end)))) for end in (high, low)]
    return Value(iv.mpf([ends[0][0], ends[1][1]]), True)


def _phi(x: Any) -> Value:
    if isinstance(x, Fraction) and x == 0:
        return Value(Fraction(1, 2), True)
    return Value(wide(_erfc(-wide(x) / iv.sqrt(iv.mpf(2))).number) / 2, True)


def _max(*numbers: Any) -> Value:
    if all(isinstance(number, Fraction) for number in numbers):
        return Value(max(numbers), True)
    lows, highs = zip(*(_bounds(wide(number)) for number in numbers), strict=True)
    return _held(iv.mpf([max(lows), max(highs)]), True)


def _min(*numbers: Any) -> Value:
    found = _max(*(-number for number in numbers))
    return Value(-found.number, True)


def _floor(x: Any) -> Value:
    if isinstance(x, Fraction):
        return Value(Fraction(math.floor(x)), True)
    low, high = _bounds(x)
    if not _finite(low, high) or max(abs(low), abs(high)) > mp.mpf(10) ** 400:
        return Value(EVERYTHING, True)
    ends = [int(mp.floor(end)) for end in (low, high)]
    return Value(Fraction(ends[0]), True) if ends[0] == ends[1] else _held(iv.mpf(ends), True)


_FUNCTIONS = {
    "add": _plain(lambda a, b: a + b),
    "mul": _plain(lambda a, b: a * b),
    "pow": _power,
    "exp": _exp,
    "log": _log,
    "erfc": _erfc,
    "phi": _phi,
    "max": _max,
    "min": _min,
    "abs": lambda x: _max(x, -x),
    "floor": _floor,
    "ceiling": lambda x: _negated(_floor(-x)),
    "gamma": lambda x: _counted(x, 1, lambda n: math.factorial(n - 1)),
    "factorial": lambda x: _counted(x, 0, math.factorial),
    "binomial": lambda n, k: _binomial(n, k),
}


def _negated(value: Value) -> Value:
    return Value(-value.number, value.surely)


def _counted(x: Any, least: int, count: Callable[[int], int]) -> Value | None:
    """A function of integers from `least` on; Gamma has values between them, too."""
    if not isinstance(x, Fraction) or x > 1200:
        return UNKNOWN
    if least and x > 0 and x.denominator != 1:
        # mpmath's Gamma at a higher precision, widened by far more than its error
        return Value(_loose(iv.mpf(mp.gamma(mp.mpf(x.numerator) / x.denominator))), True)
    return UNDEFINED if x < least or x.denominator != 1 else Value(Fraction(count(int(x))), True)


def _binomial(n: Any, k: Any) -> Value | None:
    if not (isinstance(n, Fraction) and isinstance(k, Fraction)) or max(n, k) > 1200:
        return UNKNOWN
    if min(n, k) < 0 or n.denominator * k.denominator != 1:
        return UNDEFINED
    return Value(Fraction(math.comb(int(n), int(k))), True)


def _sum(e: Json, point: Point) -> Value | None:
    head, body, index, first, last = e
    ends = term(first, point), term(last, point)
    if ends[0] is None or ends[1] is None:
        return UNDEFINED
    low, high = ends[0].number, ends[1].number
    if not (isinstance(low, Fraction) and isinstance(high, Fraction)):
        return UNKNOWN
    if low.denominator != 1 or high.denominator != 1 or high < low:
        return UNDEFINED
    if high - low >= TERMS:
        return UNKNOWN
    operation, start = ("add", 0) if head == "sum" else ("mul", 1)
    surely, total = ends[0].surely and ends[1].surely, Value(Fraction(start), True)
    for i in range(int(low), int(high) + 1):
        value = term(body, {**point, index: Fraction(i)})
        if value is None:
            return UNDEFINED
        surely = surely and value.surely
        total = _FUNCTIONS[operation](total.number, value.number)
    return Value(total.number, surely)


# ---------------------------------------------------------------------------------------------- derivatives


def names_in(e: Json) -> set[str]:
    """Every name in a term or formula, bound ones included."""
    if isinstance(e, list):
        own = {e[1]} if e and e[0] == "sym" else set()
        return own.union(*map(names_in, e))
    if isinstance(e, dict):
        return {e["name"]} if "name" in e else set()
    return set()


def _derivative(e: Json, point: Point) -> Value | None:
    _, body, x, order = e
    value = term(body, point)
    if value is None:
        return UNDEFINED
    for _ in range(order):
        body = slope(body, x)
    found = term(body, point)
    if (
        found is None
    ):  # a power with a variable exponent is differentiable where the rule with a logarithm is not
        return UNKNOWN if "log" in str(body) else UNDEFINED
    return Value(found.number, found.surely and value.surely)


def _number(value: object) -> Json:
    return ["num", str(value)]


def slope(e: Json, x: str) -> Json:
    """The derivative of a term in a name."""
    head, *args = e
    if head == "sym":
        return _number(int(args[0] == x))
    if x not in names_in(e) and not (head == "at" and args[1] == x):
        return _number(0)
    match head:
        case "add":
            return ["add", *(slope(a, x) for a in args)]
        case "mul":
            return ["add", *(["mul", *args[:i], slope(a, x), *args[i + 1 :]] for i, a in enumerate(args))]
        case "pow" if x not in names_in(args[1]):
            less = ["add", args[1], _number(-1)]
            rule = ["mul", args[1], ["pow", args[0], less], slope(args[0], x)]
            whole = args[1][0] == "num" and "/" not in args[1][1]
            return rule if whole else ["branch", "root", args, [rule]]
        case "pow":
            rate = ["add", ["mul", slope(args[1], x), ["log", args[0]]],
                    ["mul", args[1], slope(args[0], x), ["pow", args[0], _number(-1)]]]  # fmt: skip
            return ["mul", e, rate]
        case "exp":
            return ["mul", e, slope(args[0], x)]
        case "log":
            return ["mul", ["pow", args[0], _number(-1)], slope(args[0], x)]
        case "erfc":
            bell = ["exp", ["mul", _number(-1), args[0], args[0]]]
            return ["mul", _number(-2), ["pow", ["pi"], _number("-1/2")], bell, slope(args[0], x)]
        case "phi":
            bell = ["exp", ["mul", _number("-1/2"), args[0], args[0]]]
            scale = ["pow", ["mul", _number(2), ["pi"]], _number("-1/2")]
            return ["mul", scale, bell, slope(args[0], x)]
        case "max" | "min":
            return ["branch", head, args, [slope(a, x) for a in args]]
        case "abs":
            other = ["mul", _number(-1), args[0]]
            return ["branch", "max", [args[0], other], [slope(args[0], x), slope(other, x)]]
        case "floor":
            return ["branch", "floor", args, []]
        case "branch":
            return ["branch", args[0], args[1], [slope(a, x) for a in args[2]]]
        case "sum" if not {x} & (names_in(args[2]) | names_in(args[3])):
            return ["sum", _number(0) if args[1] == x else slope(args[0], x), *args[1:]]
        case "diff":
            body = args[0]
            for _ in range(args[2]):
                body = slope(body, args[1])
            return slope(body, x)
        case "at":
            body, y, value = args
            along = ["mul", ["at", ["diff", body, y, 1], y, value], slope(value, x)]
            return along if x == y else ["add", along, ["at", ["diff", body, x, 1], y, value]]
    return ["branch", "unknown", [], []]


def _branch(e: Json, point: Point) -> Value | None:
    """The slope of a function in pieces: that of the piece, where it is clear which one it is."""
    _, kind, pieces, slopes = e
    values = [term(piece, point) for piece in pieces]
    if kind == "unknown":
        return UNKNOWN
    if any(value is None for value in values):
        return UNDEFINED
    if kind == "root":
        base, exponent = (value.number for value in values if value is not None)
        whole = isinstance(exponent, Fraction) and exponent.denominator == 1
        if isinstance(exponent, Fraction) and not whole and not _positive(base):
            return UNDEFINED if _bounds(base)[1] <= 0 else UNKNOWN
        return term(slopes[0], point)
    exact = [value.number for value in values if value is not None and isinstance(value.number, Fraction)]
    if kind in ("max", "min") and len(exact) == len(values) == 2 and exact[0] == exact[1]:
        return UNDEFINED
    if kind == "floor":
        low, high = _bounds(wide(values[0].number))  # type: ignore[union-attr]
        flat = max(abs(low), abs(high)) < 10**400 and mp.floor(low) < low and mp.floor(high) == mp.floor(low)
        return Value(Fraction(0), True) if flat else UNKNOWN
    sign = 1 if kind == "max" else -1
    ranges = [_bounds(sign * wide(value.number)) for value in values if value is not None]
    for i, this in enumerate(ranges):
        if all(this[0] > other[1] for j, other in enumerate(ranges) if j != i):
            return term(slopes[i], point)
    return UNKNOWN


# ---------------------------------------------------------------------------------------------- integrals


def _integral(e: Json, point: Point) -> Value | None:
    _, body, x, *ends = e
    outer = {name: value for name, value in point.items() if name != x}
    finite = [None if end[0] == "inf" else term(end, point) for end in ends]
    if any(value is None and end[0] != "inf" for value, end in zip(finite, ends, strict=True)):
        return UNDEFINED
    if all(value is not None and isinstance(value.number, Fraction) for value in finite):
        low, high = (value.number for value in finite if value is not None)
        if low > high:
            return UNDEFINED
        powers = _polynomial(body, x, outer)
        if powers is not None:
            total = Value(Fraction(0), True)
            for k, c in enumerate(powers):
                step = (high ** (k + 1) - low ** (k + 1)) / (k + 1)
                total = _FUNCTIONS["add"](total.number, _times(c, step))
            return total
        return _riemann(body, x, outer, low, high)
    return _gaussian(body, x, outer, finite, ends)


def _polynomial(e: Json, x: str, point: Point) -> list[Any] | None:
    """The coefficients of a polynomial in a name, None where it is none or perhaps undefined."""
    head, *args = e
    if head == "sym" and args[0] == x:
        return [Fraction(0), Fraction(1)]
    if x not in names_in(e):
        value = term(e, point)
        return [value.number] if value is not None and value.surely else None
    if head in ("add", "mul"):
        parts = [_polynomial(a, x, point) for a in args]
        if any(part is None for part in parts):
            return None
        found = [part for part in parts if part is not None]
        result = found[0]
        for part in found[1:]:
            result = _joined(head, result, part)
        return result
    if head == "pow" and args[1][0] == "num" and args[1][1] in ("2", "3", "4"):
        base = _polynomial(args[0], x, point)
        result = base
        for _ in range(int(args[1][1]) - 1):
            result = None if result is None or base is None else _joined("mul", result, base)
        return result
    return None


def _joined(head: str, a: list[Any], b: list[Any]) -> list[Any]:
    add = _FUNCTIONS["add"]
    if head == "add":
        size = max(len(a), len(b))
        a, b = (p + [Fraction(0)] * (size - len(p)) for p in (a, b))
        return [add(u, v).number for u, v in zip(a, b, strict=True)]
    result: list[Any] = [Fraction(0)] * (len(a) + len(b) - 1)
    for (i, u), (j, v) in product(enumerate(a), enumerate(b)):
        result[i + j] = add(result[i + j], _times(u, v)).number
    return result


def _riemann(body: Json, x: str, point: Point, low: Fraction, high: Fraction) -> Value:
    total = iv.mpf(0)
    for i in range(PIECES):
        a, b = (low + (high - low) * Fraction(k, PIECES) for k in (i, i + 1))
        value = term(body, {**point, x: iv.mpf([_bounds(wide(a))[0], _bounds(wide(b))[1]])})
        if value is None or not value.surely:
            return UNKNOWN
        total += wide(value.number) * wide(b - a)
    return _held(total, True)


def _gaussian(body: Json, x: str, point: Point, finite: list[Value | None], ends: list[Json]) -> Value:
    """Factor * exp(c - r (x - m)^2) over an interval with an infinite end."""
    factors = body[1:] if body[0] == "mul" else [body]
    scale, exponent = iv.mpf(1), [Fraction(0)] * 3
    for factor in factors:
        if factor[0] == "exp":
            powers = _polynomial(factor[1], x, point)
            if powers is None or len(powers) > 3:
                return UNKNOWN
            exponent = _joined("add", exponent, powers)
        elif x in names_in(factor):
            return UNKNOWN
        else:
            value = term(factor, point)
            if value is None or not value.surely:
                return UNKNOWN
            scale *= wide(value.number)
    c, b, a = map(wide, exponent)
    if not _negative(a):
        return UNKNOWN
    rate, center = -a, -b / (2 * a)
    height = _exp(c - b * b / (4 * a)).number
    cdf = []
    for value, end in zip(finite, ends, strict=True):
        if value is None:
            cdf.append(iv.mpf(int(end[1] == "+")))
        else:
            cdf.append(wide(_phi(iv.sqrt(2 * rate) * (wide(value.number) - center)).number))
    if not (finite[0] is None or finite[1] is None):
        return UNKNOWN
    result = scale * wide(height) * iv.sqrt(_loose(iv.pi) / rate) * (cdf[1] - cdf[0])
    wrong = ends[0] == ["inf", "+"] or ends[1] == ["inf", "-"]
    return UNKNOWN if wrong else _held(result, all(v is None or v.surely for v in finite))


# ---------------------------------------------------------------------------------------------- formulas

TRUE, FALSE, NEITHER = "true", "false", "undefined"
Truth = frozenset[str]
ANY: Truth = frozenset({TRUE, FALSE, NEITHER})
_NOT = {TRUE: FALSE, FALSE: TRUE, NEITHER: NEITHER}
_SAMPLE = tuple(map(Fraction, ("0", "1", "-1", "2", "1/2", "-1/2", "1/3", "3", "10", "-10", "1000", "-7/2")))


def _strong(head: str, values: tuple[str, ...]) -> str:
    """Strong three-valued `and`, `or`."""
    ending, neutral = (FALSE, TRUE) if head == "and" else (TRUE, FALSE)
    if ending in values:
        return ending
    return NEITHER if NEITHER in values else neutral


def truth(f: Json, point: Point) -> Truth:
    """The values that a formula may have at a point, at the precision that is set."""
    head, *parts = f
    match head:
        case "<=" | "<" | "==" | "!=":
            return _comparison(head, *(term(e, point) for e in parts))
        case "not":
            return frozenset(_NOT[value] for value in truth(parts[0], point))
        case "implies":
            return truth(["or", ["not", parts[0]], parts[1]], point)
        case "and" | "or":
            found = frozenset([TRUE if head == "and" else FALSE])
            for part in parts:
                other = truth(part, point)
                found = frozenset(_strong(head, pair) for pair in product(found, other))
            return found
        case "forall":
            return _every(parts[0], parts[1], point)
    raise ValueError(f"no formula: {head}")


def _comparison(relation: str, left: Value | None, right: Value | None) -> Truth:
    if left is None or right is None:
        return frozenset({NEITHER})
    a, b = left.number, right.number
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        signs = {(a > b) - (a < b)}
    else:
        (low, high), (bottom, top) = _bounds(wide(a)), _bounds(wide(b))
        same = low == high == bottom == top
        signs = {1} if low > top else {-1} if high < bottom else {0} if same else {-1, 0, 1}
    holds = {"<=": (-1, 0), "<": (-1,), "==": (0,), "!=": (-1, 1)}[relation]
    found = {TRUE if sign in holds else FALSE for sign in signs}
    return frozenset(found if left.surely and right.surely else found | {NEITHER})


def inside(v: Json, value: Fraction) -> bool:
    """Whether a number lies in a variable's domain."""
    if v["kind"] == "integer" and value.denominator != 1:
        return False
    for end, sign in (("lower", 1), ("upper", -1)):
        if v[end] is not None:
            gap = sign * (value - Fraction(v[end]))
            if gap < 0 or (gap == 0 and v[f"{end}_open"]):
                return False
    return True


def _every(v: Json, body: Json, point: Point) -> Truth:
    low, high = v["lower"], v["upper"]
    whole = v["kind"] == "integer" and low is not None and high is not None
    if whole and Fraction(high) - Fraction(low) <= 60:
        values: Iterator[Fraction] = map(
            Fraction, range(math.ceil(Fraction(low)), int(Fraction(high) // 1) + 1)
        )
    else:
        whole = False
        ends = [Fraction(end) for end in (low, high) if end is not None]
        near = [end + step for end in ends for step in map(Fraction, ("0", "1/1000", "-1/1000"))]
        values = iter([*_SAMPLE, *near])
    found = frozenset({TRUE})
    for value in values:
        if inside(v, value):
            other = truth(body, {**point, v["name"]: value})
            found = frozenset(_strong("and", pair) for pair in product(found, other))
            if found == {FALSE}:
                return found
    if whole:
        return found
    # at points not tried it may be anything
    return frozenset(_strong("and", pair) for pair in product(found, ANY))


def holds_at(f: Json, point: Point) -> Truth:
    """The values that a formula may have at a point, coarsely first."""
    for bits in (COARSE, FINE):
        precise(bits)
        found = truth(f, point)
        if len(found) == 1:
            break
    return found
