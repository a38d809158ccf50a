"""The checker's intervals contain what they should, and its replay of trees of boxes refuses what does not hold."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from dpverify.proving.checker import check
from dpverify.proving.checker_intervals import enclose, erfc, iv
from dpverify.proving.checker_terms import read

Json = Any
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
    return {"version": 1, "problem": problem, "verdict": verdict, "proof": proof}


def ends(ball: Any) -> tuple[Any, Any]:
    return tuple(mpmath.mp.make_mpf(raw) for raw in ball._mpi_)


@pytest.mark.parametrize("precision", [53, 80, 200])
def test_erfc_lies_between_its_bounds_and_they_are_close(precision: int) -> None:
    """Against mpmath with 400 bits; relative width below 2^(8 - precision), which for 53 bits is 3e-14."""
    with mpmath.mp.workprec(400):
        points = [Fraction(k, 8) + Fraction(k * k % 97, 10_000) for k in range(-320, 320, 7)]
        for q in [*points, Fraction(0), Fraction(1, 10**30), Fraction(-40), Fraction(40)]:
            iv.prec = precision
            low, high = ends(erfc(q, precision))
            exact = mpmath.erfc(mpmath.mpf(q.numerator) / q.denominator)
            assert low <= exact <= high, q
            assert (high - low) / exact < mpmath.mpf(2) ** (8 - precision), q


def mpmath_power(x: Any, y: Any) -> Any:
    return y**x


FUNCTIONS: dict[str, tuple[Json, Any]] = {
    "phi": (["phi", add(X, mul(num(-2), Y))], lambda x, y: mpmath.ncdf(x - 2 * y)),
    "erfc": (["erfc", mul(X, Y)], lambda x, y: mpmath.erfc(x * y)),
    "exp-root": (mul(["exp", X], power(Y, "1/2")), lambda x, y: mpmath.exp(x) * mpmath.sqrt(y)),
    "cube-root": (power(Y, "1/3"), lambda x, y: mpmath.cbrt(y)),
    "log-quotient": (["log", mul(Y, power(add(num(5), X), -3))], lambda x, y: mpmath.log(y / (5 + x) ** 3)),
    "symbolic-power": (["pow", Y, X], mpmath_power),
    "max-min-abs": (
        ["max", X, ["min", Y, ["abs", X]], num("1/3")],
        lambda x, y: max(x, min(y, abs(x)), mpmath.mpf(1) / 3),
    ),
    "derivative": (
        ["diff", ["phi", mul(X, power(Y, "1/2"))], "y", 1],
        lambda x, y: mpmath.npdf(x * mpmath.sqrt(y)) * x / (2 * mpmath.sqrt(y)),
    ),
    "second-derivative": (
        ["diff", ["log", add(Y, ["exp", X])], "x", 2],
        lambda x, y: y * mpmath.exp(x) / (y + mpmath.exp(x)) ** 2,
    ),
    "sum": (["sum", power(Y, 2), "k", num(1), num(3)], lambda x, y: 3 * y**2),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", ["+", "m", "n"])
def test_intervals_contain_values_at_random_points(name: str, kind: str) -> None:
    """Seeded; containment is certain if the code is right, so there is no false alarm."""
    expression, function = FUNCTIONS[name]
    draw = random.Random(7)
    term = read(expression, {"x": ("sym", "x"), "y": ("sym", "y")})
    for _ in range(15):
        box = {}
        for x, low, high in (("x", -3, 3), ("y", 0, 4)):
            a, b = sorted(Fraction(draw.randint(low * 1000 + 1, high * 1000), 1000) for _ in range(2))
            box[x] = (a, b if draw.random() < 0.5 else a + (b - a) / 1000)
        low, high = ends(enclose(term, box, 80, kind))
        with mpmath.mp.workprec(200):
            for _ in range(8):
                point = [a + (b - a) * Fraction(draw.randint(0, 1000), 1000) for a, b in box.values()]
                exact = function(*(mpmath.mpf(q.numerator) / q.denominator for q in point))
                assert low - mpmath.mpf(2) ** -150 <= exact <= high + mpmath.mpf(2) ** -150, (box, point)


UNIT_X, UNIT_Y = variable("x", "0", "1"), variable("y", "0", "1")
EXP = ["<=", add(num(1), X), ["exp", X]]
TWICE = ["e", "x", "lower", ["0"], ["e", "x", "lower", ["0"], ["+"]]]
SQUARE = ["<", mul(X, add(num(1), mul(num(-1), X))), num("1/3")]
MILLS = ["<=", mul(["phi", mul(num(-1), X)], num(2)), ["exp", mul(num("-1/2"), power(X, 2))]]
COUNT = variable("n", "1", "5", "integer")
QUADRATIC = ["<=", num(0), mul(add(N, num(-2)), add(N, num(-3)))]  # false between 2 and 3, true at integers
LONG_SUM = ["<=", ["sum", ["pow", num(2), ["sym", "k"]], "k", num(0), N], num(64)]

TRUE = {
    "edges": boxes(EXP, TWICE, [UNIT_X]),
    "cut-domain": boxes(EXP, TWICE, [variable("x", "0", None)], "certified", x=("0", "3")),
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
    "at-diff": boxes(["<=", num(0), ["diff", ["exp", X], "x", 2]], ["+"], [UNIT_X]),
    "constant": boxes(["<", num(3), ["pi"]], ["+"], []),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_trees_are_confirmed(name: str) -> None:
    found = check(TRUE[name])
    assert found.confirmed, found


FALSE = {
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
