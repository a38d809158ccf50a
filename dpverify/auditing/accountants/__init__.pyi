from .audit import (
    AccountantAudit,
    AccountantAuditor,
    AccountantQuestion,
    Reference,
    audit_epsilon,
)
from .division import DividedByBatchSize
from .orders import DrawnBatches, HiddenIterates, Passes
from .references import NoisyReleases

__all__ = [
    "AccountantAudit",
    "AccountantAuditor",
    "AccountantQuestion",
    "DividedByBatchSize",
    "DrawnBatches",
    "HiddenIterates",
    "NoisyReleases",
    "Passes",
    "Reference",
    "audit_epsilon",
]
