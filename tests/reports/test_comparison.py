"""Two ledgers side by side: lost proofs and new violations fail, all else is listed."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from dpverify.commands.verify import since
from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.document import ErrorBudget, Ledger, UnauditedClaim
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Coverage, Variant, Verdict
from dpverify.reports.formats.markdown import comparison_markdown
from dpverify.views.comparison import Change, compare_ledgers

from .ledger_example import example_ledger


def proof(verdict: Verdict, *, confirmed: bool = True, **more: Any) -> ProofEvidence:
    fields: dict[str, Any] = {
        "statement": "fmtt18.thm1", "obligation": "bound", "where": "Theorem 1", "coverage": Coverage.CONCLUSION,
        "variant": Variant.PRINTED, "latex": "a", "expression": "a <= b", "verdict": verdict, "prover": "exact",
        "confirmed_by_checker": confirmed,
    }  # fmt: skip
    return ProofEvidence(**{**fields, **more})


def audit(verdict: Verdict, **more: Any) -> PrivacyEvidence:
    fields: dict[str, Any] = {
        "subject": "mine:release", "title": "against 1-DP", "verdict": verdict, "reproduce": "", "runs": 100,
        "failure_probability": 1e-3, "seed": 0, "data": "two", "adjacency": "replace-one", "claim": "1-DP",
        "epsilon_lower": 0.5, "delta": 0.0, "profile": (), "reason": "as it is",
    }  # fmt: skip
    return PrivacyEvidence(**{**fields, **more})


def ledger(*entries: ProofEvidence | AuditEvidence, **more: Any) -> Ledger:
    fields: dict[str, Any] = {
        "program_version": "0.1.0", "created": "2026-01-01T00:00:00+00:00", "command": "", "seed": 0,
        "profile": "quick", "versions": {}, "statements": (), "seconds": 0.0,
        "budget": ErrorBudget(failure_probability=1e-3, spent={}),
    }  # fmt: skip
    return Ledger(entries=entries, **{**fields, **more})


def change(old: Any, new: Any) -> tuple[Change | None, bool]:
    found = compare_ledgers(ledger(*([old] if old else [])), ledger(*([new] if new else [])))
    return (found.changed[0].change if found.changed else None), bool(found.failed)


V = Verdict


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (proof(V.PROVED), proof(V.PROVED), None),
        (proof(V.PROVED), proof(V.UNDECIDED), Change.LOST_PROOF),
        (proof(V.PROVED), proof(V.CERTIFIED), Change.LOST_PROOF),
        (proof(V.PROVED), proof(V.REFUTED), Change.LOST_PROOF),
        (proof(V.REFUTED), proof(V.UNDECIDED), Change.LOST_PROOF),
        (proof(V.PROVED), None, Change.LOST_PROOF),
        (proof(V.PROVED), proof(V.PROVED, confirmed=False), Change.LOST_PROOF),
        (proof(V.CERTIFIED), proof(V.PROVED, confirmed=False), Change.LOST_PROOF),
        (proof(V.CERTIFIED), proof(V.PROVED), Change.GAINED),
        (proof(V.PROVED, confirmed=False), proof(V.PROVED), Change.GAINED),
        (proof(V.UNDECIDED), proof(V.PROVED), Change.GAINED),
        (proof(V.PROVED), proof(V.PROVED, expression="a <= 2 b"), Change.OTHER),
        (proof(V.CERTIFIED), proof(V.CERTIFIED, box={"a": ("0", "1")}), Change.OTHER),
        (None, proof(V.UNDECIDED), Change.NEW),
        (audit(V.SUPPORTED), audit(V.SUPPORTED, epsilon_lower=0.6, seed=1), None),
        (audit(V.SUPPORTED), audit(V.VIOLATED), Change.NEW_VIOLATION),
        (audit(V.UNDECIDED), audit(V.VIOLATED), Change.NEW_VIOLATION),
        (None, audit(V.VIOLATED), Change.NEW_VIOLATION),
        (audit(V.VIOLATED), audit(V.VIOLATED), None),
        (audit(V.VIOLATED), audit(V.SUPPORTED), Change.GAINED),
        (audit(V.VIOLATED), None, Change.OTHER),
        (audit(V.SUPPORTED), audit(V.UNDECIDED), Change.LOST_SUPPORT),
        (audit(V.SUPPORTED), None, Change.LOST_SUPPORT),
        (audit(V.SUPPORTED), audit(V.SUPPORTED, claim="2-DP"), Change.OTHER),
    ],
)
def test_what_became_of_a_row(old: Any, new: Any, expected: Change | None) -> None:
    assert change(old, new) == (expected, expected in (Change.NEW_VIOLATION, Change.LOST_PROOF))


def test_no_decision_is_lost_unseen() -> None:
    """For every pair of verdicts: going from decided to anything weaker fails, and the way back never does."""
    strength = {V.PROVED: 2, V.CERTIFIED: 1, V.UNDECIDED: 0}
    for one, other in itertools.permutations(strength, 2):
        lost = strength[one] > strength[other]
        assert change(proof(one), proof(other))[1] is lost


def test_rows_with_one_name_are_told_apart_and_the_worst_come_first() -> None:
    old = ledger(audit(V.SUPPORTED), audit(V.SUPPORTED), proof(V.PROVED))
    new = ledger(
        audit(V.SUPPORTED), audit(V.VIOLATED), proof(V.UNDECIDED, reason="no | method"), profile="full"
    )
    found = compare_ledgers(old, new)
    assert [row.change for row in found.changed] == [Change.NEW_VIOLATION, Change.LOST_PROOF]
    assert found.changed[0].row.endswith("(number 2)")
    assert found.summary() == "1 new violation, 1 lost proof; rows with the same verdict: 1"
    assert found.notes == ("profile: quick, now full",)
    assert "| **lost proof** | `fmtt18.thm1/bound (printed)` | proved | undecided |" in comparison_markdown(
        found
    )
    assert found.as_json()["failed"] is True
    assert compare_ledgers(old, old).summary() == "nothing changed; rows with the same verdict: 3"


def test_a_run_is_compared_with_one_of_the_same_command_alone() -> None:
    """What another command left out is not lost."""
    whole = example_ledger()
    part = whole.but(entries=whole.entries[:1], command="dpverify verify --only one")
    assert list(since(whole, part)) == [f"not compared with the run before, which was `{whole.command}`"]
    lost = list(since(whole, part.but(command=whole.command)))
    assert sum(line.startswith("lost proof") for line in lost) > 1
    assert lost[-1].startswith("since the run of ")


def test_two_runs_of_one_seed_have_all_fields_in_common_but_what_they_took() -> None:
    kept = audit(V.SUPPORTED)
    old = ledger(kept, proof(V.PROVED), seconds=1.0)
    same = ledger(
        kept.but(seconds=9.0), proof(V.PROVED), seconds=2.0, versions={"numpy": "2"}, command="again"
    )
    assert not compare_ledgers(old, same, exact=True).fails
    off = ledger(kept.but(epsilon_lower=0.5 + 2**-52), proof(V.PROVED, latex="b"), seed=1)
    found = compare_ledgers(old, off, exact=True)
    assert found.exact == (
        "the ledger: not the same: seed",
        "privacy: mine:release | against 1-DP: not the same: epsilon_lower",
        "fmtt18.thm1/bound (printed): not the same: latex",
    )
    assert (found.fails, found.failed, compare_ledgers(old, off).fails) == (True, (), False)
    assert "differences in other fields: 3" in comparison_markdown(found)
    assert compare_ledgers(
        old, ledger(kept, proof(V.PROVED), audit(V.SUPPORTED, title="new")), exact=True
    ).fails


def test_claims_that_could_not_be_audited_are_rows() -> None:
    failed = UnauditedClaim(called="mean", claim="eps=1", error="It raised ValueError.")
    good, bad = ledger(audit(V.SUPPORTED)), ledger(not_audited=(failed,))
    found = compare_ledgers(good, bad)
    assert [row.change for row in found.changed] == [Change.LOST_SUPPORT, Change.NEW]
    assert found.changed[1].line() == "new: claim mean: none, now not audited. It raised ValueError."
    assert not found.fails
    assert compare_ledgers(good, bad, exact=True).fails
    assert not compare_ledgers(bad, bad, exact=True).fails
    other = ledger(not_audited=(failed.but(error="It raised KeyError."),))
    assert compare_ledgers(bad, other, exact=True).exact == ("claim mean: not the same: error",)
