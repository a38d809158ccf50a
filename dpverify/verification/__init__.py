"""The main job: prove what is printed, audit what is implemented, write it all into one ledger."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpverify.verification.audits import carry_out
    from dpverify.verification.job import VerificationSettings, verify
    from dpverify.verification.proofs import ProofRecord, catalog_entries, prove_statement

_WHERE = {
    "ProofRecord": "dpverify.verification.proofs",
    "VerificationSettings": "dpverify.verification.job",
    "carry_out": "dpverify.verification.audits",
    "catalog_entries": "dpverify.verification.proofs",
    "prove_statement": "dpverify.verification.proofs",
    "verify": "dpverify.verification.job",
}
"""Loaded when they are asked for, so that a command loads only what it needs."""

__all__ = [
    "ProofRecord",
    "VerificationSettings",
    "carry_out",
    "catalog_entries",
    "prove_statement",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
