"""Property tests for your own objects: Hypothesis strategies and checks that raise AssertionError."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.properties.algorithm_contract import check_algorithm
    from dpverify.properties.assumptions import (
        check_contraction,
        check_loss,
        check_projection,
        check_sensitivity,
    )
    from dpverify.properties.pairs import AuditedPair, audit_outputs, audit_pair
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
    "AuditedPair",
    "audit_outputs",
    "audit_pair",
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

__getattr__ = lazy.attributes(
    __name__,
    {
        "AuditedPair": "dpverify.properties.pairs",
        "audit_outputs": "dpverify.properties.pairs",
        "audit_pair": "dpverify.properties.pairs",
        "check_algorithm": "dpverify.properties.algorithm_contract",
        "check_audit": "dpverify.properties.suites",
        "check_batch_sampling": "dpverify.properties.randomness",
        "check_contraction": "dpverify.properties.assumptions",
        "check_guarantee": "dpverify.properties.suites",
        "check_hidden": "dpverify.properties.randomness",
        "check_loss": "dpverify.properties.assumptions",
        "check_mechanism": "dpverify.properties.suites",
        "check_noise": "dpverify.properties.randomness",
        "check_private": "dpverify.properties.suites",
        "check_projection": "dpverify.properties.assumptions",
        "check_sensitivity": "dpverify.properties.assumptions",
        "datasets": "dpverify.properties.strategies",
        "deltas": "dpverify.properties.strategies",
        "epsilons": "dpverify.properties.strategies",
        "guarantees": "dpverify.properties.strategies",
        "neighboring_arrays": "dpverify.properties.strategies",
        "neighboring_datasets": "dpverify.properties.strategies",
        "unit_ball_points": "dpverify.properties.strategies",
    },
)
