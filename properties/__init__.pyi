from .adversaries import Adversary, Leak, adversarial_optimizers, check_interaction
from .algorithm_contract import check_algorithm
from .assumptions import check_contraction, check_loss, check_projection, check_sensitivity
from .laws import check_accountant, check_duality, check_gradient, check_group_privacy, check_scaling
from .objects import (
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
from .processing import check_batch_sizes, check_post_processing
from .randomness import check_batch_sampling, check_hidden, check_noise
from .strategies import (
    datasets,
    deltas,
    epsilons,
    guarantees,
    neighboring_arrays,
    neighboring_datasets,
    unit_ball_points,
)
from .suites import ErrorOverExamples, check_audit, check_guarantee, check_mechanism, check_private

__all__ = [
    "Adversary",
    "ErrorOverExamples",
    "KnownMechanism",
    "Leak",
    "adversarial_optimizers",
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
