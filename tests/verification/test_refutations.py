"""What is said of a formula that is false or does not follow: computed, and refused where it contradicts itself."""

from __future__ import annotations

from typing import Any

import pytest

from dpverify.errors import InvalidDataError
from dpverify.formulas.expressions import real
from dpverify.formulas.logic import And, Ge, Le
from dpverify.ledger.besides.realistic import RealisticPoint
from dpverify.ledger.facts import LetterDomain
from dpverify.ledger.in_print import Mistake, Provenance
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Consequence, Coverage, Gap, Variant, Verdict
from dpverify.proving import prove
from dpverify.proving.language import Obligation, Statement
from dpverify.statements.paper import Paper, address_of, papers
from dpverify.statements.provenance import prints
from dpverify.statements.selection import find_statement
from dpverify.verification import job
from dpverify.verification.catalog import rows as proof_rows
from dpverify.verification.catalog.answers import known
from dpverify.verification.catalog.curves import curve_of
from dpverify.verification.refutations import (
    GUESSED,
    PARTIAL,
    TORN,
    consequence_of,
    contradictions,
    is_left_out,
    judged,
    sides_as_printed,
)
from dpverify.verification.thresholds import printed_at

X = real("x", ge=0)
IN_VAIN, FOUND = RealisticPoint(sizes={}, tried=9), RealisticPoint(sizes={}, tried=9, point={"x": "1"})
CLAIM, CONSTANT, MISSING, STEP, NOTATION, EDGE = Consequence


@pytest.mark.parametrize(
    ("coverage", "said", "mistake", "realistic", "expected"),
    [
        # in the statement itself, as grave as the mistake, whatever the source says
        (Coverage.CONCLUSION, EDGE, Mistake.EXPONENT, FOUND, CLAIM),
        (Coverage.CONCLUSION, NOTATION, Mistake.EXPONENT, None, CLAIM),
        (Coverage.INSTANCE, None, Mistake.CONSTANT, FOUND, CONSTANT),
        (Coverage.CONCLUSION, None, Mistake.RELATION, FOUND, CLAIM),
        (Coverage.CONCLUSION, None, None, None, CLAIM),
        (Coverage.CONCLUSION, CONSTANT, Mistake.OTHER, None, CONSTANT),
        (Coverage.CONCLUSION, NOTATION, Mistake.OTHER, FOUND, NOTATION),
        (Coverage.INSTANCE, STEP, Mistake.OTHER, FOUND, STEP),
        # an edge case has no counterexample at sizes met in practice
        (Coverage.CONCLUSION, None, Mistake.CONDITION, IN_VAIN, EDGE),
        (Coverage.CONCLUSION, None, Mistake.CONDITION, FOUND, MISSING),
        (Coverage.CONCLUSION, EDGE, Mistake.CONDITION, FOUND, MISSING),
        (Coverage.INSTANCE, EDGE, None, FOUND, MISSING),
        (Coverage.INSTANCE, None, None, FOUND, CLAIM),
        (Coverage.INSTANCE, MISSING, None, None, MISSING),
        (Coverage.CONCLUSION, None, Mistake.CONDITION, None, MISSING),
        (Coverage.CONCLUSION, EDGE, Mistake.CONDITION, None, EDGE),
        (Coverage.INSTANCE, EDGE, None, None, EDGE),
        (Coverage.CONDITION, EDGE, Mistake.OTHER, None, EDGE),
        (Coverage.CONDITION, EDGE, Mistake.CONSTANT, IN_VAIN, EDGE),
        (Coverage.STEP, EDGE, Mistake.OTHER, None, STEP),
        (Coverage.STEP, EDGE, None, None, STEP),
        (Coverage.STEP, None, Mistake.CONDITION, IN_VAIN, EDGE),
        # of the proof
        (Coverage.STEP, EDGE, Mistake.OTHER, FOUND, STEP),
        (Coverage.STEP, CLAIM, Mistake.CONSTANT, FOUND, STEP),
        (Coverage.STEP, CONSTANT, Mistake.OTHER, FOUND, CONSTANT),
        (Coverage.CONDITION, None, Mistake.CONSTANT, FOUND, CONSTANT),
        (Coverage.CONDITION, EDGE, Mistake.CONDITION, FOUND, STEP),
        (Coverage.REFERENCE, CLAIM, Mistake.OTHER, FOUND, NOTATION),
    ],
)
def test_consequences_are_computed(
    coverage: Coverage,
    said: Consequence | None,
    mistake: Mistake | None,
    realistic: RealisticPoint | None,
    expected: Consequence,
) -> None:
    scope = "a case" if coverage is Coverage.INSTANCE else ""
    obligation = Obligation("o", "", Le(1, X), (X,), coverage=coverage, scope=scope, consequence=said)
    assert consequence_of(coverage, obligation, mistake, realistic) is expected


