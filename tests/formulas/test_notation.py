"""LaTeX read as trees: what is printed is what is read, and what has two readings is refused."""

from __future__ import annotations

import doctest
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import (
    INFINITY,
    PI,
    Derivative,
    at,
    derivative,
    integer,
    integral,
    product,
    real,
    total,
)
from dpverify.formulas.expressions import (
    expression as number,
)
from dpverify.formulas.logic import And, Eq, ForAll, Formula, Ge, Implies, Le, Lt, Ne, Not, Or
from dpverify.formulas.notation import (
    ReadDisplay,
    define,
    read_display,
    read_expression,
    read_formula,
)
from dpverify.formulas.notation.letters import Definition, Letters
from dpverify.formulas.notation.tokens import normal, texts
from dpverify.formulas.operators import (
    absolute,
    apply,
    binomial,
    ceiling,
    exp,
    floor,
    log,
    maximum,
    normal_cdf,
    normal_quantile,
    sqrt,
)
from dpverify.formulas.rendering.latex import expression_latex, formula_latex

from .random_formulas import LETTERS as RANDOM_LETTERS
from .random_formulas import random_expression, random_formula

x, y, f = real("x"), real("y"), real("f")
eta, sigma, alpha = real("eta", latex=r"\eta"), real("sigma", latex=r"\sigma"), real("alpha", latex=r"\alpha")
delta, level = real("delta", latex=r"\delta"), real("l", latex=r"\ln(1/\delta)")
distance = real("distance", latex=r"\|x_0-x_0'\|")
moment = real("moment", latex=r"\mathbb{E}\|b_t\|_2^2")
n, t, i, k = (integer(name, ge=1) for name in "ntik")
VARIABLES = (x, y, f, eta, sigma, alpha, delta, level, distance, moment, n, t, i, k)
STEP = define("a_t", r"\frac{2\eta}{n-t+1}", VARIABLES)
DEFINITIONS = (
    STEP,
    define(r"\varepsilon", r"\frac{2}{\sigma^2}", VARIABLES),
    define("b_k", r"\frac{x}{k}", VARIABLES, parameter=k),
    define("g(x)", "x^2+1", VARIABLES, parameter=x),
    define("c", "2t", VARIABLES),
)
LETTERS = Letters(VARIABLES, DEFINITIONS)


