from .alternating_sampler import AlternatingSampler as AlternatingSampler
from .linear_hard_family import LinearHardFamily as LinearHardFamily
from .regularized_exponential_mechanism import (
    RegularizedExponentialMechanism as RegularizedExponentialMechanism,
)
from .rejection_inner_step import RejectionInnerStep as RejectionInnerStep
