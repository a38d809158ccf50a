from .audit import BatchAudit, BatchFinding, audit_batches
from .recording import read_batches, record_batches
from .schemes import BatchScheme, Scheme

__all__ = [
    "BatchAudit",
    "BatchFinding",
    "BatchScheme",
    "Scheme",
    "audit_batches",
    "read_batches",
    "record_batches",
]