@pytest.mark.parametrize(
    ("latex", "formula"),
    [
        (r"x/x=1", Eq(x / x, 1)),
        (r"0\cdot\ln x=0", Eq(0 * log(x), 0)),
        (r"2\eta x-(i-t+1)y\ge 0", Ge(2 * eta * x - (i - t + 1) * y, 0)),
        (r"\frac{1}{2}x=\frac{x}{2}", Eq(Fraction(1, 2) * x, x / 2)),
        (r"x^{1/2}=\frac{2}{4}", Eq(x ** number(Fraction(1, 2)), number(2) / 4)),
        (r"-x^2<-1", Lt(-(x**2), -1)),
        (r"x^{-1}\ne-3y", Ne(x ** number(-1), -(3 * y))),
        (r"xy/2=1.25", Eq(x * y / 2, Fraction(5, 4))),
        (r"|x||y|=|xy|", Eq(absolute(x) * absolute(y), absolute(x * y))),
        (r"\left\|x_0-x'_0\right\|^2\le\|x\|_2^2", Le(distance**2, absolute(x) ** 2)),
        (r"\ln(1/\delta)x\ge\ln\frac{1}{\delta}", Ge(level * x, log(1 / delta))),
        (r"2\,\mathbb{E}\|b_t\|_2^2=x", Eq(2 * moment, x)),
        (r"e^{-x}=\exp(-x)", Eq(exp(-x), exp(-x))),
        (r"\log_2 n\le\log^2 n", Le(apply("log_base", n, 2), log(n) ** 2)),
        (r"\log\log n<\sqrt[3]{n}", Lt(log(log(n)), apply("root", n, 3))),
        (r"\Phi^{-1}(x)\le\Phi(x)^2", Le(normal_quantile(x), normal_cdf(x) ** 2)),
        (r"\max\{x,y\}=\lfloor x\rfloor+\lceil y\rceil", Eq(maximum(x, y), floor(x) + ceiling(y))),
        (r"n!=\Gamma(n+1)\binom{n}{k}", Eq(apply("factorial", n), apply("gamma", n + 1) * binomial(n, k))),
        (r"k!(n-k)!=1", Eq(apply("factorial", k) * apply("factorial", n - k), 1)),
        (r"\sum_{i=1}^n i^2x=y", Eq(total(i**2 * x, i, 1, n), y)),
        (r"\sum_{1\le i\le n}(x+i)+y=0", Eq(total(x + i, i, 1, n) + y, 0)),
        (r"\sum_{i\le n}i=\prod_{i=t}^{n}i", Eq(total(i, i, 1, n), product(i, i, t, n))),
        (r"\int_{-\infty}^\infty e^{-x^2}\,dx=\sqrt\pi", Eq(integral(exp(-(x**2)), x, -INFINITY, INFINITY), sqrt(PI))),
        (r"\frac{d}{dx}(x^2)y=2xy", Eq(derivative(x**2, x) * y, 2 * x * y)),
        (r"\left.x^2\right|_{x=1}=1", Eq(at(x**2, x, 1), 1)),
        (r"g(2y)=g'(x)", Eq((2 * y) ** 2 + 1, Derivative(x**2 + 1, x, 1))),
        (r"a_t^2=b_{k+1}", Eq((2 * eta / (n - t + 1)) ** 2, x / (k + 1))),
        (r"\sum_{t=1}^n a_t=x", Eq(total(STEP.body, t, 1, n), x)),
        (r"0<x\le 1,\ y>x", And((Lt(0, x), Le(x, 1), Lt(x, y)))),
        (r"x=0\text{ or }y\ne 0", Or((Eq(x, 0), Ne(y, 0)))),
        (r"x\le y\implies\exp(x)\le\exp(y)", Implies(Le(x, y), Le(exp(x), exp(y)))),
        (r"\forall x:\ x^2\ge 0", ForAll(x, Ge(x**2, 0))),
        (r"\neg(x=1)", Not(Eq(x, 1))),
        (r"x\in(0,1]", And((Lt(0, x), Le(x, 1)))),
        (r"x &= y \\ &\le 2", And((Eq(x, y), Le(y, 2)))),
        (r"\begin{aligned}x&\le y.\end{aligned}", Le(x, y)),
    ],
)  # fmt: skip
def test_read(latex: str, formula: Formula) -> None:
    assert read_formula(latex, LETTERS) == formula


def test_conditions_stand_apart() -> None:
    assert read_display(r"x\le 1\quad\text{for all } t\le i\le n", LETTERS) == ReadDisplay(
        Le(x, 1), (Le(t, i), Le(i, n))
    )
    assert read_display(r"x\le 1\text{ for every }x,y>0, i", LETTERS).given == (Lt(0, x), Lt(0, y))
    assert read_display(r"\text{for all } x\ge 0:\ x\le 1", LETTERS).given == (Ge(x, 0),)
    assert read_formula(r"x\le 1\text{ if }x<0", LETTERS) == Implies(Lt(x, 0), Le(x, 1))


AMBIGUOUS = [
    r"\log x y=1", r"\log x\cdot y=1", r"\log x/y=1", r"\log 2x=1", r"\log(x)^2=1", r"\ln x!=1",
    r"1/2\sigma^2=1", r"x/yf=1", r"x/y\cdot f=1", r"x/y/f=1", r"1/n\sum_{i=1}^n i=1", r"1/2(x+y)=1",
    r"\alpha\|x\|_2^2/2\sigma^2=1", r"\sum_{i=1}^n i+x=1", r"\sum_{i=1}^n i-x=1", r"\prod_{i=1}^n i x=1",
    r"\prod_{i=1}^n i+x=1", r"\frac{d}{dx}xy=1", r"\frac{d}{dx}x+y=1", r"f(x)=1", r"f(-x)=1", r"f^2(x)=1",
    r"x^2y!=1", r"x^2!=1", r"n!!=1", r"2n!=1", r"|x|y|x|=1", r"x2=1", r"2\frac12=1", r"\ln(1/\delta)^2=1",
    r"\mathbb{E}\|b_t\|_2^2{}^2=1", r"x^12=1", r"x^-1=1", r"\frac{x}{y}^2=1", r"\log^{-1}x=1", r"\Phi^2(x)=1",
    r"x<y\text{ and }x=1\text{ or }y=2", r"x=1\implies y=1\implies x=y", r"\lg x=1", r"\sum_{t=1}^n c=1",
    r"(x)(x)|_{x=1}=1", r"\mathbb{E}\|b_t\|_2^2x=1", r"\mathbb{E}\|b_t\|_2^2\log(x)=1",
]  # fmt: skip


