"""The algorithms of Menart, Nikolov (2025), in the paper's order."""

import lazy_loader

ROWS = {
    "mn25.alg1": "dpverify.algorithms.mn25.private_oracles:PrivateOracleMethod",
    "mn25.alg3": "dpverify.algorithms.mn25.dp_sgd:DPSGD",
    "mn25.alg4": "dpverify.algorithms.mn25.phased:PhasedSGD",
    "mn25.alg5": "dpverify.algorithms.mn25.phased:PhasedERM",
    "mn25.hard-instance": "dpverify.algorithms.mn25.hard_instance:HardInstance",
    "mn25.limited-oracle": "dpverify.algorithms.mn25.limited_oracle:LimitedOracleSGD",
    "mn25.sco-to-erm": "dpverify.algorithms.mn25.population_to_empirical:PopulationToEmpirical",
    "mn25.erm-to-sco": "dpverify.algorithms.mn25.empirical_to_population:EmpiricalToPopulation",
    "mn25.fingerprint": "dpverify.algorithms.mn25.fingerprinting:Fingerprinting",
}
"""Catalog id to import path, in the paper's order."""

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
