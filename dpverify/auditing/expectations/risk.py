"""The auditor of expected excess risks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.expectations.bounds import BoundsQuestion, Numbers, answer
from dpverify.ledger.evidence import RiskEvidence


@dataclass(frozen=True)
class RiskAuditor:
    """Encloses excess risks and compares each with its bound."""

    spends: ClassVar[bool] = True

    def audit(self, question: BoundsQuestion, subject: Sequence[Numbers], error: ErrorShare) -> RiskEvidence:
        """Draw, enclose, compare.

        Raises:
            InvalidArgumentError, InvalidDataError: as `audit_mean`.
        """
        found = answer(question, subject, error)
        return RiskEvidence(**found.fields, minimum=found.audit.minimum)
