"""Certificates of false claims, written by hand: each has a planted fault that the checker must see."""

from __future__ import annotations

from fractions import Fraction

import mpmath

from .hand_certificates import (
    COUNT,
    CUBE,
    FROM_0,
    GAUSS,
    HALF_K,
    HALF_LINE,
    HALF_N,
    IDENTITY,
    LOSS,
    PI,
    POSITIVE,
    POSITIVE_Y,
    PREMISE,
    REAL,
    REAL_Y,
    ROOT,
    SMT,
    SUM,
    TRUE,
    UP_TO_X,
    E,
    Json,
    K,
    N,
    X,
    Y,
    Z,
    add,
    at_point,
    certificate,
    gaussian,
    identity,
    monotone,
    mul,
    num,
    power,
    primitive,
    signs,
    smt,
    square,
    sub,
    summed,
    units,
    variable,
)


def large_constant() -> Json:
    """A bound of exp(200) that is wrong in the digits that mpmath does not have at 300 bits."""
    rough, fine = (
        Fraction(*mpmath.libmp.to_rational(mpmath.libmp.mpf_exp(mpmath.libmp.from_int(200), p)))
        for p in (300, 900)
    )
    claims = ["<=", ["exp", num(200)], num(rough + SLACK)], ["<=", num(rough - SLACK), ["exp", num(200)]]
    return smt(claims[rough > fine], REAL)


SLACK = Fraction(1, 2**60)
FAR = sub(mul(num(2), K), num(3))
LINE = ["integral", Z, "z", num(0), sub(mul(num(2), Z), num(3))]


def form_with_a_jump(k: Json) -> Json:
    """A closed form of 1 + ... + k at 1, and 1 more than that from 2 on."""
    return add(mul(num("1/2"), k, add(k, num(1))), ["min", num(1), sub(k, num(1))])


def primitive_with_a_kink(z: Json) -> Json:
    """A primitive of z above 1, and another one below."""
    return add(mul(num("1/2"), power(z, 2)), power(power(sub(z, num(1)), 2), "1/2"), mul(num(-1), z))


