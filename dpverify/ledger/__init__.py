"""What checks leave behind: verdicts, evidence, and the ledger that collects them for reports and exit codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.ledger.document import Ledger
    from dpverify.ledger.records import Interval
    from dpverify.ledger.verdicts import Verdict

__all__ = ["Interval", "Ledger", "Verdict"]

__getattr__ = lazy.attributes(
    __name__,
    {
        "Interval": "dpverify.ledger.records",
        "Ledger": "dpverify.ledger.document",
        "Verdict": "dpverify.ledger.verdicts",
    },
)
