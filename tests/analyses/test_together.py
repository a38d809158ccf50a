"""Conditions that can hold at once have a point; others fall into cases, and the reason is said."""

from __future__ import annotations

from dataclasses import replace

from dpverify.analyses.together import Case, cases
from dpverify.formulas.expressions import integer, real
from dpverify.ledger.written_numbers import coordinates_of
from dpverify.proving.language import Obligation
from dpverify.proving.provers.points import admitted
from dpverify.statements.sheet import Sheet

_LETTERS = (real("a"), real("b"), real("c", gt=0), integer("n", ge=1))


def rows(*given: str, letters: tuple = _LETTERS) -> tuple[Obligation, ...]:
    sheet = Sheet("x.rows", letters)
    for number, conditions in enumerate(given):
        sheet = sheet.step(f"row-{number}", "a+b+c+n=a+b+c+n", given=conditions or ())
    return tuple(sheet.statement.printed)


def assert_holds(case: Case, obligations: tuple[Obligation, ...]) -> None:
    assert case.point is not None
    point = {name: coordinates_of(value) for name, value in case.point.items()}
    for o in obligations:
        assert o.name not in case.names or admitted(o.problem, point)


def test_conditions_that_meet_have_one_point() -> None:
    """Points for single formulas do not fit together here: 1 <= a, a <= 1/2 + b, b == 7n."""
    obligations = rows(r"a\ge 1", r"a\le\frac12+b, b\le 20", r"b=7n")
    (case,) = cases(obligations)
    assert case.names == ("row-0", "row-1", "row-2")
    assert_holds(case, obligations)


def test_contradicting_conditions_are_shown_to_be() -> None:
    obligations = rows(r"a\le b", r"b\le a-1", r"b\le c")
    first, second = cases(obligations)
    assert first.names == ("row-0", "row-2")
    assert second.names == ("row-1",)
    assert second.why == "the conditions of row-1 contradict those of row-0, of case 1"
    assert_holds(first, obligations)
    assert_holds(second, obligations)


def test_a_formula_that_can_never_hold_has_no_point() -> None:
    first, never = cases(rows(r"a\le b", r"a\le b, b\le a-1"))
    assert first.point is not None
    assert never.point is None
    assert "contradict" in never.why


def test_domains_meet_or_do_not() -> None:
    small = replace(_LETTERS[2], upper=coordinates_of("1"), upper_open=False)
    large = replace(_LETTERS[2], lower=coordinates_of("2"), lower_open=False)
    one, two, three = (
        replace(rows(given, letters=(*_LETTERS[:2], c, _LETTERS[3]))[0], name=name)
        for given, c, name in (
            (r"a\le c", _LETTERS[2], "any"),
            (r"c\le b", small, "small"),
            ("", large, "large"),
        )
    )
    (case,) = cases((one, two))
    assert_holds(case, (one, two))
    first, second = cases((one, two, three))
    assert first.names == ("any", "small")
    assert second.names == ("large",)
    assert "contradict" in second.why


def test_a_letter_for_different_things_makes_cases() -> None:
    from dpverify.formulas.units import LENGTH

    other = replace(_LETTERS[0], unit=LENGTH)
    (one,) = rows(r"a\le b")
    two = replace(Sheet("x.rows", (other,)).step("other", r"a=a").statement.printed[0], name="other")
    first, second = cases((one, two))
    assert first.names == ("row-0",)
    assert second.names == ("other",)
    assert "different things" in second.why


def test_nothing_has_no_cases() -> None:
    assert cases(()) == ()
