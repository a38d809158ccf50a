"""Sheets: the string that is shown is the formula that is proved."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas import notation
from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.logic import Eq, Ge, Le, variables_of
from dpverify.formulas.notation import read_formula
from dpverify.formulas.notation.tokens import LONGEST
from dpverify.formulas.printing import expression_text
from dpverify.formulas.rendering.latex import formula_latex
from dpverify.formulas.units import NATS
from dpverify.ledger.verdicts import Consequence, Coverage, Variant, Verdict
from dpverify.proving import prove
from dpverify.proving.language import Statement, parts_of
from dpverify.statements.paper import papers
from dpverify.statements.selection import find_statement
from dpverify.statements.sheet import Sheet
from dpverify.verification.catalog.rows import source_texts, what_was_read
from dpverify.verification.catalog.source_rows import SourceRow, obligations_of
from dpverify.verification.explanation import explanation_lines

n, t, i = integer("n", ge=1), integer("t", ge=1), integer("i", ge=1)
x, positive = real("x"), real("x", gt=0)
SHEET = Sheet("a.1", (n, t, i, x), where="Theorem 1").define("a_t", r"\frac{2}{n-t+1}")
ALL = [
    pytest.param(s, variant, i, id=f"{s.id}/{part.name} ({variant})")
    for p in papers().values()
    for s in p.statements
    for variant in Variant
    for i, part in enumerate(parts_of(obligations_of(s, variant)))
]
"""Which formulas there are; they are read in the tests."""


def test_variables_are_the_free_letters_and_conditions_become_assumptions() -> None:
    made = SHEET.step("s", r"\sum_{i=1}^n a_t\ge x\text{ for all }t\le n", given="x<1", box={"x": (0, 1)})
    (o,) = made.statement.printed
    assert o.over == (n, t, x)
    assert o.assuming[0] == Le(t, n)
    assert len(o.assuming) == 2
    assert o.latex == r"\sum_{i=1}^n a_t\ge x\text{ for all }t\le n"
    assert (o.coverage, o.where, dict(o.box)) == (Coverage.STEP, "Theorem 1", {"x": (0, 1)})
    assert SHEET.printed == ()


def test_what_a_source_speaks_of_elsewhere_is_assumed_by_both_readers_and_shown_as_added() -> None:
    sheet = SHEET.conclusion("both", r"x^2\le n", given="0\\le x", meant="x\\le 1").conclusion(
        "order", r"x=O(1)", meant="x\\le 1"
    )
    sheet = sheet.conclusion("one", r"x^2\le n", meant=r"|x|\le 1")
    both, order, one = sheet.read().printed
    assert both.assuming == (Ge(x, 0), Le(x, 1))
    assert both.meant == order.meant == (Le(x, 1),)
    assert one.meant == one.assuming
    assert prove(both).verdict is Verdict.PROVED
    for obligation in (both, order):
        said = source_texts(SourceRow(sheet.statement, Variant.PRINTED, obligation))
        assert said["added"] == ("x <= 1",)
    (corrected,) = sheet.corrected("both", r"x^2\le n", given=r"0\le x\le 1", because="x").corrections
    statement = sheet.corrected("both", r"x^2\le n", given=r"0\le x\le 1", because="x").statement
    said = source_texts(SourceRow(statement, Variant.CORRECTED, corrected))
    assert said["added"] == ("x <= 1",)  # what the printed formula is read with does not hide it


def test_letters_may_have_another_domain_in_one_obligation() -> None:
    made = SHEET.conclusion("one", r"x^2\ge 0").conclusion("other", r"x\ge 0", letters=(positive,))
    assert [o.over for o in made.printed] == [(x,), (positive,)]


def test_a_correction_stands_beside_what_it_corrects() -> None:
    made = (
        SHEET.step("wrong", r"x^2>0")
        .corrected("wrong", r"x^2\ge 0", because="0 is left out", consequence=Consequence.STEP, true_if="for x not 0")
        .corrected("more", r"x=x", coverage="step")
        .correction(latex=r"x^2\ge 0")
    ).statement  # fmt: skip
    assert made.corrected is not None
    assert [o.name for o in made.corrected.obligations] == ["wrong", "more"]
    assert (made.corrected.reasons, made.corrected.latex) == (("0 is left out",), r"x^2\ge 0")
    assert (made.printed[0].consequence, made.printed[0].reading) == (Consequence.STEP, "for x not 0")
    assert prove(made.printed[0]).verdict is Verdict.REFUTED
    assert prove(made.corrected.obligations[0]).verdict is Verdict.PROVED


def test_a_reading_is_seen_in_the_row() -> None:
    (o,) = SHEET.step("s", "x/2n=1", reading="x/(2n)").printed
    assert o.claim == Eq(x / (2 * n), 1)
    assert o.latex == "x/2n=1"
    assert "read as $x/(2n)$" in o.where


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: SHEET.step("s", r"y=1"),
        lambda: SHEET.step("s", r"x/2n=1"),
        lambda: SHEET.step("s", r"x=1", given="x"),
        lambda: SHEET.step("s", r"x=1", box={"y": (0, 1)}),
        lambda: SHEET.step("s", r"x=1", nonsense=1),
        lambda: SHEET.instance("s", r"x=1", case=""),
        lambda: SHEET.corrected("none", r"x=1"),
        lambda: SHEET.define("x_t", r"\beta"),
        lambda: SHEET.define("x", "1"),
    ],
)
def test_bad_sheets(wrong: object) -> None:
    with pytest.raises((InvalidArgumentError, TypeError)):
        wrong().read()  # type: ignore[operator]


def test_errors_name_the_obligation() -> None:
    with pytest.raises(InvalidArgumentError, match=r"a\.1/s: formula at character 1"):
        SHEET.step("s", r"\beta=1").read()


def test_a_display_is_read_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real_reader = notation.read_display

    def counted(latex: str, *more: Any, **how: Any) -> Any:
        read.append(latex)
        return real_reader(latex, *more, **how)

    monkeypatch.setattr(notation, "read_display", counted)
    statement = (
        SHEET.step("wrong", r"\beta=1")
        .instance("one", r"x^2\ge 0", case="all", uses=("a.2",))
        .corrected("wrong", r"x^2\ge -1", uses=("a.3",), consequence=Consequence.STEP)
    ).statement
    assert (len(statement.printed), statement.rests_on) == (2, ("a.3",))
    assert [(part.name, part.coverage, part.uses) for part in statement.parts] == [
        ("wrong", Coverage.STEP, ()),
        ("one", Coverage.INSTANCE, ("a.2",)),
        ("wrong", Coverage.STEP, ("a.3",)),
    ]
    assert read == []
    assert statement.printed[1].claim == Ge(x**2, 0)
    assert statement.printed[-1] is statement.printed[1]
    assert read == [r"x^2\ge 0"]
    with pytest.raises(InvalidArgumentError, match=r"a\.1/wrong: formula at character 1"):
        tuple(statement.printed)


def test_a_display_is_read_with_the_definitions_before_it() -> None:
    sheet = SHEET.step("before", r"n_2=1", added=(real("m", latex="n_2"),)).define("n_2", "2n")
    first, second = sheet.step("after", r"n_2=1").printed
    assert first.claim == Eq(real("m"), 1)
    assert second.claim == Eq(2 * n, 1)


def test_sheets_have_the_same_source_only_if_they_say_the_same() -> None:
    def source(sheet: Sheet) -> str:
        return json.dumps([part.source() for part in (sheet.printed, sheet.corrections)])

    def made(**changes: Any) -> str:
        said = {"name": "s", "display": r"x\le a_t", "given": "x<1", "box": {"x": (0, 1)}, **changes}
        return source(SHEET.step(**said))

    changed = [
        made(),
        made(name="r"),
        made(display=r"x\le 2a_t"),
        made(display=Le(x, 1)),
        made(display=Le(x, 2)),
        made(display=Le(positive, 1)),
        made(given="x<2"),
        made(given=(Le(x, 1),)),
        made(given=(Le(real("x", unit=NATS), 1),)),
        made(box={"x": (0, 2)}),
        made(box={"x": ("0", 1)}),
        made(uses=("b",)),
        made(units=False),
        made(letters=(positive,)),
        made(letters=(real("x", gt=1),)),
        made(added=(positive,)),
        made(consequence=Consequence.STEP),
        *(
            source(SHEET.instance("s", r"x\le a_t", case=case, catches=catches))
            for case, catches in (
                ("one", ("a fault", "x=1")),
                ("one", ("a fault", "x=2")),
                ("two", ("a fault", "x=1")),
            )
        ),
        made(where="elsewhere"),
        source(SHEET.conclusion("s", r"x\le a_t", given="x<1", box={"x": (0, 1)})),
        source(SHEET.define("b", "1").step("s", r"x\le a_t", given="x<1", box={"x": (0, 1)})),
        source(Sheet("a.1", (n, t, i, x)).step("s", r"x\le a_t", given="x<1", box={"x": (0, 1)})),
        source(SHEET.corrected("s", r"x\le a_t", given="x<1", box={"x": (0, 1)}, coverage="step")),
    ]
    assert len(set(changed)) == len(changed)
    assert made() == made()
    with pytest.raises(InvalidArgumentError, match="part of a sheet"):
        made(box={"x": (object(), 1)})


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("statement", "variant", "i"), ALL)
def test_every_encoded_formula_survives_printing_and_reading(
    statement: Statement, variant: Variant, i: int
) -> None:
    obligation = obligations_of(statement, variant)[i]
    for formula in (obligation.claim, *obligation.assuming):
        letters: dict[str, Variable] = {v.latex: v for v in variables_of(formula)}
        latex = formula_latex(formula)
        if len(latex) <= LONGEST:  # with its definitions written out, one is longer
            assert read_formula(latex, letters.values()) == formula
    # it does not say the same on both sides
    assert getattr(obligation.claim, "left", 0) != getattr(obligation.claim, "right", 1)


def test_what_a_display_does_not_say_stands_beside_it() -> None:
    shift = real("x", latex=r"\|x\|_2")
    sheet = Sheet("a.1", (n, shift)).define("b", r"\frac{1}{n}").define("c_n", r"b\|x\|_2").define("d", "2n")
    (obligation,) = sheet.step("one", r"c_n\le n", given=r"n\le 3").printed
    # also what a definition is made of; a plain letter and what is not used need no words
    assert tuple(quantity.line for quantity in obligation.notation) == (
        r"c_n=b\|x\|_2",
        r"b=\frac{1}{n}",
        r"\|x\|_2\text{ is one letter, x}",
    )
    assert sheet.step("two", r"n\le n+1").printed[0].notation == ()
    (three,) = sheet.step("three", r"n\le n+1", given=r"d\le 4").printed[:1]
    assert [quantity.line for quantity in three.notation] == ["d=2n"]


def test_the_instance_of_theorem_22_says_that_its_divergence_is_a_definition() -> None:
    statement = find_statement("fmtt18.thm22")
    assert statement is not None
    shown = next(o for o in statement.printed if o.name == "tried-on-two-identity-steps").notation
    assert any(quantity.line.startswith("D=") for quantity in shown)
    explained = "\n".join(explanation_lines("fmtt18.thm22"))
    assert "    with D = " in explained


def test_rows_of_another_sheet_keep_their_letters_and_definitions() -> None:
    x, c = real("x"), real("c", ge=0)

    def sheet(value: str) -> Sheet:
        later = Sheet("a.b", (x,)).define("c", value).step("given a value", r"c\ge 0")
        return Sheet("a.b", (x, c), where="Lemma 1").step("any", r"x+c\ge x").including(later)

    first, second = sheet("x^2").statement.printed
    assert {v.name for v in first.over} == {"c", "x"}
    assert [v.name for v in second.over] == ["x"]
    sources = [sheet(value).statement.printed.source() for value in ("x^2", "x^2", "x^4")]  # type: ignore[attr-defined]
    assert sources[0] == sources[1] != sources[2]


def test_what_was_read_names_quantities_as_they_are_printed() -> None:
    sheet = Sheet("a.1", (n,)).define(r"\operatorname*{\mathbb{E}}_{P}[e^{-\alpha(x)}]", r"\frac{1}{n}")
    (obligation,) = sheet.step("one", r"\operatorname*{\mathbb{E}}_{P}[e^{-\alpha(x)}]\le 1").printed
    assert ", with 𝔼_P[e^(−α(x))] = 1/n: 1/n <= 1" in what_was_read(obligation)


def test_each_correction_has_the_reason_of_its_own() -> None:
    made = (
        Sheet("a.1", (x,))
        .step("one", "x^2>0")
        .step("two", "x^2>1")
        .corrected("one", r"x^2\ge 0", because="0 is left out")
        .corrected("two", r"x^2\ge 0", because="1 is too much")
        .corrected("three", r"x^2+1>0", coverage="step")
        .correction("both are false")
        .statement
    )
    assert made.corrected is not None
    assert made.corrected.reasons == ("0 is left out", "1 is too much", "both are false")
    said = [
        source_texts(SourceRow(made, Variant.CORRECTED, o))["because"] for o in made.corrected.obligations
    ]
    assert said == ["0 is left out", "1 is too much", "both are false"]


_PROBLEMS = """
import json
import os
import subprocess
import sys
from dpverify.statements.selection import find_statement
for name in ("mn25.thm7", "mn25.lem16", "bst14.claim3.3", "gll22.lem5.5"):
    print(json.dumps([o.written_out.problem.json for o in find_statement(name).printed]))
