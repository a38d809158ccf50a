"""Property tests for your own objects: Hypothesis strategies and checks that raise AssertionError."""

from dpverify.properties.algorithm_contract import check_algorithm
from dpverify.properties.strategies import (
    datasets,
    deltas,
    epsilons,
    guarantees,
    neighboring_datasets,
    unit_ball_points,
)
from dpverify.properties.suites import check_guarantee, check_mechanism, check_private

__all__ = [
    "check_algorithm",
    "check_guarantee",
    "check_mechanism",
    "check_private",
    "datasets",
    "deltas",
    "epsilons",
    "guarantees",
    "neighboring_datasets",
    "unit_ball_points",
]
