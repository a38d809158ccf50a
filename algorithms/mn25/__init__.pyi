from .dp_sgd import DPSGD as DPSGD
from .empirical_to_population import EmpiricalToPopulation as EmpiricalToPopulation
from .fingerprinting import Fingerprinting as Fingerprinting
from .hard_instance import HardInstance as HardInstance
from .limited_oracle import LimitedOracleSGD as LimitedOracleSGD
from .phased import PhasedERM as PhasedERM, PhasedSGD as PhasedSGD
from .population_to_empirical import PopulationToEmpirical as PopulationToEmpirical
from .private_oracles import PrivateOracleMethod as PrivateOracleMethod
