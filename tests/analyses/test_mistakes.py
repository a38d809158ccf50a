"""What kind of mistake a correction corrects, and what it adds: by trees."""

from __future__ import annotations

import pytest

from dpverify.analyses.mistakes import added_conditions, mistake_of
from dpverify.formulas.calculus import map_sides
from dpverify.formulas.expressions import Expression, integer, real
from dpverify.formulas.logic import Compare, Eq, Exists, ForAll, Formula, Ge, Implies, Le, Lt
from dpverify.formulas.operators import exp, sqrt
from dpverify.ledger.in_print import Mistake
from dpverify.proving.language import Obligation
from dpverify.statements.selection import find_statement
from dpverify.verification.catalog.source_rows import correction_of

X, L, R = real("x", ge=0), real("L", gt=0), real("R", gt=0)
N, FEW = integer("n", ge=1), integer("n", ge=2)
C = real("C", gt=0)


def stated(claim: Formula, *given: Formula, over: tuple[object, ...] = (X, L, R, N)) -> Obligation:
    return Obligation("o", "page 1", claim, over, assuming=given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("printed", "corrected", "kind"),
    [
        (Le(X, L / R), Le(X, L**2 / R), Mistake.EXPONENT),
        (Le(X, L / R), Le(X, L**2 / (2 * R)), Mistake.EXPONENT),
        (Le(X, sqrt(L) / R), Le(X, L / R), Mistake.EXPONENT),
        (Le(X, L / R), Le(X, L / (2 * R)), Mistake.CONSTANT),
        (Le(X, L / R + X), Le(X, 3 * L / R + X), Mistake.CONSTANT),
        (Le(X, exp(sqrt(L))), Le(X, exp(sqrt(2 * L))), Mistake.CONSTANT),
        (Le(X, exp(L) - R), Le(X, exp(2 * L) - R), Mistake.CONSTANT),
        (Eq(X, L), Le(X, L), Mistake.RELATION),
        (Lt(X, L), Le(X, L), Mistake.RELATION),
        (Le(X, L), Le(L, X), Mistake.RELATION),
        (Le(X, L), Ge(L, X), Mistake.CONDITION),  # the same formula
        (Le(X, L), Le(X, R), Mistake.OTHER),
        (Le(X, L), Le(X, L + R), Mistake.OTHER),
        (Le(X, L - R), Le(X, L + R), Mistake.OTHER),
        (Le(X, L * R), Le(X, L), Mistake.OTHER),
        (
            Exists(C, ForAll(N, Le(X, C * N))),
            Exists(C, ForAll(N, Implies(Le(2, N), Le(X, C * N)))),
            Mistake.CONDITION,
        ),
    ],
)
def test_kinds(printed: Compare, corrected: Compare, kind: Mistake) -> None:
    assert mistake_of(stated(printed), stated(corrected)) is kind


def test_what_has_no_correction_has_no_kind() -> None:
    assert mistake_of(stated(Le(X, L)), None) is None


def test_a_missing_square_is_one_kind_of_mistake() -> None:
    for name, row in (("fmtt18.thm1", "bound"), ("gll22.thm6.8", "risk")):
        statement = find_statement(name)
        assert statement is not None
        printed = next(o for o in statement.printed if o.name == row)
        assert mistake_of(printed, correction_of(statement, row)) is Mistake.EXPONENT


def test_what_a_correction_adds() -> None:
    printed = stated(Le(X, L * N), Le(L, R))
    new = real("new", ge=0)
    corrected = stated(Le(X, L * FEW), Le(L, R), Le(1, L), Le(new, L), over=(X, L, R, FEW, new))
    found = added_conditions(printed, corrected)
    assert [each.text for each in found] == ["n among integers in [2, oo)", "1 <= L"]
    assert [each.latex for each in found] == [r"n\in\{2,\dots\}", r"1\le L"]
    assert added_conditions(corrected, printed) == ()  # more letters, a larger domain, fewer conditions
    assert added_conditions(None, corrected) == ()
    (_, told) = added_conditions(printed, corrected, told=lambda v: "a slope" if v == L else "")
    assert (told.text, told.latex) == ("1 <= L (L is a slope)", r"1\le L")
    always, where = stated(Le(X, L), Le(X, R)), stated(Le(X, L), Implies(Le(1, L), Le(X, R)))
    assert [each.text for each in added_conditions(where, always)] == ["x <= R, whether or not 1 <= L"]
    premise = stated(ForAll(N, Implies(Le(2, N), Le(X, L * N))), over=(X, L, R))
    (found_within,) = added_conditions(stated(ForAll(N, Le(X, L * N)), over=(X, L, R)), premise)
    assert found_within.text == "2 <= n"


def test_a_formula_printed_the_other_way_around_knows_it() -> None:
    turned: Expression = L
    claim = Ge(X, turned)
    assert claim == Le(L, X)
    assert claim.as_written("the smaller", "the larger") == (">=", "the larger", "the smaller")
    changed = map_sides(claim, lambda side: side + 1)
    assert isinstance(changed, Compare)
    assert changed.turned
    assert Le(L, X).as_written("the smaller", "the larger") == ("<=", "the smaller", "the larger")
