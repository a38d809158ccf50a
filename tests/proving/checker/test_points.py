"""The checker's values at a point: what is a fraction, what lies between bounds, and what has no value."""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from typing import Any

import pytest

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.logic import free_in
from dpverify.formulas.notation import read_display
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import prove
from dpverify.proving.checker import check, values
from dpverify.proving.language import Obligation

from .hand_certificates import (
    COUNT,
    REAL,
    TRUE,
    Json,
    N,
    X,
    add,
    at_point,
    identity,
    mul,
    num,
    power,
    variable,
)
from .hand_faults import FALSE

K, V = ["sym", "k"], ["sym", "v"]
VECTOR = variable("v", kind="vector") | {"lower_open": False, "upper_open": False}


def false_at(claim: Json, *, x: str = "1/3", n: str = "4", v: str = "(3, -4)") -> bool:
    """Whether the checker confirms that a claim is false at a point."""
    return check(at_point(claim, [REAL, COUNT, VECTOR], x=x, n=n, v=v)).confirmed


FRACTIONS: dict[str, tuple[Json, str]] = {
    "zero to the zero": (power(num(0), 0), "1"),
    "negative base": (power(num(-2), N), "16"),
    "negative base, negative exponent": (power(num(-2), mul(num(-1), add(N, num(-1)))), "-1/8"),
    "negative base, odd exponent": (power(num("-1/2"), add(N, num(1))), "-1/32"),
    "exponent that is an integer once it is worked out": (power(num(-1), ["floor", add(N, X)]), "1"),
    "perfect root": (power(num("4/9"), "3/2"), "8/27"),
    "perfect fourth root": (power(num("16/81"), power(N, -1)), "2/3"),
    "root of zero": (power(num(0), X), "0"),
    "factorial": (["factorial", add(N, num(1))], "120"),
    "factorial of zero": (["factorial", add(N, num(-4))], "1"),
    "binomial": (["binomial", add(N, num(1)), num(2)], "10"),
    "binomial of more than there are": (["binomial", num(3), add(N, num(1))], "0"),
    "floor": (["floor", mul(num(-1), X)], "-1"),
    "ceiling": (["ceiling", mul(num(-1), X)], "0"),
    "floor of an irrational": (["floor", ["exp", N]], "54"),
    "ceiling of a root": (["ceiling", power(add(N, num(1)), "1/2")], "3"),
    "gamma of an integer": (["gamma", add(N, num(1))], "24"),
    "sum": (["sum", power(K, -1), "k", num(1), N], "25/12"),
    "alternating sum": (["sum", power(num(-1), K), "k", num(0), N], "1"),
    "sum to a rounded end": (["sum", K, "k", num(1), ["floor", ["exp", num(1)]]], "3"),
    "product": (["product", add(num(1), power(K, -1)), "k", num(1), N], "5"),
    "product of a sum": (["product", ["sum", ["sym", "j"], "j", num(1), K], "k", num(1), num(3)], "18"),
    "shadowed index": (["sum", ["sum", K, "k", num(1), K], "k", num(1), num(3)], "10"),
    "at": (["at", add(power(K, 2), X), "k", num(3)], "28/3"),
    "derivative": (["diff", power(X, 3), "x", 2], "2"),
    "norm": (["norm", V], "5"),
    "inner product": (["inner", mul(num(2), V), add(V, mul(N, V))], "250"),
    "absolute value": (["abs", add(X, num(-1))], "2/3"),
    "smallest": (["min", X, num("1/4"), N], "1/4"),
    "exp of zero": (["exp", add(N, num(-4))], "1"),
    "log of one": (["log", power(X, 0)], "0"),
}


@pytest.mark.parametrize("name", FRACTIONS)
def test_fractions_are_exact(name: str) -> None:
    """At no other value, however near."""
    term, value = FRACTIONS[name]
    assert false_at(["!=", term, num(value)])
    assert not false_at(["==", term, num(value)])
    near = Fraction(value) + Fraction(1, 10**40)
    assert false_at(["<=", num(near), term])
    assert not false_at(["<=", term, num(near)])


