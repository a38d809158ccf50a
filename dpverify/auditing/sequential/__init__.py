"""Sequential audits by betting: valid whenever they stop, and done as soon as the claim is refuted."""

from dpverify.auditing.sequential.audit import SequentialAudit, SequentialAuditor, sequential_entry

__all__ = ["SequentialAudit", "SequentialAuditor", "sequential_entry"]
