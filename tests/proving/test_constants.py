"""Constants are found, proved, bracketed and confirmed; certificates with other constants are refused."""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from typing import Any

import pytest

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.logic import free_in
from dpverify.formulas.notation import read_formula
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import Proof, prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation

n, d, i = integer("n", ge=1), integer("d", ge=1), integer("i", ge=1)
x, y, t = real("x"), real("y", gt=0), real("t", gt=0)
delta = real("delta", gt=0, lt=1, latex=r"\delta")
LETTERS = (n, d, i, x, y, t, delta)


def proof_of(latex: str, **options: Any) -> Proof:
    formula = read_formula(latex, LETTERS, **options)
    over = tuple(v for v in LETTERS if v in free_in(formula))
    return prove(Obligation("display", "", formula, over, units=False))


TRUE = {
    r"n=O(n^2)": {"C": "1"},
    r"(y+t)^2=O(y^2+t^2)": {"C": "2"},
    r"n=\Theta(n+1)": {"c": "1/2", "C": "1"},
    r"\sqrt{n}+3=\sqrt{n}+O(1)": {"C": "3"},
    r"n\ge\Omega(\sqrt{n})": {"c": "1"},
    r"n+d=O(n)+O(d)": {"C": "1", "C_2": "1"},
    r"\sqrt{n+d}=O(\sqrt{n}+\sqrt{d})": {"C": "1"},
    r"100n\le n^2\text{ for } n\text{ large enough}": {"n_0": "100"},
    r"1-\frac{1}{n}\ge 1-O(\frac{1}{n})": {"C": "1"},
}


@pytest.mark.parametrize("latex", TRUE)
def test_constants_are_found_proved_and_confirmed(latex: str) -> None:
    proof = proof_of(latex)
    assert proof.verdict is Verdict.PROVED
    assert proof.certificate is not None
    values = proof.certificate["proof"]["values"]
    assert values == {name: ["num", value] for name, value in TRUE[latex].items()}
    assert all(f"{name} = {value}" in proof.reason for name, value in TRUE[latex].items())
    assert check(proof.certificate).confirmed


def test_the_smallest_constant_lies_between_what_is_proved_and_what_fails() -> None:
    certificate = proof_of(r"(y+t)^2=O(y^2+t^2)").certificate
    assert certificate is not None
    (below,) = certificate["proof"]["below"]
    assert Fraction(199, 100) <= Fraction(below["values"]["C"][1]) < 2
    assert below["inner"]["verdict"] == "refuted"


def test_the_bracket_is_tight_where_assumptions_bound_it() -> None:
    """The least constant is 26/5, where every assumption holds with equality and l = 1."""
    letters = [real(name, gt=0, latex=f"{name}") for name in ("R", "N", "L", "C", "w", "l")] + [
        integer("p", ge=1)
    ]
    given = r"R\le\frac{LCp}{w}+\frac{2LC}{w}N,\ N\le p\cdot (l+\frac{11}{10}),\ l\ge 1"
    claim = read_formula(rf"R=O(\frac{{pLC}}{{w}}l)\text{{ for }}{given}", letters)
    proof = prove(Obligation("display", "", claim, (), units=False))
    assert proof.verdict is Verdict.PROVED
    assert proof.certificate is not None
    (above,) = proof.certificate["proof"]["values"].values()
    (below,) = proof.certificate["proof"]["below"]
    fails = Fraction(next(iter(below["values"].values()))[1])
    assert (
        Fraction(26, 5) / Fraction(106, 100)
        < fails
        < Fraction(26, 5)
        <= Fraction(above[1])
        <= Fraction(551, 100)
    )


def test_a_smaller_constant_is_refused() -> None:
    certificate = proof_of(r"(y+t)^2=O(y^2+t^2)").certificate
    assert certificate is not None
    wrong = copy.deepcopy(certificate)
    wrong["proof"]["values"]["C"] = ["num", "1"]
    assert "about something else" in check(wrong).says
    # the inner claim changed as well: it is about the right problem, and false
    text = wrong["proof"]["inner"][0]["problem"]["claim"]
    text[2][1] = ["num", "1"]
    assert not check(wrong).confirmed


def test_a_lower_bound_that_is_not_shown_is_refused() -> None:
    certificate = proof_of(r"(y+t)^2=O(y^2+t^2)").certificate
    assert certificate is not None
    wrong = copy.deepcopy(certificate)
    wrong["proof"]["below"][0]["values"]["C"] = ["num", "2"]
    assert not check(wrong).confirmed


