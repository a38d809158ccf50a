"""The algorithms of Feldman, Mironov, Talwar, Thakurta (2018), in the paper's order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.algorithms.fmtt18.iteration import ContractiveNoisyIteration
    from dpverify.algorithms.fmtt18.multitask import MultitaskStopPNSGD
    from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
    from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast
    from dpverify.algorithms.fmtt18.smoothing import SmoothedPNSGD

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

__all__ = [
    "PNMSGD",
    "PNSGD",
    "ROWS",
    "ContractiveNoisyIteration",
    "MultitaskStopPNSGD",
    "PublicRecordsLast",
    "SkipPNSGD",
    "SmoothedPNSGD",
    "StopPNSGD",
]

__getattr__ = lazy.attributes(
    __name__, {name: module for module, name in (p.split(":") for p in ROWS.values())}
)
