from .audits import carry_out
from .catalog.entries import catalog_entries
from .catalog.proofs import prove_statement
from .catalog.rows import ProofRecord
from .job import VerificationSettings, verify

__all__ = [
    "ProofRecord",
    "VerificationSettings",
    "carry_out",
    "catalog_entries",
    "prove_statement",
    "verify",
]
