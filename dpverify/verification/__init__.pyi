from .audits import carry_out
from .catalog import catalog_entries
from .job import VerificationSettings, verify
from .proof_rows import ProofRecord
from .proofs import prove_statement

__all__ = [
    "ProofRecord",
    "VerificationSettings",
    "carry_out",
    "catalog_entries",
    "prove_statement",
    "verify",
]
