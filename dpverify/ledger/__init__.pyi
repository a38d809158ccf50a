from .document import Ledger
from .records import Interval
from .verdicts import Verdict

__all__ = [
    "Interval",
    "Ledger",
    "Verdict",
]
