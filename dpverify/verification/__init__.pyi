from .catalog.proofs import prove_statement as prove_statement
from .catalog.rows import ProofRecord as ProofRecord
from .job import VerificationSettings as VerificationSettings, verify as verify