"""


def test_the_problem_of_a_certificate_is_the_same_in_every_process() -> None:
    """Whatever the seed with which Python hashes names: letters that stand for formulas are replaced in one order."""
    said = {
        subprocess.run(
            [sys.executable, "-c", _PROBLEMS],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3", "4")
    }
    assert len(said) == 1


def test_letters_that_are_equal_may_stand_for_something_else_in_another_row() -> None:
    q, other = (real("q", stands_for=formula) for formula in ("2n", "3n"))
    assert q == other
    sheet = Sheet("a.1", (n,)).step("one", r"q\ge n", added=(q,)).step("two", r"q\ge n", added=(other,))
    one, two = ({v.name: expression_text(e) for v, e in o.formulas.items()} for o in sheet.printed)
    assert (one, two) == ({"q": "2*n"}, {"q": "3*n"})


def test_a_fault_keeps_its_premise() -> None:
    fault = r"x\ge 1\implies x\ge 2"
    (o,) = SHEET.instance("s", r"x^2\ge 0", case="one", catches=("a fault", fault)).printed
    assert o.catches is not None
    assert o.catches.claim == read_formula(fault, (x,))
    assert prove(replace(o, claim=o.catches.claim, catches=None)).verdict is Verdict.REFUTED


def test_sheets_are_kept_whole_as_rows_of_json() -> None:
    from dpverify.statements.pages.kept import rows_of, value_of

    n = integer("n", ge=1, latex="n", meaning="records", size="number of records")
    sheet = (
        Sheet("own.thm1", (n,), uses=("own.lem1",)).define("a", "2n").conclusion("sum", "a=n+n", added=(n,))
    )
    rows = rows_of((sheet, sheet))
    first, second = value_of(json.loads(json.dumps(rows)))
    assert first == sheet
    assert first is second
    assert first.rows[0].options == sheet.rows[0].options
    assert first.letters[0].size == n.size
    assert sum(row[0] == "Variable" for row in rows) == 1
    with pytest.raises(TypeError, match="set is no record of a page"):
        rows_of((sheet, {n}))
