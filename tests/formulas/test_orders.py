"""O( ), Omega( ), Theta( ) and "large enough" are read as what they say, or refused with what would be clear."""

from __future__ import annotations

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import integer, real
from dpverify.formulas.homogeneity import MixedUnitsError, check
from dpverify.formulas.logic import Exists, ForAll
from dpverify.formulas.notation import read_display, read_expression, read_formula
from dpverify.formulas.printing import formula_text
from dpverify.formulas.rendering.latex import formula_latex
from dpverify.formulas.units import LENGTH, LOSS
from dpverify.statements.sheet import Sheet

n, d, i, k = integer("n", ge=1), integer("d", ge=1), integer("i", ge=1), integer("k", ge=1)
x, y, delta = real("x"), real("y", gt=0), real("delta", gt=0, lt=1, latex=r"\delta")
LETTERS = (n, d, i, x, y, delta)

READ = {
    r"n=O(d)": "C: d, n: n <= C*d",
    r"x=O(y)": "C: x, y: |x| <= C*y",
    r"n\le O(d^2)": "C: d, n: n <= C*d^2",
    r"O(d)\ge n": "C: d, n: n <= C*d",
    r"n=\Omega(d)": "c: d, n: c*d <= n",
    r"\Omega(d)\le n": "c: d, n: c*d <= n",
    r"n=\Theta(d)": "c, C: d, n: (c*d <= n) and (n <= C*d)",
    r"n\le\Theta(d)": "C: d, n: n <= C*d",
    r"O(n)=O(n^2)": "C: n: n <= C*n^2",
    r"x=y+O(1)": "C: x, y: |x - y| <= C",
    r"x=y\cdot O(n)": "C: n, x, y: |x| <= y*(C*n)",
    r"y=x\cdot O(n)": "C: n, x, y: y <= |x|*(C*n)",
    r"x\le\sqrt{n}\cdot O(d)-y": "C: d, n, x, y: x <= sqrt(n)*(C*d) - y",
    r"x\ge 1-O(\frac{1}{n})": "C: n, x: 1 - C*(1/n) <= x",
    r"x\le\frac{d}{\Omega(n)}": "c: d, n, x: x <= d/(c*n)",
    r"n\le d^{O(1)}": "C: d, n: n <= d^C",
    r"n\le 2^{O(d)}": "C: d, n: n <= 2^(C*d)",
    r"x\le\min(d,O(n))": "C: d, n, x: x <= min(d, C*n)",
    r"x\le O(n)+O(d)": "C, C_2: d, n, x: x <= C*n + C_2*d",
    r"n=O_d(1)": "C: n: n <= C",
    r"n\le\widetilde{\mathcal{O}}(d)": "C, k: d, n: n <= C*d*log(n)^k",
    r"x\le y\text{ for } n\text{ large enough}": "n_0: n, x, y: (n_0 <= n) implies (x <= y)",
    r"x\le ny\text{ for all sufficiently large } n": "n_0: n, x, y: (n_0 <= n) implies (x <= n*y)",
    r"y\le 1\text{ for } \delta \text{ small enough}": "delta_0: delta, y: (delta <= delta_0) implies (y <= 1)",
}  # fmt: skip


def shown(latex: str, **options: str) -> str:
    """The names of what there is, those of all other letters, and the rest."""
    formula = read_formula(latex, LETTERS, **options)
    chosen, every = [], []
    while isinstance(formula, Exists | ForAll):
        (chosen if isinstance(formula, Exists) else every).append(formula.variable.name)
        formula = formula.body
    return f"{', '.join(chosen)}: {', '.join(every)}: {formula_text(formula)}"


@pytest.mark.parametrize("latex", READ)
def test_an_order_says_that_there_are_constants(latex: str) -> None:
    assert shown(latex, soft=r"\log n") == READ[latex]


REFUSED = {
    r"n\ge O(d)": "no bound follows",
    r"n\le\Omega(d)": "no bound follows",
    r"n\ne O(d)": "relations",
    r"n=d^{O(1)}": "in place of `=`",
    r"n=O(d)+\Omega(1)": "one kind",
    r"n=\tilde O(d)": "soft",
    r"\neg(n=O(d))": "outside of quantifiers",
    r"n=O(d)\ \text{or}\ n=O(i)": "outside of quantifiers",
    r"\forall i:\ n=O(i)": "outside of quantifiers",
    r"n=O(O(d))": "no order in it",
    r"n\ge\Omega(d)\implies n\ge 2": "premises",
    r"n\le d\text{ for all } n\ge\Omega(d)": "premises",
    r"n=O_{2}(d)": "letters on which",
    r"O(n)\in(0,1]": "not in an interval",
    r"y\ge x\cdot\Omega(n)": "rise or to fall",
    r"n=O_d(1)+O_i(1)": "depend on the same letters",
    r"n\text{ large enough}\implies n=\Theta(O(n))": "no order in it",
}