def test_units_are_as_grave_as_their_formula() -> None:
    whole = Obligation("o", "", Le(1, X), (X,), coverage=Coverage.CONCLUSION)
    for mistake, expected in ((Mistake.EXPONENT, CLAIM), (None, NOTATION), (Mistake.CONDITION, NOTATION)):
        assert consequence_of(Coverage.UNIT, whole, mistake, None) is expected


def test_sides_stand_as_they_are_printed() -> None:
    """At least is at least wherever the LaTeX has it: the tree knows how a comparison is written."""
    found = [
        sides_as_printed(Obligation("o", "", claim, (X,)), Coverage.STEP, {"x": "0"}, "1", "0")
        for claim in (Ge(X, 1), Le(1, X), And((Le(0, X), Ge(X, 1))))
    ]
    assert found == [(">=", "0", "1"), ("<=", "1", "0"), (">=", "0", "1")]
    assert sides_as_printed(Obligation("o", "", Ge(X, 1), (X,)), Coverage.UNIT, None, "a", "b") == (
        "",
        "a",
        "b",
    )


def test_what_is_torn_guessed_or_read_in_part_is_never_refuted() -> None:
    refuted = prove(Obligation("o", "", Le(1, X), (X,)))
    assert refuted.verdict is Verdict.REFUTED
    at = f"x = {refuted.counterexample['x']}"
    gaps = {
        Provenance.TORN: (Gap.TORN, TORN),
        Provenance.PARTIAL: (Gap.PARTIAL, PARTIAL.format(f" at {at}")),
        Provenance.GUESSED: (Gap.GUESSED, GUESSED.format(f"refuted at {at}")),
    }
    for provenance in Provenance:
        said = judged(refuted, provenance)
        if provenance in gaps:
            assert (said.verdict, said.gap, said.reason) == (Verdict.UNDECIDED, *gaps[provenance])
            assert said.certificate is None
            assert said.counterexample is None
        else:
            assert said is refuted
    proved = prove(Obligation("o", "", Le(0, X), (X,)))
    assert judged(proved, Provenance.TORN) is proved
    assert judged(proved, Provenance.PARTIAL) is proved
    guessed = judged(proved, Provenance.GUESSED)
    assert (guessed.verdict, guessed.certificate) == (Verdict.UNDECIDED, None)
    assert guessed.reason == GUESSED.format("proved")


def test_lines_that_are_not_printed_name_those_that_are() -> None:
    printed = Variant.PRINTED
    theorem = find_statement("fmtt18.thm1")
    assert theorem is not None
    assert theorem.corrected is not None
    bound = next(o for o in theorem.printed if o.name == "bound")
    assert bound.provenance is Provenance.VERBATIM
    assert prints("fmtt18.thm1", printed, bound) == ()
    assert {o.provenance for o in theorem.corrected.obligations} == {Provenance.OURS}
    every = [(s.id, o) for paper in papers().values() for s in paper.statements for o in s.printed]
    ours = [(id_, o) for id_, o in every if o.provenance is not Provenance.VERBATIM]
    named = sum(bool(prints(id_, printed, o)) for id_, o in ours)
    assert named >= len(ours) / 2


def row(name: str, verdict: Verdict, **more: Any) -> ProofEvidence:
    fields = {
        "statement": "a.b",
        "where": "",
        "coverage": Coverage.STEP,
        "variant": Variant.PRINTED,
        "latex": "x",
    }
    return ProofEvidence(
        **{**fields, "expression": "x", "prover": "exact", "obligation": name, **more}, verdict=verdict
    )


TRUE = row("true", Verdict.PROVED)


