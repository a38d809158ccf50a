"""The main job: prove what is printed, audit what is implemented, write it all into one ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.verification.audits import carry_out
    from dpverify.verification.catalog import catalog_entries
    from dpverify.verification.job import VerificationSettings, verify
    from dpverify.verification.proof_rows import ProofRecord
    from dpverify.verification.proofs import prove_statement

__all__ = [
    "ProofRecord",
    "VerificationSettings",
    "carry_out",
    "catalog_entries",
    "prove_statement",
    "verify",
]

__getattr__ = lazy.attributes(
    __name__,
    {
        "ProofRecord": "dpverify.verification.proof_rows",
        "VerificationSettings": "dpverify.verification.job",
        "carry_out": "dpverify.verification.audits",
        "catalog_entries": "dpverify.verification.catalog",
        "prove_statement": "dpverify.verification.proofs",
        "verify": "dpverify.verification.job",
    },
)
