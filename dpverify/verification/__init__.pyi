from .catalog.proofs import prove_statement
from .catalog.rows import ProofRecord
from .job import VerificationSettings, verify

__all__ = [
    "ProofRecord",
    "VerificationSettings",
    "prove_statement",
    "verify",
]
