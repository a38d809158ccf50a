"""Sequential audits by betting: valid whenever they stop, and done as soon as the claim is refuted."""

from dpverify.auditing.sequential.audit import SequentialAudit, SequentialAuditor
from dpverify.auditing.sequential.betting import BettingAuditor, Watch

__all__ = ["BettingAuditor", "SequentialAudit", "SequentialAuditor", "Watch"]
