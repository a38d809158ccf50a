"""The algorithms of Feldman, Mironov, Talwar, Thakurta (2018), in the paper's order."""

from dpverify.algorithms.fmtt18.iteration import ContractiveNoisyIteration
from dpverify.algorithms.fmtt18.multitask import MultitaskStopPNSGD
from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast
from dpverify.algorithms.fmtt18.smoothing import SmoothedPNSGD

ROWS = (
    ContractiveNoisyIteration,
    PNSGD,
    SkipPNSGD,
    StopPNSGD,
    PNMSGD,
    PublicRecordsLast,
    MultitaskStopPNSGD,
    SmoothedPNSGD,
)
"""One class a row of the paper's catalog."""

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
