from .document import Ledger as Ledger
from .records import Interval as Interval
from .verdicts import Verdict as Verdict
