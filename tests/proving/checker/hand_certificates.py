"""Certificates written by hand: true ones, and what is beyond the checker."""

from __future__ import annotations

from typing import Any

import mpmath

from .hand_witnesses import witnessed

Json = Any
X, Y, Z, N, K, PI = ["sym", "x"], ["sym", "y"], ["sym", "z"], ["sym", "n"], ["sym", "k"], ["pi"]


def num(q: object) -> Json:
    return ["num", str(q)]


def add(*a: Json) -> Json:
    return ["add", *a]


def mul(*a: Json) -> Json:
    return ["mul", *a]


def sub(a: Json, b: Json) -> Json:
    return add(a, mul(num(-1), b))


def power(a: Json, n: object) -> Json:
    return ["pow", a, n if isinstance(n, list) else num(n)]


def variable(
    name: str, domain: str = "(-oo,oo)", kind: str = "real", unit: tuple[str, str] = ("0", "0")
) -> Json:
    low, high = (end.strip() for end in domain[1:-1].split(","))
    return {
        "name": name,
        "kind": kind,
        "lower": None if "oo" in low else low,
        "lower_open": domain[0] == "(",
        "upper": None if "oo" in high else high,
        "upper_open": domain[-1] == ")",
        "unit": {"loss": unit[0], "length": unit[1]},
    }


def certificate(
    variables: list[Json], claim: Json, proof: Json, verdict: str = "proved", assuming: tuple[Json, ...] = ()
) -> Json:
    problem = {"variables": variables, "assuming": list(assuming), "claim": claim}
    found = {"version": 1, "problem": problem, "verdict": verdict, "proof": proof}
    return found if verdict == "refuted" else witnessed(found)


REAL, POSITIVE, FROM_0 = variable("x"), variable("x", "(0,oo)"), variable("x", "[0,oo)")
IDENTITY, SMT = {"method": "identity"}, {"method": "smt"}


def identity(left: Json, right: Json, *variables: Json, assuming: tuple[Json, ...] = ()) -> Json:
    return certificate(list(variables), ["==", left, right], IDENTITY, assuming=assuming)


def at_point(claim: Json, variables: list[Json], assuming: tuple[Json, ...] = (), **point: str) -> Json:
    return certificate(variables, claim, {"method": "counterexample", "point": point}, "refuted", assuming)


def signs(claim: Json, variables: list[Json], assuming: tuple[Json, ...] = (), **shift: Json) -> Json:
    return certificate(variables, claim, {"method": "signs", "shift": shift}, assuming=assuming)


def smt(claim: Json, *variables: Json, assuming: tuple[Json, ...] = ()) -> Json:
    return certificate(list(variables), claim, SMT, assuming=assuming)


REAL_Y, POSITIVE_Y = variable("y"), variable("y", "(0,oo)")
COUNT = variable("n", "[1,oo)", "integer")
SUM = ["sum", K, "k", num(1), N]
HALF_N = mul(num("1/2"), N, add(N, num(1)))
HALF_K = mul(num("1/2"), K, add(K, num(1)))
LOSS, LENGTH = variable("x", "(0,oo)", unit=("1", "0")), variable("y", "(0,oo)", unit=("0", "1"))
E = variable("E", "[0,oo)")
GAUSS = ["integral", ["exp", mul(num("-1/2"), power(["sym", "z"], 2))], "z", ["inf", "-"], ["inf", "+"]]
SQUARES = ["integral", power(["sym", "z"], 2), "z", num(0), X]


def summed(
    claim: Json,
    form: Json,
    *,
    variables: tuple[Json, ...] = (COUNT,),
    total: Json = SUM,
    then: Json = IDENTITY,
) -> Json:
    return certificate(list(variables), claim, {"method": "sum", "closed": [[total, form]], "then": then})


