"""Pages proved in this process, as `dpverify prove` does."""

from __future__ import annotations

from dpverify.ledger.headlines.words import VariantOutcome
from dpverify.ledger.verdicts import Variant
from dpverify.proving.language import Statement
from dpverify.verification.catalog.proofs import said_of_page
from dpverify.verification.catalog.rows import ProofRecord, answered
from dpverify.verification.catalog.source_rows import obligations_of


def proved(statement: Statement) -> tuple[list[ProofRecord], VariantOutcome]:
    """The records of a statement that is in no paper, and what may be said of it where nothing else is known."""
    records = [
        record
        for variant in Variant
        for o in obligations_of(statement, variant)
        for record in answered(statement, variant, o)
    ]
    return records, said_of_page(statement, (r.evidence for r in records), ())
