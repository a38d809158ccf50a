from .certificates import canonical as canonical, digest as digest, load as load, store as store
from .pipeline import default_provers as default_provers, homogeneity as homogeneity, prove as prove
from .proof import Budget as Budget, Proof as Proof, Prover as Prover
