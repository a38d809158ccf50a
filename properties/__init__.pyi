from .adversaries import (
    Adversary as Adversary,
    Leak as Leak,
    adversarial_optimizers as adversarial_optimizers,
    check_interaction as check_interaction,
)
from .algorithm_contract import check_algorithm as check_algorithm
from .assumptions import (
    check_contraction as check_contraction,
    check_loss as check_loss,
    check_projection as check_projection,
    check_sensitivity as check_sensitivity,
)
from .laws import (
    check_accountant as check_accountant,
    check_duality as check_duality,
    check_gradient as check_gradient,
    check_group_privacy as check_group_privacy,
    check_scaling as check_scaling,
)
from .objects import (
    KnownMechanism as KnownMechanism,
    constraint_sets as constraint_sets,
    distribution_pairs as distribution_pairs,
    distributions as distributions,
    losses as losses,
    mechanisms as mechanisms,
    noisy_iterations as noisy_iterations,
    problems as problems,
    schedules as schedules,
)
from .processing import check_batch_sizes as check_batch_sizes, check_post_processing as check_post_processing
from .randomness import (
    check_batch_sampling as check_batch_sampling,
    check_hidden as check_hidden,
    check_noise as check_noise,
)
from .strategies import (
    datasets as datasets,
    deltas as deltas,
    epsilons as epsilons,
    guarantees as guarantees,
    neighboring_arrays as neighboring_arrays,
    neighboring_datasets as neighboring_datasets,
    unit_ball_points as unit_ball_points,
)
from .suites import (
    ErrorOverExamples as ErrorOverExamples,
    check_audit as check_audit,
    check_guarantee as check_guarantee,
    check_mechanism as check_mechanism,
    check_private as check_private,
)