@pytest.mark.parametrize("latex", REFUSED)
def test_what_is_not_clear_is_refused(latex: str) -> None:
    with pytest.raises(InvalidArgumentError, match=REFUSED[latex]):
        read_formula(latex, LETTERS)


def test_an_order_is_no_number() -> None:
    with pytest.raises(InvalidArgumentError, match="without orders"):
        read_expression(r"n+O(1)", LETTERS)


def test_a_declared_letter_is_no_order() -> None:
    capital = real("O")
    with pytest.raises(InvalidArgumentError, match="a function `O`"):
        read_formula(r"x=O(x+1)", (x, capital))
    assert read_formula(r"x=O\cdot(x+1)", (x, capital)) == read_formula(r"x=(O)(x+1)", (x, capital))


def test_constants_are_named_like_no_letter() -> None:
    taken = real("C"), real("C_2", latex=r"C_{2}")
    formula = read_formula(r"n\le O(1)", (n, *taken))
    assert isinstance(formula, Exists)
    assert formula.variable.name == "C_3"


def test_units_are_those_of_both_sides() -> None:
    loss, length = real("F", gt=0, unit=LOSS), real("D", gt=0, unit=LENGTH)
    check(read_formula(r"F=O(nF)", (n, loss, length)))
    with pytest.raises(MixedUnitsError):
        check(read_formula(r"F=O(nD)", (n, loss, length)))


def test_quantifiers_are_read_as_they_are_printed() -> None:
    for latex in (r"\exists y: x<y", r"\forall x: \exists y: x<y", r"\exists n: \exists d: n<d"):
        formula = read_formula(latex, LETTERS)
        assert read_formula(formula_latex(formula), LETTERS) == formula
    words = r"\text{for every } x>1\text{, there is } y \text{ such that } x<y"
    assert read_formula(words, LETTERS) == read_formula(r"x>1\implies\exists y: x<y", LETTERS)
    assert read_formula(r"\exists y>x: y<n", LETTERS) == read_formula(
        r"\exists y: (y>x\text{ and } y<n)", LETTERS
    )
    with pytest.raises(InvalidArgumentError, match="letters after"):
        read_formula(r"\exists 2<y: y<n", LETTERS)


def test_a_row_says_on_what_its_constants_depend() -> None:
    sheet = Sheet("a.thm1", (n, d, y))
    uniform = sheet.conclusion("bound", r"ny=O(d)", given=r"d\ge 2").statement.printed[0]
    assert uniform.over == uniform.assuming == ()
    fixed = sheet.conclusion("bound", r"ny=O(d)", given=r"d\ge 2, n\le d", fixed="d").statement.printed[0]
    assert fixed.over == (d,)
    assert [formula_latex(a) for a in fixed.assuming] == [r"2\le d"]
    text = formula_text(fixed.claim)
    assert text.endswith("((n <= d) implies (n*y <= C*d))))")
    with pytest.raises(InvalidArgumentError, match="fixed"):
        print(sheet.conclusion("bound", r"n\le d", fixed="d").statement.printed[0])


def test_a_row_says_what_constants_of_conditions_are() -> None:
    sheet = Sheet("a.thm1", (n, d, y))
    some = sheet.conclusion("a", r"y\le n", given=r"n\ge\Omega(d)", premises="some").statement.printed[0]
    assert formula_text(some.claim).startswith("there is c in (0, oo)")
    every = sheet.conclusion("a", r"y=O(n)", given=r"n\ge\Omega(d)", premises="every").statement.printed[0]
    assert [v.name for v in every.over] == ["c"]
    assert formula_text(every.claim).startswith("there is C in (0, oo)")
    with pytest.raises(InvalidArgumentError, match="some"):
        print(sheet.conclusion("a", r"y\le n", given=r"n\ge\Omega(d)", premises="all").statement.printed[0])


def test_constants_are_apart_in_claim_and_conditions() -> None:
    read = read_display(r"n\le O(d)\text{ for } n\text{ large enough}", LETTERS)
    assert [c.variable.name for c in read.chosen] == ["n_0", "C"]
