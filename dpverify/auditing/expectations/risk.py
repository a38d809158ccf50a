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
    """Encloses excess risks and compares each with its bound.

    Examples:
        >>> from types import SimpleNamespace
        >>> import numpy as np
        >>> from dpverify.auditing import Bound, BoundsQuestion, ErrorShare, RiskAuditor
        >>> from dpverify.ledger import Interval
        >>> risks = SimpleNamespace(
        ...     quantity="mean loss", lower=0.0, upper=1.0, minimum=Interval(lower=0.1, upper=0.1), extreme=None,
        ...     runs_a_number=1, draw=lambda count: np.random.default_rng(0).beta(2.0, 6.0, size=count),
        ... )
        >>> question = BoundsQuestion((Bound(0.2, claim="excess at most 0.2", data="500 records", runs=2000),))
        >>> evidence = RiskAuditor().audit(question, [risks], ErrorShare(1e-3))
        >>> print(evidence.verdict, evidence.measured.lower < 0.25 - 0.1 < evidence.measured.upper)
        supported True
    """

    spends: ClassVar[bool] = True

    def audit(self, question: BoundsQuestion, subject: Sequence[Numbers], error: ErrorShare) -> RiskEvidence:
        """Draw, enclose, compare.

        Raises:
            InvalidArgumentError, InvalidDataError: as `audit_mean`.
        """
        found = answer(question, subject, error)
        return RiskEvidence(**found.fields, minimum=found.audit.minimum)
