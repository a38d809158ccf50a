"""The algorithms of Feldman, Mironov, Talwar, Thakurta (2018), in the paper's order."""

import lazy_loader

ROWS = {
    "fmtt18.cni": "dpverify.algorithms.fmtt18.iteration:ContractiveNoisyIteration",
    "fmtt18.alg1": "dpverify.algorithms.fmtt18.projected_noisy_sgd:PNSGD",
    "fmtt18.skip": "dpverify.algorithms.fmtt18.projected_noisy_sgd:SkipPNSGD",
    "fmtt18.stop": "dpverify.algorithms.fmtt18.projected_noisy_sgd:StopPNSGD",
    "fmtt18.alg2": "dpverify.algorithms.fmtt18.projected_noisy_sgd:PNMSGD",
    "fmtt18.public": "dpverify.algorithms.fmtt18.public_records:PublicRecordsLast",
    "fmtt18.multitask": "dpverify.algorithms.fmtt18.multitask:MultitaskStopPNSGD",
    "fmtt18.smoothing": "dpverify.algorithms.fmtt18.smoothing:SmoothedPNSGD",
}
"""Catalog id to import path, in the paper's order."""

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
