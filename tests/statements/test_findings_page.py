"""docs/findings.md is what `dpverify findings` prints."""

from __future__ import annotations

from pathlib import Path

from dpverify.ledger.document import Ledger
from dpverify.reports import findings_markdown

PAGE = Path(__file__).parents[2] / "docs" / "findings.md"


def test_the_page_is_of_the_proofs_that_are_found(ledger_of_proofs: Ledger) -> None:
    assert PAGE.read_text(encoding="utf-8") == findings_markdown(ledger_of_proofs), "run make verify pages"
