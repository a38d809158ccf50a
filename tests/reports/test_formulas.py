"""LaTeX to MathML."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from dpverify.reports.formulas import formula, in_lines


@pytest.mark.parametrize(
    ("latex", "piece"),
    [
        (r"\frac{a}{b}", "<mfrac><mi>a</mi><mi>b</mi></mfrac>"),
        (r"x_0'", '<msubsup><mi>x</mi><mn>0</mn><mo lspace="0" rspace="0">′</mo></msubsup>'),
        (r"\ell_h''(z)", "<msubsup><mi>ℓ</mi><mi>h</mi>"),
        (r"f'^2", "</mo><mn>2</mn></mrow></msup>"),
        (r"\tfrac12x^10", "<mfrac><mn>1</mn><mn>2</mn></mfrac><msup><mi>x</mi><mn>1</mn></msup><mn>0</mn>"),
        (r"12.5x", "<mn>12.5</mn>"),
        (r"\left.x\right|_0", "<msub><mrow><mi>x</mi>"),
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
        (r"\operatorname*{\mathbb{E}}_P[X]", "<mi>𝔼</mi>"),
        (r"\mathop{\mathbb{E}}_P[X]", "<mi>𝔼</mi>"),
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


def test_markup_in_latex_is_text() -> None:
    markup = formula(r"\text{<script>}\operatorname{<b>}x<y")
    root = ElementTree.fromstring(markup)
    assert {element.tag for element in root.iter()} == {"math", "mtext", "mi", "mo"}
    assert "".join(root.itertext()) == "<script><b>x<y"


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


def test_a_formula_that_fits_stays_in_one_line() -> None:
    assert in_lines(r"a+b\le c", 20.0).count("<math") == 1


def test_a_long_one_is_broken_before_its_signs() -> None:
    html = in_lines(r"-(aaaa+bbbb)-\frac{cccc+dddd}{2}\le\{e=f\}", 14.0)
    lines = html.split("<math")[1:]
    # neither at the sign of what comes first, nor in parentheses or fractions
    texts = [re.sub(r"^[^>]*>|<.*?>|\s", "", line) for line in lines]
    assert texts == ["−(aaaa+bbbb)", "−cccc+dddd2", "≤{e=f}"]
    assert ['form="infix"' in line for line in lines] == [False, True, True]


@pytest.mark.parametrize("latex", [r"\Phi(aaaaaaaaaaaaaaaaaaaa)\le 1", r"a" + r"+b" * 60, r"\unknown{x}", ""])
def test_what_does_not_fit_is_left_to_others(latex: str) -> None:
    assert in_lines(latex, 10.0) == ""


def test_parentheses_are_broken_where_nothing_else_helps_and_words_by_the_browser() -> None:
    """Nothing is lost, and what fits stays whole."""

    def texts(latex: str, widest: float) -> list[str]:
        lines = in_lines(latex, widest).removeprefix('<span class="lines">').removesuffix("</span>")
        return [re.sub(r"<.*?>|\s", "", line) for line in re.split(r"(?<=</math>) | (?=<math)", lines)]

    assert texts(r"c(aaaa+bbbb-(e+f))\le 2", 9.0) == ["c(aaaa", "+bbbb", "−(e+f))", "≤2"]
    assert texts(r"\xi((aaaa+bbbb)(cc+dd))", 10.0) == ["ξ((aaaa", "+bbbb)(cc", "+dd))"]
    words = r"x=1:\ \hat f\text{ is twice continuously differentiable everywhere}"
    html = in_lines(words, 12.0)
    assert html.replace("\u00a0", " ").endswith(
        "</math>  is twice continuously differentiable everywhere</span>"
    )
    assert html.count("<math") == 2


def test_short_words_are_no_formula() -> None:
    assert "<math" not in in_lines("the law is the same", 10.0)
    assert in_lines("the law is the same", 10.0) == formula("the law is the same")
