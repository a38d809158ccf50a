from .audit import SequentialAudit, SequentialAuditor
from .betting import BettingAuditor, Watch

__all__ = [
    "BettingAuditor",
    "SequentialAudit",
    "SequentialAuditor",
    "Watch",
]
