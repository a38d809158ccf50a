"""Certificates about what there is to be, and about vectors, written by hand: true ones, and planted faults."""

from __future__ import annotations

from .hand_certificates import (
    POSITIVE,
    REAL,
    REAL_Y,
    SMT,
    Json,
    X,
    Y,
    add,
    at_point,
    certificate,
    identity,
    mul,
    num,
    power,
    smt,
    variable,
)  # fmt: skip

C = ["sym", "C"]


def there_is(letter: Json, core: Json, value: Json, *inner: Json, **others: Json) -> Json:
    """That there is a value for which something is true of a number x; other names have values, too."""
    values = {letter["name"]: value, **others}
    proof = {"method": "exists", "shows": "claim", "values": values, "inner": [*inner]}
    return certificate([REAL], ["exists", letter, core], proof)


T = ["sym", "t"]

RATE, BEYOND_T = mul(num(1), power(T, 1)), add(T, num(1))

TO_2 = ["exists", variable("C"), ["forall", variable("x", "[1,2]"), ["<=", X, C]]]

"""True: C = 2."""


def grows(
    claim: Json,
    along: Json,
    upper: Json | None = None,
    *,
    rate: Json = RATE,
    beyond: Json = BEYOND_T,
    above: tuple[str, ...] = ("C",),
) -> Json:
    """That no C is above all x in a domain, since at a value of x that is made of t none up to a rate is."""
    given = [["<=", ["sym", x], rate] for x in above]
    shown = [["<=", num(1), beyond], *([["<=", beyond, upper]] if upper else []), ["<", C, beyond]]
    inner = [certificate([variable("C"), along], claim, SMT, assuming=(*given,)) for claim in shown]
    growth = {"along": along, "rate": rate, "above": [*above], "below": []}
    return denied(claim, {"x": beyond}, inner, growth=growth)


def denied(claim: Json, values: Json, inner: list[Json], **more: Json) -> Json:
    """That a claim is false, whatever there is."""
    proof = {"method": "exists", "shows": "negation", "values": values, "inner": inner, **more}
    return certificate([], claim, proof, "refuted")


FROM_1 = variable("t", "[1,oo)")

SQUARE_OF_V = ["inner", ["sym", "v"], ["sym", "v"]]


def of_vectors(claim: Json, terms: list[Json]) -> Json:
    """A claim about a positive x and a vector v, shown by a sum."""
    found = certificate([POSITIVE, variable("v", kind="vector")], claim, {"method": "gram", "sum": terms})
    return found | {"witness": {"x": "1", "v": "(1)"}}


LESS = {"values": {"C": num(-1)}, "inner": at_point(["<=", num(0), add(power(X, 2), num(-1))], [REAL], x="0")}

SQUARES_BELOW = there_is(
    variable("C"),
    ["<=", num(0), add(power(X, 2), C)],
    num(0),
    smt(["<=", num(0), add(power(X, 2), num(0))], REAL),
)

SQUARES_BELOW["proof"]["below"] = [LESS]


TRUE = {
    "growth": grows(["exists", variable("C"), ["forall", variable("x", "[1,oo)"), ["<=", X, C]]], FROM_1),
    "constant-with-a-bound": SQUARES_BELOW,
    "vectors": of_vectors(["<=", num(0), SQUARE_OF_V], [[num(1), SQUARE_OF_V]]),
}

K, COUNTED = ["sym", "k"], variable("k", "[1,oo)", "integer")
TWO_OF_C = ["==", ["sum", C, "k", num(1), num(2)], num(3)]

