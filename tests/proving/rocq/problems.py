"""Problems that the kernel is asked about: true ones with certificates, and false ones with those of true ones."""

from __future__ import annotations

from math import comb, factorial

from dpverify.proving.rocq.kernel import KernelRow
from dpverify.proving.rocq.terms import Json, replaced


def letter(
    name: str, kind: str = "real", low: str | None = "0", high: str | None = None, opened: bool = True
) -> Json:
    """A letter of a problem; positive if nothing else is said."""
    unit = {"loss": "0", "length": "0"}
    ends = {"lower": low, "lower_open": opened, "upper": high, "upper_open": False}
    return {"name": name, "kind": kind, **ends, "unit": unit}


X, Y, N = ["sym", "x"], ["sym", "y"], ["sym", "n"]
ONE, TWO = ["num", "1"], ["num", "2"]


def over(e: Json) -> Json:
    """An inverse."""
    return ["pow", e, ["num", "-1"]]


def problem(claim: Json, *assuming: Json, letters: tuple[Json, ...] = ()) -> Json:
    """A problem in x and y, or in these letters."""
    return {
        "variables": list(letters or (letter("x"), letter("y"))),
        "assuming": list(assuming),
        "claim": claim,
    }


BOUND = problem(["<=", ["mul", X, over(Y)], TWO], ["<=", X, ["mul", TWO, Y]])
ROOTS = problem(
    ["<=", ["pow", X, ["num", "1/2"]], ["mul", ["num", "3/2"], Y]], ["<=", X, ["mul", TWO, ["pow", Y, TWO]]]
)
EQUAL = problem(["==", ["mul", X, Y], ["mul", TWO, X]], ["==", Y, TWO])
CASES = problem(["<=", ["abs", X], ["max", X, Y]], ["or", ["<=", ["num", "0"], X], ["<=", X, Y]])
WHOLE = problem(["<=", ONE, ["pow", N, TWO]], letters=(letter("n", "integer", "1", opened=False),))
VECTORS = problem(
    ["<=", ["inner", X, Y], ["mul", ["norm", X], ["norm", Y]]],
    letters=(letter("x", "vector", None), letter("y", "vector", None)),
)
BROKEN = problem(["<=", ["mul", X, over(Y)], TWO])
NORMAL = problem(
    ["<=", ["phi", Y], ["num", "4/5"]], ["==", Y, ["log", ["mul", TWO, X]]], ["==", ["floor", X], TWO]
)
"""At x = 2: y is log 4, at which the normal law has 0.917."""
HALF = ["num", "1/2"]
SUM = ["sum", ["pow", HALF, ["sym", "i"]], "i", ONE, N]
HALVES = problem(["<", SUM, ONE], letters=WHOLE["variables"])
MINUS = ["num", "-1"]
CLOSED = {
    "method": "sum",
    "closed": [[SUM, ["add", ONE, ["mul", MINUS, ["pow", TWO, ["mul", MINUS, ["sym", "i"]]]]]]],
    "then": {"method": "signs", "shift": {"n": ["lower"]}},
}
FROM_ZERO = problem(
    ["<=", ["exp", X], ["add", ONE, ["mul", TWO, X]]], letters=(letter("x", high="1/2", opened=False),)
)
"""Both sides are 1 at 0, and the right one grows faster."""
TO_HALF = problem(["<=", ["pow", X, TWO], ["num", "1/4"]], letters=FROM_ZERO["variables"])


def along(end: str) -> Json:
    """A box for x from 0 to 1/2, from one of its ends."""
    return {
        "method": "boxes",
        "box": {"x": ["0", "1/2"]},
        "precision": 53,
        "tree": ["e", "x", end, ["0"], ["+"]],
    }


