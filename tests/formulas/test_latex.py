"""Trees printed as LaTeX: brackets where they are needed, and nowhere else."""

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
from dpverify.formulas.expressions import (
    expression as number,
)
from dpverify.formulas.logic import And, Eq, Formula, Implies, Le, Lt, Ne, Not, Or
from dpverify.formulas.operators import exp, log, normal_cdf, sqrt
from dpverify.formulas.rendering.latex import expression_latex, formula_latex

x, y, eta = real("x"), real("y"), real("eta", latex=r"\eta")
i, n = integer("i"), integer("n")
norm = real("d", latex=r"\|x_0-x_0'\|")
mean = real("m", latex=r"\mathbb{E}\|b\|_2")


@pytest.mark.parametrize(
    ("tree", "latex"),
    [
        (x + eta * x, r"x+\eta x"),
        (x - (y - 1), r"x-(y-1)"),
        (x - y - 1, r"x-y-1"),
        (-(x * eta) - 3, r"-x\eta-3"),
        ((-x) * y, r"(-x)y"),
        (x * (-y), r"x\cdot (-y)"),
        (x * (y + 1), r"x(y+1)"),
        (x * (y * eta), r"x\cdot (y\eta)"),
        (x * 2, r"x\cdot 2"),
        (2 * eta * x / (n - i + 1), r"\frac{2\eta x}{n-i+1}"),
        ((x / y) ** 2, r"(\frac{x}{y})^{2}"),
        (-(x**2), r"-x^{2}"),
        ((-x) ** 2, r"(-x)^{2}"),
        (number(1) / 2, r"\frac{(1)}{2}"),
        (norm**2, r"\|x_0-x_0'\|^{2}"),
        (mean**2, r"(\mathbb{E}\|b\|_2)^{2}"),
        (log(x) ** 2, r"(\ln\left(x\right))^{2}"),
        (normal_cdf(x) ** 2, r"\Phi\left(x\right)^{2}"),
        (total(x * i, i, 1, n) + x, r"(\sum_{i=1}^{n}xi)+x"),
        (x + total(x * i, i, 1, n), r"x+\sum_{i=1}^{n}xi"),
        (x * total(x + i, i, 1, n) + x, r"x\sum_{i=1}^{n}(x+i)+x"),
        (total(x, i, 1, n) * x, r"(\sum_{i=1}^{n}x)x"),
        (exp(-x) * sqrt(x), r"e^{-x}\sqrt{x}"),
        (exp(x) * real("E", latex="e"), r"\exp(x)e"),
        (at(derivative(x**2, x, 2), x, 1), r"\left.\frac{\partial^{2}}{\partial x^{2}}(x^{2})\right|_{x=1}"),
        (integral(y, y, -INFINITY, x), r"\int_{-\infty}^{x}y\,\mathrm{d}y"),
    ],
)  # fmt: skip
def test_expressions(tree: Expression, latex: str) -> None:
    assert expression_latex(tree) == latex


@pytest.mark.parametrize(
    ("formula", "latex"),
    [
        (And((Le(0, x), Lt(x, 1), Ne(y, 0))), r"0\le x<1\ \text{and}\ y\ne0"),
        (Implies(Le(x, y), Or((Eq(x, 0), Not(Le(y, 0))))), r"x\le y\implies x=0\ \text{or}\ \neg(y\le0)"),
    ],
)
def test_formulas(formula: Formula, latex: str) -> None:
    assert formula_latex(formula) == latex