@pytest.mark.parametrize("latex", AMBIGUOUS)
def test_two_readings_are_refused(latex: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"at character \d+") as caught:
        read_formula(latex, LETTERS)
    allowed = caught.value.allowed
    assert " or " in allowed or "in brackets" in allowed


@pytest.mark.parametrize(
    ("latex", "reading", "meant"),
    [
        (r"\alpha\|x\|_2^2/2\sigma^2=1", r"/(2\sigma^2)", r"\frac{\alpha\|x\|^2}{2\sigma^2}=1"),
        (r"\sum_{i=1}^n i+x=1", r"(\sum_{i=1}^n i)", r"x+\sum_{i=1}^n i=1"),
        (r"\log x y=1", r"\log(xy)", r"\log(xy)=1"),
        (r"f(x)=1", r"f\cdot(x)", r"fx=1"),
    ],
)
def test_a_reading_says_which_is_meant(latex: str, reading: str, meant: str) -> None:
    with pytest.raises(InvalidArgumentError):
        read_formula(latex, LETTERS)
    if "i+x" in latex:
        assert read_formula(latex, LETTERS, reading=reading) == Eq(total(i, i, 1, n) + x, 1)
    else:
        assert read_formula(latex, LETTERS, reading=reading) == read_formula(meant, LETTERS)


@pytest.mark.parametrize("reading", [r"/(3\sigma^2)", r"\sigma", r"\alpha\|x\|_2^2(2\sigma^2)", "(((", "x"])
def test_a_reading_changes_nothing_but_brackets(reading: str) -> None:
    with pytest.raises(InvalidArgumentError):
        read_formula(r"\alpha\|x\|_2^2/2\sigma^2+\sigma=1", LETTERS, reading=reading)


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        (r"x+\beta=1", r"character 3 was `\\beta`; allowed: a declared letter; declared are `\\eta`"),
        (r"x_1=1", r"was `x_1`; allowed: a declared letter; declared are `x`"),
        (r"x'=1", "was `x'`"),
        (r"x^*=1", r"was `x\^\*`"),
        (r"x^{(t)}=1", "declared letter"),
        (r"\hat x=1", r"was `\\hat x`"),
        (r"g=1", r"declared are `g\(x\)`"),
        (r"g'=1", r"`g\(x\)`, with its argument"),
        (r"x", "says nothing without a relation"),
        (r"x+", "after it a number"),
        (r"(x=1", "closing bracket"),
        (r"(x]=1", "matching opening bracket"),
        (r"|x=1", "bars in pairs"),
        (r"{x=1", "matching"),
        (r"x\approx y", "relation that can be proved"),
        (r"x+\dots=1", "in place of dots"),
        (r"x=\text{large}", "the words"),
        (r"\sum_i i=1", "both ends of the index"),
        (r"\sum_{x=1}^n x=1", "declared as an integer"),
        (r"\int_0^1 x=1", "the d of the integral"),
        (r"\Phi x=1", "argument in brackets"),
        (r"x,y", "each with a relation"),
        (r"2(y=1)=1", "not a formula"),
        ("", "not empty"),
        ("x" * 5000, "at most 4000"),
        ("x=" * 900 + "x", "at most 1500"),
        ("+".join(["x"] * 200) + "=1", "levels"),
        (r"\forall x:" * 100 + "x=1", "at most 60"),
        ("(" * 50 + "x" + ")" * 50 + "=1", "levels"),
        (r"\left.x=1", "closing bracket"),
        ("é=1", "U\\+00E9"),
    ],
)
def test_bad_formulas_say_where_and_what(latex: str, said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        read_formula(latex, LETTERS)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Letters((x, real("z", latex="x"))),
        lambda: Letters((x, y, real("z", latex="xy"))),
        lambda: Letters((), (Definition("c", x + 1, x),)),
        lambda: define("c", "x=1", VARIABLES),
        lambda: define("c", r"\beta", VARIABLES),
        lambda: read_formula(None, LETTERS),  # type: ignore[arg-type]
        lambda: read_expression("x=1", LETTERS),
    ],
)
def test_bad_declarations(wrong: object) -> None:
    with pytest.raises(InvalidArgumentError):
        wrong()  # type: ignore[operator]


