"""What letters stand for: numbers, formulas or functionals, by LaTeX and meaning unless somebody says so."""

from __future__ import annotations

import pytest

from dpverify.formulas.expressions import real
from dpverify.formulas.functionals import definition_of, is_plain, may_be_a_functional


@pytest.mark.parametrize(
    "latex",
    [
        "n",
        r"\sigma",
        r"\theta^*",
        r"x_{t+1}'",
        r"\hat f",
        r"\theta^{priv}_j",
        r"\tilde\varepsilon",
        "D_T",
        r"\bar W_t",
        r"\Delta'",
        r"l_{\rho}",
        r"X^{(t)}",
        "p1",
        "OPT",
        r"\mathcal{C}",
        r"C_{2}",
        r"w^{\star}",
    ],
)
def test_plain_letters(latex: str) -> None:
    assert is_plain(latex)


@pytest.mark.parametrize(
    "latex",
    [
        "r^2",
        "e^{r}",
        "f(x)",
        r"\log n",
        r"\|x\|",
        r"\sigma^2",
        r"\mathrm{D}_\alpha(X\|Y)",
        "|S|",
        r"\Delta\mathcal{L}",
        r"\mathbb{E}[X]",
        r"\Pr[A]",
        r"\frac{1}{n}",
        r"2^{-k}",
        r"\min(n,p)",
        r"\sum_{i\le t}a_i",
        r"r_1^p",
        r"\langle u,v\rangle",
    ],
)
def test_other_latex_is_no_letter(latex: str) -> None:
    assert not is_plain(latex)


def test_what_a_letter_stands_for_by_itself() -> None:
    assert not may_be_a_functional(real("sigma", latex=r"\sigma", meaning="noise of a step, a coordinate"))
    assert may_be_a_functional(real("R", meaning="expected excess risk"))
    assert may_be_a_functional(real("E", latex=r"\mathbb{E}[X]"))
    assert may_be_a_functional(real("D", meaning="Renyi divergence of the outputs"))
    assert not may_be_a_functional(real("rho", latex=r"\rho", meaning="failure probability"))


def test_what_is_said_of_a_letter_decides() -> None:
    assert not may_be_a_functional(real("E", latex=r"\mathbb{E}[X]", stands_for="number"))
    assert may_be_a_functional(real("x", stands_for="functional"))
    assert may_be_a_functional(
        real("x", stands_for=r"\log n")
    )  # as long as it is not replaced by its formula
    assert definition_of(real("x", stands_for=r"\log n")) == r"\log n"
    assert definition_of(real("l", latex=r"\log n")) == r"\log n"
    assert definition_of(real("l", latex=r"\log n", stands_for="functional")) == ""
    assert definition_of(real("x")) == ""
