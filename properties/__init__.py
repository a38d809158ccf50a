"""Property tests for your own objects: Hypothesis strategies and checks that raise AssertionError."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.properties.adversaries import Adversary, Leak, adversarial_optimizers, check_interaction
    from dpverify.properties.algorithm_contract import check_algorithm
    from dpverify.properties.assumptions import (
        check_contraction,
        check_loss,
        check_projection,
        check_sensitivity,
    )
    from dpverify.properties.laws import (
        check_accountant,
        check_duality,
        check_gradient,
        check_group_privacy,
        check_scaling,
    )
    from dpverify.properties.objects import (
        KnownMechanism,
        constraint_sets,
        distribution_pairs,
        distributions,
        losses,
        mechanisms,
        noisy_iterations,
        problems,
        schedules,
    )
    from dpverify.properties.pairs import AuditedPair, audit_outputs, audit_pair
    from dpverify.properties.processing import check_batch_sizes, check_post_processing
    from dpverify.properties.randomness import check_batch_sampling, check_hidden, check_noise
    from dpverify.properties.shared_error import ErrorOverExamples
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
    "Adversary",
    "AuditedPair",
    "ErrorOverExamples",
    "KnownMechanism",
    "Leak",
    "adversarial_optimizers",
    "audit_outputs",
    "audit_pair",
    "check_accountant",
    "check_algorithm",
    "check_audit",
    "check_batch_sampling",
    "check_batch_sizes",
    "check_contraction",
    "check_duality",
    "check_gradient",
    "check_group_privacy",
    "check_guarantee",
    "check_hidden",
    "check_interaction",
    "check_loss",
    "check_mechanism",
    "check_noise",
    "check_post_processing",
    "check_private",
    "check_projection",
    "check_scaling",
    "check_sensitivity",
    "constraint_sets",
    "datasets",
    "deltas",
    "distribution_pairs",
    "distributions",
    "epsilons",
    "guarantees",
    "losses",
    "mechanisms",
    "neighboring_arrays",
    "neighboring_datasets",
    "noisy_iterations",
    "problems",
    "schedules",
    "unit_ball_points",
]

__getattr__ = lazy.attributes(
    __name__,
    {
        "Adversary": "dpverify.properties.adversaries",
        "AuditedPair": "dpverify.properties.pairs",
        "ErrorOverExamples": "dpverify.properties.shared_error",
        "KnownMechanism": "dpverify.properties.objects",
        "Leak": "dpverify.properties.adversaries",
        "adversarial_optimizers": "dpverify.properties.adversaries",
        "audit_outputs": "dpverify.properties.pairs",
        "audit_pair": "dpverify.properties.pairs",
        "check_accountant": "dpverify.properties.laws",
        "check_algorithm": "dpverify.properties.algorithm_contract",
        "check_audit": "dpverify.properties.suites",
        "check_batch_sampling": "dpverify.properties.randomness",
        "check_batch_sizes": "dpverify.properties.processing",
        "check_contraction": "dpverify.properties.assumptions",
        "check_duality": "dpverify.properties.laws",
        "check_gradient": "dpverify.properties.laws",
        "check_group_privacy": "dpverify.properties.laws",
        "check_guarantee": "dpverify.properties.suites",
        "check_hidden": "dpverify.properties.randomness",
        "check_interaction": "dpverify.properties.adversaries",
        "check_loss": "dpverify.properties.assumptions",
        "check_mechanism": "dpverify.properties.suites",
        "check_noise": "dpverify.properties.randomness",
        "check_post_processing": "dpverify.properties.processing",
        "check_private": "dpverify.properties.suites",
        "check_projection": "dpverify.properties.assumptions",
        "check_scaling": "dpverify.properties.laws",
        "check_sensitivity": "dpverify.properties.assumptions",
        "constraint_sets": "dpverify.properties.objects",
        "datasets": "dpverify.properties.strategies",
        "deltas": "dpverify.properties.strategies",
        "distribution_pairs": "dpverify.properties.objects",
        "distributions": "dpverify.properties.objects",
        "epsilons": "dpverify.properties.strategies",
        "guarantees": "dpverify.properties.strategies",
        "losses": "dpverify.properties.objects",
        "mechanisms": "dpverify.properties.objects",
        "neighboring_arrays": "dpverify.properties.strategies",
        "neighboring_datasets": "dpverify.properties.strategies",
        "noisy_iterations": "dpverify.properties.objects",
        "problems": "dpverify.properties.objects",
        "schedules": "dpverify.properties.objects",
        "unit_ball_points": "dpverify.properties.strategies",
    },
)
