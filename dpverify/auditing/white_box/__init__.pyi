from .audit import (
    FEWEST_RUNS,
    Stated,
    StructuredPair,
    WhiteBoxAuditor,
)
from .stated_laws import StatedLaw

__all__ = [
    "FEWEST_RUNS",
    "Stated",
    "StatedLaw",
    "StructuredPair",
    "WhiteBoxAuditor",
]