def test_a_constant_outside_of_its_domain_is_refused() -> None:
    certificate = proof_of(r"n=O(n^2)").certificate
    assert certificate is not None
    wrong = copy.deepcopy(certificate)
    wrong["proof"]["values"]["C"] = ["num", "-1"]
    assert "no value of C" in check(wrong).says


FALSE = {
    r"n^2=O(n)": "n = t for C <= 1/2*t, t = 1, 2, ...",
    r"nd=O(n)": "d = t, n = 1 for C <= 1/2*t",
    r"\sqrt{n}\ge\Omega(n)": "c >= 1/(1/2*t^(1/2))",
    r"n\le\sqrt{n}+O(1)": "n = t",
    r"n+y=O(n)": "y = t",
    r"n\log(n)=O(n)": "n = t for C <= 1/2*log(t)",
    r"n=\Theta(n^2)": "n = t",
    r"\log(1/\delta)=O(1)": "delta = 1/t for C <= 1/2*log(t), t = 2, 3, ...",
    r"n\le O(\sqrt{n})\text{ for } n\text{ large enough}": "C <= 1/2*t^(1/2), n_0 <= 1/2*t^(1/2)",
    r"\frac{1}{y}=O(1+\frac{1}{t})": "y = 1/t_2",
}  # fmt: skip


@pytest.mark.parametrize("latex", FALSE)
def test_growth_without_bound_refutes(latex: str) -> None:
    proof = proof_of(latex)
    assert proof.verdict is Verdict.REFUTED
    assert FALSE[latex] in proof.reason
    assert check(proof.certificate).confirmed


def refused(certificate: Any, change: Any) -> str:
    """What the checker says of a certificate whose proof has been changed."""
    wrong = copy.deepcopy(certificate)
    change(wrong["proof"])
    found = check(wrong)
    assert not found.confirmed
    return found.says


def test_a_wrong_curve_is_refused() -> None:
    certificate = proof_of(r"nd=O(n)").certificate
    assert "something else" in refused(certificate, lambda p: p["values"].update(n=["num", "2"]))
    # with n no number, its domain must be shown, too
    assert "not a certificate for each part" in refused(
        certificate, lambda p: p["values"].update(n=["sym", "t"])
    )
    assert "no integer for n" in refused(certificate, lambda p: p["values"].update(n=["sym", "C"]))
    assert "uses what comes after it" in refused(certificate, lambda p: p["values"].update(n=["sym", "d"]))
    assert "no value of n" in refused(certificate, lambda p: p["values"].update(n=["num", "0"]))
    assert "no integer for n" in refused(certificate, lambda p: p["values"].update(n=["num", "1/2"]))


def test_a_rate_that_does_not_grow_is_refused() -> None:
    certificate = proof_of(r"nd=O(n)").certificate
    t = ["sym", "t"]
    for rate in (
        ["mul", ["num", "1/2"], ["pow", t, ["num", "-1"]]],
        ["mul", ["num", "-1"], ["pow", t, ["num", "1"]]],
        ["mul", ["num", "1"], ["exp", t]],
        ["mul", ["num", "1"], ["log", ["sym", "C"]]],
    ):
        refused(certificate, lambda p, rate=rate: p["growth"].update(rate=rate))
    assert "does not grow" in refused(
        certificate, lambda p: p["growth"].update(rate=["mul", ["num", "0"], ["pow", t, ["num", "1"]]])
    )
    assert "bounded" in refused(certificate, lambda p: p["growth"]["along"].update(upper="100"))


def test_a_true_claim_is_not_refuted_by_a_constant_that_is_too_small() -> None:
    """That n <= C n fails for C <= 1/2 is no refutation: the rate has to grow."""
    refuted = proof_of(r"nd=O(n)").certificate
    problem = copy.deepcopy(proof_of(r"n=O(n)").certificate)
    assert refuted is not None
    assert problem is not None
    problem["verdict"] = "refuted"
    problem["proof"] = {**refuted["proof"], "values": {"n": ["sym", "t"]}}
    assert not check(problem).confirmed


def test_true_claims_are_not_refuted() -> None:
    for latex in (r"n=O(n)", r"n+d=O(nd)", r"\frac{1}{n}=O(1)", r"n\ge\Omega(1)"):
        assert proof_of(latex).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    "latex", [r"\log(n)=O(n^{1/10})", r"n\log(n)=O(n^2)", r"1=O(\log(n))\text{ for } n\text{ large enough}"]
)
def test_logarithms_grow_slowly(latex: str) -> None:
    proof = proof_of(latex)
    assert proof.verdict is Verdict.PROVED
    assert check(proof.certificate).confirmed