def units(
    claim: Json, verdict: str, left: tuple[str, str] = ("1", "0"), right: tuple[str, str] = ("0", "1")
) -> Json:
    sides = {"left": left, "right": right}
    named = {side: {"loss": powers[0], "length": powers[1]} for side, powers in sides.items()}
    return certificate([LOSS, LENGTH], claim, {"method": "units", **named}, verdict)


def monotone(function: str, smaller: Json, larger: Json, **more: Json) -> Json:
    claim = ["<=", [function, smaller], [function, larger]]
    proof = {"method": "monotone", "function": function, "times": "1", "smaller": smaller, "larger": larger}
    return certificate([FROM_0], claim, proof | {"then": SMT} | more)


def square(root: Json, rest: Json) -> Json:
    claim = ["<=", mul(num(2), X, Y), add(power(X, 2), power(Y, 2))]
    return certificate([REAL, REAL_Y], claim, {"method": "square", "root": root, "rest": rest, "then": SMT})


HALF_LINE = [*GAUSS[:3], num(0), ["inf", "+"]]
UP_TO_X = [*GAUSS[:3], num(0), X]


def gaussian(
    value: Json,
    rate: str = "1/2",
    total: Json = GAUSS,
    variables: tuple[Json, ...] = (variable("z"),),
    then: Json = IDENTITY,
    **more: Json,
) -> Json:
    parts = {"integral": total, "rate": num(rate), "center": num(0), "factor": num(1)} | more
    proof = {"method": "gaussian-integral", **parts, "then": then}
    return certificate(list(variables), ["==", total, value], proof)


def primitive(form: Json, value: Json, domain: str = "[0,oo)") -> Json:
    proof = {"method": "antiderivative", "integral": SQUARES, "primitive": form, "then": IDENTITY}
    return certificate([variable("x", domain)], ["==", SQUARES, value], proof)


CUBE = mul(num("1/3"), power(["sym", "z"], 3))
ROOT_2 = power(num(2), "1/2")
ROOT = power(add(X, power(Y, -1)), "1/2")
PREMISE = ["forall", E, ["<=", ["max", num(0), sub(X, ["sym", "E"])], ["max", num(0), sub(Y, ["sym", "E"])]]]

