"""Property tests for your own objects: Hypothesis strategies and checks that raise AssertionError."""

from dpverify.properties.algorithm_contract import check_algorithm
from dpverify.properties.assumptions import (
    check_contraction,
    check_loss,
    check_projection,
    check_sensitivity,
)
from dpverify.properties.randomness import check_batch_sampling, check_hidden, check_noise
from dpverify.properties.strategies import (
    datasets,
    deltas,
    epsilons,
    guarantees,
    neighboring_arrays,
    neighboring_datasets,
    unit_ball_points,
)
from dpverify.properties.suites import check_audit, check_guarantee, check_mechanism, check_private

__all__ = [
    "check_algorithm",
    "check_audit",
    "check_batch_sampling",
    "check_contraction",
    "check_guarantee",
    "check_hidden",
    "check_loss",
    "check_mechanism",
    "check_noise",
    "check_private",
    "check_projection",
    "check_sensitivity",
    "datasets",
    "deltas",
    "epsilons",
    "guarantees",
    "neighboring_arrays",
    "neighboring_datasets",
    "unit_ball_points",
]
