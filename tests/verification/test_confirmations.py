"""How many of the formulas the checker confirms, and that it says why of the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.verification.catalog.rows import ProofRecord

ONE_IN = 20


def too_many(rows: Iterable[ProofEvidence]) -> dict[str, list[str]]:
    """By paper, the rows that are decided and not confirmed, where they are more than one in twenty."""
    decided: dict[str, list[ProofEvidence]] = {}
    for row in rows:
        if row.verdict is not Verdict.UNDECIDED:
            decided.setdefault(row.statement.partition(".")[0], []).append(row)
    found = {
        paper: [f"{r.statement}/{r.obligation}" for r in mine if not r.confirmed_by_checker]
        for paper, mine in decided.items()
    }
    return {paper: names for paper, names in found.items() if ONE_IN * len(names) > len(decided[paper])}


def test_all_but_few_decided_formulas_are_confirmed_and_the_others_say_why(
    all_proofs: list[ProofRecord],
) -> None:
    decided = [r.evidence for r in all_proofs if r.evidence.verdict is not Verdict.UNDECIDED]
    assert len(decided) >= 156
    others = [row for row in decided if not row.confirmed_by_checker]
    for row in others:
        assert row.checker_says.startswith("not confirmed: ")
    assert too_many(row for row in decided) == {}, others


@dataclass(frozen=True)
class _Row:
    statement: str
    confirmed_by_checker: bool
    obligation: str = "o"
    verdict: Verdict = Verdict.PROVED


def test_two_in_twenty_are_too_many_in_whichever_paper() -> None:
    rows = [_Row("a.1", True)] * 1000 + [_Row("b.1", False)] * 2 + [_Row("b.1", True)] * 18
    assert too_many(rows) == {"b": ["b.1/o", "b.1/o"]}  # type: ignore[arg-type]
    assert too_many(rows[:-1] + [_Row("b.1", True)] * 21) == {}  # type: ignore[arg-type]