E_LESS_ONE = ["add", ["exp", ONE], MINUS]
CHORD = problem(
    ["<=", ["exp", X], ["add", ONE, ["mul", X, E_LESS_ONE]]],
    letters=(letter("x", low="3/4", high="1", opened=False),),
)
"""Both sides are e at 1, and the right one is larger before."""
FROM_ONE = {
    "method": "boxes",
    "box": {"x": ["3/4", "1"]},
    "precision": 53,
    "tree": ["e", "x", "upper", ["="], ["+"]],
}
REFLECTED = problem(["==", ["add", ["phi", X], ["phi", ["mul", ["num", "-1"], X]]], ONE])
AT_ZERO = letter("x", opened=False)


def slope(e: Json) -> Json:
    """A derivative along x."""
    return ["diff", e, "x", 1]


SLOPE = problem(["==", slope(["mul", X, ["exp", X]]), ["mul", ["add", ONE, X], ["exp", X]]])
NO_SLOPE = problem(["<=", ["num", "0"], slope(["pow", X, HALF])], letters=(AT_ZERO,))
"""At 0 there is none."""
NO_BODY = problem(["==", slope(["mul", X, over(X)]), ["num", "0"]], letters=(AT_ZERO,))
"""x / x is 0 at 0 for Rocq, and nothing here."""
SMT = {"method": "smt"}
INVERSE = problem(["<=", ["exp", ["mul", MINUS, X]], ONE])
FALLS = {
    "method": "monotone",
    "function": "exp",
    "smaller": ["mul", MINUS, X],
    "larger": ["num", "0"],
    "times": "1",
    "then": SMT,
}
CAUCHY = {"method": "gram", "sum": [[ONE, ["cauchy", X, Y]]]}
ZERO = ["num", "0"]
TANGENT = problem(["<=", ["log", ["add", ONE, X]], X], letters=(AT_ZERO,))
RISES = {"method": "chains", "steps": ["slope", "x", ZERO, ["leaf"], ["leaf"]]}
GROWS = problem(["<=", ["exp", X], ["exp", Y]], ["<=", X, Y])
IN_ORDER = {"method": "chains", "steps": ["order", ["leaf"]]}
POWER = problem(
    ["==", ["pow", ["exp", X], N], ["exp", ["mul", N, X]]], letters=(letter("x"), WHOLE["variables"][0])
)
SQUARE = problem(["<=", ["mul", TWO, X, Y], ["add", ["pow", X, TWO], ["pow", Y, TWO]]])
DIFFERENCE = {
    "method": "square",
    "root": ["add", X, ["mul", MINUS, Y]],
    "rest": ONE,
    "then": {"method": "signs", "shift": {}},
}
MEANS = problem(["<=", ["pow", ["mul", X, Y], HALF], ["mul", HALF, ["add", X, Y]]])
ROOT_OF_LOG = ["pow", ["log", over(X)], HALF]
TAIL = problem(["==", ["exp", ["mul", MINUS, ["pow", ROOT_OF_LOG, TWO]]], X], ["<", X, ONE])
IDENTITY = {"method": "identity"}
LEAF = {"method": "chains", "steps": ["leaf"]}
BELOW_ONE = problem(["<=", ZERO, ["mul", MINUS, over(["add", MINUS, X])]], ["<", X, ONE])
"""1 / (1 - x), with the denominator's sign turned."""
TWO_ROOTS = ["pow", ["add", ["pow", X, HALF], ["pow", Y, HALF]], TWO]
ROOTS_OUT = problem(["==", TWO_ROOTS, ["add", X, Y, ["mul", TWO, ["pow", ["mul", X, Y], HALF]]]])
ROOTS_BELOW = problem(["<=", ["pow", TWO_ROOTS, HALF], ["pow", ["mul", TWO, ["add", X, Y]], HALF]])


def both(*more: Json) -> Json:
    """The logarithm of the sum of two exponentials."""
    return ["log", ["add", ["exp", ["add", X, *more]], ["exp", ["add", Y, *more]]]]


