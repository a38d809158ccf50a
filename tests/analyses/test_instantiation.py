"""Premises held against what used formulas conclude: what matches, is identified, is open, is assumed."""

from __future__ import annotations

import pytest

from dpverify.analyses.instantiation import Given, Instantiation, UsedFormula, parted, premises_of
from dpverify.analyses.matching import printed
from dpverify.formulas.expressions import Variable, integer, real, total
from dpverify.formulas.logic import And, Compare, Eq, Formula, Implies, Le, Lt
from dpverify.formulas.operators import exp
from dpverify.proving.language import Obligation

a, b, c = real("a", ge=0), real("b", ge=0), real("c", gt=0)
n, t, k = integer("n", ge=1), integer("t", ge=1), integer("k", ge=1)
X, Y = real("X"), real("Y")


def divergence(name: str, latex: str) -> Variable:
    """A letter that stands for a divergence."""
    return real(name, ge=0, latex=latex, stands_for="functional")


D_n = divergence("D_n", r"\mathrm{D}_\alpha(X_n\|X'_n)")
D_t = divergence("D_t", r"\mathrm{D}_\alpha(X_t\|X'_t)")
D_Y = divergence("D_Y", r"\mathrm{D}_\alpha(Y\|Y')")
E_Y = divergence("E_Y", r"\mathbb{E}[Y]")


def obligation(claim: Formula, *given: Formula, latex: str = "") -> Obligation:
    """An obligation over the letters that it has."""
    return Obligation("o", "", claim, tuple(_letters(claim, *given)), assuming=given, latex=latex)


def _letters(*formulas: Formula) -> list[Variable]:
    from dpverify.formulas.logic import free_in

    return sorted(frozenset[Variable]().union(*map(free_in, formulas)), key=lambda v: v.name)


def found(
    premise: Formula, claim: Formula, *given: Formula, more: tuple[Formula, ...] = ()
) -> Instantiation | None:
    """What a premise is an instance of, where one formula with a claim and conditions is used."""
    goal = obligation(Le(D_n + D_t + D_Y + E_Y, c), *more, premise)
    traced = premises_of(goal, [UsedFormula("lemma/bound", obligation(claim, *given))])
    return {one.formula: one.found for one in traced}[premise]


def test_the_same_formula_under_other_numbers_is_an_instance():
    match = found(Le(D_t, a * t), Le(D_n, b * n))
    assert match is not None
    assert match.by == ("lemma/bound",)
    assert match.identified == ()
    assert {v.name: repr(e) for v, e in match.values.items()} == {"b": "a", "n": "t", "D_n": "D_t"}
    assert match.open == ()


@pytest.mark.parametrize(
    "claim",
    [
        Le(D_n, n * b),
        Lt(D_n, n * b),
        Eq(n * b, D_n),
        And((Le(a, D_n), Le(D_n, b * n))),
        And((Le(D_n, a), Eq(a, b * n))),  # by the chain's ends
    ],
)
def test_order_of_factors_relations_and_chains(claim):
    assert found(Le(D_n, b * n), claim) is not None


@pytest.mark.parametrize(
    "claim",
    [
        Le(D_n, 2 * b * n),  # a constant is lost
        Le(b * n, D_n),  # turned around
        Le(D_n, b * n**2),
        Le(E_Y, b * n),  # of something else: an expectation is no divergence
    ],
)
def test_a_fault_in_the_premise_makes_it_an_assumption(claim):
    assert found(Le(D_n, b * n), claim) is None


def test_another_print_is_an_identification_and_is_listed():
    match = found(Le(D_Y, a * t), Le(D_n, b * n))
    assert match is not None
    assert [(v.name, e.name) for v, e in match.identified] == [("D_n", "D_Y")]


def test_hypotheses_are_shown_or_open():
    ask = Le(b, 1)
    shown = found(Le(D_n, a * n), Le(D_n, b * n), ask, more=(Le(a, X), Le(X, 1), Le(X, c)))
    assert shown is not None
    assert not shown.open
    left = found(Le(D_n, a * n), Le(D_n, b * n), ask)
    assert left is not None
    assert [asked.formula for asked in left.open] == [Le(a, 1)]


def test_domains_and_boxes_are_asked_of_the_values():
    small = real("small", ge=0, le=1)
    match = found(Le(D_n, X * n), Le(D_n, small * n))
    assert match is not None
    assert {repr(asked.formula) for asked in match.open} == {repr(Le(0, X)), repr(Le(X, 1))}
    goal = obligation(Le(D_n, c), Le(D_n, a * n))
    boxed = Obligation("o", "", Le(D_n, b * n), (D_n, b, n), box={"b": (0, 1)})
    (only,) = premises_of(goal, [UsedFormula("lemma/bound", boxed)])
    assert only.found is not None
    assert [(asked.formula, asked.of_box) for asked in only.found.open] == [(Le(a, 1), True)]


def test_a_premise_that_its_use_asks_for_is_no_premise_shown():
    # `if D <= c then D <= c` gives nothing
    assert found(Le(D_n, c), Le(X, Y), Le(X, Y)) is None


def test_no_letter_is_what_a_sum_binds():
    i, j = integer("i", ge=1), integer("j", ge=1)
    claim = Le(D_n, total(b, i, 1, n))
    assert found(Le(D_n, total(a, j, 1, n)), claim) is not None
    assert found(Le(D_n, total(j, j, 1, n)), claim) is None
    # an index that is a letter elsewhere is another one there
    assert found(Le(i * D_n, total(i, i, 1, n)), Le(i * D_n, total(i, i, 1, n))) is not None


def test_by_algebra():
    match = found(Le(2 * D_n, 4 * b), Le(D_n, 2 * b))
    assert match is not None
    assert match.by_algebra
    assert found(Le(2 * D_n, 3 * b), Le(D_n, 2 * b)) is None


def test_what_is_implied_may_use_its_premise():
    match = found(Implies(Le(a, 1), Le(D_n, a * n)), Le(D_n, b * n), Le(b, 1))
    assert match is not None
    assert not match.open


def test_what_is_proved_outright_is_no_assumption():
    goal = obligation(Le(D_n, c), Le(2 * X, 1 + X**2), Le(exp(Y), D_n))
    traced = {one.formula: one.found for one in premises_of(goal, [])}
    assert traced[Le(2 * X, 1 + X**2)] == Instantiation(())
    assert traced[Le(exp(Y), D_n)] is None


def test_conditions_names_and_premises():
    given = (Le(n, t), Eq(a, b * n), Le(X, 1), Le(D_n, a))
    goal = Obligation("o", "", Le(D_n, b * n), (D_n, a, b, n, t, X), assuming=given, latex=r"D\le bn")
    kinds = [kind for _, kind in parted(goal, says="t")]
    assert kinds == [Given.CONDITION, Given.NAME, Given.PREMISE, Given.PREMISE]
    # a number that only the premise has is no condition, so that nothing hides in it
    assert [one.formula for one in premises_of(goal, [], says="t")] == [Le(X, 1), Le(D_n, a)]
    assert isinstance(given[0], Compare)


def test_equal_letters_are_read_as_each_is_printed():
    """Letters of one name and domain are equal, and each has a print of its own, whichever was read first."""
    assert printed(real("x", latex=r"\alpha")) != printed(real("x", latex=r"\beta"))
