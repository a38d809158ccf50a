from .certificates import canonical, digest, load, store
from .pipeline import default_provers, homogeneity, prove
from .proof import Budget, Proof, Prover

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