SHIFT = problem(["==", both(["sym", "z"]), ["add", ["sym", "z"], both()]], letters=tuple(map(letter, "xyz")))
EACH = ["mul", ["sym", "i"], ["add", ["sym", "i"], ONE]]
TELESCOPE = problem(["<", ["sum", over(EACH), "i", ONE, N], ONE], letters=WHOLE["variables"])
TELESCOPED = {
    **CLOSED,
    "closed": [[TELESCOPE["claim"][1], ["add", ONE, ["mul", MINUS, over(["add", ["sym", "i"], ONE])]]]],
}
BELL = ["mul", ["exp", ["mul", ["num", "-2"], ["pow", X, TWO]]], over(["pow", ["mul", TWO, ["pi"]], HALF])]
NORMAL_SLOPE = problem(["==", slope(["phi", ["mul", TWO, X]]), ["mul", TWO, BELL]])
GROWN = ["factorial", N]
FACTORIAL = problem(["<=", ["pow", TWO, ["add", N, MINUS]], GROWN], letters=WHOLE["variables"])


def by_induction(place: str = "1", base: Json = SMT) -> Json:
    """From this integer on, in letters for a power of two and a factorial."""
    return {
        "method": "induction",
        "letter": "n",
        "first": ["num", place],
        "letters": [["g", FACTORIAL["claim"][1]], ["h", GROWN]],
        "bases": [{"proof": base, "witness": {}}],
        "step": {"proof": SMT, "witness": {"g": "1", "h": "1", "n": place}},
    }


SUBSETS = ["sum", ["binomial", N, ["sym", "i"]], "i", ZERO, N]
ALL_SUBSETS = problem(["==", SUBSETS, ["pow", TWO, N]], letters=WHOLE["variables"])
BINOMIAL = {
    "method": "binomial-sum",
    **{"sum": SUBSETS, "a": ONE, "b": ONE, "factor": ONE, "then": {"method": "identity"}},
}
NUMBERS = problem(
    ["or", *(["!=", ["binomial", ["num", str(n)], ["num", str(k)]], ["num", str(comb(n, k))]]
             for n in range(5) for k in range(6)),
     *(["!=", ["factorial", ["num", str(n)]], ["num", str(factorial(n))]] for n in range(8))],
    letters=(letter("x"),))  # fmt: skip
