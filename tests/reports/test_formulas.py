"""LaTeX to MathML."""

from __future__ import annotations

import pytest

from dpverify.reports.formulas import formula


@pytest.mark.parametrize(
    ("latex", "piece"),
    [
        (r"\frac{a}{b}", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"),
        (r"x_0'", '<msubsup><mi>x</mi><mn>0</mn><mrow><mo lspace="0" rspace="0">′</mo></mrow></msubsup>'),
        (r"\ell_h''(z)", "<msubsup><mi>ℓ</mi><mi>h</mi>"),
        (r"f'^2", "</mo><mn>2</mn></mrow></msup>"),
        (r"\log n", '<mi>log</mi><mspace width="0.167em" /><mi>n</mi>'),
        (r"\ln(x)", '<mi>ln</mi><mo stretchy="false">(</mo>'),
        (r"\operatorname*{arg\,min}_x f", "argmin"),
        (r"\arg\min_x f", "<mi>arg</mi>"),
        (r"|x|", 'lspace="0" rspace="0">|</mo>'),
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "<mtable"),
        (r"x \text{ isn't}", "isn't"),
        (r"2T\ln x", '<mi>T</mi><mspace width="0.167em" /><mi>ln</mi><mspace width="0.167em" /><mi>x</mi>'),
        (r"\left(-x\right)", '<mo lspace="0" rspace="0">−</mo><mi>x</mi>'),
        (r"(a) - b", "<mo>−</mo><mi>b</mi>"),
        (r"1/n", '<mo lspace="0" rspace="0">/</mo>'),
        (r"a \implies b", "<mo>⟹</mo>"),
        (r"\nabla f, \partial f, \infty", "<mi>∞</mi>"),
        (r"\mathbb E_{x\sim\rho}", "<mi>𝔼</mi>"),
        (r"a < b > c", "<mo>&lt;</mo>"),
    ],
)
def test_becomes_mathml(latex: str, piece: str) -> None:
    markup = formula(latex)
    assert markup.startswith('<math display="block">')
    assert piece in markup
    assert "xmlns" not in markup


@pytest.mark.parametrize(
    "latex",
    [
        r"\unheardof{x} \le y",
        r"\frac{a",
        r"\left( x",
        r"\href{javascript:alert(1)}{x}",
        r"\begin{aligned} a",
        r"x_",
        r"{",
        r"\style{color:red}{x}",
        r"\class{a}{x}",
    ],
)
def test_falls_back_to_the_source(latex: str) -> None:
    markup = formula(latex)
    assert markup.startswith('<code class="latex">')
    assert markup.unescape().removeprefix('<code class="latex">').removesuffix("</code>") == latex


def test_text_with_formulas() -> None:
    markup = formula(r"For <all> $x > 0$, $$\unheardof$$ costs \$5.")
    assert markup.startswith('<p class="prose">For &lt;all&gt; <math display="inline">')
    assert r'<code class="latex">\unheardof</code>' in markup
    assert markup.endswith(r"costs \$5.</p>")


def test_plain_words_are_not_set_as_a_formula() -> None:
    assert (
        formula("Algorithm 1 is <eps>-private") == '<p class="prose">Algorithm 1 is &lt;eps&gt;-private</p>'
    )
    assert formula("a + b = c").startswith("<math")
    assert formula(" ") == ""
