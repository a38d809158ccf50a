from .alternating_sampler import AlternatingSampler
from .linear_hard_family import LinearHardFamily
from .regularized_exponential_mechanism import (
    RegularizedExponentialMechanism,
)
from .rejection_inner_step import RejectionInnerStep

__all__ = [
    "AlternatingSampler",
    "LinearHardFamily",
    "RegularizedExponentialMechanism",
    "RejectionInnerStep",
]
