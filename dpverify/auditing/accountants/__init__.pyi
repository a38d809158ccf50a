from .audit import (
    AccountantAudit as AccountantAudit,
    AccountantAuditor as AccountantAuditor,
    AccountantQuestion as AccountantQuestion,
    Reference as Reference,
    audit_epsilon as audit_epsilon,
)
from .division import DividedByBatchSize as DividedByBatchSize
from .orders import DrawnBatches as DrawnBatches, HiddenIterates as HiddenIterates, Passes as Passes
from .references import NoisyReleases as NoisyReleases
