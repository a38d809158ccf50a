from .iteration import ContractiveNoisyIteration
from .multitask import MultitaskStopPNSGD
from .projected_noisy_sgd import (
    PNMSGD,
    PNSGD,
    SkipPNSGD,
    StopPNSGD,
)
from .public_records import PublicRecordsLast
from .smoothing import SmoothedPNSGD

__all__ = [
    "PNMSGD",
    "PNSGD",
    "ContractiveNoisyIteration",
    "MultitaskStopPNSGD",
    "PublicRecordsLast",
    "SkipPNSGD",
    "SmoothedPNSGD",
    "StopPNSGD",
]