BETWEEN: dict[str, tuple[Json, str, str]] = {
    "third of a power": (power(num(2), X), "1.259921", "1.259922"),
    "irrational exponent": (["pow", num(2), power(num(2), "1/2")], "2.665144", "2.665145"),
    "long power": (power(num("1.0001"), "100000"), "22015.45", "22015.46"),
    "long power of what is negative": (power(mul(num(-1), power(num(2), "1/2")), "301"), "-1e46", "-1e45"),
    "erfc": (["erfc", X], "0.637351", "0.637352"),
    "quantile": (["phi_inverse", X], "-0.430728", "-0.430727"),
    "gamma of halves": (["gamma", add(N, num("1/2"))], "11.63172", "11.63173"),
    "product of irrationals": (["product", power(K, "1/2"), "k", num(1), N], "4.898979", "4.898980"),
    "long sum": (["sum", power(power(K, "1/2"), -1), "k", num(1), mul(N, num(100))], "38.564", "38.565"),
    "logarithm of a factorial": (["log", ["factorial", num(100)]], "363.7393", "363.7394"),
    "what is tiny": (["exp", num(-3000)], "0", "0.0000001"),
    "derivative of phi": (["diff", ["phi", X], "x", 1], "0.377383", "0.377384"),
    "norm that is no fraction": (["norm", add(V, mul(X, V))], "6.66666", "6.66667"),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_other_values_lie_between_their_bounds(name: str) -> None:
    term, low, high = BETWEEN[name]
    ends = [num(Fraction(end)) for end in (low, high)]
    assert false_at(["not", ["and", ["<", ends[0], term], ["<", term, ends[1]]]])
    for wrong in ["<", ends[0], term], ["<", term, ends[1]]:
        assert not false_at(wrong)


UNDEFINED: dict[str, Json] = {
    "inverse of zero": power(add(N, num(-4)), -1),
    "root of what is negative": power(mul(num(-1), X), "1/2"),
    "third root of what is negative": power(num(-8), "1/3"),
    "zero to a negative power that is no integer": power(num(0), mul(num(-1), X)),
    "irrational power of what is negative": ["pow", num(-2), power(num(2), "1/2")],
    "factorial of what is negative": ["factorial", num(-1)],
    "factorial of a fraction": ["factorial", X],
    "factorial of an irrational": ["factorial", power(num(2), "1/2")],
    "binomial of what is negative": ["binomial", num(-1), num(2)],
    "binomial of a fraction": ["binomial", N, X],
    "gamma of zero": ["gamma", num(0)],
    "gamma of a negative half": ["gamma", num("-1/2")],
    "sum of no terms": ["sum", K, "k", num(2), num(1)],
    "sum to a fraction": ["sum", K, "k", num(0), X],
    "product of no terms": ["product", K, "k", num(1), num(0)],
    "product with an undefined term": ["product", power(add(K, num(-2)), -1), "k", num(1), N],
    "zero times the undefined": mul(num(0), ["log", num(0)]),
    "sum in which a term is undefined": ["sum", mul(num(0), ["log", add(K, num(-1))]), "k", num(1), N],
    "quantile of one": ["phi_inverse", num(1)],
    "derivative at a kink": ["diff", ["abs", add(X, num("-1/3"))], "x", 1],
    "derivative of what is undefined": ["diff", mul(num(0), ["log", mul(num(-1), X)]), "x", 1],
    "derivative of a root at zero": ["at", ["diff", power(K, "1/2"), "k", 1], "k", num(0)],
    "a vector for a number": add(X, V),
    "a product of vectors": mul(V, V),
    "no such name": ["sym", "z"],
    "name that is bound elsewhere": add(["sum", K, "k", num(1), N], K),
}
BEYOND: dict[str, Json] = {
    "integral": ["integral", K, "k", num(0), num(1)],
    "large factorial": ["factorial", num(10**5)],
    "many digits": power(num(3), ["factorial", num(20)]),
    "many terms": ["sum", K, "k", num(1), num(10**6)],
    "many terms of many terms": ["sum", ["sum", K, "k", num(1), num(9999)], "j", num(1), num(9999)],
    "product of many digits": ["product", ["factorial", num(9999)], "k", num(1), num(9999)],
    "no end": ["sum", K, "k", num(1), ["inf", "+"]],
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", [*UNDEFINED, *BEYOND])
def test_what_has_no_value_is_neither_true_nor_false(name: str) -> None:
    term = {**UNDEFINED, **BEYOND}[name]
    for relation in ("==", "!=", "<=", "<")[: None if name in UNDEFINED else 1]:
        assert not false_at([relation, term, num(7)])
        assert not false_at(["not", [relation, num(7), term]])
    assert false_at(["and", ["<=", term, num(7)], ["<", X, num(0)]])  # false whatever the first part is
    assert not false_at(["or", ["<=", term, num(7)], ["<", X, num(0)]])


def test_what_lies_too_close_to_an_integer_is_not_rounded() -> None:
    root = power(num(2), "1/2")
    for rounding in ("floor", "ceiling"):
        assert not false_at(["==", [rounding, mul(root, root)], num(2)])


def test_quantiles_near_the_ends_lie_between_their_bounds() -> None:
    """Of 1e-16 it is -8.2221; 1 less that is no floating-point number, and the nearest ones have 8.2095 and 8.2922."""
    tail = Fraction(1, 10**16)
    for level, low, high in ((1 - tail, "8.222", "8.223"), (tail, "-8.223", "-8.222")):
        quantile = ["phi_inverse", num(level)]
        assert false_at(["<=", quantile, num(low)])
        assert false_at(["<=", num(high), quantile])
        assert not false_at(["<=", num(low), quantile])


def test_a_guess_of_a_quantile_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values.NormalDist, "inv_cdf", lambda self, level: 0.5)
    assert not false_at(["<=", num(0), ["phi_inverse", X]])
    assert not false_at(["<=", ["phi_inverse", X], num(0)])


REFUTED = [
    r"n!\le2^n",
    r"n!\ge n^{n-1}",
    r"\sqrt{n!}\le n+1/2",
    r"\ln(n!)\le n",
    r"\frac{1}{n!}\ge e^{-n}",
    r"\binom{n}{2}\le n",
    r"\binom{n+k}{k}\le n^k+1",
    r"\binom{2n}{n}\le 4^n/n",
    r"\sum_{i=0}^{n}\binom{n}{i}\le 2^n-1",
    r"\sqrt{\binom{2m}{m}}\le m+1",
    r"\sum_{i=0}^{n}\binom{n}{i}p^i(1-p)^{n-i}<1",
    r"\lfloor x\rfloor=x",
    r"\lceil x\rceil\le x+1/2",
    r"\lfloor 2x\rfloor=2\lfloor x\rfloor",
    r"\lfloor\sqrt n\rfloor^2=n",
    r"\lceil\ln n\rceil\le\ln n+1/4",
    r"\lfloor e^{x}\rfloor\ge e^x-1/2",
    r"2^{\lceil\log_2 n\rceil}\le n",
    r"\sum_{i=1}^{\lceil\sqrt n\rceil}i\le n",
    r"\sum_{i=1}^{\lfloor\ln n\rfloor+1}\frac1i\le 1",
    r"(-1)^n\ge 0",
    r"(-2)^n\le n",
    r"(-x)^n=x^n",
    r"(x-1)^n\le x^n",
    r"\sum_{i=1}^{n}(-1)^i\le -1",
    r"(1-a)^n\ge 1-na+1/9",
    r"(-\frac12)^n\sqrt{n}\le\frac14",
    r"\prod_{i=1}^{n}i\le n^2",
    r"\prod_{i=1}^{n}(1+\frac1i)\le n",
    r"\prod_{i=1}^{n}(1-\frac{1}{i+1})\ge\frac12",
    r"\prod_{i=1}^n e^{i}\le e^{n^2/2}",
    r"\prod_{i=1}^{n}\sqrt{i}\le n",
    r"\prod_{i=1}^{m}(x-i)\ge 0",
    r"\prod_{i=1}^{n}(1+p^i)\le 1+p",
    r"\prod_{i=1}^{n}\ln(i+1)\ge 1",
    r"\sum_{i=1}^{n}\frac{1}{i}\le\ln n+\frac12",
    r"\sum_{i=1}^n\sqrt i\le\frac23 n^{3/2}",
    r"\sum_{i=1}^{n}\prod_{j=1}^{i}j\le n^2",
    r"\sum_{i=1}^{n}\lfloor\frac{n}{i}\rfloor\le n",
    r"\Gamma(n+\frac12)\le\frac32\sqrt n",
    r"\Phi^{-1}(p)\le 1",
    r"\mathrm{erfc}(a)\ge e^{-a^2}",
    r"(1+\frac{1}{n})^{n}\le\frac{27}{10}",
]
LETTERS = (
    integer("n", ge=1), integer("k", ge=0), integer("m", ge=1, le=6), real("x"), real("a", gt=0), real("p", gt=0, lt=1),
    integer("i"), integer("j"),
)  # fmt: skip


@pytest.mark.parametrize("latex", REFUTED)
def test_refutations_of_formulas_with_factorials_rounding_negative_bases_and_products_are_confirmed(
    latex: str,
) -> None:
    """And neither is the opposite at the same point, nor the same with an assumption that fails there."""
    claim = read_display(latex, LETTERS).claim
    letters = tuple(v for v in LETTERS if v in free_in(claim))
    proof = prove(Obligation("display", "", claim, letters))
    assert proof.verdict is Verdict.REFUTED
    found: Any = proof.certificate
    assert check(found).says == "refuted, by points"
    opposite, assuming = deepcopy(found), deepcopy(found)
    opposite["problem"]["claim"] = ["not", found["problem"]["claim"]]
    assuming["problem"]["assuming"] = [found["problem"]["claim"]]
    assert not check(opposite).confirmed
    assert not check(assuming).confirmed


def test_a_vector_has_no_name_that_ends_a_name_in_a_question() -> None:
    """Between bars, SMT-LIB allows nearly all names; whatever would end one is refused."""
    name = "v.|)(assert false)(declare-const |w"
    vector = VECTOR | {"name": name}
    claim = ["<=", num(1), ["mul", X, ["inner", ["sym", name], ["sym", name]]]]
    proof = {"method": "gram", "sum": [[X, ["inner", ["sym", name], ["sym", name]]]]}
    problem = {"variables": [REAL, vector], "assuming": [], "claim": claim}
    given = {"version": 1, "problem": problem, "verdict": "proved", "proof": proof}
    assert check({**given, "witness": {"x": "1", name: "(1)"}}).says.startswith(
        "not confirmed: a bad variable"
    )


def test_powers_and_products_with_exponent_0_are_not_taken_for_their_bases() -> None:
    positive = variable("x", "(0,oo)")
    assert check(identity(["log", power(X, 0)], num(0), positive)).confirmed
    assert not check(identity(["log", power(X, 0)], ["log", X], positive)).confirmed
    assert not check(identity(power(power(X, 0), "1/2"), power(X, "1/2"), positive)).confirmed
    assert not check(identity(power(power(X, 2), "1/2"), power(X, "1/2"), positive)).confirmed


MALFORMED: dict[str, Json] = {
    "a function of two": ["exp", X, X],
    "a comparison of three": ["<=", X, X, X],
    "a sum without its last term": ["sum", X, "k", num(1)],
    "an unknown function": ["sinh", X],
    "a number that is none": ["num", 1],
    "a name that is none": ["sym", 1],
    "an infinity without a sign": ["inf", "0"],
    "a formula with one side": ["implies", ["<=", X, X]],
    "an order that is no integer": ["diff", X, "x", "1"],
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_term_or_formula_is_refused(name: str) -> None:
    written = MALFORMED[name]
    claim = written if written[0] in ("<=", "implies") else ["or", ["<=", written, X], ["<=", X, X]]
    assert not check(
        identity(X, X, REAL) | {"problem": {"variables": [REAL], "assuming": [], "claim": claim}}
    ).confirmed
    assert not false_at(["and", claim, ["<", X, num(0)]])


@pytest.mark.parametrize("part", ["version", "verdict", "proof", "problem", "witness"])
def test_each_part_of_a_certificate_is_needed(part: str) -> None:
    whole = TRUE["smt-root"]
    assert check(whole).confirmed
    assert not check({name: value for name, value in whole.items() if name != part}).confirmed
    assert FALSE["nothing"] is None
