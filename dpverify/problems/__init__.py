"""Convex problems: losses with their constants, constraint sets, data sets, certified minimizers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.problems.arrays import add_outer
    from dpverify.problems.constants import ConstantsCheck, check_constants
    from dpverify.problems.constraint_sets import AllSpace, Ball, Box, ConstraintSet, Simplex
    from dpverify.problems.datasets import Dataset, load, read_csv
    from dpverify.problems.largest_risk import largest_risk
    from dpverify.problems.losses import (
        ContractOrDrift,
        Displacement,
        EuclideanDistance,
        GeneralizedLinear,
        HalfSquaredDistance,
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
    from dpverify.problems.problem import Problem
    from dpverify.problems.worst_case import (
        NeighborPair,
        contract_then_reveal,
        opposite_linear,
        opposite_neighbor,
    )

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

__getattr__ = lazy.attributes(
    __name__,
    {
        "AllSpace": "dpverify.problems.constraint_sets",
        "Ball": "dpverify.problems.constraint_sets",
        "Box": "dpverify.problems.constraint_sets",
        "CertifiedMinimum": "dpverify.problems.minimizers",
        "ConstantsCheck": "dpverify.problems.constants",
        "ConstraintSet": "dpverify.problems.constraint_sets",
        "ContractOrDrift": "dpverify.problems.losses",
        "Dataset": "dpverify.problems.datasets",
        "Displacement": "dpverify.problems.losses",
        "EuclideanDistance": "dpverify.problems.losses",
        "GeneralizedLinear": "dpverify.problems.losses",
        "HalfSquaredDistance": "dpverify.problems.losses",
        "Hinge": "dpverify.problems.losses",
        "Linear": "dpverify.problems.losses",
        "Logistic": "dpverify.problems.losses",
        "Loss": "dpverify.problems.losses",
        "NeighborPair": "dpverify.problems.worst_case",
        "Problem": "dpverify.problems.problem",
        "Ridge": "dpverify.problems.losses",
        "Simplex": "dpverify.problems.constraint_sets",
        "Squared": "dpverify.problems.losses",
        "add_outer": "dpverify.problems.arrays",
        "certify": "dpverify.problems.minimizers",
        "check_constants": "dpverify.problems.constants",
        "contract_then_reveal": "dpverify.problems.worst_case",
        "gradient_sensitivity": "dpverify.problems.losses",
        "is_generalized_linear": "dpverify.problems.losses",
        "label_range": "dpverify.problems.losses",
        "largest_risk": "dpverify.problems.largest_risk",
        "load": "dpverify.problems.datasets",
        "minimize": "dpverify.problems.minimizers",
        "opposite_linear": "dpverify.problems.worst_case",
        "opposite_neighbor": "dpverify.problems.worst_case",
        "read_csv": "dpverify.problems.datasets",
    },
)