FALSE = {
    "value-that-would-be-captured": certificate(  # k is the problem's outside of the sum, and the index inside
        [COUNTED],
        ["exists", variable("C"), ["and", ["==", C, K], TWO_OF_C]],
        {
            "method": "exists",
            "shows": "claim",
            "values": {"C": K},
            "inner": [identity(K, K, COUNTED), identity(["sum", K, "k", num(1), num(2)], num(3), COUNTED)],
        },
    ),
    "number-for-a-vector-that-there-is": there_is(
        variable("C", kind="vector"), ["==", C, num(1)], num(1), identity(num(1), num(1), REAL)
    ),
    "growth-that-ends": grows(
        ["exists", variable("C"), ["forall", variable("x", "[1,6]"), ["<=", X, C]]],
        variable("t", "[1,5]"),
        num(6),
    ),
    "rate-that-falls": grows(
        TO_2, FROM_1, num(2), rate=mul(num(1), power(T, -1)), beyond=add(num(1), power(T, -1))
    ),
    "growth-that-is-held-back": grows(
        TO_2, FROM_1, num(2), rate=mul(num(1), power(T, "1/2")), above=("C", "t")
    ),
    "value-for-what-there-is-to-be": denied(
        TO_2, {"x": num(1), "C": num(0)}, [smt(["<", num(0), num(1)], variable("C"))]
    ),
    "denied-on-a-box": denied(
        TO_2,
        {"x": num(2)},
        [
            certificate(
                [variable("C")],
                ["<", C, num(2)],
                {"method": "boxes", "box": {"C": ["0", "1"]}, "tree": ["+"]},
                "certified",
            )
        ],
    ),
    "constant-that-may-depend-on-what-grows": grows(
        ["forall", variable("x", "[1,oo)"), ["exists", variable("C"), ["<=", X, C]]], FROM_1
    ),
    "refuted-for-what-there-is": there_is(
        variable("C"), ["==", C, num(1)], num(2), at_point(["==", num(2), num(1)], [REAL], x="0")
    )
    | {"verdict": "certified"},
    "value-for-what-is-any-number": there_is(
        variable("C"),
        ["<=", X, mul(num(0), C)],
        num(1),
        smt(["<=", num(-1), mul(num(0), num(1))], REAL),
        x=num(-1),
    ),
    "no-square-is-not-0": of_vectors(["!=", num(0), SQUARE_OF_V], [[num(1), SQUARE_OF_V]]),
    "square-that-may-be-0": of_vectors(["<", num(0), SQUARE_OF_V], [[num(1), SQUARE_OF_V]]),
    "square-that-may-not-be-0": of_vectors(["==", num(0), SQUARE_OF_V], [[num(1), SQUARE_OF_V]]),
    "vectors-of-two-dimensions": at_point(
        ["!=", ["inner", ["sym", "v"], ["sym", "w"]], num(1)],
        [variable("v", kind="vector"), variable("w", kind="vector")],
        v="(1)",
        w="(1, 2)",
    ),
    "norm-of-a-quotient": of_vectors(
        [
            "==",
            power(["norm", mul(["sym", "v"], power(add(X, num(1)), -1))], 2),
            power(["norm", ["sym", "v"]], 2),
        ],
        [],
    ),
    "inverse-of-what-may-be-0": certificate(
        [],
        ["exists", variable("C", "[0,1]"), ["forall", variable("x", "[1,oo)"), ["<=", mul(C, X), num(1)]]],
        {
            "method": "exists",
            "shows": "negation",
            "values": {"x": BEYOND_T},
            "growth": {"along": FROM_1, "rate": RATE, "above": [], "below": ["C"]},
            "inner": [
                certificate(
                    [variable("C", "[0,1]"), FROM_1], claim, SMT, assuming=(["<=", num(1), mul(C, RATE)],)
                )
                for claim in (["<=", num(1), BEYOND_T], ["<", num(1), mul(C, BEYOND_T)])
            ],
        },
        "refuted",
    ),
    "point-that-moves": certificate(
        [REAL_Y],
        ["exists", variable("C"), ["!=", C, Y]],
        {
            "method": "exists",
            "shows": "negation",
            "values": {"y": C},
            "inner": [identity(C, C, variable("C"))],
        },
        "refuted",
    ),
    "value-off-its-domain": there_is(
        variable("C", "[0,1]"), ["==", C, num(2)], num(2), identity(num(2), num(2), REAL)
    ),
    "two-of-one-name": certificate(  # the inner one is meant: all x from 0 to 1
        [],
        ["exists", REAL, ["forall", variable("x", "[0,1]"), ["<=", num(1), X]]],
        {
            "method": "exists",
            "shows": "claim",
            "values": {"x": num(1)},
            "inner": [smt(["<=", num(1), num(1)], variable("x", "[0,1]"))],
        },
    ),
    "bound-that-is-no-number": SQUARES_BELOW
    | {"proof": SQUARES_BELOW["proof"] | {"below": [LESS | {"values": {"C": X}}]}},
    "half-an-integer-that-there-is": there_is(
        variable("C", kind="integer"),
        ["==", mul(num(2), C), num(1)],
        num("1/2"),
        identity(mul(num(2), num("1/2")), num(1), REAL),
    ),
}
