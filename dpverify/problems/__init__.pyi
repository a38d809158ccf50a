from .arrays import add_outer
from .constants import ConstantsCheck, check_constants
from .constraint_sets import AllSpace, Ball, Box, ConstraintSet, Simplex
from .datasets import Dataset, load, read_csv
from .displacements import ContractOrDrift, Displacement, EuclideanDistance, HalfSquaredDistance
from .losses import (
    GeneralizedLinear,
    Hinge,
    Linear,
    Logistic,
    Loss,
    Ridge,
    Squared,
    gradient_sensitivity,
    is_generalized_linear,
    label_range,
)
from .minimizers import CertifiedMinimum, certify, minimize
from .neighbors import NeighborPair, contract_then_reveal, opposite_linear, opposite_neighbor
from .problem import Problem
from .worst_risk import largest_risk

__all__ = [
    "AllSpace",
    "Ball",
    "Box",
    "CertifiedMinimum",
    "ConstantsCheck",
    "ConstraintSet",
    "ContractOrDrift",
    "Dataset",
    "Displacement",
    "EuclideanDistance",
    "GeneralizedLinear",
    "HalfSquaredDistance",
    "Hinge",
    "Linear",
    "Logistic",
    "Loss",
    "NeighborPair",
    "Problem",
    "Ridge",
    "Simplex",
    "Squared",
    "add_outer",
    "certify",
    "check_constants",
    "contract_then_reveal",
    "gradient_sensitivity",
    "is_generalized_linear",
    "label_range",
    "largest_risk",
    "load",
    "minimize",
    "opposite_linear",
    "opposite_neighbor",
    "read_csv",
]
