"""Formulas for reading: in plain characters and in LaTeX."""

from __future__ import annotations

import pytest
import sympy as sp

from dpverify.proving.language import (
    Eq,
    Expression,
    Le,
    at,
    continuously_differentiable,
    derivative,
    formula_latex,
    formula_text,
    integer,
    integral,
    normal_cdf,
    real,
    total,
)
from dpverify.reports.formulas import formula

X, H = real("z"), real("h", gt=0)
K, N = integer("i", ge=1), integer("n", ge=1)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (X**2 / (4 * H.symbol), "z^2/(4*h)"),
        (at(derivative(X**2, X, 2), X, H), "[d^2/dz^2 (z^2) at z = h]"),
        (at(derivative(X**3, X), X, -H), "[d/dz (z^3) at z = -h]"),
        (at(X + H, X, H), "[h + z at z = h]"),
        (at(sp.Integer(0), X, H), "0"),
        (derivative(X**2, X) ** 2, "(d/dz (z^2))^2"),
        (2 * total(K + X, K, 1, N - 1), "2*(sum over i = 1..(n - 1) of (i + z))"),
        (total(X * K, K, 1, N), "(sum over i = 1..n of i*z)"),
        (-integral(X**2, X, -sp.oo, sp.oo), "-(integral over z from -oo to oo of z^2)"),
        (normal_cdf(-X), "Phi(-z)"),
        (sp.Abs(X.symbol), "|z|"),
        (sp.Max(X.symbol, 0) + sp.Min(X.symbol, 1), "max(0, z) + min(1, z)"),
    ],
)
def test_plain_characters(expression: Expression, text: str) -> None:
    assert formula_text(Le(expression, 1)) == f"{text} <= 1"


def test_smoothness_of_pieces_can_be_read() -> None:
    middle = X**2 / (4 * H.symbol) + X / 2 + H / 4
    claim = continuously_differentiable(((sp.Integer(0), -H), (middle, H)), X.symbol, X, 2)
    text = formula_text(claim)
    assert "Subs" not in text
    assert "Derivative" not in text
    assert "([d^2/dz^2 (h/4 + z/2 + z^2/(4*h)) at z = h] == [d^2/dz^2 (z) at z = h])" in text
    latex = formula_latex(claim, (X, H))
    piece = (
        r"\left.\frac{d^{2}}{dz^{2}}\left(\frac{h}{4} + \frac{z}{2} + \frac{z^{2}}{4 h}\right)\right|_{z=h}"
    )
    assert piece in latex
    assert "<code" not in formula(latex)  # it becomes MathML


@pytest.mark.parametrize(
    ("expression", "latex"),
    [
        (at(X + H, X, H), r"\left.\left(h + \zeta\right)\right|_{\zeta=h}"),
        (derivative(X**2, X), r"\frac{d}{d\zeta}\left(\zeta^{2}\right)"),
        (total(X * K, K, 1, N), r"\sum_{i=1}^{n} i \zeta"),
    ],
)
def test_latex_has_the_names_of_the_variables(expression: Expression, latex: str) -> None:
    named = real("z", latex=r"\zeta")
    text = formula_latex(Eq(expression, 0), (named, H))
    assert text == f"{latex} = 0"
    assert "<code" not in formula(text)
