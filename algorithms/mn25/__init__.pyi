from .dp_sgd import DPSGD
from .empirical_to_population import EmpiricalToPopulation
from .fingerprinting import Fingerprinting
from .hard_instance import HardInstance
from .limited_oracle import LimitedOracleSGD
from .phased import PhasedERM, PhasedSGD
from .population_to_empirical import PopulationToEmpirical
from .private_oracles import PrivateOracleMethod

__all__ = [
    "DPSGD",
    "EmpiricalToPopulation",
    "Fingerprinting",
    "HardInstance",
    "LimitedOracleSGD",
    "PhasedERM",
    "PhasedSGD",
    "PopulationToEmpirical",
    "PrivateOracleMethod",
]
