"""The report's first screen: three answers, and what was found with its counterexample and its consequence."""

from __future__ import annotations

import re

import pytest

from dpverify.ledger.document import Ledger
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.verdicts import Consequence, Coverage, Variant, Verdict
from dpverify.reports import render_html
from dpverify.views.first_screen import FalseClaim, FirstScreen, first_screen
from dpverify.views.letters.faults import letters
from dpverify.views.letters.told import PartLabel
from dpverify.views.run import Summary
from dpverify.views.sandwich import sandwich

from .html_check import Page
from .ledger_example import AUDITS, PROOFS, example_ledger


def screen(ledger: Ledger) -> FirstScreen:
    return first_screen(ledger, Summary(ledger), sandwich(ledger))


def shown(claim: FalseClaim) -> str:
    return claim.entry.faults[0].shown.obligation


def words(html: str) -> str:
    """The text of the summary up to its first table of counts."""
    start = html.index('id="summary"')
    cut = html[start : html.index("<h3>What was checked</h3>", start)]
    return " ".join(re.sub(r"<[^>]*>", " ", cut).split())


def test_it_comes_first_and_says_what_was_found() -> None:
    html = render_html(example_ledger())
    assert Page(html).problems == []
    said = words(html)
    assert said.index("Is it true?") < said.index("How sure is that?") < said.index("What was found")
    for text in ("Theorem 1 (informal)", "4 instead of at most 2 , more by a factor of 2", "the claim fails"):
        assert text in said
    assert "T = 1, distance = 2, order = 2, sigma = 1" in said
    assert said.index("Printed:") < said.rindex("True:")
    assert html.index("What was found") < html.index(">Verdicts</h3>")


def test_the_answers_are_counted() -> None:
    ledger = example_ledger()
    answers = dict(screen(ledger).answers)
    rows = [row for row in ledger.statements if row.printed.headline]
    false = sum(row.printed.verdict is Verdict.REFUTED for row in rows)
    assert f"As printed, of {len(rows)} statements with formulas: " in answers["Is it true?"]
    assert f" {false} refuted" in answers["Is it true?"]
    violated = sum(audit.verdict is Verdict.VIOLATED for audit in AUDITS)
    assert f"{violated} found a violation" in answers["Is it true?"]
    _, of_audits = answers["Is it true?"].split(" audits of implementations, ")
    assert sum(map(int, re.findall(r"\d+", of_audits))) == int(
        re.findall(r"Of (\d+) audits", answers["Is it true?"])[0]
    )
    assert "confirmed 4 of 6 formulas" in answers["How sure is that?"]
    assert "How tight is it?" not in answers  # the example does not say what is proved


def test_tightness_is_that_of_the_best_audit_of_each_algorithm() -> None:
    (first, *_) = [audit for audit in AUDITS if isinstance(audit, PrivacyEvidence)]
    entries = tuple(
        first.model_copy(
            update={"subject": name, "title": f"{name} {lower}", "epsilon_lower": lower, "epsilon_proved": 2.0}
        )
        for name, lower in (("a", 0.2), ("a", 1.0), ("b", 0.5), ("c", 0.0))
    )  # fmt: skip
    answers = dict(screen(example_ledger(entries=entries, statements=())).answers)
    assert (
        "for 1 of 3 algorithms; the median is 0.25 of it; 1 audit showed no epsilon above 0"
        in answers["How tight is it?"]
    )


def test_violations_come_before_findings() -> None:
    found = screen(example_ledger())
    assert [audit.subject for audit in found.violated] == [
        audit.subject for audit in AUDITS if audit.verdict is Verdict.VIOLATED
    ]
    html = render_html(example_ledger())
    table = html[html.index('<table class="found-first">') :]
    assert found.violated
    assert table.index("an implementation does not keep its claim") < table.index("the claim fails")