TRUE = {
    "binomial": identity(power(add(X, Y), 2), add(power(X, 2), mul(num(2), X, Y), power(Y, 2)), REAL, REAL_Y),
    "partial-fractions": identity(
        add(power(add(X, num(1)), -1), power(add(X, num(2)), -1)),
        mul(add(mul(num(2), X), num(3)), power(add(power(X, 2), mul(num(3), X), num(2)), -1)),
        FROM_0,
    ),
    "exp-of-sum": identity(
        ["exp", add(X, mul(num("1/2"), Y))], mul(["exp", X], power(["exp", Y], "1/2")), REAL, REAL_Y
    ),
    "log-of-product": identity(["log", mul(X, Y)], add(["log", X], ["log", Y]), POSITIVE, POSITIVE_Y),
    "exp-log": identity(["exp", mul(num(2), ["log", X])], power(X, 2), POSITIVE),
    "root-of-square": identity(power(power(X, 2), "1/2"), X, FROM_0),
    "square-of-root": identity(power(power(X, "1/2"), 2), X, FROM_0),
    "root-of-log": identity(
        power(power(["log", power(X, -1)], "1/2"), 2), mul(num(-1), ["log", X]), variable("x", "(0,1)")
    ),
    "symbolic-power": identity(
        mul(power(num(2), X), power(num(2), Y)), power(num(2), add(X, Y)), REAL, REAL_Y
    ),
    "derivative-of-phi": identity(
        ["diff", ["phi", X], "x", 1],
        mul(["exp", mul(num("-1/2"), power(X, 2))], power(mul(num(2), PI), "-1/2")),
        REAL,
    ),
    "second-derivative-at": identity(["at", ["diff", power(X, 3), "x", 2], "x", Y], mul(num(6), Y), REAL_Y),
    "total-derivative": identity(["diff", ["at", mul(X, Y), "y", X], "x", 1], mul(num(2), X), REAL),
    "partial-derivative-then-at": identity(["at", ["diff", mul(X, Y), "x", 1], "y", X], X, REAL, REAL_Y),
    "cancelled-denominator": identity(mul(X, power(X, -1)), num(1), POSITIVE),
    "denominator-by-assumption": identity(
        mul(sub(X, Y), power(sub(X, Y), -1)), num(1), REAL, REAL_Y, assuming=(["!=", X, Y],)
    ),
    "fixed-sum": identity(["sum", power(K, 2), "k", num(1), num(4)], num(30)),
    "assumed-sum": smt(["<=", add(Y, Y), mul(num(2), SUM)], COUNT, REAL_Y, assuming=(["<=", Y, SUM],)),
    "sum-assumed-in-a-conjunction": smt(
        ["<=", Y, add(SUM, X)], COUNT, FROM_0, REAL_Y, assuming=(["and", ["<=", Y, SUM], ["<=", X, num(5)]],)
    ),
    "counterexample-exact": at_point(
        ["<", mul(num(2), X, Y), add(power(X, 2), power(Y, 2))], [REAL, REAL_Y], x="1/3", y="1/3"
    ),
    "counterexample-irrational": at_point(
        ["<=", ["exp", X], num("2.718281828459045235360287471352")], [REAL], x="1"
    ),
    "roots-of-constants": identity(
        add(power(num(8), "1/2"), power(num("1/2"), "1/2")), mul(num("5/2"), ROOT_2)
    ),
    "logs-of-constants": identity(["log", num("4/3")], sub(mul(num(2), ["log", num(2)]), ["log", num(3)])),
    "counterexample-root": at_point(["!=", power(X, "1/2"), num(2)], [FROM_0], x="4"),
    "counterexample-implies": at_point(
        ["implies", ["<=", num(0), X], ["or", ["<", X, num(1)], ["<", num(2), X]]], [REAL], x="3/2"
    ),
    "counterexample-sum": at_point(["==", SUM, power(N, 2)], [COUNT], n="5"),
    "counterexample-forall": at_point(
        ["implies", PREMISE, ["<", Y, X]], [FROM_0, variable("y", "[0,oo)")], x="1", y="2"
    ),
    "counterexample-assuming": at_point(["<", X, num(1)], [REAL], (["<=", num(2), X],), x="2"),
    "signs": signs(["<=", power(X, 2), power(X, 3)], [variable("x", "[1,oo)")], x=["lower"]),
    "signs-upper": signs(["<=", num(0), power(sub(num(1), X), -1)], [variable("x", "(-oo,1)")], x=["upper"]),
    "signs-quotient": signs(
        ["<", mul(X, power(add(X, Y), -1)), num(1)],
        [POSITIVE, variable("y", "[1,oo)")],
        x=["lower"],
        y=["lower"],
    ),
    "signs-ordered": signs(
        ["<=", power(X, 2), power(Y, 2)],
        [variable("x", "[1,oo)"), variable("y", "[1,oo)")],
        (["<=", X, Y],),
        x=["lower"],
        y=["lower", {"plus": ["x"]}],
    ),
    "signs-root-exp": signs(["<", num(0), add(power(X, "1/2"), ["exp", X])], [FROM_0], x=["lower"]),
    "smt": smt(["<=", mul(num(2), X, Y), add(power(X, 2), power(Y, 2))], REAL, REAL_Y),
    "smt-quotient": smt(["<=", mul(num(2), power(add(X, num(1)), -1)), num(2)], FROM_0),
    "smt-root": smt(["<=", mul(num(2), power(X, "1/2")), add(X, num(1))], FROM_0),
    "smt-quantifier": smt(["implies", PREMISE, ["<=", X, Y]], FROM_0, variable("y", "[0,oo)")),
    "smt-logic": smt(["or", ["<=", X, Y], ["and", ["<", Y, X], ["!=", X, Y]]], REAL, REAL_Y),
    "sum": summed(["==", SUM, HALF_N], HALF_K),
    "sum-of-constants": summed(
        ["==", ["sum", X, "k", num(1), N], mul(N, X)],
        mul(K, X),
        variables=(COUNT, REAL),
        total=["sum", X, "k", num(1), N],
    ),
    "conjunction": certificate(
        [FROM_0],
        ["and", ["==", X, X], ["<=", num(0), X]],
        {"method": "conjunction", "parts": [IDENTITY, SMT]},
    ),
    "conjunction-as-a-whole": certificate(  # of a method's hints, few are of use
        [FROM_0], ["or", ["==", X, X], ["<", num(0), X]], {"method": "conjunction", "parts": []}
    ),
    "inequality-as-identity": certificate([REAL], ["<=", X, X], IDENTITY),
    "exp-product": identity(mul(["exp", X], ["exp", Y]), ["exp", add(X, Y)], REAL, REAL_Y),
    "exp-quotient": identity(mul(["exp", X], ["exp", mul(num(-1), Y)]), ["exp", sub(X, Y)], REAL, REAL_Y),
    "log-of-exps": identity(["log", mul(["exp", X], ["exp", Y])], add(X, Y), REAL, REAL_Y),
    "powers-of-products": identity(
        power(mul(X, Y), ["sym", "z"]),
        mul(power(X, ["sym", "z"]), power(Y, ["sym", "z"])),
        POSITIVE,
        POSITIVE_Y,
        variable("z"),
    ),
    "assumed-defined": smt(["!=", X, num(0)], REAL, assuming=(["<", power(X, -1), num(1)],)),
    "counterexample-diff": at_point(
        ["==", ["at", ["diff", power(X, 3), "x", 2], "x", Y], Y], [REAL_Y], y="1/3"
    ),
    "counterexample-close": at_point(
        ["<=", ["exp", X], num(mpmath.libmp.to_str(mpmath.libmp.mpf_e(1200, "f"), 320))], [REAL], x="1"
    ),
    "units": units(["<=", X, mul(X, ["exp", mul(Y, power(Y, -1))])], "proved"),
    "units-zero": units(["<=", num(0), X], "proved"),
    "units-differ": units(["<=", X, Y], "refuted"),
    "units-in-a-sum": units(["<=", num(0), add(X, power(Y, 2))], "refuted", right=("0", "2")),
    "monotone": monotone("log", add(X, num(1)), add(X, num(2))),
    "monotone-exp": monotone("exp", X, add(X, num(1))),
    "square": square(sub(X, Y), num(1)),
    "gaussian-integral": gaussian(power(mul(num(2), PI), "1/2")),
    "antiderivative": primitive(CUBE, mul(num("1/3"), power(X, 3))),
    "gaussian-half-line": gaussian(power(mul(num("1/2"), PI), "1/2"), total=HALF_LINE),
    "gaussian-between": gaussian(
        mul(power(mul(num(2), PI), "1/2"), sub(["phi", X], ["phi", num(0)])),
        total=UP_TO_X,
        variables=(FROM_0,),
    ),
    "gaussian-refuted": gaussian(power(PI, "1/2"), then={"method": "counterexample", "point": {"z": "0"}})
    | {"verdict": "refuted"},
    "sum-of-powers": summed(
        ["<", ["sum", power(num(2), mul(num(-1), K)), "k", num(1), N], num(1)],
        sub(num(1), power(num(2), mul(num(-1), K))),
        total=["sum", power(num(2), mul(num(-1), K)), "k", num(1), N],
        then=SMT,
    ),
    "same-arguments": smt(  # the function is one unknown
        ["<=", Y, ["phi", mul(X, power(X, "1/2"), power(add(X, num(1)), -1))]],
        POSITIVE,
        REAL_Y,
        assuming=(["<=", Y, ["phi", mul(power(X, "5/2"), power(add(power(X, 2), X), -1))]],),
    ),
    "exponent-over-a-common-denominator": identity(
        ["exp", mul(X, power(add(X, Y), -1))],
        mul(["exp", num(1)], ["exp", mul(num(-1), Y, power(add(X, Y), -1))]),
        POSITIVE,
        POSITIVE_Y,
    ),
    "phi-of-the-opposite": identity(add(["phi", X], ["phi", mul(num(-1), X)]), num(1), REAL),
    "order-of-exponentials": smt(["<=", ["exp", X], ["exp", Y]], REAL, REAL_Y, assuming=(["<=", X, Y],)),
    "order-of-logarithms": smt(
        ["<=", ["log", X], ["log", Y]], POSITIVE, POSITIVE_Y, assuming=(["<=", X, Y],)
    ),
    "order-of-phi": smt(["<", ["phi", X], ["phi", Y]], REAL, REAL_Y, assuming=(["<", X, Y],)),
    "exp-above-its-tangent": smt(["<=", add(X, num(1)), ["exp", X]], REAL),
    "log-below-its-tangent": smt(["<=", ["log", X], sub(X, num(1))], POSITIVE),
    "constants": smt(["<", ["log", num("4/3")], mul(num("1/9"), ["exp", num(1)])], FROM_0),
    "premise-with-logarithm": smt(["<=", num(1), X], POSITIVE, assuming=(["<=", num(0), ["log", X]],)),
    "premise-defined-by-a-later-one": smt(
        ["<", num(0), Y], REAL, REAL_Y, assuming=(["<", ["log", X], Y], ["<=", num(1), X])
    ),
    "premise-in-and-is-defined": smt(
        ["!=", X, num(0)], FROM_0, assuming=(["and", ["<=", power(X, -1), num(1)], ["<=", X, X]],)
    ),
    "name-with-a-prime": smt(["<=", num(0), power(["sym", "Z'"], 2)], variable("Z'")),
    "minimum": smt(
        ["<=", ["min", X, Y, num(1)], add(X, mul(num("1/2"), sub(Y, X)))], FROM_0, variable("y", "[0,oo)")
    ),
    "minimum-of-the-opposites": identity(
        ["min", X, Y], mul(num(-1), ["max", mul(num(-1), X), mul(num(-1), Y)]), REAL, REAL_Y
    ),
    "ceiling": smt(["<", ["ceiling", X], add(["floor", X], num(2))], REAL),
    "erfc-and-phi": identity(["erfc", X], mul(num(2), ["phi", mul(num(-1), power(num(2), "1/2"), X)]), REAL),
    "gamma-of-halves": identity(mul(["gamma", num("5/2")], power(PI, "-1/2")), num("3/4"), REAL),
    "same-gamma": identity(["gamma", add(X, X)], ["gamma", mul(num(2), X)], POSITIVE),
    "product": identity(["product", K, "k", num(1), num(3)], num(6), REAL),
    "sum-of-sums": identity(["sum", SUM, "j", num(1), N], mul(N, SUM), COUNT),
    "power-of-a-negative-base": identity(power(mul(X, X), N), power(power(X, N), 2), REAL, COUNT),
    "order-of-arguments-under-a-function": smt(
        ["<=", ["gamma", add(X, num(2))], ["gamma", add(X, num(3))]], POSITIVE
    ),
}


BEYOND = {  # true, and refused because the checker does not see it
    "total-derivative": "a derivative of at is beyond this checker",
    "conjunction-as-a-whole": "no conjunction",
    "product": "product is beyond this checker",
    "sum-of-sums": "sum is beyond this checker",
    "power-of-a-negative-base": "perhaps undefined",
    "order-of-arguments-under-a-function": "cvc5 found no proof",
}