def test_definitions_cannot_grow_without_end() -> None:
    definitions: list[Definition] = [define("c_0", "x+x", VARIABLES)]

    def double() -> None:
        last = len(definitions) - 1
        definitions.append(define(f"c_{{{last + 1}}}", f"c_{{{last}}}+c_{{{last}}}", VARIABLES, definitions))

    for _ in range(8):
        double()
    with pytest.raises(InvalidArgumentError, match="operations"):
        [double() for _ in range(8)]


def test_an_index_that_would_be_captured_is_refused() -> None:
    inner = Definition("s_k", total(i * k, i, 1, n), k)
    assert read_expression("s_{t}", Letters(VARIABLES, (inner,))) == total(i * t, i, 1, n)
    with pytest.raises(InvalidArgumentError, match="bound"):
        read_expression("s_{i+1}", Letters(VARIABLES, (inner,)))


# ------------------------------------------------------------------------------------ laws, over random trees

RANDOM = Letters(RANDOM_LETTERS)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_printed_is_read_as_the_same_tree(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(150):
        tree = random_expression(rng, rng.randint(1, 5))
        assert read_expression(expression_latex(tree), RANDOM) == tree


@pytest.mark.parametrize("seed", range(4))
def test_so_are_formulas(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(50):
        formula = random_formula(rng, rng.randint(1, 3))
        assert read_formula(formula_latex(formula), RANDOM) == formula


@pytest.mark.parametrize("seed", range(50))
def test_spacing_and_sizes_of_brackets_say_nothing(seed: int) -> None:
    rng = random.Random(seed)
    tree = random_expression(rng, 4)
    latex = expression_latex(tree)
    if r"\left." in latex:
        return  # where \left and \right are the brackets
    narrow, wide = (" ", r"\, ", "  "), (r"\quad ", r"\;", "~~")
    spaced = re.sub(
        r"\\(?!partial)[A-Za-z]+(?![A-Za-z{[])|[-+=(),]",
        lambda m: m[0] + rng.choice(narrow if m[0] not in "+-=" else narrow + wide),
        latex,
    )
    sized = re.sub(r"(?<!\\ln)\(", lambda m: rng.choice(("(", r"\left(", r"\bigl(")), latex)
    sized = sized.replace(r"\lfloor", r"\left\lfloor").replace(r"\rfloor", r"\Bigr\rfloor")
    assert texts(normal(sized)) == texts(normal(latex))
    assert read_expression(sized, RANDOM) == tree
    assert read_expression(spaced, RANDOM) == tree


SOUP = [
    r"\frac", r"\sqrt", "[", "]", "{", "}", "(", ")", "|", r"\|", "_", "^", "'", "+", "-", r"\cdot", "/", "!", ",", ":",
    r"\le", "=", "<", r"\implies", r"\forall", r"\text{for all}", r"\text{and}", r"\text{or}", r"\sum_{i=1}^{n}",
    r"\sum", r"\prod_{i=1}^{n}", r"\int", r"\int_{0}^{1}", "d", r"\mathrm{d}x", r"\frac{\partial}{\partial x}",
    r"\log", r"\ln", r"\exp", r"\Phi", r"\Phi^{-1}", r"\max", r"\Gamma", "x", "y", r"\eta", "i", "n", "1", "2", "3.5",
    "e", r"\pi", r"\infty", r"\left", r"\right", r"\left.", r"\binom", r"\lfloor", r"\rceil", r"\\", "&", r"\in", "b_",
    "a_t", "g", "g(", ".", "|_{x=1}", r"\neg", r"\ln(1/\delta)", r"\hat", r"\|x_0-x_0'\|", "\\", "é", "%", r"\text{",
    r"\begin{aligned}", "$", "\0",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_nonsense_is_refused_and_nothing_else_happens(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(25):
        latex = "".join(rng.choice(SOUP) for _ in range(rng.choice((2, 4, 8, 16, 60))))
        _refused_or_read(latex)
        damaged = formula_latex(random_formula(rng, 2))
        cut = sorted(rng.randrange(len(damaged) + 1) for _ in range(2))
        _refused_or_read(damaged[: cut[0]] + rng.choice(SOUP) + damaged[cut[1] :])


def _refused_or_read(latex: str) -> None:
    for letters in (LETTERS, RANDOM):
        try:
            display = read_display(latex, letters)
        except InvalidArgumentError:
            continue
        assert read_formula(formula_latex(display.claim), letters) == display.claim


def test_the_page_of_the_notation_is_right() -> None:
    page = Path(__file__).parents[2] / "docs" / "notation.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 5
    assert failed == 0


def test_a_letter_with_primes_in_braces_is_followed_by_others() -> None:
    primed = real("r", latex=r"\rho''")
    assert read_expression(r"\rho^{\prime\prime}x", (primed, x)) == primed * x
    assert read_expression(r"\sqrt{\rho^{\prime\prime}\eta}", (primed, eta)) == sqrt(primed * eta)


def test_a_letter_that_shows_an_index_is_no_constant_under_it() -> None:
    letters = (n, i, x, real("x_i"), real("f_x", latex="f(x)"), real("k_1", latex="k_1"), k)
    for latex in (
        r"\sum_{i=1}^n x_i=nx_i", r"\forall i:\ x_i\le 1", r"\int_0^1 f(x)\,\mathrm{d}x=f(x)", r"\exists i:\ x_i\le 1",
        r"\frac{\partial}{\partial x}(f(x))=0", r"\left.f(x)\right|_{x=1}=1", r"\prod_{i=1}^n(x_i+1)=1",
    ):  # fmt: skip
        with pytest.raises(InvalidArgumentError, match="one number, the same for every"):
            read_formula(latex, letters)
    assert read_formula(r"\sum_{k=1}^n k_1=1", letters)
    assert read_formula(r"x_i\le 1\text{ for all }i", letters)
    # one that is quantified itself is one number only where another quantifier follows it
    for latex in (
        r"\forall i:\ \exists x_i:\ x_i\le 1", r"\forall i:\ \forall x_i:\ x_i\le 1",
        r"\forall x_i:\ \forall i:\ x_i\le 1",
        r"\forall x_i:\ \forall x:\ \forall i:\ x_i\le x", r"\exists x_i:\ \exists i:\ x_i\le 1",
        r"\forall x_i, i:\ x_i\le 1",
    ):  # fmt: skip
        read = read_formula(latex, letters)
        assert read_formula(formula_latex(read), letters) == read
    for latex in (
        r"\exists x_i:\ \forall i:\ x_i\le 1", r"\forall x_i:\ \exists i:\ x_i\le 1",
        r"\forall x_i:\ \neg(\forall i:\ x_i\le 1)", r"\forall x_i:\ \sum_{i=1}^n x_i\le 1",
        r"\forall x_i:\ \exists x:\ \forall i:\ x_i\le x", r"\forall x_i:\ ((\forall i:\ x_i\le 1)\implies x\le 1)",
    ):  # fmt: skip
        with pytest.raises(InvalidArgumentError, match="one number, the same for every"):
            read_formula(latex, letters)


def test_e_as_a_letter_has_no_bare_power() -> None:
    e = real("e")
    with pytest.raises(InvalidArgumentError, match=r"exp\(2\)"):
        read_formula("e^2=1", (e,))
    assert read_formula("(e)^2=1", (e,)) == Eq(e**2, 1)
    assert expression_latex(e**2) == "(e)^{2}"