X_TIMES_K = ["sum", mul(X, K), "k", num(1), N]
POLE = ["integral", power(["sym", "z"], -2), "z", num(-1), num(1)]
FALSE = {
    "another-sum-assumed": smt(
        ["<=", Y, ["sum", sub(K, num(1)), "k", num(1), N]], COUNT, REAL_Y, assuming=(["<=", Y, SUM],)
    ),
    "sum-with-another-value-in-it": smt(
        ["<=", Y, ["at", X_TIMES_K, "x", sub(X, num(1))]],
        COUNT,
        REAL,
        REAL_Y,
        assuming=(["<=", Y, X_TIMES_K],),
    ),
    "sum-under-a-quantifier": smt(
        ["forall", variable("x"), ["<=", Y, X_TIMES_K]],
        COUNT,
        REAL_Y,
        assuming=(["<=", Y, ["at", X_TIMES_K, "x", num(1)]],),
    ),
    "sum-assumed-in-one-case": smt(
        ["<=", Y, SUM], COUNT, REAL, REAL_Y, assuming=(["or", ["<=", Y, SUM], ["<=", X, num(0)]],)
    ),
    "sum-of-no-terms": smt(
        ["==", mul(num(0), SUM), num(0)],
        variable("n", "[0,oo)", "integer"),
        REAL_Y,
        assuming=(["<=", num(0), Y],),
    ),
    "root-of-a-quotient-assumed": smt(  # both may be negative
        ["<", num(0), Y], REAL, REAL_Y, assuming=(["<=", power(mul(X, power(Y, -1)), "1/2"), num(1)],)
    ),
    "root-of-a-quotient-by-what-has-any-sign": identity(
        power(mul(X, power(add(Y, num(1)), -1)), "1/2"),
        mul(power(mul(X, add(Y, num(1))), "1/2"), power(mul(num(-1), add(Y, num(1))), -1)),
        REAL,
        REAL_Y,
        assuming=(["<", num(0), mul(X, power(add(Y, num(1)), -1))],),
    ),
    "other-arguments": smt(
        ["<=", Y, ["phi", X]], REAL, REAL_Y, assuming=(["<=", Y, ["phi", add(X, num(1))]],)
    ),
    "phi-of-the-opposite": identity(["phi", X], ["phi", mul(num(-1), X)], REAL),
    "phi-at-0": smt(["<", ["phi", num(0)], num("1/2")], REAL),
    "inverse-exponent": identity(
        ["exp", mul(X, power(Y, -1))], ["exp", mul(Y, power(X, -1))], POSITIVE, POSITIVE_Y
    ),
    "order-of-exponentials": smt(["<=", ["exp", Y], ["exp", X]], REAL, REAL_Y, assuming=(["<=", X, Y],)),
    "order-of-logarithms": smt(
        ["<=", ["log", Y], ["log", X]], POSITIVE, POSITIVE_Y, assuming=(["<=", X, Y],)
    ),
    "strict-order": smt(["<", ["phi", X], ["phi", Y]], REAL, REAL_Y, assuming=(["<=", X, Y],)),
    "exp-below-its-tangent": smt(["<=", ["exp", X], add(X, num(1))], REAL),
    "large-exponential": smt(["<=", ["exp", num(200)], num(1)], REAL),
    "constant-in-the-19th-digit": smt(["<=", ["exp", num(1)], num("2.71828182845904523536")], REAL),
    "minimum-is-no-maximum": identity(["min", X, Y], ["max", X, Y], REAL, REAL_Y),
    "maximum-of-roots-of-quotients": smt(  # at x = 0, y = 1/2 it is root(2)
        ["<=", ["max", ROOT, power(ROOT, -1)], power(ROOT, -1)],
        REAL,
        REAL_Y,
        assuming=(
            ["!=", Y, num(0)],
            ["<", num(0), add(X, power(Y, -1))],
            ["<=", add(mul(X, power(Y, 2)), Y), num(1)],
        ),
    )
    | {"witness": {"x": "0", "y": "1/2"}},
    "minimum-not-attained": smt(["<", ["min", X, Y], X], REAL, REAL_Y),
    "floor-is-no-identity": identity(["floor", X], X, REAL),
    "ceiling-below": smt(["<=", ["ceiling", X], X], REAL),
    "ceiling-far-above": smt(["<", ["ceiling", X], add(X, num("1/2"))], REAL),
    "gamma-undefined": identity(sub(["gamma", X], ["gamma", X]), num(0), REAL),
    "gamma-of-another": identity(["gamma", X], ["gamma", add(X, num(1))], POSITIVE),
    "gamma-of-half": identity(["gamma", num("1/2")], PI, REAL),
    "factorial-of-a-real": identity(sub(["factorial", X], ["factorial", X]), num(0), POSITIVE),
    "factorial-of-a-negative": identity(
        sub(["factorial", N], ["factorial", N]), num(0), variable("n", "[-3,oo)", "integer")
    ),
    "quantile-undefined": identity(sub(["phi_inverse", X], ["phi_inverse", X]), num(0), POSITIVE),
    "binomial-of-halves": identity(
        sub(["binomial", mul(num("1/2"), N), num(1)], ["binomial", mul(num("1/2"), N), num(1)]), num(0), COUNT
    ),
    "premise-of-no-use": smt(["<=", num(2), X], POSITIVE, assuming=(["<=", num(0), ["log", X]],)),
    "premise-with-logarithm-undefined": smt(
        ["<", num(0), X], REAL, assuming=(["implies", ["<", Y, num(0)], ["<", ["log", X], num(0)]],)
    ),
    "name-with-a-prime-only": smt(["<=", num(0), power(["sym", "'"], 2)], variable("'")),
    "changed-constant": identity(
        power(add(X, Y), 2), add(power(X, 2), mul(num(3), X, Y), power(Y, 2)), REAL, REAL_Y
    ),
    "flipped-sign": identity(
        power(sub(X, Y), 2), add(power(X, 2), mul(num(2), X, Y), power(Y, 2)), REAL, REAL_Y
    ),
    "exp": identity(["exp", add(X, Y)], add(["exp", X], ["exp", Y]), REAL, REAL_Y),
    "exp-third": identity(["exp", mul(num("1/2"), X)], power(["exp", X], "1/3"), REAL),
    "log-of-sum": identity(["log", add(X, Y)], add(["log", X], ["log", Y]), POSITIVE, POSITIVE_Y),
    "log-of-negative-factors": identity(
        ["log", mul(X, Y)], add(["log", X], ["log", Y]), variable("x", "(-oo,0)"), variable("y", "(-oo,0)")
    ),
    "log-of-square": identity(["log", power(X, 2)], mul(num(2), ["log", X]), variable("x", "(-oo,0)")),
    "root-of-square-negative": identity(power(power(X, 2), "1/2"), X, REAL),
    "root-of-product-negative": identity(
        power(mul(X, Y), "1/2"),
        mul(power(X, "1/2"), power(Y, "1/2")),
        variable("x", "(-oo,0)"),
        variable("y", "(-oo,0)"),
    ),
    "root-of-negative": identity(power(power(X, "1/2"), 2), X, REAL),
    "erfc-odd": identity(["erfc", X], mul(num(-1), ["erfc", mul(num(-1), X)]), REAL),
    "zero-denominator": identity(mul(X, power(X, -1)), num(1), REAL),
    "zero-denominator-closed-domain": identity(mul(X, power(X, -1)), num(1), FROM_0),
    "denominator-vanishes-identically": identity(mul(num(0), power(sub(X, X), -1)), num(0), REAL),
    "zero-times-undefined": identity(mul(num(0), ["log", X]), num(0), REAL),
    "difference-of-undefined": identity(sub(["log", X], ["log", X]), num(0), REAL),
    "derivative-where-undefined": identity(
        ["diff", ["log", X], "x", 1], power(X, -1), variable("x", "(-oo,0)")
    ),
    "derivative-of-root-at-0": identity(mul(num(0), ["diff", power(X, "1/2"), "x", 1]), num(0), FROM_0),
    "partial-for-total": identity(["at", ["diff", mul(X, Y), "x", 1], "y", X], mul(num(2), X), REAL, REAL_Y),
    "total-for-partial": identity(["diff", ["at", mul(X, Y), "y", X], "x", 1], X, REAL),
    "shadowed-sum-index": identity(["sum", X, "x", num(1), num(2)], mul(num(2), X), REAL),
    "unknown-symbol": identity(["sym", "w"], ["sym", "w"], REAL),
    "made-up-symbol": identity(["sym", "#1"], num(0), REAL),
    "name-made-here": identity(["sym", "x+"], ["sym", "x+"], variable("x+")),
    "empty-sum": identity(["sum", K, "k", num(2), num(1)], num(0)),
    "point-not-false": at_point(["<=", X, num(1)], [REAL], x="1"),
    "point-outside": at_point(["<=", num(0), X], [FROM_0], x="-1"),
    "point-on-open-end": at_point(["<", num(0), X], [POSITIVE], x="0"),
    "point-on-an-end-that-is-called-open-by-a-number": at_point(
        ["<", num(0), X], [POSITIVE | {"lower_open": 1}], x="0"
    ),
    "point-not-integer": at_point(["!=", N, num("3/2")], [COUNT], n="3/2"),
    "point-missing": at_point(["<", X, X], [REAL]),
    "point-breaks-assumption": at_point(["<", X, num(1)], [REAL], (["<", num(2), X],), x="2"),
    "point-undefined": at_point(["<", power(X, -1), power(X, -1)], [REAL], x="0"),
    "point-undefined-log": at_point(["==", ["log", X], num(7)], [REAL], x="-1"),
    "point-undefined-times-0": at_point(["==", mul(num(0), power(X, "1/2")), num(7)], [REAL], x="-1"),
    "point-undefined-assumption": at_point(
        ["<", X, X], [REAL], (["or", ["<", ["log", X], num(0)], ["<=", num(0), ["log", X]]],), x="-1"
    ),
    "point-of-true-forall": at_point(["forall", E, ["<=", num(0), ["sym", "E"]]], [REAL], x="1"),
    "signs-false": signs(["<=", power(X, 2), power(X, 3)], [FROM_0], x=["lower"]),
    "signs-wrong-end": signs(["<=", num(0), X], [variable("x", "(-oo,1]")], x=["upper"]),
    "signs-no-bound": signs(["<=", num(0), X], [REAL], x=["lower"]),
    "signs-not-ordered": signs(
        ["<=", X, Y], [FROM_0, variable("y", "[0,oo)")], x=["lower"], y=["lower", {"plus": ["x"]}]
    ),
    "signs-circle": signs(
        ["<", X, X],
        [FROM_0, variable("y", "[0,oo)")],
        (["==", X, Y],),
        x=["lower", {"plus": ["y"]}],
        y=["lower", {"plus": ["x"]}],
    ),
    "signs-not-strict": signs(["<", num(0), X], [FROM_0], x=["lower"]),
    "signs-log": signs(["<=", num(0), ["log", X]], [POSITIVE], x=["lower"]),
    "signs-inverse-of-negative": signs(
        ["<=", num(0), power(sub(X, num(1)), -1)], [variable("x", "(-oo,1)")], x=["upper"]
    ),
    "signs-denominator-changes-sign": signs(
        ["<=", num(0), power(sub(X, num(1)), -1)], [FROM_0], (["!=", X, num(1)],), x=["lower"]
    ),
    "smt-false": smt(["<", mul(num(2), X, Y), add(power(X, 2), power(Y, 2))], REAL, REAL_Y),
    "smt-division-by-zero": smt(["or", ["<=", power(X, -1), num(0)], ["<=", num(0), power(X, -1)]], REAL),
    "smt-division-is-no-function-at-0": smt(["==", power(X, -1), power(X, -1)], REAL),
    "smt-undefined-assumption-in-or": smt(
        ["!=", X, num(0)], REAL, assuming=(["or", ["<", power(X, -1), num(1)], ["<", num(-1), num(0)]],)
    ),
    "smt-exp": smt(["<=", ["exp", X], add(num(1), X)], REAL),
    "smt-wrong-quantifier": smt(["implies", PREMISE, ["<", X, Y]], FROM_0, variable("y", "[0,oo)")),
    "exp-sum-of-exps": identity(add(["exp", X], ["exp", Y]), ["exp", add(X, Y)], REAL, REAL_Y),
    "exp-not-negative-enough": smt(["<=", ["exp", X], num(1)], REAL),
    "log-of-products-that-are-positive": identity(
        ["log", mul(X, X)], mul(num(2), ["log", X]), variable("x", "(-oo,0)")
    ),
    "log-of-negative-assumed": smt(
        ["<", X, num(0)], REAL, assuming=(["implies", ["<", X, num(0)], ["<", ["log", X], num(0)]],)
    ),
    "inverse-of-0-assumed": smt(
        ["<", num(1), num(0)], FROM_0, assuming=(["not", ["==", mul(X, power(X, -1)), num(1)]],)
    ),
    "log-of-product-assumed": smt(  # both may be negative
        ["<", num(0), X], REAL, REAL_Y, assuming=(["<=", ["log", mul(X, Y)], num(1)],)
    ),
    "power-assumed": smt(  # (-2)^2 is defined
        ["<", num(0), X], REAL, COUNT, assuming=(["<=", power(X, N), num(5)],)
    ),
    "assumed-too-little": smt(["<", X, num(1)], REAL, assuming=(["<", power(X, -1), num(1)],)),
    "diff-at-a-kink": identity(["diff", ["abs", X], "x", 1], num(1), FROM_0),
    "diff-of-negative-order": identity(["diff", power(X, 2), "x", -1], power(X, 2), REAL),
    "at-undefined": identity(["at", mul(num(0), power(Y, -1)), "y", X], num(0), REAL),
    "at-of-an-integer": identity(  # a sum to 1/2
        ["at", ["sum", num(1), "k", num(1), N], "n", num("1/2")], num("1/2"), COUNT
    ),
    "sum-perhaps-empty": smt(
        ["==", ["sum", X, "k", num(1), N], mul(N, X)], REAL, variable("n", "[-5,oo)", "integer")
    ),
    "sum-of-constants-to-real": smt(
        ["==", ["sum", X, "k", num(1), Y], mul(Y, X)], REAL, variable("y", "[1,oo)")
    ),
    "name-of-an-atom": smt(["<=", num(0), ["sym", "exp!0"]], variable("exp!0")),
    "name-with-mark": identity(["sym", "x!"], ["sym", "x!"], variable("x!")),
    "name-bound-twice": smt(["implies", ["forall", REAL, ["<=", num(0), X]], ["<=", num(0), X]], REAL),
    "bound-name-with-mark": smt(["forall", variable("E!"), ["==", ["sym", "E!"], ["sym", "E!"]]], REAL),
    "undefined-under-quantifier": smt(
        ["forall", E, ["==", mul(num(0), power(["sym", "E"], -1)), num(0)]], REAL
    ),
    "exp-under-quantifier": smt(["forall", E, ["<", num(0), ["exp", ["sym", "E"]]]], REAL),
    "large-power": identity(power(X, "1000000000"), power(X, "1000000000"), REAL),
    "smt-integer-quantifier": smt(
        ["implies", ["forall", E | {"kind": "integer"}, ["<", ["sym", "E"], X]], ["<", X, X]], REAL
    ),
    "sum-false": summed(["==", SUM, power(N, 2)], HALF_K),
    "sum-fake-form": summed(["==", SUM, power(N, 2)], power(K, 2)),
    "sum-wrong-start": summed(["==", SUM, add(HALF_N, num(1))], add(HALF_K, num(1))),
    "sum-maybe-empty": summed(["==", SUM, HALF_N], HALF_K, variables=(variable("n", "[-5,oo)", "integer"),)),
    "sum-to-real": summed(["==", SUM, HALF_N], HALF_K, variables=(variable("n", "[1,oo)"),)),
    "sum-other-last": summed(["==", ["sum", K, "k", num(1), add(N, num(1))], HALF_N], HALF_K),
    "sum-undefined-term": summed(
        ["==", ["sum", mul(num(0), power(sub(K, num(2)), -1)), "k", num(1), N], num(0)],
        num(0),
        total=["sum", mul(num(0), power(sub(K, num(2)), -1)), "k", num(1), N],
    ),
    "sum-with-an-end-of-the-same-name": certificate(  # the form is only compared from 3 on, and jumps at 2
        [variable("k", "[3,oo)", "integer")],
        ["==", ["sum", K, "k", num(1), FAR], form_with_a_jump(FAR)],
        {"method": "sum", "closed": [[["sum", K, "k", num(1), FAR], form_with_a_jump(K)]], "then": SMT},
    ),
    "conjunction-one-false": certificate(
        [FROM_0], ["and", ["==", X, X], ["<", num(0), X]], {"method": "conjunction", "parts": [IDENTITY, SMT]}
    ),
    "conjunction-part-missing": certificate(
        [FROM_0], ["and", ["==", X, X], ["<", num(0), X]], {"method": "conjunction", "parts": [IDENTITY]}
    ),
    "conjunction-of-what-is-denied": certificate(
        [FROM_0], ["not", ["==", X, X]], {"method": "conjunction", "parts": [IDENTITY]}
    ),
    "conjunction-with-a-part-refuted": certificate(
        [FROM_0],
        ["and", ["==", X, X], ["<", X, X]],
        {"method": "conjunction", "parts": [IDENTITY, {"method": "counterexample", "point": {"x": "0"}}]},
    ),
    "sum-for-an-integral": certificate(
        [],
        ["==", ["sum", Z, "z", num(0), num(1)], num("1/2")],
        {
            "method": "antiderivative",
            "integral": ["sum", Z, "z", num(0), num(1)],
            "primitive": mul(num("1/2"), power(Z, 2)),
            "then": IDENTITY,
        },
    ),
    "vector-for-a-number": smt(["<=", num(0), power(X, 2)], REAL | {"kind": "vector"})
    | {"witness": {"x": "(1)"}},
    "large-constant": large_constant(),
    "every-number-of-none": smt(["forall", variable("E", "[1,0]"), ["<=", num(1), num(0)]], REAL),
    "units-wrong": units(["<=", X, Y], "proved"),
    "units-other-powers": units(["<=", X, power(Y, 2)], "refuted"),
    "units-fine-called-refuted": units(["<=", X, X], "refuted"),
    "units-exp-of-loss": units(["<=", ["exp", X], num(1)], "proved"),
    "units-of-an-irrational-power": units(["<=", power(X, PI), num(1)], "proved"),
    "units-of-an-integral-over-what-has-none": units(
        ["<=", ["integral", X, "z", ["inf", "-"], ["inf", "+"]], X], "proved"
    ),
    "units-power": units(["<=", power(num(2), X), num(1)], "proved"),
    "monotone-reversed": monotone("log", add(X, num(2)), add(X, num(1))),
    "monotone-undefined": monotone("log", X, add(X, num(1))),
    "monotone-negative": monotone("exp", X, add(X, num(1)), times="-1"),
    "monotone-other-function": monotone("erfc", X, add(X, num(1))),
    "square-wrong-root": square(add(X, Y), num(1)),
    "square-negative-rest": square(sub(X, Y), num(-1)),
    "gaussian-wrong-value": gaussian(power(PI, "1/2")),
    "gaussian-half-line-is-no-line": gaussian(power(mul(num(2), PI), "1/2"), total=HALF_LINE),
    "gaussian-lower-end-infinite-above": gaussian(
        mul(num(-1), power(mul(num("1/2"), PI), "1/2")), total=[*GAUSS[:3], ["inf", "+"], num(0)]
    ),
    "gaussian-ends-in-no-order": gaussian(
        mul(power(mul(num(2), PI), "1/2"), sub(["phi", X], ["phi", num(0)])), total=UP_TO_X, variables=(REAL,)
    ),
    "gaussian-of-negative-rate": gaussian(
        num(0), rate="-1/2", total=["integral", ["exp", mul(num("1/2"), power(["sym", "z"], 2))], *GAUSS[2:]]
    ),
    "gaussian-center-moves": gaussian(num(1), factor=["exp", mul(num("-1/2"), power(["sym", "z"], 2))]),
    "gaussian-of-something-else": gaussian(
        power(mul(num(2), PI), "1/2"), total=["integral", ["exp", mul(num(-1), ["sym", "z"])], *GAUSS[2:]]
    ),
    "gaussian-not-refuted": gaussian(
        power(mul(num(2), PI), "1/2"), then={"method": "counterexample", "point": {"z": "0"}}
    )
    | {"verdict": "refuted"},
    "gaussian-where-the-name-means-another": certificate(  # in the sum, x is 1 and not the variable
        [variable("x", "[2,oo)")],
        ["<=", num(100), ["sum", UP_TO_X, "x", num(1), num(1)]],
        {
            "method": "gaussian-integral",
            "integral": UP_TO_X,
            "rate": num("1/2"),
            "center": num(0),
            "factor": num(1),
            "then": SMT,
        },
    ),
    "gaussian-with-a-factor-of-the-same-name": gaussian(
        mul(Z, power(mul(num(2), PI), "1/2")), total=["integral", mul(Z, GAUSS[1]), *GAUSS[2:]], factor=Z
    ),
    "primitive-with-an-end-of-the-same-name": certificate(  # its slope is only right from 3 on
        [variable("z", "[3,oo)")],
        ["==", LINE, sub(primitive_with_a_kink(sub(mul(num(2), Z), num(3))), num(1))],
        {"method": "antiderivative", "integral": LINE, "primitive": primitive_with_a_kink(Z), "then": SMT},
    ),
    "gaussian-wrong-rate": gaussian(power(PI, "1/2"), rate="1"),
    "primitive-wrong": primitive(mul(num("1/2"), power(["sym", "z"], 3)), mul(num("1/2"), power(X, 3))),
    "primitive-over-a-pole": certificate(
        [REAL],
        ["==", POLE, num(-2)],
        {
            "method": "antiderivative",
            "integral": POLE,
            "primitive": mul(num(-1), power(["sym", "z"], -1)),
            "then": IDENTITY,
        },
    ),
    "primitive-with-a-jump": certificate(
        [REAL],
        ["==", ["integral", num(0), "z", num(-1), num(1)], num(1)],
        {
            "method": "antiderivative",
            "integral": ["integral", num(0), "z", num(-1), num(1)],
            "primitive": ["floor", add(["sym", "z"], num("1/2"))],
            "then": IDENTITY,
        },
    ),
    "primitive-backward": primitive(CUBE, mul(num("1/3"), power(X, 3)), "(-oo,oo)"),
    "computer-algebra": certificate(
        [REAL], ["==", X, X], {"method": "computer-algebra", "steps": ["simplify"]}
    ),
    "unknown-method": certificate([REAL], ["==", X, X], {"method": "trust"}),
    "method-of-the-class": certificate([REAL], ["==", X, X], {"method": "defined"}),
    "units-unknown-function": units(["<=", ["gamma", X], num(1)], "proved"),
    "units-name-twice": units(["<=", X, X], "proved")
    | {"problem": {"variables": [LOSS, LOSS], "assuming": [], "claim": ["<=", X, X]}},
    "point-inside-open-end": at_point(["<=", ["exp", X], num(1)], [variable("x", "(-oo,1)")], x="1"),
    "point-off-the-domain": at_point(["<=", ["exp", X], num(1)], [variable("x", "(-oo,0]")], x="1"),
    "point-not-integer-exp": at_point(["<=", ["exp", N], num(1)], [COUNT], n="3/2"),
    "point-of-another-kind": at_point(["<=", ["exp", X], num(1)], [REAL | {"kind": "complex"}], x="1"),
    "point-at-which-it-is-true": at_point(["<=", ["phi_inverse", ["phi", X]], X], [REAL], x="1/3"),
    "verdict-changed": TRUE["binomial"] | {"verdict": "refuted"},
    "version": TRUE["binomial"] | {"version": 2},
    "no-proof": {"version": 1, "problem": TRUE["binomial"]["problem"], "verdict": "proved"},
    "variable-twice": identity(X, X, REAL, FROM_0),
    "unknown-kind": identity(X, X, REAL | {"kind": "complex"}),
    "number-with-exponent": identity(num("1e5"), num("100000")),
    "number-divided-by-0": identity(num("1/0"), num("1/0")),
    "nothing": None,
}
