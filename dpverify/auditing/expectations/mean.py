"""The auditor of expectations of anything bounded that is read off a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.expectations.bounds import BoundsQuestion, Numbers, answer
from dpverify.ledger.evidence import MeanEvidence


@dataclass(frozen=True)
class MeanAuditor:
    """Encloses expectations and compares each with its bound."""

    spends: ClassVar[bool] = True

    def audit(self, question: BoundsQuestion, subject: Sequence[Numbers], error: ErrorShare) -> MeanEvidence:
        """Draw, enclose, compare.

        Raises:
            InvalidArgumentError, InvalidDataError: as `audit_mean`.
        """
        found = answer(question, subject, error)
        return MeanEvidence(**found.fields, at_least=found.audit.at_least)
