"""Counterexamples at realistic sizes of the encoded statements: made, confirmed, held against their source."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dpverify.formulas.expressions import real
from dpverify.formulas.logic import Le
from dpverify.ledger.besides.realistic import RealisticPoint
from dpverify.ledger.facts import FailureMargin, PracticalSize
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Coverage, Variant, Verdict
from dpverify.proving.checker import Confirmation, check
from dpverify.proving.language import Obligation
from dpverify.statements.selection import find_statement
from dpverify.verification.catalog.program import content_of
from dpverify.verification.catalog.rows import ProofRecord
from dpverify.verification.refutations import fault_of, realistic_point


def printed(name: str, formula: str) -> Obligation:
    """A formula of a statement, as it is printed."""
    statement = find_statement(name)
    assert statement is not None
    (obligation,) = (o for o in statement.printed if o.name == formula)
    return obligation


@pytest.fixture(scope="module")
def records(proofs: Any) -> dict[str, ProofRecord]:
    ids = ("fmtt18.lem27", "mn25.lem3", "bst14.alg8-privacy", "fmtt18.thm26", "gll22.cor4.3", "gll22.thm5.6")
    found = proofs.of(*ids)
    return {
        f"{r.evidence.statement}/{r.evidence.obligation}": r
        for r in found
        if r.evidence.verdict is Verdict.REFUTED and r.evidence.coverage is not Coverage.UNIT
    }


def test_a_claim_that_fails_does_so_at_a_realistic_size(records: dict[str, ProofRecord]) -> None:
    row = records["fmtt18.lem27/noise-is-enough"].evidence
    found = row.realistic
    assert found is not None
    assert found.point is not None
    assert found.confirmed_by_checker
    point = {name: float(Fraction(value)) for name, value in found.point.items()}
    assert 0.1 <= point["epsilon"] <= 10
    assert 6.9 <= point["l"] <= 27.7
    assert float(found.left or "") > float(found.right or "")
    assert found.sizes["l"].what == "ln(1/delta)"
    assert found.excess is not None
    assert not found.excess.at_least
    assert found.summary().startswith("epsilon = ")
    assert "l = ln(1/delta) = " in found.summary()


def test_a_claim_that_fails_in_high_dimensions_only_says_so(records: dict[str, ProofRecord]) -> None:
    found = records["mn25.lem3/a-free-direction"].evidence.realistic
    assert found is not None
    assert found.point is None
    none = "at none of them all assumptions were seen to hold"  # 1/alpha^3 <= d is beyond both ranges
    assert found.summary() == f"not found ({found.tried:,} points tried; {none})"
    assert found.tried > 1000


def test_an_equation_that_only_a_logarithm_leads_to_is_solved(records: dict[str, ProofRecord]) -> None:
    found = records["gll22.thm5.6/a-step-is-made"].evidence.realistic
    assert found is not None
    assert found.point is not None
    assert found.confirmed_by_checker
    mu, G, d, D, delta = (Fraction(found.point[x]) for x in ("mu", "G", "d", "D", "delta"))
    assert delta == G**2 * (d / mu + D**2)


@pytest.mark.parametrize(
    "name",
    [
        "bst14.alg8-privacy/two-points",  # n = 2
        "fmtt18.thm26/one-record",  # n = 1
        "gll22.cor4.3/renyi-of-gaussians",  # an integral, which no point evaluates
    ],
)
def test_where_there_is_nothing_to_say_nothing_is_said(name: str, records: dict[str, ProofRecord]) -> None:
    assert records[name].evidence.realistic is None


def test_what_is_proved_has_none(proofs: Any) -> None:
    rows = [r.evidence for r in proofs.of("fmtt18.lem27", "bst14.alg8-privacy")]
    assert all(row.realistic is None for row in rows if row.verdict is not Verdict.REFUTED)


def test_a_planted_point_is_caught_and_the_true_one_is_not(records: dict[str, ProofRecord]) -> None:
    record = records["mn25.lem3/a-free-direction"]
    obligation = printed("mn25.lem3", "a-free-direction")
    true = record.evidence.realistic
    assert true is not None
    assert fault_of(true, obligation, record.certificate, check) == ""
    first = dict(record.evidence.counterexample or {})  # a counterexample, but of no realistic size
    planted = true.model_copy(
        update={
            "point": first,
            "left": record.evidence.left,
            "right": record.evidence.right,
            "excess": record.evidence.excess,
            "confirmed_by_checker": True,
        }
    )
    assert "not of such sizes" in fault_of(planted, obligation, record.certificate, check)
    fewer = true.model_copy(update={"tried": true.tried + 1})
    assert "not what the search finds" in fault_of(fewer, obligation, record.certificate, check)
    assert "does not say" in fault_of(None, obligation, record.certificate, check)


def test_what_the_checker_does_not_confirm_is_said(records: dict[str, ProofRecord]) -> None:
    record = records["fmtt18.lem27/noise-is-enough"]
    obligation = printed("fmtt18.lem27", "noise-is-enough")
    found = realistic_point(obligation, record.certificate, lambda _: Confirmation(False, "no"))
    assert found is not None
    assert (found.confirmed_by_checker, found.stopped_by_the_clock) == (False, False)
    assert found.summary().endswith("(not confirmed by the checker)")
    assert "checker" in fault_of(found, obligation, record.certificate, check)


def test_a_point_that_a_clock_kept_from_being_confirmed_is_noted(records: dict[str, ProofRecord]) -> None:
    """On another machine, it may be this point that is taken."""
    record = records["fmtt18.lem27/noise-is-enough"]
    obligation = printed("fmtt18.lem27", "noise-is-enough")
    asked: list[Any] = []

    def late_at_first(certificate: Any) -> Confirmation:
        asked.append(certificate)
        return (
            check(certificate) if len(asked) > 1 else Confirmation(False, "no time left", by_the_clock=True)
        )

    found = realistic_point(obligation, record.certificate, late_at_first)
    assert found is not None
    assert (found.confirmed_by_checker, found.stopped_by_the_clock) == (True, True)
    assert found.point != asked[0]["proof"]["point"]


def test_where_a_clock_ended_the_search_two_need_not_agree(records: dict[str, ProofRecord]) -> None:
    record = records["mn25.lem3/a-free-direction"]
    obligation = printed("mn25.lem3", "a-free-direction")
    assert record.evidence.realistic is not None
    fewer = record.evidence.realistic.model_copy(update={"tried": 7})
    assert fault_of(fewer, obligation, record.certificate, check) != ""
    assert fault_of(fewer, obligation, record.certificate, check, cut_short=True) == ""


@pytest.mark.parametrize("number", ["1e99999999", "1/0", "(1, 2)", "", "()", "nan", "9" * 5000])
def test_a_point_that_is_none_is_refused_at_once(number: str, records: dict[str, ProofRecord]) -> None:
    record = records["fmtt18.lem27/noise-is-enough"]
    obligation = printed("fmtt18.lem27", "noise-is-enough")
    true = record.evidence.realistic
    assert true is not None
    planted = true.model_copy(update={"point": {**(true.point or {}), "epsilon": number}})
    assert "realistic size is n" in fault_of(planted, obligation, record.certificate, check)
    assert f"epsilon = {number}" in planted.summary()


def test_what_letters_mean_is_part_of_what_a_proof_is_kept_under() -> None:
    """Their sizes in practice follow from it, and nothing else that is kept does."""
    x = real("x", gt=0)
    keys = [
        content_of(Variant.PRINTED, Obligation("bound", "page 1", Le(x, 1), (replace(x, meaning=meaning),)))
        for meaning in ("accuracy", "privacy loss", "accuracy")
    ]
    assert keys[0] == keys[2] != keys[1]


def test_all_that_were_found_are_confirmed(all_proofs: list[ProofRecord]) -> None:
    rows = [r.evidence for r in all_proofs if r.evidence.realistic is not None]
    found = [row for row in rows if row.realistic is not None and row.realistic.point is not None]
    assert [
        f"{r.statement}/{r.obligation}"
        for r in found
        if not (r.realistic and r.realistic.confirmed_by_checker)
    ] == []
    assert 2 * len(found) > len(rows) > len(found) > 0


def test_evidence_from_before_has_none() -> None:
    fields = {"statement": "s", "obligation": "o", "where": "w", "coverage": "step", "variant": "printed", "latex": "",
              "expression": "x", "verdict": "refuted", "prover": "search"}  # fmt: skip
    assert ProofEvidence.model_validate(fields).realistic is None


LOG = PracticalSize(what="log n", low="4.7", high="13.8", log_of=("n",))
LOG_DELTA = PracticalSize(what="log(1.25/delta)", low="7", high="13.8", log_of=("delta",))


@pytest.mark.parametrize(
    ("fields", "says"),
    [({"point": {"n": "1000", "delta": "1/1000000"}, "left": "2", "right": "1",
       "excess": FailureMargin.of("<=", "2", "1")},
      "n = 1,000, delta = 1e-6: 2 instead of at most 1, 2 times as much"),
     ({"point": {"n": "1000", "l": "691/100"}, "sizes": {"l": LOG}}, "n = 1,000, l = log n ≈ 6.91"),
     ({"point": {"l": "7"}, "sizes": {"l": LOG_DELTA}}, "l = log(1.25/delta) = 7"),
     ({"point": {"n": "1000"}, "left": "-1.2345e-3500", "right": "123456789e350"},
      "n = 1,000: the sides are -1.2345e-3500 and 1.2346e+358"),
     ({"point": {"n": "1000"}, "left": "1e99999999", "right": "[1 +/- 2]"},
      "n = 1,000: the sides are 1e99999999 and [1 +/- 2]"),
     ({"because": "at none of them"}, "not found (7 points tried; at none of them)"),
     ({"tried": 1}, "not found (1 point tried)"),
     ({"point": {"n": "1000"}, "left": "1/3", "right": "0.33333333333"}, "n = 1,000: the sides are 1/3 and 0.33333"),
     ({"point": {"n": "1000"}}, "n = 1,000"), ({}, "not found (7 points tried)"),
     ({"tried": 0, "because": "n is 1 by assumption"}, "none: n is 1 by assumption")],
)  # fmt: skip
def test_what_is_said(fields: dict[str, Any], says: str) -> None:
    assert (
        RealisticPoint(**{"sizes": {}, "tried": 7, "confirmed_by_checker": True, **fields}).summary() == says
    )
