from .audit import (
    FEWEST_RUNS,
    Stated,
    StructuredPair,
    WhiteBoxAuditor,
)
from .splitting import RareTail, rare_tail
from .stated_laws import StatedLaw

__all__ = [
    "FEWEST_RUNS",
    "RareTail",
    "Stated",
    "StatedLaw",
    "StructuredPair",
    "WhiteBoxAuditor",
    "rare_tail",
]
