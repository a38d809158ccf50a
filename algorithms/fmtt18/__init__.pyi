from .iteration import ContractiveNoisyIteration as ContractiveNoisyIteration
from .multitask import MultitaskStopPNSGD as MultitaskStopPNSGD
from .projected_noisy_sgd import (
    PNMSGD as PNMSGD,
    PNSGD as PNSGD,
    SkipPNSGD as SkipPNSGD,
    StopPNSGD as StopPNSGD,
)
from .public_records import PublicRecordsLast as PublicRecordsLast
from .smoothing import SmoothedPNSGD as SmoothedPNSGD
