"""Letters that stand for formulas and functionals: what is proved for all values, refuted at values that there are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.logic import Le
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving import prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Proof
from dpverify.statements.sheet import Sheet

N = integer("n", ge=1)
EPSILON = real("epsilon", gt=0, latex=r"\varepsilon")
LOG = real("l", ge=0, latex=r"\log n")
GROWTH = real("E", gt=0, latex=r"e^\varepsilon")
MEAN, SQUARE = real("m", latex=r"\mathbb{E}X"), real("s", ge=0, latex=r"\mathbb{E}X^2")


def row(latex: str, *letters: Variable, given: str = "") -> Obligation:
    options = {"given": given} if given else {}
    (found,) = Sheet("x.row", letters).conclusion("row", latex, **options).statement.printed
    return found


def settled(latex: str, *letters: Variable, given: str = "") -> Proof:
    return prove(row(latex, *letters, given=given))


def test_a_logarithm_has_its_value_in_a_counterexample() -> None:
    assert (
        settled(r"\log n\le n-1", N, LOG).verdict is Verdict.PROVED
    )  # false at l = 1, n = 1, which cannot be
    wrong = settled(r"\log n\le\frac{n}{4}", N, LOG)
    assert wrong.verdict is Verdict.REFUTED
    assert wrong.written_out
    assert set(wrong.counterexample or ()) == {"n"}
    assert check(wrong.certificate).confirmed


def test_what_holds_for_all_values_needs_no_formula() -> None:
    found = settled(r"2\log n\le\log n+\log n", N, LOG)
    assert found.verdict is Verdict.PROVED
    assert not found.written_out


@pytest.mark.parametrize(
    ("latex", "letters", "given"),
    [
        (r"\mathbb{E}X\le\sqrt{\mathbb{E}X^2}", (MEAN, SQUARE), ""),  # Jensen's inequality
        (
            r"\Pr[A\cup B]\le\Pr[A]+\Pr[B]",
            tuple(
                real(name, ge=0, le=1, latex=rf"\Pr[{event}]")
                for name, event in (("u", r"A\cup B"), ("a", "A"), ("b", "B"))
            ),
            "",
        ),
        (
            r"\mathrm{D}_\alpha(P\|Q)\le\mathrm{D}_\beta(P\|Q)",
            (
                real("alpha", gt=1, latex=r"\alpha"),
                real("beta", gt=1, latex=r"\beta"),
                real("D", ge=0, latex=r"\mathrm{D}_\alpha(P\|Q)"),
                real("D2", ge=0, latex=r"\mathrm{D}_\beta(P\|Q)"),
            ),
            r"\alpha\le\beta",
        ),
        (r"R\le 1", (real("R", ge=0, meaning="expected excess risk"),), ""),
    ],
)
def test_what_functionals_break_does_not_follow(
    latex: str, letters: tuple[Variable, ...], given: str
) -> None:
    found = settled(latex, *letters, given=given)
    assert found.verdict is Verdict.DOES_NOT_FOLLOW
    assert found.certificate is not None
    assert found.certificate["verdict"] == "refuted"  # arithmetic knows no functionals
    assert check(found.certificate).confirmed


def test_a_number_by_declaration_is_refuted() -> None:
    distance = real("d", ge=0, latex=r"\|x_0-y_0\|", stands_for="number")
    assert settled(r"\|x_0-y_0\|\le 1", distance).verdict is Verdict.REFUTED


def test_a_number_whose_latex_is_a_formula_has_its_value() -> None:
    declared = replace(GROWTH, stands_for="number")
    assert settled(r"1+\varepsilon\le e^\varepsilon", EPSILON, declared).verdict is Verdict.PROVED
    assert (
        settled(r"2\le e^\varepsilon", declared).verdict is Verdict.REFUTED
    )  # epsilon is nobody's letter here


def test_equations_with_logarithms_are_met_exactly() -> None:
    scale = real("sigma", gt=0, latex=r"\sigma")
    wrong = settled(
        r"\sigma\le\frac{3}{\varepsilon}", N, EPSILON, LOG, scale, given=r"\sigma=\frac{\log n}{\varepsilon}"
    )
    assert wrong.verdict is Verdict.REFUTED
    assert wrong.written_out
    assert "sigma" not in (wrong.counterexample or {})


def test_an_equation_fixes_no_functional() -> None:
    wrong = settled(r"\mathbb{E}X\le\log n", N, LOG, MEAN, given=r"\mathbb{E}X=n")
    assert wrong.verdict is Verdict.DOES_NOT_FOLLOW


def test_letters_bound_by_orders_are_replaced_before() -> None:
    found = settled(r"\log n=O(1)", N, LOG)
    assert found.verdict is Verdict.REFUTED
    assert found.written_out
    assert settled(r"\log n=O(n)", N, LOG).verdict is Verdict.PROVED


def test_formulas_without_values_at_which_the_conditions_hold_are_said() -> None:
    low = real("l", latex=r"\log n")
    assert "no point is found" in settled(r"\log n\le 0", N, low, given=r"\log n\le -1").reason
    square = real("q", latex=r"n^2")
    found = settled(r"n^2\le 0", N, square, given=r"n^2\le -1")
    assert (found.verdict, found.gap) == (Verdict.UNDECIDED, Gap.CONTRADICTORY_ASSUMPTIONS)


def test_a_declared_formula_has_to_be_readable() -> None:
    from dpverify.errors import InvalidArgumentError

    with pytest.raises(InvalidArgumentError, match="what x stands for"):
        row(r"x\le 1", real("x", stands_for=r"\log q"))
    both = real("x", stands_for=r"y+1"), real("y", stands_for=r"x-1")
    with pytest.raises(InvalidArgumentError, match=r"need one another"):
        row(r"x\le y", *both)


def test_a_formula_of_a_letter_that_is_not_there_is_no_assumption() -> None:
    """The domain of the letter for `log n` would leave out n = 1 and 2."""
    dropped = replace(row(r"n\le 3n", N, real("l", gt=1, latex=r"\log n"), given=r"\log n\ge 0"), assuming=())
    assert dropped.written_out is dropped


def test_another_claim_with_the_same_letters_is_written_out_anew() -> None:
    bound = row(r"\log n=O(n)", N, LOG)
    assert bound.written_out is not bound
    other = replace(bound, claim=row(r"\log n=O(1)", N, LOG).claim)
    assert other.written_out is other
    free = row(r"\log n\le n-1", N, LOG)
    changed = replace(free, claim=Le(LOG, N / 4)).written_out
    assert changed.over == (N,)
    assert prove(changed).verdict is Verdict.REFUTED