"""False: all of them are equal."""
SHARES = problem(
    ["<=", ["mul", X, over(["add", ONE, X])], ["mul", TWO, X, over(["add", ONE, ["mul", TWO, X]])]]
)
AROUND = problem(["<=", ONE, slope(["add", X, ["pow", ["mul", X, Y], HALF]])])
"""The root has a derivative where x y is positive, and so around there."""
DENSITY = [
    "mul",
    ["exp", ["mul", ["num", "-1/2"], ["pow", X, TWO]]],
    over(["pow", ["mul", TWO, ["pi"]], HALF]),
]
FAR = problem(["<=", ["phi", ["mul", MINUS, X]], ["mul", DENSITY, over(X)]])
"""Both sides are 0 far out, and the right one falls faster."""
SMALL = ["sym", "small"]
FROM_FAR = {
    "method": "chains",
    "steps": [
        *("slope", "x", ["+", "small", ["add", ONE, over(SMALL)]]),
        ["as", [], [], ["add", SMALL, ["mul", MINUS, ["phi", ["mul", MINUS, X]]], ["mul", DENSITY, over(X)]],
         ["leaf"]],
        ["as", [], [], ["mul", DENSITY, ["pow", X, ["num", "-2"]]], ["leaf"]],
    ],
}  # fmt: skip
CLIMBS = problem(["<", ["add", ONE, X], ["exp", X]])
CLIMBED = {
    "method": "chains",
    "steps": [
        *("climb", "x", ZERO, ["leaf"]),
        ["as", [], [], ["add", ["exp", X], ["mul", MINUS, ["exp", ZERO]]], ["order", ["leaf"]]],
    ],
}
ABOVE_HALF = problem(["<=", HALF, ["phi", X]])
ROOT_OF_PI = problem(["<=", ["mul", X, ["pow", TWO, HALF], ["pow", ["pi"], ["num", "-1/2"]]], X])
Z = ["sym", "z"]
FAR_DOWN, FAR_UP = ["inf", "-"], ["inf", "+"]
MOMENT = [
    "integral",
    ["mul", ["pow", Z, TWO], ["exp", ["mul", MINUS, X, ["pow", Z, TWO]]]],
    "z",
    FAR_DOWN,
    FAR_UP,
]
MOMENTS = problem(["==", MOMENT, ["mul", HALF, over(X), ["pow", ["mul", ["pi"], over(X)], HALF]]])
BY_PARTS = {
    "method": "gaussian-integral",
    **{"integral": MOMENT, "rate": X, "center": ZERO, "factor": ["mul", HALF, over(X)]},
    **{"part": ["mul", ["num", "-1/2"], over(X), Z], "then": IDENTITY},
}
DECAY = ["integral", ["mul", Z, ["exp", ["mul", MINUS, X, Z]]], "z", ZERO, FAR_UP]
DECAYS = problem(["==", DECAY, ["pow", X, ["num", "-2"]]])
FACTOR = ["add", ["mul", MINUS, over(X), Z], ["mul", MINUS, ["pow", X, ["num", "-2"]]]]
PRIMITIVE = {
    "method": "antiderivative",
    **{"integral": DECAY, "primitive": ["mul", FACTOR, ["exp", ["mul", MINUS, X, Z]]], "factor": FACTOR},
    **{"rate": X, "then": IDENTITY},
}
TAIL_OF_BELL = ["integral", ["exp", ["mul", MINUS, X, ["pow", Z, TWO]]], "z", Y, FAR_UP]
WHOLE_BELL = ["pow", ["mul", ["pi"], over(X)], HALF]
NORMAL_TAIL = ["add", ONE, ["mul", MINUS, ["phi", ["mul", Y, ["pow", ["mul", TWO, X], HALF]]]]]
FROM_NUMBER = problem(["==", TAIL_OF_BELL, ["mul", WHOLE_BELL, NORMAL_TAIL]])
BELL_SHOWN = {
    "method": "gaussian-integral",
    **{"integral": TAIL_OF_BELL, "rate": X, "center": ZERO, "factor": ONE, "then": IDENTITY},
}
AT_ONE = {**BELL_SHOWN, "then": {"method": "counterexample", "point": {"x": "1", "y": "1"}}}
ALL_OF_IT = problem(["<=", WHOLE_BELL, TAIL_OF_BELL])
AREA = ["integral", ["mul", TWO, over(Z)], "z", X, Y]
BETWEEN = problem(["==", AREA, ["mul", TWO, ["add", ["log", Y], ["mul", MINUS, ["log", X]]]]], ["<=", X, Y])
BY_LOGARITHM = {
    "method": "antiderivative",
    **{"integral": AREA, "primitive": ["mul", TWO, ["log", Z]], "then": IDENTITY},
}
BOTH = problem(["and", BETWEEN["claim"], ["<=", X, ["mul", TWO, Y]]], ["<=", X, Y])
"""By proofs of different methods."""
T = ["sym", "t"]


def of_order(claim: Json, constant: str = "C") -> Json:
    """That it holds for a constant and all n."""
    every = ["forall", letter("n", "integer", "1", opened=False), claim]
    return {**problem(["exists", letter(constant), every]), "variables": []}


def beyond(said: Json, rate: list[Json], value: Json, *, below: bool = False) -> Json:
    """A refutation along t, for constants below a rate, or of which the inverses are."""
    _, constant, (_, _, core) = said["claim"]
    name, along, whole = constant["name"], letter("t", "integer", "1", opened=False), ["mul", *rate]
    given = ["<=", ONE, ["mul", ["sym", name], whole]] if below else ["<=", ["sym", name], whole]
    claims = [["<=", ONE, value], ["<", *(replaced(side, "n", value) for side in (core[2], core[1]))]]
    one = {"version": 1, "verdict": "proved", "proof": SMT, "witness": {name: "1/4", "t": "64"}}
    inner = [{**one, "problem": problem(claim, given, letters=(constant, along))} for claim in claims]
    growth = {"along": along, "rate": whole, "above": [], "below": [], "below" if below else "above": [name]}
    return {"method": "exists", "shows": "negation", "growth": growth, "values": {"n": value}, "inner": inner}


