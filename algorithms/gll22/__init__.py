"""The algorithms of Gopi, Lee, Liu (2022), in the paper's order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler
    from dpverify.algorithms.gll22.linear_hard_family import LinearHardFamily
    from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
    from dpverify.algorithms.gll22.rejection_inner_step import RejectionInnerStep

ROWS = {
    "gll22.rem": "dpverify.algorithms.gll22.regularized_exponential_mechanism:RegularizedExponentialMechanism",
    "gll22.alg1": "dpverify.algorithms.gll22.alternating_sampler:AlternatingSampler",
    "gll22.alg2": "dpverify.algorithms.gll22.rejection_inner_step:RejectionInnerStep",
    "gll22.lower-instance": "dpverify.algorithms.gll22.linear_hard_family:LinearHardFamily",
}
"""Catalog id to import path, in the paper's order."""

__all__ = [
    "ROWS",
    "AlternatingSampler",
    "LinearHardFamily",
    "RegularizedExponentialMechanism",
    "RejectionInnerStep",
]

__getattr__ = lazy.attributes(
    __name__, {name: module for module, name in (p.split(":") for p in ROWS.values())}
)
