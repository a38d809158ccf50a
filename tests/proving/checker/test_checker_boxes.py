"""The checker's intervals contain what they should, and its replay of trees of boxes refuses what does not hold."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from dpverify.proving.checker import check
from dpverify.proving.checker.boxes import lower
from dpverify.proving.checker.intervals import Enclosure, phi
from dpverify.proving.checker.reading import read
from dpverify.proving.checker.terms import Term, make, plain, slope
from dpverify.proving.checker.values import ValueRange, Values

from .hand_witnesses import witnessed

Json = Any
BITS = (64, 96, 400)
X, Y, N = ["sym", "x"], ["sym", "y"], ["sym", "n"]


def num(q: object) -> Json:
    return ["num", str(q)]


def add(*a: Json) -> Json:
    return ["add", *a]


def mul(*a: Json) -> Json:
    return ["mul", *a]


def power(a: Json, n: object) -> Json:
    return ["pow", a, num(n)]


def variable(name: str, low: str | None, high: str | None, kind: str = "real", opened: str = "") -> Json:
    return {
        "name": name,
        "kind": kind,
        "lower": low,
        "lower_open": low is None or "(" in opened,
        "upper": high,
        "upper_open": high is None or ")" in opened,
        "unit": {"loss": "0", "length": "0"},
    }


def boxes(
    claim: Json,
    tree: Json,
    variables: list[Json],
    verdict: str = "proved",
    assuming: tuple[Json, ...] = (),
    **box: tuple[str, str],
) -> Json:
    whole = {v["name"]: [v["lower"], v["upper"]] for v in variables} | {
        x: list(ends) for x, ends in box.items()
    }
    proof = {"method": "boxes", "box": whole, "precision": 64, "tree": tree}
    problem = {"variables": variables, "assuming": list(assuming), "claim": claim}
    return witnessed({"version": 1, "problem": problem, "verdict": verdict, "proof": proof})


def ends(interval: Any, p: int) -> tuple[Any, Any]:
    """An interval's ends, exactly."""
    low, high = (mpmath.mp.make_mpf(mpmath.libmp.from_man_exp(end, -p)) for end in interval)
    return low, high


def applied(head: str, p: int, *intervals: tuple[int, int]) -> Enclosure:
    """A function of intervals."""
    return Values({}, p).applied(head, *(Enclosure(*ends) for ends in intervals))


def powered(p: int, interval: tuple[int, int], exponent: Fraction) -> Enclosure:
    """A power of an interval."""
    return Values({}, p).power(Enclosure(*interval), exponent, value(make("num", (), "", exponent), {}, p))


def value(term: Term, box: Any, p: int) -> Enclosure:
    """The interval of a term on a box."""
    return Values(box, p).interval(term)


@pytest.mark.parametrize("p", BITS)
def test_phi_lies_between_its_bounds_and_they_are_close(p: int) -> None:
    """Against mpmath, a hundred bits closer than a unit; the width is four units at most."""
    with mpmath.mp.workprec(6000):  # of all but ncdf, so that differences are exact
        points = [Fraction(k, 8) + Fraction(k * k % 97, 10_000) for k in range(-470, 470, 29)]
        edge = Fraction(7 * p, 5)  # from where on the square of q says that phi(-|q|) is below a unit
        near = [Fraction(round(float(edge) ** 0.5 * k), k) for k in (-1024, -8, 8, 1024)]
        for q in [*points, *near, Fraction(1, 10**30), Fraction(-1, 10**30), Fraction(-59), Fraction(10**9)]:
            n = (q.numerator << p) // q.denominator
            low, high = ends(phi(n, p), p)
            (point, _) = ends((n, n), p)
            if point > 0:  # what is left of 1 can be as small as on the other side
                point, low, high = -point, 1 - high, 1 - low
            with mpmath.mp.workprec(p + 100):
                exact = mpmath.ncdf(point)
            assert low <= exact <= high, q
            assert high - low <= mpmath.mpf(2) ** (2 - p), q


