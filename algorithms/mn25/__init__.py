"""The algorithms of Menart, Nikolov (2025), in the paper's order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.algorithms.mn25.dp_sgd import DPSGD
    from dpverify.algorithms.mn25.empirical_to_population import EmpiricalToPopulation
    from dpverify.algorithms.mn25.fingerprinting import Fingerprinting
    from dpverify.algorithms.mn25.hard_instance import HardInstance
    from dpverify.algorithms.mn25.limited_oracle import LimitedOracleSGD
    from dpverify.algorithms.mn25.phased import PhasedERM, PhasedSGD
    from dpverify.algorithms.mn25.population_to_empirical import PopulationToEmpirical
    from dpverify.algorithms.mn25.private_oracles import PrivateOracleMethod

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

__all__ = [
    "DPSGD",
    "ROWS",
    "EmpiricalToPopulation",
    "Fingerprinting",
    "HardInstance",
    "LimitedOracleSGD",
    "PhasedERM",
    "PhasedSGD",
    "PopulationToEmpirical",
    "PrivateOracleMethod",
]

__getattr__ = lazy.attributes(
    __name__, {name: module for module, name in (p.split(":") for p in ROWS.values())}
)