@pytest.mark.parametrize("consequence", list(Consequence))
def test_only_what_concerns_an_implementation_is_shown(consequence: Consequence) -> None:
    proof = PROOFS[0].model_copy(update={"consequence": consequence})
    found = screen(example_ledger(entries=(proof,), statements=()))
    grave = consequence in (Consequence.CLAIM, Consequence.CONSTANT, Consequence.CONDITION)
    assert len(found.false) == (1 if grave else 0)
    step = consequence is Consequence.STEP
    what = "is false, or does not follow, in a proof only" if step else "is an edge case or notation"
    assert found.others == (() if grave else ((f"that {what}", 1),))


def test_a_finding_with_a_number_is_preferred() -> None:
    plain = PROOFS[0].model_copy(update={"obligation": "another", "excess": None})
    step = PROOFS[0].model_copy(update={"obligation": "step", "coverage": Coverage.STEP})
    (found,) = screen(example_ledger(entries=(plain, step, PROOFS[0]), statements=())).false
    assert shown(found) == PROOFS[0].obligation


def test_a_counterexample_at_a_realistic_size_stands_below_the_simple_one() -> None:
    said = words(render_html(example_ledger()))
    assert "At a realistic size: T = 1,000, order" in said
    assert "0.036 instead of at most 0.012 , more by a factor of 3" in said
    assert "Neither is a typical case." in said


def test_one_of_another_line_with_the_same_consequence_says_where() -> None:
    plain = PROOFS[0].model_copy(update={"realistic": None, "latex": "x", "where": "Theorem 1"})
    step = PROOFS[0].model_copy(
        update={"obligation": "its-step", "coverage": Coverage.STEP, "where": "its proof"}
    )
    ledger = example_ledger(entries=(plain, step), statements=())
    assert shown(screen(ledger).false[0]) == plain.obligation
    assert re.search(r"At a realistic size: .* \(its proof\)", words(render_html(ledger)))
    other = step.model_copy(update={"consequence": Consequence.STEP})
    assert "At a realistic size" not in words(
        render_html(example_ledger(entries=(plain, other), statements=()))
    )


def test_a_finding_at_a_realistic_size_is_preferred() -> None:
    assert PROOFS[0].realistic is not None
    none = PROOFS[0].realistic.model_copy(update={"point": None, "excess": None, "tried": 4097})
    edge = PROOFS[0].model_copy(update={"obligation": "edge", "realistic": none})
    (found,) = screen(example_ledger(entries=(edge, PROOFS[0]), statements=())).false
    assert shown(found) == PROOFS[0].obligation
    (found,) = screen(example_ledger(entries=(edge,), statements=())).false
    assert "not found (4,097 points tried)" in [piece.text for part in found.fails for piece in part.said]
    doubtful = PROOFS[0].realistic.model_copy(update={"confirmed_by_checker": False})
    (found,) = screen(
        example_ledger(
            entries=(
                PROOFS[0].model_copy(update={"obligation": "doubtful", "realistic": doubtful}),
                PROOFS[0],
            ),
            statements=(),
        )
    ).false
    assert shown(found) == PROOFS[0].obligation


def test_where_nothing_was_found() -> None:
    proved = [p for p in PROOFS if p.variant is Variant.CORRECTED and p.verdict is Verdict.PROVED]
    html = render_html(example_ledger(entries=tuple(proved), statements=()))
    assert "No claim was found to fail." in html
    assert "found-first" not in html[html.index("<body>") :]
    assert screen(example_ledger(entries=(), statements=())).answers == ()


def test_it_is_made_of_the_letters_entries() -> None:
    ledger = example_ledger()
    entries = [entry for letter in letters(ledger) for entry in letter.entries]
    assert [each.entry.heading for each in screen(ledger).false] == [entry.heading for entry in entries]
    html = render_html(ledger)
    for each in screen(ledger).false:
        assert each.printed[0].label is PartLabel.PRINTED
        assert f'<a href="#letter--fmtt18--1">{each.entry.places}</a>' in html
