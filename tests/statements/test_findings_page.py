"""docs/findings.md is what `dpverify findings` prints."""

from __future__ import annotations

from pathlib import Path

from dpverify.ledger import Budget, Ledger
from dpverify.reports import findings_markdown
from dpverify.verification.proofs import ProofRecord, catalog_entries

PAGE = Path(__file__).parents[2] / "docs" / "findings.md"


def test_the_page_is_of_the_proofs_that_are_found(all_proofs: list[ProofRecord]) -> None:
    ledger = Ledger(
        program_version="",
        created="",
        command="",
        seed=0,
        profile="",
        versions={},
        statements=catalog_entries(all_proofs, docstrings=False),
        entries=tuple(record.evidence for record in all_proofs),
        budget=Budget(failure_probability=0.5, spent={}),
        seconds=0.0,
    )
    assert PAGE.read_text(encoding="utf-8") == findings_markdown(ledger), "run make verify pages"
