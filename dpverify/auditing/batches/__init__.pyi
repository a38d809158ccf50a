from .audit import BatchAudit, BatchesAuditor, BatchesQuestion, audit_batches
from .recording import read_batches, record_batches
from .request import BatchesRequest, audit_recorded
from .schemes import BatchScheme, Scheme

__all__ = [
    "BatchAudit",
    "BatchScheme",
    "BatchesAuditor",
    "BatchesQuestion",
    "BatchesRequest",
    "Scheme",
    "audit_batches",
    "audit_recorded",
    "read_batches",
    "record_batches",
]
