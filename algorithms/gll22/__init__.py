"""The algorithms of Gopi, Lee, Liu (2022), in the paper's order."""

from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler
from dpverify.algorithms.gll22.linear_hard_family import LinearHardFamily
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.algorithms.gll22.rejection_inner_step import RejectionInnerStep

ROWS = (
    RegularizedExponentialMechanism,
    AlternatingSampler,
    RejectionInnerStep,
    LinearHardFamily,
)
"""One class a row of the paper's catalog."""

__all__ = [
    "ROWS",
    "AlternatingSampler",
    "LinearHardFamily",
    "RegularizedExponentialMechanism",
    "RejectionInnerStep",
]
