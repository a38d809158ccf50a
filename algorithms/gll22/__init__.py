"""The algorithms of Gopi, Lee, Liu (2022), in the paper's order."""

import lazy_loader

ROWS = {
    "gll22.rem": "dpverify.algorithms.gll22.regularized_exponential_mechanism:RegularizedExponentialMechanism",
    "gll22.alg1": "dpverify.algorithms.gll22.alternating_sampler:AlternatingSampler",
    "gll22.alg2": "dpverify.algorithms.gll22.rejection_inner_step:RejectionInnerStep",
    "gll22.lower-instance": "dpverify.algorithms.gll22.linear_hard_family:LinearHardFamily",
}
"""Catalog id to import path, in the paper's order."""

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
