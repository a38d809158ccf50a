"""What a run came to, for terminals and CI pages."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dpverify.ledger.audits import ClaimOrigin
from dpverify.ledger.document import ErrorBudget
from dpverify.ledger.entries import StatementEntry
from dpverify.ledger.facts import LetterDomain
from dpverify.ledger.headlines.roots import Below, Roots
from dpverify.ledger.headlines.rows import Cut, FalsePart
from dpverify.ledger.headlines.words import Standing, Tried, VariantOutcome, where_meant
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Consequence, Coverage, Gap, Variant, Verdict
from dpverify.reports import render_html, render_markdown, summary_lines
from dpverify.views.corrections import corrections
from dpverify.views.formula import finding_text, shortened
from dpverify.views.run import Summary, is_measurement, spending

from .ledger_example import AUDITS, LAW, MEASUREMENT, PROOFS, STATEMENTS, example_ledger, holding

FALSE_STEP = FalsePart(verdict=Verdict.REFUTED, coverage=Coverage.STEP)


def test_counts_add_up() -> None:
    summary = Summary(example_ledger())
    assert sum(row.printed + row.corrected for row in summary.counts) == len(PROOFS)
    assert sum(row.audits for row in summary.counts) == len(AUDITS)
    assert (summary.statements, summary.checked) == (163, 6)
    assert [found.statement for found in summary.false_statements] == ["fmtt18.thm1"]
    assert [found.statement for found in summary.false_parts] == ["bst14.huber-smooth"]
    assert [proof.obligation for proof in summary.unconfirmed] == ["schedule"]


def test_repairs_stand_beside_what_they_repair() -> None:
    findings = Summary(example_ledger()).findings
    assert [[repair.obligation for repair in finding.repairs] for finding in findings] == [
        ["attained-by-identity-maps"],
        ["attained-by-identity-maps"],  # no repair of that name: the whole statement's
        [],
    ]


def test_lines_for_a_terminal() -> None:
    lines = summary_lines(example_ledger())
    assert all("\n" not in line.text for line in lines)
    assert [line.verdict for line in lines].count(Verdict.VIOLATED) == 2  # the count and the finding
    text = "\n".join(line.text for line in lines)
    assert (
        "order*distance^2/(2*T*sigma^2) <= order*distance/(2*T*sigma^2) is false at T = 1, distance = 2"
        in text
    )
    assert (
        "sides are 4 and 2; the claim fails; by how much: 4 instead of at most 2, 2 times as much; " in text
    )
    assert "failure probability spent: 1.5×10⁻⁷ of 1×10⁻⁶" in text
    assert lines[-1].text == (
        "reproduce: dpverify verify --profile quick --seed 20240117 --out out (seed 20240117)"
    )


def test_nothing_found() -> None:
    lines = summary_lines(example_ledger(entries=(AUDITS[0],), statements=STATEMENTS[1:3]))
    assert lines[0].text == (
        "Checked 0 of 2 statements and algorithms: 0 formulas and 1 audit. No printed formula was refuted. "
        "No audit found a violation. 1 privacy audit, of which 1 had no weakened mechanism to notice; 0 see nothing "
        "here."
    )


def _privacy(**changes: Any) -> Any:
    return AUDITS[0].model_copy(update=changes)


def test_the_summary_says_what_the_audits_can_tell() -> None:
    risk = next(audit for audit in AUDITS if audit.kind == "risk")
    blind = {"verdict": Verdict.UNDECIDED, "detects_nothing": True}
    entries = (
        _privacy(smallest_fault=2.0),
        _privacy(smallest_fault=4.0),
        _privacy(smallest_fault=2**0.5),
        _privacy(**blind),
        risk,
        risk.model_copy(update=blind),
        LAW.model_copy(update={"blind_rejected": True}),
        LAW.model_copy(update={**blind, "blind_rejected": False}),
    )
    ledger = example_ledger(entries=entries)
    users = Summary(example_ledger(entries=(*entries[:2], _privacy()))).powers
    assert [power.text for power in users] == [
        "3 privacy audits, of which 1 would have noticed half the noise (or twice the exponent), 2 a quarter of the "
        "noise, and 1 had no weakened mechanism to notice; 0 see nothing here"
    ]
    said = [power.text for power in Summary(ledger).powers]
    assert said == [
        "4 privacy audits, of which 2 would have noticed half the noise (or twice the exponent), 3 a quarter of the "
        "noise; 1 sees nothing here",
        "2 audits of an expectation, of which 1 could have found a broken bound; 1 sees nothing here",
        "2 audits of a law, of which 1 rejected a sampler that ignores the data; 1 sees nothing here",
    ]
    for text in ("\n".join(line.text for line in summary_lines(ledger)), render_html(ledger)):
        assert all(words in text for words in said)
    assert said[0] in Summary(ledger).headline
    assert "1 sees nothing here" in render_markdown(ledger)


def test_a_unit_row_is_no_proof_of_the_formula() -> None:
    unit = PROOFS[0].model_copy(
        update={"coverage": Coverage.UNIT, "verdict": Verdict.PROVED, "counterexample": None}
    )
    ledger = example_ledger(entries=(unit,))
    counts = {row.verdict: row.printed for row in Summary(ledger).counts}
    assert counts[Verdict.PROVED] == 0
    assert "units agree: 1 of 1 formulas" in [line.text for line in summary_lines(ledger)]
    assert "units agree" in render_html(ledger)


def test_a_refuted_constant_is_the_papers_and_no_violation() -> None:
    constant = next(audit for audit in AUDITS if audit.kind == "constant")
    false = constant.model_copy(update={"verdict": Verdict.REFUTED, "printed": 1.0})
    summary = Summary(example_ledger(entries=(false,)))
    assert summary.false_constants == (false,)
    assert not summary.violated
    assert "1 printed constant refuted." in summary.headline


def test_a_false_step_is_a_second_mark() -> None:
    row = StatementEntry(
        id="a.b",
        paper="a",
        kind="bound",
        where="Lemma 1",
        title="A bound",
        printed=holding(given=("c.d", "e.f"), marks=(FALSE_STEP,)),
        marks=(FALSE_STEP,),
    )
    ledger = example_ledger(statements=(row,), entries=(_refuted(Coverage.STEP),))
    page, lines = render_html(ledger), "\n".join(line.text for line in summary_lines(ledger))
    # section and catalog, and the side bar's title
    assert page.count(">holds, given c.d, e.f; a step of its proof is false<") == 2
    said = "A bound; as printed: holds, given c.d, e.f; a step of its proof is false"
    assert page.count(f'title="{said}"><span class="dot proved"></span><span class="id">a.b</span>') == 1
    assert "a.b (a step of its proof is false)" in lines
    text = render_markdown(ledger)
    assert "| a step of its proof is false |" in text
    assert "| a.b | holds, given c.d, e.f; a step of its proof is false |" in text


def test_the_side_bar_says_what_is_false() -> None:
    false = "rests on c.d, c.d/x (false as printed: a constant changes)"
    edge = "rests on e.f (false as printed: an edge case that no reader means)"
    headline = f"undecided; a condition is false; {false}; {edge}"
    mark = FalsePart(verdict=Verdict.REFUTED, coverage=Coverage.CONDITION)
    consequences = {"c.d": Consequence.CONSTANT, "c.d/x": Consequence.CONSTANT, "e.f": Consequence.EDGE}
    row = StatementEntry(
        id="a.b", paper="a", kind="bound", where="Lemma 1", title="A bound", marks=(mark,),
        printed=VariantOutcome(
            verdict=Verdict.UNDECIDED, standing=Standing.UNDECIDED, marks=(mark,), below=Below(false=consequences)
        ),
        rests_on_false=("c.d", "c.d/x", "e.f"),
    )  # fmt: skip
    page = render_html(example_ledger(statements=(row,)))
    assert page.count(f">{headline}<") == 2
    assert page.count(f'title="A bound; as printed: {headline}"><span class="dot undecided"></span>') == 1


def test_markdown() -> None:
    text = render_markdown(example_ledger())
    assert text.startswith("## dpverify\n")
    assert "| refuted | 3 | 0 | 0 |" in text
    assert "T = 1, distance = 2, order = 2, sigma = 1 | 4 | 2 |" in text
    whole, part = (
        "### Statements that are false as printed\n",
        "### Statements with a formula that is false in a proof, a condition or a unit\n",
    )
    assert text.index(whole) < text.index("| fmtt18.thm1 |") < text.index(part)
    assert text.index(part) < text.index("| bst14.huber-smooth |")
    tables = re.findall(r"(?:^\|.*\n)+", text, re.M)
    assert len(tables) == 5
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    assert render_markdown(example_ledger()) == text


def test_markdown_is_escaped() -> None:
    hostile = "a|b\n# c <script> [x](http://y) `@team` #12 *s*"
    proof = PROOFS[0].model_copy(update={"obligation": hostile, "expression": hostile, "where": hostile})
    text = render_markdown(example_ledger(entries=(proof,), command="run ``x``"))
    assert "<script>" not in text.replace(r"\<script\>", "")
    assert "\n# c" not in text
    assert "http://" not in text
    assert not re.search(r"(?<!\\)[@]", text)
    assert "``` run ``x`` ```" in text


def _refuted(coverage: Coverage, name: str = "claim") -> ProofEvidence:
    return PROOFS[0].model_copy(update={"statement": "a.b", "coverage": coverage, "obligation": name})


@pytest.mark.parametrize(
    ("verdict", "parts", "false"),
    [
        (Verdict.REFUTED, [Coverage.INSTANCE], True),
        (Verdict.REFUTED, [Coverage.STEP], True),  # the catalog's verdict decides where there is one
        (Verdict.PROVED, [Coverage.STEP], False),
        (Verdict.CERTIFIED, [Coverage.CONDITION, Coverage.UNIT], False),
        (None, [Coverage.STEP], False),
        (None, [Coverage.STEP, Coverage.INSTANCE], True),
    ],
)
def test_false_statements_are_not_mixed_with_false_parts(
    verdict: Verdict | None, parts: list[Coverage], false: bool
) -> None:
    row = StatementEntry(
        id="a.b", paper="a", kind="bound", where="", title="", printed=VariantOutcome(verdict=verdict)
    )
    entries = tuple(_refuted(part, f"claim {number}") for number, part in enumerate(parts))
    ledger = example_ledger(statements=(row,), entries=entries)
    summary = Summary(ledger)
    assert bool(summary.false_statements) == false
    assert bool(summary.false_parts) != false
    assert ("1 statement is false as printed (1: the claim fails)." in summary.headline) == false
    text = "\n".join(line.text for line in summary_lines(ledger))
    assert ("false as printed: a.b" in text) == false
    assert ("false in a proof, a condition or a unit: a.b" in text) != false


def test_a_correction_has_each_repair_and_reason_once() -> None:
    (found,) = [c for name, c in corrections(example_ledger()).items() if name == "fmtt18.thm1"]
    assert [finding.formula.obligation for finding in found.findings] == [
        "attained-by-identity-maps",
        "same-unit",
    ]
    assert [repair.obligation for repair, _ in found.repairs] == ["attained-by-identity-maps"]
    assert found.reasons == (PROOFS[1].because,)


def test_a_repair_of_the_domain_says_so() -> None:
    printed, mended = PROOFS[:2]
    mended = mended.model_copy(
        update={
            "expression": printed.expression,
            "domain": {**printed.domain, "distance": LetterDomain(lower="0", upper="1")},
            "assuming": ("T <= 9",),
            "added": ("distance in [0, 1]", "T <= 9"),
        }
    )
    (finding,) = Summary(example_ledger(entries=(printed, mended))).findings
    assert finding_text(finding).endswith(
        "; would be true with the square of the distance; corrected: the same for distance in [0, 1] and T <= 9 "
        "(proved)"
    )


def test_different_units_are_not_called_a_false_number() -> None:
    (finding,) = Summary(example_ledger(entries=(PROOFS[2],))).findings
    assert " compares different units, where the sides are dimensionless and 1/length" in finding_text(
        finding
    )


def test_measurements_are_no_failures() -> None:
    assert is_measurement(MEASUREMENT)
    assert not is_measurement(MEASUREMENT.model_copy(update={"bound": 1.0}))
    ledger = example_ledger(entries=(AUDITS[0], MEASUREMENT))
    summary = Summary(ledger)
    assert summary.undecided == ()
    assert summary.measurements == (MEASUREMENT,)
    assert sum(row.audits for row in summary.counts) == 1
    assert "0 formulas, 1 audit and 1 measurement." in summary.headline
    text = "\n".join(line.text for line in summary_lines(ledger))
    assert (
        "measured: fmtt18.alg1: expected excess empirical risk (mean over records) lies in 0.0545 to 0.0622"
        in text
    )
    assert "∞" not in text
    assert "| measurement |" in render_markdown(ledger)


def test_long_formulas_are_cut_in_lines_only() -> None:
    long = " + ".join(f"term{number}" for number in range(100))
    assert shortened("a  b") == "a b"
    assert shortened("x" * 160) == "x" * 160
    assert len(shortened(long)) <= 162
    assert shortened(long).endswith(" …")
    assert len(shortened("x" * 161)) <= 162
    proof: ProofEvidence = PROOFS[0].model_copy(update={"expression": long, "variant": Variant.PRINTED})
    ledger = example_ledger(entries=(proof,))
    assert long not in render_markdown(ledger)
    assert max(len(line.text) for line in summary_lines(ledger)) < 500


@pytest.mark.parametrize(
    ("shares", "whole", "shown"),
    [
        ([1e-3 / 30] * 29 + [3.333333333333331e-05], 1e-3, ("0.001", "0.001")),
        ([0.1] * 3, 0.3, ("0.3", "0.3")),  # the sum of floats is above 0.3
        ([0.00099995], 1e-3, ("0.001", "0.001")),
        ([0.0010004], 0.00100049, ("0.001001", "0.001001")),
        ([2.5e-8] * 6, 1e-6, ("1.5×10⁻⁷", "1×10⁻⁶")),
        ([0.002], 1e-3, ("0.002", "0.001")),  # an overspent budget is not hidden
    ],
)
def test_spending_is_never_shown_above_what_there_is(
    shares: list[float], whole: float, shown: tuple[str, str]
) -> None:
    budget = ErrorBudget(failure_probability=whole, spent={str(k): share for k, share in enumerate(shares)})
    assert spending(budget) == shown


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        (
            {"form": "as printed", "source": "bst14.thm2.1", "printed": "mu of KIND", "holds_for": "every n"},
            "as printed: mu of KIND; holds for every n",
        ),
        (
            {
                "form": "corrected",
                "source": "fmtt18.thm26",
                "printed": "0.2515",
                "because": "the sum of KIND starts at 2",
            },
            "corrected: the sum of KIND starts at 2; printed: 0.2515",
        ),
        ({"form": "unstated", "because": "no KIND is bounded"}, "none: no KIND is bounded"),
        ({"form": "not compared", "source": "fmtt18.thm26"}, "not compared with the paper"),
    ],
)
def test_a_claim_says_how_it_stands_to_the_print(origin: dict[str, str], words: str) -> None:
    kinds = {audit.kind: audit for audit in (*AUDITS, LAW)}
    assert {"privacy", "risk", "mean", "complexity", "constant", "sampling", "rate"} >= set(kinds)
    assert len(kinds) >= 6
    audits = []
    for kind, audit in kinds.items():
        own = {name: text.replace("KIND", kind) for name, text in origin.items()}
        audits.append(audit.model_copy(update={"origin": ClaimOrigin.model_validate(own)}))
    page = render_html(example_ledger(entries=tuple(audits)))
    for kind in kinds:
        assert words.replace("KIND", kind) in page, kind
    assert page.count(words.replace("KIND", "privacy")) >= (1 if "KIND" in words else len(kinds))


def test_findings_are_ordered_by_what_follows_from_them() -> None:
    """A statement counts with what its own claim does, not with a step of its proof."""
    found = [
        ("a.edge", Coverage.INSTANCE, Consequence.EDGE),
        ("a.edge", Coverage.STEP, Consequence.STEP),
        ("a.old", Coverage.CONCLUSION, None),
        ("a.step", Coverage.STEP, Consequence.STEP),
        ("a.constant", Coverage.CONCLUSION, Consequence.CONSTANT),
        ("a.claim", Coverage.CONCLUSION, Consequence.CLAIM),
    ]
    entries = tuple(
        PROOFS[0].model_copy(
            update={"statement": name, "obligation": str(part), "coverage": part, "consequence": what}
        )
        for name, part, what in found
    )
    summary = Summary(example_ledger(entries=entries, statements=()))
    assert [c.statement for c in summary.false_statements] == ["a.claim", "a.constant", "a.edge", "a.old"]
    assert [c.consequence for c in summary.false_statements] == [
        Consequence.CLAIM,
        Consequence.CONSTANT,
        Consequence.EDGE,
        None,
    ]
    assert [c.statement for c in summary.false_parts] == ["a.step"]
    assert (
        "4 statements are false as printed (1: the claim fails; 1: a constant changes; 1: an edge case"
        in (summary.headline)
    )


def test_reasons_for_undecided_are_counted() -> None:
    undecided = PROOFS[6]
    entries = (
        undecided,
        undecided.model_copy(update={"obligation": "other"}),
        undecided.model_copy(update={"obligation": "third", "gap": Gap.EFFORT_SPENT}),
        MEASUREMENT.model_copy(update={"gap": Gap.NOTHING_STATED}),  # no claim, so not undecided
    )
    ledger = example_ledger(entries=entries)
    assert Summary(ledger).gaps == ((Gap.CONTACT_POINT, 2), (Gap.EFFORT_SPENT, 1))
    said = "contact point (2), effort spent (1)"
    assert f"undecided: {said}" in [line.text for line in summary_lines(ledger)]
    assert f"Reasons, and how often each occurred: {said}." in render_html(ledger)
    assert f"Reasons: {said}." in render_markdown(ledger).replace("\\", "")


def test_the_summary_counts_what_was_shown_of_statements() -> None:
    def row(name: str, word: VariantOutcome) -> StatementEntry:
        return STATEMENTS[1].model_copy(update={"id": name, "printed": word})

    on_jensen = holding(given=("jensen",), below=Below(roots=Roots(literature=("jensen",))))
    boxed = Cut(letter="x", low="0", high="1")
    rows = (
        row("a.one", on_jensen),
        row(
            "a.two",
            VariantOutcome(standing=Standing.PARTLY, tried=Tried(coverage=Coverage.INSTANCE, hold=1, of=1)),
        ),
        row("a.three", holding(Verdict.CERTIFIED, standing=Standing.IN_PART, boxed=(boxed,))),
        row("a.four", where_meant(holding())),
        STATEMENTS[1],  # not encoded
    )
    said = (
        "As printed, of 4 statements with formulas: 1 holds, 1 holds in part, 1 holds where meant, "
        "of 1 only special cases or steps checked. "
        "Of the 3 that hold as printed or as corrected, 2 rest on what is proved here alone, "
        "1 rests on 1 named result of the literature; 3 assume no premise."
    )
    ledger = example_ledger(statements=rows, entries=())
    assert Summary(ledger).headline.endswith(said)
    page = render_html(ledger)
    assert "Named results of the literature (1), each with" in page
    assert "on part of its domain (x in [0, 1])" in page
    assert "2 proved" not in Summary(ledger).headline