@pytest.mark.parametrize("p", BITS)
def test_functions_of_exact_numbers_stay_exact_where_edges_need_it(p: int) -> None:
    one = 1 << p
    assert applied("exp", p, (0, 0)) == (one, one)
    assert applied("log", p, (one, one)) == (0, 0)
    assert applied("phi", p, (0, 0)) == (one // 2, one // 2)
    assert powered(p, (4 * one, 4 * one), Fraction(-1, 2)) == (one // 2, one // 2)
    assert powered(p, (0, 0), Fraction(1, 2)) == (0, 0)
    assert powered(p, (0, 0), Fraction(1, 3)) == (0, 0)
    assert applied("mul", p, (-one, one), (one, one), (3 * one, 3 * one)) == (-3 * one, 3 * one)


@pytest.mark.parametrize(
    ("head", "interval", "more"),
    [
        ("log", (0, 1), ()),
        ("log", (-2, -1), ()),
        ("pow", (-1, 5), (Fraction(1, 2),)),
        ("pow", (0, 5), (Fraction(-1),)),
        ("pow", (-5, 0), (Fraction(-2),)),
        ("pow", (-5, 5), (Fraction(-1, 2),)),
        ("pow", (-1, 5), (Fraction(1, 3),)),
        ("pow", (-5, -1), (Fraction(1, 3),)),
        ("pow", (-5, 5), (Fraction(201),)),
        ("exp", (0, 10**5 << 96), ()),
        ("phi_inverse", (0, 1), ()),
        ("phi_inverse", (1, 1 << 96), ()),
        ("gamma", (0, 1), ()),
    ],
)
def test_what_may_be_undefined_is_refused(
    head: str, interval: tuple[int, int], more: tuple[Any, ...]
) -> None:
    with pytest.raises(ValueError, match=r"undefined|beyond|too large"):
        powered(96, interval, *more) if head == "pow" else applied(head, 96, interval)


@pytest.mark.parametrize("p", BITS)
def test_functions_lie_between_their_bounds_at_random_numbers(p: int) -> None:
    """Seeded; each is held against mpmath with 400 bits more, far finer than a unit: no false alarm."""
    draw = random.Random(p)
    functions = {
        "exp": (mpmath.exp, -200, 60),
        "log": (mpmath.log, 0, 10**6),
        "phi": (mpmath.ncdf, -12, 12),
        "root": (mpmath.sqrt, 0, 10**6),
        "inverse": (lambda x: 1 / x, -50, -1),
        "cube": (lambda x: x**3, -50, 50),
        "inverse-root": (lambda x: 1 / mpmath.sqrt(x), 1, 50),
        "third": (mpmath.cbrt, 0, 10**6),
        "long-power": (lambda x: x**201, 0, 2),
        "negative-long-power": (lambda x: x**201, -2, -1),
    }
    powers = {
        "root": Fraction(1, 2),
        "inverse": Fraction(-1),
        "cube": Fraction(3),
        "inverse-root": Fraction(-1, 2),
        "third": Fraction(1, 3),
        "long-power": Fraction(201),
        "negative-long-power": Fraction(201),
    }
    for name, (function, least, largest) in functions.items():
        for _ in range(40):
            a, b = sorted(draw.randint((least << p) + 1, largest << p) for _ in range(2))
            b = b if draw.random() < 0.5 else a + draw.randint(0, 3)
            found = powered(p, (a, b), powers[name]) if name in powers else applied(name, p, (a, b))
            with mpmath.mp.workprec(2 * p + 400):
                low, high = ends(found, p)
                for n in (a, b, (a + b) // 2):
                    assert low <= function(ends((n, n), p)[0]) <= high, (name, n)


def mpmath_power(x: Any, y: Any) -> Any:
    return y**x


FUNCTIONS: dict[str, tuple[Json, Any]] = {
    "phi": (["phi", add(X, mul(num(-2), Y))], lambda x, y: mpmath.ncdf(x - 2 * y)),
    "exp-root": (mul(["exp", X], power(Y, "1/2")), lambda x, y: mpmath.exp(x) * mpmath.sqrt(y)),
    "inverse-root": (power(Y, "-3/2"), lambda x, y: y ** (-mpmath.mpf(3) / 2)),
    "log-quotient": (["log", mul(Y, power(add(num(5), X), -3))], lambda x, y: mpmath.log(y / (5 + x) ** 3)),
    "symbolic-power": (["pow", Y, X], mpmath_power),
    "max-abs": (
        ["max", X, mul(num("1/2"), ["abs", add(X, mul(num(-1), Y))]), num("1/3")],
        lambda x, y: max(x, abs(x - y) / 2, mpmath.mpf(1) / 3),
    ),
    "sum": (["sum", power(Y, 2), "k", num(1), num(3)], lambda x, y: 3 * y**2),
}


def random_box(draw: random.Random) -> dict[str, ValueRange]:
    box = {}
    for x, low, high in (("x", -3, 3), ("y", 0, 4)):
        a, b = sorted(Fraction(draw.randint(low * 1000 + 1, high * 1000), 1000) for _ in range(2))
        box[x] = ValueRange(a, b if draw.random() < 0.5 else a + (b - a) / 1000)
    return box


def exactly(q: Fraction) -> Any:
    return mpmath.mpf(q.numerator) / q.denominator


SLACK = mpmath.mpf(2) ** -150


@pytest.mark.parametrize("name", FUNCTIONS)
def test_intervals_contain_values_at_random_points(name: str) -> None:
    """Seeded; containment is certain if the code is right, so there is no false alarm."""
    expression, function = FUNCTIONS[name]
    draw, term = random.Random(7), plain(read(expression))
    for _ in range(15):
        box = random_box(draw)
        low, high = ends(value(term, box, 128), 128)
        (below, _) = ends((lower(term, box, 128), 0), 128)
        with mpmath.mp.workprec(300):
            for _ in range(8):
                point = [
                    r.low + (r.high - r.low) * Fraction(draw.randint(0, 1000), 1000) for r in box.values()
                ]
                exact = function(*map(exactly, point))
                assert low - SLACK <= exact <= high + SLACK, (box, point)
                assert below - SLACK <= exact, (box, point)


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - {"sum", "max-abs"}))
@pytest.mark.parametrize("x", ["x", "y"])
def test_slopes_contain_derivatives_at_random_points(name: str, x: str) -> None:
    """Against mpmath's numerical derivative with 600 bits, whose error is far below the slack."""
    expression, function = FUNCTIONS[name]
    draw, term = random.Random(11), slope(plain(read(expression)), x)
    for _ in range(8):
        box = random_box(draw)
        low, high = ends(value(term, box, 128), 128)
        with mpmath.mp.workprec(600):
            point = [exactly((r.low + r.high) / 2) for r in box.values()]
            exact = mpmath.diff(function, tuple(point), n=(1, 0) if x == "x" else (0, 1))
            assert low - SLACK <= exact <= high + SLACK, box


UNIT_X, UNIT_Y = variable("x", "0", "1"), variable("y", "0", "1")
EXP = ["<=", add(num(1), X), ["exp", X]]
TWICE = ["e", "x", "lower", ["0"], ["e", "x", "lower", ["0"], ["+"]]]
CHORD = add(num(1), mul(X, add(["exp", num(1)], num(-1))))
"""Of exp from 0 to 1: both sides touch at both ends, at 1 in a number that no interval has exactly."""
TOUCHING = [
    "s",
    "x",
    "1/2",
    ["e", "x", "lower", ["0"], ["+"]],
    ["s", "x", "3/4", ["m"], ["e", "x", "upper", ["="], ["+"]]],
]
TINY = Fraction(1, 10**400)
SQUARE = ["<", mul(X, add(num(1), mul(num(-1), X))), num("1/3")]
MILLS = ["<=", mul(["phi", mul(num(-1), X)], num(2)), ["exp", mul(num("-1/2"), power(X, 2))]]
COUNT = variable("n", "1", "5", "integer")
QUADRATIC = ["<=", num(0), mul(add(N, num(-2)), add(N, num(-3)))]  # false between 2 and 3, true at integers
LONG_SUM = ["<=", ["sum", ["pow", num(2), ["sym", "k"]], "k", num(0), N], num(64)]

TRUE = {
    "edges": boxes(EXP, TWICE, [UNIT_X]),
    "cut-domain": boxes(EXP, TWICE, [variable("x", "0", None)], "certified", x=("0", "3")),
    "edge-touched": boxes(["<=", ["exp", X], CHORD], TOUCHING, [UNIT_X]),
    "edge-touched-for-all-of-another-letter": boxes(
        ["<=", num(0), mul(Y, add(CHORD, mul(num(-1), ["exp", X])))],
        ["e", "x", "upper", ["="], ["+"]],
        [variable("x", "3/4", "1"), UNIT_Y],
    ),
    "split": boxes(SQUARE, ["s", "x", "1/2", ["m"], ["m"]], [UNIT_X]),
    "nested": boxes(SQUARE, ["n"], [UNIT_X]),
    "upper-edge": boxes(
        ["<=", ["log", X], add(X, num(-1))],
        ["e", "x", "upper", ["0"], ["e", "x", "upper", ["0"], ["+"]]],
        [variable("x", "1/2", "1")],
    ),
    "edge-tree": boxes(
        ["<", num(0), add(Y, ["exp", X])],
        ["e", "x", "lower", ["s", "y", "1/2", ["+"], ["+"]], ["+"]],
        [UNIT_X, UNIT_Y],
    ),
    "phi": boxes(
        MILLS, ["e", "x", "lower", ["0"], ["s", "x", "1/2", ["+"], ["m"]]], [variable("x", "0", "3/4")]
    ),
    "dropped": boxes(
        ["<=", num(1), add(X, Y)],
        ["s", "x", "1/2", ["-"], ["+"]],
        [UNIT_X, variable("y", "1/2", "1")],
        assuming=(["<", num("2/3"), X],),
    ),
    "integers-one-by-one": boxes(
        QUADRATIC,
        ["s", "n", "3/2", ["+"], ["s", "n", "5/2", ["+"], ["s", "n", "7/2", ["+"], ["+"]]]],
        [COUNT],
    ),
    "integer-sum": boxes(
        LONG_SUM,
        [
            "s",
            "n",
            "5/2",
            ["s", "n", "3/2", ["+"], ["+"]],
            ["s", "n", "7/2", ["+"], ["s", "n", "9/2", ["+"], ["+"]]],
        ],
        [COUNT],
    ),
    "abs": boxes(["<=", num(0), add(["abs", X], ["max", X, num(0)])], ["+"], [variable("x", "-1", "1")]),
    "constant": boxes(["<", num(3), ["pi"]], ["+"], []),
    "derivative": boxes(["<=", num(0), ["diff", ["exp", X], "x", 2]], ["+"], [UNIT_X]),
    "cube-root": boxes(["<=", num(1), power(X, "1/3")], ["+"], [variable("x", "1", "2")]),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_trees_are_confirmed(name: str) -> None:
    found = check(TRUE[name])
    assert found.confirmed, found


FALSE = {
    "derivative-of-what-is-undefined": boxes(  # the derivative itself has values
        ["<=", num(-1), ["diff", mul(num(0), ["log", X]), "x", 1]], ["+"], [variable("x", "-2", "-1")]
    ),
    "cube-root-of-what-is-negative": boxes(
        ["<=", power(X, "1/3"), num(9)], ["+"], [variable("x", "-2", "-1")]
    ),
    "symbol-of-no-variable": boxes(["<=", num(0), power(Y, 2)], ["+"], [UNIT_X]),
    "unknown-kind": boxes(["<=", num(0), X], ["+"], [UNIT_X | {"kind": "complex"}]),
    "variable-twice": boxes(["<=", num(0), X], ["+"], [UNIT_X, UNIT_X]),
    "sum-that-may-be-empty": boxes(
        ["<=", ["sum", num(1), "k", num(3), N], num(9)],
        ["s", "n", "3/2", ["+"], ["s", "n", "5/2", ["+"], ["s", "n", "7/2", ["+"], ["+"]]]],
        [COUNT],
    ),
    "sum-to-what-is-not-split": boxes(
        ["<=", ["sum", num(1), "k", num(1), N], num(9)], ["+"], [variable("n", "1", "5")]
    ),
    "drop-by-a-quoted-name-on-the-way": boxes(
        ["<=", num(0), mul(["sym", "x'"], add(["sym", "x'"], num(-1)))],
        ["e", "x'", "lower", ["0"], ["s", "x'", "1/2", ["-"], ["+"]]],
        [variable("x'", "0", "1")],
        assuming=(["<", num("1/2"), ["sym", "x'"]],),
    ),
    "open-end-not-covered": boxes(  # the box must reach it
        ["<", X, num(1)], ["+"], [variable("x", "0", "1", opened=")")], x=("0", "99/100")
    ),
    "witness-outside-the-box": boxes(EXP, TWICE, [variable("x", "0", None)], "certified", x=("0", "3"))
    | {"witness": {"x": "5"}},
    "verdict-upgraded": TRUE["cut-domain"] | {"verdict": "proved"},
    "claim-false": boxes(["<=", ["exp", X], add(num(1), X)], TWICE, [UNIT_X]),
    "constant-changed": boxes(
        ["<", mul(X, add(num(1), mul(num(-1), X))), num("1/4")], ["s", "x", "1/2", ["m"], ["m"]], [UNIT_X]
    ),
    "part-missing": boxes(SQUARE, ["s", "x", "1/2", ["m"]], [UNIT_X]),
    "part-too-many": boxes(SQUARE, ["s", "x", "1/2", ["m"], ["m"], ["m"]], [UNIT_X]),
    "split-outside": boxes(SQUARE, ["s", "x", "3/2", ["m"], ["m"]], [UNIT_X]),
    "split-of-unknown": boxes(SQUARE, ["s", "y", "1/2", ["m"], ["m"]], [UNIT_X]),
    "dropped-without-reason": boxes(SQUARE, ["s", "x", "1/2", ["-"], ["m"]], [UNIT_X]),
    "dropped-where-it-may-hold": boxes(
        ["<", X, num("1/2")], ["s", "x", "1/2", ["+"], ["-"]], [UNIT_X], assuming=(["<=", X, num("1/2")],)
    ),
    "dropped-where-undefined": boxes(
        ["<", X, num(-2)], ["-"], [variable("x", "-1", "1")], assuming=(["<", ["log", X], num(0)],)
    ),
    "not-0-on-the-edge": boxes(["<=", X, ["exp", X]], TWICE, [UNIT_X])
    | {
        "proof": {
            "method": "boxes",
            "box": {"x": ["0", "1"]},
            "precision": 64,
            "tree": ["e", "x", "upper", ["0"], ["+"]],
        }
    },
    "edge-0-but-strict": boxes(["<", add(num(1), X), ["exp", X]], TWICE, [UNIT_X]),
    "edge-touched-and-crossed": boxes(["<=", add(["exp", X], num(TINY)), CHORD], TOUCHING, [UNIT_X]),
    "edge-touched-but-strict": boxes(["<", ["exp", X], CHORD], TOUCHING, [UNIT_X]),
    "edge-of-another-letter": boxes(["<=", ["exp", X], CHORD], ["="], [UNIT_X]),
    "edge-touched-at-one-place": boxes(
        ["<=", mul(Y, ["exp", X]), CHORD],
        ["s", "x", "1/2", ["m"], ["e", "x", "upper", ["="], ["+"]]],
        [UNIT_X, UNIT_Y],
    ),
    "edge-wrong-end": boxes(EXP, ["e", "x", "upper", ["+"], ["+"]], [UNIT_X]),
    "edge-not-monotone": boxes(
        ["<=", num(0), mul(X, add(num("1/2"), mul(num(-1), X)))], ["e", "x", "lower", ["0"], ["+"]], [UNIT_X]
    ),
    "edge-undefined": boxes(["<=", num(0), ["log", X]], ["e", "x", "upper", ["0"], ["+"]], [UNIT_X]),
    "edge-negative-log": boxes(
        ["<=", mul(num(0), ["log", X]), num(0)],
        ["e", "x", "lower", ["0"], ["+"]],
        [variable("x", "-2", "-1")],
    ),
    "edge-root-of-square": boxes(
        ["<=", X, power(power(X, 2), "1/2")],
        ["e", "y", "lower", ["0"], ["+"]],
        [variable("x", "-1", "1"), UNIT_Y],
    )
    | {
        "problem": {
            "variables": [variable("x", "-1", "1"), UNIT_Y],
            "assuming": [],
            "claim": ["<=", power(power(X, 2), "1/2"), X],
        }
    },
    "drop-on-the-way-from-an-edge": boxes(  # f = (x - 1/2)^2 - 1/4 falls first; the assumption hides where it does
        ["<=", num(0), mul(X, add(X, num(-1)))],
        ["e", "x", "lower", ["0"], ["s", "x", "1/2", ["-"], ["+"]]],
        [UNIT_X],
        assuming=(["<", num("1/2"), X],),
    ),
    "integers-rounded-on-the-way-from-an-edge": boxes(
        ["<=", num(0), mul(num(-1), add(N, num(-1)), add(N, num(-2)), add(N, num(-3)))],
        ["e", "n", "lower", ["0"], ["s", "n", "3/2", ["+"], ["s", "n", "5/2", ["+"], ["+"]]]],
        [variable("n", "1", "4", "integer")],
    ),
    "real-for-integer": boxes(
        QUADRATIC, ["s", "n", "3/2", ["+"], ["s", "n", "5/2", ["+"], ["+"]]], [variable("n", "1", "4")]
    ),
    "integer-skipped": boxes(["<", N, num(5)], ["s", "n", "9/2", ["+"], ["+"]], [COUNT]),
    "undefined-in-box": boxes(["<=", num(0), power(X, "-2")], ["+"], [variable("x", "-1", "1")]),
    "undefined-at-closed-end": boxes(["<=", num(0), power(X, "-2")], ["+"], [UNIT_X]),
    "undefined-times-0": boxes(
        ["<=", mul(num(0), power(X, "1/2")), num(0)], ["+"], [variable("x", "-1", "1")]
    ),
    "derivative-at-a-kink": boxes(
        ["<=", num("-1/2"), ["diff", ["abs", X], "x", 1]], ["+"], [variable("x", "-1", "1")]
    ),
    "box-without-a-variable": boxes(["<=", X, num(1)], ["+"], [UNIT_X, UNIT_Y])
    | {"proof": {"method": "boxes", "box": {"y": ["0", "1"]}, "precision": 64, "tree": ["+"]}},
    "empty-box": boxes(["<=", X, num(0)], ["+"], [UNIT_X], "certified", x=("1", "0")),
    "box-off-the-domain": boxes(["<=", num(2), X], ["+"], [UNIT_X], "certified", x=("2", "3")),
    "no-integer-in-box": boxes(["<", N, N], ["+"], [COUNT], "certified", n=("5/4", "7/4")),
    "equality": boxes(["==", X, X], ["+"], [UNIT_X]),
    "unknown-leaf": boxes(SQUARE, ["yes"], [UNIT_X]),
    "mean-value-does-not-hold": boxes(["<=", power(X, 3), mul(num("9/10"), X)], ["m"], [UNIT_X]),
    "pi": boxes(["<=", ["pi"], num("3.14159265358979323846")], ["+"], []),
    "phi-tight": boxes(["<=", ["phi", num(1)], num("0.84134474606854294858523")], ["+"], []),
}


@pytest.mark.parametrize("name", FALSE)
def test_planted_faults_are_refused(name: str) -> None:
    found = check(FALSE[name])
    assert not found.confirmed, found
    assert found.says
