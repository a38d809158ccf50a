"""Constants are found, proved, bracketed and confirmed; certificates with other constants are refused."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import pytest

from dpverify.evidence import Verdict
from dpverify.formulas.expressions import integer, real
from dpverify.formulas.logic import free_in
from dpverify.formulas.notation import read_formula
from dpverify.proving import Proof, prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation

n, d, i = integer("n", ge=1), integer("d", ge=1), integer("i", ge=1)
x, y, t = real("x"), real("y", gt=0), real("t", gt=0)
LETTERS = (n, d, i, x, y, t)


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


FALSE = (r"n^2=O(n)", r"nd=O(n)", r"\sqrt{n}\ge\Omega(n)", r"n\le\sqrt{n}+O(1)", r"n+y=O(n)")


@pytest.mark.parametrize("latex", FALSE)
def test_what_is_false_is_not_proved(latex: str) -> None:
    assert proof_of(latex).verdict not in (Verdict.PROVED, Verdict.CERTIFIED)
