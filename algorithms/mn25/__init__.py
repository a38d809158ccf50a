"""The algorithms of Menart, Nikolov (2025), in the paper's order."""

from dpverify.algorithms.mn25.dp_sgd import DPSGD
from dpverify.algorithms.mn25.empirical_to_population import EmpiricalToPopulation
from dpverify.algorithms.mn25.fingerprinting import Fingerprinting
from dpverify.algorithms.mn25.hard_instance import HardInstance
from dpverify.algorithms.mn25.limited_oracle import LimitedOracleSGD
from dpverify.algorithms.mn25.phased import PhasedERM, PhasedSGD
from dpverify.algorithms.mn25.population_to_empirical import PopulationToEmpirical
from dpverify.algorithms.mn25.private_oracles import PrivateOracleMethod

ROWS = (
    PrivateOracleMethod,
    DPSGD,
    PhasedSGD,
    PhasedERM,
    HardInstance,
    LimitedOracleSGD,
    PopulationToEmpirical,
    EmpiricalToPopulation,
    Fingerprinting,
)
"""One class a row of the paper's catalog."""

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