# ---------------------------------------------------------------------------------------------- what there is

THERE_IS = {
    r"\exists x: x^2=4": "with x = 2",
    r"\exists y: y^3=2y^2": "with y = 2",
    r"\exists n: \exists d: n^2+d^2=25\text{ and } n<d": "with n = 3, d = 4",
    r"\exists x: \forall y: x\le y^2": "with x = 0",
    r"\text{for every } t>0\text{ there is } y\text{ such that } y<t": "with y = t/2",
    r"\forall t:\exists y: t<y^2": "with y = t + 1",
    r"\forall t:\forall y:\exists x: t<x\text{ and } y<x": "with x = t + y",
    r"nd=O_d(n)": "with C = d",
    r"nd\le O_d(n)\text{ for } n\text{ large enough}": "with n_0 = 1, C = d",
}


@pytest.mark.parametrize("latex", THERE_IS)
def test_what_there_is_is_found_and_confirmed(latex: str) -> None:
    proof = proof_of(latex)
    assert proof.verdict is Verdict.PROVED
    assert proof.reason == THERE_IS[latex]
    assert check(proof.certificate).confirmed


THERE_IS_NONE = {
    r"\exists x: x^2<0": "there is none",
    r"\exists x: \forall t: t\le x": "false at t = ",
    r"\exists y: \forall t: y\le t": "false along t = ",
    r"\forall n:\exists d: nd<d": "false at n = 1",
    r"\forall n:\exists d:\forall i: ni\le d+i": "false at n = 2, i = d + 1",
}


@pytest.mark.parametrize("latex", THERE_IS_NONE)
def test_that_there_is_none_is_shown_and_confirmed(latex: str) -> None:
    proof = proof_of(latex)
    assert proof.verdict is Verdict.REFUTED
    assert proof.reason.startswith(THERE_IS_NONE[latex])
    assert check(proof.certificate).confirmed


def test_a_value_may_not_use_what_comes_after_it() -> None:
    """For every t there is a larger y, but there is no y that is larger than every t."""
    certificate = proof_of(r"\forall t:\exists y: t<y").certificate
    assert certificate is not None
    wrong = copy.deepcopy(certificate)
    (_, outer, (_, inner, body)) = wrong["problem"]["claim"]
    wrong["problem"]["claim"] = ["exists", inner, ["forall", outer, body]]
    assert "uses what comes after it" in check(wrong).says
    assert proof_of(r"\exists y:\forall t: t<y").verdict is Verdict.REFUTED


def test_nothing_is_captured() -> None:
    """For every i there is an n with n >= i; the sum's own index is another i."""
    certificate = proof_of(r"\forall d:\exists n: d\le n").certificate
    assert certificate is not None
    wrong = copy.deepcopy(certificate)
    wrong["problem"]["claim"][2][2] = [
        "<=",
        ["sum", ["sym", "n"], "d", ["num", "1"], ["num", "1"]],
        ["sym", "n"],
    ]
    assert "captured" in check(wrong).says


# ---------------------------------------------------------------------------------------------- sums of powers


def powers(rng: random.Random, count: int) -> list[tuple[int, Fraction, Fraction]]:
    """Terms a n^p d^q."""
    halves = [Fraction(k, 2) for k in range(-2, 5)]
    return [(rng.randint(1, 9), rng.choice(halves), rng.choice(halves)) for _ in range(count)]


def written(terms: list[tuple[int, Fraction, Fraction]]) -> str:
    return "+".join(rf"{a}n^{{{p}}}d^{{{q}}}" for a, p, q in terms)


@pytest.mark.parametrize("seed", range(6))
def test_sums_of_powers_are_of_an_order_exactly_if_each_term_is(seed: int) -> None:
    """For n, d >= 1: f = O(n^p d^q) just if no term of f has a larger exponent; what is decided is never wrong."""
    rng = random.Random(seed)  # seeded, so that it always gives the same
    terms, ((_, p, q),) = powers(rng, 2), powers(rng, 1)
    true = all(a <= p and b <= q for _, a, b in terms)
    proof = proof_of(rf"{written(terms)}=O(n^{{{p}}}d^{{{q}}})")
    assert proof.verdict is (Verdict.PROVED if true else Verdict.REFUTED)
    assert check(proof.certificate).confirmed