@pytest.mark.parametrize(
    ("other", "clashes"),
    [
        (row("false", Verdict.REFUTED), True),
        (row("false", Verdict.DOES_NOT_FOLLOW), True),
        (row("false", Verdict.REFUTED, statement="a.c"), True),
        (row("false", Verdict.REFUTED, variant=Variant.CORRECTED), True),
        # one line of one statement, whatever the conditions
        (row("false", Verdict.REFUTED, assuming=("1 <= x",)), True),
        (
            row("false", Verdict.REFUTED, domain={"x": LetterDomain(lower="0", lower_open=True, upper="1")}),
            True,
        ),
        (row("false", Verdict.DOES_NOT_FOLLOW, assuming=("1 <= x",)), False),
        (row("false", Verdict.REFUTED, assuming=("1 <= x",), statement="a.c"), False),
        (row("false", Verdict.REFUTED, assuming=("1 <= x",), coverage=Coverage.INSTANCE), False),
        (row("false", Verdict.REFUTED, assuming=("1 <= x",), variant=Variant.CORRECTED), False),
        # others
        (row("false", Verdict.REFUTED, latex="y"), False),
        (row("false", Verdict.REFUTED, notation=("x=1",)), False),
        (row("false", Verdict.REFUTED, statement="other.b"), False),
        (row("open", Verdict.UNDECIDED), False),
        (row("false: units", Verdict.REFUTED, coverage=Coverage.UNIT), False),
    ],
)
def test_two_verdicts_on_one_display(other: ProofEvidence, clashes: bool) -> None:
    for rows in ((TRUE, other), (other, TRUE)):
        found = list(contradictions(rows))
        assert [each.obligation for each, _ in found] == (["false"] if clashes else [])
    boxed = TRUE.model_copy(update={"box": {"x": ("0", "1")}, "verdict": Verdict.CERTIFIED})
    assert list(contradictions((boxed, other))) == []


def test_no_ledger_is_written_of_two_verdicts_on_one_display(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: one display twice, of which one proof is turned around."""
    twice = tuple(Obligation(name, "page 1", Le(0, X), (X,), latex=r"0\le x") for name in ("one", "other"))
    (paper, *_) = papers().values()
    planted = Paper(paper.key, "", "", paper.catalog, (Statement(paper.catalog[-1].id, "", "", twice),))
    records = [
        record for o in twice for record in proof_rows.answered(planted.statements[0], Variant.PRINTED, o)
    ]
    wrong = records[1].evidence.model_copy(update={"verdict": Verdict.REFUTED})
    records[1] = proof_rows.ProofRecord(wrong)
    monkeypatch.setattr(job, "prove_statements", lambda *_args, **_kw: records)
    settings = job.VerificationSettings(papers=(paper.catalog[-1].id,))
    with pytest.raises(InvalidDataError, match=r"No ledger is written: .*the same display, is proved"):
        job.verify(settings)


def test_no_encoded_display_has_two_verdicts(all_proofs: list[proof_rows.ProofRecord]) -> None:
    assert list(contradictions(record.evidence for record in all_proofs)) == []


@pytest.mark.parametrize(("lipschitz", "left_out"), [("1/2", True), ("1", False), ("2", False)])
def test_a_condition_of_a_correction_says_what_it_leaves_out(lipschitz: str, left_out: bool) -> None:
    """The corrected Theorem 5.6 asks for G^2/mu of at least 1; no conclusion has a letter of the case's point."""
    statement = find_statement("gll22.thm5.6")
    assert statement is not None
    point = {"mu": "1", "G": lipschitz, "d": "1", "D": "0", "delta": "1/4", "C": "1"}
    assert is_left_out(statement, point) is left_out


@pytest.mark.parametrize(
    ("statement", "name", "curve"),
    [
        ("gll22.thm6.9", "polynomial-accuracy", ("n=t", r"C\le3\ln\left(t\right)", r"1\le t")),
        ("mn25.thm6", "rate", (r"\delta=e^{-t}", r"\frac{1}{12t^{\frac{1}{2}}}\le c", r"1\le t")),
        ("gll22.thm5.6", "a-step-is-made", ()),
    ],
)
def test_a_curve_is_read_off_its_certificate(statement: str, name: str, curve: tuple[str, ...]) -> None:
    obligation = printed_at(address_of(statement), name)
    assert obligation is not None
    proof = known(obligation)
    assert proof is not None
    form = obligation.written_out if proof.written_out else obligation
    assert curve_of(form, proof.certificate) == curve
