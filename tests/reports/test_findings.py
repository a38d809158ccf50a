"""What is wrong in print, as a page in Markdown and in the report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpverify.cli import main
from dpverify.ledger.entries import ErratumEntry
from dpverify.ledger.facts import FailureMargin, PracticalSize
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Consequence, Coverage, Variant, Verdict
from dpverify.reports import findings_markdown, load_ledger, render_html, write_ledger
from dpverify.views.findings import finding_groups, what_is_false
from dpverify.views.run import Summary

from .ledger_example import PROOFS, STATEMENTS, example_ledger


def refuted(statement: str, consequence: Consequence | None, **changes: object) -> ProofEvidence:
    return PROOFS[0].model_copy(update={"statement": statement, "consequence": consequence, **changes})


ENTRIES = (
    refuted("a.edge", Consequence.EDGE, reading="for n at least 2"),
    refuted("a.old", None),
    refuted("a.step", Consequence.STEP, coverage=Coverage.STEP),
    refuted("a.constant", Consequence.CONSTANT),
    refuted("a.claim", Consequence.CLAIM, excess=FailureMargin.of("<=", "4", "2")),
)


def test_the_gravest_come_first() -> None:
    groups = finding_groups(example_ledger(entries=ENTRIES, statements=()))
    assert [[found.statement for found in group.statements] for group in groups] == [
        ["a.claim"],
        ["a.constant"],
        ["a.step"],
        ["a.edge"],
        ["a.old"],
    ]
    text = findings_markdown(example_ledger(entries=ENTRIES, statements=()))
    assert re.findall(r"^## (.*)$", text, re.M) == [group.heading for group in groups]
    assert "By how much: 4 instead of at most 2, 2 times as much." in text
    assert "Would be true for n at least 2." in text


def test_what_an_order_means_is_said() -> None:
    meant = "there is C in (0, oo): (for all n in integers in [1, oo): ((2 <= n) implies (n <= C*n)))"
    printed = refuted(
        "a.b", None, latex="n=O(n)", expression="there is C in (0, oo): (n <= C)", written_in_full=True
    )
    corrected = printed.model_copy(
        update={"variant": Variant.CORRECTED, "verdict": Verdict.PROVED, "expression": meant}
    )
    text = findings_markdown(example_ledger(entries=(printed, corrected), statements=()))
    assert "that is, `there is C in (0, ∞): (n ≤ C)`" in text
    assert "the same formula (proved).\n\nthat is, `there is C in (0, ∞): (for all n" in text


def test_formulas_in_a_place_stay_formulas() -> None:
    row = STATEMENTS[0].model_copy(update={"id": "a.b", "where": "Lemma 1"})
    entry = refuted("a.b", None, where="(1) (read as $2^{-r}$)")
    text = findings_markdown(example_ledger(entries=(entry,), statements=(row,)))
    assert "As printed ((1) (read as $2^{-r}$))" in text


def test_no_sentence_of_the_ledger_is_read_back() -> None:
    """What is printed is a field: `at least` in LaTeX, in a claim that it has inside, turns nothing around."""
    latex = r"\Pr[x\geq 1]\leq 2"
    entry = refuted("a.b", None, latex=latex, left="3", right="2", excess=FailureMargin.of("<=", "3", "2"))
    text = findings_markdown(example_ledger(entries=(entry,), statements=()))
    assert "the sides are 3 and 2." in text
    assert "By how much: 3 instead of at most 2, 1.5 times as much." in text


def test_the_papers_own_line_comes_first() -> None:
    entry = refuted("a.b", None, latex="x^2\\le 1", provenance=Provenance.OURS, prints=(r"|x|\le 1",))
    ledger = example_ledger(entries=(entry,), statements=())
    text = findings_markdown(ledger)
    own = text.index("$$\n|x|\\le 1\n$$")
    assert (
        text.index("The paper prints")
        < own
        < text.index("what follows from it, in")
        < text.index("$$\nx^2\\le 1\n$$")
    )
    page = render_html(ledger)
    assert page.index("The paper prints:") < page.index("What follows from it:")


def test_what_does_not_follow_is_not_called_false() -> None:
    does_not = Verdict.DOES_NOT_FOLLOW
    step = refuted("a.b", None, coverage=Coverage.STEP, verdict=does_not)
    whole = refuted("a.c", None, coverage=Coverage.CONCLUSION, verdict=does_not)
    ledger = example_ledger(entries=(step, whole), statements=())
    (group,) = finding_groups(ledger)
    assert group.heading == "Does not follow from what is declared"
    assert [what_is_false(found) for found in group.statements] == [
        "a step of its proof does not follow",
        "the statement does not follow",
    ]
    text = findings_markdown(ledger)
    assert "does not follow from what is declared:" in text
    assert "is false" not in text
    summary = Summary(ledger)
    assert [each.statement for each in summary.unfollowed] == ["a.c"]
    assert [each.statement for each in summary.unfollowed_parts] == ["a.b"]
    assert not summary.false_statements
    assert not summary.false_parts
    assert 'class="badge does-not-follow"' in render_html(ledger)


def test_a_realistic_size_is_said() -> None:
    entry = refuted("a.b", None)
    said = "sigma = 0.5, distance = 3: 0.036 instead of at most 0.012, 3 times as much."
    ledger = example_ledger(entries=(entry,), statements=())
    assert said in findings_markdown(ledger)
    assert said.replace(" = ", "\u00a0=\u00a0") in render_html(ledger)
    assert "At a realistic size: T = 1,000, order = 2, sigma = 0.5" in findings_markdown(ledger)
    older = example_ledger(entries=(entry.model_copy(update={"realistic": None}),), statements=())
    assert "At a realistic size" not in findings_markdown(older)
    assert "At a realistic size" not in render_html(older)


def test_what_no_number_is_stands_as_it_is() -> None:
    """A ledger may be damaged, and numbers may be beyond floats."""
    odd = {"T": "1/0", "order": "1e999999999", "sigma": "(1, 2)", "<b>": "9" * 5000}
    assert PROOFS[0].realistic is not None
    sizes = {
        name: PracticalSize(what=what, low="1", high="2", log_of=of)
        for name, what, of in (("T", "log T", ("T",)), ("<b>", "<i>", ()))
    }
    fields = {"point": odd, "left": "1e-350", "right": "-1.23456789e350", "excess": None, "sizes": sizes}
    realistic = PROOFS[0].realistic.model_copy(update=fields)
    ledger = example_ledger(entries=(PROOFS[0].model_copy(update={"realistic": realistic}),), statements=())
    html = render_html(ledger)
    for text in (
        findings_markdown(ledger).replace("\\", ""),
        html.replace("\u00a0", " ").replace("&lt;", "<"),
    ):
        assert "log T ≈ 1/0, order = 1e999999999, sigma = (1, 2), <b> = 99" in text.replace("&gt;", ">")
        assert "the sides are 1e-350 and -1.235e+350" in text
    assert "<b> =" not in html.replace("\u00a0", " ")


def test_the_case_of_an_instance_is_said() -> None:
    entry = refuted("a.b", None, scope="two records, one of them twice")
    ledger = example_ledger(entries=(entry,), statements=())
    assert "The case: two records, one of them twice." in findings_markdown(ledger)
    assert "<b>The case:</b> two records, one of them twice." in render_html(ledger)


def test_a_finding_without_a_correction_takes_nothing_from_others() -> None:
    printed = refuted("a.b", None, domain={"x": "(0, oo)"}, coverage=Coverage.CONCLUSION)
    corrected = printed.model_copy(
        update={
            "variant": Variant.CORRECTED,
            "verdict": Verdict.PROVED,
            "domain": {"x": "(0, 1]"},
            "added": ("x in (0, 1]",),
        }
    )
    other = printed.model_copy(update={"obligation": "without-a-correction", "latex": "x"})
    for entries in ((printed, other, corrected), (other, printed, corrected)):
        text = findings_markdown(example_ledger(entries=entries, statements=()))
        assert "the same formula for x in " in text


def test_what_is_false() -> None:
    entries = (refuted("a.b", None), refuted("a.b", None, coverage=Coverage.STEP, obligation="x"))
    for some, said in (
        (entries, "the statement; a step of its proof is false"),
        (entries[:1], "the statement"),
        (entries[1:], "a step of its proof is false"),
    ):
        (group,) = finding_groups(example_ledger(entries=some, statements=()))
        assert [what_is_false(found) for found in group.statements] == [said]


def test_what_is_true_is_no_finding() -> None:
    others = tuple(proof for proof in PROOFS if proof.verdict != "refuted")
    ledger = example_ledger(entries=others, statements=())
    assert finding_groups(ledger) == ()
    assert "No printed formula was refuted." in findings_markdown(ledger)
    assert 'id="findings"' not in render_html(ledger)


def test_each_finding_has_formula_counterexample_correction_and_command() -> None:
    text = findings_markdown(example_ledger())
    part = text[text.index("### fmtt18.thm1,") :].split("\n### ")[0]
    assert "$$\n" in part
    assert "At T = 1, order = 2, sigma = 1, distance = 2, the sides are 4 and 2." in part
    assert "Corrected, " in part
    assert "Computed by `dpverify prove fmtt18.thm1`." in part
    page = render_html(example_ledger())
    assert 'id="fmtt18.thm1--finding"' in page
    assert 'href="#fmtt18.thm1--finding"' in page


def test_errata_of_tests_and_audits_stand_in_their_group() -> None:
    erratum = ErratumEntry(
        where="Lemma 1",
        printed="a constant 4 is printed",
        corrected="5",
        consequence=Consequence.CONSTANT,
        evidence=("test tests/test_it.py::test_it",),
    )
    row = STATEMENTS[0].model_copy(update={"id": "a.b", "errata": (erratum,)})
    (group,) = finding_groups(example_ledger(entries=(), statements=(row,)))
    assert group.heading == "A constant changes"
    assert [(each.id, found) for each, found in group.errata] == [("a.b", erratum)]
    text = findings_markdown(example_ledger(entries=(), statements=(row,)))
    assert (
        "- **a.b**, Lemma 1: a constant 4 is printed. Corrected: 5. Computed in `test tests/test_it.py::test_it`."
        in text
    )


@pytest.mark.parametrize(
    "field", ["statement", "obligation", "latex", "expression", "where", "reading", "left"]
)
def test_text_is_escaped(field: str) -> None:
    hostile = "a|b\n# c <script> $$ [x](http://y) `@team` #12 *s*"
    text = findings_markdown(example_ledger(entries=(PROOFS[0].model_copy(update={field: hostile}),)))
    assert "\n# c" not in text
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert "<script>" not in outside.replace(r"\<script\>", "")
    assert "http://" not in outside


def test_the_command_prints_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ledger.json"
    write_ledger(example_ledger(), file)
    with pytest.raises(SystemExit) as ended:
        main(["findings", str(file)])
    assert ended.value.code in (None, 0)
    assert capsys.readouterr().out == findings_markdown(load_ledger(file))
