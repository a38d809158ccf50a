from .arrays import add_outer as add_outer
from .constants import ConstantsCheck as ConstantsCheck, check_constants as check_constants
from .constraint_sets import (
    AllSpace as AllSpace,
    Ball as Ball,
    Box as Box,
    ConstraintSet as ConstraintSet,
    Simplex as Simplex,
)
from .datasets import Dataset as Dataset, load as load, read_csv as read_csv
from .displacements import (
    ContractOrDrift as ContractOrDrift,
    Displacement as Displacement,
    EuclideanDistance as EuclideanDistance,
    HalfSquaredDistance as HalfSquaredDistance,
)
from .losses import (
    GeneralizedLinear as GeneralizedLinear,
    Hinge as Hinge,
    Linear as Linear,
    Logistic as Logistic,
    Loss as Loss,
    Ridge as Ridge,
    Squared as Squared,
    gradient_sensitivity as gradient_sensitivity,
    is_generalized_linear as is_generalized_linear,
    label_range as label_range,
)
from .minimizers import CertifiedMinimum as CertifiedMinimum, certify as certify, minimize as minimize
from .neighbors import (
    NeighborPair as NeighborPair,
    contract_then_reveal as contract_then_reveal,
    opposite_linear as opposite_linear,
    opposite_neighbor as opposite_neighbor,
)
from .problem import Problem as Problem
from .worst_risk import largest_risk as largest_risk
