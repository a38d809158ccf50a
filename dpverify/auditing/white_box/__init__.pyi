from .audit import (
    FEWEST_RUNS,
    Stated,
    StructuredPair,
    WhiteBoxAuditor,
)

__all__ = [
    "FEWEST_RUNS",
    "Stated",
    "StructuredPair",
    "WhiteBoxAuditor",
]
