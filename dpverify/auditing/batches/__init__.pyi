from .audit import (
    BatchAudit as BatchAudit,
    BatchesAuditor as BatchesAuditor,
    BatchesQuestion as BatchesQuestion,
    audit_batches as audit_batches,
)
from .recording import read_batches as read_batches, record_batches as record_batches
from .request import BatchesRequest as BatchesRequest, audit_recorded as audit_recorded
from .schemes import BatchScheme as BatchScheme, Scheme as Scheme
