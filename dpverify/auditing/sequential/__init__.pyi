from .audit import BettingAuditor, SequentialAudit, SequentialAuditor, Watch

__all__ = [
    "BettingAuditor",
    "SequentialAudit",
    "SequentialAuditor",
    "Watch",
]