LINE = of_order(["<=", N, ["mul", ["sym", "C"], ["pow", N, HALF]]])
BEYOND_ROOT = beyond(LINE, [HALF, ["pow", T, HALF]], T)
ROOT = of_order(["<=", ["pow", N, HALF], ["mul", ["sym", "C"], N]])
LOGARITHM = of_order(["<=", ["mul", ["sym", "c"], ["log", N]], ["num", "1/4"]], "c")
BEYOND_LOGARITHM = beyond(LOGARITHM, [TWO, ["log", T]], T, below=True)
SQUARES = of_order(["<=", ["mul", N, N], ["mul", ["sym", "C"], N]])
BEYOND_LINE = beyond(SQUARES, [ONE, ["pow", T, ONE]], ["mul", TWO, T])
QUANTILES = [["phi_inverse", X], ["phi_inverse", ["add", ONE, ["mul", MINUS, X]]]]
SHARE = letter("x", high="1")
SHARE["upper_open"] = True
QUANTILE = problem(["==", QUANTILES[1], ["mul", MINUS, QUANTILES[0]]], letters=(SHARE,))
LETTERS = {
    "method": "quantile",
    **{"letters": [["x", "q", X, ["sym", "q"]]], "then": IDENTITY, "witness": {"q": "1"}},
}
TRUE = [
    KernelRow("bound", BOUND, "proved", SMT),
    KernelRow("roots", ROOTS, "proved", SMT),
    KernelRow("equal", EQUAL, "proved", SMT),
    KernelRow("cases", CASES, "proved", SMT),
    KernelRow("whole", WHOLE, "proved", SMT),
    KernelRow("vectors", VECTORS, "proved", CAUCHY),
    KernelRow("broken", BROKEN, "refuted", {"method": "counterexample", "point": {"x": "3", "y": "1"}}),
    KernelRow("halves", HALVES, "proved", CLOSED),
    KernelRow("from zero", FROM_ZERO, "proved", along("lower")),
    KernelRow("to half", TO_HALF, "proved", along("upper")),
    KernelRow("chord", CHORD, "proved", FROM_ONE),
    KernelRow("reflected", REFLECTED, "proved", SMT),
    KernelRow("slope", SLOPE, "proved", {"method": "identity"}),
    KernelRow("inverse", INVERSE, "proved", FALLS),
    KernelRow("tangent", TANGENT, "proved", RISES),
    KernelRow("grows", GROWS, "proved", IN_ORDER),
    KernelRow("power", POWER, "proved", IDENTITY),
    KernelRow("square", SQUARE, "proved", DIFFERENCE),
    KernelRow("means", MEANS, "proved", SMT),
    KernelRow("tail", TAIL, "proved", IDENTITY),
    KernelRow("below one", BELOW_ONE, "proved", LEAF),
    KernelRow("roots out", ROOTS_OUT, "proved", IDENTITY),
    KernelRow("roots below", ROOTS_BELOW, "proved", SMT),
    KernelRow("shift", SHIFT, "proved", IDENTITY),
    KernelRow("telescope", TELESCOPE, "proved", TELESCOPED),
    KernelRow("normal slope", NORMAL_SLOPE, "proved", IDENTITY),
    KernelRow("factorial", FACTORIAL, "proved", by_induction()),
    KernelRow("subsets", ALL_SUBSETS, "proved", BINOMIAL),
    KernelRow("numbers", NUMBERS, "refuted", {"method": "counterexample", "point": {"x": "1"}}),
    KernelRow("shares", SHARES, "proved", SMT),
    KernelRow("around", AROUND, "proved", SMT),
    KernelRow("normal is positive", problem(["<", ZERO, ["phi", ["mul", MINUS, X]]]), "proved", SMT),
    KernelRow("far", FAR, "proved", FROM_FAR),
    KernelRow("climbs", CLIMBS, "proved", CLIMBED),
    KernelRow("above a half", ABOVE_HALF, "proved", RISES),
    KernelRow("root of pi", ROOT_OF_PI, "proved", LEAF),
    KernelRow("moments", MOMENTS, "proved", BY_PARTS),
    KernelRow("decays", DECAYS, "proved", PRIMITIVE),
    KernelRow("from a number", FROM_NUMBER, "proved", BELL_SHOWN),
    KernelRow("not all of it", ALL_OF_IT, "refuted", AT_ONE),
    KernelRow("between", BETWEEN, "proved", BY_LOGARITHM),
    KernelRow("both", BOTH, "proved", {"method": "conjunction", "parts": [BY_LOGARITHM, SMT]}),
    KernelRow("no line", LINE, "refuted", BEYOND_ROOT),
    KernelRow("no logarithm", LOGARITHM, "refuted", BEYOND_LOGARITHM),
    KernelRow("no squares", SQUARES, "refuted", BEYOND_LINE),
    KernelRow("quantile", QUANTILE, "proved", LETTERS),
    KernelRow("normal", NORMAL, "refuted", {"method": "counterexample", "point": {"x": "2"}}),
]


