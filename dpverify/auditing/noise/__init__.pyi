from .laws import LAWS, Law
from .tails import FEWEST, TailAudit, audit_tails

__all__ = [
    "FEWEST",
    "LAWS",
    "Law",
    "TailAudit",
    "audit_tails",
]
