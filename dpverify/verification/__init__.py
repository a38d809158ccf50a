"""The main job: prove what is printed, audit what is implemented, write it all into one ledger."""

from dpverify.verification.audits import carry_out
from dpverify.verification.job import VerificationSettings, verify
from dpverify.verification.proofs import ProofRecord, catalog_entries, prove_statement

__all__ = [
    "ProofRecord",
    "VerificationSettings",
    "carry_out",
    "catalog_entries",
    "prove_statement",
    "verify",
]