def less(row: Json, side: int) -> Json:
    """A problem with a side of its claim 2 percent smaller."""
    claim = [*row["claim"]]
    claim[side] = ["mul", ["num", "49/50"], claim[side]]
    return {**row, "claim": claim}


FALSE = [
    KernelRow(
        "far",
        problem(["<=", ["pow", X, ["num", "-2"]], over(X)]),
        "proved",
        {**FROM_FAR, "steps": [*FROM_FAR["steps"][:3], ["leaf"], ["leaf"]]},
    ),
    KernelRow("climbs", less(CLIMBS, 2), "proved", CLIMBED),
    KernelRow("above a half", less(ABOVE_HALF, 2), "proved", RISES),
    KernelRow("root of pi", problem([*ROOT_OF_PI["claim"][:2], ["mul", ["num", "3/4"], X]]), "proved", LEAF),
    KernelRow("moments", less(MOMENTS, 2), "proved", BY_PARTS),
    KernelRow("moments of no bell", {**MOMENTS, "variables": [letter("x", low=None)]}, "proved", BY_PARTS),
    KernelRow("decays", less(DECAYS, 2), "proved", PRIMITIVE),
    KernelRow("grows far up", {**DECAYS, "variables": [letter("x", low=None)]}, "proved", PRIMITIVE),
    KernelRow("from a number", less(FROM_NUMBER, 2), "proved", BELL_SHOWN),
    KernelRow("part of it", {**ALL_OF_IT, "claim": ["<=", *ALL_OF_IT["claim"][:0:-1]]}, "refuted", AT_ONE),
    KernelRow("between", less(BETWEEN, 2), "proved", BY_LOGARITHM),
    KernelRow(
        "around zero", {**BETWEEN, "variables": [letter("x", low=None), letter("y")]}, "proved", BY_LOGARITHM
    ),
    KernelRow("a root", ROOT, "refuted", beyond(ROOT, [HALF, ["pow", T, HALF]], T)),
    KernelRow("not there", SQUARES, "refuted", beyond(SQUARES, [ONE, ["pow", T, ONE]], ONE)),
    KernelRow("quantile", {**QUANTILE, "claim": ["==", *QUANTILES]}, "proved", LETTERS),
    KernelRow("no quantile", {**QUANTILE, "variables": [letter("x")]}, "proved", LETTERS),
    KernelRow("shares", problem(["<=", ["mul", TWO, SHARES["claim"][1]], SHARES["claim"][1]]), "proved", SMT),
    KernelRow("around", {**AROUND, "claim": ["<=", TWO, AROUND["claim"][2]]}, "proved", SMT),
    KernelRow("normal is a half", problem(["<", HALF, ["phi", ["mul", MINUS, X]]]), "proved", SMT),
    KernelRow(
        "wrong base",
        problem(["<=", ["mul", TWO, FACTORIAL["claim"][1]], GROWN], letters=WHOLE["variables"]),
        "proved",
        by_induction(),
    ),
    KernelRow(
        "wrong step",
        problem(["<=", ["pow", ["num", "3"], ["add", N, MINUS]], GROWN], letters=WHOLE["variables"]),
        "proved",
        {**by_induction(), "letters": [["g", ["pow", ["num", "3"], ["add", N, MINUS]]], ["h", GROWN]]},
    ),
    KernelRow(
        "wrong first",
        problem(["<=", FACTORIAL["claim"][1], GROWN], letters=(letter("n", "integer", None),)),
        "proved",
        by_induction(),
    ),
    KernelRow(
        "subsets",
        problem(["==", SUBSETS, ["pow", ["num", "3"], N]], letters=WHOLE["variables"]),
        "proved",
        BINOMIAL,
    ),
    KernelRow(
        "chord",
        {**CHORD, "claim": ["<=", ["exp", X], ["add", ["num", "99/100"], ["mul", X, E_LESS_ONE]]]},
        "proved",
        FROM_ONE,
    ),
    KernelRow("halves", {**HALVES, "claim": ["<", SUM, ["num", "3/4"]]}, "proved", CLOSED),
    KernelRow(
        "from zero", {**FROM_ZERO, "claim": ["<=", ["exp", X], ["add", ONE, X]]}, "proved", along("lower")
    ),
    KernelRow("slope", {**SLOPE, "claim": ["==", SLOPE["claim"][1], ["mul", X, ["exp", X]]]}, "proved", SMT),
    KernelRow("no slope", NO_SLOPE, "proved", SMT),
    KernelRow("no body", NO_BODY, "proved", SMT),
    KernelRow("inverse", problem(["<=", ["exp", X], ONE]), "proved", FALLS),
    KernelRow("tangent", {**TANGENT, "claim": ["<=", ["pow", X, TWO], X]}, "proved", RISES),
    KernelRow("grows", {**GROWS, "assuming": []}, "proved", IN_ORDER),
    KernelRow(
        "power", {**POWER, "claim": ["==", POWER["claim"][1], ["exp", ["add", N, X]]]}, "proved", IDENTITY
    ),
    KernelRow(
        "square", {**SQUARE, "claim": ["<=", SQUARE["claim"][1], ["pow", X, TWO]]}, "proved", DIFFERENCE
    ),
    KernelRow(
        "means",
        {**MEANS, "claim": ["<=", MEANS["claim"][1], ["mul", ["num", "49/100"], ["add", X, Y]]]},
        "proved",
        SMT,
    ),
    KernelRow("tail", {**TAIL, "claim": ["==", TAIL["claim"][1], ["mul", TWO, X]]}, "proved", IDENTITY),
    KernelRow("below one", {**BELOW_ONE, "assuming": [["<", X, TWO]]}, "proved", LEAF),
    KernelRow("roots out", {**ROOTS_OUT, "claim": ["==", TWO_ROOTS, ["add", X, Y]]}, "proved", IDENTITY),
    KernelRow(
        "roots below",
        problem(
            ["<=", ["pow", ["pow", ["add", ONE, ["pow", X, HALF]], TWO], HALF], ["pow", X, HALF]],
            letters=(letter("x"),),
        ),
        "proved",
        SMT,
    ),
    KernelRow("shift", {**SHIFT, "claim": ["==", SHIFT["claim"][1], both()]}, "proved", IDENTITY),
    KernelRow("telescope", {**TELESCOPE, "claim": ["<", TELESCOPE["claim"][1], HALF]}, "proved", TELESCOPED),
    KernelRow("normal slope", problem(["==", NORMAL_SLOPE["claim"][1], BELL]), "proved", IDENTITY),
    KernelRow("misread", problem(["==", X, ["add", X, X]]), "proved", SMT),
    KernelRow("reflected", {**REFLECTED, "claim": ["==", REFLECTED["claim"][1], TWO]}, "proved", SMT),
]
"""False, with certificates as of what is true."""
