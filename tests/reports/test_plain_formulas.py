"""LaTeX to plain characters."""

from __future__ import annotations

import pytest

from dpverify.reports.formulas import formula
from dpverify.reports.plain_formulas import plain_formula, plain_signs
from dpverify.statements.paper import papers


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (
            r"\mathrm{D}_\alpha(X_T\|X'_T)\le\frac{\alpha\|x_0-x'_0\|^2}{2T\sigma^2}",
            "D_α(X_T‖X′_T) ≤ α‖x₀ − x′₀‖²/(2Tσ²)",
        ),
        (r"\frac{a+b}{c}", "(a + b)/c"),
        (r"\frac{|a-b|}{c_t}", "|a − b|/c_t"),
        (r"a\frac{b}{c}\left(d+e\right)", "a · b/c · (d + e)"),
        (r"\frac{1}{(n-i)^2}", "1/(n − i)²"),
        (r"e^\varepsilon\Phi(s)", "e^ε Φ(s)"),
        (r"e^{-x^2}e^{(k-1)s}", "e^(−x²) e^((k−1)s)"),
        (r"z_{n^2}, z_{t+1}, z_{10}", "z_(n²), z_(t+1), z₁₀"),
        (r"\sum_{t=1}^{T}a_t", "∑_(t=1)^T a_t"),
        (r"\binom{T}{k}p^k", "(T choose k)p^k"),
        (r"\sqrt{x}+\sqrt{2x}", "√x + √(2x)"),
        (r"\hat f\in C^1,\ \tilde\theta", "f̂ ∈ C¹, θ̃"),
        (r"\Phi^{-1}(-x)", "Φ⁻¹(−x)"),
        (r"\langle a_t;b\rangle", "⟨a_t; b⟩"),
        (r"a_1+\dots+a_k", "a₁ + … + a_k"),
        (r"\begin{cases} 0 & z > 1 \\ z & z \le 1 \end{cases}", "{0, z > 1; z, z ≤ 1"),
        (r"\begin{aligned} a &= b \\ &\le c \end{aligned}", "a = b; ≤ c"),
        (r"For all $x > 0$: $x^2 > 0$.", "For all x > 0: x² > 0."),
        ("plain words", "plain words"),
        (r"\unheardof{x}", r"\unheardof{x}"),
        ("", ""),
    ],
)
def test_reads_as_on_paper(latex: str, plain: str) -> None:
    assert plain_formula(latex) == plain


def test_no_formula_of_the_papers_stays_latex() -> None:
    found = []
    for paper in papers().values():
        for statement in paper.statements:
            repair = statement.corrected
            found += [statement.latex, *(o.latex for o in statement.printed)]
            found += [repair.latex, *(o.latex for o in repair.obligations)] if repair else []
    assert len([latex for latex in found if latex]) > 60
    for latex in found:
        plain = plain_formula(latex)
        assert "<code" not in formula(latex)
        assert not set(plain) & set("\\$"), (latex, plain)
        # braces may be printed, as around the numbers of a maximum
        assert "_{" not in plain, (latex, plain)
        assert "^{" not in plain, (latex, plain)
        assert "{" not in plain or r"\{" in latex, (latex, plain)
        if latex.count("(") + latex.count("[") == latex.count(")") + latex.count(
            "]"
        ):  # as one display is not
            assert plain.count("(") + plain.count("[") == plain.count(")") + plain.count("]"), (latex, plain)
        assert bool(plain) == bool(latex)


def test_typed_formulas_get_the_signs_of_print() -> None:
    assert plain_signs("a^2*b <= c^10/(2*d)") == "a²·b ≤ c¹⁰/(2·d)"
    assert plain_signs("a == b^(1/2) and c != oo") == "a = b^(1/2) and c ≠ ∞"
