from .audit import (
    AccountantAudit,
    AccountantAuditor,
    AccountantQuestion,
    Reference,
    audit_epsilon,
)
from .orders import DrawnBatches, HiddenIterates, Passes
from .references import NoisyReleases

__all__ = [
    "AccountantAudit",
    "AccountantAuditor",
    "AccountantQuestion",
    "DrawnBatches",
    "HiddenIterates",
    "NoisyReleases",
    "Passes",
    "Reference",
    "audit_epsilon",
]
