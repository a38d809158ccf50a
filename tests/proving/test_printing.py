"""Formulas for reading: in plain characters and in LaTeX."""

from __future__ import annotations

import pytest

from dpverify.formulas.expressions import (
    INFINITY,
    Expression,
    at,
    derivative,
    integer,
    integral,
    real,
    total,
)
from dpverify.formulas.logic import Eq, Le
from dpverify.formulas.operators import absolute, maximum, minimum, normal_cdf
from dpverify.formulas.printing import formula_text
from dpverify.formulas.rendering.latex import formula_latex
from dpverify.reports.formulas import formula

X, H = real("z"), real("h", gt=0)
ZETA = real("z", latex=r"\zeta")
K, N = integer("i", ge=1), integer("n", ge=1)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (X**2 / (4 * H), "z^2/(4*h)"),
        (at(derivative(X**2, X, 2), X, H), "[d^2/dz^2 (z^2) at z = h]"),
        (at(derivative(X**3, X), X, -H), "[d/dz (z^3) at z = -h]"),
        (at(X + H, X, H), "[z + h at z = h]"),
        (at(0, X, H), "[0 at z = h]"),
        (derivative(X**2, X) ** 2, "(d/dz (z^2))^2"),
        (2 * total(K + X, K, 1, N - 1), "2*(sum over i = 1..(n - 1) of (i + z))"),
        (total(X * K, K, 1, N), "(sum over i = 1..n of z*i)"),
        (-integral(X**2, X, -INFINITY, INFINITY), "-(integral over z from -oo to oo of z^2)"),
        (normal_cdf(-X), "Phi(-z)"),
        (absolute(X), "|z|"),
        (maximum(X, 0) + minimum(X, 1), "max(z, 0) + min(z, 1)"),
    ],
)
def test_plain_characters(expression: Expression, text: str) -> None:
    assert formula_text(Le(expression, 1)) == f"{text} <= 1"


def test_derivatives_at_a_place_can_be_read() -> None:
    middle = X**2 / (4 * H) + X / 2 + H / 4
    claim = Eq(at(derivative(middle, X, 2), X, H), at(derivative(X, X, 2), X, H))
    text = formula_text(claim)
    assert "Subs" not in text
    assert "Derivative" not in text
    assert "[d^2/dz^2 (z^2/(4*h) + z/2 + h/4) at z = h] == [d^2/dz^2 (z) at z = h]" in text
    latex = formula_latex(claim)
    piece = (
        r"\left.\frac{\partial^{2}}{\partial z^{2}}(\frac{z^{2}}{4h}+\frac{z}{2}+\frac{h}{4})\right|_{z=h}"
    )
    assert piece in latex
    assert "<code" not in formula(latex)  # it becomes MathML


@pytest.mark.parametrize(
    ("expression", "latex"),
    [
        (at(ZETA + H, ZETA, H), r"\left.(\zeta+h)\right|_{\zeta=h}"),
        (derivative(ZETA**2, ZETA), r"\frac{\partial}{\partial \zeta}(\zeta^{2})"),
        (total(ZETA * K, K, 1, N), r"\sum_{i=1}^{n}\zeta i"),
    ],
)
def test_latex_has_the_names_of_the_variables(expression: Expression, latex: str) -> None:
    text = formula_latex(Eq(expression, 0))
    assert text == f"{latex}=0"
    assert "<code" not in formula(text)
