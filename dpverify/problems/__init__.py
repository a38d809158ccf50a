"""Convex problems: losses with their constants, constraint sets, data sets, certified minimizers."""

from dpverify.problems.arrays import add_outer
from dpverify.problems.constants import ConstantsCheck, check_constants
from dpverify.problems.constraint_sets import AllSpace, Ball, Box, ConstraintSet, Simplex
from dpverify.problems.datasets import Dataset, load, read_csv
from dpverify.problems.displacements import (
    ContractOrDrift,
    Displacement,
    EuclideanDistance,
    HalfSquaredDistance,
)
from dpverify.problems.largest_risk import largest_risk
from dpverify.problems.losses import (
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
from dpverify.problems.minimizers import CertifiedMinimum, certify, minimize
from dpverify.problems.neighbors import (
    NeighborPair,
    contract_then_reveal,
    opposite_linear,
    opposite_neighbor,
)
from dpverify.problems.problem import Problem

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
