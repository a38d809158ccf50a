"""Provers, certificates and their checker; see docs/certificates.md.

Names are imported when they are first used, so that reading a statement or checking a certificate does not
load the provers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.proving.certificates import canonical, digest, load, store
    from dpverify.proving.pipeline import default_provers, homogeneity, prove
    from dpverify.proving.proof import Budget, Proof, Prover

__all__ = [
    "Budget",
    "Proof",
    "Prover",
    "canonical",
    "default_provers",
    "digest",
    "homogeneity",
    "load",
    "prove",
    "store",
]

_HOMES = {
    **dict.fromkeys(("canonical", "digest", "load", "store"), "certificates"),
    **dict.fromkeys(("default_provers", "homogeneity", "prove"), "pipeline"),
    **dict.fromkeys(("Budget", "Proof", "Prover"), "proof"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
